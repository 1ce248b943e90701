#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Routing queues: a job waits in one until a destination takes it.
#
# needs modules/routing

load helper
load shared

# queue NAME TYPE [attributes]: enabled, not started unless said.
queue()
{
	qmgr -c "create queue $1 queue_type=$2,enabled=true${3:+,$3}"
	undo qmgr -c "delete queue $1"
	undo ended_jobs
}

in_queue() { same "queue of $1" "$2" "$(job_attr "$1" queue)"; }
goes_to() { wait_until 10 in_queue "$1" "$2"; }
says_of() { same "comment of $1" "$2" "$(job_attr "$1" comment)"; }

@test "routing: the first queue that admits the job has it, and it runs there" {
	queue small execution 'resources_max.ncpus=1,started=true'
	queue big execution 'started=true'
	queue in route 'route_destinations="small,big@svr",started=true'
	a=$(submit -q in -l ncpus=1)
	b=$(submit -q in -l ncpus=2)
	goes_to "$a" small
	goes_to "$b" big
	wait_until 20 job_is "$a" R 42
	has "$(server_log)" "0100;Server@svr;Job;$a;enqueuing into in, state Q hop 1"
	has "$(server_log)" "0100;Server@svr;Job;$a;enqueuing into small, state Q hop 2"
	has "$(qstat -Q in)" '^in  .* Rou\*'
	same destinations 'small,big@svr' "$(qstat -Qf in | value route_destinations)"
}

@test "routing: a stopped routing queue keeps its jobs in Q, and nothing starts them" {
	queue out execution 'started=true'
	queue in route 'route_destinations=out'
	a=$(submit -q in)
	b=$(submit -q out)
	wait_until 20 job_is "$b" R 42
	job_is "$a" Q 10
	in_queue "$a" in
	same type R "$(job_attr "$a" queue_type)"
	says 2 "qrun: Invalid request $a" qrun "$a"
	has "$(qstat -Q in)" '^in +0 +1 yes  no +1 +0 '
	qstart in
	wait_until 20 job_is "$a" R 42
	in_queue "$a" out
}

@test "routing: held and waiting jobs stay, unless the queue routes them too" {
	queue out execution
	queue in route 'route_destinations=out,started=true'
	a=$(submit -q in -h)
	b=$(submit -q in -a 2301)
	c=$(submit -q in)
	goes_to "$c" out
	in_queue "$a" in
	in_queue "$b" in
	qmgr -c 'set queue in route_held_jobs=true'
	goes_to "$a" out
	job_is "$a" H 20
	in_queue "$b" in
	qmgr -c 'set queue in route_waiting_jobs=true'
	goes_to "$b" out
	job_is "$b" W 30
	qmgr -c 'unset queue in route_held_jobs'
	d=$(submit -q in -h)
	job_is "$d" H
	as "$OWNER" qrls "$d"
	goes_to "$d" out
}

@test "routing: refused by all for good is the job's end" {
	queue small execution 'resources_max.ncpus=1'
	queue private execution 'acl_user_enable=true,acl_users=nobody'
	queue in route 'route_destinations="small,private,nosuch",started=true'
	a=$(submit -q in -l ncpus=2)
	wait_until 10 is_over "$a"
	says_of "$a" 'Job rejected by all possible destinations'
	has "$(server_log)" "0008;Server@svr;Job;$a;Job rejected by all possible destinations"
	has "$(accounting)" ";A;$a;Job rejected by all possible destinations"
}

@test "routing: a full or closed destination may open again" {
	queue out execution
	qdisable out
	queue in route 'route_destinations="out,far@elsewhere",started=true,route_retry_time=1'
	a=$(submit -q in)
	wait_until 10 says_of "$a" 'Not Routed: far@elsewhere: Access from host not allowed, or unknown host'
	in_queue "$a" in
	qenable out
	goes_to "$a" out
	lacks "$(job_attr "$a" comment)" 'Not Routed'
}

@test "routing: more seconds than a clock has are refused" {
	queue in route 'route_destinations=out'
	for seconds in -1 2147483648 9223372036854775807; do
		found=$(qmgr -c "set queue in route_retry_time = $seconds" 2>&1) && false
		has "$found" 'Illegal attribute or resource value'
	done
	qmgr -c 'set queue in route_retry_time = 2147483647'
}

@test "routing: no longer than route_lifetime" {
	queue out execution
	qdisable out
	queue in route 'route_destinations=out,started=true,route_retry_time=1,route_lifetime=1'
	a=$(submit -q in)
	wait_until 20 is_over "$a"
	says_of "$a" 'Route queue lifetime exceeded'
}

@test "routing: not in circles" {
	queue one route 'route_destinations=two'
	queue two route 'route_destinations=one,started=true'
	undo qmgr -c 'set queue one started=false'
	qstart one
	a=$(submit -q one)
	wait_until 20 is_over "$a"
	says_of "$a" 'Job routing over too many hops'
}

@test "routing: from_route_only" {
	queue inner execution 'from_route_only=true'
	queue in route 'route_destinations=inner,started=true'
	says 174 'qsub: Access to queue is denied' as "$OWNER" qsub -q inner -- /bin/true
	a=$(submit -q in)
	goes_to "$a" inner
}

@test "routing: resources of the routing queue are forgotten, those asked for stay" {
	queue out execution 'resources_default.walltime=00:10:00'
	queue in route 'route_destinations=out,resources_default.walltime=09:00:00'
	a=$(submit -q in)
	b=$(submit -q in -l walltime=00:01:00)
	same walltime 09:00:00 "$(job_attr "$a" Resource_List.walltime)"
	qstart in
	goes_to "$a" out
	goes_to "$b" out
	same walltime 00:10:00 "$(job_attr "$a" Resource_List.walltime)"
	same walltime 00:01:00 "$(job_attr "$b" Resource_List.walltime)"
}

@test "routing: a queue knows where to before it takes jobs" {
	words=$'qmgr obj=r1 svr=default: Cannot enable queue, incomplete definition\nqmgr: Error (15030) returned from server'
	says 182 "$words" qmgr -c 'create queue r1 queue_type=route,enabled=t,started=t'
	qmgr -c 'create queue r1 queue_type=r'
	undo qmgr -c 'delete queue r1'
	same type Route "$(qstat -Qf r1 | value queue_type)"
	says 182 "$words" qmgr -c 'set queue r1 enabled=true'
	says 166 $'qmgr obj=r1 svr=default: Illegal attribute or resource value\nqmgr: Error (15014) returned from server' \
		qmgr -c 'set queue r1 route_destinations = "a,,b"'
	qmgr -c 'set queue r1 route_destinations = workq'
	quietly qmgr -c 'set queue r1 enabled=true'
	quietly qmgr -c 'set queue r1 route_destinations += other'
	same destinations workq,other "$(qstat -Qf r1 | value route_destinations)"
}

@test "routing: jobs in it survive the server" {
	queue out execution
	queue in route 'route_destinations=out'
	a=$(submit -q in)
	sandbox kill server
	sandbox restart server
	job_is "$a" Q 10
	in_queue "$a" in
	qstart in
	goes_to "$a" out
}

@test "routing: a queue with jobs keeps its type" {
	queue in route 'route_destinations=workq'
	a=$(submit -q in)
	says 179 $'qmgr obj=in svr=default: Cannot delete busy object\nqmgr: Error (15027) returned from server' \
		qmgr -c 'set queue in queue_type=execution'
}
