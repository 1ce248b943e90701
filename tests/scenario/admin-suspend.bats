#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Admin-suspend: jobs are suspended in place so that somebody can work on their vnodes. The vnodes are in
# maintenance until the last of those jobs is resumed or gone.
#
# needs modules/admin-suspend

load helper

WRONG_RESUME='qsig: Job can not be resumed with the requested resume signal'
BAD_STATE='qsig: Request invalid for state of job'
FULL='Not Running: Not enough free nodes available'

# One host of 4 cpus, n1, unless said otherwise; finished jobs are remembered.
cluster()
{
	setup_sandbox --set executor.first_host_only=true "$@" # jobs lie over several hosts
	qmgr -c 'set server job_history_enable = true'
}

paused() { qmgr -c 'set server scheduling = false'; }
is_waiting() { job_is "$1" Q && comment_is "$1" "$FULL"; }

@test "admin-suspend #1: a job is suspended, its vnode enters maintenance" {
	cluster
	a=$(running)
	quietly qsig -s admin-suspend "$a"
	job_is "$a" S 43
	qstat "$a" | grep -q ' S workq'
	same 'selected as suspended' "$a" "$(qselect -s S)"
	same 'selected as running' '' "$(qselect -s R)"
	node_is n1 maintenance "$a"
}

@test "admin-suspend #2: a second job joins the list, in order of suspension" {
	cluster
	a=$(running) b=$(running)
	quietly qsig -s admin-suspend "$b"
	quietly qsig -s admin-suspend "$a"
	node_is n1 maintenance "$b,$a"
}

@test "admin-suspend #3: the first resume needs no scheduler and does not end maintenance" {
	cluster
	a=$(running) b=$(running)
	paused
	qsig -s admin-suspend "$a" "$b"
	quietly qsig -s admin-resume "$a"
	job_is "$a" R 42
	job_is "$b" S 43
	node_is n1 maintenance "$b"
}

@test "admin-suspend #4: the last resume ends maintenance" {
	cluster
	a=$(running) b=$(running)
	qsig -s admin-suspend "$a" "$b"
	qsig -s admin-resume "$a"
	quietly qsig -s admin-resume "$b"
	job_is "$b" R 42
	node_is n1 free ''
}

@test "admin-suspend #5: several operands; an unknown one does not stop the others" {
	cluster
	a=$(running) b=$(running)
	quietly qsig -s admin-suspend "$a" "$b"
	quietly qsig -s admin-resume "$a" "$b"
	says 153 'qsig: Unknown Job Id 999.svr' qsig -s admin-suspend "$a" 999 "$b"
	job_is "$a" S 43
	job_is "$b" S 43
}

@test "admin-suspend #6: the owner may not suspend" {
	needs_root
	cluster
	a=$(running)
	says 159 "qsig: Unauthorized Request  $a" as "$OWNER" qsig -s admin-suspend "$a"
	job_is "$a" R 42
	node_is n1 free ''
}

@test "admin-suspend #7: the owner may not resume" {
	needs_root
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	says 159 "qsig: Unauthorized Request  $a" as "$OWNER" qsig -s admin-resume "$a"
	job_is "$a" S 43
	node_is n1 maintenance "$a"
}

@test "admin-suspend #8: an operator may do both, and so may a manager" {
	needs_root
	cluster
	a=$(running)
	for person in "$OPERATOR" "$MANAGER"; do
		quietly as "$person" qsig -s admin-suspend "$a"
		node_is n1 maintenance "$a"
		quietly as "$person" qsig -s admin-resume "$a"
		node_is n1 free ''
	done
}

@test "admin-suspend #9: nobody sets the state maintenance by hand" {
	cluster
	says 219 "qmgr obj=n1 svr=default: Illegal value for node state
qmgr: Error (15067) returned from server" qmgr -c 'set node n1 state = maintenance'
	node_is n1 free ''
}

@test "admin-suspend #10: nobody writes maintenance_jobs" {
	needs_root
	cluster
	read_only="qmgr obj=n1 svr=default: \
Cannot set attribute, read only or insufficient permission  maintenance_jobs
qmgr: Error (15003) returned from server"
	says 155 "$read_only" qmgr -c 'set node n1 maintenance_jobs = foo'
	says 155 "$read_only" as "$OPERATOR" qmgr -c 'set node n1 maintenance_jobs = foo'
	says 159 "qmgr obj=n1 svr=default: Unauthorized Request 
qmgr: Error (15007) returned from server" as "$OWNER" qmgr -c 'set node n1 maintenance_jobs = foo'
	node_is n1 free ''
}

@test "admin-suspend #11: everybody sees maintenance, managers see whose" {
	needs_root
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	for person in "$OTHER" "$OPERATOR"; do
		found=$(as "$person" pbsnodes -v n1)
		has "$found" '^     state = maintenance$'
		lacks "$found" maintenance_jobs
	done
	has "$(as "$MANAGER" pbsnodes -v n1)" "^     maintenance_jobs = $a\$"
}

@test "admin-suspend #12: a plainly suspended job is not admin-resumed" {
	cluster
	a=$(running)
	qsig -s suspend "$a"
	says 73 "$WRONG_RESUME $a" qsig -s admin-resume "$a"
	job_is "$a" S 43
	node_is n1 free ''
}

@test "admin-suspend #13: an admin-suspended job is not plainly resumed" {
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	says 73 "$WRONG_RESUME $a" qsig -s resume "$a"
	job_is "$a" S 43
	node_is n1 maintenance "$a"
}

