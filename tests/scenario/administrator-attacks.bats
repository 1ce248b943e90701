#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# needs modules/client-relay
#
# administrator-attacks.bats - users and hosts that are no friends, on the way of commands from other hosts: what they get, and what
# others notice. What they send is made by attack.py.

load helper
load shared

python=$(command -pv python3 || echo python3) # one that each user may execute
attack() { "$python" "$top/tests/scenario/attack.py" "$@"; }
STATUS='req=status class=server id= extend='
BODY='req=status,class=server,id=,extend='

setup_file()
{
	local host
	open_cluster --logins 2 --set log.events=4095
	for host in login2 n1; do
		echo "forge: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/forge.so\"; file = \"$SB/$host.forge\"; };" >"$SB/$host/etc/modules.d/forge.conf"
		reload_host "$host" >/dev/null
	done
	wait_until 20 relays login1
	wait_until 20 relays login2
	wait_until 10 node_is n1 free
}

relays() { at "$1" "$OWNER" qstat -B >/dev/null 2>&1; }
# The socket of that host's daemon, that of the server for "server".
socket_of() { if [ "$1" = server ]; then echo "$SB/server/run/server.sock"; else echo "$SB/$1/run/mom.sock"; fi; }
ask_at() { attack ask "$(socket_of "$1")" "${@:2}"; } # host, request
pid_at() { if [ "$1" = server ]; then head -n 1 "$SB/server/server_priv/server.lock"; else mom_of "$1"; fi; }
memory_of() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$(pid_at "$1")/status"; }
files_of() { find "/proc/$(pid_at "$1")/fd" -mindepth 1 | wc -l; }
same_daemons() { same "daemons that run" "$daemons" "$(pid_at server) $(pid_at login1) $(pid_at login2) $(pid_at n1)"; }
remember_daemons() { daemons="$(pid_at server) $(pid_at login1) $(pid_at login2) $(pid_at n1)"; }

# forge HOST RECORD...: its daemon sends them to the server, under its good key; returns when they have left.
forge()
{
	local host=$1
	shift
	attack records "$SB/$host.records" "$@"
	forge_file "$host" "$SB/$host.records"
}
forge_file() { forge_line "$1" "server relay.up records=<$2"; }
forge_line()
{
	printf '%s\nend\n' "$2" >"$SB/$1.forge.new"
	mv "$SB/$1.forge.new" "$SB/$1.forge"
	wait_until 20 eval "[ ! -e $SB/$1.forge ]"
}

# flood WHAT: a user's 256 connections on login2, until the story has its answer; others are served meanwhile.
flood()
{
	as "$OTHER" env "JOB=${waited-}" "$python" "$top/tests/scenario/attack.py" many "$(socket_of login2)" 256 "${2:-6}" "$1" 3>&- & flooding=$!
	wait_until 10 eval '[ "$(files_of login2)" -gt 100 ]'
}

# Others are served: at the server, on another login node, on the same one. A bound for any machine; the figures are smaller.
all_are_served()
{
	says 0 '0 ' ask_at server $STATUS
	says 0 '0 ' ask_at login1 $STATUS
	says 0 '0 ' timeout 30 setpriv --reuid="$OWNER" --regid="$OWNER" --init-groups "$python" "$top/tests/scenario/attack.py" ask "$(socket_of login2)" $STATUS
}

flood_ends()
{
	kill "$flooding" 2>/dev/null || true
	wait "$flooding" || true
	wait_until 90 eval '[ "$(files_of login2)" -lt 30 ]'
	same_daemons
	relays login2
}

@test "administrator #A: a user's message says who asks, and it is not believed" {
	id=$(as "$OWNER" qsub -h -N mine -- /bin/true)
	for claim in user=root uid=0 host=svr who=root@svr session=root roles=7; do
		run as "$OTHER" "$python" "$top/tests/scenario/attack.py" ask "$(socket_of login2)" req=delete "id=$id" extend= "$claim"
		has "$output" '^15007 '
	done
	job_is "$id" H
	log_has "Req;delete;Reject reply code=15007, aux=0, type=6, from $OTHER@login2"
}

