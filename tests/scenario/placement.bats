#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Where jobs go, and what those that cannot start are told: one host n1 with 4 cpus and 2gb.
# bats file_tags=scheduler
load helper
load shared
load scheduler

setup_file() { open_site 1; }

# told_why COMMENT [qsub arguments]: a job that waits with that comment, and goes.
told_why()
{
	local text=$1 job
	shift
	job=$(submit "$@")
	waits "$job" "$text"
	qdel "$job"
}

never() { told_why "Can Never Run: $1" "${@:2}"; }
later() { told_why "Not Running: $1" "${@:2}"; }

gone() { ! qstat "$1" >/dev/null 2>&1; }
ends_now() { qdel -W force "$@"; for id in "$@"; do wait_until 10 gone "$id"; done; }

# ---- reasons ----------------------------------------------------------------------------------------------

@test "scheduler #17: each kind of shortage has its words" {
	local job
	never 'Insufficient amount of resource: ncpus (R: 8 A: 4 T: 4)' -l select=1:ncpus=8
	never 'Insufficient amount of resource: ncpus (R: 6 A: 4 T: 4)' -l select=2:ncpus=3
	never 'Insufficient amount of resource: mem (R: 5gb A: 2gb T: 2gb)' -l select=1:ncpus=1:mem=5gb
	never 'Insufficient amount of resource: vnode (foo != n1)' -l select=1:ncpus=1:vnode=foo
	never 'Insufficient amount of resource: host (foo != n1)' -l select=1:ncpus=1:host=foo
	never 'Not enough total nodes available' -l select=2:ncpus=1 -l place=scatter
	job=$(running -l select=1:ncpus=3)
	later 'Insufficient amount of resource: ncpus (R: 2 A: 1 T: 4)' -l select=1:ncpus=2
	later 'No available resources on nodes' -l select=1:ncpus=1 -l place=excl
	ends_now "$job"
	job=$(running -l select=1:ncpus=4)
	later 'Not enough free nodes available' -l select=1:ncpus=1
	ends_now "$job"
}

@test "scheduler #32: amounts of the server and of a queue" {
	local job
	resource foo 'type=long,flag=q'
	resource bar 'type=long,flag=q'
	set_server resources_available.foo 100
	undo qmgr -c 'unset queue workq resources_available.bar'
	qmgr -c 'set queue workq resources_available.bar = 50'
	never 'Insufficient amount of server resource: foo (R: 200 A: 100 T: 100)' -l foo=200
	never 'Insufficient amount of queue resource: bar (R: 60 A: 50 T: 50)' -l bar=60
	job=$(running -l bar=45 -l foo=10)
	later 'Insufficient amount of queue resource: bar (R: 10 A: 5 T: 50)' -l bar=10
	later 'Insufficient amount of server resource: foo (R: 95 A: 90 T: 100)' -l foo=95
	qdel -W force "$job"
}

@test "scheduler: totals are kept within one cycle, and come free" {
	local first second
	resource pool 'type=long,flag=q'
	set_server resources_available.pool 3
	scheduling false
	undo scheduling true
	first=$(submit -l pool=2)
	second=$(submit -l pool=2)
	scheduling true
	starts "$first"
	waits "$second" 'Not Running: Insufficient amount of server resource: pool (R: 2 A: 1 T: 3)'
	qdel "$first"
	starts "$second"
	ends_now "$second"
}

# ---- sharing ---------------------------------------------------------------------------------------------------

@test "scheduler #19: an exclusive job has its vnode for itself" {
	local job
	job=$(running -l select=1:ncpus=1 -l place=excl)
	node_is n1 job-exclusive
	later 'Not enough free nodes available' -l select=1:ncpus=1
	ends_now "$job"
	node_is n1 free
}

