#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A full disk under the store: whoever was answered keeps what he was told, whoever was not waits; when
# there is room again the server goes on by itself.

load helper

# The log is elsewhere: what it says of the trouble is looked for.
small_disk()
{
	mkdir "$SB/server" && mount -t tmpfs -o size=6m,mode=755 tmpfs "$SB/server" &&
		mkdir "$SB/server/server_logs" && mount -t tmpfs -o size=4m,mode=755 tmpfs "$SB/server/server_logs"
}

setup()
{
	needs_root
	prepare=small_disk setup_sandbox
	qmgr -c 'set server job_history_enable = true'
	qmgr -c 'set server scheduling = false'
}

teardown()
{
	[ -n "${SB-}" ] || return 0
	rm -f "$SB/server/filler"
	[ -n "${BATS_TEST_COMPLETED-}" ] || show_state
	sandbox stop || true
	umount -R "$SB/server" || umount -Rl "$SB/server"
	rm -rf "$SB"
}

fill_disk() { ! cat /dev/zero >"$SB/server/filler" 2>/dev/null; }
free_disk() { rm -f "$SB/server/filler"; }

# Larger than what is free in the blocks that the store has already.
big_script() { head -c 300000 /dev/zero | tr '\0' '#'; }
submit_big() { as "$OWNER" qsub <"$SB/big.sh"; }

# After three attempts the server knows that it is no hiccup.
in_trouble() { server_log | grep -q "not saved yet.*(attempt [3-9])"; }

@test "full disk: acknowledged jobs survive, others wait, service resumes when there is room" {
	big_script >"$SB/big.sh"
	before=$(submit_big)
	fill_disk
	submit_big >"$SB/answer" 2>&1 3>&- &
	waiting=$!
	wait_until 20 disk_is_full
	same 'not acknowledged' '' "$(cat "$SB/answer")"
	free_disk
	wait "$waiting"
	has "$(cat "$SB/answer")" '^[0-9]+\.svr$'
	wait_until 20 saved_again
	sandbox restart server --hard
	job_is "$before" Q
	job_is "$(cat "$SB/answer")" Q
	after=$(submit)
	qmgr -c 'set server scheduling = true'
	wait_until 20 job_is "$after" R 42
}

@test "full disk: killed while it is full, the server comes back with what it acknowledged" {
	big_script >"$SB/big.sh"
	ids=$(for i in 1 2 3; do submit_big; done)
	fill_disk
	submit_big >"$SB/answer" 2>&1 3>&- &
	wait_until 20 disk_is_full
	sandbox kill server
	if wait $!; then echo "answered by a dead server" >&2; false; fi
	free_disk
	sandbox restart server
	same 'jobs' "$(xargs <<<"$ids")" "$(qselect | xargs)"
	submit
}

@test "full disk: while it lasts, changes are refused with the reason, listings answered" {
	big_script >"$SB/big.sh"
	before=$(submit_big)
	fill_disk
	submit_big >"$SB/answer" 2>&1 3>&- &
	waiting=$!
	wait_until 20 in_trouble
	got=0
	found=$(submit 2>&1) || got=$?
	same status 162 "$got"
	has "$found" '^qsub: System error: .*free space'
	job_is "$before" Q
	has "$(pbsnodes -a)" 'state = free'
	free_disk
	wait "$waiting"
	wait_until 20 saved_again
	job_is "$(submit)" Q
}
