#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# qstat: every listing of a small scene, its errors and its exit statuses.
#
# The scene: two jobs that run, one held, one that can never run, one that waits for its time, and one
# that is over.

load helper
load shared

USAGE='usage: 
qstat [-f] [-J] [-p] [-t] [-x] [-E] [-F format | -w] [-D delim] [ job_identifier... | destination... ]
qstat [-a|-i|-r|-H|-T] [-J] [-t] [-u user] [-n] [-s] [-G|-M] [-1] [-w]
	[ job_identifier... | destination... ]
qstat -Q [-f] [-F format] [-D delim] [ destination... ]
qstat -q [-G|-M] [ destination... ]
qstat -B [-f] [-F format] [-D delim] [ server_name... ]
qstat --version'
NEVER='Can Never Run: Insufficient amount of resource: ncpus (R: 64 A: 4 T: 4)'

setup_file()
{
	open_cluster
	qsub_first=$(echo 'sleep 1000' | as "$OWNER" qsub -N first -l walltime=01:00:00,mem=200mb)
	qsub_long=$(submit -N a_rather_long_job_name_here -l select=2:ncpus=1)
	qsub_held=$(submit_as "$OTHER" -h -N heldjob)
	qsub_never=$(submit_as "$OTHER" -l select=64:ncpus=1 -l walltime=100:00:00)
	qsub_waits=$(submit_as "$OTHER" -a 2912312359 -N waitjob)
	qsub_over=$(finished -N over -- /bin/false)
	wait_until 20 job_is "$qsub_first" R 42
	wait_until 20 job_is "$qsub_long" R 42
	wait_until 20 same comment "$NEVER" "$(job_attr "$qsub_never" comment)" || true
	export qsub_first qsub_long qsub_held qsub_never qsub_waits qsub_over
}
teardown() { [ -n "${BATS_TEST_COMPLETED-}" ] || show_state; undo_all; }

# ---- what tables should look like -------------------------------------------------------------------------

HEADER='Job id            Name             User              Time Use S Queue
----------------  ---------------- ----------------  -------- - -----'

line() { printf '%-17s %-16s %-16s  %8s %1s %-16s\n' "$@"; } # id name user time state queue

row_first() { line "$qsub_first" first "$OWNER" "${1-TIME}" R workq; }
row_long() { line "$qsub_long" 'a_rather_long_j*' "$OWNER" "${1-TIME}" R workq; }
row_held() { line "$qsub_held" heldjob "$OTHER" 0 H workq; }
row_never() { line "$qsub_never" STDIN "$OTHER" 0 Q workq; }
row_waits() { line "$qsub_waits" waitjob "$OTHER" 0 W workq; }
rows() { row_first; row_long; row_held; row_never; row_waits; }

# Used time grows while we look.
timeless() { sed -E 's/00:00:[0-9]{2} R/    TIME R/; s/       0 R/    TIME R/'; }

ALT_HEADER="
svr: 
                                                            Req'd  Req'd   Elap
Job ID          Username Queue    Jobname    SessID NDS TSK Memory Time  S Time
--------------- -------- -------- ---------- ------ --- --- ------ ----- - -----"

alt() # id user name session nds tsk memory time state elapsed
{
	printf '%-15.15s %-8.8s %-8.8s %-10.10s %6.6s %3.3s %3.3s %6.6s %5.5s %1.1s %5.5s\n' \
		"$1" "$2" workq "$3" "$4" "$5" "$6" "$7" "$8" "$9" "${10}"
}
alt_first() { alt "$qsub_first" "$OWNER" first "$(session_of "$qsub_first")" 1 1 "${1-200mb}" 01:00 R 00:00; }
alt_long() { alt "$qsub_long" "$OWNER" 'a_rather_*' "$(session_of "$qsub_long")" 2 2 ' -- ' ' -- ' R 00:00; }
alt_held() { alt "$qsub_held" "$OTHER" heldjob ' -- ' 1 1 ' -- ' ' -- ' H ' -- '; }
alt_never() { alt "$qsub_never" "$OTHER" STDIN ' -- ' 64 64 ' -- ' 100:0 Q ' -- '; }
alt_waits() { alt "$qsub_waits" "$OTHER" waitjob ' -- ' 1 1 ' -- ' ' -- ' W ' -- '; }
elapsed() { sed -E 's# R (  -- | -- |00:0[0-9])# R 00:00#'; }

