#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# For those who write modules: what a module does wrong outside of its taps is laid to it, and is survived where it can be.

load helper

# cluster: the fixture `trouble` makes trouble in a verb, or in a callback of another kind, as `keelson trouble` says.
cluster()
{
	setup_sandbox --set hooks.watchdog=200ms --set hooks.hard_budget=50ms "$@"
	echo "trouble: { enabled = true; path = \"$(fixture trouble_verb)\"; };" >"$SB/server/etc/modules.d/trouble.conf"
	sandbox reload
}
# Those of this tree: a build from before may have others.
fixture() { case $KEELSON_BUILD in "$top"/*) echo "$KEELSON_BUILD/tests/fixtures/$1.so" ;; *) echo "$top/build/tests/fixtures/$1.so" ;; esac; }
dies_of() # words of the trouble
{
	keelson trouble "$@" || true
	wait_until 10 log_has "^keelsond: fatal signal SEGV in $died\$"
	sandbox restart server
	wait_until 10 answers
}

@test "mend E: a crash in a timer, a worker, a watch, a call of later or a verb names the module" {
	not_sanitized "last words are the sanitizer's own"
	cluster
	died='request of module trouble \(keelson.trouble\)' dies_of segv
	died='timer of module trouble' dies_of timer segv
	died='worker of module trouble' dies_of work segv
	died='watch of module trouble' dies_of watch segv
	died='deferred call of module trouble' dies_of defer segv
}

@test "mend E: a standstill and an overrun in a timer or a verb name the module" {
	cluster
	keelson trouble spin-700
	log_has '^keelsond: no request has been served for [0-9.]+ s in request of module trouble \(keelson.trouble\)'
	log_has ';request of module trouble \(keelson.trouble\) took [0-9]{3,} ms, the hard budget is 50 ms'
	keelson trouble timer spin-700
	wait_until 10 log_has '^keelsond: no request has been served for [0-9.]+ s in timer of module trouble'
	wait_until 10 log_has ';timer of module trouble took [0-9]{3,} ms, the hard budget is 50 ms'
	keelson trouble watch spin-300
	wait_until 10 log_has ';watch of module trouble took [0-9]{3,} ms, the hard budget is 50 ms'
}

@test "mend E: cancelling a timer that has fired does no harm" {
	cluster
	pid=$(head -n 1 "$SB/server/server_priv/server.lock")
	keelson trouble timer flood-1
	wait_until 10 log_has 'flood 0'
	keelson trouble cancel
	keelson trouble timer flood-1 # memory of the old one, if it was given back
	keelson trouble cancel
	answers
	same 'pid of the server' "$pid" "$(head -n 1 "$SB/server/server_priv/server.lock")"
	kill -0 "$pid"
}

@test "mend E: a module for servers and hosts with an attribute of jobs logs no error on hosts" {
	setup_sandbox
	for daemon in server n1; do
		echo "everywhere: { enabled = true; path = \"$(fixture everywhere)\"; };" \
			>"$SB/$daemon/etc/modules.d/everywhere.conf"
		sandbox restart "$daemon"
	done
	submit -W everywhere_note=hello -h
	lacks "$(mom_log n1)" 'has no effect'
}

@test "a tap lists what its operation would change, value by value" {
	local id
	setup_sandbox
	echo "wishes: { enabled = true; path = \"$(fixture wishes)\"; };" >"$SB/server/etc/modules.d/wishes.conf"
	sandbox reload
	id=$(submit -h -l walltime=60 -- /bin/true)
	qalter -N other -l mem=2mb -l walltime=90 "$id"
	log_has ";Fixture;$id;wishes Job_Name = other\$"
	log_has ";Fixture;$id;wishes Resource_List.walltime = 00:01:30\$"
	log_has ";Fixture;$id;wishes Resource_List.mem = 2mb\$"
	! log_has ";Fixture;$id;wishes Priority"
}
