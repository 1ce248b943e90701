#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A host of several vnodes: n1 with n1[0] ... n1[3], each 2 cpus.
# bats file_tags=scheduler
load helper
load shared
load scheduler

setup_file() { open_cluster --hosts 1 --vnodes 4 --ncpus 2; qmgr -c 'set sched default attr_update_period = 0'; }

states() { pbsnodes -av | value state | sort | uniq -c | tr -s ' \n' ' '; }
all_free() { same 'states of vnodes' ' 5 free ' "$(states)"; }

@test "scheduler #21: exclhost closes every vnode of the host" {
	local job other
	job=$(running -l select=1:ncpus=1 -l place=exclhost)
	same 'states of vnodes' ' 5 job-exclusive ' "$(states)"
	other=$(submit -l select=1:ncpus=1)
	waits "$other" 'Not Running: Not enough free nodes available'
	qdel "$other"
	vacate "$job"
	all_free
}

@test "scheduler: exclhost waits while anything of the host is in use" {
	local job whole
	job=$(running -l select=1:ncpus=1)
	whole=$(submit -l select=1:ncpus=1 -l place=exclhost)
	waits "$whole" 'Not Running: No available resources on nodes'
	qdel "$job"
	starts "$whole"
	vacate "$whole"
	all_free
}

@test "scheduler: a chunk may lie over several vnodes of a host" {
	local job
	job=$(running -l select=1:ncpus=5)
	attr_is "$job" exec_vnode '(n1[0]:ncpus=2+n1[1]:ncpus=2+n1[2]:ncpus=1)'
	vacate "$job"
	job=$(submit -l select=1:ncpus=5 -l place=vscatter)
	waits "$job" 'Can Never Run: Insufficient amount of resource: ncpus '
	vacate "$job"
}

@test "scheduler: vscatter takes a vnode per chunk" {
	local job
	job=$(running -l select=3:ncpus=1 -l place=vscatter)
	attr_is "$job" exec_vnode '(n1[0]:ncpus=1)+(n1[1]:ncpus=1)+(n1[2]:ncpus=1)'
	vacate "$job"
}
