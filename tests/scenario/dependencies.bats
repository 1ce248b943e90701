#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Jobs that wait for other jobs: qsub -W depend=.
#
# needs modules/dependencies

load helper
load shared

# waiting ID: held until its dependencies are done.
waiting() { job_is "$1" H 22 && same holds s "$(job_attr "$1" Hold_Types)"; }
depend_of() { job_attr "$1" depend; }
deleted_for() # child parent
{
	wait_until 20 is_over "$1" &&
		same comment "Job deleted as result of dependency on job $2" "$(job_attr "$1" comment)"
}

@test "depend: what a waiting job looks like" {
	a=$(submit -h)
	b=$(submit -W "depend=afterok:${a%.svr}")
	waiting "$b"
	same depend "afterok:$a@svr" "$(depend_of "$b")"
	same etime '' "$(job_attr "$b" etime)"
	has "$(server_log)" "0400;Server@svr;Job;$b;Updated job state to 72 and substate to 22"
	has "$(accounting)" ";Q;$b;.* depend=afterok:$a@svr "
	has "$(qstat "$b")" ' H workq'
}

@test "afterok: an end with 0 lets it go" {
	a=$(running)
	b=$(submit -W depend=afterok:"$a")
	waiting "$b"
	qrerun "$a"
	wait_until 20 job_is "$a" R 42
	waiting "$b" # that was no end
	c=$(shell "$(ends_when_told c 0)")
	d=$(submit -W depend=afterok:"$c")
	tell c
	starts "$d"
	same depend '' "$(depend_of "$d")"
	has "$(server_log)" "0008;Server@svr;Job;$d;Dependency on job $c released\."
	same holds n "$(job_attr "$d" Hold_Types)"
}

@test "afterok: an end with something else deletes it, and those that wait for it" {
	a=$(running)
	b=$(submit -W depend=afterok:"$a")
	c=$(submit -W depend=afterok:"$b")
	d=$(submit -W depend=afterany:"$c")
	as "$OWNER" qdel "$a"
	deleted_for "$b" "$a"
	deleted_for "$c" "$b"
	starts "$d"
	has "$(server_log)" "0008;Server@svr;Job;$b;Job deleted as result of dependency on job $a"
	has "$(accounting)" ";A;$b;Job deleted as result of dependency on job $a"
}

@test "afternotok: the other way round" {
	a=$(shell "$(ends_when_told a 3)")
	b=$(submit -W depend=afternotok:"$a")
	c=$(shell "$(ends_when_told b 0)")
	d=$(submit -W depend=afternotok:"$c")
	tell a
	tell b
	starts "$b"
	deleted_for "$d" "$c"
}

@test "after: a start is enough" {
	a=$(submit -h)
	b=$(submit -W depend=after:"$a")
	waiting "$b"
	as "$OWNER" qrls "$a"
	starts "$a"
	starts "$b"
}

@test "a parent that is deleted before it runs" {
	a=$(submit -h)
	b=$(submit -W depend=afterok:"$a") c=$(submit -W depend=after:"$a")
	d=$(submit -W depend=afternotok:"$a") e=$(submit -W depend=afterany:"$a")
	as "$OWNER" qdel "$a"
	starts "$d"
	starts "$e"
	waiting "$b"
	waiting "$c"
}

@test "several parents: the last one counts" {
	a=$(running) b=$(running)
	c=$(submit -W "depend=afterany:$a:$b")
	same depend "afterany:$a@svr:$b@svr" "$(depend_of "$c")"
	as "$OWNER" qdel "$a"
	left() { same depend "afterany:$b@svr" "$(depend_of "$c")"; }
	wait_until 20 left
	waiting "$c"
	as "$OWNER" qdel "$b"
	starts "$c"
}

@test "other holds stay" {
	a=$(running)
	b=$(submit -h -W depend=afterany:"$a")
	same holds su "$(job_attr "$b" Hold_Types)"
	c=$(submit -W depend=afterany:"$a")
	qhold -h s "$c"
	as "$OWNER" qdel "$a"
	user_hold() { job_is "$b" H 20 && same holds u "$(job_attr "$b" Hold_Types)"; }
	wait_until 20 user_hold
	job_is "$c" H 20
	same holds s "$(job_attr "$c" Hold_Types)"
	qrls -h s "$c"
	starts "$c"
}

