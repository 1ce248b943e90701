#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Who gives way: jobs over soft limits, subjobs, long lists of what comes free, targets, resumption in time.
# One host of 4 cpus, a queue express, methods S.
#
# needs modules/preemption
load helper
load shared
load scheduler

SOFT='express_queue, normal_jobs, queue_softlimits, server_softlimits'
TOO_FEW='^Not Running: (Insufficient amount of resource: ncpus|Not enough free nodes)'

setup_file()
{
	open_site
	for queue in express:200 workq2:0; do
		qmgr -c "create queue ${queue%:*} queue_type=execution,enabled=true,started=true,priority=${queue#*:}"
	done
	qmgr -c 'set sched preempt_order = S'
	qmgr -c 'create resource foo type=long,flag=q'
}

# set_for_now WHAT ATTRIBUTE VALUE: until the end of the story.
set_for_now()
{
	undo qmgr -c "unset $1 $2"
	qmgr -c "set $1 $2 = $3"
}
express() { submit_as "$OTHER" -q express -l select=1:ncpus="$1" "${@:2}"; }
begins() { wait_until 20 job_is "$1" R 42; }
# gave_way JOB: the server says so, and its processes stand still.
gave_way() { wait_until 20 job_is "$1" S 45 && stopped "$1"; }
goes_on() { job_is "$1" R 42 && going "$1"; }
clear() { qselect | xargs -r qdel -W force; wait_until 20 no_jobs; }

@test "mend D1: a job over a soft limit gives way for an express job" {
	set_for_now sched preempt_prio "\"$SOFT\""
	for limit in "queue workq max_run_res_soft.ncpus=[u:$OWNER=2]" \
		"server @default max_run_res_soft.ncpus=[u:$OWNER=2]" \
		"queue workq max_run_res_soft.ncpus=[g:PBS_GENERIC=2]" \
		"server @default max_run_soft=[u:PBS_GENERIC=0]" \
		"queue workq max_run_soft=[o:PBS_ALL=0]"; do
		read -r class name limit <<<"$limit"
		[ "$class" = server ] && name=
		qmgr -c "set $class $name ${limit%%=*} = '${limit#*=}'"
		a=$(running -l select=1:ncpus=4)
		b=$(express 2)
		gave_way "$a"
		begins "$b"
		going "$b"
		clear
		qmgr -c "unset $class $name ${limit%%=*}"
	done
}

@test "mend D1: also for a normal job; nobody else is stopped once its level has risen" {
	set_for_now sched preempt_prio "\"$SOFT\""
	set_for_now 'queue workq' max_run_res_soft.ncpus "'[u:$OWNER=2]'"
	a=$(running -l select=1:ncpus=1) b=$(running -l select=1:ncpus=3)
	c=$(submit_as "$OTHER" -q workq2 -l select=1:ncpus=4)
	wait_until 20 comment_says "$c" "$TOO_FEW"
	goes_on "$a"
	goes_on "$b"
	qalter -l select=1:ncpus=3 "$c"
	gave_way "$b"
	begins "$c"
	goes_on "$a"
}

# The first and the third are over no soft limit once the fifth has gone.
worked_example() # PRIORITY of workq2
{
	qmgr -c "set queue workq2 priority = $1"
	j1=$(running -l select=1:ncpus=1 -l foo=2)
	j2=$(running -l select=1:ncpus=1 -l foo=2)
	j3=$(running -l select=1:ncpus=1)
	j4=$(running -l select=1:ncpus=1 -l foo=2)
	j5=$(running -l select=1:ncpus=2 -l foo=2)
	h=$(submit_as "$OTHER" -q workq2 -l select=1:ncpus=8 -l foo=3)
	begins "$h"
	gave_way "$j5"
	gave_way "$j4"
	gave_way "$j2"
	goes_on "$j3"
	goes_on "$j1"
	same 'ncpus' 10 "$(node_attr n1 resources_assigned.ncpus)"
	lacks "$(server_log)" ";($j3|$j1);Job preempted by"
	clear
}