@test "scheduler #20: an exclusive job waits for a vnode that is in use" {
	local job excl
	job=$(running -l select=1:ncpus=1)
	excl=$(submit -l select=1:ncpus=1 -l place=excl)
	waits "$excl" 'Not Running: No available resources on nodes'
	qdel "$job"
	starts "$excl"
	node_is n1 job-exclusive
	ends_now "$excl"
}

# ---- kinds of resources ----------------------------------------------------------------------------------------

@test "scheduler #24: a boolean that is not set is False" {
	resource rb 'type=boolean,flag=h'
	never 'Insufficient amount of resource: rb (True != False)' -l select=1:rb=true
	ends_now "$(running -l select=1:rb=false)"
}

@test "scheduler #25: strings are equal, of lists one is" {
	resource rs 'type=string,flag=h'
	resource rsa 'type=string_array,flag=h'
	has_of n1 rs=red
	has_of n1 'rsa="a,b"'
	never 'Insufficient amount of resource: rs (blue != red)' -l select=1:rs=blue
	never 'Insufficient amount of resource: rs (RED != red)' -l select=1:rs=RED
	never 'Insufficient amount of resource: rsa (c != a,b)' -l select=1:rsa=c
	ends_now "$(running -l select=1:rsa=b)"
}

@test "scheduler #26: fractions add up" {
	local job
	resource rf 'type=float,flag=nh'
	has_of n1 rf=2.5
	job=$(running -l select=1:rf=2.25)
	attr_is "$job" exec_vnode '(n1:rf=2.25:ncpus=1)'
	later 'Insufficient amount of resource: rf (R: 1.5 A: 0.25 T: 2.5)' -l select=1:rf=1.5
	ends_now "$job"
}

@test "scheduler #27: sizes are told with their unit" {
	resource rz 'type=size,flag=nh'
	has_of n1 rz=10mb
	never 'Insufficient amount of resource: rz (R: 20mb A: 10mb T: 10mb)' -l select=1:rz=20mb
	ends_now "$(running -l select=1:rz=10240kb)"
}

@test "scheduler #28: a resource of the first vnode" {
	local job
	resource fres 'type=long,flag=fh'
	has_of n1 fres=8
	job=$(running -l select=1:fres=8)
	later 'Insufficient amount of resource: fres (R: 1 A: 0 T: 8)' -l select=1:fres=1
	ends_now "$job"
}

@test "scheduler #29: nobody makes a resource of type time" {
	run -166 qmgr -c 'create resource rt type=time'
	has "$output" 15014
	run qmgr -c 'list resource rt'
	lacks "$output" 'type = '
	run -166 qmgr -c 'create resource rt type=string,flag=q'
	has "$output" "Erroneous to have flag 'n', 'f', or 'q' on resource \"rt\""
	run -166 qmgr -c 'create resource rt flag=q,type=string'
	run -166 qmgr -c 'create resource rt type=long,flag=n'
	resource rt 'flag=q,type=long'
	run -166 qmgr -c 'set resource rt type = string'
	quietly qmgr -c 'set resource rt type = float'
}

@test "scheduler: a plain number is compared and not counted; unset is nothing, or plenty" {
	local job
	resource level 'type=long,flag=h'
	never 'Insufficient amount of resource: level (R: 1 A: 0 T: 0)' -l select=1:level=1
	has_of n1 level=5
	job=$(running -l select=1:level=5)
	ends_now "$(running -l select=1:level=5)" "$job"
	never 'Insufficient amount of resource: level (R: 6 A: 5 T: 5)' -l select=1:level=6
	qmgr -c 'unset node n1 resources_available.level'
	told 'resource_unset_infinite: "level"'
	ends_now "$(running -l select=1:level=600)"
}

@test "scheduler: resources that are not on the line are not compared" {
	resource lic 'type=long,flag=nh'
	never 'Insufficient amount of resource: lic (R: 1 A: 0 T: 0)' -l select=1:lic=1
	told 'resources: "ncpus, mem, arch, host, vnode, aoe, eoe"'
	ends_now "$(running -l select=1:lic=1)"
	told 'resources: "ncpus, lic"'
	never 'Insufficient amount of resource: lic (R: 1 A: 0 T: 0)' -l select=1:lic=1
}

