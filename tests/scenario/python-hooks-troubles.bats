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
	mkdir -m 755 -p "$SB/server/server_priv"
	mount -t tmpfs -o size=96m,mode=755 tmpfs "$SB/server/server_priv"
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
	umount -l "$SB/n1/mom_priv/hooks" "$SB/server/server_priv" || true
	rm -rf "$SB"
}
setup()
{
	needs_root
	join_cluster
	undo let q m r v s a b w
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
pyhosts() { grep -lzE "^TMPDIR=$SB/$1/hooks_tmp/" /proc/[0-9]*/environ 2>/dev/null | sed 's,/environ,,' || true; }
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

@test "python-hooks, troubles: a hook is switched off, replaced or deleted, or has other events, while its script runs: what runs counts" {
	hook w event=queuejob 'wait_at("w")' 'e.reject("old")'
	for what in 'set hook w enabled = false' 'set hook w event = modifyjob' 'set hook w alarm = 90' "import hook w application/x-python default $SB/new.py" 'delete hook w'; do
		printf 'set hook w %s\n' 'enabled = true' 'event = queuejob' | qmgr
		echo 'import pbs; pbs.event().reject("new")' >"$SB/new.py"
		shut w
		in_background one submit -h
		waiting server w
		qmgr -c "$what"
		in_background two submit -h
		wait_until 30 eval 'is_done two || more_wait server w 2'
		let w
		refused one 'old$'
		wait_until 30 is_done two
		case $what in
		*alarm*) refused two 'old$' ;;
		import*) refused two 'new$'; write w 'wait_at("w")' 'e.reject("old")' ;;
		*) passed two; qdel "$(said two)" ;;
		esac
	done
	no_jobs
}

@test "python-hooks, troubles: 64 submissions wait when the script is replaced: each has one answer, of the old script or of the new one" {
	hook w event=queuejob 'wait_at("w")' 'e.reject("old")'
	shut w
	for i in {1..64}; do in_background "s$i" submit -h; done
	waiting server w 16
	wait_until 60 eval '[ "$(keelson holds | grep -c "hook w")" -eq 64 ]'
	echo 'import pbs' >"$SB/new.py"
	qmgr -c "import hook w application/x-python default $SB/new.py"
	wait_until 60 eval '[ "$(qselect | wc -l)" -eq 48 ]'
	let w
	for i in {1..64}; do wait_until 60 is_done "s$i"; done
	same jobs "$(cat "$SB"/s*.said | grep '^[0-9]*\.svr$' | sort)" "$(qselect | sort)"
	same refused 16 "$(cat "$SB"/s*.said | grep -c 'old$')"
	qselect | xargs qdel
}

