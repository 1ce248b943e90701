#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The server is killed in the middle of a preemption. Whatever was done by then, afterwards the urgent
# job runs, the victim has had what preempt_order says, once, and nobody's work is lost or done twice.
#
# Where it dies is a matter of a fixture (die_at): while a file of the point's name is in its folder, the
# server kills itself there.
#
# needs modules/preemption
# needs modules/delete-preemption

load helper

setup()
{
	setup_sandbox --ncpus 4
	qmgr -c 'set server job_history_enable = true'
	qmgr -c 'create queue express queue_type=execution,priority=200,enabled=true,started=true'
	qmgr -c 'set queue workq kill_delay = 2'
	ran=$SB/ran die=$SB/die
	mkdir -m 777 "$ran" "$die"
	echo "die_at: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/die_at.so\"; dir = \"$die\"; };" \
		>"$SB/server/etc/modules.d/die_at.conf"
	sandbox reload
}

# They leave a line each time they run. The victim does not mind being asked to end.
work() { submit "$@" -j oe -o /dev/null -- /bin/sh -c "trap '' TERM; echo \$PBS_JOBID >>$ran/\$PBS_JOBID; sleep 1000"; }
runs_of() { cat "$ran/$1" 2>/dev/null | wc -l; }
working() { job_is "$1" R 42 && [ "$(runs_of "$1")" -ge 1 ]; }
victim() { l=$(work -l select=1:ncpus=4) && wait_until 20 working "$l"; }
urgent() { h=$(work -q express -l select=1:ncpus=2); }

server_dead() { ! kill -0 "$pid" 2>/dev/null; }
count() { accounting | grep -c "^[^;]*;$1;$2;" || true; }

# dies_at POINT [JOB]: the next time it comes there
dies_at()
{
	pid=$(head -n 1 "$SB/server/server_priv/server.lock")
	echo "${2-}" >"$die/$1"
}
is_killed()
{
	wait_until 20 server_dead
	[ -z "$(ls "$die")" ]
	sandbox restart server --hard
}

# crash_at POINT victim|urgent|any: an urgent job comes, and the server dies on its way to run it. Who
# asked for the cycle may not have been answered.
crash_at()
{
	local id=
	qmgr -c 'set server scheduling = false'
	urgent
	case $2 in victim) id=$l ;; urgent) id=$h ;; esac
	dies_at "$1" "$id"
	qmgr -c 'set server scheduling = true' 2>/dev/null || true
	is_killed
	qmgr -c 'set server scheduling = true'
}

# All's well that ends well: what METHOD makes of the victim, and the urgent job has its place.
converges()
{
	wait_until 40 working "$h"
	case $1 in
	D)
		wait_until 20 job_is "$l" F 91
		same 'E of the victim' 1 "$(count E "$l")"
		[ "$(count D "$l")" -le 1 ]
		;;
	R)
		wait_until 20 job_is "$l" Q 10
		same 'E of the victim' 0 "$(count E "$l")"
		;;
	S)
		wait_until 20 job_is "$l" S 45
		stopped "$l"
		;;
	esac
	same 'ncpus of n1' 2 "$(node_attr n1 resources_assigned.ncpus)"
	same 'ncpus of the server' 2 "$(qstat -Bf | value resources_assigned.ncpus)"
	same 'runs of the victim' 1 "$(runs_of "$l")"
	same 'runs of the urgent job' 1 "$(runs_of "$h")"
	qdel -W force "$h"
	case $1 in
	R) wait_until 20 again "$l" ;;
	S)
		wait_until 20 job_is "$l" R 42
		going "$l"
		same 'runs of the victim' 1 "$(runs_of "$l")"
		;;
	esac
	[ "$1" = D ] || qdel -W force "$l"
	same 'ncpus at the end' 0 "$(node_attr n1 resources_assigned.ncpus)"
}
again() { job_is "$1" R 42 && [ "$(runs_of "$1")" -eq 2 ]; }

# The decision has been taken, nothing is done.
@test "preempt-crash: after the decision" {
	for method in D R S; do
		qmgr -c "set sched preempt_order = $method"
		victim
		crash_at job_preempt any
		converges $method
	done
}

