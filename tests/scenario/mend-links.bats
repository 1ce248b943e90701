#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Hosts are other people's machines: what they say of themselves, and what becomes of the others.

load helper
load shared

setup_file() { open_cluster --hosts 2; }

# Names and amounts of every kind: modules/nodes/test_report.c.
refused() { server_log | grep -F "what host $1 reports is refused, its vnodes stay as they are: \"$2\""; }
vnodes() { pbsnodes -av | sed -n 's/^\([^ ].*\)/\1/p' | xargs; }
as_it_was() { sed -i '/^executor.vnodes=/d' "$SB/n2/etc/settings"; sandbox restart n2; }

@test "mend B8: a host with 7,000 vnodes is refused, and nothing else is harmed" {
	id=$(running -l select=1:host=n1)
	undo as_it_was
	echo executor.vnodes=7000 >>"$SB/n2/etc/settings"
	sandbox restart n2 --no-wait
	wait_until 20 refused n2 'vnode=n2[4096]'
	same vnodes 'n1 n2' "$(vnodes)"
	job_is "$id" R 42
	kill -0 "$(session_of "$id")"
	same 'a job runs on the other' 0 "$(job_attr "$(finished -l select=1:host=n1 -- /bin/true)" Exit_status)"
}
