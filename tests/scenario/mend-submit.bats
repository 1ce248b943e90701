# SPDX-License-Identifier: Apache-2.0
#
# mend-submit.bats - what users write on qsub and qalter, as other sites' scripts write it.

load helper
load shared

setup_file() { open_cluster --hosts 2 --ncpus 8; }
teardown_file() { close_cluster; }
setup() { join_cluster; }

# asks [qsub arguments]: the Resource_List of a held job.
asks()
{
	local id
	id=$(submit -h "$@") && qstat -f "$id" | sed -n 's/^ *Resource_List\.//p'
}

# refuses STATUS TEXT [qsub arguments]
refuses() { says "$1" "qsub: $2" as "$OWNER" qsub "${@:3}" -- /bin/true; }

@test "mend A7: -l nodes= beside amounts: each node has its share, and the job its sum" {
	local got id

	got=$(asks -l nodes=1:ppn=2,mem=100mb)
	has "$got" '^select = 1:ncpus=2:mem=102400KB:mpiprocs=2$'
	has "$got" '^place = scatter$'
	has "$got" '^mem = 100mb$'
	has "$got" '^ncpus = 2$'
	has "$(asks -l nodes=1:ppn=2 -l mem=100mb)" '^select = 1:ncpus=2:mem=102400KB:mpiprocs=2$'
	id=$(shell $'#PBS -l nodes=1:ppn=2\n#PBS -l mem=100mb\ntrue' -h)
	same select 1:ncpus=2:mem=102400KB:mpiprocs=2 "$(job_attr "$id" Resource_List.select)"

	got=$(asks -l nodes=2:ppn=2,mem=100mb,vmem=1gb,arch=linux)
	has "$got" '^select = 2:ncpus=2:mem=51200KB:mpiprocs=2$'
	has "$got" '^vmem = 1gb$'
	has "$got" '^arch = linux$'
	has "$(asks -l ncpus=4,nodes=2)" '^select = 2:ncpus=2$'
	has "$(asks -l nodes=2:ppn=2,ncpus=8)" '^select = 2:ncpus=4:mpiprocs=2$'
	has "$(asks -l nodes=2:ppn=1:cpp=2)" '^select = 2:ncpus=2$'
	got=$(asks -l nodes=2:ppn=2#shared)
	has "$got" '^select = 2:ncpus=2:mpiprocs=2$'
	has "$got" '^place = free$'

	refuses 155 'Cannot set attribute, read only or insufficient permission  Resource_List.nodes' \
		-l nodes=2:ppn=2:#excl
	refuses 155 'Cannot set attribute, read only or insufficient permission  Resource_List.nodect' -l nodect=2
	refuses 166 'Illegal attribute or resource value' -l nodes=2,ncpus=3
}

@test "mend A7: a job of -l nodes= keeps its shares when it is altered, and runs with them" {
	local id

	id=$(submit -h -l nodes=1:ppn=2,mem=100mb)
	qalter -l mem=200mb "$id"
	same select 1:ncpus=2:mem=204800KB:mpiprocs=2 "$(job_attr "$id" Resource_List.select)"
	qalter -l nodes=1:ppn=4 "$id"
	same select 1:ncpus=4:mem=204800KB:mpiprocs=4 "$(job_attr "$id" Resource_List.select)"
	id=$(submit -h -l nodes=2,ncpus=4)
	qalter -l walltime=100 "$id"
	same select 2:ncpus=2 "$(job_attr "$id" Resource_List.select)"

	id=$(finished -l nodes=1:ppn=2,mem=100mb -j oe -o "$(here nodes)" -- /bin/sh -c 'sort $PBS_NODEFILE | uniq -c; echo $NCPUS')
	same 'nodefile and NCPUS' $'2 n1\n2' "$(sed 's/^ *//; s/n[12]$/n1/' "$(here nodes)")"
	has "$(job_attr "$id" exec_vnode)" 'ncpus=2:mem=102400kb'
}

@test "mend D26: quotes that reach qsub and qalter in -l are taken off, of every type" {
	local id

	printf '%s\n' 'create resource bb type=boolean' 'create resource sa type=string,flag=h' \
		'create resource ss type=string_array' | qmgr
	qmgr -c 'set node n2 resources_available.sa = b'
	undo qmgr -c 'unset node n2 resources_available.sa'

	id=$(submit -h -l 'bb="true",walltime="10"' -l "ss='x,y'")
	same bb True "$(job_attr "$id" Resource_List.bb)"
	same walltime 00:00:10 "$(job_attr "$id" Resource_List.walltime)"
	same ss x,y "$(job_attr "$id" Resource_List.ss)"
	qalter -l "walltime='20'" "$id"
	same walltime 00:00:20 "$(job_attr "$id" Resource_List.walltime)"

	id=$(finished -l select='1:sa="b"' -- /bin/true)
	same select 1:sa=b "$(job_attr "$id" Resource_List.select)"
	has "$(job_attr "$id" exec_host)" '^n2/'
}
