#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What becomes of a job while it runs: changes that have to reach its host, requests that do not wait for ever,
# scripts as long as they may be, what is used over restarts.

load helper
load shared

setup_file() { open_cluster --set 'executor.usage_interval=1s'; }

running_for() { [ "$(ps -o etimes= -p "$1" | tr -d ' ')" -ge "$2" ]; }
mom_pid() { cat "$SB/n1/mom_priv/mom.lock"; }

# ---- qrerun and qdel that would wait -----------------------------------------------------------------------

@test "mend A13: qrerun answers after job_requeue_timeout; the job ends and is queued again all the same" {
	undo qmgr -c 'unset server job_requeue_timeout'
	qmgr -c 'set server job_requeue_timeout = 1'
	id=$(running)
	session=$(session_of "$id")
	mom=$(mom_pid)
	kill -STOP "$mom" # it answers nothing for a while
	undo kill -CONT "$mom"
	says 163 "qrerun: Response timed out. Job rerun request still in progress for $id" timeout 20 qrerun "$id"
	alive "$session"
	kill -CONT "$mom"
	wait_until 20 dead "$session"
	again() { [ "$(job_attr "$id" run_count)" = 2 ] && job_is "$id" R 42; }
	wait_until 30 again
	for seconds in 0 10801; do # past modules/manager/server.c REQUEUE_TIMEOUT_MAX
		run qmgr -c "set server job_requeue_timeout = $seconds"
		[ "$status" -ne 0 ]
	done
}

@test "mend A13: qdel of a job that a module keeps at task_launch ends the hold and the job at once" {
	needs_root
	parked=$BATS_TEST_TMPDIR/parked
	mkdir "$parked"
	undo eval 'rm -f "$SB/n1/etc/modules.d/park.conf"; reload_host n1 >/dev/null'
	echo "park: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/park.so\"; dir = \"$parked\"; };" \
		>"$SB/n1/etc/modules.d/park.conf"
	reload_host n1 >/dev/null
	held() { parked_on n1 | grep -q "/$1\( (deleted)\)\?\$"; }
	parked() { id=$(submit -h) && touch "$parked/$id" && qrls "$id" && wait_until 20 held "$id"; }
	parked
	job_is "$id" R 41
	as "$OWNER" qdel "$id"
	wait_until 5 is_over "$id"
	! held "$id"
	has "$(mom_log n1)" 'fixture park cancelled: 3'
	[ ! -e "$SB/n1/mom_priv/jobs/$id.TK" ]
	# By force, too: the host keeps nothing of it.
	parked
	qdel -W force "$id"
	not_held() { ! held "$1"; }
	wait_until 5 not_held "$id"
}

# ---- qalter of a running job -----------------------------------------------------------------------------------

start_mom() { sandbox restart n1; }
diary_has() { grep -qx "$2" "$SB/n1/mom_priv/jobs/$1.TK"; }
limit_exceeded() { job_is "$1" F && same Exit_status -29 "$(job_attr "$1" Exit_status)"; }

@test "mend A1: qalter -l walltime of a running job: it is killed at the new limit, lowered or raised" {
	raised=$(running -l walltime=3) lowered=$(running -l walltime=1000)
	qalter -l walltime=1000 "$raised"
	session=$(session_of "$raised")
	wait_until 20 has_usage "$lowered"
	as "$OWNER" qalter -l walltime=2 "$lowered" # passed already, or soon
	wait_until 10 limit_exceeded "$lowered"
	dead "$(session_of "$lowered")"
	wait_until 20 running_for "$session" 6
	alive "$session"
	job_is "$raised" R 42
}

@test "mend A1: cput of a running job: raised it runs on, lowered it is killed" {
	busy() { as "$OWNER" qsub "$@" -- /bin/sh -c 'while :; do :; done'; }
	id=$(busy -l cput=1000)
	wait_until 20 job_is "$id" R 42
	as "$OWNER" qalter -l cput=1 "$id"
	over() { job_is "$1" F && same Exit_status -28 "$(job_attr "$1" Exit_status)"; }
	wait_until 20 over "$id"
}

