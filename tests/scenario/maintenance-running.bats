#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Reservations that have lost vnodes to a maintenance window, or lose them while they run: which of their jobs run, and where.
#
# needs modules/maintenance-reservations

load helper
load shared
load maintenance

ON_BOTH='select=1:ncpus=1:host=n1+1:ncpus=1:host=n2'
runs() { wait_until 60 resv_is "$@"; } # id, RUNNING, substate
inside() { submit -q "${1%.svr}" "${@:2}"; } # reservation, options
on() { same "vnodes of $1" "$2" "$(job_attr "$1" exec_vnode)"; }
seconds_of() { date -d "$(resv_attr "$1" "$2")" +%s; }

@test "maintenance-reservations #28: others are found in the next cycle, though no vnode is down, and both start" {
	local r m j k
	pbsnodes -o n3
	undo pbsnodes -r n3
	r=$(booked 12 3600 -l select=1:ncpus=1)
	resv_on "$r" '(n1:ncpus=1)'
	paused
	m=$(window 12 3600 -U "$OWNER" n1)
	in_conflict "$r"
	cycle
	wait_until 30 resv_is "$r" CONFIRMED 2
	resv_on "$r" '(n2:ncpus=1)'
	same confirmed 2 "$(server_log | grep -c ";0200;.*;Resv;$r;Reservation confirmed$")"
	has "$(records Y "$r" | tail -n 1)" ';requestor=Scheduler@[^ ]* .*nodes=\(n2:ncpus=1\)'
	j=$(inside "$r") k=$(inside "$m")
	runs "$r" RUNNING 5
	runs "$m" RUNNING 5
	starts "$j"
	starts "$k"
	on "$j" '(n2:ncpus=1)'
	on "$k" '(n1:ncpus=1)'
}

@test "maintenance-reservations #31: what is left, exactly; at the start it is still in conflict; then nothing is left" {
	local r j
	r=$(booked 10 3600 -l $ON_BOTH)
	paused
	window 6 3600 n1
	in_conflict "$r"
	resv_on "$r" '(n2:ncpus=1)'
	lacks "$(marks n1)" "$r"
	has "$(marks n2)" "$r"
	runs "$r" RUNNING 12
	queue_is "$r" started True
	window 60 3600 n2
	resv_is "$r" RUNNING 12
	resv_on "$r" ''
	queue_is "$r" started False
	cycle
	j=$(inside "$r")
	wait_until 20 waits_for_queue "$j"
}

@test "maintenance-reservations #32: nothing left before the start: it runs without vnodes, its job waits" {
	local r m j
	r=$(booked 10 1200 -l select=1:ncpus=1:host=n1)
	j=$(inside "$r")
	m=$(window 11 900 n1)
	wait_until 20 in_conflict "$r"
	same letters DG "$(letters "$r")"
	runs "$r" RUNNING 12
	runs "$m" RUNNING 5
	same letters RNRN "$(letters "$r")$(letters "$m")"
	cycle
	wait_until 30 at_rest
	waits_for_queue "$j"
	queue_is "$r" started False
	resv_on "$r" ''
}

@test "maintenance-reservations #33: taken while its job runs: the job goes on, and it has its host again after the window" {
	local r m j k
	r=$(booked 3 1200 -l select=1:ncpus=2:host=n1)
	runs "$r" RUNNING 5
	j=$(inside "$r" -l select=1:ncpus=1)
	starts "$j"
	m=$(window 5 1200 n1)
	resv_is "$r" RUNNING 12
	resv_on "$r" ''
	queue_is "$r" started False
	k=$(inside "$r" -l select=1:ncpus=1)
	runs "$m" RUNNING 5
	job_is "$j" R 42
	cycle
	wait_until 20 waits_for_queue "$k"
	resv_is "$r" RUNNING 12
	pbs_rdel "$m"
	cycle
	wait_until 60 resv_is "$r" RUNNING 5
	resv_on "$r" '(n1:ncpus=2)'
	queue_is "$r" started True
	starts "$k"
	job_is "$j" R 42
}

@test "maintenance-reservations #33: likewise when the window is over by itself" {
	local r m k
	r=$(booked 3 1200 -l select=1:ncpus=2:host=n1)
	runs "$r" RUNNING 5
	m=$(window 3 9 n1)
	resv_is "$r" RUNNING 12
	k=$(inside "$r" -l select=1:ncpus=1)
	wait_until 60 resv_gone "$m"
	cycle
	wait_until 60 resv_is "$r" RUNNING 5
	starts "$k"
	on "$k" '(n1:ncpus=1)'
}

@test "maintenance-reservations #33: likewise when a job inside the window ends after it" {
	local r m j
	r=$(booked 6 3600 -l select=1:ncpus=1:host=n1)
	runs "$r" RUNNING 5
	m=$(window 6 3600 -U "$OWNER" n1)
	runs "$m" RUNNING 5
	runs "$r" RUNNING 12
	j=$(inside "$m")
	starts "$j"
	pbs_rdel "$m"
	wait_until 30 resv_gone "$m"
	runs "$r" RUNNING 5
	resv_on "$r" '(n1:ncpus=1)'
	queue_is "$r" started True
}

@test "maintenance-reservations #34: half of it taken: new jobs run on the other half alone, those there go on" {
	local r here there new
	r=$(booked 3 1200 -l 'select=1:ncpus=2:host=n1+1:ncpus=2:host=n2')
	runs "$r" RUNNING 5
	here=$(inside "$r" -l select=1:ncpus=1:host=n1)
	there=$(inside "$r" -l select=1:ncpus=1:host=n2)
	starts "$here"
	starts "$there"
	window 20 1200 n1
	wait_until 30 at_rest
	resv_is "$r" RUNNING 12
	resv_on "$r" '(n2:ncpus=2)'
	new=$(inside "$r" -l select=1:ncpus=1)
	starts "$new"
	on "$new" '(n2:ncpus=1)'
	new=$(inside "$r" -l select=1:ncpus=1)
	cycle
	wait_until 30 comment_says "$new" '^Not Running: '
	job_is "$new" Q
	job_is "$here" R 42
	job_is "$there" R 42
}

@test "maintenance-reservations #55: degraded, then hit" {
	local r
	r=$(booked 3 1200 -l select=1:ncpus=1:host=n1)
	runs "$r" RUNNING 5
	paused
	pbsnodes -o n1
	undo pbsnodes -r n1
	wait_until 20 resv_is "$r" RUNNING 10
	has "$(pbs_rstat -f "$r")" '^reserve_retry = '
	window 60 1200 n1
	resv_is "$r" RUNNING 12
	log_has ";0100;.*;Resv;$r;Next attempt to reconfirm reservation will be made on "
	pbsnodes -r n1
	wait_until 30 at_rest
	resv_is "$r" RUNNING 12
}
