#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Strict order, top jobs, and what may start before them.
# bats file_tags=scheduler
load helper
load shared
load scheduler

setup_file() { open_site 1; }

@test "scheduler #8: first come, first served, and nobody before" {
	local first second third
	strict
	set_server backfill_depth 0
	first=$(running -l select=1:ncpus=3)
	second=$(submit -l select=1:ncpus=2)
	third=$(submit -l select=1:ncpus=1)
	waits "$third" 'Not Running: Job would break strict sorted order'
	waits "$second" 'Not Running: Insufficient amount of resource: ncpus (R: 2 A: 1 T: 4)'
	same 'its estimate' '' "$(estimate "$second")"
}

@test "scheduler #9: a job that delays nobody starts before a top job" {
	local first second third
	strict
	first=$(running -l select=1:ncpus=3 -l walltime=1:00:00)
	second=$(submit -l select=1:ncpus=2 -l walltime=1:00:00)
	wait_until 10 is_top "$second"
	near 'its estimate' "$(estimate "$second")" $(($(start_of "$first") + 3600))
	same 'where it will be' '(n1:ncpus=2)' "$(job_attr "$second" estimated.exec_vnode)"
	third=$(submit -l select=1:ncpus=1 -l walltime=0:30:00)
	starts "$third"
	job_is "$second" Q
	has "$(server_log)" "$second;Estimating the start time for a top job."
	has "$(server_log)" "$second;Job is a top job and will run at "
	has "$(qstat -T)" "^${second%%.*}\\..* ([0-9]{2}:[0-9]{2}|[A-Z][a-z] [0-9]{2}) *\$" # tomorrow, late in the evening
}

@test "scheduler #10: a job that would delay a top job waits" {
	local first second third
	strict
	first=$(running -l select=1:ncpus=3 -l walltime=1:00:00)
	second=$(submit -l select=1:ncpus=4 -l walltime=1:00:00)
	wait_until 10 is_top "$second"
	third=$(submit -l select=1:ncpus=1 -l walltime=2:00:00)
	waits "$third" 'Not Running: Job would conflict with reservation or top job'
}

@test "scheduler #10: ... also when all of them are considered in one cycle" {
	local first second third
	strict
	scheduling false
	undo scheduling true
	first=$(submit -l select=1:ncpus=3 -l walltime=1:00:00)
	second=$(submit -l select=1:ncpus=4 -l walltime=1:00:00)
	third=$(submit -l select=1:ncpus=1 -l walltime=2:00:00)
	scheduling true
	starts "$first"
	waits "$third" 'Not Running: Job would conflict with reservation or top job'
	is_top "$second"
	near 'its estimate' "$(estimate "$second")" $(($(start_of "$first") + 3600))
}

@test "scheduler #11: as many top jobs as backfill_depth says" {
	local first job jobs=() last
	strict
	set_server backfill_depth 3
	first=$(running -l select=1:ncpus=3 -l walltime=1:00:00)
	for _ in 1 2 3 4; do
		jobs+=("$(submit -l select=1:ncpus=4 -l walltime=1:00:00)")
	done
	last=$(start_of "$first")
	for job in "${jobs[@]:0:3}"; do
		wait_until 10 is_top "$job"
		last=$((last + 3600))
		near "estimate of $job" "$(estimate "$job")" "$last"
	done
	wait_until 10 comment_is "${jobs[3]}" \
		'Not Running: Insufficient amount of resource: ncpus (R: 4 A: 1 T: 4)'
	same 'estimate of the fourth' '' "$(estimate "${jobs[3]}")"
}

@test "scheduler #12: who asks for no time may run for five years" {
	local first second
	strict
	first=$(running -l select=1:ncpus=4)
	second=$(submit -l select=1:ncpus=4)
	wait_until 10 is_top "$second"
	near 'its estimate' "$(estimate "$second")" $(($(start_of "$first") + 5 * 365 * 86400))
}