@test "administrator #A: names of requests that are none" {
	remember_daemons
	for name in '*' 'keelson.*' keelson keelson.modules relay.up 'status%00x' '%00' '' "$(printf 'x%.0s' {1..5000})" '%1b[2J' tm_nothing; do
		run as "$OTHER" "$python" "$top/tests/scenario/attack.py" ask "$(socket_of login2)" "req=$name" class=server id= extend=
		has "$output" '^(15[0-9]+ .*|closed)$'
	done
	same_daemons
	# What a host serves itself, of another's job: it is no way to its tasks.
	id=$(as "$OWNER" qsub -l host=n1 -- /bin/sleep 100)
	wait_until 20 job_is "$id" R
	for name in tm_init tm_spawn tm_attach; do
		run as "$OTHER" "$python" "$top/tests/scenario/attack.py" ask "$(socket_of n1)" "req=$name" "job=$id" cookie=none task=1 pid=1 client=1 event=1 node=0
		has "$output" '^(15|17)[0-9]+ '
	done
	job_is "$id" R
}

@test "administrator #A: half frames, lengths of 128 MiB and ends in the middle leave nothing behind" {
	remember_daemons
	throw=$KEELSON_BUILD/tests/scenario/tools/throw
	for bytes in '\0\0\0' '\377\377\377\377\0\1\0\0' '\0\0\0\4\0\1\0\0\0\0\0\0\0\0\0\1\337\377\377\377' '\0\0\0\1\0\1\0\0\0\0\0\0\0\0\0\1\300'; do
		printf "$bytes" | as "$OTHER" "$throw" 1 "unix:$(socket_of login2)" >/dev/null || true
	done
	# Arrays in arrays, and one that claims to be long.
	{ "$throw" frame 4096 1 0; head -c 4096 /dev/zero | tr '\0' '\221'; } | as "$OTHER" "$throw" 1 "unix:$(socket_of login2)" >/dev/null || true
	for what in half break long; do
		flood "$what" 3
		all_are_served
		flood_ends
	done
	[ -n "${KEELSON_SANITIZED-}" ] || wait_until 30 eval '[ "$(memory_of login2)" -lt 150000 ]' # at a sweep
}

@test "administrator #A: a user's flood on a login node: others are served there, elsewhere and at the server" {
	remember_daemons
	waited=$(as "$OTHER" qsub -h -- /bin/true)
	before=$(stat -c %s "$SB"/server/server_logs/[0-9]* "$SB"/login2/mom_logs/[0-9]* | paste -sd+ | bc)
	for what in status unknown script wait pile; do
		flood "$what"
		all_are_served
		flood_ends
	done
	after=$(stat -c %s "$SB"/server/server_logs/[0-9]* "$SB"/login2/mom_logs/[0-9]* | paste -sd+ | bc)
	[ $((after - before)) -lt 20000000 ]
	[ -n "${KEELSON_SANITIZED-}" ] || wait_until 20 eval '[ "$(memory_of login2)" -lt 150000 ] && [ "$(memory_of server)" -lt 200000 ]'
}

@test "administrator #A: who does not read its listings takes no place from others of its host" {
	remember_daemons
	for i in 1 2 3 4; do as "$OWNER" qsub -h -J 1-2000 -- /bin/true; done >/dev/null
	for what in unread trickle; do
		flood "$what" 30
		all_are_served
		same lines 8004 "$(at login2 "$OWNER" timeout 60 qstat -tf | grep -c '^Job Id')"
		[ "$(files_of login2)" -gt 100 ] # the flood is there still
		flood_ends
	done
}

@test "administrator #A: a host claims other hosts' users, rights and names: refused, with a line" {
	remember_daemons
	id=$(as "$OWNER" qsub -h -N yours -- /bin/true)
	for user in "$OWNER@svr" "$OWNER%00" 'a%0ab' 'a,b' 'a b' '' "$(printf 'u%.0s' {1..300})"; do forge login2 "ask:$user:req=delete,id=$id,extend="; done
	wait_until 10 log_has "Relay;login2;request of .@login2 refused: it is not as this daemon's version has them"
	# root, and managers of the server, without leave.
	for user in root "$MANAGER" "$OPERATOR" '*'; do
		forge login2 "ask:$user:req=delete,id=$id,extend=" "ask:$user:req=keelson,verb=reload" "ask:$user:req=manage,cmd=2,obj=0,name=,attrs=[,extend="
		wait_until 10 log_has "Req;delete;Reject reply code=15007, aux=0, type=6, from ${user/\*/.}@login2"
		log_has "Req;keelson.reload;Reject reply code=15007.*from ${user/\*/.}@login2"
	done
	job_is "$id" H
	same_daemons
}

