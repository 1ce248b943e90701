#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Issue "what breaks in other people's hands", what sites know otherwise of the scheduler: order, plans, scripts, log lines.
# bats file_tags=scheduler
#
# needs modules/fairshare
# needs modules/arrays
load helper
load shared
load scheduler

setup_file() { open_site 1; }

# ---- fair share -----------------------------------------------------------------------------------------

# shares LINE...: who has which part, until the story is over; nobody has used anything.
shares()
{
	undo pbsfs -e
	undo rm -f "$SB/server/sched_priv/resource_group"
	mkdir -p "$SB/server/sched_priv"
	printf '%s\n' "$@" >"$SB/server/sched_priv/resource_group"
	pbsfs -e
}

usage() { pbsfs -g "$1" | sed -n 's/^usage: \([0-9]*\) .*/\1/p'; }
used_at_least() { qmgr -c 'set server scheduling = true' && [ "$(usage "$1")" -ge "$2" ]; }

# in_order USER...: of jobs that all need the whole host, submitted in this order; prints who started.
in_order()
{
	local user ids=()
	scheduling false
	for user; do ids+=("$(submit_as "$user" -l ncpus=4)"); done
	scheduling true
	wait_until 10 one_runs
	value euser "$(qstat -f $(qselect -s R))"
	qdel "${ids[@]}"
	wait_until 10 no_jobs
}
one_runs() { [ "$(qselect -s R | wc -l)" -eq 1 ]; }

@test "mend D2: nothing was used yet: the larger share goes first" {
	needs_root
	told 'fair_share: True ALL'
	shares "$OWNER 1 root 20" "$OTHER 2 root 80"
	same first "$OTHER" "$(in_order "$OWNER" "$OTHER")"
	same 'usage shown' '1 1' "$(usage "$OWNER") $(usage "$OTHER")"
	has "$(pbsfs -p)" "^$OWNER *: .* Usage: 1 "
}

@test "mend D2: two users of unknown are alike: both go by its shares, before any usage" {
	needs_root
	told 'fair_share: True ALL' 'unknown_shares: 80'
	shares "$MANAGER 3 root 20"
	same first "$OWNER" "$(in_order "$MANAGER" "$OWNER" "$OTHER")"
	same first "$OTHER" "$(in_order "$MANAGER" "$OTHER" "$OWNER")"
	same 'usage shown' '1 1' "$(usage "$OWNER") $(usage "$OTHER")"
	same compared 0 "$(pbsfs -c "$OWNER" "$OTHER")"
}

@test "mend D2: what runs is charged at each cycle" {
	needs_root
	told 'fair_share: True ALL' 'fairshare_usage_res: walltime'
	shares "$OWNER 1 root 50"
	running >/dev/null
	wait_until 4 used_at_least "$OWNER" 3 # usage_interval is 30 s
}

# ---- arrays -----------------------------------------------------------------------------------------------

@test "mend D4: an array at its limit is a top job, when one of its subjobs ends" {
	local a long
	strict
	a=$(submit -J 1-3%1 -l select=1:ncpus=1 -l walltime=1:00:00)
	starts "${a/\[/\[1}"
	wait_until 10 is_top "$a"
	near 'its estimate' "$(estimate "$a")" $(($(start_of "${a/\[/\[1}") + 3600))
	same 'where it will be' '(n1:ncpus=1)' "$(job_attr "$a" estimated.exec_vnode)"
	has "$(job_attr "$a" comment)" '^Job Array Began at '
	# who is behind it does not delay it: 3 cpus are free, all 4 are not
	long=$(submit -l select=1:ncpus=3 -l walltime=2:00:00)
	starts "$long"
	job_is "$a" B
}

@test "mend D4: suspended subjobs do not count against the limit" {
	local a
	a=$(submit -J 1-3%1 -l select=1:ncpus=1)
	starts "${a/\[/\[1}"
	qsig -s suspend "${a/\[/\[1}"
	starts "${a/\[/\[2}"
	job_is "${a/\[/\[3}" Q
	sandbox restart server
	wait_until 20 node_is n1 free
	qdel "${a/\[/\[2}"
	starts "${a/\[/\[3}"
	job_is "${a/\[/\[1}" S
}

# ---- formulas, order --------------------------------------------------------------------------------------

@test "mend D5: a formula counts sizes in kb, and so do thresholds" {
	local few enough
	set_server job_sort_formula "'mem/100'"
	set_sched job_sort_formula_threshold 3
	few=$(submit -l select=1:ncpus=1:mem=300kb)
	waits "$few" 'Not Running: Job is under job_sort_formula threshold value'
	has "$(server_log)" ";$few;Formula Evaluation = 3\$"
	has "$(server_log)" ";$few;Job's formula value 3 is under threshold 3\$"
	enough=$(submit -l select=1:ncpus=1:mem=1mb)
	starts "$enough"
	has "$(server_log)" ";$enough;Formula Evaluation = 10.24\$"
}

