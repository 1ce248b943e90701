#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Issue "what breaks in other people's hands", what sites know otherwise of nodes, resources and defaults.
bats_require_minimum_version 1.5.0
load helper
load shared

setup_file() { open_cluster --hosts 1 --ncpus 4; }
teardown_file() { close_cluster; }
setup() { join_cluster; }

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
