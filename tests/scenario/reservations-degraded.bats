#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Reservations whose vnodes are unavailable: when others are looked for, which stay, and what a restart leaves of it.
#
# needs modules/reservations

load helper
load shared
load reservations

setup_file() { open_cluster --hosts 4 --ncpus 1; }

setup()
{
	needs_root
	join_cluster
	undo without_reservations
}

offline() { pbsnodes -o "$1"; undo pbsnodes -r "$1"; }
retries_every() { qmgr -c "set server reserve_retry_time = $1"; undo qmgr -c 'unset server reserve_retry_time'; }
nodes_of() { resv_attr "$1" resv_nodes | grep -o 'n[1-4]' | sort | xargs; }
# others_of ID: hosts that it has not.
others_of() { comm -13 <(nodes_of "$1" | xargs -n 1) <(printf '%s\n' n1 n2 n3 n4) | xargs; }
one_of() { resv_attr "$1" resv_nodes | grep -o 'n[1-4]' | head -n 1; }
@test "reservations #18: another vnode is taken when the time of the retry has come" {
	local id bad before retry
	retries_every 5
	id=$(reserve)
	bad=$(one_of "$id")
	before=$EPOCHSECONDS
	offline "$bad"
	wait_until 60 resv_is "$id" CONFIRMED 2
	lacks "$(resv_attr "$id" resv_nodes)" "$bad:"
	log_line "$id" '^An attempt to reconfirm reservation will be made on '
	retry=$(log_of "$id" | sed -n 's/^An attempt to reconfirm reservation will be made on //p')
	[ "$(date -d "$retry" +%s)" -ge $((before + 5)) ]
	attr_is "$id" reserve_retry ''
	retries_every 3600
	bad=$(one_of "$id") before=$EPOCHSECONDS
	qmgr -c 'set server reserve_retry_time = 1000'
	offline "$bad"
	wait_until 20 resv_is "$id" DEGRADED 10
	has "$(pbs_rstat "$id")" ' DG '
	retry=$(($(epoch_of "$id" reserve_retry) - before))
	[ "$retry" -ge 1000 ] && [ "$retry" -le 1060 ]
	attr_is "$id" resv_nodes "($bad:ncpus=1)"
}

@test "reservations #19: where there is no other vnode it stays degraded until its own are back" {
	local id nodes retry
	retries_every 2
	id=$(reserve -l select=4:ncpus=1)
	nodes=$(resv_attr "$id" resv_nodes)
	offline n2
	wait_until 20 resv_is "$id" DEGRADED 10
	retry=$(epoch_of "$id" reserve_retry)
	wait_until 60 log_line "$id" '^Next attempt to reconfirm reservation will be made on '
	log_has ";Resv;$id;Reservation is in degraded mode"
	[ "$(epoch_of "$id" reserve_retry)" -gt "$retry" ]
	resv_is "$id" DEGRADED 10
	attr_is "$id" resv_nodes "$nodes"
	same records 1 "$(records "$id" Y | wc -l)"
	scheduling False
	undo scheduling True
	pbsnodes -r n2
	wait_until 20 resv_is "$id" CONFIRMED 2
	attr_is "$id" reserve_retry ''
	attr_is "$id" resv_nodes "$nodes"
	same records 1 "$(records "$id" Y | wc -l)"
}

@test "reservations #20: of a running one the vnode alone is replaced that is unavailable" {
	local id job with without spare stays
	retries_every 4
	id=$(begun -l select=3:ncpus=1 -l place=scatter)
	with=$(one_of "$id")
	job=$(running -q "${id%.svr}" -l "select=1:ncpus=1:host=$with")
	for without in $(nodes_of "$id"); do [ "$without" = "$with" ] || break; done
	spare=$(others_of "$id")
	stays=$(nodes_of "$id" | xargs -n 1 | grep -vx "$without" | xargs)
	scheduling False
	undo scheduling True
	offline "$without"
	wait_until 20 resv_is "$id" RUNNING 10
	scheduling True
	wait_until 60 resv_is "$id" RUNNING 5
	same vnodes "$(xargs -n 1 <<<"$stays $spare" | sort | xargs)" "$(nodes_of "$id")"
	job_is "$job" R 42
	same 'resv of the old one' '' "$(pbsnodes -v "$without" | value resv)"
}

