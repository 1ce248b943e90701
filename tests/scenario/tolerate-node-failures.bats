#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# tolerate_node_failures: what it may be, and who may set it. One host; jobs over hosts that fail are in
# tolerate-node-failures-hosts.bats.
#
# With scripts in Python: 21 is in python-hooks-hosts.bats, 11 and 53 in python-hooks-server.bats.
#
# needs modules/tolerate-node-failures

load helper
load shared

TNF=tolerate_node_failures
setup_file() { open_cluster --hosts 1 --ncpus 4; }

tolerates() { same "$TNF of $1" "$2" "$(job_attr "$1" $TNF)"; }
refused_by_qsub() # arguments of qsub: exit 2, the message and the usage, and no job
{
	local found status=0 jobs
	jobs=$(qselect -x | sort)
	found=$(submit "$@" 2>&1) || status=$?
	same 'exit of qsub' 2 "$status"
	same 'first line' 'qsub: illegal -W value' "$(head -n 1 <<<"$found")"
	has "$found" '^usage: qsub '
	same jobs "$jobs" "$(qselect -x | sort)"
}

@test "tolerate-node-failures #1: qsub sets the attribute, qstat shows it" {
	for value in all job_start none; do
		id=$(submit -h -W $TNF=$value)
		tolerates "$id" $value
		has "$(qstat -f "$id")" "^ *$TNF = $value\$"
	done
}

@test "tolerate-node-failures #2: a job without it does not show it" {
	id=$(submit -h)
	lacks "$(qstat -f "$id")" "$TNF"
}

@test "tolerate-node-failures #3: a bad value ends qsub with its usage, and there is no job" {
	for value in maybe ALL Job_start 1 True ''; do refused_by_qsub -W $TNF=$value; done
}

@test "tolerate-node-failures #4: qalter refuses a bad value, and a stranger" {
	queued=$(submit -h -W $TNF=job_start)
	running=$(running -W $TNF=job_start)
	for id in $queued $running; do
		for value in maybe ''; do
			says 166 "qalter: Illegal attribute or resource value $id" as "$OWNER" qalter -W $TNF=$value "$id"
			tolerates "$id" job_start
		done
	done
	[ "$EUID" -eq 0 ] || return 0
	says 159 "qalter: Unauthorized Request  $queued" as "$OTHER" qalter -W $TNF=all "$queued"
	tolerates "$queued" job_start
	quietly as "$OPERATOR" qalter -W $TNF=all "$queued"
	tolerates "$queued" all
}

@test "tolerate-node-failures #5: a directive of the script sets it" {
	id=$(shell "#PBS -W $TNF=job_start"$'\nsleep 1000' -h)
	tolerates "$id" job_start
}

@test "tolerate-node-failures #6: the server's default arguments set it" {
	undo qmgr -c 'unset server default_qsub_arguments'
	qmgr -c "set server default_qsub_arguments = '-W $TNF=all'"
	id=$(submit -f -h)
	tolerates "$id" all
	lacks "$(job_attr "$id" Submit_arguments)" "$TNF"
	tolerates "$(submit -f -h -W $TNF=none)" none
	tolerates "$(submit -f -h -W umask=022)" all
	qmgr -c 'unset server default_qsub_arguments'
	lacks "$(qstat -f "$(submit -f -h)")" "$TNF"
}

@test "tolerate-node-failures #7: each subjob of an array has it" {
	needs_module arrays
	id=$(submit -J 1-3 -W $TNF=job_start)
	tolerates "$id" job_start
	for i in 1 2 3; do
		starts "$(sub "$id" $i)"
		tolerates "$(sub "$id" $i)" job_start
	done
}

@test "tolerate-node-failures #44: qalter of a running job counts from its next run" {
	id=$(running)
	quietly as "$OWNER" qalter -W $TNF=job_start "$id"
	tolerates "$id" job_start
	job_is "$id" R 42
	quietly as "$OWNER" qalter -W $TNF=none "$id"
	tolerates "$id" none
	qrerun "$id"
	starts "$id"
	tolerates "$id" none
	same runs 2 "$(job_attr "$id" run_count)"
}

