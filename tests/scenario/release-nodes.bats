#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Running jobs give up vnodes. Hosts n1 with vnodes v1 v2 v3, n2 with v4 v5 v6 (1 cpu, 1gb each), n3 with v7 (2 cpus, 2gb).
# bats file_tags=hosts
# needs modules/release-nodes
load helper
load scheduler

J=(-l select=ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb -l place=scatter)

setup() { cluster; }

# cluster [options of `sandbox start`]
cluster()
{
	setup_sandbox --hosts 3 "$@"
	{
		for v in 1:n1 2:n1 3:n1 4:n2 5:n2 6:n2; do
			echo "create node v${v%:*} Mom=${v#*:},resources_available.ncpus=1,resources_available.mem=1gb"
		done
		echo 'create node v7 Mom=n3,resources_available.ncpus=2,resources_available.mem=2gb'
		for n in n1 n2 n3; do echo "set node $n resources_available.ncpus=0,resources_available.mem=0"; done
		echo 'set server job_history_enable = True'
	} | qmgr
	wait_until 20 all_are free v1 v2 v3 v4 v5 v6 v7
}

# plain_hosts: two cpus each, without other vnodes
plain_hosts()
{
	qmgr -c 'delete node v1,v2,v3,v4,v5,v6,v7' || true
	for n in n1 n2 n3; do qmgr -c "set node $n resources_available.ncpus=2,resources_available.mem=1gb"; done
}
all_are() { local state=$1 v; shift; for v; do node_is "$v" "$state" || return; done; }
assigned() { value "resources_assigned.$1" "$(qstat -Bf)"; }
# shape JOB: exec_host exec_vnode ncpus mem nodect select
shape()
{
	local found
	found=$(qstat -xf "$1")
	for a in exec_host exec_vnode Resource_List.ncpus Resource_List.mem Resource_List.nodect Resource_List.select; do
		value "$a" "$found"
	done
}
records() { accounting | sed -n "s/^[^;]*;\($1\);$2;/\1 /p"; }

# spread_job: a job of which each host runs a sleep of its own, in $job; its node file is in $nodes.
spread_job()
{
	local script
	script=$(desk "$OWNER")/spread
	cat >"$script" <<-END
		. $SB/env
		pbsdsh -n 1 -- /bin/sleep 1001 &
		pbsdsh -n 2 -- /bin/sleep 1002 &
		exec /bin/sleep 1000
	END
	job=$(as "$OWNER" qsub "${J[@]}" "$script")
	starts "$job"
	nodes=$SB/n1/aux/$job
	wait_until 20 sleeps 1001
	wait_until 20 sleeps 1002
}
sleeps() { pgrep -f "^/bin/sleep $1\$" >/dev/null; }
sleeps_no_more() { ! sleeps "$1"; }
mom_says() { mom_log "$1" | grep -qE ";0008;[^;]*;Job;$job;$2"; }
# Modules of hosts that see the last process of the job end there: before and after its directories are gone.
watch_ends()
{
	local host point
	for host in n1 n2 n3; do
		for point in task_epilogue task_end; do
			echo "$point: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/$point.so\"; };" >"$SB/$host/etc/modules.d/$point.conf"
		done
		reload_host "$host"
	done
}
ends_seen() { mom_log "$1" | grep -o ";Fixture;$job;fixture task_e[a-z]*" | sed 's/.*task_//' | xargs; }
ends_were() { same "ends on $1" "${*:2}" "$(ends_seen "$1")"; }

@test "multi-host #18 #32: the processes on a host that is out end there alone; hosts that stay know it" {
	local job nodes
	watch_ends
	spread_job
	same nodes 'n1 n2 n3' "$(xargs <"$nodes")"
	quietly as "$OWNER" pbs_release_nodes -j "$job" v4
	sleeps 1001
	lacks "$(mom_log n2)" 'DELETE_JOB2'
	quietly as "$OWNER" pbs_release_nodes -j "$job" v5 v6
	wait_until 10 all_are free v4 v5 v6
	sleeps_no_more 1001
	sleeps 1002
	wait_until 10 mom_says n2 'DELETE_JOB2 received$'
	wait_until 10 mom_says n3 'updated nodes info$'
	for host in n1 n3; do nodes_are $host 'n1 n3'; done
	[ ! -e "$SB/n2/aux/$job" ]
	has "$(server_log)" ";0100;[^;]*;Job;$job;clearing job $job from node n2"
	has "$(server_log)" ";0100;[^;]*;Job;$job;deallocating 3 cpu\(s\) from job $job"
	job_is "$job" R 42
	wait_until 10 ends_were n2 epilogue end
	quietly as "$OWNER" pbs_release_nodes -j "$job" n3
	wait_until 10 all_are free v7
	sleeps_no_more 1002
	wait_until 10 ends_were n3 epilogue end
	ends_were n1 ''
	same nodes 'n1' "$(xargs <"$nodes")"
	qdel "$job"
	wait_until 20 is_over "$job"
	all_are free v1 v2 v3
	wait_until 10 ends_were n1 epilogue end
	ends_were n2 epilogue end
	wait_until 10 no_records "$job"
	has "$(records E "$job")" 'exec_host=n1/0\*0\+n2/0\*0\+n3/0\*2 '
}
no_records() { ! ls "$SB"/n?/mom_priv/jobs/"$1"* >/dev/null 2>&1; }

