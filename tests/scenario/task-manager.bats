#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# needs modules/task-manager
#
# Tasks of a job, and processes from outside that become part of one: what their hosts did.

load helper

tools=$KEELSON_BUILD/tests/scenario/tools

# A job on one host whose chunks are two nodes: tasks need no other host.
one_host() { setup_sandbox --hosts 1 --set 'executor.kill_delay=1s' "$@"; }

# job SCRIPT [qsub arguments]: runs the text to its end; what it wrote is in $out, its id in $id.
job()
{
	local file
	file=$(mktemp "$(desk "$OWNER")/job.XXXXXX")
	{ echo "PATH=$KEELSON_BUILD/bin:$tools:\$PATH"; echo "$1"; } >"$file"
	chmod 755 "$file"
	shift
	id=$(submit_file "$file" "$@")
	wait_until 60 has_ended "$id"
	out=$(cat "$file.out")
}
submit_file() { local file=$1; shift; as "$OWNER" qsub -j oe -o "$file.out" -l select=2:ncpus=1 "$@" "$file"; }
has_ended() { [ -z "$(qselect 2>/dev/null | grep -x "$1")" ]; }
sleeps() { pgrep -f "^/bin/sleep $1\$" >/dev/null; }
sleeps_no_more() { ! sleeps "$1"; }
# A running job whose environment is known: in $id, and as words for env in ${of_job[@]}.
known_job()
{
	local file
	file=$(desk "$OWNER")/known
	id=$(as "$OWNER" qsub "$@" -- /bin/sh -c "env >'$file.new'; mv '$file.new' '$file'; exec sleep 1000")
	wait_until 20 test -e "$file"
	wait_until 20 job_is "$id" R 42
	mapfile -t of_job < <(grep -E '^(PBS|KEELSON)_' "$file")
	rm "$file"
}
within() { env "${of_job[@]}" "$@"; }

@test "task-manager: pbsdsh runs a program on each node, on some, or on one" {
	one_host
	job 'pbsdsh hostname; echo "exit $?"; pbsdsh -c 3 echo copy; pbsdsh -n 5 -- sh -c "echo node \$PBS_NODENUM task \$PBS_TASKNUM"
		pbsdsh -s -v -c 1 true; pbsdsh -h n1 echo by name; pbsdsh -c 0 echo none; pbsdsh echo a "b  c" "\$HOME" "*"'
	same hosts 2 "$(grep -c "^$(hostname)\$" <<<"$out")"
	has "$out" '^exit 0$'
	same copies 3 "$(grep -c '^copy$' <<<"$out")"
	has "$out" '^node 0 task [0-9A-F]{8}$'
	has "$out" '^pbsdsh: spawned task 0x00000000 on logical node 0 event 2$'
	has "$out" '^pbsdsh: waiting on 1 spawned and 0 obits$'
	has "$out" '^pbsdsh: task 0x00000000 exit status 0$'
	has "$out" '^by name$'
	lacks "$out" '^none$'
	same words 2 "$(grep -cF 'a b  c $HOME *' <<<"$out")"
}

@test "task-manager: a task that fails is named, a program that is missing too; pbsdsh ends with 0 all the same" {
	one_host
	job 'pbsdsh -n 1 -- sh -c "exit 3"; echo "exit $?"; pbsdsh -n 0 nosuchprogram; pbsdsh -n 0 -- sh -c "kill -9 \$\$"'
	has "$out" '^pbsdsh: task 0x00000000 exit status 3$'
	has "$out" '^exit 0$'
	has "$out" '^nosuchprogram: No such file or directory$'
	has "$out" '^pbsdsh: task 0x00000000 exit status 254$'
	has "$out" '^pbsdsh: task 0x00000000 exit status 265$'
}

@test "task-manager: tasks have the job's environment, user, limits and directory" {
	one_host
	job 'pwd; ulimit -n 500; pbsdsh -n 1 -- sh -c "env; pwd; id -un; umask" >/dev/null; echo wrong >&2' -v MINE=yes
	for line in MINE=yes "PBS_JOBID=$id" PBS_TASKNUM=00000002 PBS_NODENUM=0 "USER=$OWNER" "LOGNAME=$OWNER" PBS_ENVIRONMENT=PBS_BATCH; do
		has "$out" "^$line\$"
	done
	has "$out" "^$OWNER\$"
	has "$out" '^0?077$'
	same directory 2 "$(grep -c "^$(eval echo ~"$OWNER")\$" <<<"$out")"
}

