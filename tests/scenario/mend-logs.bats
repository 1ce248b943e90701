#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Lines of the server's log that tools of sites look for.

load helper
load shared

logged() { has "$(server_log)" "$1"; }

@test "mend D29: a job that leaves a queue: dequeuing from QUEUE, state S" {
	printf '%s\n' 'create queue q2 queue_type=e,enabled=true,started=true' 'set server job_history_enable = false' | qmgr
	undo qmgr -c 'set server job_history_enable = true'
	undo qmgr -c 'delete queue q2'
	a=$(submit -h)
	as "$OWNER" qmove q2 "$a"
	logged "0100;Server@svr;Job;$a;dequeuing from workq, state H\$"
	logged "0100;Server@svr;Job;$a;enqueuing into q2, state H hop 1\$"
	as "$OWNER" qdel "$a"
	b=$(submit -q q2)
	runs() { same substate 42 "$(qstat -f "$b" | value substate)"; }
	wait_until 20 runs
	ran=$(ps -o pid= -s "$(qstat -f "$b" | value session_id)")
	as "$OWNER" qdel "$b"
	unknown() { qstat "$b" 2>&1 | grep -q 'Unknown Job Id'; }
	wait_until 20 unknown
	for pid in $ran; do [ ! -e "/proc/$pid" ]; done
	for job in "$a" "$b"; do
		same "lines of $job" 1 "$(server_log | grep -c ";0100;Server@svr;Job;$job;dequeuing from q2, state E\$")"
	done
}

@test "mend D29: of a job that is remembered the line comes when its history goes" {
	a=$(finished -- /bin/true)
	lacks "$(server_log)" ";$a;dequeuing from"
	as "$OWNER" qdel -x "$a"
	logged "0100;Server@svr;Job;$a;dequeuing from workq, state F\$"
}

# rejected COMMAND CODE TYPE: a user whom the server refuses leaves one line more.
rejected()
{
	local line=";0080;Server@svr;Req;[^;]*;Reject reply code=$2, aux=0, type=$3, from $OWNER@[^ ]*\$" before
	before=$(server_log | grep -Ec "$line" || true)
	if as "$OWNER" sh -c "$1" >/dev/null 2>&1; then echo "not refused: $1" >&2 && return 1; fi
	has "$(server_log)" "$line"
	[ "$(server_log | grep -Ec "$line")" -gt "$before" ] || { echo "no line for: $1" >&2 && return 1; }
}

@test "mend D29: Reject reply code=N, aux=0, type=T, from U@H for every refused request" {
	needs_root # an ordinary user is a manager of its own cluster
	a=$(submit -h) b=$(submit -h)
	while read -r code type command; do
		rejected "${command//J/$a}" "$code" "$type"
	done <<-'EOF'
		15018 1 qsub -q nosuch -- /bin/true
		15001 6 qdel 99999
		15001 6 qdel 99999 99998
		15001 7 qhold 99999
		15001 8 qsig 99999
		15007 9 qmgr -c "set server comment = x"
		15016 10 qmsg -O hello J
		15001 11 qalter -p 1 99999
		15018 12 qmove nosuch J
		15001 13 qrls 99999
		15007 14 qrerun J
		15007 15 qrun J
		15018 16 qselect -q nosuch
		15007 17 qterm
		15016 18 qsig J
		15001 19 qstat 99999
	EOF
}

@test "mend D29: check_block_wt: Write successful to client H for job J" {
	for i in 0 3; do
		shell "exit $i" -W block=true >"$BATS_TEST_TMPDIR/id" && code=0 || code=$?
		same exit $i $code
		a=$(cat "$BATS_TEST_TMPDIR/id")
		is_over "$a"
		logged ";0080;Server@svr;Job;$a;check_block_wt: Write successful to client [^ ]+ for job $a\$"
	done
}
