#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# tracejob: the story of a job from the files that the daemons write.

load helper
load shared

setup_file()
{
	open_cluster
	traced=$(finished -N traced -- /bin/true)
	export traced
}

@test "tracejob: server and accounting, in order" {
	found=$(tracejob "$traced")
	same head "
Job: $traced
" "$(head -n 3 <<<"$found")
"
	has "$found" "^[0-9]{2}/[0-9]{2}/[0-9]{4} [0-9:.]+ +S    Job Queued at request of $OWNER@.*, owner = $OWNER@.*, job name = traced, queue = workq\$"
	has "$found" ' S    Job Run at request of Scheduler@.* on exec_vnode \(n1:ncpus=1\)$'
	has "$found" ' S    Exit_status=0 resources_used'
	has "$found" " A    user=$OWNER "
	lines=$(tail -n +4 <<<"$found")
	same sorted "$(cut -c1-19 <<<"$lines" | sort)" "$(cut -c1-19 <<<"$lines")"
}

@test "tracejob: the number is enough, several jobs are told one after another" {
	same number "$(tracejob "$traced")" "$(tracejob "${traced%.svr}")"
	id=$(finished -- /bin/false)
	same jobs "Job: $traced Job: $id" "$(tracejob "$traced" "$id" | grep '^Job:' | xargs)"
}

@test "tracejob: sources may be left out" {
	lacks "$(tracejob -a "$traced")" ' A    '
	lacks "$(tracejob -s "$traced")" ' S    '
	has "$(tracejob -s "$traced")" ' A    '
}

@test "tracejob -m: the host's log" {
	found=$(tracejob -p "$SB/n1" "$traced" 2>&1) || true
	has "$found" ' M    Started, pid = [0-9]+$'
	lacks "$(tracejob -m -p "$SB/n1" "$traced" 2>/dev/null || true)" ' M    '
}

@test "tracejob -f: event types may be dropped" {
	has "$(tracejob "$traced")" 'Updated job state'
	lacks "$(tracejob -f debug3 "$traced")" 'Updated job state'
	lacks "$(tracejob -f 0x400 "$traced")" 'Updated job state'
}

@test "tracejob: an unknown job" {
	got=0
	found=$(tracejob 99999 2>&1) || got=$?
	same status 1 "$got"
	has "$found" "^tracejob: Couldn't find Job Id 99999.svr in logs of past 1 day\$"
	has "$(tracejob -n 3 99999 2>&1 || true)" 'in logs of past 3 days$'
}

@test "tracejob: works without a server" {
	sandbox kill server
	undo "$top/scripts/sandbox" restart --dir "$SB" --build "$KEELSON_BUILD" server
	has "$(tracejob "$traced")" 'Job Queued'
}

@test "tracejob: misuse is 1" {
	for words in '' '-Z'; do
		got=0
		# shellcheck disable=SC2086
		tracejob $words >/dev/null 2>&1 || got=$?
		same status 1 "$got"
	done
	has "$(tracejob 2>/dev/null || true)" '[Uu]sage: tracejob'
	has "$(tracejob --version)" '^pbs_version = '
}