# commands NAME: their processes, of this sandbox alone
commands() { for pid in $(pgrep -x "$1"); do [[ $(readlink "/proc/$pid/cwd") != "$SB"/* ]] || echo "$pid"; done; }

@test "python-hooks, troubles: the client goes while its script runs: no job, and the next one is served" {
	hook w event=queuejob,alarm=120 'wait_at("w")'
	shut w
	in_background one submit -h
	waiting server w
	kill -INT "$(commands qsub)"
	wait_until 20 is_done one
	lacks "$(cat "$SB/one.status")" '^0$'
	wait_until 20 eval '[ -z "$(keelson holds | grep "hook w")" ]'
	let w
	id=$(submit -h)
	same jobs "$id" "$(qselect)"
	qdel "$id"
}

# One script of each event waits: three alter, move and start jobs, one submits a job, one a reservation.
five_wait()
{
	hook w 'event="queuejob,modifyjob,runjob,movejob,resvsub",alarm=120' \
		'wait_at({pbs.QUEUEJOB: "q", pbs.MODIFYJOB: "m", pbs.RUNJOB: "r", pbs.MOVEJOB: "v", pbs.RESVSUB: "s"}[e.type])'
	qmgr -c 'create queue other queue_type=e,enabled=t,started=t'
	undo qmgr -c 'delete queue other'
	altered=$(submit -h) moved=$(submit -h) started=$(submit -h)
	shut q m r v s
	in_background q submit -h
	waiting server q # what comes at once behind it is its process's, too
	in_background m qalter -N other "$altered"
	waiting server m
	in_background v qmove other "$moved"
	waiting server v
	in_background s as "$OWNER" pbs_rsub -R "$(moment 600)" -D 60 -l select=1
	waiting server s
	qrls "$started"
	waiting server r
	before=$(pyhosts server)
}
# What was not answered has not happened, but that the start is made once there is a server.
five_did_not_happen()
{
	for i in q m v s; do wait_until 30 is_done $i; done
	for i in q m v s; do lacks "$(cat "$SB/$i.status")" '^0$'; done
	for pid in $before; do wait_until 20 test ! -d "$pid"; done
	wait_until 30 answers
	wait_until 30 job_is "$started" R 42
	same runs 1 "$(job_attr "$started" run_count)"
	same name STDIN "$(job_attr "$altered" Job_Name)"
	same queue workq "$(job_attr "$moved" queue)"
	same jobs "$(printf '%s\n' "$altered" "$moved" "$started" | sort)" "$(qselect | sort)"
	same reservations '' "$(pbs_rstat)"
	same 'jobs on n1 and n2' 1 "$(ls "$SB"/n?/mom_priv/jobs/*.JB 2>/dev/null | wc -l)" || ls "$SB"/n?/mom_priv/jobs
}

@test "python-hooks, troubles: the server is killed while scripts of five events run" {
	five_wait
	sandbox kill server
	let q m r v s
	sandbox restart server
	five_did_not_happen
}

# Requests that wait are made again at the next server.
five_happen_once()
{
	for i in q m v s; do passed $i; done
	for pid in $before; do wait_until 20 test ! -d "$pid"; done
	wait_until 30 job_is "$started" R 42
	same runs 1 "$(job_attr "$started" run_count)"
	same name other "$(job_attr "$altered" Job_Name)"
	same queue other "$(job_attr "$moved" queue)"
	same jobs "$(printf '%s\n' "$altered" "$moved" "$started" "$(said q)" | sort)" "$(qselect | sort)"
	same reservations 1 "$(pbs_rstat | grep -c '^R[0-9]')"
	pbs_rdel "$(awk '{ print $1 }' "$SB/s.said")"
	qdel "$moved"
}

@test "python-hooks, troubles: the server is stopped while scripts of five events run" {
	five_wait
	sandbox restart server
	let q m r v s
	five_happen_once
}

@test "python-hooks, troubles: python-hooks is switched off and on again while scripts of five events run" {
	five_wait
	sandbox reload --disable python-hooks
	for pid in $before; do wait_until 20 test ! -d "$pid"; done
	for i in q m v s; do passed $i; done # nothing refuses them
	sandbox reload --enable python-hooks
	let q m r v s
	five_happen_once
	has "$(qmgr -c 'list hook w')" '^    alarm = 120$'
}

# ---- hosts ----------------------------------------------------------------------------------------------------
# seven_wait: the script of each of these events waits, for a job of that name.
SEVEN='begin prologue launch epilogue preterm preresume end'
declare -gA job
seven_wait()
{
	local n
	rm -rf "$SB/ran"
	mkdir -m 777 "$SB/ran"
	hook w "event=\"$(printf 'execjob_%s,' $SEVEN)\",alarm=300" \
		'n = {getattr(pbs, "EXECJOB_" + n.upper()): n for n in "'"$SEVEN"'".split()}[e.type]' \
		'if str(e.job.Job_Name) == n: wait_at(n)'
	for n in epilogue preterm preresume end; do job[$n]=$(a_job $n); done
	for n in epilogue preterm preresume end; do wait_until 30 job_is "${job[$n]}" R 42; done
	qsig -s suspend "${job[preresume]}"
	shut $SEVEN
	for n in begin prologue launch; do
		job[$n]=$(a_job $n)
		waiting n1 $n # what comes at once behind it is its process's, too
	done
	in_background preterm qdel "${job[preterm]}"
	waiting n1 preterm
	in_background preresume qsig -s resume "${job[preresume]}"
	waiting n1 preresume
	for n in epilogue end; do
		pkill -KILL -s "$(session_of "${job[$n]}")"
		waiting n1 $n
	done
	before=$(pyhosts n1)
}
a_job() # name
{
	submit -N "$1" $(on n1) -- /bin/sh -c "echo \$\$ >>$SB/ran/$1; until test -e $SB/ran/over; do sleep 0.2; done; echo over >>$SB/ran/$1"
}
# Each job goes on where it was, and ends once.
seven_go_on()
{
	local n
	for pid in $before; do wait_until 20 test ! -d "$pid"; done
	for n in epilogue end; do
		wait_until 60 is_over "${job[$n]}"
		same "status of $n" 265 "$(job_attr "${job[$n]}" Exit_status)"
		same "runs of $n" 1 "$(job_attr "${job[$n]}" run_count)"
	done
	for n in begin prologue launch; do wait_until 60 job_is "${job[$n]}" R 42; done
	refused preterm "Server could not connect to MOM ${job[preterm]}\$"
	job_is "${job[preterm]}" R 42
	passed preresume # it is asked for again
	wait_until 30 job_is "${job[preresume]}" R 42
	touch "$SB/ran/over"
	for n in begin prologue launch preterm preresume; do
		wait_until 60 is_over "${job[$n]}"
		same "output of $n" 'over' "$(tail -n 1 "$SB/ran/$n")"
		same "processes of $n" 1 "$(grep -vc over "$SB/ran/$n")"
	done
	wait_until 30 no_parts
	same 'ncpus assigned' 0 "$(node_attr n1 resources_assigned.ncpus)"
}
no_parts() { [ -z "$(ls -A "$SB/n1/mom_priv/jobs")" ]; }
nothing_left() { [ -z "$(ls -A "$SB/n1/mom_priv/jobs"; ls -A "$SB/n1/mom_priv/hooks/jobs")" ]; }

@test "python-hooks, troubles: a host's daemon is killed while scripts of seven events run" {
	seven_wait
	sandbox kill n1
	let $SEVEN
	sandbox restart n1
	wait_until 30 node_is n1 free
	seven_go_on
	wait_until 30 nothing_left
}

@test "python-hooks, troubles: a host's daemon is stopped and starts again while scripts of seven events run" {
	seven_wait
	sandbox restart n1
	let $SEVEN
	wait_until 30 node_is n1 free
	seven_go_on
	wait_until 30 nothing_left
}

@test "python-hooks, troubles: the processes of scripts are killed from outside: refused at a submission, tried again at a start" {
	hook w 'event="queuejob,execjob_begin",alarm=120' 'wait_at("q" if e.type == pbs.QUEUEJOB else "b")'
	shut q
	in_background q submit -h
	waiting server q
	kill -9 $(pyhosts server | sed 's,.*/,,')
	refused q 'encountered an exception'
	let q
	shut b
	id=$(submit $(on n1))
	waiting n1 b
	kill -9 $(pyhosts n1 | sed 's,.*/,,')
	let b
	wait_until 60 job_is "$id" R 42
	same runs 2 "$(job_attr "$id" run_count)"
}

@test "python-hooks, troubles: a job is deleted, run again, or started while its begin script runs" {
	hook w event=execjob_begin,alarm=120 'wait_at("b")'
	for what in qdel 'qdel -W force' qrerun 'qrerun -W force' qrun; do
		shut b
		id=$(submit $(on n1))
		waiting n1 b
		in_background one $what "$id"
		case $what in
		qrerun | qrun) refused one 'Request invalid for state of job' ;;
		*) passed one ;;
		esac
		let b
		case $what in
		qdel*) wait_until 60 is_over "$id" ;;
		*) wait_until 60 job_is "$id" R 42; qdel "$id" ;;
		esac
		wait_until 30 no_jobs
		wait_until 30 nothing_left
	done
	same 'ncpus assigned' 0 "$(node_attr n1 resources_assigned.ncpus)"
}

