#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Hosts that are lost, or do not answer, before and after a job over them has started; spare_nodes. Four hosts of 4 cpus, short
# limits. Failed vnodes go offline (failed_node).
#
# needs modules/tolerate-node-failures
# needs modules/sisters

load helper
load shared

TNF=tolerate_node_failures
OVER3=(-l select=1:ncpus=1:host=n1+1:ncpus=1:host=n2+1:ncpus=1:host=n3)

setup_file()
{
	knobs=$BATS_FILE_TMPDIR/knobs
	mkdir -m 755 "$knobs"
	export knobs
	echo "tolerant_sister: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/tolerant_sister.so\"; dir = \"$knobs\"; };" \
		>"$BATS_FILE_TMPDIR/tolerant.conf"
	open_cluster --hosts 4 --also "$BATS_FILE_TMPDIR/tolerant.conf" --set sisters.max_poll_downtime=3s \
		--set sisters.sister_join_job_alarm=1s --set sisters.job_launch_delay=2s \
		--set tolerate-node-failures.failed_node=offline
}

knob() { echo "${2-}" >"$knobs/$1"; undo rm -f "$knobs/$1"; }
online()
{
	for n in n1 n2 n3 n4; do printf '%s\n' "set node $n state = free" "unset node $n comment"; done | qmgr
	wait_until 20 all_free
}
all_free() { for n in n1 n2 n3 n4; do node_is $n free || return; done; }
# HOST JOB WORDS
nodefile_is() { same "node file of $1" "$3" "$(xargs <"$SB/$1/aux/$2")"; }
says_log() { has "$(mom_log "$1" | grep ";$2;")" "$3" 2>/dev/null; }
no_trace() { [ ! -e "$SB/$1/aux/$2" ] && ! grep -qszF "TMPDIR=$SB/$1/tmp/pbs.$2" /proc/[0-9]*/environ; }

@test "tolerate-node-failures: spare_nodes: hosts that refuse are given back, the job runs on the others" {
	knob begin-n2
	undo online
	id=$(running -W spare_nodes=1 -l select=3:ncpus=2 -l place=scatter)
	same exec_host 'n1/0*2+n3/0*2+n4/0*2' "$(job_attr "$id" exec_host)"
	same select 3:ncpus=2 "$(job_attr "$id" Resource_List.select)"
	same failed_hosts 'n2: bad node (join, 15169)' "$(job_attr "$id" failed_hosts)"
	node_is n2 offline
	same comment "failed for job $id (join): bad node" "$(node_attr n2 comment)"
	alive "$(session_of "$id")"
	for host in n1 n3 n4; do wait_until 5 nodefile_is $host "$id" 'n1 n3 n4'; done
	wait_until 5 test ! -e "$SB/n2/aux/$id"
}

@test "tolerate-node-failures: spare_nodes: too few that are well: held, with the hosts and their reasons" {
	knob begin-n2
	knob prologue-n3
	undo online
	id=$(submit -W spare_nodes=1 -l select=3:ncpus=2 -l place=scatter)
	wait_until 20 job_is "$id" H
	comment_is "$id" 'not enough of its hosts are well: n2: bad node; n3: bad node'
	same holds s "$(job_attr "$id" Hold_Types)"
	same select 4:ncpus=2 "$(job_attr "$id" Resource_List.select)"
	for host in n1 n2 n3 n4; do
		same "jobs of $host" '' "$(node_attr $host jobs)"
		wait_until 5 no_trace $host "$id"
	done
	for host in n2 n3; do node_is $host offline; done
}

