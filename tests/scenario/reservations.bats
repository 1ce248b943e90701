#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# pbs_rsub, pbs_rstat, pbs_rdel: what a request is answered, and what it leaves in the log and the records.
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

@test "reservations #1, #2, #12: confirmed within a cycle: three listings, log, records" {
	local line id from row table
	from=$((EPOCHSECONDS + 3600))
	line=$(rsub -R "$(printf '%(%Y%m%d%H%M.%S)T' "$from")" -D 600 -l select=1:ncpus=1)
	id=${line% *}
	has "$line" '^R[0-9]+\.svr UNCONFIRMED$'
	wait_until 20 resv_is "$id" CONFIRMED 2
	same reserve_start "$(long_date "$from")" "$(value reserve_start "$(pbs_rstat -f "$id")")"
	same reserve_end "$(long_date $((from + 600)))" "$(value reserve_end "$(pbs_rstat -f "$id")")"
	table=$(pbs_rstat -S)
	same header 'Resv ID    Queue    User     State             Start / Duration / End              ' "$(sed -n 1p <<<"$table")"
	same rule "$(printf -- '-%.0s' {1..69})" "$(sed -n 2p <<<"$table")"
	row=$(sed -n 3p <<<"$table")
	same row "$(printf '%-10.10s %-8.8s %-8.8s CO   ' "$id" "${id%.svr}" "$OWNER@$(hostname)") " "${row:0:35}"
	[[ $row == *' / 600 / '* ]]
	same 'pbs_rstat -B' "Resv ID: $id" "$(pbs_rstat -B)"
	has "$(pbs_rstat -f)" '^reserve_state = RESV_CONFIRMED$'
	has "$(pbs_rstat -F "$id")" '^reserve_substate = 2$'
	same log "New reservation submitted start=$(long_date "$from") end=$(long_date $((from + 600)))
Confirming 1 Occurrences
Reservation Confirmed
Reservation confirmed" "$(log_of "$id")"
	same records "U requestor=$OWNER@$(hostname)
Y requestor=Scheduler@$(hostname) start=$from end=$((from + 600)) nodes=$(resv_attr "$id" resv_nodes)" "$(records "$id" '[A-Za-z]')"
	has "$(rsub -I 10 -R "$(after 3600)" -D 600 -l select=1:ncpus=1)" '^R[0-9]+\.svr CONFIRMED$'
}

@test "reservations #3: what is too big is denied, and gone" {
	local line id
	line=$(rsub -I 60 -R "$(after 3600)" -D 600 -l select=1:ncpus=100)
	id=${line% *}
	same answer "$id DENIED" "$line"
	quietly pbs_rstat
	log_line "$id" '^Reservation denied$'
	log_line "$id" '^PBS Failed to confirm resv: Insufficient amount of resource: ncpus'
	same records "U requestor=$OWNER@$(hostname) Interactive=60
K requestor=Scheduler@$(hostname)" "$(records "$id" '[A-Za-z]')"
	lacks "$(qstat -Q)" "^${id%.svr} "
}

@test "reservations #4, #5: without a decision it stays, or is deleted as it asked for" {
	local line
	scheduling False
	undo scheduling True
	line=$(rsub -I 1 -R "$(after 3600)" -D 600 -l select=1:ncpus=1)
	has "$line" '^R[0-9]+\.svr UNCONFIRMED$'
	has "$(pbs_rstat "${line% *}")" ' UN  '
	resv_is "${line% *}" UNCONFIRMED 1
	pbs_rdel "${line% *}"
	has "$(rsub -I -1 -R "$(after 3600)" -D 600 -l select=1:ncpus=1)" '^R[0-9]+\.svr delete, wait period expired$'
	quietly pbs_rstat
}

@test "reservations #6, #7: times that do not fit each other, and an end with a duration" {
	local id
	for times in "-R $(after 3600) -E $(after 7200) -D 600" "-R $(after 3600)" "-R $(after -60) -D 600"; do
		# shellcheck disable=SC2086
		says 238 'pbs_rsub: Bad time specification(s)' rsub $times -l select=1:ncpus=1
	done
	id=$(reserve -E "$(after 3600)" -D 5)
	same 'end - start' 5 "$(($(epoch_of "$id" reserve_end) - $(epoch_of "$id" reserve_start)))"
}