# Its script stops the daemon that waits for it, and has its answer ready: not the script is late.
@test "python-hooks, troubles: a daemon that stands still for longer than the alarm has the answer of its script all the same" {
	mom=$(mom_of n1)
	undo kill -CONT "$mom"
	hook w event=execjob_begin,alarm=1 'import signal' "os.kill($mom, signal.SIGSTOP)"
	id=$(submit $(on n1))
	wait_until 20 grep -q '^State:.*T' "/proc/$mom/status"
	nap 3
	kill -CONT "$mom"
	wait_until 60 job_is "$id" R 42
	lacks "$(mom_log n1)" "$id;alarm call while running"
	same runs 1 "$(job_attr "$id" run_count)"
}

@test "python-hooks, troubles: a reservation whose resv_begin script hangs begins, and jobs run in it" {
	hook w event=resv_begin,alarm=3 'wait_at("r")'
	shut r
	resv=$(as "$OWNER" pbs_rsub -R "$(moment 3)" -D 600 -l select=1:host=n1 | awk '{ print $1 }')
	undo pbs_rdel "$resv"
	id=$(submit -q "${resv%%.*}")
	waiting server r
	wait_until 20 resv_is "$resv" RUNNING
	wait_until 20 job_is "$id" R 42
	wait_until 20 log_has 'alarm call while running resv_begin hook'
	resv_is "$resv" RUNNING
}

