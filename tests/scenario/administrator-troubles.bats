#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What goes wrong while commands of other hosts are under way, and while hosts and logs are in other trouble: a client reads
# what became of its request, what was acknowledged is there once, and nothing hangs.

load helper

teardown()
{
	[ -n "${SB-}" ] || return 0
	rm -f "$SB"/server/filler "$SB"/server/server_logs/filler
	[ -n "${BATS_TEST_COMPLETED-}" ] || show_state
	sandbox stop || true
	! mountpoint -q "$SB/server" || umount -R "$SB/server" || umount -Rl "$SB/server"
	rm -rf "$SB"
}

login() { at login1 "$OWNER" "$@"; }
pid_at() { if [ "$1" = server ]; then head -n 1 "$SB/server/server_priv/server.lock"; else mom_of "$1"; fi; }
# asks FILE COMMAND...: at login1, in the background; what it says is in FILE, its status in FILE.status.
asks()
{
	local file=$SB/$1
	shift
	(
		status=0
		login "$@" >"$file" 2>&1 || status=$?
		echo "$status" >"$file.status"
	) 3>&- &
}
is_answered() { [ -s "$SB/$1.status" ]; }
# answered FILE STATUS TEXT: it ends so, and says that.
answered()
{
	wait_until 60 is_answered "$1"
	[[ $(cat "$SB/$1.status") =~ ^$2$ ]] || same "status of $1" "$2" "$(cat "$SB/$1.status")"
	has "$(cat "$SB/$1")" "$3"
}
linked() { login qstat -B; }
named() { qselect -N "$1" | wc -l; } # how many jobs have this name

# ---- A4: requests of a host ----------------------------------------------------------------------------------------

# The server stands still while a long script is on its way: a window of it was sent, the rest is at the host.
half_sent() # name
{
	local before
	[ -e "$SB/big.sh" ] || { head -c 15000000 /dev/zero | tr '\0' '#'; echo; } >"$SB/big.sh"
	before=$(memory_of login1)
	kill -STOP "$(pid_at server)"
	asks "$1" qsub -h -N "$1" "$SB/big.sh"
	has_grown() { [ "$(memory_of login1)" -gt $((before + 14000)) ]; }
	wait_until 20 has_grown
}
memory_of() { awk '/^VmData/ { print $2 }' "/proc/$(pid_at "$1")/status"; }

@test "administrator #4: half of a script is with the server when that restarts, is killed, or goes on: one job, or a clear line and none" {
	needs_module client-relay
	setup_sandbox --logins 1 --set link-tcp.heartbeat=60s
	linked

	half_sent one
	kill -CONT "$(pid_at server)"
	sandbox restart server --no-wait
	answered one 0 '^[0-9]+\.svr$'
	same 'jobs' 1 "$(named one)"

	wait_until 20 linked
	half_sent two
	sandbox kill server
	answered two 186 '^qsub: cannot reach the server from this host: its daemon has no link to it'
	sandbox restart server
	same 'jobs' 0 "$(named two)"

	wait_until 20 linked
	half_sent three
	kill -CONT "$(pid_at server)"
	sandbox restart login1 --no-wait
	answered three 0 '^[0-9]+\.svr$'
	same 'jobs' 1 "$(named three)"
}

@test "administrator #4: while the server restarts commands of hosts wait for it; without its module they say what to do" {
	needs_module client-relay
	setup_sandbox --logins 1
	linked
	kill -TERM "$(pid_at server)"
	wait_until 20 dead "$(pid_at server)"
	asks waits qsub -h -N waits -- /bin/true
	asks listing qstat -B
	nap 2
	[ ! -e "$SB/waits.status" ]
	sandbox restart server --no-wait
	answered waits 0 '^[0-9]+\.svr$'
	answered listing 0 '^svr '
	same 'jobs' 1 "$(named waits)"

	sandbox reload --disable client-relay
	asks off qsub -h -N off -- /bin/true
	answered off 186 '^qsub: cannot reach the server from this host: the server takes no requests of hosts; enable its module client-relay'
	lacks "$(server_log)" "message 'relay.up' ignored"
	sandbox reload --enable client-relay
	wait_until 20 linked
	same 'jobs' 0 "$(named off)"
}

# A script of this site takes its time.
slow_hook()
{
	printf '%s\n' 'import pbs, time' 'if pbs.event().job.Job_Name.startswith("slow"): time.sleep(4)' >"$SB/slow.py"
	qmgr -c 'create hook slow event=queuejob'
	qmgr -c "import hook slow application/x-python default $SB/slow.py"
}
holds_one() { keelson holds | grep -q python-hooks; }

