#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# python-hooks.bats - scripts that decide about submissions: from qmgr to what the submitter reads, and the processes they run in.
# needs modules/python-hooks

load helper
load shared
load python-hooks

setup_file() { open_cluster --set log.events=4095; }

in_order() { [[ $(server_log) == *"$1"*"$2"* ]]; }

@test "python-hooks #11: a script refuses jobs by their name, and the submitter reads why" {
	hook h11 <<-'EOS'
		import pbs
		e = pbs.event()
		if str(e.job.Job_Name) == "bad":
		    e.reject("no bad names")
	EOS
	says 32 'qsub: no bad names' held -N bad
	a=$(held -N good)
	job_is "$a" H
	said ";0400;Server@svr;Hook;h11;queuejob request rejected by 'h11'\$"
	said ';0400;Server@svr;Hook;h11;no bad names$'
	said ';0086;Server@svr;Svr;Server@svr;Compiling script file: <.*/server_priv/hooks/h11.PY>$'
}

@test "python-hooks #12: what a script sets is the job's" {
	hook h12 <<-'EOS'
		import pbs
		j = pbs.event().job
		j.Priority = 7
		j.Resource_List["walltime"] = pbs.duration("00:10:00")
		j.Variable_List["ADDED"] = "yes"
	EOS
	a=$(held)
	same Priority 7 "$(job_attr "$a" Priority)"
	same walltime 00:10:00 "$(job_attr "$a" Resource_List.walltime)"
	has "$(job_attr "$a" Variable_List)" 'ADDED=yes'
}

@test "python-hooks #13: an exception refuses the job, and the log has its traceback" {
	hook h13 <<<'1/0'
	text="qsub: request rejected as filter hook 'h13' encountered an exception. Please inform Admin"
	got=$(held 2>&1) && false
	same words "$text" "$got"
	said ";0100;Server@svr;Hook;h13;queuejob hook 'h13' encountered an exception, request rejected\$"
	said ';Hook;h13;Error evaluating Python script: ZeroDivisionError: division by zero$'
	said ';Hook;h13;.*h13.PY.*line 1'
}

@test "python-hooks #14: a script that takes longer than its alarm is ended, the next job has another process" {
	hook h14 event=queuejob,alarm=2 <<-'EOS'
		import pbs, time
		if str(pbs.event().job.Job_Name) == "slow":
		    time.sleep(600)
	EOS
	got=$(held -N slow 2>&1) && false
	same words "qsub: request rejected as filter hook 'h14' got an alarm call. Please inform Admin" "$got"
	said ";0100;Server@svr;Hook;h14;alarm call while running queuejob hook 'h14', request rejected\$"
	said ';0001;[^;]*;Hook;h14;it is close to its alarm of 2 s; it stands here:$'
	said ';0001;[^;]*;Hook;h14;  File ".*h14.PY", line 3, in <module>$'
	held -N quick
}

@test "python-hooks #15: hooks run in their order, and the first that refuses is the last" {
	hook h15a event=queuejob,order=2 <<<$'import pbs\npbs.logmsg(pbs.LOG_DEBUG, "second")'
	hook h15b event=queuejob,order=1 <<-'EOS'
		import pbs
		pbs.logmsg(pbs.LOG_DEBUG, "first")
		if str(pbs.event().job.Job_Name) == "bad":
		    pbs.event().reject()
	EOS
	got=$(held -N bad 2>&1) && false
	same words "qsub: queuejob request rejected by 'h15b'" "$got"
	lacks "$(server_log)" ';Hook;[^;]*;second$'
	held -N good
	in_order ';first' ';second'
}

@test "python-hooks #16: a hook that is not enabled does not run" {
	hook h16 event=queuejob,enabled=false <<<$'import pbs\npbs.event().reject("never")'
	held
	lacks "$(server_log)" ';Hook;h16;started$'
	qmgr -c 'set hook h16 enabled = true'
	got=$(held 2>&1) && false
	same words 'qsub: never' "$got"
}

@test "python-hooks #21: a script reads its configuration" {
	echo '{"say": "from the file"}' >"$SB/h21.json"
	hook h21 <<-'EOS'
		import json, os, pbs
		assert os.environ["PBS_HOOK_CONFIG_FILE"] == pbs.hook_config_filename
		pbs.logmsg(pbs.LOG_DEBUG, json.load(open(pbs.hook_config_filename))["say"])
	EOS
	qmgr -c "import hook h21 application/x-config default $SB/h21.json"
	held
	hook_said 'from the file'
}

@test "python-hooks: what one script sets the next one sees" {
	hook chain1 event=queuejob,order=1 <<<$'import pbs\npbs.event().job.Priority = 11'
	hook chain2 event=queuejob,order=2 <<<$'import pbs\npbs.event().job.Priority = int(pbs.event().job.Priority) + 1'
	a=$(held)
	same Priority 12 "$(job_attr "$a" Priority)"
}

@test "python-hooks: a process that dies is an exception, and the next one serves" {
	hook dies <<-'EOS'
		import os, pbs, signal
		if str(pbs.event().job.Job_Name) == "dead":
		    os.kill(os.getpid(), signal.SIGSEGV)
	EOS
	got=$(held -N dead 2>&1) && false
	same words "qsub: request rejected as filter hook 'dies' encountered an exception. Please inform Admin" "$got"
	said ';Hook;dies;Error evaluating Python script: its process was killed by signal 11'
	held -N alive
}

