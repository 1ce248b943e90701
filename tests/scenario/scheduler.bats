#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The scheduler as an administrator knows it: its object, what wakes it, who goes first.
# bats file_tags=scheduler
load helper
load shared
load scheduler

setup_file() { open_site 1; }

# ---- its object ------------------------------------------------------------------------------------------

@test "scheduler #1: what it is before anybody has changed anything" {
	local found line
	found=$(qmgr -c 'list sched default')
	while read -r line; do
		has "$found" "^ +$line\$"
	done <<-'EOF'
		sched_cycle_length = 00:20:00
		scheduling = True
		scheduler_iteration = 600
		log_events = 767
		server_dyn_res_alarm = 30
		job_run_wait = runjob_hook
		preempt_queue_prio = 150
		preempt_prio = express_queue, normal_jobs
		preempt_order = SCR
		preempt_sort = min_time_since_start
	EOF
}

@test "scheduler #2: names that are taken, too long, unknown, or nobody's to touch" {
	run -107 qmgr -c 'create sched default'
	has "$output" 15211
	run -108 qmgr -c 'create sched abcdefghijklmnopqrstuvwxyz'
	has "$output" 15212
	run -109 qmgr -c 'set sched nosuch sched_cycle_length = 10'
	has "$output" 15213
	run -110 qmgr -c 'delete sched default'
	has "$output" 15214
	run -119 qmgr -c 'set sched default partition = p1'
	has "$output" 15223
}

@test "scheduler #3: what cannot be set says so" {
	run -155 qmgr -c 'set sched default state = idle'
	has "$output" 15003
	run -154 qmgr -c 'set sched default nosuch = 1'
	has "$output" 15002
	run -166 qmgr -c 'set sched default sched_cycle_length = abc'
	has "$output" 15014
	run -166 qmgr -c 'set sched default opt_backfill_fuzzy = often'
	has "$output" 15014
}

@test "scheduler #4: what operators may set, and users may not" {
	needs_root
	quietly as "$OPERATOR" qmgr -c 'set sched default sched_cycle_length = 00:20:00'
	quietly as "$OPERATOR" qmgr -c 'set sched default do_not_span_psets = False'
	run -155 as "$OPERATOR" qmgr -c 'set sched default scheduler_iteration = 600'
	has "$output" 15003
	run -155 as "$OPERATOR" qmgr -c 'set sched default scheduling = True'
	has "$output" 15003
	quietly as "$OPERATOR" qmgr -c 'set server scheduling = true'
	for what in 'sched default sched_cycle_length = 10' 'sched default scheduling = True' \
		'server scheduling = true'; do
		run -159 as "$OTHER" qmgr -c "set $what"
		has "$output" 15007
	done
	qmgr -c 'unset sched default do_not_span_psets'
}

@test "scheduler #5: throughput_mode and job_run_wait follow each other" {
	undo qmgr -c 'unset sched default job_run_wait'
	qmgr -c 'set sched default throughput_mode = False'
	has "$(qmgr -c 'list sched default')" 'job_run_wait = execjob_hook'
	has "$(server_log)" "'throughput_mode' is being deprecated, it is recommended to use 'job_run_wait'"
	qmgr -c 'set sched default job_run_wait = runjob_hook'
	has "$(qmgr -c 'list sched default')" 'throughput_mode = True'
}

@test "scheduler #41: a fresh scheduler object" {
	local found
	qmgr -c 'create sched s2'
	found=$(qmgr -c 'list sched s2')
	has "$found" 'scheduling = False'
	has "$found" 'state = down'
	has "$found" 'sched_priv = .*/sched_priv_s2$'
	has "$found" 'sched_log = .*_s2$'
	lacks "$found" 'sched_host'
	lacks "$found" 'partition'
	run -124 qmgr -c "set sched s2 partition = pbs-default"
	run -111 qmgr -c "set sched s2 sched_priv = $(qmgr -c 'list sched default' | value sched_priv)"
	qmgr -c 'set sched s2 partition = p1'
	qmgr -c 'create sched s3'
	run -120 qmgr -c 'set sched s3 partition = p1'
	has "$output" 15224
	quietly qmgr -c 'delete sched s2'
	quietly qmgr -c 'delete sched s3'
}

# ---- what wakes it -----------------------------------------------------------------------------------------

@test "scheduler #6: scheduling off, and on again" {
	local job
	mark
	scheduling false
	undo scheduling true
	job=$(submit -l select=1:ncpus=1)
	wait_until 10 log_has "$job.*Job Queued"
	job_is "$job" Q
	same 'its comment' '' "$(job_attr "$job" comment)"
	scheduling true
	starts "$job"
	since_has 'Scheduler sent command 5'
}

@test "scheduler #7: the end of a job lets the next one in" {
	local first second
	first=$(running -l select=1:ncpus=4)
	second=$(submit -l select=1:ncpus=4)
	waits "$second" 'Not Running: Not enough free nodes available'
	mark
	qdel "$first"
	starts "$second"
	since_has 'Scheduler sent command 2'
}

@test "scheduler #35: a queue that is stopped" {
	local job
	undo qmgr -c 'set queue workq started = true'
	qmgr -c 'set queue workq started = false'
	job=$(submit -l select=1:ncpus=1)
	waits "$job" 'Not Running: Queue not started.'
	qmgr -c 'set queue workq started = true'
	starts "$job"
}

