#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Jobs that give way slowly or cannot, because their host is gone: others are scheduled meanwhile, and no one
# gets what the urgent job waits for.
#
# needs modules/preemption
# needs modules/delete-preemption

load helper
load shared

setup_file()
{
	open_cluster --hosts 3 --ncpus 2
	qmgr -c 'create queue express queue_type=execution,priority=200,enabled=true,started=true'
	qmgr -c 'set queue workq kill_delay = 8'
}

alive() { [ -d "/proc/$1" ]; }
methods() { qmgr -c "set sched preempt_order = $1"; undo qmgr -c 'unset sched preempt_order'; }
on() { local host=$1; shift; running -l select=1:ncpus=2:host="$host" "$@"; }

# One that lives on for its queue's kill_delay.
stubborn()
{
	local id
	id=$(on "$1" -- /bin/sh -c "trap '' TERM; while :; do sleep 0.2; done") && sleep 0.3 && echo "$id"
}
signalled() { server_log | grep -Eq "$1;(Job Rerun at request of Scheduler|Job sent signal TermJob on delete)"; }

# goes_on METHOD: a victim that ignores TERM is on its way out.
goes_on()
{
	local victim urgent small other pid
	methods "$1"
	victim=$(stubborn n1)
	pid=$(session_of "$victim")
	other=$(on n2)
	urgent=$(submit -q express -l select=1:ncpus=2:host=n1)
	wait_until 10 signalled "$victim"
	small=$(submit -l select=1:ncpus=1:host=n3) # elsewhere: at once
	wait_until 5 job_is "$small" R 42
	alive "$pid"
	job_is "$urgent" Q
	small=$(submit -l select=1:ncpus=1:host=n1) # the place the urgent one waits for
	wait_until 20 job_is "$urgent" R 42
	dead "$pid"
	job_is "$small" Q
	same runs 1 "$(job_attr "$urgent" run_count)"
	job_is "$other" R 42
}

@test "mend B12: a victim that ignores TERM does not stop scheduling (requeued)" { goes_on R; }
@test "mend B12: a victim that ignores TERM does not stop scheduling (deleted)" { goes_on D; }

@test "mend B12: qrun whose victim ignores TERM: others are scheduled, and it starts when there is room" {
	methods R
	victim=$(stubborn n1)
	pid=$(session_of "$victim")
	urgent=$(submit -h -l select=1:ncpus=2:host=n1)
	qmgr -c 'set server scheduling = false'
	qrls "$urgent"
	(qrun "$urgent" >"$BATS_TEST_TMPDIR/qrun" 2>&1; echo $? >>"$BATS_TEST_TMPDIR/qrun") 3>&- &
	wait_until 10 signalled "$victim"
	qmgr -c 'set server scheduling = true'
	small=$(submit -l select=1:ncpus=1:host=n3)
	wait_until 5 job_is "$small" R 42
	alive "$pid"
	wait_until 20 job_is "$urgent" R 42
	wait
	same 'qrun says' 0 "$(cat "$BATS_TEST_TMPDIR/qrun")"
}

@test "mend A4: a victim whose host has just died is passed over, whatever letters are left" {
	methods SCRD
	second=$(on n2)
	third=$(on n3)
	victim=$(on n1) # the last one goes first
	pid=$(session_of "$victim")
	kill_mom n1
	urgent=$(submit -q express -l select=1:ncpus=2)
	wait_until 2 job_is "$urgent" R 42 # the host is not known to be down yet
	job_is "$victim" R 42
	alive "$pid"
	server_log | grep -Eq "$victim;(Job Rerun at request|Job sent signal TermJob)" && false
	[ "$(state_of_job "$second")$(state_of_job "$third")" != RR ]
}

@test "mend A4: a wait for a victim ends when its host dies, and another gives way" {
	methods R
	second=$(on n2)
	third=$(on n3)
	victim=$(stubborn n1) # the last one goes first
	urgent=$(submit -q express -l select=1:ncpus=2)
	wait_until 10 signalled "$victim"
	started=$SECONDS
	kill_mom n1
	wait_until 15 job_is "$urgent" R 42
	[ $((SECONDS - started)) -lt 20 ]
	has "$(job_attr "$urgent" exec_host)" '^n[23]/'
	[ "$(state_of_job "$second")$(state_of_job "$third")" != RR ]
}

@test "mend A4: a victim on a host that does nothing costs nobody's time but the urgent job's" {
	methods S
	victim=$(on n1)
	mom=$(mom_of n1)
	undo kill -CONT "$mom"
	undo qmgr -c 'set server scheduling = true'
	qmgr -c 'set server scheduling = false'
	urgent=$(submit -q express -l select=1:ncpus=2:host=n1)
	small=$(submit -l select=1:ncpus=1:host=n3)
	kill -STOP "$mom" # its link is given up after 2 s
	qmgr -c 'set server scheduling = true'
	wait_until 5 job_is "$small" R 42
	server_log | grep -q 'Link;n1;.*no sign of life' && false
	job_is "$victim" R 42
	wait_until 15 is_down n1
	second=$(submit -q express -l select=1:ncpus=2:host=n3)
	wait_until 10 job_is "$second" R 42
	wait_until 10 job_is "$small" S 45
	kill -CONT "$mom"
	wait_until 20 job_is "$urgent" R 42
	wait_until 10 stopped "$victim"
}

@test "mend A4: qterm -t immediate does not wait for a host that is gone" {
	a=$(on n1) b=$(on n2)
	pid_a=$(session_of "$a") pid_b=$(session_of "$b")
	kill_mom n1
	undo sandbox restart server
	server=$(head -n 1 "$SB/server/server_priv/server.lock")
	qterm -t immediate
	wait_until 10 dead "$server"
	alive "$pid_a"
	dead "$pid_b"
	sandbox restart server
	sandbox restart n1
	wait_until 20 job_is "$a" R 42
	alive "$pid_a"
	same session "$pid_a" "$(session_of "$a")"
}