@test "admin-suspend #14: admin-resume of a running, a queued and a finished job" {
	cluster
	a=$(running)
	done=$(submit -- /bin/true)
	wait_until 20 is_over "$done"
	paused
	queued=$(submit)
	says 73 "$WRONG_RESUME $a" qsig -s admin-resume "$a"
	job_is "$a" R 42
	says 168 "$BAD_STATE $queued" qsig -s admin-resume "$queued"
	says 35 'qsig: Job has finished' qsig -s admin-resume "$done"
}

@test "admin-suspend #15: twice is once; suspend after admin-suspend is refused" {
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	says 168 "$BAD_STATE $a" qsig -s admin-suspend "$a"
	says 168 "$BAD_STATE $a" qsig -s suspend "$a"
	node_is n1 maintenance "$a"
	quietly qsig -s admin-resume "$a"
	node_is n1 free ''
}

@test "admin-suspend #15: admin-suspend after suspend is refused too" {
	cluster
	a=$(running)
	qsig -s suspend "$a"
	says 168 "$BAD_STATE $a" qsig -s admin-suspend "$a"
	node_is n1 free ''
}

@test "admin-suspend #16: a queued job cannot be suspended" {
	cluster
	paused
	a=$(submit)
	says 168 "$BAD_STATE $a" qsig -s admin-suspend "$a"
	job_is "$a" Q
}

@test "admin-suspend #17: SIGTERM is refused, SIGKILL ends the job and frees the vnode" {
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	says 168 "$BAD_STATE $a" as "$OWNER" qsig -s TERM "$a"
	job_is "$a" S 43
	quietly as "$OWNER" qsig -s KILL "$a"
	wait_until 20 is_over "$a"
	same Exit_status 265 "$(job_attr "$a" Exit_status)"
	node_is n1 free ''
}

@test "admin-suspend #18: no new work on a vnode in maintenance" {
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	b=$(submit)
	wait_until 20 is_waiting "$b"
	qsig -s admin-resume "$a"
	wait_until 20 job_is "$b" R 42
}

@test "admin-suspend #19: jobs that run there go on; the last resume lets others in" {
	cluster --vnodes 3
	wide=(-l select=3:ncpus=1 -l place=vscatter)
	a=$(running "${wide[@]}") b=$(running "${wide[@]}") c=$(running "${wide[@]}")
	qsig -s admin-suspend "$a" "$b"
	job_is "$c" R 42
	d=$(submit "${wide[@]}")
	wait_until 20 is_waiting "$d"
	qsig -s admin-resume "$a"
	for v in 0 1 2; do node_is "n1[$v]" maintenance "$b"; done
	job_is "$d" Q
	qsig -s admin-resume "$b"
	wait_until 20 job_is "$d" R 42
	for v in 0 1 2; do node_is "n1[$v]" job-busy ''; done
}

@test "admin-suspend #20: a job over several vnodes takes them all" {
	cluster --vnodes 3
	a=$(running -l select=3:ncpus=1 -l place=vscatter)
	qsig -s admin-suspend "$a"
	for v in 0 1 2; do node_is "n1[$v]" maintenance "$a"; done
	qsig -s admin-resume "$a"
	for v in 0 1 2; do node_is "n1[$v]" free ''; done
}

@test "admin-suspend #21: where two overlap, both must be resumed" {
	cluster --vnodes 3
	wide=$(running -l select=3:ncpus=1 -l place=vscatter)
	narrow=$(running -l 'select=1:ncpus=1:vnode=n1[0]')
	qsig -s admin-suspend "$wide" "$narrow"
	qsig -s admin-resume "$wide"
	node_is 'n1[0]' maintenance "$narrow"
	node_is 'n1[1]' free ''
	node_is 'n1[2]' free ''
}

@test "admin-suspend #22: an exclusive job: job-exclusive, maintenance, job-exclusive" {
	cluster --vnodes 3
	a=$(running -l select=3:ncpus=1 -l place=vscatter:excl)
	for v in 0 1 2; do node_is "n1[$v]" job-exclusive; done
	qsig -s admin-suspend "$a"
	for v in 0 1 2; do node_is "n1[$v]" maintenance "$a"; done
	qsig -s admin-resume "$a"
	for v in 0 1 2; do node_is "n1[$v]" job-exclusive ''; done
}

@test "admin-suspend #23: a full vnode: job-busy, maintenance, job-busy" {
	cluster
	a=$(running -l ncpus=4)
	node_is n1 job-busy
	qsig -s admin-suspend "$a"
	node_is n1 maintenance "$a"
	qsig -s admin-resume "$a"
	node_is n1 job-busy ''
}

@test "admin-suspend #24: sibling vnodes of the host stay usable" {
	cluster --vnodes 3
	a=$(running -l 'select=1:ncpus=1:vnode=n1[0]')
	qsig -s admin-suspend "$a"
	node_is 'n1[0]' maintenance "$a"
	for v in 1 2; do
		node_is "n1[$v]" free ''
		running -l "select=1:ncpus=1:vnode=n1[$v]"
	done
}

@test "admin-suspend #25: two chunks on one vnode are listed once" {
	cluster
	a=$(running -l select=2:ncpus=1 -l place=pack)
	same exec_vnode '(n1:ncpus=1)+(n1:ncpus=1)' "$(job_attr "$a" exec_vnode)"
	qsig -s admin-suspend "$a"
	node_is n1 maintenance "$a"
	qsig -s admin-resume "$a"
	node_is n1 free ''
}

@test "admin-suspend #26: qdel of the only admin-suspended job frees the vnode for those who wait" {
	cluster
	qmgr -c 'set queue workq kill_delay = 2'
	a=$(running -l ncpus=2) plain=$(running -l ncpus=2)
	qsig -s admin-suspend "$a"
	qsig -s suspend "$plain"
	qsig -s resume "$plain"
	waiting=$(submit -l ncpus=2)
	wait_until 20 is_waiting "$waiting"
	quietly qdel "$a"
	wait_until 40 is_over "$a"
	wait_until 20 job_is "$waiting" R 42
	wait_until 20 job_is "$plain" R 42
	node_is n1 job-busy ''
}

