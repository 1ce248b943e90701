#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Preemption, and its method D: a running job of a lower level gives way to one that cannot start. It is
# suspended, checkpointed, requeued or deleted, as preempt_order says.

load helper

FULL='Not Running: Not enough free nodes available'

# One host of 4 cpus, n1; an express queue; finished jobs are remembered. L runs in workq.
cluster()
{
	setup_sandbox "$@"
	qmgr -c 'set server job_history_enable = true'
	qmgr -c 'create queue express queue_type=execution'
	qmgr -c 'set queue express priority=200,enabled=true,started=true'
	me=$(sched_name)
}

sched_name() { qmgr -c 'list sched default sched_host' | value sched_host; }
po() { qmgr -c "set sched preempt_order='$1'"; }
order_is() { same preempt_order "$1" "$(qmgr -c 'list sched default preempt_order' | value preempt_order)"; }
order_refused()
{
	says 166 "qmgr obj= svr=default: Illegal attribute or resource value
qmgr: Error (15014) returned from server" qmgr -c "set sched preempt_order = '$1'"
}

# low [qsub arguments]: L, running. high: H, of somebody else.
low() { running -l select=1:ncpus=4 "$@"; }
high() { submit_as "$OTHER" -q express -l select=1:ncpus=2 "$@"; }
runs() { wait_until 30 job_is "$1" R; }
preempt() { "$KEELSON_BUILD/tests/scenario/tools/preempt" "$@"; }
comment_is() { same "comment of $1" "$2" "$(job_attr "$1" comment)"; }

@test "delete-preemption #1: without a word the order is SCR" {
	cluster
	order_is SCR
}

@test "delete-preemption #2: values with D are taken as typed" {
	cluster
	for order in D RD SCRD 'SCRD 50 R' DSCR; do
		quietly po "$order"
		order_is "$order"
	done
}

@test "delete-preemption #3: what is no order is refused, and the value stays" {
	cluster
	po RD
	for order in SS DD SCRDX 'SCR R' 'SCR 50 X' 'SCR -5 R' '80 SC' 'SCR 80 70' 50 PQR 123abc abc123 s d \
		'SCR 50' ''; do
		order_refused "$order"
		order_is RD
	done
}

@test "delete-preemption #4: unset is SCR again" {
	cluster
	po D
	quietly qmgr -c 'unset sched preempt_order'
	order_is SCR
}

@test "delete-preemption #49: a scheduler of the site's own hears what became of each job" {
	cluster --set "preemption.scheduler_users=$ME"
	po D
	l=$(low) q=$(submit -l select=1:ncpus=4)
	qmgr -c 'set server scheduling = false'
	same outcomes "$(printf '%s\n' "$l D" "$q Q" '999.svr D' | sort)" "$(preempt "$l" "$q" 999.svr | sort)"
	job_is "$l" F 91
	same Exit_status 271 "$(job_attr "$l" Exit_status)"
}

@test "delete-preemption #6: D: L is deleted, and H runs" {
	cluster
	po D
	l=$(low)
	h=$(high)
	runs "$h"
	says 35 "qstat: $l Job has finished, use -x or -H to obtain historical job information" qstat "$l"
	job_is "$l" F 91
	[[ $(job_attr "$l" comment) == *" and terminated by Scheduler@$me" ]]
	same Exit_status 271 "$(job_attr "$l" Exit_status)"
}
