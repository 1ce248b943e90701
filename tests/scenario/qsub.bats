#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# qsub: what is submitted is what runs, and what is wrong is refused with a sentence and a number.

load helper
load shared

USAGE='usage: qsub [-a date_time] [-A account_string] [-c interval]
	[-C directive_prefix] [-e path] [-f ] [-h ] [-I [-X]] [-j oe|eo] [-J X-Y[:Z]]
	[-k keep] [-l resource_list] [-m mail_options] [-M user_list]
	[-N jobname] [-o path] [-p priority] [-P project] [-q queue] [-r y|n]
	[-R o|e|oe] [-S path] [-u user_list] [-W otherattributes=value...]
	[-v variable_list] [-V ] [-z] [script | -- command [arg1 ...]]
       qsub --version'

# attr_of 'ATTRIBUTE' VALUE [qsub arguments]: a held job submitted so has it.
attr_of()
{
	local id
	id=$(submit -h "${@:3}") || return
	same "$1 with ${*:3}" "$2" "$(job_attr "$id" "$1")"
}

illegal() # letter value...
{
	says 2 "qsub: illegal -$1 value
$USAGE" as "$OWNER" qsub "-$1" "$2" -- /bin/true
}

# ---- where the job comes from -----------------------------------------------------------------------

@test "qsub: a script file gives the job its name; stdout is the id alone" {
	file=$(script hello.sh <<<'echo hello')
	id=$(as "$OWNER" qsub "$file")
	[[ $id =~ ^[0-9]+\.svr$ ]]
	same name hello.sh "$(job_attr "$id" Job_Name)"
	ends "$id"
	same output hello "$(cat "$(here "hello.sh.o${id%.svr}")")"
	same errors '' "$(cat "$(here "hello.sh.e${id%.svr}")")"
}

@test "qsub: a script on stdin is called STDIN" {
	id=$(shell 'echo in; echo out >&2; exit 3')
	same name STDIN "$(job_attr "$id" Job_Name)"
	ends "$id"
	same output in "$(cat "$(here "STDIN.o${id%.svr}")")"
	same errors out "$(cat "$(here "STDIN.e${id%.svr}")")"
	same status 3 "$(job_attr "$id" Exit_status)"
}

@test "qsub: - reads stdin too" {
	id=$(shell 'exit 4' -N dash -)
	ends "$id"
	same status 4 "$(job_attr "$id" Exit_status)"
}

@test "qsub: an empty script from stdin is a job" {
	id=$(as "$OWNER" qsub -N none </dev/null)
	ends "$id"
	same status 0 "$(job_attr "$id" Exit_status)"
}

@test "qsub: -- runs a program without any shell" {
	id=$(finished -N prog -- /bin/echo 'two  blanks' '$HOME' '*')
	same output 'two  blanks $HOME *' "$(cat "$(here "prog.o${id%.svr}")")"
	same executable '<jsdl-hpcpa:Executable>/bin/echo</jsdl-hpcpa:Executable>' \
		"$(job_attr "$id" executable)"
	has "$(job_attr "$id" argument_list)" '<jsdl-hpcpa:Argument>two  blanks</jsdl-hpcpa:Argument>'
	same name STDIN "$(job_attr "$(submit -h -- /bin/true)" Job_Name)"
}

@test "qsub: -- needs a program" {
	says 2 "$USAGE" as "$OWNER" qsub -N x --
}

@test "qsub: the script is copied when it is submitted" {
	file=$(script change.sh <<<'exit 11')
	id=$(as "$OWNER" qsub -h "$file")
	echo 'exit 12' >"$file"
	as "$OWNER" qrls "$id"
	ends "$id"
	same status 11 "$(job_attr "$id" Exit_status)"
}

@test "qsub: a large script arrives whole" {
	{
		for i in $(seq 20000); do echo ": line $i 'quoted' \"twice\" \\"; echo; done
		echo 'echo "last"; exit 21'
	} | script large.sh >/dev/null
	id=$(as "$OWNER" qsub large.sh)
	ends "$id"
	same status 21 "$(job_attr "$id" Exit_status)"
}

