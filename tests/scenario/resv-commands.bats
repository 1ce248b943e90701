#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# pbs_rsub, pbs_rstat, pbs_rdel, pbs_ralter: what is wrong on a command line is refused before the server has made anything of it.

load helper
load shared

USAGE='usage: pbs_rsub [-I seconds] [-m mail_points] [-M mail_list]
                [-N reservation_name] [-u user_list] [-g group_list]
                [-U auth_user_list] [-G auth_group_list] [-H auth_host_list]
                [-R start_time] [-E end_time] [-D duration] [-q destination]
                [-r rrule_expression] [-W otherattributes=value...]
                -l resource_list | --hosts host1 [... hostn]
       pbs_rsub --version'
ALTER_USAGE='usage: pbs_ralter [-I seconds] [-m mail_points] [-M mail_list]
                [-N reservation_name] [-R start_time] [-E end_time]
                [-U (+/-)username[,(+/-)username]...]
                [-G [(+/-)group[,(+/-)group]...]]
                [-D duration]
                [-W force]
                resv_id
       pbs_ralter --version'

setup_file() { open_cluster --hosts 2; }

# A moment so many seconds from now, as -R and -E have it.
moment() { date -d "+$1 seconds" +%Y%m%d%H%M.%S; }

# rsub [arguments]: for the hour that begins in one.
rsub() { pbs_rsub -R "$(moment 3600)" -E "$(moment 7200)" "$@"; }

# misuse 'LINE...' COMMAND...: these lines, then the usage.
misuse() { says 2 "${1:+$1
}$USAGE" "${@:2}"; }

nothing_listed() { quietly pbs_rstat; }

# ---- maintenance ----------------------------------------------------------------------------------------

@test "maintenance-reservations #5: -l does not go with --hosts" {
	local list
	for list in select=1 place=scatter walltime=10 ncpus=1; do
		misuse "pbs_rsub: can't use -l with --hosts" rsub -l "$list" --hosts n1
	done
	nothing_listed
}

@test "maintenance-reservations #6: -I does not go with --hosts; with -l, too, it is named first" {
	misuse "pbs_rsub: can't use -I with --hosts" rsub -I 300 --hosts n1
	misuse "pbs_rsub: can't use -I with --hosts
pbs_rsub: can't use -l with --hosts" rsub -l select=1 --hosts n1 -I 300
	nothing_listed
}

@test "maintenance-reservations #7: an unknown host is named, also to who may not reserve hosts" {
	says 2 'pbs_rsub: Host with resources not found: foo' rsub --hosts foo
	says 2 'pbs_rsub: Host with resources not found: foo' rsub --hosts n1 foo
	says 2 'pbs_rsub: Host with resources not found: foo' as "$OTHER" pbs_rsub -R "$(moment 3600)" -D 60 --hosts n1 foo bar
	nothing_listed
}

@test "maintenance-reservations #8: no host" {
	misuse 'pbs_rsub: missing host(s)' rsub --hosts ''
	misuse 'pbs_rsub: missing host(s)' rsub --hosts
}

@test "maintenance-reservations #9: a host twice, even an unknown one" {
	misuse 'pbs_rsub: Duplicate host: foo' rsub --hosts foo foo
	misuse 'pbs_rsub: Duplicate host: n1' rsub --hosts n1 n2 n1
}

@test "maintenance-reservations #10: 200 names" {
	local i names=()
	for ((i = 0; i < 200; i++)); do names+=("x$RANDOM-$i"); done
	says 2 "pbs_rsub: Host with resources not found: ${names[0]}" rsub --hosts "${names[@]}"
	says 2 "pbs_rsub: Host with resources not found: ${names[0]}" rsub --hosts n1 "${names[@]}" n2
}

@test "maintenance-reservations #11: names are compared by case, and a host without cpus is not found" {
	says 2 'pbs_rsub: Host with resources not found: N1' rsub --hosts N1
	qmgr -c 'set node n2 resources_available.ncpus = 0'
	undo qmgr -c 'set node n2 resources_available.ncpus = 4'
	says 2 'pbs_rsub: Host with resources not found: n2' rsub --hosts n1 n2
}

@test "maintenance-reservations #52: --hosts=NAME is the usage, a comma is part of a name" {
	misuse '' pbs_rsub --hosts=n1 -R "$(moment 3600)" -D 60
	says 2 'pbs_rsub: Host with resources not found: n1,n2' rsub --hosts n1,n2
	misuse '' pbs_rsub --nosuch
}

@test "maintenance-reservations #54: the order of options and hosts does not matter" {
	says 2 'pbs_rsub: Host with resources not found: foo' pbs_rsub foo -N name --hosts n1 -R "$(moment 3600)" n2 -D 60
	misuse "pbs_rsub: can't use -l with --hosts" rsub --hosts n1 -l select=1
	misuse "pbs_rsub: can't use -l with --hosts" rsub n1 -l select=1 --hosts
}

