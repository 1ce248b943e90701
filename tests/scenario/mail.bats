#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Mail: the people of a job are told that it begins (b), ends (e) or is aborted (a, as is usual). The mailer
# of these stories puts what it gets into files.
#
# needs modules/mail

load helper
load mail

BEGUN='Begun execution'
ENDED='Execution terminated'
ABORTED='Aborted by PBS Server '

cluster()
{
	post_office
	setup_sandbox --set "mail.sendmail=$MAILER" "$@"
	qmgr -c 'set server job_history_enable = true'
}

log_has() { server_log | grep -qE -- "$1"; }

# closed: what was said before is done with. A later job's mail comes after all others.
closed()
{
	local id
	id=$(submit -h)
	as "$OWNER" qdel "$id"
	wait_until 10 mails_are 1 "$id" "$ABORTED"
}

@test "mail: b and e, to the owner, in the usual form" {
	cluster
	host=$(hostname)
	id=$(submit -m be -N little -- /bin/sh -c 'exit 3')
	wait_until 20 mails_are 1 "$id" "$ENDED"
	closed
	mails_are 2 "$id"
	owner=$(job_attr "$id" Job_Owner)
	same begun "-i -f adm $owner
From: adm
To: $owner
Subject: PBS JOB $id
Auto-Submitted: auto-generated

PBS Job Id: $id
Job Name:   little
$BEGUN" "$(cat "$(mails "$id" "$BEGUN")")"
	has "$(cat "$(mails "$id" "$ENDED")")" '^Exit_status=3$'
	has "$(cat "$(mails "$id" "$ENDED")")" '^resources_used.walltime='
}

@test "mail: without a word only a deletion is told: who did it, once" {
	cluster
	ended=$(submit -- /bin/true)
	wait_until 20 is_over "$ended"
	id=$(running)
	qdel "$id"
	wait_until 20 is_over "$id"
	waits=$(submit -h)
	qdel "$waits"
	for job in "$id" "$waits"; do
		wait_until 10 mails_are 1 "$job" "$ABORTED"
		has "$(cat "$(mails "$job")")" "^Job to be deleted at request of $ME@"
	done
	closed
	mails_are 0 "$ended"
	mails_are 1 "$id"
	mails_are 1 "$waits"
}

@test "mail: -m n, and a deletion without mail" {
	cluster
	quiet=$(submit -m n -- /bin/true)
	wait_until 20 is_over "$quiet"
	id=$(running -m ae)
	qdel -Wsuppress_email=-1 "$id"
	wait_until 20 is_over "$id"
	closed
	mails_are 0 "$quiet"
	mails_are 0 "$id"
}

@test "mail: a deletion without mail that a restart interrupts" {
	cluster
	ready=$(desk "$OWNER")/ready
	id=$(submit -m ae -- /bin/sh -c "trap '' TERM; touch $ready; while :; do sleep 0.1; done")
	wait_until 20 test -e "$ready"
	wait_until 20 job_is "$id" R 42
	qdel -Wsuppress_email=-1 "$id"
	sandbox restart server --hard
	wait_until 30 is_over "$id"
	closed
	mails_are 0 "$id"
}

@test "mail: to the users of -M, those that are addresses, from mail_from" {
	cluster
	qmgr -c 'set server mail_from = pbs@example.org'
	id=$(submit -m b -M "ann@example.org,bob,-oQ/tmp,|/bin/sh,ann@example.org")
	wait_until 20 mails_are 1 "$id" "$BEGUN"
	same arguments '-i -f pbs@example.org ann@example.org bob' "$(head -n 1 "$(mails "$id")")"
	has "$(cat "$(mails "$id")")" '^From: pbs@example.org$'
	lacks "$(cat "$(mails "$id")")" '/bin/sh|-oQ'
}

@test "mail: what could break a header is refused" {
	cluster
	got=0
	found=$(submit -m a -M $'ann\nBcc: bob' 2>&1) || got=$?
	[ "$got" -ne 0 ]
	same jobs '' "$(qselect)"
}

@test "mail: over its walltime: a says so" {
	cluster
	id=$(submit -l walltime=1)
	wait_until 60 mails_are 1 "$id" "$ABORTED"
	has "$(cat "$(mails "$id")")" '^Job exceeded resource walltime$'
	has "$(cat "$(mails "$id")")" '^See job standard error file$'
}

@test "mail: an array is one job; its subjobs only with j" {
	needs_module arrays
	cluster
	id=$(submit -m be -J 1-2 -- /bin/true)
	wait_until 30 mails_are 1 "$id" "$ENDED"
	both=$(submit -m bej -J 1-2 -- /bin/true)
	wait_until 30 mails_are 1 "$both" "$ENDED"
	closed
	for index in 1 2; do
		mails_are 0 "${id/\[\]/[$index]}"
		mails_are 1 "${both/\[\]/[$index]}" "$BEGUN"
		mails_are 1 "${both/\[\]/[$index]}" "$ENDED"
	done
	mails_are 1 "$id" "$BEGUN"
	mails_are 1 "$both" "$BEGUN"
}

