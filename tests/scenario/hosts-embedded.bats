#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The server's process is an execution host, too, beside others: the embedded default that has grown.
#
# needs modules/sisters

load helper

@test "hosts: that of the server has a part of a job, as its first host and as another, on the one link there is" {
	setup_sandbox --hosts 2
	here=$(cat /proc/sys/kernel/hostname)
	mkdir -m 1777 "$SB/server/tmp"
	sed -i 's/^roles = .*/roles = ["server", "mom"];/' "$SB/server/etc/keelson.conf"
	echo "executor.tmpdir=$SB/server/tmp" >>"$SB/server/etc/settings"
	sandbox restart server
	qmgr -c 'set server job_history_enable = true'
	for host in "$here" n1 n2; do wait_until 20 node_is "$host" free; done
	for hosts in "1:host=$here+1:host=n1+1:host=n2" "1:host=n1+1:host=$here"; do
		id=$(running -l "select=$hosts")
		for host in server n1; do [ -e "$SB/$host/mom_priv/jobs/$id.TK" ]; done
		same 'lines of the node file of n1' "$(job_attr "$id" exec_host | tr -cd + | wc -c)" "$(($(wc -l <"$SB/n1/aux/$id") - 1))"
		qsig -s suspend "$id"
		wait_until 20 job_is "$id" S
		qsig -s resume "$id"
		wait_until 20 job_is "$id" R 42
		as "$OWNER" qsig "$id"
		wait_until 20 is_over "$id"
		same "exit of $id" 271 "$(job_attr "$id" Exit_status)"
		for host in server n1; do [ ! -e "$SB/$host/mom_priv/jobs/$id.TK" ]; done
	done
	lacks "$(mom_log n1)" ';Link;server;link with .* lost: the same daemon'
}
