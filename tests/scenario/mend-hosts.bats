#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Hosts that are gone, and hosts that do not answer though their link is up: what becomes of the jobs there, with
# a restart of the server or a reload in between.

load helper
load shared

setup_file() { open_cluster --hosts 3; }

node_has() { node_is "$1" "$2"; }
alive() { [ -d "/proc/$1" ]; }
requeue_after() { qmgr -c "set server node_fail_requeue = $1"; undo qmgr -c 'unset server node_fail_requeue'; }
reported() { has "$(server_log)" "$1"; }
on() { local host=$1; shift; running -l select=1:ncpus=1:host="$host" "$@"; }

@test "mend A3: node_fail_requeue counts on over a restart of the server, and for a host that died meanwhile" {
	requeue_after 8
	a=$(on n2) b=$(on n3)
	pid_a=$(session_of "$a") pid_b=$(session_of "$b")
	kill_mom n2
	wait_until 10 is_down n2
	lost=$SECONDS
	sandbox kill server
	kill_mom n3
	sandbox restart server --hard
	wait_until 12 job_is "$a" Q
	[ $((SECONDS - lost)) -lt 20 ] || wait_until 0 false
	wait_until 12 job_is "$b" Q
	alive "$pid_a" && alive "$pid_b"
	reported "$a;Job requeued, execution node n2 down"
	sandbox restart n2
	sandbox restart n3
	wait_until 10 dead "$pid_a"
	wait_until 10 dead "$pid_b"
	wait_until 20 job_is "$a" R 42
	same runs 2 "$(job_attr "$a" run_count)"
	alive "$(session_of "$a")"
}

@test "mend A3: node_fail_requeue counts on over a reload of jobs" {
	requeue_after 5
	a=$(on n2)
	pid=$(session_of "$a")
	kill_mom n2
	wait_until 10 is_down n2
	keelson reload jobs
	wait_until 12 job_is "$a" Q
	alive "$pid"
	sandbox restart n2
	wait_until 10 dead "$pid"
}

@test "mend A6: a job that was only sent when its host died is queued again, -r n too" {
	requeue_after 1
	undo sandbox restart n3
	undo qmgr -c 'set server scheduling = true'
	qmgr -c 'set server scheduling = false'
	a=$(submit -r n -l select=1:ncpus=1:host=n3)
	b=$(submit -J 1-2 -r y -l select=1:ncpus=1:host=n3)
	kill -STOP "$(mom_of n3)" # its link is given up after 2 s
	qmgr -c 'set server scheduling = true'
	wait_until 10 job_is "$a" R 41
	wait_until 10 job_is "${b/\[\]/[1]}" R 41
	kill -KILL "$(mom_of n3)"
	wait_until 15 job_is "$a" Q
	wait_until 15 job_is "${b/\[\]/[1]}" Q
	reported "$a;Job never started, execution node n3 down"
	sandbox restart n3
	wait_until 20 job_is "$a" R 42
	alive "$(session_of "$a")"
}

@test "mend D12: qdel right after a restart of the server waits for the host to dial again" {
	id=$(running -- /bin/sleep 600)
	session=$(session_of "$id")
	sandbox kill server
	sandbox restart server
	quietly qdel "$id"
	gone() { [ -z "$(ps -o pid= -s "$session")" ]; }
	wait_until 20 gone
}

@test "mend D12: qdel of a job whose host is away says so, and changes nothing" {
	a=$(on n2)
	b=$(submit -J 1-2 -l select=1:ncpus=1:host=n2)
	wait_until 20 job_is "${b/\[\]/[2]}" R 42
	pid=$(session_of "$a") sub=$(session_of "${b/\[\]/[2]}")
	kill_mom n2
	wait_until 10 is_down n2
	says 222 "qdel: Server could not connect to MOM $a" qdel "$a"
	says 222 "qdel: Server could not connect to MOM $b" qdel "$b"
	says 222 "qdel: Server could not connect to MOM $a
qdel: Server could not connect to MOM ${b/\[\]/[1]}" qdel "$a" "${b/\[\]/[1]}"
	job_is "$a" R 42
	alive "$pid" && alive "$sub"
	lacks "$(accounting)" ";D;$a;"
	requeue_after 1
	sandbox restart n2
	wait_until 20 node_has n2 free
	job_is "$a" R 42
	alive "$pid"
	kill_mom n2
	wait_until 15 job_is "$a" Q
	quietly qdel -W force "$a"
	job_is "$a" F
	sandbox restart n2
	wait_until 10 dead "$pid"
}