@test "qsub: output goes to where it was submitted, however long the PATH is" {
	id=$(PATH=$PATH:/$(printf '%05000d' 0) submit -h)
	has "$(job_attr "$id" Output_Path)" "/.+/STDIN\.o"
}

@test "qsub: a jobscript_max_size beyond all counting is no limit" {
	undo qmgr -c 'unset server jobscript_max_size'
	qmgr -c 'set server jobscript_max_size = 9007199254740993tb'
	shell true -h
}

@test "qsub: files that are no script" {
	says 1 'qsub: script file:: No such file or directory' as "$OWNER" qsub nosuchfile.sh
	says 1 'qsub: script not a file' as "$OWNER" qsub /tmp
}

@test "qsub: a script with carriage returns is refused" {
	file=$(printf '#!/bin/sh\r\necho x\r\n' | script cr.sh)
	says 1 'qsub: script contains cr, lf' as "$OWNER" qsub "$file"
}

@test "qsub: an unreadable script" {
	needs_root
	file=$(script secret.sh <<<true)
	chown root "$file"
	chmod 600 "$file"
	says 8 'qsub: opening script file:: Permission denied' as "$OWNER" qsub "$file"
}

@test "qsub: an option after the script name is misuse" {
	file=$(script late.sh <<<true)
	says 2 "$USAGE" as "$OWNER" qsub "$file" -N late
}

# ---- directives ---------------------------------------------------------------------------------------

@test "qsub: directives are options, the command line wins" {
	file=$(script direct.sh <<-'END'
		#!/bin/sh
		# a comment
		#PBS -N fromscript -p 5
		  #PBS -l walltime=00:20:00
		#PBS -A "two words"
		:
		#PBS -m e
	END
	)
	id=$(as "$OWNER" qsub -h -p 9 "$file")
	same name fromscript "$(job_attr "$id" Job_Name)"
	same priority 9 "$(job_attr "$id" Priority)"
	same walltime 00:20:00 "$(job_attr "$id" Resource_List.walltime)"
	same account 'two words' "$(job_attr "$id" Account_Name)"
	same mail e "$(job_attr "$id" Mail_Points)"
}

@test "qsub: directives end at the first executable line" {
	file=$(script end.sh <<-'END'
		#PBS -p 3

		echo x
		#PBS -p 4
	END
	)
	same priority 3 "$(job_attr "$(as "$OWNER" qsub -h "$file")" Priority)"
}

@test "qsub: of a resource the first directive counts, on the command line the last word" {
	file=$(script twice.sh <<-'END'
		#PBS -l walltime=100 -l mem=1mb
		#PBS -l walltime=200
	END
	)
	id=$(as "$OWNER" qsub -h "$file")
	same walltime 00:01:40 "$(job_attr "$id" Resource_List.walltime)"
	id=$(as "$OWNER" qsub -h -l walltime=5 -l ncpus=2 "$file")
	same walltime 00:00:05 "$(job_attr "$id" Resource_List.walltime)"
	same ncpus 2 "$(job_attr "$id" Resource_List.ncpus)"
	same mem 1mb "$(job_attr "$id" Resource_List.mem)"
}

@test "qsub: a directive goes on after a backslash" {
	file=$(printf '#PBS -N cont \\\n#PBS -p 8 \\\n-A x\ntrue\n' | script cont.sh)
	id=$(as "$OWNER" qsub -h "$file")
	same name cont "$(job_attr "$id" Job_Name)"
	same priority 8 "$(job_attr "$id" Priority)"
	same account x "$(job_attr "$id" Account_Name)"
}

