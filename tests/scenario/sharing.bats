#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Hosts of several vnodes, one for each story. What a host says of sharing them, and what a job says: which one holds.
# Last: many vnodes that come free while the scheduler is busy.
# bats file_tags=scheduler
load helper
load scheduler

host()
{
	setup_sandbox --hosts 1 --vnodes 2 --ncpus 2 --set "executor.sharing=$1"
	qmgr -c 'set server job_history_enable = true'
}

# becomes PLACE STATES: a job with that place makes the two vnodes so.
becomes()
{
	local job
	job=$(running -l select=1:ncpus=1 ${1:+-l "place=$1"}) || return
	same "vnodes with a job of place=$1" "$2" "$(node_attr 'n1[0]' state) $(node_attr 'n1[1]' state)"
	qdel -W force "$job"
	wait_until 10 node_is 'n1[0]' free
	wait_until 10 node_is 'n1[1]' free
}

one='job-exclusive free' both='job-exclusive job-exclusive' none='free free'

@test "scheduler: sharing default_shared" {
	host default_shared
	same sharing default_shared "$(node_attr 'n1[0]' sharing)"
	becomes free "$none"
	becomes free:shared "$none"
	becomes free:excl "$one"
	becomes free:exclhost "$both"
}

@test "scheduler: sharing default_excl" {
	host default_excl
	becomes free "$one"
	becomes free:shared "$none"
	becomes free:excl "$one"
	becomes free:exclhost "$both"
}

@test "scheduler: sharing default_exclhost" {
	host default_exclhost
	becomes free "$both"
	becomes free:shared "$none"
	becomes free:excl "$one"
	becomes free:exclhost "$both"
}

@test "scheduler: sharing ignore_excl" {
	host ignore_excl
	becomes free "$none"
	becomes free:shared "$none"
	becomes free:excl "$none"
	becomes free:exclhost "$none"
}

@test "scheduler: sharing force_excl" {
	host force_excl
	becomes free "$one"
	becomes free:shared "$one"
	becomes free:excl "$one"
	becomes free:exclhost "$both"
}

@test "scheduler: sharing force_exclhost" {
	host force_exclhost
	same sharing force_exclhost "$(node_attr 'n1[1]' sharing)"
	becomes free "$both"
	becomes free:shared "$both"
	becomes free:excl "$both"
	becomes free:exclhost "$both"
}

all_are() { same "jobs that are $1" "$2" "$(qselect -s "$1" | wc -l)"; }
many() { as "$OWNER" sh -c 'for i in $(seq 20); do qsub -l select=1:ncpus=1 -- /bin/sleep 10000 || exit; done'; }

# A policy that takes longer than a slice: each resumption comes a turn of the loop after it was decided, and meanwhile a vnode comes free.
@test "scheduler: a vnode that comes free between a decision and what it decided is not forgotten" {
	local old new job
	setup_sandbox --hosts 1 --vnodes 20 --ncpus 1
	echo "start_job: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/start_job.so\"; takes = \"10ms\"; };" \
		>"$SB/server/etc/modules.d/start_job.conf"
	sandbox reload
	old=$(many)
	wait_until 20 all_are R 20
	# shellcheck disable=SC2086
	qsig -s suspend $old
	wait_until 20 all_are S 20
	new=$(many)
	wait_until 20 all_are R 20
	# shellcheck disable=SC2086
	qsig -s resume $old
	for job in $new; do qdel -W force "$job"; done
	wait_until 20 all_are R 20
}