@test "administrator #A: a host's records are none, or not in order: it gets nothing by them" {
	remember_daemons
	forge login2 data:1:@5 data:9:@70000 taken:5:4294967295 leave:77 end:78 part:1:abc reply:2:abc refuse:1 again:1 waits:1 bye:0 99:3:abc
	forge login2 open:x:0 open:y:4000000000 "*200:open:z:100000" data:1:@200000 data:2:@5 taken:2:4294967295 leave:2 leave:2 end:2 end:2 data:2:@5
	# What only waits, and bytes behind it.
	id=$(as "$OWNER" qsub -h -- /bin/true)
	forge login2 "ask:$OWNER:req=wait,id=$id" "*500:data:1"
	printf 'no record' >"$SB/login2.none"
	forge_file login2 "$SB/login2.none"
	wait_until 10 log_has 'Relay;login2;request of .@login2 refused: '
	forge login2 "*20000:end:1"
	# It has taken the places of its own host, 128, and none of others; with its link all of it goes.
	says 0 '0 ' ask_at server $STATUS
	says 0 '0 ' ask_at login1 $STATUS
	sandbox kill login2
	sandbox restart login2
	wait_until 20 relays login2
	remember_daemons
}

@test "administrator #A: a host's flood: one line a second, and others are served" {
	remember_daemons
	attack records "$SB/flood1" "*2000:ask:$OTHER:$BODY"
	attack records "$SB/flood2" "*12000:open:x:0"
	attack records "$SB/flood3" "*1000000:end:1"
	lines=$(server_log | grep -c ';Relay;login2;' || true)
	begin=$EPOCHSECONDS
	for i in 1 2 3; do
		for file in 1 2 3; do
			printf '20*server relay.up records=<%s\nend\n' "$SB/flood$file" >"$SB/login2.forge.new"
			mv "$SB/login2.forge.new" "$SB/login2.forge"
			says 0 '0 ' ask_at server $STATUS
			says 0 '0 ' ask_at login1 $STATUS
			wait_until 20 eval '[ ! -e $SB/login2.forge ]'
		done
	done
	wait_until 60 relays login2
	log_has 'Relay;login2;request of .@login2 refused: what this host sent is no record, or too long'
	[ $(($(server_log | grep -c ';Relay;login2;') - lines)) -le $((EPOCHSECONDS - begin + 2)) ]
	same_daemons
	[ -n "${KEELSON_SANITIZED-}" ] || wait_until 30 eval '[ "$(memory_of server)" -lt 200000 ]'
}

@test "administrator #A: what only an execution host may say is refused from a login node" {
	remember_daemons
	id=$(as "$OWNER" qsub -l host=n1 -- /bin/sleep 100)
	wait_until 20 job_is "$id" R
	for message in "job.obit id=$id status=0" "job.ended id=$id" "node.report host=n1 ncpus=999" "hooks.update n=1" "keel.nothing x=1"; do forge_line login2 "server $message"; done
	messages=$(strings -a "$KEELSON_BUILD"/modules/*.so | grep -E '^[a-z-]+\.[a-z_]+$' | sort -u)
	{ for message in $messages; do echo "server $message id=$id"; done; echo end; } >"$SB/login2.forge.new"
	mv "$SB/login2.forge.new" "$SB/login2.forge"
	wait_until 10 log_has "Link;login2;message '.*' refused: it may not come from this kind of daemon"
	wait_until 20 eval '[ ! -e $SB/login2.forge ]'
	relays login2
	job_is "$id" R
	node_is n1 free || node_is n1 job-busy
	same_daemons
}

@test "administrator #A: a flood, a hostile host and a restart of the server together" {
	flood status 10
	attack records "$SB/flood1" "*2000:ask:$OTHER:$BODY"
	printf '50*server relay.up records=<%s\nend\n' "$SB/flood1" >"$SB/n1.forge.new"
	mv "$SB/n1.forge.new" "$SB/n1.forge"
	id=$(as "$OWNER" qsub -l host=n1 -- /bin/sleep 1000)
	wait_until 60 job_is "$id" R
	sandbox restart server
	remember_daemons
	wait_until 60 relays login1
	all_are_served
	job_is "$id" R
	as "$OWNER" qsig -s SIGKILL "$id"
	wait_until 60 is_over "$id"
	flood_ends
}

@test "administrator #2: the daemon of a login node reads its configuration again" {
	reload_host login2
	relays login2
}
