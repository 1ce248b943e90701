#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Maintenance windows at the edges: reservations that are being altered, that recur, that two windows hit; windows that are altered while
# they run; jobs that are suspended for more than one reason.
#
# needs modules/maintenance-reservations

load helper
load shared
load maintenance

ON_N1=select=1:ncpus=1:host=n1
runs() { wait_until 60 resv_is "$1" RUNNING "${2-}"; }
switched() { sandbox reload "--$1" maintenance-reservations && wait_until 60 answers; } # enable|disable

@test "maintenance-reservations: one that is being altered loses its host, and is in conflict when that is decided" {
	local r
	r=$(booked 3600 7200 -l $ON_N1)
	paused
	as "$OWNER" pbs_ralter -D 1200 "$r"
	resv_is "$r" BEING_ALTERED
	window 3600 7200 n1
	resv_on "$r" ''
	cycle
	wait_until 30 in_conflict "$r"
	resv_on "$r" ''
	lacks "$(marks n1)" "$r"
}

@test "maintenance-reservations: two windows hit one: it is in conflict until both are gone" {
	local r a b
	r=$(booked 3600 7200 -l $ON_N1)
	paused
	a=$(window 3600 5000 n1)
	b=$(window 6000 7200 n1)
	in_conflict "$r"
	has "$(keelson resv "$r")" "^vnodes of it were taken by $a: "
	pbs_rdel "$a"
	cycle
	wait_until 30 log_has ";Resv;$r;Next attempt to reconfirm"
	wait_until 30 at_rest
	in_conflict "$r"
	pbs_rdel "$b"
	wait_until 60 resv_is "$r" CONFIRMED 2
	resv_on "$r" '(n1:ncpus=1)'
}

@test "maintenance-reservations: a window is moved away: others have their host again" {
	local r m
	r=$(booked 3600 7200 -l $ON_N1)
	paused
	m=$(window 3600 7200 n1)
	in_conflict "$r"
	says 0 "pbs_ralter: $m CONFIRMED" pbs_ralter -R "$(moment 8000)" -E "$(moment 9000)" "$m"
	cycle
	wait_until 60 resv_is "$r" CONFIRMED 2
	resv_on "$r" '(n1:ncpus=1)'
	resv_is "$m" CONFIRMED 2
}

@test "maintenance-reservations: a running window is made longer, then shorter" {
	local r m
	r=$(booked 3600 7200 -l $ON_N1)
	m=$(window 3 1800 n1)
	runs "$m"
	paused
	says 0 "pbs_ralter: $m CONFIRMED" pbs_ralter -E "$(moment 5000)" "$m"
	resv_is "$m" RUNNING 5
	node_is n1 resv-exclusive
	in_conflict "$r"
	says 0 "pbs_ralter: $m CONFIRMED" pbs_ralter -E "$(moment 4)" "$m"
	cycle
	wait_until 60 resv_gone "$m"
	wait_until 60 resv_is "$r" CONFIRMED 2
	node_is n1 free
	same 'B records' 1 "$(records B "$m" | wc -l)"
}

@test "maintenance-reservations: every occurrence of a standing one that it meets" {
	local s times
	export PBS_TZID=UTC
	s=$(booked 3600 4200 -r 'FREQ=HOURLY;COUNT=4' -l $ON_N1)
	times() { keelson resv "$s" | sed -n 's/^time \([0-9]\) of 4: .*, \(.*\)/\1 \2/p'; }
	same times 4 "$(times | grep -c 'n1')"
	paused
	window 7000 12000 n1
	same substate 12 "$(resv_attr "$s" reserve_substate)"
	same 'that are left' '1 4' "$(times | grep 'n1' | cut -d' ' -f1 | xargs)"
	sandbox restart server --hard
	wait_until 60 answers
	same 'that are left after a crash' '1 4' "$(times | grep 'n1' | cut -d' ' -f1 | xargs)"
	same substate 12 "$(resv_attr "$s" reserve_substate)"
}

@test "maintenance-reservations: R and M of the same end are over; what was in conflict ends normally" {
	local r m j
	r=$(booked 6 14 -l $ON_N1)
	j=$(submit -q "${r%.svr}" -l select=1:ncpus=1)
	m=$(window 6 14 n1)
	wait_until 60 resv_gone "$r"
	wait_until 60 resv_gone "$m"
	is_over "$j"
	no_queue "$r"
	no_queue "$m"
	wait_until 20 node_is n1 free
	same 'marks of n1' '' "$(marks n1)"
}

@test "maintenance-reservations: one in conflict is deleted, and its window after it" {
	local r m
	r=$(booked 3600 7200 -l select=2:ncpus=2 -l place=scatter)
	paused
	m=$(window 3600 7200 n1)
	in_conflict "$r"
	quietly as "$OWNER" pbs_rdel "$r"
	same 'marks of n2' '' "$(marks n2)"
	quietly pbs_rdel "$m"
	same 'marks of n1' '' "$(marks n1)"
	all_forgotten
}

