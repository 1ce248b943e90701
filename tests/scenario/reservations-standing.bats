#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# pbs_rsub -r: rules that are accepted and that are not, and one time of a reservation after the other.
#
# needs modules/reservations

load helper
load shared
load reservations

setup_file() { open_cluster --hosts 2 --ncpus 2; }

setup()
{
	needs_root
	join_cluster
	undo without_reservations
}

# repeat RULE [arguments]: the owner's request by a rule. times [-Z zone] RULE [arguments]: the id of one that is confirmed.
repeat() { as "$OWNER" env PBS_TZID="${zone-UTC}" pbs_rsub -r "$@"; }
times()
{
	local line
	line=$(repeat "$1" -I 60 "${@:2}") || return
	[[ $line == *' CONFIRMED' ]] || { echo "$line" >&2; return 1; }
	echo "${line% *}"
}
utc() { TZ=UTC printf '%(%Y%m%d%H%M.%S)T' "$1"; } # epoch, as -R has it in the zone of the request
one_cpu=(-l select=1:ncpus=1)

@test "reservations #9, #10: three days make a standing one, a single day a plain one" {
	local id
	id=$(zone=America/Los_Angeles times 'FREQ=DAILY;COUNT=3' -R "$(after 3600)" -D 60 "${one_cpu[@]}")
	has "$id" '^S[0-9]+\.svr$'
	attr_is "$id" reserve_count 3
	attr_is "$id" reserve_index 1
	attr_is "$id" reserve_rrule 'FREQ=DAILY;COUNT=3'
	log_line "$id" ' recurrence_rrule=FREQ=DAILY;COUNT=3 timezone=America/Los_Angeles$'
	log_line "$id" '^Confirming 3 Occurrences$'
	has "$(times 'FREQ=DAILY;COUNT=1' -R "$(after 3600)" -D 60 "${one_cpu[@]}")" '^R[0-9]+\.svr$'
}

@test "reservations #11: rules that are refused, and a zone that there is not" {
	local when
	when="-R $(after 3600) -l select=1:ncpus=1"
	# shellcheck disable=SC2086
	{
		says 30 'pbs_rsub: Undefined iCalendar syntax. A valid COUNT or UNTIL is required' repeat 'FREQ=DAILY' $when -D 60
		says 29 'pbs_rsub: Undefined iCalendar syntax' repeat 'FREQ=FOO;COUNT=2' $when -D 60
		says 26 'pbs_rsub: HOURLY recurrence duration cannot exceed 1 hour' repeat 'FREQ=HOURLY;COUNT=2' $when -D 7200
		zone=Foo/Bar says 31 'pbs_rsub: Unrecognized PBS_TZID environment variable' repeat 'FREQ=DAILY;COUNT=2' $when -D 60
	}
	quietly pbs_rstat
}

@test "reservations #23: what its first time lacks its next one does not" {
	local id first
	first=$((EPOCHSECONDS + 15 * slowness))
	reserve -R "$(utc $((first + 60)))" -D 30 -l select=1:ncpus=2:host=n1 >/dev/null
	reserve -R "$(utc "$first")" -D 30 -l select=1:ncpus=2:host=n2 >/dev/null
	id=$(times 'FREQ=MINUTELY;COUNT=2' -R "$(utc "$first")" -D 20 -l select=1:ncpus=2)
	attr_is "$id" resv_nodes '(n1:ncpus=2)'
	pbsnodes -o n1
	undo pbsnodes -r n1
	wait_until 20 resv_is "$id" DEGRADED 10
	wait_until 60 resv_is "$id" RUNNING 10
	wait_until 60 resv_is "$id" CONFIRMED 2
	attr_is "$id" reserve_index 2
	attr_is "$id" reserve_start "$(long_date $((first + 60)))"
	attr_is "$id" resv_nodes '(n2:ncpus=2)'
	attr_is "$id" reserve_retry ''
}

