#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# needs modules/client-relay
#
# Commands on every host: on a login node, on an execution host, in a job.

load helper

# in_job HOST COMMAND...: the words of a command that a job runs there, in $SB/words.
in_job()
{
	local host=$1 id
	shift
	id=$(submit -l "host=$host" -o /dev/null -e /dev/null -- /bin/sh -c ". $SB/$host/env; { $*; } >$(desk "$OWNER")/words 2>&1; echo \$? >$(desk "$OWNER")/status")
	wait_until 30 is_over "$id" || return
	cat "$(desk "$OWNER")/words"
	return "$(cat "$(desk "$OWNER")/status")"
}

cluster() { setup_sandbox "$@" && qmgr -c "set server job_history_enable = true"; }

reaches() { at "$1" "$OWNER" qstat -B >/dev/null; }
# fails_at HOST USER COMMAND...: it does, and not by hanging; its output is in $words.
fails_at() { local got=0; words=$(at "$1" "$2" timeout 60 "${@:3}" 2>&1) || got=$?; [ "$got" -ne 0 ] && [ "$got" -ne 124 ]; }

@test "administrator #1: a user works on a login node as on the server's host" {
	cluster --logins 1
	wait_until 20 reaches login1
	id=$(at login1 "$OWNER" qsub -N far -o /dev/null -e /dev/null -- /bin/sleep 1000)
	wait_until 20 job_is "$id" R
	same owner "$OWNER@login1" "$(job_attr "$id" Job_Owner)"
	same host login1 "$(job_attr "$id" Submit_Host)"
	held=$(at login1 "$OWNER" qsub -h -- /bin/true)
	has "$(job_attr "$held" Output_Path)" "^login1:"
	at login1 "$OWNER" qdel "$held"
	same listing "$(as "$OWNER" qstat -f "$id")" "$(at login1 "$OWNER" qstat -f "$id")"
	same nodes "$(as "$OWNER" pbsnodes -a)" "$(at login1 "$OWNER" pbsnodes -a)"
	at login1 "$OWNER" qhold -h u "$id"
	at login1 "$OWNER" qalter -N farther "$id"
	same name farther "$(job_attr "$id" Job_Name)"
	at login1 "$OWNER" qdel "$id"
	wait_until 20 is_over "$id"
	has "$(accounting)" "requestor=$OWNER@login1"
}

@test "administrator #1: a job submits another and looks at itself" {
	cluster --hosts 2
	says 0 '1' in_job n2 'qstat -f $PBS_JOBID | grep -c "^    job_state = R"'
	says 0 '' in_job n2 'qsub -N child -o /dev/null -e /dev/null -- /bin/true >/dev/null'
	child=$(qselect -x -N child)
	wait_until 20 is_over "$child"
	same owner "$OWNER@n2" "$(job_attr "$child" Job_Owner)"
	says 7 '' in_job n2 'qsub -W block=true -o /dev/null -e /dev/null -- /bin/sh -c "exit 7" >/dev/null'
}

@test "administrator #1: scripts of 16 MiB arrive whole, several at once, and others pass them" {
	cluster --logins 1
	wait_until 20 reaches login1
	desk=$(desk "$OWNER")
	{ echo 'cksum <"$0" >$PBS_O_WORKDIR/words'; head -c 12000000 /dev/urandom | base64 -w 1000 | sed 's/^/# /' | head -c 16700000; echo; } >"$desk/long.sh"
	for i in 1 2 3; do at login1 "$OWNER" qsub -h -N "long$i" -o /dev/null -e /dev/null long.sh >"$SB/id$i" & pids+=($!); done
	for i in {1..5}; do at login1 "$OWNER" qstat -B; done
	for pid in "${pids[@]}"; do wait "$pid"; done
	id=$(cat "$SB/id2")
	at login1 "$OWNER" qrls "$id"
	wait_until 60 is_over "$id"
	same checksum "$(cksum <"$desk/long.sh")" "$(cat "$desk/words")"
}

@test "administrator #1: a long listing is the same, and one that is not read holds up no other" {
	cluster --logins 1
	wait_until 20 reaches login1
	for i in {1..12}; do echo "qsub -h -J 1-250 -- /bin/true"; done | as "$OWNER" sh >/dev/null
	same lines 3012 "$(at login1 "$OWNER" qstat -tf | grep -c '^Job Id')"
	same listing "$(as "$OWNER" qstat -tf | cksum)" "$(at login1 "$OWNER" qstat -tf | cksum)"
	# Six that are not read: of all of them one process is to read, which sleeps.
	mkfifo -m 666 "$SB/full"
	sleep 1000 <"$SB/full" 3>&- & reader=$!
	for i in {1..6}; do at login1 "$OWNER" qstat -tf >"$SB/full" 2>/dev/null 3>&- & done
	for i in {1..4}; do same lines 3012 "$(at login1 "$OWNER" qstat -tf | grep -c '^Job Id')"; done
	id=$(at login1 "$OWNER" qsub -o /dev/null -e /dev/null -- /bin/true)
	wait_until 20 is_over "$id"
	kill "$reader" # and they get a SIGPIPE
}

