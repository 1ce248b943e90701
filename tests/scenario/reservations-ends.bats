#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What a reservation makes of its vnodes while it runs, how it is deleted, and what a restart or kill -9 of the server leaves of it.
#
# needs modules/reservations

load helper
load shared
load reservations

setup_file() { open_cluster --hosts 2 --ncpus 4; }

setup()
{
	needs_root
	join_cluster
	undo without_reservations
}

@test "reservations #36: one for itself alone marks its vnodes, also after a restart before its begin" {
	local excl free
	excl=$(reserve -R "$(after 15)" -l select=1:ncpus=1:host=n1 -l place=excl)
	free=$(reserve -R "$(after 15)" -l select=1:ncpus=1:host=n2 -l place=free)
	killed
	wait_until 60 node_is n1 free
	wait_until 60 resv_is "$excl" RUNNING 5
	wait_until 60 resv_is "$free" RUNNING 5
	wait_until 60 node_is n1 resv-exclusive
	wait_until 60 node_is n2 free
	killed
	wait_until 60 node_is n1 resv-exclusive
	as "$OWNER" pbs_rdel "$excl"
	node_is n1 free
}

@test "reservations #37: one that runs when the server is killed runs on, and began once" {
	local id job
	id=$(begun)
	job=$(running -q "${id%.svr}")
	killed
	resv_is "$id" RUNNING 5
	same started True "$(queue_attr "$id" started)"
	same enabled True "$(queue_attr "$id" enabled)"
	wait_until 60 job_is "$job" R 42
	qdel "$job"
	ends "$job"
	sandbox restart server
	wait_until 60 answers
	resv_is "$id" RUNNING 5
	job=$(running -q "${id%.svr}")
	same reserve_ID "$id" "$(job_attr "$job" reserve_ID)"
	same records 1 "$(records "$id" B | wc -l)"
}

@test "reservations #49: deleted with jobs that run: gone when they are, with one record" {
	local id job stays
	id=$(begun -l select=1:ncpus=2)
	qmgr -c "set queue ${id%.svr} kill_delay = 6"
	job=$(running -q "${id%.svr}" -l select=1:ncpus=1)
	stays=$(stubborn "${id%.svr}")
	quietly as "$OWNER" pbs_rdel "$id"
	resv_is "$id" BEING_DELETED 9
	has "$(pbs_rstat "$id")" ' BD '
	ends "$job"
	job_is "$job" F 91
	same Exit_status 271 "$(job_attr "$job" Exit_status)"
	quietly as "$OWNER" pbs_rdel "$id"
	wait_until 60 is_gone "$id"
	job_is "$stays" F 91
	lacks "$(qstat -Q)" "^${id%.svr} "
	same records "k requestor=$OWNER@$(hostname)" "$(records "$id" '[kK]')"
}

@test "reservations #50: what is being deleted stays so, whatever becomes of its vnodes, and over kill -9" {
	local id job
	id=$(begun)
	qmgr -c "set queue ${id%.svr} kill_delay = 3600"
	job=$(stubborn "${id%.svr}")
	quietly as "$OWNER" pbs_rdel "$id"
	resv_is "$id" BEING_DELETED 9
	for host in n1 n2; do pbsnodes -o "$host"; undo pbsnodes -r "$host"; done
	wait_until 20 node_is n2 offline
	resv_is "$id" BEING_DELETED 9
	for host in n1 n2; do pbsnodes -r "$host"; done
	wait_until 20 node_is n2 free
	resv_is "$id" BEING_DELETED 9
	killed
	resv_is "$id" BEING_DELETED 9
	same started False "$(queue_attr "$id" started)"
	wait_until 60 node_is n2 free
	wait_until 60 node_is n1 free
	qdel -W force "$job"
	wait_until 20 is_gone "$id"
	same records 1 "$(records "$id" '[kK]' | wc -l)"
}

@test "reservations: an end that passed while the server was down: it is deleted, and its jobs" {
	local id job
	id=$(reserve -R "$(after 3)" -D $((20 * slowness)))
	wait_until 30 resv_is "$id" RUNNING 5
	job=$(running -q "${id%.svr}")
	local end
	end=$(epoch_of "$id" reserve_end)
	sandbox kill server
	wait_until 60 eval "[ \$EPOCHSECONDS -gt $end ]"
	sandbox restart server
	wait_until 60 answers
	wait_until 60 is_gone "$id"
	wait_until 20 is_over "$job"
	same Exit_status 271 "$(job_attr "$job" Exit_status)"
	same records "K requestor=root@$(hostname)" "$(records "$id" '[kK]')"
	lacks "$(qstat -Q)" "^${id%.svr} "
}

@test "reservations: times that come after a kill -9 begin and end it, and what was not decided is not kept past its time" {
	local id waits
	id=$(reserve -R "$(after 18)" -D $((12 * slowness)))
	scheduling False
	undo scheduling True
	waits=$(rsub -R "$(after 16)" -D 5 -l select=1:ncpus=1)
	waits=${waits% *}
	killed
	resv_is "$id" CONFIRMED 2
	resv_is "$waits" UNCONFIRMED 1
	wait_until 60 resv_is "$id" RUNNING 5
	wait_until 60 is_gone "$waits"
	wait_until 60 is_gone "$id"
	same 'records of the undecided one' '' "$(records "$waits" '[BY]')"
	same 'records B' 1 "$(records "$id" B | wc -l)"
}

@test "reservations: one that begins while the server is down has begun when it is back, with its first record" {
	local id start job
	id=$(reserve -R "$(after 8)")
	start=$(epoch_of "$id" reserve_start)
	job=$(submit -q "${id%.svr}" -l select=1:ncpus=1)
	sandbox kill server
	wait_until 60 eval "[ \$EPOCHSECONDS -gt $start ]"
	sandbox restart server
	wait_until 60 answers
	wait_until 60 resv_is "$id" RUNNING 5
	wait_until 60 job_is "$job" R 42
	same records 1 "$(records "$id" B | wc -l)"
}

@test "reservations: kill -9 leaves each attribute and its queue as they were" {
	local id before queue
	id=$(reserve -N name -m abce -M someone@here -U "$OTHER" -G "+$(id -gn "$OTHER")" -H +somewhere -u "$OWNER" -W delete_idle_time=100 \
		-l select=2:ncpus=2 -l place=scatter)
	before=$(pbs_rstat -f "$id")
	queue=$(qstat -Qf "${id%.svr}")
	has "$before" '^Authorized_Groups = '
	killed
	same attributes "$before" "$(pbs_rstat -f "$id")"
	same queue "$queue" "$(qstat -Qf "${id%.svr}")"
	wait_until 60 node_is n1 free
	wait_until 60 node_is n2 free
	resv_is "$id" CONFIRMED 2
	same vnodes "$id" "$(pbsnodes -v n1 n2 | value resv | sort -u)"
}
