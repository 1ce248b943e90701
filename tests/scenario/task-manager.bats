#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# needs modules/task-manager
#
# Tasks of a job, and processes from outside that become part of one: what their hosts did.

load helper

tools=$KEELSON_BUILD/tests/scenario/tools

# A job on one host whose chunks are two nodes: tasks need no other host.
one_host() { setup_sandbox --hosts 1 "$@" && qmgr -c 'set server job_history_enable = true'; }

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
	file=$(desk "$OWNER")/signalled
	id=$(as "$OWNER" qsub -l select=2:ncpus=1 -j oe -o "$file.out" -- /bin/sh -c "PATH=$KEELSON_BUILD/bin:\$PATH
		timeout -s TERM 1 pbsdsh /bin/sleep 3001 2>'$file'; echo \"exit \$?\" >>'$file'; pbsdsh -o /bin/sleep 3002; exec sleep 1000")
	wait_until 30 sleeps 3002
	sleeps_no_more 3001
	same killed 2 "$(grep -cE '^pbsdsh: killing task 0x[0-9A-F]{8} signal 15$' "$file")"
	has "$(cat "$file")" '^exit 124$'
	qdel "$id"
	wait_until 10 sleeps_no_more 3002
}

@test "task-manager: a process from outside is accounted and dies with its job" {
	one_host --set 'executor.usage_interval=1s'
	known_job
	socket=KEELSON_MOM_SOCKET=$SB/n1/run/mom.sock
	as "$OWNER" env "$socket" pbs_attach -j "$id" -s sh -c 'echo $$ >attached; i=0
		while [ ! -e stop ] && [ $((i += 1)) -lt 2000000 ]; do :; done; until [ -e stop ]; do sleep .1; done; exec /bin/sleep 3003' &
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
	says 255 '/no/such/command: No such file or directory' as_owner -j "$id" /no/such/command
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
	for file in "$SB"/n1/mom_priv/jobs/*.TK; do
		as "$OTHER" test -e "$file"
		run ! as "$OTHER" cat "$file"
	done
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

@test "task-manager: \$attach_allow of mom_priv/config goes before it" {
	needs_module mom-config
	one_host
	known_job
	attach_now() { as "$OWNER" env KEELSON_MOM_SOCKET="$SB/n1/run/mom.sock" pbs_attach -j "$id" true; }
	quietly attach_now
	echo '$attach_allow false' >>"$SB/n1/mom_priv/config"
	reload_host n1
	says 1 'pbs_attach: tm_attach: not implemented/supported (17004)' attach_now
	sed -i 's/false/true/' "$SB/n1/mom_priv/config"
	reload_host n1
	quietly attach_now
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

# ---- over three hosts --------------------------------------------------------------------------------------------

# Their vnodes: n1 has the first node number, n2 the second, n3 the third.
three_hosts()
{
	needs_module sisters
	setup_sandbox --hosts 3 "$@"
	qmgr -c 'set server job_history_enable = true'
}
over=(-l select=3:ncpus=1 -l place=scatter)
started_on() { mom_log "$1" | grep -c ";Job;$id;task [0-9A-F]* started, $2\$" || true; } # host, program

@test "multi-host #5: pbsdsh runs its program on one host, or on all" {
	three_hosts
	job 'pbsdsh -n 1 -- sh -c "echo one \$PBS_NODENUM"; pbsdsh -- env; pbsdsh -n 4 -- printenv PBS_NODENUM' "${over[@]}"
	has "$out" '^one 1$'
	for n in 0 1 2; do has "$out" "^PBS_NODENUM=$n\$"; done
	has "$out" '^1$' # 4 modulo 3
	same 'hosts of env' '1 1 1' "$(started_on n1 env) $(started_on n2 env) $(started_on n3 env)"
	same 'host of one' '0 1 0' "$(started_on n1 sh) $(started_on n2 sh) $(started_on n3 sh)"
	same 'host of 4' '0 1 0' "$(started_on n1 printenv) $(started_on n2 printenv) $(started_on n3 printenv)"
}

@test "multi-host #6: pbs_tmrsh runs a command on the host that it names, and returns its status" {
	three_hosts
	job 'pbs_tmrsh n3 sh -c "exit 7"; echo $?; pbs_tmrsh other ls; echo $?' "${over[@]}"
	same output $'7\npbs_tmrsh: host "other" is not a node in job <'"$id"$'>\n255' "$out"
	same where '0 0 1' "$(started_on n1 sh) $(started_on n2 sh) $(started_on n3 sh)"
}

@test "multi-host #7: a task on another host has the job's environment, and its own numbers" {
	three_hosts
	job 'pbsdsh -n 2 -- env' "${over[@]}" -v MINE=yes
	for line in PBS_NODENUM=2 'PBS_TASKNUM=[0-9A-F]{8}' "PBS_JOBID=$id" MINE=yes "USER=$OWNER" "PBS_NODEFILE=$SB/n3/aux/$id" \
		"KEELSON_MOM_SOCKET=$SB/n3/run/mom.sock"; do
		has "$out" "^$line\$"
	done
}

@test "multi-host: every call of the library reaches a task on another host" {
	three_hosts
	job 'tmclient calls' "${over[@]}"
	for line in 'me 1 parent 0 nodes 3' 'its end: 0 7' 'on the last node: 1' 'killed: 0 0 271' 'again: 0' 'tasks of node 0: 0 1 1'; do
		has "$out" "^$line\$"
	done
}

@test "multi-host: a program on a sister starts tasks on the primary and on the other sister" {
	three_hosts
	job "pbsdsh -n 1 -- $tools/tmclient spawn 6 /bin/true" "${over[@]}"
	has "$out" '^6 tasks, 0 failed, 0 ended with an error,'
	same where '2 2 2' "$(started_on n1 true) $(started_on n2 true) $(started_on n3 true)"
}

@test "multi-host: a thousand tasks over three hosts" {
	three_hosts
	job 'tmclient spawn 1000 /bin/true' "${over[@]}"
	has "$out" '^1000 tasks, 0 failed, 0 ended with an error,'
	same 'of n2' 333 "$(started_on n2 true)"
}

@test "multi-host: a process that is attached on a sister dies with the job" {
	three_hosts
	id=$(submit "${over[@]}")
	wait_until 20 job_is "$id" R 42
	as "$OWNER" env KEELSON_MOM_SOCKET="$SB/n2/run/mom.sock" pbs_attach -j "$id" -s /bin/sleep 3005 &
	wait_until 20 mom_attached n2
	sleeps 3005
	qdel "$id"
	wait_until 10 sleeps_no_more 3005
	wait
}
mom_attached() { mom_log "$1" | grep -q ";Job;$id;task [0-9A-F]* attached, pid = "; }

# ---- MPI ---------------------------------------------------------------------------------------------------------

# Each rank writes in which network it is, of which each host has its own, and what the sum of all ranks is. $mpi: mpich or openmpi
mpi_program()
{
	command -v "mpicc.$mpi" >/dev/null || skip "there is no $mpi here"
	printf '%s\n' '#include <mpi.h>' '#include <stdio.h>' '#include <unistd.h>' 'int main(int argc, char **argv) {' \
		'	int rank, size, sum; char net[99] = "";' '	MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);' \
		'	MPI_Comm_size(MPI_COMM_WORLD, &size); MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);' \
		'	if (readlink("/proc/self/ns/net", net, sizeof(net) - 1) < 0) return 1;' \
		'	printf("rank %d of %d sum %d in %s\n", rank, size, sum, net);' \
		'	MPI_Finalize(); return 0; }' >"$(desk "$OWNER")/ranks.c"
	"mpicc.$mpi" -o "$(desk "$OWNER")/ranks" "$(desk "$OWNER")/ranks.c"
	ranks=$(desk "$OWNER")/ranks
}
has_ranks()
{
	local n
	for n in 0 1 2; do has "$out" "^rank $n of 3 sum 3 in net:"; done
	same networks 3 "$(grep '^rank ' <<<"$out" | sed 's/.* in //' | sort -u | wc -l)"
}

@test "multi-host: MPICH over three hosts, started by pbs_tmrsh" {
	needs_root
	mpi=mpich
	mpi_program
	three_hosts --netns
	job "timeout 60 mpiexec.hydra -iface eth0 -rmk pbs -launcher ssh -launcher-exec $KEELSON_BUILD/bin/pbs_tmrsh $ranks" "${over[@]}"
	has_ranks
}

@test "multi-host: Open MPI over three hosts, started by pbs_tmrsh" {
	needs_root
	mpi=openmpi
	mpi_program
	three_hosts --netns
	job "timeout 60 mpiexec.openmpi -np 3 --map-by node --mca btl tcp,self --mca plm_rsh_agent $KEELSON_BUILD/bin/pbs_tmrsh --hostfile \$PBS_NODEFILE $ranks" "${over[@]}"
	has_ranks
}

@test "task-manager: server and mom in one daemon: the server's socket is for both" {
	make_users
	SB=$(mktemp -d "${TMPDIR:-/tmp}/keelson-story.XXXXXX")
	chmod 755 "$SB"
	mkdir -p "$SB/etc/modules.d" "$SB/tmp"
	chmod 1777 "$SB/tmp"
	cp -L "$top"/conf/modules.d/*.conf "$SB/etc/modules.d/"
	sed -i 's/enabled = true/enabled = false/' "$SB"/etc/modules.d/{link-tcp,mail}.conf
	printf '%s\n' 'roles = ["server", "mom"];' "home = \"$SB/home\";" "exec_dir = \"$KEELSON_BUILD\";" \
		"modules_dir = \"$KEELSON_BUILD/modules\";" 'server_name = "svr";' 'host_name = "n1";' >"$SB/etc/keelson.conf"
	printf '%s\n' "PBS_HOME=$SB/home" "PBS_EXEC=$KEELSON_BUILD" PBS_SERVER=svr >"$SB/pbs.conf"
	printf '%s\n' "export PBS_CONF_FILE='$SB/pbs.conf'" "export PATH='$KEELSON_BUILD/bin':\"\$PATH\"" >"$SB/env"
	. "$SB/env"
	"$KEELSON_BUILD/keelsond" --foreground --conf "$SB/etc/keelson.conf" --set "executor.tmpdir=$SB/tmp" >"$SB/log" 2>&1 3>&- &
	wait_until 20 test -S "$SB/home/run/server.sock"
	wait_until 20 qstat -B
	job 'echo $KEELSON_MOM_SOCKET; pbsdsh echo task'
	kill %1
	wait %1
	same output "$SB/home/run/server.sock"$'\ntask\ntask' "$out"
	rm -f "$SB/env"
}
