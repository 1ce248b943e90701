#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# One past what commands take: each says so, and nothing is cut off unseen. (Limits of functions are tried by units.)

load helper
load shared

text_of() { printf "%*s" "$1" '' | tr ' ' "${2-x}"; } # length, letter

@test "past the limit: qmgr talks to 49 servers" { # past sdk/commands/qmgr/qmgr.c OPEN_SERVERS_MAX
	# shellcheck disable=SC2046
	says 4 'qmgr: more than 49 servers' qmgr -c 'list server' $(yes svr | head -n 50)
	qmgr -c 'list server' $(yes svr | head -n 49) | grep -c '^Server' | grep -qx 49
}

@test "past the limit: tracejob looks back a hundred years" { # past sdk/commands/tracejob/tracejob.c DAYS_MAX
	run tracejob -n 36501 1
	[ "$status" -ne 0 ]
	echo "$output"
	has "$output" '^usage: tracejob'
}

@test "past the limit: the comment of pbsnodes -C" { # past sdk/commands/pbsnodes/mark.c COMMENT_MAX
	undo qmgr -c 'unset node n1 comment'
	pbsnodes -C "$(text_of 79)y" n1
	same comment "$(text_of 79)" "$(node_attr n1 comment)"
}

@test "past the limit: qmgr import reads 32 MiB of text" { # past sdk/commands/qmgr/hook_body.c BODY_MAX
	needs_root
	text_of 33554433 >"$BATS_TEST_TMPDIR/hook.py"
	run qmgr -c "import hook h application/x-python default $BATS_TEST_TMPDIR/hook.py"
	[ "$status" -ne 0 ]
	has "$output" "hook.py - File too large"
}

# started N: it is queued, was started N - 1 times before, and is started now.
started()
{
	local id
	id=$(submit -W "run_count=$(($1 - 1))" -- /bin/sleep 100)
	wait_until 10 qrerun "$id" 2>/dev/null
	echo "$id"
}

@test "past the limit: a job that was started twenty times is started again" { # past modules/jobs/jobs.h RUNS_MAX
	local id last
	last=$(started 21)
	wait_until 10 job_is "$last" H
	same comment 'job held, too many failed attempts to run' "$(job_attr "$last" comment)"
	id=$(started 20)
	again() { [ "$(job_attr "$id" run_count)" = 21 ] && job_is "$id" R; }
	wait_until 10 again
}

@test "past the limit: the file resource_group has 16 MiB" { # past modules/fairshare/rules.c FILE_SIZE_MAX
	local file=$SB/server/sched_priv/resource_group
	mkdir -p "${file%/*}"
	undo rm -f "$file"
	{ printf 'physics 10 root 60\n#'; text_of 16777196 '#'; } >"$file"
	same size 16777216 "$(stat -c %s "$file")"
	is_known() { qmgr -c 'set server scheduling = true' && pbsfs -g physics | grep -qx 'Shares: 60'; }
	wait_until 10 is_known
	lacks "$(server_log)" 'resource_group;longer than'
	echo >>"$file"
	is_unknown() { ! is_known; }
	wait_until 10 is_unknown
	has "$(server_log)" 'resource_group;longer than 16777216 bytes; it counts as empty'
}

@test "past the limit: a setting of sched_config is used whole" {
	local res
	res=ncpus$(yes '*ncpus' | head -n 60 | tr -d '\n')
	[ "${#res}" -gt 255 ]
	mkdir -p "$SB/server/sched_priv"
	undo qmgr -c 'set server scheduling = true'
	undo rm -f "$SB/server/sched_priv/sched_config"
	echo "fairshare_usage_res: $res" >"$SB/server/sched_priv/sched_config"
	is_used() { qmgr -c 'set server scheduling = true' && pbsfs -p | grep -qF "units are in: $res"; }
	wait_until 10 is_used
}

@test "past the limit: lines of PBS_NODEFILE" { # past modules/executor/executor.h NODES_LINES_MAX
	local job text="PBS_NODEFILE would have more than 1000000 lines: ask for fewer mpiprocs"
	qmgr -c 'set server scheduling = false'
	undo qmgr -c 'set server scheduling = true'
	job=$(submit -l select=1:ncpus=1:mpiprocs=1000001)
	run qrun -H n1 "$job"
	[ "$status" -ne 0 ]
	has "$output" "$text"
	job_is "$job" Q
}
