#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Reservations against those who would have more than is theirs: jobs that change inside, words that look like fields of a
# record, resources that go away.
#
# needs modules/reservations

load helper

setup() { setup_sandbox --hosts 2 --ncpus 4; }

# A moment so many seconds from now, as -R and -E have it.
moment() { date -d "+$1 seconds" +%Y%m%d%H%M.%S; }

# rsub SECONDS [arguments]: by its owner, to begin in so many; its id.
rsub() { as "$OWNER" pbs_rsub -R "$(moment "$1")" -D 600 -I 60 "${@:2}" | cut -d' ' -f1; }


@test "a job inside cannot be altered to have for itself what its reservation shares" {
	local id job
	needs_root
	id=$(rsub 3600 -l select=1:ncpus=1)
	job=$(as "$OWNER" qsub -q "${id%.svr}" -- /bin/sleep 100)
	has "$(as "$OWNER" qalter -l place=excl "$job" 2>&1 || true)" 'job and reservation have conflicting specification'
	lacks "$(qstat -f "$job")" 'Resource_List.place = excl'
	as "$OWNER" qalter -l place=scatter:shared "$job"
}

@test "a value with blanks is one field of the record" {
	local id
	needs_root
	qmgr -c 'create resource words type=string'
	id=$(rsub 3 -l select=1:ncpus=1 -l words='"x end=1 nodes=(n9)"')
	wait_until 60 resv_is "$id" RUNNING
	has "$(cat "$SB"/server/server_priv/accounting/*)" ';B;.* Resource_List.words="x end=1 nodes=\(n9\)"'
}

@test "a resource that a reservation asks for is not deleted" {
	local id
	needs_root
	qmgr -c 'create resource tapes type=long,flag=hn'
	qmgr -c 'set node n1 resources_available.tapes = 2'
	id=$(rsub 3600 -l select=1:ncpus=1:tapes=1)
	has "$(qmgr -c 'delete resource tapes' 2>&1 || true)" 'Resource busy on '
	as "$OWNER" pbs_rdel "$id"
	qmgr -c 'delete resource tapes'
}
