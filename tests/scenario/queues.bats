#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Queues: made, opened and closed, started and stopped, chosen.

load helper
load shared

# make_queue NAME [attributes]: gone when the story is over.
make_queue()
{
	qmgr -c "create queue $1 queue_type=execution,enabled=true,started=true${2:+,$2}"
	undo qmgr -c "delete queue $1"
}

@test "queues: a job goes into the queue it names" {
	make_queue night
	id=$(submit -q night)
	same queue night "$(job_attr "$id" queue)"
	wait_until 20 job_is "$id" R 42
	has "$(qstat -Q night)" '^night                0     1 yes yes     0     1     0     0     0     0 Exe\*'
	has "$(qstat "$id")" ' R night'
	ended_jobs
}

@test "queues: the default queue" {
	make_queue other
	qmgr -c 'set server default_queue = other'
	undo qmgr -c 'set server default_queue = workq'
	same queue other "$(job_attr "$(submit -h)" queue)"
	same queue workq "$(job_attr "$(submit -h -q workq)" queue)"
	ended_jobs
}

@test "qdisable, qenable: takes no jobs, takes jobs" {
	quietly qdisable workq
	undo qenable workq
	has "$(qstat -Q)" '^workq .* no yes '
	says 173 'qsub: Queue is not enabled' as "$OWNER" qsub -- /bin/true
	quietly qenable workq
	has "$(qstat -Q)" '^workq .* yes yes '
	submit -h
}

@test "qstop, qstart: starts no jobs, starts jobs" {
	quietly qstop workq
	undo qstart workq
	has "$(qstat -Q)" '^workq .* yes  no '
	id=$(submit)
	waits() { same comment 'Not Running: Queue not started.' "$(job_attr "$id" comment)"; }
	wait_until 20 waits
	job_is "$id" Q
	quietly qstart workq
	wait_until 20 job_is "$id" R 42
}

@test "qstop: jobs that run go on" {
	id=$(running)
	qstop workq
	undo qstart workq
	job_is "$id" R 42
	as "$OWNER" qsig "$id"
	ends "$id"
}

@test "qenable and the others: several queues, a server, all of it" {
	make_queue one
	make_queue two
	quietly qdisable one two@svr
	same closed '2' "$(qstat -Q | grep -c ' no yes ')"
	quietly qenable @svr
	same open '3' "$(qstat -Q | grep -c ' yes yes ')"
}

@test "qenable and the others: errors" {
	for cmd in qenable qdisable qstart qstop; do
		says 2 "$cmd: Unknown queue nosuch" $cmd nosuch
		says 1 "Usage: $cmd [queue][@server] ...
       $cmd --version" $cmd
		has "$($cmd --version)" '^pbs_version = '
	done
}

@test "qenable and the others: operators only, whatever the name" {
	needs_root
	for cmd in qenable qdisable qstart qstop; do
		says 2 "$cmd: Unauthorized Request  workq" as "$OWNER" $cmd workq
		says 2 "$cmd: Unauthorized Request  nosuch" as "$OWNER" $cmd nosuch
	done
	for cmd in qdisable qstop qstart qenable; do quietly as "$OPERATOR" $cmd workq; done
	has "$(qstat -Q)" '^workq .* yes yes '
}

@test "queues: with jobs it cannot be deleted" {
	make_queue busy
	id=$(submit -h -q busy)
	says 179 "qmgr obj=busy svr=default: Cannot delete busy object
qmgr: Error (15027) returned from server" qmgr -c 'delete queue busy'
	qdel -x "$id"
	quietly qmgr -c 'delete queue busy'
	says 170 'qsub: Unknown queue' as "$OWNER" qsub -q busy -- /bin/true
}

@test "queues: the higher priority goes first" {
	make_queue high Priority=100
	qmgr -c 'set server scheduling = false'
	undo qmgr -c 'set server scheduling = true'
	low=$(submit -l ncpus=4)
	high=$(submit -q high -l ncpus=4)
	qmgr -c 'set server scheduling = true'
	wait_until 20 job_is "$high" R 42
	job_is "$low" Q
	ended_jobs
}

@test "queues: counts of states" {
	id=$(submit -h)
	has "$(qstat -Qf workq)" 'state_count = Transit:0 Queued:0 Held:1 Waiting:0 Running:0'
	as "$OWNER" qrls "$id"
	wait_until 20 job_is "$id" R 42
	has "$(qstat -Qf workq)" 'state_count = Transit:0 Queued:0 Held:0 Waiting:0 Running:1'
	as "$OWNER" qsig "$id"
	ends "$id"
	has "$(qstat -Qf workq)" 'state_count = Transit:0 Queued:0 Held:0 Waiting:0 Running:0'
	has "$(qstat -Qf workq)" 'resources_assigned.ncpus = 0'
}

@test "queues: kept over a restart" {
	make_queue kept Priority=7
	qdisable kept
	before=$(qmgr -c 'print queue kept')
	sandbox restart server
	same queue "$before" "$(qmgr -c 'print queue kept')"
	has "$before" '^set queue kept Priority = 7$'
	has "$before" '^set queue kept enabled = False$'
}
