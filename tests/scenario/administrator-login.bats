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
