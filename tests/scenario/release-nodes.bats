#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Running jobs give up vnodes. Hosts n1 with vnodes v1 v2 v3, n2 with v4 v5 v6 (1 cpu, 1gb each), n3 with v7 (2 cpus, 2gb).
# bats file_tags=hosts
# needs modules/release-nodes
load helper
load scheduler

J=(-l select=ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb -l place=scatter)

setup()
{
	setup_sandbox --hosts 3 --set executor.first_host_only=true
	{
		for v in 1:n1 2:n1 3:n1 4:n2 5:n2 6:n2; do
			echo "create node v${v%:*} Mom=${v#*:},resources_available.ncpus=1,resources_available.mem=1gb"
		done
		echo 'create node v7 Mom=n3,resources_available.ncpus=2,resources_available.mem=2gb'
		for n in n1 n2 n3; do echo "set node $n resources_available.ncpus=0,resources_available.mem=0"; done
		echo 'set server job_history_enable = True'
	} | qmgr
	wait_until 20 all_are free v1 v2 v3 v4 v5 v6 v7
}

all_are() { local state=$1 v; shift; for v; do node_is "$v" "$state" || return; done; }
assigned() { value "resources_assigned.$1" "$(qstat -Bf)"; }
# shape JOB: exec_host exec_vnode ncpus mem nodect select
shape()
{
	local found
	found=$(qstat -xf "$1")
	for a in exec_host exec_vnode Resource_List.ncpus Resource_List.mem Resource_List.nodect Resource_List.select; do
		value "$a" "$found"
	done
}
records() { accounting | sed -n "s/^[^;]*;\($1\);$2;/\1 /p"; }

@test "multi-host #17: a vnode of a host leaves the job and stays assigned; #18: the rest of the host comes free" {
	local job was
	job=$(running "${J[@]}")
	attr_is "$job" exec_host 'n1/0*0+n2/0*0+n3/0*2'
	attr_is "$job" exec_vnode '(v1:ncpus=1:mem=1048576kb+v2:ncpus=1:mem=1048576kb+v3:ncpus=1)+(v4:ncpus=1:mem=1048576kb+v5:ncpus=1:mem=1048576kb+v6:ncpus=1)+(v7:ncpus=2:mem=2097152kb)'
	quietly as "$OWNER" pbs_release_nodes -j "$job" v4
	same shape "$(shape "$job")" "$(printf '%s\n' 'n1/0*0+n2/0*0+n3/0*2' \
		'(v1:ncpus=1:mem=1048576kb+v2:ncpus=1:mem=1048576kb+v3:ncpus=1)+(v5:ncpus=1:mem=1048576kb+v6:ncpus=1)+(v7:ncpus=2:mem=2097152kb)' \
		7 5242880kb 3 '1:ncpus=3:mem=2097152kb+1:ncpus=2:mem=1048576kb+1:ncpus=2:mem=2097152kb')"
	node_is v4 job-busy
	same assigned 8 "$(assigned ncpus)"
	quietly as "$OWNER" pbs_release_nodes -j "$job" v5 v6
	wait_until 10 all_are free v4 v5 v6
	same assigned 5 "$(assigned ncpus)"
	same assigned 4194304kb "$(assigned mem)"
}