@test "a manager lets it go, its owner does not" {
	a=$(submit -h)
	b=$(submit -W depend=afterok:"$a")
	[ "$EUID" -ne 0 ] || says 159 "qrls: Unauthorized Request  $b" as "$OWNER" qrls -h s "$b"
	[ "$EUID" -ne 0 ] || says 159 "qalter: Unauthorized Request  $b" as "$OWNER" qalter -h n "$b"
	qrls -h s "$b"
	starts "$b"
	as "$OWNER" qdel "$a"
	wait_until 20 is_over "$a"
	job_is "$b" R 42
}

@test "qalter -W depend: set, changed, taken away" {
	a=$(submit -h) b=$(submit -h)
	c=$(submit -W depend=afterok:"$a")
	as "$OWNER" qalter -W depend=afterany:"$b" "$c"
	same depend "afterany:$b@svr" "$(depend_of "$c")"
	as "$OWNER" qdel "$a"
	wait_until 20 is_over "$a"
	waiting "$c"
	as "$OWNER" qalter -W depend= "$c"
	starts "$c"
	says 167 "qalter: Cannot modify attribute while job running  depend $c" \
		as "$OWNER" qalter -W depend=afterok:"$b" "$c"
	d=$(submit -h)
	as "$OWNER" qalter -W depend=afterok:"$b" "$d"
	same holds su "$(job_attr "$d" Hold_Types)"
}

@test "jobs that are over: history says" {
	good=$(finished -- /bin/true)
	bad=$(finished -- /bin/false)
	a=$(submit -W depend=afterok:"$good")
	starts "$a"
	same depend '' "$(depend_of "$a")"
	says 125 'qsub: Finished job did not satisfy dependency' as "$OWNER" qsub -W depend=afterok:"$bad" -- /bin/true
	b=$(submit -W depend=afternotok:"$bad,afterany:$good")
	starts "$b"
	qmgr -c 'set server job_history_enable = false'
	undo qmgr -c 'set server job_history_enable = true'
	says 206 'qsub: Invalid Job Dependency' as "$OWNER" qsub -W depend=afterok:"$good" -- /bin/true
}

@test "a job that does not exist yet is waited for" {
	next=$(submit -h) next=${next%.svr}
	a=$(submit -W depend=afterany:$((next + 2)))
	waiting "$a"
	b=$(submit)
	same number "$((next + 2)).svr" "$b"
	starts "$b"
	as "$OWNER" qdel "$b"
	starts "$a"
	c=$(submit -W depend=afterok:999999)
	waiting "$c"
}

@test "on and before: reports are counted" {
	a=$(submit -W depend=on:2)
	waiting "$a"
	b=$(submit -h -W depend=beforeany:"$a") c=$(submit -W depend=before:"$a")
	same depend "beforeany:$a@svr" "$(depend_of "$b")"
	starts "$c"
	counted() { same depend on:1 "$(depend_of "$a")"; }
	wait_until 20 counted
	waiting "$a"
	as "$OWNER" qdel "$b"
	starts "$a"
}

@test "beforeok: what cannot be any more deletes the job that waits" {
	a=$(submit -W depend=on:1)
	b=$(submit -W depend=beforeok:"$a" -- /bin/false)
	deleted_for "$a" "$b"
}