@test "admin-suspend #26: qdel -Wforce frees the vnode at once" {
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	quietly qdel -Wforce "$a"
	wait_until 2 node_is n1 free ''
	is_over "$a"
}

@test "admin-suspend #27: qrerun is refused, qrerun -Wforce takes the job out" {
	needs_module arrays
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	says 168 "qrerun: Request invalid for state of job $a" qrerun "$a"
	job_is "$a" S 43
	node_is n1 maintenance "$a"
	paused
	quietly qrerun -Wforce "$a"
	wait_until 20 job_is "$a" Q
	node_is n1 free ''
	qmgr -c 'set server scheduling = true'
	wait_until 20 job_is "$a" R 42
	same run_count 2 "$(job_attr "$a" run_count)"
	node_is n1 free ''
}

# array RANGE INDEX...: an array of $OWNER of which these subjobs run; prints its id.
array()
{
	local range=$1 id index
	shift
	id=$(submit -J "$range") || return
	for index; do wait_until 20 job_is "$(sub "$id" "$index")" R 42 || return; done
	echo "$id"
}
# stopped_are ARRAY INDEX...: just these are listed on n1; one signal stops them in any order
stopped_are()
{
	local id=$1 index list=()
	shift
	node_is n1 maintenance || return
	for index; do list+=("$(sub "$id" "$index")"); done
	same maintenance_jobs "${list[*]}" "$(mj n1 | tr , '\n' | sort | paste -sd' ')"
}

@test "admin-suspend #28: subjobs, one by one" {
	needs_module arrays
	cluster
	a=$(array 1-2 1 2)
	one=$(sub "$a" 1) two=$(sub "$a" 2)
	quietly qsig -s admin-suspend "$one"
	node_is n1 maintenance "$one"
	quietly qsig -s admin-suspend "$two"
	job_is "$a" B
	node_is n1 maintenance "$one,$two"
	job_is "$one" S 43
	paused
	quietly qsig -s admin-resume "$one"
	job_is "$one" R 42
	job_is "$two" S 43
	node_is n1 maintenance "$two"
	quietly qsig -s admin-resume "$two"
	job_is "$two" R 42
	node_is n1 free ''
	job_is "$a" B
}

@test "admin-suspend #29: a range acts on both, the whole array on those that are left" {
	needs_module arrays
	cluster
	a=$(array 1-3 1 2 3)
	quietly qsig -s admin-suspend "$(sub "$a" 1-2)"
	stopped_are "$a" 1 2
	job_is "$(sub "$a" 3)" R
	quietly qsig -s admin-suspend "$a"
	stopped_are "$a" 1 2 3
	quietly qsig -s admin-suspend "$a"
	stopped_are "$a" 1 2 3
	quietly qsig -s admin-resume "$(sub "$a" 1-3:2)"
	stopped_are "$a" 2
	quietly qsig -s admin-resume "$a"
	node_is n1 free ''
}

@test "admin-suspend #30: of a mixed array only the admin-suspended ones are resumed" {
	needs_module arrays
	cluster
	a=$(array 1-3 1 2 3)
	qsig -s admin-suspend "$(sub "$a" 1)"
	qsig -s suspend "$(sub "$a" 3)"
	says 73 "$WRONG_RESUME $a" qsig -s admin-resume "$a"
	job_is "$(sub "$a" 1)" R 42
	job_is "$(sub "$a" 2)" R 42
	job_is "$(sub "$a" 3)" S 43
	node_is n1 free ''
}

@test "admin-suspend #31: a range that does not run is refused at once" {
	needs_module arrays
	cluster
	a=$(array 1-9 1 2 3 4)
	says 168 "$BAD_STATE $(sub "$a" 7-9)" timeout 10 qsig -s admin-suspend "$(sub "$a" 7-9)"
	says 168 "$BAD_STATE $(sub "$a" 7)" timeout 10 qsig -s admin-suspend "$(sub "$a" 7)"
	says 153 "qsig: Unknown Job Id $(sub "$a" 10)" timeout 10 qsig -s admin-suspend "$(sub "$a" 10)"
	node_is n1 job-busy ''
}

@test "admin-suspend #32: a restart of the server changes nothing" {
	cluster
	a=$(running)
	comment=$(job_attr "$a" comment)
	qsig -s admin-suspend "$a"
	sandbox restart server
	wait_until 20 node_is n1 maintenance "$a"
	job_is "$a" S 43
	same comment "$comment" "$(job_attr "$a" comment)"
	says 73 "$WRONG_RESUME $a" qsig -s resume "$a"
	quietly qsig -s admin-resume "$a"
	job_is "$a" R 42
	node_is n1 free ''
}

@test "admin-suspend #32: order of suspension outlives a restart" {
	cluster
	a=$(running) b=$(running) c=$(running)
	qsig -s admin-suspend "$c" "$a"
	sandbox restart server
	wait_until 20 node_is n1 maintenance "$c,$a"
	quietly qsig -s admin-suspend "$b"
	node_is n1 maintenance "$c,$a,$b"
}

@test "admin-suspend #33: a restart after the last resume brings nothing back" {
	cluster
	a=$(running) b=$(running)
	qsig -s admin-suspend "$a" "$b"
	qsig -s admin-resume "$a" "$b"
	sandbox restart server
	wait_until 20 node_is n1 free ''
	quietly qsig -s admin-suspend "$a"
	node_is n1 maintenance "$a"
	quietly qsig -s admin-resume "$a"
	node_is n1 free ''
}