# ---- limits of a vnode ----------------------------------------------------------------------------------------------

@test "scheduler: a vnode limits its jobs, and those of a user" {
	local job
	undo qmgr -c 'unset node n1 max_running'
	qmgr -c 'set node n1 max_running = 1'
	job=$(running -l select=1:ncpus=1)
	later 'Node has reached job run limit' -l select=1:ncpus=1
	qmgr -c 'unset node n1 max_running'
	undo qmgr -c 'unset node n1 max_user_run'
	qmgr -c 'set node n1 max_user_run = 1'
	later 'Node has reached user run limit' -l select=1:ncpus=1
	if [ "$EUID" -eq 0 ]; then
		other=$(submit_as "$OTHER" -l select=1:ncpus=1)
		starts "$other"
		ends_now "$other"
	fi
	ends_now "$job"
}

@test "scheduler: vnodes of a queue are for its jobs" {
	local job
	new_queue special 0
	undo qmgr -c 'unset node n1 queue'
	qmgr -c 'set node n1 queue = special'
	later 'Not enough free nodes available' -l select=1:ncpus=1
	job=$(running -q special -l select=1:ncpus=1)
	ends_now "$job"
}

# ---- scripts --------------------------------------------------------------------------------------------------------

# says_amount NAME TEXT MODE: a script that prints TEXT.
says_amount()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$SB/$1"
	chmod "$3" "$SB/$1"
	echo "$SB/$1"
}

@test "scheduler #33: an amount that a script knows" {
	local file jobs n
	resource lics 'type=long'
	file=$(says_amount three 'echo 3' 700)
	scheduling false
	undo scheduling true
	told "server_dyn_res: \"lics !$file\""
	jobs=$(for n in 1 2 3 4; do submit -l select=1:ncpus=0 -l lics=1; done)
	mark
	scheduling true
	wait_until 10 since_has "Leaving Scheduling Cycle"
	first=$(since | sed '/Leaving Scheduling Cycle/q')
	has "$first" "lics = 3 \\(\"$file\"\\)"
	same 'starts of the first cycle' 3 "$(grep -c ';Job run$' <<<"$first")"
	has "$first" 'Insufficient amount of server resource: lics \(R: 1 A: 0 T: 3\)'
	# shellcheck disable=SC2086
	qdel -W force $jobs
}

@test "scheduler #33: a script that takes its time keeps no cycle waiting once it is taken out" {
	local job file
	file=$(says_amount slow "touch $SB/slow-began; exec sleep 20" 700)
	told "server_dyn_res: \"seats !$file\""
	wait_until 10 test -e "$SB/slow-began"
	job=$(submit)
	told_nothing
	starts "$job"
}

@test "scheduler #33: scripts that take too long, talk nonsense, or are anybody's" {
	local file
	resource seats 'type=long'
	undo qmgr -c 'set sched default server_dyn_res_alarm = 30'
	mark
	file=$(says_amount slow 'sleep 100; echo 3' 700)
	told "server_dyn_res: \"seats !$file\""
	qmgr -c 'set sched default server_dyn_res_alarm = 1'
	never 'Insufficient amount of server resource: seats (R: 1 A: 0 T: 0)' -l seats=1
	since_has "Program $file timed out"
	since_has 'Setting resource seats to 0'
	file=$(says_amount odd 'echo some' 700)
	told "server_dyn_res: \"seats !$file\""
	wait_until 10 since_has "Script $file returned bad output"
	file=$(says_amount open 'echo 3' 777)
	told "server_dyn_res: \"seats !$file\""
	wait_until 10 since_has "$file file has a non-secure file access, setting resource seats to 0, errno: [0-9]+"
	never 'Insufficient amount of server resource: seats (R: 1 A: 0 T: 0)' -l seats=1
}
