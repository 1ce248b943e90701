#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What went wrong is said where one looks: output that could not be delivered, jobs that a host could not run, versions of hosts,
# what stops the change of a resource, which line of a file qmgr refused, what is off.

load helper
load shared
load mail

setup_file()
{
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR post_office
	open_cluster --hosts 1 --set "mail.sendmail=$BATS_FILE_TMPDIR/post/mailer"
	quietly qmgr -c 'set server job_history_enable = True'
}
setup()
{
	join_cluster
	POST=$BATS_FILE_TMPDIR/post
	home=$SB/n1
}


comment() { job_attr "$1" comment; }
text_of_mails() { local file; for file in $(mails "$1"); do cat "$file"; done; }
mailed() { text_of_mails "$1" | grep -qF -- "$2"; }
with_qmgr() { printf '%s\n' "$@" | qmgr; }

# ---- C16 -------------------------------------------------------------------------------------------------

@test "administrator #16: output that cannot be delivered: the folder that is missing, in comment, mail and mom log, and where it is kept" {
	id=$(shell 'echo precious; echo bad >&2' -o /nosuchfolder/deep/out -e /nosuchfolder/err)
	ends "$id"
	has "$(comment "$id")" ' and finished; standard output and standard error not delivered: /nosuchfolder: No such file or directory; kept in '"n1:$home/undelivered/$id.OU\$"
	same status 0 "$(job_attr "$id" Stageout_status)"
	same kept precious "$(cat "$home/undelivered/$id.OU")"
	wait_until 10 mailed "$id" "Unable to copy file $home/undelivered/$id.OU to /nosuchfolder/deep/out"
	mailed "$id" "Unable to copy file $home/undelivered/$id.ER to /nosuchfolder/err"
	mailed "$id" '/nosuchfolder: No such file or directory'
	mailed "$id" "Output retained on that host in: $home/undelivered/$id.ER"
	has "$(mom_log n1)" "$id;Unable to copy file to /nosuchfolder/deep/out: /nosuchfolder: No such file or directory"
	has "$(server_log)" "$id;Post job file processing error; job $id on host n1"
}

@test "administrator #16: the folder that its user may not enter, or may not write, is named" {
	needs_root
	d=$(desk "$OWNER")/locked
	mkdir -p "$d/in" "$d-shut" && chmod 700 "$d" && chmod 755 "$d-shut" && chown root "$d" "$d-shut"
	id=$(shell 'echo x' -j oe -o "$d/in/out")
	ends "$id"
	has "$(comment "$id")" "; standard output not delivered: $d: Permission denied; kept in "
	id=$(shell 'echo x' -j oe -o "$d-shut/out")
	ends "$id"
	has "$(comment "$id")" "; standard output not delivered: $d-shut: Permission denied; kept in "
}

@test "administrator #16: output for a host that the copying program does not reach: its own words in comment, mail and mom log" {
	needs_module staging
	cat >"$SB/copies" <<-'EOF'
		#!/bin/sh
		printf 'lost connection\nssh: Could not resolve hostname nowhere: Name or service not known\033[31m\nNo such file or directory\n' >&2
		exit 1
	EOF
	chmod 755 "$SB/copies"
	echo "PBS_SCP=$SB/copies" >>"$SB/pbs.conf"
	sandbox restart n1
	wait_until 20 node_is n1 free
	id=$(shell 'echo x' -j oe -o nowhere:/tmp/out)
	ends "$id"
	has "$(comment "$id")" "; standard output not delivered to nowhere:/tmp/out: No such file or directory; kept in n1:$home/undelivered/$id.OU\$"
	wait_until 10 mailed "$id" 'ssh: Could not resolve hostname nowhere: Name or service not known'
	has "$(mom_log n1)" "$id;.*Could not resolve hostname nowhere"
	! grep -q $'\033' "$SB/n1"/mom_logs/* "$SB/server"/server_logs/*
	same status 0 "$(job_attr "$id" Stageout_status)"
	same 'letters about files' 1 "$(mails "$id" | xargs grep -l 'Post job file processing error' | wc -l)"
}

@test "administrator #16: a job that a host could not run: no home directory, in comment and mail of the job, with the host" {
	needs_root
	exists ktnohome || useradd -M -U -d /nonexistent/ktnohome -s /bin/sh ktnohome
	id=$(as ktnohome qsub -j oe -o /dev/null -- /bin/true)
	ends "$id"
	same status -2 "$(job_attr "$id" Exit_status)"
	has "$(comment "$id")" ' and failed; n1 could not start it: Could not chdir to Home directory'
	wait_until 10 mailed "$id" 'n1 could not start it: Could not chdir to Home directory'
}

@test "administrator #16: a shell that is not there, a folder for output that is missing: the reason, with the path" {
	id=$(shell 'echo x' -S /nosuch/shell)
	ends "$id"
	has "$(comment "$id")" '; n1 could not run its program: /nosuch/shell: No such file or directory'
	wait_until 10 mailed "$id" 'n1 could not run its program: /nosuch/shell: No such file or directory'
	id=$(shell 'echo x' -k doe -o /nosuchfolder/out -e /nosuchfolder/err)
	ends "$id"
	has "$(comment "$id")" ' and failed; n1 could not start it: /nosuchfolder/out: No such file or directory'
	wait_until 10 mailed "$id" 'n1 could not start it: /nosuchfolder/out: No such file or directory'
}

@test "administrator #16: a spool that cannot be written: the reason in the comment while it waits, and one letter however often it is tried" {
	mv "$home/spool" "$home/spool.away"
	undo mv "$home/spool.away" "$home/spool"
	id=$(shell 'echo x')
	wait_until 20 comment_says "$id" 'n1 could not start it: .*/spool.*: No such file or directory'
	wait_until 10 mailed "$id" "n1 could not start it: $home/spool"
	wait_until 20 comment_says "$id" "^Not Running: .*; last try: n1 could not start it: "
	same letters 1 "$(mails "$id" | wc -l)"
	mv "$home/spool.away" "$home/spool"
	wait_until 60 is_over "$id"
	lacks "$(comment "$id")" 'could not start'
}

