#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What the daemons owe those who share a host with others, and those who try what is not meant.

load helper
load shared

setup_file() { ulimit -Sc 4096; open_cluster --hosts 1; }

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

# ---- connections ---------------------------------------------------------------------------------------------

# The build that is tried may be one that has no such tool.
tool() { [ -x "$KEELSON_BUILD/tests/scenario/tools/hold" ] && echo "$KEELSON_BUILD" || echo "$top/build"; }

# held_by UID COUNT SECONDS [ping]: so many connections, in the background.
held_by()
{
	local file=$BATS_TEST_TMPDIR/held.$1 uid=$1
	: >"$file"
	chmod 666 "$file"
	setpriv --reuid="$uid" --regid="$uid" --clear-groups "$(tool)/tests/scenario/tools/hold" "$2" "$3" "$SB/server/run/server.sock" \
		"${@:4}" >"$file" 2>&1 3>&- &
	undo kill $!
	wait_until 20 test -s "$file"
}
rss_mb() { awk '/^VmRSS/ { print int($2 / 1024) }' /proc/"$(head -n 1 "$SB/server/server_priv/server.lock")"/status; }

@test "mend B4: five users hold all connections: root, a manager and, where some are idle, everybody is served" {
	needs_root
	for i in 1 2 3 4 5; do held_by 6000$i 256 60; done
	quietly timeout 10 qmgr -c 'set server comment = "still here"'
	has "$(timeout 10 qstat -Bf)" 'comment = still here'
	as "$MANAGER" timeout 10 qmgr -c 'list server' >/dev/null
	wait_until 10 as "$OWNER" timeout 10 qstat -B
	has "$(server_log)" 'closed: it was idle, and there are too many'
}

@test "mend B4: a user who sends PINGs and reads no answer fills no memory, and others are served" {
	needs_root
	not_sanitized "freed memory rests in a sanitizer's quarantine"
	local before
	before=$(rss_mb)
	for i in 1 2 3; do held_by 6000$i 200 60 ping; done
	# 256 MiB are what was there in the first second.
	for _ in {1..20}; do
		quietly timeout 10 qmgr -c 'set server comment = "still here"'
		[ "$(rss_mb)" -le $((before + 240)) ]
		nap .2
	done
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
	has "$("$top/scripts/check" "$KEELSON_BUILD" 'built hardened' 2>&1)" '^ok 1 .*built hardened'
}

# ---- login ----------------------------------------------------------------------------------------------------------

@test "mend F: a profile that prints at login changes nothing but the first lines of a job's output" {
	needs_root
	unshare -m true || skip "no mounts of one's own here"
	local SB id own=$BATS_TEST_TMPDIR
	mkdir "$own/profile.d"
	echo 'echo "a notice of this machine" >&2' >"$own/profile.d/notice.sh"
	chmod -R a+rX "$own"
	KEELSON_LOGIN=$top/scripts/quiet-login KEELSON_LOGIN_PROFILE=$own/profile.d setup_sandbox
	undo rm -rf "$SB"
	undo "$top/scripts/sandbox" stop --dir "$SB"
	qmgr -c 'set server job_history_enable = true'
	id=$(shell 'echo out; echo err >&2; exit 3' -o "$(here out)" -e "$(here err)")
	ends "$id"
	same status 3 "$(job_attr "$id" Exit_status)"
	same stdout out "$(cat "$(here out)")"
	same stderr $'a notice of this machine\nerr' "$(cat "$(here err)")"
}

@test "mend F: scripts/sandbox start in the directory of a stopped sandbox" {
	local SB=$BATS_TEST_TMPDIR/again
	mkdir "$SB"
	sandbox start
	sandbox stop
	sandbox start --hosts 2
	. "$SB/env"
	same hosts 2 "$(pbsnodes -av | grep -c 'Mom = ')"
	sandbox stop
}

# ---- what users write --------------------------------------------------------------------------------------------

@test "mend B9: what a user writes moves no terminal, and forges no item of a record" {
	local esc=$'\e[2J\xc2\x9b2J' id
	id=$(submit -h -A "a' user=root x=\"b" -v "A=$esc")
	for command in 'qstat -f' 'qstat -f -F dsv' 'qstat -fw'; do
		lacks "$($command "$id")" "$(printf '\e|\xc2\x9b')"
	done
	has "$(qstat -f -F dsv "$id")" 'A=\^\[\[2JM-\^\[2J'
	has "$(accounting)" ";Q;$id;user=$OWNER group=[^ ]* account=\"a' user=root x='b\" "
	server_log >"$BATS_TEST_TMPDIR/log"
	lacks "$(cat "$BATS_TEST_TMPDIR/log")" "$(printf '\e|\xc2\x9b')"
}
