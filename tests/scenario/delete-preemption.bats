#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Preemption, and its method D: a running job of a lower level gives way to one that cannot start. It is
# suspended, checkpointed, requeued or deleted, as preempt_order says.
#
# Where a site would have a hook script, a small module taps the same point: refuse_run (start_now),
# veto_preterm (task_preterm).
#
# needs modules/preemption
# needs modules/delete-preemption

load helper
load mail

FULL='Not Running: Not enough free nodes available'
BADVAL='Illegal attribute or resource value
qmgr: Error (15014) returned from server'

# One host of 4 cpus, n1; an express queue; finished jobs are remembered. L runs in workq.
cluster()
{
	setup_sandbox "$@"
	qmgr -c 'set server job_history_enable = true'
	queue express 200
	me=$(qmgr -c 'list sched default sched_host' | value sched_host)
}

# queue NAME PRIORITY
queue()
{
	qmgr -c "create queue $1 queue_type=execution"
	qmgr -c "set queue $1 priority=$2,enabled=true,started=true"
}

po() { qmgr -c "set sched preempt_order='$1'"; }
order_is() { same preempt_order "$1" "$(qmgr -c 'list sched default preempt_order' | value preempt_order)"; }
order_refused() { says 166 "qmgr obj= svr=default: $BADVAL" qmgr -c "set sched preempt_order = '$1'"; }

# low [qsub arguments]: L, running. high: H, of somebody else.
low() { running -l select=1:ncpus=4 "$@"; }
high() { submit_as "$OTHER" -q express -l select=1:ncpus=2 "$@"; }
# one [qsub arguments]: a running job of one cpu.
one() { running -l select=1:ncpus=1 "$@"; }
runs() { wait_until 30 job_is "$1" R 42; }
waits_with() { job_is "$1" Q && comment_is "$1" "$2"; }
waits() { job_is "$1" Q && [[ $(job_attr "$1" comment) == 'Not Running: '* ]]; }
is_deleted()
{
	job_is "$1" F 91 && [[ $(job_attr "$1" Exit_status) =~ ^(271|265)$ ]] &&
		[[ $(job_attr "$1" comment) == *" and terminated by Scheduler@$me" ]]
}
requeued() { job_is "$1" Q && same "Exit_status of $1" -11 "$(job_attr "$1" Exit_status)"; }
used() { [ -n "$(job_attr "$1" resources_used.walltime)" ]; }

# Whole lines, without the time: CLASS;TEXT of a job.
told() { server_log | grep -F ";Job;$1;" | sed 's/^[^;]*;[^;]*;[^;]*;Job;[^;]*;//'; }
log_says() { has "$(told "$1")" "^$2"; }
log_lacks() { lacks "$(told "$1")" "^$2"; }
records() { accounting | grep -F ";$1;"; }
letters() { records "$1" | cut -d';' -f2 | tr -d '\n'; }
record_of() { records "$1" | grep "^[^;]*;$2;"; }
# line_of PATTERN: its first line in the accounting.
line_of() { accounting | grep -n -m 1 "^[^;]*;$1;$2;" | cut -d: -f1; }

assigned_ncpus() { pbsnodes -v n1 | value resources_assigned.ncpus; }
# seconds_since_start JOB at least N
ran_for()
{
	local stime
	stime=$(date -d "$(job_attr "$1" stime)" +%s)
	[ $(($(date +%s) - stime)) -ge "$2" ]
}
tool() { "$KEELSON_BUILD/tests/scenario/tools/preempt" "$@"; }

# fixture DAEMON NAME [conf]: a module of tests/fixtures in one of the sandbox's daemons.
fixture()
{
	echo "$2: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/$2.so\"; ${3-} };" \
		>"$SB/$1/etc/modules.d/$2.conf"
	if [ "$1" = server ]; then keelson reload; else sandbox restart "$1"; fi
	wait_until 20 node_is n1 free
}

# A running job whose processes ignore TERM.
stubborn()
{
	local id ready
	ready=$(desk "$OWNER")/ready.$RANDOM
	id=$(submit -l select=1:ncpus=4 "$@" -- \
		/bin/sh -c "trap '' TERM; touch $ready; while :; do sleep 0.1; done") || return
	wait_until 20 test -e "$ready" || return
	wait_until 20 job_is "$id" R 42 || return
	echo "$id"
}

# ---- what is said ------------------------------------------------------------------------------------------

@test "delete-preemption #1: without a word the order is SCR" {
	cluster
	order_is SCR
}

@test "delete-preemption #2: values with D are taken as typed" {
	cluster
	for order in D RD SCRD 'SCRD 50 R' DSCR 'SCR  50  D' 'SCR 150 S' 'SCRD 0 D' 'SCR 50 SC 60 S'; do
		quietly po "$order"
		order_is "$order"
	done
}

@test "delete-preemption #3: what is no order is refused, and the value stays" {
	cluster
	po RD
	for order in SS DD SCRDX 'SCR R' 'SCR 50 X' 'SCR -5 R' '80 SC' 'SCR 80 70' 50 PQR 123abc abc123 s d \
		'SCR 50' ''; do
		order_refused "$order"
		order_is RD
	done
}

@test "delete-preemption #4: unset is SCR again" {
	cluster
	po D
	quietly qmgr -c 'unset sched preempt_order'
	order_is SCR
}

