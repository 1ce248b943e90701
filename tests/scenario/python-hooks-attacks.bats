#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# python-hooks-attacks.bats - scripts, owners of jobs and hosts that are no friends: what they try, and what the machine looks like then.
# needs modules/python-hooks

load helper
load shared

setup_file()
{
	open_cluster --hosts 2 --set log.events=4095
	echo "forge: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/forge.so\"; file = \"$SB/n2.forge\"; };" >"$SB/n2/etc/modules.d/forge.conf"
	reload_host n2
	wait_until 10 node_is n2 free
	frames >"$SB/frames.py"
}

# hook NAME ATTRIBUTES: its script is stdin, behind what it needs to write frames; it goes with the story, here and on hosts.
hook()
{
	cat "$SB/frames.py" - >"$SB/$1.py"
	qmgr -c "create hook $1 $2"
	undo gone "$1"
	imported "$1"
}
# Another version: processes of the one before that came to nothing do not count.
imported() { qmgr -c "import hook $1 application/x-python default $SB/$1.py" 2>/dev/null; }
gone() { qmgr -c "delete hook $1" && wait_until 60 is_gone "$1"; }
is_gone() { [[ $(qmgr -c 'list hook' 2>&1) != *"Hook $1"$'\n'* ]] && [ -z "$(find "$SB"/n?/mom_priv/hooks -name "$1.*")" ]; }
there() { cmp -s "$SB/$1/mom_priv/hooks/$2.PY" "$SB/$2.py"; }
all_have() { wait_until 60 there n1 "$1" && wait_until 60 there n2 "$1"; }

held() { submit -h "$@"; }
said() { has "$(server_log)" "$1" 2>/dev/null; }
server_pid() { head -n 1 "$SB/server/server_priv/server.lock"; }
open_files() { find "/proc/$(server_pid)/fd" -mindepth 1 | wc -l; }
most_memory() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$(server_pid)/status"; }
# Programs of this cluster's scripts, by their working folder: none of it is left.
left_behind() { find /proc/[0-9]*/cwd -maxdepth 0 -lname "$SB/*/hooks_tmp/*" -printf '%l\n' 2>/dev/null; }
is_swept() { [ -z "$(left_behind)" ] && [ -z "$(find "$SB"/*/hooks_tmp -mindepth 1 2>/dev/null)" ]; }
same_server() { [ "$(server_pid)" = "$1" ]; }

# The socket to the daemon, and frames for it, as a process writes them that a script has taken over.
frames()
{
	cat <<-'EOS'
		import os, struct, time
		import pbs
		def line():
		    for f in os.listdir("/proc/self/fd"):
		        try:
		            if os.readlink("/proc/self/fd/" + f).startswith("socket"):
		                os.set_blocking(int(f), True)
		                return int(f)
		        except OSError:
		            pass
		N = b"n"
		def s(t): t = t if isinstance(t, bytes) else t.encode(); return b"s" + struct.pack("=I", len(t)) + t
		def i(x): return b"i" + struct.pack("=q", x)
		def l(*v): return b"l" + struct.pack("=I", len(v)) + b"".join(v)
		def m(**kw): return b"m" + struct.pack("=I", len(kw)) + b"".join(s(k) + v for k, v in kw.items())
		def frame(b): return struct.pack("=I", len(b)) + b
		def raw(b):
		    left = memoryview(b)
		    while left:
		        left = left[os.write(line(), left):]
		def send(*all): raw(b"".join(frame(b) for b in all))
		def log(text): pbs.logmsg(pbs.LOG_DEBUG, str(text))
		def attempt(what, *args):
		    try:
		        return "done: %s" % (what(*args),)
		    except OSError as e:
		        return e.strerror
	EOS
}

# forges < lines: n2 has sent them, and the server has heard the last.
forges()
{
	local mark=forge.$BASHPID
	{ cat; printf 'server %s\nend\n' "$mark"; } >"$SB/n2.forged"
	mv "$SB/n2.forged" "$SB/n2.forge"
	wait_until 60 said ";n2;message '$mark' ignored"
}
# changes FILE < lines "target attribute key text", `-` for none: as a host writes them.
changes()
{
	python3 -c '
import struct, sys
def s(t): return b"n" if t == "-" else b"s" + struct.pack("=I", len(t.encode())) + t.encode()
def l(v): return b"l" + struct.pack("=I", len(v)) + b"".join(v)
sys.stdout.buffer.write(l([l([s(w) for w in line.split()]) for line in sys.stdin]))' >"$1"
}
update() { echo "server python.update number=1 id=$1 run=$2 hook=$3 event=$4 flags=${6-0} changes=<$5"; }
run_of() { sed -n 's/^run //p' "$SB/n2/mom_priv/jobs/$1.TK"; }