@test "tolerate-node-failures #20: a sister that does not answer is not waited for longer than the alarm" {
	kill -STOP "$(mom_of n2)"
	undo kill -CONT "$(mom_of n2)"
	id=$(submit -W spare_nodes=1 -l select=3:ncpus=2 -l place=scatter)
	starts "$id"
	same exec_host 'n1/0*2+n3/0*2+n4/0*2' "$(job_attr "$id" exec_host)"
	log=$(mom_log n1 | grep ";$id;")
	has "$log" 'job waiting up to 1 secs \(\$sister_join_job_alarm\) for all sister moms to join$'
	has "$log" 'sister_join_job_alarm wait time 1 secs exceeded$'
	has "$log" 'waiting up to 2 secs \(\$job_launch_delay\) for mom hosts status and prologue hooks ack$'
	lacks "$(job_attr "$id" failed_hosts)" 'join'
	same 'jobs of n2' '' "$(node_attr n2 jobs)" # though it cannot be reached
	# no orphan on the host that comes back
	kill -CONT "$(mom_of n2)"
	wait_until 20 all_up
	wait_until 20 has_left n2 "$id"
	job_is "$id" R 42
	qdel "$id"
	ends "$id"
	for host in n1 n2 n3 n4; do wait_until 10 no_trace $host "$id"; done
}
# no process of it; its record stays until the job is over
has_left() { [ ! -e "$SB/$1/mom_priv/jobs/$2.TK" ] || grep -q '^ended ' "$SB/$1/mom_priv/jobs/$2.TK"; }
has_no_jobs() { same "jobs of $1" '' "$(node_attr "$1" jobs)"; }
all_up() { for n in n1 n2 n3 n4; do ! is_down $n || return; done; }

@test "tolerate-node-failures #40: sisters whose prologues do not end are given back" {
	for host in n3 n4; do knob silent-$host; done
	undo online
	id=$(submit -W spare_nodes=2 -l select=2:ncpus=2 -l place=scatter)
	starts "$id"
	same exec_host 'n1/0*2+n2/0*2' "$(job_attr "$id" exec_host)"
	log=$(mom_log n1 | grep ";$id;")
	has "$log" 'not all prologue hooks to sister moms completed, but job will proceed to execute$'
	same failed '(n3:ncpus=2) (n4:ncpus=2)' "$(sed -n 's/.*launch: vnode_list_fail //p' <<<"$log" | xargs)"
	for host in n3 n4; do
		node_is $host offline
		wait_until 10 has_left $host "$id"
	done
	for host in n1 n2; do wait_until 5 nodefile_is $host "$id" 'n1 n2'; done
}

@test "tolerate-node-failures #31: all: a sister dies while the job runs, which goes on" {
	undo online
	id=$(shell 'sleep 6; exit 5' -W $TNF=all "${OVER3[@]}")
	starts "$id"
	kill_mom n3
	wait_until 10 is_down n3
	same comment 'node down: communication closed' "$(node_attr n3 comment)"
	wait_until 20 says_log n1 "$id" 'ignoring lost communication with n3 as job is tolerant of node failures$'
	job_is "$id" R 42
	has "$(keelson explain "$id")" '^parts +on 3 hosts, the first is n1; no link to n3$'
	ends "$id"
	same status 5 "$(job_attr "$id" Exit_status)"
	same runs 1 "$(job_attr "$id" run_count)"
	has "$(job_attr "$id" failed_hosts)" '^n3: .* \(run, '
}

@test "tolerate-node-failures #32: job_start: a sister dies while the job runs, which is queued again" {
	undo online
	id=$(running -W $TNF=job_start "${OVER3[@]}")
	kill_mom n3
	wait_until 20 says_log n1 "$id" 'im_eof, lost communication with n3, not killing job yet$'
	wait_until 30 says_log n1 "$id" 'lost communication with n3 .*killing job now$'
	wait_until 20 job_is "$id" Q
	has "$(accounting | grep ";R;$id;")" 'Exit_status=-14 '
}

@test "tolerate-node-failures #44, #48: none, and altered while it runs: a lost sister is waited for, then the job is queued again" {
	undo online
	id=$(running -W $TNF=none "${OVER3[@]}")
	quietly as "$OWNER" qalter -W $TNF=all "$id"
	same $TNF all "$(job_attr "$id" $TNF)"
	kill_mom n3
	wait_until 20 says_log n1 "$id" 'im_eof, lost communication with n3, not killing job yet$'
	wait_until 20 is_down n3
	wait_until 30 job_is "$id" Q
	for host in n1 n2; do wait_until 10 no_trace $host "$id"; done
}

