#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Arrays in which hundreds end out of order, and subjobs that are forced out or held.
#
# needs modules/arrays
# needs modules/dependencies

load helper
load shared

setup_file() { open_cluster --hosts 1 --ncpus 600; }

# sub ARRAY INDEX-OR-RANGE: 7[].svr 3 -> 7[3].svr

over_by_now() { has "$(qstat -f "$1")" "array_state_count = Queued:$2 Running:0 Exiting:0 Expired:$3\$"; }
# Of the subjobs that are over each is shown as one that ended well.
all_well() # array how-many
{
	local listing
	listing=$(qstat -tf "$1")
		same 'ended well' "$2" "$(grep -c 'comment = Subjob finished' <<<"$listing")"
	lacks "$listing" 'Subjob (failed|expired|terminated)| Exit_status = [^0]'
}

@test "mend A2: 540 subjobs end out of order, all with 0: so says each, so ends the array, also after a restart" {
	undo qmgr -c 'set server job_history_enable = true'
	undo qmgr -c 'set server scheduling = true'
	printf '%s\n' 'set server job_history_enable = false' 'set server scheduling = false' | qmgr
	mark=$(script mark.sh <<<$'#!/bin/sh\necho "$PBS_ARRAY_INDEX" >"$(dirname "$0")/did.${PBS_ARRAY_INDEX:-next}"')
	a=$(submit -J 1-540 -o /dev/null -e /dev/null -- "$mark")
	next=$(submit -W depend=afterok:"$a" -o /dev/null -e /dev/null -- "$mark")
	qrun "$(sub "$a" 1-539:2)"
	wait_until 60 over_by_now "$a" 270 270
	same 'did it' 270 "$(ls "$(desk "$OWNER")" | grep -c '^did\.')"
	all_well "$a" 270
	sandbox restart server
	over_by_now "$a" 270 270
	all_well "$a" 270
	printf '%s\n' 'set server job_history_enable = true' 'set server scheduling = true' | qmgr
	wait_until 60 is_over "$a"
	same Exit_status 0 "$(job_attr "$a" Exit_status)"
	ends "$next"
	test -e "$(here did.next)"
	same 'did it' 541 "$(ls "$(desk "$OWNER")" | grep -c '^did\.')"
}

runs_now() { same substate 42 "$(qstat -f "$(sub "$1" "$2")" | value substate)"; }
forced_out() # subjob: over, its processes are gone
{
	same state X "$(qstat -f "$1" | value job_state)" && same comment 'Subjob finished' "$(qstat -f "$1" | value comment)"
}

@test "mend D13: a subjob that is forced out, running or waiting, has finished, with a history or without" {
	a=$(submit -J 1-4%2)
	wait_until 20 runs_now "$a" 2
	ran=$(processes "$(sub "$a" 1)")
	quietly as "$OWNER" qdel -W force "$(sub "$a" 1)" "$(sub "$a" 4)"
	forced_out "$(sub "$a" 1)"
	forced_out "$(sub "$a" 4)"
	same substate 91 "$(job_attr "$(sub "$a" 1)" substate)"
	none_left() { ! kill -0 $ran; }
	wait_until 20 none_left
	undo qmgr -c 'set server job_history_enable = true'
	qmgr -c 'set server job_history_enable = false'
	wait_until 20 runs_now "$a" 3
	quietly as "$OWNER" qdel -W force "$(sub "$a" 2)"
	forced_out "$(sub "$a" 2)"
	forced_out "$(sub "$a" 4)"
	sandbox restart server
	forced_out "$(sub "$a" 2)"
}

@test "mend D13: subjobs that wait in a held array are queued" {
	a=$(submit -J 1-3%1)
	wait_until 20 runs_now "$a" 1
	as "$OWNER" qhold "$a"
	job_is "$a" H 20
	b=$(submit -J 1-2 -h)
	for s in "$(sub "$a" 2)" "$(sub "$b" 1)"; do job_is "$s" Q 10; done
	same letters "$(printf '%s\n' H R Q Q)" "$(qstat -t "$a" | awk 'NR > 2 { print $5 }')"
	as "$OWNER" qdel "$(sub "$a" 1)"
	expired() { job_is "$(sub "$a" 1)" X; }
	wait_until 20 expired
	wait_until 30 at_rest
	same 'tasks on the host' '' "$(ls "$SB/n1/mom_priv/jobs")"
	job_is "$(sub "$a" 2)" Q
}