@test "admin-suspend #34: the record of the job vanished while the server was down" {
	command -v sqlite3 >/dev/null || skip "needs sqlite3"
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	sandbox kill server
	sqlite3 "$SB/server/server_priv/keelson.db" "DELETE FROM objects WHERE class = 'job' AND id = '$a'"
	sandbox restart server
	wait_until 20 node_is n1 free ''
	says 153 "qstat: Unknown Job Id $a" qstat "$a"
}

@test "admin-suspend #35: offline while in maintenance stays offline after it" {
	cluster
	qmgr -c 'set queue workq kill_delay = 2'
	a=$(running) b=$(running)
	qsig -s admin-suspend "$a" "$b"
	qmgr -c 'set node n1 state = offline'
	node_is n1 offline,maintenance "$a,$b"
	as "$OWNER" qdel "$a"
	wait_until 40 is_over "$a"
	node_is n1 offline,maintenance "$b"
	qsig -s admin-resume "$b"
	node_is n1 offline ''
	job_is "$b" R 42
	c=$(submit)
	wait_until 20 is_waiting "$c"
}

@test "admin-suspend #36: state=free and pbsnodes -r do not end maintenance" {
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	quietly qmgr -c 'set node n1 state = free'
	quietly pbsnodes -r n1
	node_is n1 maintenance "$a"
	quietly pbsnodes -o n1
	node_is n1 offline,maintenance "$a"
	quietly pbsnodes -r n1
	node_is n1 maintenance "$a"
}

@test "admin-suspend #36: pbsnodes -r takes hosts, not vnodes" {
	cluster --vnodes 2
	says 1 'Error marking node n1[0] - Unknown node ' pbsnodes -r 'n1[0]'
}

@test "admin-suspend #37: a host that is down: the resume fails, nothing changes, it can be repeated" {
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	sandbox kill n1
	wait_until 20 node_is n1 down,maintenance "$a"
	says 222 "qsig: Server could not connect to MOM $a" qsig -s admin-resume "$a"
	job_is "$a" S 43
	node_is n1 down,maintenance "$a"
	sandbox restart n1
	wait_until 20 node_is n1 maintenance "$a"
	stopped "$a"
	quietly qsig -s admin-resume "$a"
	job_is "$a" R 42
	node_is n1 free ''
	going "$a"
}

@test "admin-suspend #41: plain suspend leaves no trace on the vnode" {
	cluster
	a=$(running)
	qsig -s suspend "$a"
	job_is "$a" S 43
	node_is n1 free ''
}

@test "admin-suspend #42: fifteen rounds, nothing left behind" {
	cluster
	a=$(running)
	pid=$(head -n 1 "$SB/server/server_priv/server.lock")
	for round in {1..15}; do
		quietly qsig -s admin-suspend "$a"
		node_is n1 maintenance "$a"
		quietly qsig -s admin-resume "$a"
		job_is "$a" R 42
		node_is n1 free ''
		[ "$round" -ne 5 ] || before=$(awk '/VmRSS/ { print $2 }' "/proc/$pid/status")
	done
	after=$(awk '/VmRSS/ { print $2 }' "/proc/$pid/status")
	# A sanitizer keeps what was freed for a while; it finds leaks in its own way.
	[ -n "${KEELSON_SANITIZED-}" ] || [ $((after - before)) -lt 1024 ] ||
		{ echo "server grew from $before to $after kB"; false; }
	lacks "$(server_log)" '^[^;]*;0001;'
}

@test "admin-suspend #44: accounting: z with usage per suspend, an empty r per resume" {
	cluster --set executor.usage_interval=1s
	a=$(running)
	wait_until 60 has_usage "$a"
	qsig -s admin-suspend "$a"
	qsig -s admin-resume "$a"
	qsig -s admin-suspend "$a"
	qsig -s admin-resume "$a"
	records=$(accounting | grep -E "^[^;]*;[zr];$a;")
	same 'kinds of records' 'z r z r' "$(cut -d';' -f2 <<<"$records" | xargs)"
	lacks "$(grep ';z;' <<<"$records" | grep -v ";z;$a;resources_used\..*walltime=")" .
	lacks "$records" ";r;$a;."
}

@test "admin-suspend #44: a job that was not measured yet is, as it is suspended: z and r" {
	cluster --set executor.usage_interval=1h
	a=$(unmeasured admin-suspend)
	qsig -s admin-resume "$a"
	same 'kinds of records' 'z r' "$(accounting | grep -E "^[^;]*;[zr];$a;" | cut -d';' -f2 | xargs)"
	has "$(accounting)" ";z;$a;resources_used\..*walltime="
}

@test "admin-suspend #45: what the logs tell" {
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	b=$(submit)
	wait_until 20 is_waiting "$b"
	says 73 "$WRONG_RESUME $a" qsig -s resume "$a"
	says 168 "$BAD_STATE $a" qsig -s admin-suspend "$a"
	qsig -s admin-resume "$a"
	log=$(server_log) who="$ME@[^;]*"
	lacks "$log" 'Unknown Node State'
	has "$log" ";0080;[^;]*;Job;$a;signal job request received\$"
	has "$log" ";0004;[^;]*;Job;$a;admin-suspend job by $who\$"
	has "$log" ";0008;[^;]*;Job;$a;job signaled with admin-suspend by $who\$"
	has "$log" ";0004;[^;]*;Job;$a;admin-resume job by $who\$"
	has "$log" ";0400;[^;]*;Job;$a;Updated job state to 82 and substate to 43\$"
	has "$log" ";0400;[^;]*;Node;n1;set_vnode_state;vnode.state=0x20000 vnode_o.state=0x0 .*\
state_bits=0x20000 state_bit_op_type_str=Nd_State_Or state_bit_op_type_enum=1\$"
	has "$log" ";0400;[^;]*;Node;n1;set_vnode_state;vnode.state=0x0 vnode_o.state=0x20000 .*\
state_bits=0xfffffffffffdffff state_bit_op_type_str=Nd_State_And state_bit_op_type_enum=2\$"
	has "$log" ";0080;[^;]*;Req;[^;]*;Reject reply code=15177, aux=0, .*from $who\$"
	has "$log" ";0080;[^;]*;Req;$a;Execution server rejected request\$"
	has "$(mom_log n1)" ";0004;[^;]*;Job;$a;signal job with admin-suspend\$"
	has "$(mom_log n1)" ";0004;[^;]*;Job;$a;signal job with admin-resume\$"
}

