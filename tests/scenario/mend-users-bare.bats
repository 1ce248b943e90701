#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# One user against others, on a host whose tasks have no cgroups, and where output must be placed within a second.

load helper
load shared
load mend-users

setup_file()
{
	[ "$EUID" -eq 0 ] || return 0
	open_cluster --ncpus 20 --set executor.freezer=false
	cp "$SB/n1/etc/settings" "$SB/settings.was"
	echo 'executor.deliver_limit=1s' >>"$SB/n1/etc/settings"
	sandbox restart n1 || { cp "$SB/settings.was" "$SB/n1/etc/settings"; sandbox restart n1; }
}
teardown_file() { [ "$EUID" -ne 0 ] || close_cluster; }
setup() { needs_root; join_cluster; }

# ---- B5 --------------------------------------------------------------------------------------------------

still() { stopped "$1" && ! going "$1" 2>/dev/null; }

@test "mend B5: without a freezer what its owner continues is stopped again, which is said once, also after a restart" {
	id=$(ticking)
	quietly qsig -s suspend "$id"
	continue_all "$id"
	at=$(ticks "$id")
	wait_until 5 grew "$id" "$at"
	wait_until 3 still "$id"
	continue_all "$id"
	wait_until 3 still "$id"
	same 'lines about it' 1 "$(host_log | grep -c "$id;the suspended job was continued by a signal; it is stopped again")"
	sandbox restart n1 --hard
	continue_all "$id"
	wait_until 3 still "$id"
	job_is "$id" S 43
	at=$(ticks "$id")
	quietly qsig -s resume "$id"
	wait_until 5 grew "$id" "$at"
	# What goes on by our own will is left alone.
	at=$(ticks "$id")
	wait_until 5 grew "$id" $((at + 100))
}

# ---- B6 --------------------------------------------------------------------------------------------------

fifo() { local path; path=$(here "$1"); rm -f "$path"; as "$OWNER" mkfifo "$path"; echo "$path"; }
kept() { cat "$SB/n1/undelivered/$1.OU"; }

@test "mend B6: output to a FIFO that nobody reads, or whose reader sleeps, ends the job: it is kept" {
	path=$(fifo b6.one)
	id=$(shell 'echo one' -o "$path" -e /dev/null)
	ends "$id"
	same output one "$(kept "$id")"
	path=$(fifo b6.two)
	as "$OWNER" sleep 1000 <>"$path" 3>&- &
	undo kill $!
	id=$(shell 'head -c 200000 /dev/zero' -o "$path" -e /dev/null)
	ends "$id"
	same status 0 "$(job_attr "$id" Exit_status)"
	same Stageout_status 0 "$(job_attr "$id" Stageout_status)"
	same 'bytes kept' 200000 "$(kept "$id" | wc -c)"
	has "$(host_log)" "$id;output could not be copied; it is retained in $SB/n1/undelivered"
}

@test "mend B6: the owner cannot stop his shepherd; who delivers he can, until the deadline: what was not placed is kept" {
	id=$(stuck "$(here b6.o)")
	! as "$OWNER" kill -STOP "$(shepherd_of "$id")" 2>/dev/null
	ends "$id"
	same status 0 "$(job_attr "$id" Exit_status)"
	same Stageout_status 0 "$(job_attr "$id" Stageout_status)"
	same 'bytes kept' $STUCK_BYTES "$(stat -c %s "$SB/n1/undelivered/$id.OU")"
	wait_until 5 gone_from_host "$id"
	rm -f "$SB/n1/undelivered/$id.OU" "$(here b6.o)"
}

# ---- B7 --------------------------------------------------------------------------------------------------

@test "mend B7: without cgroups too, a hundred processes that fork and exit in turn are gone within seconds of KILL" {
	soon_cut_off bare
}

# ---- B10 -------------------------------------------------------------------------------------------------

@test "mend B10: without cgroups too, a killed shepherd leaves no process and no TMPDIR, the mom there or not" {
	for there in yes no; do
		rm -f "$(here b10.pid)" "$(here b10.o)"
		id=$(leaving)
		wait_until 5 test -s "$(here b10.pid)"
		[ $there = yes ] || sandbox kill n1
		kill -KILL "$(shepherd_of "$id")"
		[ $there = yes ] || sandbox restart n1
		ends "$id"
		same status 265 "$(job_attr "$id" Exit_status)"
		wait_until 5 none_left '[12]'
		[ ! -e "$SB/n1/tmp/pbs.$id" ]
		same output said "$(cat "$(here b10.o)")"
		pkill -u "$OWNER" -f "^/bin/sleep $(mark).3\$" || true
	done
}
