#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A storm: 200 urgent jobs come upon a host full of 200 others. Everybody gets what preempt_order says,
# nobody starts before his place is free, and meanwhile the server answers.
#
# needs modules/preemption
# needs modules/delete-preemption

load helper
load shared

N=200
PATIENCE=120     # seconds for a storm, on a machine that is busy with other things
ANSWER_MS=2000   # the longest answer, likewise; in peace and quiet it is below 50

setup_file()
{
	open_cluster --hosts 1 --ncpus $N
	qmgr -c 'create queue express queue_type=execution,priority=200,enabled=true,started=true'
}
setup() { join_cluster; undo qmgr -c 'set server scheduling = true'; }

# many QUEUE: N jobs of one cpu
many()
{
	as "$OWNER" sh -c "for i in \$(seq $N); do qsub -q $1 -l select=1:ncpus=1 -- /bin/sleep 10000 || exit; done" >/dev/null
}
# Their processes are there: who is not, cannot be suspended.
started_in() { [ "$(qselect -q "$1" -s R | xargs -r qstat -f | grep -c ' substate = 42$')" -eq "$2" ]; }
are_in() { same "jobs in $1 that are $2" "$3" "$(qselect -x -q "$1" -s "$2" | wc -l)"; }

# Ask over and over until the file is gone; the longest time, in ms.
ask_while()
{
	local begin took max=0 n=0
	while [ -e "$1" ]; do
		begin=${EPOCHREALTIME/./}
		qstat -Q >/dev/null || return
		took=$(((${EPOCHREALTIME/./} - begin) / 1000))
		[ "$took" -le "$max" ] || max=$took
		n=$((n + 1))
	done
	echo "$n $max"
}

# storm ORDER: a full host, N urgent jobs at once; returns when they all run.
storm()
{
	local asking=$BATS_TEST_TMPDIR/asking n max
	qmgr -c "set sched preempt_order = $1"
	many workq
	wait_until $PATIENCE started_in workq $N
	qmgr -c 'set server scheduling = false'
	many express
	lines=$(accounting | wc -l)
	touch "$asking"
	ask_while "$asking" >"$BATS_TEST_TMPDIR/answers" 3>&- &
	qmgr -c 'set server scheduling = true'
	wait_until $PATIENCE started_in express $N || { rm -f "$asking"; wait; return 1; }
	rm "$asking"
	wait $!
	read -r n max <"$BATS_TEST_TMPDIR/answers"
	echo "# $1: $n answers of qstat, the longest took $max ms" >&3
	[ "$max" -le $ANSWER_MS ]
}

# The records of the storm: LETTERS of a victim, in this order; never more winners than places.
accounted()
{
	accounting | tail -n +$((lines + 1)) | awk -F';' -v letters="$1" -v n=$N '
		{ urgent = $4 ~ /queue=express/ }
		$2 == "S" && urgent { if (++started > left) { print "too early: " $0; bad = 1 } }
		$2 != "S" && !urgent && index(letters, $2) {
			of[$3] = of[$3] $2
			if ($2 == substr(letters, length(letters)))
				left++
		}
		END {
			for (id in of) {
				victims++
				if (of[id] != letters) { print "records of " id ": " of[id]; bad = 1 }
			}
			if (victims != n || started != n) { print victims " victims, " started " starts"; bad = 1 }
			exit bad
		}' >&2
}

@test "storm: D: 200 are deleted, each accounted before its place is taken" {
	storm D
	are_in workq R 0
	accounted DE
	same 'ncpus of n1' $N "$(node_attr n1 resources_assigned.ncpus)"
}

@test "storm: SD: 200 are suspended, and all go on afterwards" {
	storm SD
	are_in workq S $N
	qselect -q express | xargs qdel -W force
	wait_until $PATIENCE started_in workq $N
	same 'resumed' $N "$(accounting | tail -n +$((lines + 1)) | grep -c '^[^;]*;r;')"
	same 'ncpus of n1' $N "$(node_attr n1 resources_assigned.ncpus)"
}

@test "storm: RD: 200 are queued again, and start again afterwards" {
	storm RD
	are_in workq Q $N
	accounted R
	qselect -q express | xargs qdel -W force
	wait_until $PATIENCE started_in workq $N
	same 'starts of them' $N "$(qselect -q workq | xargs qstat -f | grep -c 'run_count = 2')"
}

@test "storm: CD: nothing can be checkpointed here: 200 are deleted" {
	storm CD
	are_in workq R 0
	accounted DE
	same 'refused checkpoints' $N "$(server_log | grep -c 'preemption method checkpoint failed for job (15029)')"
}
