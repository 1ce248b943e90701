#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Why a reservation has no vnodes, and what became of an alteration, whatever happens to the server: what there is beside the
# reference.
#
# needs modules/reservations

load helper

setup() { setup_sandbox --hosts 2 --ncpus 2; }

# A moment so many seconds from now, as -R and -E have it.
moment() { date -d "+$1 seconds" +%Y%m%d%H%M.%S; }

# rsub [arguments]: by its owner, for the hour that begins in one; its id.
rsub() { as "$OWNER" pbs_rsub -R "$(moment 3600)" -D 3600 -I 60 "$@" | cut -d' ' -f1; }

explained() { has "$(keelson resv "$1")" "$2"; }
server_answers() { wait_until 60 answers; }

@test "keelson resv says what a reservation has, what is wrong with it, and when others are looked for" {
	local id
	needs_root
	qmgr -c 'set server reserve_retry_time = 3600'
	id=$(rsub -l select=2:ncpus=2)
	explained "$id" "^$id is confirmed, and has not begun \(state 2, substate 2\)\$"
	explained "${id%.svr}" '^time 1 of 1: .* to .*, \(n1:ncpus=2\)\+\(n2:ncpus=2\)$'
	pbsnodes -o n1
	wait_until 20 resv_is "$id" DEGRADED
	explained "$id" '^vnode n1 is unavailable: offline$'
	explained "$id" '^others are looked for on '
	says 1 'keelson: Unknown Reservation Id' keelson resv R99999
}

@test "why a reservation was denied is known after it is gone" {
	needs_root
	local id
	id=$(rsub -l select=1:ncpus=100)
	quietly pbs_rstat
	explained "$id" "^it was denied, and is gone: $id: .*ncpus"
}

@test "pbs_ralter -I that waits while the server is killed: the old values are back, and it says so" {
	local id end
	needs_root
	id=$(rsub -l select=1:ncpus=1)
	end=$(resv_attr "$id" reserve_end)
	qmgr -c 'set server scheduling = False'
	as "$OWNER" pbs_ralter -I 120 -D 7200 "$id" >"$SB/reply" 3>&- &
	wait_until 20 resv_is "$id" BEING_ALTERED
	sandbox restart server --hard
	wait $!
	server_answers
	same reply "pbs_ralter: $id DENIED" "$(<"$SB/reply")"
	wait_until 20 resv_is "$id" CONFIRMED
	same reserve_end "$end" "$(resv_attr "$id" reserve_end)"
}

@test "a reservation that waits for its decision while the server restarts is not denied because hosts are still to report" {
	local id
	needs_root
	qmgr -c 'set server scheduling = False'
	id=$(as "$OWNER" pbs_rsub -R "$(moment 3600)" -D 60 -l select=2:ncpus=2 | cut -d' ' -f1)
	sandbox restart server
	server_answers
	qmgr -c 'set server scheduling = True'
	wait_until 60 resv_is "$id" CONFIRMED
}