# ---- C17 -------------------------------------------------------------------------------------------------

@test "administrator #17: pbsnodes shows the version that a host says of itself; the file pbs_version is written at each start" {
	has "$(node_attr n1 pbs_version)" "$(qstat --version | sed 's/pbs_version = //; s/[()]/./g')"
	for role in server n1; do echo 'of last year' >"$SB/$role/pbs_version"; done
	sandbox restart server
	sandbox restart n1
	wait_until 20 node_is n1 free
	for role in server n1; do same "$role" "$(qstat --version)" "pbs_version = $(cat "$SB/$role/pbs_version")"; done
	same server "$(qstat --version)" "pbs_version = $(value pbs_version "$(qstat -Bf)")"
}

# ---- C18 -------------------------------------------------------------------------------------------------

@test "administrator #18: finished jobs stop no change of a resource, and the first job, reservation, queue or node that does is named" {
	with_qmgr 'create resource tapes type=long,flag=q' 'set server resources_available.tapes = 9'
	undo qmgr -c 'delete resource tapes'
	qmgr -c 'unset server resources_available.tapes'
	id=$(shell 'echo x' -l tapes=2)
	ends "$id"
	quietly qmgr -c 'set resource tapes flag = ""'
	quietly qmgr -c 'set resource tapes type = string'
	same value 2 "$(job_attr "$id" Resource_List.tapes)"
	quietly qmgr -c 'set resource tapes type = long'
	held=$(shell 'echo x' -h -l tapes=1)
	says 70 "qmgr obj=tapes svr=default: Resource busy on job $held
qmgr: Error (15174) returned from server" qmgr -c 'set resource tapes flag = h'
	qdel "$held"
	qmgr -c 'set queue workq resources_max.tapes = 4'
	says 70 "qmgr obj=tapes svr=default: Resource busy on queue workq
qmgr: Error (15174) returned from server" qmgr -c 'set resource tapes flag = h'
	qmgr -c 'unset queue workq resources_max.tapes'
	qmgr -c 'set node n1 resources_available.tapes = 4'
	says 70 "qmgr obj=tapes svr=default: Resource busy on node n1
qmgr: Error (15174) returned from server" qmgr -c 'set resource tapes flag = h'
	qmgr -c 'unset node n1 resources_available.tapes'
	quietly qmgr -c 'set resource tapes flag = h'
}

# ---- C20 -------------------------------------------------------------------------------------------------

@test "administrator #20 (qmgr): the line and the text of the command of a file that failed, behind its error" {
	says 0 "Max open servers: 49
qmgr obj=nosuch svr=default: Unknown queue
qmgr: Error (15018) returned from server
qmgr: line 4: set queue nosuch enabled = True
qmgr obj=workq svr=default: Undefined attribute 
qmgr: Error (15002) returned from server
qmgr: line 5: set queue workq foo = 1" with_qmgr '# a file' 'set server \' '  comment = "well"' \
		'set queue nosuch enabled = True' 'unset server comment; set queue workq \' 'foo = 1'
	lacks "$(qmgr -c 'set queue nosuch enabled = True' 2>&1 || true)" 'line'
}

@test "administrator #20 (modules): what is off is listed, with why" {
	keelson unload prime-time
	found=$(keelson modules)
	has "$found" '^off +prime-time +switched off .keelson unload., until modules.d is read again; enabled in .*prime-time.conf:[0-9]+$'
	lacks "$found" '^off +(jobs|queues|mail) '
	lacks "$found" '^prime-time '
	keelson load prime-time
	lacks "$(keelson modules)" '^off +prime-time '
}

@test "administrator #20 (modules): one of a file that says enabled = false, and one that no file names" {
	conf=$SB/server/etc/modules.d/prime-time.conf
	cp -P "$conf" "$SB/prime-time.kept"
	undo sh -c "rm -f '$conf'; cp -P '$SB/prime-time.kept' '$conf'; keelson reload"
	rm "$conf"
	echo 'prime-time: { enabled = false; };' >"$conf"
	keelson reload
	has "$(keelson modules)" "^off +prime-time +enabled = false in $conf:1\$"
	rm "$conf"
	keelson reload
	has "$(keelson modules)" '^off +prime-time +installed, and no file in modules.d names it$'
}

@test "administrator #20 (verbs): a verb that is refused says who may" {
	needs_root
	says 1 'keelson: Unauthorized Request (operators and managers may)' as "$OTHER" keelson modules
	says 1 'keelson: Unauthorized Request (managers may)' as "$OPERATOR" keelson hooks --reset-time
	says 1 'keelson: Unauthorized Request (managers may)' as "$OPERATOR" keelson reload
}

@test "administrator #20 (key): every program that is installed says its version" {
	version=$(qstat --version)
	for program in "$KEELSON_BUILD"/bin/* "$KEELSON_BUILD"/keelsond "$KEELSON_BUILD"/libexec/keelson/keelson-*; do
		case $program in *-shepherd | */keelson-module) continue ;; esac
		[ -f "$program" ] || continue
		same "$program" "$version" "$("$program" --version </dev/null)"
	done
	has "$(keelson-module --version)" '^keelson-module [0-9]'
}