# ---- files ---------------------------------------------------------------------------------------------

@test "python-hooks attack: a user reads no script, no configuration, no record of a hook, here or on a host" {
	needs_root
	echo '{"secret": "hush"}' >"$SB/c.json"
	hook reads 'event="queuejob,execjob_begin",debug=true' <<<'log("ran")'
	qmgr -c "import hook reads application/x-config default $SB/c.json"
	all_have reads
	a=$(running -l select=1:host=n1)
	wait_until 30 eval 'find "$SB"/n1/mom_priv/hooks/tmp -name "*.out" | grep -q .'
	wait_until 30 eval 'find "$SB"/server/server_priv/hooks/tmp -name "*.out" | grep -q .'
	wait_until 10 test -e "$SB/n1/mom_priv/hooks/reads.CF"
	# By their modes: files are root's alone, folders are searched by none but their owner.
	same 'open files' '' "$(find "$SB"/n?/mom_priv/hooks "$SB/server/server_priv/hooks" "$SB"/*/hooks_tmp -type f -perm /077)"
	same 'open folders' '' "$(find "$SB"/n?/mom_priv/hooks "$SB/server/server_priv/hooks" -mindepth 1 -type d -perm /077)"
	same 'listed' '' "$(find "$SB"/n?/mom_priv/hooks "$SB/server/server_priv/hooks" "$SB"/*/hooks_tmp -maxdepth 0 -perm /006)"
	same 'stores' '' "$(find "$SB/server/server_priv" -name 'keelson.db*' -perm /077)"
	# By trying.
	find "$SB"/n?/mom_priv/hooks "$SB/server/server_priv" "$SB"/*/hooks_tmp \( -name '*.PY' -o -name '*.CF*' -o -name '*.HK' -o -name '*.in' -o \
		-name 'keelson.db*' \) >"$SB/names"
	[ "$(wc -l <"$SB/names")" -ge 8 ]
	same 'what a user reads' '' "$(as "$OTHER" xargs cat <"$SB/names" 2>/dev/null)"
	same 'what a manager reads' '' "$(as "$MANAGER" xargs cat <"$SB/names" 2>/dev/null)"
	# And by qmgr, as a manager.
	for command in 'list hook' 'print hook' 'export hook reads application/x-python default' 'export hook reads application/x-config default'; do
		got=$(as "$MANAGER" qmgr -c "$command" 2>&1) || true
		lacks "$got" 'secret|log\('
		has "$got" 'is unauthorized to access hooks data'
	done
	qdel -W force "$a"
}

@test "python-hooks attack: a manager who is not root makes, changes, imports and deletes no hook" {
	needs_root
	hook mine 'event=queuejob' <<<'log("mine")'
	echo 'import os' >"$(desk "$MANAGER")/evil.py"
	for command in 'create hook evil event=execjob_begin' 'set hook mine event=execjob_begin' 'set hook mine enabled=false' 'delete hook mine' \
			"import hook mine application/x-python default evil.py" 'unset hook mine event' 'import pbshook mine application/x-config default evil.py'; do
		got=$(as "$MANAGER" qmgr -c "$command" 2>&1) && false
		has "$got" 'unauthorized to access hooks data'
	done
	for verb in 'hook list' 'hook times' 'hook tables'; do lacks "$(as "$OTHER" keelson $verb 2>&1)" mine; done
	same 'on hosts' '' "$(find "$SB"/n?/mom_priv/hooks -name '*.PY')"
	has "$(qmgr -c 'list hook mine')" 'event = queuejob'
	qmgr -c 'export hook mine application/x-python default' | cmp - "$SB/mine.py"
}

@test "python-hooks attack: names of hooks and files lead nowhere" {
	needs_root
	for name in ../x .x a/b 1x "$(printf 'a%.0s' {1..200})" tables/ 'é' -x; do
		qmgr -c "create hook $name" >/dev/null 2>&1 && false
	done
	hook good.HK event=execjob_begin <<<'pass'
	all_have good.HK
	for file in x.json/y ../../etc/passwd.json x.so x. ''; do
		echo '{}' | qmgr -c "import hook good.HK application/x-config default $file" >/dev/null 2>&1 && false
	done
	lacks "$(qmgr -c 'list hook')" 'Hook (\.|a|-|1)'
	same 'files on n1' 'good.HK.HK good.HK.PY tables' "$(cd "$SB/n1/mom_priv/hooks" && find . -maxdepth 1 -type f -printf '%P\n' | sort | xargs)"
}

@test "python-hooks attack: what is planted where scripts run and are recorded is not followed" {
	needs_root
	echo keep >"$SB/precious"
	mkdir "$SB/precious.d" && echo keep >"$SB/precious.d/file"
	for n in 1 2 3 4 5 6 7 8 9 10 20 30; do ln -s "$SB/precious.d" "$SB/server/hooks_tmp/server.$(($n + 100000))"; done
	number=$(find "$SB/server/hooks_tmp" -name 'server.*' | wc -l)
	[ "$number" -ge 12 ]
	mkdir -p "$SB/server/server_priv/hooks/tmp"
	for ((n = 0; n < 30; n++)); do ln -sf "$SB/precious" "$SB/server/server_priv/hooks/tmp/hook_queuejob_planted_$((EPOCHSECONDS + n)).1.in"; done
	hook planted event=queuejob,debug=true <<-'EOS'
		os.symlink("/etc", "etc"); os.mkfifo("fifo"); os.mkdir("closed"); os.chmod("closed", 0)
		for n in range(1, 9):
		    os.makedirs("deep.%d/x/y" % n)
		for n in range(200):
		    os.mkdir("d"); os.chdir("d")
		os.chdir(os.environ["TMPDIR"])
		os.system("true")   # the last run of its process
	EOS
	held
	held
	wait_until 20 eval '[ -z "$(find "$SB/server/hooks_tmp" -mindepth 1 ! -type l)" ]'
	same precious keep "$(cat "$SB/precious")"
	# A daemon that starts removes what is there: links, not what they name.
	sandbox kill server
	sandbox restart server
	wait_until 60 answers
	wait_until 60 eval '[ -z "$(find "$SB/server/hooks_tmp" -mindepth 1)" ]'
	same precious keep "$(cat "$SB/precious.d/file")"
	same 'the system' yes "$([ -d /etc ] && echo yes)"
}

# ---- the process of a script ---------------------------------------------------------------------------

@test "python-hooks attack: a script inherits nothing of the daemon: no environment, no descriptor, no rights, no view of others" {
	needs_root
	not_sanitized 'a sanitizer reads the memory of its own process'
	hook looks event=queuejob <<-'EOS'
		log("FD " + " ".join(sorted(os.readlink("/proc/self/fd/" + f).split(":")[0] for f in os.listdir("/proc/self/fd")
		    if os.path.lexists("/proc/self/fd/" + f))))
		log("ENV " + " ".join(sorted(os.environ)))
		log("UID %d %d GROUPS %s" % (os.getuid(), os.geteuid(), 0 in os.getgroups()))
		status = dict(x.split(":\t", 1) for x in open("/proc/self/status").read().splitlines() if ":\t" in x)
		log("CAPS %s NNP %s" % (status["CapEff"], status["NoNewPrivs"]))
		log("INIT " + attempt(os.kill, 1, 9))
		home = os.path.dirname(os.path.dirname(os.getcwd()))
		for name in ("keys", "server_priv", "hooks_tmp", "run"):
		    log("WRITE " + name + " " + attempt(os.mkdir, home + "/" + name + "/evil"))
		log("LIST " + attempt(os.listdir, home + "/server_priv"))
		seen = []
		me = os.readlink("/proc/self")
		for p in os.listdir("/proc"):
		    if p.isdigit() and p != me:
		        try:
		            if open("/proc/" + p + "/cmdline").read().split("\0")[0] == os.readlink("/proc/self/exe"):
		                for name in ("mem", "environ"):
		                    seen.append(attempt(open, "/proc/" + p + "/" + name, "rb"))
		        except OSError:
		            pass
		log("OTHERS " + ",".join(sorted(set(x.split(":")[0] for x in seen))))
	EOS
	held
	log=$(server_log | sed -n 's/.*;Hook;Server@svr;//p')
	has "$log" '^FD /dev/null /dev/null /dev/null socket$'
	has "$log" '^ENV LANG OMP_NUM_THREADS OPENBLAS_NUM_THREADS PATH TMPDIR$'
	lacks "$log" '^UID 0|^UID [0-9]+ 0 '
	has "$log" '^UID .* GROUPS False$'
	has "$log" '^CAPS 0+ NNP 1$'
	has "$log" '^INIT Operation not permitted$'
	for name in keys server_priv hooks_tmp run; do has "$log" "^WRITE $name Permission denied\$"; done
	has "$log" '^LIST Permission denied$'
	has "$log" '^OTHERS (Permission denied)?$' # the one that checks scripts is there, of the same user
	lacks "$log" '^OTHERS.*done'
}

@test "python-hooks attack: modules are the system's: none of the working folder, a home, or the environment" {
	needs_root
	hook modules event=queuejob <<-'EOS'
		import sys
		for name in ("json.py", "pbs.py", "colorsys.py", "sitecustomize.py", "usercustomize.py"):
		    open(name, "w").write("import os; open('%s/was-loaded', 'w')\n" % os.getcwd())
		open("evil.pth", "w").write("import os; os._exit(3)\n")
		import colorsys, json
		log("LOADED %s %s" % (colorsys.__file__, os.path.exists("was-loaded")))
		log("PATH " + " ".join(p for p in sys.path if not p.startswith("/usr/")))
		log("FLAGS %d %d %d" % (sys.flags.isolated, sys.flags.no_user_site, sys.flags.ignore_environment))
	EOS
	export PYTHONPATH=$SB PYTHONSTARTUP=$SB/frames.py PYTHONHOME=/nowhere
	sandbox kill server
	sandbox restart server
	wait_until 60 answers
	held
	log=$(server_log | sed -n 's/.*;Hook;Server@svr;//p')
	has "$log" '^LOADED /usr/.*/colorsys.py False$'
	has "$log" '^PATH [^ ]*/libexec/keelson/python-hooks$'
	has "$log" '^FLAGS 1 1 1$'
}

