#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Jobs keep off vnodes at times that are promised to others (service sched, block()); the fixture `block` promises.
# bats file_tags=scheduler
load helper
load shared
load scheduler

setup_file()
{
	open_site 1
	printf 'block: { enabled = true; path = "%s"; };\n' "$KEELSON_BUILD/tests/fixtures/block.so" \
		>"$SB/server/etc/modules.d/block.conf"
	keelson reload
}

# promised ID EXEC_VNODE FROM TILL [alone]: until the story is over.
promised()
{
	undo keelson block "$1"
	keelson block "$@"
}

# The minute at which a promise that begins in so many seconds does, or the next one where that has just turned.
minute() { date -d "@$(($(date +%s) + $1))" '+%a %b %e %H:%M'; }

@test "blocks: a job that would run into one waits, and hears which; a shorter one and a smaller one start" {
	local long short small found before after text
	before=$(minute 3600)
	promised R7.svr '(n1:ncpus=3)' 3600 7200
	after=$(minute 3600)
	long=$(submit -l select=1:ncpus=2,walltime=1:40:00)
	wait_until 10 conflict_of "$long"
	text=$(job_attr "$long" comment)
	[ "$text" = "Not Running: Job would conflict with reservation or top job (R7.svr from $before)" ] ||
		same comment "Not Running: Job would conflict with reservation or top job (R7.svr from $after)" "$text"
	job_is "$long" Q
	found=$(keelson explain "$long")
	has "$found" '^placement +not now: Job would conflict with reservation or top job \(R7\.svr from .*\) \[16340 R7\.svr\]$'
	has "$found" '^time +would end 4[0-2] minutes into R7\.svr, which begins ... ..:..; ask for at most (01:00|00:5[89]):00$'
	short=$(submit -l select=1:ncpus=2,walltime=50:00)
	starts "$short"
	small=$(submit -l select=1:ncpus=1,walltime=99:00:00)
	starts "$small"
	job_is "$long" Q
	qdel -W force "$short" "$small"
	keelson block R7.svr
	starts "$long"
	qdel -W force "$long"
	wait_until 10 no_jobs
}

conflict_of() { has "$(job_attr "$1" comment)" '^Not Running: Job would conflict with reservation or top job \(R7'; }

@test "blocks: one without walltime and one that is exclusive wait for the end of a block that closes its vnode" {
	local endless excl brief
	promised R7.svr '(n1:ncpus=1)' 600 604 alone
	endless=$(submit -l select=1:ncpus=1)
	wait_until 10 conflict_of "$endless"
	has "$(keelson explain "$endless")" '^time +has no walltime and may run into R7\.svr, which begins ... ..:..; ask for at most 00:(10|0[89]):00$'
	excl=$(submit -l select=1:ncpus=1,place=excl,walltime=20:00)
	wait_until 10 conflict_of "$excl"
	brief=$(submit -l select=1:ncpus=1,walltime=60)
	starts "$brief"
	qdel -W force "$brief" "$excl"
	keelson block R7.svr '(n1:ncpus=1)' 1 4 alone
	wait_until 20 starts_in_a_cycle "$endless" # once it is over, without unblock()
	qdel -W force "$endless"
	wait_until 10 no_jobs
}

starts_in_a_cycle() { scheduling true; runs "$1"; }

@test "blocks: a top job is planned beside them" {
	local holder top
	strict
	holder=$(running -l select=1:ncpus=4,walltime=10:00)
	promised R7.svr '(n1:ncpus=4)' 1200 7200
	top=$(submit -l select=1:ncpus=4,walltime=20:00)
	wait_until 10 is_top "$top"
	near 'start of the plan' "$(estimate "$top")" $(($(date +%s) + 7200))
	qdel -W force "$holder" "$top"
	wait_until 10 no_jobs
}

@test "blocks: a suspended job goes on when it is over before one begins, or the block is gone" {
	local long brief
	long=$(running -l select=1:ncpus=2,walltime=10:00:00)
	brief=$(running -l select=1:ncpus=2,walltime=10:00)
	qsig -s suspend "$long"
	qsig -s suspend "$brief"
	wait_until 10 job_is "$brief" S
	promised R7.svr '(n1:ncpus=4)' 3600 7200
	qsig -s resume "$long"
	qsig -s resume "$brief"
	wait_until 10 runs "$brief"
	job_is "$long" S
	keelson block R7.svr
	starts "$long"
	qdel -W force "$long" "$brief"
	wait_until 10 no_jobs
}

@test "blocks: others give way where nothing is promised, and not where something is" {
	local low high
	new_queue express 200
	low=$(running -l select=1:ncpus=4,walltime=10:00:00)
	promised R7.svr '(n1:ncpus=2)' 3600 7200
	high=$(submit -q express -l select=1:ncpus=3,walltime=2:00:00)
	waits "$high" 'Not Running: Not enough free nodes available'
	job_is "$low" R
	qdel -W force "$high"
	high=$(submit -q express -l select=1:ncpus=2,walltime=2:00:00)
	starts "$high"
	wait_until 10 job_is "$low" S
	qdel -W force "$low" "$high"
	wait_until 10 no_jobs
}

@test "blocks: what is no block is refused" {
	says_not keelson block R8 '(n1:ncpus=1)' 10 10
	says_not keelson block R8 '(n1:ncpus' 10 20
}

says_not() { ! "$@"; }