@test "reservations #21: not while a job runs on what is unavailable" {
	local id job bad
	retries_every 2
	id=$(begun)
	bad=$(one_of "$id")
	job=$(running -q "${id%.svr}")
	offline "$bad"
	wait_until 20 resv_is "$id" RUNNING 10
	wait_until 60 log_has "$id;PBS Failed to confirm resv: Reservation has running jobs in it"
	resv_is "$id" RUNNING 10
	qdel "$job"
	wait_until 20 is_over "$job"
	wait_until 60 resv_is "$id" RUNNING 5
	lacks "$(resv_attr "$id" resv_nodes)" "$bad:"
}

spread_chunks()
{
	local id bad
	setup_sandbox --hosts 1 --vnodes 6 --ncpus 1
	qmgr -c 'set server reserve_retry_time = 2'
	id=$(reserve -l select=1:ncpus=1+1:ncpus=3)
	bad=$(resv_attr "$id" resv_nodes | grep -o 'n1[^:(+]*:' | tail -n 1)
	has "$(resv_attr "$id" resv_nodes)" '^\([^()+]*\)\+\([^()+]*\+[^()+]*\+[^()+]*\)$'
	pbsnodes -v -o "${bad%:}"
	wait_until 20 log_line "$id" '^An attempt to reconfirm reservation will be made on '
	wait_until 60 resv_is "$id" CONFIRMED 2
	has "$(resv_attr "$id" resv_nodes)" '^\([^()+]*\)\+\([^()+]*\+[^()+]*\+[^()+]*\)$'
	[[ $(resv_attr "$id" resv_nodes) != *"$bad"* ]]
}

@test "reservations #22: a chunk over three vnodes has three again when one of them is offline" {
	beside spread_chunks
	wait $!
}

@test "reservations #24: reserve_retry_time and what it was called" {
	local id now retry
	undo qmgr -c 'unset server reserve_retry_time'
	undo qmgr -c 'unset server reserve_retry_init'
	says 166 "qmgr obj= svr=default: Illegal attribute or resource value
qmgr: Error (15014) returned from server" qmgr -c 'set server reserve_retry_time = 0'
	qmgr -c 'set server reserve_retry_init = 77'
	has "$(qmgr -c 'list server')" '^ *reserve_retry_time = 77$'
	has "$(qmgr -c 'list server')" '^ *reserve_retry_init = 77$'
	qmgr -c 'set server reserve_retry_time = 88'
	lacks "$(qmgr -c 'list server')" reserve_retry_init
	qmgr -c 'unset server reserve_retry_time'
	lacks "$(qmgr -c 'list server')" 'reserve_retry_(time|init) = (77|88)'
	id=$(reserve)
	now=$EPOCHSECONDS
	offline "$(one_of "$id")"
	wait_until 20 resv_is "$id" DEGRADED 10
	retry=$(($(epoch_of "$id" reserve_retry) - now))
	[ "$retry" -ge 600 ] && [ "$retry" -le 660 ]
}

@test "reservations: a restart judges vnodes anew: one that is offline degrades it again, one that is back does not" {
	local id id2 bad
	retries_every 3600
	id=$(reserve -l select=1:ncpus=1:host=n1) id2=$(reserve -l select=1:ncpus=1:host=n2)
	offline n1
	sandbox kill n2
	undo sandbox restart n2
	wait_until 60 resv_is "$id" DEGRADED 10
	wait_until 60 resv_is "$id2" DEGRADED 10
	sandbox restart server --hard
	wait_until 60 answers
	wait_until 60 resv_is "$id" DEGRADED 10
	resv_is "$id2" CONFIRMED 2
	attr_is "$id2" reserve_retry ''
	attr_is "$id2" resv_nodes '(n2:ncpus=1)'
	sandbox restart n2
	wait_until 60 node_is n2 free
	pbsnodes -r n1
	wait_until 20 resv_is "$id" CONFIRMED 2
	resv_is "$id2" CONFIRMED 2
}

@test "reservations: what was degraded when it began runs so, and is whole when its vnode is back" {
	local id
	retries_every 3600
	id=$(reserve -R "$(after 8)" -l select=4:ncpus=1)
	offline n3
	wait_until 20 resv_is "$id" DEGRADED 10
	attr_is "$id" reserve_retry "$(resv_attr "$id" reserve_start)"
	wait_until 30 resv_is "$id" RUNNING 10
	sandbox restart server --hard
	wait_until 60 answers
	wait_until 60 resv_is "$id" RUNNING 10
	pbsnodes -r n3
	wait_until 60 resv_is "$id" RUNNING 5
	same records 1 "$(records "$id" B | wc -l)"
	wait_until 60 node_is n4 free
}
