#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Maintenance windows that begin and end: their hosts, their jobs and those of others.
#
# needs modules/maintenance-reservations

load helper
load shared
load maintenance

runs() { wait_until 60 resv_is "$1" RUNNING "${2-5}"; }
is_closed() { node_is "$1" "${2-resv-exclusive}"; }

@test "maintenance-reservations #18: a vnode that goes and comes: the window stays as it is" {
	local m n
	pbsnodes -o n2
	undo pbsnodes -r n2
	m=$(window 3 20 n1)
	n=$(window 3 20 n2)
	pbsnodes -o n1
	undo pbsnodes -r n1
	runs "$m"
	runs "$n"
	wait_until 10 is_closed n1 offline,resv-exclusive
	wait_until 10 is_closed n2 offline,resv-exclusive
	lacks "$(server_log | grep -E ";($m|$n);")" reconfirm
	pbsnodes -r n1
	pbsnodes -r n2
	is_closed n1
	is_closed n2
	resv_is "$m" RUNNING 5
	wait_until 60 resv_gone "$m"
	wait_until 60 resv_gone "$n"
	node_is n1 free
	node_is n2 free
}

@test "maintenance-reservations #18: also before its start" {
	local m
	m=$(window 3600 7200 n1)
	pbsnodes -o n1
	undo pbsnodes -r n1
	wait_until 30 at_rest
	resv_is "$m" CONFIRMED 2
	lacks "$(pbs_rstat -f "$m")" reserve_retry
	pbsnodes -r n1
	wait_until 30 at_rest
	resv_is "$m" CONFIRMED 2
}

@test "maintenance-reservations #38: two at a time" {
	local a b j
	a=$(window 4 3600 n1)
	b=$(window 4 3600 n1)
	same letters COCO "$(letters "$a")$(letters "$b")"
	runs "$a"
	runs "$b"
	same 'both on n1' "$b, $a" "$(marks n1)"
	is_closed n1
	j=$(submit_as root -q "${b%.svr}" -l select=1:ncpus=1 -l place=excl)
	starts "$j"
	same exec_vnode '(n1:ncpus=1)' "$(job_attr "$j" exec_vnode)"
	qdel -W force "$j"
	pbs_rdel "$b"
	wait_until 60 resv_gone "$b"
	is_closed n1
	same 'one on n1' "$a" "$(marks n1)"
	pbs_rdel "$a"
	wait_until 20 node_is n1 free
}

@test "maintenance-reservations #39: jobs that run go on, those of the window run beside them, no other is started" {
	local m j own long short
	qmgr -c 'set node n1 resources_available.ncpus = 4'
	j=$(running -l select=1:ncpus=1:host=n1)
	m=$(window 8 3600 -U "$OWNER" n1)
	short=$(submit -l select=1:ncpus=1:host=n1 -l walltime=1 -- /bin/sleep 1)
	long=$(submit -l select=1:ncpus=1:host=n1 -l walltime=100)
	own=$(submit -q "${m%.svr}" -l select=1:ncpus=3)
	wait_until 20 is_over "$short"
	runs "$m"
	starts "$own"
	same exec_vnode '(n1:ncpus=3)' "$(job_attr "$own" exec_vnode)"
	job_is "$j" R 42
	is_closed n1 job-busy,resv-exclusive || is_closed n1
	job_is "$long" Q
	pbs_rdel "$m"
	wait_until 30 resv_gone "$m"
	starts "$long"
}

@test "maintenance-reservations #40: a job without an end waits for a host that is to be closed tomorrow" {
	local j k
	window 86400 90000 n1
	j=$(submit -l select=1:ncpus=1:host=n1)
	wait_until 20 comment_says "$j" '^Not Running: '
	job_is "$j" Q
	k=$(running -l select=1:ncpus=1:host=n1 -l walltime=100)
	job_is "$k" R 42
	job_is "$j" Q
}

@test "maintenance-reservations #42: the end: its job goes, a foreign one goes on" {
	local m foreign own
	foreign=$(running -l select=1:ncpus=1:host=n1)
	m=$(window_of "$MANAGER" 3 12 -U "$OWNER" n1)
	own=$(submit -q "${m%.svr}" -l select=1:ncpus=1)
	runs "$m"
	is_closed n1
	wait_until 60 resv_gone "$m"
	no_queue "$m"
	wait_until 20 is_over "$own"
	node_is n1 free
	job_is "$foreign" R 42
	same 'K records' 1 "$(records K "$m" | wc -l)"
	has "$(records K "$m")" ';requestor=root@'
	same 'B records' 1 "$(records B "$m" | wc -l)"
	has "$(records B "$m")" ' nodes=\(n1:ncpus=4\) .*Resource_List.place=exclhost '
}

@test "maintenance-reservations: deleted while its jobs run, the host stays closed until the last is gone" {
	local m own
	qmgr -c 'set server kill_delay = 3' 2>/dev/null || true
	m=$(window 3 3600 -U "$OWNER" n1)
	own=$(submit -q "${m%.svr}" -l select=1:ncpus=1)
	runs "$m"
	starts "$own"
	pbs_rdel "$m"
	wait_until 60 resv_gone "$m"
	is_over "$own"
	node_is n1 free
}

@test "maintenance-reservations #51: a job that is admin-suspended there, and resumed in the window" {
	needs_module admin-suspend
	local j m
	j=$(running -l select=1:ncpus=1:host=n1)
	qsig -s admin-suspend "$j"
	node_is n1 maintenance "$j"
	m=$(window 3 3600 n1)
	resv_is "$m" CONFIRMED 2
	runs "$m"
	wait_until 10 is_closed n1 resv-exclusive,maintenance
	quietly qsig -s admin-resume "$j"
	job_is "$j" R 42
	is_closed n1
	pbs_rdel "$m"
	wait_until 30 node_is n1 free
	job_is "$j" R 42
}

@test "maintenance-reservations #60: closed for reservations, offline, and in use, all at once" {
	local r m j foreign
	foreign=$(running -l select=1:ncpus=1:host=n1)
	r=$(booked 3 3600 -l select=1:ncpus=2:host=n1)
	j=$(submit -q "${r%.svr}" -l select=1:ncpus=1)
	runs "$r"
	starts "$j"
	qmgr -c 'set node n1 resv_enable = false'
	undo qmgr -c 'set node n1 resv_enable = true'
	pbsnodes -o n1
	undo pbsnodes -r n1
	m=$(window 3 15 n1)
	runs "$m"
	wait_until 10 is_closed n1 offline,resv-exclusive
	has "$(pbsnodes -v n1 | value jobs)" "$j"
	has "$(pbsnodes -v n1 | value jobs)" "$foreign"
	wait_until 60 resv_gone "$m"
	node_is n1 offline
	job_is "$j" R 42
	job_is "$foreign" R 42
}
