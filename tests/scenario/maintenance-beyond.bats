#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Maintenance windows beyond the reference: a dry run, repetition, messages and calendars, an action at the start, hosts in turn, explanations.
#
# needs modules/maintenance-reservations

load helper
load shared
load maintenance

setup_file()
{
	open_maintenance --set maintenance-reservations.health_interval=500ms
	mkdir "$SB/well"
	chmod 777 "$SB/well"
	printf '#!/bin/sh\ntest -e "%s/$2" || { echo "$1 $2 is on fire"; exit 3; }\n' "$SB/well" >"$SB/health"
	chmod 755 "$SB/health"
}

runs() { wait_until 60 resv_is "$1" RUNNING; }
dry() # from, till, hosts...: lines of the dry run
{
	# shellcheck disable=SC2046
	pbs_rsub $(within "$1" "$2") --dry-run --hosts "${@:3}"
}

@test "maintenance-reservations, dry run: jobs and reservations that it would meet, and nothing is changed" {
	local r s j k text before
	r=$(booked 3600 7200 -l select=1:ncpus=1:host=n1)
	s=$(window 3600 7200 n2)
	j=$(running -l select=1:ncpus=1:host=n1 -l walltime=10:00:00)
	k=$(running -l select=1:ncpus=1:host=n1)
	running -l select=1:ncpus=1:host=n1 -l walltime=10
	before=$(pbs_rstat -f)
	text=$(dry 3000 5000 n1 n2)
	has "$text" "^Job $j runs there until .*; it would go on\$"
	has "$text" "^Job $k runs there without an end that is known; it would go on\$"
	has "$text" "^Reservation $r would lose vnodes; others are looked for\$"
	has "$text" "^Maintenance $s is there, too; both would stay\$"
	same 'last line' '2 vnodes, 2 jobs that would still run, 1 reservation that would lose vnodes; nothing was changed' \
		"$(tail -n 1 <<<"$text")"
	same lines 5 "$(wc -l <<<"$text")"
	same reservations "$before" "$(pbs_rstat -f)"
	lacks "$(server_log)" ";Resv;$r;.*reconfirm"
	text=$(dry 20000 21000 n3)
	same 'last line' '2 vnodes, 0 jobs that would still run, 0 reservations that would lose vnodes; nothing was changed' "$text"
}

@test "maintenance-reservations, dry run: who may not close hosts may not ask" {
	# shellcheck disable=SC2046
	says 159 'pbs_rsub: Unauthorized Request ' as "$OWNER" pbs_rsub $(within 3600 7200) --dry-run --hosts n1
	all_forgotten
}

@test "maintenance-reservations, repeat: a window for each time of the rule, or none at all" {
	local text id starts
	text=$(PBS_TZID=UTC pbs_rsub -R "$(TZ=UTC moment 3600)" -D 600 --repeat 'FREQ=WEEKLY;COUNT=3' --hosts n1)
	same lines 3 "$(grep -c '^M[0-9]*\.svr CONFIRMED$' <<<"$text")"
	same listed 3 "$(listed | wc -l)"
	starts=$(for id in $(listed); do date -d "$(resv_attr "$id" reserve_start)" +%s; done | sort -n | xargs)
	# shellcheck disable=SC2086
	set -- $starts
	same weeks '604800 604800' "$(($2 - $1)) $(($3 - $2))"
	for id in $(listed); do resv_on "$id" '(n1:ncpus=4)'; done
	pbs_rdel "$(listed | head -n 1)"
	same 'one less' 2 "$(listed | wc -l)"
	forget_all
	says 156 'pbs_rsub: the rule has more than 100 times; give it a smaller COUNT or an earlier UNTIL' \
		env PBS_TZID=UTC pbs_rsub -R "$(TZ=UTC moment 3600)" -D 600 --repeat 'FREQ=DAILY;COUNT=101' --hosts n1
	all_forgotten
}

@test "maintenance-reservations, repeat: a later time hits others" {
	local r
	r=$(booked $((3600 + 86400)) $((7200 + 86400)) -l select=1:ncpus=1:host=n1)
	paused
	PBS_TZID=UTC pbs_rsub -R "$(TZ=UTC moment 3600)" -D 600 --repeat 'FREQ=DAILY;COUNT=2' --hosts n1
	in_conflict "$r"
}

@test "maintenance-reservations, comment: a job that would reach into a window says so, and so does explain" {
	local m j text
	m=$(window 3600 7200 n1)
	j=$(submit -l select=1:ncpus=1:host=n1 -l walltime=02:00:00)
	wait_until 20 comment_says "$j" "$m"
	text=$(keelson explain "$j")
	has "$text" "$m"
	job_is "$j" Q
	has "$(keelson resv "$m")" "^$m is confirmed, and has not begun"
}

