#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# python-hooks-moms.bats - scripts that run on hosts of jobs: what they see, what their results do to a job, what they change.
#
# needs modules/python-hooks
# needs modules/task-manager

load helper
load shared

setup_file() { open_cluster --hosts 2 --set log.events=4095 --set scheduler.rest=100ms; }

# hook NAME ATTRIBUTES: its script is stdin; hosts have it when this returns. It goes with the story.
hook()
{
	local host before
	cat >"$SB/$1.py"
	before=$(scripts_sent "$1")
	wait_until 30 created "$1" "$2"
	undo hook_gone "$1"
	qmgr -c "import hook $1 application/x-python default $SB/$1.py"
	wait_until 30 sent_again "$1" "$before"
	for host in n1 n2; do wait_until 30 cmp -s "$SB/$1.py" "$SB/$host/mom_priv/hooks/$1.PY"; done
}
created() { qmgr -c "create hook $1 $2" 2>/dev/null; } # not while one of this name is being deleted on hosts
hook_gone() # and no host has it any more
{
	qmgr -c "delete hook $1"
	for host in n1 n2; do wait_until 30 test ! -e "$SB/$host/mom_priv/hooks/$1.PY"; done
}
scripts_sent() { server_log | grep -c "successfully sent hook file .*/$1.PY to " || true; }
sent_again() { [ "$(scripts_sent "$1")" -ge $(($2 + 2)) ]; }

on() { echo "-l select=1:host=$1"; }
keeps_off() { has "$(keelson explain "$1")" "^back-off +keeps off the host of $2 for another .* \(failed there [0-9]+ times\)\$" 2>/dev/null; }
says_log() { has "$(mom_log "$1")" "$2" 2>/dev/null; }
server_says() { has "$(server_log)" "$1" 2>/dev/null; }
is_held() { job_is "$1" H 20; }
# A job whose start failed rests; it need not when a vnode comes back.
held_again() { pbsnodes -o n2 && pbsnodes -r n2 && is_held "$1"; }
lines() { grep -cE -- "$2" <<<"$1"; }

@test "python-hooks #22: a begin that rejects: tried again, held after 21 tries" {
	hook b1 event=execjob_begin <<-'EOS'
		import pbs
		pbs.event().reject("nb")
	EOS
	id=$(submit $(on n1))
	wait_until 30 keeps_off "$id" n1
	wait_until 60 held_again "$id"
	same holds s "$(job_attr "$id" Hold_Types)"
	same runs 21 "$(job_attr "$id" run_count)"
	same status '' "$(job_attr "$id" Exit_status)"
	comment_is "$id" 'job held, too many failed attempts to run'
	has "$(mom_log n1)" ";0100;[^;]*;Hook;b1;execjob_begin request rejected by 'b1'\$"
	has "$(mom_log n1)" ";0008;[^;]*;Job;$id;nb\$"
	log=$(server_log | grep ";Job;$id;")
	same tries 21 "$(lines "$log" 'send of job to n1 failed error = 15169 reject_msg=,nb$')"
	has "$log" ';0008;[^;]*;Job;[^;]*;Unable to Run Job, MOM rejected$'
	has "$log" ';0008;[^;]*;Job;[^;]*;hook rejected request$'
}

@test "python-hooks: a begin that wants its job deleted" {
	hook b1 event=execjob_begin <<-'EOS'
		import pbs
		e = pbs.event()
		e.job.delete()
		e.reject("away with it")
	EOS
	id=$(submit $(on n1))
	ends "$id"
	same runs 1 "$(job_attr "$id" run_count)"
	log=$(server_log | grep ";Job;$id;")
	has "$log" 'send of job to n1 failed error = 15171 reject_msg=,away with it$'
	has "$log" 'Job aborted per a hook rejection$'
}

@test "python-hooks #23: a launch changes words and environment of the program, the next one sees that" {
	hook l1 event=execjob_launch,order=1 <<-'EOS'
		import pbs
		e = pbs.event()
		e.argv.append("one")
		e.env["X"] = "1"
	EOS
	hook l2 event=execjob_launch,order=2 <<-'EOS'
		import pbs
		e = pbs.event()
		pbs.logjobmsg(e.job.id, "l2 sees " + " ".join(e.argv) + " X=" + e.env["X"] + " task " + e.env["PBS_TASKNUM"])
		e.argv.append("two")
	EOS
	out=$(here out)
	rm -f "$out"
	id=$(submit $(on n1) -- /bin/sh -c 'echo "$X $*" >'"$out" sh)
	ends "$id"
	same output '1 one two' "$(cat "$out")"
	has "$(mom_log n1)" ";Job;$id;l2 sees .*sh one X=1 task "
}