@test "python-hooks: another script is in force with the next job" {
	hook again <<<$'import pbs\npbs.event().job.Priority = 1'
	a=$(held)
	echo $'import pbs\npbs.event().job.Priority = 2' >"$SB/again.py"
	qmgr -c "import hook again application/x-python default $SB/again.py"
	b=$(held)
	same before 1 "$(job_attr "$a" Priority)"
	same behind 2 "$(job_attr "$b" Priority)"
}

@test "python-hooks: nothing of a run is left for the next one" {
	hook fresh <<-'EOS'
		import pbs
		assert "seen" not in globals()
		seen = True
		open("file", "a").write("x")
	EOS
	for _ in 1 2 3; do held; done
}

@test "python-hooks: many jobs at once, none is lost" {
	hook many <<<$'import pbs\npbs.event().job.Priority = 5'
	for _ in {1..4}; do
		(for _ in {1..10}; do held >/dev/null || exit; done) 3>&- &
	done
	wait
	same jobs 40 "$(qselect -h u | wc -l)"
	same with_priority 40 "$(qselect -p 5 | wc -l)"
}

@test "python-hooks: hooks and scripts are there after kill -9" {
	hook stays <<<$'import pbs\npbs.event().reject("still here")'
	sandbox kill server
	sandbox restart server
	wait_until 20 answers
	got=$(held 2>&1) && false
	same words 'qsub: still here' "$got"
}

recorded() { compgen -G "$SB/server/server_priv/hooks/tmp/hook_queuejob_$1_*.$2"; }

@test "python-hooks: with debug = true a run is recorded, and its script runs with that record alone" {
	hook taped event=queuejob,debug=true <<-'EOS'
		import pbs
		e = pbs.event()
		assert pbs.server().queue("workq").name == "workq"
		e.reject("seen \"%s\"" % e.job.Job_Name)
	EOS
	got=$(held -N taped 2>&1) && false
	same words 'qsub: seen "taped"' "$got"
	wait_until 10 recorded taped out
	has "$(cat "$(recorded taped out)")" '"how": "reject", "text": "seen ..taped.."'
	in=$(recorded taped in)
	same mode 600 "$(stat -c %a "$in")"
	lacks "$(cat "$in")" 'import pbs'
	got=$("$KEELSON_BUILD/libexec/keelson/keelson-pyhost" --run "$SB/taped.py" --event "$in" 2>&1) || true
	has "$got" 'seen "taped"'
}

@test "keelson hook: the hooks of the server, and what their scripts have cost" {
	hook costs <<<$'import pbs\nif str(pbs.event().job.Job_Name) == "bad": 1/0'
	held
	held
	held -N bad 2>/dev/null && false
	has "$(keelson hook list)" '^costs +on +1 +30s +[1-9] +0 +queuejob$'
	has "$(keelson hook times costs)" '^costs +queuejob +3 +1 .* ms .*ZeroDivisionError: division by zero$'
	says 1 "keelson hook: there is no hook 'nosuch'; 'keelson hook list' shows them" keelson hook times nosuch
	has "$(keelson hooks job_submit)" 'costs'
}

@test "python-hooks: a script that writes without end is heard for a while, and its alarm ends it" {
	hook loud event=queuejob,alarm=3 <<-'EOS'
		import pbs
		if str(pbs.event().job.Job_Name) == "loud":
		    while True:
		        pbs.logmsg(pbs.LOG_DEBUG, "x" * 1000)
	EOS
	got=$(held -N loud 2>&1) && false
	same words "qsub: request rejected as filter hook 'loud' got an alarm call. Please inform Admin" "$got"
	said ';Hook;loud;its script writes too much: other lines of this run are dropped$'
	[ "$(server_log | wc -c)" -lt 20000000 ]
	held
}

@test "python-hooks: a reload while scripts run: what waits is asked again, and no job is lost or there twice" {
	hook slow <<-'EOS'
		import pbs, time
		if str(pbs.event().job.Job_Name).startswith("slow"):
		    time.sleep(2)
	EOS
	held
	for i in 1 2 3 4; do
		held -N "slow$i" 3>&- >"$SB/slow$i.id" &
	done
	wait_until 10 log_has ';Hook;slow;started$'
	sandbox reload
	wait
	for i in 1 2 3 4; do
		same "slow$i" "$(cat "$SB/slow$i.id")" "$(qselect -N "slow$i")"
	done
	wait_until 10 no_folders_of_others
}
# Each folder is that of a process of this daemon.
no_folders_of_others() { [ "$(find "$SB/server/hooks_tmp" -mindepth 1 -maxdepth 1 | wc -l)" -le "$(keelson hook list | awk 'NR > 1 { n += $5 } END { print n + 0 }')" ]; }

@test "python-hooks: after kill -9 no folder and no process of the daemon before is left" {
	hook left <<-'EOS'
		import pbs, time
		open("mine", "w").write("x")
		if str(pbs.event().job.Job_Name) == "slow":
		    time.sleep(600)
	EOS
	held
	qsub_slow &
	wait_until 10 grep -q '' "$SB"/server/hooks_tmp/*/mine
	folders=("$SB"/server/hooks_tmp/*)
	[ -n "$(pyhosts "${folders[0]}")" ]
	sandbox kill server
	sandbox restart server
	wait_until 20 answers
	wait_until 20 gone "${folders[@]}"
	kill %1 2>/dev/null || true
	wait || true
}
qsub_slow() { held -N slow >/dev/null 2>&1 3>&-; }
pyhosts() { grep -lz "^TMPDIR=$1\$" /proc/[0-9]*/environ 2>/dev/null || true; } # those that run in this folder
gone() { for path in "$@"; do [ ! -e "$path" ] && [ -z "$(pyhosts "$path")" ] || return 1; done; }
