#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Jobs over several hosts: they start, act and end as one, also when one of the hosts fails.

load helper
load mail
load shared

setup_file()
{
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR post_office
	export POST
	open_cluster --hosts 3 --set sisters.max_poll_downtime=5 --set sisters.sister_join_job_alarm=5 --set "mail.sendmail=$MAILER"
}

setup() { join_cluster; needs_module sisters; needs_module task-manager; }

over=(-l select=3:ncpus=1 -l place=scatter)
restart_mom() { "$top/scripts/sandbox" restart --dir "$SB" --build "$KEELSON_BUILD" "$@" 3>&-; }
kill_mom() { sandbox kill "$1"; undo restart_mom "$1"; }
is_up() { ! is_down "$1"; }
back() { restart_mom "$1"; wait_until 20 is_up "$1"; }
mom_says() { has "$(mom_log "$1")" "$2" 2>/dev/null; }
suspends() { qsig -s suspend "$1" 2>/dev/null; }
runs_again() { [ "$(job_attr "$1" run_count)" = 2 ] && job_is "$1" R 42 2>/dev/null; }

# spread [qsub arguments]: a job over three hosts with a task of a line of its own on each; prints its id. Their pids are in
# pid.ID.0 to .2 on the desk of $OWNER. A task that gets USR1 writes it to usr1.ID.N.
spread()
{
	local id
	id=$(spread_submit "$@") || return
	wait_until 20 job_is "$id" R 42 || return
	wait_until 20 has_tasks "$id" || return
	echo "$id"
}
spread_submit()
{
	local desk
	desk=$(desk "$OWNER")
	shell "$KEELSON_BUILD/bin/pbsdsh -- /bin/sh -c '${first-} trap \"echo got >$desk/usr1.\$PBS_JOBID.\$PBS_NODENUM\" USR1
		echo \$\$ >$desk/pid.\$PBS_JOBID.\$PBS_NODENUM; while :; do sleep 1; done'" "${over[@]}" "$@"
}
has_tasks() { for n in 0 1 2; do [ -s "$(here "pid.$1.$n")" ] || return; done; }
task_of() { cat "$(here "pid.$1.$2")"; }
tasks_are() { local n; for n in 0 1 2; do "$2" "$(task_of "$1" $n)" || return; done; }
forget_tasks() { rm -f "$(desk "$OWNER")"/pid."$1".*; }

# on a host, a fixture: FIXTURE HOST NAME [conf]
fixture()
{
	local file=$SB/$1/etc/modules.d/$2.conf
	echo "$2: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/$2.so\"; ${3-} };" >"$file"
	undo reload_host "$1"
	undo rm "$file"
	reload_host "$1"
}

@test "multi-host: a job over three hosts runs and ends" {
	id=$(submit "${over[@]}")
	wait_until 20 job_is "$id" R 42
	same exec_host n1/0+n2/0+n3/0 "$(job_attr "$id" exec_host)"
	for n in 1 2; do has "$(mom_log n$((n + 1)))" ";0008;pbs_mom;Job;$id;JOIN_JOB as node $n\$"; done
	as "$OWNER" qdel "$id"
	ends "$id"
	same Exit_status 271 "$(job_attr "$id" Exit_status)"
	for host in n2 n3; do
		has "$(mom_log $host)" ";0008;pbs_mom;Job;$id;KILL_JOB received\$"
		wait_until 10 mom_says $host ";0008;pbs_mom;Job;$id;DELETE_JOB received\$"
		has "$(mom_log n1)" ";0100;pbs_mom;Job;$id;$host cput=[0-9:]+ mem=[0-9]+kb\$"
	done
}

@test "multi-host: suspension stops every process on every host, resumption lets them go" {
	id=$(spread)
	qsig -s suspend "$id"
	tasks_are "$id" is_stopped
	job_is "$id" S
	qsig -s resume "$id"
	wait_until 5 tasks_are "$id" is_going
	job_is "$id" R 42
	for host in n2 n3; do
		has "$(mom_log $host)" "Job;$id;SUSPEND received\$"
		has "$(mom_log $host)" "Job;$id;RESUME received\$"
	done
}

