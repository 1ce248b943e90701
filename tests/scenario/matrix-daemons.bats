#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A trouble of the server meets a job in each state (matrix.bash): restart, reload, a full disk under its store.
#
# needs modules/admin-suspend
# needs modules/preemption
# needs modules/arrays

load helper
load matrix

setup() { needs_root; }
teardown()
{
	rm -f "$SB/server/filler"
	[ -n "${BATS_TEST_COMPLETED-}" ] || show_state
	sandbox stop || true
	! mountpoint -q "$SB/server" || umount -Rl "$SB/server"
	rm -rf "$SB"
}

@test "matrix: the server is killed and starts again" {
	setup_states
	sandbox kill server
	sandbox restart server
	wait_until 20 is_up n1
	expect_states
	finish
}

@test "matrix: the modules that hold jobs and vnodes are reloaded, on the server and on the host" {
	setup_states
	keelson reload jobs
	keelson reload nodes
	keelson reload scheduler
	cp "$KEELSON_BUILD/modules/executor.so" "$SB/n1/"
	echo "executor: { path = \"$SB/n1/executor.so\"; };" >"$SB/n1/etc/modules.d/executor.conf"
	wait_until 10 reload_host n1 # refused while a worker measures
	has "$(mom_log n1)" ';executor: replaced'
	wait_until 20 is_up n1
	expect_states R41=Q # it waited for the module that went
	finish
}

# The log is elsewhere: what it says of the trouble is looked for.
small_disk()
{
	mkdir "$SB/server" && mount -t tmpfs -o size=16m,mode=755 tmpfs "$SB/server" &&
		mkdir "$SB/server/server_logs" && mount -t tmpfs -o size=4m,mode=755 tmpfs "$SB/server/server_logs"
}

@test "matrix: the disk under the store is full, the server is killed, there is room again" {
	prepare=small_disk setup_states
	! cat /dev/zero >"$SB/server/filler" 2>/dev/null
	head -c 300000 /dev/zero | tr '\0' '#' >"$SB/big.sh"
	as "$OWNER" qsub -h "$SB/big.sh" >"$SB/answer" 2>&1 3>&- &
	wait_until 20 disk_is_full
	expect_states
	rm -f "$SB/server/filler"
	wait $!
	sandbox restart server --hard
	wait_until 20 is_up n1
	expect_states
	qdel "$(cat "$SB/answer")"
	finish
}