@test "python-hooks: variables that begin and prologue give a job are its program's, and its tasks'" {
	hook v1 event='"execjob_begin,execjob_prologue,execjob_launch"' <<-'EOS'
		import pbs
		e = pbs.event()
		if e.type == pbs.EXECJOB_BEGIN:
		    e.job.Variable_List["SCRATCH"] = "/scratch/" + e.job.id
		elif e.type == pbs.EXECJOB_PROLOGUE:
		    e.job.Variable_List["GIVEN"] = "b, c" + e.job.Variable_List["SCRATCH"]
		    e.job.Variable_List["HOME"] = "/h"
		else:
		    pbs.logjobmsg(e.job.id, "launch sees " + e.env["SCRATCH"])
	EOS
	out=$(here out)
	rm -f "$out"
	id=$(submit $(on n1) -v GIVEN=a,KEPT=k -- /bin/sh -c 'echo "$SCRATCH $GIVEN $KEPT $HOME" >'"$out; $(command -v pbsdsh) -- /bin/sh -c 'echo \$SCRATCH \$KEPT >>$out'")
	ends "$id"
	same output "/scratch/$id b, c/scratch/$id k /h
/scratch/$id k" "$(cat "$out")"
	has "$(mom_log n1)" ";Job;$id;launch sees /scratch/$id\$"
}

@test "python-hooks #24, #32: an epilogue sees the end, and sets what was used; lines about a job" {
	hook e1 event=execjob_epilogue <<-'EOS'
		import pbs
		e = pbs.event()
		pbs.logjobmsg(e.job.id, "ended with %d" % e.job.Exit_status)
		e.job.resources_used["foo"] = 7
		e.job.resources_used["words"] = "a b"
	EOS
	id=$(submit $(on n2) -- /bin/sh -c 'exit 3')
	ends "$id"
	has "$(mom_log n2)" ";0008;[^;]*;Job;$id;ended with 3\$"
	same foo 7 "$(job_attr "$id" resources_used.foo)"
	same words 'a b' "$(job_attr "$id" resources_used.words)"
	has "$(accounting | grep ";E;$id;")" ' resources_used.foo=7( |$)'
	same status 3 "$(job_attr "$id" Exit_status)"
}

@test "python-hooks #25: a preterm that rejects: the job runs on" {
	hook p1 event=execjob_preterm <<-'EOS'
		import pbs
		pbs.event().reject("not this one")
	EOS
	id=$(running $(on n1))
	got=$(qdel "$id" 2>&1) && false
	has "$got" 'not this one'
	job_is "$id" R 42
	alive "$(session_of "$id")"
}

@test "python-hooks #28: fail_action: the vnodes of a host whose begin raises are offline" {
	undo qmgr -c 'unset node n1 comment'
	undo qmgr -c 'set node n1 state = free'
	hook b1 'event=execjob_begin,fail_action=offline_vnodes' <<<'1/0'
	id=$(submit $(on n1))
	wait_until 20 node_is n1 offline
	wait_until 10 eval 'same comment "offlined by hook '"'b1'"' due to hook error" "$(node_attr n1 comment)"'
	has "$(pbsnodes -l)" "n1 .*offlined by hook 'b1' due to hook error"
	node_is n2 free
	has "$(server_log)" ";0002;[^;]*;Node;n1;offlined by hook 'b1' due to hook error\$"
	has "$(mom_log n1)" ";0008;[^;]*;Job;$id;execjob_begin hook 'b1' encountered an exception, request rejected\$"
	has "$(server_log | grep ";$id;")" 'send of job to n1 failed error = 15136 '
	vacate "$id"
}

@test "python-hooks #30: a hook of the owner runs as the owner, and changes no vnodes" {
	hook o1 event=execjob_epilogue <<-'EOS'
		import os, pbs
		e = pbs.event()
		e.job.comment = "ran as %d" % os.getuid()
		pbs.logjobmsg(e.job.id, "ran as %d" % os.getuid())
		for v in e.vnode_list.values():
		    v.comment = "mine"
	EOS
	qmgr -c 'set hook o1 user = pbsuser'
	nap 1
	id=$(finished $(on n1) -- /bin/true)
	wait_until 20 says_log n1 ";Job;$id;ran as $(id -u "$OWNER")\$"
	wait_until 20 server_says "Not allowed to update vnodes or to request scheduler restart cycle, if run as a non-manager/operator user $OWNER@n1\$"
	same comment '' "$(node_attr n1 comment)"
}

