#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# One past what commands take: each says so, and nothing is cut off unseen. (Limits of functions are tried by units.)

load helper
load shared

setup_file() { open_cluster; }
teardown_file() { close_cluster; }
setup() { join_cluster; }

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
