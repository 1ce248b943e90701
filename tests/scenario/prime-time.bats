#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Times of day and of the year: prime time, dedicated times.
#
# needs modules/prime-time

load helper
load shared

# look: a cycle, now.
look() { qmgr -c 'set server scheduling = true'; }

# told FILE LINES: this file of the scheduler, for this story.
told()
{
	mkdir -p "$SB/server/sched_priv"
	printf '%s\n' "${@:2}" >"$SB/server/sched_priv/$1"
	undo rm -f "$SB/server/sched_priv/$1"
	look
}

# setting KEY VALUE: of the module, for this story; `undo` sets it back to BEFORE.
setting()
{
	configure "$1" "$2"
	undo configure "$1" "$3"
	look
}

configure()
{
	sed -i "s/^\t$1 = .*/\t$1 = $2;/" "$SB/server/etc/modules.d/prime-time.conf"
	keelson reload
}

make_queue()
{
	qmgr -c "create queue $1 queue_type=execution,enabled=true,started=true"
	undo qmgr -c "delete queue $1"
	undo eval 'qselect | xargs -r qdel -W force; wait_until 10 no_jobs'
}

day() { date -d "$1" '+%m/%d/%Y %H:%M'; }
hour() { date -d "$1" +%H%M; }
# every_day PRIME NONPRIME: the lines of a week.
every_day() { printf '%s\n' "weekday $1 $2" "saturday $1 $2" "sunday $1 $2"; }

waits() { job_is "$1" Q 10 && same "comment of $1" "Not Running: $2" "$(job_attr "$1" comment)"; }

# ---- dedicated times -------------------------------------------------------------------------------------

@test "scheduler #34: a job that would cross a dedicated time's beginning waits, a short one runs" {
	told dedicated_time "$(day '+10 min') $(day '+2 hours')"
	long=$(submit -l walltime=1:00:00)
	wait_until 10 waits "$long" 'Job would cross dedicated time boundary'
	short=$(submit -l walltime=0:05:00)
	wait_until 20 job_is "$short" R 42
	endless=$(submit)
	wait_until 10 waits "$endless" 'Job would cross dedicated time boundary'
}

@test "prime-time: in a dedicated time only queues of that name run, and not beyond its end" {
	make_queue ded1
	inside=$(submit -q ded1 -l walltime=0:30:00)
	wait_until 10 waits "$inside" 'Dedicated time conflict'
	told dedicated_time "# now" "$(day '-10 min') $(day '+1 hour')"
	wait_until 20 job_is "$inside" R 42
	beyond=$(submit -q ded1 -l walltime=2:00:00)
	wait_until 10 waits "$beyond" 'Job would cross dedicated time boundary'
	outside=$(submit -l walltime=0:01:00)
	wait_until 10 waits "$outside" 'Dedicated time conflict'
	rm "$SB/server/sched_priv/dedicated_time"
	look
	wait_until 20 job_is "$outside" R 42
	wait_until 10 waits "$beyond" 'Dedicated time conflict'
}

@test "prime-time: keelson explain says what is ahead" {
	told dedicated_time "$(day '+10 min') $(day '+2 hours')"
	id=$(submit -l walltime=1:00:00)
	wait_until 10 waits "$id" 'Job would cross dedicated time boundary'
	has "$(keelson explain "$id")" '^dedicated +from .*; this job may last 3600 s$'
}

@test "prime-time: a line that is none is said, the others hold" {
	told dedicated_time 'next week' "$(day '+10 min') $(day '+2 hours')"
	id=$(submit -l walltime=1:00:00)
	wait_until 10 waits "$id" 'Job would cross dedicated time boundary'
	has "$(server_log)" 'dedicated_time;Error reading line 1: expected MM/DD/YYYY'
}

# ---- prime time -------------------------------------------------------------------------------------------

@test "prime-time: queues of prime time and of the other" {
	make_queue p_day
	make_queue np_night
	# shellcheck disable=SC2046
	told holidays "$(every_day all none)"
	night=$(submit -q np_night)
	day=$(submit -q p_day)
	wait_until 20 job_is "$day" R 42
	wait_until 10 waits "$night" 'Job will run in nonprimetime only'
	told holidays "$(every_day none all)"
	wait_until 20 job_is "$night" R 42
	day=$(submit -q p_day)
	wait_until 10 waits "$day" 'Job will run in primetime only'
	any=$(submit)
	wait_until 20 job_is "$any" R 42
}

@test "prime-time: without a file it is always prime" {
	make_queue p_day
	make_queue np_night
	night=$(submit -q np_night)
	day=$(submit -q p_day)
	wait_until 20 job_is "$day" R 42
	wait_until 10 waits "$night" 'Job will run in nonprimetime only'
}

@test "prime-time: backfill_prime: no job runs into the next time" {
	setting backfill_prime true false
	told holidays "$(every_day "$(hour '-1 hour')" "$(hour '+20 min')")"
	long=$(submit -l walltime=0:40:00)
	wait_until 10 waits "$long" 'Job will cross into nonprimetime'
	short=$(submit -l walltime=0:10:00)
	wait_until 20 job_is "$short" R 42
	setting prime_spill '"0:30:00"' '"0"'
	wait_until 20 job_is "$long" R 42
	longer=$(submit -l walltime=1:00:00)
	wait_until 10 waits "$longer" 'Job will cross into nonprimetime'
}

@test "prime-time: prime_exempt_anytime_queues: boundaries are for queues of one time only" {
	make_queue p_day
	setting backfill_prime true false
	setting prime_exempt_anytime_queues true false
	told holidays "$(every_day "$(hour '-1 hour')" "$(hour '+20 min')")"
	long=$(submit -l walltime=0:40:00)
	wait_until 20 job_is "$long" R 42
	day=$(submit -q p_day -l walltime=0:40:00)
	wait_until 10 waits "$day" 'Job will cross into nonprimetime'
}

@test "prime-time: sched_config goes before the configuration, by time of day too" {
	undo qmgr -c 'set sched sched_cycle_length = 1200'
	told sched_config 'backfill_prime: true prime' 'backfill_prime: false non_prime' 'prime_spill: 0:05:00 all'
	qmgr -c 'set sched sched_cycle_length = 1200' # the file is read
	told holidays "$(every_day "$(hour '-1 hour')" "$(hour '+20 min')")"
	long=$(submit -l walltime=0:40:00)
	wait_until 10 waits "$long" 'Job will cross into nonprimetime'
	short=$(submit -l walltime=0:22:00)
	wait_until 20 job_is "$short" R 42
	told holidays "$(every_day "$(hour '+20 min')" "$(hour '-1 hour')")"
	wait_until 20 job_is "$long" R 42
}