# shows EXPECTED COMMAND...: exactly that on stdout, nothing on stderr, exit 0.
shows()
{
	local expected=$1 found
	shift
	found=$("$@" 2>&1) || { echo "exit $? of $*: $found" >&2; return 1; }
	found=$(timeless <<<"$found" | elapsed)
	diff <(echo "$expected") <(echo "$found") >&2
}

# ---- the default table -------------------------------------------------------------------------------------

@test "qstat: the table of jobs" {
	shows "$HEADER
$(rows)" qstat
}

@test "qstat: by id, by queue, by server" {
	shows "$HEADER
$(row_first; row_held)" qstat "$qsub_first" "${qsub_held%.svr}"
	shows "$HEADER
$(rows)" qstat workq
	shows "$HEADER
$(rows)" qstat @svr
	shows "$HEADER
$(rows)" qstat workq@svr
}

@test "qstat -x: with what is over" {
	found=$(qstat -x "$qsub_over")
	has "$found" "^${qsub_over} +over +$OWNER +00:00:00 F workq "
	same lines 8 "$(qstat -x | wc -l)"
}

@test "qstat -w: wide columns" {
	found=$(qstat -w)
	same header "Job id                         Name            User             Time Use S Queue
-----------------------------  --------------- ---------------  -------- - ---------------" \
		"$(head -n 2 <<<"$found")"
	same row "$(printf '%-30s %-15s %-15s  %8s %1s %-15s' "$qsub_held" heldjob "$OTHER" 0 H workq)" \
		"$(grep heldjob <<<"$found")"
	has "$found" " a_rather_long_\\* $OWNER "
}

@test "qstat -p: percent done" {
	found=$(qstat -p)
	has "$found" '^Job id            Name             User               % done  S Queue$'
	has "$found" "^$qsub_held +heldjob +$OTHER +-- +H"
}

@test "qstat -J -t: there are no arrays here" {
	quietly qstat -J
	shows "$HEADER
$(rows)" qstat -t
}

@test "qstat: the server's comment comes first" {
	qmgr -c 'set server comment = "closed on Monday"'
	undo qmgr -c 'unset server comment'
	same comment 'closed on Monday' "$(qstat | head -n 1)"
}

@test "qstat -E: ids in one request" {
	shows "$HEADER
$(row_first; row_held)" qstat -E "$qsub_first" "$qsub_held"
	shows "$HEADER
$(rows)" qstat -E
}

# ---- the alternate table ------------------------------------------------------------------------------------

@test "qstat -a" {
	shows "$ALT_HEADER
$(alt_first; alt_long; alt_held; alt_never; alt_waits)" qstat -a
}

@test "qstat -i and -r: what does not run, what runs" {
	shows "$ALT_HEADER
$(alt_held; alt_never; alt_waits)" qstat -i
	shows "$ALT_HEADER
$(alt_first; alt_long)" qstat -r
}

@test "qstat -u: jobs of users" {
	needs_root
	shows "$ALT_HEADER
$(alt_held; alt_never; alt_waits)" qstat -u "$OTHER"
	shows "$ALT_HEADER
$(alt_first; alt_long; alt_held; alt_never; alt_waits)" qstat -u "$OWNER,$OTHER"
	quietly qstat -u nobody_here
}

@test "qstat -H: what is over" {
	found=$(qstat -H)
	has "$found" "^$(printf '%-15s %-8.8s' "$qsub_over" "$OWNER") workq    over .* F 00:00\$"
	same lines 6 "$(wc -l <<<"$found")"
}