@test "mend D1: of five jobs over two soft limits the fifth, fourth and second give way, the third does not" {
	undo qmgr -c 'set node n1 resources_available.ncpus = 4'
	qmgr -c 'set node n1 resources_available.ncpus = 10'
	set_for_now sched preempt_prio "\"$SOFT\""
	set_for_now 'queue workq' max_run_res_soft.ncpus "'[u:PBS_GENERIC=5]'"
	set_for_now 'queue workq' max_run_res_soft.foo "'[u:PBS_GENERIC=0]'"
	undo qmgr -c 'set queue workq2 priority = 0'
	worked_example 0
	worked_example 200
}

@test "mend A9: a long list of what comes free does not switch suspension off" {
	names=ncpus
	for i in {1..12}; do
		qmgr -c "create resource a_resource_of_a_long_name_$i type=long,flag=nh"
		names+=,a_resource_of_a_long_name_$i
	done
	[ ${#names} -gt 256 ]
	set_for_now server restrict_res_to_release_on_suspend "\"$names\""
	a=$(running -l select=1:ncpus=4)
	b=$(express 2)
	gave_way "$a"
	begins "$b"
	same 'came free' '(n1:ncpus=4)' "$(job_attr "$a" resources_released)"
	clear
}

@test "mend D24: preempt_targets of several queues needs no quotes" {
	a=$(running -q workq2 -l select=1:ncpus=2)
	b=$(running -q workq -l select=1:ncpus=2)
	x=$(express 2 -l preempt_targets=queue=express,queue=workq2,walltime=100)
	begins "$x"
	same 'targets' queue=express,queue=workq2 "$(job_attr "$x" Resource_List.preempt_targets)"
	same 'walltime' 00:01:40 "$(job_attr "$x" Resource_List.walltime)"
	gave_way "$a"
	goes_on "$b"
	y=$(submit -h)
	quietly qalter -l preempt_targets=QUEUE=workq,Resource_List.ncpus=2,ncpus=3 "$y"
	same 'targets' QUEUE=workq,Resource_List.ncpus=2 "$(job_attr "$y" Resource_List.preempt_targets)"
	same 'ncpus' 3 "$(job_attr "$y" Resource_List.ncpus)"
	says 170 'qsub: Unknown queue' submit -l preempt_targets=queue=workq,queue=nosuch
	z=$(desk "$OWNER")/targets.sh
	printf '#PBS -h -l preempt_targets=queue=workq,queue=workq2\n:\n' >"$z"
	y=$(as "$OWNER" qsub "$z")
	same 'targets' queue=workq,queue=workq2 "$(job_attr "$y" Resource_List.preempt_targets)"
}

@test "mend D3: qrun of a subjob stops the jobs of others before subjobs of its array" {
	other=$(submit_as "$OTHER" -q workq2 -l select=1:ncpus=2)
	begins "$other"
	array=$(submit -J 1-3 -l select=1:ncpus=1)
	one=${array/\[\]/[1]} two=${array/\[\]/[2]} three=${array/\[\]/[3]}
	begins "$one"
	begins "$two"
	wait_until 20 comment_says "$array" .
	quietly qrun "$three"
	begins "$three"
	gave_way "$other"
	goes_on "$one"
	goes_on "$two"
	clear
}

@test "mend D3: qrun of a job with a user hold runs it" {
	a=$(submit -h -l select=1:ncpus=1)
	job_is "$a" H
	quietly qrun "$a"
	begins "$a"
	going "$a"
	b=$(submit -h -l select=1:ncpus=1)
	quietly qrun -H n1 "$b"
	begins "$b"
	going "$b"
}

@test "mend D6a: what would delay a job that was stopped waits, in the cycle that stops it too" {
	set_for_now sched sched_preempt_enforce_resumption True
	a=$(running -l select=1:ncpus=4 -l walltime=50)
	qmgr -c 'set server scheduling = False'
	undo qmgr -c 'set server scheduling = True'
	b=$(submit -l select=1:ncpus=1 -l walltime=80)
	c=$(submit -l select=1:ncpus=1 -l walltime=50)
	d=$(submit -l select=1:ncpus=1 -l walltime=150)
	e=$(express 1 -l walltime=100)
	qmgr -c 'set server scheduling = True'
	begins "$e"
	gave_way "$a"
	begins "$b"
	begins "$c"
	wait_until 20 comment_says "$d" '^Not Running: Job would conflict with reservation or top job'
	job_is "$d" Q
	[ -n "$(job_attr "$a" estimated.start_time)" ]
}
