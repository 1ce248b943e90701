#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Maintenance windows (pbs_rsub --hosts): who makes one, what it is, what the server refuses.
#
# needs modules/maintenance-reservations

load helper
load shared
load maintenance

refused() { says "$@" && all_forgotten; } # status, text, command

next_job() # the number that the next job or reservation gets, after this one
{
	local id
	id=$(submit -h) && qdel "$id" && echo "${id%%.*}"
}

@test "maintenance-reservations #1: a host is booked in one step" {
	local m text
	m=$(window 3600 7200 n1)
	same letters CO "$(letters "$m")"
	has "$(pbs_rstat -S)" "^$m +${m%.svr} +root@.* CO +"
	text=$(pbs_rstat -f "$m")
	has "$text" '^reserve_state = RESV_CONFIRMED$'
	has "$text" '^reserve_substate = 2$'
	has "$text" '^Resource_List.select = host=n1:ncpus=4$'
	has "$text" '^Resource_List.place = exclhost$'
	has "$text" '^Resource_List.ncpus = 4$'
	has "$text" '^Resource_List.nodect = 1$'
	has "$text" '^resv_nodes = \(n1:ncpus=4\)$'
	has "$text" '^partition = pbs-default$'
	queue_is "$m" enabled True
	queue_is "$m" started False
	same 'marks of n1' "$m" "$(marks n1)"
}

@test "maintenance-reservations #2: an operator may, a user may not, and takes no number" {
	local m before
	m=$(window_of "$OPERATOR" 3600 7200 n1)
	resv_is "$m" CONFIRMED 2
	resv_on "$m" '(n1:ncpus=4)'
	pbs_rdel "$m"
	before=$(next_job)
	# shellcheck disable=SC2046
	refused 159 'pbs_rsub: Unauthorized Request ' as "$OWNER" pbs_rsub $(within 3600 7200) --hosts n1
	same 'next number' $((before + 1)) "$(next_job)"
}

@test "maintenance-reservations #3: vnodes that take no reservations are booked too, without a scheduler" {
	local m
	paused
	qmgr -c 'set node n3[0],n3[1] resv_enable = false'
	undo qmgr -c 'unset node n3[0],n3[1] resv_enable'
	m=$(window 3600 7200 n3)
	resv_is "$m" CONFIRMED 2
	resv_on "$m" '(n3[0]:ncpus=2)+(n3[1]:ncpus=2)'
	same select host=n3:ncpus=4 "$(resv_attr "$m" Resource_List.select)"
}

@test "maintenance-reservations #4, #57: several hosts, in the order of the command line" {
	local m n
	m=$(window 3600 7200 n1 n2)
	same select host=n1:ncpus=4+host=n2:ncpus=4 "$(resv_attr "$m" Resource_List.select)"
	resv_on "$m" '(n1:ncpus=4)+(n2:ncpus=4)'
	same nodect 2 "$(resv_attr "$m" Resource_List.nodect)"
	n=$(window 10000 11000 n2 n1)
	resv_on "$n" '(n2:ncpus=4)+(n1:ncpus=4)'
	n=$(window 20000 21000 n3 n1 n2)
	resv_on "$n" '(n3[0]:ncpus=2)+(n3[1]:ncpus=2)+(n1:ncpus=4)+(n2:ncpus=4)'
	same nodect 3 "$(resv_attr "$n" Resource_List.nodect)"
	for host in n1 n2 'n3[0]' 'n3[1]'; do
		has "$(marks "$host")" "$n"
	done
}

