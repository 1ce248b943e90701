#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# python-hooks-others.bats - scenarios of other features in which a script of a site plays: what it sees of them, and what it refuses there.
#
# needs modules/python-hooks

load helper
load shared

setup_file() { open_cluster --hosts 2 --ncpus 4 --set log.events=4095 --set scheduler.rest=100ms; }

# hook NAME ATTRIBUTES: its script is stdin; hosts have it, if they are to, when this returns. It goes with the story.
hook()
{
	cat >"$SB/$1.py"
	qmgr -c "create hook $1 $2"
	undo hook_gone "$1"
	qmgr -c "import hook $1 application/x-python default $SB/$1.py"
	[[ $2 != *exec* ]] || wait_until 60 there "$1"
}
there() { cmp -s "$SB/$1.py" "$SB/n1/mom_priv/hooks/$1.PY" && cmp -s "$SB/$1.py" "$SB/n2/mom_priv/hooks/$1.PY"; }
away() { [ ! -e "$SB/n1/mom_priv/hooks/$1.PY" ] && [ ! -e "$SB/n2/mom_priv/hooks/$1.PY" ]; }
hook_gone() { qmgr -c "delete hook $1" && wait_until 60 away "$1"; }

server_said() { a_line_matches "$(server_log)" ";Hook;Server@svr;$1\$"; }
host_said() { a_line_matches "$(mom_log n1)" ";Hook;pbs_python;$1\$"; }
job_said() { a_line_matches "$(mom_log "${3-n1}")" ";0008;[^;]*;Job;$1;$2\$"; }
told() { has "$(server_log)" ";Job;$1;$2\$" 2>/dev/null; }
on_n1() { running -l select=1:ncpus="${1-1}":host=n1 "${@:2}"; }

@test "admin-suspend #43: a script on the host sees which jobs keep its vnode in maintenance" {
	needs_module admin-suspend
	hook m43 event=exechost_periodic,freq=1 <<-'EOS'
		import pbs
		found = pbs.event().vnode_list[pbs.get_local_nodename()].maintenance_jobs
		pbs.logmsg(pbs.LOG_DEBUG, "keeps %s %s" % (type(found).__name__, found))
	EOS
	a=$(on_n1)
	b=$(on_n1)
	wait_until 30 host_said 'keeps NoneType None'
	qsig -s admin-suspend "$a" "$b"
	wait_until 30 host_said "keeps str $a,$b"
	qsig -s admin-resume "$a"
	wait_until 30 host_said "keeps str $b"
	qsig -s admin-resume "$b"
}

@test "admin-suspend: a script that refuses a resume refuses admin-resume, and sees maintenance begin and end (hooks)" {
	needs_module admin-suspend
	hook v43 event=modifyvnode <<-'EOS'
		import pbs
		e = pbs.event()
		pbs.logmsg(pbs.LOG_DEBUG, "maintenance from %d to %d" % (e.vnode_o.state, e.vnode.state))
	EOS
	hook p43 'event="execjob_postsuspend,execjob_preresume"' <<-'EOS'
		import pbs
		e = pbs.event()
		e.reject("not yet" if e.type == pbs.EXECJOB_PRERESUME else "noted")
	EOS
	a=$(on_n1)
	quietly qsig -s admin-suspend "$a"
	wait_until 20 job_said "$a" 'execjob_postsuspend hook rejected request: noted'
	wait_until 20 server_said 'maintenance from 0 to 131072'
	says 193 "qsig: not yet $a" qsig -s admin-resume "$a"
	job_is "$a" S
	same keeps "$a" "$(node_attr n1 maintenance_jobs)"
	same lines 1 "$(mom_log n1 | grep -c 'execjob_preresume hook rejected request: not yet')"
	qmgr -c 'set hook p43 enabled = false'
	wait_until 30 grep -qx enabled=false "$SB/n1/mom_priv/hooks/p43.HK"
	quietly qsig -s admin-resume "$a"
	wait_until 20 job_is "$a" R 42
	wait_until 20 server_said 'maintenance from 131072 to 0'
}

@test "release-restriction #48: a script sees what is released, as text and as amounts; None when unset" {
	needs_module release-restriction
	hook r48 event=modifyjob <<-'EOS'
		import pbs
		e = pbs.event()
		j = pbs.server().job(e.job.id)
		text, amounts = j.resources_released, j.resource_released_list
		ncpus = amounts and amounts["ncpus"]
		pbs.logmsg(pbs.LOG_DEBUG, "restricted to %s: %s %s, %s %s" % (
		    pbs.server().restrict_res_to_release_on_suspend, type(text).__name__, text, type(ncpus).__name__, ncpus))
	EOS
	a=$(on_n1 4)
	quietly qalter -N unset "$a"
	server_said 'restricted to None: NoneType None, NoneType None'
	undo qmgr -c 'unset server restrict_res_to_release_on_suspend'
	qmgr -c 'set server restrict_res_to_release_on_suspend = ncpus'
	qsig -s suspend "$a"
	wait_until 20 job_is "$a" S
	quietly qalter -N set "$a"
	server_said 'restricted to ncpus: str \(n1:ncpus=4\), int 4'
}

