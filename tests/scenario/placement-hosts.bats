#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Which of several hosts a job gets: n1, n2, n3 with 4 cpus each.
# bats file_tags=scheduler
load helper
load shared
load scheduler

setup_file() { open_cluster --hosts 3 --ncpus 4 --set executor.first_host_only=true; qmgr -c 'set sched default attr_update_period = 0'; }

off() { undo pbsnodes -r "$1"; pbsnodes -o "$1"; }
hosts_of() { attr_is "$1" exec_vnode "$2"; }

@test "scheduler #18: pack onto one host, scatter over several" {
	local job
	off n3
	job=$(running -l select=2:ncpus=2 -l place=pack)
	hosts_of "$job" '(n1:ncpus=2)+(n1:ncpus=2)'
	vacate "$job"
	job=$(running -l select=2:ncpus=2 -l place=scatter)
	hosts_of "$job" '(n1:ncpus=2)+(n2:ncpus=2)'
	vacate "$job"
	job=$(submit -l select=4:ncpus=1 -l place=scatter)
	waits "$job" 'Can Never Run: Not enough total nodes available'
	vacate "$job"
	job=$(submit -l select=3:ncpus=1 -l place=scatter)
	waits "$job" 'Not Running: Not enough free nodes available'
	pbsnodes -r n3
	starts "$job"
	vacate "$job"
}

@test "scheduler: free puts chunks where there is room" {
	local one job
	one=$(running -l select=1:ncpus=3)
	job=$(running -l select=2:ncpus=2+1:ncpus=1)
	hosts_of "$job" '(n2:ncpus=2)+(n2:ncpus=2)+(n1:ncpus=1)'
	vacate "$one" "$job"
}

@test "scheduler #22: group: all chunks where a value is the same" {
	local job
	resource color 'type=string,flag=h'
	has_of n1 color=red
	has_of n2 color=blue
	has_of n3 color=red
	job=$(running -l select=2:ncpus=4 -l place=scatter:group=color)
	hosts_of "$job" '(n1:ncpus=4)+(n3:ncpus=4)'
	vacate "$job"
}

@test "scheduler: placement sets of the server: the smallest that fits, a full one is waited for" {
	local job one more
	resource color 'type=string,flag=h'
	has_of n1 color=red
	has_of n2 color=blue
	has_of n3 color=red
	set_server node_group_key color
	set_server node_group_enable true
	one=$(running -l select=1:ncpus=1)
	hosts_of "$one" '(n2:ncpus=1)'
	job=$(running -l select=2:ncpus=4)
	hosts_of "$job" '(n1:ncpus=4)+(n3:ncpus=4)'
	more=$(submit -l select=2:ncpus=4)
	waits "$more" 'Not Running: color set red has too few free resources'
	qdel "$more"
	more=$(submit -l select=3:ncpus=4)
	waits "$more" 'Not Running: Insufficient amount of resource: ncpus (R: 12 A: 3 T: 12)'
	qdel -W force "$one" "$job"
	starts "$more"
	vacate "$more"
	set_sched do_not_span_psets true
	more=$(submit -l select=3:ncpus=4)
	waits "$more" "Can Never Run: can't fit in the largest placement set, and can't span psets"
	vacate "$more"
}

@test "scheduler: only_explicit_psets: vnodes without the value are no set" {
	local job
	resource color 'type=string,flag=h'
	has_of n1 color=red
	set_server node_group_key color
	set_server node_group_enable true
	set_sched do_not_span_psets true
	job=$(running -l select=2:ncpus=4)
	hosts_of "$job" '(n2:ncpus=4)+(n3:ncpus=4)'
	vacate "$job"
	set_sched only_explicit_psets true
	job=$(submit -l select=2:ncpus=4)
	waits "$job" "Can Never Run: can't fit in the largest placement set, and can't span psets"
	vacate "$job"
}

