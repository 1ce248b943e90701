# SPDX-License-Identifier: Apache-2.0
#
# mend-users.bash - what stories about one user against others share.

host_log() { mom_log n1; }

# sequence ID: its number
sequence() { echo "${1%%.*}"; }

# ---- suspended -------------------------------------------------------------------------------------------

ticks() { wc -c <"$SB/ticks.$1"; }
grew() { [ "$(ticks "$1")" -gt "$2" ]; }

# ticking [qsub arguments]: a job that counts in a file
ticking()
{
	local id
	id=$(running "$@" -- /bin/sh -c 'while :; do printf . >>"$0.$PBS_JOBID"; sleep 0.02; done' "$(here ticks)")
	ln -sf "$(here "ticks.$id")" "$SB/ticks.$id"
	wait_until 5 test -s "$SB/ticks.$id"
	echo "$id"
}

# continue_all ID: what its owner may do
continue_all() { as "$OWNER" sh -c 'kill -CONT -- "-$1"; pkill -CONT -s "$1"' - "$(session_of "$1")" 2>/dev/null || true; }

# ---- killed ----------------------------------------------------------------------------------------------

# hydra NAME: a program that is 100 processes which fork and exit in turn, each in a session of its own. At most 8,000
# with those that are not reaped yet, behind other work unless HYDRA_NICE=0, for half a minute: others on this machine
# want to go on.
hydra()
{
	printf '%s\n' '#define _GNU_SOURCE' '#include <signal.h>' '#include <sys/resource.h>' '#include <time.h>' '#include <unistd.h>' 'int main(void)' '{' \
		'	time_t end = time(NULL) + 30;' '	setrlimit(RLIMIT_NPROC, &(struct rlimit){ 8000, 8000 });' \
		"	(void)!nice(${HYDRA_NICE-15});" '	signal(SIGTERM, SIG_IGN);' \
		'	for (int i = 0; i < 100; i++)' '		if (fork() == 0)' '			for (;;) {' \
		'				if (time(NULL) > end)' '					_exit(0);' \
		'				pid_t pid = fork();' \
		'				if (pid > 0) {' '					if (getpid() % 2)' \
		'						usleep(300);' '					_exit(0);' '				}' '				setsid();' '			}' \
		'	for (;;)' '		pause();' '}' >"$SB/$1.c"
	cc -O1 -o "$SB/$1" "$SB/$1.c"
	chmod 755 "$SB/$1"
}
no_heads() { ! pgrep -f "^$1\$" >/dev/null; }

# cut_off NAME: a job that is such a hydra, and how long it outlives its first process: milliseconds. All of it holds the
# end of a pipe.
cut_off()
{
	local before first id rest
	rm -f "$(here "$1.pipe")"
	as "$OWNER" mkfifo "$(here "$1.pipe")"
	id=$(submit -o /dev/null -e /dev/null -- /bin/sh -c 'exec "$0" >"$1"' "$SB/$1" "$(here "$1.pipe")") || return
	exec {rest}<"$(here "$1.pipe")"
	wait_until 20 job_is "$id" R 42 || return
	first=$(session_of "$id")
	[ -n "$first" ] || return
	qsig -s KILL "$id"
	while [ -d "/proc/$first" ]; do :; done
	before=$(date +%s%3N)
	timeout 30 cat <&"$rest" >/dev/null
	echo $(($(date +%s%3N) - before)) >"$SB/$1.ms"
	exec {rest}<&-
	ends "$id" && same status 265 "$(job_attr "$id" Exit_status)" && no_heads "$SB/$1"
}

# soon_cut_off NAME: a pass that is lucky meets them all. HYDRA_NICE=0 HYDRA_ROUNDS=8, on a machine that does nothing else:
# eight storms at full rank are no luck.
soon_cut_off()
{
	hydra "$1"
	for ((round = 0; round < ${HYDRA_ROUNDS-1}; round++)); do
		cut_off "$1"
		echo "gone after $(cat "$SB/$1.ms") ms"
		[ "$(cat "$SB/$1.ms")" -lt 6000 ] # it was 18 s
	done
}

# ---- whose shepherd is killed ------------------------------------------------------------------------------

shepherd_of() { sed -n 's/^shepherd \([0-9]*\) .*/\1/p' "$SB/n1/mom_priv/jobs/$1.TK"; }

# leaving: a job with processes in its session, and in one of its own with another environment, and files
leaving()
{
	running "$@" -o "$(here b10.o)" -e "$(here b10.e)" -- /bin/sh -c \
		'sleep $1.1 & setsid sleep $1.2 & setsid env -i /bin/sleep $1.3 & touch $TMPDIR/x; echo said; echo $! >$0; wait' \
		"$(here "b10.pid")" "$(mark)"
}
mark() { echo $((1000000 + $$)); } # seconds that no other run sleeps
# none_left [WHICH]
none_left() { ! pgrep -u "$OWNER" -f "^(/bin/)?sleep $(mark).${1-[123]}\$" >/dev/null; }

# ---- output -----------------------------------------------------------------------------------------------

STUCK_BYTES=1000000000

# stuck PATH [SIGNAL]: a job that has ended but for its output: its owner has stopped the process that copies it to PATH.
stuck()
{
	local id try
	for try in 1 2 3 4 5; do
		as "$OWNER" sh -c ': >"$1"' - "$1"
		id=$(submit -o "$1" -e /dev/null -- /bin/sh -c 'touch $TMPDIR/x; truncate -s $0 /proc/self/fd/1; sleep 0.5' \
			$STUCK_BYTES) || return
		wait_until 20 job_is "$id" R 42 || return
		# On a busy machine all may be placed before it is seen: once more, then.
		as "$OWNER" sh -c '
			while kill -0 "$1" 2>/dev/null; do :; done
			until pkill "-$3" -u "$(id -u)" -P "$2"; do [ -d "/proc/$2" ] || exit 1; done' - \
			"$(session_of "$id")" "$(shepherd_of "$id")" "${2-STOP}" || continue
		echo "$id"
		return
	done
	return 1
}

# gone_from_host JOB: no process, no file of it.
gone_from_host()
{
	! pgrep -f "^keelson-shepherd $1" >/dev/null && ! compgen -G "$SB/n1/spool/$1*" &&
		! compgen -G "$SB/n1/tmp/pbs.$1*" && ! compgen -G "$SB/n1/mom_priv/jobs/$1*"
}