@test "admin-suspend #46: a vnode whose jobs must still be resumed is not deleted" {
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	says 179 "qmgr obj=n1 svr=default: Cannot delete busy object
qmgr: Error (15027) returned from server" qmgr -c 'delete node n1'
	node_is n1 maintenance "$a"
	quietly qsig -s admin-resume "$a"
}

@test "admin-suspend #48: pbsnodes -l does not list a vnode that is only in maintenance" {
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	quietly pbsnodes -l
	pbsnodes -o n1
	has "$(pbsnodes -l)" '^n1 .*offline,maintenance'
}

@test "admin-suspend #49: the names are lower case, nothing else" {
	cluster
	a=$(running)
	for name in ADMIN-SUSPEND Admin-resume SIGadmin-suspend ''; do
		says 165 "qsig: Unknown/illegal signal name $a" qsig -s "$name" "$a"
	done
	job_is "$a" R 42
	node_is n1 free ''
}

@test "admin-suspend #50: maintenance ends although a plainly suspended job is left" {
	cluster
	a=$(running -l ncpus=2) b=$(running -l ncpus=2)
	qsig -s admin-suspend "$a"
	qsig -s suspend "$b"
	node_is n1 maintenance "$a"
	qsig -s admin-resume "$a"
	node_is n1 free ''
	job_is "$b" S 43
	running -l ncpus=2
}

@test "admin-suspend #51: a plainly suspended job waits for the end of maintenance" {
	cluster
	a=$(running -l ncpus=2) b=$(running -l ncpus=2)
	qsig -s admin-suspend "$a"
	qsig -s suspend "$b"
	quietly qsig -s resume "$b"
	wait_until 20 comment_is "$b" "$FULL"
	job_is "$b" S 45
	qsig -s admin-resume "$a"
	wait_until 20 job_is "$b" R 42
}

@test "admin-suspend #52: a job over hosts takes its vnodes on all of them" {
	cluster --hosts 3
	a=$(running -l select=3:ncpus=1 -l place=scatter)
	qsig -s admin-suspend "$a"
	for n in n1 n2 n3; do node_is "$n" maintenance "$a"; done
	b=$(submit)
	wait_until 20 is_waiting "$b"
	qsig -s admin-resume "$a"
	job_is "$a" R 42
	for n in n1 n2 n3; do node_is "$n" free ''; done
	wait_until 20 job_is "$b" R 42
}

@test "admin-suspend #53: subjobs alone outlive a restart" {
	needs_module arrays
	cluster
	a=$(array 1-2 1 2)
	qsig -s admin-suspend "$a"
	sandbox restart server
	wait_until 20 stopped_are "$a" 1 2
	job_is "$(sub "$a" 1)" S 43
	job_is "$(sub "$a" 2)" S 43
	job_is "$a" B
	quietly qsig -s admin-resume "$a"
	node_is n1 free ''
	job_is "$(sub "$a" 1)" R 42
}

@test "admin-suspend #53: where a restart requeues subjobs, they run again and nothing is in maintenance" {
	needs_module arrays
	cluster --set 'arrays.requeue_subjobs_at_restart=true'
	a=$(array 1-2 1 2)
	one=$(sub "$a" 1) two=$(sub "$a" 2)
	sessions="$(session_of "$one") $(session_of "$two")"
	qsig -s admin-suspend "$a"
	sandbox restart server
	wait_until 20 job_is "$one" R 42
	wait_until 20 job_is "$two" R 42
	node_is n1 free ''
	same run_count '2 2' "$(job_attr "$one" run_count) $(job_attr "$two" run_count)"
	for session in $sessions; do
		wait_until 20 eval "[ -z \"\$(ps -o pid= -s $session)\" ]"
	done
}

@test "admin-suspend #55: listings of a host with one vnode in maintenance" {
	cluster --vnodes 2
	a=$(running -l 'select=1:ncpus=1:vnode=n1[0]')
	qsig -s admin-suspend "$a"
	has "$(pbsnodes -aS)" '^n1 +<various> '
	has "$(pbsnodes -aSv)" '^n1\[0\] +maintenance '
	has "$(pbsnodes -aSv)" '^n1\[1\] +free '
	has "$(pbsnodes -v 'n1[0]' -F json)" "\"maintenance_jobs\":[[:space:]]*\"$a\""
	has "$(pbsnodes -aSjv)" '^n1\[0\] +maintenance +0 +0 +0 .* --$'
	has "$(qmgr -c 'list node n1[0] state,maintenance_jobs')" "maintenance_jobs = $a"
	printed=$(qmgr -c 'print node n1[0]')
	has "$printed" '^set node n1\[0\] state = maintenance$'
	lacks "$printed" maintenance_jobs
}

