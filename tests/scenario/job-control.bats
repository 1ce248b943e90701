#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# qdel, qhold, qrls, qsig, qalter, qrun, qrerun and qselect: what they do to jobs, and what they refuse.

load helper
load shared

pause() { qmgr -c 'set server scheduling = false'; undo qmgr -c 'set server scheduling = true'; }

USAGE_QDEL='usage:
	qdel [-W force|suppress_email=X] [-x] job_identifier...
	qdel --version'
usage_of() { printf 'usage: %s [-h hold_list] job_identifier...\n       %s --version' "$1" "$1"; }
USAGE_QALTER='usage: qalter [-a date_time] [-A account_string] [-c interval] [-e path]
	[-h hold_list] [-j y|n] [-k keep] [-l resource_list]
	[-m mail_options] [-M user_list] [-N jobname] [-o path] [-p priority]
	[-R o|e|oe] [-r y|n] [-S path] [-u user_list] [-W dependency_list]
	[-P project_name] job_identifier...
       qalter --version'
USAGE_QSELECT='usage: qselect [-a [op]date_time] [-A account_string] [-c [op]interval]
	[-h hold_list] [-H] [-J] [-l resource_list] [-N name] [-p [op]priority]
	[-q destination] [-r y|n] [-s states] [-t subopt[op]date_time] [-T] [-P project_name]
	[-x] [-u user_name]
       qselect --version'

# ---- qdel ------------------------------------------------------------------------------------------------

@test "qdel: a queued job is history at once" {
	id=$(submit -h)
	quietly as "$OWNER" qdel "$id"
	job_is "$id" F 91
	same status '' "$(job_attr "$id" Exit_status)"
	same id '' "$(qselect)"
}

@test "qdel: a running job gets TERM; it ends with 271" {
	id=$(running)
	pid=$(session_of "$id")
	quietly as "$OWNER" qdel "$id"
	ends "$id"
	job_is "$id" F 91
	same status 271 "$(job_attr "$id" Exit_status)"
	dead "$pid"
	has "$(job_attr "$id" comment)" " and terminated by $OWNER@"
}

@test "qdel: a program may end in its own way after TERM" {
	out=$(here trap.out)
	id=$(submit -k oed -o "$out" -e "$out.err" -- \
		/bin/sh -c 'trap "echo cleaned; exit 5" TERM; echo ready; while :; do sleep 0.1; done')
	wait_until 20 grep -qx ready "$out"
	wait_until 20 job_is "$id" R 42
	as "$OWNER" qdel "$id"
	ends "$id"
	same status 5 "$(job_attr "$id" Exit_status)"
	has "$(cat "$out")" '^cleaned$'
}

@test "qdel: who ignores TERM is killed after kill_delay" {
	qmgr -c 'set queue workq kill_delay = 1'
	undo qmgr -c 'unset queue workq kill_delay'
	id=$(submit -k oed -o "$(here deaf.out)" -- \
		/bin/sh -c 'trap "" TERM; echo ready; while :; do sleep 0.1; done')
	wait_until 20 grep -qx ready "$(here deaf.out)"
	wait_until 20 job_is "$id" R 42
	as "$OWNER" qdel "$id"
	quietly as "$OWNER" qdel "$id"
	ends "$id"
	same processes '' "$(pgrep -s "$(session_of "$id")" || true)"
}

@test "qdel -W force: at once, status 265" {
	id=$(running)
	pid=$(session_of "$id")
	quietly as "$OWNER" qdel -W force "$id"
	job_is "$id" F
	same status 265 "$(job_attr "$id" Exit_status)"
	wait_until 10 dead "$pid"
	id=$(submit -h)
	quietly as "$OWNER" qdel -Wforce "$id"
	job_is "$id" F
}

@test "qdel -x: and its record" {
	id=$(finished -- /bin/true)
	says 35 "qdel: Job has finished $id" as "$OWNER" qdel "$id"
	quietly as "$OWNER" qdel -x "$id"
	says 153 "qstat: Unknown Job Id $id" qstat -x "$id"
	id=$(submit -h)
	quietly as "$OWNER" qdel -x "$id"
	says 153 "qstat: Unknown Job Id $id" qstat -x "$id"
}

