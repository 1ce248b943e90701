#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What other reservations lose to a maintenance window, and how they get it back. Scheduling is off where the conflict itself is looked at.
#
# needs modules/maintenance-reservations

load helper
load shared
load maintenance

ON_N1=select=1:ncpus=1:host=n1
resv_log() { server_log | grep ";Resv;$1;" || true; }
retry_of() { date -d "$(resv_attr "$1" reserve_retry)" +%s; }

@test "maintenance-reservations #23: a window takes the host of another reservation" {
	local r m
	r=$(booked 3600 7200 -l $ON_N1)
	resv_on "$r" '(n1:ncpus=1)'
	paused
	m=$(window 1800 5400 n1)
	in_conflict "$r"
	same letters DG "$(letters "$r")"
	resv_on "$r" ''
	queue_is "$r" started False
	same 'marks of n1' "$m" "$(marks n1)"
	has "$(resv_log "$r")" ';0100;.*;An attempt to reconfirm reservation will be made on '
	lacks "$(accounting | grep ";$r;" | tail -n +3)" .
}

@test "maintenance-reservations #24: whatever way they overlap" {
	local r m at
	for at in '5400 9000' '4200 6000' '1800 9000'; do
		r=$(booked 3600 7200 -l $ON_N1)
		paused
		# shellcheck disable=SC2086
		m=$(window $at n1)
		in_conflict "$r"
		resv_on "$r" ''
		queue_is "$r" started False
		same 'marks of n1' "$m" "$(marks n1)"
		pbs_rdel "$r" "$m"
		cycle
	done
}

@test "maintenance-reservations #25, #26: before, behind, and back to back" {
	local r start end
	r=$(booked 3600 7200 -l $ON_N1)
	paused
	window 600 3000 n1
	window 7800 9000 n1
	start=$(date -d "$(resv_attr "$r" reserve_start)" +%Y%m%d%H%M.%S)
	end=$(date -d "$(resv_attr "$r" reserve_end)" +%Y%m%d%H%M.%S)
	has "$(pbs_rsub -E "$start" -D 600 --hosts n1)" CONFIRMED
	has "$(pbs_rsub -R "$end" -D 600 --hosts n1)" CONFIRMED
	resv_is "$r" CONFIRMED 2
	resv_on "$r" '(n1:ncpus=1)'
	lacks "$(resv_log "$r")" reconfirm
	has "$(pbs_rsub -R "$start" -D 1 --hosts n1)" CONFIRMED
	in_conflict "$r"
}

@test "maintenance-reservations #27: one that is not confirmed yet loses nothing, and is placed elsewhere" {
	local r
	paused
	r=$(asked 3600 7200 -l select=1:ncpus=3)
	window 1800 9000 n1
	resv_is "$r" UNCONFIRMED 1
	cycle
	wait_until 30 resv_is "$r" CONFIRMED 2
	resv_on "$r" '(n2:ncpus=3)'
}

@test "maintenance-reservations #29, #30: no other host would do: tried again later, or when the window goes" {
	local r m now
	r=$(booked 3600 7200 -l $ON_N1)
	m=$(window 1800 9000 n1)
	cycle
	wait_until 30 log_has ";Resv;$r;Next attempt to reconfirm reservation will be made on "
	in_conflict "$r"
	now=$(date +%s)
	[ "$(retry_of "$r")" -gt $((now + 400)) ]
	[ "$(retry_of "$r")" -le $((now + 600)) ]
	log_has ";Resv;$r;Reservation Failed to Reconfirm: "
	log_has ";Resv;$r;PBS Failed to confirm resv: "
	pbs_rdel "$m"
	cycle
	wait_until 30 resv_is "$r" CONFIRMED 2
	resv_on "$r" '(n1:ncpus=1)'
	same 'Y records' 2 "$(records Y "$r" | wc -l)"
	has "$(records Y "$r")" ';requestor=Scheduler@'
}

@test "maintenance-reservations #29: the next attempt is at the start, where that is nearer" {
	local r
	r=$(booked 300 900 -l $ON_N1)
	window 200 1000 n1
	cycle
	wait_until 30 log_has ";Resv;$r;Next attempt to reconfirm reservation will be made on "
	same 'next attempt' "$(resv_attr "$r" reserve_start)" "$(resv_attr "$r" reserve_retry)"
}

