#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A job over three hosts loses n3, at each stage of its life, in each way, with each tolerance. All rows of a test meet the
# same trouble at once. The first letter of a row says what n3 is to the job: s a sister, p its primary.
#
#	stage      where the row stands when the trouble comes
#	sent       n3 has not joined (p: n1 has not)
#	joined     all have joined, the prologues have not begun
#	prologue   n3 is at its prologue (p: n1 is)
#	launched   the program is about to be started
#	running, suspended
#	exiting    the program has ended, n3 is at its epilogue (p: n1 is)
#
# needs modules/sisters
# needs modules/tolerate-node-failures

load helper
load netns

stages='sent joined prologue launched running suspended exiting'
declare -gA row

teardown()
{
	[ -n "${SB-}" ] || return 0
	[ -n "${BATS_TEST_COMPLETED-}" ] || { show_rows >&2; show_state; }
	sandbox stop || true
	rm -rf "$SB"
}

show_rows() { for name in "${!row[@]}"; do echo "$name ${row[$name]} $(state_of_job "${row[$name]}")"; done | sort; }

# The file that a row waits for, and the host that waits; '' none.
park_of() # row: in $file, $at
{
	local first=n1 other=n3
	[[ $1 != p* ]] || first=n3 other=n1
	file='' at=''
	case $1 in
	*.sent.*) file=.begin.$other at=$other ;;
	*.joined.*) file=.prologue.$first at=$first ;;
	*.prologue.*) file=.prologue.$other at=$other ;;
	*.launched.*) file=. at=$first ;;
	*.exiting.*) file=.epilogue.$other at=$other ;;
	esac
	file=${file%.}
}

begin_rows()
{
	local name stage tolerance file at hosts
	needs_netns
	park=$BATS_TEST_TMPDIR/park.conf parked=$BATS_TEST_TMPDIR/parked
	mkdir "$parked"
	echo "park: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/park.so\"; dir = \"$parked\"; };" >"$park"
	setup_sandbox --hosts 3 --netns --ncpus 64 --also "$park" --set sisters.max_poll_downtime=3s \
		--set sisters.sister_join_job_alarm=300s --set sisters.job_launch_delay=300s --set sisters.end_within=300s
	printf '%s\n' 'set server job_history_enable = true' 'set server node_fail_requeue = 3' | qmgr
	ran=$SB/ran
	mkdir -m 777 "$ran"
	printf '#!/bin/sh\nuntil test -e %s/end -o -e %s/end.$PBS_JOBID; do sleep 0.5; done\nexit 3\n' "$ran" "$ran" >"$SB/job"
	chmod 755 "$SB/job"
	for stage in $stages; do
		for name in s.$stage.none s.$stage.job_start s.$stage.all p.$stage.all; do
			hosts=1:ncpus=1:host=n1+1:ncpus=1:host=n2+1:ncpus=1:host=n3
			[[ $name != p* ]] || hosts=1:ncpus=1:host=n3+1:ncpus=1:host=n1+1:ncpus=1:host=n2
			row[$name]=$(as "$OWNER" qsub -h -l "select=$hosts" -W "tolerate_node_failures=${name##*.}" -j oe -o "$ran/" "$SB/job")
			park_of "$name"
			[ -z "$at" ] || touch "$parked/${row[$name]}$file"
		done
	done
	qrls "${row[@]}"
	for name in "${!row[@]}"; do [[ $name != *.exiting.* ]] || touch "$ran/end.${row[$name]}"; done
	for name in "${!row[@]}"; do
		[[ $name != *.running.* && $name != *.suspended.* ]] || wait_until 30 job_is "${row[$name]}" R 42
		[[ $name != *.suspended.* ]] || qsig -s suspend "${row[$name]}"
	done
	for name in "${!row[@]}"; do wait_until 30 stands "$name"; done
	qmgr -c 'set server scheduling = false'
}

# stands ROW: it is at its stage
stands()
{
	local file at
	park_of "$1"
	case $1 in
	*.running.*) job_is "${row[$1]}" R 42 ;;
	*.suspended.*) job_is "${row[$1]}" S 43 ;;
	*) parked_on "$at" | grep -qx "$parked/${row[$1]}$file" ;;
	esac
}