@test "multi-host: a host that is silent keeps its vnodes for the job until it is back" {
	local job nodes
	spread_job
	sandbox kill n2
	quietly as "$OWNER" pbs_release_nodes -j "$job" n2
	attr_is "$job" exec_host 'n1/0*0+n3/0*2'
	has "$(node_attr v4 state)" 'job-busy'
	same assigned 8 "$(assigned ncpus)"
	sleeps 1001
	sandbox restart n2
	wait_until 30 all_are free v4 v5 v6
	wait_until 10 sleeps_no_more 1001
	same assigned 5 "$(assigned ncpus)"
	job_is "$job" R 42
	sleeps 1002
}

nodes_are() { same "node file of $1" "$2" "$(xargs <"$SB/$1/aux/$job")"; }
@test "multi-host: hosts that stay and are away when one leaves: the job goes on when they are back, and no node file is stale" {
	local job nodes
	spread_job
	sandbox kill n1
	sandbox kill n3
	quietly as "$OWNER" pbs_release_nodes -j "$job" n2
	wait_until 10 all_are free v4 v5 v6
	wait_until 10 sleeps_no_more 1001
	sandbox restart n1
	sandbox restart n3
	for host in n1 n3; do wait_until 10 nodes_are $host 'n1 n3'; done
	wait_until 20 all_are job-busy v7
	job_is "$job" R 42
	sleeps 1002
	same runs 1 "$(job_attr "$job" run_count)"
}

@test "multi-host: the server is killed while a host leaves: it is out afterwards" {
	local job nodes
	spread_job
	sandbox kill n2
	quietly as "$OWNER" pbs_release_nodes -j "$job" -a
	sandbox kill server
	sandbox restart n2
	sandbox restart server
	wait_until 20 answers
	wait_until 30 all_are free v4 v5 v6 v7
	wait_until 10 sleeps_no_more 1001
	wait_until 10 sleeps_no_more 1002
	same assigned 3 "$(assigned ncpus)"
	job_is "$job" R 42
}

@test "multi-host #39: hosts of two cpus, one after the other, with a record for each phase" {
	local job u
	plain_hosts
	job=$(running -l select=3:ncpus=1 -l place=scatter)
	attr_is "$job" exec_host 'n1/0+n2/0+n3/0'
	quietly as "$OWNER" pbs_release_nodes -j "$job" n3
	attr_is "$job" exec_host 'n1/0+n2/0'
	attr_is "$job" exec_vnode '(n1:ncpus=1)+(n2:ncpus=1)'
	attr_is "$job" Resource_List.select '1:ncpus=1+1:ncpus=1'
	attr_is "$job" Resource_List.ncpus 2
	attr_is "$job" Resource_List.nodect 2
	wait_until 5 all_are free n3
	quietly as "$OWNER" pbs_release_nodes -j "$job" -a
	attr_is "$job" exec_vnode '(n1:ncpus=1)'
	same letters 'Q S u c u c' "$(accounting | sed -n "s/^[^;]*;\(.\);$job;.*/\1/p" | xargs)"
	u=$(records u "$job")
	has "$(sed -n 1p <<<"$u")" 'Resource_List.ncpus=3 Resource_List.nodect=3 .*walltime=00:00:0[0-9]'
	has "$(sed -n 2p <<<"$u")" 'Resource_List.ncpus=2 Resource_List.nodect=2 .*walltime=00:00:0[0-9]'
	has "$(records c "$job" | sed -n 2p)" 'exec_host=n1/0 exec_vnode=\(n1:ncpus=1\) Resource_List.ncpus=1 '
}

