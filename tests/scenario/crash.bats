#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Crashes: daemons are killed in the middle of work. What a command has acknowledged is there afterwards,
# and nothing runs twice.

load helper

no_jobs() { [ -z "$(qselect)" ]; }
everybody_in() { ! pbsnodes -a | grep -q 'state = .*down'; }
lines_in() { cat "$@" 2>/dev/null | wc -l; }

cluster()
{
	setup_sandbox "$@"
	qmgr -c 'set server job_history_enable = true'
	ran=$SB/ran
	mkdir -m 777 "$ran"
}

# The job of these stories: it leaves one line in a file of its own, each time it runs.
mark() { echo "echo \$PBS_JOBID >>$ran/\$PBS_JOBID"; }

# clients N EACH: N clients submit EACH marking jobs; who is not answered tries again. Ids in ids.*.
clients()
{
	local n
	# shellcheck disable=SC2016
	for ((n = 1; n <= $1; n++)); do
		as "$OWNER" bash -c '
			while [ "$(cat ids.$1 2>/dev/null | wc -l)" -lt "$2" ]; do
				qsub -j oe -o /dev/null -- /bin/sh -c "$3" >>ids.$1 2>>errors.$1 || sleep 0.05
			done' - "$n" "$2" "$(mark)" 3>&- &
	done
}

# Ids that accounting has not told exactly once as queued, started, ended.
told_otherwise()
{
	local letter
	for letter in Q S E; do
		accounting | awk -F';' -v l=$letter '$2 == l { print $3 }' | sort | uniq -c |
			awk '$1 == 1 { print $2 }' | comm -23 <(sort "$1") -
	done
}
all_told() { [ -z "$(told_otherwise "$1")" ]; }

# Each acknowledged id is known, ended well, and ran exactly once; what ran beside them ran once too.
check_all_once()
{
	local ids known=$SB/known
	ids=$(cat "$(desk "$OWNER")"/ids.*)
	same 'ids, each once' "$(wc -l <<<"$ids")" "$(sort -u <<<"$ids" | wc -l)"
	qstat -x -f -F json >"$known"
	same 'ids that are unknown' '' \
		"$(comm -23 <(sort <<<"$ids") <(jq -r '.Jobs | keys[]' "$known" | sort))"
	same 'ids that did not run' '' "$(comm -23 <(sort <<<"$ids") <(ls "$ran" | sort))"
	same 'runs too many' '' "$(grep -c . "$ran"/* | grep -v ':1$' || true)"
	same 'files of strangers' '' "$(grep -L -x -E '[0-9]+\.svr' "$ran"/* || true)"
	jq -r '.Jobs | to_entries[] | select(.key | IN($ids[])) |
		select(.value.job_state != "F" or .value.Exit_status != 0) | .key' \
		--argjson ids "$(jq -R . <<<"$ids" | jq -s .)" "$known" >"$SB/unwell"
	same 'ids that did not end well' '' "$(cat "$SB/unwell")"
	echo "$ids" >"$SB/all"
	wait_until 10 all_told "$SB/all" || { told_otherwise "$SB/all" | head >&2; return 1; }
}

@test "crash: 500 submissions from 8 clients, the server killed three times" {
	cluster --hosts 2 --ncpus 8
	kept=$(submit -l select=1:host=n1)
	wait_until 20 job_is "$kept" R 42
	pid=$(session_of "$kept")
	quietly qsig -s admin-suspend "$kept"
	clients 8 63
	for count in 100 230 360; do
		enough() { [ "$(lines_in "$(desk "$OWNER")"/ids.*)" -ge $count ]; }
		wait_until 60 enough
		sandbox restart server --hard
	done
	wait $(jobs -p)
	wait_until 20 everybody_in
	only_kept() { [ "$(qselect)" = "$kept" ]; }
	wait_until 120 only_kept
	same ids 504 "$(lines_in "$(desk "$OWNER")"/ids.*)"
	check_all_once
	job_is "$kept" S 43
	same session "$pid" "$(session_of "$kept")"
	stopped "$kept"
	node_is n1 maintenance "$kept"
	quietly qsig -s admin-resume "$kept"
	node_is n1 free ''
	job_is "$kept" R 42
}

@test "crash: the server killed between submission and start" {
	cluster
	qmgr -c 'set server scheduling = false'
	clients 2 10
	wait $(jobs -p)
	sandbox restart server --hard
	same queued 20 "$(qselect -s Q | wc -l)"
	same 'nothing ran' '' "$(ls "$ran")"
	wait_until 20 everybody_in
	qmgr -c 'set server scheduling = true'
	wait_until 60 no_jobs
	check_all_once
}

