#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# python-hooks-zoo.bats - bad scripts, one in each file of zoo/: each costs its own request what its end says, and nothing else. Beside it
# the server answers and the next job is decided; behind it no process, no folder and no descriptor is left.
# needs modules/python-hooks

load helper
load shared

zoo=$top/tests/scenario/zoo

setup_file()
{
	open_cluster --set log.events=4095
	qmgr -c 'set server acl_roots = root'
	echo x=1 >"$SB/zoo.py"
	keep zoo queuejob
	submit -h >/dev/null # what the daemon opens with the first script stays open
	release zoo
	wait_until 20 no_script_is_left
	descriptors >"$SB/before"
	{ echo none; cgroups; } >"$SB/cgroups"
}
setup() { join_cluster; not_sanitized "a sanitizer has its own words for what dies"; }

# keep NAME EVENT: a hook with the script $SB/zoo.py. release NAME: it goes.
keep() { qmgr -c "create hook $1 event=$2" && qmgr -c "import hook $1 application/x-python default $SB/zoo.py"; }
release() { qmgr -c "delete hook $1"; }

# caged NAME [GUARD]: what is imported. Only jobs called `bad` come into the cage.
caged()
{
	echo 'import pbs'
	echo "if ${2-pbs.event().job.Job_Name != \"bad\"}: pbs.event().accept()"
	cat "$zoo/$1.py"
}

# ---- what is left ---------------------------------------------------------------------------------------
server_pid() { head -n 1 "$SB/server/server_priv/server.lock"; }
descriptors() { find "/proc/$(server_pid)/fd" -mindepth 1 | wc -l; }

