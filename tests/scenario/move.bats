#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# qmove and qorder: into another queue, another place.

load helper
load shared

make_queue()
{
	qmgr -c "create queue $1 queue_type=execution,enabled=true,started=false${2:+,$2}"
	undo qmgr -c "delete queue $1"
	undo eval 'qselect | xargs -r qdel -W force; wait_until 10 no_jobs'
}

order() { qselect | tr '\n' ' '; }

@test "qmove: a waiting job goes into another queue, and starts there" {
	make_queue q2
	a=$(submit -h -N mover)
	quietly as "$OWNER" qmove q2 "$a"
	same queue q2 "$(job_attr "$a" queue)"
	job_is "$a" H 20
	has "$(qstat -Qf q2 | value state_count)" '^Transit:0 Queued:0 Held:1 Waiting:0 '
	same counts 0 "$(qstat -Qf workq | value total_jobs)"
	as "$OWNER" qrls "$a"
	job_is "$a" Q 10
	qstart q2
	wait_until 20 job_is "$a" R 42
	has "$(server_log)" "0008;Server@svr;Job;$a;Job moved to q2 at request of $OWNER@"
	has "$(server_log)" "0100;Server@svr;Job;$a;enqueuing into q2, state H hop 1"
	same records 2 "$(accounting | grep -c ";Q;$a;.* jobname=mover queue=\(workq\|q2\) ")"
}

@test "qmove: defaults are those of the new queue, what was asked for stays" {
	make_queue q2 'resources_default.walltime=00:20:00,default_chunk.mem=10mb'
	qmgr -c 'set queue workq resources_default.walltime=01:00:00'
	undo qmgr -c 'unset queue workq resources_default'
	a=$(submit -h)
	b=$(submit -h -l walltime=00:05:00)
	same walltime 01:00:00 "$(job_attr "$a" Resource_List.walltime)"
	qmove q2 "$a" "$b"
	same walltime 00:20:00 "$(job_attr "$a" Resource_List.walltime)"
	same mem 10mb "$(job_attr "$a" Resource_List.mem)"
	same walltime 00:05:00 "$(job_attr "$b" Resource_List.walltime)"
	qmove workq "$a"
	same walltime 01:00:00 "$(job_attr "$a" Resource_List.walltime)"
	same mem '' "$(job_attr "$a" Resource_List.mem)"
}

@test "qmove: refusals" {
	make_queue q2 'resources_max.ncpus=2'
	make_queue shut 'enabled=false'
	make_queue inner 'from_route_only=true'
	make_queue closed 'acl_user_enable=true,acl_users=nobody'
	make_queue hosts 'acl_host_enable=true,acl_hosts=elsewhere'
	make_queue most 'resources_min.ncpus=9'
	a=$(submit -h -l ncpus=3)
	r=$(running)
	says 170 "qmove: Unknown queue $a" qmove nosuch "$a"
	says 188 "qmove: Job violates queue and/or server resource limits $a" qmove q2 "$a"
	says 188 "qmove: Job violates queue and/or server resource limits $a" qmove most "$a"
	says 173 "qmove: Queue is not enabled $a" qmove shut "$a"
	says 174 "qmove: Access to queue is denied $a" qmove inner "$a"
	says 159 "qmove: Unauthorized Request  $a" qmove closed "$a"
	says 160 "qmove: Access from host not allowed, or unknown host $a" qmove hosts "$a"
	says 168 "qmove: Request invalid for state of job $r" qmove q2 "$r"
	says 153 'qmove: Unknown Job Id 99999.svr' qmove workq 99999
	same queue workq "$(job_attr "$a" queue)"
	same mem 3 "$(job_attr "$a" Resource_List.ncpus)"
}

@test "qmove: not by others" {
	needs_root
	make_queue q2
	a=$(submit -h)
	says 159 "qmove: Unauthorized Request  $a" as "$OTHER" qmove q2 "$a"
	quietly as "$OPERATOR" qmove q2 "$a"
}

@test "qorder: two jobs exchange their places in every listing, also after a restart" {
	qstop workq
	undo qstart workq
	a=$(submit) b=$(submit) c=$(submit) d=$(submit)
	quietly as "$OWNER" qorder "$a" "$c"
	same order "$c $b $a $d " "$(order)"
	quietly as "$OWNER" qorder "$b" "$a"
	same order "$c $a $b $d " "$(order)"
	sandbox restart server
	same order "$c $a $b $d " "$(order)"
	same table "$c $a $b $d " "$(qstat | awk '/svr/ { print $1 }' | tr '\n' ' ')"
	e=$(submit)
	same order "$c $a $b $d $e " "$(order)"
	undo qmgr -c 'set node n1 comment=""'
	qstart workq
}

@test "qorder: the scheduler follows" {
	qstop workq
	undo qstart workq
	a=$(submit -l ncpus=4) b=$(submit -l ncpus=4)
	qorder "$a" "$b"
	qstart workq
	wait_until 20 job_is "$b" R 42
	job_is "$a" Q
}

@test "qorder: refusals" {
	a=$(running)
	b=$(submit -h)
	says 168 "qorder: Request invalid for state of job $a or $b" qorder "$a" "$b"
	says 153 "qorder: Unknown Job Id 99999.svr or $b" qorder 99999 "$b"
	says 153 "qorder: Unknown Job Id $b or 99999.svr" qorder "$b" 99999
	quietly qorder "$b" "$b"
	says 2 $'usage: qorder job_identifier job_identifier\n       qorder --version' qorder "$a"
}

@test "qorder: whoever moves a job must own it" {
	needs_root
	a=$(submit -h)
	b=$(submit_as "$OTHER" -h)
	says 159 "qorder: Unauthorized Request  $a or $b" as "$OWNER" qorder "$a" "$b"
	quietly as "$OPERATOR" qorder "$a" "$b"
	same order "$b $a " "$(order)"
}
