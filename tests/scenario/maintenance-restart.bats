#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Maintenance windows, and what they took from others, over restarts and crashes of the server; and while their module is off.
#
# needs modules/maintenance-reservations

load helper
load shared
load maintenance

restarted() { sandbox restart server "$@" && wait_until 60 answers && wait_until 60 all_up; }
all_up() { lacks "$(pbsnodes -av | value state)" 'down|unknown'; }
switched() # off|on
{
	case $1 in
	off) sandbox reload --disable maintenance-reservations ;;
	on) sandbox reload --enable maintenance-reservations ;;
	esac
}
same_after() # command...: it prints the same before and after a restart, and after a crash
{
	local before
	before=$("$@")
	restarted
	same "$* after a restart" "$before" "$("$@")"
	restarted --hard
	same "$* after a crash" "$before" "$("$@")"
}
shown() { pbs_rstat -f "$@" | grep -v -E '^(mtime|reserve_retry) = '; }

@test "maintenance-reservations #17: on an offline host and on one that is down: confirmed, also after a restart" {
	local m
	pbsnodes -o n1
	undo pbsnodes -r n1
	sandbox kill n2
	undo sandbox restart n2
	wait_until 60 is_down n2
	m=$(window 3600 7200 n1 n2)
	resv_is "$m" CONFIRMED 2
	sandbox restart server
	wait_until 60 answers
	resv_is "$m" CONFIRMED 2
	resv_on "$m" '(n1:ncpus=4)+(n2:ncpus=4)'
	pbsnodes -r n1
	wait_until 30 at_rest
	resv_is "$m" CONFIRMED 2
	lacks "$(server_log | grep ";$m;")" reconfirm
}

@test "maintenance-reservations #44: in conflict without a vnode: still so after a restart, and after kill -9" {
	local r m
	r=$(booked 3600 7200 -l select=1:ncpus=1:host=n1)
	paused
	m=$(window 3600 7200 n1)
	in_conflict "$r"
	same_after shown "$r" "$m"
	in_conflict "$r"
	resv_on "$r" ''
	queue_is "$r" started False
	same 'marks of n1' "$m" "$(marks n1)"
	resv_is "$m" CONFIRMED 2
	resv_on "$m" '(n1:ncpus=4)'
	pbs_rdel "$m"
	cycle
	wait_until 60 resv_is "$r" CONFIRMED 2
}

@test "maintenance-reservations #44: in conflict with some vnodes left, likewise; tried again at once" {
	local r
	r=$(booked 3600 7200 -l select=2:ncpus=4 -l place=scatter)
	resv_on "$r" '(n1:ncpus=4)+(n2:ncpus=4)'
	paused
	window 3600 7200 n1
	resv_on "$r" '(n2:ncpus=4)'
	same_after shown "$r"
	in_conflict "$r"
	[ "$(date -d "$(resv_attr "$r" reserve_retry)" +%s)" -le "$(date +%s)" ]
	lacks "$(marks n1)" "$r"
	has "$(marks n2)" "$r"
}

@test "maintenance-reservations #44: a running window runs again, its hosts are closed, it began once" {
	local m
	m=$(window 4 3600 n1)
	wait_until 60 resv_is "$m" RUNNING 5
	restarted
	resv_is "$m" RUNNING 5
	wait_until 60 node_is n1 resv-exclusive
	restarted --hard
	resv_is "$m" RUNNING 5
	wait_until 60 node_is n1 resv-exclusive
	same 'B records' 1 "$(records B "$m" | wc -l)"
	pbs_rdel "$m"
	wait_until 60 node_is n1 free
}