@test "qstat -n: hosts on a line of their own" {
	found=$(qstat -n | elapsed)
	same first "$(alt_first; echo '   n1/0')" "$(grep -A1 "^$qsub_first" <<<"$found")"
	same long "$(alt_long; echo '   n1/1+n1/2')" "$(grep -A1 "^$qsub_long" <<<"$found")"
	same held "$(alt_held; echo '    -- ')" "$(grep -A1 "^$qsub_held" <<<"$found")"
}

@test "qstat -n -1: hosts on the same line" {
	found=$(qstat -n1 | elapsed)
	same first "$(alt_first) n1/0" "$(grep "^$qsub_first" <<<"$found")"
	same long "$(alt_long) n1/1+n1/2" "$(grep "^$qsub_long" <<<"$found")"
	same held "$(alt_held)  -- " "$(grep "^$qsub_held" <<<"$found")"
}

@test "qstat -s: comments" {
	found=$(qstat -s | elapsed)
	has "$(grep -A1 "^$qsub_first" <<<"$found")" \
		'^   Job run at [A-Z][a-z]{2} [A-Z][a-z]{2} [0-9]{2} at [0-9:]{5} on \(n1:mem=204800kb:ncpus=1\)$'
	same never "$(alt_never; echo "   $NEVER")" "$(grep -A1 "^$qsub_never" <<<"$found")"
	same held "$(alt_held; echo '    -- ')" "$(grep -A1 "^$qsub_held" <<<"$found")"
	same 'one line' "$(alt_never)    $NEVER" "$(qstat -s1 | grep "^$qsub_never")"
}

@test "qstat -a -w: wide" {
	found=$(qstat -aw)
	has "$found" '^Job ID                         Username        Queue           Jobname         SessID   NDS  TSK   Memory Time  S Time$'
	same row "$(printf '%-30s %-15s %-15s %-15s %8s %4s %5s %6s %5s %1s %5s' "$qsub_held" "$OTHER" workq \
		heldjob ' -- ' 1 1 ' -- ' ' -- ' H ' -- ')" "$(grep heldjob <<<"$found")"
}

@test "qstat -G -M: gigabytes and megawords" {
	shows "$ALT_HEADER
$(alt_first 1gb)" qstat -G "$qsub_first"
	shows "$ALT_HEADER
$(alt_first 25mw)" qstat -M "$qsub_first"
}

@test "qstat -T: estimated start" {
	found=$(qstat -T)
	has "$found" '^ {75}Est$'
	has "$found" "Req'd  Req'd   Start\$"
	has "$found" "^$qsub_held .* H    --\$"
}

# ---- everything ---------------------------------------------------------------------------------------------

@test "qstat -f: the attributes of a running job, in their order" {
	needs_root # an ordinary user is a manager of its own cluster
	names=$(as "$OWNER" qstat -f "$qsub_first" | sed -n 's/^    \([^ ]*\) = .*/\1/p' | grep -v '^resources_used')
	same names "Job_Name Job_Owner job_state queue server Checkpoint ctime Error_Path exec_host exec_vnode \
Hold_Types Join_Path Keep_Files Mail_Points mtime Output_Path Priority qtime Rerunable Resource_List.mem \
Resource_List.ncpus Resource_List.nodect Resource_List.place Resource_List.select Resource_List.walltime \
stime session_id jobdir substate Variable_List comment etime run_count Submit_arguments project Submit_Host" \
		"$(xargs <<<"$names")"
}

@test "qstat -f: managers see more" {
	needs_root
	found=$(qstat -f "$qsub_first")
	for name in schedselect euser egroup hashname queue_rank queue_type run_version; do
		has "$found" "^    $name = "
		lacks "$(as "$OWNER" qstat -f "$qsub_first")" "^    $name = "
	done
}

