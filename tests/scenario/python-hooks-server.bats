#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# python-hooks-server.bats - events of a server beside submissions: what scripts see, what they may change, what users read.
# needs modules/python-hooks

load helper
load shared
load python-hooks

setup_file()
{
	open_cluster --set log.events=4095
	qmgr -c 'create queue other queue_type=execution,enabled=true,started=true,resources_default.mem=5mb'
}


# ---- submissions ------------------------------------------------------------------------------------------

@test "python-hooks #12: a script chooses the queue, whose defaults and limits hold" {
	hook q12 event=queuejob <<-'EOS'
		import pbs
		e = pbs.event()
		e.job.Resource_List["ncpus"] = 2
		e.job.queue = pbs.server().queue(str(e.job.Job_Name))
	EOS
	a=$(held -N other)
	same queue other "$(job_attr "$a" queue)"
	same ncpus 2 "$(job_attr "$a" Resource_List.ncpus)"
	same mem 5mb "$(job_attr "$a" Resource_List.mem)"
	same select 1:mem=5mb:ncpus=2 "$(job_attr "$a" Resource_List.select)"

	qmgr -c 'set queue other max_queued = "[u:PBS_GENERIC=1]"'
	undo qmgr -c 'unset queue other max_queued'
	got=$(held -N other 2>&1) && false
	has "$got" "would exceed queue other's per-user limit"

	qmgr -c 'set queue other enabled = false'
	undo qmgr -c 'set queue other enabled = true'
	got=$(held -N other 2>&1) && false
	has "$got" 'qsub: Queue is not enabled'
}

@test "python-hooks #12: no queue is the default one" {
	hook q12b event=queuejob <<-'EOS'
		import pbs
		pbs.event().job.queue = pbs.server().queue("nosuch")
	EOS
	a=$(held -q other)
	same queue workq "$(job_attr "$a" queue)"
}

@test "python-hooks: at a submission a script sees what was requested, not what is computed" {
	hook qseen event=queuejob <<-'EOS'
		import pbs
		r = pbs.event().job.Resource_List
		pbs.logmsg(pbs.LOG_DEBUG, "seen %s %s %s" % (r["ncpus"], r["select"], r["mem"]))
	EOS
	held
	hook_said 'seen None None None'
	held -l select=1:ncpus=1:mem=1mb
	hook_said 'seen None 1:ncpus=1:mem=1mb None'
}

@test "python-hooks #39: names of jobs are compared with texts" {
	hook n39 event=queuejob <<-'EOS'
		import pbs
		e = pbs.event()
		if e.job.Job_Name == "bad" or str(e.job.Job_Name) == "worse":
		    e.reject("no")
	EOS
	for name in bad worse; do
		got=$(held -N $name 2>&1) && false
		same words 'qsub: no' "$got"
	done
	held -N good
}

@test "tolerate-node-failures #43: a script sets what is tolerated, and no nonsense" {
	hook t43 event=queuejob <<-'EOS'
		import pbs
		j = pbs.event().job
		j.tolerate_node_failures = "bogus" if str(j.Job_Name) == "bad" else "job_start"
	EOS
	a=$(held)
	same tolerance job_start "$(job_attr "$a" tolerate_node_failures)"
	got=$(held -N bad 2>&1) && false
	same words "qsub: request rejected as filter hook 't43' encountered an exception. Please inform Admin" "$got"
	said 'BadAttributeValueError'
}

@test "tolerate-node-failures #53: a script pads the select" {
	hook p53 event=queuejob <<-'EOS'
		import pbs
		j = pbs.event().job
		j.Resource_List["site"] = str(j.Resource_List["select"])
		j.Resource_List["select"] = j.select.increment_chunks(1)
	EOS
	a=$(held -l select=ncpus=1:mem=2mb+ncpus=1:mem=2mb -l place=scatter)
	same select 1:ncpus=1:mem=2mb+2:ncpus=1:mem=2mb "$(job_attr "$a" Resource_List.select)"
	same ncpus 3 "$(job_attr "$a" Resource_List.ncpus)"
	same mem 6mb "$(job_attr "$a" Resource_List.mem)"
	same site ncpus=1:mem=2mb+ncpus=1:mem=2mb "$(job_attr "$a" Resource_List.site)"
}

