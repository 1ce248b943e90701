#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# qmsg and qterm.

load helper

setup() { setup_sandbox --hosts 1; qmgr -c 'set server job_history_enable = true'; }

gone() { ! kill -0 "$1" 2>/dev/null; }
ends() { wait_until 20 job_is "$1" F; }

@test "qmsg: into the error file, or the output file" {
	dir=$(desk "$OWNER")
	id=$(submit -o "$dir/out" -e "$dir/err" -- /bin/sleep 1000)
	wait_until 20 job_is "$id" R 42
	quietly as "$OWNER" qmsg 'to error' "$id"
	quietly as "$OWNER" qmsg -O 'to output' "$id"
	quietly qmsg -E -O 'to both' "$id"
	as "$OWNER" qdel "$id"
	ends "$id"
	same output $'to output\nto both' "$(cat "$dir/out")"
	same error $'to error\nto both' "$(cat "$dir/err")"
}

@test "qmsg: joined output has one file; a suspended job too" {
	dir=$(desk "$OWNER")
	id=$(submit -j oe -o "$dir/out" -- /bin/sleep 1000)
	wait_until 20 job_is "$id" R 42
	qsig -s suspend "$id"
	wait_until 20 job_is "$id" S
	quietly as "$OWNER" qmsg hello "$id"
	qdel "$id"
	ends "$id"
	same output hello "$(cat "$dir/out")"
}

@test "qmsg: refusals" {
	a=$(submit -h)
	says 168 "qmsg: Request invalid for state of job $a" as "$OWNER" qmsg hello "$a"
	says 153 'qmsg: Unknown Job Id 99999.svr' qmsg hello 99999
	says 2 $'usage: qmsg [-E] [-O] message_string job_identifier...\n       qmsg --version' qmsg hello
	[ "$EUID" -eq 0 ] || return 0
	b=$(running)
	says 159 "qmsg: Unauthorized Request  $b" as "$OTHER" qmsg hello "$b"
}

# A user cannot make the host write where he may not: the file is opened as him, and not through links.
@test "qmsg: only into the job's own file" {
	needs_root
	dir=$(desk "$OWNER")
	id=$(submit -o "$dir/out" -e "$dir/err" -- /bin/sleep 1000)
	wait_until 20 job_is "$id" R 42
	file=$(find "$SB" -name "$id.ER" | head -n 1)
	[ -n "$file" ]
	echo secret >"$SB/secret"
	as "$OWNER" rm -f "$file"
	as "$OWNER" ln -s "$SB/secret" "$file"
	says 193 "qmsg: the job's output cannot be written $id" as "$OWNER" qmsg more "$id"
	same secret secret "$(cat "$SB/secret")"
	rm -f "$file"
	qdel -W force "$id"
}

@test "qterm: needs an operator" {
	needs_root
	says 2 'qterm: Unauthorized Request  ' as "$OWNER" qterm
	says 1 $'Usage: qterm [-t immediate|delay|[quick]] [-m] [-s] [-f|-i] [server ...]\n       qterm --version' \
		qterm -t nosuchtype
	says 2 'qterm: There is no secondary server; this one goes on ' qterm -F
	quietly qstat
}

@test "qterm: quickly; jobs go on" {
	id=$(running)
	pid=$(session_of "$id")
	server=$(cat "$SB/server/server_priv/server.lock")
	has "$(qstat -Bf | value server_state)" Active
	quietly qterm
	wait_until 20 gone "$server"
	kill -0 "$pid"
	has "$(server_log)" ';Svr;svr;Shutdown request from '
	has "$(server_log)" ';Server shutdown completed'
	sandbox restart server
	wait_until 20 job_is "$id" R 42
	same session "$pid" "$(session_of "$id")"
}

@test "qterm -t delay: waits for what runs, starts nothing" {
	a=$(running)
	server=$(cat "$SB/server/server_priv/server.lock")
	quietly qterm -t delay
	same state Terminating_Delay "$(qstat -Bf | value server_state)"
	b=$(submit)
	as "$OWNER" qdel "$a"
	wait_until 20 gone "$server"
	sandbox restart server
	same state Active "$(qstat -Bf | value server_state)"
	wait_until 20 job_is "$b" R 42
	job_is "$a" F
}

@test "qterm -t immediate: running jobs go back to their queue, or are deleted" {
	a=$(running)
	b=$(running -r n)
	server=$(cat "$SB/server/server_priv/server.lock")
	quietly qterm -t immediate
	wait_until 30 gone "$server"
	sandbox restart server
	wait_until 20 job_is "$a" R 42
	same starts 2 "$(job_attr "$a" run_count)"
	job_is "$b" F
}

@test "qterm -t delay, -t immediate: a suspended job is not waited for, it goes on with the next server" {
	a=$(running)
	qsig -s suspend "$a"
	job_is "$a" S 43
	for manner in delay immediate; do
		server=$(cat "$SB/server/server_priv/server.lock")
		quietly qterm -t $manner
		wait_until 20 gone "$server"
		sandbox restart server
		job_is "$a" S 43
	done
	qsig -s resume "$a"
	wait_until 20 job_is "$a" R 42
	same starts 1 "$(job_attr "$a" run_count)"
}

@test "qterm -t immediate: a job that is on its way to its host goes back too" {
	host=$(cat "$SB/n1/mom_priv/mom.lock") server=$(cat "$SB/server/server_priv/server.lock")
	kill -STOP "$host"
	a=$(submit -l select=1:vnode=n1 -- /bin/sleep 1000)
	wait_until 20 job_is "$a" R 41
	quietly qterm -t immediate
	wait_until 10 state_is Terminating
	kill -CONT "$host"
	wait_until 30 gone "$server"
	sandbox restart server
	wait_until 20 job_is "$a" R 42
	same starts 2 "$(job_attr "$a" run_count)"
}
state_is() { [ "$(qstat -Bf | value server_state)" = "$1" ]; }

@test "qterm -m: hosts end too" {
	host=$(cat "$SB/n1/mom_priv/mom.lock")
	server=$(cat "$SB/server/server_priv/server.lock")
	quietly qterm -m
	wait_until 20 gone "$server"
	wait_until 20 gone "$host"
	sandbox restart server
	sandbox restart n1
}
