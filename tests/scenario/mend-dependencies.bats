#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Dependencies as sites know them: what the job depended on shows, what becomes of those that wait for a job that is
# deleted, and jobs of the history.
#
# needs modules/dependencies

load helper
load shared

setup_file() { open_cluster --hosts 1 --ncpus 8; }

waiting() { job_is "$1" H 22 && same holds s "$(job_attr "$1" Hold_Types)"; }
depend_of() { job_attr "$1" depend; }
after() { submit -W depend="$1"; }
deleted_for() # child parent
{
	wait_until 20 is_over "$1" &&
		same comment "Job deleted as result of dependency on job $2" "$(job_attr "$1" comment)" &&
		same processes '' "$(job_attr "$1" session_id)"
}

@test "mend D14: the job depended on shows its side" {
	a=$(submit -h)
	b=$(after "afterok:$a")
	c=$(submit -h -W depend="runone:$a")
	d=$(after "afterany:$a") e=$(after "after:$a") f=$(after "afternotok:$a")
	shown="before:$e@svr,beforeok:$b@svr,beforenotok:$f@svr,beforeany:$d@svr,runone:$c@svr"
	same 'its side' "$shown" "$(depend_of "$a")"
	same 'their side' "afterok:$a@svr runone:$a@svr" "$(depend_of "$b") $(depend_of "$c")"
	sandbox restart server
	same 'its side' "$shown" "$(depend_of "$a")"
	as "$OWNER" qalter -p 3 "$a"
	as "$OWNER" qalter -W depend=on:1 "$a"
	same 'its own first' "on:1,$shown" "$(depend_of "$a")"
	as "$OWNER" qalter -W depend= "$a"
	as "$OWNER" qdel "$d" "$c" "$f"
	left() { same 'its side' "before:$e@svr,beforeok:$b@svr" "$(depend_of "$a")"; }
	wait_until 10 left
	as "$OWNER" qrls "$a"
	starts "$a"
	starts "$e"
	same 'its side' "beforeok:$b@svr" "$(depend_of "$a")"
	qstat -f -F json "$a" | python3 -c 'import json, sys; json.load(sys.stdin)'
}

@test "mend D14: two that wait in the same way are one item" {
	a=$(submit -h)
	b=$(after "afterok:$a") c=$(after "afterok:$a")
	same 'its side' "beforeok:$b@svr:$c@svr" "$(depend_of "$a")"
}

@test "mend D15: a runs and is deleted: afterok is deleted, and afternotok of that one, too" {
	a=$(running)
	ran=$(processes "$a")
	b=$(after "afterok:$a") c=$(after "afternotok:$b") d=$(after "after:$a") e=$(after "afternotok:$a")
	starts "$d"
	as "$OWNER" qdel "$a"
	deleted_for "$b" "$a"
	deleted_for "$c" "$b"
	for pid in $ran; do [ ! -e "/proc/$pid" ]; done
	starts "$e"
	job_is "$d" R 42
	[ -n "$(processes "$e")" ]
}

@test "mend D16: a is held and deleted before it ran: those that wait for it, and for them, stay" {
	a=$(submit -h)
	b=$(after "afterok:$a") c=$(after "afterany:$b") d=$(after "afterok:$b")
	as "$OWNER" qdel "$a"
	is_over "$a"
	for job in "$b" "$c" "$d"; do waiting "$job"; done
	sandbox restart server
	for job in "$b" "$c" "$d"; do waiting "$job"; done
	has "$(depend_of "$b")" "^afterok:$a@svr,"
	qmgr -c 'set server job_history_enable = false'
	undo qmgr -c 'set server job_history_enable = true'
	sandbox restart server
	for job in "$b" "$c" "$d"; do same state H "$(qstat -f "$job" | value job_state)"; done
	qrls -h s "$b"
	runs() { same substate 42 "$(qstat -f "$b" | value substate)"; }
	wait_until 20 runs
}

log_of() { server_log | grep ";$1;"; }

@test "mend D17: on a job of the history: what can never be is accepted, and deleted at once" {
	a=$(finished -- /bin/true)
	for type in afternotok before beforeok beforeany beforenotok; do
		b=$(submit -W depend="$type:$a")
		deleted_for "$b" "$a"
		has "$(log_of "$b")" "0008;Server@svr;Job;$b;$a Finished job did not satisfy dependency\$"
	done
	c=$(after "afternotok:$b") # it was dropped
	deleted_for "$c" "$b"
}

@test "mend D17: on a job of the history: what is satisfied runs, and is logged; runone runs" {
	good=$(finished -- /bin/true) bad=$(finished -- /bin/false)
	for words in "after:$good" "afterok:$good" "afterany:$good" "afternotok:$bad" "afterany:$bad" "runone:$good"; do
		b=$(after "$words")
		starts "$b"
		same depend '' "$(depend_of "$b")"
		has "$(log_of "$b")" "0008;Server@svr;Job;$b;${words#*:} Job has finished, dependency satisfied\$"
		[ -n "$(processes "$b")" ]
	done
	says 125 'qsub: Finished job did not satisfy dependency' as "$OWNER" qsub -W depend=afterok:"$bad" -- /bin/true
}

@test "mend D17: on itself is an invalid request" {
	a=$(submit -h)
	next=$((${a%.svr} + 1))
	for type in after afterok beforeany; do
		says 156 'qsub: Invalid request' as "$OWNER" qsub -W depend="$type:$next" -- /bin/true
		next=$((next + 1))
	done
	says 156 "qalter: Invalid request $a" as "$OWNER" qalter -W depend=after:"$a" "$a"
}