@test "release-restriction #39: a script that refuses a resume: the job stays suspended (hooks)" {
	needs_module release-restriction
	undo qmgr -c 'unset server restrict_res_to_release_on_suspend'
	qmgr -c 'set server restrict_res_to_release_on_suspend = ncpus'
	a=$(on_n1 4)
	hook p39 event=execjob_preresume <<<'import pbs; pbs.event().reject("not now")'
	qsig -s suspend "$a"
	wait_until 20 job_is "$a" S
	qsig -s resume "$a"
	wait_until 20 comment_says "$a" '^Not Running: PBS Error: not now'
	job_is "$a" S 45
	same released '(n1:ncpus=4)' "$(job_attr "$a" resources_released)"
	has "$(mom_log n1)" ";0100;[^;]*;Hook;p39;execjob_preresume request rejected by 'p39'\$"
	job_said "$a" 'execjob_preresume hook rejected request: not now'
	qmgr -c 'set hook p39 enabled = false'
	wait_until 60 job_is "$a" R 42
}

@test "release-restriction: what a script says after a suspension is noted, the job stays suspended (hooks)" {
	hook s39 event=execjob_postsuspend <<<'import pbs; pbs.event().reject("too late")'
	a=$(on_n1)
	quietly qsig -s suspend "$a"
	wait_until 20 job_said "$a" 'execjob_postsuspend hook rejected request: too late'
	wait_until 20 job_is "$a" S
}

@test "maintenance-reservations #47, #50: a script sees the state of a vnode in a window, and refuses one" {
	needs_root
	needs_module maintenance-reservations
	undo qmgr -c 'unset server acl_roots'
	qmgr -c 'set server acl_roots = root'
	hook s50 event=resvsub <<-'EOS'
		import pbs
		r = pbs.event().resv
		if str(r.Reserve_Name) == "refused":
		    e = pbs.event()
		    pbs.logmsg(pbs.LOG_DEBUG, "asked for %s" % r.Resource_List["place"])
		    e.reject("no")
	EOS
	hook r47 'event="resv_confirm,modifyresv,resv_begin,resv_end"' <<-'EOS'
		import pbs
		e = pbs.event()
		name = {pbs.RESV_CONFIRM: "confirmed", pbs.MODIFYRESV: "altered", pbs.RESV_BEGIN: "begun", pbs.RESV_END: "over"}[e.type]
		pbs.logmsg(pbs.LOG_DEBUG, "%s is %s" % (e.resv.resvid, name))
	EOS
	hook v47 event=modifyvnode <<-'EOS'
		import pbs
		e = pbs.event()
		pbs.logmsg(pbs.LOG_DEBUG, "%s was %s is %s, %d" % (e.vnode.name, ",".join(e.vnode_o.extract_state_strs()),
		           ",".join(e.vnode.extract_state_strs()), pbs.RESV_STATE_IN_CONFLICT))
	EOS
	says 32 'pbs_rsub: no' pbs_rsub -N refused -R "$(moment 3600)" -E "$(moment 7200)" --hosts n2
	same reservations '' "$(pbs_rstat -B | grep 'Resv ID' || true)"
	m=$(pbs_rsub -R "$(moment 5)" -E "$(moment 7)" --hosts n2)
	has "$m" ' CONFIRMED$'
	undo pbs_rdel "${m%% *}"
	for stage in confirmed begun over; do stages+=("${m%% *} is $stage"); done
	wait_until 20 server_said "${stages[0]}"
	server_said 'n2 was .*' && false
	got=$(pbs_ralter -N again "${m%% *}")
	has "$got" "^pbs_ralter: ${m%% *} "
	wait_until 20 server_said "${m%% *} is altered"
	wait_until 60 server_said 'n2 was ND_STATE_FREE is ND_STATE_RESV_EXCLUSIVE, 12'
	wait_until 60 server_said 'n2 was ND_STATE_RESV_EXCLUSIVE is ND_STATE_FREE, 12'
	for stage in "${stages[@]}"; do wait_until 30 server_said "$stage"; done
}