@test "delete-preemption #5: managers set it, everybody reads it" {
	needs_root
	cluster
	denied='Cannot set attribute, read only or insufficient permission  preempt_order'
	says 155 "qmgr obj=default svr=default: $denied
qmgr: Error (15003) returned from server" as "$OPERATOR" qmgr -c 'set sched default preempt_order = D'
	says 159 'qmgr obj=default svr=default: Unauthorized Request 
qmgr: Error (15007) returned from server' as "$OWNER" qmgr -c 'set sched default preempt_order = D'
	same 'read by anybody' SCR \
		"$(as "$OWNER" qmgr -c 'list sched default preempt_order' | value preempt_order)"
	quietly as "$MANAGER" qmgr -c 'set sched default preempt_order = D'
	order_is D
}

@test "delete-preemption #37: preempt_prio takes its own words only" {
	cluster
	for word in abc starving_jobs; do
		says 166 "qmgr obj= svr=default: $BADVAL" qmgr -c "set sched preempt_prio=$word"
	done
	quietly qmgr -c "set sched preempt_prio = ''"
	lacks "$(qmgr -c 'list sched default')" preempt_prio
}

@test "delete-preemption #38: conditions may be joined" {
	cluster
	quietly qmgr -c "set sched preempt_prio='express_queue+fairshare, normal_jobs'"
	has "$(qmgr -c 'list sched default')" 'preempt_prio = express_queue\+fairshare, normal_jobs'
}

@test "delete-preemption #55: an unquoted comma never reaches the server" {
	cluster
	says 4 'qmgr: Syntax error
set sched preempt_order = S,C
                             ^' qmgr -c 'set sched preempt_order = S,C'
	order_is SCR
}

@test "delete-preemption #59: the examples, as they are written" {
	cluster
	quietly qmgr -c 's sched default preempt_order = RD'
	order_is RD
	quietly qmgr -c 's sched default preempt_order = "SCRD 50 R"'
	order_is 'SCRD 50 R'
	po D
	quietly qmgr -c 's sched default preempt_order = SCRD 50 R'
	order_is 'SCRD 50 R'
}

# ---- deletion -------------------------------------------------------------------------------------------------

@test "delete-preemption #6: L is deleted, and H runs" {
	cluster
	po D
	l=$(low)
	h=$(high)
	runs "$h"
	says 35 "qstat: $l Job has finished, use -x or -H to obtain historical job information" qstat "$l"
	is_deleted "$l"
	same Exit_status 271 "$(job_attr "$l" Exit_status)"
}

@test "delete-preemption #7: the records: D, E, then S of H" {
	cluster
	po D
	l=$(low)
	h=$(high)
	runs "$h"
	has "$(record_of "$l" D)" ";requestor=Scheduler@$me\$"
	has "$(record_of "$l" E)" 'Exit_status=271'
	[ "$(line_of D "$l")" -lt "$(line_of E "$l")" ]
	[ "$(line_of E "$l")" -lt "$(line_of S "$h")" ]
}

@test "delete-preemption #8: what the logs say" {
	cluster
	po D
	l=$(low)
	h=$(high)
	runs "$h"
	log_says "$l" 'Job preempted by deletion'
	log_says "$l" 'delete job request received'
	log_says "$l" 'Job sent signal TermJob on delete'
	log_says "$l" "Job to be deleted at request of Scheduler@$me"
	log_says "$h" 'Employing preemption to try and run high priority job\.'
	log_says "$l" 'Simulation: preempting job'
	log_says "$h" 'Simulation: Preempted enough work to run job'
}

@test "delete-preemption #9: H waits until L is really gone" {
	cluster
	qmgr -c 'set queue workq kill_delay = 4'
	po D
	l=$(stubborn)
	h=$(high)
	wait_until 10 log_says "$l" 'Job to be deleted'
	polls=0
	while now=$(state_of_job "$h") && job_is "$l" R 2>/dev/null; do
		same 'state of H while L runs' Q "$now"
		[ "$(assigned_ncpus)" -le 4 ]
		polls=$((polls + 1))
	done
	[ "$polls" -gt 3 ]
	runs "$h"
	[ "$(line_of E "$l")" -lt "$(line_of S "$h")" ]
	has "$(record_of "$l" E)" 'Exit_status=265'
}

@test "delete-preemption #10: the server answers while it waits" {
	cluster
	qmgr -c 'set queue workq kill_delay = 300'
	po D
	l=$(stubborn)
	h=$(high)
	wait_until 10 log_says "$l" 'Job to be deleted'
	qstat >/dev/null
	x=$(submit -h)
	job_is "$l" R
	has "$(keelson holds)" "^$l .*delete|a victim of preemption is being deleted"
	qdel "$x"
	# shellcheck disable=SC2046
	kill -KILL $(processes "$l")
	runs "$h"
}

@test "delete-preemption #11: without history nothing is left" {
	needs_module arrays
	cluster
	po D
	l=$(low)
	qmgr -c 'set server job_history_enable = false'
	h=$(high)
	wait_until 30 log_says "$h" 'Job run'
	says 153 "qstat: Unknown Job Id $l" qstat "$l"
	log_says "$l" 'Job preempted by deletion'
}

# array RANGE CPUS INDEX...: an array of which these subjobs run; prints its id.
array()
{
	local range=$1 cpus=$2 id index
	shift 2
	id=$(submit -J "$range" -l select=1:ncpus="$cpus") || return
	for index; do wait_until 20 job_is "$(sub "$id" "$index")" R 42 || return; done
	echo "$id"
}
# letters_of ARRAY: of its subjobs, sorted
letters_of() { qstat -xt "$1" | awk 'NR > 3 { print $5 }' | sort | paste -sd' '; }
letters_of_are() { same "subjobs of $1" "$2" "$(letters_of "$1")"; }
count_is() { same array_state_count "$2" "$(job_attr "$1" array_state_count)"; }