@test "python-hooks, troubles: a host that cannot write its hooks gets no job; when there is room it has them, and the job starts" {
	hook small event=execjob_begin pass
	! cat /dev/zero >"$SB/n1/mom_priv/hooks/filler" 2>/dev/null
	undo rm -f "$SB/n1/mom_priv/hooks/filler"
	truncate -s -32768 "$SB/n1/mom_priv/hooks/filler"
	qmgr -c 'create hook w event=execjob_begin'
	undo gone w
	{ echo 'import pbs; pbs.logmsg(pbs.LOG_DEBUG, "w saw " + pbs.event().job.id)'; head -c 200000 /dev/zero | tr '\0' '#'; } >"$SB/w.py"
	qmgr -c "import hook w application/x-python default $SB/w.py"
	wait_until 30 log_has ';n1 could not take hook file w.PY: w.PY cannot be written: No space left on device; it is sent again$'
	id=$(submit $(on n1))
	other=$(running $(on n2))
	wait_until 20 comment_says "$id" 'pending copy hook or delete hook request'
	qmgr -c 'set hook small alarm = 9' # another one that can be written does not put it off
	wait_until 20 grep -qx alarm=9 "$SB/n1/mom_priv/hooks/small.HK"
	rm "$SB/n1/mom_priv/hooks/filler"
	wait_until 15 job_is "$id" R 42
	has "$(mom_log n1)" ";w saw $id\$"
	same left '' "$(find "$SB/n1/mom_priv/hooks" -name '.new-*')"
}

@test "python-hooks, troubles: a host without python-hooks gets no job while there are hooks for it; switched on it has them" {
	hook w event=execjob_begin pass
	sed -i.bak 's/enabled = true/enabled = false/' "$SB/n2/etc/modules.d/python-hooks.conf"
	reload_host n2
	undo reload_host n2
	undo mv "$SB/n2/etc/modules.d/python-hooks.conf.bak" "$SB/n2/etc/modules.d/python-hooks.conf"
	qmgr -c 'set hook w alarm = 11'
	id=$(submit $(on n2))
	other=$(running $(on n1))
	wait_until 20 comment_says "$id" 'pending copy hook or delete hook request'
	mv "$SB/n2/etc/modules.d/python-hooks.conf.bak" "$SB/n2/etc/modules.d/python-hooks.conf"
	reload_host n2
	wait_until 15 job_is "$id" R 42
}

@test "python-hooks, troubles: what an epilogue sets while there is no server is the job's, once there is one" {
	hook w event=execjob_epilogue,alarm=120 'wait_at("e")' 'e.job.resources_used["told"] = 7'
	shut e
	id=$(submit $(on n1) -- /bin/true)
	waiting n1 e
	sandbox kill server
	let e
	wait_until 20 eval 'mom_log n1 | grep -q ";w;finished"'
	sandbox restart server
	wait_until 60 is_over "$id"
	wait_until 20 eval 'same told 7 "$(job_attr "$id" resources_used.told)"'
	undo qmgr -c 'delete resource told'
}

@test "python-hooks, troubles: a thousand subjobs, each asked about, while the server is killed: each runs once" {
	hook w event=runjob pass
	rm -rf "$SB/ran"
	mkdir -m 777 "$SB/ran"
	id=$(submit -J 1-1000 -o /dev/null -e /dev/null -- /bin/sh -c "echo \$PBS_ARRAY_INDEX >>$SB/ran/all")
	wait_until 60 eval '[ "$(wc -l <"$SB/ran/all")" -ge 100 ]'
	sandbox kill server
	sandbox restart server
	wait_until 120 is_over "$id"
	same 'each once' "$(seq 1000)" "$(sort -n "$SB/ran/all")"
}

@test "python-hooks, troubles: the first request after a start is an alteration that a script looks at" {
	id=$(submit -h)
	hook w event=modifyjob 'e.job.Priority = 7'
	for how in '' --hard; do
		sandbox restart server $how
		wait_until 30 qalter -N "other$how" "$id"
		same priority 7 "$(job_attr "$id" Priority)"
	done
}

# switch HOST WORD OTHER: in the file of the module there; the host reads it again.
switch()
{
	sed -i "s/enabled = $2/enabled = $3/" "$SB/$1/etc/modules.d/python-hooks.conf"
	reload_host "$1"
}

