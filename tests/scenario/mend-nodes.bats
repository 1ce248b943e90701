#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Issue "what breaks in other people's hands", what sites know otherwise of nodes, resources and defaults.
load helper
load shared

setup_file() { open_cluster --hosts 1 --ncpus 4; }

node_attr_is() { same "$2 of $1" "$3" "$(node_attr "$1" "$2")"; }
is_free() { node_is "$1" free && node_attr_is "$1" resources_available.ncpus 4; }

# back NODE: it is there, as its host reports it, when this story is over.
back()
{
	undo wait_until 20 is_free "$1"
	undo qmgr -c "create node $1"
}

# ---- vnodes -----------------------------------------------------------------------------------------------

@test "mend D7: a host that is deleted and created again while its mom is there works again" {
	local id
	qmgr -c 'delete node n1'
	qmgr -c 'create node n1'
	wait_until 20 is_free n1
	node_attr_is n1 Mom n1
	node_attr_is n1 resources_available.host n1
	node_attr_is n1 resources_assigned.ncpus 0
	[ -n "$(node_attr n1 resources_available.mem)" ]
	id=$(running -l select=1:ncpus=4)
	[ -n "$(processes "$id")" ]
}

@test "mend D7: delete node @default deletes all" {
	back n1
	qmgr -c 'create node far1'
	qmgr -c 'create node far2'
	quietly qmgr -c 'delete node @default'
	same nodes '' "$(pbsnodes -av 2>/dev/null || true)"
}

@test "mend D7: set node @default sets all" {
	undo qmgr -c 'delete node far'
	undo qmgr -c 'unset node n1 comment'
	qmgr -c 'create node far'
	quietly qmgr -c 'set node @default comment = both'
	same comments 'both both' "$(node_attr n1 comment) $(node_attr far comment)"
}

@test "mend D7: a vnode that is created on a host has what others have, and runs jobs" {
	local id
	undo qmgr -c 'delete node vn1'
	qmgr -c 'create node vn1 Mom=n1,resources_available.ncpus=2'
	node_attr_is vn1 resources_available.host n1
	node_attr_is vn1 resources_available.vnode vn1
	node_attr_is vn1 resources_assigned.ncpus 0
	node_attr_is vn1 resources_assigned.mem 0kb
	wait_until 20 node_is vn1 free
	id=$(running -l select=1:ncpus=2:vnode=vn1)
	same exec_vnode '(vn1:ncpus=2)' "$(job_attr "$id" exec_vnode)"
	[ -n "$(processes "$id")" ]
	qdel "$id"
	wait_until 20 no_jobs
	sandbox restart n1
	wait_until 20 node_is vn1 free
	node_attr_is vn1 resources_available.ncpus 2
}

@test "mend D7: a node may be an address, which is its Mom" {
	undo qmgr -c 'delete node 127.0.9.9'
	quietly qmgr -c 'create node 127.0.9.9'
	node_attr_is 127.0.9.9 Mom 127.0.9.9
	node_attr_is 127.0.9.9 resources_available.vnode 127.0.9.9
}

@test "mend D7: a node without its host is unknown and down, and says since when" {
	local since
	undo qmgr -c 'delete node far'
	qmgr -c 'create node far'
	node_is far state-unknown,down
	since=$(date -d "$(node_attr far last_state_change_time)" +%s)
	[ $(($(date +%s) - since)) -lt 60 ]
	sandbox restart server
	node_is far state-unknown,down
	wait_until 20 is_free n1
}

# ---- partitions, resources ----------------------------------------------------------------------------------

@test "mend D8: a vnode of a queue is in the queue's partition" {
	undo qmgr -c 'delete queue parted'
	undo qmgr -c 'unset node n1 partition'
	undo qmgr -c 'unset node n1 queue'
	qmgr -c 'create queue parted queue_type=e,partition=foo'
	says 116 'qmgr obj=n1 svr=default: Partition bar is not part of queue for node
qmgr: Error (15220) returned from server' qmgr -c 'set node n1 queue=parted,partition=bar'
	lacks "$(pbsnodes -v n1)" 'queue|partition'
	quietly qmgr -c 'set node n1 queue=parted,partition=foo'
	run qmgr -c 'set node n1 partition=bar'
	has "$output" 15220
	node_attr_is n1 partition foo
}

@test "mend D8: a resource that only server, queue and node have goes with their values" {
	qmgr -c 'create resource rr type=long,flag=nh'
	qmgr -c 'set server resources_available.rr = 5'
	qmgr -c "set server max_run_res.rr = '[u:PBS_GENERIC=3]'"
	qmgr -c 'set queue workq resources_max.rr = 4'
	qmgr -c 'set node n1 resources_available.rr = 3'
	quietly qmgr -c 'delete resource rr'
	lacks "$(qmgr -c 'list server')$(qmgr -c 'list queue workq')$(pbsnodes -v n1)" '\.rr '
	sandbox kill server
	sandbox restart server
	lacks "$(qmgr -c 'list server')$(qmgr -c 'list queue workq')$(pbsnodes -v n1)" '\.rr '
	wait_until 20 is_free n1
	running -l select=1:ncpus=1 >/dev/null
}