@test "maintenance-reservations, action suspend: who was suspended before stays so at the end" {
	needs_module admin-suspend
	local m a
	a=$(running -l select=1:ncpus=1:host=n1)
	qsig -s admin-suspend "$a"
	m=$(window 4 3600 --action suspend n1)
	runs "$m"
	wait_until 30 at_rest
	pbs_rdel "$m"
	wait_until 60 resv_gone "$m"
	wait_until 30 at_rest
	job_is "$a" S 43
	node_is n1 maintenance "$a"
	quietly qsig -s admin-resume "$a"
	job_is "$a" R 42
}

@test "maintenance-reservations, action suspend: two windows at a time: jobs go on behind the later one" {
	needs_module admin-suspend
	local m n a
	a=$(running -l select=1:ncpus=1:host=n1)
	m=$(window 4 3600 --action suspend n1)
	n=$(window 5 3600 --action suspend n1)
	runs "$m"
	runs "$n"
	wait_until 30 job_is "$a" S 43
	wait_until 30 at_rest
	pbs_rdel "$m"
	wait_until 60 resv_gone "$m"
	wait_until 30 at_rest
	job_is "$a" S 43
	pbs_rdel "$n"
	wait_until 60 job_is "$a" R 42
	wait_until 20 node_is n1 free ''
}

@test "maintenance-reservations, action suspend: the window ends while the module is off: jobs go on when it is back" {
	needs_module admin-suspend
	local m a
	a=$(running -l select=1:ncpus=1:host=n1)
	m=$(window 4 3600 --action suspend n1)
	runs "$m"
	wait_until 30 job_is "$a" S 43
	switched disable
	undo switched enable
	pbs_rdel "$m"
	wait_until 60 resv_gone "$m"
	job_is "$a" S 43
	switched enable
	wait_until 60 job_is "$a" R 42
	wait_until 20 node_is n1 free ''
}

@test "maintenance-reservations, action suspend: the window ends while its host is down: jobs go on when it is back" {
	needs_module admin-suspend
	local m a
	a=$(running -l select=1:ncpus=1:host=n1)
	m=$(window 4 3600 --action suspend n1)
	runs "$m"
	wait_until 30 job_is "$a" S 43
	kill_mom n1
	wait_until 60 is_down n1
	pbs_rdel "$m"
	wait_until 60 resv_gone "$m"
	sandbox restart n1
	wait_until 90 job_is "$a" R 42
	wait_until 20 node_is n1 free ''
}

@test "maintenance-reservations: deleted while its job takes long to end: its host stays closed until then" {
	local m own job
	job=$(script slow.sh <<<"$(printf '#!/bin/sh\ntrap "" TERM\nwhile :; do sleep 0.2; done')")
	qmgr -c 'set queue workq kill_delay = 10'
	undo qmgr -c 'unset queue workq kill_delay'
	m=$(window 3 3600 -U "$OWNER" n1)
	qmgr -c "set queue ${m%.svr} kill_delay = 10"
	own=$(submit -q "${m%.svr}" -l select=1:ncpus=1 -- "$job")
	runs "$m"
	starts "$own"
	wait_until 20 has_usage "$own"
	pbs_rdel "$m"
	wait_until 10 resv_is "$m" BEING_DELETED
	same letters BD "$(letters "$m")"
	node_is n1 resv-exclusive
	queue_is "$m" started False
	wait_until 60 resv_gone "$m"
	is_over "$own"
	wait_until 20 node_is n1 free
}

@test "maintenance-reservations, hosts in turn: altered while it runs: the hosts are those that it has" {
	local m r
	printf '#!/bin/sh\nfalse\n' >"$SB/never"
	chmod 755 "$SB/never"
	m=$(window 3 1800 --rolling 1 --health "$SB/never" n2 n1)
	resv_on "$m" '(n2:ncpus=4)'
	runs "$m"
	r=$(booked 3600 7200 -l $ON_N1)
	paused
	says 0 "pbs_ralter: $m CONFIRMED" pbs_ralter -E "$(moment 5000)" "$m"
	resv_on "$m" '(n2:ncpus=4)'
	resv_is "$r" CONFIRMED 2
	resv_is "$m" RUNNING 5
	sandbox restart server --hard
	wait_until 60 answers
	resv_on "$m" '(n2:ncpus=4)'
	resv_is "$r" CONFIRMED 2
	wait_until 60 node_is n1 free
}

@test "maintenance-reservations: a dry run of what is repeated or in turn changes nothing" {
	# shellcheck disable=SC2046
	set -- pbs_rsub $(within 3600 7200) --dry-run
	PBS_TZID=UTC "$@" --repeat 'FREQ=DAILY;COUNT=3' --hosts n1 || true
	"$@" --rolling 1 --health /bin/true --hosts n1 n2
	"$@" --action drain --hosts n1 n2
	all_forgotten
	lacks "$(qstat -Q)" '^M'
}

@test "maintenance-reservations: two windows hit one that runs: it has its host again when the second is over by itself" {
	local r a b
	r=$(booked 3 1200 -l $ON_N1)
	runs "$r" 5
	a=$(window 6 1200 n1)
	b=$(window 6 22 n1)
	runs "$a"
	runs "$b"
	pbs_rdel "$a"
	wait_until 30 resv_gone "$a"
	resv_is "$r" RUNNING 12
	wait_until 60 resv_gone "$b"
	wait_until 60 resv_is "$r" RUNNING 5
	resv_on "$r" '(n1:ncpus=1)'
}