@test "tolerate-node-failures #11: what is no increment is an exception of the script" {
	hook i11 event=queuejob <<-'EOS'
		import pbs
		j = pbs.event().job
		try:
		    j.select.increment_chunks([1])
		except ValueError as why:
		    pbs.logmsg(pbs.LOG_DEBUG, "caught %s" % why)
		    if str(j.Job_Name) == "caught":
		        pbs.event().accept()
		    raise
	EOS
	text="qsub: request rejected as filter hook 'i11' encountered an exception. Please inform Admin"
	says 32 "$text" held -N raised -l select=ncpus=1
	no_jobs
	held -N caught -l select=ncpus=1
	hook_said 'caught bad increment specs'
	said ';Hook;i11;Error evaluating Python script: ValueError: bad increment specs$'
}

@test "python-hooks: values that commands would refuse are exceptions of the script" {
	hook v1 event=queuejob <<-'EOS'
		import pbs
		j = pbs.event().job
		for name, text in ("Join_Path", "zz"), ("Keep_Files", "zz"), ("Mail_Points", "zz"), ("Checkpoint", "zz"), ("sandbox", "zz"):
		    try:
		        setattr(j, name, text)
		    except pbs.BadAttributeValueError as why:
		        pbs.logmsg(pbs.LOG_DEBUG, "refused: %s" % why)
		e = pbs.event()
		pbs.logmsg(pbs.LOG_DEBUG, "hook: %r %r %r" % (e.alarm, e.debug, e.enabled))
	EOS
	a=$(held)
	for name in Join_Path Keep_Files Mail_Points Checkpoint sandbox; do
		hook_said "refused: $name: 'zz' is no .*"
	done
	same Join_Path n "$(job_attr "$a" Join_Path)"
	hook_said 'hook: 30 False True'
}

# ---- runjob -------------------------------------------------------------------------------------------------

@test "python-hooks #17: a start is refused, and the job held" {
	hook r17 event=runjob <<-'EOS'
		import pbs
		e = pbs.event()
		pbs.logmsg(pbs.LOG_DEBUG, "run by %s of %s" % (e.requestor, e.job.id))
		e.job.Hold_Types = pbs.hold_types("o")
		e.reject("maintenance")
	EOS
	a=$(submit)
	wait_until 20 job_is "$a" H
	same holds o "$(job_attr "$a" Hold_Types)"
	comment_says "$a" 'Not Running: PBS Error: maintenance'
	hook_said "run by Scheduler of $a"
}

@test "python-hooks #17: a hold at the start of a subjob is its array's" {
	hook r17e event=runjob <<-'EOS'
		import pbs
		e = pbs.event()
		e.job.Hold_Types = pbs.hold_types("o")
		e.reject("maintenance")
	EOS
	a=$(submit -J 1-3)
	wait_until 20 job_is "$a" H
	qmgr -c 'set hook r17e enabled = false'
	qrls -h o "$a"
	wait_until 20 job_is "$a" B
}

@test "python-hooks #17: a start that is refused is not asked for again and again" {
	hook r17f event=runjob <<-'EOS'
		import pbs
		e = pbs.event()
		e.job.Variable_List["N"] = str(int(e.job.Variable_List["N"] or 0) + 1)
		e.reject("not yet")
	EOS
	a=$(submit)
	wait_until 20 comment_says "$a" 'Not Running: PBS Error: not yet'
	nap 1
	before=$(server_log | grep -c "runjob request rejected by 'r17f'")
	[ "$before" -lt 20 ]
	has "$(job_attr "$a" Variable_List)" 'N=[1-9]'
}