@test "scheduler #38: a reason that stays the same is written once" {
	local first second i
	first=$(running -l select=1:ncpus=4)
	second=$(submit -l select=1:ncpus=4)
	waits "$second" 'Not Running: Not enough free nodes available'
	mark
	for i in 1 2 3; do
		scheduling true
		wait_until 10 since_has 'Leaving Scheduling Cycle'
		mark
	done
	same 'times it was told' 1 \
		"$(server_log | grep -c "$second;Job Modified at request of Scheduler@")"
	qdel "$first"
}

@test "scheduler #44: a vnode that is not free, and comes back" {
	local job
	undo pbsnodes -r n1
	pbsnodes -o n1
	job=$(submit -l select=1:ncpus=1)
	waits "$job" 'Not Running: Not enough free nodes available'
	pbsnodes -r n1
	starts "$job"
}

# ---- who goes first ----------------------------------------------------------------------------------------------

@test "scheduler #13: queues by their priority" {
	local full low high
	told 'by_queue: True ALL'
	new_queue low 10
	new_queue high 20
	full=$(running -l select=1:ncpus=4)
	low=$(submit -q low -l select=1:ncpus=4)
	high=$(submit -q high -l select=1:ncpus=4)
	waits "$high" 'Not Running: Not enough free nodes available'
	qdel "$full"
	starts "$high"
	job_is "$low" Q
	qdel "$high"
	starts "$low"
	qdel "$low"
	wait_until 10 no_jobs
}

@test "scheduler #14: the formula decides, and one with an unknown name is refused" {
	local small big
	told 'by_queue: False ALL'
	scheduling false
	undo scheduling true
	small=$(submit -l select=1:ncpus=1)
	big=$(submit -l select=1:ncpus=4)
	set_server job_sort_formula "'ncpus'"
	scheduling true
	starts "$big"
	waits "$small" 'Not Running: Not enough free nodes available'
	run -20 qmgr -c "set server job_sort_formula = 'nosuch'"
	has "$output" 15124
	run -19 qmgr -c "set server job_sort_formula = 'ncpus +'"
	has "$output" 15123
	run -21 qmgr -c "set server job_sort_formula = 'arch'"
	has "$output" 15125
	run -122 qmgr -c "set sched default job_sort_formula = 'mem'"
	has "$output" 15226
	quietly qmgr -c "set sched default job_sort_formula = 'ncpus'"
	quietly qmgr -c "unset sched default job_sort_formula"
}

@test "scheduler #15: a formula's threshold" {
	local small big
	told 'by_queue: False ALL'
	set_server job_sort_formula "'ncpus'"
	set_sched job_sort_formula_threshold 2
	small=$(submit -l select=1:ncpus=1)
	big=$(submit -l select=1:ncpus=3)
	starts "$big"
	waits "$small" 'Not Running: Job is under job_sort_formula threshold value'
	wait_until 10 log_has "$big;Formula Evaluation = 3"
	has "$(server_log)" "$small;Job's formula value 1 is under threshold 2"
}

@test "scheduler #16: Priority counts when job_sort_key says so" {
	local plain urgent
	scheduling false
	undo scheduling true
	plain=$(submit -l select=1:ncpus=4)
	urgent=$(submit -p 100 -l select=1:ncpus=4)
	told 'job_sort_key: "job_priority HIGH" ALL'
	scheduling true
	starts "$urgent"
	job_is "$plain" Q
}

@test "scheduler: without a job_sort_key Priority says nothing" {
	local plain urgent
	scheduling false
	undo scheduling true
	plain=$(submit -l select=1:ncpus=4)
	urgent=$(submit -p 100 -l select=1:ncpus=4)
	scheduling true
	starts "$plain"
	job_is "$urgent" Q
}

@test "scheduler: round_robin takes one job of each queue in turn" {
	local a1 a2 b1
	told 'round_robin: True ALL' 'by_queue: False ALL'
	new_queue qa 10
	new_queue qb 0
	scheduling false
	undo scheduling true
	a1=$(submit -q qa -l select=1:ncpus=2)
	a2=$(submit -q qa -l select=1:ncpus=2)
	b1=$(submit -q qb -l select=1:ncpus=2)
	scheduling true
	starts "$a1"
	starts "$b1"
	job_is "$a2" Q
	qdel "$a1" "$a2" "$b1"
	wait_until 10 no_jobs
}

@test "scheduler: lines of sched_config that are no good are told, the others hold" {
	mark
	told 'nonsense' 'by_queue: perhaps' 'preempt_order: SCR' 'strict_ordering: true ALL'
	since_has 'Error reading line 1: '
	since_has 'Error reading line 2: '
	since_has 'Obsolete config name preempt_order, instead use nothing - set via qmgr'
	since_has 'Scheduler is reconfiguring'
}

# ---- qrun ------------------------------------------------------------------------------------------------------------

@test "scheduler #36: what can never run, qrun does not start either" {
	local job
	job=$(submit -l select=1:ncpus=9)
	run -2 qrun "$job"
	same 'words of qrun' "qrun: Insufficient amount of resource: ncpus (R: 9 A: 4 T: 4) $job" "$output"
	has "$(server_log)" "$job;Received qrun request"
	has "$(server_log)" 'Scheduler sent command 11'
}

# ---- suspended, restarted ------------------------------------------------------------------------------------------

@test "scheduler #37: what a client suspended waits for a client" {
	local job
	job=$(running -l select=1:ncpus=4)
	qsig -s suspend "$job"
	wait_until 10 job_is "$job" S 43
	mark
	scheduling true
	wait_until 10 since_has 'Leaving Scheduling Cycle'
	job_is "$job" S 43
	qsig -s resume "$job"
	wait_until 10 job_is "$job" R 42
}