@test "admin-suspend #56: the owner may send signals, not suspend or resume" {
	needs_root
	cluster
	a=$(running)
	for name in suspend resume admin-suspend admin-resume; do
		says 159 "qsig: Unauthorized Request  $a" as "$OWNER" qsig -s "$name" "$a"
	done
	quietly as "$OWNER" qsig -s CONT "$a"
	says 159 "qsig: Unauthorized Request  $a" as "$OTHER" qsig -s CONT "$a"
	job_is "$a" R 42
}

# ---- processes -------------------------------------------------------------------------------------------

@test "admin-suspend, processes: every one of the session is stopped, and goes on afterwards" {
	cluster
	a=$(running -- /bin/sh -c '/bin/sleep 1000 & (/bin/sleep 1001 & wait) & while :; do :; done')
	wait_until 20 has_processes "$a" 4
	going "$a"
	qsig -s admin-suspend "$a"
	stopped "$a"
	has_processes "$a" 4
	qsig -s admin-resume "$a"
	going "$a"
	has_processes "$a" 4
}

has_processes() { [ "$(processes "$1" | wc -l)" -ge "$2" ]; }

@test "admin-suspend, processes: without the freezer of cgroups just the same" {
	cluster --set executor.freezer=false
	a=$(running -- /bin/sh -c '/bin/sleep 1000 & while :; do :; done')
	wait_until 20 has_processes "$a" 2
	qsig -s admin-suspend "$a"
	stopped "$a"
	qsig -s admin-resume "$a"
	going "$a"
}

@test "admin-suspend, processes: those of a job next to it go on" {
	cluster
	a=$(running) b=$(running)
	qsig -s admin-suspend "$a"
	stopped "$a"
	going "$b"
}

@test "admin-suspend, processes: a job over hosts stops on each of them" {
	cluster --hosts 2
	a=$(running -l select=2:ncpus=1 -l place=scatter)
	qsig -s admin-suspend "$a"
	stopped "$a"
	for n in n1 n2; do node_is "$n" maintenance "$a"; done
	qsig -s admin-resume "$a"
	going "$a"
}

# ---- one verb for a node ----------------------------------------------------------------------------------

@test "admin-suspend, one verb: every job of a node, and back" {
	cluster --hosts 2
	a=$(running -l select=1:ncpus=1:host=n1) b=$(running -l select=1:ncpus=1:host=n1)
	wide=$(running -l select=2:ncpus=1 -l place=scatter)
	other=$(running -l select=1:ncpus=1:host=n2)
	says 0 '3 jobs suspended' pbsnodes --admin-suspend n1
	node_is n1 maintenance "$(mj n1)" # asked at once, they stop in any order
	same "jobs of n1, sorted" "$(printf "%s\n" "$a" "$b" "$wide" | sort)" "$(mj n1 | tr , "\n" | sort)"
	node_is n2 maintenance "$wide"
	job_is "$other" R 42
	says 0 '3 jobs resumed' pbsnodes --admin-resume n1
	node_is n1 free ''
	node_is n2 free ''
	for job in "$a" "$b" "$wide"; do job_is "$job" R 42; done
}

@test "admin-suspend, one verb: a comment is kept, with who and when, for operators" {
	needs_root
	cluster
	a=$(running)
	says 0 '1 job suspended' as "$OPERATOR" pbsnodes --admin-suspend -C 'new fans' n1
	has "$(as "$OPERATOR" qstat -f "$a" | value admin_suspended)" \
		"^1 by $OPERATOR@[^ ]+ at [A-Z][a-z]+ .* [0-9]{4}: new fans\$"
	lacks "$(as "$OWNER" qstat -f "$a")" admin_suspended
	says 0 '1 job resumed' as "$OPERATOR" pbsnodes --admin-resume n1
	lacks "$(as "$OPERATOR" qstat -f "$a")" admin_suspended
}

@test "admin-suspend, one verb: what qsig suspended stays so" {
	cluster
	a=$(running) b=$(running)
	qsig -s admin-suspend "$a"
	says 0 '1 job suspended' pbsnodes --admin-suspend n1
	node_is n1 maintenance "$a,$b"
	says 0 '1 job resumed' pbsnodes --admin-resume n1
	job_is "$a" S 43
	job_is "$b" R 42
	node_is n1 maintenance "$a"
	quietly qsig -s admin-resume "$a"
	node_is n1 free ''
}

@test "admin-suspend, one verb: a job that two nodes' verbs hold waits for both" {
	cluster --hosts 2
	wide=$(running -l select=2:ncpus=1 -l place=scatter)
	says 0 '1 job suspended' pbsnodes --admin-suspend n1
	says 0 '0 jobs suspended' pbsnodes --admin-suspend n2
	says 0 '0 jobs resumed' pbsnodes --admin-resume n1
	job_is "$wide" S 43
	node_is n1 maintenance "$wide"
	says 0 '1 job resumed' pbsnodes --admin-resume n2
	job_is "$wide" R 42
	node_is n1 free ''
	node_is n2 free ''
}

@test "admin-suspend, one verb: vnodes of the node that go on taking jobs are named" {
	cluster --vnodes 3
	a=$(running -l 'select=1:ncpus=1:vnode=n1[0]')
	says 0 "1 job suspended
not in maintenance, for no job was suspended there: n1[1],n1[2]; set them offline to keep new jobs away" \
		pbsnodes --admin-suspend n1
	pbsnodes -o n1
	says 0 '0 jobs suspended' pbsnodes --admin-suspend n1
	pbsnodes -r n1
	says 0 '1 job resumed' pbsnodes --admin-resume n1
	job_is "$a" R 42
}

@test "admin-suspend, one verb: for nodes that exist, by operators" {
	cluster
	a=$(running)
	for verb in admin-suspend admin-resume; do
		says 214 'pbsnodes: Unknown node  nosuch' pbsnodes --$verb nosuch
	done
	needs_root
	for verb in admin-suspend admin-resume; do
		says 159 'pbsnodes: Unauthorized Request (operators and managers may) n1' as "$OWNER" pbsnodes --$verb n1
	done
	job_is "$a" R 42
}

