#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# isolation.bats - a module in a process of its own: the same words, and nothing it does harms the daemon.
# needs modules/isolation
# needs modules/supervise

load helper

FIXTURES=$KEELSON_BUILD/tests/fixtures

# Not here: what is no feature, has a story of its own (waits: below), refuses what others need, counts what depends on time, waits for somebody, or
# ends a daemon.
OTHERS='approve cycle_begin cycle_end die_at extra_export failing_init newer slow unresolved reject refuse_run veto_preterm
	veto_resume veto_run veto_host job_reason request_receive tolerant_launch tolerant_qjob tolerant_sister trouble trouble_verb waits wishes'

# isolated NAME [KEY=VALUE...]: arguments of a sandbox with that fixture in a process of its own, whose deadline is not what the
# story is about
isolated()
{
	local name=$1 pair limits=$BATS_TEST_TMPDIR/$1.conf
	shift
	echo "$name: { isolation_limits = { deadline = \"10s\"; }; };" >"$limits"
	printf '%s\n' --enable supervise --enable isolation --also "$limits"
	printf '%s\n' --enable "$name" --set "$name.path=$FIXTURES/$name.so" --set "$name.isolation=process"
	for pair; do printf '%s\n' --set "$name.$pair"; done
}

may_be_isolated() { keelson_module describe "$1" 2>/dev/null | grep -q 'may run in a process of its own'; }
keelson_module() { "$KEELSON_BUILD/bin/keelson-module" "$@"; }