gone() { qstat -x "$1" 2>&1 | grep -q 'Unknown Job Id'; }

@test "qdel -x: and its record, though a restart comes before its end" {
	id=$(submit -j oe -o /dev/null -- \
		/bin/sh -c "trap '' TERM; touch $(here stays); while :; do sleep 0.1; done")
	wait_until 20 test -e "$(here stays)"
	wait_until 20 job_is "$id" R 42
	quietly as "$OWNER" qdel -x "$id"
	sandbox kill server
	sandbox restart server
	wait_until 30 gone "$id"
}

@test "qdel: several operands; the last failure is the status" {
	a=$(submit -h) b=$(submit -h)
	says 153 'qdel: Unknown Job Id 99999.svr' as "$OWNER" qdel "$a" 99999 "$b"
	job_is "$a" F
	job_is "$b" F
}

@test "qdel: a thousand jobs in one go" {
	pause
	ids=$(as "$OWNER" bash -c 'for i in $(seq 100); do qsub -- /bin/true; done')
	# shellcheck disable=SC2086
	quietly as "$OWNER" qdel $ids
	same left '' "$(qselect)"
}

@test "qdel: errors" {
	says 153 'qdel: Unknown Job Id 99999.svr' qdel 99999
	says 1 'qdel: illegally formed job identifier: abc' qdel abc
	says 1 'qdel: illegally formed job identifier: 1.nosuchhost' qdel 1.nosuchhost
	says 2 "$USAGE_QDEL" qdel
	says 2 "qdel: illegal -W value
$USAGE_QDEL" qdel -W foo=1 1
}

@test "qdel -W suppress_email and numbers are taken" {
	id=$(submit -h)
	quietly qdel -W suppress_email=10 "$id"
	id=$(submit -h)
	quietly qdel -W 5 "$id"
	job_is "$id" F
}

# ---- qhold and qrls ------------------------------------------------------------------------------------------

@test "qhold, qrls: a user hold and back" {
	pause
	id=$(submit)
	quietly as "$OWNER" qhold "$id"
	job_is "$id" H 20
	same holds u "$(job_attr "$id" Hold_Types)"
	has "$(job_attr "$id" comment)" "^Job held by $OWNER on [A-Z]"
	same etime '' "$(job_attr "$id" etime)"
	quietly as "$OWNER" qrls "$id"
	job_is "$id" Q 10
	same holds n "$(job_attr "$id" Hold_Types)"
	has "$(job_attr "$id" etime)" .
}

@test "qhold: letters of several people add up; each releases their own" {
	needs_root
	pause
	id=$(submit)
	as "$OWNER" qhold "$id"
	says 159 "qhold: Unauthorized Request  $id" as "$OWNER" qhold -h o "$id"
	quietly as "$OPERATOR" qhold -h o "$id"
	says 159 "qhold: Unauthorized Request  $id" as "$OPERATOR" qhold -h s "$id"
	quietly as "$MANAGER" qhold -h s "$id"
	same holds sou "$(job_attr "$id" Hold_Types)"
	as "$OWNER" qrls "$id"
	same holds so "$(job_attr "$id" Hold_Types)"
	says 159 "qrls: Unauthorized Request  $id" as "$OWNER" qrls -h s "$id"
	quietly as "$MANAGER" qrls -h uos "$id"
	job_is "$id" Q
}

@test "qhold: a running job runs on, its hold is noted" {
	id=$(running)
	quietly as "$OWNER" qhold "$id"
	job_is "$id" R 42
	same holds u "$(job_attr "$id" Hold_Types)"
	quietly as "$OWNER" qrls "$id"
	same holds n "$(job_attr "$id" Hold_Types)"
}