@test "administrator #4: a tap holds the submission of another host: whatever ends meanwhile, there is one job or a word of doubt" {
	needs_module client-relay
	needs_module python-hooks
	setup_sandbox --logins 1
	slow_hook
	linked

	asks slow1 qsub -h -N slow1 -- /bin/true
	wait_until 20 holds_one
	sandbox restart login1 --no-wait
	answered slow1 212 'look at what it was about'
	[ "$(named slow1)" -le 1 ]
	wait_until 20 linked

	asks slow2 qsub -h -N slow2 -- /bin/true
	wait_until 20 holds_one
	sandbox kill server
	answered slow2 183 '^qsub: the link from this host to the server was lost before it answered; look whether it was done'
	sandbox restart server
	same 'jobs' 0 "$(named slow2)"

	wait_until 20 linked
	asks slow3 qsub -h -N slow3 -- /bin/true
	wait_until 20 holds_one
	keelson reload scheduler
	answered slow3 0 '^[0-9]+\.svr$'
	same 'jobs' 1 "$(named slow3)"
	same 'holds' '' "$(keelson holds)"
}

reservations() { pbs_rstat -f | grep -c '^Resv ID'; }
one_waits() { [ "$(reservations)" -eq "$1" ]; }

@test "administrator #4: a reservation that waits is made once, whatever is lost meanwhile; a host that may look makes none" {
	needs_module client-relay
	setup_sandbox --logins 1
	qmgr -c 'set server scheduling = False'
	linked
	asks resv pbs_rsub -R "$(moment 3600)" -D 60 -l select=1:ncpus=1 -I 600
	wait_until 20 one_waits 1
	sandbox kill server
	sandbox restart server
	wait_until 20 linked
	nap 1
	qmgr -c 'set server scheduling = True'
	answered resv 0 '^R[0-9]+\.svr CONFIRMED$'
	same 'reservations' 1 "$(reservations)"

	sed -i 's/.*submit = .*/	submit = [];/' "$SB/server/etc/modules.d/client-relay.conf"
	grep -q 'submit = \[\]' "$SB/server/etc/modules.d/client-relay.conf"
	keelson reload
	wait_until 20 linked
	asks look pbs_rsub -R "$(moment 7200)" -D 60 -l select=1:ncpus=1 -I 600
	answered look '[1-9].*' 'host login1 may look and not change anything'
	same 'reservations' 1 "$(reservations)"
}

# ---- a disk that is full -------------------------------------------------------------------------------------------

small_disk()
{
	mkdir "$SB/server" && mount -t tmpfs -o size=6m,mode=755 tmpfs "$SB/server" &&
		mkdir "$SB/server/server_logs" && mount -t tmpfs -o size=4m,mode=755 tmpfs "$SB/server/server_logs"
}
fill() { ! cat /dev/zero >"$1/filler" 2>/dev/null; }
big_script() { head -c 300000 /dev/zero | tr '\0' '#' >"$SB/big.sh"; }

@test "administrator #4 #22: the disk is full: a host's submission waits and is there once; health says why; the log goes on when there is room" {
	needs_root
	needs_module client-relay
	prepare=small_disk setup_sandbox --logins 1
	linked
	big_script
	fill "$SB/server"
	asks full qsub -h -N full "$SB/big.sh"
	wait_until 20 disk_is_full
	[ ! -e "$SB/full.status" ]
	wait_until 20 eval 'keelson health | grep -E "^degraded .*(full|not saved|cannot be saved)"'
	run -1 keelson health --metrics
	has "$output" '^keelson_degraded 1$'
	login qstat -B
	rm "$SB/server/filler"
	answered full 0 '^[0-9]+\.svr$'
	same 'jobs' 1 "$(named full)"

	# Its host's daemon restarts meanwhile: what has acted is not sent once more.
	fill "$SB/server"
	asks doubt qsub -h -N doubt "$SB/big.sh"
	wait_until 20 eval '[ "$(named doubt)" -eq 1 ]' # not yet in the store
	[ ! -e "$SB/doubt.status" ]
	sandbox restart login1 --no-wait
	answered doubt 212 'look at what it was about'
	rm "$SB/server/filler"
	wait_until 20 eval '[ "$(named doubt)" -eq 1 ] && keelson health'

	# The day file is moved to elsewhere while nothing can be written.
	today=$SB/server/server_logs/$(date +%Y%m%d)
	fill "$SB/server/server_logs"
	mv "$today" "$SB/moved"
	fill "$SB/server/server_logs"
	login qsub -h -N meanwhile -- /bin/true
	rm "$SB/server/server_logs/filler"
	id=$(login qsub -h -N later -- /bin/true)
	wait_until 40 grep -q ";Job;$id;Job Queued" "$today"
}

# ---- hosts in trouble ----------------------------------------------------------------------------------------------

# A second machine that was made as a copy of the first.
make_twin()
{
	local file
	mkdir -m 755 "$SB/twin"
	cp -r "$SB/n1/etc" "$SB/n1/keys" "$SB/n1/peers" "$SB/twin/"
	mkdir -m 1777 "$SB/twin/tmp"
	for file in keelson.conf settings modules.d/link-tcp.conf; do sed -i "s|$SB/n1/|$SB/twin/|;s|$SB/n1\"|$SB/twin\"|" "$SB/twin/etc/$file"; done
}
twin_is_refused() { mom_log twin | grep -q 'a host with this name and this key is linked there already'; }