@test "multi-host #17: a vnode of a host leaves the job and stays assigned; #18: the rest of the host comes free" {
	local job was
	job=$(running "${J[@]}")
	attr_is "$job" exec_host 'n1/0*0+n2/0*0+n3/0*2'
	attr_is "$job" exec_vnode '(v1:ncpus=1:mem=1048576kb+v2:ncpus=1:mem=1048576kb+v3:ncpus=1)+(v4:ncpus=1:mem=1048576kb+v5:ncpus=1:mem=1048576kb+v6:ncpus=1)+(v7:ncpus=2:mem=2097152kb)'
	quietly as "$OWNER" pbs_release_nodes -j "$job" v4
	same shape "$(shape "$job")" "$(printf '%s\n' 'n1/0*0+n2/0*0+n3/0*2' \
		'(v1:ncpus=1:mem=1048576kb+v2:ncpus=1:mem=1048576kb+v3:ncpus=1)+(v5:ncpus=1:mem=1048576kb+v6:ncpus=1)+(v7:ncpus=2:mem=2097152kb)' \
		7 5242880kb 3 '1:ncpus=3:mem=2097152kb+1:ncpus=2:mem=1048576kb+1:ncpus=2:mem=2097152kb')"
	node_is v4 job-busy
	same assigned 8 "$(assigned ncpus)"
	quietly as "$OWNER" pbs_release_nodes -j "$job" v5 v6
	wait_until 10 all_are free v4 v5 v6
	same assigned 5 "$(assigned ncpus)"
	same assigned 4194304kb "$(assigned mem)"
}

@test "multi-host #16: -a leaves the first host; #30: qrerun brings back what was submitted" {
	local job
	job=$(running "${J[@]}")
	quietly as "$OWNER" pbs_release_nodes -j "$job" -a
	same shape "$(shape "$job")" "$(printf '%s\n' 'n1/0*0' \
		'(v1:ncpus=1:mem=1048576kb+v2:ncpus=1:mem=1048576kb+v3:ncpus=1)' 3 2097152kb 1 '1:ncpus=3:mem=2097152kb')"
	wait_until 10 all_are free v4 v5 v6 v7
	same assigned 3 "$(assigned ncpus)"
	qmgr -c 'set server scheduling = False'
	qrerun "$job"
	wait_until 20 job_is "$job" Q
	same shape "$(shape "$job")" "$(printf '%s\n' 8 6gb 3 'ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb')"
	attr_is "$job" schedselect '1:ncpus=3:mem=2gb+1:ncpus=3:mem=2gb+1:ncpus=2:mem=2gb'
	same assigned 0 "$(assigned ncpus)"
	all_are free v1 v2 v3 v4 v5 v6 v7
	qmgr -c 'set server scheduling = True'
	starts "$job"
	attr_is "$job" exec_host 'n1/0*0+n2/0*0+n3/0*2'
}

@test "multi-host #19: records of a vnode that is released: u, c, and e and E at the end" {
	local job where was is
	job=$(running "${J[@]}")
	as "$OWNER" pbs_release_nodes -j "$job" v4
	qdel "$job"
	wait_until 20 is_over "$job"
	was='exec_host=n1/0\*0\+n2/0\*0\+n3/0\*2 exec_vnode=\(v1:.*\)\+\(v4:.* Resource_List.mem=6gb Resource_List.ncpus=8 Resource_List.nodect=3 .* Resource_List.select=ncpus=3:mem=2gb\+'
	is='exec_host=n1/0\*0\+n2/0\*0\+n3/0\*2 exec_vnode=\(v1:.*\)\+\(v5:.* Resource_List.mem=5242880kb Resource_List.ncpus=7 Resource_List.nodect=3 .* Resource_List.select=1:ncpus=3:mem=2097152kb\+'
	same letters 'Q S u c D e E' "$(accounting | sed -n "s/^[^;]*;\(.\);$job;.*/\1/p" | xargs)"
	has "$(records u "$job")" "^u .*start=[0-9]+ $was.* session=[0-9]+ run_count=1  resources_used\."
	has "$(records u "$job")" ' resources_used.walltime=[0-9:]+'
	has "$(records c "$job")" "^c .*start=[0-9]+ $is.* resource_assigned.mem=5242880kb resource_assigned.ncpus=7 $"
	lacks "$(records c "$job")" 'resources_used|session='
	has "$(records e "$job")" "^e .*start=[0-9]+ $is.* session=[0-9]+ run_count=1  resources_used\."
	has "$(records E "$job")" "^E .*start=[0-9]+ $was.* end=[0-9]+ Exit_status="
}

