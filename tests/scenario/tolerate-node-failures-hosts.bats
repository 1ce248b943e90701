#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Jobs over five hosts of which some fail (five-hosts.bash). Hooks of a site are fixtures: tolerant_qjob pads, tolerant_sister refuses on
# some hosts, tolerant_launch releases.
#
# needs modules/tolerate-node-failures
# needs modules/sisters

load helper
load shared
load five-hosts

TNF=tolerate_node_failures
KEEP=ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=2:mem=2gb
PADDED=1:ncpus=3:mem=2gb+2:ncpus=3:mem=2gb+2:ncpus=2:mem=2gb

setup_file()
{
	local name
	knobs=$BATS_FILE_TMPDIR/knobs
	mkdir -m 755 "$knobs"
	export knobs
	for name in qjob sister launch; do
		echo "tolerant_$name: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/tolerant_$name.so\"; dir = \"$knobs\"; };"
	done >"$BATS_FILE_TMPDIR/tolerant.conf"
	open_cluster --hosts 5 --also "$BATS_FILE_TMPDIR/tolerant.conf" --set sisters.max_poll_downtime=3s
	make_bed
}

# knob NAME [LINE]: what the fixtures do until the story is over
knob() { echo "${2-}" >"$knobs/$1"; undo rm -f "$knobs/$1"; }
hooks() { knob pad job_start; knob keep "$KEEP"; }

# HOST JOB WORDS
nodefile_is() { same "node file of $1" "$3" "$(xargs <"$SB/$1/aux/$2")"; }
says_log() { has "$(mom_log "$1" | grep ";$2;")" "$3" 2>/dev/null; }
# a host that the job gave back: no process of it; its record stays until the job is over
has_left() { [ ! -e "$SB/$1/mom_priv/jobs/$2.TK" ] || grep -q '^ended ' "$SB/$1/mom_priv/jobs/$2.TK"; }
# nothing of the job is left on a host: no process, no node file
no_trace() { [ ! -e "$SB/$1/aux/$2" ] && ! grep -qszF "TMPDIR=$SB/$1/tmp/pbs.$2" /proc/[0-9]*/environ; }
assigned() { node_attr "$1" "resources_assigned.$2"; }
free_nodes() { for n; do same "jobs of $n" '' "$(node_attr "$n" jobs)" || return; done; }

@test "tolerate-node-failures #12: a padded job is shown padded while it waits" {
	hooks
	id=$(submit -h "${J1[@]}")
	found=$(qstat -f "$id")
	same mem 10gb "$(value Resource_List.mem "$found")"
	same ncpus 13 "$(value Resource_List.ncpus "$found")"
	same nodect 5 "$(value Resource_List.nodect "$found")"
	same select $PADDED "$(value Resource_List.select "$found")"
	same schedselect $PADDED "$(value schedselect "$found")"
	same site "$KEEP" "$(value Resource_List.site "$found")"
}

# RULES SELECT: what select a job gets that is submitted so
incremented() { echo "$1" >"$knobs/more"; job_attr "$(submit -h -l select="$2")" Resource_List.select; }

@test "tolerate-node-failures #8, #9, #10, #11: a select with more chunks: by a number, percent, one rule for each item; what is no rule" {
	hooks
	undo rm -f "$knobs/more"
	three=ncpus=3:mem=1gb+1:ncpus=2:mem=2gb+2:ncpus=1:mem=3gb
	same '#8' 1:ncpus=3:mem=1gb+3:ncpus=2:mem=2gb+4:ncpus=1:mem=3gb "$(incremented 2 $three)"
	same '#9' 1:ncpus=3:mem=1gb+2:ncpus=2:mem=2gb+3:ncpus=1:mem=3gb "$(incremented 23.5% $three)"
	same '#9' 7:ncpus=3:mem=1gb+2:ncpus=2:mem=2gb+3:ncpus=1:mem=3gb "$(incremented 50% 5:$three)"
	same '#10' 1:ncpus=3:mem=1gb+5:ncpus=2:mem=2gb+3:ncpus=1:mem=3gb "$(incremented '0 4 50%' $three)"
	jobs=$(qselect | wc -l)
	for rules in x '0 4'; do # no number; none for the last item
		echo "$rules" >"$knobs/more"
		has "$(submit -h -l select=$three 2>&1)" 'bad increment specs'
	done
	same jobs "$jobs" "$(qselect | wc -l)"
}