@test "tolerate-node-failures #37: qrerun while sisters are waited for" {
	kill -STOP "$(mom_of n2)"
	undo kill -CONT "$(mom_of n2)"
	undo qmgr -c 'set server scheduling = true'
	id=$(submit -W $TNF=job_start "${OVER3[@]}")
	wait_until 20 job_is "$id" R 41
	qmgr -c 'set server scheduling = false'
	qrerun "$id" || qrerun -W force "$id"
	wait_until 20 job_is "$id" Q
	kill -CONT "$(mom_of n2)"
	wait_until 20 all_up
	for host in n1 n2 n3; do wait_until 10 no_trace $host "$id"; done
	qmgr -c 'set server scheduling = true'
	starts "$id"
}

@test "tolerate-node-failures #38: pbs_release_nodes while sisters are waited for" {
	kill -STOP "$(mom_of n2)"
	undo online
	undo kill -CONT "$(mom_of n2)"
	id=$(submit -W $TNF=job_start "${OVER3[@]}")
	wait_until 20 job_is "$id" R 41
	says 168 'pbs_release_nodes: Request invalid for state of job ' as "$OWNER" pbs_release_nodes -j "$id" n2
	same exec_host n1/0+n2/0+n3/0 "$(job_attr "$id" exec_host)"
}

@test "tolerate-node-failures: the primary dies while its sisters are waited for: the job is not stuck" {
	undo online
	undo qmgr -c 'unset server node_fail_requeue'
	qmgr -c 'set server node_fail_requeue = 2'
	kill -STOP "$(mom_of n2)"
	undo kill -CONT "$(mom_of n2)"
	id=$(submit -W $TNF=job_start "${OVER3[@]}")
	wait_until 20 job_is "$id" R 41
	kill_mom n1
	wait_until 30 job_is "$id" Q
	kill -CONT "$(mom_of n2)"
	for host in n2 n3; do wait_until 20 no_trace $host "$id"; done
}

@test "tolerate-node-failures #52: vnodes of a Cray are not given back" {
	undo qmgr -c 'unset node n3 resources_available.vntype'
	qmgr -c 'set node n3 resources_available.vntype = cray_compute'
	id=$(submit -W spare_nodes=1 -l select=2:ncpus=4 -l place=scatter)
	wait_until 20 says_log n1 "$id" 'release_nodes\(\): not currently supported on Cray X\* series nodes$'
}

