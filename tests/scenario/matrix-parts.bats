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
# needs modules/task-manager
# needs modules/tolerate-node-failures

load helper
load netns

stages='sent joined prologue launched running suspended exiting'
declare -gA row state substate session status

teardown()
{
	[ -n "${SB-}" ] || return 0
	[ -n "${BATS_TEST_COMPLETED-}" ] || { show_rows >&2; show_state; }
	sandbox stop || true
	rm -rf "$SB"
}

show_rows() { look; for name in "${!row[@]}"; do echo "$name ${row[$name]} ${state[${row[$name]}]-}"; done | sort; }

# All jobs at once.
look()
{
	local id a b c d
	while read -r id a b c d; do state[$id]=$a substate[$id]=$b session[$id]=$c status[$id]=$d; done < <(qstat -xf | awk '
		function said() { if (id) print id, v["job_state"], v["substate"], v["session_id"] + 0, v["Exit_status"] + 0 }
		/^Job Id:/ { said(); id = $3; split("", v) }
		/^    [a-z_A-Z]+ = / { v[$1] = $3 }
		END { said() }')
}

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

# Those that run have a task on each host.
write_script()
{
	cat >"$SB/job" <<-SCRIPT
		#!/bin/sh
		if test -e $ran/tasks.\$PBS_JOBID; then
			$KEELSON_BUILD/bin/pbsdsh -o -- /bin/sh -c 'echo \$\$ >$ran/pid.\$PBS_JOBID.\$PBS_NODENUM; exec sleep 600'
		fi
		until test -e $ran/end -o -e $ran/end.\$PBS_JOBID; do sleep 1; done
		exit 3
	SCRIPT
	chmod 755 "$SB/job"
}

submit_rows()
{
	local name stage tolerance file at hosts
	for stage in $stages; do
		for name in {s,p}."$stage".{none,job_start,all}; do
			hosts=1:ncpus=1:host=n1+1:ncpus=1:host=n2+1:ncpus=1:host=n3
			[[ $name != p* ]] || hosts=1:ncpus=1:host=n3+1:ncpus=1:host=n1+1:ncpus=1:host=n2
			row[$name]=$(as "$OWNER" qsub -h -l "select=$hosts" -W "tolerate_node_failures=${name##*.}" -j oe -o "$ran/" "$SB/job")
			park_of "$name"
			[ -z "$at" ] || : >"$parked/${row[$name]}$file"
			case $stage in
			running | suspended) : >"$ran/tasks.${row[$name]}" ;;
			exiting) : >"$ran/end.${row[$name]}" ;;
			esac
		done
	done
}

begin_rows()
{
	needs_netns
	park=$BATS_TEST_TMPDIR/park.conf parked=$BATS_TEST_TMPDIR/parked
	mkdir "$parked"
	echo "park: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/park.so\"; dir = \"$parked\"; };" >"$park"
	setup_sandbox --hosts 3 --netns --ncpus 64 --also "$park" --set sisters.max_poll_downtime=3s \
		--set sisters.sister_join_job_alarm=300s --set sisters.job_launch_delay=300s --set sisters.end_within=300s
	printf '%s\n' 'set server job_history_enable = true' 'set server node_fail_requeue = 3' | qmgr
	ran=$SB/ran
	mkdir -m 777 "$ran"
	write_script
	submit_rows
	qrls "${row[@]}"
	wait_until 30 stand running suspended
	qsig -s suspend "${row[s.suspended.none]}" "${row[s.suspended.job_start]}" "${row[s.suspended.all]}" \
		"${row[p.suspended.none]}" "${row[p.suspended.job_start]}" "${row[p.suspended.all]}"
	# shellcheck disable=SC2086
	wait_until 30 stand ${stages/suspended/}
	expect_stopped n1 n2 n3
	qmgr -c 'set server scheduling = false'
}

