#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# supervise.bats - a program that a module runs: no shell, a deadline, bounded output, and nothing of it stays.
# needs modules/supervise

load helper

setup()
{
	setup_sandbox --enable supervise --enable run --set "run.path=$KEELSON_BUILD/tests/fixtures/run.so"
}

# tells TEXT COMMAND...: `keelson run COMMAND` has a line that matches TEXT
tells()
{
	local text=$1
	shift
	has "$(keelson run "$@" 2>&1)" "$text"
}

@test "a program gets its arguments as they are, its input, and no environment of the daemon" {
	tells '^it ran, status 0, 8 bytes$' 5000 /bin/echo '$HOME;a'
	tells '^\$HOME;a$' 5000 /bin/echo '$HOME;a'
	tells '^input$' 5000 /bin/cat
	tells '^it ran, status 3, 0 bytes$' 5000 /bin/sh -c 'exit 3'
	has "$(keelson run 5000 /usr/bin/env)" '^PATH='
	! has "$(keelson run 5000 /usr/bin/env)" 'PBS|HOME' 2>/dev/null || false
	[ "$(id -u)" -ne 0 ] || tells '^nobody$' 5000 /usr/bin/id -un
}

@test "what cannot be started, what is killed and what prints too much are told apart" {
	tells '^its process cannot be started: /no/such/program: No such file or directory, status -1|127' 5000 /no/such/program
	tells '^its process was killed by signal 11 \(Segmentation fault\), status -1, 0 bytes$' 5000 /bin/sh -c 'kill -SEGV $$'
	tells '^it ran, status 0, 200 bytes$' 5000 /bin/sh -c 'head -c 1000000 /dev/zero | tr "\0" x'
}

nothing_of() { ! pgrep -f "$1" >/dev/null; }

@test "after its deadline a program ends with all that it started, also what has left its session" {
	tells '^it took too long and was ended, status -1, 0 bytes$' 300 /bin/sh -c 'setsid sleep 61.25 & sleep 61.75'
	wait_until 5 nothing_of 'sleep 61[.]'
	tells '^it ran, status 0' 5000 /bin/sh -c 'setsid sleep 62.25 >/dev/null 2>&1 & exit 0'
	wait_until 5 nothing_of 'sleep 62[.]'
}

@test "a program ends with the daemon, however that ends" {
	keelson run 60000 /bin/sh -c 'sleep 63.25 & sleep 63.75' >/dev/null 2>&1 3>&- &
	runs() { pgrep -f 'sleep 63[.]75' >/dev/null; }
	wait_until 5 runs
	sandbox kill server
	wait_until 5 nothing_of 'sleep 63[.]'
}