@test "multi-host #20 #21: what cannot be released" {
	local job before
	job=$(running "${J[@]}")
	qmgr -c 'create node v9 Mom=n3,resources_available.ncpus=1'
	before=$(shape "$job")
	says 162 "pbs_release_nodes: Can't free 'v1' since it's on a primary execution host " as "$OWNER" pbs_release_nodes -j "$job" v1
	says 162 "pbs_release_nodes: Can't free 'n1' since it's on a primary execution host " as "$OWNER" pbs_release_nodes -j "$job" v7 n1
	has "$(server_log)" ";0100;[^;]*;Job;$job;Can't free 'v1' since it's on a primary execution host"
	says 162 'pbs_release_nodes: node(s) requested to be released not part of the job: v9 ' as "$OWNER" pbs_release_nodes -j "$job" v7 v9
	says 162 'pbs_release_nodes: Server returned error 15010 for job ' as "$OWNER" pbs_release_nodes -j "$job" nosuch
	same shape "$before" "$(shape "$job")"
	same records '' "$(records u "$job")"
}

@test "multi-host #22 #44: usage, and jobs that are not there" {
	local job usage
	usage=$(printf '%s\n' 'usage: pbs_release_nodes [-j job_identifier] host_or_vnode1 host_or_vnode2 ...' \
		'       pbs_release_nodes [-j job_identifier] -a' '       pbs_release_nodes [-j job_identifier] -k <select string>' \
		'       pbs_release_nodes [-j job_identifier] -k <node count>' '       pbs_release_nodes --version')
	says 2 "$usage" pbs_release_nodes
	says 2 "$usage" pbs_release_nodes -j 1
	says 2 "$usage" pbs_release_nodes -j 1 -a v4
	says 2 "pbs_release_nodes: -a and -k options cannot be used together
$usage" pbs_release_nodes -j 1 -a -k 1
	says 2 "pbs_release_nodes: cannot supply node list with -k option
$usage" pbs_release_nodes -j 1 -k 1 v4
	says 2 "pbs_release_nodes: invalid option -- 'x'
$usage" pbs_release_nodes -x
	says 2 'pbs_release_nodes: No jobid given' env -u PBS_JOBID pbs_release_nodes -a
	says 2 'pbs_release_nodes: illegally formed job identifier: abc' pbs_release_nodes -j abc -a
	says 153 'pbs_release_nodes: Unknown Job Id 300000.svr' pbs_release_nodes -j 300000 -a
	job=$(submit -- /bin/true)
	wait_until 20 is_over "$job"
	says 35 'pbs_release_nodes: Job has finished' as "$OWNER" pbs_release_nodes -j "$job" -a
	sandbox kill server
	says 162 'Connection refused
pbs_release_nodes: cannot connect to server svr (errno=15010)' as "$OWNER" pbs_release_nodes -j "$job" -a
}

@test "multi-host #23 #24: who may, and when" {
	local job queued before args
	needs_root
	job=$(running "${J[@]}")
	queued=$(submit -h)
	says 159 'pbs_release_nodes: Unauthorized Request  ' as "$OTHER" pbs_release_nodes -j "$job" v4
	says 159 'pbs_release_nodes: Unauthorized Request  ' as "$OTHER" pbs_release_nodes -j "$queued" v4
	quietly as "$OPERATOR" pbs_release_nodes -j "$job" v4
	qsig -s suspend "$job"
	before=$(shape "$job")
	for args in -a v5 nosuch '-k 1' '-k x'; do
		says 168 'pbs_release_nodes: Request invalid for state of job ' as "$OWNER" pbs_release_nodes -j "$job" $args
		says 168 'pbs_release_nodes: Request invalid for state of job ' as "$OWNER" pbs_release_nodes -j "$queued" $args
	done
	same shape "$before" "$(shape "$job")"
	same assigned '' "$(assigned ncpus | grep -v '^0$')"
	all_are free v1 v4 v7
	qsig -s resume "$job"
	wait_until 10 job_is "$job" R 42
	same assigned 8 "$(assigned ncpus)"
	node_is v4 job-busy
	attr_is "$job" exec_host 'n1/0*0+n2/0*0+n3/0*2'
	says 181 'pbs_release_nodes: not supported for Array Jobs or multiple sub-jobs ' as "$OWNER" pbs_release_nodes -j "$(submit -J 1-2 -h)" -a
}