@test "tolerate-node-failures #43: a hook sets the attribute, to nothing but its words" {
	knob pad job_start
	same $TNF job_start "$(job_attr "$(submit -h -l select=1:ncpus=1)" $TNF)"
	knob pad bogus
	has "$(submit -h -l select=1:ncpus=1 2>&1)" 'Illegal attribute or resource value'
	same jobs 1 "$(qselect | wc -l)"
}

@test "tolerate-node-failures #13, #14, #15, #17: one host refuses to begin, one its prologue: the job runs on the others" {
	hooks
	knob begin-n2
	knob prologue-n3
	id=$(running "${J1[@]}")
	is_on "$id" 'n1/0*0+n4/0*0+n5/0*0' "$A+$D+$E"
	found=$(qstat -f "$id")
	same mem 6gb "$(value Resource_List.mem "$found")"
	same ncpus 8 "$(value Resource_List.ncpus "$found")"
	same nodect 3 "$(value Resource_List.nodect "$found")"
	same select $NORMAL "$(value Resource_List.select "$found")"
	same schedselect $NORMAL "$(value schedselect "$found")"
	alive "$(session_of "$id")"

	# 14: what the primary says
	log=$(mom_log n1 | grep ";$id;")
	has "$log" 'job_start_error 15169 from node n2 could not JOIN_JOB successfully$'
	has "$log" 'ignoring error from n2 as job is tolerant of node failures$'
	has "$log" 'job_start_error 15169 from node n3 could not IM_EXEC_PROLOGUE successfully$'
	has "$log" 'ignoring error from n3 as job is tolerant of node failures$'
	has "$log" 'bad node$'
	grep -qF "pruned from exec_vnode=$A+$B+$D+$C+$E" <<<"$log"
	grep -qF "pruned to exec_vnode=$A+$D+$E" <<<"$log"

	# 15: what hooks see
	same prologue "$B" "$(sed -n 's/.*prologue: vnode_list_fail //p' <<<"$log")"
	same launch "$B $C" "$(sed -n 's/.*launch: vnode_list_fail //p' <<<"$log" | xargs -d '\n')"
	same 'all in prologue' 5 "$(grep -c 'prologue: vnode_list (' <<<"$log")"
	same 'all in launch' 5 "$(grep -c 'launch: vnode_list (' <<<"$log")"

	# why, on the job
	same failed_hosts 'n2: bad node (join, 15169); n3: bad node (prologue, 15169)' "$(job_attr "$id" failed_hosts)"

	# 17: vnodes
	for n in 'n1[0]' 'n1[1]' 'n5[0]' 'n5[1]'; do node_is "$n" job-busy; same ncpus 1 "$(assigned "$n" ncpus)"; done
	node_is 'n1[2]' job-busy
	same mem 0kb "$(assigned 'n1[2]' mem)"
	for n in 'n1[3]' 'n2[0]' 'n2[1]' 'n2[2]' 'n3[0]'; do node_is "$n" free; done
	same ncpus 8 "$(qstat -Bf | value resources_assigned.ncpus)"
	has "$(qstat -Bf | value resources_assigned.mem)" '^(6gb|6291456kb)$'

	# node files are right on every host, and nothing is left on the others
	for host in n1 n4 n5; do wait_until 5 nodefile_is $host "$id" 'n1 n4 n5'; done
	for host in n2 n3; do wait_until 5 has_left $host "$id"; done
}

