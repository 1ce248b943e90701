# SPDX-License-Identifier: Apache-2.0
#
# helper.bash - what the stories share: a sandbox of their own, people, and what to expect.
#
# A story reads like a session at a terminal. Each test has its own cluster, so a story needs no other;
# `server`s are called svr, hosts n1, n2 ... Nothing sleeps for a fixed time: wait_until polls with a
# deadline. When a test fails, the state of the cluster is shown once.
#
# People: $OWNER submits jobs, $OTHER is nobody special, $OPERATOR and $MANAGER are what they are called;
# whoever runs the tests manages too. Without root there is only one person: a story about several
# begins with `needs_root`.

bats_require_minimum_version 1.5.0
top=${BASH_SOURCE[0]%/tests/scenario/helper.bash}
[[ $top == /* ]] || top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
KEELSON_BUILD=${KEELSON_BUILD:-$top/build}
if [ "$EUID" -eq 0 ]; then ME=root; else ME=$(id -un); fi
if [ "$EUID" -eq 0 ]; then
	OWNER=ktest1 OTHER=ktest2 OPERATOR=ktoper MANAGER=ktmgr
else
	OWNER=$ME OTHER=$ME OPERATOR=$ME MANAGER=$ME
fi

# Jobs begin with a login shell: where that prints something of the machine's, daemons of stories do not see it.
if [ -z "${KEELSON_LOGIN+said}" ]; then
	KEELSON_LOGIN=
	[ "$EUID" -ne 0 ] || [ -z "$(sh -lc : 2>&1 </dev/null)" ] || KEELSON_LOGIN=$top/scripts/quiet-login
	# Looked at once, here, and not by each daemon.
	[ -z "$KEELSON_LOGIN" ] || export KEELSON_LOGIN_NOISY=yes
	export KEELSON_LOGIN
fi

# Before each command bats notes where it stands, for whoever reads why a test failed; it takes half a
# millisecond and was half of what the stories cost. The lines of the story itself are enough.
bats_debug_trap() # file of the command
{
	[[ $BASH_SUBSHELL -eq 0 && $1 == "${BATS_TEST_SOURCE-}" && -z ${BATS_INTERRUPTED-} ]] || return 0
	BATS_DEBUG_LASTLAST_STACK_TRACE=("${BATS_DEBUG_LAST_STACK_TRACE[@]}")
	BATS_DEBUG_LAST_LINENO=("${BASH_LINENO[@]}")
	BATS_DEBUG_LAST_SOURCE=("${BASH_SOURCE[@]}")
	bats_capture_stack_trace
}

# Nobody reads how long a test took; two programs less per test.
get_mills_since_epoch() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

# ---- people --------------------------------------------------------------------------------------------

# A feature of which there is no folder has no stories. What a whole file needs it says in its head:
# "# needs modules/NAME"; scripts/test leaves it out then.
needs_module() { [ -d "$top/modules/$1" ] || skip "there is no modules/$1"; }

# Why a story is none for a sanitizer's build.
not_sanitized() { [ -z "${KEELSON_SANITIZED-}" ] || skip "$1"; }

needs_root() { [ "$EUID" -eq 0 ] || skip "needs root"; }

# Each has a home; a name that nobody has stands for itself.
exists() { local home; eval "home=~$1"; [ "$home" != "~$1" ]; }

make_users()
{
	local user
	[ "$EUID" -eq 0 ] || return 0
	for user in "$OWNER" "$OTHER" "$OPERATOR" "$MANAGER"; do
		exists "$user" || (
			flock 9
			exists "$user" || useradd -m -U -s /bin/sh "$user"
		) 9>/run/lock/keelson-test-users 3>&-
	done
}

# A folder of the sandbox that USER can write: where they stand when they type.
desk()
{
	local dir=$SB/desk/$1
	[ -d "$dir" ] || { mkdir -p "$dir" && { [ "$EUID" -ne 0 ] || chown "$1" "$dir"; }; }
	echo "$dir"
}

# as USER COMMAND...
as()
{
	local user=$1
	shift
	[ -d "$SB/desk/$user" ] || desk "$user" >/dev/null
	(
		cd "$SB/desk/$user" || exit
		if [ "$user" = "$ME" ] && [ -z "${at_host-}" ]; then "$@"; exit; fi
		. "$SB/${at_host:+$at_host/}env"
		if [ "$user" = "$ME" ]; then "$@"; exit; fi
		eval "HOME=~$user"
		export HOME USER=$user LOGNAME=$user
		exec setpriv --reuid="$user" --regid="$user" --init-groups "$@"
	)
}

# at HOST USER COMMAND...: at a terminal of that host, n1 or login1, whose pbs.conf says that the server is elsewhere.
at() { local at_host=$1; shift; as "$@"; }

# ---- the cluster -----------------------------------------------------------------------------------------

# sandbox VERB [options]: scripts/sandbox on this test's cluster.
sandbox()
{
	local verb=$1
	shift
	"$top/scripts/sandbox" "$verb" --dir "$SB" --build "$KEELSON_BUILD" "$@" 3>&-
}

# setup_sandbox [options of `sandbox start`]; those of $KEELSON_STORY_OPTIONS hold for every story. $prepare is a
# command that comes before its daemons start.
setup_sandbox()
{
	make_users
	SB=${TMPDIR:-/tmp}/keelson-story.$SRANDOM
	mkdir -m 755 "$SB"
	state_shown=$BATS_TEST_TMPDIR/state-shown
	${prepare-}
	# shellcheck disable=SC2086
	sandbox start ${KEELSON_STORY_OPTIONS-} "$@"
	. "$SB/env"
	"$KEELSON_BUILD/tests/scenario/tools/ask" "$SB/ask" 3>&- && ask_is_there
	[ "$EUID" -eq 0 ] || return 0
	printf '%s\n' "set server operators += $OPERATOR@*" "set server managers += $MANAGER@*" | qmgr
}

teardown()
{
	[ -n "${SB-}" ] || return 0
	[ -n "${BATS_TEST_COMPLETED-}" ] || show_state
	sandbox stop || true
	rm -rf "$SB"
}

# beside COMMAND...: in the background and in a sandbox of its own, which ends with it; `wait $!` returns its status.
beside()
{
	(
		trap '[ $? -eq 0 ] || show_state; sandbox stop; rm -rf "$SB"' EXIT
		"$@"
	) 3>&- &
}

# Once per test: for whoever reads why it failed.
show_state()
{
	[ ! -e "$state_shown" ] || return 0
	: >"$state_shown"
	{
		echo "---- qstat -xf"
		timeout 10 qstat -xf
		echo "---- pbsnodes -av"
		timeout 10 pbsnodes -av
		echo "---- end of the server's log"
		sandbox log server | tail -n 40
	} >&2 2>&1 || true
}

resv_attr() { value "$2" "$(pbs_rstat -f "$1" 2>/dev/null)"; } # id, attribute

# resv_is ID STATE [SUBSTATE]: STATE without RESV_. It asks as stories poll, where numbers are answered.
declare -gA resv_states=([UNCONFIRMED]=1 [CONFIRMED]=2 [RUNNING]=5 [BEING_DELETED]=7 [DELETING_JOBS]=9 [DEGRADED]=10 [BEING_ALTERED]=11)
resv_is()
{
	local state=${resv_states[$2]}
	ask_for resv "$1" reserve_state reserve_substate || { ask_lines=$(pbs_rstat -f "$1" 2>/dev/null) && state=RESV_$2; }
	same_value "state of $1 ($2)" "$state" reserve_state "$ask_lines" &&
		{ [ -z "${3-}" ] || same_value "substate of $1" "$3" reserve_substate "$ask_lines"; }
}

# Where forks are slow steps take longer: moments that are near come later then.
slowness=$((${KEELSON_PATIENCE:-4} > 4 ? KEELSON_PATIENCE / 4 : 1))

# moment SECONDS: so many from now, as pbs_rsub reads it.
moment() { printf '%(%Y%m%d%H%M.%S)T' $((EPOCHSECONDS + ($1 > 90 ? $1 : $1 * slowness))); }

# wait_until SECONDS COMMAND...: poll until it succeeds, at first often. On a machine that is busy with others
# it may take four times as long; $KEELSON_PATIENCE is another factor, which scripts/test sets where forks are slow.
wait_until()
{
	local limit=$((${KEELSON_PATIENCE:-4} * $1)) pause=.05
	local deadline=$((SECONDS + limit))
	shift
	until "$@" >/dev/null 2>&1; do
		if [ "$SECONDS" -ge "$deadline" ]; then
			echo "within $limit s this did not come true: $*" >&2
			"$@" >&2 || true
			show_state
			return 1
		fi
		nap $pause
		case $pause in .05) pause=.06 ;; .06) pause=.1 ;; .1) pause=.15 ;; *) pause=.2 ;; esac
	done
}

# Some seconds, without a program: nobody ever writes there. (Here and not at need: it changes $!.)
exec {quiet}<> <(:)
nap() { read -rt "$1" -u "$quiet" || true; }

# Looked at again and again: as `sandbox log`, but without starting a script.
server_log() { mom_log server; }
mom_log() { cat "$SB/$1"/*_logs/[0-9]*; }

# reload_host NAME: the daemon of a host reads its configuration again. Fails when it refuses.
reload_host()
{
	local before
	before=$(reloads_of "$1" | wc -l)
	kill -HUP "$(head -n 1 "$SB/$1/mom_priv/mom.lock")"
	wait_until 10 has_reloaded "$1" "$before"
	reloads_of "$1" | tail -n 1 | grep ': done$'
}
reloads_of() { mom_log "$1" | grep -E ';reload of the configuration, asked for by SIGHUP(: done$|, refused: )'; }
has_reloaded() { [ "$(reloads_of "$1" | wc -l)" -gt "$2" ]; }
# parked_on HOST: the files that fixture park has holds for there
parked_on() { find "/proc/$(head -n 1 "$SB/$1/mom_priv/mom.lock")/fd" -lname "$parked/*" -printf '%l\n' 2>/dev/null; }
# Records are written by a thread, after the answer: they are there when the server has nothing to do.
accounting() { wait_until 60 at_rest && cat "$SB"/server/server_priv/accounting/[0-9]*; }

# at_rest: each thread of the server sleeps, and none has run between two looks. One that is dead rests.
at_rest()
{
	local before
	threads || return 0
	before=$thread_lines
	[[ $before != *$'State:\t'[RD]* ]] && threads && [ "$before" = "$thread_lines" ]
}
threads() # in $thread_lines: states, and how often each has run
{
	local pid file lines line
	thread_lines=''
	{ read -r pid <"$SB/server/server_priv/server.lock" || [ -n "$pid" ]; } 2>/dev/null || return
	for file in /proc/"$pid"/task/*/status; do
		{ mapfile -t lines <"$file"; } 2>/dev/null || continue
		for line in "${lines[@]}"; do
			case $line in State:* | *ctxt_switches:*) thread_lines+=$line$'\n' ;; esac
		done
	done
	[ -n "$thread_lines" ]
}

