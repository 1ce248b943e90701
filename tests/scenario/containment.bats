#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A module inside the daemon that is slow, hangs or crashes: it is named, and what can be gone on with
# goes on. The fixture `trouble` does at job_submit what the name of the job says.

load helper

# cluster [conf of the fixture]: taps are slow after 20 ms, too slow after 50, benched the third time.
cluster()
{
	setup_sandbox --set hooks.watchdog=200ms --set hooks.hard_budget=50ms --set hooks.strikes=3
	echo "trouble: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/trouble.so\"; ${1-} };" \
		>"$SB/server/etc/modules.d/trouble.conf"
	sandbox reload
}

make_trouble() { as "$OWNER" qsub -N "$1" -- /bin/true; }
held() { has "$(keelson holds)" "$1"; }

@test "a tap that hangs is reported while it runs, with a backtrace, and when it is over" {
	cluster 'budget = { strikes = 0; };'
	make_trouble spin-900
	[ "$(server_log | grep -Ec '^keelsond: no request has been served for [0-9]+\.[0-9] s in trouble.on_submit at job_submit of [0-9]+\.svr')" -ge 2 ]
	log_has 'trouble[^/]*.so\('
	wait_until 5 log_has '^keelsond: requests are served again, after [0-9]+\.[0-9] s$'
	log_has ';trouble.on_submit took ([89]|[1-9][0-9]+)[0-9]{2} ms at job_submit, the hard budget is 50 ms'
	make_trouble innocent
}

@test "what a tap costs, its strikes, the bench, and back by an order" {
	cluster 'budget = { hard = "400ms"; strikes = 2; };'
	make_trouble innocent
	make_trouble sleep-600
	has "$(keelson hooks --time job_submit)" '^POINT +TAP +CALLS +TIME +LONGEST +FAILS +STRIKES +STATE$'
	has "$(keelson hooks --time job_submit)" '^job_submit +trouble.on_submit +2 +[0-9.]+[num]?s +[0-9.]+m?s +0 +1 +on *$'
	make_trouble sleep-600
	log_has ';trouble.on_submit took ([5-9]|[1-9][0-9]+)[0-9]{2} ms at job_submit, the hard budget is 400 ms$'
	log_has ';trouble.on_submit was too slow 2 times and is not called any more, what it guards is refused'
	! make_trouble innocent || false
	keelson hooks --time --json | jq -e '.hooks["job_submit/trouble.on_submit"] | .calls == 3 and .state == "benched"
		and .strikes == 2 and .longest_ns > 5.5e8'
	has "$(keelson modules)" '^trouble .* benched '
	says 0 'trouble.on_submit is called' keelson hooks --unbench trouble.on_submit
	make_trouble innocent
	says 1 "keelson: there is no tap 'nobody'; 'keelson hooks --time' lists them" keelson hooks --unbench nobody
	quietly keelson hooks --reset-time
	keelson hooks --time --json job_submit | jq -e '.hooks["job_submit/trouble.on_submit"].calls == 0'
	sed -i 's/400ms/soon/' "$SB/server/etc/modules.d/trouble.conf"
	has "$(sandbox reload 2>&1)" 'trouble.conf:1: trouble.budget.hard: expected '
}

@test "a tap that crashes: the log names it, its object and every build; the daemon started again serves on" {
	not_sanitized "last words are the sanitizer's own"
	cluster
	qmgr -c "set server job_history_enable = true"
	job=$(submit)
	! make_trouble segv || false
	wait_until 10 log_has '^keelsond: fatal signal SEGV in trouble.on_submit at job_submit of [0-9]+\.svr; called from jobs$'
	log_has '^keelsond .*, build [0-9a-f]{40}; modules:$'
	log_has '^trouble 1.0, build [0-9a-f]+, .*/trouble.so$'
	log_has 'trouble[^/]*.so\('
	sandbox restart server
	wait_until 10 answers
	wait_until 10 job_is "$job" R 42
	make_trouble innocent
}

@test "hooks.watchdog_abort ends a daemon that stands still, and says why" {
	not_sanitized "last words are the sanitizer's own"
	setup_sandbox --set hooks.watchdog=100ms --set hooks.watchdog_abort=400ms
	echo "trouble: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/trouble.so\"; };" \
		>"$SB/server/etc/modules.d/trouble.conf"
	sandbox reload
	! make_trouble spin-60000 || false
	wait_until 10 log_has 'ends itself: hooks.watchdog_abort'
	wait_until 10 log_has '^keelsond: fatal signal ABRT in trouble.on_submit at job_submit of '
	sandbox restart server
	wait_until 10 answers
}

@test "an operation that waits is over after kill -9 of the server: its client reads an error, the job is as it was" {
	setup_sandbox
	echo "waits: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/waits.so\"; };" \
		>"$SB/server/etc/modules.d/waits.conf"
	sandbox reload
	qmgr -c "set server job_history_enable = true"
	over=$SB/over
	job=$(submit -- /bin/sh -c "until [ -e $over ]; do sleep 0.05; done")
	wait_until 10 job_is "$job" R 42
	qdel "$job" 3>&- &
	wait_until 10 held "^$job job_delete waits: waiting for the job to end \([0-9]+s of 60s\)"
	sandbox restart server --hard
	! wait $! || false
	[ -z "$(keelson holds)" ]
	wait_until 10 job_is "$job" R 42
	touch "$over"
	wait_until 10 job_is "$job" F
	! log_has ';fixture waits (resumed|cancelled)' || false
}

@test "a module goes while its work() hangs: the log says so, and whose request it held reads an error" {
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # what hangs is never unmapped, nor is what is known of it freed
	setup_sandbox
	mkfifo "$SB/accounts"
	echo "lookup: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/lookup.so\"; file = \"$SB/accounts\"; };" \
		>"$SB/server/etc/modules.d/lookup.conf"
	sandbox reload
	as "$OWNER" qsub -A physics -- /bin/true 2>/dev/null 3>&- &
	wait_until 10 held 'job_submit lookup: looking up the account'
	has "$(keelson unload lookup)" 'lookup: unloaded'
	log_has ';Module;lookup;work\(\) of it has not returned \(1 of them\)'
	! wait $! || false
	answers
}

@test "a daemon ends while a work() hangs: it waits for it, and its done() finds a daemon that is all there" {
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # as above
	setup_sandbox
	mkfifo "$SB/accounts"
	echo "lookup: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/lookup.so\"; file = \"$SB/accounts\"; };" \
		>"$SB/server/etc/modules.d/lookup.conf"
	sandbox reload
	as "$OWNER" qsub -A physics -- /bin/true 2>/dev/null 3>&- &
	wait_until 10 held 'job_submit lookup: looking up the account'
	server=$(head -n 1 "$SB/server/server_priv/server.lock")
	kill "$server"
	wait_until 10 log_has ';Module;lookup;work\(\) of it has not returned'
	kill -0 "$server"
	echo physics >"$SB/accounts"
	wait_until 10 log_has ';Server shutdown completed'
	sandbox restart server
	answers
}