@test "multi-host #25 #26 #27: what is to stay, by number and by a select" {
	local job
	job=$(running "${J[@]}")
	says 0 'pbs_release_nodes: select=1' as "$OWNER" pbs_release_nodes -j "$job" -k 1
	same shape "$(shape "$job")" "$(printf '%s\n' 'n1/0*0+n3/0*2' \
		'(v1:ncpus=1:mem=1048576kb+v2:ncpus=1:mem=1048576kb+v3:ncpus=1)+(v7:ncpus=2:mem=2097152kb)' 5 4gb 2 \
		'1:ncpus=3:mem=2gb+1:ncpus=2:mem=2gb')"
	wait_until 10 all_are free v4 v5 v6
	says 156 "pbs_release_nodes: only a \"select=\" string is valid in -k option
 " as "$OWNER" pbs_release_nodes -j "$job" -k place=scatter
	says 156 "pbs_release_nodes: only a \"select=\" string is valid in -k option
 " as "$OWNER" pbs_release_nodes -j "$job" -k 0
	says 162 'pbs_release_nodes: Server returned error 15010 for job ' as "$OWNER" pbs_release_nodes -j "$job" -k select=9:ncpus=9
	says 162 'pbs_release_nodes: Server returned error 15010 for job ' as "$OWNER" pbs_release_nodes -j "$job" -k 2
	says 166 'pbs_release_nodes: Illegal attribute or resource value Resource_List.select ' as "$OWNER" pbs_release_nodes -j "$job" -k select=
	says 187 'pbs_release_nodes: Unknown resource: nosuch ' as "$OWNER" pbs_release_nodes -j "$job" -k select=1:nosuch=1
	qdel -W force "$job"
	job=$(running -l select=1:ncpus=1+1:ncpus=2:mpiprocs=2+3:ncpus=1 -l place=free)
	says 0 'pbs_release_nodes: select=1:mpiprocs=2' as "$OWNER" pbs_release_nodes -j "$job" -k select=1:mpiprocs=2
	attr_is "$job" Resource_List.mpiprocs 2
	qdel -W force "$job"
	qmgr -c 'create node v10 Mom=n2,resources_available.ncpus=2'
	wait_until 20 all_are free v10
	qmgr -c 'set server scheduling = False'
	job=$(submit -l select=1:ncpus=1+2:ncpus=2+3:ncpus=1)
	qrun -H '(v1:ncpus=1)+(v10:ncpus=2)+(v7:ncpus=2)+(v4:ncpus=1)+(v5:ncpus=1)+(v6:ncpus=1)' "$job"
	starts "$job"
	says 0 'pbs_release_nodes: select=2:ncpus=2' as "$OWNER" pbs_release_nodes -j "$job" -k select=2:ncpus=2
	attr_is "$job" Resource_List.select 1:ncpus=1+2:ncpus=2
	wait_until 10 all_are free v4 v5 v6
	all_are job-busy v1 v10 v7
}

@test "multi-host #31: a vnode of a host that the job keeps is no place for the next job" {
	local job next
	job=$(running "${J[@]}")
	quietly as "$OWNER" pbs_release_nodes -j "$job" v4 v5 v7
	wait_until 10 all_are free v7
	next=$(submit -l select=1:ncpus=1:vnode=v6)
	wait_until 10 comment_says "$next" 'Not Running'
	all_are job-busy v4 v5 v6
	quietly as "$OWNER" pbs_release_nodes -j "$job" v6
	starts "$next"
	attr_is "$next" exec_vnode '(v6:ncpus=1)'
}

@test "multi-host: what was released stays so over a restart of the server, and attributes show it on demand" {
	local job
	job=$(running "${J[@]}")
	quietly as "$OWNER" pbs_release_nodes -j "$job" v4
	lacks "$(qstat -f "$job")" '_orig|_acct|_deallocated'
	sandbox kill server
	sandbox restart server
	wait_until 20 answers
	wait_until 20 node_is v4 job-busy
	same assigned 8 "$(assigned ncpus)"
	qmgr -c 'set server show_hidden_attribs = True'
	attr_is "$job" exec_vnode_deallocated '(v4:ncpus=1:mem=1048576kb)'
	attr_is "$job" exec_host_orig 'n1/0*0+n2/0*0+n3/0*2'
	attr_is "$job" schedselect_orig '1:ncpus=3:mem=2gb+1:ncpus=3:mem=2gb+1:ncpus=2:mem=2gb'
	attr_is "$job" Resource_List_orig.mem 6gb
	wait_until 20 all_are job-busy v1 v4 v7
	quietly as "$OWNER" pbs_release_nodes -j "$job" n2
	wait_until 10 all_are free v4 v5 v6
	same assigned 5 "$(assigned ncpus)"
	qdel -W force "$job"
	wait_until 10 all_are free v1 v2 v3 v7
	same assigned 0 "$(assigned ncpus)"
}

