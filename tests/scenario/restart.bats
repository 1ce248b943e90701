#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What clients see of a server that restarts, with another set of modules or for good: that it takes a moment.

load helper
load shared

load_mail() { keelson load mail >/dev/null 2>&1 || true; }
start_server() { sandbox restart server 9>&-; } # a daemon does not keep it open
comment() { value comment "$(qmgr -c 'list server')"; }
commented() { [ "$(comment)" = "$1" ]; }

# A qmgr whose connection stays open; what is written to fd 9 are its commands.
session_begin()
{
	rm -f "$(here commands)"
	mkfifo "$(here commands)"
	qmgr <"$(here commands)" >"$(here qmgr.out)" 2>&1 3>&- &
	session=$!
	exec 9>"$(here commands)"
}
session_ends()
{
	local got=0
	exec 9>&-
	wait "$session" || got=$?
	same status 0 "$got"
	! grep -i 'error\|15[0-9][0-9][0-9]' "$(here qmgr.out)" || false
}

@test "a connection outlives the restart for another set of modules" {
	undo load_mail
	session_begin
	echo 'set server comment = one' >&9
	wait_until 10 commented one
	keelson unload mail >/dev/null
	echo 'set server comment = two' >&9
	wait_until 10 commented two
	keelson load mail >/dev/null
	echo 'set server comment = three' >&9
	wait_until 10 commented three
	session_ends
}

@test "a connection outlives the restart of the daemon" {
	undo start_server
	session_begin
	echo 'set server comment = one' >&9
	wait_until 10 commented one
	start_server
	echo 'set server comment = two' >&9
	wait_until 10 commented two
	session_ends
}

@test "a connection to a server that was killed is lost" {
	undo start_server
	session_begin
	echo 'set server comment = one' >&9
	wait_until 10 commented one
	sandbox kill server
	start_server
	echo 'set server comment = two' >&9
	exec 9>&-
	wait "$session" || true
	grep -q 15031 "$(here qmgr.out)"
	same comment one "$(comment)"
}

# each N: as many jobs, their ids in a file; a command that fails ends it.
each()
{
	local i
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		as "$OWNER" qsub -h -N "of$1" -- /bin/true >>"$(here "ids$1")" 2>>"$(here "ids$1")" || return 1
	done
}

@test "each job that is submitted while the server restarts again and again is there once" {
	undo load_mail
	clients=()
	for n in 1 2 3 4; do
		each $n 3>&- &
		clients+=($!)
	done
	for n in 1 2 3; do
		keelson unload mail >/dev/null
		keelson load mail >/dev/null
	done
	for n in "${clients[@]}"; do wait "$n"; done
	cat "$(here ids1)" "$(here ids2)" "$(here ids3)" "$(here ids4)" | sort -n >"$(here ids)"
	same replies 60 "$(grep -c '^[0-9]*\.svr$' "$(here ids)")"
	same jobs "$(cat "$(here ids)")" "$(qselect -u "$OWNER" -h u | sort -n)"
	# shellcheck disable=SC2046
	qdel $(cat "$(here ids)")
}
