#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# python-hooks-troubles.bats - a trouble meets a script that runs: daemons that are killed, stopped, reloaded or stand still, clients that
# go, hooks that change, full disks. A job is never lost, never there twice, and never starts against a script that refuses.
#
# A script waits while there is $SB/shut/NAME, and says so in the log.
# needs modules/python-hooks
# needs modules/reservations

load helper
load shared

# The files of hooks are on a small disk of each daemon.
small_disks()
{
	mkdir -p -m 755 "$SB/n1/mom_priv"
	mkdir -m 700 "$SB/n1/mom_priv/hooks"
	mount -t tmpfs -o size=1m,mode=700 tmpfs "$SB/n1/mom_priv/hooks"
}

setup_file()
{
	[ "$EUID" -eq 0 ] || return 0
	prepare=small_disks open_cluster --hosts 2 --ncpus 64 --set log.events=4095 --set python-hooks.processes=16 --set scheduler.rest=100ms
	mkdir -m 755 "$SB/shut"
}
teardown_file()
{
	[ "$EUID" -eq 0 ] || return 0
	sandbox stop || true
	umount -l "$SB/n1/mom_priv/hooks" || true
	rm -rf "$SB"
}
setup()
{
	needs_root
	join_cluster
	undo rm -f "$SB/shut/"'*'
}

# ---- hooks ---------------------------------------------------------------------------------------------------
# hook NAME ATTRIBUTES [LINE]...: `wait_at(NAME)` is there for its lines. It goes with the story.
hook()
{
	wait_until 30 created "$1" "$2"
	undo gone "$1"
	write "$1" "${@:3}"
}
created() { qmgr -c "create hook $1 $2" 2>/dev/null; }
write()
{
	local host
	{
		cat <<-EOS
			import os, pbs, time
			e = pbs.event()
			def wait_at(name):
			    if os.path.exists("$SB/shut/" + name):
			        pbs.logmsg(pbs.LOG_DEBUG, "waits at " + name)
			    while os.path.exists("$SB/shut/" + name):
			        time.sleep(0.05)
		EOS
		printf '%s\n' "${@:2}"
	} >"$SB/$1.py"
	qmgr -c "import hook $1 application/x-python default $SB/$1.py"
	[[ $(qmgr -c "list hook $1") == *exec* ]] || return 0
	for host in n1 n2; do wait_until 30 cmp -s "$SB/$1.py" "$SB/$host/mom_priv/hooks/$1.PY"; done
}
gone()
{
	local host
	qmgr -c "delete hook $1" 2>/dev/null || true
	for host in n1 n2; do wait_until 60 test ! -e "$SB/$host/mom_priv/hooks/$1.PY"; done
}

# shut NAME...; waiting DAEMON NAME [HOW MANY]: scripts wait there. let NAME...: they go on.
declare -gA waited
shut()
{
	local name daemon
	for name; do
		for daemon in server n1 n2; do waited[$daemon.$name]=$(waits "$daemon" "$name"); done
		touch "$SB/shut/$name"
	done
}
waits() { grep -c ";waits at $2\$" <<<"$(mom_log "$1")" || true; }
waiting() { wait_until 30 more_wait "$1" "$2" "${3-1}"; }
more_wait() { [ "$(waits "$1" "$2")" -ge $((waited[$1.$2] + $3)) ]; }
let() { for name; do rm -f "$SB/shut/$name"; done; }

# in_background NAME COMMAND...: what it says is in $SB/NAME.said, its status in NAME.status.
in_background()
{
	local name=$1
	shift
	rm -f "$SB/$name.status"
	( "$@" >"$SB/$name.said" 2>&1 3>&- && echo 0 >"$SB/$name.status" || echo $? >"$SB/$name.status" ) 3>&- &
}
is_done() { for name; do [ -s "$SB/$name.status" ] || return; done; }
said() { cat "$SB/$1.said"; }
refused() { wait_until 30 is_done "$1" && has "$(said "$1")" "$2"; }
passed() { wait_until 30 is_done "$1" && same "$1: $(said "$1")" 0 "$(cat "$SB/$1.status")"; }

# pyhosts DAEMON: processes of its scripts, and their folders
pyhosts() { grep -lzE "^TMPDIR=$SB/$1/" /proc/[0-9]*/environ 2>/dev/null | sed 's,/environ,,' || true; }
ran() { wc -l <"$SB/ran/$1" 2>/dev/null || echo 0; }
on() { echo "-l select=1:host=$1"; }

@test "python-hooks, troubles: a hook that goes while a script runs takes none that come behind it away" {
	hook a.a event=queuejob,order=1 'wait_at("a")'
	hook b event=queuejob,order=2 'wait_at("b")'
	hook c event=queuejob,order=3 'e.reject("by c")'
	shut a
	in_background one submit -h
	waiting server a # also a hook with a dot in its name runs
	let a
	refused one 'by c$'
	for what in 'set hook a.a enabled = false' 'set hook a.a enabled = true' 'set hook a.a order = 5' 'set hook b order = 4' 'delete hook a.a'; do
		shut b
		in_background one submit -h
		waiting server b
		qmgr -c "$what"
		let b
		refused one 'by c$'
		[ "$what" != 'set hook b order = 4' ] || qmgr -c 'set hook b order = 2'
	done
	no_jobs
}
