#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# qdel with a job named twice, and with subjobs that have ended.
#
# needs modules/arrays

load helper
load shared

setup_file() { open_cluster --hosts 1 --ncpus 8; }

expired() { same state X "$(qstat -f "$1" | value job_state)"; }
deletions() { accounting | grep -c ";D;$1;" || true; }

@test "mend D11: a job that is named twice is deleted once, and nothing is said" {
	a=$(running) b=$(submit -h)
	ran=$(processes "$a")
	quietly as "$OWNER" qdel "$a" "${b%.svr}" "$b" "${a%.svr}"
	ends "$a"
	is_over "$b"
	for pid in $ran; do [ ! -e "/proc/$pid" ]; done
	same 'records of both' '1 1' "$(deletions "$a") $(deletions "$b")"
	quietly as "$OWNER" qdel -x "$a" "$b" "$b" "$a"
	says 153 "qstat: Unknown Job Id $a"$'\n'"qstat: Unknown Job Id $b" qstat -x "$a" "$b"
	c=$(submit -h)
	quietly as "$OWNER" qdel "$c" "$c"
	says 35 "qdel: Job has finished $c" as "$OWNER" qdel "$c" "$c"
}

@test "mend D11: more jobs than go into one request, the first named again behind them" {
	a=$(submit -h)
	ids=$(seq 90001 91005)
	found=$(as "$OWNER" qdel "$a" $ids "$a" 2>&1) && return 1
	same 'refusals' 1005 "$(wc -l <<<"$found")"
	lacks "$found" " ${a%.svr}\.svr"
	is_over "$a"
}

@test "mend D11: subjobs that have ended: a range and several are no error, a single one is" {
	a=$(shell '[ $PBS_ARRAY_INDEX -le 4 ] || exec sleep 1000' -J 1-6 -j oe -o /dev/null)
	for i in 1 2 3 4; do wait_until 20 expired "$(sub "$a" $i)"; done
	wait_until 20 job_is "$(sub "$a" 6)" R 42
	ran=$(processes "$(sub "$a" 5)")
	quietly as "$OWNER" qdel "$(sub "$a" 2-4)"
	says 55 "qdel: Request invalid for finished array subjob $(sub "$a" 3)" as "$OWNER" qdel "$(sub "$a" 3)"
	says 55 "qdel: Request invalid for finished array subjob $(sub "$a" 3)" as "$OWNER" qdel "$(sub "$a" 3)" "$(sub "$a" 3)"
	says 156 "qdel: Invalid request $(sub "$a" 7-9)" as "$OWNER" qdel "$(sub "$a" 7-9)"
	says 156 "qdel: Invalid request $(sub "$a" 7)" as "$OWNER" qdel "$(sub "$a" 7)"
	quietly as "$OWNER" qdel "$(sub "$a" 3)" "$(sub "$a" 1)"
	job_is "$(sub "$a" 5)" R 42
	quietly as "$OWNER" qdel "$(sub "$a" 3)" "$(sub "$a" 5)"
	wait_until 20 expired "$(sub "$a" 5)"
	for pid in $ran; do [ ! -e "/proc/$pid" ]; done
	job_is "$(sub "$a" 6)" R 42
}

# What is asked behind it on the same connection has its answer before the last of them is looked at. That it is no
# request at all ends the connection when all is answered.
@test "mend C2: a request that names thousands of jobs lets others in" {
	throw=$KEELSON_BUILD/tests/scenario/tools/throw
	{
		"$throw" frame 30024 1 0
		printf '\x82\xa3req\xabdelete_list\xa3ids\xdc\x13\x88'
		seq 70001 75000 | sed 's/^/\xa5/' | tr -d '\n'
		"$throw" frame 1 1 0
		printf '\x80'
	} >"$BATS_TEST_TMPDIR/asked"
	"$throw" 20 "unix:$SB/server/run/server.sock" <"$BATS_TEST_TMPDIR/asked"
	other=$(server_log | grep -n 'code=15031, aux=0, type=?' | cut -d: -f1)
	last=$(server_log | grep -n ';75000;delete job request received' | cut -d: -f1)
	[ "$other" -lt "$last" ]
}