@test "tolerate-node-failures #45: bad default arguments are accepted, and end each qsub" {
	undo qmgr -c 'unset server default_qsub_arguments'
	qmgr -c "set server default_qsub_arguments = '-W $TNF=bogus'"
	refused_by_qsub -f
}

@test "tolerate-node-failures #46: formats show it, accounting records do not" {
	id=$(finished -W $TNF=all -- /bin/true)
	same json all "$(qstat -xf -F json "$id" | jq -r ".Jobs[].$TNF")"
	records=$(accounting | grep ";$id;")
	has "$records" ';E;'
	lacks "$records" "$TNF"
}

# ---- spare_nodes --------------------------------------------------------------------------------------

list_is() # JOB select nodect ncpus kept_select
{
	local found
	found=$(qstat -xf "$1")
	same select "$2" "$(value Resource_List.select "$found")"
	same nodect "$3" "$(value Resource_List.nodect "$found")"
	same ncpus "$4" "$(value Resource_List.ncpus "$found")"
	same kept_select "$5" "$(value kept_select "$found")"
}

@test "tolerate-node-failures: spare_nodes pads the select, and keeps the one submitted" {
	id=$(submit -h -W spare_nodes=2 -l select=3:ncpus=2)
	list_is "$id" 5:ncpus=2 5 10 3:ncpus=2
	tolerates "$id" job_start
	id=$(submit -h -W spare_nodes=1 -W $TNF=all -l select=ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb)
	list_is "$id" 1:ncpus=3:mem=2gb+2:ncpus=3:mem=2gb+2:ncpus=2:mem=2gb 5 13 ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb
	same mem 10gb "$(job_attr "$id" Resource_List.mem)"
	tolerates "$id" all
}

@test "tolerate-node-failures: limits of a queue see the padded select" {
	undo qmgr -c 'unset queue workq resources_max.ncpus'
	qmgr -c 'set queue workq resources_max.ncpus = 8'
	submit -h -W spare_nodes=1 -l select=3:ncpus=2
	run submit -h -W spare_nodes=2 -l select=3:ncpus=2
	same status 188 "$status"
}

@test "tolerate-node-failures: qalter of select or spare_nodes pads anew" {
	id=$(submit -h -W spare_nodes=2 -l select=3:ncpus=2)
	quietly as "$OWNER" qalter -l select=2:ncpus=1 "$id"
	list_is "$id" 4:ncpus=1 4 4 2:ncpus=1
	quietly as "$OWNER" qalter -W spare_nodes=1 "$id"
	list_is "$id" 3:ncpus=1 3 3 2:ncpus=1
	quietly as "$OWNER" qalter -N other "$id"
	list_is "$id" 3:ncpus=1 3 3 2:ncpus=1
	quietly as "$OWNER" qalter -W spare_nodes=0 "$id"
	list_is "$id" 2:ncpus=1 2 2 ''
}

@test "tolerate-node-failures: what spare_nodes cannot be" {
	for words in spare_nodes=-1 spare_nodes=65536 spare_nodes=x; do
		run submit -h -W $words -l select=3:ncpus=2
		same "status of $words" 166 "$status"
	done
	run submit -h -W spare_nodes=1 -W $TNF=none -l select=3:ncpus=2
	same status 166 "$status"
	has "$output" 'spare_nodes needs tolerate_node_failures=job_start or all'
	run submit -h -W spare_nodes=1 -l nodes=3:ppn=2
	has "$output" 'spare_nodes needs -l select'
	id=$(submit -h -W spare_nodes=1 -l ncpus=2) # the primary has no spare
	same select 1:ncpus=2 "$(job_attr "$id" Resource_List.select)"
}
