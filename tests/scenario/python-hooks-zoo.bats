#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# python-hooks-zoo.bats - bad scripts: each refuses its own job at most, the next one is served, and nothing is left.
# needs modules/python-hooks

load helper
load shared

setup_file()
{
	open_cluster --set log.events=4095
	cat >"$SB/zoo.py" <<-'EOS'
		import ctypes, os, pbs, resource, signal, socket, sys, threading, time
		e = pbs.event()
		def loop():
		    while True: pass
		def recurse(): recurse()
		def memory(): bytearray(2 << 30)
		def forks():
		    while True:
		        try: os.fork()
		        except OSError: time.sleep(0.1)
		def exit0(): os._exit(0)
		def exit3(): os._exit(3)
		def sysexit(): sys.exit(7)
		def segv(): ctypes.string_at(0)
		def abort(): os.abort()
		def closes(): os.closerange(0, 1000)
		def junk():
		    for fd in range(3, 256):
		        try: os.write(fd, b"\xff" * 100000)
		        except OSError: pass
		def shut():
		    for fd in range(3, 256):
		        try: socket.socket(fileno=fd).shutdown(2)
		        except OSError: pass
		def thread(): threading.Thread(target=lambda: time.sleep(600)).start()
		def daemon_thread(): threading.Thread(target=loop, daemon=True).start()
		def stops(): os.kill(os.getpid(), signal.SIGSTOP)
		def parent(): os.kill(os.getppid(), signal.SIGKILL)
		def child(): os.system("sleep 1013 & setsid sleep 1013 &")
		def prints(): sys.stdout.write("x" * 100000000)
		def files():
		    for i in range(5000): open("f%d" % i, "w").write("x")
		def deep():
		    for i in range(300): os.mkdir("d"); os.chdir("d")
		def chdir(): os.chdir("/")
		def big_file(): open("big", "wb").write(b"x" * (200 << 20))
		def newlines(): e.reject("one\ntwo\x01three")
		def long_reject(): e.reject("x" * 2000000)
		def long_value(): e.job.Job_Name = "y" * 3000000
		def base(): raise BaseException("b")
		def interrupt(): raise KeyboardInterrupt
		def names(): import builtins; del sys.modules["pbs"]; builtins.len = None
		def alarm(): signal.alarm(1); time.sleep(60)
		def deaf():
		    for s in range(1, 32):
		        try: signal.signal(s, signal.SIG_IGN)
		        except (OSError, ValueError): pass
		    loop()
		def limits(): resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
		def logs():
		    for i in range(200000): pbs.logmsg(pbs.LOG_DEBUG, "x" * 100)
		def asks():
		    for i in range(2000): pbs.server().job("%d.svr" % i)
		def environment(): os.environ.clear(); sys.path[:] = []
		def recursion(): sys.setrecursionlimit(10 ** 9); recurse()
		name = str(e.job.Job_Name)
		if name != "after":
		    globals()[name]()
	EOS
	qmgr -c 'create hook zoo event=queuejob,alarm=3'
	qmgr -c "import hook zoo application/x-python default $SB/zoo.py"
}
setup() { join_cluster; not_sanitized "a sanitizer has its own words for what dies"; }

in_it() { submit -h -N "$1" 2>&1; }

# bites ENDS NAME...: how each of them ends for its submitter; the next job passes.
bites()
{
	local ends=$1 got name
	shift
	for name in "$@"; do
		got=$(in_it "$name") || true
		[[ "$got" =~ $ends ]] || { echo "$name: $got" >&2; return 1; }
		in_it after >/dev/null || { echo "after $name there is no job" >&2; return 1; }
	done
}
accepted='^[0-9]+\.svr$'
exception="^qsub: request rejected as filter hook 'zoo' encountered an exception\. Please inform Admin\$"
alarm="^qsub: request rejected as filter hook 'zoo' got an alarm call\. Please inform Admin\$"
either="$exception|$alarm"

rss() { awk '/^VmRSS/ { print $2 }' "/proc/$(head -n 1 "$SB/server/server_priv/server.lock")/status"; }
no_child() { ! pgrep -f '^sleep 1013$'; }
few_folders() { [ "$(find "$SB/server/hooks_tmp" -mindepth 1 -maxdepth 1 | wc -l)" -le 4 ]; }

@test "python-hooks, a zoo: scripts that do not end are ended at their alarm" {
	bites "$alarm" loop stops deaf
	bites "$either" forks
}

@test "python-hooks, a zoo: scripts that die, raise or ask for too much are exceptions" {
	bites "$exception" recurse memory exit0 exit3 segv abort parent long_reject long_value base interrupt alarm big_file
	bites "$either" recursion
}

@test "python-hooks, a zoo: what a script does to its process is not there for the next one" {
	bites "$accepted" sysexit thread daemon_thread prints files deep chdir names limits asks environment
	bites "$accepted|$either" closes junk shut logs
	bites "^qsub: one" newlines
}

@test "python-hooks, a zoo: what a script has started ends with it" {
	bites "$accepted|$either" child
	wait_until 20 no_child
}

@test "python-hooks, a zoo: the server does not grow, and no folders are left" {
	bites "$exception" exit3 segv
	before=$(rss)
	for _ in 1 2 3 4 5; do bites "$either" exit3 segv recurse base; done
	[ "$(rss)" -le $((before + 2048)) ]
	wait_until 60 few_folders
}