# The victim's host was told; it takes its time to end, or it has stopped, and the server knows nothing of it.
@test "preempt-crash: after the first signal" {
	for method in D R; do
		qmgr -c "set sched preempt_order = $method"
		victim
		pid=$(head -n 1 "$SB/server/server_priv/server.lock")
		urgent
		wait_until 20 is_told "$l"
		sandbox restart server --hard
		converges $method
	done
	qmgr -c 'set sched preempt_order = S'
	victim
	crash_at job_suspended victim
	converges S
}
is_told() { has "$(server_log)" ";Job;$1;(Job sent signal TermJob on delete|Job Rerun at request of Scheduler)" 2>/dev/null; }

# Its last process has ended; that is not written down yet.
@test "preempt-crash: after the obit" {
	for method in D R; do
		qmgr -c "set sched preempt_order = $method"
		victim
		crash_at "$([ $method = D ] && echo job_obit || echo job_purged)" victim
		converges $method
	done
}

# The victim has given way, nobody has heard of it.
@test "preempt-crash: after the victim gave way" {
	for method in D R S; do
		qmgr -c "set sched preempt_order = $method"
		victim
		crash_at job_preempted victim
		converges $method
	done
}

# Its place is free, and the urgent job is about to get it.
@test "preempt-crash: before the winner runs" {
	for method in D R S; do
		qmgr -c "set sched preempt_order = $method"
		victim
		crash_at start_now urgent
		converges $method
	done
}

# And when the winner has ended: the victim goes on, in the middle of that the server dies.
@test "preempt-crash: while the victim is resumed" {
	qmgr -c 'set sched preempt_order = S'
	victim
	urgent
	wait_until 20 working "$h"
	dies_at job_resumed "$l"
	qdel -W force "$h"
	is_killed
	wait_until 20 job_is "$l" R 42
	going "$l"
	same 'ncpus of n1' 4 "$(node_attr n1 resources_assigned.ncpus)"
	same 'runs of the victim' 1 "$(runs_of "$l")"
	qdel -W force "$l"
}

# The host is saving it; the program that does takes its time, and has its own opinion of how it went.
saver()
{
	printf '%s\n' '#!/bin/sh' "touch $die/saving" "while [ -d $die ] && [ ! -e $die/status ]; do sleep 0.05; done" \
		"exit \$(cat $die/status)" >"$SB/save"
	chmod 755 "$SB/save"
	echo "executor.checkpoint_abort=60 !$SB/save" >>"$SB/n1/etc/settings"
	sandbox restart n1
	wait_until 20 node_is n1 free
	qmgr -c 'set sched preempt_order = C'
}
holds_are() { same "Hold_Types of $1" "$2" "$(job_attr "$1" Hold_Types)"; }
is_saved() { job_is "$1" Q 10 && same "Exit_status of $1" -12 "$(job_attr "$1" Exit_status)"; }

@test "preempt-crash: while the victim is being saved" {
	saver
	victim
	urgent
	wait_until 20 test -e "$die/saving"
	holds_are "$l" s
	qmgr -c 'set server scheduling = false'
	sandbox restart server --hard
	wait_until 20 node_is n1 job-busy
	holds_are "$l" n
	job_is "$l" R 42
	echo 3 >"$die/status"
	wait_until 20 host_says "$l;checkpoint_abort failed"
	rm "$die/saving" "$die/status"
	qmgr -c 'set server scheduling = true'
	wait_until 20 test -e "$die/saving"
	kill -9 "$(head -n 1 "$SB/server/server_priv/server.lock")"
	echo 0 >"$die/status"
	wait_until 20 host_says "$l;checkpointed"
	sandbox restart server
	wait_until 20 is_saved "$l"
	holds_are "$l" n
	wait_until 20 working "$h"
	same 'E of the victim' 0 "$(count E "$l")"
	same 'C of the victim' 1 "$(count C "$l")"
}
host_says() { has "$(mom_log n1)" "$1"; }