@test "crash: the server killed while jobs start and end" {
	cluster --ncpus 8
	clients 2 40
	wait $(jobs -p)
	for _ in 1 2 3; do
		seen=$(lines_in "$ran"/*)
		more() { [ "$(lines_in "$ran"/*)" -gt "$seen" ] || no_jobs; }
		wait_until 30 more
		sandbox restart server --hard
	done
	wait_until 60 no_jobs
	check_all_once
}

@test "crash: jobs end while the server is dead" {
	cluster
	go=$SB/go
	ids=$(for status in 0 3 77; do
		submit -- /bin/sh -c "while [ ! -e $go ]; do sleep 0.05; done; exit $status"
	done)
	for id in $ids; do wait_until 20 job_is "$id" R 42; done
	pids=$(for id in $ids; do session_of "$id"; done)
	sandbox kill server
	touch "$go"
	gone() { ! kill -0 $pids 2>/dev/null; }
	wait_until 20 gone
	sandbox restart server
	for id in $ids; do wait_until 20 is_over "$id"; done
	same statuses '0 3 77' "$(for id in $ids; do job_attr "$id" Exit_status; done | xargs)"
}

@test "crash: both daemons killed while jobs end; each true status arrives" {
	cluster
	go=$SB/go
	id=$(submit -- /bin/sh -c "while [ ! -e $go ]; do sleep 0.05; done; exit 23")
	wait_until 20 job_is "$id" R 42
	pid=$(session_of "$id")
	sandbox kill server
	sandbox kill n1
	touch "$go"
	gone() { ! kill -0 "$pid" 2>/dev/null; }
	wait_until 20 gone
	sandbox restart server
	sandbox restart n1
	wait_until 20 is_over "$id"
	same status 23 "$(job_attr "$id" Exit_status)"
	same records 'Q S E' "$(accounting | grep ";$id;" | cut -d';' -f2 | xargs)"
}

@test "crash: a deletion was acknowledged and both daemons killed; who ignores TERM is killed all the same" {
	cluster --set jobs.kill_delay=1h --set executor.kill_delay=1s
	out=$(desk "$OWNER")/deaf.out
	id=$(submit -k oed -o "$out" -- /bin/sh -c 'trap "" TERM; echo ready; while :; do sleep 0.1; done')
	wait_until 20 grep -qx ready "$out"
	wait_until 20 job_is "$id" R 42
	quietly as "$OWNER" qdel "$id"
	sandbox kill server
	sandbox kill n1
	sandbox restart server
	sandbox restart n1
	wait_until 20 is_over "$id"
	same status 265 "$(job_attr "$id" Exit_status)"
}

@test "crash: the host's daemon killed twice while many jobs start" {
	cluster --ncpus 8
	clients 2 30
	for count in 5 25; do
		some() { [ "$(lines_in "$ran"/*)" -ge $count ] || no_jobs; }
		wait_until 30 some
		sandbox restart n1 --hard
	done
	wait $(jobs -p)
	wait_until 20 everybody_in
	wait_until 60 no_jobs
	for id in $(cat "$(desk "$OWNER")"/ids.*); do
		is_over "$id"
		runs=$(lines_in "$ran/$id") count=$(job_attr "$id" run_count)
		[ "$runs" -ge 1 ] && [ "$runs" -le "$count" ] ||
			{ echo "$id ran $runs times, was started $count times" >&2; false; }
	done
}

@test "crash: what was altered, held and configured is there afterwards" {
	cluster
	qmgr -c 'set server scheduling = false'
	id=$(submit -N before)
	as "$OWNER" qalter -N after -l walltime=77 "$id"
	as "$OWNER" qhold "$id"
	qmgr -c 'create queue q2 queue_type=e,enabled=t,started=f'
	qmgr -c 'create resource lic type=long,flag=q'
	qmgr -c 'set node n1 comment = "being watched"'
	pbsnodes -o n1
	before=$(qmgr -c 'print server' && qmgr -c 'print node @default')
	sandbox restart server --hard
	wait_until 20 everybody_in
	same configuration "$before" "$(qmgr -c 'print server' && qmgr -c 'print node @default')"
	same name after "$(job_attr "$id" Job_Name)"
	same walltime 00:01:17 "$(job_attr "$id" Resource_List.walltime)"
	job_is "$id" H 20
	node_is n1 offline
}

@test "crash: a job deleted just before the kill stays deleted" {
	cluster
	id=$(running)
	pid=$(session_of "$id")
	as "$OWNER" qdel "$id"
	sandbox restart server --hard
	wait_until 20 is_over "$id"
	gone() { ! kill -0 "$pid" 2>/dev/null; }
	wait_until 20 gone
	has "$(job_attr "$id" Exit_status)" '^(271|265)$'
	same count 1 "$(job_attr "$id" run_count)"
}

@test "crash: ids are not given twice" {
	cluster
	a=$(submit -h)
	sandbox restart server --hard
	b=$(submit -h)
	sandbox restart server
	c=$(submit -h)
	[ "${a%.svr}" -lt "${b%.svr}" ]
	[ "${b%.svr}" -lt "${c%.svr}" ]
}

@test "crash: a second server on the same files is refused" {
	cluster
	id=$(submit -h)
	got=0
	"$KEELSON_BUILD/keelsond" --conf "$SB/server/etc/keelson.conf" </dev/null >"$SB/second" 2>&1 3>&- || got=$?
	[ "$got" -ne 0 ]
	has "$(cat "$SB/second")" .
	job_is "$id" H
}

@test "a server without a store: keelsond --check and its log say what becomes of what it is told" {
	local nobody="no module offers the service 'store': what this server is told is forgotten when it ends"
	setup_sandbox
	check() { keelsond --conf "$SB/server/etc/keelson.conf" --check 2>&1; }
	same 'with one' "$SB/server/etc/keelson.conf: the configuration is right" "$(check)"
	echo 'store-sqlite: { enabled = false; };' >"$SB/server/etc/modules.d/store-sqlite.conf"
	has "$(check)" "keelson.conf: $nobody"
	sandbox kill server
	rm -f "$SB/server/server_priv/store.id" # it has had one: going on without is meant
	sandbox restart server
	has "$(server_log)" ";0001;.*;$nobody"
}