@test "mend A1: a change holds over a restart of the mom, and a host that was away gets it when it is back" {
	kept=$(running -l walltime=1000) missed=$(running -l walltime=1000 -o "$(here old.out)" -j oe)
	undo start_mom
	as "$OWNER" qalter -l walltime=900 "$kept"
	wait_until 10 diary_has "$kept" 'walltime 900'
	sandbox kill n1
	as "$OWNER" qalter -l walltime=1 -o "$(here new.out)" "$missed"
	alive "$(session_of "$missed")"
	start_mom
	wait_until 20 limit_exceeded "$missed"
	[ -e "$(here new.out)" ] && [ ! -e "$(here old.out)" ]
	job_is "$kept" R 42
	diary_has "$kept" 'walltime 900'
}

@test "mend A1: qalter -o and -e of a running job: its output goes there" {
	for name in old.o old.e new.o new.e; do rm -f "$(here $name)"; done
	id=$(shell "echo out; echo err >&2; until test -e $(here go.on); do sleep 0.1; done" -o "$(here old.o)" -e "$(here old.e)")
	undo rm -f "$(here go.on)"
	wait_until 20 job_is "$id" R 42
	as "$OWNER" qalter -o "$(here new.o)" -e "$(here new.e)" "$id"
	wait_until 10 diary_has "$id" "out.place $(here new.o)"
	as "$OWNER" touch "$(here go.on)"
	ends "$id"
	same out out "$(cat "$(here new.o)")"
	same err err "$(cat "$(here new.e)")"
	[ ! -e "$(here old.o)" ] && [ ! -e "$(here old.e)" ]
}

@test "mend A1: output goes to the new path also when no mom is there at the end" {
	rm -f "$(here old.o)" "$(here new.o)"
	id=$(shell "echo out; until test -e $(here go.on); do sleep 0.1; done" -j oe -o "$(here old.o)")
	undo rm -f "$(here go.on)"
	undo start_mom
	wait_until 20 job_is "$id" R 42
	session=$(session_of "$id")
	as "$OWNER" qalter -o "$(here new.o)" "$id"
	wait_until 10 diary_has "$id" "out.place $(here new.o)"
	sandbox kill n1
	as "$OWNER" touch "$(here go.on)"
	wait_until 20 dead "$session"
	wait_until 20 test -s "$(here new.o)"
	start_mom
	ends "$id"
	same out out "$(cat "$(here new.o)")"
	[ ! -e "$(here old.o)" ]
}

@test "mend A1: qalter of an array reaches the subjobs that run, also its -o; those it may not reach are as they were" {
	needs_root # an ordinary user is a manager of its own cluster
	local a first second
	sub() { echo "${a/\[\]/[$1]}"; }
	a=$(submit -J 1-2 -l walltime=3 -j oe -o "$(here 'old.^array_index^')")
	first=$(sub 1) second=$(sub 2)
	wait_until 20 job_is "$first" R 42
	wait_until 20 job_is "$second" R 42
	says 159 "qalter: Unauthorized Request  $a" as "$OWNER" qalter -l walltime=1000 "$a"
	same walltime 00:00:03 "$(job_attr "$first" Resource_List.walltime)"
	session=$(session_of "$first")
	qalter -l walltime=1000 -o "$(here 'new.^array_index^')" "$a"
	wait_until 20 running_for "$session" 5
	alive "$session"
	same walltime 00:16:40 "$(job_attr "$second" Resource_List.walltime)"
	as "$OWNER" qalter -l walltime=2 "$a"
	over_limit() { same Exit_status -29 "$(job_attr "$1" Exit_status)"; }
	wait_until 20 over_limit "$first"
	wait_until 20 over_limit "$second"
	dead "$session"
	[ -e "$(here new.1)" ] && [ -e "$(here new.2)" ] && [ ! -e "$(here old.1)" ]
}

# ---- what was used ------------------------------------------------------------------------------------------------

used() { job_attr "$1" "resources_used.$2"; }

