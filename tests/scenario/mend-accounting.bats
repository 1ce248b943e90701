# SPDX-License-Identifier: Apache-2.0
#
# mend-accounting.bats - records and clocks: suspensions, alterations, arrays.

load helper
load shared

setup_file() { open_cluster --ncpus 4 --set executor.usage_interval=1h; }

records() { accounting | grep -E "^[^;]*;$1;$2;"; } # letters, job

# z_of JOB: its one z record has everything that was used, and the processes are stopped.
z_of()
{
	local found
	found=$(records z "$1")
	same 'records z' 1 "$(wc -l <<<"$found")"
	for name in cpupercent cput mem ncpus vmem walltime; do
		has "$found" "[; ]resources_used\.$name=[0-9:]+(kb)?( |\$)" || return
	done
	stopped "$1"
}

# busy [qsub arguments]: a job that runs and has used memory and processor time.
busy() { running "$@" -- /bin/sh -c 'x=$(head -c 20000000 /dev/zero | tr "\0" x); : >'"$(here busy)"'; sleep 1000'; }

@test "mend D20: a suspension right after the start has its z record, with what the job used" {
	local id used

	id=$(unmeasured suspend)
	z_of "$id"
	qdel -W force "$id"
	id=$(unmeasured admin-suspend)
	z_of "$id"
	qsig -s admin-resume "$id"
	qdel -W force "$id"

	rm -f "$(here busy)"
	id=$(busy)
	wait_until 20 test -e "$(here busy)"
	qsig -s suspend "$id"
	used=$(records z "$id" | sed -n 's/.*resources_used\.mem=\([0-9]*\)kb.*/\1/p')
	[ "$used" -gt 20000 ] || { echo "mem=$used kb" >&2; false; }
	same 'shown' "${used}kb" "$(job_attr "$id" resources_used.mem)"
	qsig -s resume "$id"
	wait_until 20 job_is "$id" R 42
	qsig -s suspend "$id"
	same 'kinds of records' 'z r z' "$(records '[zr]' "$id" | cut -d';' -f2 | xargs)"
}

@test "mend D20: preempted right after its start, too" {
	needs_module preemption
	local victim express

	qmgr -c 'create queue express queue_type=e,priority=200,enabled=t,started=t'
	undo qmgr -c 'delete queue express'
	undo eval 'qselect | xargs -r qdel -W force; wait_until 10 no_jobs'
	victim=$(running -l ncpus=4)
	express=$(submit -q express -l ncpus=4)
	wait_until 20 job_is "$express" R 42
	job_is "$victim" S
	z_of "$victim"
}

@test "mend D21: the record of an alteration has values as the job has them, UNSET for what was emptied" {
	local id found

	id=$(submit -h -l select=1:ncpus=1 -A acct)
	as "$OWNER" qalter -l walltime=3600 -p 3 -r n -j oe -o "$(here x)" "$id"
	found=$(records a "$id")
	has "$found" ";a;$id;Resource_List.walltime=01:00:00 Priority=3 Rerunable=False Join_Path=oe Output_Path=[^ ]+:$(here x)\$"
	as "$OWNER" qalter -A '' -l walltime= "$id"
	has "$(records a "$id")" ";a;$id;Account_Name=UNSET Resource_List.walltime=UNSET\$"
	as "$OWNER" qalter -l select=2:ncpus=1:mem=2048kb -a 203001011200 -W umask=22 "$id"
	has "$(records a "$id")" ";a;$id;Resource_List.select=2:ncpus=1:mem=2048kb Execution_Time=[0-9]+ umask=22\$"
	qalter -W comment='two words' "$id"
	has "$(records a "$id")" ";a;$id;comment=\"two words\"\$"
	qalter -A "it's \"x\" user=root" "$id"
	has "$(records a "$id")" ";a;$id;Account_Name=\"it's 'x' user=root\"\$"
}

@test "mend B9: what a user alters forges no item of its record" {
	local id

	id=$(submit -h)
	says 166 "qalter: Illegal attribute or resource value value: control character $id" \
		as "$OWNER" qalter -A $'a\001user=root' "$id"
	as "$OWNER" qalter -A $'a\xc2\x85user=root' "$id"
	has "$(records a "$id")" ";a;$id;Account_Name=\"a  user=root\"\$"
}

@test "mend D23: the eligible time of an array grows while subjobs of it are queued" {
	needs_module arrays
	needs_module eligible-time
	local id

	qmgr -c 'set server eligible_time_enable = True'
	undo qmgr -c 'set server eligible_time_enable = False'
	id=$(submit -J 1-3 -l ncpus=2)
	wait_until 20 job_is "$id" B
	wait_until 20 job_is "${id/\[\]/[2]}" R 42
	same accrue_type 2 "$(job_attr "$id" accrue_type)"
	same 'accrue_type of a subjob that runs' 3 "$(job_attr "${id/\[\]/[1]}" accrue_type)"
	wait_until 20 waited "$id" 1
	wait_until 20 waited "$id" 2

	qdel "${id/\[\]/[1]}" # the last one starts
	wait_until 20 job_is "${id/\[\]/[3]}" R 42
	same accrue_type 3 "$(job_attr "$id" accrue_type)"
	qmgr -c 'set server scheduling = False'
	undo qmgr -c 'set server scheduling = True'
	qrerun "${id/\[\]/[3]}" # one waits again
	wait_until 20 job_is "${id/\[\]/[3]}" Q
	same accrue_type 2 "$(job_attr "$id" accrue_type)"
}

waited() { [ "$(job_attr "$1" eligible_time | awk -F: '{ print $1 * 3600 + $2 * 60 + $3 }')" -ge "$2" ]; }