@test "a resource that a job asks for is busy, and nothing is taken away" {
	local id
	undo qmgr -c 'unset node n1 resources_available.busy_one'
	qmgr -c 'create resource busy_one type=long,flag=nh'
	qmgr -c 'set node n1 resources_available.busy_one = 3'
	id=$(submit -h -l select=1:busy_one=1)
	says 70 'qmgr obj=busy_one svr=default: Resource busy on job
qmgr: Error (15174) returned from server' qmgr -c 'delete resource busy_one'
	node_attr_is n1 resources_available.busy_one 3
}

# ---- defaults -------------------------------------------------------------------------------------------------

listed() { value "$2" "$(qmgr -c "list $1")"; }

@test "mend D9: license_count is there after a restart, too" {
	local before
	before=$(listed server license_count)
	[ -n "$before" ]
	sandbox restart server
	same license_count "$before" "$(listed server license_count)"
	wait_until 20 is_free n1
}

@test "mend D9: unset sched scheduling means True again, and jobs start" {
	local id
	undo qmgr -c 'set server scheduling = true'
	qmgr -c 'set sched default scheduling = False'
	id=$(submit)
	quietly qmgr -c 'unset sched scheduling'
	same scheduling 'True True' "$(listed 'sched default' scheduling) $(listed server scheduling)"
	wait_until 20 job_is "$id" R
	qmgr -c 'create sched s2'
	undo qmgr -c 'delete sched s2'
	quietly qmgr -c 'set sched s2 scheduling = True'
	quietly qmgr -c 'unset sched s2 scheduling'
	same 'of another' False "$(listed 'sched s2' scheduling)"
}

@test "mend D9: unset sched partition means pbs-default" {
	quietly qmgr -c 'unset sched partition'
	same partition pbs-default "$(listed 'sched default' partition)"
}

@test "mend D9: job_run_wait=none hides throughput_mode" {
	undo qmgr -c 'unset sched job_run_wait'
	qmgr -c 'set sched job_run_wait = none'
	lacks "$(qmgr -c 'list sched default')" throughput_mode
	sandbox restart server
	same job_run_wait none "$(listed 'sched default' job_run_wait)"
	lacks "$(qmgr -c 'list sched default')" throughput_mode
	qmgr -c 'unset sched job_run_wait'
	same throughput_mode True "$(listed 'sched default' throughput_mode)"
	wait_until 20 is_free n1
}

@test "mend D9: unset server resources_default.ncpus means 1 again" {
	qmgr -c 'set server resources_default.ncpus = 3'
	quietly qmgr -c 'unset server resources_default.ncpus'
	same ncpus 1 "$(listed server resources_default.ncpus)"
	qmgr -c 'set server resources_default.ncpus = 3'
	quietly qmgr -c 'unset server resources_default'
	same ncpus 1 "$(listed server resources_default.ncpus)"
	same 'of a job' 1 "$(job_attr "$(submit -h)" Resource_List.ncpus)"
}

@test "mend D9: what a queue and a node must have is not unset" {
	undo qmgr -c 'delete queue typed'
	qmgr -c 'create queue typed queue_type = e'
	run qmgr -c 'unset queue typed queue_type'
	[ "$status" -ne 0 ]
	same queue_type Execution "$(listed 'queue typed' queue_type)"
	undo qmgr -c 'set node n1 state = free'
	qmgr -c 'set node n1 state = offline'
	run qmgr -c 'unset node n1 state'
	[ "$status" -ne 0 ]
	node_is n1 offline
}

@test "mend D10: ids and the server carry PBS_SERVER, whatever its network name is" {
	needs_root # an ordinary user is a manager of its own cluster
	local conf=$SB/server/etc/keelson.conf id
	cp "$conf" "$SB/keelson.conf.before"
	cp "$SB/pbs.conf" "$SB/pbs.conf.before"
	undo wait_until 20 is_free n1
	undo sandbox restart server
	undo cp "$SB/keelson.conf.before" "$conf"
	undo cp "$SB/pbs.conf.before" "$SB/pbs.conf"
	sed -i '/^server_name/d' "$conf"
	echo 'PBS_SERVER_HOST_NAME=localhost' >>"$SB/pbs.conf"
	sandbox restart server
	id=$(submit -h)
	has "$id" '^[0-9]+\.svr$'
	has "$(qstat -B)" '^svr '
	has "$(qmgr -c 'print server')" 'set server managers = '
	same server svr "$(job_attr "$id" server)"
}
