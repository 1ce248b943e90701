#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The init script: starts what pbs.conf says, and stops it in order.

load helper

script=$top/sdk/init/keelson

# scratch SERVER MOM: an installation of its own, with PBS_START_SERVER and PBS_START_MOM as given.
scratch()
{
	make_users
	SB=$(mktemp -d "${TMPDIR:-/tmp}/keelson-story.XXXXXX")
	chmod 755 "$SB"
	state_shown=$BATS_TEST_TMPDIR/state-shown
	mkdir -p "$SB/exec/sbin" "$SB/etc/modules.d"
	cp "$top"/conf/modules.d/*.conf "$SB/etc/modules.d/"
	cat >"$SB/exec/sbin/keelsond" <<-END
		#!/bin/sh
		exec '$KEELSON_BUILD/keelsond' --conf '$SB/etc/keelson.conf' "\$@"
	END
	chmod 755 "$SB/exec/sbin/keelsond"
	cat >"$SB/etc/keelson.conf" <<-END
		roles = ["server", "mom"];
		exec_dir = "$KEELSON_BUILD";
		modules_dir = "$KEELSON_BUILD/modules";
		server_name = "svr";
		host_name = "n1";
	END
	starts "$1" "$2"
	cat >"$SB/env" <<-END
		export PBS_CONF_FILE='$SB/pbs.conf'
		export PATH='$KEELSON_BUILD/bin':"\$PATH"
		unset PBS_SERVER PBS_DEFAULT PBS_HOME PBS_EXEC
	END
	. "$SB/env"
}

starts()
{
	cat >"$SB/pbs.conf" <<-END
		PBS_EXEC=$SB/exec
		PBS_HOME=$SB/home
		PBS_SERVER=svr
		PBS_START_SERVER=$1
		PBS_START_SCHED=$1
		PBS_START_MOM=$2
		PBS_START_COMM=0
	END
}

init() { sh "$script" "$@" 3>&-; }
pid_in() { head -n 1 "$SB/home/$1"; }
node_up() { pbsnodes -a | grep -q 'state = free'; }

teardown()
{
	[ -n "${SB-}" ] || return 0
	starts 1 1
	init stop >/dev/null 2>&1 || true
	rm -rf "$SB"
}

@test "init: start, status, a job, stop" {
	scratch 1 1
	says 0 'keelson: server and mom started' init start
	pid=$(pid_in server_priv/server.lock)
	same 'one process' "$pid" "$(pid_in mom_priv/mom.lock)"
	alive "$pid"
	says 0 "keelson server is pid $pid
keelson mom is pid $pid" init status
	wait_until 20 node_up
	qmgr -c 'set server job_history_enable = true'
	id=$(submit -- /bin/true)
	over() { job_is "$id" F; }
	wait_until 20 over
	found=$(init stop)
	has "$found" '^keelson: mom stopped$'
	gone() { ! alive "$pid"; }
	wait_until 10 gone
	says 3 'keelson server is not running
keelson mom is not running' init status
}

@test "init: starting twice starts once" {
	scratch 1 1
	init start
	pid=$(pid_in server_priv/server.lock)
	says 0 "keelson: server is running already, pid $pid
keelson: mom is running already, pid $pid" init start
}

@test "init: PBS_START_MOM=0 starts a server alone" {
	scratch 1 0
	says 0 'keelson: server started' init start
	pid=$(pid_in server_priv/server.lock)
	[ ! -s "$SB/home/mom_priv/mom.lock" ]
	says 0 "keelson server is pid $pid" init status
	has "$(qstat -B)" '^svr '
}

@test "init: nothing to start" {
	scratch 0 0
	found=$(init start)
	has "$found" 'starts nothing on this host'
	says 0 '' init status
}

@test "init: restart keeps jobs and queues" {
	scratch 1 1
	init start
	wait_until 20 node_up
	id=$(submit)
	runs() { same substate 42 "$(qstat -f "$id" | value substate)"; }
	wait_until 20 runs
	first=$(pid_in server_priv/server.lock) session=$(qstat -f "$id" | value session_id)
	init restart
	[ "$first" != "$(pid_in server_priv/server.lock)" ]
	wait_until 20 node_up
	runs
	[ -n "$session" ]
	same session "$session" "$(qstat -f "$id" | value session_id)"
	alive "$session"
	qdel -W force "$id"
	gone() { ! alive "$session"; }
	wait_until 10 gone
}

@test "init: reload has the daemon read its configuration, once when it is server and mom" {
	local said=';reload of the configuration, asked for by SIGHUP: done'
	scratch 1 1
	says 1 'keelson: server is not running' init reload
	init start
	sed -i 's/# log_days = 0;/log_days = 90;/' "$SB/etc/modules.d/retention.conf"
	says 0 "keelson: server reads its configuration again, see $SB/home/server_logs
keelson: mom reads its configuration again, see $SB/home/mom_logs" init reload
	done_once() { same reloads 1 "$(cat "$SB"/home/*_logs/* | grep -c "$said")"; }
	wait_until 20 done_once
	has "$(cat "$SB"/home/*_logs/*)" 'retention: configuration changed'
}

@test "init: after a kill the stale lock file is no daemon" {
	scratch 1 1
	init start
	pid=$(pid_in server_priv/server.lock)
	kill -KILL "$pid"
	gone() { ! alive "$pid" || grep -q '^State:[[:space:]]*Z' "/proc/$pid/status"; }
	wait_until 10 gone
	stopped_says() { init status | grep -q 'server is not running'; }
	wait_until 10 stopped_says
	says 0 'keelson: server and mom started' init start
}

@test "init: a daemon that does not start is said" {
	scratch 1 1
	echo 'nonsense {' >>"$SB/etc/keelson.conf"
	got=0
	found=$(init start 2>&1) || got=$?
	same status 1 "$got"
	has "$found" 'keelson.conf:[0-9]+:'
	has "$found" '^keelson: server and mom did not start'
}

@test "init: no daemon in PBS_EXEC, misuse" {
	scratch 1 1
	rm "$SB/exec/sbin/keelsond"
	found=$(init start 2>&1) && false
	has "$found" 'is missing; set PBS_EXEC in'
	says 2 'usage: keelson {start|stop|restart|reload|status}' init
	says 2 'usage: keelson {start|stop|restart|reload|status}' init frobnicate
}