@test "qsub: -C and PBS_DPREFIX choose the prefix, -C '' ignores directives" {
	file=$(script prefix.sh <<-'END'
		#PBS -p 1
		#XX -p 2
		#YY -p 3
	END
	)
	same '-C' 2 "$(job_attr "$(as "$OWNER" qsub -h -C '#XX' "$file")" Priority)"
	same DPREFIX 3 "$(job_attr "$(as "$OWNER" env PBS_DPREFIX='#YY' qsub -h "$file")" Priority)"
	same none 0 "$(job_attr "$(as "$OWNER" qsub -h -C '' "$file")" Priority)"
}

@test "qsub: a bad directive says so twice" {
	file=$(script bad.sh <<<'#PBS -Q high')
	says 1 "qsub: invalid option -- 'Q'
qsub: directive error: -Q high " as "$OWNER" qsub "$file"
	file=$(script word.sh <<<'#PBS -p 1 operand')
	says 1 'qsub: directive error: -p 1 operand ' as "$OWNER" qsub "$file"
	file=$(script value.sh <<<'#PBS -p abc')
	says 2 "qsub: illegal -p value
$USAGE" as "$OWNER" qsub "$file"
}

@test "qsub: default_qsub_arguments come after everything else" {
	qmgr -c 'set server default_qsub_arguments = "-p 33 -N dflt -m n"'
	undo qmgr -c 'unset server default_qsub_arguments'
	file=$(script args.sh <<<'#PBS -N mine')
	id=$(as "$OWNER" qsub -h -p 2 "$file")
	same priority 2 "$(job_attr "$id" Priority)"
	same name mine "$(job_attr "$id" Job_Name)"
	same mail n "$(job_attr "$id" Mail_Points)"
	same words "-h -p 2 $file" "$(job_attr "$id" Submit_arguments)"
}

@test "qsub: default_qsub_arguments reach scripts of standard input, programs and resources" {
	qmgr -c 'set server default_qsub_arguments = "-l walltime=00:07:00 -A site -v ONE=1"'
	undo qmgr -c 'unset server default_qsub_arguments'
	a=$(shell '#PBS -l walltime=00:01:00' -h)
	b=$(as "$OWNER" qsub -h -- /bin/true)
	same walltime 00:01:00 "$(job_attr "$a" Resource_List.walltime)"
	same walltime 00:07:00 "$(job_attr "$b" Resource_List.walltime)"
	same account site "$(job_attr "$a" Account_Name)"
	has "$(job_attr "$b" Variable_List)" 'ONE=1'
	same 'one job each' 2 "$(qselect | wc -l)"
	qmgr -c 'unset server default_qsub_arguments'
	same account '' "$(job_attr "$(submit -h)" Account_Name)"
	qmgr -c 'set server default_qsub_arguments = "-l nothing=1"'
	says 187 'qsub: Unknown resource Resource_List.nothing' as "$OWNER" qsub -- /bin/true
	qmgr -c 'set server default_qsub_arguments = "-K"'
	found=$(as "$OWNER" qsub -- /bin/true 2>&1) && return 1
	has "$found" '^usage: qsub'
}

# ---- options -------------------------------------------------------------------------------------------

@test "qsub: a plain job has the values everybody knows" {
	id=$(submit -h)
	found=$(qstat -f "$id")
	for line in 'Checkpoint = u' 'Join_Path = n' 'Keep_Files = n' 'Mail_Points = a' 'Priority = 0' \
		'Rerunable = True' 'project = _pbs_project_default' 'Resource_List.ncpus = 1' \
		'Resource_List.nodect = 1' 'Resource_List.place = pack' 'Resource_List.select = 1:ncpus=1'; do
		has "$found" "^    $line\$"
	done
	lacks "$found" 'Mail_Users|umask|etime|comment|exec_|stime|Account'
}

@test "qsub -N: letters, digits, _ - + . and up to 230 of them" {
	for name in abc 1abc a_b-c+d.e "$(printf 'x%.0s' {1..230})"; do attr_of Job_Name "$name" -N "$name"; done
	for name in 'bad name' '' a/b $'a\nb' a,b; do illegal N "$name"; done
	says 2 'qsub: Job name is too long ' as "$OWNER" qsub -N "$(printf 'x%.0s' {1..231})" -- /bin/true
}

