#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# keelson sim: the real server in virtual time, random users and faults, and what must hold all the time.
# Together more than 100,000 steps. A seed that fails prints the command that repeats it.

load helper

setup_file() { STORY_HOME=$(mktemp -d "${TMPDIR:-/tmp}/keelson-model.XXXXXX"); export STORY_HOME; }
teardown_file() { rm -rf "$STORY_HOME"; }

sim() { "$KEELSON_BUILD/bin/keelson" sim "$@"; }

# seeds FIRST LAST [options]: every one is well
seeds()
{
	local seed first=$1 last=$2
	shift 2
	for ((seed = first; seed <= last; seed++)); do
		sim --seed "$seed" --steps 2500 --quiet "$@" || return 1
	done
}

@test "model: 50,000 steps of users, operators and everyday faults break no promise" {
	seeds 1 20
}

@test "model: 25,000 steps with many faults break no promise" {
	seeds 101 110 --faults drop=0.02,dup=0.05,delay=0.05,crash=0.003,mom=0.03,slow=0.02
}

@test "model: 20,000 steps on hosts with several vnodes break no promise" {
	seeds 201 208 --hosts 3 --vnodes 3
}

@test "model: 10,000 steps with no feature loaded, 10,000 with two of them, break no promise" {
	seeds 301 304 --features none
	seeds 305 308 --features admin-suspend,release-restriction
}

@test "model: 1,000 hosts, jobs over 1 to 1,000 of them, hosts that fail: no part without a job, no job without its parts" {
	needs_module sisters
	for seed in 401 402; do
		sim --seed $seed --steps 120 --hosts 1000 --job-time 600 --quiet \
			--faults drop=0.0005,dup=0.01,delay=0.01,crash=0.0005,mom=0.001,slow=0.005 || return 1
	done
}

@test "model: reservations of all kinds: nothing is promised twice, no job reaches into another's time, vnodes count what is held" {
	needs_module reservations
	seeds 602 604 --resv 0.8
	seeds 607 607 --resv 0.8 --steps 2500
}

@test "model: reservations on hosts with several vnodes, and a server that falls all the time: the same plan after each restart" {
	needs_module reservations
	seeds 613 613 --resv 0.5 --hosts 3 --vnodes 3 --faults drop=0.01,dup=0.02,delay=0.02,crash=0.003,mom=0.01,slow=0.01
}

@test "model: mistakes about reservations are found: a block that is not set, or stays; a holder, a closed vnode, a queue that stay; a queue that starts early" {
	local what seed
	needs_module reservations
	for what in block stale holder alone ownerless early; do
		for seed in 1 2 3 4 5 6; do
			run sim --seed $seed --steps 600 --resv 0.8 --faults none --inject $what
			[ "$status" -ne 1 ] || break
		done
		[ "$status" -eq 1 ] || { echo "$what was not found: $output"; return 1; }
	done
}

@test "model: the same seed is the same run, to the last record of the log" {
	local dir=$STORY_HOME
	for n in 1 2; do
		sim --seed 7 --steps 1500 --log 4095 --dir "$dir/$n" --trace "$dir/$n.trace" >"$dir/$n.digest"
	done
	cmp "$dir/1.digest" "$dir/2.digest"
	cmp "$dir/1.trace" "$dir/2.trace"
	diff -r "$dir/1/server_logs" "$dir/2/server_logs"
	diff -r "$dir/1/server_priv/accounting" "$dir/2/server_priv/accounting"
	[ "$(wc -l <"$dir/1.trace")" -gt 3000 ]
	sim --seed 8 --steps 1500 >"$dir/other.digest"
	! cmp -s "$dir/1.digest" "$dir/other.digest"
}

@test "model: what is broken on purpose is found" {
	local what
	for what in vnode queue server lost placed marked twice silent; do
		run sim --seed 5 --steps 600 --faults none --inject $what
		[ "$status" -eq 1 ] || { echo "$what was not found: $output"; return 1; }
	done
}

@test "model: a host that loses its part of a job, and a part that no job has, are found" {
	local what
	needs_module sisters
	# With some seeds a user deletes the job before it is looked at.
	for what in part orphan; do
		for seed in 1 2 3 4 5 6; do
			run sim --seed $seed --steps 600 --job-time 0 --faults none --inject $what
			[ "$status" -ne 1 ] || break
		done
		[ "$status" -eq 1 ] || { echo "$what was not found: $output"; return 1; }
	done
}

@test "model: a run that finds something prints the command that repeats it" {
	local command first
	run sim --seed 11 --steps 600 --inject server
	[ "$status" -eq 1 ]
	first=${lines[0]}
	[[ $first =~ ^"keelson sim: server svr: resources_assigned.ncpus is 9"[0-9]", "(its jobs have|no job has) ]]
	command=$(grep '^keelson sim --seed 11 ' <<<"$output")
	run bash -c "$KEELSON_BUILD/bin/$command"
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = "$first" ]
}

@test "model: wrong options are refused with a sentence" {
	run sim --faults rain=0.5
	[ "$status" -eq 2 ]
	[ "$output" = "keelson sim: --faults: 'rain': expected NAME=RATE, NAME one of drop dup delay crash mom slow, RATE from 0 to 1" ]
	run sim --hosts none
	[ "$status" -eq 2 ]
	[ "$output" = "keelson sim: --hosts: expected a number, at least 1, got 'none'" ]
	run sim --inject nothing
	[ "$status" -eq 2 ]
	[ "$output" = "keelson sim: --inject: 'nothing' is nothing to break" ]
	run sim --features arrays,nosuch
	[ "$status" -ne 0 ]
	[[ $output = "keelson sim: --features: there is no module 'nosuch' in "*/modules.d ]]
}

# Of the processor, and fifteen times what it is: it was one to two seconds.
@test "mend C1: a job over 10,000 vnodes begins and ends, and nothing else waits for that" {
	stall=$(sim --figure job_10k_vnodes_stall | sed -n 's/.*"value": \([0-9]*\).*/\1/p')
	[ "$stall" -lt 300 ]
}