@test "python-hooks #35: prologue, launch, epilogue, end: what a job becomes that they reject" {
	for event in prologue launch epilogue end; do
		hook "$event" event=execjob_$event <<-EOS
			import pbs
			pbs.event().reject("no $event")
		EOS
		id=$(submit -r n $(on n1) -- /bin/sleep 1)
		case $event in
		prologue)
			wait_until 60 held_again "$id"
			same status -16 "$(job_attr "$id" Exit_status)"
			same runs 21 "$(job_attr "$id" run_count)"
			has "$(server_log)" ";0009;[^;]*;Job;$id;hook rejected request, requiring job to be rerun\$"
			;;
		launch)
			ends "$id"
			job_is "$id" F 93
			same status -17 "$(job_attr "$id" Exit_status)"
			comment_says "$id" ' and failed; n1 could not start it: '
			has "$(server_log)" ";0009;[^;]*;Job;$id;hook rejected request, requiring job to be deleted\$"
			wait_until 20 test -e "$(desk "$OWNER")/STDIN.o${id%%.*}"
			same stderr '' "$(cat "$(desk "$OWNER")/STDIN.e${id%%.*}")"
			;;
		epilogue)
			ends "$id"
			job_is "$id" F 93
			same status -19 "$(job_attr "$id" Exit_status)"
			comment_says "$id" ' and failed$'
			has "$(server_log)" ";000c;[^;]*;Job;$id;a hook requested for job to be deleted\$"
			;;
		end)
			ends "$id"
			job_is "$id" F 92
			same status 0 "$(job_attr "$id" Exit_status)"
			;;
		esac
		wait_until 20 says_log n1 ";0008;[^;]*;Job;$id;no $event\$"
		qmgr -c "set hook $event enabled = false"
		nap 1
		qdel -W force "$id" 2>/dev/null || true
	done
}

@test "python-hooks #40: what hooks of hosts see of newer features" {
	hook f1 event=execjob_prologue <<-'EOS'
		import pbs
		e = pbs.event()
		v = e.vnode_list["n1"]
		say = lambda *words: pbs.logjobmsg(e.job.id, " ".join(str(w) for w in words))
		say("maintenance_jobs", v.maintenance_jobs)
		say("released", e.job.resources_released, e.job.resource_released_list)
		say("tolerates", e.job.tolerate_node_failures)
		say("failed", list(e.vnode_list_fail.keys()), e.job.failed_mom_list, e.job.succeeded_mom_list)
		say("primary", e.job.in_ms_mom(), e.job.id, e.job.euser)
		say("has", v.resources_assigned["ncpus"], v.resources_available["ncpus"])
		say("place", e.job.exec_vnode, e.job.exec_host)
		say("nodes", e.job.release_nodes(keep_select="1:ncpus=1") == e.job)
		say("maintenance", pbs.ND_STATE_MAINTENANCE, pbs.RESV_STATE_IN_CONFLICT)
	EOS
	id=$(running $(on n1))
	log=$(mom_log n1 | grep ";0008;[^;]*;Job;$id;")
	has "$log" ';maintenance_jobs None$'
	has "$log" ';released None None$'
	has "$log" ';tolerates None$'
	has "$log" ";failed \[\] \[\] \['n1'\]\$"
	has "$log" ";primary True $id $OWNER\$"
	has "$log" ';has 1 [0-9]+$'
	has "$log" ';place \(n1:ncpus=1\) n1/[0-9]+$'
	has "$log" ';nodes True$'
	has "$log" ';maintenance 131072 12$'
	has "$(mom_log n1)" "$id: no nodes released as job does not tolerate node failures\$"
}

@test "python-hooks: a host changes its own vnodes alone; what is wanted of a job that was accepted is done" {
	hook c1 event=execjob_prologue <<-'EOS'
		import pbs
		e = pbs.event()
		e.vnode_list["n1"].resources_available["colour"] = "red"
		e.job.Priority = 9
	EOS
	hook c2 event=execjob_epilogue <<-'EOS'
		import pbs
		e = pbs.event()
		if e.job.run_count == 1:
		    e.job.Hold_Types = pbs.hold_types("s")
		    e.job.rerun()
	EOS
	undo qmgr -c 'delete resource colour'
	undo qmgr -c 'unset node n1 resources_available.colour'
	id=$(submit $(on n1) -- /bin/true)
	wait_until 30 is_held "$id"
	same holds s "$(job_attr "$id" Hold_Types)"
	same priority 9 "$(job_attr "$id" Priority)"
	same colour red "$(node_attr n1 resources_available.colour)"
	has "$(server_log)" ";0008;[^;]*;Job;$id;hook request rerun $id\$"
}