@test "qsub -p: from -1024 to 1023" {
	for n in -1024 0 1023; do attr_of Priority $n -p $n; done
	for n in -1025 1024 abc ''; do illegal p "$n"; done
}

@test "qsub: values of the other letters are shown" {
	attr_of Account_Name 'my account' -A 'my account'
	attr_of project proj1 -P proj1
	attr_of Mail_Points abe -m abe
	attr_of Mail_Points n -m n
	attr_of Mail_Users me@here,you -M me@here,you
	attr_of Checkpoint c=5 -c c=5
	attr_of Checkpoint n -c n
	attr_of Join_Path oe -j oe
	attr_of Join_Path eo -j eo
	attr_of Keep_Files oed -k oed
	attr_of Shell_Path_List /bin/sh -S /bin/sh
	attr_of Remove_Files oe -R oe
	attr_of User_List "$OWNER" -u "$OWNER"
	attr_of umask 22 -W umask=022
	attr_of sandbox PRIVATE -W sandbox=PRIVATE
	attr_of Rerunable False -r n
	attr_of Rerunable True -r y
	attr_of Hold_Types u
	attr_of queue workq -q workq
}

@test "qsub: values may be glued to their letters, and -W takes attributes by name" {
	id=$(submit -h -Nglued -rn -p7 -lncpus=2 -W Account_Name=byname)
	found=$(qstat -f "$id")
	has "$found" 'Job_Name = glued'
	has "$found" 'Rerunable = False'
	has "$found" 'Priority = 7'
	has "$found" 'Resource_List.ncpus = 2'
	has "$found" 'Account_Name = byname'
}

@test "qsub: values that no letter takes" {
	illegal c z
	illegal c u
	illegal j x
	illegal k z
	illegal m z
	illegal r x
	illegal r yes
	illegal a 99
	illegal a tomorrow
	illegal S relative
	illegal P 'a/b'
	illegal R x
	illegal W 'umask=9x'
	illegal W 'block=perhaps'
	illegal W =
}

@test "qsub: unknown letters and missing values" {
	says 2 "qsub: invalid option -- 'Q'
$USAGE" as "$OWNER" qsub -Q
	says 2 "qsub: option requires an argument -- 'N'
$USAGE" as "$OWNER" qsub -N
}

@test "qsub -W: unknown and read-only attributes" {
	says 154 'qsub: Error (15002) submitting job' as "$OWNER" qsub -W nosuchattr=1 -- /bin/true
	says 155 'qsub: Cannot set attribute, read only or insufficient permission  job_state' \
		as "$OWNER" qsub -W job_state=R -- /bin/true
}

@test "qsub -z: says nothing" {
	quietly as "$OWNER" qsub -z -h -- /bin/true
	same jobs 1 "$(qselect | wc -l)"
}

@test "qsub -h: waits until it is released" {
	id=$(submit -h -- /bin/true)
	job_is "$id" H 20
	as "$OWNER" qrls "$id"
	ends "$id"
}

@test "qsub -a: waits for its time, then runs" {
	id=$(submit -a "$(date -d '+3 seconds' +%Y%m%d%H%M.%S)" -- /bin/true)
	job_is "$id" W 30
	ends "$id"
	same status 0 "$(job_attr "$id" Exit_status)"
	same far 'Mon Dec 31 23:59:00 2029' "$(job_attr "$(submit -a 2912312359)" Execution_Time)"
	id=$(as "$OWNER" env TZ=EST5EDT qsub -a 2912312359 -- /bin/true)
	same zone "$(date -d 'TZ="America/New_York" 2029-12-31 23:59' '+%a %b %e %H:%M:%S %Y')" "$(job_attr "$id" Execution_Time)"
	has "$(job_attr "$id" Variable_List)" PBS_O_TZ=EST5EDT
}

@test "qsub -S: that shell reads the script" {
	has "$(output_of 'echo $BASH_VERSION' -S /bin/bash)" '^[0-9]+\.'
}