@test "scheduler: a top job that is none any more" {
	local first second
	strict
	first=$(running -l select=1:ncpus=4 -l walltime=1:00:00)
	second=$(submit -l select=1:ncpus=4 -l walltime=1:00:00)
	wait_until 10 is_top "$second"
	told_nothing
	wait_until 10 attr_is "$second" topjob False
	[ -n "$(estimate "$second")" ]
	strict
	wait_until 10 is_top "$second"
	set_server clear_topjob_estimates_enable True
	qdel "$first"
	starts "$second"
	wait_until 10 attr_is "$second" topjob False
	same 'its estimate' '' "$(estimate "$second")"
}

@test "scheduler: topjob_ineligible, and who may say so" {
	local first second third
	strict
	first=$(running -l select=1:ncpus=4 -l walltime=1:00:00)
	second=$(submit -h -l select=1:ncpus=4 -l walltime=1:00:00)
	run as "$OWNER" qalter -W topjob_ineligible=True "$second"
	[ "$EUID" -ne 0 ] || [ "$status" -ne 0 ]
	qalter -W topjob_ineligible=True "$second"
	qrls "$second"
	third=$(submit -l select=1:ncpus=4 -l walltime=1:00:00)
	wait_until 10 is_top "$third"
	attr_is "$second" topjob ''
}

@test "scheduler: a queue with a backfill_depth of its own" {
	local first own common
	strict
	new_queue special 0
	qmgr -c 'set queue special backfill_depth = 1'
	first=$(running -l select=1:ncpus=4 -l walltime=1:00:00)
	common=$(submit -l select=1:ncpus=4 -l walltime=1:00:00)
	own=$(submit -q special -l select=1:ncpus=4 -l walltime=1:00:00)
	wait_until 10 is_top "$common"
	wait_until 10 is_top "$own"
	qdel "$first" "$common" "$own"
	wait_until 10 no_jobs
}

@test "scheduler: a soft time is what is planned with" {
	local first second
	strict
	first=$(submit -h -l select=1:ncpus=4 -l walltime=2:00:00)
	qalter -l soft_walltime=600 "$first"
	qrls "$first"
	starts "$first"
	second=$(submit -l select=1:ncpus=4 -l walltime=1:00:00)
	wait_until 10 is_top "$second"
	near 'its estimate' "$(estimate "$second")" $(($(start_of "$first") + 600))
}

@test "scheduler: plans count what the server has of a resource" {
	local first second long short
	strict
	undo qmgr -c 'delete resource foo'
	qmgr -c 'create resource foo type = long, flag = q'
	set_server resources_available.foo 10
	first=$(running -l select=1:ncpus=1 -l foo=6 -l walltime=1:00:00)
	second=$(submit -l select=1:ncpus=1 -l foo=8 -l walltime=1:00:00)
	wait_until 10 is_top "$second"
	near 'its estimate' "$(estimate "$second")" $(($(start_of "$first") + 3600))
	long=$(submit -l select=1:ncpus=1 -l foo=4 -l walltime=2:00:00)
	waits "$long" 'Not Running: Job would conflict with reservation or top job'
	short=$(submit -l select=1:ncpus=1 -l foo=4 -l walltime=0:30:00)
	starts "$short"
	qdel "$first" "$second" "$long" "$short"
	wait_until 10 no_jobs
}

@test "scheduler: plans know of dedicated times" {
	local first second begin
	strict
	begin=$(date -d 'now + 90 minutes' '+%m/%d/%Y %H:%M')
	mkdir -p "$SB/server/sched_priv"
	echo "$begin $(date -d 'now + 150 minutes' '+%m/%d/%Y %H:%M')" >"$SB/server/sched_priv/dedicated_time"
	undo rm -f "$SB/server/sched_priv/dedicated_time"
	scheduling true
	first=$(submit -l select=1:ncpus=4 -l walltime=1:00:00)
	starts "$first"
	second=$(submit -l select=1:ncpus=4 -l walltime=0:45:00)
	wait_until 10 is_top "$second"
	near 'its estimate' "$(estimate "$second")" "$(date -d 'now + 150 minutes' +%s)"
	qdel "$first" "$second"
}
