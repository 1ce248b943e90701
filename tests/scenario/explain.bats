#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# keelson explain, qexplain: all that is checked before a job starts, and what is in its way.
# bats file_tags=scheduler
load helper
load shared
load scheduler

setup_file() { open_site 1; }

@test "explain: what is missing, how much there is, and who has it" {
	local holder job found
	holder=$(running -l select=1:ncpus=3)
	job=$(submit -l select=1:ncpus=2)
	waits "$job" 'Not Running: Insufficient amount of resource: ncpus (R: 2 A: 1 T: 4)'
	found=$(keelson explain "$job")
	has "$found" "^job +$job  state Q  queue workq\$"
	has "$found" '^comment +Not Running: Insufficient amount of resource: ncpus'
	has "$found" '^back-off +none$'
	has "$found" '^queue +ok: workq is started$'
	has "$found" '^policies +ok$'
	has "$found" '^placement +not now: Insufficient amount of resource: ncpus \(R: 2 A: 1 T: 4\) \[16339 ncpus\]$'
	has "$found" '^vnodes +0 could take a chunk now, 1 not$'
	has "$found" "^  n1 +chunk 1, free: .*\(R: 2 A: 1 T: 4\); held by $holder\$"
	same 'words of qexplain' "$found" "$(qexplain "$job")"
}

@test "explain: what can never be" {
	local job
	job=$(submit -l select=1:ncpus=9)
	has "$(qexplain "$job")" '^placement +never: Insufficient amount of resource: ncpus \(R: 9 A: 4 T: 4\)'
}

@test "explain: amounts of the server, a stopped queue, scheduling that is off, a vnode that is offline" {
	local job found
	undo qmgr -c 'delete resource tokens'
	qmgr -c 'create resource tokens type=long,flag=q'
	set_server resources_available.tokens 3
	new_queue slow 0
	qmgr -c 'set queue slow started = f'
	job=$(submit -q slow -l tokens=2)
	undo pbsnodes -r n1
	pbsnodes -o n1
	undo scheduling true
	scheduling false
	found=$(qexplain "$job")
	has "$found" '^server total ok: tokens: wants 2, 3 of 3 are free$'
	has "$found" '^queue +Queue not started. \(slow\)$'
	has "$found" '^scheduling +off: no job starts$'
	has "$found" '^  n1 +chunk 1, offline: Node is in an ineligible state: offline$'
	qdel -W force "$job"
	wait_until 10 no_jobs
	qmgr -c 'set server job_history_enable = false'
	qmgr -c 'set server job_history_enable = true'
}

@test "explain: its owner may ask, others may not where they do not see jobs of others, and of what is not there nobody" {
	local job
	needs_root
	job=$(submit -l select=1:ncpus=9)
	has "$(as "$OWNER" qexplain "$job")" '^placement +never'
	undo qmgr -c "set server query_other_jobs = True"
	qmgr -c "set server query_other_jobs = False"
	run -159 as "$OTHER" qexplain "$job"
	has "$output" 'Unauthorized Request'
	run ! qexplain 99999
	has "$output" 'Unknown Job Id'
	run -2 qexplain
	has "$output" '^usage: qexplain'
}

@test "explain: a subjob that has not started" {
	local array
	needs_module arrays
	array=$(submit -J 1-5 -l select=1:ncpus=3)
	wait_until 10 job_is "${array/\[\]/[1]}" R 42
	found=$(qexplain "${array/\[\]/[3]}")
	has "$found" "^job +${array%%\[*}\\[3\\]\\.svr +state Q  waits in ${array%%\[*}\\[\\]\\.svr"
	has "$found" '^placement +not now: Insufficient amount of resource: ncpus \(R: 3 A: 1 T: 4\)'
	run -153 qexplain "${array/\[\]/[7]}"
	qdel "${array/\[\]/[4]}"
	has "$(qexplain "${array/\[\]/[4]}")" '^job .* state X  is over'
}

@test "explain: policies have their say" {
	local job
	undo sandbox reload --disable job_explain
	cp "$KEELSON_BUILD/tests/fixtures/job_explain.so" "$SB/"
	job=$(submit -h)
	printf 'job_explain: { enabled = true; path = "%s"; };\n' "$SB/job_explain.so" \
		>"$SB/server/etc/modules.d/job_explain.conf"
	undo rm -f "$SB/server/etc/modules.d/job_explain.conf"
	keelson reload
	has "$(keelson explain "$job")" '^fixture  ok$'
}

@test "explain: what is asked about the job waits for a module" {
	local job
	undo keelson reload
	job=$(running)
	printf 'hold: { enabled = true; path = "%s"; };\n' "$KEELSON_BUILD/tests/fixtures/hold.so" \
		>"$SB/server/etc/modules.d/hold.conf"
	undo rm -f "$SB/server/etc/modules.d/hold.conf"
	keelson reload
	lacks "$(keelson explain "$job")" '^waits'
	qdel "$job" 3>&- &
	is_held() { keelson holds | grep -q "^$job job_delete"; }
	wait_until 10 is_held
	has "$(keelson explain "$job")" '^waits +hold: waiting for the job to end \([0-9]+s of 30s\)$'
	qsig -s KILL "$job"
	wait
}

refuse_impossible()
{
	local conf=$SB/server/etc/modules.d/scheduler.conf
	sed -i --follow-symlinks "s/refuse_impossible = .*/refuse_impossible = $1;/" "$conf"
	keelson reload
}

@test "refuse_impossible: a job that could never run is refused at once" {
	local job
	refuse_impossible true
	undo refuse_impossible false
	says 188 'qsub: Can Never Run: Insufficient amount of resource: ncpus (R: 9 A: 4 T: 4)' \
		as "$OWNER" qsub -l select=1:ncpus=9 -- /bin/sleep 10
	job=$(running -l select=1:ncpus=4)
	job_is "$(submit -l select=1:ncpus=4)" Q
}