@test "python-hooks attack: a process that is taken over: frames out of turn, of no sense, too long, too deep, in a flood" {
	needs_root
	hook taken event=queuejob,alarm=20 <<-'EOS'
		e = pbs.event()
		n = str(e.job.Job_Name)
		accepts = m(how=s("accept"))
		if n == "huge": raw(b"\xff\xff\xff\xff"); time.sleep(5)
		elif n == "deep": send(b"l\1\0\0\0" * 200000 + b"n")
		elif n == "count": send(b"l" + struct.pack("=I", 0xfffffff0) + b"n" * 100)
		elif n == "other": send(l(s("result"), i(123456789), accepts))
		elif n == "before": send(l(s("result"), i(0), accepts), l(s("result"), i(1), accepts))
		elif n == "up": send(l(s("up")))
		elif n == "broken": send(l(s("broken"), s("no")))
		elif n == "empty": send(b"")
		elif n == "kind": send(b"x")
		elif n == "half": raw(b"\xff\xff"); os._exit(0)
		elif n == "exit": os._exit(0)
		elif n == "shut": os.close(line())
		elif n == "taken": os.dup2(os.open("/dev/null", os.O_RDWR), line())
		elif n == "questions":
		    while True: raw(frame(l(s("ask"), s("list"), s("job"), N, N)) * 1000)
		elif n == "objects":
		    while True: raw(frame(l(s("ask"), s("object"), s("server"), s(""))) * 1000)
	EOS
	daemon=$(server_pid)
	a=$(held -N one)
	files=$(open_files)
	for name in huge deep count other before up broken empty kind half exit shut taken questions objects; do
		imported taken
		got=$(held -N $name 2>&1) && { echo "$name was accepted: $got"; false; }
		same "$name" "qsub: request rejected as filter hook 'taken' encountered an exception. Please inform Admin" "$got"
	done
	imported taken
	b=$(held -N one)
	same_server "$daemon"
	wait_until 30 eval '[ "$(open_files)" -le $((files + 4)) ]'
	[ "$(most_memory)" -lt 300000 ]
	wait_until 30 eval '[ "$(left_behind | sort -u | wc -l)" -le 1 ]'
	same jobs "$a $b" "$(qselect | xargs)"
}