@test "qsub -r n: is never run again" {
	id=$(running -r n)
	says 190 "qrerun: job is not rerunnable $id" qrerun "$id"
	job_is "$id" R 42
}

@test "qsub -I: needs a terminal" {
	says 1 "qsub:	standard input and output must be a terminal for
	interactive job submission" as "$OWNER" qsub -I </dev/null
}

@test "qsub --version" {
	has "$(qsub --version)" '^pbs_version = [0-9]'
}

# ---- resources ------------------------------------------------------------------------------------------

@test "qsub -l: sums are computed from the chunks" {
	id=$(submit -h -l select=2:ncpus=2:mem=1gb+1:ncpus=1:mem=512mb -l place=scatter -l walltime=1:0:0)
	found=$(qstat -f "$id")
	for line in 'ncpus = 5' 'nodect = 3' 'mem = 2560mb' 'place = scatter' \
		'select = 2:ncpus=2:mem=1gb\+1:ncpus=1:mem=512mb' 'walltime = 01:00:00'; do
		has "$found" "^    Resource_List.$line\$"
	done
}

@test "qsub -l: what it refuses, and with which number" {
	while IFS='|' read -r status list text; do
		says "$status" "qsub: $text" as "$OWNER" qsub -l "$list" -- /bin/true
	done <<-'END'
		187|nosuchres=1|Unknown resource Resource_List.nosuchres
		166|ncpus=abc|Illegal attribute or resource value Resource_List.ncpus
		166|walltime=abc|Illegal attribute or resource value Resource_List.walltime
		166|mem=10xx|Illegal attribute or resource value Resource_List.mem
		187|select=1:nosuchres=1|Unknown resource: nosuchres
		166|select=0|Illegal attribute or resource value
		166|select=1:ncpus|Illegal attribute or resource value Resource_List.select
		166|select=65536:ncpus=9007199254740992|Illegal attribute or resource value: ncpus
		166|select=65537:ncpus=0|a job has at most 65536 chunks; ask for fewer that are larger, as in 1000:ncpus=64
		166|select=65536:ncpus=0+1:ncpus=0|a job has at most 65536 chunks; ask for fewer that are larger, as in 1000:ncpus=64
		166|place=foo|Illegal attribute or resource value Resource_List.place
		6|nodes=1,select=1|Cannot be used with select or place: nodes
	END
	says 5 'qsub: "-lresource=" cannot be used with "select" or "place", resource is: ncpus' \
		as "$OWNER" qsub -l select=1 -l ncpus=2 -- /bin/true
	same jobs '' "$(qselect)"
}

@test "qsub: defaults of the server and of the queue" {
	qmgr <<-'END'
		create queue dq queue_type=e,enabled=t,started=t
		set queue dq resources_default.walltime = 00:07:00
		set server resources_default.mem = 5mb
	END
	undo qmgr -c 'unset server resources_default.mem'
	undo qmgr -c 'delete queue dq'
	id=$(submit -h -q dq)
	same walltime 00:07:00 "$(job_attr "$id" Resource_List.walltime)"
	same mem 5mb "$(job_attr "$id" Resource_List.mem)"
	id=$(submit -h -q dq -l walltime=9,mem=6mb)
	same walltime 00:00:09 "$(job_attr "$id" Resource_List.walltime)"
	same mem 6mb "$(job_attr "$id" Resource_List.mem)"
	qdel $(qselect)
}

@test "qsub: limits of the queue" {
	qmgr -c 'set queue workq resources_max.ncpus = 2'
	undo qmgr -c 'unset queue workq resources_max.ncpus'
	says 188 'qsub: Job violates queue and/or server resource limits' \
		as "$OWNER" qsub -l ncpus=3 -- /bin/true
	submit -h -l ncpus=2
}

# ---- queues and servers -------------------------------------------------------------------------------