@test "reservations #13, #45: one that is not there does not hide the others" {
	local gone id
	gone=$(reserve) id=$(reserve)
	as "$OWNER" pbs_rdel "$gone"
	says 0 "pbs_rstat: Unknown Reservation Id
Resv ID: $id" pbs_rstat -B "$gone" "$id"
	says 0 "Resv ID: $id" pbs_rstat -B "${id%.svr}" 2>/dev/null
	says 0 'pbs_rstat: Unknown Reservation Id' pbs_rstat "S${id#R}" # the letter counts
	as "$OWNER" pbs_rdel "$id"
	quietly pbs_rstat
}

@test "reservations #14: who may delete one" {
	local id
	id=$(reserve)
	says 159 "pbs_rdel: Unauthorized Request  $id" as "$OTHER" pbs_rdel "$id"
	log_has ";0020;.*Unauthorized Request, request type: 72, Object: RESCRESV, Name: $id, request from: $OTHER@"
	quietly as "$OWNER" pbs_rdel "$id"
	same records "k requestor=$OWNER@$(hostname)" "$(records "$id" '[kK]')"
	says 236 "pbs_rdel: Unknown Reservation Id $id" as "$OWNER" pbs_rdel "$id"
	id=$(reserve)
	quietly as "$OPERATOR" pbs_rdel "${id%.svr}"
	same records "K requestor=$OPERATOR@$(hostname)" "$(records "$id" '[kK]')"
	quietly pbs_rstat
}

@test "reservations #38, #39: the server takes none; a queue of one is not deleted" {
	local id
	id=$(reserve)
	says 179 "qmgr obj=${id%.svr} svr=default: Cannot delete busy object
qmgr: Error (15027) returned from server" qmgr -c "delete queue ${id%.svr}"
	qmgr -c 'set server resv_enable = false'
	undo qmgr -c 'unset server resv_enable'
	says 246 'pbs_rsub: reservations disallowed on svr' rsub -R "$(after 3600)" -D 600 -l select=1:ncpus=1
}

@test "reservations #40: a duration above 2^31 seconds" {
	local id
	id=$(reserve -D 3000000000)
	attr_is "$id" reserve_duration 3000000000
	has "$(pbs_rstat "$id")" ' / 3000000000 / '
}

@test "reservations #41: root owns one only where acl_roots says so" {
	local id
	says 247 'pbs_rsub: Bad effective UID for reservation' pbs_rsub -R "$(after 3600)" -D 600 -l select=1:ncpus=1
	qmgr -c 'set server acl_roots = root'
	undo qmgr -c 'unset server acl_roots'
	id=$(pbs_rsub -R "$(after 3600)" -D 600 -l select=1:ncpus=1)
	attr_is "${id% *}" Reserve_Owner "root@$(hostname)"
}

@test "reservations #43: resources that there are not" {
	local when
	when="-R $(after 3600) -D 600"
	# shellcheck disable=SC2086
	{
		says 187 'pbs_rsub: Unknown resource Resource_List.nosuch' rsub $when -l nosuch=4
		says 187 'pbs_rsub: Unknown resource: nosuch' rsub $when -l select=1:nosuch=4
		says 166 'pbs_rsub: Illegal attribute or resource value Resource_List.place' rsub $when -l place=foo
		says 60 'pbs_rsub: "min_walltime" and "max_walltime" are not valid resources for a reservation' \
			rsub $when -l min_walltime=3
	}
	quietly pbs_rstat
}

@test "reservations #44: no vnode takes reservations" {
	local line
	for host in n1 n2; do
		qmgr -c "set node $host resv_enable = False"
		undo qmgr -c "unset node $host resv_enable"
	done
	line=$(rsub -I 60 -R "$(after 3600)" -D 600 -l select=1:ncpus=1)
	same answer "${line% *} DENIED" "$line"
}

@test "reservations #52: what the owner of none sees of it, and a manager" {
	local id mine roots
	id=$(reserve -N name -m n)
	mine=$(as "$OTHER" pbs_rstat -f "$id" | sed 's/ =.*//')
	roots=$(pbs_rstat -f "$id" | sed 's/ =.*//')
	same 'managers alone see' 'egroup euser schedselect' \
		"$(comm -13 <(sort <<<"$mine") <(sort <<<"$roots") | xargs)"
	same order "Resv ID: $id Reserve_Name Reserve_Owner reserve_state reserve_substate reserve_start reserve_end reserve_duration" \
		"$(head -n 8 <<<"$roots" | xargs)"
}
