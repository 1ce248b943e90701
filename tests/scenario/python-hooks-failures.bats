#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# python-hooks-failures.bats - jobs over five hosts of which some fail, with the scripts that a site has for that: one pads, two refuse on
# some hosts, one gives back. The bed is five-hosts.bash.
#
# needs modules/python-hooks
# needs modules/tolerate-node-failures
# needs modules/sisters

load helper
load shared
load five-hosts

setup_file()
{
	open_cluster --hosts 5 --set log.events=4095 --set sisters.max_poll_downtime=3s
	make_bed
	. "$SB/env"
	site_hook qjob queuejob <<-'EOS'
		import pbs
		e = pbs.event()
		sel = e.job.Resource_List["select"]
		if sel is not None and "mem" in str(sel):
		    e.job.Resource_List["site"] = str(sel)
		    e.job.Resource_List["select"] = sel.increment_chunks(1)
		    e.job.tolerate_node_failures = "job_start"
	EOS
}

# site_hook NAME EVENT: its script is stdin; hosts have it when this returns.
site_hook()
{
	local host
	cat >"$SB/$1.py"
	wait_until 30 created "$1" "event=$2"
	qmgr -c "import hook $1 application/x-python default $SB/$1.py"
	[[ $2 == execjob_* ]] || return 0
	for host in n1 n2 n3 n4 n5; do wait_until 30 cmp -s "$SB/$1.py" "$SB/$host/mom_priv/hooks/$1.PY"; done
}
created() { qmgr -c "create hook $1 $2" 2>/dev/null; } # not while one of this name is being deleted on hosts
hook() { undo hook_gone "$1"; site_hook "$@"; }
hook_gone()
{
	local host
	qmgr -c "delete hook $1"
	for host in n1 n2 n3 n4 n5; do wait_until 30 test ! -e "$SB/$host/mom_priv/hooks/$1.PY"; done
}