# Those of scripts have the path of their folder in the environment or (zoo/daemonic.py) in the command line.
of_scripts()
{
	pgrep -f "$SB/[^ ]*/hooks_tmp/" || true
	grep -lsz "^TMPDIR=$SB/.*/hooks_tmp/" /proc/[0-9]*/environ 2>/dev/null || true
}
# Those of other clusters, too, but theirs are in use.
cgroups() { find /sys/fs/cgroup -type d -name 'keelson-tree.*' 2>/dev/null || true; }
empty_cgroups() { cgroups | grep -vxFf "$SB/cgroups" | while read -r group; do [ -n "$(cat "$group/cgroup.procs" 2>&1)" ] || echo "$group"; done; }
no_cgroup_is_left() { same 'empty cgroups' '' "$(empty_cgroups)"; }
folders() { find "$SB"/*/hooks_tmp -mindepth 1 -maxdepth 1 2>/dev/null; }
no_script_is_left() { same 'processes and folders of scripts' '' "$(of_scripts; folders)"; }
nothing_is_left() { no_script_is_left && [ "$(descriptors)" -le "$(<"$SB/before")" ]; }

# ---- how they end ---------------------------------------------------------------------------------------
good() { submit -h -N good; }
new_log_has() { has "$(new_log)" "$1"; }
new_log() { server_log | tail -n "+$((seen + 1))"; }

# beast NAME END [TEXT]: what becomes of a job in its cage; TEXT is an extended regular expression.
beast()
{
	local name=$1 pid alarm=30
	status=0 seen=$(server_log | wc -l)
	[[ $2 != *alarm ]] || alarm=2
	caged "$name" >"$SB/zoo.py"
	keep "$name" "queuejob,alarm=$alarm"
	undo release "$name"
	submit -h -N bad >"$SB/got" 2>&1 3>&- &
	pid=$!
	good
	answers
	wait $pid || status=$?
	got=$(<"$SB/got")
	ends_as "$2" "$name" "${3-}"
	good
	release "$name"
	: >"$undone"
	wait_until 20 nothing_is_left
	# shellcheck disable=SC2046
	vacate $(qselect)
}

ends_as() # end, name, text
{
	local text="qsub: request rejected as filter hook '$2'"
	case $1 in
	accepted)
		same status 0 "$status"
		has "$got" '^[0-9]+\.svr$'
		[ -z "$3" ] || has "$(new_log)" "$3"
		;;
	refused)
		same status 32 "$status"
		has "$got" "^qsub: $3\$"
		;;
	exception)
		same status 32 "$status"
		same words "$text encountered an exception. Please inform Admin" "$got"
		has "$(new_log)" ";0100;Server@svr;Hook;$2;queuejob hook '$2' encountered an exception, request rejected\$"
		has "$(new_log)" ";0001;Server@svr;Hook;$2;Error evaluating Python script: $3"
		;;
	exception_or_alarm) # by a machine's memory and speed
		same status 32 "$status"
		has "$got" "^$text (encountered an exception|got an alarm call)\\. Please inform Admin\$"
		;;
	alarm)
		same status 32 "$status"
		same words "$text got an alarm call. Please inform Admin" "$got"
		has "$(new_log)" ";0100;Server@svr;Hook;$2;alarm call while running queuejob hook '$2', request rejected\$"
		;;
	esac
}



@test "zoo: scripts that do not end are ended by their alarm" {
	for name in loop sleeps deaf stubborn stops import_hangs slow_str reads questions; do beast $name alarm; done
}

@test "zoo: an endless recursion, a fork bomb" {
	beast recursion exception_or_alarm
	beast forks alarm
}

@test "zoo: scripts that end their process, and those that a signal ends" {
	beast exit0 exception 'its process ended with status 0'
	beast exit1 exception 'its process ended with status 1'
	beast abort exception 'its process was killed by signal 6'
	beast segv exception 'its process was killed by signal 11'
	beast execs exception 'its process was killed by signal 9'
	beast atexits accepted
	beast sysexit accepted
}

@test "zoo: scripts with signals for others" {
	needs_root # else they have the daemon's user, and may end what holds them
	beast parent exception 'its process was killed by signal 9'
	beast kills_all exception 'its process was killed by signal 9'
	beast hunts accepted
}

@test "zoo: scripts that take the line to the daemon away, or write to it" {
	for name in closes reopens shuts; do beast $name exception 'its process ended with status 1'; done
	beast half alarm
	for name in garbage forged bad_questions counts passes; do beast $name exception 'its process sent what is no message'; done
}

@test "zoo: memory, files, limits" {
	beast memory exception 'MemoryError$'
	beast collector accepted
	beast keeps accepted
	beast big_file exception 'OSError: \[Errno 27\] File too large$'
	for name in descriptors left_open limits more_limits; do beast $name accepted; done
}

@test "zoo: threads and processes that stay" {
	for name in thread spinner daemonic children many_kept handlers; do beast $name accepted; done
}

@test "zoo: floods of output and of lines for the log" {
	beast prints accepted
	for name in logs log_bytes; do
		beast $name accepted ";0001;Server@svr;Hook;$name;its script writes too much: other lines of this run are dropped\$"
		[ "$(new_log | wc -l)" -lt 11000 ]
	done
	beast forged_logs accepted
	lacks "$(new_log)" '^11/28/2026 19:00:00;'
}

@test "zoo: what is no script is not imported" {
	for name in syntax nul; do
		caged $name >"$SB/zoo.py"
		says 32 "$(printf 'qmgr obj=%s svr=default: Failed to compile script\nqmgr: hook error returned from server' $name)" keep $name queuejob
		good
		release $name
	done
	beast nested accepted
	beast deep_source exception 'SyntaxError: too many nested parentheses'
}

@test "zoo: reasons with control characters, and without an end" {
	beast newlines refused $'one\ntwo  \\[31mred $'
	has "$(new_log)" ";0400;Server@svr;Hook;newlines;one.ntwo.x0d.x1b\\[31mred.x07\$"
	lacks "$(new_log)" '^11/28/2026 19:00:00;'
	beast long_reject refused 'x{400,479}'
	beast huge_reject refused 'x{400,479}'
}

@test "zoo: changes without an end" {
	beast many_changes accepted
	beast huge_value accepted
	beast too_many_changes exception 'it changed too much$'
	beast deep exception 'ValueError: it is too deep$'
}

@test "zoo: values that are none" {
	beast no_text exception 'BadAttributeValueTypeError: Account_Name: a text is wanted, not object$'
	beast nul_value exception 'BadAttributeValueError: Account_Name: a text has no NUL in it$'
	beast surrogates exception 'UnicodeEncodeError: '
	beast raw_bytes accepted
}

@test "zoo: exceptions that cannot be shown" {
	beast bad_str exception 'Bad$'
	beast bad_type exception ''
	beast chain exception 'ValueError: 99999$'
	[ "$(new_log | wc -l)" -lt 400 ]
	beast interrupt exception 'KeyboardInterrupt$'
}

@test "zoo: scripts that change what they stand on" {
	beast no_streams accepted
	beast no_builtins exception ''
	beast environment accepted
	beast traces exception 'ZeroDivisionError: '
	beast destructor accepted
	beast catches accepted ';refused: Not permitted to modify attributes '
	beast imports_all accepted
}

@test "zoo: scripts that go around package pbs change nothing that they may not" {
	managers=$(qmgr -c 'print server managers')
	beast inside refused 'queuejob event: rejected request'
	has "$(new_log)" 'inside;queuejob cannot set euser: '
	beast roots refused 'queuejob event: rejected request'
	beast others refused 'queuejob event: rejected request'
	same comment '' "$(node_attr n1 comment)"
	same managers "$managers" "$(qmgr -c 'print server managers')"
}

@test "zoo: scripts that look around" {
	needs_root # else they have the daemon's user
	beast looks accepted
	beast becomes_root accepted
}

@test "zoo: scripts that open the sockets of the daemon" {
	beast talks accepted ';open: [1-9]'
}

@test "zoo: folders that are hard to remove" {
	for name in moves folders locked; do beast $name accepted; done
}

@test "zoo: a hook is deleted while its script runs" {
	seen=$(server_log | wc -l)
	caged sleeps >"$SB/zoo.py"
	keep sleeps queuejob,alarm=3
	submit -h -N bad >"$SB/got" 2>&1 3>&- &
	pid=$!
	wait_until 20 new_log_has ';asleep$'
	release sleeps
	good
	wait $pid && false
	same words "qsub: request rejected as filter hook 'sleeps' got an alarm call. Please inform Admin" "$(<"$SB/got")"
	wait_until 20 nothing_is_left
}

@test "zoo: jobs beside a script that hangs do not wait for its alarm" {
	local beside=()
	seen=$(server_log | wc -l)
	caged sleeps >"$SB/zoo.py"
	keep sleeps queuejob,alarm=1000
	undo release sleeps
	good
	submit -h -N bad >"$SB/got" 2>&1 3>&- &
	pid=$!
	for _ in 1 2 3 4; do
		good 3>&- &
		beside+=($!)
	done
	for one in "${beside[@]}"; do wait "$one"; done
	wait_until 20 new_log_has ';asleep$'
	alive $pid
	# shellcheck disable=SC2046
	kill -KILL $(of_scripts)
	wait $pid && false
	has "$(<"$SB/got")" 'encountered an exception'
}

# ---- events that nothing waits for -------------------------------------------------------------------------
# noted NAME EVENT TEXT: at each request of qmgr, or by the clock; the log says TEXT of it.
noted()
{
	local seen
	seen=$(server_log | wc -l)
	caged "$1" False >"$SB/zoo.py"
	keep "$1" "$2,alarm=2"
	undo release "$1"
	quietly qmgr -c 'set server comment = noted'
	good
	wait_until 30 new_log_has "$3"
	release "$1"
	: >"$undone"
	wait_until 20 nothing_is_left
}

@test "zoo: at events that nothing waits for" {
	undo qmgr -c 'unset server comment'
	noted exit1 management ";Hook;exit1;Error evaluating Python script: its process ended with status 1\$"
	noted loop management ";Hook;loop;alarm call while running management hook 'loop', request rejected\$"
	noted forks periodic,freq=1 ";Hook;forks;alarm call while running periodic hook 'forks', request rejected\$"
	noted segv periodic,freq=1 ";Hook;segv;Error evaluating Python script: its process was killed by signal 11"
	qmgr -c 'unset server comment'
}

# ---- many, at an event beside submissions ---------------------------------------------------------------
rss() { awk '/^VmRSS/ { print $2 }' "/proc/$(server_pid)/status"; }

# bad_calls TIMES ID...: each of the ids is altered so often, in all ways of zoo/mixed.py; all are refused.
bad_calls()
{
	local i times=$1
	shift
	for ((i = 0; i < times; i++)); do as "$OWNER" qalter -p $((i % 20)) "$@" 2>/dev/null && return 1; done
	return 0
}

@test "zoo: after 2,000 bad calls the server is as large as before" {
	cp "$zoo/mixed.py" "$SB/zoo.py"
	keep mixed modifyjob
	undo release mixed
	mapfile -t ids < <(for _ in {1..20}; do good; done)
	bad_calls 20 "${ids[@]}"
	before=$(rss)
	bad_calls 100 "${ids[@]}" &
	for _ in {1..20}; do good; done
	wait $!
	grown=$(($(rss) - before))
	echo "grown by $grown kB from $before kB"
	[ "$grown" -lt 10240 ]
	release mixed
	: >"$undone"
	wait_until 20 nothing_is_left
}

# ---- hosts: a script is root's there, bounded by its cgroup -----------------------------------------------
mom_log_has() { has "$(mom_log n1)" "$1"; }
hosts_have() { cmp -s "$SB/zoo.py" "$SB/n1/mom_priv/hooks/$1.PY"; }
hosts_have_not() { [ ! -e "$SB/n1/mom_priv/hooks/$1.PY" ]; }

# guest NAME LINE [ATTRIBUTES]: a beast behind a job, whose end it does not change; the log of the host says LINE of it.
guest()
{
	local name=$1 id mom before alarm=30
	mom=$(mom_of n1)
	[[ $2 != alarm* ]] || alarm=2
	caged "$name" >"$SB/zoo.py"
	keep "$name" "execjob_epilogue,alarm=$alarm${3-}"
	undo release "$name"
	wait_until 20 hosts_have "$name"
	id=$(submit -N bad -- /bin/true)
	answers
	wait_until 60 is_over "$id"
	same status 0 "$(job_attr "$id" Exit_status)"
	[ -z "$2" ] || wait_until 20 mom_log_has "$2"
	id=$(finished -N good -- /bin/true)
	same status 0 "$(job_attr "$id" Exit_status)"
	same mom "$mom" "$(mom_of n1)"
	release "$name"
	: >"$undone"
	wait_until 20 hosts_have_not "$name"
	wait_until 20 no_script_is_left
	wait_until 20 no_cgroup_is_left
}
host_exception() { echo ";Hook;$1;Error evaluating Python script: $2"; }

@test "zoo: on a host scripts that do not end are ended by their alarm" {
	for name in loop deaf stops; do guest $name "alarm call while running execjob_epilogue hook '$name', request rejected\$"; done
}

@test "zoo: on a host what ends a script's process, fills its memory or leaves something behind" {
	guest exit1 "$(host_exception exit1 'its process ended with status 1')"
	guest segv "$(host_exception segv 'its process was killed by signal 11')"
	guest closes "$(host_exception closes 'its process ended with status 1')"
	guest interrupt "$(host_exception interrupt 'KeyboardInterrupt')"
	for name in daemonic children thread handlers folders logs; do guest $name ''; done
}

@test "zoo: on a host scripts that run as the owner of the job" {
	needs_root # else there is one user
	beside=$(running)
	guest kills_all "$(host_exception kills_all 'its process was killed by signal 9')" ,user=pbsuser
	guest hunts '' ,user=pbsuser
	for name in looks becomes_root; do
		guest $name '' ,user=pbsuser
		lacks "$(mom_log n1)" ";Hook;$name;Error evaluating"
	done
	job_is "$beside" R 42
}

@test "zoo: on a host a fork bomb, and 2 GiB of memory" {
	guest exit1 "$(host_exception exit1 'its process ended with status 1')"
	lacks "$(mom_log n1)" 'have no bound of processes' 2>/dev/null || skip "no cgroups can be made here"
	guest forks "alarm call while running execjob_epilogue hook 'forks', request rejected\$"
	guest memory "$(host_exception memory '(MemoryError|its process was killed by signal 9)')"
}

# ---- the end of the daemon --------------------------------------------------------------------------------
@test "zoo: the server is killed while scripts run: they end with it, and their folders are swept" {
	for name in forks deaf; do
		caged $name >"$SB/zoo.py"
		keep $name queuejob,alarm=1000
		submit -h -N bad >/dev/null 2>&1 3>&- &
		wait_until 20 log_has ";Hook;$name;started\$"
		sandbox kill server
		wait $! && false
		wait_until 20 no_process_of_scripts
		sandbox restart server
		wait_until 20 answers
		good
		release $name
		wait_until 20 no_script_is_left
	done
}
no_process_of_scripts() { [ -z "$(of_scripts)" ]; }