@test "qsub -q: unknown, disabled, and with a server" {
	says 170 'qsub: Unknown queue' as "$OWNER" qsub -q nosuchq -- /bin/true
	attr_of queue workq -q workq@svr
	attr_of queue workq -q @svr
	qdisable workq
	undo qenable workq
	says 173 'qsub: Queue is not enabled' as "$OWNER" qsub -- /bin/true
}

@test "qsub: without any default queue" {
	qmgr -c 'unset server default_queue'
	undo qmgr -c 'set server default_queue = workq'
	says 189 'qsub: No default queue specified' as "$OWNER" qsub -- /bin/true
	submit -h -q workq
}

@test "qsub: an unknown server" {
	says 160 'Unknown Host.
qsub: cannot connect to server svr (errno=15008)' as "$OWNER" qsub -q workq@nosuchhost -- /bin/true
	says 160 'Unknown Host.
qsub: cannot connect to server nosuchhost (errno=15008)' \
		as "$OWNER" env PBS_SERVER=nosuchhost qsub -- /bin/true
}

@test "qsub: root is nobody's user" {
	needs_root
	says 175 'qsub: Bad UID for job execution' qsub -- /bin/true
	says 175 'qsub: Bad UID for job execution' as "$OWNER" qsub -u nosuchuser@host -- /bin/true
}

# ---- output -------------------------------------------------------------------------------------------

@test "qsub -o -e: stored as host:path" {
	dir=$(desk "$OWNER") host=$(hostname)
	attr_of Output_Path "$host:$dir/rel.out" -o rel.out
	attr_of Error_Path "$host:/abs/err" -e /abs/err
	attr_of Output_Path other:/x -o other:/x
	id=$(submit -h -N dflt)
	same default "$host:$dir/dflt.o${id%.svr}" "$(job_attr "$id" Output_Path)"
	same default "$host:$dir/dflt.e${id%.svr}" "$(job_attr "$id" Error_Path)"
}

@test "qsub -o: files where they were asked for" {
	file=$(here named.out)
	id=$(shell 'echo to file; echo err >&2' -o "$file" -e named.err)
	ends "$id"
	same output 'to file' "$(cat "$file")"
	same errors err "$(cat "$(here named.err)")"
}

@test "qsub -o: into a folder the file has the id's name" {
	as "$OWNER" mkdir -p "$(here folder)"
	id=$(shell 'echo o; echo e >&2' -o folder/ -e "$(here folder)")
	ends "$id"
	same output o "$(cat "$(here "folder/$id.OU")")"
	same errors e "$(cat "$(here "folder/$id.ER")")"
}

@test "qsub -o: PBS_JOBID in a name is the id" {
	id=$(shell 'echo x' -o 'log.${PBS_JOBID}' -j oe)
	ends "$id"
	same output x "$(cat "$(here "log.$id")")"
}

@test "qsub -j: one file for both streams" {
	id=$(shell 'echo 1; echo 2 >&2; echo 3' -N joined -j oe)
	ends "$id"
	same output $'1\n2\n3' "$(cat "$(here "joined.o${id%.svr}")")"
	[ ! -e "$(here "joined.e${id%.svr}")" ]
	id=$(shell 'echo 1; echo 2 >&2' -N joined -j eo)
	ends "$id"
	same errors $'1\n2' "$(cat "$(here "joined.e${id%.svr}")")"
	[ ! -e "$(here "joined.o${id%.svr}")" ]
}

@test "qsub -k: kept at home" {
	home=$(getent passwd "$OWNER" | cut -d: -f6)
	id=$(shell 'echo kept' -N "kept$$" -k oe)
	ends "$id"
	same output kept "$(cat "$home/kept$$.o${id%.svr}")"
	rm -f "$home/kept$$".[oe]*
}

@test "qsub -k oed: written in place while the job runs" {
	file=$(here direct.out)
	id=$(shell 'echo early; sleep 1000' -k oed -o "$file" -e direct.err)
	wait_until 10 grep -qx early "$file"
	job_is "$id" R
}