@test "qstat -f: the attributes of a job that is over" {
	needs_root # an ordinary user is a manager of its own cluster
	names=$(as "$OWNER" qstat -xf "$qsub_over" | sed -n 's/^    \([^ ]*\) = .*/\1/p' |
		grep -v -e '^resources_used' -e '^session_id')
	same names "Job_Name Job_Owner job_state queue server Checkpoint ctime Error_Path exec_host exec_vnode \
Hold_Types Join_Path Keep_Files Mail_Points mtime Output_Path Priority qtime Rerunable Resource_List.ncpus \
Resource_List.nodect Resource_List.place Resource_List.select stime obittime jobdir substate Variable_List \
comment etime run_count Stageout_status Exit_status Submit_arguments executable history_timestamp project \
Submit_Host" "$(xargs <<<"$names")"
	has "$(qstat -xf "$qsub_over")" 'comment = Job run at .* on \(n1:ncpus=1\) and failed$'
}

@test "qstat -f: folded lines are 79 wide, and unfold to what -w prints" {
	folded=$(qstat -f "$qsub_first")
	[ "$(awk '{ sub(/^\t/, "        "); if (length > n) n = length } END { print n }' <<<"$folded")" -le 79 ]
	diff <(sed -e ':a' -e 'N' -e '$!ba' -e 's/\n\t//g' <<<"$folded" | grep -v resources_used) \
		<(echo "$(qstat -f -w "$qsub_first")" | grep -v resources_used)
}

@test "qstat -f: a block per job, an empty line after each" {
	found=$(qstat -f "$qsub_first" "$qsub_held"; echo end)
	same ids "Job Id: $qsub_first Job Id: $qsub_held" "$(grep '^Job Id' <<<"$found" | xargs)"
	same blanks 2 "$(grep -c '^$' <<<"$found")"
	same last '' "$(tail -n 2 <<<"$found" | head -n 1)"
}

@test "qstat -f: times as everybody reads them" {
	has "$(job_attr "$qsub_first" ctime)" \
		'^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} [0-9]{4}$'
}

@test "qstat -f -F dsv: one line per job" {
	found=$(qstat -f -F dsv "$qsub_held" "$qsub_first")
	same lines 2 "$(wc -l <<<"$found")"
	has "$found" "^Job Id: $qsub_held\\|Job_Name=heldjob\\|Job_Owner=$OTHER@"
	has "$found" '\|Resource_List\.ncpus=1\|'
	has "$(qstat -f -F dsv -D '%' "$qsub_held")" "^Job Id: $qsub_held%Job_Name=heldjob%"
}

@test "qstat -f -F json: all jobs, parsed by a parser" {
	json=$(qstat -f -F json)
	same jobs 5 "$(jq '.Jobs | length' <<<"$json")"
	same server svr "$(jq -r .pbs_server <<<"$json")"
	same 'a number' number "$(jq -r '.timestamp | type' <<<"$json")"
	same ncpus 2 "$(jq --arg id "$qsub_long" '.Jobs[$id].Resource_List.ncpus' <<<"$json")"
	same memory 200mb "$(jq -r --arg id "$qsub_first" '.Jobs[$id].Resource_List.mem' <<<"$json")"
	same select 1:mem=200mb:ncpus=1 "$(jq -r --arg id "$qsub_first" '.Jobs[$id].Resource_List.select' <<<"$json")"
	same state H "$(jq -r --arg id "$qsub_held" '.Jobs[$id].job_state' <<<"$json")"
	same queue workq "$(jq -r --arg id "$qsub_first" '.Jobs[$id].Variable_List.PBS_O_QUEUE' <<<"$json")"
	same time "$(job_attr "$qsub_first" ctime)" "$(jq -r --arg id "$qsub_first" '.Jobs[$id].ctime' <<<"$json")"
}

@test "qstat -F json: several operands, history, and glued letters" {
	json=$(qstat -xfFjson "$qsub_first" "$qsub_over")
	same ids "$qsub_first $qsub_over" "$(jq -r '.Jobs | keys_unsorted | join(" ")' <<<"$json")"
	same status 1 "$(jq --arg id "$qsub_over" '.Jobs[$id].Exit_status' <<<"$json")"
	json=$(qstat "$qsub_first" -f "$qsub_over" -x -F JSON)
	same ids 2 "$(jq '.Jobs | length' <<<"$json")"
}