@test "python-hooks attack: what a script writes makes no line of the log, and moves no terminal" {
	needs_root
	hook writes event=queuejob <<-'EOS'
		send(l(s("log"), i(-1), s("Job;1.svr;forged\n"), s("1.svr;forged;\x1b[2J"), s("a\nforged\x1b[31m")))
		log("b\n11/28/2026 00:00:00;0008;Server@svr;Job;1.svr;forged \x1b[31m")
		pbs.logjobmsg("1.svr;forged", "c")
		e = pbs.event()
		if str(e.job.Job_Name) == "raises":
		    raise ValueError("x\x1b[2J\nforged \x9b31m")
		e.reject("no \x1b[31mred\x07 \x9b2J\nforged: enter a password")
	EOS
	says_nothing() { [[ $1 != *[$'\001'-$'\010\013'-$'\037\177']* && $1 != *$'\302\233'* ]]; }
	got=$(held -N rejects 2>&1) && false
	has "$got" '^qsub: no  \[31mred '
	says_nothing "$got"
	got=$(held -N raises 2>&1) && false
	says_nothing "$got"
	log=$(server_log)
	says_nothing "$log"
	lacks "$log" '^(forged|11/28/2026 00:00:00)'
	lacks "$log" '^[^;]*;[^;]*;[^;]*;(Job|Hook);1.svr;forged'
	has "$log" ';Job\?1.svr\?forged\?;1.svr\?forged\?\?\[2J;a'
	says_nothing "$(keelson hook times)"
}

