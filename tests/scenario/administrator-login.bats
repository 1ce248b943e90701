#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A login node: one daemon and one key, no jobs and no vnode. And what users read on a host that cannot reach the server.

load helper

login_is_linked() { grep -q ';Link;login1;linked with' "$SB"/server/server_logs/*; }
server_says() { grep -qF "$1" "$SB"/server/server_logs/*; }

# fails TEXT COMMAND...: it does, and its output has the text.
fails()
{
	local text=$1 found
	shift
	if found=$("$@" 2>&1); then echo "\`$*\` does not fail: $found" >&2; return 1; fi
	[[ $found == *"$text"* ]] || { printf '"%s" is not in: %s\n' "$text" "$found" >&2; return 1; }
}

# Another key pair of the host login1, in the role ROLE; the server enrols it as that, too.
key_as() # role
{
	rm -f "$SB/login1/keys/login1".*
	"$KEELSON_BUILD/bin/keelson-key" make --role "$1" --host login1 --dir "$SB/login1/keys" >/dev/null
	cp "$SB/login1/keys/login1.pub" "$SB/server/peers/login1.pub"
}

@test "administrator #2: a login node has a daemon and a link, and is no vnode" {
	setup_sandbox --logins 1
	login_is_linked
	says 0 'n1' eval "pbsnodes -a | grep -v '^ ' | xargs"
	fails 'Unknown node' pbsnodes login1
	[ -S "$SB/login1/run/mom.sock" ]
	[ ! -e "$SB/login1/run/mom.port" ]
	sandbox kill login1
	says 0 'n1' eval "pbsnodes -a | grep -v '^ ' | xargs"
	sandbox restart login1
	sandbox restart server
	wait_until 20 eval 'pbsnodes n1 | grep -q "state = free"'
	says 0 'n1' eval "pbsnodes -a | grep -v '^ ' | xargs"
}

@test "administrator #2: the key of a login node opens no link as an execution host, nor the other way round" {
	setup_sandbox --logins 1
	sandbox kill login1
	key_as mom
	fails 'is a key of a mom, but this daemon is a login' sandbox restart login1 --no-wait
	cp "$SB/login1/keys/login1.key" "$SB/mom.key"
	key_as login
	cp "$SB/mom.key" "$SB/login1/keys/login1.key"
	sed -i 's/"login"/"mom"/' "$SB/login1/etc/keelson.conf"
	sandbox restart login1 --no-wait
	wait_until 20 server_says 'the key enrolled under this name has another role'
	fails 'Unknown node' pbsnodes login1
}

@test "administrator #2: login stands alone, in the configuration and on the command line" {
	setup_sandbox --logins 1
	fails 'roles: "login" stands alone' keelsond --check --conf "$SB/login1/etc/keelson.conf" --role login --role mom
	sed -i 's/"login"/"server", "login"/' "$SB/login1/etc/keelson.conf"
	fails 'roles: "login" stands alone' keelsond --check --conf "$SB/login1/etc/keelson.conf"
	fails 'expected server, mom or login' keelsond --check --role submit
}

# every_command CHECK: CHECK STATUS COMMAND...; the status is that of a server that cannot be reached.
every_command()
{
	"$1" 255 qstat
	"$1" 255 qstat -B
	"$1" 162 qdel 1.svr
	"$1" 162 qsub -- /bin/true
	"$1" 162 qselect
	"$1" 162 qhold 1.svr
	"$1" 162 pbs_rsub -R 2359 -D 60
	"$1" 1 pbsnodes -a
	"$1" 2 qrun 1.svr
	"$1" 3 qmgr -c 'list server'
	"$1" 1 keelson modules
}

# No daemon of this host answers: a sentence, and the line by which tools know that the server is away.
is_unreached() # status, command...
{
	local status=$1 found got=0
	shift
	found=$(at "$here" "$OWNER" "$@" 2>&1) || got=$?
	same "exit of \`$*\` at $here" "$status" "$got"
	has "$found" "cannot reach the server svr from this host: no keelsond answers at $SB/$here/run/mom.sock; start it, or enrol this host"
	lacks "$found" 'Connection refused|No support'
}

@test "administrator #5: where no daemon of this host answers, each command says so" {
	setup_sandbox --logins 1
	for here in login1 n1; do
		sandbox kill "$here"
		every_command is_unreached
	done
	here=n1
	rm "$SB/n1/run/mom.sock"
	is_unreached 255 qstat
	# At the server's own host it is as it was.
	sandbox kill server
	says 255 'Connection refused
qstat: cannot connect to server svr (errno=15010)' qstat
}

@test "administrator #5: another server than this host's is refused with a sentence" {
	setup_sandbox --logins 1
	for here in login1 .; do
		found=$(at "$here" "$OWNER" qstat @127.0.0.9 2>&1) && false
		has "$found" '^cannot reach the server 127.0.0.9 from this host: its commands go to the server of pbs.conf, svr alone'
		has "$found" '^qstat: cannot connect to server svr \(errno=15010\)$'
		says 255 'Unknown Host.
qstat: cannot connect to server svr (errno=15008)' at "$here" "$OWNER" qstat @nosuchhost
	done
}

# ---- who is who, on which host -----------------------------------------------------------------------------------

@test "administrator #3: a job is its owner's on the host it comes from and on the server's; with flatuid on each" {
	needs_root
	needs_module client-relay
	setup_sandbox --logins 2
	id=$(at login1 "$OWNER" qsub -h -- /bin/true)
	qstat -f "$id" | grep -qx " *Job_Owner = $OWNER@login1"
	at login1 "$OWNER" qalter -N one "$id"
	as "$OWNER" qalter -N two "$id"
	fails 'Unauthorized Request' at login2 "$OWNER" qalter -N three "$id"
	fails 'Unauthorized Request' at login1 "$OTHER" qalter -N three "$id"
	qmgr -c 'set server query_other_jobs = False'
	says 0 '' at login2 "$OWNER" qselect
	says 0 "$id" at login1 "$OWNER" qselect
	qmgr -c 'set server flatuid = True'
	at login2 "$OWNER" qalter -N three "$id"
	fails 'Unauthorized Request' at login2 "$OTHER" qalter -N four "$id"
	says 0 "$id" at login2 "$OWNER" qselect
	says 0 '' at login2 "$OTHER" qselect
	here=$(hostname -s)
	fails 'Bad UID for job execution' at login1 "$OWNER" qsub -u "$OWNER@login1,$OTHER@$here" -- /bin/true
	at login1 "$OWNER" qsub -h -u "$OTHER@login1,$OWNER@$here" -- /bin/true
}

@test "administrator #3: root of another host is root of that host only" {
	needs_root
	needs_module client-relay
	setup_sandbox --logins 1
	qmgr -c 'set server acl_roots = root'
	root_id=$(qsub -h -- /bin/true)
	fails 'Bad UID for job execution' at login1 root qsub -h -- /bin/true
	fails 'Bad effective UID' at login1 root pbs_rsub -R "$(moment 3600)" -D 60
	fails 'Unauthorized Request' at login1 root qalter -N mine "$root_id"
	fails 'Unauthorized Request' at login1 root qmgr -c 'set server comment = mine'
	qmgr -c 'set server acl_roots += root@login1'
	id=$(at login1 root qsub -h -- /bin/true)
	qstat -f "$id" | grep -qx ' *Job_Owner = root@login1'
}

@test "administrator #3: acl_hosts is about the host that a user is on; acl_host_moms_enable lets hosts of jobs pass" {
	needs_root
	needs_module client-relay
	setup_sandbox --logins 1
	qmgr -c 'set server acl_host_enable = True'
	as "$OWNER" qstat
	fails 'Access from host not allowed' at login1 "$OWNER" qstat -B
	fails 'Access from host not allowed' at n1 "$OWNER" qstat -B
	qmgr -c 'set server acl_host_moms_enable = True'
	at n1 "$OWNER" qstat -B
	fails 'Access from host not allowed' at login1 "$OWNER" qstat -B
	qmgr -c 'set server acl_hosts = login1'
	at login1 "$OWNER" qstat -B
}
