#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Limits: how much users, groups, projects and everybody may queue and run.
#
# needs modules/entity-limits
# needs modules/preemption
# needs modules/arrays

load helper
load shared

# limit OBJECT ATTRIBUTE VALUE: set for this story.
limit()
{
	quietly qmgr -c "set $1 $2 = '$3'" || return
	undo qmgr -c "unset $1 $2"
}

new_queue() # NAME PRIORITY
{
	undo qmgr -c "delete queue $1"
	qmgr -c "create queue $1 queue_type = e, enabled = t, started = t, Priority = $2"
}

waits() { job_is "$1" Q 10 && comment_is "$1" "Not Running: $2"; }

# one_runs TEXT [qsub arguments]: of two jobs of $OWNER the second waits, and says so; it runs when the
# first is over.
one_runs()
{
	local text=$1 first second
	shift
	first=$(running "$@") || return
	second=$(submit "$@") || return
	wait_until 10 waits "$second" "$text" || return
	qdel "$first"
	wait_until 20 job_is "$second" R 42 || return
	qdel "$second"
	wait_until 20 no_jobs
}

group() { id -gn "$OWNER"; }

# ---- run limits: the server's and a queue's -----------------------------------------------------------------

@test "scheduler #30: limits: a user, any: server" {
	limit server max_run '[u:PBS_GENERIC=1]'
	one_runs 'User has reached server running job limit.'
}

@test "scheduler #30: limits: a user, any: queue" {
	limit 'queue workq' max_run '[u:PBS_GENERIC=1]'
	one_runs 'User has reached queue workq running job limit.'
}

@test "scheduler #30: limits: a user by name: server" {
	limit server max_run "[u:$OWNER=1]"
	one_runs "Server job limit reached for user $OWNER"
}

@test "scheduler #30: limits: a user by name: queue" {
	limit 'queue workq' max_run "[u:$OWNER=1]"
	one_runs "Queue workq job limit reached for user $OWNER"
}

@test "scheduler #30: limits: everybody: server" {
	limit server max_run '[o:PBS_ALL=1]'
	one_runs 'Server job limit has been reached.'
}

@test "scheduler #30: limits: everybody: queue" {
	limit 'queue workq' max_run '[o:PBS_ALL=1]'
	one_runs 'Queue workq job limit has been reached.'
}

@test "scheduler #30: limits: a group by name: server" {
	limit server max_run "[g:$(group)=1]"
	one_runs "Server job limit reached for group $(group)"
}

@test "scheduler #30: limits: a group by name: queue" {
	limit 'queue workq' max_run "[g:$(group)=1]"
	one_runs "Queue workq job limit reached for group $(group)"
}

@test "scheduler #30: limits: a group, any" {
	limit server max_run '[g:PBS_GENERIC=1]'
	one_runs 'Group has reached server running limit.'
	qmgr -c 'unset server max_run'
	limit 'queue workq' max_run '[g:PBS_GENERIC=1]'
	one_runs 'Group has reached queue workq running limit.' -N second
}

@test "scheduler #30: limits: a project, any: server" {
	limit server max_run '[p:PBS_GENERIC=1]'
	one_runs 'Project has reached server running limit.'
}

@test "scheduler #30: limits: a project by name: queue" {
	limit 'queue workq' max_run '[p:_pbs_project_default=1]'
	one_runs 'Queue workq job limit reached for project _pbs_project_default'
}

@test "scheduler #30: limits: a resource, any user: server" {
	limit server max_run_res.ncpus '[u:PBS_GENERIC=1]'
	one_runs 'Server per-user limit reached on resource ncpus' -l ncpus=1
}

@test "scheduler #30: limits: a resource, any user: queue" {
	limit 'queue workq' max_run_res.ncpus '[u:PBS_GENERIC=1]'
	one_runs 'Queue workq per-user limit reached on resource ncpus' -l ncpus=1
}

@test "scheduler #30: limits: a resource, a user by name: server" {
	limit server max_run_res.ncpus "[u:$OWNER=1]"
	one_runs "would exceed user $OWNER's limit on resource ncpus in complex"
}

