# SPDX-License-Identifier: Apache-2.0
#
# scheduler.bash - what the stories about scheduling share: load it after shared.bash.

# One host with 4 cpus and 2gb.
open_site()
{
	open_cluster --hosts "${1:-1}" --ncpus 4 "${@:2}"
	qmgr -c 'set node n1 resources_available.mem = 2gb'
	qmgr -c 'set sched default attr_update_period = 0' 
}

# resource NAME PARTS: a custom resource, gone when the story is over.
resource()
{
	undo qmgr -c "delete resource $1"
	qmgr -c "create resource $1 $2"
}

# has_of NODE RESOURCE=VALUE: until the story is over.
has_of()
{
	undo qmgr -c "unset node $1 resources_available.${2%%=*}"
	qmgr -c "set node $1 resources_available.$2"
}

# told LINE...: sched_config has these lines until the story is over; none: there is no such file.
told()
{
	local file=$SB/server/sched_priv/sched_config
	mkdir -p "${file%/*}"
	printf '%s\n' "$@" >"$file"
	undo told_nothing
	read_again
}

told_nothing()
{
	rm -f "$SB/server/sched_priv/sched_config"
	read_again
}

# It reads its settings when one of its attributes is set.
read_again() { qmgr -c 'set sched default server_dyn_res_alarm = 30'; }

scheduling() { qmgr -c "set server scheduling = $1"; }

# set_server WHAT VALUE: until the story is over.
set_server()
{
	undo qmgr -c "unset server $1"
	qmgr -c "set server $1 = $2"
}

set_sched()
{
	undo qmgr -c "unset sched default $1"
	qmgr -c "set sched default $1 = $2"
}

new_queue() # NAME PRIORITY
{
	undo qmgr -c "delete queue $1"
	qmgr -c "create queue $1 queue_type = e, enabled = t, started = t, Priority = $2"
}

runs() { job_is "$1" R 42; }
starts() { wait_until 10 runs "$1"; }

# waits JOB COMMENT: it stays queued, and is told why.
waits()
{
	wait_until 10 comment_is "$1" "$2"
	job_is "$1" Q
}

attr_is() { same "$2 of $1" "$3" "$(job_attr "$1" "$2")"; }

# ---- plans ---------------------------------------------------------------------------------------------

strict() { told 'strict_ordering: True ALL' 'by_queue: False ALL'; }
is_top() { attr_is "$1" topjob True; }

# estimate JOB: seconds since 1970, or nothing.
estimate()
{
	local text
	text=$(job_attr "$1" estimated.start_time)
	[ -z "$text" ] || date -d "$text" +%s
}

start_of() { date -d "$(job_attr "$1" stime)" +%s; }

# near WHAT SECONDS SECONDS: they differ by less than a minute and a bit.
near()
{
	local gap=$(($2 - $3))
	[ "${gap#-}" -le 70 ] || { echo "$1: $2 is not near $3" >&2; return 1; }
}

# ---- the log -------------------------------------------------------------------------------------------

# Lines of the server's log from now on: mark, then since.
mark() { marked=$(server_log | wc -l); }
since() { server_log | tail -n +"$((marked + 1))"; }
since_has() { has "$(since)" "$1"; }
