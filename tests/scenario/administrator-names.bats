#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# An administrator's first week: names and starts. A server that is called otherwise than its store, hosts without a server
# or a key, files that others may write, and what a start that is refused says.

load helper

conf() { echo "$SB/${1:-server}/etc/keelson.conf"; }
pid_of() { head -n 1 "$SB/server/server_priv/server.lock"; }

# call NAME: what the server is called from now on, and what commands call it.
call()
{
	sed -i "s/^server_name = .*/server_name = \"$1\";/" "$(conf)"
	sed -i "s/^PBS_SERVER=.*/PBS_SERVER=$1/" "$SB/pbs.conf"
}

# serve_at NAME [OPTION...], serve [OPTION...]: start a daemon, the server, as a person would.
serve_at()
{
	local name=$1 line set_args=()
	shift
	while read -r line; do set_args+=(--set "$line"); done < <(cat "$SB/settings" "$SB/$name/etc/settings" 2>/dev/null)
	${KEELSON_LOGIN-} "$KEELSON_BUILD/keelsond" --conf "$(conf "$name")" "${set_args[@]}" "$@" 3>&- 2>&1
}
serve() { serve_at server "$@"; }
refuses() { run serve "$@"; same 'exit status' 1 "$status"; lacks "$output" 'fatal signal|vendor'; }
ids() { qstat -xt | tail -n +3 | cut -d ' ' -f 1 | sort; }
queues_alive() { qstat -Q >/dev/null; }

@test "administrator #6: a server of another name refuses the store of a running job with a sentence; renamed it goes on" {
	setup_sandbox --hosts 2
	qmgr -c "set server job_history_enable = true"
	local id held array part resv child before name delay first
	id=$(running)
	session=$(session_of "$id")
	held=$(submit -h -- /bin/true)
	child=$(submit -W "depend=afterok:$held" -- /bin/true)
	array=$(submit -h -J 1-3 -- /bin/true)
	resv=$(as "$OWNER" pbs_rsub -R "$(moment 600)" -D 600 -l select=1:ncpus=1 | cut -d ' ' -f 1)
	wait_until 20 resv_is "$resv" CONFIRMED
	before=$(ids)
	sandbox kill server
	call new

	# Refused, at each start, and nothing is lost by it.
	refuses
	has "$output" '^keelsond: the store is that of server "svr", this one is called "new": say server_name = "svr" in keelson.conf'
	has "$output" 'start it once with `keelsond --rename-server svr`'
	refuses
	has "$output" '^keelsond: the store is that of server "svr", this one is called "new"'
	refuses --rename-server old
	has "$output" '--rename-server old: the store is that of server "svr", not of "old"'
	call svr
	refuses --rename-server svr
	has "$output" '--rename-server svr: the store is that of server "svr", and that is the name of this one'
	alive "$session"

	# In the middle of it the power fails, again and again.
	call new
	for delay in 0.01 0.03 0.06 0.1 0.2 0.4 0.8; do
		timeout -s KILL "$delay" "$KEELSON_BUILD/keelsond" --conf "$(conf)" --foreground --rename-server svr 3>&- 2>/dev/null || true
	done
	serve --rename-server svr
	has "$(server_log)" 'the store of server "svr" is that of "new" from now on'
	same 'ids of the jobs' "$before" "$(ids)"
	hosts_back() { [ "$(pbsnodes -av | grep -c 'state = \(free\|job-busy\)')" -eq 2 ]; }
	wait_until 30 hosts_back
	wait_until 20 job_is "$id" R 42
	alive "$session"
	same 'server of the job' new "$(value server "$(qstat -f "${id%.*}")")"

	# Each name finds it.
	for name in "" .svr .new; do
		for first in "${id%.*}" "${held%.*}" "${array%.*}" "$(sub "${array%.*}" 2)"; do
			same "$first$name" "$first.svr" "$(qstat "$first$name" | sed -n '3s/ .*//p')"
		done
		has "$(pbs_rstat -f "${resv%.*}$name")" "^Resv ID: ${resv/./\\.}\$"
		has "$(keelson explain "${held%.*}$name")" '^job +1\.svr  state H'
	done
	run qstat 99.svr
	has "$output" 'Unknown Job Id 99.svr'
	run qstat 1.nosuchhost.invalid
	has "$output" 'illegally formed job identifier: 1.nosuchhost.invalid'
	as "$OWNER" qalter -N renamed "${held%.*}.new"
	same name renamed "$(value Job_Name "$(qstat -f "$held")")"
	as "$OWNER" pbs_ralter -D 900 "${resv%.*}.new"

	# What depends on it, what is new, what ends.
	local next other
	next=$(submit -W "depend=afterok:${held%.*}.new" -- /bin/true)
	other=$(submit -W "depend=afterany:$id" -- /bin/true)
	has "$next" '^[0-9]+\.new$'
	job_is "$child" H
	job_is "$next" H
	has "$(qstat -f "$next")" "depend = afterok:${held//./\\.}@new"
	as "$OWNER" qrls "${held%.*}.new"
	wait_until 30 job_is "$child" F
	wait_until 30 job_is "$next" F
	as "$OWNER" qdel "$(sub "${array%.*}.new" 3)" "${array%.*}.new"
	wait_until 20 job_is "$array" F
	as "$OWNER" pbs_rdel "${resv%.*}.new"
	has "$(qstat -f "$id")" "depend = beforeany:${other%.*}\.new@new"
	as "$OWNER" qdel "${id%.*}.new"
	wait_until 20 dead "$session"
	wait_until 30 job_is "$id" F
	wait_until 30 job_is "$other" F

	# From now on it has that name, whatever else is said.
	before=$(ids)
	sandbox restart server
	same 'ids of the jobs' "$before" "$(ids)"
	same 'state' F "$(value job_state "$(qstat -xf "${held%.*}")")"
	kill -9 "$(pid_of)"
	dead_server() { ! alive "$(pid_of)"; }
	wait_until 20 dead_server
	serve --rename-server svr # once more does no harm
	wait_until 10 queues_alive
	kill -9 "$(pid_of)"
	wait_until 20 dead_server
	call svr
	refuses
	has "$output" 'the store is that of server "new", this one is called "svr"'
	serve --rename-server new # and back
	same 'ids of the jobs' "$before" "$(ids)"
	same "by the other name" "$id" "$(qstat -x "${id%.*}.new" | tail -n 1 | cut -d ' ' -f 1)"
	has "$(submit -h -- /bin/true)" '^[0-9]+\.svr$'
}