@test "scheduler #30: limits: a resource, a user by name: queue" {
	limit 'queue workq' max_run_res.ncpus "[u:$OWNER=1]"
	one_runs "would exceed user $OWNER's limit on resource ncpus in queue workq"
}

@test "scheduler #30: limits: a resource, everybody: server" {
	limit server max_run_res.ncpus '[o:PBS_ALL=1]'
	one_runs 'would exceed overall limit on resource ncpus in complex'
}

@test "scheduler #30: limits: a resource, everybody: queue" {
	limit 'queue workq' max_run_res.ncpus '[o:PBS_ALL=1]'
	one_runs 'would exceed overall limit on resource ncpus in queue workq'
}

# ---- what holds for whom -------------------------------------------------------------------------------------

@test "limits: whoever is named is not anybody" {
	needs_root
	limit server max_run "[u:PBS_GENERIC=0],[u:$OWNER=2]"
	running
	running
	third=$(submit)
	other=$(submit_as "$OTHER")
	wait_until 10 waits "$third" "Server job limit reached for user $OWNER"
	wait_until 10 waits "$other" 'User has reached server running job limit.'
}

@test "limits: who has reached his does not keep others waiting" {
	needs_root
	limit server max_run '[u:PBS_GENERIC=1]'
	running
	second=$(submit)
	other=$(submit_as "$OTHER")
	wait_until 20 job_is "$other" R 42
	wait_until 10 waits "$second" 'User has reached server running job limit.'
}

@test "limits: entries are added, replaced and taken away" {
	limit server max_run '[u:a=1],[o:PBS_ALL=5]'
	qmgr -c 'set server max_run += [u:b=2]'
	qmgr -c 'set server max_run += [u:a=3]'
	same max_run '[o:PBS_ALL=5],[u:a=3],[u:b=2]' "$(qmgr -c 'list server max_run' | value max_run)"
	qmgr -c 'set server max_run -= [u:a=3]'
	qmgr -c 'set server max_run -= [o:PBS_ALL]'
	same max_run '[u:b=2]' "$(qmgr -c 'list server max_run' | value max_run)"
	has "$(qmgr -c 'print server max_run')" '^set server max_run = \[u:b=2\]$'
}

@test "limits: amounts keep their unit, each resource its own list" {
	limit server max_run_res.mem '[u:PBS_GENERIC=10gb]'
	limit server max_run_res.ncpus '[g:PBS_GENERIC=4]'
	same mem '[u:PBS_GENERIC=10gb]' "$(qmgr -c 'list server max_run_res.mem' | value max_run_res.mem)"
	qmgr -c 'unset server max_run_res.mem'
	same ncpus '[g:PBS_GENERIC=4]' "$(qmgr -c 'list server' | value max_run_res.ncpus)"
	lacks "$(qmgr -c 'list server')" 'max_run_res.mem'
}

@test "limits: what is no limit is refused" {
	wrong() { has "$(qmgr -c "set server $1" 2>&1)" "Error \\($2\\)"; }
	wrong "max_run = '[u:a=x]'" 15014
	wrong "max_run_res.ncpus = '[u:a=x]'" 15014
	wrong "max_run_res.nosuch = '[u:a=1]'" 15035
	wrong "max_run_res.arch = '[u:a=1]'" 15166
	lacks "$(qmgr -c 'list server')" max_run
}

@test "limits: old and new style exclude each other, wherever they are" {
	limit 'queue workq' max_run '[u:PBS_GENERIC=4]'
	for what in 'server max_running = 1' 'queue workq max_user_run = 1' 'server max_user_res.ncpus = 1'; do
		says 37 "qmgr obj=$([[ $what = server* ]] || echo workq) svr=default: Cannot mix old and new style queue/run limit enforcement types
qmgr: Error (15141) returned from server" qmgr -c "set $what"
	done
	qmgr -c 'unset queue workq max_run'
	limit server max_running 1
	has "$(qmgr -c "set queue workq max_queued = '[o:PBS_ALL=4]'" 2>&1)" '15141'
	has "$(qmgr -c "set server max_run_res_soft.ncpus = '[o:PBS_ALL=4]'" 2>&1)" '15141'
}