@test "tolerate-node-failures #16: records S with what it was given, s with what it keeps" {
	hooks
	knob begin-n2
	knob prologue-n3
	id=$(running "${J1[@]}")
	records=$(accounting | grep ";$id;")
	has "$records" ';S;.*exec_host=n1/0\*0\+n2/0\*0\+n4/0\*0\+n3/0\*2\+n5/0\*0 .*Resource_List.ncpus=13 '
	has "$records" ';s;.*start=[1-9][0-9]* exec_host=n1/0\*0\+n4/0\*0\+n5/0\*0 .*Resource_List.mem=6gb .*Resource_List.ncpus=8 '
	lacks "$(grep ';s;' <<<"$records")" 'resources_used|session=|Exit_status'
	same order 'S s' "$(sed -n 's/^[^;]*;\([Ss]\);.*/\1/p' <<<"$records" | xargs)"
	lacks "$records" "$TNF"
}

@test "tolerate-node-failures #18: a hook sets the vnodes that failed offline" {
	hooks
	knob begin-n2
	knob prologue-n3
	knob offline
	for n in 'n2[0]' 'n2[1]' 'n2[2]' 'n3[0]'; do undo qmgr -c "set node $n state = free"; done
	id=$(running "${J1[@]}")
	for n in 'n2[0]' 'n2[1]' 'n2[2]' 'n3[0]'; do
		wait_until 5 node_is "$n" offline
		same comment "failed for job $id: bad node" "$(node_attr "$n" comment)"
	done
	node_is 'n2[3]' free
}

@test "tolerate-node-failures #23: only a begin refuses" {
	hooks
	knob begin-n2
	id=$(running "${J1[@]}")
	is_on "$id" 'n1/0*0+n4/0*0+n3/0*2' "$A+$D+$C"
}

@test "tolerate-node-failures #24: only a prologue refuses" {
	hooks
	knob prologue-n3
	id=$(running "${J1[@]}")
	is_on "$id" 'n1/0*0+n2/0*0+n5/0*0' "$A+$B+$E"
}

@test "tolerate-node-failures #25: a chunk that is larger is trimmed" {
	hooks
	knob begin-n5
	knob prologue-n3
	id=$(running "${J1[@]}")
	is_on "$id" 'n1/0*0+n2/0*0+n4/0*0' "$A+$B+(n4[0]:ncpus=1:mem=1048576kb+n4[1]:ncpus=1:mem=1048576kb)"
	free_nodes 'n4[2]'
}

@test "tolerate-node-failures #26: no failure: the smallest that fit are kept" {
	hooks
	id=$(running "${J1[@]}")
	is_on "$id" 'n1/0*0+n2/0*0+n3/0*2' "$A+$B+$C"
	free_nodes 'n4[0]' 'n5[0]' 'n5[1]'
	for host in n4 n5; do wait_until 5 has_left $host "$id"; done
	qdel "$id"
	ends "$id"
	for host in n1 n2 n3 n4 n5; do wait_until 5 no_trace $host "$id"; done
}

@test "tolerate-node-failures #27: one chunk more is kept, trimmed" {
	hooks
	knob keep "$KEEP+1:ncpus=1:mem=1gb"
	id=$(running "${J1[@]}")
	is_on "$id" 'n1/0*0+n2/0*0+n3/0*2+n5/0' "$A+$B+$C+(n5[0]:ncpus=1:mem=1048576kb)"
}

@test "tolerate-node-failures #28, #29: what cannot be satisfied is held, with the reasons in the log" {
	hooks
	knob begin-n2
	knob prologue-n4
	id=$(submit "${J1[@]}")
	wait_until 30 job_is "$id" H
	log=$(mom_log n1 | grep ";$id;")
	has "$log" 'could not satisfy select chunk \('
	has "$log" 'NEED chunks for keep_select \('
	has "$log" "HAVE chunks from job's exec_vnode: "
	same mem 10gb "$(job_attr "$id" Resource_List.mem)"
	same holds s "$(job_attr "$id" Hold_Types)"
	comment_is "$id" 'unsuccessful at LAUNCH'
	free_nodes 'n1[0]' 'n2[0]' 'n3[0]' 'n4[0]' 'n5[0]'
	for host in n1 n2 n3 n4 n5; do wait_until 5 no_trace $host "$id"; done

	# 29: and then without a tolerance
	rm "$knobs/begin-n2" "$knobs/prologue-n4"
	quietly as "$OWNER" qalter -W $TNF=none "$id"
	qrls -h s "$id"
	starts "$id"
	is_on "$id" 'n1/0*0+n2/0*0+n4/0*0+n3/0*2+n5/0*0' "$A+$B+$D+$C+$E"
	has "$(mom_log n1)" "$id: no nodes released as job does not tolerate node failures\$"
}

