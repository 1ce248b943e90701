#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# python-hooks-tools.bats - for those who write hooks: keelson hook run, test, stubs, tables, and how keelson finds such programs.
#
# needs modules/python-hooks

load helper
load shared
load python-hooks

setup_file() { open_cluster --hosts 2; }

# record NAME: a job is submitted, and the file of what its hook saw is in $record
record()
{
	qmgr -c "set hook $1 debug = true"
	submit -h -N recorded
	wait_until 20 recorded "$1"
}
recorded()
{
	record=$(find "$SB/server/server_priv/hooks/tmp" -name "hook_*_$1_*.in" 2>/dev/null | head -n 1)
	[ -n "$record" ] && [ -s "${record%.in}.out" ]
}
# offline COMMAND...: as on a machine without a server
offline() { PBS_SERVER_SOCKET=/nonesuch PBS_SERVER=nonesuch "$@"; }

@test "keelson hook run: the script of the server, or of a file, with what was recorded" {
	hook run1 event=queuejob <<-'EOS'
		import pbs
		e = pbs.event()
		pbs.logmsg(pbs.LOG_DEBUG, "queue %s" % pbs.server().default_queue)
		if pbs.hook_config_filename:
		    e.reject(open(pbs.hook_config_filename).read().strip())
		e.job.Priority = len(str(e.job.Job_Name))
	EOS
	record run1
	says 0 $'log 0006;Hook;Server@svr;queue workq\nchange job Priority = 8\naccepted' keelson hook run run1 --event "$record"
	says 0 $'log 0006;Hook;Server@svr;queue workq\nchange job Priority = 8\naccepted' \
		offline keelson hook run "$SB/run1.py" --event "$record"
	echo 'from a file' >"$SB/conf.txt"
	said=$'log 0006;Hook;Server@svr;queue workq\nrejected: from a file'
	says 1 "$said" offline keelson hook run "$SB/run1.py" --event "$record" --config "$SB/conf.txt"
	qmgr -c "import hook run1 application/x-config default $SB/conf.txt"
	says 1 "$said" keelson hook run run1 --event "$record"
	echo '1/0' >"$SB/bad.py"
	got=$(offline keelson hook run "$SB/bad.py" --event "$record" 2>&1) && false || same status 2 $?
	has "$got" 'ZeroDivisionError'
	has "$got" '^exception: ZeroDivisionError: division by zero$'
	echo 'import os; os.abort()' >"$SB/bad.py"
	says 2 'keelson hook: the script was ended by signal 6' offline keelson hook run "$SB/bad.py" --event "$record"
}

@test "keelson hook run: what is no hook, no file, no event" {
	echo '{}' >"$SB/none.json"
	says 2 'keelson hook: usage: keelson hook run NAME | FILE.py --event FILE [--config FILE] [--tables FILE]' keelson hook run x
	got=$(keelson hook run nosuch --event "$SB/none.json" 2>&1) && false
	has "$got" 'nosuch does not exist'
	got=$(keelson hook run 'a b' --event "$SB/none.json" 2>&1) && false
	has "$got" "'a b' is no name of a hook; a file ends in .py or has a / in it"
	qmgr -c 'create hook empty event=queuejob'
	undo qmgr -c 'delete hook empty'
	got=$(keelson hook run empty --event "$SB/none.json" 2>&1) && false
	has "$got" 'hook empty has no script'
	echo 'x = 1' >"$SB/x.py"
	got=$(keelson hook run "$SB/x.py" --event "$SB/none.json" 2>&1) && false
	has "$got" 'has no map "setup"'
	keelson hook tables >"$SB/tables.json"
	echo '{"event": "nosuch"}' >"$SB/none.json"
	got=$(offline keelson hook run "$SB/x.py" --event "$SB/none.json" --tables "$SB/tables.json" 2>&1) && false
	has "$got" "there is no event 'nosuch'"
	[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'keelson-hook.*')" ]
}

