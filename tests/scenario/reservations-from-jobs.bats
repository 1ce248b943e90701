#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Reservations made from jobs: of one that runs, of one that waits, and when one starts. Nothing is lost when the server is
# killed meanwhile.
#
# needs modules/reservations

load helper
load reservations-jobs

setup()
{
	needs_root
	setup_sandbox --ncpus 4
	qmgr -c 'set server job_history_enable = True'
}

# One that waits: its queue is stopped.
waiting()
{
	qmgr -c 'create queue slow queue_type=Execution,enabled=True,started=False' || return
	submit -q slow "$@"
}

# asked [pbs_rsub arguments]: by $OWNER; its id, when it is confirmed.
asked() { as "$OWNER" pbs_rsub "$@" | sed -n 's/ CONFIRMED$//p'; }

assigned() { [ "$(node_attr n1 resources_assigned.ncpus)" = "$1" ]; }

is_listed() { [ -n "$(pbs_rstat -B)" ]; }

is_inside() # job, reservation
{
	same queue "${2%%.*}" "$(job_attr "$1" queue)"
	same reserve_ID "$2" "$(job_attr "$1" reserve_ID)"
}

@test "reservations #33: --job makes one of a job that runs; who may not, and of which job not" {
	local id array queued resv
	id=$(running -l select=1:ncpus=2)
	resv=$(asked --job "$id")
	resv_is "$resv" RUNNING
	same duration 157680000 "$(resv_attr "$resv" reserve_duration)"
	same reserve_job "$id" "$(resv_attr "$resv" reserve_job)"
	same resv_nodes '(n1:ncpus=2)' "$(resv_attr "$resv" resv_nodes)"
	is_inside "$id" "$resv"
	assigned 2
	says 77 'pbs_rsub: Reservation may not be created from a job already within a reservation' as "$OWNER" pbs_rsub --job "$id"
	says 153 'pbs_rsub: Unknown Job Id' as "$OWNER" pbs_rsub --job 99999
	array=$(submit -J 1-2)
	wait_until 20 job_is "$array" B
	says 78 'pbs_rsub: Reservation may not be created from an array job' as "$OWNER" pbs_rsub --job "$array"
	wait_until 20 job_is "$(sub "$array" 1)" R 42
	says 78 'pbs_rsub: Reservation may not be created from an array job' as "$OWNER" pbs_rsub --job "$(sub "$array" 1)"
	queued=$(waiting)
	says 168 'pbs_rsub: Request invalid for state of job' as "$OWNER" pbs_rsub --job "$queued"
	says 159 'pbs_rsub: Unauthorized Request ' as "$OTHER" pbs_rsub --job "$queued"
	qmgr -c 'set server acl_roots = root'
	says 159 'pbs_rsub: Unauthorized Request ' pbs_rsub --job "$queued"
	quietly qdel "$array"
	lacks "$(accounting)" ";U;$resv;"
	has "$(accounting)" ";Y;$resv;requestor=$OWNER@.* nodes=\(n1:ncpus=2\)\$"
	has "$(accounting)" ";B;$resv;owner=$OWNER@"
}

@test "reservations: the job that one was made from, suspended, requeued and ended: its cpus are counted once" {
	local id resv
	id=$(running -l select=1:ncpus=2 -l walltime=500)
	resv=$(asked --job "$id")
	same duration 500 "$(resv_attr "$resv" reserve_duration)"
	assigned 2
	quietly qsig -s suspend "$id"
	wait_until 20 job_is "$id" S
	assigned 2
	says 77 'pbs_rsub: Reservation may not be created from a job already within a reservation' as "$OWNER" pbs_rsub --job "$id"
	quietly qsig -s resume "$id"
	starts "$id"
	quietly qrerun "$id"
	starts "$id"
	is_inside "$id" "$resv"
	assigned 2
	sandbox restart server --hard
	wait_until 60 answers
	wait_until 60 job_is "$id" R 42
	assigned 2
	resv_is "$resv" RUNNING
	quietly qdel "$id"
	wait_until 20 is_over "$id"
	assigned 2
	resv_is "$resv" RUNNING
	quietly as "$OWNER" pbs_rdel "$resv"
	wait_until 20 resv_is_gone "$resv"
	assigned 0
	has "$(accounting)" ";E;$id;.* queue=${resv%%.*} resvname=NULL resvID=$resv "
	same 'records B' 1 "$(accounting | grep -c ";B;$resv;")"
}

@test "reservations: the time of one made from a job ends with its walltime, and the job with it" {
	local id resv
	id=$(running -l walltime=8)
	resv=$(asked --job "$id")
	wait_until 60 resv_is_gone "$resv"
	wait_until 20 is_over "$id"
	quietly pbs_rstat
}

