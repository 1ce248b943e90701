#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What becomes of a job while it runs: changes that have to reach its host, requests that do not wait for ever,
# scripts as long as they may be, what is used over restarts.

load helper
load shared

setup_file() { open_cluster --set 'executor.usage_interval=1s'; }
teardown_file() { close_cluster; }
setup() { join_cluster; }

alive() { kill -0 "$1" 2>/dev/null; }
dead() { ! alive "$1"; }
running_for() { [ "$(ps -o etimes= -p "$1" | tr -d ' ')" -ge "$2" ]; }
mom_pid() { cat "$SB/n1/mom_priv/mom.lock"; }

# ---- qrerun and qdel that would wait -----------------------------------------------------------------------

@test "mend A13: qrerun answers after job_requeue_timeout; the job ends and is queued again all the same" {
	undo qmgr -c 'unset server job_requeue_timeout'
	qmgr -c 'set server job_requeue_timeout = 1'
	id=$(running)
	session=$(session_of "$id")
	mom=$(mom_pid)
	kill -STOP "$mom" # it answers nothing for a while
	undo kill -CONT "$mom"
	says 163 "qrerun: Response timed out. Job rerun request still in progress for $id" timeout 20 qrerun "$id"
	alive "$session"
	kill -CONT "$mom"
	wait_until 20 dead "$session"
	again() { [ "$(job_attr "$id" run_count)" = 2 ] && job_is "$id" R 42; }
	wait_until 30 again
	for seconds in 0 10801; do # past modules/manager/server.c REQUEUE_TIMEOUT_MAX
		run qmgr -c "set server job_requeue_timeout = $seconds"
		[ "$status" -ne 0 ]
	done
}

@test "mend A13: qdel of a job that a module keeps at task_launch ends the hold and the job at once" {
	needs_root
	undo eval 'rm -f "$SB/n1/etc/modules.d/stall.conf"; keelson reload -H n1 >/dev/null'
	echo "stall: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/stall.so\"; };" \
		>"$SB/n1/etc/modules.d/stall.conf"
	keelson reload -H n1 >/dev/null
	held() { keelson holds -H n1 | grep -q "^$1 .*preparing the task"; }
	id=$(submit)
	wait_until 20 held "$id"
	job_is "$id" R 41
	as "$OWNER" qdel "$id"
	wait_until 5 is_over "$id"
	! held "$id"
	has "$(mom_log n1)" 'fixture stall cancelled: 3'
	[ ! -e "$SB/n1/mom_priv/jobs/$id.TK" ]
	# By force, too: the host keeps nothing of it.
	id=$(submit)
	wait_until 20 held "$id"
	qdel -W force "$id"
	not_held() { ! held "$1"; }
	wait_until 5 not_held "$id"
}
