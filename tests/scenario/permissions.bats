#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Who may do what: owners, others, operators, managers, root.

load helper
load shared

setup()
{
	needs_root
	join_cluster
}
teardown() { [ -z "${undone-}" ] || { [ -n "${BATS_TEST_COMPLETED-}" ] || show_state; undo_all; clear_jobs; }; }
clear_jobs() { qselect | xargs -r qdel -W force; wait_until 10 no_jobs; }

denied() # user, command, job
{
	local user=$1 cmd=$2 job=$3
	shift 3
	says 159 "$cmd: Unauthorized Request  $job" as "$user" "$cmd" "$@" "$job"
}

@test "permissions: others touch no job" {
	r=$(running) q=$(submit -h)
	denied "$OTHER" qdel "$r"
	denied "$OTHER" qdel "$q" -W force
	denied "$OTHER" qsig "$r"
	denied "$OTHER" qsig "$r" -s CONT
	denied "$OTHER" qsig "$r" -s suspend
	denied "$OTHER" qsig "$r" -s resume
	denied "$OTHER" qalter "$q" -p 1
	denied "$OTHER" qalter "$q" -W comment=c
	denied "$OTHER" qalter "$r" -l walltime=99
	denied "$OTHER" qhold "$q"
	denied "$OTHER" qhold "$q" -h s
	denied "$OTHER" qrls "$q"
	denied "$OTHER" qrerun "$r"
	says 2 "qrun: Unauthorized Request  $q" as "$OTHER" qrun "$q"
	job_is "$r" R 42
	job_is "$q" H 20
}

@test "permissions: owners rule their jobs, not the system's side of them" {
	r=$(running) q=$(submit -h)
	quietly as "$OWNER" qsig -s CONT "$r"
	quietly as "$OWNER" qalter -p 1 "$q"
	quietly as "$OWNER" qrls "$q"
	quietly as "$OWNER" qhold "$q"
	denied "$OWNER" qsig "$r" -s suspend
	denied "$OWNER" qsig "$r" -s resume
	denied "$OWNER" qhold "$q" -h s
	denied "$OWNER" qhold "$q" -h o
	denied "$OWNER" qrls "$q" -h s
	qhold -h os "$q"
	denied "$OWNER" qalter "$q" -W Hold_Types=
	denied "$OWNER" qalter "$q" -h n
	same holds sou "$(job_attr "$q" Hold_Types)"
	denied "$OWNER" qrerun "$r"
	says 2 "qrun: Unauthorized Request  $q" as "$OWNER" qrun "$q"
	quietly as "$OWNER" qdel "$q"
	quietly as "$OWNER" qdel "$r"
	ends "$r"
}

@test "permissions: operators work with everybody's jobs" {
	r=$(running) q=$(submit -h)
	quietly as "$OPERATOR" qsig -s suspend "$r"
	quietly as "$OPERATOR" qsig -s resume "$r"
	quietly as "$OPERATOR" qalter -p 1 "$q"
	quietly as "$OPERATOR" qalter -W comment=c "$q"
	quietly as "$OPERATOR" qhold -h o "$q"
	quietly as "$OPERATOR" qrls -h o "$q"
	denied "$OPERATOR" qhold "$q" -h s
	wait_until 10 job_is "$r" R 42
	quietly as "$OPERATOR" qalter -l walltime=999999 "$r"
	quietly as "$OPERATOR" qrerun "$r"
	quietly as "$OPERATOR" qdel "$q"
}

@test "permissions: managers set system holds" {
	q=$(submit -h)
	quietly as "$MANAGER" qhold -h s "$q"
	same holds su "$(job_attr "$q" Hold_Types)"
	quietly as "$MANAGER" qrls -h s "$q"
	quietly as "$MANAGER" qdel "$q"
}

@test "permissions: root on the server's host is manager" {
	q=$(submit -h)
	quietly qhold -h s "$q"
	quietly qrls -h us "$q"
	quietly qmgr -c 'create queue rootq'
	quietly qmgr -c 'delete queue rootq'
}

@test "permissions: rights come and go with the lists" {
	q=$(submit -h)
	denied "$OTHER" qalter "$q" -p 1
	qmgr -c "set server operators += $OTHER@*"
	undo qmgr -c "set server operators -= $OTHER@*"
	quietly as "$OTHER" qalter -p 1 "$q"
	qmgr -c "set server operators -= $OTHER@*"
	denied "$OTHER" qalter "$q" -p 2
}

@test "permissions: everybody looks" {
	id=$(running)
	has "$(as "$OTHER" qstat)" "^$id"
	has "$(as "$OTHER" qstat -f "$id")" "Job_Owner = $OWNER@"
	has "$(as "$OTHER" pbsnodes -a)" '^n1$'
	has "$(as "$OTHER" qmgr -c 'list server')" '^Server svr'
	lacks "$(as "$OWNER" pbsnodes -a)" 'Port = |pbs_version = |maintenance_jobs'
	has "$(as "$OPERATOR" pbsnodes -a)" '^     pbs_version = '
}

@test "permissions: the server's user list" {
	qmgr -c "set server acl_user_enable=True,acl_users=$OWNER@*"
	undo qmgr -c 'unset server acl_user_enable,acl_users'
	submit -h
	found=$(as "$OTHER" qsub -- /bin/true 2>&1) && false
	has "$found" '^qsub: Unauthorized Request $'
}

@test "permissions: a queue's user list" {
	qmgr -c "set queue workq acl_user_enable=True,acl_users=$OWNER"
	undo qmgr -c 'unset queue workq acl_user_enable,acl_users'
	submit -h
	says 159 'qsub: Unauthorized Request ' as "$OTHER" qsub -- /bin/true
}

@test "permissions: jobs run as their owner, with nobody's rights" {
	id=$(shell 'id -u; cat /etc/shadow; id -G' -j oe -o "$(here who.out)")
	ends "$id"
	found=$(cat "$(here who.out)")
	same user "$(id -u "$OWNER")" "$(head -n 1 <<<"$found")"
	has "$found" 'Permission denied'
	same groups "$(id -G "$OWNER")" "$(tail -n 1 <<<"$found")"
}

@test "permissions: nobody reads another's script or output while it runs" {
	id=$(shell 'echo secret; sleep 1000')
	wait_until 20 job_is "$id" R 42
	wait_until 10 test -s "$SB/n1/spool/$id.OU"
	for file in "$SB/n1/spool/$id.OU" "$SB"/n1/mom_priv/jobs/*; do
		[ -z "$(as "$OTHER" cat "$file" 2>/dev/null)" ] || { echo "$OTHER reads $file" >&2; false; }
	done
}

@test "permissions: private folders are private" {
	for file in server/datastore server/server_priv server/keys/$(hostname).key n1/mom_priv/jobs n1/keys/n1.key; do
		[ -z "$(as "$OTHER" bash -c 'ls -A "$1" 2>/dev/null && cat "$1" 2>/dev/null' - "$SB/$file" |
			grep -v "^$SB")" ] || { echo "$OTHER looks into $file" >&2; false; }
	done
}