@test "maintenance-reservations, messages: motd and calendar" {
	local m n
	quietly pbs_rstat --motd
	m=$(window 3600 7200 -N kernel n1 n2)
	n=$(window $((30 * 86400)) $((30 * 86400 + 60)) n3)
	has "$(as "$OTHER" pbs_rstat --motd)" 'n1.*n2'
	same 'one sentence' 1 "$(pbs_rstat --motd | grep -c n1)"
	lacks "$(pbs_rstat --motd)" n3
	has "$(pbs_rstat --ical | tr -d '\r')" "^UID:$m-"
	has "$(pbs_rstat --ical | tr -d '\r')" "^UID:$n-"
	same events 2 "$(pbs_rstat --ical | grep -c '^BEGIN:VEVENT')"
}

@test "maintenance-reservations, action suspend: jobs stand still for the time" {
	needs_module admin-suspend
	local m a b own
	a=$(running -l select=1:ncpus=1:host=n1)
	b=$(running -l select=1:ncpus=1:host=n2)
	m=$(window 4 3600 --action suspend -U "$OWNER" n1)
	own=$(submit -q "${m%.svr}" -l select=1:ncpus=1)
	runs "$m"
	wait_until 30 job_is "$a" S 43
	wait_until 30 node_is n1 resv-exclusive,maintenance "$a"
	job_is "$b" R 42
	pbs_rdel "$m"
	wait_until 60 resv_gone "$m"
	wait_until 30 job_is "$a" R 42
	wait_until 30 node_is n1 free ''
	is_over "$own" || job_is "$own" F
}

@test "maintenance-reservations, action suspend: the server is killed in the window; jobs go on at its end" {
	needs_module admin-suspend
	local m a
	a=$(running -l select=1:ncpus=1:host=n1)
	m=$(window 4 3600 --action suspend n1)
	runs "$m"
	wait_until 30 job_is "$a" S 43
	sandbox restart server --hard
	wait_until 60 answers
	resv_is "$m" RUNNING
	job_is "$a" S 43
	pbs_rdel "$m"
	wait_until 60 resv_gone "$m"
	wait_until 60 job_is "$a" R 42
}

@test "maintenance-reservations, action drain: what can be run again waits, what cannot goes on" {
	local m again once
	again=$(running -r y -l select=1:ncpus=1:host=n1)
	once=$(running -r n -l select=1:ncpus=1:host=n1)
	m=$(window 4 3600 --action drain n1)
	runs "$m"
	wait_until 30 job_is "$again" Q
	job_is "$once" R 42
	node_is n1 resv-exclusive
	pbs_rdel "$m"
	starts "$again"
}

@test "maintenance-reservations, hosts in turn: the next when the last is well, and the end behind the last" {
	local m j
	rm -f "$SB"/well/*
	m=$(window 4 3600 --rolling 1 --health "$SB/health check" n1 n2)
	resv_on "$m" '(n1:ncpus=4)'
	same 'marks of n2' '' "$(marks n2)"
	runs "$m"
	node_is n1 resv-exclusive
	node_is n2 free
	wait_until 30 has_comment "$m" '^n1 is not well: exit status 3: check n1 is on fire$'
	resv_on "$m" '(n1:ncpus=4)'
	j=$(submit -l select=1:ncpus=1:host=n1 -l walltime=10)
	: >"$SB/well/n1"
	wait_until 60 resv_on "$m" '(n2:ncpus=4)'
	node_is n1 free
	wait_until 10 node_is n2 resv-exclusive
	starts "$j"
	wait_until 30 has_comment "$m" '^n2 is not well: '
	sandbox restart server --hard
	wait_until 60 answers
	resv_on "$m" '(n2:ncpus=4)'
	wait_until 60 node_is n2 resv-exclusive
	resv_is "$m" RUNNING
	: >"$SB/well/n2"
	wait_until 60 resv_gone "$m"
	wait_until 10 node_is n2 free
}
has_comment() { has "$(resv_attr "$1" maintenance_comment)" "$2"; }

@test "maintenance-reservations, hosts in turn: they take vnodes from others when it is theirs" {
	local m r
	rm -f "$SB"/well/*
	r=$(booked 1000 2000 -l select=1:ncpus=1:host=n2)
	m=$(window 4 3600 --rolling 1 --health "$SB/health check" n1 n2)
	runs "$m"
	paused
	resv_is "$r" CONFIRMED 2
	: >"$SB/well/n1"
	wait_until 60 resv_on "$m" '(n2:ncpus=4)'
	wait_until 10 in_conflict "$r"
}

@test "maintenance-reservations: options of windows that do not go together" {
	# shellcheck disable=SC2046
	set -- pbs_rsub $(within 3600 7200)
	has "$("$@" --rolling 1 --hosts n1 n2 2>&1 || true)" 'maintenance_health|--health'
	has "$("$@" --health true --hosts n1 2>&1 || true)" 'absolute path|illegal'
	all_forgotten
}