@test "python-hooks, troubles: python-hooks is switched off and on again on a host while scripts of seven events run" {
	seven_wait
	undo switch n1 false true
	switch n1 true false
	for pid in $before; do wait_until 20 test ! -d "$pid"; done
	for n in begin prologue launch; do wait_until 30 job_is "${job[$n]}" Q; done # not without its scripts
	switch n1 false true
	let $SEVEN
	seven_go_on
}

@test "python-hooks, troubles: a host's hook is replaced, switched off or deleted while its begin script runs: what runs counts" {
	for what in 'set hook w enabled = false' 'set hook w event = execjob_end' "import hook w application/x-python default $SB/new.py" 'delete hook w'; do
		hook w event=execjob_begin,alarm=120 'wait_at("w")' 'if e.job.run_count == 1: e.reject("old")'
		echo 'import pbs; pbs.logmsg(pbs.LOG_DEBUG, "new saw " + pbs.event().job.id)' >"$SB/new.py"
		shut w
		id=$(submit $(on n1))
		waiting n1 w
		qmgr -c "$what"
		case $what in
		delete*) wait_until 30 test ! -e "$SB/n1/mom_priv/hooks/w.PY" ;;
		import*) wait_until 30 cmp -s "$SB/new.py" "$SB/n1/mom_priv/hooks/w.PY" ;;
		*event*) wait_until 30 grep -qx event=execjob_end "$SB/n1/mom_priv/hooks/w.HK" ;;
		*) wait_until 30 grep -qx enabled=false "$SB/n1/mom_priv/hooks/w.HK" ;;
		esac
		let w
		wait_until 30 log_has ";Job;$id;send of job to n1 failed error = 15169 reject_msg=,old\$"
		wait_until 60 job_is "$id" R 42
		same runs 2 "$(job_attr "$id" run_count)"
		[[ $what != import* ]] || has "$(mom_log n1)" "new saw $id\$"
		qdel "$id"
		gone w
	done
}

@test "python-hooks, troubles: a job whose postqueuejob script runs when the server is killed starts all the same, once" {
	hook w event=postqueuejob,alarm=120 'wait_at("w")'
	shut w
	id=$(submit $(on n1))
	waiting server w
	sandbox kill server
	let w
	sandbox restart server
	wait_until 60 job_is "$id" R 42
	same runs 1 "$(job_attr "$id" run_count)"
}

@test "python-hooks, troubles: a host stands still while a job is on its way to its begin script: the job runs there once" {
	hook w event=execjob_begin,alarm=60 'pbs.logmsg(pbs.LOG_DEBUG, "w saw " + e.job.id + " " + str(e.job.Job_Name))'
	mom=$(mom_of n1)
	undo kill -CONT "$mom"
	kill -STOP "$mom"
	id=$(submit -N slow $(on n1))
	wait_until 30 is_down n1
	kill -CONT "$mom"
	wait_until 60 job_is "$id" R 42
	same 'once, with its attributes' 1 "$(grep -c "w saw $id slow\$" <<<"$(mom_log n1)")"
}

@test "python-hooks, troubles: a script that is imported while the disk of the server is full is in force, or the old one is" {
	hook w event=queuejob 'e.reject("old")'
	cat "$SB/w.py" >"$SB/new.py"
	{ sed 's/"old"/"new"/' "$SB/w.py"; head -c 400000 /dev/zero | tr '\0' '#'; } >"$SB/new.py"
	! cat /dev/zero >"$SB/server/server_priv/filler" 2>/dev/null
	undo rm -f "$SB/server/server_priv/filler"
	in_background import qmgr -c "import hook w application/x-python default $SB/new.py"
	wait_until 20 disk_is_full
	in_background one submit -h
	rm "$SB/server/server_priv/filler"
	wait_until 30 is_done import
	refused one '(old|new)$'
	passed import
	in_background two submit -h
	refused two 'new$'
	sandbox restart server --hard
	wait_until 30 answers
	in_background two submit -h
	refused two 'new$'
}

@test "python-hooks, troubles: keelsond --last-good has the hooks that were acknowledged" {
	conf=$SB/server/etc/modules.d/python-hooks.conf
	hook w event=queuejob 'e.reject("by w")'
	sandbox reload
	write w 'e.reject("by the second")'
	sandbox kill server
	cp "$conf" "$SB/kept.conf"
	undo cp "$SB/kept.conf" "$conf"
	echo 'python-hooks: {' >"$conf"
	keelsond --conf "$SB/server/etc/keelson.conf" --last-good 3>&-
	wait_until 30 answers
	in_background one submit -h
	refused one 'by the second$'
	cp "$SB/kept.conf" "$conf"
	sandbox restart server
	wait_until 30 answers
}
