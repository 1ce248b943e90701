#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Hosts with networks of their own: links that are cut and mended, a host without power, a slow link.
#
# needs modules/sisters

load helper
load shared
load netns

setup_file()
{
	needs_netns
	open_cluster --hosts 3 --netns --set sisters.max_poll_downtime=8s
	qmgr -c 'set server node_fail_requeue = 3'
}

over_hosts() { running -l "select=1:host=n1+1:host=n2+1:host=n3" "$@"; }
mend() { "$top/scripts/sandbox" mend --dir "$SB" --build "$KEELSON_BUILD" "$1" 3>&-; }
cut() { sandbox cut "$@" && undo mend "$1"; }
has_part() { parts_on "$1" | grep -qx "$2"; }
has_record() { accounting | grep -q ";$1;$2;"; }
mom_says() { mom_log "$1" | grep -q ";Job;$2;$3"; }
# Delayed until its hosts are free: it is to stay where it was put.
stays_queued() { qmgr -c 'set server scheduling = false'; undo qmgr -c 'set server scheduling = true'; }

@test "multi-host #12: the link of a sister is cut for longer than its grace, and mended in time: the job goes on" {
	id=$(over_hosts)
	session=$(session_of "$id")
	before=$(job_processes n2)
	cut n2
	wait_until 20 is_down n2
	wait_until 20 mom_says n1 "$id" 'im_eof, lost communication with n2, not killing job yet'
	job_is "$id" R 42
	sandbox mend n2
	wait_until 20 is_free n2
	job_is "$id" R 42
	alive "$session"
	same 'processes on n2' "$before" "$(job_processes n2)"
	as "$OWNER" qsig "$id"
	ends "$id"
	for host in n1 n2 n3; do
		wait_until 5 has_no_process $host
		has_no_part $host "$id"
	done
}

@test "multi-host #11: the way between two hosts is cut, the server reaches both: the job is queued again, and leaves nothing" {
	id=$(over_hosts)
	session=$(session_of "$id")
	stays_queued
	cut n2 n1
	wait_until 20 mom_says n1 "$id" 'im_eof, lost communication with n2, not killing job yet'
	job_is "$id" R 42
	alive "$session"
	wait_until 30 job_is "$id" Q
	has_record R "$id"
	for host in n1 n2 n3; do
		is_free $host
		wait_until 5 has_no_process $host
		has_no_part $host "$id"
		same "ncpus assigned on $host" 0 "$(node_attr $host resources_assigned.ncpus)"
	done
	sandbox mend n2
	qdel "$id"
}

@test "multi-host #14: the primary is cut off: its job is queued again, and 5 s after it is back nothing of it is left there" {
	id=$(over_hosts)
	session=$(session_of "$id")
	stays_queued
	cut n1
	wait_until 20 is_down n1
	wait_until 20 job_is "$id" Q
	for host in n2 n3; do
		wait_until 5 has_no_process $host
		has_no_part $host "$id"
	done
	sandbox mend n1
	wait_until 20 is_free n1
	wait_until 5 has_no_process n1
	dead "$session"
	has_no_part n1 "$id"
	qdel "$id"
}

@test "multi-host #11: a sister without power: the job is queued again, and runs once more when the host is back" {
	id=$(over_hosts)
	session=$(session_of "$id")
	sandbox gone n3
	undo restart_mom n3
	undo mend n3
	wait_until 30 job_is "$id" Q
	dead "$session"
	for host in n1 n2; do wait_until 5 has_no_process $host; done
	sandbox mend n3
	sandbox restart n3
	wait_until 30 job_is "$id" R 42
	same run_count 2 "$(job_attr "$id" run_count)"
	for host in n1 n2 n3; do has_part $host "$id"; done
	as "$OWNER" qsig "$id"
	ends "$id"
}
restart_mom() { "$top/scripts/sandbox" restart --dir "$SB" --build "$KEELSON_BUILD" "$1" 3>&-; }

@test "multi-host #12: a host whose link is slow joins all the same" {
	status=0
	sandbox delay n2 300ms || status=$?
	[ $status -ne 3 ] || skip "this kernel cannot delay what is sent"
	undo mend n2
	id=$(over_hosts)
	has_part n2 "$id"
	as "$OWNER" qsig "$id"
	ends "$id"
}
