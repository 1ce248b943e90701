#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# One user against others, on a host that has cgroups for its tasks where the machine offers them: names that
# others take first, identities, names that do not resolve, suspended and killed tasks.

load helper
load shared
load mend-users

setup_file() { [ "$EUID" -ne 0 ] || open_cluster --ncpus 20; }
teardown_file() { [ "$EUID" -ne 0 ] || close_cluster; }
setup() { needs_root; join_cluster; }

# ---- B1 --------------------------------------------------------------------------------------------------

@test "mend B1: another user who takes the names of the next jobs' files first hurts none of them" {
	id=$(submit -h)
	qdel "$id"
	n=$(sequence "$id")
	# Files, folders and links of the stranger, in the spool, in undelivered, and where TMPDIRs are.
	as "$OTHER" sh -c '
		cd "$1" || exit
		for i in $(seq $(($2 + 1)) $(($2 + 20))); do
			for s in OU ER; do
				case $((i % 3)) in
				0) echo mine >spool/$i.svr.$s; chmod 600 spool/$i.svr.$s ;;
				1) mkdir spool/$i.svr.$s; : >spool/$i.svr.$s/full ;;
				2) ln -s /etc/passwd spool/$i.svr.$s ;;
				esac
				echo mine >undelivered/$i.svr.$s
			done
			mkdir tmp/pbs.$i.svr
		done' - "$SB/n1" "$n"
	# Who watches the spool takes each name again and again, while the jobs start.
	as "$OTHER" sh -c '
		cd "$1/spool" && while [ ! -e ../tmp/enough ]; do
			for i in $(seq $(($2 + 1)) $(($2 + 20))); do
				{ : >$i.svr.OU; rm -rf $i.svr.ER; mkdir $i.svr.ER; } 2>/dev/null
			done
		done' - "$SB/n1" "$n" 3>&- &
	stranger=$!
	undo eval 'cd "$SB/n1" && rm -rf tmp/pbs.* tmp/enough spool/* undelivered/*'
	for i in {1..10}; do
		jobs[i]=$(shell 'echo out $PBS_JOBID; echo err >&2; touch $TMPDIR/x' -o "$(here "b1.$i.o")" -e "$(here "b1.$i.e")")
	done
	lost=$(shell 'echo kept' -o /nowhere/at/all -e "$(here b1.e)")
	for i in {1..10}; do
		ends "${jobs[i]}"
	done
	ends "$lost"
	touch "$SB/n1/tmp/enough"
	wait $stranger || true
	for i in {1..10}; do
		same "exit of ${jobs[i]}" 0 "$(job_attr "${jobs[i]}" Exit_status)"
		same "output of ${jobs[i]}" "out ${jobs[i]}" "$(cat "$(here "b1.$i.o")")"
		same "errors of ${jobs[i]}" err "$(cat "$(here "b1.$i.e")")"
	done
	same 'what could not be placed' kept "$(cat "$SB/n1/undelivered/$lost.OU")"
	same 'whose it is' "$OWNER" "$(stat -c %U "$SB/n1/undelivered/$lost.OU")"
	[ ! -e "$SB/n1/spool/$lost.OU" ] || [ "$(stat -c %U "$SB/n1/spool/$lost.OU")" = "$OTHER" ]
}

@test "mend B1: the spool's file of a running job is where it was, the user's alone to write" {
	id=$(running -- /bin/sh -c 'echo now; sleep 1000')
	wait_until 10 grep -qx now "$SB/n1/spool/$id.OU"
	same 'whose it is' "$OWNER" "$(stat -c %U "$SB/n1/spool/$id.OU")"
	! as "$OTHER" sh -c 'echo x >>"$1"; rm -f "$1"; mv "$1" "$1.x"' - "$SB/n1/spool/$id.OU" 2>/dev/null
	same 'its text' now "$(cat "$SB/n1/spool/$id.OU")"
}

# ---- B2 --------------------------------------------------------------------------------------------------

# vault: a folder that only the group root may enter and write, and files in it.
vault()
{
	V=$SB/vault
	mkdir -p "$V"
	chown root:root "$V"
	chmod 770 "$V"
	echo secret >"$V/file"
	chown root:root "$V/file"
	chmod 660 "$V/file"
}