@test "qhold, qrls: errors" {
	for cmd in qhold qrls; do
		says 153 "$cmd: Unknown Job Id 99999.svr" $cmd 99999
		says 2 "$(usage_of $cmd)" $cmd
		says 2 "$cmd: illegal -h value
$(usage_of $cmd)" $cmd -h x 1
	done
	id=$(finished -- /bin/true)
	says 35 'qhold: Job has finished' as "$OWNER" qhold "$id"
}

# ---- qsig ---------------------------------------------------------------------------------------------------

@test "qsig: TERM unless said otherwise, by name, with SIG, by number" {
	for words in '' '-s TERM' '-s SIGTERM' '-s 15'; do
		id=$(running)
		# shellcheck disable=SC2086
		quietly as "$OWNER" qsig $words "$id"
		ends "$id"
		same "after $words" 271 "$(job_attr "$id" Exit_status)"
	done
}

@test "qsig: the job hears what is sent" {
	id=$(submit -k oed -o "$(here usr.out)" -- \
		/bin/sh -c 'trap "exit 9" USR1; echo ready; while :; do sleep 0.1; done')
	wait_until 20 grep -qx ready "$(here usr.out)"
	wait_until 20 job_is "$id" R 42
	quietly as "$OWNER" qsig -s USR1 "$id"
	ends "$id"
	same status 9 "$(job_attr "$id" Exit_status)"
}

@test "qsig: NULL and unused numbers are accepted" {
	id=$(running)
	quietly as "$OWNER" qsig -s NULL "$id"
	quietly as "$OWNER" qsig -s 0 "$id"
	quietly as "$OWNER" qsig -s 999 "$id"
	job_is "$id" R 42
}

@test "qsig: errors" {
	id=$(running)
	says 165 "qsig: Unknown/illegal signal name $id" as "$OWNER" qsig -s NOSUCH "$id"
	says 165 "qsig: Unknown/illegal signal name $id" qsig -s SUSPEND "$id"
	says 153 'qsig: Unknown Job Id 99999.svr' qsig 99999
	held=$(submit -h)
	says 168 "qsig: Request invalid for state of job $held" as "$OWNER" qsig "$held"
	says 2 'usage: qsig [-s signal] job_identifier...
       qsig --version' qsig
}

@test "qsig: suspend and resume" {
	id=$(running -l ncpus=4)
	pid=$(session_of "$id")
	quietly qsig -s suspend "$id"
	job_is "$id" S
	is_stopped "$pid"
	has "$(qstat "$id")" ' S workq'
	node_is n1 free
	says 168 "qsig: Request invalid for state of job $id" qsig -s suspend "$id"
	says 168 "qsig: Request invalid for state of job $id" qsig -s CONT "$id"
	quietly qsig -s resume "$id"
	wait_until 10 job_is "$id" R 42
	wait_until 10 is_going "$pid"
	says 168 "qsig: Request invalid for state of job $id" qsig -s resume "$id"
}

@test "qsig -s suspend: a deleted job ends" {
	id=$(running)
	qsig -s suspend "$id"
	quietly as "$OWNER" qdel "$id"
	ends "$id"
}

# ---- qalter ---------------------------------------------------------------------------------------------------

@test "qalter: a queued job" {
	id=$(submit -h)
	quietly as "$OWNER" qalter -N newname -l walltime=00:30:00 -p 5 -A acct -m e -M me -o /tmp/x.out -e /tmp/x.err \
		-r n -S /bin/sh -P proj -j oe -k oe "$id"
	found=$(qstat -f "$id")
	for line in 'Job_Name = newname' 'Priority = 5' 'Resource_List.walltime = 00:30:00' 'Account_Name = acct' \
		'Mail_Points = e' 'Mail_Users = me' "Output_Path = $(hostname):/tmp/x.out" 'Rerunable = False' \
		'Shell_Path_List = /bin/sh' 'project = proj' 'Join_Path = oe' 'Keep_Files = oe'; do
		has "$found" "^    $line\$"
	done
}

