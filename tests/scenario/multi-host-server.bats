#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What the server does about jobs over several hosts: n1 with vnodes v1 v2 v3, n2 with v4 v5 v6 (1 cpu, 1gb each), n3 with v7
# (2 cpus, 2gb); hosts that are lost, starts that fail, and what becomes of their jobs.
# bats file_tags=hosts
# needs modules/sisters
load helper
load shared
load scheduler

J=(-l select=ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb -l place=scatter)
OVER_J='(v1:ncpus=1:mem=1048576kb+v2:ncpus=1:mem=1048576kb+v3:ncpus=1)+(v4:ncpus=1:mem=1048576kb+v5:ncpus=1:mem=1048576kb+v6:ncpus=1)+(v7:ncpus=2:mem=2097152kb)'

setup_file()
{
	open_cluster --hosts 3 --set scheduler.rest=100ms
	{
		for v in 1:n1 2:n1 3:n1 4:n2 5:n2 6:n2; do
			echo "create node v${v%:*} Mom=n${v#*:n},resources_available.ncpus=1,resources_available.mem=1gb"
		done
		echo 'create node v7 Mom=n3,resources_available.ncpus=2,resources_available.mem=2gb'
		for n in n1 n2 n3; do echo "set node $n resources_available.ncpus=0,resources_available.mem=0"; done
	} | qmgr
	wait_until 20 all_are free v1 v2 v3 v4 v5 v6 v7
}

all_are() { local state=$1 v; shift; for v; do node_is "$v" "$state" || return; done; }
runs() { same "run_count of $1" "$2" "$(job_attr "$1" run_count)"; }
records() { accounting | sed -n "s/^[^;]*;\($1\);$2;/\1 /p"; }
log_of() { server_log | grep ";$1;"; }
patience() { undo qmgr -c 'unset server node_fail_requeue'; qmgr -c "set server node_fail_requeue = $1"; }
listed_down() { has "$(pbsnodes -l)" "^$1 +down node down: communication closed\$"; }
sleepers() { pgrep -f "^/bin/sleep $1\$"; }
none_sleeps() { ! sleepers "$1"; }

@test "multi-host #1: exec strings, exec_host2 to those who see hidden attributes" {
	local job port
	job=$(running "${J[@]}")
	attr_is "$job" exec_host 'n1/0*0+n2/0*0+n3/0*2'
	attr_is "$job" exec_vnode "$OVER_J"
	attr_is "$job" exec_host2 ''
	undo qmgr -c 'unset server show_hidden_attribs'
	qmgr -c 'set server show_hidden_attribs = True'
	has "$(job_attr "$job" exec_host2)" '^n1:[0-9]+/0\*0\+n2:[0-9]+/0\*0\+n3:[0-9]+/0\*2$'
}

@test "multi-host #2: slots, job-busy and amounts of vnodes" {
	local job
	job=$(running "${J[@]}")
	node_is v7 job-busy
	same jobs "$job/0, $job/1" "$(node_attr v7 jobs)"
	node_is v3 job-busy
	same mem 0kb "$(node_attr v3 resources_assigned.mem)"
	qdel "$job"
	wait_until 20 all_are free v1 v2 v3 v4 v5 v6 v7
}

@test "multi-host #4: node numbers are chunks times mpiprocs, in the order of exec_host" {
	local job
	job=$(submit -o "$(here nodes)" -j oe -l select=2:ncpus=1:mpiprocs=2 -l place=scatter -- /bin/sh -c 'cat $PBS_NODEFILE')
	ends "$job"
	same lines "$(printf '%s\n' n1 n1 n2 n2)" "$(cat "$(here nodes)")"
}