@test "python-hooks attack: nothing of a script is left: children, daemons, bombs, threads, memory, descriptors, a full folder" {
	needs_root
	not_sanitized 'it has no bound of memory'
	hook leaves event=queuejob,alarm=3 <<-'EOS'
		import subprocess, threading
		n = str(pbs.event().job.Job_Name)
		forever = ["sleep", "98765"]
		if n == "child": subprocess.Popen(forever)
		elif n == "daemon": subprocess.Popen(["setsid", "-f"] + forever).wait()
		elif n == "thread": threading.Thread(target=time.sleep, args=(98765,)).start()
		elif n == "quiet":
		    import _posixsubprocess
		    a, b = os.pipe()
		    args = [[b"/bin/sh", b"-c", b"(setsid sleep 98765 &)"], [b"/bin/sh"], True, (b,), None, None, -1, -1, -1, -1, -1, -1, a, b, True,
		            False, 0, None, None, None, -1, None, False]
		    try: os.waitpid(_posixsubprocess.fork_exec(*args), 0)
		    except TypeError: os.system("(setsid sleep 98765 &)")  # another version's
		elif n == "bomb":
		    while True:
		        try: os.fork()
		        except OSError: time.sleep(0.2)
		elif n == "all": os.kill(-1, 9)
		elif n == "memory": x = [b"a" * 10 ** 7 for k in range(10 ** 4)]
		elif n == "files":
		    x = []
		    while True: x.append(open("/dev/null"))
		elif n == "disk":
		    with open("full", "wb") as f:
		        while True: f.write(b"x" * 10 ** 6)
		elif n == "names":
		    for k in range(20000): open("f%d" % k, "w")
		    os.system("true")
		elif n == "hangs":
		    import signal
		    for k in range(1, 65):
		        try: signal.signal(k, signal.SIG_IGN)
		        except (OSError, ValueError): pass
		    while True:
		        try: time.sleep(98765)
		        except BaseException: pass
	EOS
	daemon=$(server_pid)
	held -N first
	files=$(open_files)
	for name in child daemon thread quiet bomb all memory files disk names hangs; do
		imported leaves
		held -N $name >/dev/null 2>&1 || true
		answers
	done
	gone_now() { ! pgrep -f '^sleep 98765' >/dev/null; }
	wait_until 10 gone_now
	imported leaves
	wait_until 20 is_swept
	same_server "$daemon"
	wait_until 30 eval '[ "$(open_files)" -le $((files + 2)) ]'
	[ "$(most_memory)" -lt 300000 ]
}

# ---- owners of jobs ------------------------------------------------------------------------------------