pid_of()
{
	local pid
	case $1 in
	server) read -r pid <"$SB/server/server_priv/server.lock" || [ -n "$pid" ] ;;
	*) read -r pid <"$SB/$1/mom_priv/mom.lock" || [ -n "$pid" ] ;;
	esac
	echo "$pid"
}

# as_member VERB HOST: by somebody with root's group and more
as_member() { setpriv --groups 0,1,2,3 "$top/scripts/sandbox" "$1" --dir "$SB" --build "$KEELSON_BUILD" "$2" 3>&-; }

@test "mend B2: daemons have no supplementary groups, also when who starts them has some" {
	for name in server n1; do
		as_member restart $name
		pid=$(pid_of $name)
		has "$(tr '\0' ' ' <"/proc/$pid/cmdline")" keelsond
		same "groups of $name" 'Groups:' "$(grep '^Groups:' "/proc/$pid/status" | tr -d '[:space:]')"
	done
}

@test "mend B2: nothing that is done for a user reaches what is root's group's: qmsg, output, TMPDIR, sandbox, -k" {
	vault
	as_member restart n1
	D=$(desk "$OWNER")
	id=$(running -k oe -o "$D" -e "$D" -N b2 -- /bin/sh -c 'id -G >$0/groups; sleep 1000' "$D")
	wait_until 10 test -s "$D/groups"
	# The task's groups are its user's.
	same groups "$(id -G "$OWNER" | tr ' ' '\n' | sort -n | xargs)" "$(tr ' ' '\n' <"$D/groups" | sort -n | xargs)"
	# qmsg: the folder of the file is swapped for the vault.
	as "$OWNER" mkdir -p "$D/sw"
	swapped=$(running -k oed -o "$D/sw/file" -e "$D/sw/file2" -- /bin/sleep 1000)
	wait_until 10 test -e "$D/sw/file"
	as "$OWNER" mv "$D/sw" "$D/sw.was"
	as "$OWNER" ln -s "$V" "$D/sw"
	! as "$OWNER" qmsg -O 'forged' "$swapped" 2>/dev/null
	same 'the file of root' secret "$(cat "$V/file")"
	# The output of a job that ends: into the vault, over its file.
	a=$(shell 'echo forged' -o "$V/file" -e "$V/new")
	ends "$a"
	same 'the file of root' secret "$(cat "$V/file")"
	[ ! -e "$V/new" ]
	# What is removed at the end: a sandbox and a TMPDIR that have become links to the vault.
	b=$(shell 'cd /; rm -rf "$TMPDIR" "$PBS_JOBDIR"; ln -s '"$V"' "$TMPDIR"; ln -s '"$V"' "$PBS_JOBDIR"' \
		-W sandbox=PRIVATE -o "$D/b.o" -e "$D/b.e")
	ends "$b"
	same 'the file of root' secret "$(cat "$V/file")"
	# Kept files.
	c=$(shell 'echo forged' -k oed -o "$V/file" -e "$V/new") && ends "$c"
	same 'the file of root' secret "$(cat "$V/file")"
	rm -rf "$(eval echo ~"$OWNER")"/b2.[oe]*
}

# ---- B3 --------------------------------------------------------------------------------------------------

# silent_names: n1 is started again where the name server is a black hole on loopback.
silent_names()
{
	cat >"$SB/resolv.conf" <<-END
		nameserver 127.0.0.213
		options timeout:20 attempts:3
	END
	sed 's/^hosts:.*/hosts: files dns/' /etc/nsswitch.conf >"$SB/nsswitch.conf"
	grep -q '^hosts:' "$SB/nsswitch.conf" || echo 'hosts: files dns' >>"$SB/nsswitch.conf"
	# A socket that takes questions and answers none.
	setsid perl -MSocket -e '
		socket(S, PF_INET, SOCK_DGRAM, 17); setsockopt(S, SOL_SOCKET, SO_REUSEADDR, 1);
		bind(S, sockaddr_in(53, inet_aton("127.0.0.213"))) or die; sleep 600' 3>&- &
	undo kill $!
	sandbox kill n1
	unshare -m sh -c 'mount --bind "$1/resolv.conf" /etc/resolv.conf && mount --bind "$1/nsswitch.conf" /etc/nsswitch.conf &&
		shift && exec "$@"' - "$SB" "$top/scripts/sandbox" restart --dir "$SB" --build "$KEELSON_BUILD" n1 3>&-
	undo sandbox restart n1
}