@test "administrator #6: PBS_SERVER_HOST_NAME names where to connect, never the server" {
	setup_sandbox
	qmgr -c "set server job_history_enable = true"
	local id
	sandbox kill server
	sed -i '/^server_name/d' "$(conf)"
	sed -i 's/^PBS_SERVER=.*/PBS_SERVER_HOST_NAME=localhost/' "$SB/pbs.conf"
	refuses
	has "$output" "the store is that of server \"svr\", this one is called \"$(hostname -s)\""
	serve --rename-server svr
	id=$(submit -h -- /bin/true)
	same 'the name of the server' "$(hostname -s)" "${id#*.}"
	same 'found by its number' "$id" "$(qstat "${id%%.*}" | tail -n 1 | cut -d ' ' -f 1)"
	has "$(qstat -B)" "^$(hostname -s | cut -c 1-16)"
	as "$OWNER" qdel "${id%%.*}"
}

@test "administrator #6: the backup of a server is restored on a host of another name; its hosts follow" {
	setup_sandbox
	qmgr -c "set server job_history_enable = true"
	local id session
	id=$(running)
	session=$(session_of "$id")
	sandbox kill server
	cp -a "$SB/server" "$SB/backup"
	rm -rf "$SB/server"
	mv "$SB/backup" "$SB/server"
	call head2
	sed -i 's/^host_name = .*/host_name = "head2";/' "$(conf)"
	serve --rename-server svr
	node_back() { node_is n1 free || node_is n1 job-busy; }
	wait_until 30 node_back
	wait_until 20 job_is "$id" R 42
	alive "$session"
	as "$OWNER" qdel "${id%%.*}.head2"
	wait_until 20 dead "$session"
}

check_of() { run "$KEELSON_BUILD/keelsond" --check --conf "$SB/n1/etc/keelson.conf"; }