begin_refuses() # HOST
{
	hook begin execjob_begin <<-EOS
		import pbs
		e = pbs.event()
		if not e.job.in_ms_mom() and pbs.get_local_nodename() == "$1":
		    e.reject("bad node")
	EOS
}
prologue_refuses() # HOST
{
	hook prolo execjob_prologue <<-EOS
		import pbs
		e = pbs.event()
		for v in e.vnode_list:
		    pbs.logjobmsg(e.job.id, "prologue: found vnode_list[" + v + "]")
		for v in e.vnode_list_fail:
		    pbs.logjobmsg(e.job.id, "prologue: found vnode_list_fail[" + v + "]")
		if not e.job.in_ms_mom() and pbs.get_local_nodename() == "$1":
		    e.reject("bad node")
	EOS
}
launch_keeps() # [LINE of the script, before it gives back [and when that cannot be]]
{
	local before=${1-pass} else='j.Hold_Types = pbs.hold_types("s"); j.rerun()'
	[ $# -lt 2 ] || else=$2
	hook launch execjob_launch <<-EOS
		import pbs
		e = pbs.event()
		if "PBS_NODEFILE" not in e.env:
		    e.accept()
		j = e.job
		for v in e.vnode_list_fail:
		    pbs.logjobmsg(j.id, "launch: found vnode_list_fail[" + v + "]")
		$before
		if j.in_ms_mom():
		    pj = j.release_nodes(keep_select=j.Resource_List["site"])
		    if pj is not None:
		        pbs.logjobmsg(j.id, "launch: job.exec_vnode=" + str(pj.exec_vnode))
		        pbs.logjobmsg(j.id, "launch: job.exec_host=" + str(pj.exec_host))
		        pbs.logjobmsg(j.id, "launch: job.schedselect=" + str(pj.schedselect))
		    else:
		        $else
		        e.reject("unsuccessful at LAUNCH")
	EOS
}

lines() { mom_log n1 | sed -n "s/.*;Job;$1;//p"; }
seen() { lines "$1" | sed -n "s/$2: found $3\[\(.*\)\]\$/\1/p" | xargs; }

@test "tolerate-node-failures #13, #14, #15, #16, #49: scripts pad, refuse and give back (hooks)" {
	begin_refuses n2
	prologue_refuses n3
	launch_keeps 'pbs.logjobmsg(j.id, "empty: %s" % j.release_nodes(keep_select="")); pbs.logjobmsg(j.id, "list: %s" % j.release_nodes(node_list=[1]))'
	id=$(running "${J1[@]}")
	is_on "$id" 'n1/0*0+n4/0*0+n5/0*0' "$A+$D+$E"
	found=$(qstat -f "$id")
	same mem 6gb "$(value Resource_List.mem "$found")"
	same ncpus 8 "$(value Resource_List.ncpus "$found")"
	same nodect 3 "$(value Resource_List.nodect "$found")"
	same select $NORMAL "$(value Resource_List.select "$found")"
	same schedselect $NORMAL "$(value schedselect "$found")"

	# 14: what the primary says
	log=$(lines "$id")
	has "$log" '^job_start_error 15169 from node n2 could not JOIN_JOB successfully$'
	has "$log" '^ignoring error from n2 as job is tolerant of node failures$'
	has "$log" '^job_start_error 15169 from node n3 could not IM_EXEC_PROLOGUE successfully$'
	has "$log" '^ignoring error from n3 as job is tolerant of node failures$'
	has "$log" '^bad node$'
	grep -qxF "pruned to exec_vnode=$A+$D+$E" <<<"$log"

	# 15: what scripts see, and what release_nodes() returns
	same 'failed in prologue' 'n2[0] n2[1] n2[2]' "$(seen "$id" prologue vnode_list_fail)"
	same 'failed in launch' 'n2[0] n2[1] n2[2] n3[0]' "$(seen "$id" launch vnode_list_fail)"
	same 'all in prologue' 12 "$(seen "$id" prologue vnode_list | wc -w)"
	grep -qxF "launch: job.exec_vnode=$A+$D+$E" <<<"$log"
	grep -qxF 'launch: job.exec_host=n1/0*0+n4/0*0+n5/0*0' <<<"$log"
	has "$log" "^launch: job.schedselect=$(sed 's/\+/\\+/g' <<<"$NORMAL")\$"

	# 16: records
	records=$(accounting | grep ";$id;")
	has "$records" ';s;.*exec_host=n1/0\*0\+n4/0\*0\+n5/0\*0 .*Resource_List.mem=6gb .*Resource_List.ncpus=8 '

	# 49: what is no select, or no list
	has "$log" '^empty: None$'
	has "$log" '^list: None$'
	has "$(mom_log n1)" 'empty keep_select value$'
	has "$(mom_log n1)" 'node_list is not a dictionary$'
}

@test "tolerate-node-failures #18: a script sets the vnodes that failed offline (hooks)" {
	begin_refuses n2
	for n in 'n2[0]' 'n2[1]' 'n2[2]'; do
		undo qmgr -c "unset node $n comment"
		undo qmgr -c "set node $n state = free"
	done
	launch_keeps 'for v in e.vnode_list_fail.values(): v.state = pbs.ND_OFFLINE; v.comment = "failed"'
	id=$(running "${J1[@]}")
	for n in 'n2[0]' 'n2[1]' 'n2[2]'; do
		wait_until 10 node_is "$n" offline
		same comment failed "$(node_attr "$n" comment)"
	done
	node_is 'n2[3]' free
}

@test "tolerate-node-failures #28: what cannot be satisfied is held by the script (hooks)" {
	begin_refuses n2
	prologue_refuses n4
	launch_keeps
	id=$(submit "${J1[@]}")
	wait_until 60 job_is "$id" H
	log=$(lines "$id")
	has "$log" '^could not satisfy select chunk \('
	has "$log" '^NEED chunks for keep_select \('
	has "$log" "^HAVE chunks from job's exec_vnode: "
	has "$(mom_log n1)" ";0100;[^;]*;Hook;launch;execjob_launch request rejected by 'launch'\$"
	has "$log" '^unsuccessful at LAUNCH$'
	same holds s "$(job_attr "$id" Hold_Types)"
	same mem 10gb "$(job_attr "$id" Resource_List.mem)"
	has "$(server_log)" ";0009;[^;]*;Job;$id;hook rejected request, requiring job to be rerun\$"
}

@test "tolerate-node-failures #30: a script deletes a job that it cannot satisfy (hooks)" {
	begin_refuses n2
	prologue_refuses n4
	launch_keeps pass 'j.delete()'
	id=$(submit "${J1[@]}")
	ends "$id"
	has "$(server_log)" ";0009;[^;]*;Job;$id;hook rejected request, requiring job to be deleted\$"
}

@test "tolerate-node-failures #50: a script gives back by a list (hooks)" {
	begin_refuses n2
	hook launch execjob_launch <<-'EOS'
		import pbs
		e = pbs.event()
		if "PBS_NODEFILE" in e.env and e.job.in_ms_mom():
		    e.job.release_nodes(node_list=e.vnode_list_fail)
	EOS
	id=$(running "${J1[@]}")
	same exec_vnode "$A+$D+$C+$E" "$(job_attr "$id" exec_vnode)"
	has "$(accounting | grep ";$id;")" ';s;'
}

@test "tolerate-node-failures #19: tasks of a job that was pruned by a script, which sees them too (hooks)" {
	begin_refuses n2
	launch_keeps
	hook tasks execjob_launch <<-'EOS'
		import pbs
		e = pbs.event()
		if "PBS_NODEFILE" not in e.env:
		    e.env["ADDED"] = "by a hook"
		    if "refused" in e.argv:
		        e.reject("no such task")
	EOS
	out=$(here tasks)
	rm -f "$out"
	file=$(script tasks.sh <<-EOS
		#!/bin/sh
		$KEELSON_BUILD/bin/pbsdsh -n 1 -- /bin/sh -c 'echo "\$ADDED, \$(sort -u "\$PBS_NODEFILE" | xargs)" >>$out'
		$KEELSON_BUILD/bin/pbsdsh -n 1 -- /bin/echo refused >>$out 2>&1
		echo "\$?" >>$out
	EOS
	)
	id=$(as "$OWNER" qsub "${J1[@]}" "$file")
	ends "$id"
	has "$(head -n 1 "$out")" '^by a hook, n1 n3 n4$'
	lacks "$(tail -n 1 "$out")" '^0$'
	has "$(mom_log n4; mom_log n3)" ";Job;$id;no such task\$"
	same status 0 "$(job_attr "$id" Exit_status)"
}

@test "tolerate-node-failures: a script on the primary sees the job shrink, and may refuse that (hooks)" {
	begin_refuses n2
	launch_keeps
	hook shrinks execjob_resize <<-'EOS'
		import pbs
		e = pbs.event()
		pbs.logjobmsg(e.job.id, "shrinks to %s with %d vnodes" % (e.job.exec_host, len(e.vnode_list)))
	EOS
	id=$(running "${J1[@]}")
	wait_until 10 eval 'lines "$id" | grep -qxF "shrinks to n1/0*0+n4/0*0+n3/0*2 with 7 vnodes"'
	wait_until 10 eval 'mom_log n4 | grep -qF ";$id;shrinks to"'
}

@test "python-hooks: a job that gives hosts back at its start, and whose script refuses fewer of them, does not start" {
	hook resize execjob_resize <<-'EOS'
		import pbs, time
		e = pbs.event()
		pbs.logjobmsg(e.job.id, "resize: left " + " ".join(sorted(e.vnode_list)))
		time.sleep(1)
		if str(e.job.Job_Name) == "refused":
		    e.reject("not so few")
	EOS
	launch_keeps
	qmgr -c 'set server scheduling = false'
	undo qmgr -c 'set server scheduling = true'
	id=$(submit -N refused "${J1[@]}" -- /bin/touch "$(here begun)")
	got=$(qrun "$id" 2>&1) && false
	has "$got" 'not so few'
	wait_until 20 job_is "$id" Q
	same status -3 "$(job_attr "$id" Exit_status)"
	has "$(lines "$id")" '^execjob_resize hook rejected request$'
	lacks "$(lines "$id")" '^Started, pid'
	same mem 10gb "$(job_attr "$id" Resource_List.mem)"
	qdel "$id"
	id=$(submit "${J1[@]}")
	quietly qrun "$id"
	wait_until 30 job_is "$id" R 42
	is_on "$id" 'n1/0*0+n2/0*0+n3/0*2' "$A+$B+$C"
}

# host_dies HOST: as without power.
host_dies() { undo sandbox restart "$1"; sandbox gone "$1"; }

@test "tolerate-node-failures #23: a host dies while its script runs at the begin; the job starts on the others (hooks)" {
	local began=$BATS_TEST_TMPDIR/began
	mkdir "$began" && chmod 1777 "$began"
	hook begin execjob_begin,alarm=15 <<-EOS
		import time, pbs
		if not pbs.event().job.in_ms_mom() and pbs.get_local_nodename() == "n2":
		    open("$began/n2", "w").close()
		    time.sleep(600)
	EOS
	launch_keeps
	id=$(submit "${J1[@]}")
	wait_until 30 test -e "$began/n2"
	host_dies n2
	wait_until 60 job_is "$id" R 42
	is_on "$id" 'n1/0*0+n4/0*0+n3/0*2' "$A+$D+$C"
	wait_until 30 is_down n2
	job_is "$id" R 42
	lacks "$(ps -eo args)" "keelsond .*$SB/n2/"
}

@test "tolerate-node-failures #31: a host dies while a job runs that its script has made tolerant of that (hooks)" {
	begin_refuses n2
	launch_keeps
	hook always queuejob,order=2 <<-'EOS'
		import pbs
		pbs.event().job.tolerate_node_failures = "all"
	EOS
	id=$(submit "${J1[@]}" -- /bin/sh -c "$(ends_when_told lost 3)")
	wait_until 60 job_is "$id" R 42
	is_on "$id" 'n1/0*0+n4/0*0+n3/0*2' "$A+$D+$C"
	same tolerance all "$(job_attr "$id" tolerate_node_failures)"
	host_dies n4
	wait_until 30 is_down n4
	wait_until 30 eval 'lines "$id" | grep -q "^ignoring lost communication with n4 as job is tolerant of node failures\$"'
	job_is "$id" R 42
	tell lost
	ends "$id"
	same status 3 "$(job_attr "$id" Exit_status)"
}