@test "mail: after a restart nothing is told again, and the end is told" {
	cluster
	id=$(running -m be)
	wait_until 10 mails_are 1 "$id" "$BEGUN"
	sandbox restart server --hard
	wait_until 20 node_is n1 free
	kill "$(session_of "$id")"
	wait_until 20 mails_are 1 "$id" "$ENDED"
	closed
	mails_are 1 "$id" "$BEGUN"
	mails_are 2 "$id"
}

@test "mail: a mailer that is missing is named once, and jobs go on" {
	cluster
	rm "$MAILER"
	for job in 1 2 3; do
		id=$(submit -m be -- /bin/true)
		wait_until 20 is_over "$id"
	done
	wait_until 10 log_has "no mail is sent: $MAILER: No such file or directory"
	same said 1 "$(server_log | grep -c 'no mail is sent')"
}

@test "mail: a mailer that others can write is not started" {
	cluster
	chmod 777 "$MAILER"
	id=$(submit -m b)
	wait_until 20 log_has "no mail is sent: $MAILER: Permission denied"
	mails_are 0 "$id"
}

@test "mail: a mailer that hangs is ended, and the server answers meanwhile" {
	cluster --set mail.timeout=5s --set mail.queue=2
	touch "$POST/hang"
	for job in 1 2 3 4 5; do
		id=$(submit -h)
		as "$OWNER" qdel "$id"
	done
	quietly timeout 4 qstat
	wait_until 10 log_has '2 mails wait: more are not sent'
	rm "$POST/hang"
	wait_until 20 log_has "was not taken: $MAILER timed out"
	none_left() { ! pgrep -f "^$MAILER" >/dev/null; }
	wait_until 20 none_left # the mails behind the one that hung are sent meanwhile
}

@test "mail: who may set the server's mailer does not choose what it executes" {
	cluster
	qmgr -c 'set server mailer = /bin/sh'
	id=$(submit -m b)
	wait_until 20 mails_are 1 "$id" "$BEGUN"
	log_has "mailer is not what the configuration \(mail.sendmail\) says: $MAILER is used"
}

@test "mail: a job that can never start is aborted, and says why" {
	needs_module dependencies
	cluster
	first=$(submit -m n -h -- /bin/false)
	id=$(submit -W "depend=afterok:$first" -- /bin/true)
	as "$OWNER" qrls "$first"
	wait_until 20 mails_are 1 "$id" "$ABORTED"
	same why "$(job_attr "$id" comment)" "$(tail -n 1 "$(mails "$id")")"
	closed
	mails_are 1 "$id"
}

@test "mail: its host does not come back: a job that may not be rerun is gone" {
	cluster
	qmgr -c 'set server node_fail_requeue = 1'
	qmgr -c 'set server job_history_enable = true'
	id=$(running -r n -m a)
	deleted=$(running -- /bin/sh -c 'trap "" TERM; while sleep 1; do :; done')
	qdel "$deleted"
	sandbox kill n1
	wait_until 30 mails_are 1 "$id" "$ABORTED"
	same why 'Job deleted, execution node n1 down' "$(tail -n 1 "$(mails "$id")")"
	wait_until 30 job_is "$deleted" F 91
	has "$(job_attr "$deleted" comment)" " and terminated by $ME@[^ ]*\$"
}

@test "mail: point job_notice says what is told, and of what nothing" {
	cluster
	echo "job_notice: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/job_notice.so\"; };" \
		>"$SB/server/etc/modules.d/job_notice.conf"
	keelson reload
	told=$(submit -h)
	quiet=$(submit -h)
	qdel "$told"
	qdel -Wsuppress_email=-1 "$quiet"
	log_has "$told;fixture job_notice letter=a text=Job to be deleted at request of $ME@"
	log_has "$quiet;fixture job_notice letter=n "
}

@test "mail: while the mailer has one, an unload waits for it, five seconds at most; the server may end" {
	needs_root
	sending() { pgrep -f "^$MAILER" >/dev/null; }
	gone() { ! kill -0 "$1" 2>/dev/null; }
	cluster --set mail.timeout=5s
	touch "$POST/hang"
	id=$(submit -h)
	as "$OWNER" qdel "$id"
	wait_until 10 sending
	begins=$SECONDS
	has "$(keelson unload mail)" '^mail: unloaded$'
	[ $((SECONDS - begins)) -ge 2 ]
	keelson load mail
	as "$OWNER" qdel "$(submit -h)"
	wait_until 10 sending
	server=$(cat "$SB/server/server_priv/server.lock")
	quietly qterm
	wait_until 20 gone "$server"
	has "$(server_log)" ';Log closed'
	lacks "$(server_log)" 'fatal signal'
}