@test "multi-host #9: exit statuses of programs, of signals, of qdel and of the forced one" {
	local job five nine killed none
	killed=$(shell 'kill -9 $$') && ends "$killed"
	same 'script that is killed' 137 "$(job_attr "$killed" Exit_status)"
	five=$(finished -l select=2:ncpus=1 -l place=scatter -- /bin/sh -c 'exit 5')
	nine=$(finished -- /bin/sh -c 'kill -9 $$')
	none=$(finished -- /no/such/prog)
	same five 5 "$(job_attr "$five" Exit_status)"
	has "$(job_attr "$nine" Exit_status)" '^(137|265)$'
	same none 254 "$(job_attr "$none" Exit_status)"
	job=$(running -l select=2:ncpus=1 -l place=scatter)
	qdel "$job"
	ends "$job"
	same qdel 271 "$(job_attr "$job" Exit_status)"
	job=$(running -l select=2:ncpus=1 -l place=scatter)
	qdel -W force "$job"
	ends "$job"
	same force 265 "$(job_attr "$job" Exit_status)"
}

@test "multi-host #14: the primary dies: after node_fail_requeue the job is queued again; #42: logs, comment of the vnode" {
	local job
	patience 8
	job=$(running "${J[@]}" -- /bin/sleep 4242)
	qmgr -c 'set server scheduling = False'
	undo qmgr -c 'set server scheduling = True'
	kill_mom n1
	wait_until 20 is_down v1
	job_is "$job" R
	wait_until 20 job_is "$job" Q
	listed_down n1 # all its vnodes have the same state now
	has "$(server_log)" ';0002;.*;Node;n1;node down: communication closed$'
	has "$(log_of "$job")" ';0008;.*;Exit_status=-20$'
	has "$(log_of "$job")" ';0008;.*;Job requeued, execution node n1 down$'
	has "$(records R "$job")" ' Exit_status=-20 .*run_count=1'
	attr_is "$job" exec_host ''
	attr_is "$job" exec_vnode ''
	wait_until 20 all_are free v4 v5 v6 v7 # its sisters were told to discard theirs
	lacks "$(mom_log n1)" "Job;$job;Job discarded"
	sandbox restart n1
	wait_until 20 none_sleeps 4242
}

@test "multi-host: node_fail_requeue counts for suspended jobs, and its changes are logged" {
	local job
	patience 2
	has "$(server_log)" ';node_fail_requeue value changed to 2$'
	job=$(running "${J[@]}")
	qsig -s suspend "$job"
	wait_until 10 job_is "$job" S
	qmgr -c 'set server scheduling = False'
	undo qmgr -c 'set server scheduling = True'
	kill_mom n1
	wait_until 20 job_is "$job" Q
	qmgr -c 'unset server node_fail_requeue'
	has "$(server_log)" ';node_fail_requeue reverting back to default val 310$'
}

@test "multi-host: a job that may not be run again ends with its primary: deleted, with record and mail text in the log" {
	local job
	patience 2
	job=$(running -r n "${J[@]}")
	kill_mom n1
	wait_until 20 is_over "$job"
	same status -20 "$(job_attr "$job" Exit_status)"
	has "$(log_of "$job")" ';Job deleted, execution node n1 down$'
	lacks "$(log_of "$job")" ';Job requeued, '
	has "$(records D "$job")" '^D requestor=Server@'
}

@test "multi-host #15: node_fail_requeue = 0: the job stays until the primary is back, and goes on" {
	local job pid
	patience 0
	job=$(running "${J[@]}")
	pid=$(session_of "$job")
	kill_mom n1
	wait_until 20 is_down v1
	job_is "$job" R 42
	sandbox restart n1
	wait_until 20 node_is v1 job-busy
	job_is "$job" R 42
	alive "$pid"
	runs "$job" 1
}

@test "multi-host: a sister that is lost and back is nothing to the server; its vnodes are down meanwhile" {
	local job
	patience 2
	job=$(running "${J[@]}")
	kill_mom n2
	wait_until 20 is_down v4
	has "$(node_attr v4 comment)" '^node down: communication closed$'
	job_is "$job" R 42
	sandbox restart n2
	wait_until 20 node_is v4 job-busy
	job_is "$job" R 42
	runs "$job" 1
}