@test "limits: old style: a full queue" {
	limit 'queue workq' max_queuable 1
	says 198 'qsub: Maximum number of jobs already in queue' submit -h -J 1-2 # as many jobs as wait in it
	submit -h
	says 198 'qsub: Maximum number of jobs already in queue' submit -h
	qmgr -c 'unset queue workq max_queuable'
	submit -h
}

@test "limits: switched off and on again, they count as if they had been there" {
	limit server max_run '[u:PBS_GENERIC=1]'
	running
	sandbox reload --disable entity-limits
	undo sandbox reload --enable entity-limits
	lacks "$(qmgr -c 'list server')" max_run
	running
	sandbox reload --enable entity-limits
	same max_run '[u:PBS_GENERIC=1]' "$(qmgr -c 'list server' | value max_run)"
	third=$(submit)
	wait_until 10 waits "$third" 'User has reached server running job limit.'
}

@test "limits: old style: running jobs, of a user, of a group" {
	limit server max_running 1
	one_runs 'Server job limit has been reached.'
	qmgr -c 'unset server max_running'
	limit 'queue workq' max_user_run 1
	one_runs 'User has reached queue workq running job limit.' -N b
	qmgr -c 'unset queue workq max_user_run'
	limit server max_group_run 1
	one_runs 'Group has reached server running limit.' -N c
	qmgr -c 'unset server max_group_run'
	limit server max_user_res.ncpus 1
	one_runs 'Server per-user limit reached on resource ncpus' -N d
}

# ---- who counts -----------------------------------------------------------------------------------------------

@test "limits: qrun is not bound by them" {
	limit server max_run '[u:PBS_GENERIC=1]'
	running
	second=$(submit)
	wait_until 10 waits "$second" 'User has reached server running job limit.'
	qrun "$second"
	wait_until 20 job_is "$second" R 42
	third=$(submit)
	wait_until 10 waits "$third" 'User has reached server running job limit.'
}

# gives_way: of four jobs of $OWNER, who should run two, two give way to jobs of $OTHER. Then nobody is beyond a
# limit: a third waits.
gives_way()
{
	local high next last i
	for i in 1 2 3 4; do running -l ncpus=1 || return; done
	high=$(submit_as "$OTHER" -l ncpus=1) || return
	wait_until 20 job_is "$high" R 42 || return
	next=$(submit_as "$OTHER" -l ncpus=1) || return
	wait_until 20 job_is "$next" R 42 || return
	last=$(submit_as "$OTHER" -l ncpus=1) || return
	wait_until 10 commented "$last" || return
	job_is "$last" Q && same suspended 2 "$(qselect -s S | wc -l)"
}
commented() { [ -n "$(job_attr "$1" comment)" ]; }

@test "limits: preemption asks them again after they were switched off and on" {
	needs_root
	sandbox reload --disable entity-limits
	undo sandbox reload --enable entity-limits
	sandbox reload --enable entity-limits
	qmgr -c "set sched preempt_prio = 'normal_jobs, server_softlimits'"
	undo qmgr -c 'unset sched preempt_prio'
	limit server max_run_soft "[u:$OWNER=2]"
	gives_way
}

@test "limits: whoever runs more than a soft limit gives way, down to it: server" {
	needs_root
	qmgr -c "set sched preempt_prio = 'express_queue, normal_jobs, server_softlimits'"
	undo qmgr -c 'unset sched preempt_prio'
	limit server max_run_soft "[u:$OWNER=2]"
	gives_way
}

@test "limits: whoever runs more than a soft limit gives way, down to it: amounts, queue" {
	needs_root
	qmgr -c "set sched preempt_prio = 'normal_jobs, queue_softlimits'"
	undo qmgr -c 'unset sched preempt_prio'
	limit 'queue workq' max_run_res_soft.ncpus "[u:$OWNER=2],[u:$OTHER=4]"
	gives_way
}

