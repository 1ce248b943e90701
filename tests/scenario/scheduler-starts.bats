#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Starts that are refused, asked for, or come after a restart; and what is said of jobs that ended.
# Refusals are those of a small module that taps start_now, as a site's own would.
# bats file_tags=scheduler
load helper
load shared
load scheduler

setup_file()
{
	open_site 1
	echo "veto_run: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/veto_run.so\"; };" \
		>"$SB/server/etc/modules.d/veto_run.conf"
	sandbox reload
}

@test "scheduler #36: qrun makes room, whoever runs" {
	local first second
	first=$(running -l select=1:ncpus=4)
	second=$(submit -l select=1:ncpus=4)
	waits "$second" 'Not Running: Not enough free nodes available'
	quietly qrun "$second"
	wait_until 10 job_is "$first" S 45
	starts "$second"
}

@test "scheduler #39: a start that is refused, and those behind it" {
	local refused other
	scheduling false
	undo scheduling true
	refused=$(submit -N refused -l select=1:ncpus=1)
	other=$(submit -l select=1:ncpus=1)
	scheduling true
	starts "$other"
	waits "$refused" 'Not Running: PBS Error: no'
	has "$(server_log)" "$refused;Failed to run: no \(15136\)"
	has "$(keelson explain "$refused")" '^back-off +rests'
}

@test "scheduler: a refused start is not tried again and again" {
	local job tries
	job=$(submit -N refused -l select=1:ncpus=1)
	waits "$job" 'Not Running: PBS Error: no'
	for _ in 1 2 3 4 5; do qdel "$(running -l select=1:ncpus=1)"; done
	tries=$(server_log | grep -c "$job;Failed to run")
	[ "$tries" -le 4 ] || { echo "it was tried $tries times" >&2; false; }
}

@test "scheduler #40: after a restart queued jobs start, attributes are as they were" {
	local first second
	scheduling false
	undo scheduling true
	set_sched sched_cycle_length 00:10:00
	set_server job_sort_formula "'ncpus'"
	first=$(submit -l select=1:ncpus=1)
	second=$(submit -l select=1:ncpus=2)
	sandbox restart server
	has "$(qmgr -c 'list sched default')" 'sched_cycle_length = 00:10:00'
	has "$(qmgr -c 'list sched default')" 'scheduling = False'
	has "$(qmgr -c 'list server')" 'job_sort_formula = ncpus'
	scheduling true
	starts "$first"
	starts "$second"
	sandbox restart server
	has "$(server_log)" 'Scheduler sent command 9'
}

@test "scheduler #42: what is said of jobs that ended" {
	local good bad gone forced late
	set_sched attr_update_period 0
	good=$(submit -- /bin/true)
	bad=$(submit -- /bin/sh -c 'exit 7')
	gone=$(running)
	forced=$(running)
	late=$(submit -l walltime=2 -- /bin/sleep 100)
	qdel "$gone"
	qdel -W force "$forced"
	ended "$good" 92 0 ' and finished'
	ended "$bad" 93 7 ' and failed'
	ended "$gone" 91 271 " and terminated by $ME@[^ ]*"
	ended "$forced" 91 265 ' and terminated'
	ended "$late" 93 -29 ' and exceeded resource walltime'
}

# ended JOB SUBSTATE EXIT WORDS: its comment is what it was told at its start, and WORDS.
ended()
{
	wait_until 40 job_is "$1" F "$2"
	attr_is "$1" Exit_status "$3"
	has "$(job_attr "$1" comment)" "^Job run at [A-Z][a-z][a-z] [A-Z][a-z][a-z] [0-9]+ at [0-9:]+ on \(n1:ncpus=1\)$4\$"
}

@test "scheduler #43: qrun of a job that is refused" {
	local job
	scheduling false
	undo scheduling true
	job=$(submit -N refused -l select=1:ncpus=1)
	run -2 qrun "$job"
	same 'words of qrun' "qrun: Failed to run: no (15136) $job" "$output"
	job_is "$job" Q
	comment_is "$job" 'Not Running: PBS Error: no'
}

@test "scheduler: job_run_wait = execjob_hook: one start after the other" {
	local job jobs=()
	set_sched job_run_wait execjob_hook
	scheduling false
	undo scheduling true
	for _ in 1 2 3; do jobs+=("$(submit -l select=1:ncpus=1)"); done
	mark
	scheduling true
	for job in "${jobs[@]}"; do wait_until 10 job_is "$job" R 42; done
	wait_until 10 since_has 'Leaving Scheduling Cycle'
	same 'what happened, in order' 'run up run up run up ' "$(since | sed -n \
		's/.*;Job run$/run/p; s/.*Updated job state to 82 and substate to 42$/up/p' | tr '\n' ' ')"
}