@test "mend B3: eight jobs of one user whose output path names a host that nobody answers for: another's starts at once" {
	# Copies to such a host are tried for minutes (staging.bats); here they go where they are kept.
	[ ! -d "$top/modules/staging" ] || echo staging.enabled=false >>"$SB/n1/etc/settings"
	undo sed -i '/^staging/d' "$SB/n1/etc/settings"
	silent_names
	for i in {1..8}; do
		hung[i]=$(submit -o "no-such-host-$i.example.net:/x" -e /dev/null -- /bin/true)
	done
	wait_until 10 job_is "${hung[8]}" R 41
	before=$(date +%s%3N)
	id=$(submit_as "$OTHER" -o /dev/null -e /dev/null -- /bin/sleep 1000)
	wait_until 2 job_is "$id" R 42
	took=$(($(date +%s%3N) - before))
	[ "$took" -lt 15000 ] || { echo "it took $took ms" >&2; false; } # one name takes 60 s
	job_is "${hung[8]}" R 41
	# The user's own others, too.
	own=$(submit -o /dev/null -e /dev/null -- /bin/sleep 1000)
	wait_until 2 job_is "$own" R 42
	# A name without answer is another host's: the first ones run by now, and their output is kept.
	ends "${hung[1]}"
	wait_until 10 test -e "$SB/n1/undelivered/${hung[1]}.OU"
	same 'look-ups of one user at a time' 4 "$(host_log | grep -c 'was not learned')" || true
}

@test "mend B3: checkpoint programs that take long hold up nobody's start" {
	printf '#!/bin/sh\nsleep 60\n' >"$SB/save"
	chmod 755 "$SB/save"
	cp "$SB/n1/etc/settings" "$SB/settings.was"
	echo "executor.checkpoint_abort=50 !$SB/save %jobid" >>"$SB/n1/etc/settings"
	undo sandbox restart n1
	undo cp "$SB/settings.was" "$SB/n1/etc/settings"
	sandbox restart n1
	for i in {1..5}; do
		jobs[i]=$(running)
		as "$OWNER" timeout 50 qhold "${jobs[i]}" 3>&- >/dev/null 2>&1 &
	done
	wait_until 10 saves_run
	id=$(submit_as "$OTHER")
	wait_until 2 job_is "$id" R 42
	qdel -W force "${jobs[@]}"
	pids=$(pgrep -f "$SB/save" || true)
	[ -z "$pids" ] || kill $pids
	wait
}
saves_run() { [ "$(pgrep -fc "^/bin/sh $SB/save")" -eq 4 ]; }

# ---- B5 --------------------------------------------------------------------------------------------------

cgroup_here() { [ -n "$(awk '$3 == "cgroup2"' /proc/mounts)" ] && host_groups; }
host_groups() { compgen -G "$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)$(sed -n 's/^0:://p' /proc/self/cgroup)/keelson-*" >/dev/null; }

@test "mend B5: SIGCONT of the owner does not undo a suspension: the job is frozen, also after a restart of the mom" {
	id=$(ticking)
	cgroup_here || skip 'no cgroup v2 here'
	quietly qsig -s suspend "$id"
	job_is "$id" S 43
	stopped "$id"
	shows_t() { grep -q '^State:[[:space:]]*T' "/proc/$(session_of "$id")/status"; }
	wait_until 2 shows_t
	at=$(ticks "$id")
	for i in {1..20}; do continue_all "$id"; done
	nap 0.3
	same 'what it did' "$at" "$(ticks "$id")"
	stopped "$id"
	sandbox restart n1 --hard
	for i in {1..20}; do continue_all "$id"; done
	nap 0.3
	same 'what it did' "$at" "$(ticks "$id")"
	stopped "$id"
	quietly qsig -s resume "$id"
	wait_until 5 grew "$id" "$at"
	going "$id"
	quietly qsig -s suspend "$id"
	continue_all "$id"
	# A suspended job is deleted as ever: TERM reaches it.
	quietly as "$OWNER" qdel "$id"
	ends "$id"
	same status 271 "$(job_attr "$id" Exit_status)"
}

# ---- B6 --------------------------------------------------------------------------------------------------