@test "python-hooks #17: qrun reads why a start is refused" {
	hook r17b event=runjob <<<'import pbs; pbs.event().reject("maintenance")'
	qmgr -c 'set server scheduling = false'
	undo qmgr -c 'set server scheduling = true'
	a=$(submit)
	says 2 "qrun: Failed to run: maintenance (15136) $a" qrun "$a"
	says 2 "qrun: maintenance $a" qrun -H '(n1:ncpus=1)' "$a"
	job_is "$a" Q
}

@test "python-hooks #17: what cannot be changed with a start refuses it" {
	hook r17c event=runjob <<<'import pbs; pbs.event().job.Hold_Types = pbs.hold_types("o")'
	qmgr -c 'set server scheduling = false'
	undo qmgr -c 'set server scheduling = true'
	a=$(submit)
	got=$(qrun "$a" 2>&1) && false
	has "$got" "request rejected by filter hook 'r17c': cannot modify job after runjob request has been accepted\\."
	same holds n "$(job_attr "$a" Hold_Types)"
}

@test "python-hooks: what is changed with a start is the job's" {
	hook r17d event=runjob <<-'EOS'
		import pbs
		j = pbs.event().job
		j.Variable_List["FROM_HOOK"] = "yes"
		j.Resource_List["walltime"] = pbs.duration(500)
	EOS
	a=$(running)
	has "$(job_attr "$a" Variable_List)" FROM_HOOK=yes
	same walltime 00:08:20 "$(job_attr "$a" Resource_List.walltime)"
}

# ---- modifyjob, movejob ----------------------------------------------------------------------------------------

@test "python-hooks #18: an alteration is refused" {
	hook m18 event=modifyjob <<-'EOS'
		import pbs
		e = pbs.event()
		if e.job.Priority is not None:
		    pbs.logmsg(pbs.LOG_DEBUG, "from %s to %s, ncpus %s" % (e.job_o.Priority, e.job.Priority, e.job.Resource_List["ncpus"]))
		    e.reject("not that")
	EOS
	a=$(held -p 3)
	says 32 "qalter: not that $a" qalter -p 5 "$a"
	same Priority 3 "$(job_attr "$a" Priority)"
	hook_said 'from 3 to 5, ncpus None'
	said ";0400;Server@svr;Hook;m18;modifyjob request rejected by 'm18'\$"
	said ';0400;Server@svr;Hook;m18;not that$'
	quietly qalter -N fine "$a"
	same name fine "$(job_attr "$a" Job_Name)"
}

@test "python-hooks: an alteration is changed, and sums follow" {
	hook m18b event=modifyjob <<-'EOS'
		import pbs
		pbs.event().job.Resource_List["ncpus"] = 3
	EOS
	a=$(held -l ncpus=1)
	quietly qalter -l ncpus=2 "$a"
	same ncpus 3 "$(job_attr "$a" Resource_List.ncpus)"
	same select 1:ncpus=3 "$(job_attr "$a" Resource_List.select)"
}

@test "python-hooks #19: a move is refused" {
	hook v19 event=movejob <<-'EOS'
		import pbs
		e = pbs.event()
		pbs.logmsg(pbs.LOG_DEBUG, "from %s to %s" % (e.src_queue, e.job.queue))
		e.reject("other requires job to have mem")
	EOS
	a=$(held)
	says 32 "qmove: other requires job to have mem $a" qmove other "$a"
	same queue workq "$(job_attr "$a" queue)"
	hook_said 'from workq to other'
}

@test "python-hooks: a move is sent elsewhere" {
	qmgr -c 'create queue third queue_type=execution,enabled=true,started=true,resources_default.mem=7mb'
	undo qmgr -c 'delete queue third'
	hook v19b event=movejob <<<'import pbs; pbs.event().job.queue = pbs.server().queue("third")'
	a=$(held)
	quietly qmove other "$a"
	same queue third "$(job_attr "$a" queue)"
	same mem 7mb "$(job_attr "$a" Resource_List.mem)"
	has "$(qstat -Qf third)" 'state_count = .* Held:1 '
	has "$(qstat -Qf other)" 'state_count = .* Held:0 '
	qdel -W force "$a"
}