# What becomes of it: queued again, goes on, stays suspended, or ends.
fate() # row: in $letter
{
	case $1 in
	p* | *.none) letter=Q ;;
	*.running.job_start | *.suspended.job_start) letter=Q ;;
	*.suspended.*) letter=S ;;
	*) letter=R ;;
	esac
	[[ $1 != s.exiting.* ]] || letter=F
}

# Once n1 knows, what waits there goes on.
expect_fates()
{
	local name letter records
	wait_until 30 misses n1 n3
	rm -f "$parked"/*
	for name in "${!row[@]}"; do
		fate "$name"
		wait_until 30 job_is "${row[$name]}" $letter || { echo "row $name" >&2; return 1; }
	done
	records=$(accounting)
	for name in "${!row[@]}"; do
		fate "$name"
		case $letter in
		Q) for host in n1 n2; do wait_until 5 has_no_part $host "${row[$name]}"; done ;;
		F) same "exit of $name" 3 "$(job_attr "${row[$name]}" Exit_status)"; has "$records" ";E;${row[$name]};" ;;
		R) wait_until 10 job_is "${row[$name]}" R 42; alive "$(session_of "${row[$name]}")" ;;
		S) stopped "${row[$name]}" ;;
		esac
		# One whose primary is lost before it began has no record: it never started.
		[[ $letter = Q && $name != p.@(sent|joined|prologue|launched).* ]] || continue
		has "$records" ";R;${row[$name]};" || { echo "row $name" >&2; return 1; }
	done
	expect_amounts n1 n2
}

# What is assigned on these hosts is what the jobs that run have there.
expect_amounts()
{
	local name letter n=0
	for name in "${!row[@]}"; do fate "$name"; [ $letter != R ] || n=$((n + 1)); done
	for host; do same "ncpus assigned on $host" $n "$(node_attr "$host" resources_assigned.ncpus)"; done
}

# n3 is there again: within 5 s it has nothing of these jobs, whether they go on without it or not.
expect_nothing_on_n3()
{
	wait_until 30 is_free n3
	wait_until 5 has_no_process n3
}

finish_rows()
{
	local name letter ids=() host
	for name in "${!row[@]}"; do
		fate "$name"
		[ $letter != Q ] || ids+=("${row[$name]}")
	done
	qdel "${ids[@]}"
	qmgr -c 'set server scheduling = true'
	qsig -s resume "${row[s.suspended.all]}"
	touch "$ran/end"
	for name in "${!row[@]}"; do
		wait_until 30 is_over "${row[$name]}"
		fate "$name"
		[[ $letter = Q ]] || same "exit of $name" 3 "$(job_attr "${row[$name]}" Exit_status)"
	done
	for host in n1 n2 n3; do
		wait_until 10 has_no_process $host
		same "records on $host" '' "$(parts_on $host)"
		same "node files on $host" '' "$(ls "$SB/$host/aux")"
		same "ncpus assigned on $host" 0 "$(node_attr $host resources_assigned.ncpus)"
	done
}

@test "matrix of parts: the daemon of a host is killed, at each stage, with each tolerance" {
	begin_rows
	sandbox kill n3
	expect_fates
	sandbox restart n3
	expect_nothing_on_n3
	finish_rows
}

@test "matrix of parts: a host is gone, at each stage, with each tolerance" {
	begin_rows
	sandbox gone n3
	expect_fates
	sandbox mend n3
	sandbox restart n3
	expect_nothing_on_n3
	finish_rows
}

@test "matrix of parts: the link of a host is cut, at each stage, with each tolerance" {
	begin_rows
	sandbox cut n3
	expect_fates
	sandbox mend n3
	expect_nothing_on_n3
	finish_rows
}

@test "matrix of parts: a host is gone and the server restarts, at each stage, with each tolerance" {
	begin_rows
	sandbox kill server
	sandbox gone n3
	wait_until 5 misses n1 n3
	sandbox restart server --hard
	expect_fates
	sandbox mend n3
	sandbox restart n3
	expect_nothing_on_n3
	finish_rows
}
