# SPDX-License-Identifier: Apache-2.0
#
# matrix.bash - each trouble meets a job in each state: Q H W R(41) R(42) S (plain, admin, preempted) E, as a job
# of its own and as a part of an array. Load it after helper.bash.
#
#	setup_states                 host n1 with one job of each
#	... the trouble begins ...
#	expect_states [R41=Q]        what the server shows and what n1 does
#	... it is over ...
#	expect_states
#	finish                       every job goes on and ends; nothing is left on n1
#
# A job writes a line into ran/ID when it begins, one into its output then and one at its end, and ends with 0 once
# there is ran/end. The ones of E ignore TERM: they were deleted just before the trouble and are killed after
# kill_delay, whatever happens meanwhile.

KILL_DELAY=${KILL_DELAY-8}
declare -gA single array # state: id of the job; of the subjob
states='Q H W R41 R42 S SA SP'
on_host='R41 R42 S SA SP'

subjob() { echo "${array[$1]/\[\]/[1]}"; }

job_script() # file, what else it does
{
	cat >"$1" <<-SCRIPT
		#!/bin/sh
		$2
		echo begun
		echo \$\$ >>$ran/\$PBS_JOBID
		until test -e $ran/end; do sleep 0.5; done
		echo over
	SCRIPT
	chmod 755 "$1"
}

# queued_as STATE [qsub arguments]: both forms of it
queued_as()
{
	local state=$1
	shift
	single[$state]=$(as "$OWNER" qsub -l "select=1:ncpus=1:host=n1" -j oe -o "$ran/out/" "$@")
	array[$state]=$(as "$OWNER" qsub -l "select=1:ncpus=1:host=n1" -j oe -o "$ran/out/" -J 1-2 "$@")
}

is_sent() { job_is "$1" R 41; }
is_running() { job_is "$1" R 42 && [ -s "$ran/$1" ]; }

# start_cluster [options of `sandbox start`]: two hosts; n2 has no trouble and no jobs.
start_cluster()
{
	park=$BATS_TEST_TMPDIR/park.conf
	parked=$BATS_TEST_TMPDIR/parked
	mkdir "$parked"
	echo "park: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/park.so\"; dir = \"$parked\"; };" >"$park"
	setup_sandbox --hosts 2 --ncpus 32 --also "$park" "$@"
}
setup_states() { start_cluster && begin_states; }

begin_states()
{
	local state id
	ran=$SB/ran
	mkdir -m 777 "$ran" "$ran/out"
	job_script "$SB/job" :
	job_script "$SB/deaf" "trap '' TERM"
	printf '%s\n' 'set server job_history_enable = true' "set queue workq kill_delay = $KILL_DELAY" \
		'create queue closed queue_type=e,enabled=t' 'create queue soft queue_type=e,enabled=t,started=t' \
		'create queue express queue_type=e,enabled=t,started=t,priority=200' | qmgr
	queued_as Q -q closed "$SB/job"
	queued_as H -h "$SB/job"
	queued_as W -a "$(date -d tomorrow +%Y%m%d%H%M)" "$SB/job"
	queued_as R41 -h "$SB/job"
	touch "$parked/${single[R41]}" "$parked/$(subjob R41)"
	qrls "${single[R41]}" "${array[R41]}"
	for state in R42 S SA; do queued_as $state "$SB/job"; done
	queued_as SP -q soft "$SB/job"
	queued_as E -- "$SB/deaf"
	for id in "${single[R41]}" "$(subjob R41)"; do wait_until 20 is_sent "$id"; done
	for state in R42 S SA SP E; do
		for id in "${single[$state]}" "$(subjob $state)"; do wait_until 20 is_running "$id"; done
	done
	remember_sessions
	qsig -s suspend "${single[S]}" "$(subjob S)"
	# 16 of 32 cpus are taken: for 19 all in `soft` give way.
	urgent=$(running -q express -l select=1:ncpus=19:host=n1 -l preempt_targets=queue=soft)
	qsig -s admin-suspend "${single[SA]}" "$(subjob SA)"
	qdel "${single[E]}" "$(subjob E)"
}

declare -gA session
remember_sessions()
{
	local state id
	for state in R42 S SA SP E; do
		for id in "${single[$state]}" "$(subjob $state)"; do session[$id]=$(session_of "$id"); done
	done
}

letter_of() # state: what qstat shows, and the substate
{
	case $1 in
	Q) echo Q 10 ;; H) echo H 20 ;; W) echo W 30 ;; R41) echo R 41 ;; R42) echo R 42 ;;
	S) echo S 43 ;; SA) echo S 43 ;; SP) echo S 45 ;;
	esac
}