@test "tolerate-node-failures #19, #51: tasks of a job that was pruned" {
	knob begin-n2
	undo online
	text=$(output_of "PATH=$KEELSON_BUILD/bin:\$PATH"'; cat $PBS_NODEFILE; for n in 1 3; do pbsdsh -n $n -- sh -c "echo \$PBS_NODENUM \$TMPDIR"; done
		for h in $(cat $PBS_NODEFILE); do pbs_tmrsh $h sh -c "echo \$PBS_NODENUM"; done' \
		-W spare_nodes=1 -l select=3:ncpus=2 -l place=scatter)
	same nodes 'n1 n3 n4' "$(head -n 3 <<<"$text" | xargs)"
	# what tasks write comes as it does: 1 and 3 mod 3, then each host
	same tasks "0 0 $SB/n1/tmp 1 1 $SB/n3/tmp 2" "$(tail -n +4 <<<"$text" | sed 's|/pbs\.[^ ]*||' | LC_ALL=C sort | xargs)"
	has "$(mom_log n3)" 'updated nodes info$'
}

# A job over n1 to n4, whose hosts n3 and n4 do what they get: see goes_there. What tasks say is in $room/said.
over4()
{
	room=$(mktemp -d "$(desk "$OWNER")/over.XXXXXX")
	chmod 777 "$room"
	printf '#!/bin/sh\necho "$* node $PBS_NODENUM" >>%s/said\n' "$room" >"$room/say"
	cat >"$room/follow" <<-EOF
		#!/bin/sh
		cd $room
		touch \$1.here
		while :; do
			if [ -e \$1.do ]; then mv \$1.do \$1.now; sh ./\$1.now >\$1.out 2>&1; echo \$? >>\$1.out; mv \$1.out \$1.done; fi
			sleep 0.1
		done
	EOF
	chmod 755 "$room"/*
	id=$(shell "cd $room; PATH=$KEELSON_BUILD/bin:\$PATH; export PATH
		pbsdsh -n 2 -- env PATH=\$PATH $room/follow n3 & pbsdsh -n 3 -- env PATH=\$PATH $room/follow n4 & wait" \
		"$@" -l select=1:ncpus=1:host=n1+1:ncpus=1:host=n2+1:ncpus=1:host=n3+1:ncpus=1:host=n4)
	starts "$id"
	for host in n3 n4; do wait_until 20 test -e "$room/$host.here"; done
}
begins_there() { rm -f "$room/$1.done"; echo "$2" >"$room/$1.new"; mv "$room/$1.new" "$room/$1.do"; }
# HOST STATUS: the command there has ended with it
ends_there() { wait_until 20 test -e "$room/$1.done"; same "end on $1" "$2" "$(cat "$room/$1.done")"; }
goes_there() { begins_there "$1" "$2"; ends_there "$1" 0; }

@test "tolerate-node-failures: a job that gave up its 2nd of 4 hosts: tasks of the 4th, its restart, its loss" {
	undo online
	over4 -W $TNF=all
	goes_there n3 "pbs_tmrsh n3 $room/say own" # n3 has had a task before, n4 has not
	quietly as "$OWNER" pbs_release_nodes -j "$id" n2
	for host in n1 n3 n4; do wait_until 10 nodefile_is $host "$id" 'n1 n3 n4'; done
	has "$(keelson explain "$id")" '^parts +on 3 hosts, the first is n1; given up: n2$'
	goes_there n4 "pbs_tmrsh n1 $room/say by 4"
	goes_there n3 "pbs_tmrsh n4 $KEELSON_BUILD/bin/pbs_tmrsh n3 $room/say by 3 and 4"
	goes_there n4 "pbs_tmrsh n3 $KEELSON_BUILD/bin/pbs_tmrsh n1 $room/say by 4 and 3"
	same said 'own node 2 by 4 node 0 by 3 and 4 node 1 by 4 and 3 node 0' "$(xargs <"$room/said")"
	# each gets to know that its task on the other has ended, though the daemons were restarted
	begins_there n4 "pbs_tmrsh n3 sh -c 'touch $room/n3.task; until test -e $room/go; do sleep 0.1; done; exit 7'"
	begins_there n3 "pbs_tmrsh n4 sh -c 'touch $room/n4.task; until test -e $room/go; do sleep 0.1; done; exit 8'"
	for host in n3 n4; do wait_until 10 test -e "$room/$host.task"; done
	for host in n1 n3 n4; do sandbox kill $host; sandbox restart $host; done
	wait_until 20 all_up
	touch "$room/go"
	ends_there n4 7
	ends_there n3 8
	job_is "$id" R 42 # its program waits for what it began on them before the release
	kill_mom n4
	wait_until 20 says_log n1 "$id" 'ignoring lost communication with n4 as job is tolerant of node failures$'
	job_is "$id" R 42
	same failed_hosts 'n4: the link to it is lost (run, 15059)' "$(job_attr "$id" failed_hosts)"
	goes_there n3 "pbs_tmrsh n1 $room/say without 4"
	quietly as "$OWNER" pbs_release_nodes -j "$id" n4 # it is down: its vnode stays the job's until it has left
	for host in n1 n3; do wait_until 10 nodefile_is $host "$id" 'n1 n3'; done
	same 'jobs of n4' "$id/0" "$(node_attr n4 jobs)"
	sandbox restart n4
	wait_until 20 has_no_jobs n4
	wait_until 20 no_trace n4 "$id"
	goes_there n3 "pbs_tmrsh n1 $room/say released"
}
