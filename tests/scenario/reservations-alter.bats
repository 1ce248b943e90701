#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# pbs_ralter: what is changed at once, what waits for the scheduler, what is refused.
#
# needs modules/reservations

load helper
load shared
load reservations

setup_file() { open_cluster --hosts 3 --ncpus 2; }

setup()
{
	needs_root
	join_cluster
	undo without_reservations
}

ralter() { as "$OWNER" pbs_ralter "$@"; }
asked() { says 0 "pbs_ralter: $1 ALTER REQUESTED" ralter "${@:2}" "$1"; } # id, arguments
confirmed() { says 0 "pbs_ralter: $1 CONFIRMED" ralter -I 60 "${@:2}" "$1"; }

@test "reservations #25: a longer one" {
	local id start
	id=$(reserve)
	start=$(epoch_of "$id" reserve_start)
	asked "$id" -D 1200
	wait_until 20 resv_is "$id" CONFIRMED 2
	attr_is "$id" reserve_duration 1200
	attr_is "$id" reserve_end "$(long_date $((start + 1200)))"
	log_line "$id" "^Attempting to modify reservation end=$(long_date $((start + 1200)))\$"
	log_line "$id" '^Reservation alter confirmed$'
	same 'last record' "Y requestor=Scheduler@$(hostname) start=$start end=$((start + 1200)) nodes=$(resv_attr "$id" resv_nodes)" \
		"$(records "$id" Y | tail -n 1)"
	same records 2 "$(records "$id" Y | wc -l)"
}

@test "reservations #26: an end that conflicts with others is denied, and nothing has changed" {
	local id end
	id=$(reserve -l select=3:ncpus=2)
	end=$(epoch_of "$id" reserve_end)
	reserve -R "$(after 5400)" -l select=3:ncpus=2 >/dev/null
	says 0 "pbs_ralter: $id DENIED" ralter -I 60 -E "$(after 6000)" "$id"
	resv_is "$id" CONFIRMED 2
	attr_is "$id" reserve_end "$(long_date "$end")"
	attr_is "$id" reserve_duration 600
	log_line "$id" '^Reservation alter denied$'
	same records 1 "$(records "$id" Y | wc -l)"
}

@test "reservations #27: one alteration at a time; a restart undoes it" {
	local id
	id=$(reserve)
	scheduling False
	undo scheduling True
	asked "$id" -D 900
	attr_is "$id" reserve_duration 900
	resv_is "$id" BEING_ALTERED 2
	has "$(pbs_rstat "$id")" ' AL '
	says 168 'pbs_ralter: Request invalid for state of job' ralter -D 1200 "$id"
	sandbox restart server --hard
	wait_until 60 answers
	wait_until 20 resv_is "$id" CONFIRMED 2
	attr_is "$id" reserve_duration 600
	wait_until 60 node_is n3 free
}

@test "reservations #28: fewer chunks, those with jobs stay" {
	local id job vnode
	id=$(reserve -R "$(after 3)" -l select=3:ncpus=1 -l place=scatter)
	says 79 'pbs_ralter: New select must be made up of a subset of the original chunks' ralter -l select=4:ncpus=1 "$id"
	says 79 'pbs_ralter: New select must be made up of a subset of the original chunks' ralter -l select=2:ncpus=2 "$id"
	wait_until 20 resv_is "$id" RUNNING 5
	job=$(running -q "${id%.svr}" -l select=1:ncpus=1:vnode=n3)
	confirmed "$id" -l select=2:ncpus=1
	resv_is "$id" RUNNING 5
	has "$(resv_attr "$id" resv_nodes)" '^\(n[123]:ncpus=1\)\+\(n[123]:ncpus=1\)$'
	has "$(resv_attr "$id" resv_nodes)" '\(n3:ncpus=1\)'
	job_is "$job" R 42
	attr_is "$id" Resource_List.select 2:ncpus=1
	confirmed "$id" -l select=1:ncpus=1
	attr_is "$id" resv_nodes '(n3:ncpus=1)'
	vnode=$(pbsnodes -v n1 n2 n3 | value resv)
	same 'vnodes of it' "$id" "$vnode"
	says 79 'pbs_ralter: New select must be made up of a subset of the original chunks' ralter -l select=2:ncpus=1 "$id"
}

@test "reservations #29: one with a job begins when it began" {
	local id job before
	id=$(reserve -R "$(after 3)")
	wait_until 20 resv_is "$id" RUNNING 5
	job=$(running -q "${id%.svr}")
	before=$(pbs_rstat -f "$id")
	says 74 'pbs_ralter: Reservation not empty' ralter -R "$(after 3600)" "$id"
	says 74 'pbs_ralter: Reservation not empty' ralter -E "$(after 3600)" -D 60 "$id"
	same attributes "$before" "$(pbs_rstat -f "$id")"
	job_is "$job" R 42
}

