#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What an administrator's first week asks of the logs: day files that are moved away, a host that comes twice, why a link
# fails, clocks that differ.

load helper

today() { date +%Y%m%d; }
# logged NAME TEXT: the daemon's log, whatever its files are called, has it.
logged() { grep -qsF -e "$2" "$SB/$1"/*_logs/*; }
day_has() { grep -qsF -e "$2" "$SB/$1/$(today)"; } # folder, text
hup() { kill -HUP "$(head -n 1 "$SB/$1")"; }

@test "administrator #12: a day file that is moved away or removed is noticed, at SIGHUP and without it" {
	setup_sandbox
	qmgr -c "set server job_history_enable = true"
	for logs in server/server_logs n1/mom_logs; do mv "$SB/$logs/$(today)" "$SB/$logs/moved"; done
	id=$(submit)
	wait_until 20 job_is "$id" R 42
	# also when there is nothing to write
	wait_until 40 day_has server/server_logs ';Log;Log opened'
	wait_until 40 day_has n1/mom_logs ';Log;Log opened'
	has "$(cat "$SB/server/server_logs/moved")" ';Log;Log closed$'
	# nothing is lost on the way
	has "$(cat "$SB"/server/server_logs/*)" ";Job;$id;Job Queued at request of "
	has "$(cat "$SB"/n1/mom_logs/*)" ";Job;$id;Started, pid = "
	rm "$SB/server/server_logs/$(today)"
	hup server/server_priv/server.lock
	wait_until 20 day_has server/server_logs ';Log;Log opened'
	mv "$SB/n1/mom_logs" "$SB/n1/elsewhere"
	hup n1/mom_priv/mom.lock
	wait_until 20 day_has n1/mom_logs ';Log;Log opened'
	# accounting, too
	mv "$SB/server/server_priv/accounting/$(today)" "$SB/server/server_priv/accounting/moved"
	qdel "$id"
	wait_until 20 day_has server/server_priv/accounting ";E;$id;"
}