@test "maintenance-reservations: -r, --job and -W qmove do not go with --hosts, and what belongs to it needs it" {
	misuse "pbs_rsub: can't use -r with --hosts" env PBS_TZID=UTC pbs_rsub -r 'FREQ=DAILY;COUNT=2' -R 1200 -D 60 --hosts n1
	misuse "pbs_rsub: can't use --job with --hosts" pbs_rsub --job 1 --hosts n1
	misuse "pbs_rsub: can't use -Wqmove with --hosts" pbs_rsub -Wqmove=1 --hosts n1
	misuse "pbs_rsub: can't use -l select with --hosts" rsub -W select=1 --hosts n1
	misuse "pbs_rsub: can't use -l place with --hosts" rsub -W place=pack --hosts n1
	misuse 'pbs_rsub: --dry-run, --repeat, --rolling, --health and --action need --hosts' rsub -l select=1 --dry-run
	misuse 'pbs_rsub: illegal --rolling value' rsub --hosts n1 --rolling none
	misuse 'pbs_rsub: illegal --action value' rsub --hosts n1 --action kill
}

# ---- pbs_rsub ---------------------------------------------------------------------------------------------

@test "reservations #8: a rule needs PBS_TZID" {
	says 2 'pbs_rsub error: a valid PBS_TZID timezone environment variable is required.' \
		env -u PBS_TZID pbs_rsub -R "$(moment 3600)" -D 60 -r 'FREQ=DAILY;COUNT=2'
	misuse 'pbs_rsub: illegal -r value (expression too long)' pbs_rsub -r "$(printf 'X%.0s' {1..67})"
}

@test "reservations: values that are wrong are named, and the usage follows" {
	misuse '' pbs_rsub
	misuse "pbs_rsub: invalid option -- 'Z'" pbs_rsub -Z
	misuse 'pbs_rsub: illegal -R time value' pbs_rsub -R 9999
	misuse 'pbs_rsub: illegal -E time value' pbs_rsub -E 2460
	misuse 'pbs_rsub: illegal -I time value' rsub -I soon
	misuse 'pbs_rsub: illegal -q value: format "@server"' rsub -q x
	misuse 'pbs_rsub: illegal -W value' rsub -W x
	misuse 'pbs_rsub: illegal -m value' rsub -m q -l select=1
	misuse 'pbs_rsub: illegal -m value' rsub -m an -l select=1
	misuse 'pbs_rsub: illegal -U value' rsub -U a@ -l select=1
	misuse 'pbs_rsub: illegal -N value' rsub -N 'a b' -l select=1
	says 2 'pbs_rsub: Reservation name is too long ' rsub -N "$(printf 'X%.0s' {1..231})"
	misuse 'pbs_rsub: directive error: -D 60 stray ' pbs_rsub -D 60 stray
	says 166 'pbs_rsub: Illegal attribute or resource value Resource_List.place' rsub -l place=foo
	misuse 'pbs_rsub: -Wqmove is not compatible with -R or -E option' pbs_rsub -Wqmove=1 -R 1200
	says 2 'pbs_rsub: -I <timeout> value must be negative when used with -Wqmove option.' pbs_rsub -Wqmove=1 -I 5
	misuse 'pbs_rsub: Start/End time cannot be used with --job option' pbs_rsub --job 1 -R 1200
	nothing_listed
}

@test "reservations: a job that runs is not moved into one" {
	local id
	id=$(submit -- /bin/sleep 60)
	starts "$id"
	says 2 'Job not in qmove state' as "$OWNER" pbs_rsub -Wqmove="$id"
}

# ---- the others ---------------------------------------------------------------------------------------------

@test "reservations #45: no reservation, and what is none" {
	nothing_listed
	quietly pbs_rstat -f
	quietly pbs_rstat --motd
	says 1 'pbs_rstat: illegally formed reservation identifier: bogus' pbs_rstat bogus
	says 0 'pbs_rstat: Unknown Reservation Id' pbs_rstat R99999
	says 1 "pbs_rstat: invalid option -- 'Z'
Usage:
	pbs_rstat [-fFBS] [reservation-id]
	pbs_rstat --version" pbs_rstat -Z
	says 1 'Usage:
	pbs_rstat [-fFBS] [reservation-id]
	pbs_rstat --version' pbs_rstat --ical -f
	has "$(pbs_rstat --version)" '^pbs_version = '
}