@test "mend A11: what a job has used does not shrink when the mom restarts" {
	undo start_mom
	rm -f "$(here less)"
	undo rm -f "$(here less)"
	# 60 MB for a while, then hardly anything.
	id=$(shell "x=\$(head -c 60000000 /dev/zero | tr '\\0' x); until test -e $(here less); do sleep 0.1; done; exec sleep 1000")
	much() { local kb; kb=$(used "$1" mem); [ "${kb%kb}" -ge 50000 ]; }
	wait_until 30 much "$id"
	before=$(used "$id" mem)
	as "$OWNER" touch "$(here less)"
	is_small() { [ -z "$(ps -o rss= -s "$(session_of "$1")" | awk '$1 > 20000')" ]; }
	wait_until 20 is_small "$id"
	sandbox kill n1
	start_mom
	wall=$(used "$id" walltime)
	later() { [[ $(used "$1" walltime) > $wall ]]; }
	wait_until 30 later "$id"
	after=$(used "$id" mem)
	[ "${after%kb}" -ge "${before%kb}" ]
	as "$OWNER" qdel "$id"
	ends "$id"
	after=$(used "$id" mem)
	[ "${after%kb}" -ge "${before%kb}" ]
}

@test "mend A11: the walltime of a job that ends while no mom is there ends with it" {
	undo start_mom
	begun=$SECONDS
	id=$(running -- /bin/sh -c "$(ends_when_told end 0)")
	session=$(session_of "$id")
	sandbox kill n1
	tell end
	wait_until 20 dead "$session"
	most=$((SECONDS - begun + 2))
	nap 5 # of which nothing may be counted
	start_mom
	ends "$id"
	[[ ! $(used "$id" walltime) > 00:$(printf '%02d:%02d' $((most / 60)) $((most % 60))) ]]
}

@test "mend A11: a clock that was set meanwhile does not count as walltime when the mom starts" {
	undo start_mom
	id=$(running -l walltime=1000)
	session=$(session_of "$id")
	sandbox kill n1
	sed -i 's/^began .*/began 1/' "$SB/n1/mom_priv/jobs/$id.TK" # as if it was 1970 when the job began
	start_mom
	wait_until 20 has_usage "$id"
	seen() { [ "$(used "$1" walltime)" != "$2" ]; }
	wait_until 20 seen "$id" "$(used "$id" walltime)"
	[[ $(used "$id" walltime) < 00:02:00 ]]
	alive "$session"
	job_is "$id" R 42
}

# ---- long scripts --------------------------------------------------------------------------------------------------

# script_of BYTES NAME: it says `ran`, and is exactly so long; prints its path.
script_of()
{
	local path
	path=$(here "$2")
	{ printf '#!/bin/sh\necho ran\nexit 0\n'; head -c $(($1 - 27)) /dev/zero | tr '\0' '#'; printf '\n'; } >"$path"
	chmod 644 "$path"
	same size "$1" "$(stat -c %s "$path")" && echo "$path"
}

@test "mend A14: scripts as long as they may be run, also three at once; a longer one is refused with the number" {
	at=$(script_of 16777216 at.sh)
	qmgr -c 'set server scheduling = false'
	undo qmgr -c 'set server scheduling = true'
	ids=()
	for i in 1 2 3; do
		rm -f "$(here long.$i)"
		ids+=("$(as "$OWNER" qsub -j oe -o "$(here long.$i)" "$at")")
	done
	qmgr -c 'set server scheduling = true'
	for i in 1 2 3; do
		ends "${ids[i - 1]}"
		same output ran "$(cat "$(here long.$i)")"
		same 'starts' 1 "$(job_attr "${ids[i - 1]}" run_count)"
	done
	lacks "$(server_log)" 'link with .* lost: it does not read'
	past=$(script_of 16777217 past.sh) # past sdk/include/keel/wire.h WIRE_SCRIPT_MAX
	says 71 'qsub: jobscript size exceeded the jobscript_max_size: 16777216 bytes are taken' as "$OWNER" qsub "$past"
	# A lower limit is the server's to refuse.
	undo qmgr -c 'unset server jobscript_max_size'
	qmgr -c 'set server jobscript_max_size = 1mb'
	says 71 'qsub: jobscript size exceeded the jobscript_max_size: 16777216 bytes, 1048576 are taken' as "$OWNER" qsub "$at"
	rm -f "$at" "$past"
}