@test "python-hooks attack: the owner of a job, in the process of a hook of owners, sees and changes nothing of others" {
	needs_root
	hook owned event=execjob_epilogue,user=pbsuser <<-'EOS'
		e = pbs.event()
		log("UID %d" % os.getuid())
		if e.job.Job_Name == "bad":
		    import pbs.run as r
		    from _keelson import ask
		    log("SEES " + " ".join(sorted(o["id"] + ("!" if "Variable_List" in o["attrs"] else "") for o in ask(["list", "job", None, None])[0])))
		    other = str(e.job.Variable_List["OTHER"])
		    log("OBJECT %s" % (ask(["object", "job", other]),))
		    log("HOOKS " + attempt(os.listdir, os.path.dirname(os.path.dirname(os.getcwd())) + "/mom_priv/hooks"))
		    r.changes.update({("job:" + other, "comment", None): "mine", ("vnode:n2", "comment", None): "mine",
		                      ("vnode:n9", "comment", None): "mine", ("event", "progname", None): "/bin/false"})
		    r.asked.update({"reboot": "touch /tmp/keelson-rebooted", "restart_cycle": True})
	EOS
	all_have owned
	victim=$(submit_as "$OTHER" -l select=1:host=n2 -v SECRET=hush -- /bin/sleep 1000)
	starts "$victim"
	id=$(submit -l select=1:host=n2 -N bad -v "OTHER=$victim" -- /bin/true)
	wait_until 60 is_over "$id"
	log=$(mom_log n2 | sed -n 's/.*;Hook;pbs_python;//p')
	has "$log" "^UID $(id -u "$OWNER")\$"
	has "$log" '^SEES [^ ]*!?$'
	lacks "$log" "^SEES.*$victim"
	has "$log" '^OBJECT None$'
	has "$log" '^HOOKS Permission denied$'
	wait_until 10 said 'may not change a job that is not its own'
	lacks "$(job_attr "$victim" comment)" mine
	lacks "$(pbsnodes -av)" 'comment = mine|^n9'
	job_is "$victim" R 42
	[ ! -e /tmp/keelson-rebooted ]
	qdel -W force "$victim"
}

@test "python-hooks attack: the owner of a job ends the process of a hook of owners, looks into it, and takes no host away" {
	needs_root
	not_sanitized 'a sanitizer reads the memory of its own process'
	hook ends 'event=execjob_prologue,user=pbsuser,alarm=20,fail_action=offline_vnodes' <<-EOS
		open("$(desk "$OWNER")/pid", "w").write(os.readlink("/proc/self"))
		time.sleep(15)
	EOS
	all_have ends
	rm -f "$(here pid)"
	id=$(submit -l select=1:host=n2 -- /bin/true)
	wait_until 20 test -s "$(here pid)"
	pid=$(cat "$(here pid)")
	same 'whose it is' "$OWNER" "$(ps -o user= -p "$pid")"
	for file in environ maps mem fd/1000; do
		as "$OWNER" sh -c "head -c 1 /proc/$pid/$file" >/dev/null 2>&1 && { echo "$file can be read"; false; }
	done
	as "$OWNER" kill -9 "$pid"
	wait_until 20 said 'Not allowed to update vnodes or to request scheduler restart cycle, if run as a non-manager/operator user'
	lacks "$(pbsnodes -l)" n2
	qdel -W force "$id"
}

# ---- a host --------------------------------------------------------------------------------------------

@test "python-hooks attack: a host that was sent no hook of hosts changes nothing by hooks" {
	needs_root
	hook here event=queuejob <<<'pass'
	id=$(running -l select=1:host=n2)
	changes "$SB/all" <<-EOS
		job comment - mine
		vnode:n2 comment - mine
		vnode:evil comment - mine
		vnode:n2 resources_available evil 1
	EOS
	for event in exechost_periodic execjob_begin queuejob nonsense; do update "$id" "$(run_of "$id")" here $event "$SB/all" 31; done | forges
	update "$id" "$(run_of "$id")" nosuch execjob_begin "$SB/all" 31 | forges
	lacks "$(job_attr "$id" comment)" mine
	lacks "$(pbsnodes -av)" 'mine|^evil|evil ='
	lacks "$(qmgr -c 'list resource' 2>/dev/null)" evil
	job_is "$id" R 42
}