@test "reservations: what a later time lacks leaves the state as it is" {
	local id first
	first=$((EPOCHSECONDS + 3600))
	reserve -R "$(utc $((first + 60)))" -D 30 -l select=1:ncpus=2:host=n1 >/dev/null
	reserve -R "$(utc "$first")" -D 30 -l select=1:ncpus=2:host=n2 >/dev/null
	id=$(times 'FREQ=MINUTELY;COUNT=2' -R "$(utc "$first")" -D 20 -l select=1:ncpus=2)
	pbsnodes -o n2
	undo pbsnodes -r n2
	wait_until 20 resv_is "$id" CONFIRMED 10
	pbsnodes -r n2
	wait_until 20 resv_is "$id" CONFIRMED 2
}

@test "reservations #31: an alteration that reaches its next time" {
	local id before
	id=$(times 'FREQ=DAILY;COUNT=3' -R "$(utc $((EPOCHSECONDS + 3600)))" -D 60 "${one_cpu[@]}")
	before=$(pbs_rstat -f "$id")
	says 75 'pbs_ralter: Requested time(s) will interfere with a later occurrence' as "$OWNER" pbs_ralter -D 90000 "$id"
	log_line "$id" '^Requested time\(s\) will interfere with a later occurrence$'
	same attributes "$before" "$(pbs_rstat -f "$id")"
}

@test "reservations: what is altered is its soonest time alone" {
	local id first
	first=$((EPOCHSECONDS + 10 * slowness))
	id=$(times 'FREQ=MINUTELY;COUNT=2' -R "$(utc "$first")" -D 5 "${one_cpu[@]}")
	says 0 "pbs_ralter: $id CONFIRMED" as "$OWNER" pbs_ralter -I 60 -D 8 "$id"
	attr_is "$id" reserve_duration 8
	wait_until 60 attr_is "$id" reserve_index 2
	attr_is "$id" reserve_start "$(long_date $((first + 60)))"
	attr_is "$id" reserve_end "$(long_date $((first + 65)))"
	attr_is "$id" reserve_duration 5
}

@test "reservations: times that passed while the server was down are skipped" {
	local id first
	first=$((EPOCHSECONDS + 10 * slowness))
	id=$(times 'FREQ=MINUTELY;COUNT=3' -R "$(utc "$first")" -D 5 "${one_cpu[@]}")
	sandbox kill server
	wait_until 60 eval "[ \$EPOCHSECONDS -gt $((first + 6)) ]"
	sandbox restart server
	wait_until 60 answers
	wait_until 60 attr_is "$id" reserve_index 2
	resv_is "$id" CONFIRMED 2
	attr_is "$id" reserve_start "$(long_date $((first + 60)))"
	log_line "$id" "^reservation occurrence 1/3 scheduled at $(printf '%(%H:%M:%S)T' "$first") was skipped because its end time is in the past\$"
	lacks "$(records "$id" B)" .
}

@test "reservations: kill -9 while jobs of a time that is over are deleted: then comes the next time, once" {
	local id job first
	first=$((EPOCHSECONDS + 5 * slowness))
	id=$(times 'FREQ=HOURLY;COUNT=2' -R "$(utc "$first")" -D 25 "${one_cpu[@]}")
	qmgr -c "set queue ${id%.svr} kill_delay = 3600"
	wait_until 30 resv_is "$id" RUNNING 5
	killed
	resv_is "$id" RUNNING 5
	wait_until 60 node_is n1 free
	wait_until 60 node_is n2 free
	job=$(stubborn "${id%.svr}")
	wait_until 60 resv_is "$id" DELETING_JOBS
	has "$(pbs_rstat "$id")" ' DJ '
	killed
	resv_is "$id" DELETING_JOBS
	wait_until 60 node_is n1 free
	wait_until 60 node_is n2 free
	qdel -W force "$job"
	wait_until 60 resv_is "$id" CONFIRMED 2
	attr_is "$id" reserve_index 2
	attr_is "$id" reserve_start "$(long_date $((first + 3600)))"
	same records 1 "$(records "$id" B | wc -l)"
	same started False "$(queue_attr "$id" started)"
}