@test "task-manager: pbs_tmrsh returns what the program returned, and says what is wrong" {
	one_host
	job "pbs_tmrsh n1 sh -c 'exit 7'; echo seven \$?
		pbs_tmrsh n1 'echo words; exit 6'; echo six \$?
		pbs_tmrsh other ls; echo other \$?
		pbs_tmrsh -l nosuchuser n1 ls; echo user \$?
		pbs_tmrsh -n n1 -l $OWNER true; echo mine \$?
		pbs_tmrsh n1; echo usage \$?
		(unset PBS_NODEFILE; pbs_tmrsh n1 true; echo nodefile \$?)
		(unset PBS_JOBID; pbs_tmrsh n1 true; echo jobid \$?)
		(PBS_JOBCOOKIE=1234 pbs_tmrsh n1 true; echo cookie \$?)
		(PBS_TASKNUM=99 pbs_tmrsh n1 true; echo task \$?)
		(printf 'n2\nn2\nn3\n' >nf; PBS_NODEFILE=nf pbs_tmrsh n3 true; echo long \$?)"
	for line in 'seven 7' words 'six 6' "pbs_tmrsh: host \"other\" is not a node in job <$id>" 'other 255' \
		'pbs_tmrsh: bad user "nosuchuser"' 'user 255' 'mine 0' \
		'usage: pbs_tmrsh \[-n\]\[-l username\] host \[-n\]\[-l username\] command' 'usage 255' \
		'pbs_tmrsh: cannot find PBS_NODEFILE' 'nodefile 255' 'pbs_tmrsh: PBS jobid not in environment' 'jobid 255' \
		'pbs_tmrsh: tm_init: not connected \(17002\)' 'cookie 255' 'pbs_tmrsh: tm_init: no matching job found \(17006\)' 'task 255' \
		'pbs_tmrsh: PBS_NODEFILE contains 3 entries, only 2 nodes in job' 'long 255'; do
		has "$out" "^$line\$"
	done
}

@test "multi-host #8: outside a job the tools say so" {
	one_host
	says 1 'pbsdsh: not executing under PBS' pbsdsh -- ls
	says 255 'pbs_tmrsh: not executing under PBS' pbs_tmrsh n1 ls
	says 1 'pbsdsh: tm_init failed, rc = bad environment (17005) (17005)' env PBS_ENVIRONMENT=PBS_BATCH pbsdsh ls
	known_job
	says 1 'pbsdsh: tm_init failed, rc = system error - MOM cannot be contacted (17000) (17000)' \
		within env KEELSON_MOM_SOCKET=/nonexistent pbsdsh ls
}

@test "task-manager: every call of the library" {
	one_host
	job 'tmclient calls'
	expected='me 1 parent 0 nodes 2
twice: 17007
nodes 2, first 0, behind the last -1
nothing outstanding: 17006
poll of an event: 17004
empty: 17006 17006
unknown task: 17006 17006 17006
spawned: 0
its end: 0 7
on the last node: 1
sleeps: 0
not yet: 0 0
killed: 0 0 271
again: 0
no such node: 17006
tasks of node 0: 0 3 1
resources: 0 :ncpus=2
published: 0
subscribed: 0 10 some
no such value: 17006
not implemented: 17004 17004
ended: 17007'
	same calls "$expected" "$out"
}

@test "task-manager: a task of a task knows its parent" {
	one_host
	job "pbsdsh -n 0 $tools/tmclient calls"
	has "$out" '^me 2 parent 1 nodes 2$'
}

@test "task-manager: a signal to pbsdsh ends its tasks, and so does the end of the job" {
	one_host
	job 'timeout -s TERM 1 pbsdsh /bin/sleep 3001; echo "exit $?"; sleep 3001 & pbsdsh -o /bin/sleep 3002; wait'\
' -n; pgrep -fc "^/bin/sleep 3002" ' -v X=1 &
	wait_until 20 sleeps 3002
	has "$(cat "$(desk "$OWNER")"/job.*.out "$SB"/n1/spool/*.OU 2>/dev/null)" '^pbsdsh: killing task 0x[0-9A-F]{8} signal 15$'
	sleeps_no_more 3001 || pgrep -fa 3001
	qdel "$(qselect)"
	wait $!
	wait_until 10 sleeps_no_more 3002
}

@test "task-manager: a process from outside is accounted and dies with its job" {
	one_host --set 'executor.usage_interval=1s'
	known_job
	socket=KEELSON_MOM_SOCKET=$SB/n1/run/mom.sock
	as "$OWNER" env "$socket" pbs_attach -j "$id" -s sh -c 'echo $$ >attached; while [ ! -e stop ]; do :; done; exec /bin/sleep 3003' &
	attached=$(desk "$OWNER")/attached
	wait_until 20 test -s "$attached"
	wait_until 30 uses_time "$id"
	touch "$(desk "$OWNER")/stop"
	wait_until 20 sleeps 3003
	qsig -s suspend "$id"
	wait_until 10 is_stopped "$(cat "$attached")"
	qsig -s resume "$id"
	wait_until 10 is_going "$(cat "$attached")"
	qdel "$id"
	wait_until 10 sleeps_no_more 3003
	wait
}
uses_time() { [[ $(job_attr "$1" resources_used.cput) > 00:00:00 ]]; }