@test "qalter -l: select follows ncpus, and the other way round" {
	id=$(submit -h)
	quietly as "$OWNER" qalter -l ncpus=3 "$id"
	same select 1:ncpus=3 "$(job_attr "$id" Resource_List.select)"
	same ncpus 3 "$(job_attr "$id" Resource_List.ncpus)"
	quietly as "$OWNER" qalter -l select=2:ncpus=2 "$id"
	same ncpus 4 "$(job_attr "$id" Resource_List.ncpus)"
	same nodect 2 "$(job_attr "$id" Resource_List.nodect)"
}

@test "qalter: a change lets a job run" {
	id=$(submit -l ncpus=64)
	never() { job_attr "$id" comment | grep -q '^Can Never Run'; }
	wait_until 20 never
	quietly as "$OWNER" qalter -l ncpus=1 "$id"
	wait_until 20 job_is "$id" R 42
}

@test "qalter -h n: releases; -a: waits" {
	pause
	id=$(submit -h)
	quietly as "$OWNER" qalter -h n "$id"
	job_is "$id" Q
	quietly as "$OWNER" qalter -a 2912312359 "$id"
	job_is "$id" W
}

@test "qalter: what a running job lets change" {
	id=$(running -l walltime=1:00:00)
	says 167 "qalter: Cannot modify attribute while job running  Resource_List.ncpus $id" \
		as "$OWNER" qalter -l ncpus=2 "$id"
	says 167 "qalter: Cannot modify attribute while job running  Resource_List.select $id" \
		as "$OWNER" qalter -l select=1:ncpus=2 "$id"
	quietly as "$OWNER" qalter -l walltime=10:00 "$id"
	same lowered 00:10:00 "$(job_attr "$id" Resource_List.walltime)"
	quietly qalter -l walltime=20:00 "$id"
	same raised 00:20:00 "$(job_attr "$id" Resource_List.walltime)"
	quietly as "$OWNER" qalter -N later "$id"
}

@test "qalter: what a running job does not let change, in any spelling, and not by emptying it" {
	id=$(running)
	says 167 "qalter: Cannot modify attribute while job running  umask $id" \
		as "$OWNER" qalter -W UMASK=22 "$id"
	says 167 "qalter: Cannot modify attribute while job running  Resource_List $id" \
		as "$OWNER" qalter -W resource_list= "$id"
	same unchanged 1:ncpus=1 "$(job_attr "$id" Resource_List.select)"
}

@test "qalter: what is emptied has its default again" {
	id=$(submit -h -N myjob -p 5 -r n)
	quietly as "$OWNER" qalter -W 'Job_Name=,Priority=,Rerunable=,Hold_Types=' "$id"
	same name none "$(job_attr "$id" Job_Name)"
	same priority 0 "$(job_attr "$id" Priority)"
	same rerunable True "$(job_attr "$id" Rerunable)"
	same holds n "$(job_attr "$id" Hold_Types)"
	id=$(submit -h -N paths -o /somewhere/out -e /somewhere/err)
	quietly as "$OWNER" qalter -o '' -e '' "$id"
	has "$(job_attr "$id" Output_Path)" "^$(hostname):/.*/paths\\.o${id%%.*}$"
	has "$(job_attr "$id" Error_Path)" "^$(hostname):/.*/paths\\.e${id%%.*}$"
}

@test "qalter: owners only lower" {
	needs_root
	id=$(running -l walltime=1:00:00)
	says 159 "qalter: Unauthorized Request  $id" as "$OWNER" qalter -l walltime=999999 "$id"
	says 159 "qalter: Unauthorized Request  $id" as "$OWNER" qalter -l walltime= "$id"
	same unchanged 01:00:00 "$(job_attr "$id" Resource_List.walltime)"
	says 159 "qalter: Unauthorized Request  $id" as "$OWNER" qalter -W run_count= "$id"
	same starts 1 "$(job_attr "$id" run_count)"
	quietly qalter -l walltime= "$id"
	same unlimited '' "$(job_attr "$id" Resource_List.walltime)"
}

