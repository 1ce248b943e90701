#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Fairshare: who has used less of his share goes first.
#
# needs modules/fairshare
# needs modules/preemption

load helper
load shared

setup_file()
{
	open_cluster
	mkdir -p "$SB/server/sched_priv"
	configure fair_share true
	configure usage_interval '"200ms"'
}

# configure KEY VALUE: of the module.
configure()
{
	sed -i "s/^\t$1 = .*/\t$1 = $2;/" "$SB/server/etc/modules.d/fairshare.conf"
	keelson reload >/dev/null
}

# setting KEY VALUE BEFORE: for this story.
setting()
{
	configure "$1" "$2"
	undo configure "$1" "$3"
	look
}

# look: a cycle, now.
look() { qmgr -c 'set server scheduling = true'; }

# shares LINES: the file of groups and shares, for this story; usage begins at nothing.
shares()
{
	undo pbsfs -e
	undo look
	undo rm -f "$SB/server/sched_priv/resource_group"
	pbsfs -e
	printf '%s\n' "$@" >"$SB/server/sched_priv/resource_group"
	look
}

usage() { pbsfs -g "$1" | sed -n 's/^usage: \([0-9]*\) .*/\1/p'; }
used_at_least() { [ "$(usage "$1")" -ge "$2" ]; }

# full: no cpu is free, and nobody is charged for it; prints the job.
full() { submit_as "$MANAGER" -l ncpus=4; }

# first_of A B: of two jobs that wait, A is started when there is room for one.
first_of()
{
	qdel "$blocker"
	wait_until 20 job_is "$1" R 42
	job_is "$2" Q
}

@test "fairshare: who has used less goes first" {
	needs_root
	shares "$OWNER 1 root 50" "$OTHER 2 root 50" "$MANAGER 3 root 0"
	pbsfs -s "$OWNER" 1000
	blocker=$(full)
	wait_until 20 job_is "$blocker" R 42
	early=$(submit -l ncpus=4)
	late=$(submit_as "$OTHER" -l ncpus=4)
	first_of "$late" "$early"
	has "$(keelson explain "$early")" "^fairshare +$OWNER has 50\.00% of the shares and 100\.00% of the usage$"
}

@test "fairshare: of a bigger share more may be used; even: who came first" {
	needs_root
	shares "$OWNER 1 root 90" "$OTHER 2 root 10" "$MANAGER 3 root 0"
	pbsfs -s "$OWNER" 800
	pbsfs -s "$OTHER" 100
	blocker=$(full)
	wait_until 20 job_is "$blocker" R 42
	late=$(submit_as "$OTHER" -l ncpus=4)
	early=$(submit -l ncpus=4)
	first_of "$early" "$late"
	qdel "$early" "$late"
	pbsfs -s "$OWNER" 900
	same compared 0 "$(pbsfs -c "$OWNER" "$OTHER")"
	blocker=$(full)
	wait_until 20 job_is "$blocker" R 42
	other=$(submit_as "$OTHER" -l ncpus=4)
	mine=$(submit -l ncpus=4)
	first_of "$other" "$mine"
}

@test "fairshare: switched off, nobody is asked" {
	needs_root
	setting fair_share false true
	shares "$OWNER 1 root 50" "$OTHER 2 root 50"
	pbsfs -s "$OWNER" 1000
	blocker=$(full)
	wait_until 20 job_is "$blocker" R 42
	early=$(submit -l ncpus=4)
	late=$(submit_as "$OTHER" -l ncpus=4)
	first_of "$early" "$late"
}

@test "fairshare: whoever runs is charged, while he runs and for the end" {
	setting fairshare_usage_res '"ncpus*walltime"' '"cput"'
	shares "$OWNER 1 root 50"
	id=$(submit -l ncpus=2 -- /bin/sleep 3)
	ends "$id"
	wait_until 10 used_at_least "$OWNER" 4
	same usage $((1 + 2 * $(job_attr "$id" resources_used.walltime | awk -F: '{ print $3 + 60 * $2 }'))) \
		"$(usage "$OWNER")"
}

@test "fairshare: usage is kept over kill -9, nothing is charged twice" {
	setting fairshare_usage_res '"walltime"' '"cput"'
	shares "$OWNER 1 root 50"
	pbsfs -s "$OWNER" 100000
	id=$(submit -- /bin/sleep 5)
	wait_until 10 used_at_least "$OWNER" 100001
	sandbox kill server
	sandbox restart server
	ends "$id"
	walltime=$(job_attr "$id" resources_used.walltime | awk -F: '{ print $3 + 60 * $2 }')
	wait_until 10 used_at_least "$OWNER" $((100000 + walltime))
	same usage $((100000 + walltime)) "$(usage "$OWNER")"
}

@test "fairshare: what a reload changes holds at once" {
	setting fairshare_usage_res '"walltime"' '"cput"'
	shares "$OWNER 1 root 50"
	running
	wait_until 10 used_at_least "$OWNER" 1
	configure usage_interval '"1h"'
	nap .3 # the last round of the old one
	before=$(usage "$OWNER")
	configure usage_interval '"200ms"'
	wait_until 10 used_at_least "$OWNER" $((before + 1))
}