@test "qsub -R: removed after success only" {
	id=$(shell 'echo x' -R oe -N remove)
	ends "$id"
	[ ! -e "$(here "remove.o${id%.svr}")" ]
	[ ! -e "$(here "remove.e${id%.svr}")" ]
	id=$(shell 'echo x; exit 1' -R oe -N remove)
	ends "$id"
	same output x "$(cat "$(here "remove.o${id%.svr}")")"
}

@test "qsub: output that cannot be delivered is kept and said" {
	id=$(shell 'echo precious' -o /nosuchfolder/out -j oe)
	ends "$id"
	same delivered 0 "$(job_attr "$id" Stageout_status)"
	same kept precious "$(cat "$SB/n1/undelivered/$id.OU")"
}

@test "qsub -W umask: of the job and of its files; 077 unless asked" {
	same umask 0077 "$(output_of umask)"
	same umask 0022 "$(output_of umask -W umask=022)"
	id=$(shell true -N mode -W umask=027)
	ends "$id"
	same mode 640 "$(stat -c %a "$(here "mode.o${id%.svr}")")"
	id=$(shell true -N mode)
	ends "$id"
	same mode 600 "$(stat -c %a "$(here "mode.o${id%.svr}")")"
	same owner "$OWNER" "$(stat -c %U "$(here "mode.o${id%.svr}")")"
}

# ---- the environment of the job -------------------------------------------------------------------------

@test "qsub: what a job finds in its environment" {
	id=$(shell env -N envjob -j oe -o "$(here env.out)" -l ncpus=2)
	ends "$id"
	env=$(cat "$(here env.out)")
	for line in PBS_ENVIRONMENT=PBS_BATCH ENVIRONMENT=BATCH "PBS_JOBID=$id" PBS_JOBNAME=envjob PBS_QUEUE=workq \
		PBS_O_QUEUE=workq "PBS_O_WORKDIR=$(desk "$OWNER")" "PBS_O_LOGNAME=$OWNER" \
		"PBS_O_HOST=$(hostname)" "USER=$OWNER" "LOGNAME=$OWNER" NCPUS=2 OMP_NUM_THREADS=2 \
		PBS_NODENUM=0 PBS_TASKNUM=1 PBS_O_SYSTEM=Linux; do
		has "$env" "^$line\$"
	done
	for name in PBS_NODEFILE PBS_JOBCOOKIE PBS_JOBDIR PBS_MOMPORT TMPDIR HOME SHELL PATH PBS_O_PATH \
		PBS_O_HOME; do
		has "$env" "^$name=."
	done
}

@test "qsub: a job starts at home as its owner, alone in a session" {
	home=$(getent passwd "$OWNER" | cut -d: -f6)
	out=$(output_of 'pwd; id -un; id -gn; ps -o sid= -p $$')
	same 'folder, user, group' "$home $OWNER $(id -gn "$OWNER")" "$(head -n 3 <<<"$out" | xargs)"
}

@test "qsub: PBS_NODEFILE has a line per chunk" {
	same hosts 'n1 n1 n1' "$(output_of 'cat $PBS_NODEFILE' -l select=3:ncpus=1 | xargs)"
	same ranks 'n1 n1' "$(output_of 'cat $PBS_NODEFILE' -l select=1:ncpus=2:mpiprocs=2 | xargs)"
}

@test "qsub: TMPDIR is the job's own and goes with it" {
	dir=$(output_of 'touch $TMPDIR/x && stat -c %a $TMPDIR && echo $TMPDIR')
	same mode 700 "$(head -n 1 <<<"$dir")"
	[ ! -e "$(tail -n 1 <<<"$dir")" ]
}

@test "qsub -v: given, copied, quoted" {
	out=$(GIVEN='from here' output_of 'echo "$A|$B|$GIVEN"' -v 'A=1,B="x,y",GIVEN')
	same values '1|x,y|from here' "$out"
	same escaped 'a,b' "$(output_of 'echo "$C"' -v 'C=a\,b')"
	same 'the second replaces' '|2' "$(output_of 'echo "$A|$B"' -v A=1 -v B=2)"
	same 'equal signs' 'x=y=z' "$(output_of 'echo "$E"' -v E=x=y=z)"
}