# cases CASE EVENT EXPECTED: of the script c.py
cases()
{
	mkdir -p "$SB/cases/c"
	[ -e "$SB/cases/tables.json" ] || keelson hook tables >"$SB/cases/tables.json"
	echo "$2" >"$SB/cases/c/$1.json"
	printf '%s\n' "$3" >"$SB/cases/c/$1.out"
}

@test "keelson hook test: a line for each case, and whether all are as expected" {
	undo rm -rf "$SB/cases"
	good='{"event": "queuejob", "params": {"job": {"Job_Name": "good"}}}'
	bad='{"event": "queuejob", "params": {"job": {"Job_Name": "bad"}}}'
	cases good "$good" $'change job Priority = 5\naccepted'
	cases bad "$bad" $'printed\nrejected: ...'
	cases any "$good" '...accepted'
	cat >"$SB/cases/c.py" <<-'EOS'
		import pbs
		e = pbs.event()
		if e.job.Job_Name == "bad":
		    print("printed")
		    e.reject("not this one")
		e.job.Priority = 5
	EOS
	says 0 $'ok     c/any\nok     c/bad\nok     c/good' offline keelson hook test "$SB/cases"

	cases bad "$bad" $'printed\naccepted'
	rm "$SB/cases/c/any.out"
	echo 'print("x")' >"$SB/cases/d.py"
	got=$(offline keelson hook test "$SB/cases") && false || same status 1 $?
	has "$got" '^FAILED c/any: there is no .*/cases/c/any.out, with what `keelson hook run .*/cases/c.py --event .*/c/any.json` should print$'
	has "$got" '^FAILED c/bad: expected "accepted", printed "rejected: not this one"$'
	has "$got" '^ok     c/good$'
	has "$got" '^none   d: there are no cases '
	same lines 4 "$(wc -l <<<"$got")"

	echo 'import os; os.kill(os.getpid(), 9)' >"$SB/cases/c.py"
	got=$(offline keelson hook test "$SB/cases") && false
	has "$got" '^FAILED c/good: its process was ended, status 137$'
}

@test "keelson hook test: what a script leaves behind, or prints without end, holds up nothing" {
	undo rm -rf "$SB/cases"
	cases left '{"event": "queuejob"}' accepted
	cat >"$SB/cases/c.py" <<-'EOS'
		import subprocess
		subprocess.Popen(["sleep", "98765"])
	EOS
	says 0 'ok     c/left' timeout 50 keelson hook test "$SB/cases"
	[ -z "$(pgrep -fx 'sleep 98765')" ]
	cat >"$SB/cases/c.py" <<-'EOS'
		while True:
		    print("x" * 1000000)
	EOS
	got=$(timeout 200 keelson hook test "$SB/cases") && false
	has "$got" '^FAILED c/left: '
}

@test "keelson hook test: where there is nothing to test" {
	mkdir "$SB/nothing"
	says 2 "keelson hook: $SB/nothing has no scripts HOOK.py" offline keelson hook test "$SB/nothing"
	says 2 "keelson hook: $SB/nonesuch has no scripts HOOK.py" offline keelson hook test "$SB/nonesuch"
	says 2 'keelson hook: usage: keelson hook test [--tables FILE] DIR' offline keelson hook test
}

@test "keelson hook stubs: attributes, resources and constants of this site, which Python reads" {
	qmgr -c 'create resource tapes type=long'
	undo qmgr -c 'delete resource tapes'
	keelson hook stubs >"$SB/pbs.pyi"
	python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$SB/pbs.pyi"
	has "$(cat "$SB/pbs.pyi")" '^QUEUEJOB: int$'
	has "$(cat "$SB/pbs.pyi")" '^    Job_Name: '
	keelson hook tables >"$SB/tables.json"
	has "$(cat "$SB/tables.json")" '"tapes": \["long"'
	cmp <(offline keelson hook stubs --tables "$SB/tables.json") "$SB/pbs.pyi"
}

