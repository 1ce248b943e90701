#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Jobs in reservations, as users see them: when they start and where, how they end, how they come into its queue and out of it.
#
# needs modules/reservations

load helper
load reservations-jobs

setup()
{
	needs_root
	setup_sandbox --hosts 2 --ncpus 4
	qmgr -c 'set server job_history_enable = True'
}

# rsub SECONDS DURATION [pbs_rsub arguments]: by its owner, for DURATION in SECONDS; its id, confirmed.
rsub()
{
	local from=$1 length=$2
	shift 2
	as "$OWNER" pbs_rsub -I 60 -R "$(moment "$from")" -D "$length" "$@" | sed -n 's/ CONFIRMED$//p'
}

# One that has begun, with these pbs_rsub arguments.
begun()
{
	local id
	id=$(rsub 2 600 "$@") || return
	wait_until 30 resv_is "$id" RUNNING || return
	echo "$id"
}

queue_attr() { value "$2" "$(qstat -Qf "$1")"; }

@test "reservations #15, #51: a job that was submitted before the begin waits, and runs on its vnodes alone" {
	local resv queue id
	resv=$(rsub 8 600 -N mine -l select=1:ncpus=1:host=n2)
	queue=${resv%%.*}
	id=$(submit -q "$queue" -l select=1:ncpus=1)
	job_is "$id" Q
	same reserve_ID "$resv" "$(job_attr "$id" reserve_ID)"
	wait_until 20 comment_says "$id" '^Not Running: Queue not started\.'
	wait_until 60 job_is "$id" R 42
	same exec_vnode '(n2:ncpus=1)' "$(job_attr "$id" exec_vnode)"
	resv_is "$resv" RUNNING
	same substate 5 "$(resv_attr "$resv" reserve_substate)"
	same started True "$(queue_attr "$queue" started)"
	quietly qdel "$id"
	wait_until 20 is_over "$id"
	has "$(accounting)" ";B;$resv;owner=$OWNER@.* name=mine queue=$queue "
	for letter in Q S E; do
		has "$(accounting)" ";$letter;$id;.*queue=$queue resvname=mine resvID=$resv( |\$)"
	done
}

@test "reservations #16: at the end the running job and the queued one are deleted, then it is gone" {
	local resv id waits
	resv=$(rsub 2 10 -l select=1:ncpus=1)
	id=$(submit -q "${resv%%.*}" -l select=1:ncpus=1)
	waits=$(submit -q "${resv%%.*}" -l select=1:ncpus=1)
	wait_until 20 job_is "$id" R 42
	wait_until 60 resv_is_gone "$resv"
	job_is "$id" F 91
	job_is "$waits" F 91
	same Exit_status 271 "$(job_attr "$id" Exit_status)"
	comment_says "$id" ' and terminated by root@'
	quietly qselect
	has "$(accounting)" ";K;$resv;requestor=root@"
	same 'records K' 1 "$(accounting | grep -c ";[kK];$resv;")"
	log_has ";Que;${resv%%.*};deleted at request of pbs_server@"
}

@test "reservations #17: between two times of one that repeats the running job is deleted, the queued one waits" {
	local resv id waits
	resv=$(as "$OWNER" env PBS_TZID=UTC pbs_rsub -I 60 -R "$(TZ=UTC moment 3)" -D $((10 * slowness)) -r 'FREQ=MINUTELY;COUNT=2' -l select=1:ncpus=1 |
		sed -n 's/ CONFIRMED$//p')
	id=$(submit -q "${resv%%.*}" -l select=1:ncpus=1)
	waits=$(submit -q "${resv%%.*}" -l select=1:ncpus=1)
	wait_until 20 job_is "$id" R 42
	wait_until 60 is_over "$id"
	wait_until 20 resv_is "$resv" CONFIRMED
	same reserve_index 2 "$(resv_attr "$resv" reserve_index)"
	job_is "$waits" Q
	log_has "$id;Deleting running job at end of reservation occurrence"
	wait_until 70 job_is "$waits" R 42
}

@test "reservations #48: a job that asks for more than there is, and one that wants vnodes for itself" {
	local resv
	resv=$(rsub 3600 600 -l select=1:ncpus=2)
	says 188 'qsub: Job violates queue and/or server resource limits' \
		as "$OWNER" qsub -q "${resv%%.*}" -l select=1:ncpus=3 -- /bin/true
	says 52 'qsub: job and reservation have conflicting specification Resource_List.place' \
		as "$OWNER" qsub -q "${resv%%.*}" -l select=1:ncpus=1 -l place=excl -- /bin/true
	says 159 'qsub: Unauthorized Request ' as "$OTHER" qsub -q "${resv%%.*}" -- /bin/true
}

@test "reservations: a job that may take longer than what is left of its time runs" {
	local resv id
	resv=$(begun -l select=1:ncpus=1)
	id=$(submit -q "${resv%%.*}" -l walltime=10:00:00)
	starts "$id"
}

