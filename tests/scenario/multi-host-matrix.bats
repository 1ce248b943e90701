#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A host of a job is lost at each stage of it: its mom is killed, once with the server killed and back meanwhile, for jobs that
# tolerate nothing, failures at the start, and all. What the server shows, and which processes there are, is as specified;
# nothing of the job is left on any host in the end. Rows that need no root; where there are networks for hosts, matrix-parts has all.

load helper
load shared
load netns

setup_file()
{
	export parked=$BATS_FILE_TMPDIR/parked
	mkdir -p "$parked"
	chmod 755 "$parked"
	open_cluster --hosts 3 --set sisters.max_poll_downtime=4 --set sisters.sister_join_job_alarm=20 \
		--set sisters.job_launch_delay=20 --set executor.kill_delay=1
	for host in n1 n2 n3; do
		echo "park: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/park.so\"; dir = \"$parked\"; };" \
			>"$SB/$host/etc/modules.d/park.conf"
		reload_host $host
	done
}

setup() { join_cluster; needs_module sisters; needs_module task-manager; rm -f "$parked"/*; }

restart_mom() { "$top/scripts/sandbox" restart --dir "$SB" --build "$KEELSON_BUILD" "$@" 3>&-; }
mom_says() { has "$(mom_log "$1")" "$2" 2>/dev/null; }
holds() { parked_on "$1" | grep -q "/$2\(.*\)\?\$"; }
queued_again() { job_is "$1" Q 2>/dev/null || job_is "$1" R 41 2>/dev/null; }

# job STAGE TOLERANCE: a job that waits for host n3 at that stage of its start, or runs with a task on each host
job()
{
	local desk hold=''
	desk=$(desk "$OWNER")
	[ "$2" = none ] || needs_module tolerate-node-failures
	case $1 in begin | prologue | epilogue) hold=$1 ;; esac
	id=$(printf '%s\n' "$KEELSON_BUILD/bin/pbsdsh -o -- /bin/sh -c 'echo \$\$ >$desk/pid.\$PBS_JOBID.\$PBS_NODENUM; exec sleep 600'" \
		"until [ -e $desk/end.\$PBS_JOBID ]; do sleep 0.1; done" |
		as "$OWNER" qsub -h -l select=3:ncpus=1 -l place=scatter -W "tolerate_node_failures=$2")
	[ -z "$hold" ] || touch "$parked/$id.$hold.n3"
	qrls "$id"
	if [ "$1" = begin ] || [ "$1" = prologue ]; then
		wait_until 20 holds n3 "$id.$1.n3"
		return
	fi
	wait_until 20 has_tasks "$id" 0 1 2
	case $1 in
	suspended) qsig -s suspend "$id" ;;
	epilogue) touch "$(here "end.$id")" && wait_until 20 holds n3 "$id.epilogue.n3" ;;
	esac
}
has_tasks() { local id=$1 n; shift; for n; do [ -s "$(here "pid.$id.$n")" ] || return; done; }
pids() { cat "$(desk "$OWNER")"/pid."$1".* 2>/dev/null || true; }
nothing_runs() { local pid; for pid in $1; do dead "$pid" || return; done; }

# lose HOW: the mom of n3, once with the server away meanwhile
lose()
{
	sandbox kill n3
	undo restart_mom n3
	[ "$1" = mom ] || { sandbox kill server; restart_mom server; }
	rm -f "$parked"/*
}

# case STAGE HOW TOLERANCE WHAT: `again`, `runs`, `stays` or `ends`
lost()
{
	local left
	! has_netns || skip "matrix-parts has this row, and more"
	job "$1" "$3"
	lose "$2"
	left=$(pids "$id")
	case $4 in
	again) wait_until 40 queued_again "$id" ;;
	runs) wait_until 40 job_is "$id" R 42 && wait_until 20 has_tasks "$id" 0 1 ;;
	stays) wait_until 20 mom_says n1 "$id;.*n3" && nap 5 && job_is "$id" "$5" && alive "$(cat "$(here "pid.$id.0")")" ;;
	ends) wait_until 60 is_over "$id" && same Exit_status 0 "$(job_attr "$id" Exit_status)" ;;
	esac
	[ "$4" != again ] || qhold "$id" || true
	left="$left $(pids "$id")"
	qdel -W force "$id" 2>/dev/null || true
	restart_mom n3
	wait_until 15 nothing_runs "$left"
}

@test "multi-host: n3 is lost while it joins, the job tolerates nothing" { lost begin mom none again; }
@test "multi-host: n3 is lost while it joins, the job tolerates failures at its start" { lost begin mom job_start runs; }
@test "multi-host: n3 is lost while it joins, the job tolerates all" { lost begin mom all runs; }
@test "multi-host: n3 is lost while it joins, with the server" { lost begin both none again; }
@test "multi-host: n3 is lost in its prologue, the job tolerates nothing" { lost prologue mom none again; }
@test "multi-host: n3 is lost in its prologue, the job tolerates failures at its start" { lost prologue mom job_start runs; }
@test "multi-host: n3 is lost in its prologue, with the server, the job tolerates all" { lost prologue both all runs; }
@test "multi-host: n3 is lost while the job runs, which tolerates nothing" { lost running mom none again; }
@test "multi-host: n3 is lost while the job runs, which tolerates failures at its start" { lost running mom job_start again; }
@test "multi-host: n3 is lost while the job runs, which tolerates all" { lost running mom all stays R; }
@test "multi-host: n3 is lost while the job runs, with the server" { lost running both none again; }
@test "multi-host: n3 is lost while the job is suspended, which tolerates nothing" { lost suspended mom none again; }
@test "multi-host: n3 is lost while the job is suspended, which tolerates all" { lost suspended mom all stays S; }
@test "multi-host: n3 is lost while the job ends, which tolerates nothing" { lost epilogue mom none ends; }
@test "multi-host: n3 is lost while the job ends, with the server" { lost epilogue both all ends; }

@test "multi-host: the primary's mom dies in a sister's prologue, the job is started again when it is back" {
	job prologue none
	sandbox kill n1
	rm -f "$parked"/*
	restart_mom n1
	runs_again() { [ "$(job_attr "$id" run_count)" -ge 2 ] && job_is "$id" R 42 2>/dev/null; }
	wait_until 40 runs_again
	wait_until 20 has_tasks "$id" 0 1 2
	left=$(pids "$id")
	as "$OWNER" qdel "$id"
	ends "$id"
	wait_until 5 nothing_runs "$left"
}

@test "multi-host: the primary's mom dies in a sister's prologue and stays away, the job waits for another host" {
	qmgr -c 'set server node_fail_requeue = 1'
	undo qmgr -c 'unset server node_fail_requeue'
	job prologue none
	sandbox kill n1
	undo restart_mom n1
	rm -f "$parked"/*
	requeued() { job_is "$id" Q 2>/dev/null; }
	wait_until 30 requeued
	for host in n2 n3; do wait_until 10 mom_says $host ";Job;$id;DELETE_JOB received\$"; done
}