express()
{
	undo qmgr -c 'delete queue express'
	undo qmgr -c 'unset sched preempt_order'
	qmgr -c 'create queue express queue_type=execution,priority=200,enabled=true,started=true'
	qmgr -c "set sched preempt_order = '$1'"
	undo pbsnodes -r n2
	pbsnodes -o n2
	undo ended_jobs
}

@test "delete-preemption #33, #34: a script keeps a job from being ended, then it is suspended (hooks)" {
	needs_module delete-preemption
	hook p33 event=execjob_preterm <<<'import pbs; pbs.event().reject("not now")'
	express D
	l=$(on_n1 4)
	h=$(submit -q express -l select=1:ncpus=2)
	wait_until 20 told "$l" 'preemption method delete failed for job \(15169\)'
	told "$l" 'MOM rejected signal during delete \(15169\)'
	wait_until 20 told "$l" 'Job failed to be preempted'
	job_is "$l" R 42
	job_is "$h" Q
	lacks "$(accounting)" ";D;$l;"
	qmgr -c "set sched preempt_order = 'DS'"
	qmgr -c 'set server scheduling = true'
	wait_until 60 job_is "$h" R 42
	job_is "$l" S 45
}

@test "delete-preemption #35: a job is deleted for one whose start a script refuses (hooks)" {
	needs_module delete-preemption
	hook r35 event=runjob <<-'EOS'
		import pbs
		e = pbs.event()
		if str(e.job.queue) == "express":
		    e.reject("express is closed")
	EOS
	express D
	l=$(on_n1 4)
	h=$(submit -q express -l select=1:ncpus=2)
	wait_until 20 comment_says "$h" '^Not Running: PBS Error: express is closed'
	wait_until 20 job_is "$l" F 91
	wait_until 20 told "$h" "Preempted work didn't run job - rerun it"
	wait_until 20 told "$l" 'Failed to rerun job: Failed to run: Job has finished \(15139\)'
}

@test "delete-preemption #36: jobs are not suspended again and again for one whose start a script refuses (hooks)" {
	needs_module preemption
	hook r36 event=runjob <<-'EOS'
		import pbs
		e = pbs.event()
		if str(e.job.queue) == "express":
		    e.reject("express is closed")
	EOS
	express S
	l=$(on_n1 4)
	h=$(submit -q express -l select=1:ncpus=2)
	wait_until 20 comment_says "$h" '^Not Running: PBS Error: express is closed'
	wait_until 20 job_is "$l" R 42
	for _ in 1 2 3 4 5 6; do
		nap 0.5
		qmgr -c 'set server scheduling = true'
	done
	[ "$(accounting | grep -c ";z;$l;")" -le 2 ]
	wait_until 20 job_is "$l" R 42
}

@test "multi-host #10: a sister whose script refuses the job: each host that began it is asked to abort (hooks)" {
	needs_module sisters
	hook refuses event=execjob_begin,order=2 <<-'EOS'
		import pbs
		e = pbs.event()
		if not e.job.in_ms_mom() and str(e.job.Job_Name) == "join":
		    e.reject("bad node")
	EOS
	hook admits event=execjob_prologue <<-'EOS'
		import pbs
		e = pbs.event()
		if not e.job.in_ms_mom() and str(e.job.Job_Name) == "prologue":
		    e.reject("bad node")
	EOS
	hook ends 'event="execjob_abort,execjob_end,execjob_epilogue"' <<-'EOS'
		import pbs
		e = pbs.event()
		pbs.logjobmsg(e.job.id, {pbs.EXECJOB_ABORT: "aborted", pbs.EXECJOB_END: "over", pbs.EXECJOB_EPILOGUE: "ended"}[e.type])
		e.reject("no matter")
	EOS
	qmgr -c 'set server scheduling = false'
	undo qmgr -c 'set server scheduling = true'
	for stage in join prologue; do
		a=$(submit -N $stage -l select=2:ncpus=1 -l place=scatter)
		got=$(qrun "$a" 2>&1) && false
		has "$got" 'bad node'
		wait_until 20 job_is "$a" Q
		same status -3 "$(job_attr "$a" Exit_status)"
		comment_says "$a" '^Not Running: PBS Error: n1 could not start it: bad node$'
		for host in n1 n2; do
			wait_until 20 job_said "$a" aborted $host
			job_said "$a" '(over|ended)' $host && false
		done
		primary=n1
		[[ $(mom_log n1) == *";Job;$a;job_start_error"* ]] || primary=n2
		what=JOIN_JOB
		[ $stage = join ] || what=IM_EXEC_PROLOGUE
		job_said "$a" "job_start_error 15169 from node [0-9.]+:[0-9]+ could not $what successfully" $primary
		job_said "$a" 'bad node' $primary
		qdel "$a"
	done
}