@test "qstat -f -F json: a document whatever else is said" {
	local got=0
	same text 'qstat: illegally formed job identifier: 12x' "$(qstat -f -F json 12x 2>&1 >/dev/null)"
	qstat -f -F json 12x >/dev/null 2>&1 || got=$?
	same status 1 "$got"
	same empty '{}' "$(qstat -f -F json 12x 2>/dev/null | jq -c .Jobs)"
	# -q is a table for people: with -F its queues are those of -Q
	same queue Execution "$(qstat -q -f -F json | jq -r .Queue.workq.queue_type)"
	has "$(qstat -q -f -F dsv)" '^Queue: workq\|queue_type=Execution\|'
}

@test "qstat -F json: names that look like numbers stay texts" {
	id=$(submit -h -N 0012 -A 1e3 -P 42 -v 'A=1,B=true,C="x\"y"')
	undo qdel -x "$id"
	json=$(qstat -f -F json "$id")
	same texts '0012 1e3 42' "$(jq -r '.Jobs[] | [.Job_Name, .Account_Name, .project] | join(" ")' <<<"$json")"
}

@test "qstat -F json: an unknown id is said beside valid JSON" {
	got=0
	json=$(qstat -f -F json 99999 "$qsub_first" 2>"$BATS_TEST_TMPDIR/err") || got=$?
	same status 153 "$got"
	same error 'qstat: Unknown Job Id 99999.svr' "$(cat "$BATS_TEST_TMPDIR/err")"
	same job R "$(jq -r --arg id "$qsub_first" '.Jobs[$id].job_state' <<<"$json")"
	json=$(qstat -f -F json 99999 2>/dev/null) || true
	same 'no jobs' 0 "$(jq '.Jobs | length' <<<"$json")"
}

# ---- queues and servers -------------------------------------------------------------------------------------

@test "qstat -Q: queues" {
	shows 'Queue              Max   Tot Ena Str   Que   Run   Hld   Wat   Trn   Ext Type
---------------- ----- ----- --- --- ----- ----- ----- ----- ----- ----- ----
workq                0     6 yes yes     1     2     1     1     0     0 Exe*' qstat -Q
	same 'named' "$(qstat -Q)" "$(qstat -Q workq)"
	same 'with -a, -w' "$(qstat -Q)$(qstat -Q)" "$(qstat -Q -a)$(qstat -Qw)"
}

@test "qstat -Qf: a queue's attributes" {
	same queue "Queue: workq
    queue_type = Execution
    total_jobs = 6
    state_count = Transit:0 Queued:1 Held:1 Waiting:1 Running:2 Exiting:0 Begun
	:0 
    resources_assigned.mem = 200mb
    resources_assigned.ncpus = 3
    resources_assigned.nodect = 3
    enabled = True
    started = True" "$(qstat -Qf)"
	same json 3 "$(qstat -Qf -F json | jq '.Queue.workq.resources_assigned.ncpus')"
	has "$(qstat -Qf -F dsv)" '^Queue: workq\|queue_type=Execution\|'
}

@test "qstat -q: queues, the other way" {
	shows "
server: svr

Queue            Memory CPU Time Walltime Node   Run   Que   Lm  State
---------------- ------ -------- -------- ---- ----- ----- ----  -----
workq              --      --       --     --      2     3   --   E R
                                               ----- -----
                                                   2     3" qstat -q
}

@test "qstat -B: servers" {
	shows 'Server             Max   Tot   Que   Run   Hld   Wat   Trn   Ext Status
---------------- ----- ----- ----- ----- ----- ----- ----- ----- -----------
svr                  0     6     1     2     1     1     0     0 Active    ' qstat -B
	found=$(qstat -Bf)
	has "$found" '^Server: svr$'
	for line in 'server_state = Active' "server_host = $(hostname)" 'total_jobs = 6' 'default_queue = workq' \
		'resources_assigned.ncpus = 3' 'job_history_enable = True' 'max_array_size = 10000'; do
		has "$found" "^    $line\$"
	done
	same json Active "$(qstat -Bf -F json | jq -r '.Server.svr.server_state')"
}