# everything WHERE: arguments of a sandbox with every fixture that may be isolated, inline or in processes
everything()
{
	local so name limits=$BATS_TEST_TMPDIR/patient.conf
	: >"$limits"
	for so in "$FIXTURES"/*.so; do
		name=$(basename "$so" .so)
		[[ " $(tr -s '\n\t' ' ' <<<"$OTHERS") " != *" $name "* ]] && may_be_isolated "$so" || continue
		printf '%s\n' --enable "$name" --set "$name.path=$so" --set "$name.isolation=$1"
		# Forty processes begin at once, on a machine that may have other things to do.
		echo "$name: { isolation_limits = { deadline = \"30s\"; }; };" >>"$limits"
	done
	for name in listen; do # inside: taps that are added at run time
		printf '%s\n' --enable $name --set "$name.path=$FIXTURES/$name.so"
	done
	printf '%s\n' --enable supervise --enable isolation --also "$limits" --set ponder.delay=100ms --set busy.busy=false --set hold.timeout=300ms --set lookup.unreadable=accept
}

surveyed() { same priority 7 "$(qstat -f "$1" | value Priority)"; }
# What people do in a day, and what they read.
session()
{
	local a b c
	qmgr -c 'set server job_history_enable = true'
	a=$(submit -h -N first -- /bin/sleep 1000)
	b=$(submit -N second -l ncpus=1 -- /bin/sleep 1)
	qmgr -c 'create queue other queue_type=e,enabled=t,started=t'
	qmgr -c 'create resource toys type=long'
	qmgr -c 'delete resource toys'
	qmgr -c 'set node n1 comment = hello'
	as "$OWNER" qalter -p 5 "$a"
	c=$(submit -h -N surveyed -- /bin/true)
	wait_until 20 surveyed "$c"
	as "$OWNER" qdel "$c" || echo "qdel says $?"
	as "$OWNER" qmove other "$a"
	as "$OWNER" qhold -h u "$a"
	as "$OWNER" qrls -h u "$a"
	wait_until 20 job_is "$a" R 42
	qsig -s suspend "$a"
	wait_until 20 job_is "$a" S
	qsig -s resume "$a"
	wait_until 20 job_is "$a" R 42
	as "$OWNER" qsig -s KILL "$a"
	wait_until 20 job_is "$a" F
	wait_until 20 job_is "$b" F
	b=$(submit -h -- /bin/true)
	as "$OWNER" qdel "$b" || echo "qdel says $?"
	qstat -f "$b" | grep -E 'job_state|Hold_Types|Priority'
	qmgr -c 'create node v9'
	qmgr -c 'delete node v9'
}

# What the fixtures have written, each by itself: who comes first of two processes is nobody's business.
fixture_records() { { server_log; mom_log n1; } | sed -n 's/^[^;]*;[^;]*;[^;]*;\(Fixture;.*\)/\1/p' | sort; }

transcript() # WHERE
{
	mapfile -t args < <(everything "$1")
	setup_sandbox "${args[@]}"
	session 2>&1
	sandbox stop
	fixture_records
	rm -rf "$SB"
}

@test "every fixture that may be isolated says and does the same inline and in a process" {
	transcript inline >"$BATS_TEST_TMPDIR/inline"
	transcript process >"$BATS_TEST_TMPDIR/process"
	has "$(cat "$BATS_TEST_TMPDIR/process")" 'fixture job_submit'
	has "$(cat "$BATS_TEST_TMPDIR/process")" 'listen: job_purged '
	has "$(cat "$BATS_TEST_TMPDIR/process")" 'survey: walked over all: 1'
	diff "$BATS_TEST_TMPDIR/inline" "$BATS_TEST_TMPDIR/process"
}

held() { has "$(keelson holds)" "^$JOB job_delete waits: waiting for the job to end \([0-9]+s of 60s\)"; }
nothing_is_held() { [ -z "$(keelson holds)" ]; }
# deleted: a qdel that waits for the end of JOB; what it prints is in words
deleted()
{
	qdel "$JOB" >"$SB/words" 2>&1 3>&- &
	wait_until 10 held
}
# waiting WHERE: a sandbox with the fixture that waits, JOB, and a qdel of it
waiting()
{
	mapfile -t args < <(printf '%s\n' --enable supervise --enable isolation --enable waits --set "waits.path=$FIXTURES/waits.so" --set "waits.isolation=$1")
	setup_sandbox "${args[@]}"
	qmgr -c 'set server job_history_enable = true'
	JOB=$(submit -- /bin/sh -c "until [ -e $SB/over ]; do sleep 0.05; done")
	wait_until 20 job_is "$JOB" R 42
	deleted
}
# What waited is over: its client has read an error, the job runs.
nothing_came_of_it()
{
	! wait $! || false
	wait_until 10 nothing_is_held
	wait_until 10 job_is "$JOB" R 42
}
# The one that waits now goes on when the job is over.
it_goes_on()
{
	touch "$SB/over"
	wait_until 10 has_log 'fixture waits resumed'
	wait_until 10 job_is "$JOB" F
	wait || true
	nothing_is_held
	same 'how often it was resumed' 1 "$(server_log | grep -c 'fixture waits resumed')"
}
restarts_of_the_server() # WHERE
{
	waiting "$1"
	sandbox restart server --hard
	nothing_came_of_it
	deleted
	sandbox restart server
	nothing_came_of_it
	deleted
	keelson reload waits >/dev/null
	wait_until 10 held # again, for the same client
	it_goes_on
	sandbox stop
	fixture_records
}

@test "an operation that waits ends with the server, and begins again after a reload of its module, inline and in a process" {
	beside restarts_of_the_server inline >"$BATS_TEST_TMPDIR/inline"
	inline=$!
	beside restarts_of_the_server process >"$BATS_TEST_TMPDIR/process"
	wait $!
	wait $inline
	same 'how often it was cancelled' 2 "$(grep -c 'waits cancelled: [24]' "$BATS_TEST_TMPDIR/process")"
	diff "$BATS_TEST_TMPDIR/inline" "$BATS_TEST_TMPDIR/process"
}

@test "an operation that waits ends with the process that held it; the next process holds again, and is resumed once" {
	waiting process
	kill -9 "$(modhost waits)"
	nothing_came_of_it
	has "$(cat "$SB/words")" '^qdel: module waits: its process ended while it waited'
	wait_until 10 is_up waits
	deleted
	kill -9 "$(modhost waits)"
	nothing_came_of_it
	wait_until 10 is_up waits
	deleted
	it_goes_on
}

@test "a veto from a process of its own reads like one from inside" {
	mapfile -t args < <(isolated reject 'text=no more for today')
	setup_sandbox "${args[@]}"
	says 159 'qsub: no more for today' as "$OWNER" qsub -- /bin/true
}

# charged WHERE: budget runs there; a job has ended, without history, and its project has paid; also for a killed server.
charged()
{
	local account id
	setup_sandbox --enable supervise --enable isolation
	[ "$1" = inline ] || qmgr -c 'set server job_history_enable = true'
	echo "budget: { enabled = true; path = \"$FIXTURES/budget.so\"; isolation = \"$1\"; projects = [ \"astro=0.0004\" ]; };" \
		>"$SB/server/etc/modules.d/budget.conf"
	keelson reload
	id=$(submit -l ncpus=2 -W budget_project=astro)
	has_run()
	{
		local job
		job=$(qstat -f "$id") && same substate 42 "$(value substate "$job")" &&
			[ $(($(date +%s) - $(date -d "$(value stime "$job")" +%s))) -ge 2 ]
	}
	wait_until 20 has_run
	qdel "$id"
	pays() { account=$(qstat -Bf | value budget_used) && [ -n "$account" ]; }
	wait_until 20 pays
	has "$account" '^astro=[2-9]|[1-9][0-9]+$'
	sandbox restart server --hard
	same account "$account" "$(qstat -Bf | value budget_used)"
	says 166 'qsub: the hours of project astro are used up' as "$OWNER" qsub -W budget_project=astro -- /bin/true
	sandbox stop
	rm -rf "$SB"
}

@test "the end of a job is charged once, inside and, where history keeps the job, in a process" {
	charged inline
	charged process
}

# For a daemon whose modules_dir is that of the fixtures.
LOADERS=()
for name in supervise isolation; do
	LOADERS+=(--set "$name.enabled=true" --set "$name.path=$KEELSON_BUILD/modules/$name.so")
done

# refused_alone NAME: what keelsond says of a configuration in which that fixture is to run in a process of its own
refused_alone()
{
	local conf=$BATS_TEST_TMPDIR/$1.conf
	echo "roles = [\"server\"]; modules_dir = \"$FIXTURES\"; exec_dir = \"$KEELSON_BUILD\"; home = \"$BATS_TEST_TMPDIR\";" \
		>"$conf"
	"$KEELSON_BUILD/keelsond" --conf "$conf" "${LOADERS[@]}" --set "$1.enabled=true" --set "$1.isolation=process" --check 2>&1 ||
		true
}

@test "what cannot be isolated is refused by name, in the words of keelson-module describe" {
	local name words
	for name in acct_record start_job running attribute signal tally; do
		words=$(keelson_module describe "$FIXTURES/$name.so" | sed -n 's/^isolation *it cannot run in a process of its own: //p')
		[ -n "$words" ]
		[[ $(refused_alone $name) == *"module $name cannot run in a process of its own: $words"* ]]
	done
	has "$(refused_alone badabi)" 'built for module interface 99.0'
}

@test "keys of isolation are checked like any, by file and line" {
	local conf=$BATS_TEST_TMPDIR/keelson.conf
	mkdir "$BATS_TEST_TMPDIR/modules.d"
	echo "roles = [\"server\"]; modules_dir = \"$FIXTURES\"; exec_dir = \"$KEELSON_BUILD\"; home = \"$BATS_TEST_TMPDIR\";" \
		>"$conf"
	said() { echo "$1" >"$BATS_TEST_TMPDIR/modules.d/reject.conf"; "$KEELSON_BUILD/keelsond" --conf "$conf" "${LOADERS[@]}" --check 2>&1 || true; }
	has "$(said 'reject: { isolation = "prison"; };')" 'reject.conf:1: reject.isolation: expected one of "inline", "process", got "prison"'
	has "$(said 'reject: { isolation = "process"; isolation_limits = { memroy = "1gb"; }; };')" \
		'reject.conf:1: reject.isolation_limits.memroy: expected a known key'
	has "$(said 'reject: { isolation = "process"; isolation_limits = { memory = "1kb"; }; };')" \
		'reject.conf:1: reject.isolation_limits.memory: expected size .* of at least 32mb, got "1kb"'
	has "$(said 'reject: { isolation = "process"; words = 3; };')" 'reject.conf:1: reject.words: expected a known key \(text\)'
	has "$(said 'settings: { isolation = "process"; least = 20; most = 10; };')" 'least is more than most: no name would do'
}

# ---- a module that makes trouble: its fixture does what the name of a job says -----------------------------

# trouble_in_a_process [LIMITS]
trouble_in_a_process()
{
	mapfile -t args < <(isolated trouble)
	setup_sandbox "${args[@]}"
	[ $# -eq 0 ] || limit_trouble "$1"
}
limit_trouble()
{
	echo "trouble: { isolation_limits = { $1 }; };" >"$SB/server/etc/modules.d/trouble.conf"
	quietly_reloaded
}
quietly_reloaded() { sandbox reload >/dev/null; }

# modhost [NAME]: the process that serves
modhost() { keelson modules | sed -n "s/^${1-trouble} .*process \([0-9]*\) .*/\1/p"; }
is_up() { has "$(keelson modules)" "^$1 .*process [0-9]+ up"; }
# makes_trouble NAME TEXT: that one submission is refused with words that match TEXT, the next one is not
makes_trouble()
{
	local words
	! words=$(submit -N "$1" -- /bin/true 2>&1) || { echo "$1 was accepted" >&2; return 1; }
	has "$words" "$2"
	wait_until 5 quietly_submitted
}
quietly_submitted() { submit -h -- /bin/true >/dev/null; }

@test "a crash, an endless loop and an abort cost one call each, and the daemon serves on" {
	local server
	trouble_in_a_process 'deadline = "500ms"; deaths = 6;'
	server=$(head -n 1 "$SB/server/server_priv/server.lock")
	makes_trouble segv 'killed by signal 11 \(Segmentation fault\)'
	makes_trouble abort 'killed by signal 6 \(Aborted\)'
	makes_trouble spin-60000 'gave no answer for 500 ms'
	kill -SEGV "$(modhost)"
	wait_until 5 quietly_submitted
	has "$(keelson modules)" '^trouble .*process [0-9]+ up, restarts: 4'
	same 'the server' "$server" "$(head -n 1 "$SB/server/server_priv/server.lock")"
	has "$(server_log)" 'trouble.on_submit: its process was killed by signal 6 .*calls failed: 1.*it is started again'
}

# longest PID COMMAND...: how long it takes at most while that process runs, in milliseconds
longest()
{
	local pid=$1 worst=0 begun took
	shift
	while kill -0 "$pid" 2>/dev/null; do
		begun=${EPOCHREALTIME/./}
		"$@" >/dev/null
		took=$(((${EPOCHREALTIME/./} - begun) / 1000))
		[ "$took" -le "$worst" ] || worst=$took
	done
	echo "$worst"
}

# Everything that a process can do, each when the one before is over.
all_troubles()
{
	local name
	for name in segv spin-60000 abort sleep-60000 flood-100000000 eat-1024; do
		submit -h -N "$name" -- /bin/true || true
		wait_until 5 quietly_submitted
	done
}
elsewhere() { submit -q other -h -- /bin/true; }
no_trouble() { for _ in {1..20}; do submit -h -- /bin/true; done; }

@test "a process that dies, loops, hangs, floods or eats costs its callers a refusal and others less than two deadlines" {
	local calm troubled
	trouble_in_a_process
	qmgr -c 'create queue other queue_type=e,enabled=t,started=t'
	echo 'trouble: { isolation_limits = { deaths = 0; deadline = "2s"; }; match = { queue = "workq"; }; };' >"$SB/server/etc/modules.d/trouble.conf"
	quietly_reloaded
	no_trouble >/dev/null 3>&- &
	calm=$(longest $! elsewhere)
	all_troubles >"$SB/words" 2>&1 3>&- &
	troubled=$(longest $! elsewhere)
	[ $((troubled - calm)) -lt 4000 ] || { echo "others waited for $troubled ms, $calm without trouble" >&2; return 1; }
	has "$(cat "$SB/words")" 'killed by signal 11'
	has "$(cat "$SB/words")" 'killed by signal 6'
	same 'how many had no answer' 3 "$(grep -c 'gave no answer for 2000 ms' "$SB/words")"
	has "$(keelson modules)" '^trouble .*process [0-9]+ up, restarts: [1-9]'
}

@test "a process may raise neither its own limits nor another's, sends signals to none but itself, and ends with the daemon" {
	local other call
	mapfile -t args < <(isolated trouble; isolated job_purged)
	setup_sandbox "${args[@]}"
	other=$(modhost job_purged)
	submit -h -N "limits-$other" -- /bin/true
	has "$(server_log)" 'prlimit64 reads of 0: done'
	has "$(server_log)" "prlimit64 reads of $other: Operation not permitted"
	for call in F_SETOWN F_SETOWN_EX F_SETSIG FIOSETOWN SIOCSPGRP PR_SET_PDEATHSIG prlimit64 setpriority sched_setaffinity sched_setscheduler sched_setparam sched_setattr ioprio_set; do
		has "$(server_log)" "$call of 0: Operation not permitted"
		has "$(server_log)" "$call of $other: Operation not permitted"
	done
	has "$(server_log)" 'setrlimit of 0: Operation not permitted'
}

@test "a process cannot be read by another of its user" {
	needs_root
	not_sanitized 'a sanitizer reads the memory of its own process'
	mapfile -t args < <(isolated reject)
	setup_sandbox "${args[@]}"
	pid=$(modhost reject)
	same user "$(id -u nobody)" "$(awk '/^Uid/ { print $2 }' "/proc/$pid/status")"
	same_user() { setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups "$@"; }
	same_user true
	same_user head -c 1 "/proc/$pid/maps" && false
	same_user dd of="/proc/$pid/mem" count=0 conv=notrunc 2>/dev/null && false
	true
}

# changing DEATHS GROUP: that configuration of trouble is loaded, other limits mean another process; the longest that anybody
# else waits meanwhile, in milliseconds. What the reload said is in $SB/words.
changing()
{
	echo "trouble: { isolation_limits = { deadline = \"2s\"; deaths = $1; }; $2 };" \
		>"$SB/server/etc/modules.d/trouble.conf"
	sandbox reload >"$SB/words" 2>&1 3>&- &
	longest $! qstat -B
}

@test "a reload waits for steps of a module in a process that take their time, the daemon does not" {
	local step
	trouble_in_a_process 'deadline = "2s"; deaths = 20;'
	for step in check init; do
		[ "$(changing 21 "$step = \"60s\";")" -lt 6000 ] || { echo "the daemon stood still for $step" >&2; return 1; }
		has "$(cat "$SB/words")" 'its process gave no answer for 10000 ms'
		wait_until 5 quietly_submitted
	done
	has "$(cat "$SB/words")" 'module trouble: init failed: '
}

@test "who submits while a reload starts a module's process waits for it, however long its init takes" {
	trouble_in_a_process
	echo 'trouble: { init = "2s"; isolation_limits = { deaths = 7; }; };' >"$SB/server/etc/modules.d/trouble.conf"
	waits() { quietly_submitted 2>>"$SB/refused"; }
	sandbox reload >"$SB/words" 2>&1 3>&- &
	[ "$(longest $! waits)" -ge 1500 ] || { echo 'no submission met the reload' >&2; return 1; }
	wait $!
	[ ! -s "$SB/refused" ] || { cat "$SB/refused" >&2; return 1; }
	has "$(keelson modules)" '^trouble .*process [0-9]+ up'
}

@test "a reload that is undone does not wait for the process that comes back" {
	trouble_in_a_process
	echo 'trouble: { init = "2s"; };' >"$SB/server/etc/modules.d/trouble.conf"
	quietly_reloaded
	[ "$(changing 21 'init = "60s";')" -lt 6000 ] || { echo 'the daemon stood still' >&2; return 1; }
	has "$(cat "$SB/words")" 'init failed: its process gave no answer for 10000 ms'
	wait_until 10 quietly_submitted
	has "$(keelson modules)" '^trouble .*process [0-9]+ up'
}

@test "memory that is too much stays where it is" {
	not_sanitized 'a sanitizer has terabytes of addresses, so there is no limit on them'
	trouble_in_a_process
	quietly_submitted
	submit -h -N eat-1024 -- /bin/true
	has "$(server_log)" 'no 1024 MB for it'
	submit -h -N eat-16 -- /bin/true
	has "$(server_log)" '16 MB eaten'
}

@test "records that are too many stay where they are" {
	trouble_in_a_process
	submit -h -N flood-20000 -- /bin/true
	[ "$(server_log | grep -c 'flood ')" -lt 10000 ]
	wait_until 5 flood_is_told
}

flood_is_told() { submit -h -N flood-1 -- /bin/true && has_log 'records of its process were too many'; }

@test "who dies too often is not started again, and a reload brings it back" {
	trouble_in_a_process 'deaths = 2;'
	makes_trouble segv 'killed by signal 11'
	! submit -N segv -- /bin/true || false
	wait_until 5 has_log 'its taps are not called any more'
	! submit -h -- /bin/true || false
	limit_trouble 'deaths = 3;'
	quietly_submitted
}
has_log() { has "$(server_log)" "$1"; }

@test "kill -9 of the daemon ends the processes of its modules" {
	local pid
	trouble_in_a_process
	pid=$(modhost)
	sandbox kill server
	wait_until 5 gone "$pid"
}
gone() { ! kill -0 "$1" 2>/dev/null; }