@test "reservations: pbs_rdel and pbs_ralter refuse what they cannot send" {
	says 1 'pbs_rdel: illegally formed reservation identifier: 12' pbs_rdel 12
	says 2 'usage:	pbs_rdel [-q dest] resv_identifier...
      	pbs_rdel --version' pbs_rdel
	says 2 "$ALTER_USAGE" pbs_ralter
	says 2 "$ALTER_USAGE" pbs_ralter -D 300 R1 R2
	says 2 'pbs_ralter: illegally formed reservation identifier: xyz' pbs_ralter -R 0001 xyz
	refuses_alter 'pbs_ralter: illegal -R time value' -R 9999
	refuses_alter 'pbs_ralter: illegal -I time value' -I 0 -D 300
	refuses_alter 'pbs_ralter: illegal -I time value' -I -3 -D 300
	refuses_alter 'pbs_ralter: illegal -W value' -W foo -D 300
	refuses_alter 'pbs_ralter -l only allows for select' -l ncpus=1
	refuses_alter 'pbs_ralter: No support for requested service' -Wforce -N x
	refuses_alter 'pbs_ralter: illegal -N value' -N 'bad name'
	refuses_alter 'pbs_ralter: illegal -m value' -m q
	refuses_alter 'pbs_ralter: illegal -D value' -D -5
	refuses_alter 'pbs_ralter: illegal -U value' -U ''
}

refuses_alter() # line, arguments
{
	says 2 "$1
$ALTER_USAGE" pbs_ralter "${@:2}" R1
}

# ---- with a server that has reservations ----------------------------------------------------------------------

# made [pbs_rsub arguments]: the id of a new one of the owner.
made()
{
	local line
	line=$(as "$OWNER" pbs_rsub "$@" -l select=1:ncpus=1) && undo pbs_rdel "${line%% *}" && echo "${line%% *}"
}

of_resv() { pbs_rstat -f "$1" | sed -n "s/^$2 = //p"; } # id, attribute

@test "reservations #42: a time of day in the current minute is tomorrow's" {
	needs_module reservations
	local id minute
	minute=$(date +%H%M)
	id=$(made -R "$minute.59" -D 60)
	[ "$minute" = "$(date +%H%M)" ] || skip 'the minute is over'
	same 'start' "$(LC_ALL=C date -d "tomorrow ${minute:0:2}:${minute:2}:59" '+%a %b %d %H:%M:%S %Y')" "$(of_resv "$id" reserve_start)"
}

@test "reservations: who waits for a decision waits over a restart, and nothing is made twice" {
	needs_module reservations
	local id other
	id=$(made -I 60 -R "$(moment 3600)" -D 60)
	wait_until 20 resv_is "$id" CONFIRMED
	qmgr -c 'set server scheduling = false'
	undo qmgr -c 'set server scheduling = true'
	as "$OWNER" pbs_rsub -I 300 -R "$(moment 7200)" -D 60 -l select=1:ncpus=1 >"$BATS_TEST_TMPDIR/new" 2>&1 3>&- &
	as "$OWNER" pbs_ralter -I 300 -D 90 "$id" >"$BATS_TEST_TMPDIR/altered" 2>&1 3>&- &
	wait_until 20 resv_is "$id" BEING_ALTERED
	wait_until 20 eval 'pbs_rstat | grep -q " UN "'
	other=$(pbs_rstat | sed -n 's/ .* UN .*//p')
	undo pbs_rdel "$other"
	sandbox restart server
	wait_until 20 resv_is "$id" CONFIRMED # an alteration is undone
	wait_until 30 node_is n1 free
	qmgr -c 'set server scheduling = true'
	wait
	same 'the new one' "$other CONFIRMED" "$(<"$BATS_TEST_TMPDIR/new")"
	same 'the old one' "pbs_ralter: $id DENIED" "$(<"$BATS_TEST_TMPDIR/altered")"
	same duration 60 "$(of_resv "$id" reserve_duration)"
	same ids "$id $other" "$(pbs_rstat -B | sed 's/^Resv ID: //' | xargs)"
}

@test "reservations: what one shows as rows, as attributes, as a calendar" {
	needs_module reservations
	local id text
	id=$(made -I 60 -N 'a,b' -R "$(moment 3600)" -D 60)
	has "$(pbs_rstat)" "^$id +${id%.svr} +.* CO +"
	has "$(pbs_rstat -f "$id")" '^reserve_state = RESV_CONFIRMED$'
	has "$(pbs_rstat -f "$id")" '^ctime = [A-Z][a-z]{2} [A-Z][a-z]{2} [0-9]{2} [0-9:]{8} 20[0-9]{2}$'
	text=$(pbs_rstat --ical "$id" | tr -d '\r')
	has "$text" '^BEGIN:VCALENDAR$'
	has "$text" "^UID:$id-"
	has "$text" "^DTSTART:$(date -u -d "$(of_resv "$id" reserve_start)" +%Y%m%dT%H%M%SZ)\$"
	has "$text" "^SUMMARY:Reservation $id \\(a\\\\,b\\)\$"
	has "$text" '^END:VCALENDAR$'
	lacks "$(pbs_rstat --ical)" VEVENT
	quietly pbs_rstat --motd
	has "$(tracejob "${id%.svr}")" 'New reservation submitted'
}