# stand STAGE...: all rows of them are there.
stand()
{
	local name file at parks
	look
	parks=$(for at in n1 n2 n3; do parked_on $at | sed "s/^/$at /"; done)
	for name in "${!row[@]}"; do
		[[ " $* " == *" $(stage_of "$name") "* ]] || continue
		park_of "$name"
		if [ -n "$at" ]; then has "$parks" "^$at $parked/${row[$name]}$file\$"; else runs_whole "$name"; fi || return
	done
}
stage_of() { local rest=${1#*.}; echo "${rest%%.*}"; }
runs_whole() { same "$1" 42 "${substate[${row[$1]}]}" && for n in 0 1 2; do [ -s "$ran/pid.${row[$1]}.$n" ] || return; done; }

# The process of a row that its task on a host is; '' none.
task_on() # row, host
{
	local n=$((${2#n} - 1))
	[[ $1 != p* ]] || n=$(((n + 1) % 3))
	cat "$ran/pid.${row[$1]}.$n" 2>/dev/null || true
}
expect_stopped() # hosts
{
	local host name
	for name in {s,p}.suspended.{none,job_start,all}; do
		stopped "${row[$name]}"
		for host; do is_stopped "$(task_on "$name" "$host")"; done
	done
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

fates_are()
{
	local name letter id
	look
	for name in "${!row[@]}"; do
		fate "$name"
		id=${row[$name]}
		same "state of $name" "$letter" "${state[$id]}" || return
		[ $letter != R ] || same "substate of $name" 42 "${substate[$id]}" || return
		[ $letter != F ] || same "exit of $name" 3 "${status[$id]}" || return
	done
}

# Nothing is left of those that are queued again on the hosts that stay; the others go on, or are stopped.
hosts_are_so()
{
	local name letter host parts pid
	for host in n1 n2; do
		parts=" $(parts_on $host | xargs) "
		for name in "${!row[@]}"; do
			fate "$name"
			pid=$(task_on "$name" $host)
			case $letter in
			[QF]) [[ $parts != *" ${row[$name]} "* && ( -z $pid || ! -d /proc/$pid ) ]] ;;
			R) [[ $parts == *" ${row[$name]} "* && ( -z $pid || -d /proc/$pid ) ]] && alive "${session[${row[$name]}]}" ;;
			S) [[ $parts == *" ${row[$name]} "* ]] && is_stopped "$pid" && is_stopped "${session[${row[$name]}]}" ;;
			esac || { echo "$name on $host: parts$parts, process $pid" >&2; return 1; }
		done
	done
}

# Once n1 knows, what waits there goes on.
expect_fates()
{
	local name records
	wait_until 30 misses n1 n3
	rm -f "$parked"/*
	wait_until 60 fates_are
	wait_until 5 hosts_are_so
	records=$(accounting)
	for name in "${!row[@]}"; do
		same "records of $name" "$(records_for "$name")" "$(records_of_row)"
	done
	expect_amounts
}
# S: its program has begun. R: -20 its primary is lost, -14 a sister while it ran, -3 one at its start.
records_for() # row
{
	local letter
	fate "$1"
	case $1.$letter in
	p.sent.* | p.joined.* | p.prologue.* | p.launched.*) echo Q ;;
	p.*) echo 'Q S R-20' ;;
	*.running.*.Q | *.suspended.*.Q) echo 'Q S R-14' ;;
	*.Q) echo 'Q R-3' ;;
	*.F) echo 'Q S E3' ;;
	*) echo 'Q S' ;;
	esac
}
records_of_row() { sed -n "s/^[^;]*;\([A-Z]\);${row[$name]};\(.* Exit_status=\([-0-9]*\) \)\?.*/\1\3/p" <<<"$records" | xargs; }

# What is assigned is what the jobs that run have there.
expect_amounts()
{
	local name letter n=0 host
	for name in "${!row[@]}"; do fate "$name"; [ $letter != R ] || n=$((n + 1)); done
	for host in n1 n2 n3; do same "ncpus assigned on $host" $n "$(node_attr "$host" resources_assigned.ncpus)"; done
	same 'ncpus assigned' $((3 * n)) "$(value resources_assigned.ncpus "$(qstat -Bf)")"
}

# n3 has ended its parts of jobs whose primary it does not reach.
sisters_are_gone()
{
	local name
	for name in s.{running,suspended}.{none,job_start,all}; do dead "$(task_on "$name" n3)" || return; done
}

# n3 is there again: within 5 s it has nothing of these jobs, whether they go on without it or not.
expect_nothing_on_n3()
{
	wait_until 30 is_free n3
	wait_until 5 has_no_process n3
}

all_over() { look; for name in "${!row[@]}"; do same "state of $name" F "${state[${row[$name]}]}" || return; done; }

finish_rows()
{
	local name letter ids=() host records
	for name in "${!row[@]}"; do
		fate "$name"
		[ $letter != Q ] || ids+=("${row[$name]}")
	done
	qdel "${ids[@]}"
	qmgr -c 'set server scheduling = true'
	qsig -s resume "${row[s.suspended.all]}"
	touch "$ran/end"
	wait_until 30 all_over
	records=$(accounting)
	for name in "${!row[@]}"; do
		fate "$name"
		[[ $letter = Q ]] || same "exit of $name" 3 "${status[${row[$name]}]}"
		[[ $letter = Q ]] || same "ends of $name" 1 "$(grep -c ";E;${row[$name]};.* Exit_status=3 " <<<"$records")"
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
	wait_until 10 sisters_are_gone
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