@test "delete-preemption #12: one subjob is deleted, the others stay what they are" {
	needs_module arrays
	cluster
	po D
	a=$(array 1-3 2 1 2)
	h=$(high)
	runs "$h"
	letters_of_are "$a" 'Q R X'
	count_is "$a" 'Queued:1 Running:1 Exiting:0 Expired:1'
	gone=$(qstat -xt "$a" | awk '$5 == "X" { print $1 }')
	job_is "$gone" X 91
	[[ $(job_attr "$gone" comment) == *" and terminated by Scheduler@$me" ]]
	[[ $(job_attr "$gone" Exit_status) =~ ^(271|265)$ ]]
	job_is "$a" B
}

@test "delete-preemption: a requeued subjob waits in its array, and runs again" {
	needs_module arrays
	cluster
	po R
	a=$(array 1-2 4 1)
	h=$(high)
	runs "$h"
	letters_of_are "$a" 'Q Q'
	count_is "$a" 'Queued:2 Running:0 Exiting:0 Expired:0'
	job_is "$a" B
	qdel "$h"
	wait_until 30 job_is "$(sub "$a" 1)" R 42
	same run_count 2 "$(job_attr "$(sub "$a" 1)" run_count)"
}

@test "delete-preemption: a suspended subjob goes on before the next one begins" {
	needs_module arrays
	cluster
	po S
	a=$(array 1-2 4 1)
	h=$(high)
	runs "$h"
	job_is "$(sub "$a" 1)" S 45
	qdel "$h"
	wait_until 30 job_is "$(sub "$a" 1)" R 42
	job_is "$(sub "$a" 2)" Q
}

@test "delete-preemption #13: C cannot, so D does" {
	cluster
	po CD
	l=$(low)
	h=$(high)
	runs "$h"
	log_says "$l" 'preemption method checkpoint failed for job \(15029\)'
	log_says "$l" 'Job preempted by deletion'
	is_deleted "$l"
}

@test "delete-preemption #14: with -c n C is not even an attempt of the host" {
	cluster
	po CD
	l=$(low -c n)
	h=$(high)
	runs "$h"
	log_lacks "$l" 'Job preempted by checkpointing'
	is_deleted "$l"
}

@test "delete-preemption #15: RD: what may not be rerun is deleted, what may is queued" {
	cluster
	po RD
	l=$(low -r n)
	h=$(high)
	runs "$h"
	is_deleted "$l"
	qdel "$h"
	l=$(low -r y)
	h=$(high)
	runs "$h"
	wait_until 10 requeued "$l"
	qdel "$h"
	runs "$l"
	same run_count 2 "$(job_attr "$l" run_count)"
	qdel "$l"
	po R
	l=$(low -r n)
	h=$(high)
	wait_until 20 waits_with "$h" "$FULL"
	job_is "$l" R
	log_says "$l" 'Job failed to be preempted'
	log_says "$l" 'preemption method requeue failed for job \(15038\)'
}

@test "delete-preemption #16: R: L is queued again" {
	cluster
	po R
	l=$(low)
	h=$(high)
	runs "$h"
	wait_until 10 requeued "$l"
	has "$(record_of "$l" R)" 'Exit_status=-11 .*run_count=1'
	log_says "$l" 'Job preempted by requeuing'
	log_says "$l" "Job Rerun at request of Scheduler@$me"
	log_lacks "$l" 'Job will never run'
}

@test "delete-preemption #17: S: L is suspended, and goes on after H" {
	cluster --set executor.usage_interval=1s
	po S
	l=$(low)
	wait_until 20 used "$l"
	h=$(high)
	runs "$h"
	job_is "$l" S 45
	stopped "$l"
	log_says "$l" 'Job preempted by suspension'
	log_says "$l" "suspend job by Scheduler@$me"
	log_says "$l" "job signaled with suspend by Scheduler@$me"
	record_of "$l" z
	qdel "$h"
	runs "$l"
	wait_until 20 record_of "$l" r
	going "$l"
}

# saver STATUS: an action that saves nothing, notes that it was asked, and says so.
saver()
{
	local file=$SB/save.$1
	printf '%s\n' '#!/bin/sh' 'echo "$@" >"$2/asked"' "exit $1" >"$file"
	chmod 755 "$file"
	echo "executor.checkpoint_abort=10 !$file %jobid %path %sid" >>"$SB/n1/etc/settings"
	sandbox restart n1
	wait_until 20 node_has_answered
}
node_has_answered() { node_is n1 free || node_is n1 job-busy; }

@test "delete-preemption #18: C: saved by its host, L waits for its vnodes" {
	cluster
	po C
	saver 0
	l=$(low)
	sid=$(session_of "$l")
	h=$(high)
	runs "$h"
	job_is "$l" Q
	same exec_vnode '(n1:ncpus=4)' "$(job_attr "$l" exec_vnode)"
	same Hold_Types n "$(job_attr "$l" Hold_Types)"
	same Exit_status -12 "$(job_attr "$l" Exit_status)"
	log_says "$l" 'Job preempted by checkpointing'
	log_says "$l" "Holds s set at request of Scheduler@$me"
	same 'records of L' QSC "$(letters "$l")"
	same 'what the action was told' "$l $SB/n1/checkpoint/$l.CK $sid" \
		"$(cat "$SB/n1/checkpoint/$l.CK/asked")"
	# without a restart action it cannot go on
	qdel "$h"
	wait_until 20 is_over "$l"
	same Exit_status -2 "$(job_attr "$l" Exit_status)"
}

