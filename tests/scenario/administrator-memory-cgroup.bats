#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# $enforce mem where the kernel bounds the memory of a job: nothing is read here before the kernel acts.

# needs modules/host-limits
load helper
load shared

# bounds_memory: may the hosts of stories make groups for that? Those of the first kind here, else of the second.
bounds_memory()
{
	local own dir
	own=$(sed -n 's/^[0-9]*:memory:\(.*\)/\1/p' /proc/self/cgroup)
	dir=$(findmnt -rno TARGET,OPTIONS -t cgroup | sed -nE 's/^([^ ]*) .*\bmemory\b.*/\1/p' | head -n 1)
	[ -n "$own" ] && [ -n "$dir" ] && mkdir "$dir$own/keelson-story.$$" 2>/dev/null && rmdir "$dir$own/keelson-story.$$"
}

setup_file()
{
	bounds_memory || skip 'no group that bounds memory can be made here'
	open_cluster --hosts 2 --set executor.usage_interval=1h --set host-limits.mem=true
}
setup()
{
	join_cluster
	grab=$KEELSON_BUILD/tests/scenario/tools/grab
}

here() { echo "$(desk "$OWNER")/$1"; }
over() # JOB WORDS FILE
{
	wait_until 30 is_over "$1"
	same status -27 "$(job_attr "$1" Exit_status)"
	comment_says "$1" " and exceeded resource mem \\($2\\)\$"
	has "$(cat "$(here "$3")")" "^=>> PBS: job killed: $2\$"
}

@test "administrator #21: the kernel bounds a job's memory between readings, and its end says so with the same words" {
	local id
	id=$(submit -l select=1:ncpus=1:mem=40mb:host=n1 -o "$(here out)" -e "$(here err)" -- "$grab" 106)
	over "$id" 'mem 40960kb exceeded limit 40960kb' err
	mom_log n1 | grep -F ";Job;$id;mem 40960kb exceeded limit 40960kb"
	id=$(running -l select=1:ncpus=1:mem=300mb:host=n1 -o "$(here out)" -e "$(here err)" -k oed -- "$grab" 107)
	wait_until 20 grep -q grabbed "$(here out)"
	qdel "$id"
	ends "$id"
	same status 271 "$(job_attr "$id" Exit_status)"
	id=$(submit -l select=1:ncpus=1:host=n1 -o "$(here out3)" -e "$(here err3)" -k oed -- "$grab" 108)
	wait_until 20 grep -q grabbed "$(here out3)"
	job_is "$id" R
}

@test "administrator #21: a task that the kernel ends on another host ends the whole job with its reason" {
	local id
	needs_module sisters
	needs_module task-manager
	id=$(submit -l select=1:ncpus=1:mem=1gb:host=n1+1:ncpus=1:mem=40mb:host=n2 -o "$(here out)" -e "$(here err)" \
		-- /bin/sh -c "$KEELSON_BUILD/bin/pbsdsh -n 1 -- $grab 109; sleep 1000")
	over "$id" 'mem 40960kb exceeded limit 40960kb on n2' err
}

@test "administrator #21: a job that the kernel ends while no daemon is there ends with its reason" {
	local id
	id=$(running -l select=1:ncpus=1:mem=40mb:host=n1 -o "$(here out)" -e "$(here err)" \
		-- /bin/sh -c "until test -e $(here go); do sleep 0.1; done; exec $grab 110")
	kill_mom n1
	touch "$(here go)"
	wait_until 20 eval '! pgrep -f "^/bin/sh -c until test -e $(here go)"'
	sandbox restart n1
	wait_until 30 is_over "$id"
	same status -27 "$(job_attr "$id" Exit_status)"
	comment_says "$id" ' and exceeded resource mem \(mem 40960kb exceeded limit 40960kb\)$'
}