@test "scheduler #23: node_sort_key: to the emptiest host" {
	local a b c
	told 'node_sort_key: "ncpus HIGH unused" ALL'
	a=$(running -l select=1:ncpus=2)
	hosts_of "$a" '(n1:ncpus=2)'
	b=$(running -l select=1:ncpus=1)
	hosts_of "$b" '(n2:ncpus=1)'
	c=$(running -l select=1:ncpus=1)
	hosts_of "$c" '(n3:ncpus=1)'
	vacate "$a" "$b" "$c"
}

@test "scheduler: node_sort_key within one cycle, several lines, and the fullest first" {
	local a b c
	told 'node_sort_key: "ncpus HIGH assigned" ALL' 'node_sort_key: "sort_priority LOW" ALL'
	undo qmgr -c 'unset node n3 Priority'
	qmgr -c 'set node n3 Priority = -5'
	scheduling false
	undo scheduling true
	a=$(submit -l select=1:ncpus=1)
	b=$(submit -l select=1:ncpus=3)
	c=$(submit -l select=1:ncpus=1)
	scheduling true
	for job in "$a" "$b" "$c"; do starts "$job"; done
	hosts_of "$a" '(n3:ncpus=1)'
	hosts_of "$b" '(n3:ncpus=3)'
	hosts_of "$c" '(n1:ncpus=1)'
	vacate "$a" "$b" "$c"
}

@test "scheduler: without a node_sort_key the vnode of the highest priority is first" {
	local job
	undo qmgr -c 'unset node n2 Priority'
	qmgr -c 'set node n2 Priority = 10'
	job=$(running -l select=1:ncpus=1)
	hosts_of "$job" '(n2:ncpus=1)'
	vacate "$job"
}

@test "scheduler: round_robin of hosts: the one that waited longest" {
	local a b
	told 'smp_cluster_dist: round_robin'
	a=$(running -l select=1:ncpus=1)
	b=$(running -l select=1:ncpus=1)
	hosts_of "$a" '(n1:ncpus=1)'
	hosts_of "$b" '(n2:ncpus=1)'
	vacate "$a" "$b"
}

@test "scheduler: a vnode that takes no jobs of several hosts" {
	local job
	undo qmgr -c 'unset node n1 no_multinode_jobs'
	qmgr -c 'set node n1 no_multinode_jobs = true'
	job=$(running -l select=2:ncpus=4)
	hosts_of "$job" '(n2:ncpus=4)+(n3:ncpus=4)'
	vacate "$job"
	job=$(running -l select=1:ncpus=4)
	hosts_of "$job" '(n1:ncpus=4)'
	vacate "$job"
	job=$(submit -l select=3:ncpus=4)
	waits "$job" "Can Never Run: Node can't satisfy a multi-node job"
	vacate "$job"
}

@test "scheduler: a host or vnode by its name" {
	local job
	job=$(running -l select=1:ncpus=1:host=N3+1:ncpus=1:vnode=n2)
	hosts_of "$job" '(n3:ncpus=1)+(n2:ncpus=1)'
	vacate "$job"
	job=$(submit -l select=1:ncpus=1:vnode=N3)
	waits "$job" 'Can Never Run: Insufficient amount of resource: vnode '
	vacate "$job"
}

@test "scheduler: vnodes that share an amount" {
	local job more
	resource lic 'type=long,flag=nh'
	has_of n1 lic=3
	has_of n2 lic=@n1
	same 'what n2 has' @n1 "$(node_attr n2 resources_available.lic)"
	off n3
	job=$(running -l select=1:ncpus=1:lic=2:vnode=n2)
	same 'taken of n1' 2 "$(node_attr n1 resources_assigned.lic)"
	same 'taken of n2' 0 "$(node_attr n2 resources_assigned.lic)"
	more=$(submit -l select=1:ncpus=1:lic=2)
	short() { has "$(qexplain "$more")" 'lic \(R: 2 A: 1 T: 3\)'; }
	wait_until 10 short
	job_is "$more" Q
	qdel -W force "$job"
	starts "$more"
	vacate "$more"
	same 'taken of n1' 0 "$(node_attr n1 resources_assigned.lic)"
}