@test "admin-suspend, one verb: it is remembered over a restart of the server" {
	cluster
	a=$(running) b=$(running)
	qsig -s admin-suspend "$a"
	pbsnodes --admin-suspend n1
	sandbox restart server
	wait_until 20 node_is n1 maintenance "$a,$b"
	says 0 '1 job resumed' pbsnodes --admin-resume n1
	node_is n1 maintenance "$a"
}

@test "admin-suspend, one verb: a host that is down is said, and can be repeated" {
	cluster
	a=$(running)
	pbsnodes --admin-suspend n1
	sandbox kill n1
	wait_until 20 node_is n1 down,maintenance "$a"
	says 222 "pbsnodes: $a: Server could not connect to MOM n1" pbsnodes --admin-resume n1
	job_is "$a" S 43
	sandbox restart n1
	wait_until 20 node_is n1 maintenance "$a"
	says 0 '1 job resumed' pbsnodes --admin-resume n1
	job_is "$a" R 42
	node_is n1 free ''
}

# ---- without the module -----------------------------------------------------------------------------------

@test "admin-suspend, reload: not disabled while somebody must be resumed" {
	cluster
	a=$(running) b=$(running)
	qsig -s admin-suspend "$b" "$a"
	found=$(sandbox reload --disable admin-suspend 2>&1) && false
	has "$found" "admin-suspend is busy: jobs are admin-suspended \($a,$b\)"
	node_is n1 maintenance "$b,$a"
	quietly qsig -s admin-resume "$a" "$b"
	node_is n1 free ''
}

# The hosts have to be heard again; the marks are on the jobs.
@test "admin-suspend, reload: it and the base under it are loaded anew while somebody must be resumed" {
	cluster --hosts 2
	wide=$(running -l select=2:ncpus=1 -l place=scatter) a=$(running -l select=1:ncpus=1:host=n1)
	says 0 '2 jobs suspended' pbsnodes --admin-suspend -C fans n1
	marks="$(mj n1) $(mj n2) $(job_attr "$wide" admin_suspended)"
	for name in admin-suspend nodes jobs; do
		has "$(keelson reload "$name")" "^$name: restarted\$"
		wait_until 20 node_is n1 maintenance
		wait_until 20 node_is n2 maintenance
		same 'lists and mark' "$marks" "$(mj n1) $(mj n2) $(job_attr "$wide" admin_suspended)"
		job_is "$a" S 43
	done
	found=$(keelson unload admin-suspend 2>&1) && false
	has "$found" "jobs are admin-suspended \($wide,$a\); admin-resume or delete them first"
	says 73 "$WRONG_RESUME $a" qsig -s resume "$a"
	says 0 '2 jobs resumed' pbsnodes --admin-resume n1
	node_is n1 free ''
	node_is n2 free ''
}

@test "admin-suspend, reload: disabled, its words are unknown; enabled again, they are back" {
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	qsig -s admin-resume "$a"
	sandbox reload --disable admin-suspend
	says 165 "qsig: Unknown/illegal signal name $a" qsig -s admin-suspend "$a"
	says 165 "qsig: Unknown/illegal signal name $a" qsig -s admin-resume "$a"
	says 154 'qmgr obj=n1 svr=default: Undefined attribute 
qmgr: Error (15002) returned from server' qmgr -c 'set node n1 maintenance_jobs = foo'
	node_is n1 free ''
	quietly qsig -s suspend "$a"
	sandbox reload --enable admin-suspend
	says 73 "$WRONG_RESUME $a" qsig -s admin-resume "$a"
	quietly qsig -s resume "$a"
	wait_until 20 job_is "$a" R 42
	quietly qsig -s admin-suspend "$a"
	node_is n1 maintenance "$a"
	quietly qsig -s admin-resume "$a"
	node_is n1 free ''
}

@test "admin-suspend, reload: not switched off between a question to a host and its answer" {
	cluster
	a=$(running)
	kill -STOP "$(cat "$SB/n1/mom_priv/mom.lock")"
	qsig -s admin-suspend "$a" >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
	asked() { server_log | grep -q "admin-suspend job by"; }
	wait_until 10 asked
	keelson unload admin-suspend 2>"$BATS_TEST_TMPDIR/unload" || unloaded=$?
	has "${unloaded-0} $(cat "$BATS_TEST_TMPDIR/unload")" '^(0 |1 .*answers between module admin-suspend and others are on their way)'
	kill -CONT "$(cat "$SB/n1/mom_priv/mom.lock")"
	wait $! && state=S || state=R # the link may have been given up meanwhile
	wait_until 20 keelson modules # the server is there
	job_is "$a" $state
}

# ---- crashes -----------------------------------------------------------------------------------------------

@test "admin-suspend, crash: kill -9 of the server loses nothing" {
	cluster
	a=$(running) b=$(running)
	qsig -s admin-suspend "$b" "$a"
	sandbox kill server
	sandbox restart server
	wait_until 20 node_is n1 maintenance "$b,$a"
	job_is "$a" S 43
	stopped "$a"
	qsig -s admin-resume "$b"
	node_is n1 maintenance "$a"
	qsig -s admin-resume "$a"
	node_is n1 free ''
	going "$a"
	job_is "$a" R 42
}

@test "admin-suspend, crash: kill -9 of the host's daemon leaves the job stopped" {
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	sandbox kill n1
	wait_until 20 node_is n1 down,maintenance "$a"
	sandbox restart n1
	wait_until 20 node_is n1 maintenance "$a"
	job_is "$a" S 43
	stopped "$a"
	says 168 "$BAD_STATE $a" as "$OWNER" qsig -s TERM "$a"
	qsig -s admin-resume "$a"
	going "$a"
	job_is "$a" R 42
	node_is n1 free ''
}