@test "mend B6: qdel ends a job whose output cannot be placed, after the time that a job has" {
	qmgr -c 'set queue workq kill_delay = 1'
	undo qmgr -c 'unset queue workq kill_delay'
	id=$(stuck "$(here b6.o)")
	job_is "$id" R 42
	quietly as "$OWNER" qdel "$id"
	ends "$id"
	same 'bytes kept' $STUCK_BYTES "$(stat -c %s "$SB/n1/undelivered/$id.OU")"
	wait_until 5 gone_from_host "$id"
	rm -f "$SB/n1/undelivered/$id.OU" "$(here b6.o)"
}

@test "mend B6: who places the output begins again when it is killed as it begins: a pass of KILL may have met it" {
	id=$(stuck "$(here b6.o)" KILL)
	ends "$id"
	same 'bytes placed' $STUCK_BYTES "$(stat -c %s "$(here b6.o)")"
	wait_until 5 gone_from_host "$id"
	! compgen -G "$SB/n1/undelivered/$id*"
	rm -f "$(here b6.o)"
}

@test "mend B6: qdel -W force leaves no process and no file behind, whatever its output waits for" {
	id=$(stuck "$(here b6.o)")
	quietly as "$OWNER" qdel -W force "$id"
	job_is "$id" F
	wait_until 5 gone_from_host "$id"
	! compgen -G "$SB/n1/undelivered/$id*"
	rm -f "$(here b6.o)"
	# One that runs.
	id=$(running -- /bin/sh -c 'setsid sleep $0.4 & touch $TMPDIR/x; echo said; sleep 1000' "$(mark)")
	quietly as "$OWNER" qdel -W force "$id"
	wait_until 5 gone_from_host "$id"
	! compgen -G "$SB/n1/undelivered/$id*"
	none_left 4
}

@test "mend B6: qdel ends a job whose owner has stopped its first process before it came to its program" {
	qmgr -c 'set queue workq kill_delay = 1'
	undo qmgr -c 'unset queue workq kill_delay'
	# A lease on the program gives its owner the time.
	as "$OWNER" perl -e '$SIG{IO} = "IGNORE"; open(F, ">", $ARGV[0]) && chmod(0755, $ARGV[0]) && fcntl(F, 1024, 1) or
		die "no lease: $!"; sleep 600' "$(here leased)" 3>&- &
	undo kill $!
	wait_until 10 test -x "$(here leased)"
	id=$(submit -o /dev/null -e /dev/null -- "$(here leased)")
	stops_it() { as "$OWNER" pkill -STOP -u "$OWNER" -P "$(shepherd_of "$id")"; }
	wait_until 10 stops_it
	first=$(pgrep -P "$(shepherd_of "$id")")
	wait_until 10 is_stopped "$first"
	job_is "$id" R 41
	as "$OWNER" qdel "$id"
	ends "$id"
	same status 265 "$(job_attr "$id" Exit_status)"
	[ ! -d "/proc/$first" ]
	wait_until 5 gone_from_host "$id"
}

# ---- B7 --------------------------------------------------------------------------------------------------

@test "mend B7: a hundred processes that fork and exit in turn are gone within seconds of KILL" {
	soon_cut_off hydra
}

# ---- B10 -------------------------------------------------------------------------------------------------

@test "mend B10: a shepherd that is killed leaves no process and no TMPDIR; the job ends with 265, its output placed" {
	rm -f "$(here b10.pid)" "$(here b10.o)"
	id=$(leaving)
	wait_until 5 test -s "$(here b10.pid)"
	[ -e "$SB/n1/tmp/pbs.$id/x" ]
	kill -KILL "$(shepherd_of "$id")"
	ends "$id"
	same status 265 "$(job_attr "$id" Exit_status)"
	wait_until 5 none_left
	[ ! -e "$SB/n1/tmp/pbs.$id" ]
	same output said "$(cat "$(here b10.o)")"
	has "$(accounting)" "^[^;]*;E;$id;.* Exit_status=265 .*resources_used.walltime="
	! compgen -G "$SB/n1/spool/$id*"
}

@test "mend B10: also when the mom was not there" {
	rm -f "$(here b10.pid)" "$(here b10.o)"
	id=$(leaving)
	wait_until 5 test -s "$(here b10.pid)"
	sandbox kill n1
	kill -KILL "$(shepherd_of "$id")"
	sandbox restart n1
	ends "$id"
	same status 265 "$(job_attr "$id" Exit_status)"
	wait_until 5 none_left
	[ ! -e "$SB/n1/tmp/pbs.$id" ]
	same output said "$(cat "$(here b10.o)")"
}