@test "mend D6: strict order, a queue without backfill: nobody starts behind its job" {
	local first second third
	strict
	new_queue deep 0
	qmgr -c 'set queue deep backfill_depth = 0'
	first=$(running -l select=1:ncpus=3)
	second=$(submit -q deep -l select=1:ncpus=2)
	waits "$second" 'Not Running: Insufficient amount of resource: ncpus (R: 2 A: 1 T: 4)'
	third=$(submit -l select=1:ncpus=1)
	waits "$third" 'Not Running: Job would break strict sorted order'
	same 'its estimate' '' "$(estimate "$second")"
	qdel "$first"
	starts "$second"
	starts "$third"
}

# ---- resources of the server --------------------------------------------------------------------------------

new_resource() # NAME TYPE
{
	undo qmgr -c "delete resource $1"
	qmgr -c "create resource $1 type = $2"
}

# knows RESOURCE TEXT: a script that says so of a resource of the server.
knows()
{
	printf '#!/bin/sh\necho "%s"\n' "$2" >"$SB/server/$1.sh"
	chmod 700 "$SB/server/$1.sh"
	told "server_dyn_res: \"$1 !$SB/server/$1.sh\""
}

@test "mend D6b: a script of server_dyn_res may say a string" {
	local right wrong
	new_resource color string
	knows color red
	right=$(submit -l color=red)
	starts "$right"
	wrong=$(submit -l color=blue)
	waits "$wrong" 'Can Never Run: Insufficient amount of server resource: color (blue != red)'
}

@test "mend D6b: a script of server_dyn_res may say several words" {
	local right wrong
	new_resource colors string_array
	knows colors red,green
	right=$(submit -l colors=green)
	starts "$right"
	wrong=$(submit -l colors=blue)
	waits "$wrong" 'Can Never Run: Insufficient amount of server resource: colors (blue != red,green)'
}

@test "mend D6b: a script of server_dyn_res may say True" {
	local right wrong
	new_resource tb boolean
	knows tb True
	right=$(submit -l tb=True)
	starts "$right"
	wrong=$(submit -l tb=False)
	waits "$wrong" 'Can Never Run: Insufficient amount of server resource: tb (False != True)'
}

@test "mend D6b: a boolean that the server does not have keeps no job from running" {
	local one other
	new_resource fast boolean
	one=$(submit -l fast=True)
	other=$(submit -l fast=False)
	starts "$one"
	starts "$other"
	set_server resources_available.fast False
	one=$(submit -l fast=True)
	waits "$one" 'Can Never Run: Insufficient amount of server resource: fast (True != False)'
}

@test "mend D6c: soft_walltime is a manager's, and what is planned with" {
	needs_root
	local first second
	strict
	run as "$OWNER" qsub -l soft_walltime=600 -- /bin/sleep 100
	same 'exit of a user' 155 "$status"
	has "$output" 'Cannot set attribute, read only or insufficient permission .*soft_walltime'
	first=$(submit_as "$MANAGER" -l select=1:ncpus=4 -l walltime=2:00:00 -l soft_walltime=600)
	starts "$first"
	run as "$OWNER" qalter -l soft_walltime=900 "$first"
	[ "$status" -ne 0 ]
	second=$(submit -l select=1:ncpus=4 -l walltime=1:00:00)
	wait_until 10 is_top "$second"
	near 'its estimate' "$(estimate "$second")" $(($(start_of "$first") + 600))
}

# ---- the log --------------------------------------------------------------------------------------------------

@test "mend D29: an array at its limit says so" {
	local a
	a=$(submit -J 1-3%1 -l select=1:ncpus=1)
	starts "${a/\[/\[1}"
	said() { server_log | grep -F ";$a;Number of concurrent running subjobs limit reached"; }
	wait_until 10 said
}

@test "mend D29: decay is told" {
	told 'fair_share: True ALL'
	mark
	pbsfs -d
	since_has 'Decaying Fairshare Tree'
}

@test "mend D29: each job that is looked at is told; equal ones are one line" {
	local full one i
	full=$(running -l select=1:ncpus=4)
	scheduling false
	mark
	one=$(submit -l select=1:ncpus=2)
	for i in 2 3 4; do submit -l select=1:ncpus=2 >/dev/null; done
	scheduling true
	waits "$one" 'Not Running: Not enough free nodes available'
	since_has ";$full;Considering job to run" && return 1
	since_has ";$one;Considering job to run, and 3 that are equal to it"
	same 'lines' 1 "$(since | grep -c 'Considering job to run')"
}

@test "mend D29: the job behind one that breaks the order is considered, too" {
	local one two
	strict
	set_server backfill_depth 0
	running -l select=1:ncpus=4 >/dev/null
	mark
	one=$(submit -l select=1:ncpus=2)
	two=$(submit -l select=1:ncpus=3)
	waits "$two" 'Not Running: Job would break strict sorted order'
	since_has ";$one;Considering job to run"
	since_has ";$two;Considering job to run"
}