@test "maintenance-reservations #5-#12, #52, #54: nothing reaches the server that is wrong on the command line" {
	# shellcheck disable=SC2046
	set -- pbs_rsub $(within 3600 7200)
	says_usage "pbs_rsub: can't use -l with --hosts" "$@" -l walltime=10 --hosts n1
	says_usage "pbs_rsub: can't use -I with --hosts" "$@" -I 300 --hosts n1
	refused 2 'pbs_rsub: Host with resources not found: foo' "$@" --hosts n1 foo
	refused 2 'pbs_rsub: Host with resources not found: N1' as "$OWNER" "$@" --hosts N1
	refused 2 'pbs_rsub: Host with resources not found: n1,n2' "$@" --hosts n1,n2
	says_usage 'pbs_rsub: missing host(s)' "$@" --hosts ''
	says_usage 'pbs_rsub: Duplicate host: foo' "$@" --hosts foo foo
	qmgr -c 'set node n2 resources_available.ncpus = 0'
	undo qmgr -c 'set node n2 resources_available.ncpus = 4'
	refused 2 'pbs_rsub: Host with resources not found: n2' "$@" --hosts n1 n2
	refused 238 'pbs_rsub: Bad time specification(s)' pbs_rsub --hosts n1
	refused 238 'pbs_rsub: Bad time specification(s)' pbs_rsub --hosts n1 -R "$(moment -3600)" -E "$(moment 3600)"
	resv_is "$(window 3600 7200 -N name n1 -m n)" CONFIRMED
}

@test "maintenance-reservations #13: end and duration; a name; users" {
	local m
	m=$(pbs_rsub --hosts n2 n1 -E "$(moment 7200)" -D 3600 -N maint -U "$OTHER" | cut -d' ' -f1)
	resv_is "$m" CONFIRMED 2
	same name maint "$(resv_attr "$m" Reserve_Name)"
	same start "$(($(date -d "$(resv_attr "$m" reserve_end)" +%s) - 3600))" "$(date -d "$(resv_attr "$m" reserve_start)" +%s)"
	has "$(qmgr -c "list queue ${m%.svr}" | value acl_users)" "^$OTHER,root@"
	queue_is "$m" acl_user_enable True
}

@test "maintenance-reservations #14: resv_enable of the server" {
	qmgr -c 'set server resv_enable = false'
	undo qmgr -c 'set server resv_enable = true'
	# shellcheck disable=SC2046
	refused 246 'pbs_rsub: reservations disallowed on svr' pbs_rsub $(within 3600 7200) --hosts n1
}

@test "maintenance-reservations #15, #53: root needs acl_roots, other managers and operators do not" {
	qmgr -c 'unset server acl_roots'
	undo qmgr -c 'set server acl_roots = root'
	# shellcheck disable=SC2046
	refused 247 'pbs_rsub: Bad effective UID for reservation' pbs_rsub $(within 3600 7200) --hosts n1
	resv_is "$(window_of "$MANAGER" 3600 7200 n1)" CONFIRMED
	resv_is "$(window_of "$OPERATOR" 3600 7200 n1)" CONFIRMED
}

@test "maintenance-reservations #19: records and log lines of a submission; the scheduler is left alone" {
	local m cycles log
	cycles() { server_log | grep -c 'Starting Scheduling Cycle' || true; }
	m=$(window 7200 9000 n2)
	pbs_rdel "$m"
	wait_until 30 at_rest
	log=$(cycles)
	m=$(window 3600 7200 n1)
	wait_until 30 at_rest
	same cycles "$log" "$(cycles)"
	has "$(records U "$m")" ";requestor=root@"
	has "$(records Y "$m")" ";requestor=root@[^ ]* start=[0-9]+ end=[0-9]+ nodes=\\(n1:ncpus=4\\)\$"
	log=$(server_log | grep ";$m;")
	has "$log" ';0200;.*;Resv;.*;New reservation submitted start=.* end='
	has "$log" ';0200;.*;Resv;.*;Reservation confirmed$'
}

@test "maintenance-reservations #22: everybody sees it" {
	local m text
	m=$(window 3600 7200 n1)
	text=$(as "$OTHER" pbs_rstat -f "$m")
	has "$text" '^resv_nodes = \(n1:ncpus=4\)$'
	has "$text" '^reserve_state = RESV_CONFIRMED$'
	has "$text" '^partition = pbs-default$'
}

@test "maintenance-reservations #43: its queue and its vnodes cannot be deleted" {
	local m
	m=$(window 3600 7200 n1)
	paused
	says 179 "qmgr obj=${m%.svr} svr=default: Cannot delete busy object
qmgr: Error (15027) returned from server" qmgr -c "delete queue ${m%.svr}"
	says 179 'qmgr obj=n1 svr=default: Cannot delete busy object
qmgr: Error (15027) returned from server' qmgr -c 'delete node n1'
	resv_is "$m" CONFIRMED 2
}