@test "limits: who gives way is not counted on his vnode either" {
	new_queue express 200
	quietly qmgr -c 'set node n1 max_user_run = 1'
	undo qmgr -c 'unset node n1 max_user_run'
	low=$(running -l ncpus=1)
	high=$(submit -q express -l ncpus=1)
	wait_until 20 job_is "$high" R 42
	job_is "$low" S 45
}

# It is normal while it waits; once it ran it would be below those that made room for it.
@test "limits: a job that had to give way at once does not start" {
	needs_root
	qmgr -c "set sched preempt_prio = 'normal_jobs, queue_softlimits, server_softlimits'"
	undo qmgr -c 'unset sched preempt_prio'
	limit 'queue workq' max_run_soft "[u:$OTHER=1]"
	limit server max_run_soft "[u:$OWNER=1]"
	running -l ncpus=1
	for _ in 1 2 3; do
		other=$(submit_as "$OTHER" -l ncpus=1)
		wait_until 20 job_is "$other" R 42
	done
	job=$(submit -l ncpus=1)
	wait_until 10 waits "$job" 'Not enough free nodes available'
	same suspended '' "$(qselect -s S)"
	has "$(server_log)" "$job;Job not run because it would immediately be preemptable\\.$"
	has "$(keelson explain "$job")" 'preemption: .*soft limit'
}

@test "limits: a suspended job does not run" {
	limit server max_run '[u:PBS_GENERIC=1]'
	first=$(running)
	second=$(submit)
	wait_until 10 waits "$second" 'User has reached server running job limit.'
	qsig -s suspend "$first"
	wait_until 20 job_is "$second" R 42
	third=$(submit)
	wait_until 10 waits "$third" 'User has reached server running job limit.'
}

@test "limits: a job that is queued again does not run" {
	limit server max_run "[u:$OWNER=1]"
	first=$(running)
	second=$(submit)
	wait_until 10 waits "$second" "Server job limit reached for user $OWNER"
	qhold "$first"
	qrerun "$first"
	wait_until 20 job_is "$second" R 42
	job_is "$first" H
}

@test "limits: they count on after the server was killed" {
	limit server max_run '[u:PBS_GENERIC=1]'
	limit server max_queued '[u:PBS_GENERIC=2]'
	first=$(running)
	second=$(submit)
	sandbox kill server
	sandbox restart server
	wait_until 20 job_is "$first" R 42
	wait_until 10 waits "$second" 'User has reached server running job limit.'
	says 38 "qsub: would exceed complex's per-user limit" submit
	qdel "$first"
	wait_until 20 job_is "$second" R 42
	submit
}

@test "limits: an altered job counts as it is now" {
	limit server max_queued_res.ncpus '[o:PBS_ALL=4]'
	id=$(submit -h -l ncpus=4)
	says 39 'qsub: would exceed limit on resource ncpus in complex' submit -h -l ncpus=1
	qalter -l ncpus=3 "$id"
	submit -h -l ncpus=1
}

# ---- at submission ---------------------------------------------------------------------------------------------

@test "scheduler #31: max_queued" {
	limit server max_queued '[u:PBS_GENERIC=1]'
	submit
	says 38 "qsub: would exceed complex's per-user limit" submit
}

# full ATTRIBUTE ENTITY TEXT: with one held job there, another of $OWNER is refused, at queue and server.
full()
{
	local text=$3 status=$4
	limit "${object:-server}" "$1" "[$2=1]" || return
	says "$status" "qsub: $text" submit
	qmgr -c "unset ${object:-server} $1"
}

