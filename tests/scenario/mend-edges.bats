#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What the daemons owe those who share a host with others, and those who try what is not meant.

load helper
load shared

setup_file() { ulimit -Sc 4096; open_cluster --hosts 1; }
teardown_file() { close_cluster; }
setup() { join_cluster; }

# ---- core files ----------------------------------------------------------------------------------------------

# dies_in DIR [SETTING of pbs.conf]: a daemon of its own whose working folder is DIR; it is killed by SEGV.
dies_in()
{
	local pid
	mkdir -p "$1/etc/modules.d"
	echo "${2-}" >"$1/pbs.conf"
	printf '%s\n' 'roles = ["server"];' "home = \"$1/home\";" 'server_name = "svr";' >"$1/etc/keelson.conf"
	cp -L "$top"/conf/modules.d/*.conf "$1/etc/modules.d/"
	cd "$1" || return
	ulimit -Sc unlimited
	PBS_CONF_FILE=$1/pbs.conf "$KEELSON_BUILD/keelsond" --foreground --conf "$1/etc/keelson.conf" >"$1/log" 2>&1 3>&- &
	pid=$!
	wait_until 20 test -S "$1/home/run/server.sock" || return
	kill -SEGV "$pid"
	wait "$pid" || true
	ls "$1"
}

@test "mend B11: a daemon of root leaves no core file unless pbs.conf asks for it; jobs keep their limit" {
	needs_root
	not_sanitized "a sanitizer takes the signal itself"
	[[ $(cat /proc/sys/kernel/core_pattern) != [/\|]* ]] || skip "this machine puts core files elsewhere"
	run dies_in "$BATS_TEST_TMPDIR/plain"
	lacks "$output" '^core'
	run dies_in "$BATS_TEST_TMPDIR/asked" PBS_CORE_LIMIT=unlimited
	has "$output" '^core'
	has "$(output_of 'cat /proc/self/limits')" "^Max core file size +$((4096 * 1024)) "
}

@test "mend B11: units take away what a daemon does not need, and nothing from jobs" {
	local server=$top/sdk/init/keelson-server.service mom=$top/sdk/init/keelson-mom.service line
	for line in ProtectSystem=full ProtectKernelModules=yes PrivateDevices=yes LimitCORE=0 LockPersonality=yes; do
		grep -qx "$line" "$server"
	done
	for line in Delegate=yes TasksMax=infinity OOMPolicy=continue; do grep -qx "$line" "$mom"; done
	lacks "$(cat "$mom")" '^(Protect|Private|Restrict|NoNewPrivileges|CapabilityBoundingSet)'
}

@test "mend B11: every program and module of the build is hardened" {
	not_sanitized "sanitizers and fortified functions do not go together"
	has "$("$top/scripts/check" "$KEELSON_BUILD" 2>&1)" '^ok .*built hardened'
}