@test "mend D12: an array of which a subjob could not be deleted goes on: with node_fail_requeue that one is queued again" {
	a=$(submit -J 1-2 -l select=1:ncpus=1:host=n2)
	wait_until 20 job_is "${a/\[\]/[2]}" R 42
	requeue_after 6
	kill_mom n2
	wait_until 10 is_down n2
	says 222 "qdel: Server could not connect to MOM $a" qdel "$a"
	wait_until 15 job_is "${a/\[\]/[1]}" Q
	sandbox restart n2
	wait_until 20 job_is "${a/\[\]/[2]}" R 42
	job_is "$a" B
	alive "$(session_of "${a/\[\]/[1]}")"
	quietly qdel "$a"
	wait_until 20 job_is "$a" F
}

@test "mend D12: qdel of an array that fails because a host is away deletes nothing that waits, and records nothing of it" {
	local a more
	a=$(submit -J 1-3%1 -l select=1:ncpus=1:host=n2)
	deletions() { accounting | grep -o ";D;${a%%[*}\[[^;]*" | sed 's/;D;//' | sort | xargs; }
	wait_until 20 job_is "${a/\[\]/[1]}" R 42
	requeue_after 0
	kill_mom n2
	wait_until 10 is_down n2
	for more in "$a" "${a/\[\]/[1-3]}"; do
		says 222 "qdel: Server could not connect to MOM $more" qdel "$more"
		job_is "$a" B
		job_is "${a/\[\]/[2]}" Q
		job_is "${a/\[\]/[3]}" Q
	done
	same deletions '' "$(deletions)"
	lacks "$(server_log)" ";${a%%[*}\[.*Job to be deleted"
	quietly qdel "${a/\[\]/[3]}" # it waits
	sandbox restart n2
	wait_until 20 node_has n2 free
	wait_until 20 quietly qdel "$a"
	wait_until 20 job_is "$a" F
	same deletions "${a/\[\]/[1]} ${a/\[\]/[3]} $a" "$(deletions)"
}

# ---- a host whose link is up ---------------------------------------------------------------------------------

# hangs HOST COMMAND...: HOST does nothing while the command runs; its link does not break for so short a time.
hangs()
{
	local mom rc=0
	mom=$(mom_of "$1")
	shift
	kill -STOP "$mom"
	"$@" || rc=$?
	kill -CONT "$mom"
	return $rc
}
resumed_in_vain() { qsig -s resume "$1" && wait_until 5 refusals "$1" 2; }
refusals() { [ "$(server_log | grep -c "$1;host n1 has not answered for 1 s")" -ge "$2" ]; }
lates() { [ "$(server_log | grep -c "$1;late answer of host n1")" -ge "$2" ]; }
no_answer() { echo "Host n1 is connected but has not answered for 1 s; the job is left as it was: $1"; }

@test "mend C4: what a hanging host is asked fails in time, and what it does late is put right" {
	conf=$SB/server/etc/modules.d/executor.conf
	cp "$conf" "$BATS_TEST_TMPDIR/executor.conf"
	undo keelson reload
	undo cp "$BATS_TEST_TMPDIR/executor.conf" "$conf"
	echo 'executor: { answer_within = "1s"; };' >"$conf"
	keelson reload || true # this one's settings
	a=$(on n1)
	hangs n1 says 222 "qsig: $(no_answer "$a")" timeout 20 qsig -s suspend "$a"
	wait_until 10 lates "$a" 1
	wait_until 10 going "$a"
	job_is "$a" R 42
	same 'what it has' 1 "$(node_attr n1 resources_assigned.ncpus)"
	qsig -s suspend "$a"
	stopped "$a"
	hangs n1 resumed_in_vain "$a" # the scheduler's, which tries again
	wait_until 10 lates "$a" 2
	wait_until 10 stopped "$a"
	same 'what it has' 0 "$(node_attr n1 resources_assigned.ncpus)"
	wait_until 20 job_is "$a" R 42
	wait_until 10 going "$a"
	same 'what it has' 1 "$(node_attr n1 resources_assigned.ncpus)"
	hangs n1 says 222 "qsig: $(no_answer "$a")" timeout 20 qsig -s CONT "$a"
	hangs n1 says 222 "qmsg: $(no_answer "$a")" timeout 20 qmsg hello "$a"
	hangs n1 says 222 "qdel: $(no_answer "$a")" timeout 20 qdel "$a"
	ends "$a" # late, but it has got there
	same status 271 "$(job_attr "$a" Exit_status)"
	same jobs '' "$(node_attr n1 jobs)"
}