@test "maintenance-reservations: the start, the end pass while the server is down" {
	local starts ends
	starts=$(window 12 3600 n1)
	ends=$(window 6 14 n2)
	wait_until 60 resv_is "$ends" RUNNING
	sandbox kill server
	nap_until 16
	sandbox restart server
	wait_until 60 answers
	wait_until 60 resv_is "$starts" RUNNING 5
	wait_until 60 resv_gone "$ends"
	no_queue "$ends"
	wait_until 60 node_is n1 resv-exclusive
	wait_until 60 node_is n2 free
	same 'B records' 1 "$(records B "$starts" | wc -l)"
}
nap_until() # seconds after the story began to look
{
	local till=$((EPOCHSECONDS + $1))
	until [ "$EPOCHSECONDS" -ge "$till" ]; do nap .5; done
}

@test "maintenance-reservations: one that nobody confirmed is gone after a crash" {
	local text
	paused
	text=$(resv_call drop m "reserve_start=$((EPOCHSECONDS + 3600))" reserve_duration=60 \
		Resource_List.select=host=nowhere:ncpus=4 Resource_List.place=exclhost)
	has "$text" UNCONFIRMED
	sandbox restart server --hard
	wait_until 60 answers
	wait_until 60 resv_gone "${text% *}"
}

@test "maintenance-reservations: the module is off: a window stays, its host is closed, it ends on time; on again" {
	local m later r j
	m=$(window 10 40 n1)
	later=$(window 3600 7200 n2)
	r=$(asked 3600 7200 -l select=1:ncpus=1:host=n2)
	wait_until 30 resv_gone "$r"
	switched off
	undo switched on
	wait_until 60 answers
	resv_is "$later" CONFIRMED 2
	resv_on "$later" '(n2:ncpus=4)'
	# shellcheck disable=SC2046
	# shellcheck disable=SC2046
	says 181 'pbs_rsub: No support for requested service: no module that is loaded brings the kind of reservation "m"' \
		pbs_rsub $(within 9000 9600) --hosts n1
	says 181 "pbs_ralter: the module that made $later is not loaded: it can be deleted, not altered" pbs_ralter -D 200 "$later"
	same duration 3600 "$(resv_attr "$later" reserve_duration)"
	wait_until 60 resv_is "$m" RUNNING 5
	wait_until 60 node_is n1 resv-exclusive
	j=$(submit -l select=1:ncpus=1:host=n1 -l walltime=10)
	sandbox restart server --hard
	wait_until 60 answers
	resv_is "$later" CONFIRMED 2
	wait_until 120 resv_gone "$m"
	starts "$j"
	switched on
	wait_until 60 answers
	resv_is "$later" CONFIRMED 2
	says 0 "pbs_ralter: $later CONFIRMED" pbs_ralter -D 200 "$later"
	quietly pbs_rdel "$later"
}

@test "maintenance-reservations: the module is off: who is in conflict stays so; on again, windows are held against all once more" {
	local r m other
	r=$(booked 3600 7200 -l select=1:ncpus=1:host=n1)
	paused
	m=$(window 3600 7200 n1)
	in_conflict "$r"
	switched off
	undo switched on
	wait_until 60 answers
	in_conflict "$r"
	resv_on "$r" ''
	cycle
	other=$(asked 3600 7200 -l select=1:ncpus=1:host=n1)
	wait_until 30 resv_gone "$other"
	switched on
	wait_until 60 answers
	resv_is "$r" DEGRADED 12
	resv_is "$m" CONFIRMED 2
	pbs_rdel "$m"
	cycle
	wait_until 60 resv_is "$r" CONFIRMED 2
}

@test "maintenance-reservations: forced into a window while the module is off: it loses its vnodes when the module is on again" {
	local r m
	r=$(booked 3600 7200 -l select=1:ncpus=1:host=n1)
	m=$(window 9000 9600 n1)
	switched off
	undo switched on
	wait_until 60 answers
	paused
	pbs_ralter -Wforce -E "$(moment 9300)" "$r"
	wait_until 20 resv_is "$r" CONFIRMED 2
	resv_on "$r" '(n1:ncpus=1)'
	switched on
	wait_until 60 answers
	wait_until 20 in_conflict "$r"
	resv_on "$r" ''
	resv_is "$m" CONFIRMED 2
}