@test "python-hooks: an epilogue behind a restart of its host's daemon sees the job as it was sent" {
	hook r1 event=execjob_epilogue <<-'EOS'
		import pbs
		e = pbs.event()
		pbs.logjobmsg(e.job.id, "it is %s, %s, of %s" % (e.job.Job_Name, e.job.Variable_List["GIVEN"], e.vnode_list["n1"].resources_available["host"]))
	EOS
	id=$(running -N restarted -v GIVEN=this $(on n1))
	sandbox kill n1
	sandbox restart n1
	wait_until 30 node_is n1 free
	qdel "$id"
	ends "$id"
	has "$(mom_log n1)" ";0008;[^;]*;Job;$id;it is restarted, this, of n1\$"
}

@test "python-hooks: delete() and rerun() of starts that were accepted" {
	hook d1 event=execjob_prologue <<-'EOS'
		import pbs
		j = pbs.event().job
		if j.run_count == 1:
		    j.rerun()
		else:
		    j.delete()
	EOS
	id=$(submit $(on n1))
	wait_until 60 is_over "$id"
	same runs 2 "$(job_attr "$id" run_count)"
	log=$(server_log | grep ";0008;[^;]*;Job;$id;")
	has "$log" ";hook request rerun $id\$"
	has "$log" ";hook request delete $id\$"
}

@test "python-hooks: a process from outside is refused by a script" {
	needs_module task-manager
	hook a1 event=execjob_attach <<-'EOS'
		import pbs
		e = pbs.event()
		try:
		    e.job.Priority = 3
		except AssertionError as why:
		    pbs.logjobmsg(e.job.id, "of %s: %s" % (type(e.pid).__name__, why))
		e.reject("stay outside")
	EOS
	id=$(running $(on n1))
	got=$(as "$OWNER" env KEELSON_MOM_SOCKET="$SB/n1/run/mom.sock" pbs_attach -j "$id" /bin/true 2>&1) && false
	has "$got" '\(17012\)$'
	says_log n1 ";0008;[^;]*;Job;$id;of int: nothing is settable inside an execjob_attach hook!\$"
	says_log n1 ";0008;[^;]*;Job;$id;execjob_attach hook rejected request\$"
}

@test "python-hooks: scripts see that a job has fewer hosts, and cannot help it" {
	needs_module sisters
	hook s1 event=execjob_resize <<-'EOS'
		import pbs
		e = pbs.event()
		pbs.logjobmsg(e.job.id, "left: %s" % ",".join(e.vnode_list))
		e.reject("not so few")
	EOS
	id=$(running -l select=2:ncpus=1 -l place=scatter)
	host=$(job_attr "$id" exec_host)
	first=${host%%/*}
	other=n2
	[ "$first" = n1 ] || other=n1
	quietly pbs_release_nodes -j "$id" $other
	wait_until 20 says_log "$first" ";Job;$id;left: $first\$"
	wait_until 20 says_log "$first" ";0008;[^;]*;Job;$id;execjob_resize hook rejected request\$"
	job_is "$id" R 42
}

@test "tolerate-node-failures #49: release_nodes() gives None at other events, and says nothing" {
	hook n1 event=execjob_epilogue <<-'EOS'
		import pbs
		e = pbs.event()
		pbs.logjobmsg(e.job.id, "gives %s %s" % (e.job.release_nodes(keep_select=""), e.job.release_nodes(node_list=[1])))
	EOS
	id=$(finished $(on n1) -W tolerate_node_failures=all -- /bin/true)
	wait_until 20 says_log n1 ";Job;$id;gives None None\$"
	lacks "$(mom_log n1)" 'empty keep_select value'
	lacks "$(mom_log n1)" 'node_list is not a dictionary'
}

@test "python-hooks: reboot() of root's script ends it and runs the command; the owner's may not" {
	needs_root
	rm -f "$SB/rebooted"
	hook r2 event=execjob_epilogue <<-EOS
		import pbs
		e = pbs.event()
		pbs.logjobmsg(e.job.id, "before")
		pbs.reboot("echo again > $SB/rebooted")
		pbs.logjobmsg(e.job.id, "behind")
	EOS
	id=$(finished $(on n1) -- /bin/true)
	wait_until 20 grep -qx again "$SB/rebooted"
	has "$(mom_log n1)" ';Hook;r2;requested for host to be rebooted$'
	has "$(mom_log n1)" ";Hook;r2;issuing cmd echo again > $SB/rebooted\$"
	has "$(mom_log n1)" ";Job;$id;before\$"
	lacks "$(mom_log n1)" ";Job;$id;behind\$"
	rm "$SB/rebooted"
	qmgr -c 'set hook r2 user = pbsuser'
	wait_until 30 grep -qx user=pbsuser "$SB/n1/mom_priv/hooks/r2.HK"
	id=$(finished $(on n1) -- /bin/true)
	wait_until 20 says_log n1 'Error evaluating Python script: NotImplementedError: Not allowed to issue reboot if run as user$'
	[ ! -e "$SB/rebooted" ]
}