@test "tolerate-node-failures #30: a hook deletes a job that it cannot satisfy" {
	hooks
	knob begin-n2
	knob prologue-n4
	knob deletes
	id=$(submit "${J1[@]}")
	wait_until 30 is_over "$id"
	same status -17 "$(job_attr "$id" Exit_status)"
	has "$(server_log | grep ";$id;")" 'hook rejected request, requiring job to be deleted$'
	free_nodes 'n1[0]' 'n2[0]' 'n3[0]' 'n4[0]' 'n5[0]'
}

@test "tolerate-node-failures #33: a chunk of memory alone" {
	knob pad job_start
	knob keep 'ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=0:mem=2gb'
	knob begin-n2
	knob prologue-n3
	id=$(running -l select=ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=0:mem=2gb -l place=scatter)
	has "$(job_attr "$id" exec_host)" '^n1/0\*0\+n4/0\*0\+n5/0\*0$'
	wait_until 5 nodefile_is n1 "$id" 'n1 n4'
}

@test "tolerate-node-failures #34: mpiprocs and ompthreads stay" {
	knob pad job_start
	select=ncpus=3:mem=2gb:mpiprocs=3:ompthreads=1+ncpus=3:mem=2gb:mpiprocs=3:ompthreads=1+ncpus=2:mem=2gb:mpiprocs=2:ompthreads=1
	knob keep $select
	knob begin-n2
	knob prologue-n3
	id=$(running -l select=$select -l place=scatter)
	same select "1:${select//+/+1:}" "$(job_attr "$id" Resource_List.select)"
	wait_until 5 nodefile_is n1 "$id" 'n1 n1 n1 n4 n4 n4 n5 n5'
}

@test "tolerate-node-failures #35: place=excl" {
	hooks
	knob begin-n2
	knob prologue-n3
	id=$(running "${J1[@]:0:2}" -l place=scatter:excl)
	for n in 'n1[0]' 'n1[1]' 'n1[2]' 'n4[0]' 'n4[1]' 'n4[2]' 'n5[0]' 'n5[1]'; do node_is "$n" job-exclusive; done
	for n in 'n2[0]' 'n2[1]' 'n2[2]' 'n3[0]'; do node_is "$n" free; done
}

@test "tolerate-node-failures #36: place=free: a host keeps both its chunks, another one is lost" {
	knob keep ncpus=3:mem=2gb+ncpus=3:mem=2gb+ncpus=1:mem=1gb
	knob begin-n4
	id=$(running -W $TNF=job_start -l place=free \
		-l select=ncpus=3:mem=2gb:host=n1+ncpus=3:mem=2gb:host=n2+ncpus=3:mem=2gb:host=n4+ncpus=1:mem=1gb:host=n2)
	is_on "$id" 'n1/0*0+n2/0*0+n2/0' "$A+$B+(n2[3]:ncpus=1:mem=1048576kb)"
	for host in n1 n2; do wait_until 5 nodefile_is $host "$id" 'n1 n2 n2'; done
	wait_until 5 has_left n4 "$id"
}

@test "tolerate-node-failures #49: without a select to keep nothing is given back" {
	knob pad job_start
	knob keep ''
	id=$(submit "${J1[@]}")
	wait_until 30 job_is "$id" H
	comment_is "$id" 'unsuccessful at LAUNCH'
	has "$(mom_log n1 | grep ";$id;")" 'empty keep_select value$'
	lacks "$(accounting | grep ";$id;")" ';s;'
}