@test "multi-host: the server is killed and started again: the job goes on on all its hosts" {
	local job pid
	job=$(running "${J[@]}" -- /bin/sleep 4343)
	pid=$(session_of "$job")
	sandbox kill server
	sandbox restart server
	wait_until 20 node_is v7 job-busy
	wait_until 20 job_is "$job" R 42
	alive "$pid"
	qdel "$job"
	ends "$job"
	same qdel 271 "$(job_attr "$job" Exit_status)"
	wait_until 10 none_sleeps 4343
}

@test "multi-host #38: no new job on a host that is offline; what runs there goes on" {
	local job
	job=$(running "${J[@]}")
	undo pbsnodes -r n2
	pbsnodes -o n2
	all_are offline,job-busy v4 v5 v6
	job_is "$job" R 42
	qdel "$job"
	ends "$job"
	all_are offline v4 v5 v6
	job=$(submit "${J[@]}")
	wait_until 20 comment_says "$job" '^(Not Running|Can Never Run): '
	job_is "$job" Q
}

@test "multi-host #40: a walltime that is over ends the job on all hosts" {
	local job
	job=$(submit -l walltime=2 -j oe -o "$(here limit)" -l select=2:ncpus=1 -l place=scatter -- /bin/sleep 300)
	wait_until 30 is_over "$job"
	same status -29 "$(job_attr "$job" Exit_status)"
	has "$(cat "$(here limit)")" '^=>> PBS: job killed: walltime [0-9]+ exceeded limit 2$'
	comment_says "$job" ' and exceeded resource walltime$'
}

@test "multi-host #41: qrerun of a job that may not be run again; force does it, and waits for what the hosts discard" {
	local job
	job=$(running -r n "${J[@]}" -- /bin/sleep 4141)
	says 190 "qrerun: job is not rerunnable $job" qrerun "$job"
	says 0 '' qrerun -W force "$job"
	wait_until 20 job_is "$job" R 42
	runs "$job" 2
	has "$(records R "$job")" ' run_count=1'
	has "$(log_of "$job")" ';Discard running job, Force rerun $'
	has "$(log_of "$job")" ';Job requeued, discard response received$'
	has "$(server_log)" ";0400;.*;Node;n[123];Discard done for job $job\$"
	same sleepers 1 "$(sleepers 4141 | wc -l)"
}

@test "multi-host #43: a user without a home directory: the job has failed with -2" {
	local job
	needs_root
	sed "s|^\($OWNER:.*:\)[^:]*:\([^:]*\)\$|\1$SB/no/home:\2|" /etc/passwd >"$SB/passwd"
	sandbox kill n1
	undo sandbox restart n1
	undo sandbox kill n1
	unshare -m --propagation private bash -ec "mount --bind '$SB/passwd' /etc/passwd; exec \"\$@\"" bash \
		"$top/scripts/sandbox" restart --dir "$SB" --build "$KEELSON_BUILD" n1 3>&-
	wait_until 20 node_is v1 free
	job=$(submit -l select=1:ncpus=1:host=n1)
	wait_until 20 is_over "$job"
	job_is "$job" F 93
	same status -2 "$(job_attr "$job" Exit_status)"
	has "$(mom_log n1)" "Job;$job;.*[Hh]ome directory"
	has "$(mom_log n1)" "Job;$job;job not started, Failure -2"
}

@test "multi-host: an exec_vnode over hosts of which one has no link is refused, nothing of the job is left on the others" {
	local job
	kill_mom n3
	wait_until 20 is_down v7
	job=$(qmgr -c 'set server scheduling = False'; submit "${J[@]}" -- /bin/sleep 4444)
	undo qmgr -c 'set server scheduling = True'
	run qrun -H "$OVER_J" "$job"
	[ "$status" -ne 0 ]
	job_is "$job" Q
	none_sleeps 4444
	all_are free v1 v2 v3 v4 v5 v6
}