@test "python-hooks attack: a host changes what is its own, and makes a bounded number of resources and vnodes" {
	needs_root
	hook ours event=exechost_startup <<<'pass'
	all_have ours
	theirs=$(running -l select=1:host=n1)
	for ((n = 0; n < 3000; n++)); do
		echo "vnode:n2 resources_available evil$n 1"
		echo "vnode:evil$n comment - x"
	done | changes "$SB/many"
	changes "$SB/others" <<-EOS
		job:$theirs comment - mine
		job comment - mine
		vnode:n1 comment - mine
		vnode:n1;0008;x;Job;$theirs;forged comment - mine
		job:$theirs;0008;x;Job;$theirs;forged comment - mine
		vnode:../x comment - mine
		server comment - mine
		queue:workq comment - mine
	EOS
	daemon=$(server_pid)
	update "$theirs" 1 ours execjob_epilogue "$SB/others" 31 | forges
	update x 0 ours exechost_periodic "$SB/many" | forges
	wait_until 60 said ';ours;scripts of n2 have made 100 resources, and make no more'
	wait_until 60 said ';ours;scripts of n2 have made 1000 vnodes, and make no more'
	same resources 100 "$(qmgr -c 'list resource' 2>/dev/null | grep -c '^Resource evil')"
	same vnodes 1000 "$(pbsnodes -av | grep -c '^evil')"
	lacks "$(job_attr "$theirs" comment)" mine
	lacks "$(pbsnodes -v n1)" mine
	lacks "$(qmgr -c 'list server'; qmgr -c 'list queue workq')" mine
	lacks "$(server_log)" ";$theirs;forged"
	job_is "$theirs" R 42
	same_server "$daemon"
	pbsnodes -av | sed -n 's/^\(evil[0-9]*\)$/delete node \1/p' | qmgr
	qmgr -c 'list resource' | sed -n 's/^Resource \(evil[0-9]*\)$/delete resource \1/p' | qmgr 2>/dev/null || true
}

@test "python-hooks attack: a host in a flood: updates, questions for its vnodes, lists of its files" {
	needs_root
	printf 'x = """%s"""\n' "$(head -c 300000 /dev/zero | tr '\0' a)" | hook large event=exechost_startup
	all_have large
	for ((n = 0; n < 20000; n++)); do echo "vnode:n$((1 + n % 2)) comment - x$n"; done | changes "$SB/long"
	head -c 3000000 /dev/zero | tr '\0' n >"$SB/nothings"
	printf 'l\xc0\xc6\x2d\0' | cat - "$SB/nothings" >"$SB/nothing"
	daemon=$(server_pid)
	{
		echo '2000*server python.vnodes.want number=5'
		echo '2000*server python.have files=[large.HK|x.PY|../../x.PY|large.PY'
		echo '2000*server python.took file=large.PY version=x code=0'
		echo '2000*server python.took file=large.PY version=x at=99999999999 code=-1'
		for ((n = 0; n < 5; n++)); do update x 0 large exechost_periodic "$SB/long"; done
		update x 0 large exechost_periodic "$SB/nothing"
		echo "server python.update"
		echo "server python.have files=x"
	} | forges
	answers
	same_server "$daemon"
	[ "$(most_memory)" -lt 300000 ]
	said 'it cannot be read, or it is more than'
	[ "$(server_log | grep -c "Not allowed to update vnode 'n1'")" -le 600 ]
	# It is a host as any other, afterwards.
	wait_until 60 there n2 large
	a=$(running -l select=1:host=n2)
	qdel -W force "$a"
}

@test "python-hooks attack: a host sends another one no hooks, facts of jobs, tables or vnodes" {
	needs_root
	hook steady event=execjob_begin <<<'log("steady")'
	all_have steady
	before=$(cd "$SB/n1/mom_priv/hooks" && find . -type f ! -path './jobs/*' -exec cksum {} + | sort)
	for message in 'file file=evil.PY version= size=0 at=0' 'file file=steady.PY version= size=0 at=0' \
			"file file=steady.PY version=x size=5 at=0 bytes=<$SB/frames.py" who 'job id=1.svr run=1 total=5 at=0' 'place id=1.svr exec_host=n2' \
			'vnodes number=1 at=0 size=5' 'noted number=1'; do
		echo "n1 python.$message"
		echo "server python.$message"
	done | forges
	same 'files of n1' "$before" "$(cd "$SB/n1/mom_priv/hooks" && find . -type f ! -path './jobs/*' -exec cksum {} + | sort)"
	qmgr -c 'export hook steady application/x-python default' | cmp - "$SB/steady.py"
	a=$(running -l select=1:host=n1)
	has "$(mom_log n1)" ';steady$'
	qdel -W force "$a"
}

