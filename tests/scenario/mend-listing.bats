#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What listings show where they showed something else: qstat -ns1, -Jt ID, qselect -T, hooks, and two refusals.
#
# needs modules/arrays

load helper
load shared

setup_file() { open_cluster --hosts 1 --ncpus 4; }

listed() { awk 'NR > 2 { print $1 }' <<<"$1" | paste -sd' '; }

# last_two WORDS...: of what qstat prints, without blanks at the ends of lines
last_two() { qstat "$@" | tail -n 2 | sed 's/ *$//'; }

@test "mend D28: qstat -ns1, the comment on a line of its own" {
	a=$(running)
	found=$(last_two -ns1 "$a")
	has "$(head -n 1 <<<"$found")" "^$a .* R +[0-9:-]+ +n1/0\$"
	same comment "   $(job_attr "$a" comment)" "$(tail -n 1 <<<"$found")"
	same 'a line each' "$(qstat -n1 "$a" | tail -n 1)" "$(qstat -ns1 "$a" | tail -n 2 | head -n 1)"
	has "$(qstat -s1 "$a" | tail -n 1)" "^$a .*    Job run at "
}

@test "mend D28: qstat -answ1, the comment on a line of its own" {
	a=$(running)
	found=$(last_two -answ1)
	has "$(head -n 1 <<<"$found")" "^$a .* R +[0-9:-]+ +n1/0\$"
	same comment "   $(job_attr "$a" comment)" "$(tail -n 1 <<<"$found")"
}

@test "mend D28: qstat -Jt ID[] lists the parent, too" {
	a=$(submit -J 1-3 -h) b=$(submit -h)
	same named "$a $(sub "$a" 1) $(sub "$a" 2) $(sub "$a" 3)" "$(listed "$(qstat -Jt "$a")")"
	same all "$(sub "$a" 1) $(sub "$a" 2) $(sub "$a" 3)" "$(listed "$(qstat -Jt)")"
	same 'no array' '' "$(qstat -Jt "$b")"
}

@test "mend D28: qselect -T lists subjobs without the parent" {
	a=$(submit -J 1-3 -h) b=$(submit -h)
	parts="$(sub "$a" 1) $(sub "$a" 2) $(sub "$a" 3)"
	same all "$parts $b" "$(qselect -T | paste -sd' ')"
	same arrays "$parts" "$(qselect -JT | paste -sd' ')"
	same 'those that wait' "$parts" "$(qselect -T -s Q | paste -sd' ')"
	same whole "$a $b" "$(qselect | paste -sd' ')"
}

@test "mend D28: qmgr list hook by a user is refused with a sentence" {
	needs_root
	for what in 'list hook' 'print hook' 'list pbshook'; do
		as "$OWNER" qmgr -c "$what" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || true
		same "of $what" "$OWNER@$(hostname -s) is unauthorized to access hooks data from server svr" \
			"$(sed 's/@\([^. ]*\)[^ ]*/@\1/' "$BATS_TEST_TMPDIR/err")"
		same 'listed' '' "$(grep -v '^#' "$BATS_TEST_TMPDIR/out" || true)"
	done
	quietly qmgr -c 'list hook'
}

@test "mend D28: qmgr list hook by a user ends with 1" {
	needs_root
	for who in "$OWNER" "$MANAGER"; do
		as "$who" qmgr -c 'list hook' 2>/dev/null && code=0 || code=$?
		same exit 1 "$code"
	done
}

@test "mend D28: qsub -A '' is accepted" {
	a=$(submit -A '' -h)
	same account '' "$(job_attr "$a" Account_Name)"
	as "$OWNER" qrls "$a"
	wait_until 20 job_is "$a" R 42
	[ -n "$(processes "$a")" ]
}

@test "mend D28: an attribute that is unknown is named in the message" {
	a=$(submit -h)
	says 154 "qalter: Undefined attribute  nosuch $a" as "$OWNER" qalter -W nosuch=1 "$a"
}