@test "maintenance-reservations #35: a chunk spread over vnodes goes whole, others stay" {
	local r
	r=$(booked 3600 7200 -l 'select=1:ncpus=4:host=n3+1:ncpus=2:host=n1')
	resv_on "$r" '(n3[0]:ncpus=2+n3[1]:ncpus=2)+(n1:ncpus=2)'
	paused
	window 3600 5400 n3
	in_conflict "$r"
	resv_on "$r" '(n1:ncpus=2)'
	same 'marks of n1' "$r" "$(marks n1)"
}

@test "maintenance-reservations #36: names of vnodes that are parts of others" {
	local r m
	qmgr -c 'create node vn1 Mom=n1'
	undo qmgr -c 'delete node vn1'
	qmgr -c 'create node bvn1 Mom=n2'
	undo qmgr -c 'delete node bvn1'
	qmgr -c 'set node vn1 resources_available.ncpus=2,resources_available.host=h1'
	qmgr -c 'set node bvn1 resources_available.ncpus=2,resources_available.host=h2'
	r=$(booked 3600 7200 -l 'select=1:ncpus=2:host=h1+1:ncpus=2:host=h2')
	resv_on "$r" '(vn1:ncpus=2)+(bvn1:ncpus=2)'
	paused
	m=$(window 3600 7200 h1)
	resv_on "$m" '(vn1:ncpus=2)'
	in_conflict "$r"
	resv_on "$r" '(bvn1:ncpus=2)'
	pbs_rdel "$r" "$m"
}

@test "maintenance-reservations #37: a later occurrence of a standing one" {
	local s first times
	s=$(PBS_TZID=UTC booked_daily)
	first=$(resv_attr "$s" reserve_start)
	resv_on "$s" '(n1:ncpus=1)'
	times() { keelson resv "$s" | sed -n 's/^time . of 3: //p'; }
	same times 3 "$(times | wc -l)"
	before=$(times | sed 's/, (.*//')
	paused
	window $((3600 + 86400 - 600)) $((3600 + 86400 + 600)) n1
	same substate 12 "$(resv_attr "$s" reserve_substate)"
	resv_on "$s" '(n1:ncpus=1)'
	cycle
	wait_until 30 log_has ";Resv;$s;.*econfirm"
	wait_until 30 at_rest
	same 'soonest start' "$first" "$(resv_attr "$s" reserve_start)"
	same times "$before" "$(times | sed 's/, .*//')"
	lacks "$(times | sed -n 2p)" '\(n1:'
}
booked_daily()
{
	local id
	id=$(booked 3600 4200 -r 'FREQ=DAILY;COUNT=3' -l select=1:ncpus=1) && echo "$id"
}

@test "maintenance-reservations #56: the hosts that are left, and two of two again" {
	local r
	qmgr -c 'set node n3[0],n3[1] resources_available.ncpus = 2'
	r=$(booked 3600 7200 -l select=2:ncpus=2 -l place=scatter)
	resv_on "$r" '(n1:ncpus=2)+(n2:ncpus=2)'
	paused
	window 3600 7200 n1
	in_conflict "$r"
	resv_on "$r" '(n2:ncpus=2)'
	lacks "$(marks n1)" "$r"
	has "$(marks n2)" "$r"
	lacks "$(marks 'n3[0]')$(marks 'n3[1]')" "$r"
	cycle
	wait_until 30 resv_is "$r" CONFIRMED 2
	same groups 2 "$(resv_attr "$r" resv_nodes | grep -o '(' | wc -l)"
	lacks "$(resv_attr "$r" resv_nodes)" 'n1:'
	has "$(marks n2)" "$r"
	has "$(marks 'n3[0]')$(marks 'n3[1]')" "$r"
}

@test "maintenance-reservations #58: DG in the table, 12 in the substate" {
	local r text
	r=$(booked 3600 7200 -l $ON_N1)
	paused
	window 3600 7200 n1
	same letters DG "$(letters "$r")"
	lacks "$(pbs_rstat)" ' IC '
	has "$(keelson resv "$r")" '\(state 10, substate 12\)'
	text=$(resv_call stat "$r")
	has "$text" '^reserve_state=10$'
	has "$text" '^reserve_substate=12$'
}
