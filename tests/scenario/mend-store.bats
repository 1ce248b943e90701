#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A server whose store is lost does not begin anew by itself, and no host ends the jobs of the lost one.

load helper

start_server() { sandbox restart server; }
marked() { [ -s "$SB/server/server_priv/store.id" ]; }
db() { echo "$SB/server/server_priv/keelson.db"; }
move_store() { local end; for end in '' -wal -shm; do [ ! -e "$1$end" ] || mv "$1$end" "$2$end"; done; }

@test "mend A10: a server whose store is missing refuses to start and says how to go on; the jobs of its hosts go on" {
	setup_sandbox
	qmgr -c 'set server job_history_enable = true'
	wait_until 20 marked
	id=$(running)
	session=$(session_of "$id")
	# A host with jobs from before hosts knew of stores learns which it is when it is back.
	sandbox kill n1
	rm "$SB/n1/mom_priv/store.id"
	sandbox restart n1
	host_marked() { cmp -s "$SB/server/server_priv/store.id" "$SB/n1/mom_priv/store.id"; }
	wait_until 20 host_marked
	sandbox kill server
	mkdir "$SB/backup"
	move_store "$(db)" "$SB/backup/keelson.db"
	run start_server
	[ "$status" -ne 0 ]
	has "$output" 'the store is empty, but this PBS_HOME has had one \([0-9a-f]{16}\): restore its database from a backup'
	has "$output" "remove $SB/server/server_priv/store.id"
	alive "$session"
	# Restored: as if nothing had happened.
	rm -f "$(db)"*
	move_store "$SB/backup/keelson.db" "$(db)"
	start_server
	job_is "$id" R 42
	alive "$session"

	# Begun anew on purpose: the hosts keep what they run, until somebody says that it may go.
	sandbox kill server
	rm -f "$(db)"* "$SB/server/server_priv/store.id"
	start_server
	left_alone() { has "$(server_log)" 'it runs 1 jobs of another store'; }
	wait_until 20 left_alone
	kept() { has "$(mom_log n1)" 'the server has another store .* they are kept'; }
	wait_until 20 kept
	alive "$session"
	qmgr -c 'create node n1'
	says_why() { same comment 'node down: it runs jobs of another store' "$(node_attr n1 comment)"; }
	wait_until 20 says_why
	has "$(node_attr n1 state)" down
	lacks "$(mom_log n1)" discarded
	sandbox kill n1
	rm "$SB/n1/mom_priv/store.id"
	sandbox restart n1
	gone() { ! alive "$session"; }
	wait_until 20 gone
	is_free() { node_is n1 free; }
	wait_until 20 is_free
}

@test "a server with another name refuses the store and says what to write; its jobs go on" {
	setup_sandbox
	local conf=$SB/server/etc/keelson.conf id
	qmgr -c 'set server job_history_enable = true'
	id=$(running)
	session=$(session_of "$id")
	sandbox kill server
	sed -i 's/^server_name = .*/server_name = "other";/' "$conf"
	run start_server
	[ "$status" -ne 0 ]
	has "$output" 'the store is that of server "svr", this one is called "other": say server_name = "svr" in keelson.conf'
	lacks "$output" 'fatal signal'
	sed -i 's/^server_name = .*/server_name = "svr";/' "$conf"
	start_server
	job_is "$id" R 42
	alive "$session"
}

@test "rows of holds that an older server stored are dropped at its upgrade: one line of the log, and none stays" {
	command -v sqlite3 >/dev/null || skip "needs sqlite3"
	setup_sandbox
	qmgr -c 'set server job_history_enable = true'
	job=$(submit -h -- /bin/true)
	sandbox kill server
	for key in one two three; do
		sqlite3 "$(db)" "INSERT INTO objects(class, id, body) VALUES('keel_hold', 'job/$job/waits/$key', x'81a3776879a178')"
	done
	start_server
	rows() { sqlite3 "$(db)" "SELECT count(*) FROM objects WHERE class = 'keel_hold'"; }
	none_left() { [ "$(rows)" -eq 0 ]; }
	lines() { server_log | grep -c 'stored holds of an older version'; }
	wait_until 10 none_left
	has "$(server_log)" ';3 stored holds of an older version are dropped: the operations that waited have ended$'
	same 'lines about them' 1 "$(lines)"
	[ -z "$(keelson holds)" ]
	job_is "$job" H
	as "$OWNER" qdel "$job"
	start_server
	same 'lines about them' 1 "$(lines)"
}
