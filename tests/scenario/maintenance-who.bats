#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Maintenance windows: who deletes and alters them, who uses their queue, and clients that are not pbs_rsub.
#
# needs modules/maintenance-reservations

load helper
load shared
load maintenance

# attributes START [NAME=VALUE...]: of a window on n1 for an hour, as the library takes them
attributes() { echo "reserve_start=$(($(date +%s) + $1))" reserve_duration=3600 "${@:2}"; }
N1='Resource_List.select=host=n1:ncpus=4 Resource_List.place=exclhost'
refused_by_library() # numbers, extend, attributes...
{
	local text status=0
	text=$(resv_call submit "${@:2}") || status=$?
	same "exit for ${*:2}" 1 "$status" && has "$text" "^error ($1)\$"
}
seconds() { date -d "$(resv_attr "$1" "$2")" +%s; } # id, attribute

@test "maintenance-reservations #20: who made it and is no manager now may not delete it" {
	local m
	qmgr -c "set server managers += $OTHER@*"
	undo qmgr -c "set server managers -= $OTHER@*"
	m=$(window_of "$OTHER" 3600 7200 n1)
	qmgr -c "set server managers -= $OTHER@*"
	says 159 "pbs_rdel: Unauthorized Request  $m" as "$OTHER" pbs_rdel "$m"
	log_has ";0020;.*;Resv;.*Unauthorized Request, request type: 72, Object: RESCRESV, Name: $m, request from: $OTHER@"
	says 236 "pbs_rdel: Unknown Reservation Id R${m#M}" as "$OTHER" pbs_rdel "R${m#M}"
	says 236 "pbs_rdel: Unknown Reservation Id R${m#M}" pbs_rdel "R${m#M}"
	resv_is "$m" CONFIRMED 2
	qmgr -c "set server managers += $OTHER@*"
	quietly as "$OTHER" pbs_rdel "$m"
	same 'k records' 1 "$(records k "$m" | wc -l)"
	same 'K records' 0 "$(records K "$m" | wc -l)"
	no_queue "$m"
	same 'marks of n1' '' "$(marks n1)"
	says 236 "pbs_rdel: Unknown Reservation Id $m" as "$OTHER" pbs_rdel "$m"
}

@test "maintenance-reservations #21: nor may a user alter one" {
	local m
	m=$(window 3600 7200 n1)
	says 159 'pbs_ralter: Unauthorized Request ' as "$OWNER" pbs_ralter -E "$(moment 10800)" "$m"
	same duration 3600 "$(resv_attr "$m" reserve_duration)"
}

@test "maintenance-reservations #59: an operator makes, alters and deletes those of others" {
	local m
	m=$(window_of "$OPERATOR" 600 1200 n2)
	quietly as "$OPERATOR" pbs_rdel "$m"
	m=$(window_of "$MANAGER" 3600 7200 n1)
	says 0 "pbs_ralter: $m CONFIRMED" as "$OPERATOR" pbs_ralter -D 200 "$m"
	same duration 200 "$(resv_attr "$m" reserve_duration)"
	resv_is "$m" CONFIRMED 2
	quietly as "$OPERATOR" pbs_rdel "$m"
	same 'K records' 1 "$(records K "$m" | wc -l)"
	same 'k records' 0 "$(records k "$m" | wc -l)"
}

@test "maintenance-reservations #41: its queue takes jobs of its users alone" {
	local m j
	m=$(window 3600 7200 -U "$OWNER" n1)
	says 159 'qsub: Unauthorized Request ' as "$OTHER" qsub -q "${m%.svr}" -- /bin/true
	j=$(submit -q "${m%.svr}")
	wait_until 20 waits_for_queue "$j"
	waits_for_queue "$(submit_as root -q "${m%.svr}")" || true
	pbs_rdel "$m"
	wait_until 20 no_queue "$m"
}

@test "maintenance-reservations #45: altered at once, with what that costs others" {
	local m r
	m=$(window 3600 7200 n1)
	paused
	says 0 "pbs_ralter: $m CONFIRMED" pbs_ralter -E "$(moment 8000)" "$m"
	cycle
	r=$(booked 9000 10200 -l select=1:ncpus=1:host=n1)
	resv_is "$r" CONFIRMED 2
	paused
	says 0 "pbs_ralter: $m CONFIRMED" pbs_ralter -E "$(moment 10800)" "$m"
	in_conflict "$r"
	resv_on "$r" ''
	resv_is "$m" CONFIRMED 2
	same 'Y records' 3 "$(records Y "$m" | wc -l)"
	says 0 "pbs_ralter: $m CONFIRMED" pbs_ralter -E "$(moment 8000)" "$m"
	cycle
	wait_until 30 resv_is "$r" CONFIRMED 2
	resv_on "$r" '(n1:ncpus=1)'
}