@test "delete-preemption #18: with a restart action it goes on" {
	cluster
	po C
	saver 0
	echo 'executor.restart=10 !/bin/sleep 1000' >>"$SB/n1/etc/settings"
	sandbox restart n1
	wait_until 20 node_is n1 free
	l=$(low)
	h=$(high)
	runs "$h"
	job_is "$l" Q
	sandbox restart server
	wait_until 20 job_is "$h" R 42
	job_is "$l" Q
	wait_until 20 node_is n1 free # linked again
	qdel "$h"
	wait_until 20 job_is "$l" R 42
	same 'records of L' QSCT "$(letters "$l")"
	same exec_vnode '(n1:ncpus=4)' "$(job_attr "$l" exec_vnode)"
}

@test "qhold of a running job: saved and held where its host can, else held when it is queued again" {
	cluster
	l=$(low)
	quietly qhold "$l"
	job_is "$l" R 42
	same Hold_Types u "$(job_attr "$l" Hold_Types)"
	qrls "$l"
	saver 0
	echo 'executor.restart=10 !/bin/sleep 1000' >>"$SB/n1/etc/settings"
	sandbox restart n1
	wait_until 20 node_is n1 job-busy
	quietly qhold "$l"
	wait_until 20 job_is "$l" H 20
	same Hold_Types u "$(job_attr "$l" Hold_Types)"
	same Exit_status -12 "$(job_attr "$l" Exit_status)"
	qrls "$l"
	wait_until 20 job_is "$l" R 42
	same 'records of L' QSCT "$(letters "$l")"
}

@test "delete-preemption #19: a failing checkpoint is no end; R follows" {
	cluster
	po CR
	saver 3
	l=$(low)
	h=$(high)
	runs "$h"
	wait_until 10 requeued "$l"
	log_says "$l" 'preemption method checkpoint failed for job \(15041\)'
	same Hold_Types n "$(job_attr "$l" Hold_Types)"
	same 'records of L' QSR "$(letters "$l")"
}

@test "delete-preemption #20: when nothing is possible nothing is touched" {
	cluster
	po CR
	l=$(low -r n)
	before=$(job_attr "$l" comment)
	h=$(high)
	wait_until 20 waits_with "$h" "$FULL"
	log_says "$l" 'Job failed to be preempted'
	job_is "$l" R 42
	comment_is "$l" "$before"
}

@test "delete-preemption #21: what failed is tried again when it may succeed" {
	cluster --ncpus 2
	po CR
	a=$(one -r n) b=$(one -r n)
	h=$(high -l select=1:ncpus=1)
	wait_until 20 log_says "$a" 'Job failed to be preempted'
	wait_until 20 log_says "$b" 'Job failed to be preempted'
	job_is "$h" Q
	qmgr -c 'set server scheduling = false'
	qalter -r y "$a" "$b"
	qmgr -c 'set server scheduling = true'
	runs "$h"
	wait_until 10 requeued "$b"
	job_is "$a" R
}

# ---- ranges -----------------------------------------------------------------------------------------------------

@test "delete-preemption #22: the first half of its time" {
	cluster
	po 'R 50 S'
	l=$(low -l walltime=40)
	h=$(high)
	runs "$h"
	wait_until 10 requeued "$l"
}

@test "delete-preemption #23: the second half of its time" {
	cluster
	po 'S 50 R'
	l=$(low -l walltime=12)
	wait_until 20 ran_for "$l" 7
	h=$(high)
	runs "$h"
	wait_until 10 requeued "$l"
}

@test "delete-preemption #23: suspended in the first half, deleted in the second" {
	cluster
	po 'SCR 50 D'
	l=$(low -l walltime=40)
	h=$(high)
	runs "$h"
	job_is "$l" S 45
	qdel "$h" "$l"
	l=$(low -l walltime=12)
	wait_until 20 ran_for "$l" 7
	h=$(high)
	runs "$h"
	is_deleted "$l"
}

@test "delete-preemption #24: soft_walltime goes before walltime" {
	cluster
	po 'R 10 S'
	l=$(low -l walltime=600)
	qalter -l soft_walltime=5 "$l"
	wait_until 20 ran_for "$l" 5
	h=$(high)
	runs "$h"
	job_is "$l" S 45
}

@test "delete-preemption #25: who asks for no time is in the first range" {
	cluster
	po 'R 50 S'
	l=$(low)
	h=$(high)
	runs "$h"
	wait_until 10 requeued "$l"
}

# ---- who is chosen ------------------------------------------------------------------------------------------------

all_are() { local j; for j in "${@:3}"; do job_is "$j" "$1" "$2" || return; done; }

@test "delete-preemption #26: many victims in one go" {
	cluster --ncpus 10
	for order in SCR D; do
		po "$order"
		jobs=()
		for i in 1 2 3 4 5 6 7 8 9 10; do jobs+=("$(one)"); done
		h=$(high -l select=1:ncpus=10)
		runs "$h"
		if [ "$order" = D ]; then all_are F 91 "${jobs[@]}"; else all_are S 45 "${jobs[@]}"; fi
		qdel "$h"
		wait_until 20 is_over "$h"
		[ "$order" = D ] || qdel "${jobs[@]}"
	done
}

@test "delete-preemption #27: the youngest first" {
	cluster
	po D
	a=$(one) b=$(one) c=$(one) d=$(one)
	h=$(high)
	runs "$h"
	all_are R 42 "$a" "$b"
	all_are F 91 "$c" "$d"
}

@test "delete-preemption #28: only those that are needed" {
	cluster
	po D
	a=$(one) b=$(one) c=$(one) d=$(one)
	h=$(high -l select=1:ncpus=1)
	runs "$h"
	all_are R 42 "$a" "$b" "$c"
	is_deleted "$d"
}