@test "multi-host: a signal reaches the tasks on all hosts" {
	first='trap : TERM;' # the signal ends the program, and that ends the tasks
	id=$(spread)
	qsig -s USR1 "$id"
	got() { for n in 1 2; do [ -s "$(here "usr1.$id.$n")" ] || return; done; }
	wait_until 10 got
}

@test "multi-host: qdel ends every process on every host" {
	id=$(spread)
	as "$OWNER" qdel "$id"
	ends "$id"
	wait_until 5 tasks_are "$id" dead
}

@test "multi-host: qdel of a suspended job ends every process on every host" {
	id=$(spread)
	qsig -s suspend "$id"
	as "$OWNER" qdel "$id"
	ends "$id"
	wait_until 5 tasks_are "$id" dead
}

@test "multi-host: qdel -W force ends every process on every host" {
	id=$(spread)
	qdel -W force "$id"
	wait_until 5 tasks_are "$id" dead
}

@test "multi-host: qrerun ends every process on every host, the job starts again" {
	id=$(spread)
	pids=$(for n in 0 1 2; do task_of "$id" $n; done)
	forget_tasks "$id"
	qrerun "$id"
	gone() { for pid in $pids; do dead "$pid" || return; done; }
	wait_until 10 gone
	wait_until 20 runs_again "$id"
	wait_until 20 has_tasks "$id"
}

