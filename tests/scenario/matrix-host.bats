#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# An execution host that is away meets a job in each state (matrix.bash): killed, stopped, its link cut; and the
# server is killed meanwhile.
#
# needs modules/admin-suspend
# needs modules/preemption
# needs modules/arrays

load helper
load matrix

setup() { needs_root; }
teardown()
{
	[ -z "${relay-}" ] || kill -KILL -- "-$relay" 2>/dev/null || true
	[ -n "${BATS_TEST_COMPLETED-}" ] || show_state
	sandbox stop || true
	rm -rf "$SB"
}

# Processes go on without their daemon.
while_away()
{
	wait_until 20 is_down n1
	expect_states
}
back() # [STATE=OTHER]...
{
	wait_until 30 is_up n1
	expect_states "$@"
	finish
}

@test "matrix: the host's daemon is killed and comes back" {
	setup_states
	sandbox kill n1
	while_away
	sandbox restart n1
	back R41=Q # it had not started, and nothing of it is there
}

@test "matrix: the host's daemon is killed, then the server; both come back" {
	setup_states
	sandbox kill n1
	wait_until 20 is_down n1
	sandbox restart server --hard
	expect_states
	sandbox restart n1
	back R41=Q
}

@test "matrix: the host's daemon stands still and goes on" {
	setup_states
	read -r pid <"$SB/n1/mom_priv/mom.lock"
	kill -STOP "$pid"
	while_away
	kill -CONT "$pid"
	back
}

# relay_to PORT: connections to port $relay_port of this machine go on to PORT, as long as the relay lives.
relay_to()
{
	local log=$SB/relay.log
	setsid socat -d -d "TCP-LISTEN:${relay_port:-0},bind=127.0.0.1,fork,reuseaddr" "TCP:127.0.0.1:$1" 2>"$log" 3>&- &
	relay=$!
	wait_until 10 grep -q "socat\[$relay\] N listening on" "$log"
	relay_port=$(sed -n 's/.*listening on .*:\([0-9]*\)$/\1/p' "$log")
}
cut_link() { kill -KILL -- "-$relay"; wait "$relay" 2>/dev/null || true; }

@test "matrix: the link is cut and mended" {
	start_cluster
	read -r port <"$SB/server/run/link.port" || [ -n "$port" ]
	relay_to "$port"
	echo "link-tcp.server=127.0.0.1:$relay_port" >>"$SB/n1/etc/settings"
	sandbox restart n1
	begin_states
	cut_link
	while_away
	relay_to "$port"
	back
}
