#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Job arrays: one object for all its subjobs that wait; a subjob is a job from its start on. One host of 4
# cpus; finished jobs are remembered, unless said otherwise.
#
# needs modules/arrays

load helper
load shared

BAD_STATE='Request invalid for state of job'

setup_file()
{
	open_cluster --hosts 1 --ncpus 4
	qmgr -c 'set server max_array_size = 2000000'
}

paused()
{
	undo qmgr -c 'set server scheduling = true'
	qmgr -c 'set server scheduling = false'
}
no_history()
{
	undo qmgr -c 'set server job_history_enable = true'
	qmgr -c 'set server job_history_enable = false'
}

# sub ARRAY INDEX-OR-RANGE: 7[].svr 3 -> 7[3].svr

# counts ARRAY QUEUED RUNNING EXPIRED
counts()
{
	same "array_state_count of $1" "Queued:$2 Running:$3 Exiting:0 Expired:$4" \
		"$({ qstat -f "$1" 2>/dev/null || qstat -xf "$1"; } | value array_state_count)"
}
# in_state ARRAY LETTER INDEX...: each of these subjobs
in_state()
{
	local id=$1 letter=$2 index
	shift 2
	for index; do job_is "$(sub "$id" "$index")" "$letter" || return; done
}
# all_running ARRAY INDEX...: their first processes are known
all_running()
{
	local id=$1 index
	shift
	for index; do job_is "$(sub "$id" "$index")" R 42 || return; done
}
# array RANGE INDEX... [-- arguments of qsub]: submitted, and these subjobs run; prints its id
array()
{
	local range=$1 id indices=()
	shift
	while [ $# -gt 0 ] && [ "$1" != : ]; do indices+=("$1") && shift; done
	[ $# -eq 0 ] || shift
	id=$(submit -J "$range" "$@") || return
	wait_until 20 all_running "$id" "${indices[@]}" || return
	echo "$id"
}
remaining_is() { same "remaining of $1" "$2" "$(job_attr "$1" array_indices_remaining)"; }
gone() { qstat "$1" 2>&1 | grep -q 'Unknown Job Id'; }
# now ID ATTRIBUTE: also where no history is kept
now() { qstat -f "$1" | value "$2"; }
# letters ARRAY: of its subjobs, in order
letters() { qstat -xt "$1" | awk 'NR > 3 { printf "%s", $5 }'; }
letters_are() { same "states of $1" "$2" "$(letters "$1")"; }
records_of() { accounting | awk -F ';' -v id="$1" '$3 == id { printf "%s", $2 }'; }
used_for() { [ -n "$(job_attr "$1" resources_used.walltime)" ]; }

# ---- submission -------------------------------------------------------------------------------------------

@test "arrays: an array and its subjobs in tables" {
	a=$(array 1-6:2 1 3 5 : -N arr -- /bin/sleep 1000)
	[[ "$a" == *'[].svr' ]]
	one=$(qstat)
	has "$one" "^${a%%[*}\[\]\.svr +arr +$OWNER +0 B workq +\$"
	lacks "$one" '\[1\]'
	wait_until 10 used_for "$(sub "$a" 1)"
	all=$(qstat -t "$a")
	has "$all" "^${a%%[*}\[\]\.svr +arr +$OWNER +0 B workq"
	has "$all" "^${a%%[*}\[1\]\.svr +arr +$OWNER +[0-9:]+ R workq"
	same lines 6 "$(wc -l <<<"$all")"
	same 'only subjobs' "$(sub "$a" 1) $(sub "$a" 3) $(sub "$a" 5)" \
		"$(qstat -Jt | awk 'NR > 2 { print $1 }' | paste -sd' ')"
	same 'only arrays' "$a" "$(qstat -J | awk 'NR > 2 { print $1 }')"
	has "$(qstat -at "$a")" "^${a%%[*}\[\]\.svr +${OWNER:0:7}[^ ]* +workq +arr +-- +1 +1 +-- +-- +B +--"
}

@test "arrays: -f of an array and of a subjob" {
	a=$(array 1-6:2 1 3 5 : -N arr -- /bin/sleep 1000)
	job_is "$a" B 70
	same array True "$(job_attr "$a" array)"
	same submitted 1-6:2 "$(job_attr "$a" array_indices_submitted)"
	remaining_is "$a" -
	counts "$a" 0 3 0
	same output "^array_index^" "$(job_attr "$a" Output_Path | sed 's/.*\.//')"
	has "$(job_attr "$a" comment)" '^Job Array Began at [A-Z][a-z][a-z] [A-Z][a-z][a-z] [0-9]{2} at [0-9:]{5}$'
	text=$(qstat -f "$a")
	lacks "$text" ' (exec_host|exec_vnode|session_id|run_count|array_index|array_id) ='
	has "$text" ' stime ='
	s=$(sub "$a" 3)
	same array_id "$a" "$(job_attr "$s" array_id)"
	same array_index 3 "$(job_attr "$s" array_index)"
	same output "arr.o${a%%[*}.3" "$(job_attr "$s" Output_Path | sed 's:.*/::')"
	text=$(qstat -f "$s")
	lacks "$text" ' (Checkpoint|Hold_Types|Submit_arguments|array|array_state_count|max_run_subjobs) ='
	has "$text" ' run_count = 1'
}

@test "arrays: JSON and dsv of subjobs that wait" {
	paused
	a=$(submit -J 1-4 -N js)
	qstat -t -f -F json "$a" | python3 -c '
import json, sys
jobs = json.load(sys.stdin)["Jobs"]
assert len(jobs) == 5, jobs.keys()
one = [j for i, j in jobs.items() if "[3]" in i][0]
assert one["array_index"] == 3 and one["job_state"] == "Q" and one["substate"] == 10, one
assert one["array_id"].endswith("[].svr")
whole = [j for i, j in jobs.items() if "[]" in i][0]
assert whole["array"] == "True" and whole["array_indices_remaining"] == "1-4", whole'
	dsv=$(qstat -f -F dsv "$(sub "$a" 2)")
	has "$dsv" "^Job Id: ${a%%[*}\[2\]\.svr\|Job_Name=js\|"
	has "$dsv" '\|array_index=2\|'
}

@test "arrays: each subjob knows which it is" {
	a=$(shell 'echo "$PBS_ARRAY_INDEX $PBS_ARRAY_ID $PBS_JOBID"' -J 1-6:2 -j oe -o "$(here 'who^array_index^')")
	ends "$a"
	for i in 1 3 5; do
		same "words of $i" "$i $a $(sub "$a" $i)" "$(cat "$(here who$i)")"
	done
	job_is "$a" F 92
	same Exit_status 0 "$(job_attr "$a" Exit_status)"
	letters_are "$a" FFF
}

@test "arrays: one that fails makes the array fail" {
	a=$(shell 'exit $((PBS_ARRAY_INDEX == 2 ? 7 : 0))' -J 1-3 -j oe -o /dev/null)
	ends "$a"
	job_is "$a" F 93
	same Exit_status 1 "$(job_attr "$a" Exit_status)"
	same Exit_status 7 "$(job_attr "$(sub "$a" 2)" Exit_status)"
	same Exit_status 0 "$(job_attr "$(sub "$a" 3)" Exit_status)"
}

@test "arrays: what qsub refuses" {
	for bad in 5-1 1 x-y 1-5:0; do
		has "$(submit -J "$bad" 2>&1 || true)" '^qsub: illegal -J value'
	done
	undo qmgr -c 'set server max_array_size = 2000000'
	qmgr -c 'set server max_array_size = 10'
	says 3 'qsub: Array job exceeds server or queue size limit' submit -J 1-11
	qmgr -c 'set queue workq max_array_size = 5'
	undo qmgr -c 'unset queue workq max_array_size'
	says 3 'qsub: Array job exceeds server or queue size limit' submit -J 1-6
	paused
	submit -J 1-5
	submit -J 1-10:2
	has "$(submit -J 1-4 -r n 2>&1 || true)" '^qsub:  cannot submit non-rerun*able Array Job'
	has "$(submit -W max_run_subjobs=2 2>&1 || true)" 'Attribute has to be set on an array job'
}

# ---- limits of running --------------------------------------------------------------------------------------

@test "arrays: no more run at a time than %N says; it can be altered" {
	a=$(array 1-5%2 1 2 : -- /bin/sleep 1000)
	letters_are "$a" RRQQQ
	remaining_is "$a" 3-5
	same max_run_subjobs 2 "$(job_attr "$a" max_run_subjobs)"
	qalter -W max_run_subjobs=3 "$a"
	wait_until 10 letters_are "$a" RRRQQ
	qdel "$(sub "$a" 1)"
	wait_until 20 letters_are "$a" XRRRQ
}

@test "arrays: subjobs start as others end, in order" {
	a=$(shell 'echo $PBS_ARRAY_INDEX >>'"$(here order)" -J 1-12%1 -j oe -o /dev/null)
	ends "$a"
	same order "$(seq -s ' ' 12)" "$(paste -sd' ' "$(here order)")"
}

@test "arrays: counters of server and queue" {
	a=$(array 1-6 1 2 3 4)
	has "$(qstat -Bf | value state_count)" 'Queued:0 .* Running:4 .* Begun:1'
	has "$(qstat -Qf workq | value state_count)" 'Queued:0 .* Running:4 .* Begun:1'
	qdel "$a"
	ends "$a"
	has "$(qstat -Bf | value state_count)" 'Running:0 .* Begun:0'
}

# ---- delete --------------------------------------------------------------------------------------------------

@test "arrays: qdel of a subjob that runs: it expires" {
	a=$(array 1-3 1 2 3 : -- /bin/sleep 1000)
	s=$(sub "$a" 2)
	quietly qdel "$s"
	wait_until 20 job_is "$s" X 91
	letters_are "$a" RXR
	counts "$a" 0 2 1
	same Exit_status 271 "$(job_attr "$s" Exit_status)"
	has "$(job_attr "$s" comment)" ' and terminated by '
	qstat "$s" | grep -q ' X workq'
	says 55 "qdel: Request invalid for finished array subjob $s" qdel "$s"
	job_is "$a" B
}

@test "arrays: qdel of subjobs that wait: nothing of them ever runs" {
	a=$(array 1-8 1 2 3 4)
	quietly qdel "$(sub "$a" 6)"
	letters_are "$a" RRRRQXQQ
	remaining_is "$a" 5,7-8
	quietly qdel "$(sub "$a" 1-8:2)"
	wait_until 20 counts "$a" 0 3 5
	letters_are "$a" XRXRXXXR
	same 'accounting of 6' D "$(records_of "$(sub "$a" 6)")"
	qdel "$a"
	ends "$a"
	letters_are "$a" FFFFFFFF
	job_is "$(sub "$a" 6)" F 91
}

@test "arrays: qdel of the whole" {
	a=$(array 1-100 1 2 3 4)
	quietly qdel "$a"
	ends "$a"
	job_is "$a" F 91
	has "$(job_attr "$a" comment)" '^Job Array Began at .* and terminated by '
	says 35 "qstat: $a Job has finished, use -x or -H to obtain historical job information" qstat -t "$a"
	same 'not over' '' "$(letters "$a" | tr -d F)"
	wait_until 10 node_is n1 free
}

@test "arrays: qdel before anything has begun" {
	paused
	a=$(submit -J 1-100000)
	quietly qdel "$a"
	job_is "$a" F 91
	no_history
	b=$(submit -J 1-100000)
	quietly qdel "$b"
	gone "$b"
}

@test "arrays: qdel -Wforce, qdel -x" {
	a=$(array 1-6 1 2 3 4)
	quietly qdel -W force "$a"
	job_is "$a" F 91
	same Exit_status 265 "$(job_attr "$(sub "$a" 1)" Exit_status)"
	says 35 'qdel: Job has finished '"$a" qdel "$a" || says 35 'qdel: Job has finished' qdel "$a"
	quietly qdel -x "$a"
	wait_until 10 gone "$a"
	gone "$(sub "$a" 1)"
}

# stubborn [qsub arguments]: a job of $OWNER that runs and does not end at TERM; prints its id.
stubborn()
{
	local id ready
	ready=$(here "stubborn.$RANDOM")
	id=$(submit "$@" -j oe -o /dev/null -- /bin/sh -c "trap '' TERM; touch $ready; while :; do sleep 0.1; done") &&
		wait_until 20 test -e "$ready" && echo "$id"
}

@test "arrays: qdel -x of what runs, and a restart before it has ended: nothing is remembered" {
	a=$(stubborn -J 1-3%1)
	quietly qdel -x "$a"
	sandbox kill server
	sandbox restart server
	wait_until 30 gone "$a"
	gone "$(sub "$a" 1)"
	gone "$(sub "$a" 2)"
}

@test "arrays: of one that is over nothing waits, also when the history of a subjob is gone" {
	a=$(array 1-3 1 2 3 : -- /bin/sleep 1000)
	qdel "$a"
	ends "$a"
	sandbox reload --disable arrays
	undo sandbox reload --enable arrays
	quietly qdel -x "$(sub "$a" 2)"
	sandbox reload --enable arrays
	counts "$a" 0 0 3
	sandbox kill server
	sandbox restart server
	counts "$a" 0 0 3
}

@test "arrays: what is not there" {
	a=$(array 1-6:2 1)
	says 156 "qdel: Invalid request $(sub "$a" 7)" qdel "$(sub "$a" 7)"
	says 156 "qdel: Invalid request $(sub "$a" 2)" qdel "$(sub "$a" 2)"
	says 153 "qstat: Unknown Job Id $(sub "$a" 2)" qstat "$(sub "$a" 2)"
	says 153 "qsig: Unknown Job Id $(sub "$a" 2)" qsig -s TERM "$(sub "$a" 2)"
	says 153 "qdel: Unknown Job Id 99999[].svr" qdel '99999[]'
	says 153 "qdel: Unknown Job Id 99999[1].svr" qdel '99999[1]'
}

@test "arrays: a suspended subjob is deleted, and the array goes on" {
	a=$(array 1-6 1 2 3 4)
	qsig -s suspend "$(sub "$a" 1)"
	wait_until 20 all_running "$a" 2 3 4 5
	qsig -s suspend "$(sub "$a" 2-3)"
	wait_until 20 all_running "$a" 4 5 6
	quietly qdel -W force "$(sub "$a" 1)"
	quietly qdel "$(sub "$a" 2-3)"
	wait_until 20 letters_are "$a" XXXRRR
	qdel "$(sub "$a" 4-6)"
	ends "$a"
	wait_until 10 node_is n1 free
}

# ---- signals -----------------------------------------------------------------------------------------------------

@test "arrays: suspend and resume of one, of a range, of all" {
	a=$(array 1-3 1 2 3)
	quietly qsig -s suspend "$(sub "$a" 1)"
	letters_are "$a" SRR
	counts "$a" 0 3 0
	stopped "$(sub "$a" 1)"
	quietly qsig -s suspend "$(sub "$a" 1-2)"
	letters_are "$a" SSR
	quietly qsig -s suspend "$a"
	letters_are "$a" SSS
	quietly qsig -s suspend "$a"
	job_is "$a" B
	quietly qsig -s resume "$(sub "$a" 2-3)"
	wait_until 10 letters_are "$a" SRR
	quietly qsig -s resume "$a"
	wait_until 10 letters_are "$a" RRR
	going "$(sub "$a" 1)"
}

@test "arrays: a signal reaches each that runs" {
	a=$(submit -J 1-3 -k oed -o "$(here 'ready.^array_index^')" -- \
		/bin/sh -c 'trap "exit 3" USR1; echo ready; while :; do sleep 0.1; done')
	for i in 1 2 3; do wait_until 20 grep -qx ready "$(here ready.$i)"; done
	wait_until 20 all_running "$a" 1 2 3
	quietly qsig -s USR1 "$(sub "$a" 1-2)"
	wait_until 20 job_is "$(sub "$a" 1)" X 93
	wait_until 20 job_is "$(sub "$a" 2)" X 93
	job_is "$(sub "$a" 3)" R
	quietly qsig -s USR1 "$a"
	ends "$a"
	same Exit_status 3 "$(job_attr "$(sub "$a" 3)" Exit_status)"
}

@test "arrays: a message into the output of a subjob" {
	a=$(array 1-9 1 2 : -l ncpus=2)
	quietly as "$OWNER" qmsg hello "$(sub "$a" 2)"
	says 168 "qmsg: Request invalid for state of job $(sub "$a" 9)" as "$OWNER" qmsg hello "$(sub "$a" 9)"
	says 153 "qmsg: Unknown Job Id $(sub "$a" 11)" as "$OWNER" qmsg hello "$(sub "$a" 11)"
}

@test "arrays: a range of which nobody can hear is refused at once" {
	a=$(array 1-8 1 2 3 4)
	says 168 "qsig: $BAD_STATE $(sub "$a" 6-8)" timeout 10 qsig -s suspend "$(sub "$a" 6-8)"
	says 168 "qsig: $BAD_STATE $(sub "$a" 7)" timeout 10 qsig -s suspend "$(sub "$a" 7)"
	says 168 "qsig: $BAD_STATE $(sub "$a" 1-4)" timeout 10 qsig -s resume "$(sub "$a" 1-4)"
	says 168 "qrerun: $BAD_STATE $(sub "$a" 5-8)" timeout 10 qrerun "$(sub "$a" 5-8)"
	paused
	b=$(submit -J 1-3)
	says 168 "qsig: $BAD_STATE $b" qsig -s TERM "$b"
}

@test "arrays: only who may" {
	needs_root
	a=$(array 1-3 1 2 3)
	says 159 "qsig: Unauthorized Request  $(sub "$a" 1-2)" as "$OTHER" qsig -s TERM "$(sub "$a" 1-2)"
	says 159 "qsig: Unauthorized Request  $a" as "$OWNER" qsig -s suspend "$a"
	says 159 "qdel: Unauthorized Request  $a" as "$OTHER" qdel "$a"
	says 159 "qdel: Unauthorized Request  $(sub "$a" 1-2)" as "$OTHER" qdel "$(sub "$a" 1-2)"
	says 159 "qrerun: Unauthorized Request  $a" as "$OWNER" qrerun "$a"
	all_running "$a" 1 2 3
	quietly as "$OWNER" qdel "$(sub "$a" 1-2)"
}

# ---- hold, alter, rerun, run -----------------------------------------------------------------------------------------

@test "arrays: a held array starts nothing; what runs goes on" {
	a=$(array 1-8 1 2 3 4)
	quietly qhold "$a"
	job_is "$a" H
	qdel "$(sub "$a" 1)"
	wait_until 20 letters_are "$a" XRRRQQQQ
	quietly qrls "$a"
	job_is "$a" B
	wait_until 20 letters_are "$a" XRRRRQQQ
	says 156 "qhold: Invalid request $(sub "$a" 2)" qhold "$(sub "$a" 2)"
	says 156 "qalter: Invalid request $(sub "$a" 2)" qalter -p 3 "$(sub "$a" 2)"
	says 156 "qalter: Invalid request $(sub "$a" 7)" qalter -p 3 "$(sub "$a" 7)"
	quietly qalter -p 7 "$a"
	same Priority 7 "$(job_attr "$a" Priority)"
	same Priority 7 "$(job_attr "$(sub "$a" 8)" Priority)"
}

@test "arrays: submitted held, released" {
	a=$(submit -J 1-3 -h)
	job_is "$a" H 20
	letters_are "$a" QQQ # the array is held, not they
	qrls "$a"
	wait_until 20 letters_are "$a" RRR
}

@test "arrays: qrerun of one, of a range, of all: they wait again, and run again" {
	a=$(array 1-3 1 2 3)
	paused
	quietly qrerun "$(sub "$a" 2)"
	letters_are "$a" RQR
	remaining_is "$a" 2
	job_is "$a" B
	quietly qrerun "$(sub "$a" 1-3)"
	letters_are "$a" QQQ
	same 'accounting of 2' SR "$(records_of "$(sub "$a" 2)")"
	qmgr -c 'set server scheduling = true'
	wait_until 20 all_running "$a" 1 2 3
	same run_count 2 "$(job_attr "$(sub "$a" 2)" run_count)"
	quietly qrerun "$a"
	wait_until 20 all_running "$a" 1 2 3
	same run_count 3 "$(job_attr "$(sub "$a" 2)" run_count)"
}

@test "arrays: qrun of one, of a range, of the whole" {
	paused
	a=$(submit -J 1-9)
	quietly qrun "$(sub "$a" 7)"
	letters_are "$a" QQQQQQRQQ
	remaining_is "$a" 1-6,8-9
	quietly qrun "$(sub "$a" 2-4:2)"
	letters_are "$a" QRQRQQRQQ
	says 2 "qrun: $BAD_STATE $(sub "$a" 2)" qrun "$(sub "$a" 2)"
	quietly qrun "$a" # its next one
	letters_are "$a" RRQRQQRQQ
	found=$(qrun -H '(n9:ncpus=1)' "$(sub "$a" 3)" 2>&1) && false
	has "$found" '^qrun: '
	letters_are "$a" RRQRQQRQQ
	remaining_is "$a" 3,5-6,8-9
	quietly qrun -H '(n1:ncpus=0)' "$(sub "$a" 3)"
	letters_are "$a" RRRRQQRQQ
}

@test "arrays: a subjob whose start is refused waits again" {
	conf=$SB/server/etc/modules.d/refuse_run.conf
	undo eval "rm -f $conf; keelson reload"
	echo "refuse_run: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/refuse_run.so\";" \
		'queue = "workq"; text = "not today"; };' >"$conf"
	keelson reload
	a=$(submit -J 1-3)
	comment_is() { same comment "$2" "$(job_attr "$1" comment)"; }
	wait_until 20 comment_is "$a" 'Not Running: PBS Error: not today'
	says 2 "qrun: Failed to run: not today (15136) $(sub "$a" 2)" qrun "$(sub "$a" 2)"
	job_is "$a" Q
	letters_are "$a" QQQ
	remaining_is "$a" 1-3
	echo 'refuse_run: { enabled = false; };' >"$conf"
	keelson reload
	wait_until 20 letters_are "$a" RRR
	same run_count 1 "$(job_attr "$(sub "$a" 1)" run_count)"
}

@test "arrays: a host that is gone for good gives its subjobs back" {
	a=$(array 1-3 1 2 3)
	undo qmgr -c 'unset server node_fail_requeue'
	qmgr -c 'set server node_fail_requeue = 1'
	sandbox kill n1
	wait_until 30 letters_are "$a" QQQ
	sandbox restart n1
	wait_until 30 all_running "$a" 1 2 3
	same run_count 2 "$(job_attr "$(sub "$a" 1)" run_count)"
}

# ---- listings ----------------------------------------------------------------------------------------------------------

@test "arrays: ranges and indices wherever an id is" {
	a=$(array 1-10 1 2 3 4)
	same lines 3 "$(qstat "$(sub "$a" 2-6:2)" | awk 'NR > 2' | wc -l)"
	same lines 5 "$(qstat "$(sub "$a" 1-3,7,9)" | awk 'NR > 2' | wc -l)"
	same lines 6 "$(qstat -E "$(sub "$a" 1-3,7,9)" "$a" | awk 'NR > 2' | wc -l)"
	quietly qsig -s CONT "$(sub "$a" 1,3-4)"
	quietly qstat -f "$(sub "${a%.svr}" 9)" >/dev/null || true
	has "$(qstat "${a%%[*}[9]@svr")" ' Q workq'
	same '-f of one that waits' 10 "$(qstat -f "$(sub "$a" 9)" | value substate)"
	same hashname "$(sub "$a" 9)" "$(qstat -f "$(sub "$a" 9)" | value hashname)"
	same selected "$a" "$(qselect)"
	same selected "$a" "$(qselect -J)"
	same expanded 10 "$(qselect -T | wc -l)"
	same waiting 6 "$(qselect -T -s Q | wc -l)"
	same running 4 "$(qselect -T -s R | wc -l)"
	b=$(submit)
	same plain "$b" "$(qstat "$b" | awk 'NR > 2 { print $1 }')"
	same 'not arrays' "$a" "$(qselect -J)"
}

@test "arrays: percent done" {
	a=$(array 1-4 1 2 3 4)
	qdel "$(sub "$a" 1)"
	wait_until 20 counts "$a" 0 3 1
	has "$(qstat -p "$a")" ' 25 +B workq'
}

@test "arrays: the jobs of a vnode are subjobs" {
	a=$(array 1-3 1 2 3)
	has "$(pbsnodes -v n1)" "jobs = .*${a%%[*}\[2\]\.svr/"
}

@test "arrays: accounting and logs" {
	a=$(shell : -J 1-2 -j oe -o /dev/null)
	ends "$a"
	same 'records of the array' QSE "$(records_of "$a")"
	same 'records of a subjob' SE "$(records_of "$(sub "$a" 2)")"
	has "$(accounting)" ";Q;${a%%[*}\[\]\.svr;.* array_indices=1-2 "
	has "$(accounting)" ";E;${a%%[*}\[\]\.svr;.* array_indices=1-2 .* Exit_status=0"
	has "$(server_log)" "Job;${a%%[*}\[2\]\.svr;Job Run at request of Scheduler@"
	has "$(tracejob "$(sub "$a" 2)")" 'Job Run at request of Scheduler@'
}

@test "arrays: without history what is over is told from a few numbers" {
	no_history
	a=$(shell 'test $PBS_ARRAY_INDEX -lt 3 && exit $PBS_ARRAY_INDEX; sleep 1000' -J 1-4 -j oe -o /dev/null)
	wait_until 20 counts "$a" 0 2 2
	has "$(qstat -t "$a")" "^${a%%[*}\[1\]\.svr .* X workq"
	same Exit_status 2 "$(now "$(sub "$a" 2)" Exit_status)"
	same comment 'Subjob failed' "$(now "$(sub "$a" 2)" comment)"
	sandbox kill server
	sandbox restart server
	wait_until 20 counts "$a" 0 2 2
	same Exit_status 2 "$(now "$(sub "$a" 2)" Exit_status)"
	wait_until 20 node_is n1 free
	qdel "$a"
	wait_until 20 gone "$a"
}

# ---- many ------------------------------------------------------------------------------------------------------------------

# ms COMMAND...: how long it took
ms()
{
	local begun=${EPOCHREALTIME/./}
	"$@" >/dev/null
	echo $(((${EPOCHREALTIME/./} - begun) / 1000))
}
kb_of_server() { awk '$1 == "VmRSS:" { print $2 }' "/proc/$(server_pid)/status"; }
server_pid() { pgrep -f "keelsond --conf $SB/server/" | head -n 1; }

@test "arrays: a million subjobs cost what a job costs" {
	paused
	before=$(kb_of_server)
	took=$(ms submit -J 1-1000000 -N many)
	a=$(qselect -N many)
	after=$(kb_of_server)
	[ "$took" -lt 5000 ] || { echo "qsub took $took ms" >&2; false; }
	[ $((after - before)) -lt 2048 ] || { echo "$((after - before)) kb more" >&2; false; }
	remaining_is "$a" 1-1000000
	quietly qdel "$(sub "$a" 2-1000000:2)"
	remaining_is "$a" 1-999999:2
	counts "$a" 500000 0 500000
	same 'the last one' X "$(qstat "$(sub "$a" 1000000)" | awk 'NR > 2 { print $5 }')"
	qmgr -c 'set server scheduling = true'
	wait_until 20 all_running "$a" 1 3 5 7
	took=$(ms qdel "$a")
	[ "$took" -lt 5000 ] || { echo "qdel took $took ms" >&2; false; }
	ends "$a"
}

@test "arrays: a listing of a million delays nobody" {
	paused
	a=$(submit -J 1-1000000)
	whole=$(ms qstat -t "$a")
	qstat -t "$a" >"$BATS_TEST_TMPDIR/all" 3>&- &
	worst=0
	for _ in 1 2 3 4 5; do
		took=$(ms qstat "$(sub "$a" 5)")
		[ "$took" -le "$worst" ] || worst=$took
	done
	wait $!
	[ $((2 * worst)) -lt "$whole" ] || { echo "a small qstat waited $worst ms, the listing takes $whole ms" >&2; false; }
	same lines 1000003 "$(wc -l <"$BATS_TEST_TMPDIR/all")"
}

# ---- restart -----------------------------------------------------------------------------------------------------------------

@test "arrays: kill -9 of the server with subjobs in every state" {
	a=$(array 1-9 1 2 3 4)
	qdel "$(sub "$a" 1)"
	wait_until 20 all_running "$a" 2 3 4 5
	qsig -s suspend "$(sub "$a" 2)"
	wait_until 20 all_running "$a" 3 4 5 6
	qhold "$a"
	qrerun "$(sub "$a" 3)"
	qdel "$(sub "$a" 8)"
	letters_are "$a" XSQRRRQXQ
	sessions="$(session_of "$(sub "$a" 2)") $(session_of "$(sub "$a" 4)")"
	sandbox kill server
	sandbox restart server
	wait_until 20 node_is n1 free
	job_is "$a" H
	letters_are "$a" XSQRRRQXQ
	counts "$a" 3 4 2
	remaining_is "$a" 3,7,9
	same sessions "$sessions" "$(session_of "$(sub "$a" 2)") $(session_of "$(sub "$a" 4)")"
	qrls "$a"
	wait_until 20 job_is "$(sub "$a" 3)" R 42
	same run_count 2 "$(job_attr "$(sub "$a" 3)" run_count)"
	qdel "$(sub "$a" 3-9)"
	wait_until 20 letters_are "$a" XSXXXXXXX
	qsig -s resume "$a"
	wait_until 20 job_is "$(sub "$a" 2)" R 42
	qdel "$a"
	ends "$a"
	same 'not over' '' "$(letters "$a" | tr -d F)"
}

files_in() { [ "$(find "$1" -type f | wc -l)" -ge "$2" ]; }

@test "arrays: each subjob runs once, whatever is killed" {
	ran=$SB/ran
	mkdir -p -m 777 "$ran"
	# shellcheck disable=SC2016
	a=$(shell "echo \$PBS_JOBID >>$ran/\$PBS_ARRAY_INDEX; sleep 0.3" -J 1-24 -j oe -o /dev/null)
	for n in 4 8 12; do
		wait_until 20 files_in "$ran" "$n"
		sandbox kill server
		sandbox restart server
	done
	wait_until 60 is_over "$a"
	same files 24 "$(find "$ran" -type f | wc -l)"
	same runs 24 "$(cat "$ran"/* | wc -l)"
	same Exit_status 0 "$(job_attr "$a" Exit_status)"
	rm -rf "$ran"
}

@test "arrays: who waits for a subjob that is over is answered at once" {
	a=$(array 1-2 1 2)
	wait_for() { timeout 100 "$KEELSON_BUILD/tests/scenario/tools/waitjob" "$(sub "$a" "$1")" || true; }
	qsig -s KILL "$(sub "$a" 1)"
	wait_until 20 job_is "$(sub "$a" 1)" X 93
	same killed '265 ' "$(wait_for 1)"
	qdel "$(sub "$a" 2)"
	ends "$a"
	same deleted '271 Job was deleted' "$(wait_for 2)"
}

@test "arrays: switched off, -J is unknown and arrays wait; switched on, they are known again" {
	a=$(array 1-6 1 2 3 4)
	qdel "$(sub "$a" 6)"
	sandbox reload --disable arrays
	undo sandbox reload --enable arrays
	has "$(submit -J 1-3 2>&1 || true)" '^qsub: Error \(15002\) submitting job'
	qdel "$(sub "$a" 1)"
	wait_until 20 job_is "$(sub "$a" 1)" X
	[ "$(qstat | grep -c "^${a%%[*}\[5\]")" -eq 0 ]
	sandbox reload --enable arrays
	wait_until 20 letters_are "$a" XRRRRX
	qdel "$a"
	ends "$a"
	same 'not over' '' "$(letters "$a" | tr -d F)"
}
