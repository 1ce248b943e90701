# SPDX-License-Identifier: Apache-2.0
#
# mend-submit.bats - what users write on qsub and qalter, as other sites' scripts write it.

load helper
load shared

setup_file() { open_cluster --hosts 2 --ncpus 8; }

# asks [qsub arguments]: the Resource_List of a held job.
asks()
{
	local id
	id=$(submit -h "$@") && qstat -f "$id" | sed -n 's/^ *Resource_List\.//p'
}

# refuses STATUS TEXT [qsub arguments]
refuses() { says "$1" "qsub: $2" as "$OWNER" qsub "${@:3}" -- /bin/true; }

@test "mend A7: -l nodes= beside amounts: each node has its share, and the job its sum" {
	local got id

	got=$(asks -l nodes=1:ppn=2,mem=100mb)
	has "$got" '^select = 1:ncpus=2:mem=102400KB:mpiprocs=2$'
	has "$got" '^place = scatter$'
	has "$got" '^mem = 100mb$'
	has "$got" '^ncpus = 2$'
	has "$(asks -l nodes=1:ppn=2 -l mem=100mb)" '^select = 1:ncpus=2:mem=102400KB:mpiprocs=2$'
	id=$(shell $'#PBS -l nodes=1:ppn=2\n#PBS -l mem=100mb\ntrue' -h)
	same select 1:ncpus=2:mem=102400KB:mpiprocs=2 "$(job_attr "$id" Resource_List.select)"

	got=$(asks -l nodes=2:ppn=2,mem=100mb,vmem=1gb,arch=linux)
	has "$got" '^select = 2:ncpus=2:mem=51200KB:mpiprocs=2$'
	has "$got" '^vmem = 1gb$'
	has "$got" '^arch = linux$'
	has "$(asks -l ncpus=4,nodes=2)" '^select = 2:ncpus=2$'
	has "$(asks -l nodes=2:ppn=2,ncpus=8)" '^select = 2:ncpus=4:mpiprocs=2$'
	has "$(asks -l nodes=2:ppn=1:cpp=2)" '^select = 2:ncpus=2$'
	got=$(asks -l nodes=2:ppn=2#shared)
	has "$got" '^select = 2:ncpus=2:mpiprocs=2$'
	has "$got" '^place = free$'

	refuses 155 'Cannot set attribute, read only or insufficient permission  Resource_List.nodes' \
		-l nodes=2:ppn=2:#excl
	refuses 155 'Cannot set attribute, read only or insufficient permission  Resource_List.nodect' -l nodect=2
	refuses 166 'Illegal attribute or resource value' -l nodes=2,ncpus=3
}

@test "mend A7: a job of -l nodes= keeps its shares when it is altered, and runs with them" {
	local id

	id=$(submit -h -l nodes=1:ppn=2,mem=100mb)
	qalter -l mem=200mb "$id"
	same select 1:ncpus=2:mem=204800KB:mpiprocs=2 "$(job_attr "$id" Resource_List.select)"
	qalter -l nodes=1:ppn=4 "$id"
	same select 1:ncpus=4:mem=204800KB:mpiprocs=4 "$(job_attr "$id" Resource_List.select)"
	id=$(submit -h -l nodes=2,ncpus=4)
	qalter -l walltime=100 "$id"
	same select 2:ncpus=2 "$(job_attr "$id" Resource_List.select)"

	id=$(finished -l nodes=1:ppn=2,mem=100mb -j oe -o "$(here nodes)" -- /bin/sh -c 'sort $PBS_NODEFILE | uniq -c; echo $NCPUS')
	same 'nodefile and NCPUS' $'2 n1\n2' "$(sed 's/^ *//; s/n[12]$/n1/' "$(here nodes)")"
	has "$(job_attr "$id" exec_vnode)" 'ncpus=2:mem=102400kb'
}

@test "mend D26: quotes that reach qsub and qalter in -l are taken off, of every type" {
	local id

	printf '%s\n' 'create resource bb type=boolean' 'create resource sa type=string,flag=h' \
		'create resource ss type=string_array' | qmgr
	qmgr -c 'set node n2 resources_available.sa = b'
	undo qmgr -c 'unset node n2 resources_available.sa'

	id=$(submit -h -l 'bb="true",walltime="10"' -l "ss='x,y'")
	same bb True "$(job_attr "$id" Resource_List.bb)"
	same walltime 00:00:10 "$(job_attr "$id" Resource_List.walltime)"
	same ss x,y "$(job_attr "$id" Resource_List.ss)"
	qalter -l "walltime='20'" "$id"
	same walltime 00:00:20 "$(job_attr "$id" Resource_List.walltime)"

	id=$(finished -l select='1:sa="b"' -- /bin/true)
	same select 1:sa=b "$(job_attr "$id" Resource_List.select)"
	has "$(job_attr "$id" exec_host)" '^n2/'
}

# A person of these stories' own, whose groups change: in ktsub and ktsubin, not in ktsubout.
make_grouped()
{
	(
		flock 9
		for group in ktsubin ktsubout; do getent group $group >/dev/null || groupadd $group; done
		exists ktsub || useradd -m -U -s /bin/sh ktsub
		gpasswd -a ktsub ktsubin >/dev/null
	) 9>/run/lock/keelson-test-users 3>&-
}

# grouped [qsub arguments]: a job of ktsub that is over and wrote its group, in the file "out", beside "made".
grouped()
{
	local id dir
	dir=$(desk ktsub)
	rm -f "$dir/out" "$dir/made"
	id=$(as ktsub qsub -j oe -o "$dir/out" "$@" -- /bin/sh -c "id -gn; id -Gn; touch $dir/made") && ends "$id" && echo "$id"
}

# ran_as GROUP: what the job of grouped() was, and whose its files are.
ran_as()
{
	local dir
	dir=$(desk ktsub)
	same 'group of the process' "$1" "$(sed -n 1p "$dir/out")" &&
		has "$(sed -n 2p "$dir/out")" '\<ktsub\>' && has "$(sed -n 2p "$dir/out")" '\<ktsubin\>' &&
		same 'group of its file' "$1" "$(stat -c %G "$dir/made")" &&
		same 'group of its output' "$1" "$(stat -c %G "$dir/out")"
}

@test "mend A12: group_list is the group of the job and of its files; one who is no member is refused" {
	needs_root
	make_grouped
	local id

	says 197 'qsub: Bad GID for job execution' as ktsub qsub -W group_list=ktsubout -- /bin/true
	says 197 'qsub: Bad GID for job execution' as ktsub qsub -W group_list=nosuchgroup -- /bin/true
	says 197 'qsub: Bad GID for job execution' as ktsub qsub -W group_list=root -- /bin/true

	id=$(grouped -W group_list=ktsubin)
	ran_as ktsubin
	same group_list ktsubin "$(job_attr "$id" group_list)"
	same egroup ktsubin "$(job_attr "$id" egroup)"
	has "$(accounting)" ";E;$id;user=ktsub group=ktsubin "
	grouped
	ran_as ktsub
	grouped -W group_list=ktsubin@elsewhere
	ran_as ktsub
	grouped -W group_list="ktsub@elsewhere,ktsubin"
	ran_as ktsubin
	grouped -W group_list="ktsub@$(hostname),ktsubin"
	ran_as ktsub

	id=$(as ktsub qsub -W group_list=ktsubin -J 1-2 -o "$(desk ktsub)/" -j oe -- /bin/sh -c 'id -gn')
	ends "$id"
	same 'group of a subjob' ktsubin "$(cat "$(desk ktsub)/${id/\[\]/[2]}.OU")"
}

@test "mend A12: qalter -W group_list= chooses the group of a job that waits" {
	needs_root
	make_grouped
	local id dir

	dir=$(desk ktsub)
	rm -f "$dir/made"
	id=$(as ktsub qsub -h -- /bin/sh -c "touch $dir/made")
	says 197 "qalter: Bad GID for job execution $id" as ktsub qalter -W group_list=ktsubout "$id"
	as ktsub qalter -W group_list=ktsubin "$id"
	same egroup ktsubin "$(job_attr "$id" egroup)"
	as ktsub qrls "$id"
	ends "$id"
	same 'group of its file' ktsubin "$(stat -c %G "$dir/made")"
	id=$(as ktsub qsub -h -W group_list=ktsubin -- /bin/true)
	as ktsub qalter -W group_list= "$id"
	same egroup ktsub "$(job_attr "$id" egroup)"
}

@test "mend A12: who has left a group starts nothing as it a second later, nor does his job" {
	needs_root
	make_grouped
	local id dir

	dir=$(desk ktsub)
	grouped -W group_list=ktsubin # server and host have looked
	id=$(as ktsub qsub -h -W group_list=ktsubin -- /bin/sh -c "touch $dir/late")
	gpasswd -d ktsub ktsubin >/dev/null
	says 197 'qsub: Bad GID for job execution' as ktsub qsub -W group_list=ktsubin -- /bin/true
	nap 1.1 # what a host may remember
	as ktsub qrls "$id"
	wait_until 10 has_been_refused "$id"
	[ ! -e "$dir/late" ]
}

has_been_refused() { server_log | grep -q "$1.*user ktsub is in no group ktsubin any more"; }

@test "mend A12: jobs of who has left a group are held with a sentence, and no host is set offline for them" {
	needs_root
	make_grouped
	local id ids=()

	for i in 1 2 3 4 5 6 7 8; do
		ids+=("$(as ktsub qsub -h -W group_list=ktsubin -- /bin/true)")
	done
	array=$(as ktsub qsub -h -J 1-2 -W group_list=ktsubin -- /bin/true)
	gpasswd -d ktsub ktsubin >/dev/null
	as ktsub qrls "${ids[@]}" "$array"
	for id in "${ids[@]}" "$array"; do
		wait_until 10 job_is "$id" H
		same comment 'Job held: Bad GID for job execution: user ktsub is in no group ktsubin any more' "$(job_attr "$id" comment)"
	done
	lacks "$(pbsnodes -a | value state)" offline
	as ktsub qalter -W group_list= "${ids[0]}"
	as ktsub qrls "${ids[0]}"
	ends "${ids[0]}"
	make_grouped
	nap 1.1 # what a host may remember
	as ktsub qrls "$array"
	ends "$array"
}

@test "mend A12: a job over several hosts is not started without sisters, and says why; one host is enough for it" {
	local id reason='jobs over several hosts cannot be started without a module that offers the service sister: ask for chunks that fit on one host, with -l place=pack'

	needs_module sisters
	keelson unload sisters >/dev/null
	undo keelson load sisters
	id=$(submit -l select=2:ncpus=1 -l place=scatter)
	wait_until 10 has_comment "$id"
	has "$(job_attr "$id" comment)" "^Not Running: PBS Error: $reason"
	job_is "$id" Q
	lacks "$(job_attr "$id" exec_vnode)" .
	same 'what is taken' $'0\n0' "$(pbsnodes -a | value resources_assigned.ncpus)"
	says 2 "qrun: Failed to run: $reason (15029) $id" qrun "$id"
	job_is "$id" Q
	[ ! -e "$SB/n1/spool/$id.OU" ] && [ ! -e "$SB/n2/spool/$id.OU" ]

	qalter -l place=pack "$id"
	wait_until 10 job_is "$id" R 42
}

has_comment() { [ -n "$(job_attr "$1" comment)" ]; }

@test "mend D30: min_walltime and max_walltime are refused, in words" {
	local reason='jobs are not shrunk to fit yet: ask for walltime alone (resource' id

	refuses 181 "$reason min_walltime)" -l min_walltime=10
	refuses 181 "$reason max_walltime)" -l max_walltime=20,walltime=10
	id=$(submit -h -l walltime=100)
	says 181 "qalter: $reason min_walltime) $id" qalter -l min_walltime=10 "$id"
	same walltime 00:01:40 "$(job_attr "$id" Resource_List.walltime)"
}

@test "mend D18: -k with d and a directory: the output is there, by the job's id, while it runs" {
	local id dir letters

	dir=$(here kept)
	mkdir -p "$dir"
	[ "$EUID" -ne 0 ] || chown "$OWNER" "$dir"
	for letters in doe oed; do
		id=$(running -k $letters -o "$dir" -e "$dir/" -- /bin/sh -c 'echo out; echo err >&2; sleep 1000')
		wait_until 10 grep -qx err "$dir/$id.ER"
		same output out "$(cat "$dir/$id.OU")"
		same owner "$OWNER" "$(stat -c %U "$dir/$id.OU")"
		qmsg -O 'a word' "$id"
		qdel "$id"
		ends "$id"
		same output $'out\na word' "$(cat "$dir/$id.OU")"
	done
	id=$(finished -k do -o "$dir" -j oe -- /bin/sh -c 'echo out; echo err >&2')
	same 'both streams' $'out\nerr' "$(cat "$dir/$id.OU")"
	[ ! -e "$dir/$id.ER" ]
	id=$(finished -k de -e "$dir" -o "$(here out)" -- /bin/sh -c 'echo out; echo err >&2')
	same errors err "$(cat "$dir/$id.ER")"
	same output out "$(cat "$(here out)")"
	id=$(finished -k doe -o "$dir/file" -e "$dir" -- /bin/echo out)
	same output out "$(cat "$dir/file")"
	id=$(submit -k doe -o "$dir" -e "$dir" -J 1-2 -- /bin/sh -c 'echo $PBS_ARRAY_INDEX')
	wait_until 20 test -s "$dir/${id/\[\]/[2]}.OU"
	same output 2 "$(cat "$dir/${id/\[\]/[2]}.OU")"
}

@test "mend D19: qsub -- looks for a program without a slash in no PATH" {
	local id

	id=$(finished -j n -o "$(here out)" -e "$(here err)" -- hostname)
	same Exit_status 254 "$(job_attr "$id" Exit_status)"
	same message 'hostname: No such file or directory' "$(cat "$(here err)")"
	same output '' "$(cat "$(here out)")"
	id=$(finished -o "$(here out)" -- /bin/hostname)
	same Exit_status 0 "$(job_attr "$id" Exit_status)"
}

@test "mend D19: directives that go on in a next line are one line of the stored script" {
	local id lines

	id=$(shell $'#!/bin/sh\n#PBS -N joined \\\n-l walltime=100 \\\n#PBS -j oe\n# a comment \\\n#PBS -r n\ncat "$0"' -o "$(here out)")
	same name joined "$(job_attr "$id" Job_Name)"
	same walltime 00:01:40 "$(job_attr "$id" Resource_List.walltime)"
	ends "$id"
	lines=$'#!/bin/sh\n#PBS -N joined -l walltime=100  -j oe\n# a comment \\\n#PBS -r n\ncat "$0"'
	same 'what ran' "$lines" "$(cat "$(here out)")"
}

@test "mend D27: a queue's acl_hosts refuses with 15008" {
	local id

	id=$(submit -h)
	qmgr -c 'create queue far queue_type=e,enabled=t,acl_host_enable=True,acl_hosts=elsewhere'
	undo qmgr -c 'delete queue far'
	refuses 160 'Access from host not allowed, or unknown host' -q far
	says 160 "qmove: Access from host not allowed, or unknown host $id" as "$OWNER" qmove far "$id"
	same queue workq "$(job_attr "$id" queue)"
}

@test "mend D27: qrun -H says what it does not know, once, and refuses what is no place before all" {
	local id

	qmgr -c 'set server scheduling = False'
	undo qmgr -c 'set server scheduling = True'
	id=$(submit)
	says 2 'qrun: Unknown node  nosuch' qrun -H nosuch "$id"
	says 2 "qrun: Unknown node  '(nosuch)+(nosuch)'" qrun -H '(nosuch)+(nosuch)' "$id"
	says 2 "qrun: Unknown node  '(n1)+(n1)'" qrun -H '(n1)+(n1)' "$id"
	says 2 "qrun: Unknown node  '(nosuch:ncpus=1)'" qrun -H '(nosuch:ncpus=1)' "$id"
	same 'first line' 'qrun: illegal -H value' "$(qrun -H '' nosuchjob 2>&1 | head -n 1)"
	same 'first line' 'qrun: illegal -H value' "$(qrun -H '(n1:ncpus=1' nosuchjob 2>&1 | head -n 1)"
	job_is "$id" Q
	lacks "$(job_attr "$id" exec_vnode)" .
	quietly qrun -H '(n2:ncpus=1)' "$id"
	wait_until 10 job_is "$id" R 42
}

@test "mend D27: texts of limits name the queue" {
	qmgr -c 'create queue small queue_type=e,enabled=t'
	undo qmgr -c 'delete queue small'
	qmgr -c 'set queue small max_queued = [g:PBS_GENERIC=0]'
	refuses 38 "would exceed queue small's per-group limit" -q small
	qmgr -c 'set queue small max_queued = [u:PBS_GENERIC=0]'
	refuses 38 "would exceed queue small's per-user limit" -q small
	qmgr -c 'unset queue small max_queued'
	qmgr -c 'set queue small queued_jobs_threshold = [u:PBS_GENERIC=0]'
	refuses 38 "would exceed queue small's per-user limit of jobs in 'Q' state" -q small
	qmgr -c 'set server max_queued = [p:PBS_GENERIC=0]'
	undo qmgr -c 'unset server max_queued'
	refuses 38 "would exceed complex's per-project limit" -q small
}

@test "mend D27: qalter of place and mem, with and without a select" {
	local id

	id=$(submit -h)
	quietly as "$OWNER" qalter -l place=excl "$id"
	same place excl "$(job_attr "$id" Resource_List.place)"
	same select 1:ncpus=1 "$(job_attr "$id" Resource_List.select)"
	quietly as "$OWNER" qalter -l ncpus=2 "$id"
	same place excl "$(job_attr "$id" Resource_List.place)"
	same select 1:ncpus=2 "$(job_attr "$id" Resource_List.select)"
	for select in 1:ncpus=1:mem=10mb 2:ncpus=1; do
		id=$(submit -h -l select=$select)
		says 5 "qalter: \"-lresource=\" cannot be used with \"select\" or \"place\", resource is: mem $id" \
			as "$OWNER" qalter -l mem=20mb "$id"
		same select $select "$(job_attr "$id" Resource_List.select)"
	done
}

@test "mend D27: a queue that no queue can be called, at a server, is no destination" {
	local long=abcdefghijklmnopqrst

	says 2 "qselect: illegally formed destination: $long@$long" qselect -q $long@$long
}

@test "mend D27: the part of a select that is wrong is named" {
	local id

	refuses 166 'Illegal attribute or resource value: mem' -l select=1:ncpus=1:mem=lots
	refuses 166 'Illegal attribute or resource value: ncpus' -l select=2:ncpus=x+1:ncpus=1
	refuses 166 'Illegal attribute or resource value Resource_List.select' -l select=1:ncpus
	id=$(submit -h)
	says 166 "qalter: Illegal attribute or resource value: mem $id" qalter -l select=1:mem=lots "$id"
}

@test "mend D25: a routing queue without destinations may be started; only one that takes jobs needs them" {
	needs_module routing
	local id incomplete=$'qmgr obj=r svr=default: Cannot enable queue, incomplete definition\nqmgr: Error (15030) returned from server'

	quietly qmgr -c 'create queue r queue_type=Route,started=True'
	undo qmgr -c 'delete queue r'
	undo eval 'qselect | xargs -r qdel -W force; wait_until 10 no_jobs'
	same started True "$(qstat -Qf r | value started)"
	says 182 "$incomplete" qmgr -c 'set queue r enabled = True'
	refuses 173 'Queue is not enabled' -q r
	quietly qmgr -c 'set queue r route_destinations = workq'
	quietly qmgr -c 'set queue r enabled = True'
	says 182 "$incomplete" qmgr -c 'unset queue r route_destinations'
	id=$(finished -q r -- /bin/true)
	same queue workq "$(job_attr "$id" queue)"
}

@test "mend A12: attributes that nothing obeys are refused, in words; what says the default is accepted" {
	while IFS='|' read -r object attribute value words; do
		says 181 "qmgr obj=${object#* } svr=default: $words"$'\n''qmgr: Error (15029) returned from server' \
			qmgr -c "set $object $attribute = $value"
		lacks "$(qmgr -c "print $object")" "$attribute"
	done <<-'END'
		queue workq|checkpoint_min|5|checkpoint_min is not obeyed yet: jobs are saved by qhold and qterm alone
		node n1|no_tasks|True|no_tasks is not obeyed yet: no job has tasks on a second host
		node n1|pnames|switch|pnames of a vnode is not obeyed: set node_group_key of the server or of a queue
		sched default|sched_user|ktest1|sched_user is not obeyed: the scheduler runs in the server, as its user
	END
	says 181 $'qmgr obj= svr=default: default_qdel_arguments is not obeyed: give qdel its options where it is called\nqmgr: Error (15029) returned from server' \
		qmgr -c 'set server default_qdel_arguments = -Wforce'
	refuses 181 'jobs have no terminal yet (attribute interactive)' -W INTERACTIVE=5000
	quietly qmgr -c 'set node n1 no_tasks = False'
	quietly qmgr -c 'unset node n1 no_tasks'
	quietly qmgr -c 'unset queue workq checkpoint_min'
}

# ---- requests that no command would send ------------------------------------------------------------------------

# raw submit QUEUE|alter ID NAME[.RES]=VALUE...: as $OWNER
raw() { as "$OWNER" "$KEELSON_BUILD/tests/scenario/tools/raw" "$@"; }

# raw_refused NAME NAME=VALUE...: a submission and an alteration
raw_refused()
{
	local command found
	for command in 'submit workq' "alter $id"; do
		# shellcheck disable=SC2086
		found=$(raw $command "${@:2}") && { echo "accepted: $command ${*:2} $found"; return 1; }
		has "$found" "^15014 Illegal attribute or resource value.*$1" || return
	done
}

@test "mend B8: no job asks for less than nothing of what is counted, however it is sent" {
	local id resource before
	for resource in 'lic type=long,flag=q' 'heat type=float,flag=nh' 'disk type=long,flag=fh'; do
		qmgr -c "create resource $resource"
		undo qmgr -c "delete resource ${resource%% *}"
	done
	id=$(submit -h)
	before=$(qmgr -c 'list server resources_assigned'; pbsnodes -av)
	raw_refused Resource_List.ncpus Resource_List.ncpus=-4
	raw_refused Resource_List.lic Resource_List.lic=-1000
	raw_refused Resource_List.heat Resource_List.heat=-0.5
	raw_refused disk Resource_List.select=1:ncpus=1:disk=-1
	raw_refused ncpus Resource_List.select=1:ncpus=1+2:ncpus=-4
	says 166 'qsub: Illegal attribute or resource value Resource_List.lic' as "$OWNER" qsub -l lic=-1000 -- /bin/true
	says 166 "qalter: Illegal attribute or resource value Resource_List.lic $id" qalter -l lic=-1 "$id"
	qmgr -c 'set queue workq default_chunk.disk = -1' && undo qmgr -c 'unset queue workq default_chunk.disk'
	says 166 'qsub: Illegal attribute or resource value: disk' as "$OWNER" qsub -- /bin/true
	same 'what is assigned' "$before" "$(qmgr -c 'list server resources_assigned'; pbsnodes -av)"
	has "$(qrun -H '(n1:ncpus=-4)' "$id" 2>&1 || true)" 'Illegal attribute or resource value: ncpus'
}

@test "mend B9: no control character in what a user sets, however it is sent" {
	local id value name
	id=$(submit -h)
	for value in $'a\nb' $'\e[2J' $'a\x7f'; do
		for name in project Account_Name Job_Name Mail_Users User_List Output_Path Error_Path Shell_Path_List \
			Checkpoint Join_Path Keep_Files Mail_Points Remove_Files sandbox umask; do
			raw_refused '' "$name=$value"
		done
		raw_refused Resource_List.software "Resource_List.software=$value"
		raw_refused Resource_List.select "Resource_List.select=1:ncpus=1:host='$value'"
	done
	raw submit workq "depend=afterok:1$value" && return 1
	raw submit workq "group_list=$value" && return 1
	id=$(raw submit workq Hold_Types=u "Variable_List=A=1$value" Job_Name=j)
	lacks "$(qstat -f "$id")" "$value"
}

@test "mend B: Submit_Host is the host of the connection, whatever the request says" {
	local id
	id=$(raw submit workq Hold_Types=u Job_Name=j Submit_Host=elsewhere)
	same Submit_Host "$(job_attr "$(submit -h)" Submit_Host)" "$(job_attr "$id" Submit_Host)"
	has "$(raw alter "$id" Submit_Host=elsewhere || true)" '^15003 '
}