@test "limits: texts of max_queued" {
	submit
	full max_queued o:PBS_ALL 'Maximum number of jobs already in complex' 38
	full max_queued "u:$OWNER" "Maximum number of jobs for user $OWNER already in complex" 38
	full max_queued "g:$(group)" "Maximum number of jobs for group $(group) already in complex" 38
	full max_queued g:PBS_GENERIC "would exceed complex's per-group limit" 38
	full max_queued p:PBS_GENERIC "would exceed complex's per-project limit" 38
	full max_queued_res.ncpus o:PBS_ALL 'would exceed limit on resource ncpus in complex' 39
	full max_queued_res.ncpus u:PBS_GENERIC 'would exceed per-user limit on resource ncpus in complex' 39
	full max_queued_res.ncpus "u:$OWNER" "would exceed user $OWNER's limit on resource ncpus in complex" 39
	object='queue workq'
	full max_queued o:PBS_ALL 'Maximum number of jobs already in queue workq' 38
	full max_queued "u:$OWNER" "Maximum number of jobs for user $OWNER already in queue workq" 38
	full max_queued u:PBS_GENERIC "would exceed queue workq's per-user limit" 38
	full max_queued_res.ncpus o:PBS_ALL 'would exceed limit on resource ncpus in queue workq' 39
	full max_queued_res.ncpus g:PBS_GENERIC 'would exceed per-group limit on resource ncpus in queue workq' 39
	full max_queued_res.ncpus p:_pbs_project_default \
		"would exceed project _pbs_project_default's limit on resource ncpus in queue workq" 39
}

@test "limits: texts of queued_jobs_threshold" {
	qmgr -c 'set server scheduling = false'
	undo qmgr -c 'set server scheduling = true'
	submit
	full queued_jobs_threshold o:PBS_ALL "Maximum number of jobs in 'Q' state already in complex" 38
	full queued_jobs_threshold u:PBS_GENERIC "would exceed complex's per-user limit of jobs in 'Q' state" 38
	full queued_jobs_threshold_res.ncpus u:PBS_GENERIC \
		"would exceed per-user limit on resource ncpus in complex for jobs in 'Q' state" 39
	object='queue workq'
	full queued_jobs_threshold "u:$OWNER" \
		"Maximum number of jobs in 'Q' state for user $OWNER already in queue workq" 38
}

@test "limits: queued_jobs_threshold counts only what is in state Q" {
	limit server queued_jobs_threshold '[u:PBS_GENERIC=1]'
	running
	held=$(submit -h)
	qmgr -c 'set server scheduling = false'
	undo qmgr -c 'set server scheduling = true'
	queued=$(submit)
	says 38 "qsub: would exceed complex's per-user limit of jobs in 'Q' state" submit
	qhold "$queued"
	last=$(submit)
	qdel "$last"
	qrls "$held"
	says 38 "qsub: would exceed complex's per-user limit of jobs in 'Q' state" submit
}

@test "limits: a queue that is full takes no moved job; the one it came from has room again" {
	qmgr -c 'create queue other queue_type=execution,enabled=true,started=true'
	undo qmgr -c 'delete queue other'
	undo eval 'qselect | xargs -r qdel -W force; wait_until 10 no_jobs'
	limit 'queue other' max_queued '[u:PBS_GENERIC=1]'
	limit 'queue workq' max_queued '[o:PBS_ALL=1]'
	first=$(submit -h)
	says 38 'qsub: Maximum number of jobs already in queue workq' submit -h
	qmove other "$first"
	second=$(submit -h)
	found=$(qmove other "$second" 2>&1) && false
	has "$found" "would exceed queue other's per-user limit"
	same queue workq "$(job_attr "$second" queue)"
}

@test "limits: a limit on a resource goes with it" {
	qmgr -c 'create resource licence type=long,flag=q'
	qmgr -c "set queue workq max_run_res.licence = '[o:PBS_ALL=1]'"
	quietly qmgr -c 'delete resource licence'
	lacks "$(qmgr -c 'list queue workq')" licence
}

@test "limits: keelson explain tells how near they are" {
	limit server max_run "[u:$OWNER=1]"
	limit 'queue workq' max_run_res.ncpus '[o:PBS_ALL=3]'
	running -l ncpus=2
	id=$(submit)
	wait_until 10 waits "$id" "Server job limit reached for user $OWNER"
	found=$(keelson explain "$id")
	has "$found" "^limit +max_run of user $OWNER in complex: 1 of 1$"
	has "$found" '^limit +max_run_res\.ncpus of everybody in queue workq: 2 of 3$'
}