@test "python-hooks: a route that is refused is tried elsewhere" {
	qmgr -c 'create queue r queue_type=route,route_destinations="workq,other",enabled=true,started=true'
	undo qmgr -c 'delete queue r'
	hook v19c event=movejob <<-'EOS'
		import pbs
		e = pbs.event()
		if e.src_queue == "r" and e.job.queue == "workq":
		    e.reject("not there")
	EOS
	a=$(submit -q r -l ncpus=1)
	in_other() { same queue other "$(job_attr "$a" queue)"; }
	wait_until 30 in_other
	vacate "$a"
}

# ---- reservations ------------------------------------------------------------------------------------------------

@test "python-hooks #20: a reservation, and its alteration, are refused" {
	hook s20 event=resvsub,enabled=false <<<'import pbs; pbs.event().reject("no")'
	hook a20 event=modifyresv <<<'import pbs; e = pbs.event(); e.reject("no" if e.resv_o.Resource_List["ncpus"] == 1 else "what")'
	r=$(as "$OWNER" pbs_rsub -R "$(moment 3600)" -D 600 -l select=1:ncpus=1)
	r=${r%% *}
	undo pbs_rdel "$r"
	qmgr -c 'set hook s20 enabled = true'
	says 32 'pbs_rsub: no' as "$OWNER" pbs_rsub -R "$(moment 7200)" -D 600 -l select=1:ncpus=1
	same reservations 1 "$(pbs_rstat | grep -c '^R[0-9]')"
	before=$(resv_attr "$r" reserve_duration)
	says 32 'pbs_ralter: no' as "$OWNER" pbs_ralter -D 900 "$r"
	same duration "$before" "$(resv_attr "$r" reserve_duration)"
}

@test "python-hooks: a script changes a reservation, and what follows from it is computed anew" {
	hook c20 event=resvsub <<-'EOS'
		import pbs
		r = pbs.event().resv
		r.Resource_List["select"] = pbs.select("1:ncpus=2")
		r.reserve_end = int(r.reserve_start) + 1200
	EOS
	r=$(as "$OWNER" pbs_rsub -R "$(moment 3600)" -D 600 -l select=1:ncpus=1)
	r=${r%% *}
	undo pbs_rdel "$r"
	wait_until 20 resv_is "$r" CONFIRMED
	same ncpus 2 "$(resv_attr "$r" Resource_List.ncpus)"
	same duration 1200 "$(resv_attr "$r" reserve_duration)"
	same nodes '(n1:ncpus=2)' "$(resv_attr "$r" resv_nodes)"
}

@test "python-hooks: a reservation's begin, confirmation and end are seen" {
	hook e20 'event="resv_confirm,resv_begin,resv_end"' <<-'EOS'
		import pbs
		e = pbs.event()
		name = {pbs.RESV_CONFIRM: "confirm", pbs.RESV_BEGIN: "begin", pbs.RESV_END: "end"}[e.type]
		pbs.logmsg(pbs.LOG_DEBUG, "%s of %s nodes %s" % (name, e.resv.resvid, e.resv.resv_nodes))
	EOS
	r=$(as "$OWNER" pbs_rsub -R "$(moment 5)" -D 600 -l select=1:ncpus=1)
	r=${r%% *}
	wait_until 30 hook_said "confirm of $r nodes \\(n1:ncpus=1\\)"
	wait_until 60 hook_said "begin of $r nodes \\(n1:ncpus=1\\)"
	pbs_rdel "$r"
	wait_until 30 hook_said "end of $r nodes .*"
}

# ---- notes ---------------------------------------------------------------------------------------------------------