@test "reservations #34: -Wqmove moves a job that waits into one that begins as soon as possible" {
	local id resv
	id=$(waiting -l select=1:ncpus=2 -l walltime=60)
	resv=$(asked "-Wqmove=$id")
	is_inside "$id" "$resv"
	starts "$id"
	resv_is "$resv" RUNNING
	same qmove "$id" "$(resv_attr "$resv" qmove)"
	same delete_idle_time 00:10:00 "$(resv_attr "$resv" delete_idle_time)"
	same duration 60 "$(resv_attr "$resv" reserve_duration)"
	says 2 'Job not in qmove state' as "$OWNER" pbs_rsub "-Wqmove=$id"
	has "$(accounting)" ";U;$resv;requestor=$OWNER@.* Interactive=-10\$"
	has "$(accounting)" ";Y;$resv;requestor=Scheduler@"
}

@test "reservations: -Wqmove of a job that needs what others have begins when they are over" {
	local id resv other
	other=$(running -l select=1:ncpus=4 -l walltime=600)
	id=$(waiting -l select=1:ncpus=2 -l walltime=60)
	resv=$(asked "-Wqmove=$id")
	resv_is "$resv" CONFIRMED
	is_inside "$id" "$resv"
	job_is "$id" Q
	[ "$(date -d "$(resv_attr "$resv" reserve_start)" +%s)" -gt "$(($(date +%s) + 300))" ]
	is_running_still "$other"
}

is_running_still() { job_is "$1" R 42; }

@test "reservations: -Wqmove: what cannot be moved, and a job without walltime" {
	local id resv
	id=$(waiting)
	says 227 'pbs_rsub: Reservation needs walltime' as "$OWNER" pbs_rsub "-Wqmove=$id"
	says 153 'pbs_rsub: Unknown Job Id' as "$OWNER" pbs_rsub -Wqmove=99999
	says 159 'pbs_rsub: Unauthorized Request ' as "$OTHER" pbs_rsub "-Wqmove=$id"
	quietly qalter -l walltime=60 "$id"
	quietly qalter -l select=1:ncpus=100 "$id"
	has "$(as "$OWNER" pbs_rsub "-Wqmove=$id")" '^R[0-9]+\.svr DENIED$'
	quietly pbs_rstat
	quietly qalter -l select=1:ncpus=1 "$id"
	has "$(as "$MANAGER" pbs_rsub "-Wqmove=$id")" '^R[0-9]+\.svr FAILED$'
	same queue slow "$(job_attr "$id" queue)"
	log_has "job $id was not moved into it: Unauthorized Request"
	has "$(as "$MANAGER" pbs_rsub "-Wqmove=$id" -U "$OWNER")" '^R[0-9]+\.svr CONFIRMED$'
}

@test "reservations: -Wqmove while the server is killed: the job is moved all the same" {
	local id resv
	id=$(waiting -l walltime=60)
	qmgr -c 'set server scheduling = False'
	as "$OWNER" pbs_rsub "-Wqmove=$id" -I -300 >"$SB/reply" 3>&- &
	wait_until 20 is_listed
	resv=$(pbs_rstat -B | sed -n 's/^Resv ID: //p')
	sandbox restart server --hard
	wait_until 60 answers
	resv_is "$resv" UNCONFIRMED
	qmgr -c 'set server scheduling = True'
	wait $!
	same reply "$resv CONFIRMED" "$(<"$SB/reply")"
	is_inside "$id" "$resv"
	starts "$id"
}

@test "reservations #35: delete_idle_time without jobs" {
	local resv
	resv=$(as "$OWNER" pbs_rsub -I 20 -R "$(moment 3)" -D 600 -l select=1:ncpus=1 -W delete_idle_time=15 | cut -d' ' -f1)
	same delete_idle_time 00:00:15 "$(resv_attr "$resv" delete_idle_time)"
	wait_until 20 resv_is "$resv" RUNNING
	wait_until 40 resv_is_gone "$resv"
	log_has "$resv;Deleting reservation after being idle for 15 seconds"
}

@test "reservations: create_resv_from_job makes one when the job starts" {
	local id resv
	id=$(running -l select=1:ncpus=2 -l walltime=300 -W create_resv_from_job=true)
	same create_resv_from_job True "$(job_attr "$id" create_resv_from_job)"
	wait_until 20 job_has "$id" reserve_ID
	resv=$(job_attr "$id" reserve_ID)
	is_inside "$id" "$resv"
	resv_is "$resv" RUNNING
	same owner "$(job_attr "$id" Job_Owner)" "$(resv_attr "$resv" Reserve_Owner)"
	same duration 300 "$(resv_attr "$resv" reserve_duration)"
	assigned 2
	quietly qrerun "$id"
	starts "$id"
	same reservations 1 "$(pbs_rstat -B | wc -l)"
	sandbox restart server --hard
	wait_until 60 answers
	is_inside "$id" "$resv"
	has "$(accounting)" ";Y;$resv;requestor=$OWNER@"
}

job_has() { [ -n "$(job_attr "$1" "$2")" ]; }

@test "reservations: create_resv_from_job where none may be made: the job runs on" {
	local id
	qmgr -c 'set server resv_enable = False'
	id=$(running -W create_resv_from_job=true)
	wait_until 20 log_has "$id;no reservation was made from it: reservations disallowed on svr"
	same queue workq "$(job_attr "$id" queue)"
	quietly pbs_rstat
}