# two: 2 cpus each in workq and q2.
two()
{
	queue q2 0
	w=$(running -l select=1:ncpus=2)
	q=$(running -q q2 -l select=1:ncpus=2)
}

@test "delete-preemption #29: preempt_targets names a queue" {
	cluster
	po D
	two
	h=$(high -l preempt_targets=queue=q2)
	runs "$h"
	is_deleted "$q"
	job_is "$w" R
	log_says "$h" 'Limited running jobs used for preemption from 2 to 1'
}

@test "delete-preemption #29: preempt_targets names a resource" {
	cluster
	po D
	a=$(running -l select=1:ncpus=2 -l walltime=1:00:00)
	b=$(running -l select=1:ncpus=2 -l walltime=2:00:00)
	h=$(high -l preempt_targets=Resource_List.walltime=01:00:00)
	runs "$h"
	is_deleted "$a"
	job_is "$b" R
}

@test "delete-preemption #29: preempt_targets as a list: any of them" {
	cluster
	po D
	queue q2 0
	a=$(running -l select=1:ncpus=2)
	b=$(running -q q2 -l select=1:ncpus=1) c=$(running -l select=1:ncpus=1 -l walltime=2:00:00)
	h=$(high -l 'preempt_targets="queue=q2,Resource_List.walltime=02:00:00"')
	runs "$h"
	is_deleted "$b"
	is_deleted "$c"
	job_is "$a" R
}

@test "delete-preemption #30: preempt_targets=None" {
	cluster
	po D
	l=$(low)
	h=$(high -l preempt_targets=None)
	wait_until 20 waits_with "$h" "$FULL"
	log_says "$h" 'No preemption set specified for the job: Job will not preempt'
	job_is "$l" R
	has "$(keelson explain "$h")" 'preempt_targets=None'
	x=$(submit -h)
	quietly qalter -l preempt_targets=None "$x"
	same preempt_targets None "$(job_attr "$x" Resource_List.preempt_targets)"
}

@test "delete-preemption #31: errors of preempt_targets" {
	cluster
	says 170 'qsub: Unknown queue' submit -l preempt_targets=queue=nosuch
	says 187 'qsub: Unknown resource' submit -l preempt_targets=Resource_List.nosuch=3
	for bad in abc queue= None=1; do
		status=0
		found=$(submit -l preempt_targets="$bad" 2>&1) || status=$?
		same "exit for $bad" 166 "$status"
		has "$found" '^qsub: Illegal attribute or resource value'
	done
	x=$(submit -h)
	status=0
	qalter -l preempt_targets=queue=nosuch "$x" 2>/dev/null || status=$?
	same 'exit of qalter' 170 "$status"
	status=0
	qmgr -c 'set queue workq resources_default.preempt_targets = queue=nosuch' 2>/dev/null || status=$?
	same 'exit of qmgr' 170 "$status"
}

@test "delete-preemption #31: a default may name a queue that is gone; who asks for it is told" {
	cluster
	queue q2 0
	qmgr -c 'set server resources_default.preempt_targets = "queue=q2"'
	qmgr -c 'delete queue q2'
	l=$(low)
	says 170 'qsub: Unknown queue' submit -l preempt_targets=queue=q2
	h=$(high)
	wait_until 20 waits_with "$h" "$FULL"
	job_is "$l" R 42
}

@test "delete-preemption #32: preempt_targets can be switched off" {
	cluster
	po D
	qmgr -c 'set sched preempt_targets_enable = False'
	l=$(low)
	h=$(high -l preempt_targets=None)
	runs "$h"
	is_deleted "$l"
}

@test "delete-preemption #39: express queues rank among themselves" {
	cluster
	queue higher 300
	po D
	l=$(low -q express)
	h=$(high -q higher)
	runs "$h"
	is_deleted "$l"
	x=$(high -l select=1:ncpus=4)
	wait_until 20 waits "$x"
	job_is "$h" R
}

# over_limits SOFT: jobs of $OWNER over so many cpus are below normal ones.
over_limits()
{
	qmgr -c "set sched preempt_prio = 'express_queue, normal_jobs, server_softlimits'"
	qmgr -c "set server max_run_res_soft.ncpus = '[u:$OWNER=$1]'"
}

@test "delete-preemption #40: who is over a soft limit gives way to normal jobs" {
	needs_root
	cluster
	po S
	over_limits 2
	a=$(one) b=$(one) c=$(one) d=$(one)
	x=$(submit_as "$OTHER" -l select=1:ncpus=1)
	runs "$x"
	job_is "$d" S 45
	all_are R 42 "$a" "$b" "$c"
}

# As the reference does it (not as the list says): a job is not refused because it is less over its limit then.
@test "delete-preemption #41: nobody follows one whose level has risen to that of the job" {
	needs_root
	cluster --ncpus 3
	po S
	over_limits 2
	a=$(one) b=$(one) c=$(one)
	x=$(submit_as "$OTHER" -l select=1:ncpus=2)
	wait_until 20 waits "$x"
	for job in "$a" "$b"; do
		log_says "$job" 'Preempting job will escalate its priority or priority of other jobs, not preempting it'
	done
	all_are R 42 "$a" "$b" "$c"
	y=$(submit_as "$OTHER" -l select=1:ncpus=1)
	runs "$y"
	job_is "$c" S 45
	all_are R 42 "$a" "$b"
}

@test "delete-preemption #42: a host by name" {
	cluster
	po S
	l=$(low)
	h=$(high -l select=1:ncpus=4:host=n1)
	runs "$h"
	job_is "$l" S 45
	x=$(high -l select=1:ncpus=4:host=n1)
	wait_until 20 waits "$x"
	job_is "$h" R
}