# ---- questions that start no program ------------------------------------------------------------------------
# tools/ask answers what stories poll. Where it cannot, the commands are asked.

ask_is_there()
{
	local pid=''
	{ [ -e "$SB/ask/pid" ] && read -r pid <"$SB/ask/pid" && [ -d "/proc/$pid" ]; } 2>/dev/null || return
	[ "$pid" != "${ask_pid-}" ] || return 0
	exec {ask_question}<>"$SB/ask/question" {ask_answer}<>"$SB/ask/answer" {ask_turn}<>"$SB/ask/turn"
	ask_pid=$pid
}

# ask_for job|node|resv|jobs [ID ATTRIBUTE...]: these lines of its listing, in $ask_lines. Fails where a command is to be used.
ask_for()
{
	local line count=-1 serial
	ask_lines=''
	[[ "$*" != *$'\n'* ]] && ask_is_there || return
	read -rt 30 -n 1 -u "$ask_turn" line || true # who had the turn has been killed
	ask_number=$((${ask_number:-0} + 1)) serial=$BASHPID.$ask_number
	printf '%s %s\n' "$serial" "$*" >&"$ask_question"
	while read -rt 60 -u "$ask_answer" line; do
		[[ $line != "= $serial "* ]] || { count=${line##* }; break; } # an answer that somebody did not wait for
	done
	for (( ; count > 0; count--)); do
		IFS= read -rt 30 -u "$ask_answer" line || break
		ask_lines+=$line$'\n'
	done
	printf . >&"$ask_turn"
	[ "$count" -eq 0 ]
}
ask_job() { [[ $1 =~ ^[0-9]+(\[[0-9]*\])?\.svr$ ]] && ask_for job "$@" || ask_lines=$(qstat -xf "$1"); }
ask_node() { [[ $1 =~ ^[a-zA-Z0-9_.[-]+\]?$ ]] && ask_for node "$@" || ask_lines=$(pbsnodes -v "$1"); }

# ---- what they say of themselves ---------------------------------------------------------------------------

# value ATTRIBUTE [LISTING]: of each thing in a listing, else of those on stdin; folded lines are one again.
value()
{
	values_in "$1" "${2-$(cat)}"
	printf '%s' "$values"
}
values_in() # attribute, listing: in $values, each with a newline
{
	local text=$'\n'${2//$'\n\t'/}
	values=''
	while [[ $text =~ $'\n'\ *"$1 = "([^$'\n']*)(.*) ]]; do
		values+=${BASH_REMATCH[1]}$'\n'
		text=${BASH_REMATCH[2]}
	done
}
# same_value WHAT EXPECTED ATTRIBUTE LISTING
same_value() { values_in "$3" "$4"; same "$1" "$2" "${values%$'\n'}"; }

job_attr() { ask_job "$@"; value "$2" "$ask_lines"; }
state_of_job() { job_attr "$1" job_state; }
node_attr() { ask_node "$@"; value "$2" "$ask_lines"; }
mj() { node_attr "$1" maintenance_jobs; }
session_of() { job_attr "$1" session_id; }
comment_is() { ask_job "$1" comment; same_value "comment of $1" "$2" comment "$ask_lines"; }
comment_says() { ask_job "$1" comment; values_in comment "$ask_lines"; has "${values%$'\n'}" "$2" 2>/dev/null; }
is_over() { job_is "$1" F; }
is_down() { ask_node "$1" state; values_in state "$ask_lines"; [[ $values == *down* ]]; }
sub() { echo "${1/\[\]/[$2]}"; } # 7[].svr 3 -> 7[3].svr
alive() { kill -0 "$1" 2>/dev/null; }
dead() { ! alive "$1"; }
log_has() { has "$(server_log)" "$1"; }
answers() { qstat -B; }
disk_is_full() { server_log | grep -q 'changes are not saved yet: .*disk is full; free space'; }
saved_again() { server_log | grep -q 'changes are saved again'; }
load_mail() { keelson load mail >/dev/null; }
mom_of() { head -n 1 "$SB/$1/mom_priv/mom.lock"; }
starts() { wait_until 20 job_is "$1" R 42; }

# ---- expectations: succeed silently, or say what differs -------------------------------------------------

same() # what, expected, found
{
	[ "$2" = "$3" ] || { printf '%s: expected "%s", found "%s"\n' "$@" >&2; return 1; }
}

# job_is JOB LETTER [SUBSTATE]
job_is()
{
	ask_job "$1" job_state substate
	same_value "state of $1" "$2" job_state "$ask_lines" &&
		{ [ -z "${3-}" ] || same_value "substate of $1" "$3" substate "$ask_lines"; }
}

# node_is NODE STATE [JOBS]: its state, and the ids of its maintenance_jobs ('' is none).
node_is()
{
	ask_node "$1" state maintenance_jobs
	same_value "state of $1" "$2" state "$ask_lines" &&
		{ [ $# -lt 3 ] || same_value "maintenance_jobs of $1" "$3" maintenance_jobs "$ask_lines"; }
}

# quietly COMMAND...: exit 0 and not a word.
quietly() { says 0 '' "$@"; }

# says STATUS TEXT COMMAND...: exits with STATUS, having said (stdout and stderr) exactly TEXT.
says()
{
	local status=$1 text=$2 found got=0
	shift 2
	if [ -x "$KEELSON_BUILD/bin/$1" ]; then
		found=$(exec "$@" 2>&1) || got=$?
	else
		found=$("$@" 2>&1) || got=$?
	fi
	same "exit of \`$*\`" "$status" "$got" || { echo "$found" >&2; return 1; }
	same "words of \`$*\`" "$text" "$found"
}

# has TEXT LINE-PATTERN: some line of TEXT matches the extended regular expression; lacks is its opposite.
has() { a_line_matches "$1" "$2" || { printf 'no line matches %s in:\n%s\n' "$2" "$1" >&2; return 1; }; }
lacks() { ! a_line_matches "$1" "$2" || { grep -E -- "$2" <<<"$1" >&2; printf 'these match %s\n' "$2" >&2; return 1; }; }

# As grep -Eq; a short text is looked at here.
a_line_matches() # text, pattern
{
	local lines line status
	if [ ${#1} -lt 8000 ] && [[ $2 != *$'\n'* ]]; then
		mapfile -t lines <<<"$1"
		for line in "${lines[@]}"; do
			status=0
			[[ $line =~ $2 ]] || status=$?
			[ "$status" -ne 0 ] || return 0
			[ "$status" -eq 1 ] || break
		done
		[ "${status-2}" -eq 2 ] || return 1 # 2: not a pattern for bash
	fi
	grep -Eq -- "$2" <<<"$1"
}

# ---- jobs ---------------------------------------------------------------------------------------------------

# submit_as USER [qsub arguments]: prints the id. Without `-- command` the job sleeps.
submit_as()
{
	local user=$1
	shift
	[[ " $* " = *' -- '* ]] || set -- "$@" -- /bin/sleep 1000
	as "$user" qsub "$@"
}

submit() { submit_as "$OWNER" "$@"; }

# running [qsub arguments]: a job of $OWNER that runs, its first process known.
running()
{
	local id
	id=$(submit "$@") || return
	wait_until 20 job_is "$id" R 42 || return
	echo "$id"
}

# ends_when_told NAME STATUS: the script of a job that ends so when `tell NAME` has been said.
ends_when_told() { echo "until test -e $(desk "$OWNER")/$1.told; do sleep 0.1; done; exit $2"; }
tell() { : >"$(desk "$OWNER")/$1.told"; }

has_usage() { ask_job "$1" resources_used.walltime; [[ $ask_lines == *resources_used.walltime* ]]; }

# unmeasured SIGNAL [options of submit]: a job that got the signal before its host had measured it for the first
# time, a second after the start. It is measured as it stops.
unmeasured()
{
	local id signal=$1
	shift
	for _ in {1..20}; do
		id=$(running "$@") || return
		has_usage "$id" || { qsig -s "$signal" "$id" && echo "$id"; return; }
		qdel -W force "$id"
	done
	return 1
}

# processes JOB: those of its session.
processes() { ps -o pid= -s "$(session_of "$1")" | tr -d ' '; }

# stopped JOB: each process is stopped by a signal, or its cgroup is frozen. going JOB: none is.
stopped() { each_process "$1" is_stopped; }
going() { each_process "$1" is_going; }

each_process()
{
	local pid pids
	pids=$(processes "$1")
	[ -n "$pids" ] || { echo "$1 has no processes" >&2; return 1; }
	for pid in $pids; do
		"$2" "$pid" || { echo "process $pid of $1: $2 does not hold" >&2; return 1; }
	done
}

is_frozen()
{
	local mount group line
	mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	group=$(sed -n 's/^0:://p' "/proc/$1/cgroup")
	grep -qx 'frozen 1' "$mount$group/cgroup.events" 2>/dev/null && return
	line=$(sed -n 's/^[0-9]*:[^:]*freezer[^:]*://p' "/proc/$1/cgroup")
	[ -n "$line" ] && grep -qx FROZEN "/sys/fs/cgroup/freezer$line/freezer.state" 2>/dev/null
}

is_stopped() { grep -q '^State:[[:space:]]*T' "/proc/$1/status" || is_frozen "$1"; }
is_going() { ! is_stopped "$1"; }