@test "keelson hook: what is no verb is a question to the server; without one it says so" {
	has "$(keelson hook list)" '^hook  *state'
	got=$(keelson hook nosuch 2>&1) && false || same status 1 $?
	has "$got" "there is no 'keelson hook nosuch'"
	got=$(offline keelson hook list 2>&1) && false
	has "$got" 'keelson hook: cannot connect to the server'
	has "$(keelson hook --help)" 'usage: keelson hook list'
}

# unwritten STATUS COMMAND...: what it does when its answer cannot be written
unwritten()
{
	local got=0
	"${@:2}" >/dev/full 2>"$BATS_TEST_TMPDIR/said" || got=$?
	same "exit of \`${*:2}\` on a full disk" "$1" "$got"
	has "$(cat "$BATS_TEST_TMPDIR/said")" 'cannot write the answer'
	got=0
	"${@:2}" >&- 2>"$BATS_TEST_TMPDIR/said" || got=$?
	same "exit of \`${*:2}\` without an output" "$1" "$got"
}

@test "keelson hook: an answer that could not be written is a failure" {
	undo rm -rf "$SB/cases"
	cases good '{"event": "queuejob"}' accepted
	echo 'x = 1' >"$SB/cases/c.py"
	unwritten 1 keelson hook list
	unwritten 1 keelson hook tables
	unwritten 2 keelson hook stubs
	unwritten 2 keelson hook run "$SB/cases/c.py" --event "$SB/cases/c/good.json" --tables "$SB/cases/tables.json"
	unwritten 1 keelson hook test "$SB/cases"
	says 0 'ok     c/good' keelson hook test "$SB/cases"
}

@test "keelson WORD is the program keelson-WORD beside it, else a question to the server" {
	has "$(keelson key 2>&1)" '^usage: keelson-key make'
	got=$(keelson nosuch 2>&1) && false
	has "$got" "nobody offers the verb 'nosuch'; 'keelson modules' says which modules run"
	got=$(keelson ../bin/hook 2>&1) && false
	has "$got" "nobody offers the verb '../bin/hook'"
}

@test "keelson hooks --time: what scripts have cost is below the table of taps" {
	lacks "$(keelson hooks --time)" '^hook  *event  *runs' # none has run since the hooks of other stories are gone
	hook cost event=queuejob <<<'import pbs'
	submit -h
	got=$(keelson hooks --time)
	has "$got" '^job_submit +python-hooks\.[0-9]+-[0-9]+-cost '
	has "$got" '^hook  *event  *runs  *errors  *mean  *longest'
	has "$got" '^cost  *queuejob  *1  *0 '
	lacks "$(keelson hooks --time job_submit)" '^cost '
	keelson hooks --time --json | jq -e .hooks >/dev/null
}

@test "keelson hook: with the module off the server says so, and scripts are tried all the same" {
	keelson hook tables >"$SB/tables.json"
	echo '{"event": "queuejob"}' >"$SB/event.json"
	echo 'x = 1' >"$SB/x.py"
	sandbox reload --disable python-hooks
	undo sandbox reload --enable python-hooks
	got=$(keelson hook list 2>&1) && false || same status 1 $?
	has "$got" '^keelson hook: the server runs without module python-hooks, which replies to this: '
	says 0 accepted keelson hook run "$SB/x.py" --event "$SB/event.json" --tables "$SB/tables.json"
	keelson hooks --time >/dev/null
}

@test "keelson hook: a host's own daemon says what ran there" {
	needs_root
	hook there event=execjob_begin <<<'import pbs'
	wait_until 30 test -e "$SB/n2/mom_priv/hooks/there.PY"
	id=$(submit -l select=1:host=n2)
	wait_until 20 job_is "$id" R 42
	has "$(PBS_SERVER_SOCKET=$SB/n2/run/mom.sock keelson hook times)" '^there  *execjob_begin  *1  *0 '
	lacks "$(keelson hook times)" '^there '
}