@test "administrator #9: a host without a server, a server without a port, a key that is missing: --check says what to write" {
	setup_sandbox
	qmgr -c "set server job_history_enable = true"
	local links=$SB/n1/etc/modules.d/link-tcp.conf key=$SB/n1/keys/n1.key
	check_of
	same 'exit status' 0 "$status"
	cp "$links" "$SB/links.before"
	sed -i 's/ server = "[^"]*";//' "$links"
	check_of
	same 'exit status' 1 "$status"
	has "$output" 'link-tcp.conf: link-tcp.server: expected HOST:PORT where the server takes links .*, got nothing; write link-tcp: { server = "head.example.org:15001"; }; there'
	sed 's/ server = "[^"]*";/ server = "head";/' "$SB/links.before" >"$links"
	check_of
	same 'exit status' 1 "$status"
	has "$output" 'link-tcp.server: expected HOST:PORT .*, got "head"; write link-tcp: { server = "head:15001"; }; there'
	lacks "$output" vendor
	cp "$SB/links.before" "$links"
	mv "$key" "$SB/key"
	check_of
	same 'exit status' 1 "$status"
	has "$output" "key file $key is missing; make the key with .keelson-key make --role mom --host n1 --dir DIR. and put it there with"
	has "$output" 'keelson-key\(8\)'
	mv "$SB/key" "$key"
	check_of
	same 'exit status' 0 "$status"
}

# guarded PATH MODE CHECK...: with that mode it is refused by the words of what mends it; as it was before it is not.
guarded()
{
	local path=$1 mode=$2 before
	shift 2
	before=$(stat -c %a "$path")
	chmod "$mode" "$path"
	run "$@"
	chmod "$before" "$path"
	same "exit status for $path" 1 "$status"
	has "$output" "$path may be written by others \(mode [0-7]+\); .chmod go-w $path."
	lacks "$output" 'vendor|fatal signal'
}
check_server() { "$KEELSON_BUILD/keelsond" --check --conf "$(conf)"; }
check_host() { "$KEELSON_BUILD/keelsond" --check --conf "$(conf n1)"; }

@test "administrator #10: what others may write is refused: mom_priv, peers, the configuration and what is above it" {
	setup_sandbox
	qmgr -c "set server job_history_enable = true"
	local path
	sandbox kill n1
	sandbox kill server
	for path in "$SB"/n1/{mom_priv,peers,peers/server.pub,etc,etc/keelson.conf,etc/modules.d,etc/modules.d/executor.conf} "$SB/n1"; do
		guarded "$path" o+w check_host
		guarded "$path" o+w sandbox restart n1
	done
	for path in "$SB"/server/{server_priv,peers,peers/n1.pub,etc,etc/keelson.conf,etc/modules.d,etc/modules.d/jobs.conf} "$SB/server"; do
		guarded "$path" o+w check_server
		guarded "$path" o+w sandbox restart server
	done
	guarded "$SB/pbs.conf" o+w sandbox restart server
	# What was refused once starts as soon as it is mended; a key that is enrolled later and that others may write is none.
	sandbox restart server
	chmod o+w "$SB/server/peers/n1.pub"
	serve_at n1
	refused() { has "$(server_log)" "$SB/server/peers/n1.pub may be written by others \(mode 0646\); .chmod go-w"; }
	wait_until 20 refused
	chmod o-w "$SB/server/peers/n1.pub"
	node_back() { node_is n1 free; }
	wait_until 20 node_back
}

@test "administrator #10: what another user owns is refused, and what is above it, by the words of what mends it" {
	needs_root
	setup_sandbox
	qmgr -c "set server job_history_enable = true"
	local path
	sandbox kill n1
	for path in "$SB"/n1/{mom_priv,peers,peers/server.pub,etc,etc/keelson.conf,etc/modules.d,etc/modules.d/executor.conf} "$SB/n1" "$SB"; do
		chown ktest2 "$path"
		run check_host
		chown root "$path"
		same "exit status for $path" 1 "$status"
		has "$output" "$path belongs to another user \([0-9]+, mode [0-7]+\); .chown 0 $path."
	done
	guarded "$SB" o+w check_host
	check_host
	sandbox restart n1
}

@test "administrator #11: a start that is refused says what to do, and blames no module" {
	setup_sandbox
	qmgr -c "set server job_history_enable = true"
	local id session
	id=$(running)
	session=$(session_of "$id")
	sandbox kill server
	# A store of another one, while a job of this one is known: modules knew it, and had timers for it.
	echo 0123456789abcdef >"$SB/server/server_priv/store.id"
	refuses
	has "$output" 'module manager: start failed: the store is another one, but this PBS_HOME has had one'
	lacks "$(server_log)" 'vendor'
	rm "$SB/server/server_priv/store.id"
	call new
	refuses
	lacks "$(server_log)" 'vendor|fatal signal'
	call svr
	sandbox restart server
	alive "$session"
}