@test "tolerate-node-failures #50: vnodes that failed are given back by name, the others are as they were" {
	knob pad job_start
	knob release
	knob begin-n2
	id=$(running "${J1[@]}")
	is_on "$id" 'n1/0*0+n4/0*0+n3/0*2+n5/0*0' "$A+$D+$C+$E"
	has "$(accounting | grep ";$id;")" ';s;.*exec_host=n1/0\*0\+n4/0\*0\+n3/0\*2\+n5/0\*0 '
	free_nodes 'n2[0]' 'n2[1]' 'n2[2]'
	wait_until 5 has_left n2 "$id"
}

@test "tolerate-node-failures #39: pruned in the prologue, each subjob of an array" {
	needs_module arrays
	knob pad job_start
	knob keep ncpus=1+ncpus=1
	knob at-prologue
	id=$(submit -J 1-3 -l select=1:ncpus=1+1:ncpus=1 -l place=scatter)
	for i in 1 2 3; do
		one=$(sub "$id" $i)
		starts "$one"
		same nodect 2 "$(job_attr "$one" Resource_List.nodect)"
		same 'seen at its launch' 2 "$(mom_log n1 | grep -cF ";$one;launch: vnode_list (")"
	done
	has "$(accounting | grep -F ";S;$one;")" 'Resource_List.nodect=3 '
	same records 's s s' "$(accounting | sed -n "s/^[^;]*;\(s\);${id%%[*}\[[123]\].*/\1/p" | xargs)"
}

@test "tolerate-node-failures #41: requeued, it asks for what it was padded to" {
	hooks
	knob begin-n2
	knob prologue-n3
	id=$(running "${J1[@]}")
	undo qmgr -c 'set server scheduling = true'
	qmgr -c 'set server scheduling = false'
	qrerun "$id"
	wait_until 20 job_is "$id" Q
	same mem 10gb "$(job_attr "$id" Resource_List.mem)"
	same select $PADDED "$(job_attr "$id" Resource_List.select)"
	same exec_vnode '' "$(job_attr "$id" exec_vnode)"
	qmgr -c 'set server scheduling = true'
	starts "$id"
	is_on "$id" 'n1/0*0+n4/0*0+n5/0*0' "$A+$D+$E"
	same runs 2 "$(job_attr "$id" run_count)"
}

@test "tolerate-node-failures #42: a restarted server shows what was pruned" {
	hooks
	knob begin-n2
	knob prologue-n3
	id=$(running "${J1[@]}")
	sandbox restart server
	wait_until 20 answers
	job_is "$id" R 42
	is_on "$id" 'n1/0*0+n4/0*0+n5/0*0' "$A+$D+$E"
	same mem 6gb "$(job_attr "$id" Resource_List.mem)"
	qdel "$id"
	ends "$id"
	records=$(accounting | grep ";$id;")
	same order 'S s e E' "$(sed -n "s/^[^;]*;\([SseE]\);$id;.*/\1/p" <<<"$records" | xargs)"
	has "$records" ';e;.*exec_host=n1/0\*0\+n4/0\*0\+n5/0\*0 .*Resource_List.mem=6gb .*resources_used.walltime='
	has "$records" ';E;.*exec_host=n1/0\*0\+n4/0\*0\+n5/0\*0 .*Resource_List.mem=10gb .*resources_used.walltime='
}

@test "tolerate-node-failures #47: without a hook the job starts with all its hosts" {
	knob begin-n3
	id=$(shell "$(ends_when_told 47 3)" -W $TNF=job_start -l select=1:ncpus=1:host=n1+1:ncpus=1:host=n2+1:ncpus=1:host=n3)
	starts "$id"
	has "$(job_attr "$id" exec_host)" '^n1/0\+n2/0\+n3/0$'
	has "$(mom_log n1 | grep ";$id;")" 'job_start_error 15169 from node n3 could not JOIN_JOB successfully$'
	tell 47
	ends "$id"
	same status 3 "$(job_attr "$id" Exit_status)"
	has "$(accounting | grep ";E;$id;")" 'exec_host=n1/0\+n2/0\+n3/0 '
}