@test "python-hooks #29: jobobit, management, modifyvnode, postqueuejob see their objects, and refuse nothing" {
	hook o29 'event="jobobit,management,modifyvnode,postqueuejob"' <<-'EOS'
		import pbs
		e = pbs.event()
		if e.type == pbs.JOBOBIT:
		    pbs.logmsg(pbs.LOG_DEBUG, "obit of %s state %s" % (e.job.id, e.job.job_state))
		    try:
		        e.job.Priority = 9
		    except AssertionError as why:
		        pbs.logmsg(pbs.LOG_DEBUG, "obit: %s" % why)
		elif e.type == pbs.MANAGEMENT:
		    m = e.management
		    pbs.logmsg(pbs.LOG_DEBUG, "manager %s code %s %s" % (m, m.reply_code, ",".join("%s=%s" % (a.name, a.value) for a in m.attribs)))
		elif e.type == pbs.MODIFYVNODE:
		    pbs.logmsg(pbs.LOG_DEBUG, "vnode %s from %d to %d" % (e.vnode.name, e.vnode_o.state, e.vnode.state))
		else:
		    pbs.logmsg(pbs.LOG_DEBUG, "queued %s by %s" % (e.job.id, e.requestor))
		e.reject("no matter")
	EOS
	quietly qmgr -c 'set server comment = "from 29"'
	undo qmgr -c 'unset server comment'
	a=$(submit -- /bin/true)
	ends "$a"
	quietly pbsnodes -o n1
	undo pbsnodes -r n1
	wait_until 20 hook_said "queued $a by $OWNER"
	wait_until 20 hook_said "obit of $a state .*"
	wait_until 20 hook_said 'obit: Unexpected event'
	wait_until 20 hook_said 'manager .*SET.*SERVER.* code 0 comment=from 29'
	wait_until 20 hook_said 'vnode n1 from 0 to 1'
}

@test "python-hooks: a script changes a job that was queued" {
	hook p29 event=postqueuejob <<-'EOS'
		import pbs
		j = pbs.event().job
		j.Hold_Types = pbs.hold_types("o")
		j.project = "mine"
	EOS
	a=$(submit)
	wait_until 20 job_is "$a" H
	same project mine "$(job_attr "$a" project)"
}

# ---- periodic ----------------------------------------------------------------------------------------------------------

@test "python-hooks #26: a script runs again and again, and changes vnodes" {
	hook p26 'event=periodic,freq=1' <<-'EOS'
		import pbs
		e = pbs.event()
		e.vnode_list["n1"].comment = "x"
		e.vnode_list["n1"].resources_available["mem"] = pbs.size("123mb")
	EOS
	comment_of_node() { same comment "$1" "$(node_attr n1 comment)"; }
	undo qmgr -c 'unset node n1 comment'
	wait_until 20 comment_of_node x
	same mem 123mb "$(node_attr n1 resources_available.mem)"
	undo qmgr -c 'unset node n1 resources_available.mem'
	said ';Hook;p26;periodic hook accepted$'
	said ';0400;Server@svr;Hook;p26;will run on '
}

@test "python-hooks: a vnode is marked offline and free again" {
	hook p26b 'event=periodic,freq=1' <<-'EOS'
		import pbs
		v = pbs.event().vnode_list["n1"]
		if str(v.comment or "") == "out":
		    v.state += pbs.ND_OFFLINE
		else:
		    v.state -= pbs.ND_OFFLINE
	EOS
	qmgr -c 'set node n1 comment = out'
	undo qmgr -c 'unset node n1 comment'
	wait_until 20 node_is n1 offline
	qmgr -c 'unset node n1 comment'
	wait_until 20 node_is n1 free
}

# ---- what a script asks ---------------------------------------------------------------------------------------------------

