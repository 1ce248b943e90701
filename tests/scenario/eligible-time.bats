#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# eligible_time: how long a job has waited for resources.
#
# needs modules/eligible-time

load helper
load shared

enable()
{
	qmgr -c 'set server eligible_time_enable = True'
	undo qmgr -c 'set server eligible_time_enable = False'
}

waited() { job_attr "$1" eligible_time; }
seconds() { waited "$1" | awk -F: '{ print $1 * 3600 + $2 * 60 + $3 }'; }
more_than() { [ "$(seconds "$1")" -gt "$2" ]; }
type_is() { same "accrue_type of $1" "$2" "$(job_attr "$1" accrue_type)"; }

@test "eligible_time: not known while it is off" {
	id=$(submit -h)
	same waited '' "$(waited "$id")"
	says 34 "qalter: Cannot set attribute when eligible_time_enable is OFF $id" \
		qalter -W eligible_time=10 "$id"
}

@test "eligible_time: grows while the job is queued for resources, stands while it is held" {
	enable
	big=$(submit -l ncpus=99)
	held=$(submit -h)
	type_is "$big" 2
	type_is "$held" 1
	wait_until 10 more_than "$big" 1
	same waited 00:00:00 "$(waited "$held")"
	as "$OWNER" qhold "$big"
	type_is "$big" 1
	stood=$(waited "$big")
	as "$OWNER" qrls "$held"
	wait_until 10 job_is "$held" R 42
	type_is "$held" 3
	same waited "$stood" "$(waited "$big")"
	as "$OWNER" qrls "$big"
	type_is "$big" 2
	wait_until 10 more_than "$big" 2
	lacks "$(as "$OWNER" qstat -f "$big")" $([ "$ME" = "$OWNER" ] && echo nothing || echo accrue_type)
}

@test "eligible_time: in the records, and selectable" {
	enable
	id=$(submit -l ncpus=99)
	wait_until 10 more_than "$id" 0
	same found "$id" "$(qselect -tg.gt.00:00:00)"
	same none '' "$(qselect -tg.gt.10:00:00)"
	as "$OWNER" qalter -l ncpus=1 "$id"
	wait_until 10 job_is "$id" R 42
	as "$OWNER" qdel "$id"
	ends "$id"
	has "$(accounting)" ";E;$id;.* eligible_time=00:00:[0-9]+ run_count=1"
}

@test "eligible_time: operators set it" {
	enable
	id=$(submit -l ncpus=99)
	quietly qalter -W eligible_time=01:00:00 "$id"
	wait_until 10 more_than "$id" 3600
	[ "$EUID" -ne 0 ] ||
		says 155 "qalter: Cannot set attribute, read only or insufficient permission  eligible_time $id" \
			as "$OWNER" qalter -W eligible_time=5 "$id"
	for bad in x 600000:00:00; do
		says 166 "qalter: Illegal attribute or resource value eligible_time $id" qalter -W eligible_time=$bad "$id"
	done
}

@test "eligible_time: a restart loses nothing" {
	enable
	id=$(submit -l ncpus=99)
	held=$(submit -h)
	qalter -W eligible_time=00:10:00 "$id" "$held"
	sandbox kill server
	sandbox restart server
	wait_until 10 more_than "$id" 600
	same waited 00:10:00 "$(waited "$held")"
	type_is "$id" 2
	qmgr -c 'set server eligible_time_enable = False'
	gone() { same waited '' "$(waited "$id")"; }
	wait_until 10 gone
}

@test "eligible_time: what happened while its module was away" {
	enable
	id=$(submit -l ncpus=99)
	type_is "$id" 2
	keelson unload eligible-time
	as "$OWNER" qhold "$id"
	keelson load eligible-time
	wait_until 10 type_is "$id" 1
}

@test "eligible_time: over its own limits the job is not eligible" {
	enable
	qmgr -c "set server max_run = \"[u:$OWNER=1]\""
	undo qmgr -c 'unset server max_run'
	a=$(running)
	b=$(submit)
	wait_until 10 type_is "$b" 1
	as "$OWNER" qalter -N other "$b" # changes nothing of that
	type_is "$b" 1
	as "$OWNER" qhold "$b"
	as "$OWNER" qrls "$b"
	type_is "$b" 1
	as "$OWNER" qdel "$a"
	wait_until 20 job_is "$b" R 42
	type_is "$b" 3
}

@test "eligible_time: a formula may go by it" {
	enable
	qmgr -c 'set server scheduling=false'
	undo qmgr -c 'set server scheduling=true'
	a=$(submit -l ncpus=3) b=$(submit -l ncpus=3)
	qalter -W eligible_time=01:00:00 "$b"
	qmgr -c 'set server job_sort_formula = eligible_time'
	undo qmgr -c 'unset server job_sort_formula'
	qmgr -c 'set server scheduling=true'
	wait_until 20 job_is "$b" R 42
	job_is "$a" Q
}