@test "qalter: values that are refused change nothing" {
	id=$(submit -h)
	says 187 "qalter: Unknown resource Resource_List.nosuch $id" as "$OWNER" qalter -N x -l nosuch=3 "$id"
	says 166 "qalter: Illegal attribute or resource value Resource_List.ncpus $id" \
		as "$OWNER" qalter -l ncpus=x "$id"
	says 155 "qalter: Cannot set attribute, read only or insufficient permission  job_state $id" \
		as "$OWNER" qalter -W job_state=R "$id"
	same name STDIN "$(job_attr "$id" Job_Name)"
	says 153 'qalter: Unknown Job Id 99999.svr' qalter -N x 99999
	quietly as "$OWNER" qalter "$id"
}

@test "qalter: misuse" {
	says 2 "$USAGE_QALTER" qalter
	says 2 "qalter: invalid option -- 'q'
$USAGE_QALTER" qalter -q workq 1
}

@test "qalter -W comment: operators only" {
	needs_root
	id=$(submit -h)
	says 155 "qalter: Cannot set attribute, read only or insufficient permission  comment $id" \
		as "$OWNER" qalter -W comment=hello "$id"
	quietly as "$MANAGER" qalter -W comment=hello "$id"
	same comment hello "$(job_attr "$id" comment)"
}

# ---- qrun and qrerun -------------------------------------------------------------------------------------------

@test "qrun: now, though nobody schedules" {
	pause
	id=$(submit)
	job_is "$id" Q
	quietly qrun "$id"
	wait_until 20 job_is "$id" R 42
	says 2 "qrun: Request invalid for state of job $id" qrun "$id"
}

@test "qrun -H: there" {
	pause
	id=$(submit)
	quietly qrun -H n1 "$id"
	wait_until 20 job_is "$id" R 42
	id=$(submit -l select=1:ncpus=2)
	quietly qrun -H '(n1:ncpus=2)' "$id"
	wait_until 20 job_is "$id" R 42
	same vnode '(n1:ncpus=2)' "$(job_attr "$id" exec_vnode)"
}

@test "qrun: errors are 2" {
	pause
	id=$(submit)
	says 2 'qrun: Unknown Job Id 99999.svr' qrun 99999
	has "$(qrun -H nosuchnode "$id" 2>&1 || echo "exit $?")" '^qrun: Unknown node '
	has "$(qrun -H nosuchnode "$id" 2>&1 || echo "exit $?")" '^exit 2$'
	job_is "$id" Q
	big=$(submit -l ncpus=64)
	got=0
	qrun "$big" 2>/dev/null || got=$?
	same status 2 "$got"
	job_is "$big" Q
}

@test "qrun: operators only" {
	needs_root
	pause
	id=$(submit)
	says 2 "qrun: Unauthorized Request  $id" as "$OWNER" qrun "$id"
	quietly as "$OPERATOR" qrun "$id"
	wait_until 20 job_is "$id" R 42
}

@test "qrerun: back to the queue, run again" {
	id=$(running)
	pid=$(session_of "$id")
	pause
	quietly qrerun "$id"
	wait_until 20 job_is "$id" Q 10
	dead "$pid"
	same count 1 "$(job_attr "$id" run_count)"
	same status -11 "$(job_attr "$id" Exit_status)"
	qmgr -c 'set server scheduling = true'
	wait_until 20 job_is "$id" R 42
	same count 2 "$(job_attr "$id" run_count)"
}

has_run() { [ "$(job_attr "$1" run_count)" = "$2" ] && job_is "$1" R 42; }

@test "qrerun: the output is the last run's" {
	out=$(here rerun.out) runs=$(here rerun.runs)
	id=$(shell "n=\$((\$(cat $runs 2>/dev/null) + 1)); echo run \$n; echo \$n >$runs; exec sleep 1000" -j oe -o "$out")
	wait_until 20 grep -qsx 1 "$runs"
	wait_until 20 has_run "$id" 1
	quietly qrerun "$id"
	wait_until 20 grep -qx 2 "$runs"
	wait_until 20 has_run "$id" 2
	as "$OWNER" qsig -s TERM "$id"
	ends "$id"
	same output 'run 2' "$(cat "$out")"
}