@test "qsub -v: PBS_O_ names are not taken" {
	has "$(output_of 'echo $PBS_O_LOGNAME' -v PBS_O_LOGNAME=evil)" "^$OWNER\$"
}

@test "qsub -v: an unset name" {
	says 1 'qsub: cannot send environment with the job' as "$OWNER" qsub -v NOSUCHNAME -- /bin/true
}

@test "qsub -V: all of the environment" {
	out=$(MINE='any, thing "quoted" \back' output_of 'printf "%s\n" "$MINE"' -V)
	same value 'any, thing "quoted" \back' "$out"
	same 'multi-line' $'one\ntwo' "$(LINES2=$'one\ntwo' output_of 'echo "$LINES2"' -V)"
}

# ---- how it ends ------------------------------------------------------------------------------------------

@test "qsub: exit statuses" {
	while IFS='|' read -r status text; do
		id=$(shell "$text")
		ends "$id"
		same "status of $text" "$status" "$(job_attr "$id" Exit_status)"
	done <<-'END'
		0|true
		1|false
		7|exit 7
		255|exit 255
		137|kill -9 $$
		127|nosuchcommand
	END
}

@test "qsub --: killed by a signal is 256 and more, a missing program 254" {
	same missing 254 "$(job_attr "$(finished -- /no/such/program)" Exit_status)"
	id=$(running)
	as "$OWNER" qsig -s KILL "$id"
	ends "$id"
	same killed 265 "$(job_attr "$id" Exit_status)"
}

@test "qsub: output goes to where it was submitted, also when a comma is in that name" {
	dir="$(here 'a, b\c"d')"
	as "$OWNER" mkdir "$dir"
	id=$(as "$OWNER" sh -c 'cd "$1" && qsub -N odd -- /bin/echo hello' - "$dir")
	ends "$id"
	same output hello "$(cat "$dir/odd.o${id%.svr}")"
	test -e "$dir/odd.e${id%.svr}"
}

@test "qsub -W block: waits and exits as the job does" {
	for status in 0 1 42; do
		got=0
		out=$(shell "exit $status" -W block=true) || got=$?
		same status $status "$got"
		has "$out" '^[0-9]+\.svr$'
	done
}

# blocked [qsub arguments]: $id is a job whose qsub waits for it in the background, its end in block.err.
blocked()
{
	rm -f "$(here block.out)"
	as "$OWNER" qsub -W block=true "$@" >"$(here block.out)" 2>"$(here block.err)" 3>&- &
	wait_until 10 test -s "$(here block.out)"
	id=$(cat "$(here block.out)")
}

@test "qsub -W block: a running job that is deleted, also by force" {
	for how in '' '-W force'; do
		blocked -- /bin/sleep 1000
		wait_until 20 job_is "$id" R 42
		# shellcheck disable=SC2086
		qdel $how "$id"
		got=0
		wait $! || got=$?
		same "status $how" 3 "$got"
		same "sentence $how" "qsub: $id Job was deleted" "$(cat "$(here block.err)")"
	done
}

@test "qsub -W block: it waits on through a reload" {
	blocked -h -- /bin/sh -c 'exit 7'
	keelson reload jobs >/dev/null
	qrls "$id"
	got=0
	wait $! || got=$?
	same status 7 "$got"
	same sentence '' "$(cat "$(here block.err)")"
}

@test "qsub -W block: a job that is deleted before it runs" {
	rm -f "$(here block.out)" # an earlier test's would do to wait for
	shell true -h -W block=true >"$(here block.out)" 2>"$(here block.err)" 3>&- &
	wait_until 10 test -s "$(here block.out)"
	id=$(cat "$(here block.out)")
	qdel "$id"
	got=0
	wait $! || got=$?
	same status 3 "$got"
	has "$(cat "$(here block.err)")" "^qsub: $id "
}