@test "administrator #13: while a host reads its configuration anew its twin does not take its place" {
	setup_sandbox --set link-tcp.grace=60s
	qmgr -c 'set server job_history_enable = true'
	id=$(submit)
	starts "$id"
	session=$(session_of "$id")
	make_twin
	sandbox restart --no-wait twin
	wait_until 20 twin_is_refused
	reload_host n1
	wait_until 20 node_is n1 free
	job_is "$id" R 42
	alive "$session"
	lacks "$(mom_log twin)" ';linked with '
}

# The wall clock of one daemon is wrong by what the file $SB/shift says, from one moment to the next.
make_clock()
{
	cc -shared -fPIC -o "$SB/clock.so" -x c - <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <stdlib.h>
		#include <sys/syscall.h>
		#include <time.h>
		#include <unistd.h>
		int clock_gettime(clockid_t id, struct timespec *ts)
		{
			int ret = (int)syscall(SYS_clock_gettime, id, ts);
			char text[32] = "";
			int fd = id == CLOCK_REALTIME && getenv("CLOCK_FILE") ? open(getenv("CLOCK_FILE"), O_RDONLY | O_CLOEXEC) : -1;
			if (fd >= 0) {
				if (read(fd, text, sizeof(text) - 1) > 0)
					ts->tv_sec += atol(text);
				close(fd);
			}
			return ret;
		}
		time_t time(time_t *t)
		{
			struct timespec ts;
			clock_gettime(CLOCK_REALTIME, &ts);
			if (t)
				*t = ts.tv_sec;
			return ts.tv_sec;
		}
	END
}
walltime_is_sane() { [[ $(job_attr "$1" resources_used.walltime) =~ ^00:0[0-4]: ]]; }

@test "administrator #15: the clock of a host jumps a day while it runs jobs: none is ended by it, and their walltime is what it was" {
	not_sanitized 'its library has to be the first one'
	setup_sandbox --set executor.usage_interval=1s
	qmgr -c 'set server job_history_enable = true'
	make_clock
	echo 0 >"$SB/shift"
	LD_PRELOAD=$SB/clock.so CLOCK_FILE=$SB/shift sandbox restart n1
	wait_until 20 node_is n1 free
	id=$(submit -l walltime=600)
	ends=$(submit -l walltime=600 -- /bin/sleep 12)
	starts "$id"
	starts "$ends"
	for shift in 86400 -86400; do
		echo "$shift" >"$SB/shift"
		nap 3
		job_is "$id" R 42
		walltime_is_sane "$id"
	done
	wait_until 40 is_over "$ends"
	same status 0 "$(job_attr "$ends" Exit_status)"
	walltime_is_sane "$ends"
	job_is "$id" R 42
	# and over a restart of its daemon
	LD_PRELOAD=$SB/clock.so CLOCK_FILE=$SB/shift sandbox restart n1 --hard
	wait_until 20 node_is n1 free
	nap 2
	job_is "$id" R 42
	walltime_is_sane "$id"
}

@test "administrator #16: output that cannot be delivered, and the host's daemon is killed again and again: the reason is there, the output kept" {
	setup_sandbox
	qmgr -c 'set server job_history_enable = true'
	id=$(as "$OWNER" qsub -j oe -o /nosuchfolder/out -- /bin/sh -c 'echo precious; sleep 1')
	starts "$id"
	for i in 1 2 3; do
		nap 0.5
		sandbox kill n1
		sandbox restart n1
	done
	wait_until 60 is_over "$id"
	comment_says "$id" '/nosuchfolder: No such file or directory; kept in '
	same kept precious "$(cat "$SB/n1/undelivered/$id.OU")"
	same status 0 "$(job_attr "$id" Exit_status)"
}

@test "administrator #21: \$enforce mem comes while the host's daemon is dead: who has too much is ended when it is back" {
	needs_module host-limits
	[ -d "$top/modules/mom-config" ] || skip 'there is no modules/mom-config'
	setup_sandbox --set executor.usage_interval=1s --set executor.kill_delay=1s --set host-limits.cgroup=false
	qmgr -c 'set server job_history_enable = true'
	id=$(as "$OWNER" qsub -l select=1:ncpus=1:mem=40mb -k oe -- "$KEELSON_BUILD/tests/scenario/tools/grab" 104)
	small=$(submit -l select=1:ncpus=1:mem=40mb)
	starts "$id"
	starts "$small"
	sandbox kill n1
	echo '$enforce mem' >"$SB/n1/mom_priv/config"
	sandbox restart n1 --hard
	wait_until 60 is_over "$id"
	same status -27 "$(job_attr "$id" Exit_status)"
	comment_says "$id" 'exceeded resource mem'
	job_is "$small" R 42
}