@test "multi-host #28: inside of the job" {
	local job
	job=$(submit "${J[@]}" -- /bin/sh -c ". $SB/env; until pbs_release_nodes v4; do sleep .1; done; sleep 1000")
	wait_until 10 attr_is "$job" Resource_List.ncpus 7
	attr_is "$job" exec_host 'n1/0*0+n2/0*0+n3/0*2'
	node_is v4 job-busy
}

@test "multi-host #29: other hosts are released before files are staged out" {
	local job
	says 2 'qsub: illegal -W value' first_line as "$OWNER" qsub -W release_nodes_on_stageout=tru -- /bin/true
	sandbox stop
	rm -rf "$SB"
	copier=$BATS_TEST_TMPDIR/copier
	printf '#!/bin/sh\nuntil [ -e %s ]; do sleep .1; done\n' "$BATS_TEST_TMPDIR/go" >"$copier"
	chmod 755 "$copier" "$BATS_TEST_TMPDIR"
	cluster --set "staging.scp=$copier"
	job=$(as "$OWNER" qsub "${J[@]}" -W release_nodes_on_stageout=true -W "stageout=/etc/hostname@elsewhere:/tmp/x" -- /bin/true)
	wait_until 20 job_is "$job" E 51
	wait_until 20 all_are free v4 v5 v6 v7
	job_is "$job" E 51
	attr_is "$job" exec_host 'n1/0*0'
	attr_is "$job" Resource_List.ncpus 3
	touch "$BATS_TEST_TMPDIR/go"
	wait_until 20 is_over "$job"
	all_are free v1 v2 v3
	same letters 'Q S u c e E' "$(accounting | sed -n "s/^[^;]*;\(.\);$job;.*/\1/p" | xargs)"
}
first_line() { local said got=0; said=$("$@" 2>&1) || got=$?; head -n 1 <<<"$said"; return $got; }

# The server's part of a job that its first host prunes: what the job has, in listings and in records.
@test "tolerate-node-failures #16 #41: a spare host is given back at the start, with a record s, and comes again after qrerun" {
	local job
	[ -d "$top/modules/tolerate-node-failures" ] || skip 'there is no modules/tolerate-node-failures'
	plain_hosts
	job=$(running -W spare_nodes=1 -W tolerate_node_failures=job_start -l select=2:ncpus=2:mem=10mb -l place=scatter)
	same shape "$(shape "$job")" "$(printf '%s\n' 'n1/0*2+n2/0*2' '(n1:ncpus=2:mem=10240kb)+(n2:ncpus=2:mem=10240kb)' 4 20mb 2 \
		'2:ncpus=2:mem=10mb')"
	node_is n3 free
	same assigned 4 "$(assigned ncpus)"
	same letters 'Q S s' "$(accounting | sed -n "s/^[^;]*;\(.\);$job;.*/\1/p" | xargs)"
	has "$(records S "$job")" 'exec_host=n1/0\*2\+n2/0\*2\+n3/0\*2 .*Resource_List.ncpus=6 '
	has "$(records s "$job")" 'start=[1-9][0-9]* exec_host=n1/0\*2\+n2/0\*2 .*Resource_List.mem=20mb Resource_List.ncpus=4 .*resource_assigned.ncpus=4 $'
	lacks "$(records s "$job")" 'resources_used'
	qmgr -c 'set server scheduling = False'
	qrerun "$job"
	wait_until 20 job_is "$job" Q
	same shape "$(shape "$job")" "$(printf '%s\n' 6 30mb 3 '3:ncpus=2:mem=10mb')"
	qmgr -c 'set server scheduling = True'
	starts "$job"
	attr_is "$job" exec_host 'n1/0*2+n2/0*2'
	qdel "$job"
	wait_until 20 is_over "$job"
	has "$(records e "$job")" 'Resource_List.ncpus=4 .* run_count=2  resources_used\.'
	has "$(records E "$job")" 'exec_host=n1/0\*2\+n2/0\*2 .*Resource_List.ncpus=6 '
	same assigned 0 "$(assigned ncpus)"
}