@test "delete-preemption #43: what is not counted excludes nobody" {
	cluster --hosts 2
	po D
	qmgr -c 'create resource app type=string_array, flag=h'
	qmgr -c 'set node n1 resources_available.app = appA'
	qmgr -c 'set node n2 resources_available.app = appB'
	l=$(low -l select=1:ncpus=4:app=appA)
	h=$(high -l select=1:ncpus=4:app=appA)
	runs "$h"
	is_deleted "$l"
}

@test "delete-preemption #44: cpus of the server" {
	cluster --ncpus 8
	po D
	qmgr -c 'set server resources_available.ncpus = 4'
	l=$(low -l select=1:ncpus=3)
	h=$(high -l select=1:ncpus=3)
	runs "$h"
	is_deleted "$l"
}

@test "delete-preemption #45: a host of its own" {
	cluster
	po R
	a=$(one) b=$(one)
	h=$(high -l select=1:ncpus=1 -l place=exclhost)
	runs "$h"
	wait_until 10 requeued "$a"
	wait_until 10 requeued "$b"
}

@test "delete-preemption #46: dependents of a deleted job" {
	cluster
	po D
	l=$(low)
	m=$(submit -W depend=afternotok:"$l" -l select=1:ncpus=1)
	n=$(submit -W depend=afterok:"$l" -l select=1:ncpus=1)
	job_is "$m" H
	h=$(high)
	runs "$h"
	runs "$m"
	wait_until 10 is_over "$n"
}

@test "delete-preemption #50: qrun is above all levels" {
	cluster
	po D
	l=$(low)
	x=$(submit -l select=1:ncpus=2)
	wait_until 20 waits_with "$x" "$FULL"
	qrun "$x"
	runs "$x"
	is_deleted "$l"
}

@test "delete-preemption #51: enforced resumption: a filler may not delay a preempted job" {
	cluster
	po S
	qmgr -c 'set sched sched_preempt_enforce_resumption = True'
	l=$(low -l walltime=1:00:00)
	h=$(high -l select=1:ncpus=3 -l walltime=0:10:00)
	runs "$h"
	job_is "$l" S 45
	f=$(submit -l select=1:ncpus=1 -l walltime=2:00:00)
	wait_until 20 waits_with "$f" 'Not Running: Job would conflict with reservation or top job'
	[ -n "$(job_attr "$l" estimated.start_time)" ]
	x=$(submit -l select=1:ncpus=1 -l walltime=0:05:00)
	runs "$x"
}

# ---- refusals ---------------------------------------------------------------------------------------------------------

@test "delete-preemption #33 #54: a host that refuses leaves no trace" {
	cluster
	po D
	fixture n1 veto_preterm
	l=$(low)
	before=$(job_attr "$l" comment)
	h=$(high)
	wait_until 20 waits_with "$h" "$FULL"
	log_says "$l" 'MOM rejected signal during delete \(15169\)'
	log_says "$l" 'preemption method delete failed for job \(15169\)'
	log_says "$l" 'Job failed to be preempted'
	job_is "$l" R 42
	comment_is "$l" "$before"
	same 'records of L' QS "$(letters "$l")"
}

@test "delete-preemption #34: refused by D, taken by S" {
	cluster
	po DS
	fixture n1 veto_preterm
	l=$(low)
	h=$(high)
	runs "$h"
	job_is "$l" S 45
}

@test "delete-preemption #35: nobody is deleted for a job whose start would be refused" {
	cluster
	po D
	fixture server refuse_run 'text = "express is closed";'
	l=$(low)
	h=$(high)
	wait_until 20 waits_with "$h" 'Not Running: PBS Error: express is closed'
	log_says "$h" 'Failed to run: express is closed \(15136\)'
	job_is "$l" R 42
	same 'records of L' QS "$(letters "$l")"
	has "$(keelson explain "$h")" 'express is closed'
	says 2 "qrun: Failed to run: express is closed (15136) $h" qrun "$h"
	comment_is "$h" 'Not Running: PBS Error: express is closed'
}

@test "delete-preemption #35: a start refused all the same is told, and the loss too" {
	cluster
	po D
	fixture server refuse_run 'text = "express is closed"; late = true;'
	l=$(low)
	h=$(high)
	wait_until 20 waits_with "$h" 'Not Running: PBS Error: express is closed'
	is_deleted "$l"
	wait_until 10 log_says "$h" "Preempted work didn't run job - rerun it"
	wait_until 10 log_says "$l" 'Failed to rerun job: Failed to run: Job has finished \(15139\)'
}

@test "delete-preemption #36: no storm of suspensions" {
	cluster --set executor.usage_interval=1s
	po S
	fixture server refuse_run 'late = true;'
	l=$(low)
	wait_until 20 used "$l"
	h=$(high)
	wait_until 20 record_of "$l" r
	job_is "$l" R
	# many cycles, none of which has anything new for H
	for i in 1 2 3 4 5 6 7 8; do
		x=$(submit -l select=1:ncpus=4)
		wait_until 20 waits "$x"
	done
	[ "$(record_of "$l" z | wc -l)" -le 3 ]
	job_is "$h" Q
}

# ---- while it waits ------------------------------------------------------------------------------------------------------

@test "delete-preemption #47: a forced deletion ends the wait" {
	cluster
	qmgr -c 'set queue workq kill_delay = 60'
	po D
	l=$(stubborn)
	h=$(high)
	wait_until 10 log_says "$l" 'Job to be deleted'
	job_is "$h" Q
	qdel -W force "$l"
	wait_until 5 job_is "$h" R 42
	log_says "$l" 'Job preempted by deletion'
}