@test "python-hooks: a script looks at jobs, queues, vnodes, reservations" {
	b=$(held -q other)
	hook l1 event=queuejob <<-'EOS'
		import pbs
		s = pbs.server()
		mine = [j.id for j in s.jobs() if str(j.job_state) == "H"]
		pbs.logmsg(pbs.LOG_DEBUG, "jobs %s, of other %s, vnodes %s queues %s" % (
		    ",".join(mine), ",".join(j.id for j in s.queue("other").jobs() if j.id in mine),
		    ",".join(v.name for v in s.vnodes()), ",".join(sorted(str(q) for q in s.queues()))))
		pbs.logmsg(pbs.LOG_DEBUG, "none %s %s %s" % (s.job("999"), s.vnode("nosuch"), s.queue("nosuch")))
		pbs.logmsg(pbs.LOG_DEBUG, "server %s default %s" % (s.name, s.default_queue))
	EOS
	held
	hook_said "jobs $b, of other $b, vnodes n1 queues other,workq"
	hook_said 'none None None None'
	hook_said 'server svr default workq'
}

@test "python-hooks: a resource that is new is known to scripts at once" {
	hook rs event=queuejob <<-'EOS'
		import pbs
		e = pbs.event()
		try:
		    e.job.Resource_List["brandnew"] = 3
		except LookupError as why:
		    e.reject(str(why))
	EOS
	got=$(held 2>&1) && false
	same words "qsub: resource attribute 'brandnew' not found" "$got"
	qmgr -c 'create resource brandnew type=long'
	undo qmgr -c 'delete resource brandnew'
	a=$(held)
	same brandnew 3 "$(job_attr "$a" Resource_List.brandnew)"
	vacate "$a"
}

@test "python-hooks: each subjob's end is seen" {
	hook o29b event=jobobit <<<'import pbs; pbs.logmsg(pbs.LOG_DEBUG, "obit of %s" % pbs.event().job.id)'
	a=$(submit -J 1-2 -- /bin/true)
	ends "$a"
	for i in 1 2; do wait_until 20 hook_said "obit of ${a/\[\]/\\[$i\\]}"; done
}

@test "python-hooks #31: a server's script cannot reboot" {
	hook b31 event=queuejob <<<'import pbs; pbs.reboot()'
	got=$(held 2>&1) && false
	has "$got" "encountered an exception"
	said 'reboot\(\): only for mom hooks'
}

@test "python-hooks #32: a script writes a line of a job's" {
	hook j32 event=runjob <<<'import pbs; pbs.logjobmsg(pbs.event().job.id, "hi")'
	a=$(running)
	said ";0008;[^;]*;Job;$a;hi\$"
}

@test "python-hooks #40: what is new is there, unset or set" {
	hook n40 event=queuejob <<-'EOS'
		import pbs
		e = pbs.event()
		s = pbs.server()
		pbs.logmsg(pbs.LOG_DEBUG, "new %s %s %s %s %s %d %d" % (
		    s.vnode("n1").maintenance_jobs, s.restrict_res_to_release_on_suspend, e.job.resources_released,
		    e.job.resource_released_list, e.job.tolerate_node_failures, pbs.RESV_STATE_IN_CONFLICT, pbs.ND_STATE_MAINTENANCE))
	EOS
	held
	hook_said 'new None None None None None 12 131072'
}

@test "python-hooks: a script asks for a scheduling cycle" {
	hook c1 event=queuejob <<<'import pbs; pbs.server().scheduler_restart_cycle()'
	held
	said 'requested for scheduler to restart cycle$'
}

@test "python-hooks: a process that is not as it should be sets nothing that no request may" {
	hook evil event=queuejob <<-'EOS'
		import pbs, sys
		run = sys.modules["pbs.run"]
		name = str(pbs.event().job.Job_Name)
		run.changes[("job", {"owner": "euser", "host": "Job_Owner"}.get(name, "Job_Name"), None)] = "root" if name != "line" else "a\nb"
	EOS
	for name in owner host line; do
		got=$(held -N $name 2>&1) && false
		same words 'qsub: queuejob event: rejected request' "$got"
	done
	said ';evil;queuejob cannot set euser: '
}
