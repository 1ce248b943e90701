#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Files of jobs: -W stagein, stageout, and output to other hosts. Another host is played by the program that pbs.conf names for
# copies: it has its files below $SB/far.

# needs modules/staging
load helper
load shared
load mail

setup_file()
{
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR post_office
	open_cluster --hosts 1 --set "mail.sendmail=$BATS_FILE_TMPDIR/post/mailer"
	mkdir -p "$SB/far/box"
	chmod -R 1777 "$SB/far"
	cat >"$SB/far/scp" <<-EOF
		#!/bin/sh
		umask 0
		{ printf '%s|' "\$(id -un)" "\$@"; echo; } >>'$SB/far/log'
		while [ -e '$SB/far/slow' ]; do sleep .1; done
		[ ! -e '$SB/far/refuses' ] || { echo "connection refused by \$2"; exit 1; }
		shift
		at() { case \$1 in box:*) echo "$SB/far/\${1%%:*}/\${1#*:}";; /*) echo "\$1";; *) exit 9;; esac; }
		exec cp -rp -- "\$(at "\$1")" "\$(at "\$2")"
	EOF
	chmod 755 "$SB/far/scp"
	echo "PBS_SCP=$SB/far/scp" >>"$SB/pbs.conf"
	sandbox restart n1
}
setup()
{
	join_cluster
	POST=$BATS_FILE_TMPDIR/post
	far=$SB/far/box
	rm -f "$SB/far/log"
	d=$(desk "$OWNER")/$BATS_TEST_NUMBER
	as "$OWNER" mkdir -p "$d"
	undo rm -f "$SB/far/slow" "$SB/far/refuses"
}

give() { printf '%s\n' "$2" >"$1"; [ "$EUID" -ne 0 ] || chown "$OWNER" "$1"; } # FILE TEXT
copies() { cat "$SB/far/log" 2>/dev/null || true; }
copies_were() { [ "$(copies | wc -l)" -eq "$1" ]; }

@test "multi-host: files and directories are staged in before the start and out after the end, as the job's user" {
	give "$far/a" 'from afar'
	mkdir "$far/deep" && give "$far/deep/c" deep && chmod -R go+rX "$far"
	give "$d/near" 'from here'
	a=$(submit -o "$d/out" -e "$d/err" \
		-W "stagein=$d/a@box:a,$d/dir@box:deep,$d/n@$(hostname):$d/near" \
		-W "stageout=$d/result@box:result,$d/tree@box:tree,$d/again@localhost:$d/kept" \
		-- /bin/sh -c "cd '$d'; cat a dir/c n; echo made >result; mkdir tree; echo leaf >tree/x; echo twice >again")
	ends "$a"
	same output "from afar deep from here" "$(xargs <"$d/out")"
	same result made "$(cat "$far/result")"
	same leaf leaf "$(cat "$far/tree/x")"
	same kept twice "$(cat "$d/kept")"
	[ ! -e "$d/result" ] && [ ! -e "$d/tree" ] && [ ! -e "$d/again" ]
	[ ! -e "$d/a" ] && [ ! -e "$d/n" ] # files that were staged in go, too; directories may have become the user's
	[ -e "$d/dir/c" ] && [ -e "$d/near" ] && [ -e "$far/a" ]
	[ -z "$(copies | grep -v "^$OWNER|-Brp|")" ]
	same owner "$OWNER" "$(stat -c %U "$far/result")"
	has "$(mom_log n1)" ";0100;pbs_mom;Job;$a;Staged 3/3 items in over 0:00:0[0-9]\$"
	has "$(mom_log n1)" ";0100;pbs_mom;Job;$a;Staged 3/3 items out over 0:00:0[0-9]\$"
	has "$(mom_log n1)" ";0080;pbs_mom;Job;$a;copy file request received\$"
}

@test "multi-host #35: a missing source of a stage-in has the job wait: W, substate 37, half an hour" {
	a=$(submit -m abe -W "stagein=$d/x@box:nosuch" -- /bin/cp "$d/x" "$d/ran")
	wait_until 20 job_is "$a" W 37
	before=$(date +%s)
	when=$(date -d "$(job_attr "$a" Execution_Time)" +%s)
	[ "$when" -gt $((before + 1700)) ] && [ "$when" -le $((before + 1800)) ]
	[ ! -e "$d/ran" ]
	copies_were 1 # a file that is not there does not come by trying again
	wait_until 10 mails_are 1 "$a" 'File stage in failed, see below.'
	mails_are 1 "$a" 'Job will be retried later, please investigate and correct problem.'
	mails_are 1 "$a" "Unable to copy file $d/x from box:nosuch"
	mails_are 1 "$a" '>>> error from copy'
	sandbox kill server
	sandbox restart server
	job_is "$a" W 37
	give "$far/nosuch" 'now it is'
	chmod 644 "$far/nosuch"
	as "$OWNER" qalter -a "$(date -d '2 seconds' +%Y%m%d%H%M.%S)" "$a"
	ends "$a"
	same file 'now it is' "$(cat "$d/ran")"
}

@test "multi-host: R with substate 15 while files are staged in, E with 51 while they are staged out" {
	give "$far/slow-one" x
	chmod 644 "$far/slow-one"
	touch "$SB/far/slow"
	a=$(submit -W "stagein=$d/s@box:slow-one" -W "stageout=$d/s@box:slow-two" -- /bin/true)
	wait_until 20 job_is "$a" R 15
	rm "$SB/far/slow"
	wait_until 20 copies_were 2 || true
	ends "$a"
	b=$(submit -W "stageout=$d/t@box:slow-three" -- /bin/sh -c "touch '$SB/far/slow' '$d/t'")
	wait_until 20 job_is "$b" E 51
	says 168 "qsig: Request invalid for state of job $b" qsig -s suspend "$b"
	says 168 "qrerun: Request invalid for state of job $b" qrerun "$b"
	same 'its vnode' "$b/0" "$(node_attr n1 jobs)"
	sandbox kill server
	sandbox restart server
	wait_until 10 job_is "$b" E 51
	rm -f "$SB/far/slow"
	ends "$b"
	[ -e "$far/slow-three" ]
	same 'its states' '50 51 52 53' "$(server_log | sed -n "s/.*;$b;Updated job state to 69 and substate to //p" | xargs)"
}

@test "multi-host #34: output for a host that refuses is retained, its people hear where" {
	touch "$SB/far/refuses"
	a=$(submit -o box:out -e "$d/err" -m a -- /bin/echo kept)
	wait_until 60 is_over "$a"
	same Exit_status 0 "$(job_attr "$a" Exit_status)"
	same retained kept "$(cat "$SB/n1/undelivered/$a.OU")"
	[ ! -e "$SB/n1/spool/$a.OU" ]
	copies_were 4
	wait_until 10 mails_are 1 "$a" "Post job file processing error; job $a on host n1"
	mails_are 1 "$a" "Unable to copy file $SB/n1/spool/$a.OU to box:out"
	mails_are 1 "$a" "connection refused by $SB/n1/spool/$a.OU"
	mails_are 1 "$a" "Output retained on that host in: $SB/n1/undelivered/$a.OU"
	has "$(server_log)" ";Job;$a;Post job file processing error; job $a on host n1\$"
}

@test "multi-host: output for another host is copied there, and only there" {
	a=$(finished -o box:o -e box:e -- /bin/sh -c 'echo one; echo two >&2')
	same stdout one "$(cat "$far/o")"
	same stderr two "$(cat "$far/e")"
	[ ! -e "$SB/n1/undelivered/$a.OU" ] && [ ! -e "$SB/n1/undelivered/$a.ER" ]
	same Stageout_status 1 "$(job_attr "$a" Stageout_status)"
	a=$(finished -k doe -o box:o2 -e box:e2 -- /bin/sh -c 'echo one; echo two >&2')
	same 'stdout that cannot be written directly' one "$(cat "$far/o2")"
	same stderr two "$(cat "$far/e2")"
	has "$(mom_log n1)" ";Job;$a;Direct write is requested for job: $a, but the destination is not usecp-able from n1\$"
	b=$(finished -j oe -o 'box:joined.$PBS_JOBID' -- /bin/sh -c 'echo one; echo two >&2')
	same joined 'one two' "$(xargs <"$far/joined.$b")"
}

@test "multi-host: a private directory is where relative names begin; files that cannot be copied are kept with it" {
	a=$(finished -W sandbox=PRIVATE -W "stageout=res@box:private" -- /bin/sh -c 'echo made >res')
	same result made "$(cat "$far/private")"
	b=$(finished -m a -W sandbox=PRIVATE -W "stageout=nothere@box:x,res@box:no/such/dir" -- /bin/sh -c 'echo made >res')
	eval "home=~$OWNER"
	undo rm -rf "$home/pbs.$b.x8z.kept"
	same kept made "$(cat "$home/pbs.$b.x8z.kept/res")"
	[ ! -e "$home/pbs.$a.x8z" ] && [ ! -e "$home/pbs.$b.x8z" ]
	mails_are 1 "$b" 'Unable to copy file nothere to box:x'
	mails_are 1 "$b" 'Unable to copy file res to box:no/such/dir'
}

@test "multi-host: file names are no words for a shell or a program, lists that are none are refused" {
	give "$far/odd" odd
	chmod 644 "$far/odd"
	name='$(touch hacked); -rf'
	a=$(submit -W sandbox=PRIVATE -W "stagein=$name@box:odd" -W "stageout=-n@box:-odd out" -- /bin/sh -c 'cat ./*rf >./-n; ls >&2')
	ends "$a"
	same content odd "$(cat "$far/-odd out")"
	give "$far/star" star && chmod 644 "$far/star"
	give "$d/mine" mine
	ends "$(submit -W "stagein=$d/*@box:star" -- /bin/rm "$d/*")" # a name that is gone is no pattern for what is the user's
	same 'what is not staged' mine "$(cat "$d/mine")"
	[ ! -e "$(eval echo "~$OWNER")/hacked" ] && [ ! -e "$far/hacked" ]
	for list in a a@box a@box: @box:/b 'a@-oProxyCommand=x:/b' a@:/b 'a@box:/b,'; do
		run as "$OWNER" qsub -h -W "stagein=$list" -- /bin/true
		[ "$status" -ne 0 ]
	done
	needs_root
	a=$(submit -m n -W "stagein=$d/shadow@localhost:/etc/shadow" -- /bin/true)
	wait_until 90 job_is "$a" W 37
	[ ! -e "$d/shadow" ]
}

@test "multi-host: a daemon that is killed while files are staged: the job runs all the same, once" {
	give "$far/again" x
	chmod 644 "$far/again"
	touch "$SB/far/slow"
	a=$(submit -W "stagein=$d/again@box:again" -- /bin/sh -c "cat '$d/again' >>'$d/ran'")
	wait_until 20 job_is "$a" R 15
	sandbox kill n1
	rm "$SB/far/slow"
	sandbox restart n1
	wait_until 40 is_over "$a"
	same 'what it found' x "$(cat "$d/ran")"
}