@test "administrator #3: what a host may do is the server's to say" {
	cluster --logins 2 --set 'client-relay.submit=login1,n*' --set 'client-relay.look=login*'
	wait_until 20 reaches login2
	at login2 "$OWNER" qstat -B
	says 159 'qsub: Unauthorized Request host login2 may look and not change anything' at login2 "$OWNER" qsub -- /bin/true
	fails_at n1 "$OWNER" qstat
	has "$words" 'the server takes no requests from this host'
	wait_until 10 log_has 'Relay;n1;request of .*@n1 refused: client-relay.look does not name this host'
	id=$(at login1 "$OWNER" qsub -- /bin/sleep 1000)
	[ "$id" = "$(at login2 "$OWNER" qselect)" ]
	! at login2 "$OWNER" qdel "$id"
	at login1 "$OWNER" qdel "$id"
}

@test "administrator #3: root of a host is root of that host, and managers manage where they may" {
	needs_root
	cluster --logins 2 --set 'client-relay.manage=login1'
	wait_until 20 reaches login1
	wait_until 20 reaches login2
	qmgr -c 'set server acl_roots += root@login1'
	fails_at login1 root qmgr -c 'set server scheduling = false'
	has "$words" 'Unauthorized Request'
	qmgr -c 'set server managers += root@*'
	qmgr -c "set server managers += $OTHER@*"
	at login1 root qmgr -c 'set server scheduling = false'
	at login1 "$OTHER" qmgr -c 'set server scheduling = true'
	fails_at login2 "$OTHER" qmgr -c 'set server scheduling = false'
	has "$words" 'Unauthorized Request'
	log_has 'Reject reply code=15007.*from .*@login2'
	fails_at login2 root qsub -- /bin/true
	id=$(at login1 "$OWNER" qsub -h -- /bin/true)
	fails_at login2 root qdel "$id"
	at login1 root qdel "$id"
}

@test "administrator #4: without the server a line says so at once, and it works again by itself" {
	cluster --logins 1
	wait_until 20 reaches login1
	sandbox kill server
	wait_until 20 fails_at login1 "$OWNER" qstat
	same lines 1 "$(wc -l <<<"$words")"
	has "$words" 'cannot reach the server from this host: '
	fails_at login1 "$OWNER" qsub -- /bin/true
	has "$words" 'cannot reach the server from this host: '
	sandbox restart server
	wait_until 20 reaches login1
}

@test "administrator #4: a restart of the server or of the host's daemon is not noticed" {
	cluster --logins 1
	wait_until 20 reaches login1
	desk=$(desk "$OWNER")
	at login1 "$OWNER" qsub -W block=true -o /dev/null -e /dev/null -- /bin/sh -c "until test -e $desk/go; do sleep 0.1; done; exit 5" >"$SB/blocked" 2>&1 & blocked=$!
	wait_until 20 test -s "$SB/blocked"
	(while [ ! -e "$SB/enough" ]; do at login1 "$OWNER" qstat -B >/dev/null || exit; at login1 "$OWNER" qsub -h -- /bin/true >>"$SB/ids" || exit; done) 2>"$SB/errors" & loop=$!
	wait_until 20 test -s "$SB/ids"
	sandbox reload --disable mail
	sandbox reload --enable mail
	sandbox restart server
	sandbox restart login1
	wait_until 20 reaches login1
	n=$(wc -l <"$SB/ids")
	wait_until 20 eval '[ "$(wc -l <"$SB/ids")" -gt '$n' ]' || { cat "$SB/errors" >&2; kill -0 "$loop"; }
	: >"$SB/enough"
	wait "$loop"
	same errors '' "$(cat "$SB/errors")"
	same jobs "$(wc -l <"$SB/ids")" "$(sort -u "$SB/ids" | wc -l)"
	same jobs "$(wc -l <"$SB/ids")" "$(qselect -s H | wc -l)"
	: >"$desk/go"
	status=0; wait "$blocked" || status=$?
	same "exit status of the job" 5 "$status"
}

@test "administrator #5: without the module a sentence says so" {
	cluster --logins 1 --disable client-relay
	fails_at login1 "$OWNER" qstat
	has "$words" 'cannot reach the server from this host: none of the modules of its daemon carries requests there'
	fails_at login1 "$OWNER" qsub -- /bin/true
	has "$words" 'none of the modules of its daemon carries'
	qstat -B
}