@test "task-manager: pbs_attach returns what its program returned, and says what is wrong" {
	one_host
	known_job
	export KEELSON_MOM_SOCKET=$SB/n1/run/mom.sock
	as_owner() { as "$OWNER" env KEELSON_MOM_SOCKET="$KEELSON_MOM_SOCKET" pbs_attach "$@"; }
	says 5 in as_owner -j "$id" -s sh -c 'echo in; exit 5'
	says 6 '' as_owner -s sh -c 'exit 6' # the only job
	says 255 'nosuchcommand: No such file or directory' as_owner -j "$id" nosuchcommand
	says 1 'pbs_attach: tm_attach: process does not exist (17011)' as_owner -j "$id" -p 4000000
	says 1 'pbs_attach: tm_attach: no matching job found (17006)' as_owner -j 4711.svr true
	has "$(as_owner -j "$id" -p abc 2>&1)" '^bad pid: abc$'
	says 2 'must specify pid or command
usage: pbs_attach [-j jobid] [-m port] -p pid
usage: pbs_attach [-j jobid] [-m port] [-P] [-s] cmd [arg1 ...]
usage: pbs_attach --version' as_owner
}

@test "task-manager: another user, a wrong cookie, another's process, a job of another: each is refused and logged" {
	needs_root
	one_host
	known_job
	export KEELSON_MOM_SOCKET=$SB/n1/run/mom.sock
	sent=("${of_job[@]}")
	says 1 'pbsdsh: tm_init failed, rc = not connected (17002) (17002)' as "$OTHER" env "${sent[@]}" pbsdsh true
	says 1 'pbsdsh: tm_init failed, rc = not connected (17002) (17002)' env "${sent[@]}" pbsdsh true # root
	says 1 'pbsdsh: tm_init failed, rc = not connected (17002) (17002)' as "$OWNER" env "${sent[@]}" PBS_JOBCOOKIE=00 pbsdsh true
	says 1 'pbs_attach: tm_attach: user not permitted to attach (17009)' \
		as "$OTHER" env KEELSON_MOM_SOCKET="$KEELSON_MOM_SOCKET" pbs_attach -j "$id" true
	says 1 'pbs_attach: tm_attach: process owner does not match job (17010)' \
		as "$OWNER" env KEELSON_MOM_SOCKET="$KEELSON_MOM_SOCKET" pbs_attach -j "$id" -p $$
	has "$(mom_log n1)" ";0020;pbs_mom;Job;$id;tasks refused to $OTHER@n1: another user's job$"
	has "$(mom_log n1)" ";0020;pbs_mom;Job;$id;tasks refused to $OWNER@n1: wrong cookie$"
	# Private files stay private.
	! as "$OTHER" cat "$SB"/n1/mom_priv/jobs/*
	quietly as "$OWNER" env "${sent[@]}" pbsdsh true
}

@test "task-manager: a program that asks for too much is refused, and the next one is served" {
	one_host
	job 'tmclient flood; pbsdsh -n 0 echo served'
	same flood $'3616 refused, then 0\nserved' "$out"
}

@test "task-manager: attach = false refuses processes from outside" {
	one_host --set 'task-manager.attach=false'
	known_job
	says 1 'pbs_attach: tm_attach: not implemented/supported (17004)' \
		as "$OWNER" env KEELSON_MOM_SOCKET="$SB/n1/run/mom.sock" pbs_attach -j "$id" true
}

@test "task-manager: a mom that is killed and comes again: the end of a task is waited for on, no task is lost" {
	one_host
	gate=$(desk "$OWNER")/gate
	job "tmclient wait $gate" &
	wait_until 20 program_waits
	sandbox restart n1 --hard
	touch "$gate"
	wait $!
	has "$(cat "$(desk "$OWNER")"/job.*.out)" '^over: 0 9$'
}
program_waits() { grep -qx waiting "$SB"/n1/spool/*.OU "$(desk "$OWNER")"/job.*.out; }

@test "task-manager: server and mom in one daemon: the server's socket is for both" {
	one_host
	sandbox stop
	# shellcheck disable=SC2016
	sed -i 's/roles = .*/roles = ["server", "mom"];/' "$SB/server/etc/keelson.conf"
	sandbox_one
}