@test "admin-suspend, crash: kill -9 of both at once" {
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	sandbox kill n1
	sandbox kill server
	sandbox restart server
	sandbox restart n1
	wait_until 20 node_is n1 maintenance "$a"
	job_is "$a" S 43
	stopped "$a"
	qsig -s admin-resume "$a"
	going "$a"
	node_is n1 free ''
}

@test "admin-suspend, crash: a job deleted while its host is down leaves no maintenance behind" {
	cluster
	a=$(running)
	qsig -s admin-suspend "$a"
	sandbox kill n1
	wait_until 20 node_is n1 down,maintenance "$a"
	quietly qdel -Wforce "$a"
	node_is n1 down ''
	sandbox restart n1
	wait_until 20 node_is n1 free ''
}

@test "admin-suspend #40: a preempted neighbour waits until the maintenance is over" {
	needs_module preemption
	cluster
	qmgr -c 'create queue express queue_type=execution,priority=200,enabled=true,started=true'
	qmgr -c 'set sched preempt_order = S'
	low=$(running -l select=1:ncpus=4)
	high=$(submit -q express -l select=1:ncpus=4)
	wait_until 20 job_is "$high" R 42
	job_is "$low" S 45
	qsig -s admin-suspend "$high"
	node_is n1 maintenance "$high"
	quietly qsig -s resume "$low"
	waits() { has "$(job_attr "$low" comment)" '^Not Running: Not enough free nodes available' 2>/dev/null; }
	wait_until 10 waits
	job_is "$low" S 45
	quietly qdel "$low"
	wait_until 40 job_is "$low" F
	node_is n1 maintenance "$high"
	quietly qsig -s admin-resume "$high"
	job_is "$high" R 42
	node_is n1 job-busy ''
}

@test "admin-suspend #47: a restriction holds for it too" {
	needs_module release-restriction
	cluster
	qmgr -c 'set server restrict_res_to_release_on_suspend = ncpus'
	id=$(running -l select=1:ncpus=2:mem=100mb)
	qsig -s admin-suspend "$id"
	same ncpus 0 "$(node_attr n1 resources_assigned.ncpus)"
	same mem 102400kb "$(node_attr n1 resources_assigned.mem)"
	same resources_released '(n1:ncpus=2)' "$(job_attr "$id" resources_released)"
	has "$(accounting)" ";z;$id;.*resources_released=\(n1:ncpus=2\)\$"
	qsig -s admin-resume "$id"
	lacks "$(qstat -f "$id")" 'resources_released|resource_released_list'
}

# rsub SECONDS DURATION [pbs_rsub arguments]: its id, confirmed.
rsub()
{
	as "$OWNER" pbs_rsub -I 60 -R "$(date -d "+$1 seconds" +%Y%m%d%H%M.%S)" -D "$2" "${@:3}" | sed -n 's/ CONFIRMED$//p'
}

@test "admin-suspend #38: a reservation on its vnode is degraded until the maintenance is over" {
	needs_module reservations
	needs_root
	cluster
	local resv nodes id
	resv=$(rsub 3600 600 -l select=1:ncpus=1)
	nodes=$(resv_attr "$resv" resv_nodes)
	id=$(running -l walltime=60)
	qsig -s suspend "$id"
	job_is "$id" S
	resv_is "$resv" CONFIRMED
	qsig -s resume "$id"
	starts "$id"
	qsig -s admin-suspend "$id"
	resv_is "$resv" DEGRADED
	same substate 10 "$(resv_attr "$resv" reserve_substate)"
	[ "$(date -d "$(resv_attr "$resv" reserve_retry)" +%s)" -gt "$(($(date +%s) + 300))" ]
	same resv_nodes "$nodes" "$(resv_attr "$resv" resv_nodes)"
	log_has "$resv;An attempt to reconfirm reservation will be made on "
	qsig -s admin-resume "$id"
	resv_is "$resv" CONFIRMED
	same substate 2 "$(resv_attr "$resv" reserve_substate)"
	same reserve_retry '' "$(resv_attr "$resv" reserve_retry)"
}

@test "admin-suspend #39: its reservation ends: it is deleted, the maintenance is over, and others start" {
	needs_module reservations
	needs_root
	cluster
	local resv id other
	resv=$(rsub 3 15 -l select=1:ncpus=4)
	id=$(submit -q "${resv%%.*}" -l select=1:ncpus=1)
	starts "$id"
	other=$(submit -l select=1:ncpus=4)
	qsig -s admin-suspend "$id"
	node_is n1 maintenance "$id"
	wait_until 60 is_over "$id"
	starts "$other"
	node_is n1 job-busy ''
	same reservations '' "$(pbs_rstat)"
}

@test "admin-suspend #54: a reservation on its vnode gets another one" {
	needs_module reservations
	needs_root
	cluster --hosts 2
	local resv id
	qmgr -c 'set server reserve_retry_time = 5'
	id=$(running -l select=1:ncpus=1:host=n1 -l walltime=60)
	pbsnodes -o n2
	resv=$(rsub 3600 600 -l select=1:ncpus=1)
	same resv_nodes '(n1:ncpus=1)' "$(resv_attr "$resv" resv_nodes)"
	pbsnodes -r n2
	qsig -s admin-suspend "$id"
	resv_is "$resv" DEGRADED
	wait_until 20 resv_is "$resv" CONFIRMED
	same resv_nodes '(n2:ncpus=1)' "$(resv_attr "$resv" resv_nodes)"
}