is_as() # id, state, state that it was prepared for
{
	local letter substate found
	read -r letter substate <<<"$(letter_of "$2")"
	[[ $1 != *'[1]'* || $letter != H ]] || letter=Q # its array is held
	found=$(qstat -xf "$1")
	same "state of $1 ($3)" "$letter" "$(value job_state "$found")" || return
	[[ $1 == *'[1]'* && $letter = [QW] ]] || same "substate of $1 ($3)" "$substate" "$(value substate "$found")"
}

# What its processes do: those of the session it began with, never another.
acts_as() # id, state
{
	case $2 in
	R42) same "session of $1" "${session[$1]}" "$(session_of "$1")" && going "$1" ;;
	S | SA | SP) same "session of $1" "${session[$1]}" "$(session_of "$1")" && stopped "$1" ;;
	*) [ ! -e "$ran/$1" ] || { echo "$1 has run: $(cat "$ran/$1")" >&2; return 1; } ;;
	esac
}

# expect_states [STATE=OTHER]...: all are as they were, but for those
expect_states()
{
	local state id change
	local -A now=()
	for state in $states; do now[$state]=$state; done
	for change; do now[${change%=*}]=${change#*=}; done
	for state in $states; do
		for id in "${single[$state]}" "$(subjob $state)"; do
			wait_until 20 is_as "$id" "${now[$state]}" "$state"
			acts_as "$id" "${now[$state]}"
		done
	done
	job_is "${array[H]}" H
	same 'jobs, each once' "$(($(wc -w <<<"$states") * 2))" \
		"$(qselect -x | grep -cFx "$(for state in $states; do echo "${single[$state]}"; echo "${array[$state]}"; done)")"
}

session_is_gone() { [ -z "$(ps -o pid= -s "${session[$1]}")" ]; }
subjob_is_over() { [[ $(state_of_job "$1") = [FX] ]]; }

# The deleted ones are killed although something else went wrong.
expect_ended()
{
	local id
	for id in "${single[E]}" "$(subjob E)"; do
		wait_until 30 session_is_gone "$id"
		wait_until 20 subjob_is_over "$id"
		same "exit of $id" 265 "$(job_attr "$id" Exit_status)"
	done
}

all_over() { [ -z "$(qselect)" ]; }

# go_on: whatever keeps a job from running is taken away, and they may end.
go_on()
{
	rm -f "$parked"/*
	touch "$ran/end"
	qmgr -c 'set queue closed started = true'
	qrls "${single[H]}" "${array[H]}" || true # released before
	qalter -a "$(date -d '-1 day' +%Y%m%d%H%M)" "${single[W]}" "${array[W]}"
	qdel "$urgent"
	qsig -s resume "${single[S]}" "$(subjob S)"
	qsig -s admin-resume "${single[SA]}" "$(subjob SA)" || true
}

# finish: every job ends well, has run once, its output is whole, and host n1 is as if nothing had been.
finish()
{
	local state id
	expect_ended
	job_is "$urgent" R 42
	go_on
	wait_until 60 all_over
	for state in $states; do
		for id in "${single[$state]}" "$(subjob $state)" "${array[$state]/\[\]/[2]}"; do
			same "exit of $id ($state)" 0 "$(job_attr "$id" Exit_status)"
			same "runs of $id ($state)" 1 "$(wc -l <"$ran/$id")"
			same "output of $id ($state)" 'begun over' "$(paste -sd' ' "$(output_of "$id")")"
		done
	done
	expect_clean
}

output_of() { echo "$ran/out/${1}.OU"; }

left_on_host()
{
	ls -A "$SB/n1/spool" "$SB/n1/tmp" "$SB/n1/mom_priv/jobs" "$SB/n1/undelivered" 2>/dev/null | grep -vE ':$|^$'
	pgrep -af "$SB/n1/mom_priv/jobs/"
	parked_on n1
}
nothing_left() { [ -z "$(left_on_host)" ]; }
expect_clean()
{
	wait_until 20 nothing_left || { left_on_host >&2; return 1; }
	same 'ncpus assigned on n1' 0 "$(node_attr n1 resources_assigned.ncpus)"
	node_is n1 free ''
	same 'holds' '' "$(keelson holds | grep -v '^no holds\|^no operation' | grep -i job || true)"
}

is_down() { pbsnodes "$1" | grep -q 'state = .*down'; }
is_up() { ! pbsnodes "$1" | grep -qE 'state = .*(down|unknown)'; }