@test "limits: an array is as many jobs as it has subjobs" {
	limit server max_queued '[u:PBS_GENERIC=5]'
	id=$(submit -h -J 1-4)
	submit -h
	says 38 "qsub: would exceed complex's per-user limit" submit -h
	qdel "${id/\[\]/[1-2]}"
	submit -h
	says 38 "qsub: would exceed complex's per-user limit" submit -h -J 1-2
	submit -h
}

@test "limits: subjobs run within the limits, and count on over a restart" {
	limit server max_run '[u:PBS_GENERIC=2]'
	limit server max_queued '[o:PBS_ALL=6]'
	id=$(submit -J 1-5)
	counts() { same counts "Queued:$1 Running:$2 Exiting:0 Expired:$3" "$(job_attr "$id" array_state_count)"; }
	wait_until 20 counts 3 2 0
	last=$(submit)
	wait_until 10 waits "$last" 'User has reached server running job limit.'
	says 38 'qsub: Maximum number of jobs already in complex' submit
	sandbox kill server
	sandbox restart server
	says 38 'qsub: Maximum number of jobs already in complex' submit
	deleted() { qdel "${id/\[\]/[1]}"; }
	wait_until 20 deleted # when the host is back
	wait_until 20 counts 2 2 1
	submit -h
	says 38 'qsub: Maximum number of jobs already in complex' submit
	qrerun "${id/\[\]/[2]}"
	wait_until 20 counts 2 2 1
	says 38 'qsub: Maximum number of jobs already in complex' submit
}

# ---- after much coming and going -------------------------------------------------------------------------------

# counted FAMILY WHO: the number that `keelson explain` tells.
counted() { keelson explain "$witness" | sed -n "s/^limit  *$1 of $2: \([0-9]*\) of .*/\1/p"; }
jobs_in() { qselect -s "$1" | wc -l; }

numbers_are_true()
{
	local all queued running
	all=$(qselect | wc -l) queued=$(jobs_in Q) running=$(jobs_in R)
	same 'all' "$all" "$(counted max_queued 'everybody in complex')" &&
		same 'of the owner' "$all" "$(counted max_queued "user $OWNER in queue workq")" &&
		same 'in state Q' "$queued" "$(counted queued_jobs_threshold 'everybody in complex')" &&
		same 'running' "$running" "$(counted max_run 'everybody in complex')" &&
		same 'cpus' "$running" "$(counted max_run_res.ncpus "user $OWNER in complex")"
}

@test "limits: after much coming and going, and a kill -9, the numbers are true" {
	limit server max_queued '[o:PBS_ALL=1000]'
	limit 'queue workq' max_queued '[u:PBS_GENERIC=1000]'
	limit server queued_jobs_threshold '[o:PBS_ALL=1000]'
	limit server max_run '[o:PBS_ALL=3]'
	limit server max_run_res.ncpus '[u:PBS_GENERIC=100]'
	witness=$(submit -h)
	RANDOM=7
	for ((i = 0; i < 60; i++)); do
		mapfile -t ids < <(qselect)
		id=${ids[RANDOM % ${#ids[@]}]}
		[ "$id" != "$witness" ] || id=
		case $((RANDOM % 9)) in
		0 | 1 | 2) submit ;;
		3) [ -z "$id" ] || qdel "$id" ;;
		4) [ -z "$id" ] || qsig -s suspend "$id" ;;
		5) [ -z "$id" ] || qsig -s resume "$id" ;;
		6) [ -z "$id" ] || qrerun "$id" ;;
		7) [ -z "$id" ] || qhold "$id" ;;
		8) [ -z "$id" ] || qrls "$id" ;;
		esac >/dev/null 2>&1 || true
	done
	wait_until 20 numbers_are_true
	sandbox kill server
	sandbox restart server
	wait_until 20 numbers_are_true
	qselect | grep -v "^$witness$" | xargs -r qdel -W force
	wait_until 20 numbers_are_true
	same 'left' 1 "$(counted max_queued 'everybody in complex')"
}