# ---- races ---------------------------------------------------------------------------------------------

@test "python-hooks attack: a hook is imported, disabled and deleted while its script runs" {
	needs_root
	daemon=$(server_pid)
	for act in 'delete hook race' 'set hook race enabled=false' 'set hook race event=runjob' "import hook race application/x-python default $SB/other.py"; do
		printf 'import time\ntime.sleep(1)\n' >"$SB/race.py"
		echo pass >"$SB/other.py"
		qmgr -c 'create hook race event=queuejob'
		imported race
		held >"$SB/got" 2>&1 3>&- &
		nap 0.5
		qmgr -c "$act"
		wait $! || true
		answers
		qmgr -c 'delete hook race' 2>/dev/null || true
	done
	same_server "$daemon"
	a=$(held)
	lacks "$(qmgr -c 'list hook' 2>/dev/null)" 'Hook race'
	wait_until 10 is_swept
}

@test "python-hooks attack: a crowd of imports of one hook: one of them is there, whole, here and on hosts" {
	needs_root
	hook crowd event=execjob_begin <<<'pass'
	for n in 1 2 3 4 5 6; do
		{ echo "n = $n"; head -c 100000 /dev/zero | tr '\0' '#'; } >"$SB/crowd.$n"
		qmgr -c "import hook crowd application/x-python default $SB/crowd.$n" >/dev/null 2>&1 3>&- &
	done
	wait
	qmgr -c 'export hook crowd application/x-python default' >"$SB/crowd.py"
	found=
	for n in 1 2 3 4 5 6; do cmp -s "$SB/crowd.$n" "$SB/crowd.py" && found=$n; done
	[ -n "$found" ]
	all_have crowd
}

@test "python-hooks attack: kill -9 between an import and its way to hosts: they have it after the restart" {
	needs_root
	hook killed event=execjob_begin <<<'x = 1'
	all_have killed
	for n in 1 2 3; do
		{ echo "n = $n"; head -c 400000 /dev/zero | tr '\0' '#'; } >"$SB/killed.py"
		imported killed
		sandbox kill server
		sandbox restart server
		wait_until 60 answers
		qmgr -c 'export hook killed application/x-python default' | cmp - "$SB/killed.py"
		all_have killed
	done
}

@test "python-hooks attack: reloads while scripts run: each submission has one answer" {
	needs_root
	hook busy event=queuejob <<<'time.sleep(0.3)'
	daemon=$(server_pid)
	for n in 1 2 3 4; do (held -N "r$n" >"$SB/reload.$n" 2>&1 3>&-) & done
	nap 0.2
	keelson reload >/dev/null
	keelson reload >/dev/null
	wait
	for n in 1 2 3 4; do
		# Accepted, or refused for good: never both, never twice.
		made=$(qselect -N "r$n" | wc -l)
		if grep -q '^[0-9]*\.svr$' "$SB/reload.$n"; then same "made of r$n" 1 "$made"; else same "made of r$n" 0 "$made"; fi
	done
	same_server "$daemon"
	wait_until 30 eval '[ "$(left_behind | sort -u | wc -l)" -le 2 ]'
}

@test "python-hooks attack: as many hooks as there may be" {
	needs_root
	for ((n = 0; n <= 1000; n++)); do echo "create hook q$n event=queuejob,enabled=false"; done >"$SB/quota"
	qmgr <"$SB/quota" >"$SB/said" 2>&1 || true
	has "$(cat "$SB/said")" 'there are 1000 hooks already, and no more are possible'
	same hooks 1000 "$(qmgr -c 'list hook' | grep -c '^Hook q')"
	head -c 2000000 /dev/zero | tr '\0' '#' >"$SB/big.json"
	got=$(qmgr -c "import hook q1 application/x-config default $SB/big.json" 2>&1) && false
	head -c 2000000 /dev/zero | tr '\0' '#' >"$SB/big.py"
	got=$(qmgr -c "import hook q1 application/x-python default $SB/big.py" 2>&1) && false
	a=$(held)
	for ((n = 0; n < 1000; n++)); do echo "delete hook q$n"; done | qmgr
	same hooks '' "$(qmgr -c 'list hook' 2>/dev/null)"
	[ "$(most_memory)" -lt 400000 ]
}