# ---- errors ----------------------------------------------------------------------------------------------------

@test "qstat: an unknown id is 153, the others are still shown" {
	says 153 'qstat: Unknown Job Id 99999.svr' qstat 99999
	got=0
	found=$(qstat 99999.svr "$qsub_held" 2>/dev/null) || got=$?
	same status 153 "$got"
	same 'the row alone' "$(row_held)" "$found"
}

@test "qstat: a job that is over is 35" {
	says 35 "qstat: $qsub_over Job has finished, use -x or -H to obtain historical job information" \
		qstat "$qsub_over"
	says 35 "qstat: $qsub_over Job has finished, use -x or -H to obtain historical job information" \
		qstat -f "$qsub_over"
}

@test "qstat: unknown queues are 170, unknown servers 255" {
	says 170 'qstat: Unknown queue destination nosuchq' qstat nosuchq
	says 170 'qstat: Unknown queue destination xyz1' qstat xyz1
	says 170 'qstat: Unknown queue nosuchq' qstat -Q nosuchq
	says 170 'qstat: Unknown queue nosuchq' qstat -Qf nosuchq
	for words in @nosuchhost '-B nosuchserver'; do
		# shellcheck disable=SC2086
		says 255 'Unknown Host.
qstat: cannot connect to server svr (errno=15008)' qstat $words
	done
	for name in PBS_SERVER PBS_DEFAULT; do
		says 255 'Unknown Host.
qstat: cannot connect to server nosuchhost (errno=15008)' env $name=nosuchhost qstat
	done
}

@test "qstat: malformed ids are 1" {
	says 1 'qstat: illegally formed job identifier: 12x' qstat 12x
	says 153 "qstat: Unknown Job Id ${qsub_first%.svr}[2].svr" qstat "${qsub_first%.svr}[2]"
}

@test "qstat: misuse is 2" {
	says 2 "qstat: invalid option -- 'Z'
$USAGE" qstat -Z
	says 2 "qstat: conflicting options.
$USAGE" qstat -1
	says 2 "qstat: conflicting options.
$USAGE" qstat -F json
	says 2 "qstat: conflicting options.
$USAGE" qstat -a -i
	says 2 "$USAGE" qstat -f -F nonsense
}

@test "qstat: nothing to show is no output" {
	quietly qstat -u nobody_here
	has "$(qstat --version)" '^pbs_version = '
}

@test "qstat: others' jobs may be hidden" {
	needs_root
	qmgr -c 'set server query_other_jobs = False'
	undo qmgr -c 'set server query_other_jobs = True'
	shows "$HEADER
$(row_held; row_never; row_waits)" as "$OTHER" qstat
	quietly as "$OTHER" qstat "$qsub_first"
	quietly as "$OTHER" qstat -f "$qsub_first"
	shows "$HEADER
$(rows)" qstat
}

@test "qstat -x: without history it says so" {
	saved=$SB
	SB=$(mktemp -d "${TMPDIR:-/tmp}/keelson-story.XXXXXX")
	chmod 755 "$SB"
	undo rm -rf "$SB"
	undo "$top/scripts/sandbox" stop --dir "$SB" --build "$KEELSON_BUILD"
	sandbox start
	. "$SB/env"
	says 0 'qstat: PBS is not configured to maintain job history ' qstat -x
	id=$(submit -- /bin/true)
	is_gone() { ! qstat "$1"; }
	wait_until 20 is_gone "$id"
	says 153 "qstat: Unknown Job Id $id" qstat "$id"
	SB=$saved
}

@test "qstat: with the server down every form is 255" {
	sandbox kill server
	undo "$top/scripts/sandbox" restart --dir "$SB" --build "$KEELSON_BUILD" server
	for words in '' -a -f -Q -B "$qsub_first"; do
		# shellcheck disable=SC2086
		says 255 'Connection refused
qstat: cannot connect to server svr (errno=15010)' qstat $words
	done
}
