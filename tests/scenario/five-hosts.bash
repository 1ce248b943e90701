# SPDX-License-Identifier: Apache-2.0
#
# five-hosts.bash - a bed of five hosts of which some fail: load it after helper.bash. n1, the primary of every job, has the vnodes
# n1[0]..n1[3] of 1 cpu and 1gb; n2, n4 and n5 are like it, n3[0] has 2 cpus and 2gb. A to E is what a chunk has of each.

BED='n1[0] 1
n1[1] 1
n1[2] 1
n1[3] 1
n2[0] 1
n2[1] 1
n2[2] 1
n2[3] 1
n3[0] 2
n4[0] 1
n4[1] 1
n4[2] 1
n4[3] 1
n4[4] 1
n5[0] 1
n5[1] 1
n5[2] 1
n5[3] 1'
J1=(-l select=ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb -l place=scatter)
NORMAL=1:ncpus=3:mem=2gb+1:ncpus=3:mem=2gb+1:ncpus=2:mem=2gb
A='(n1[0]:ncpus=1:mem=1048576kb+n1[1]:ncpus=1:mem=1048576kb+n1[2]:ncpus=1)'
B='(n2[0]:ncpus=1:mem=1048576kb+n2[1]:ncpus=1:mem=1048576kb+n2[2]:ncpus=1)'
C='(n3[0]:ncpus=2:mem=2097152kb)'
D='(n4[0]:ncpus=1:mem=1048576kb+n4[1]:ncpus=1:mem=1048576kb+n4[2]:ncpus=1)'
E='(n5[0]:ncpus=1:mem=1048576kb+n5[1]:ncpus=1:mem=1048576kb)'

# After open_cluster --hosts 5.
make_bed()
{
	local host vnode ncpus
	for host in n1 n2 n3 n4 n5; do qmgr -c "set node $host resources_available.ncpus = 0,resources_available.mem = 0"; done
	while read -r vnode ncpus; do # the scheduler looks at them in this order
		echo "create node $vnode Mom=${vnode%[*},resources_available.ncpus=$ncpus,resources_available.mem=${ncpus}gb"
	done <<<"$BED" | qmgr
}

is_on() # JOB exec_host exec_vnode
{
	same exec_host "$2" "$(job_attr "$1" exec_host)" && same exec_vnode "$3" "$(job_attr "$1" exec_vnode)"
}
