#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Hosts on which something is broken: a job that they cannot start starts elsewhere, and none is lost there.
# What is broken is so for one mom alone, in a mount namespace of its own.

load helper
load shared

setup_file() { open_cluster --hosts 2 --ncpus 8; }
setup() { join_cluster; needs_root; }

is_offline() { node_is "$1" offline; }
is_free() { node_is "$1" free; }
well_again()
{
	sandbox restart n1
	wait_until 20 node_known n1
	pbsnodes -C '' n1
	pbsnodes -r n1
	wait_until 20 is_free n1
}
node_known() { node_attr "$1" state | grep -qv down; }

# broken COMMAND...: n1's mom starts again where COMMAND has been done, for it alone.
broken()
{
	undo well_again
	sandbox kill n1
	unshare -m --propagation private bash -ec "$1; shift; exec \"\$@\"" bash - \
		"$top/scripts/sandbox" restart --dir "$SB" --build "$KEELSON_BUILD" n1 3>&-
}
n1_first() { qmgr -c 'set node n1 Priority = 10'; undo qmgr -c 'unset node n1 Priority'; }
elsewhere() { job_is "$1" R 42 && same host n2/0 "$(job_attr "$1" exec_host | sed 's|/.*|/0|')" 2>/dev/null; }

@test "mend A5: a user unknown on one host: his jobs start elsewhere, and the host is set offline after three" {
	grep -v "^$OWNER:" /etc/passwd >"$SB/passwd"
	broken "mount --bind '$SB/passwd' /etc/passwd"
	n1_first
	for i in 1 2 3; do
		id[i]=$(submit -l select=1:ncpus=1)
		wait_until 20 elsewhere "${id[i]}"
		[ -d "/proc/$(session_of "${id[i]}")" ]
	done
	wait_until 10 is_offline n1
	has "$(node_attr n1 comment)" "3 starts in a row failed: user $OWNER is unknown on this host"
	same 'runs of the first' 2 "$(job_attr "${id[1]}" run_count)"
	pbsnodes -r n1
	node_is n1 free
	same 'comment of a host that is set free' '' "$(node_attr n1 comment)"
}

@test "mend A5: a group unknown on one host is a trouble of its user: his jobs start elsewhere, the host stays" {
	grep -v "^$(id -gn "$OWNER"):" /etc/group >"$SB/group"
	broken "mount --bind '$SB/group' /etc/group"
	n1_first
	for i in 1 2 3 4; do
		id=$(submit -l select=1:ncpus=1)
		wait_until 20 elsewhere "$id"
	done
	is_free n1
	has "$(server_log)" "$id;Unable to Run Job, MOM rejected: Bad GID for job execution: user $OWNER is in no group"
	id=$(submit_as "$OTHER" -l select=1:ncpus=1:host=n1)
	wait_until 20 job_is "$id" R 42
}

# A file that its user keeps from being opened by others, or again: they meet EWOULDBLOCK.
leased() { as "$OWNER" perl -e '$SIG{IO} = "IGNORE"; open(F, ">", $ARGV[0]) && fcntl(F, 1024, 1) or die "no lease: $!"; print "held\n"; close(STDOUT); sleep 600' "$1" 3>&-; }

@test "mend A5: whatever is wrong with the files of one user, his jobs end and no host is set offline" {
	mkfifo "$SB/held"
	leased "$(here leased)" >"$SB/held" &
	undo kill $!
	same lease held "$(timeout 10 cat "$SB/held")"
	for i in 1 2 3 4 5 6 7 8; do
		id[i]=$(submit -k oed -o "$(here leased)" -e "$(here leased.e)" -- /bin/true)
	done
	for i in 1 2 3 4 5 6 7 8; do
		ends "${id[i]}"
		same status -2 "$(job_attr "${id[i]}" Exit_status)"
	done
	is_free n1
	is_free n2
	for host in n1 n2; do
		id=$(submit_as "$OTHER" -l select=1:ncpus=1:host=$host)
		wait_until 20 job_is "$id" R 42
	done
}

@test "mend A6: a job that a host refuses waits longer each time before it is sent there again" {
	grep -v "^$OWNER:" /etc/passwd >"$SB/passwd"
	broken "mount --bind '$SB/passwd' /etc/passwd"
	id=$(submit -r n -l select=1:ncpus=1:host=n1)
	refused() { [ "$(server_log | grep -c "$id;Unable to Run Job, MOM rejected")" -ge "$1" ]; }
	wait_until 20 refused 1
	first=$SECONDS
	wait_until 20 refused 3
	[ $((SECONDS - first)) -ge 5 ] # 2 s, then 4
	job_is "$id" Q
	wait_until 10 is_offline n1
	same runs 3 "$(job_attr "$id" run_count)"
}

@test "mend A5: a host whose spool is full takes no jobs, says so, and is back by itself" {
	broken "mount -t tmpfs -o size=64k none '$SB/n1/spool'"
	n1_first
	id=$(submit -l select=1:ncpus=1)
	wait_until 20 elsewhere "$id"
	wait_until 10 is_offline n1
	has "$(node_attr n1 comment)" "^no tasks are taken: $SB/n1/spool has no room left .executor.room is 1024 kb."
	mom=$(head -n 1 "$SB/n1/mom_priv/mom.lock")
	nsenter -t "$mom" -m umount "$SB/n1/spool"
	wait_until 20 is_free n1
	same comment '' "$(node_attr n1 comment)"
	id=$(submit -l select=1:ncpus=1:host=n1)
	wait_until 20 job_is "$id" R 42
}

spool_is() { rm -rf "$SB/n1/spool"; "$@"; }
@test "mend A5: a host whose spool is no folder any more takes no jobs and ends none" {
	undo well_again
	mv "$SB/n1/spool" "$SB/spool.was"
	undo spool_is mv "$SB/spool.was" "$SB/n1/spool"
	touch "$SB/n1/spool"
	n1_first
	id=$(submit -l select=1:ncpus=1)
	wait_until 20 elsewhere "$id"
	here=$(submit -l select=1:ncpus=1:host=n1)
	wait_until 20 is_offline n1
	has "$(node_attr n1 comment)" "$SB/n1/spool: Not a directory"
	job_is "$here" Q
	spool_is mv "$SB/spool.was" "$SB/n1/spool"
	well_again
	wait_until 20 job_is "$here" R 42
}

@test "mend A5: a user who has used up his processes on a host: his job is queued again, not ended" {
	undo well_again
	id=$(submit -l select=1:ncpus=1:host=n1)
	wait_until 20 job_is "$id" R 42 # where shepherds come from is there
	mom=$(head -n 1 "$SB/n1/mom_priv/mom.lock")
	for pid in $(pgrep -P "$mom"); do prlimit --pid "$pid" --nproc=1:1; done
	n1_first
	id=$(submit -l select=1:ncpus=1)
	wait_until 20 elsewhere "$id"
	has "$(server_log)" "$id;Unable to Run Job, MOM rejected: .*Resource temporarily unavailable"
	is_free n1 # it is his trouble alone
}