@test "reservations: one that runs and is moved to a later time has not begun" {
	local id
	id=$(reserve -R "$(after 3)")
	wait_until 20 resv_is "$id" RUNNING 5
	same started True "$(queue_attr "$id" started)"
	confirmed "$id" -R "$(after 7200)" -D 600
	resv_is "$id" CONFIRMED 2
	same started False "$(queue_attr "$id" started)"
	same assigned 0 "$(pbsnodes -v n1 n2 n3 | value resources_assigned.ncpus | sort -u)"
}

@test "reservations: one that runs and is to have ended is deleted" {
	local id
	id=$(reserve -R "$(after 3)")
	wait_until 20 resv_is "$id" RUNNING 5
	nap 2
	ralter -D 1 "$id"
	wait_until 30 is_gone "$id"
}

@test "reservations #30: force is for managers" {
	local id
	id=$(reserve)
	scheduling False
	undo scheduling True
	says 159 'pbs_ralter: Unauthorized Request ' ralter -Wforce -D 700 "$id"
	says 0 "pbs_ralter: $id CONFIRMED" pbs_ralter -Wforce -D 700 "$id"
	resv_is "$id" CONFIRMED 2
	attr_is "$id" reserve_duration 700
}

@test "reservations #32: the queue lets in whom the reservation lets in" {
	local id job
	id=$(reserve)
	says 159 'qsub: Unauthorized Request ' as "$OTHER" qsub -q "${id%.svr}" -- /bin/sleep 1
	asked "$id" -U "$OWNER,$OTHER"
	same acl_users "$OWNER,$OTHER" "$(queue_attr "$id" acl_users)"
	job=$(submit_as "$OTHER" -q "${id%.svr}")
	job_is "$job" Q
	asked "$id" -U "$OWNER,-$OTHER"
	says 159 'qsub: Unauthorized Request ' as "$OTHER" qsub -q "${id%.svr}" -- /bin/sleep 1
	asked "$id" -G "$(id -gn "$OWNER")"
	same acl_groups "$(id -gn "$OWNER")" "$(queue_attr "$id" acl_groups)"
	asked "$id" -G ''
	same acl_groups '' "$(queue_attr "$id" acl_groups)"
}

@test "reservations #46: one that is not there, and one of another" {
	local id
	says 236 'pbs_ralter: Unknown Reservation Id' ralter -N x R99999
	id=$(reserve)
	says 159 'pbs_ralter: Unauthorized Request ' as "$OTHER" pbs_ralter -N x "$id"
	log_has ";0020;.*Unauthorized Request, request type: 91, Object: RESCRESV, Name: $id, request from: $OTHER@"
	attr_is "$id" Reserve_Name NULL
}

@test "reservations #47: names, lists and mail change at once, without a record" {
	local id
	id=$(reserve -R "$(after 12)")
	scheduling False
	undo scheduling True
	asked "$id" -N renamed
	attr_is "$id" Reserve_Name renamed
	asked "$id" -U "$OTHER"
	attr_is "$id" Authorized_Users "$OTHER"
	asked "$id" -M someone@here -m abc
	attr_is "$id" Mail_Users someone@here
	same records 1 "$(records "$id" Y | wc -l)"
	lacks "$(log_of "$id")" 'alter confirmed'
	wait_until 30 resv_is "$id" RUNNING 5
	has "$(records "$id" B)" "^B owner=$OWNER@$(hostname) name=renamed queue=${id%.svr} .* Authorized_Users=$OTHER "
}

@test "reservations: more about alterations: options that go together, one that waits to be confirmed" {
	local id end
	id=$(reserve)
	end=$(epoch_of "$id" reserve_end)
	says 238 'pbs_ralter: Bad time specification(s)' ralter -R "$(after -60)" "$id"
	says 238 'pbs_ralter: Bad time specification(s)' ralter -R "$(after 7200)" "$id"
	says 238 'pbs_ralter: Bad time specification(s)' ralter -R "$(after 3600)" -E "$(after 5000)" -D 60 "$id"
	asked "$id"
	confirmed "$id" -R "$(printf '%(%Y%m%d%H%M.%S)T' $((end - 100)))"
	attr_is "$id" reserve_end "$(long_date "$end")"
	attr_is "$id" reserve_duration 100
	confirmed "$id" -E "$(printf '%(%Y%m%d%H%M.%S)T' $((end + 100)))" -D 50
	attr_is "$id" reserve_start "$(long_date $((end + 50)))"
	scheduling False
	undo scheduling True
	id=$(rsub -R "$(after 3600)" -D 600 -l select=1:ncpus=1)
	id=${id% *}
	asked "$id" -D 900
	scheduling True
	wait_until 20 resv_is "$id" CONFIRMED 2
	attr_is "$id" reserve_duration 900
}