@test "fairshare: usage decays" {
	shares "$OWNER 1 root 50" "$OTHER 2 root 50"
	pbsfs -s "$OWNER" 1000
	pbsfs -d
	same usage 500 "$(usage "$OWNER")"
	setting fairshare_decay_factor '"0.1"' '"0.5"'
	pbsfs -d
	same usage 50 "$(usage "$OWNER")"
	sandbox kill server
	sandbox restart server
	same usage 50 "$(usage "$OWNER")"
	pbsfs -s "$OWNER" 1000
	setting fairshare_decay_time '"0:00:01"' '"24:00:00"'
	decayed() { [ "$(usage "$OWNER")" -lt 11 ]; }
	wait_until 10 decayed
}

@test "fairshare: without a share a job does not start, when that is wanted" {
	needs_root # an ordinary user cannot submit as somebody who has no share
	shares "$OTHER 2 root 50"
	setting fairshare_enforce_no_shares true false
	id=$(submit)
	zero() { same comment 'Not Running: Job has zero shares for fairshare' "$(job_attr "$id" comment)"; }
	wait_until 10 zero
	setting unknown_shares '"5"' '"0"'
	wait_until 20 job_is "$id" R 42
}

@test "fairshare: accounts may be charged" {
	setting fairshare_entity '"Account_Name"' '"euser"'
	setting fairshare_usage_res '"walltime"' '"cput"'
	shares 'lab 1 root 50'
	id=$(submit -A lab -- /bin/sleep 2)
	ends "$id"
	wait_until 10 used_at_least lab 1
}

@test "fairshare: a formula may name it" {
	needs_root
	setting fair_share false true
	shares "$OWNER 1 root 20" "$OTHER 2 root 80"
	qmgr -c "set server job_sort_formula = 'fairshare_perc'"
	undo qmgr -c 'unset server job_sort_formula'
	blocker=$(full)
	wait_until 20 job_is "$blocker" R 42
	early=$(submit -l ncpus=4)
	late=$(submit_as "$OTHER" -l ncpus=4)
	first_of "$late" "$early"
}

@test "fairshare: whose account is over its share gives way, not his other jobs" {
	setting fairshare_entity '"Account_Name"' '"euser"'
	qmgr -c "set sched preempt_prio = 'normal_jobs, fairshare'"
	undo qmgr -c 'unset sched preempt_prio'
	shares 'rich 1 root 50' 'poor 2 root 50'
	pbsfs -s rich 800
	pbsfs -s poor 200
	over=$(running -A rich -l ncpus=2)
	under=$(running -A poor -l ncpus=2)
	high=$(submit -A poor -l ncpus=2)
	wait_until 20 job_is "$high" R 42
	job_is "$over" S 45
	job_is "$under" R 42
}

@test "fairshare: whoever is over his share gives way to others" {
	needs_root
	qmgr -c "set sched preempt_prio = 'normal_jobs, fairshare'"
	undo qmgr -c 'unset sched preempt_prio'
	shares "$OWNER 1 root 50" "$OTHER 2 root 50"
	pbsfs -s "$OWNER" 800
	pbsfs -s "$OTHER" 200
	low=$(running -l ncpus=4)
	high=$(submit_as "$OTHER" -l ncpus=4)
	wait_until 20 job_is "$high" R 42
	job_is "$low" S 45
}

# ---- pbsfs ---------------------------------------------------------------------------------------------------

@test "pbsfs: the tree, its numbers, one entity" {
	shares 'physics 10 root 60' 'biology 20 root 40' 'alice 11 physics 3' 'bob 12 physics 1' 'carol 21 biology 1'
	pbsfs -s alice 300
	pbsfs -s carol 100
	found=$(pbsfs)
	has "$found" '^Fairshare usage units are in: cput$'
	has "$found" '^TREEROOT +: Grp: -1 .* Usage: 399 +Perc: 100\.000%$'
	has "$found" '^physics +: Grp: 0 +cgrp: 10 +Shares: 60 +Usage: 300 +Perc: 60\.000%$'
	has "$found" '^alice +: Grp: 10 +cgrp: 11 +Shares: 3 +Usage: 300 +Perc: 45\.000%$'
	has "$(pbsfs -t)" '^          alice\(11\)$'
	found=$(pbsfs -g alice)
	has "$found" '^Percentage: 45\.000000%$'
	has "$found" '^usage: 300 \(cput\)$'
	same carol carol "$(pbsfs -c carol alice)"
	same bob bob "$(pbsfs -c alice bob)"
}

@test "pbsfs: strangers are forgotten" {
	shares 'alice 1 root 1'
	setting fairshare_usage_res '"walltime"' '"cput"'
	id=$(submit -- /bin/sleep 2)
	ends "$id"
	wait_until 10 used_at_least "$OWNER" 1
	pbsfs -e
	has "$(pbsfs -g "$OWNER" 2>&1)" "Fairshare Entity $OWNER does not exist\."
}

@test "pbsfs: mistakes are said" {
	shares 'physics 10 root 60' 'alice 11 physics 3' 'nonsense'
	has "$(server_log)" 'resource_group;Error reading line 3: expected: name id parent shares'
	says 1 'pbsfs: Fairshare Entity nobody does not exist.' pbsfs -g nobody
	says 1 'pbsfs: physics is a group; its usage is that of its members' pbsfs -s physics 5
	says 1 'pbsfs: -5: not an amount of usage' pbsfs -s alice -5
	found=$(pbsfs -g 2>&1) && false
	has "$found" '^Usage: pbsfs'
	found=$(pbsfs -p -t 2>&1) && false
	has "$found" '^Usage: pbsfs'
}

@test "pbsfs: not for users" {
	needs_root
	found=$(as "$OWNER" pbsfs 2>&1) && false
	has "$found" '^pbsfs: Unauthorized Request'
}