@test "multi-host: what the program leaves on other hosts ends with it" {
	desk=$(desk "$OWNER")
	id=$(shell "$KEELSON_BUILD/bin/pbsdsh -o -- /bin/sh -c 'echo \$\$ >$desk/pid.\$PBS_JOBID.\$PBS_NODENUM; exec sleep 600'
		until [ -s $desk/pid.\$PBS_JOBID.1 ] && [ -s $desk/pid.\$PBS_JOBID.2 ]; do sleep 0.1; done" "${over[@]}")
	ends "$id"
	same Exit_status 0 "$(job_attr "$id" Exit_status)"
	wait_until 5 tasks_are "$id" dead
}

@test "multi-host: output of tasks on all hosts is the job's" {
	# The primary's task writes no block that ends within a line, which another host's could follow.
	out=$(output_of "$KEELSON_BUILD"'/bin/pbsdsh -- /bin/sh -c "[ \$PBS_NODENUM = 0 ] || seq -f \"\$PBS_NODENUM %g\" 1 20000; echo \"err \$PBS_NODENUM\" >&2"' "${over[@]}")
	for n in 1 2; do same "lines of $n" "$(seq -f "$n %g" 1 20000 | md5sum)" "$(grep "^$n " <<<"$out" | md5sum)"; done
	for n in 0 1 2; do same "error of $n" 1 "$(grep -c "^err $n\$" <<<"$out")"; done
}

@test "multi-host: usage of all hosts adds up" {
	id=$(finished_script "$KEELSON_BUILD"'/bin/pbsdsh -- /bin/sh -c "i=0; while [ \$i -lt 4000000 ]; do i=\$((i + 1)); done"' "${over[@]}")
	seconds() { awk -F: '{ print $1 * 3600 + $2 * 60 + $3 }' <<<"$1"; }
	[ "$(seconds "$(job_attr "$id" resources_used.cput)")" -ge 3 ]
	total=0
	for host in n1 n2 n3; do
		line=$(mom_log n1 | grep -E ";Job;$id;$host cput=" | tail -n 1)
		line=${line##*cput=}
		total=$((total + $(seconds "${line%% *}")))
	done
	used=$(seconds "$(job_attr "$id" resources_used.cput)")
	[ $((used - total)) -le 3 ] && [ $((total - used)) -le 3 ]
}
finished_script()
{
	local id
	id=$(shell "$@") && wait_until 90 is_over "$id" && echo "$id"
}

@test "multi-host #10: a sister that rejects the job makes the start fail, the job waits again" {
	fixture n2 veto_host
	id=$(submit "${over[@]}")
	held() { job_is "$id" H 20 2>/dev/null || { qrun "$id" 2>/dev/null; return 1; }; } # the scheduler itself leaves a pause between its tries
	wait_until 60 held
	has "$(mom_log n1)" ";0008;pbs_mom;Job;$id;job_start_error 15169 from node 127\.0\.0\.1:[0-9]+ could not JOIN_JOB successfully\$"
	has "$(mom_log n1)" ";0008;pbs_mom;Job;$id;bad node\$"
	same run_count 21 "$(job_attr "$id" run_count)"
	comment_is "$id" 'job held, too many failed attempts to run: n1 could not start it: bad node'
	has "$(accounting)" "^[^;]*;R;$id;.*Exit_status=-3 "
	lacks "$(server_log)" ";Job;$id;.*substate:42"
}

@test "multi-host: a sister whose prologue rejects makes the start fail with the code it says" {
	fixture n3 veto_host 'at = "prologue"; code = -17; text = "not on n3";'
	id=$(submit "${over[@]}")
	ends "$id"
	same Exit_status -17 "$(job_attr "$id" Exit_status)"
	has "$(mom_log n1)" ";Job;$id;job_start_error [0-9]+ from node 127\.0\.0\.1:[0-9]+ could not IM_EXEC_PROLOGUE successfully\$"
	has "$(mom_log n1)" ";Job;$id;not on n3\$"
}

@test "multi-host #11: a sister that dies is noticed at once, the job is queued again after max_poll_downtime" {
	id=$(spread)
	pids=$(for n in 0 1 2; do task_of "$id" $n; done)
	kill_mom n3
	wait_until 10 mom_says n1 ";0001;pbs_mom;Job;$id;im_eof, lost communication with n3, not killing job yet\$"
	job_is "$id" R 42
	wait_until 20 mom_says n1 ";0001;pbs_mom;Job;$id;im_eof, lost communication with n3 for > 5 secs, killing job now\$"
	has "$(mom_log n1)" ";0001;pbs_mom;Job;$id;node EOF 2 \(n3\)\$"
	has "$(mom_log n1)" ";Job;$id;kill_job\$"
	wait_until 20 job_is "$id" Q
	has "$(accounting)" "^[^;]*;R;$id;.*Exit_status=-14 "
	restart_mom n3
	gone() { for pid in $pids; do dead "$pid" || return; done; }
	wait_until 10 gone
	wait_until 20 runs_again "$id"
}

@test "multi-host #12: a sister whose mom is back in time goes on" {
	id=$(spread)
	kill_mom n2
	wait_until 10 mom_says n1 "Job;$id;im_eof, lost communication with n2, not killing job yet\$"
	back n2
	tasks_are "$id" alive
	lacks "$(mom_log n1)" "Job;$id;.*killing job now"
	wait_until 10 suspends "$id"
	tasks_are "$id" is_stopped
	as "$OWNER" qdel "$id"
	ends "$id"
	wait_until 5 tasks_are "$id" dead
}

@test "multi-host #13: a job that is not rerunable ends when a sister is lost, with a mail" {
	id=$(spread -r n -m a)
	kill_mom n3
	wait_until 30 is_over "$id"
	same Exit_status -14 "$(job_attr "$id" Exit_status)"
	wait_until 5 dead "$(task_of "$id" 0)"
	wait_until 5 dead "$(task_of "$id" 1)"
	written() { [ -n "$(mails "$id" 'Non-rerunable job deleted on requeue')" ]; }
	[ ! -d "$top/modules/mail" ] || wait_until 20 written
}

@test "multi-host: a primary whose mom is back in time goes on with all its hosts" {
	id=$(spread)
	kill_mom n1
	back n1
	wait_until 20 job_is "$id" R 42
	tasks_are "$id" alive
	wait_until 10 suspends "$id" # once the moms have found each other
	tasks_are "$id" is_stopped
	qsig -s resume "$id"
	as "$OWNER" qdel "$id"
	ends "$id"
	wait_until 5 tasks_are "$id" dead
}

@test "multi-host: a sister that does not reach its primary for max_poll_downtime ends its part" {
	id=$(spread)
	kill_mom n1
	wait_until 20 mom_says n2 ";Job;$id;lost connection to MS on n1\$"
	wait_until 10 dead "$(task_of "$id" 1)"
	wait_until 10 dead "$(task_of "$id" 2)"
}

@test "multi-host: all moms die and come back, the job goes on" {
	id=$(spread)
	for host in n1 n2 n3; do kill_mom $host; done
	for host in n1 n2 n3; do restart_mom $host; done
	wait_until 20 job_is "$id" R 42
	tasks_are "$id" alive
	wait_until 10 suspends "$id" # once the moms have found each other
	tasks_are "$id" is_stopped
}

@test "multi-host: a server that dies and comes back changes nothing" {
	id=$(spread)
	sandbox kill server
	sandbox restart server
	wait_until 20 job_is "$id" R 42
	tasks_are "$id" alive
	as "$OWNER" qdel "$id"
	ends "$id"
	wait_until 5 tasks_are "$id" dead
}

@test "multi-host #3: the node file is on every host, root's, and gone at the end" {
	id=$(submit "${over[@]}")
	wait_until 20 job_is "$id" R 42
	for host in n1 n2 n3; do
		same "node file on $host" 'n1 n2 n3' "$(xargs <"$SB/$host/aux/$id")"
		same "its owner and mode" "$ME 644" "$(stat -c '%U %a' "$SB/$host/aux/$id")"
	done
	as "$OWNER" qdel "$id"
	ends "$id"
	no_files() { for host in n1 n2 n3; do [ ! -e "$SB/$host/aux/$id" ] || return; done; }
	wait_until 10 no_files
}

@test "multi-host #33: a private directory is on every host, 0700, and gone after the job" {
	desk=$(desk "$OWNER")
	id=$(shell "$KEELSON_BUILD/bin/pbsdsh -- /bin/sh -c '(pwd -P; echo \$PBS_JOBDIR; stat -c %a .) >>$desk/private'; touch left; sleep 600" \
		"${over[@]}" -W sandbox=PRIVATE)
	eval "home=~$OWNER"
	undo rm -rf "$home/pbs.$id.x8z"
	wait_until 20 test -e "$home/pbs.$id.x8z/left"
	same jobdir "$home/pbs.$id.x8z" "$(job_attr "$id" jobdir)"
	for host in n1 n2 n3; do has "$(mom_log $host)" ";0008;pbs_mom;Job;$id;created the job directory $home/pbs\.$id\.x8z\$"; done
	same 'what its tasks see' "6 $home/pbs.$id.x8z 3 700" "$(sort "$desk/private" | uniq -c | xargs)"
	needs_module release-nodes
	as "$OWNER" pbs_release_nodes -j "$id" n3
	wait_until 20 node_is n3 free
	[ -e "$home/pbs.$id.x8z/left" ] # homes are shared here: the host that is out leaves what is its job's
	as "$OWNER" qdel "$id"
	ends "$id"
	wait_until 10 test ! -e "$home/pbs.$id.x8z"
}

@test "multi-host: admin-suspend stops every process on every host" {
	needs_module admin-suspend
	id=$(spread)
	qsig -s admin-suspend "$id"
	tasks_are "$id" is_stopped
	for host in n1 n2 n3; do has "$(node_attr $host state)" maintenance; done
	qsig -s admin-resume "$id"
	wait_until 5 tasks_are "$id" is_going
}

@test "multi-host: an array of jobs over three hosts" {
	needs_module arrays
	id=$(shell "$KEELSON_BUILD/bin/pbsdsh -- /bin/sh -c 'echo \$PBS_NODENUM >$(desk "$OWNER")/sub.\$PBS_JOBID.\$PBS_NODENUM'" "${over[@]}" -J 1-3)
	ends "$id"
	for i in 1 2 3; do
		for n in 0 1 2; do same "host $n of $i" $n "$(cat "$(here "sub.$(sub "$id" $i).$n")")"; done
	done
}

# forges HOST < lines: the fixture there has sent them, and what was sent last to the server, and to n1, was heard
forges()
{
	local mark=forge.$BASHPID # of a pipeline: another one each time
	{ cat; printf 'server %s\nn1 %s\nend\n' "$mark" "$mark"; } >"$SB/$1.forged"
	mv "$SB/$1.forged" "$SB/$1.forge"
	wait_until 20 log_has ";$1;message '$mark' ignored"
	wait_until 20 mom_says n1 ";$1;message '$mark' ignored"
}

@test "multi-host: root of one host speaks for itself alone, to the server and to other hosts" {
	needs_root
	local other over_it desk message run
	says 0 '' qmgr -c 'set server log_events=4095'
	undo qmgr -c 'unset server log_events'
	fixture n2 forge "file = \"$SB/n2.forge\";"
	other=$(running -l select=1:host=n1)
	over_it=$(spread)
	desk=$(desk "$OWNER")
	run=$(sed -n 's/^run //p' "$SB/n1/mom_priv/jobs/$other.TK")
	same 'first runs' "$run" "$(sed -n 's/^run //p' "$SB/n1/mom_priv/jobs/$over_it.TK")"
	# As if it were the first host of either job, or had a run of one of which it has nothing.
	for message in 'ended status=0 session=1' 'refused status=-1 why=x' 'unknown' 'used items=[cput=99:00:00|mem=9gb' 'gone' 'released' \
			'pruned vnodes=(n2:ncpus=1) select=1:ncpus=1' 'started session=1'; do
		echo "server task.${message%% *} id=$other run=$run ${message#* }"
		echo "server task.${message%% *} id=$over_it run=$((run - 1)) ${message#* }"
		case $message in ended* | refused*) continue ;; esac # of a run that it has: it is to forget its own part
		echo "server task.${message%% *} id=$over_it run=$run ${message#* }"
	done | forges n2
	for message in 'staging.note what=in.failed text=x' 'staging.note what=out text=x' 'tolerance.hold text=x' 'tolerance.ask' \
			'tolerance.lost host=n3 stage=run code=1 text=x' 'tolerance.offline vnode=n3 text=x'; do
		echo "server ${message%% *} id=$over_it run=$run ${message#* }"
		echo "server ${message%% *} id=$other run=$run ${message#* }"
	done | forges n2
	# To another host: what only the server may say, and what is of a job that it is no host of, or of another's part.
	for message in task.kill task.discard task.forget task.release 'task.signal name=KILL' 'task.resize index=0 hosts=[n1' task.start \
			'facts.job facts=[stageout|/etc/passwd@n2:/x' host.stop task.strange staging.here tolerance.facts; do
		echo "n1 ${message%% *} id=$over_it run=$run ${message#* }"
		echo "n1 ${message%% *} id=$other run=$run ${message#* }"
	done | forges n2
	for message in 'order number=99999999 name=end' 'spawn call=1 from=n1 to=n1 task=5 argv=[/bin/touch|'"$desk"'/forged' \
			'signal call=2 from=n1 to=n1 task=0 name=KILL' 'ended' 'failed status=-3 code=1 text=x' 'none' \
			'output stream=1 at=0 bytes=x' 'lost host=n3'; do
		echo "n1 sister.${message%% *} id=$other run=$run ${message#* }"
		echo "n3 sister.${message%% *} id=$over_it run=$run ${message#* }" # it has no link to a sister
	done | forges n2
	{
		echo "n1 sister.order id=$over_it run=$run number=99999999 name=end"
		echo "n1 sister.order id=$over_it run=$((run + 1)) number=99999999 name=end"
		echo "n1 sister.lost id=$over_it run=$run host=n3"
		echo "n1 sister.over id=$over_it run=$run from=n3 to=n1 task=2 status=0"
		echo "n1 sister.ended id=$over_it run=$((run - 1))"
	} | forges n2
	has "$(mom_log n1)" ";n2;message 'task\.kill' refused: it may not come from this kind of daemon"
	has "$(mom_log n1)" ";n2;message 'host\.stop' refused: it may not come from this kind of daemon"
	# Nothing came of all that.
	for id in "$other" "$over_it"; do
		job_is "$id" R 42
		alive "$(session_of "$id")"
		lacks "$(qstat -f "$id")" 'Exit_status|Hold_Types = .*s|cput = 99|mem = 9gb|failed_hosts'
	done
	tasks_are "$over_it" alive
	[ ! -e "$desk/forged" ]
	for host in n1 n2 n3; do lacks "$(node_attr $host state)" 'offline|down'; done
	as "$OWNER" qdel "$other" "$over_it"
	for id in "$other" "$over_it"; do wait_until 20 is_over "$id"; done
	for n in 0 1 2; do dead "$(task_of "$over_it" $n)"; done
}

@test "multi-host: admin-suspend of one of three hosts stops its jobs on all of their hosts, and no others" {
	needs_module admin-suspend
	wide=$(spread)
	near=$(running -l select=1:ncpus=1:host=n2) far=$(running -l select=1:ncpus=1:host=n3)
	says 0 '2 jobs suspended' pbsnodes --admin-suspend n2
	tasks_are "$wide" is_stopped
	stopped "$wide"
	stopped "$near"
	going "$far"
	for host in n1 n3; do node_is $host maintenance "$wide"; done
	has "$(node_attr n2 state)" maintenance
	says 0 '2 jobs resumed' pbsnodes --admin-resume n2
	wait_until 5 tasks_are "$wide" is_going
	going "$near"
	for host in n1 n2 n3; do node_is $host free ''; done
}

@test "multi-host: jobs over three hosts, subjobs too, give way: suspended, then deleted, on every host before another starts there" {
	needs_module delete-preemption
	needs_module arrays
	undo qmgr -c 'unset sched preempt_order'
	undo qmgr -c 'delete queue express'
	qmgr -c 'create queue express queue_type=e,enabled=true,started=true,priority=200'
	array=$(spread_submit -J 1-2)
	over=(-l select=3:ncpus=2 -l place=scatter)
	victims="$(spread) $(sub "$array" 1) $(sub "$array" 2)"
	each_victim() { local id; for id in $victims; do "$@" "$id" || return; done; }
	each_task() { local id; for id in $victims; do tasks_are "$id" "$1" || return; done; }
	wait_until 20 each_victim has_tasks
	pids=$(for id in $victims; do cat "$(desk "$OWNER")"/pid."$id".*; done)
	# urgent: a job that takes all of each host, and writes down which processes were not stopped, or not gone, when it began
	urgent()
	{
		local id
		rm -f "$(here met)"
		id=$(printf '%s\n' 'for pid in '"$(xargs <<<"$pids")"'; do' 'grep -s "^State:" /proc/$pid/status' 'done >'"$(here met)" 'sleep 600' |
			as "$OWNER" qsub -q express -l select=3:ncpus=4 -l place=scatter) || return
		wait_until 30 job_is "$id" R 42 && wait_until 10 test -e "$(here met)" || return
		echo "$id"
	}
	is_suspended() { job_is "$1" S 45; }
	is_deleted() { [[ $(state_of_job "$1") = [FX] ]]; }
	qmgr -c 'set sched preempt_order = S'
	high=$(urgent)
	each_victim is_suspended
	each_task is_stopped
	qdel "$high"
	wait_until 30 each_victim starts_again
	wait_until 5 each_task is_going
	qmgr -c 'set sched preempt_order = D'
	high=$(urgent)
	same 'processes of victims when it began' '' "$(cat "$(here met)")"
	each_victim is_deleted
	each_task dead
	qdel "$high"
	ends "$high"
	for host in n1 n2 n3; do same "ncpus assigned on $host" 0 "$(node_attr $host resources_assigned.ncpus)"; done
}
starts_again() { job_is "$1" R 42; }