@test "maintenance-reservations #46: the select of one in conflict is not altered, and the client gets its answer" {
	local r
	r=$(booked 3600 7200 -l select=1:ncpus=2:host=n1)
	paused
	window 3600 7200 n1
	in_conflict "$r"
	says 168 'pbs_ralter: Request invalid for state of job' as "$OWNER" timeout 60 pbs_ralter -l select=1:ncpus=1 "$r"
	in_conflict "$r"
}

@test "maintenance-reservations: the select of a window is not altered" {
	local m
	m=$(window 3600 7200 n1)
	says 181 'pbs_ralter: No support for requested service' pbs_ralter -l select=1:ncpus=1 "$m"
	resv_on "$m" '(n1:ncpus=4)'
}

@test "maintenance-reservations: by force into a window: its vnodes are gone at once" {
	local r m
	r=$(booked 3600 7200 -l select=1:ncpus=1:host=n1)
	m=$(window 9000 10000 n1)
	resv_is "$r" CONFIRMED 2
	paused
	pbs_ralter -Wforce -E "$(moment 9600)" "$r"
	wait_until 20 in_conflict "$r"
	resv_on "$r" ''
	resv_is "$m" CONFIRMED 2
}

@test "maintenance-reservations #48: the library: m makes an M, nothing an R" {
	local text
	# shellcheck disable=SC2046,SC2086
	{
		set -- $(attributes 3600) $N1
		says 1 'error 15007' as "$OWNER" "$KEELSON_BUILD/tests/scenario/tools/resv" submit m "$@"
		text=$(resv_call submit m "$@")
		has "$text" '^M[0-9]+\.svr CONFIRMED$'
		says 0 '' resv_call confirm "${text% *}" '(n1:ncpus=4)'
		paused
		has "$(resv_call submit - "$@")" '^R[0-9]+\.svr UNCONFIRMED$'
	}
}

@test "maintenance-reservations #49: a client that does not confirm what the server could not resolve" {
	local text id
	paused
	# shellcheck disable=SC2046
	text=$(resv_call drop m $(attributes 3600) Resource_List.select=host=nowhere:ncpus=4 Resource_List.place=exclhost)
	has "$text" '^M[0-9]+\.svr UNCONFIRMED$'
	id=${text% *}
	cycle
	wait_until 60 resv_gone "$id"
	no_queue "$id"
	lacks "$(server_log)" "$id.*(PBS Failed to confirm|enied)"
}

@test "maintenance-reservations #16: a rule with hosts makes no standing one, also of a client that is not ours, and the server stays up" {
	local id job running
	job=$(submit_as root -h -l walltime=100)
	running=$(submit_as root -l walltime=100)
	starts "$running"
	says_usage "pbs_rsub: can't use -r with --hosts" env PBS_TZID=UTC pbs_rsub -r 'FREQ=DAILY;COUNT=2' -R 1200 -D 60 --hosts n1
	# shellcheck disable=SC2046,SC2086
	{
		set -- $(attributes 3600) $N1
		refused_by_library '15029|15086' m "$@" qmove=$job
		refused_by_library '15029|15086|15016' m "$@" reserve_job=$job
		refused_by_library '15029|15086' m "${@:3}" qmove=$job interactive=-60
		refused_by_library '15029|15086' m "${@:3}" reserve_job=$running
		refused_by_library 15004 m "$@" Resource_List.ncpus=1
		all_forgotten
		resv_call submit m "$@" 'reserve_rrule=FREQ=DAILY;COUNT=2' reserve_timezone=UTC || true
		resv_call submit m "$@" 'reserve_rrule=FREQ=NEVER' reserve_timezone=UTC || true
	}
	answers
	for id in $(listed); do
		[[ $id == M* ]]
		lacks "$(pbs_rstat -f "$id")" reserve_rrule
		resv_is "$id" CONFIRMED 2
	done
	resv_is "$(window 90000 90060 n2)" CONFIRMED
}