@test "delete-preemption #48: a client may not preempt, not even a manager's" {
	cluster
	po D
	l=$(low)
	says 1 'error 15011' timeout 5 "$KEELSON_BUILD/tests/scenario/tools/preempt" "$l"
	job_is "$l" R 42
}

@test "delete-preemption #48: nor the site's own scheduler while the server's works" {
	cluster --set "preemption.scheduler_users=$ME"
	po D
	l=$(low)
	says 1 'error 15011' tool "$l"
	job_is "$l" R 42
}

@test "delete-preemption #49: a scheduler of the site's own hears what became of each job" {
	cluster --set "preemption.scheduler_users=$ME"
	po D
	l=$(low) q=$(submit -l select=1:ncpus=4)
	qmgr -c 'set server scheduling = false'
	array=$(submit -J 1-3)
	part=${array/\[\]/[2]} none=${array/\[\]/[9]}
	same outcomes "$(printf '%s\n' "$l D" "$q Q" '999.svr D' "$part Q" "$none D" | sort)" \
		"$(tool "$l" "$q" 999.svr "$part" "$none" | sort)"
	is_deleted "$l"
}

@test "delete-preemption #49: each job has exactly one outcome, refused ones too" {
	cluster --set "preemption.scheduler_users=$ME"
	a=$(one -r n) b=$(one) c=$(one) held=$(submit -h)
	qmgr -c 'set server scheduling = false'
	po R
	same outcomes "$(printf '%s\n' "$a 000" "$b Q" "$held 000" | sort)" \
		"$(tool "$a" "$b" "$held" | sort)"
	po S
	same outcomes "$c S" "$(tool "$c")"
	# suspended already: S is refused
	same outcomes "$c 000" "$(tool "$c")"
}

@test "delete-preemption: a host that is away is no wait without end" {
	cluster --set "preemption.scheduler_users=$ME"
	l=$(low)
	qmgr -c 'set server scheduling = false'
	po D
	sandbox kill n1
	same outcomes "$l 000" "$(timeout 20 "$KEELSON_BUILD/tests/scenario/tools/preempt" "$l")"
	log_says "$l" 'preemption method delete failed for job \(15070\)'
	sandbox restart n1
	wait_until 20 node_is n1 job-busy
	job_is "$l" R 42
}

@test "delete-preemption #53: its owner gets one mail" {
	needs_module mail
	post_office
	cluster --set "mail.sendmail=$MAILER"
	po D
	l=$(low -m a)
	h=$(high)
	runs "$h"
	is_deleted "$l"
	wait_until 10 mails_are 1 "$l" "Job to be deleted at request of Scheduler@$me"
	last=$(submit -h)
	as "$OWNER" qdel "$last"
	wait_until 10 mails_are 1 "$last" 'Aborted by PBS Server '
	mails_are 1 "$l"
	has "$(cat "$(mails "$l")")" "^To: $OWNER@"
	has "$(cat "$(mails "$l")")" "^Subject: PBS JOB $l\$"
}

@test "delete-preemption #52: a restart forgets no suspended job" {
	cluster
	po S
	l=$(low)
	h=$(high)
	runs "$h"
	job_is "$l" S 45
	sandbox restart server
	wait_until 20 job_is "$h" R 42
	job_is "$l" S 45
	order_is S
	qdel "$h"
	runs "$l"
}

@test "delete-preemption #56: a victim that has just started" {
	cluster
	po D
	for i in 1 2 3; do
		l=$(submit -l select=1:ncpus=4)
		h=$(high)
		runs "$h"
		if [ "$(letters "$l")" != Q ] && [ "$(letters "$l")" != QS ]; then
			is_deleted "$l"
			same 'D of L' 1 "$(record_of "$l" D | wc -l)"
			same 'E of L' 1 "$(record_of "$l" E | wc -l)"
			[ "$(line_of E "$l")" -lt "$(line_of S "$h")" ]
		fi
		qdel "$h"
		wait_until 20 is_over "$h"
		qdel "$l" 2>/dev/null || true
		wait_until 20 is_over "$l"
	done
}

@test "delete-preemption #57: after H the next subjob, not the deleted one" {
	needs_module arrays
	cluster
	po D
	a=$(array 1-2 4 1)
	h=$(high)
	runs "$h"
	job_is "$(sub "$a" 1)" X 91
	job_is "$(sub "$a" 2)" Q
	job_is "$a" B
	qdel "$h"
	wait_until 30 job_is "$(sub "$a" 2)" R 42
	job_is "$(sub "$a" 1)" X 91
	job_is "$a" B
}

@test "delete-preemption #58: the deletion precedes the start, and no cycle starts in between" {
	cluster
	po D
	l=$(low)
	h=$(high)
	runs "$h"
	events=$(server_log | grep -E ";Job;$l;(Exit_status=|Job preempted by deletion)|;Job;$h;Job run|Starting Scheduling Cycle|;Job;$h;Employing" |
		sed -n '/Employing/,$p' | sed -E 's/.*(Exit_status|Job preempted by deletion|Job run|Starting|Employing).*/\1/')
	same order 'Employing Exit_status Job preempted by deletion Job run' "$(head -n 4 <<<"$events" | xargs)"
}

# ---- settings of D ---------------------------------------------------------------------------------------------------------