@test "mend D29: chunks that were looked at" {
	local one two
	set_server log_events 2047
	mark
	one=$(running -l select=1:ncpus=1:mem=10mb+2:ncpus=1)
	since_has "Node;$one;Evaluating subchunk: ncpus=1:mem=10mb\$"
	since_has "Node;$one;Allocated one subchunk: ncpus=1:mem=10mb\$"
	since_has "Node;$one;Allocated one subchunk: ncpus=1\$"
	two=$(submit -l select=1:ncpus=1+1:ncpus=2)
	waits "$two" 'Not Running: Insufficient amount of resource: ncpus (R: 3 A: 1 T: 4)'
	since_has "Node;$two;Allocated one subchunk: ncpus=1\$"
	since_has "Node;$two;Failed to satisfy subchunk: 1:ncpus=2\$"
}

# ---- one past what it takes ----------------------------------------------------------------------------

text_of() { printf "%*s" "$1" '' | tr ' ' "$2"; } # length, letter

@test "past the limit: sched_config has 1 MiB" { # past modules/scheduler/config.c FILE_MAX_BYTES
	local line='strict_ordering: perhaps'
	mark
	told "#$(text_of $((1048576 - ${#line} - 3)) x)" "$line"
	same 'size of the file' 1048576 "$(stat -c %s "$SB/server/sched_priv/sched_config")"
	since_has 'Error reading line 2: '
	mark
	told "#$(text_of $((1048576 - ${#line} - 2)) x)" "$line"
	since_has 'sched_config;has more than 1 MiB; it has no effect'
	lacks "$(since)" 'Error reading line'
}

# says_of_foo TEXT: what a job that wants 5 of foo does while a script says TEXT.
says_of_foo()
{
	printf '%s\n' "$1" >"$SB/server/foo.txt"
	chmod 600 "$SB/server/foo.txt"
	scheduling true
}

@test "past the limit: the line of a script of server_dyn_res" { # past modules/scheduler/dynres.c LINE_MAX_LEN
	local job
	new_resource foo long
	undo rm -f "$SB/server/foo.sh"
	printf '#!/bin/sh\ncat "%s"\n' "$SB/server/foo.txt" >"$SB/server/foo.sh"
	chmod 700 "$SB/server/foo.sh"
	printf '%s5\n' "$(text_of 4095 ' ')" >"$SB/server/foo.txt"
	mark
	told "server_dyn_res: \"foo !$SB/server/foo.sh\""
	job=$(submit -l foo=5)
	wait_until 10 since_has 'returned bad output: a line of more than 4095 characters'
	since_has 'Setting resource foo to 0'
	job_is "$job" Q
	printf '%s5\n' "$(text_of 4094 ' ')" >"$SB/server/foo.txt"
	scheduling true
	starts "$job"
}

@test "past the limit: a formula that is set" { # past modules/scheduler/formula.h FORMULA_MAX
	local longest
	longest="ncpus+$(text_of 4088 0)1"
	same length 4095 "${#longest}"
	set_server job_sort_formula "'$longest'"
	run -19 qmgr -c "set server job_sort_formula = '${longest}1'"
	has "$output" 'Invalid Formula Format'
	has "$(qmgr -c 'list server')" 'job_sort_formula = ncpus[+]0'
}

# What is refused with this many lines of job_sort_key.
refused_of()
{
	local lines=() i
	for ((i = 0; i < $1; i++)); do lines+=('job_sort_key: "ncpus HIGH"'); done
	mark
	told "${lines[@]}"
	since | grep -c 'job_sort_key "ncpus HIGH" has no effect: jobs are ordered by 8 numbers at most' || true
}

@test "past the limit: numbers that order jobs" { # past modules/scheduler/scheduler.h JOB_KEYS_MAX
	local over
	over=$(refused_of 9) # modules bring some of the eight
	[ "$over" -ge 1 ]
	same 'refused of those that have room' 0 "$(refused_of $((9 - over)))"
	same 'refused of one more' 1 "$(refused_of $((10 - over)))"
}

@test "past the limit: lines of node_sort_key" { # past modules/scheduler/place.h SORT_KEYS_MAX
	local i lines=() job
	for ((i = 0; i < 16; i++)); do lines+=('node_sort_key: "ncpus HIGH"'); done
	mark
	told "${lines[@]}"
	job=$(submit)
	starts "$job"
	lacks "$(since)" 'node_sort_key;.* is left out'
	told "${lines[@]}" 'node_sort_key: "mem LOW"' 'smp_cluster_dist: round_robin'
	job=$(submit)
	starts "$job"
	since_has 'node_sort_key;"mem LOW" is left out: more than 16 keys'
}
