#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Slots of a vnode over restarts: who had one has it still, and nobody else gets it.
load helper

setup() { setup_sandbox --hosts 1 --ncpus 4; qmgr -c 'set server job_history_enable = true'; }

host_of() { job_attr "$1" exec_host; }
jobs_on_n1() { node_attr n1 jobs; }

@test "mend A8: no two jobs share a slot after one ended and the server restarted" {
	a=$(running -l select=1:ncpus=1)
	b=$(running -l select=1:ncpus=1)
	same 'first' n1/0 "$(host_of "$a")"
	same 'second' n1/1 "$(host_of "$b")"
	pid=$(processes "$b" | head -n 1)
	qdel "$a"
	wait_until 20 gone "$a"
	sandbox restart server --hard
	wait_until 20 node_is n1 free
	same 'on the vnode' "$b/1" "$(jobs_on_n1)"
	c=$(running -l select=1:ncpus=1)
	same 'of the second' n1/1 "$(host_of "$b")"
	same 'of the third' n1/0 "$(host_of "$c")"
	same 'on the vnode' "$b/1, $c/0" "$(jobs_on_n1)"
	kill -0 "$pid"
	going "$c"
}

# exec_host names the first slot only: a job whose others lie apart takes what is free, and gives way to whom
# exec_host names.
@test "mend A8: a slot that no exec_host names goes to the job whose exec_host names it" {
	a=$(running -l select=1:ncpus=1)
	b=$(running -l select=1:ncpus=1)
	qdel "$a"
	wait_until 20 gone "$a"
	c=$(running -l select=1:ncpus=2)
	same 'on the vnode' "$b/1, $c/0, $c/2" "$(jobs_on_n1)"
	qalter -N later "$b"
	sandbox restart server --hard
	wait_until 20 node_is n1 free
	d=$(running -l select=1:ncpus=1)
	same 'hosts' 'n1/1 n1/0*2 n1/3' "$(host_of "$b") $(host_of "$c") $(host_of "$d")"
	same 'slots' '/0 /1 /2 /3' "$(jobs_on_n1 | grep -o '/[0-9]*' | sort | xargs)"
	has "$(jobs_on_n1)" "$b/1"
}

@test "mend A8: a job that is resumed has no slot that another was started on meanwhile" {
	a=$(running -l select=1:ncpus=1)
	qsig -s suspend "$a"
	wait_until 20 job_is "$a" S
	b=$(running -l select=1:ncpus=1)
	same 'of the second' n1/0 "$(host_of "$b")"
	qsig -s resume "$a"
	wait_until 20 job_is "$a" R
	same 'of both' 'n1/1 n1/0' "$(host_of "$a") $(host_of "$b")"
	sandbox restart server --hard
	wait_until 20 node_is n1 free
	same 'of both' 'n1/1 n1/0' "$(host_of "$a") $(host_of "$b")"
	same 'slots' '/0 /1' "$(jobs_on_n1 | grep -o '/[0-9]*' | sort | xargs)"
	going "$a"
	going "$b"
}

gone() { job_is "$1" F; }
