#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# restrict_res_to_release_on_suspend when the scheduler suspends: what a victim would give back decides
# whether suspending it is worth while. One host of 4 cpus and 2gb, an express queue, preempt_order S.
#
# needs modules/release-restriction
# needs modules/preemption
# needs modules/delete-preemption

load helper
load shared
load scheduler

RESTRICT=restrict_res_to_release_on_suspend
A=(-l select=1:ncpus=4:mem=512mb)
FEW_CPUS='^Not Running: Insufficient amount of resource: ncpus|^Not Running: Not enough free nodes'

setup_file()
{
	open_site
	qmgr -c 'create queue express queue_type=execution'
	qmgr -c 'set queue express priority=200,enabled=true,started=true'
	qmgr -c 'set sched preempt_order = S'
}

restrict()
{
	undo qmgr -c "unset server $RESTRICT"
	qmgr -c "set server $RESTRICT = '$1'"
}
order() { undo qmgr -c 'set sched preempt_order = S'; qmgr -c "set sched preempt_order = $1"; }
express() { submit_as "$OTHER" -q express -l select=1:ncpus=2:mem=512mb "$@"; }
begins() { wait_until 20 job_is "$1" R 42; }
assigned() { node_attr n1 "resources_assigned.$1"; }
ra() { same 'n1' "$1 $2" "$(assigned ncpus) $(assigned mem)"; }
in_server() { qstat -Bf | value "resources_assigned.$1"; }
in_queue() { qstat -Qf "$1" | value "resources_assigned.$2"; }
records() { accounting | grep -E "^[^;]*;$1;$2;" | cut -d';' -f4-; }

@test "release-restriction #1: preempted without a restriction: everything comes free" {
	a=$(running "${A[@]}")
	b=$(express)
	begins "$b"
	job_is "$a" S 45
	ra 2 524288kb
	same 'of the server' '2 512mb 1' "$(in_server ncpus) $(in_server mem) $(in_server nodect)"
	lacks "$(qstat -f "$a")" 'resources_released|resource_released_list'
}

@test "release-restriction #2: preempted with a restriction: ncpus come free, memory stays" {
	restrict ncpus
	a=$(running "${A[@]}")
	b=$(express)
	begins "$b"
	job_is "$a" S 45
	ra 2 1048576kb
	same 'of the server' '2 1024mb 2' "$(in_server ncpus) $(in_server mem) $(in_server nodect)"
	same 'of the queue of a' '0 512mb' "$(in_queue workq ncpus) $(in_queue workq mem)"
	same text '(n1:ncpus=4)' "$(job_attr "$a" resources_released)"
	same sum 4 "$(job_attr "$a" resource_released_list.ncpus)"
	same z 'resources_released=(n1:ncpus=4)' "$(records z "$a" | grep -o 'resources_released=.*')"
}

@test "release-restriction #4: the preempted job goes on when the other one has ended" {
	restrict ncpus
	a=$(running "${A[@]}")
	b=$(express)
	begins "$b"
	qdel "$b"
	begins "$a"
	ra 4 524288kb
	same 'of the server' '4 512mb 1' "$(in_server ncpus) $(in_server mem) $(in_server nodect)"
	lacks "$(qstat -f "$a")" 'resources_released|resource_released_list'
	has "$(job_attr "$a" comment)" '^Job run at '
	has "$(accounting)" ";r;$a;\$"
}

@test "release-restriction #36: what would come free is not enough: nobody is suspended" {
	restrict mem
	order SCR
	a=$(running "${A[@]}")
	b=$(express)
	wait_until 10 comment_says "$b" "$FEW_CPUS"
	job_is "$b" Q
	job_is "$a" R 42
	same z '' "$(records z "$a")"
}

@test "release-restriction #37: requeued or deleted, a job gives back everything" {
	restrict mem
	for method in R D; do
		order "$method"
		a=$(running "${A[@]}")
		b=$(express)
		begins "$b"
		[ "$method" = R ] && job_is "$a" Q 10 || job_is "$a" F 91
		ra 2 524288kb
		qselect | xargs qdel -W force
	done
}

@test "release-restriction #37: checkpointed, it gives back everything, too" {
	restrict mem
	order C
	program=$SB/save
	printf '#!/bin/sh\nexit 0\n' >"$program"
	chmod 755 "$program"
	settings=$SB/n1/etc/settings
	cp "$settings" "$BATS_TEST_TMPDIR/settings"
	undo sandbox restart n1
	undo cp "$BATS_TEST_TMPDIR/settings" "$settings"
	echo "executor.checkpoint_abort=10 !$program %jobid %path %sid" >>"$settings"
	sandbox restart n1
	wait_until 20 host_up
	a=$(running "${A[@]}")
	b=$(express)
	begins "$b"
	job_is "$a" Q 10
	has "$(accounting)" ";C;$a;"
	ra 2 524288kb
}
host_up() { lacks "$(node_attr n1 state)" 'down|unknown' 2>/dev/null; }

@test "release-restriction: suspended in vain, because it could not be checkpointed: no storm" {
	restrict ncpus
	order CS
	a=$(running -l select=1:ncpus=4:mem=2gb)
	b=$(express)
	wait_until 20 comment_says "$b" '^Not Running: Insufficient amount of resource: mem'
	wait_until 20 has_gone_on "$a"
	# more cycles, none of which has anything new for B
	for i in 1 2 3 4 5; do
		x=$(submit -l select=1:ncpus=4:mem=1gb)
		wait_until 20 comment_says "$x" '^Not Running: '
	done
	[ "$(records z "$a" | wc -l)" -le 3 ]
	has "$(keelson explain "$b")" 'others gave way in vain'
}
has_gone_on() { job_is "$1" R 42 && has "$(accounting)" ";r;$1;" 2>/dev/null; }

@test "release-restriction #38: an exclusive job leaves its vnode, and waits until it is alone again" {
	restrict mem
	a=$(running -l select=1:ncpus=2 -l place=excl)
	b=$(submit_as "$OTHER" -q express -l select=1:ncpus=1)
	begins "$b"
	job_is "$a" S 45
	same text '(n1:ncpus=0)' "$(job_attr "$a" resources_released)"
	same ncpus 3 "$(assigned ncpus)"
	c=$(running -l select=1:ncpus=1)
	qdel "$b"
	ends "$b"
	finished -l select=1:ncpus=1 -- /bin/true # a whole cycle later
	job_is "$a" S 45
	qdel "$c"
	begins "$a"
	node_is n1 job-exclusive
}
@test "release-restriction #41: a suspended job that is a top job keeps others from its released cpus" {
	restrict ncpus
	told 'strict_ordering: True ALL' 'by_queue: False ALL'
	a=$(running -l select=1:ncpus=4:mem=512mb -l walltime=600)
	b=$(express -l walltime=120)
	begins "$b"
	job_is "$a" S 45
	filler=$(submit -l select=1:ncpus=2:mem=10mb -l walltime=1000)
	wait_until 10 has_estimate "$a"
	wait_until 10 comment_says "$filler" '^Not Running: '
	job_is "$filler" Q
	short=$(running -l select=1:ncpus=2:mem=10mb -l walltime=30) # is gone before
	job_is "$filler" Q
	job_is "$short" R
}
has_estimate() { [ -n "$(job_attr "$1" estimated.start_time)" ]; }
