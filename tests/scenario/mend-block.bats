#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Who waits for a job waits over restarts of the server, and learns how it ended, whatever happened meanwhile.

load helper
load shared

setup_file() { open_cluster; qmgr -c 'set server job_history_enable = false'; }

runs() { same state R "$(value job_state "$(qstat -f "$1")")"; }
start_server() { sandbox restart server; }

# blocked [qsub arguments]: $id is a job that the process $qsub waits for in the background; $waiter ends as it does.
blocked()
{
	rm -f "$(here block.out)"
	as "$OWNER" qsub -W block=true "$@" >"$(here block.out)" 2>"$(here block.err)" 3>&- &
	waiter=$!
	wait_until 10 test -s "$(here block.out)"
	id=$(cat "$(here block.out)")
	local child=$waiter
	while [ -n "$child" ]; do
		qsub=$child
		child=$(pgrep -P "$qsub" || true)
	done
}

# exits STATUS SENTENCE: the qsub that waits.
exits()
{
	local got=0
	wait_until 20 dead "$waiter"
	wait "$waiter" || got=$?
	same sentence "$2" "$(cat "$(here block.err)")"
	same status "$1" "$got"
}

@test "mend A15: qsub -W block=true waits on while the server is killed and starts again" {
	blocked -- /bin/sh -c "until test -e $(here go.on); do sleep 0.1; done; exit 7"
	wait_until 20 runs "$id"
	undo start_server
	undo rm -f "$(here go.on)"
	sandbox kill server
	start_server
	keelson reload jobs >/dev/null
	qterm
	wait_until 20 dead "$(cat "$SB/server/server_priv/server.lock")"
	start_server
	! dead "$waiter"
	same block True "$(value block "$(qstat -f "$id")")"
	as "$OWNER" touch "$(here go.on)"
	exits 7 ''
}

@test "mend A15: it learns the status of a job that ended while no server was there, without history" {
	blocked -- /bin/sh -c "until test -e $(here go.on); do sleep 0.1; done; exit 9"
	wait_until 20 runs "$id"
	session=$(value session_id "$(qstat -f "$id")")
	undo start_server
	undo rm -f "$(here go.on)"
	sandbox kill server
	as "$OWNER" touch "$(here go.on)"
	wait_until 20 dead "$session"
	# It comes back late: its job is no more when it asks.
	undo kill -CONT "$qsub"
	kill -STOP "$qsub"
	start_server
	gone() { says 153 "qstat: Unknown Job Id $id" qstat "$id"; }
	wait_until 20 gone
	kill -CONT "$qsub"
	exits 9 ''
}

@test "mend A15: the end is not forgotten over a restart, and nobody else is told" {
	needs_root
	blocked -h -- /bin/true
	undo kill -CONT "$qsub"
	kill -STOP "$qsub"
	undo start_server
	sandbox kill server
	start_server
	qdel "$id"
	sandbox kill server
	start_server
	says 1 'error 15007' as "$OTHER" "$KEELSON_BUILD/tests/scenario/tools/waitjob" "$id"
	says 153 "qstat: Unknown Job Id $id" qstat "$id"
	kill -CONT "$qsub"
	exits 3 "qsub: $id Job could not be run"
}

@test "mend A15: a signal ends the wait also while the server is away" {
	blocked -h -- /bin/true
	undo start_server
	sandbox kill server
	catches() { (($(awk '/^SigCgt/ { print "0x" $2 }' "/proc/$1/status") & 1 << 14)); } # it has said its id, and waits
	wait_until 10 catches "$qsub"
	kill -TERM "$qsub"
	got=0
	wait "$waiter" || got=$?
	same status 2 "$got"
	has "$(cat "$(here block.err)")" "^qsub: wait for job $id interrupted by signal 15"
}

@test "a server that restarts with another set of modules is not seen by qsub -W block=true" {
	blocked -- /bin/sh -c "until test -e $(here go.on); do sleep 0.1; done; exit 7"
	wait_until 20 runs "$id"
	undo rm -f "$(here go.on)"
	undo load_mail
	pid=$(cat "$SB/server/server_priv/server.lock")
	keelson unload mail >/dev/null
	load_mail
	same pid "$pid" "$(cat "$SB/server/server_priv/server.lock")"
	! dead "$waiter"
	as "$OWNER" touch "$(here go.on)"
	exits 7 ''
}