@test "runone: one of a set runs, the others are held, and deleted when it is over" {
	a=$(submit -h)
	b=$(submit -h -W depend=runone:"$a")
	c=$(submit -h -W depend=runone:"$b")
	same depend "runone:$b@svr:$a@svr" "$(depend_of "$c")"
	as "$OWNER" qrls "$b"
	starts "$b"
	for job in "$a" "$c"; do
		same "holds of $job" us "$(job_attr "$job" Hold_Types | grep -o '[us]' | sort -r | tr -d '\n')"
		as "$OWNER" qrls "$job"
		waiting "$job"
	done
	d=$(submit -W depend=runone:"$c")
	waiting "$d"
	qhold -h o "$b"
	qrerun "$b"
	wait_until 20 one_runs "$a" "$c" "$d"
	for job in "$a" "$c" "$d"; do job_is "$job" R && first=$job; done
	qdel "$first"
	for job in "$a" "$b" "$c" "$d"; do [ "$job" = "$first" ] || deleted_for "$job" "$first"; done
}
# Of these jobs one runs, the others wait for it.
one_runs()
{
	local states
	states=$(for job; do job_attr "$job" job_state; done | sort | tr -d '\n')
	same states "$(printf 'H%.0s' $(seq 2 $#))R" "$states"
}

@test "runone: who leaves while he waits, and who may join" {
	a=$(running)
	b=$(submit -h -W depend=runone:"$a")
	qhold -h o "$a"
	qrerun "$a"
	wait_until 20 job_is "$a" H
	qdel "$a"
	same depend '' "$(depend_of "$b")"
	job_is "$b" H 20
	says 206 'qsub: Invalid Job Dependency' as "$OWNER" qsub -W depend=runone:999999 -- /bin/true
	a=$(submit -- /bin/true)
	ends "$a"
	needs_root
	says 159 'qsub: Unauthorized Request ' as "$OTHER" qsub -W depend=runone:"$b" -- /bin/true
}

@test "refusals" {
	a=$(submit -h)
	illegal=$'qsub: illegal -W value'
	for words in afterok "sometimes:$a" "afterok:$a," on:x "afterok:${a%.svr}[3]"; do
		found=$(as "$OWNER" qsub -W "depend=$words" -- /bin/true 2>&1) && return 1
		has "$found" "^$illegal"
		case $words in *'[3]') first='cannot have dependancy on subjob or range' ;; *) first=$illegal ;; esac
		same "the first line for $words" "$first" "$(head -n 1 <<<"$found")"
	done
	says 206 'qsub: Invalid Job Dependency' as "$OWNER" qsub -W "depend=before:$a" -- /bin/true
	says 206 'qsub: Invalid Job Dependency' as "$OWNER" qsub -W "depend=afterok:$a@elsewhere" -- /bin/true
	says 156 "qalter: Invalid request $a" as "$OWNER" qalter -W "depend=afterok:$a" "$a"
	lacks "$(qselect)" "^$(( ${a%.svr} + 9 ))"
}

@test "before: not into others' jobs" {
	needs_root
	a=$(submit -W depend=on:1)
	says 159 'qsub: Unauthorized Request ' as "$OTHER" qsub -W depend=before:"$a" -- /bin/true
}

@test "dependencies survive a kill of the server" {
	a=$(running)
	b=$(submit -W depend=afterok:"$a") c=$(submit -W depend=afterany:"$a") d=$(submit -W depend=afterany:"$b")
	e=$(submit -W depend=on:1)
	f=$(submit -h -W depend=beforeany:"$e")
	sandbox kill server
	sandbox restart server
	waiting "$b"
	same depend "afterany:$a@svr" "$(depend_of "$c")"
	wait_until 20 job_is "$a" R 42
	as "$OWNER" qdel "$a"
	deleted_for "$b" "$a"
	starts "$c"
	starts "$d"
	as "$OWNER" qdel "$f"
	starts "$e"
}

@test "two hundred children of one job" {
	qmgr -c 'set server scheduling=false'
	undo qmgr -c 'set server scheduling=true'
	a=$(submit)
	qrun "$a"
	wait_until 20 job_is "$a" R 42
	for i in $(seq 200); do echo "depend=afterok:$a"; done |
		as "$OWNER" xargs -P 4 -I{} qsub -z -W {} -- /bin/true
	same held 200 "$(qselect -s H | wc -l)"
	as "$OWNER" qdel "$a"
	none_held() { [ -z "$(qselect -s H)" ]; }
	wait_until 20 none_held
	same gone 200 "$(accounting | grep -c "Job deleted as result of dependency on job $a\$")"
}