@test "reservations: an array in it: each subjob has reserve_ID, and no more run than it has room for" {
	local resv id
	resv=$(begun -l select=1:ncpus=2)
	id=$(submit -q "${resv%%.*}" -J 1-4)
	wait_until 20 job_is "$(sub "$id" 1)" R 42
	wait_until 20 job_is "$(sub "$id" 2)" R 42
	same reserve_ID "$resv" "$(job_attr "$(sub "$id" 1)" reserve_ID)"
	same reserve_ID "$resv" "$(job_attr "$id" reserve_ID)"
	job_is "$(sub "$id" 3)" Q
	has "$(accounting)" ";S;${id/\[\]/\\[1\\]};.*resvID=$resv "
	quietly as "$OWNER" pbs_rdel "$resv"
	wait_until 60 resv_is_gone "$resv"
	quietly qselect
	job_is "$id" F
}

@test "reservations: a job in it over two hosts; suspended, resumed and requeued there" {
	local resv id
	resv=$(begun -l select=2:ncpus=3 -l place=scatter)
	id=$(submit -q "${resv%%.*}" -l select=2:ncpus=2 -l place=scatter)
	starts "$id"
	same n1 3 "$(node_attr n1 resources_assigned.ncpus)"
	same n2 3 "$(node_attr n2 resources_assigned.ncpus)"
	quietly qsig -s suspend "$id"
	wait_until 20 job_is "$id" S
	same n2 3 "$(node_attr n2 resources_assigned.ncpus)"
	quietly qsig -s resume "$id"
	starts "$id"
	quietly qrerun "$id"
	starts "$id"
	same n1 3 "$(node_attr n1 resources_assigned.ncpus)"
	same reserve_ID "$resv" "$(job_attr "$id" reserve_ID)"
	quietly qsig -s suspend "$id"
	wait_until 20 job_is "$id" S
	quietly as "$OWNER" pbs_rdel "$resv"
	wait_until 60 resv_is_gone "$resv"
	job_is "$id" F 91
	same n1 0 "$(node_attr n1 resources_assigned.ncpus)"
}

@test "reservations: qmove into its queue and out of it: reserve_ID, and where the job runs" {
	local resv id
	resv=$(begun -l select=1:ncpus=1:host=n2)
	id=$(submit -h -l select=1:ncpus=1)
	quietly as "$OWNER" qmove "${resv%%.*}" "$id"
	same reserve_ID "$resv" "$(job_attr "$id" reserve_ID)"
	quietly as "$OWNER" qmove workq "$id"
	same reserve_ID '' "$(job_attr "$id" reserve_ID)"
	quietly as "$OWNER" qmove "${resv%%.*}" "$id"
	job_is "$id" H
	quietly as "$OWNER" qrls "$id"
	starts "$id"
	same exec_vnode '(n2:ncpus=1)' "$(job_attr "$id" exec_vnode)"
	id=$(submit_as "$OTHER" -h)
	says 159 "qmove: Unauthorized Request  $id" as "$OTHER" qmove "${resv%%.*}" "$id"
}

@test "reservations: a held job stays held in it, and is deleted at its end" {
	local resv id
	resv=$(begun -l select=1:ncpus=1)
	id=$(submit -h -q "${resv%%.*}")
	job_is "$id" H
	quietly as "$OWNER" pbs_rdel "$resv"
	wait_until 60 resv_is_gone "$resv"
	job_is "$id" F 91
}

@test "reservations: its job waits while the vnode is offline, and starts when it is back" {
	local resv id
	resv=$(begun -l select=1:ncpus=4:host=n2)
	quietly pbsnodes -o n2
	id=$(submit -q "${resv%%.*}" -l select=1:ncpus=1)
	wait_until 20 comment_says "$id" '^Not Running: '
	job_is "$id" Q
	same substate 10 "$(resv_attr "$resv" reserve_substate)"
	quietly pbsnodes -r n2
	starts "$id"
	same substate 5 "$(resv_attr "$resv" reserve_substate)"
}

@test "reservations: --job of a job over two hosts; not of one that is suspended" {
	local id resv
	id=$(running -l select=2:ncpus=2 -l place=scatter)
	resv=$(as "$OWNER" pbs_rsub --job "$id" | cut -d" " -f1)
	same resv_nodes "$(job_attr "$id" exec_vnode)" "$(resv_attr "$resv" resv_nodes)"
	same n2 2 "$(node_attr n2 resources_assigned.ncpus)"
	quietly qsig -s suspend "$id"
	id=$(running -l select=1:ncpus=1)
	quietly qsig -s suspend "$id"
	says 168 'pbs_rsub: Request invalid for state of job' as "$OWNER" pbs_rsub --job "$id"
}

@test "reservations: a job in a reservation does not start before its begin nor on vnodes that it does not have, by qrun neither" {
	local resv queue id
	resv=$(rsub 600 600 -l select=1:ncpus=1:host=n2)
	queue=${resv%%.*}
	id=$(submit -q "$queue" -l select=1:ncpus=1)
	for way in '' '-H n2'; do
		# shellcheck disable=SC2086
		run qrun $way "$id"
		[ "$status" -ne 0 ]
		has "$output" "reservation $resv does not run now|Queue not started"
	done
	job_is "$id" Q
	resv=$(begun -l select=1:ncpus=1:host=n2)
	id=$(submit -h -q "${resv%%.*}" -l select=1:ncpus=1)
	run qrun -H n1 "$id"
	[ "$status" -ne 0 ]
	has "$output" "vnode n1 is not in reservation $resv: "
	quietly qrun -H n2 "$id"
	wait_until 60 job_is "$id" R 42
	same exec_vnode '(n2:ncpus=1)' "$(job_attr "$id" exec_vnode)"
}