@test "qrerun: errors" {
	id=$(submit -h)
	says 168 "qrerun: Request invalid for state of job $id" qrerun "$id"
	says 153 'qrerun: Unknown Job Id 99999.svr' qrerun 99999
	fixed=$(running -r n)
	says 190 "qrerun: job is not rerunnable $fixed" qrerun "$fixed"
	quietly qrerun -W force "$fixed"
	wait_until 20 has_run "$fixed" 2
}

# ---- qselect ----------------------------------------------------------------------------------------------------

@test "qselect: by state, name, owner, priority, account, project, holds" {
	a=$(running -N alpha -A acc1 -p 10)
	b=$(submit -h -N beta -P proj1 -l ncpus=3,walltime=1:0:0)
	c=$(submit -a 2912312359 -N beta -r n -p -5)
	both="$a
$b
$c"
	while IFS='|' read -r expected words; do
		expected=$(eval "echo $expected")
		# shellcheck disable=SC2086
		same "qselect $words" "$expected" "$(qselect $words | xargs)"
	done <<-'END'
		$a $b $c|
		$a|-s R
		$b|-s H
		$c|-s W
		$a $b|-s RH
		$a|-N alpha
		$b $c|-N beta
		$a|-A acc1
		$b|-P proj1
		$c|-r n
		$b|-h u
		$a $c|-h n
		$a|-p .gt.0
		$c|-p .lt.0
		$a|-p 10
		$b|-l ncpus.gt.2
		$a $c|-l ncpus.lt.2
		$b|-l ncpus.ge.3,walltime.eq.01:00:00
		$a $b $c|-q workq
		$a $b $c|-q @svr
		|-J
		$a $b $c|-T
		$c|-a .gt.2801010000
	END
	same 'of the owner' "$both" "$(qselect -u "$OWNER")"
	same 'of nobody' '' "$(qselect -u nobody_here)"
}

@test "qselect -x -H: with history" {
	over=$(finished -- /bin/true)
	id=$(submit -h)
	same H "$over" "$(qselect -H | tail -n 1)"
	same x "$over $id" "$(qselect -x | tail -n 2 | xargs)"
	same F "$over" "$(qselect -x -s F | tail -n 1)"
}

@test "qselect -t: by times" {
	id=$(submit -h)
	same before '' "$(qselect -t c.lt.200001010000)"
	same after "$id" "$(qselect -t c.gt.200001010000)"
}

@test "qselect: errors" {
	says 170 'qselect: Unknown queue destination' qselect -q nosuch
	says 2 "qselect: illegal -s value
$USAGE_QSELECT" qselect -s Z
	says 2 "qselect: illegal -l value
resource_list: ncpus.zz.3
$USAGE_QSELECT" qselect -l ncpus.zz.3
}

# ---- the server is away -----------------------------------------------------------------------------------------

@test "every command says when the server is down" {
	id=$(submit -h)
	sandbox kill server
	undo "$top/scripts/sandbox" restart --dir "$SB" --build "$KEELSON_BUILD" server
	for cmd in qalter qhold qrls qsig qrerun; do
		says 162 "Connection refused
$cmd: cannot connect to server svr (errno=15010)" $cmd "$id"
	done
	says 162 "Connection refused
qselect: cannot connect to server svr (errno=15010)" qselect
	says 162 "Connection refused
Couldn't connect to cluster: svr" qdel "$id"
	says 2 'Connection refused
qrun: could not connect to server  (15010)' qrun "$id"
	says 162 'Connection refused
qsub: cannot connect to server svr (errno=15010)' as "$OWNER" qsub -- /bin/true
	says 1 'Connection refused
pbsnodes: cannot connect to server svr, error=15010' pbsnodes -a
	says 3 'Connection refused
qmgr: cannot connect to server ' qmgr -c 'list server'
	for cmd in qenable qdisable qstart qstop; do
		says 2 "Connection refused
$cmd: could not connect to server  (15010)" $cmd workq
	done
}