@test "delete-preemption: a victim is told before it is deleted, and has time" {
	cluster --set delete-preemption.grace_signal=USR1 --set delete-preemption.grace=2s
	po D
	note=$(desk "$OWNER")/note
	l=$(submit -l select=1:ncpus=4 -- /bin/sh -c \
		"trap 'echo saved >$note' USR1; touch $note.ready; while :; do sleep 0.1; done")
	wait_until 20 test -e "$note.ready"
	wait_until 20 job_is "$l" R 42
	h=$(high)
	wait_until 10 grep -qx saved "$note"
	job_is "$l" R
	job_is "$h" Q
	runs "$h"
	is_deleted "$l"
}

@test "delete-preemption: a victim that ends in its grace is no failure" {
	cluster --set delete-preemption.grace_signal=USR1 --set delete-preemption.grace=60s
	po D
	l=$(low)
	h=$(high)
	wait_until 20 job_is "$h" R 42
	job_is "$l" F
	same 'records of L' QSE "$(letters "$l")"
}

@test "delete-preemption: only jobs in its scope are deleted" {
	cluster --set 'delete-preemption.queue=^scratch$'
	queue scratch 0
	po DS
	a=$(running -l select=1:ncpus=2) b=$(running -q scratch -l select=1:ncpus=2)
	h=$(high -l select=1:ncpus=4)
	runs "$h"
	job_is "$a" S 45
	is_deleted "$b"
}

@test "delete-preemption: no more than so many in a cycle" {
	cluster --set delete-preemption.max_per_cycle=1
	po DS
	a=$(running -l select=1:ncpus=2) b=$(running -l select=1:ncpus=2)
	h=$(high -l select=1:ncpus=4)
	runs "$h"
	same 'deleted' 1 "$(printf '%s\n' "$(letters "$a")" "$(letters "$b")" | grep -c D)"
	same 'suspended' 1 "$(qselect -s S | wc -l)"
}

@test "delete-preemption: who needs more than may be deleted in a cycle deletes nobody" {
	cluster --set delete-preemption.max_per_cycle=1
	po D
	a=$(running -l select=1:ncpus=2) b=$(running -l select=1:ncpus=2)
	h=$(high -l select=1:ncpus=4)
	wait_until 20 waits_with "$h" "$FULL"
	job_is "$a" R 42
	job_is "$b" R 42
	qdel "$h"
	h=$(high)
	runs "$h"
	is_deleted "$b"
	job_is "$a" R 42
}

@test "delete-preemption: a pattern that is none is refused with its place" {
	cluster
	sed -i 's/enabled = true;/enabled = true; user = "(";/' "$SB/server/etc/modules.d/delete-preemption.conf"
	status=0
	found=$(keelson reload 2>&1) || status=$?
	same status 1 "$status"
	has "$found" 'pattern "\(" cannot be understood'
}

# ---- switched off ------------------------------------------------------------------------------------------------------------

@test "delete-preemption: module off: D is a letter like any unknown one" {
	cluster --disable delete-preemption
	order_refused D
	order_refused SCRD
	order_refused Q
	order_is SCR
	quietly po 'SCR 50 R'
	l=$(low)
	h=$(high)
	runs "$h"
	job_is "$l" S 45
}

@test "delete-preemption: module off: a stored D is passed over until it is back" {
	cluster
	po DS
	sandbox reload --disable delete-preemption
	order_is DS
	l=$(low)
	h=$(high)
	runs "$h"
	job_is "$l" S 45
	qdel "$h"
	runs "$l"
	sandbox reload --enable delete-preemption
	h=$(high)
	runs "$h"
	is_deleted "$l"
}

@test "delete-preemption: preemption off and on again: the letters are there, D too" {
	cluster
	po RD
	sandbox reload --disable preemption
	lacks "$(qmgr -c 'list sched default')" preempt_order
	l=$(low -r n)
	sandbox reload --enable preemption
	order_is RD
	h=$(high)
	runs "$h"
	is_deleted "$l"
}

@test "delete-preemption: preemption off: its attributes are unknown, and nobody gives way" {
	cluster --disable preemption
	lacks "$(qmgr -c 'list sched default')" preempt_order
	l=$(low)
	h=$(high)
	wait_until 20 waits_with "$h" "$FULL"
	job_is "$l" R 42
}

@test "delete-preemption: a job in a reservation gives way to none outside" {
	needs_module reservations
	needs_root
	cluster
	local resv inside beside h
	po D
	resv=$(as "$OWNER" pbs_rsub -I 60 -R "$(date -d '+3 seconds' +%Y%m%d%H%M.%S)" -D 600 -l select=1:ncpus=2 | cut -d' ' -f1)
	inside=$(submit -q "${resv%%.*}" -l select=1:ncpus=2 -l walltime=60)
	runs "$inside"
	h=$(high -l select=1:ncpus=4 -l walltime=60)
	wait_until 20 waits "$h"
	job_is "$inside" R 42
	qdel "$h"
	beside=$(low -l select=1:ncpus=2 -l walltime=60)
	h=$(high -l walltime=60)
	runs "$h"
	wait_until 20 is_deleted "$beside"
	job_is "$inside" R 42
}

@test "delete-preemption: nor where that would let another one start within a limit" {
	needs_module reservations
	needs_root
	cluster
	local resv inside h
	po D
	qmgr -c 'set server max_run = "[u:PBS_GENERIC=1]"'
	resv=$(as "$OWNER" pbs_rsub -I 60 -R "$(date -d '+3 seconds' +%Y%m%d%H%M.%S)" -D 600 -l select=1:ncpus=1 | cut -d' ' -f1)
	inside=$(submit -q "${resv%%.*}" -l select=1:ncpus=1 -l walltime=60)
	runs "$inside"
	h=$(submit -q express -l select=1:ncpus=1 -l walltime=60)
	wait_until 20 waits "$h"
	job_is "$inside" R 42
}
