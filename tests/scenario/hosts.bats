#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Several hosts: jobs on each, over all of them, and what happens when a host's daemon dies.

load helper
load shared

setup_file() { open_cluster --hosts 3 --set executor.first_host_only=true; }

node_has() { node_is "$1" "$2"; }
kill_mom() { sandbox kill "$1"; undo restart_mom "$1"; }
restart_mom() { "$top/scripts/sandbox" restart --dir "$SB" --build "$KEELSON_BUILD" "$1" 3>&-; }

@test "hosts: three of them, free" {
	for host in n1 n2 n3; do
		node_is "$host" free
		same mom "$host" "$(node_attr "$host" Mom)"
	done
}

@test "hosts: jobs run on all three" {
	for host in n1 n2 n3; do
		id=$(running -l select=1:host=$host)
		same exec_host "$host/0" "$(job_attr "$id" exec_host)"
		same nodefile "$host" "$(sed -n 1p "$SB/$host/aux/$id")"
		alive "$(session_of "$id")"
	done
}

@test "hosts: jobs that one host has no room for go to the next" {
	ids=$(for i in 1 2 3; do submit -l ncpus=4; done)
	for id in $ids; do wait_until 20 job_is "$id" R 42; done
	# shellcheck disable=SC2086
	same hosts 'n1 n2 n3' "$(for id in $ids; do job_attr "$id" exec_host; done | sed 's|/.*||' | sort | xargs)"
	extra=$(submit)
	waits() { job_attr "$extra" comment | grep -q '^Not Running: '; }
	wait_until 20 waits
	job_is "$extra" Q
}

@test "hosts: a scattered job of three chunks has three hosts" {
	id=$(submit -l select=3:ncpus=1 -l place=scatter)
	wait_until 20 job_is "$id" R 42
	same exec_host n1/0+n2/0+n3/0 "$(job_attr "$id" exec_host)"
	same exec_vnode '(n1:ncpus=1)+(n2:ncpus=1)+(n3:ncpus=1)' "$(job_attr "$id" exec_vnode)"
	for host in n1 n2 n3; do same jobs "$id/0" "$(node_attr $host jobs)"; done
	same nodefile 'n1 n2 n3' "$(xargs <"$SB/n1/aux/$id")"
	as "$OWNER" qsig "$id"
	ends "$id"
	for host in n1 n2 n3; do same jobs '' "$(node_attr $host jobs)"; done
}

@test "hosts: place=pack, place=excl" {
	id=$(submit -l select=3:ncpus=1 -l place=pack)
	wait_until 20 job_is "$id" R 42
	same hosts 1 "$(job_attr "$id" exec_host | tr + '\n' | sed 's|/.*||' | sort -u | wc -l)"
	alone=$(submit -l select=1:ncpus=1 -l place=excl)
	wait_until 20 job_is "$alone" R 42
	node=$(job_attr "$alone" exec_host)
	same state job-exclusive "$(node_attr "${node%%/*}" state)"
}

@test "hosts: output of a job comes back from where it ran" {
	id=$(shell 'echo "from $(cat $PBS_NODEFILE)"' -l select=1:host=n3 -j oe -o "$(here far.out)")
	ends "$id"
	same output 'from n3' "$(cat "$(here far.out)")"
}

@test "hosts: a dead daemon makes its node down within the grace" {
	kill_mom n2
	wait_until 10 is_down n2
	has "$(pbsnodes -l)" '^n2                   (state-unknown,)?down'
	node_is n1 free
	id=$(submit -l select=1:host=n2)
	waits() { job_attr "$id" comment | grep -q '^Not Running: '; }
	wait_until 20 waits
	restart_mom n2
	wait_until 20 node_has n2 free
	wait_until 20 job_is "$id" R 42
}

@test "hosts: jobs outlive their host's daemon, and end with their true status" {
	go=$(here go)
	rm -f "$go"
	id=$(running -l select=1:host=n2 -- /bin/sh -c "while [ ! -e $go ]; do sleep 0.05; done; exit 37")
	pid=$(session_of "$id")
	kill_mom n2
	wait_until 10 is_down n2
	alive "$pid"
	restart_mom n2
	wait_until 20 node_has n2 free
	job_is "$id" R 42
	same session "$pid" "$(session_of "$id")"
	alive "$pid"
	same count 1 "$(job_attr "$id" run_count)"
	touch "$go"
	ends "$id"
	same status 37 "$(job_attr "$id" Exit_status)"
}

@test "hosts: a job that ended while the daemon was dead reports its true status afterwards" {
	go=$(here go2)
	rm -f "$go"
	id=$(running -l select=1:host=n3 -o "$(here late.out)" -j oe -- \
		/bin/sh -c "while [ ! -e $go ]; do sleep 0.05; done; echo last words; exit 41")
	pid=$(session_of "$id")
	kill_mom n3
	touch "$go"
	wait_until 10 dead "$pid"
	job_is "$id" R 42
	restart_mom n3
	ends "$id"
	same status 41 "$(job_attr "$id" Exit_status)"
	same output 'last words' "$(cat "$(here late.out)")"
	has "$(accounting | grep ";E;$id;")" ' Exit_status=41 '
}

@test "hosts: a job that was killed while the daemon was dead" {
	id=$(running -l select=1:host=n1)
	pid=$(session_of "$id")
	kill_mom n1
	kill -KILL "$pid"
	restart_mom n1
	ends "$id"
	same status 265 "$(job_attr "$id" Exit_status)"
}

@test "hosts: suspended jobs stay suspended while their daemon dies and comes back" {
	id=$(running -l select=1:host=n2)
	pid=$(session_of "$id")
	qsig -s suspend "$id"
	is_stopped "$pid"
	kill_mom n2
	wait_until 10 is_down n2
	is_stopped "$pid"
	restart_mom n2
	wait_until 20 node_has n2 free
	job_is "$id" S
	is_stopped "$pid"
	qsig -s resume "$id"
	wait_until 20 job_is "$id" R 42
	wait_until 10 is_going "$pid"
}

@test "hosts: deleted while its daemon is dead, the job is gone when it is back" {
	id=$(running -l select=1:host=n3)
	pid=$(session_of "$id")
	kill_mom n3
	wait_until 10 is_down n3
	qdel -W force "$id"
	job_is "$id" F
	restart_mom n3
	wait_until 20 dead "$pid"
	wait_until 20 node_has n3 free
}

@test "hosts: an orderly restart of a daemon leaves its jobs alone" {
	id=$(running -l select=1:host=n1)
	pid=$(session_of "$id")
	sandbox restart n1
	wait_until 20 node_has n1 free
	job_is "$id" R 42
	alive "$pid"
	as "$OWNER" qsig "$id"
	ends "$id"
	same status 271 "$(job_attr "$id" Exit_status)"
}

@test "hosts: all daemons restart, jobs on all hosts go on" {
	ids=$(for host in n1 n2 n3; do running -l select=1:host=$host; done)
	pids=$(for id in $ids; do session_of "$id"; done)
	for name in n1 server n2 n3; do sandbox restart $name --hard; done
	for host in n1 n2 n3; do wait_until 20 node_has $host free; done
	for id in $ids; do wait_until 20 job_is "$id" R 42; done
	for pid in $pids; do alive "$pid"; done
	# shellcheck disable=SC2086
	as "$OWNER" qsig $ids
	for id in $ids; do
		ends "$id"
		same status 271 "$(job_attr "$id" Exit_status)"
	done
}

# The server runs another set of modules: the same process, the next image of it.
another_set()
{
	local pid
	pid=$(cat "$SB/server/server_priv/server.lock")
	seen=$(server_log | wc -l)
	keelson "$1" mail >/dev/null
	same pid "$pid" "$(cat "$SB/server/server_priv/server.lock")"
	alive "$pid"
}
since() { server_log | tail -n "+$((seen + 1))"; }
has_come() { since | grep -q ";Node;$1;Mom reporting"; }

@test "hosts: a server that restarts with another set of modules: no vnode is down in between, jobs run on" {
	ids=$(for host in n1 n2 n3; do running -l select=1:host=$host; done)
	pids=$(for id in $ids; do session_of "$id"; done)
	undo load_mail
	another_set unload
	for host in n1 n2 n3; do node_is $host free; done
	for id in $ids; do job_is "$id" R 42; done
	for host in n1 n2 n3; do wait_until 20 has_come $host; done
	for host in n1 n2 n3; do node_is $host free; done
	server_log | grep -q 'set_vnode_state' # there are such records
	! since | grep 'set_vnode_state' || false
	! since | grep ';node down: ' || false
	for pid in $pids; do alive "$pid"; done
	# shellcheck disable=SC2086
	as "$OWNER" qsig $ids
	for id in $ids; do
		ends "$id"
		same status 271 "$(job_attr "$id" Exit_status)"
	done
}

@test "hosts: a host that dies while the server restarts with another set is down after the grace" {
	id=$(running -l select=1:host=n3)
	pid=$(session_of "$id")
	undo load_mail
	kill_mom n3
	another_set unload
	node_is n3 free
	wait_until 20 is_down n3
	for host in n1 n2; do node_is $host free; done
	alive "$pid"
	restart_mom n3
	wait_until 20 node_has n3 free
	job_is "$id" R 42
	same session "$pid" "$(session_of "$id")"
	as "$OWNER" qsig "$id"
	ends "$id"
}

@test "hosts: a job that is sent to a host on its way back after a restart with another set waits for it" {
	undo qmgr -c 'set server scheduling = true'
	qmgr -c 'set server scheduling = false'
	id=$(submit -l select=1:host=n3)
	undo load_mail
	mom=$(head -n 1 "$SB/n3/mom_priv/mom.lock")
	undo kill -CONT "$mom"
	kill -STOP "$mom"
	another_set unload
	node_is n3 free
	qrun -H n3 "$id" >"$BATS_TEST_TMPDIR/qrun" 2>&1 3>&- &
	starts=$!
	waits() { keelson holds | grep -q "$id.* executor: host n3 is to link again"; }
	wait_until 5 waits
	job_is "$id" Q
	kill -CONT "$mom"
	wait "$starts"
	same answer '' "$(cat "$BATS_TEST_TMPDIR/qrun")"
	wait_until 20 job_is "$id" R 42
	alive "$(session_of "$id")"
}

@test "hosts: a job that is sent to a host which does not come back after a restart stays queued" {
	undo qmgr -c 'set server scheduling = true'
	qmgr -c 'set server scheduling = false'
	id=$(submit -l select=1:host=n3)
	undo load_mail
	kill_mom n3
	another_set unload
	says 2 "qrun: Server could not connect to MOM $id" qrun -H n3 "$id"
	is_down n3
	job_is "$id" Q
	restart_mom n3
	wait_until 20 node_has n3 free
	quietly qrun -H n3 "$id"
	wait_until 20 job_is "$id" R 42
}

@test "hosts: a stranger's key opens no link" {
	dir=$SB/stranger
	mkdir -p "$dir"
	"$KEELSON_BUILD/bin/keelson-key" make --role mom --host n9 --dir "$dir" >/dev/null
	mkdir -p "$dir/n9/keys" "$dir/n9/peers"
	sed -e "s|$SB/n1|$dir/n9|g" -e 's/"n1"/"n9"/' -e 's/n1\.key/n9.key/' "$SB/n1/etc/keelson.conf" >"$dir/keelson.conf"
	cp "$dir"/n9.* "$dir/n9/keys/"
	cp "$SB/n1/peers/server.pub" "$dir/n9/peers/"
	mkdir -p "$dir/modules.d"
	cp "$SB"/n1/etc/modules.d/* "$dir/modules.d/"
	sed -i -e "s|$SB/n1|$dir/n9|g" -e 's/n1\.key/n9.key/' "$dir/modules.d/link-tcp.conf"
	"$KEELSON_BUILD/keelsond" --conf "$dir/keelson.conf" </dev/null >"$dir/log" 2>&1 3>&-
	undo kill_by_lock "$dir/n9/mom_priv/mom.lock"
	turned_away() { server_log | grep -q 'n9'; }
	wait_until 10 turned_away
	says 1 'Node: n9,  Error: Unknown node ' pbsnodes n9
}

# converses HOST WORDS...: the fixture there, with what its group says, and a daemon that has it; put back at the end
converses()
{
	local host=$1 file=$SB/$1/etc/modules.d/converse.conf
	echo "converse: { path = \"$KEELSON_BUILD/tests/fixtures/converse.so\"; $2 };" >"$file"
	undo reload_host "$host"
	undo rm -f "$file"
	reload_host "$host"
}

key_of_host() { cut -d' ' -f3 "$SB/$1/keys/$1.pub"; }

# What a message says of its sender counts for nothing: the name is that of the key.
@test "hosts: two moms talk, past their server; the name of who speaks is that of the key" {
	read -r port <"$SB/n2/run/mom.port"
	restart_mom n2
	same 'port of n2 after a restart' "$port" "$(cat "$SB/n2/run/mom.port")"
	converses n2 "host = \"n1\"; key = \"$(key_of_host n1)\"; text = \"good morning\";"
	converses n1 "host = \"n2\"; address = \"127.0.0.1:$port\"; key = \"$(key_of_host n2)\"; text = \"I am the server\";"
	said_at() { mom_log "$1" | grep -q ";Fixture;$2;$3\$"; }
	wait_until 20 said_at n2 n1 'I am the server'
	wait_until 20 said_at n1 n2 'good morning'
	# n3 dials under its own name, and nobody expects it there.
	converses n3 "host = \"n2\"; address = \"127.0.0.1:$port\"; key = \"$(key_of_host n2)\"; text = \"I am n1\";"
	refused() { mom_log n2 | grep -q ';Link;n3;link from .* refused: no key is enrolled for this host'; }
	wait_until 20 refused
	lacks "$(mom_log n2)" ';Fixture;n3;'
}

kill_by_lock() { kill "$(head -n 1 "$1")"; }

# there COMMAND...: on a host where neither a server nor another daemon is
there()
{
	sed "s|^PBS_HOME=.*|PBS_HOME=$SB/nowhere|; s|^PBS_START_SERVER=.*|PBS_START_SERVER=0|" "$SB/pbs.conf" >"$BATS_TEST_TMPDIR/pbs.conf"
	PBS_CONF_FILE=$BATS_TEST_TMPDIR/pbs.conf "$@"
}

@test "keelson on a host without a daemon: check works, for anything else there is no server" {
	says 0 "$SB/n2/etc/keelson.conf: the configuration is right" there keelson check "$SB/n2/etc/keelson.conf"
	there keelson --version
	for words in modules holds hooks 'hooks --time' reload 'reload executor' 'load executor' 'unload executor' 'explain 1'; do
		says 1 "keelson: cannot reach the server svr from this host: no keelsond answers at $SB/nowhere/run/mom.sock; start it, or\
 enrol this host, keelson-key(8)" there keelson $words
	done
}

@test "hosts: the daemon of a host reads its configuration again at a HUP; the server passes over what is for hosts" {
	conf=$SB/n2/etc/modules.d/site.conf
	echo "task_launch: { path = \"$KEELSON_BUILD/tests/fixtures/task_launch.so\"; };" >"$conf"
	undo reload_host n2
	undo rm -f "$conf"
	reload_host n2
	has "$(mom_log n2)" ';task_launch: loaded$'
	running -l select=1:host=n2
	wait_until 10 has_record n2 'fixture task_launch'
	cp "$conf" "$SB/server/etc/modules.d/"
	undo rm -f "$SB/server/etc/modules.d/site.conf"
	says 0 'task_launch: passed over, it runs in other daemons than this one
no module has changed' keelson reload
	says 0 'no module has changed' keelson reload
	lacks "$(keelson modules)" '^task_launch '
	echo 'task_launch: { no_such_key = 1; };' >"$conf"
	! reload_host n2 || false
	has "$(mom_log n2)" ';reload of the configuration, asked for by SIGHUP, refused: '
	rm "$conf"
	reload_host n2
	has "$(mom_log n2)" ';task_launch: unloaded$'
}
has_record() { mom_log "$1" | grep -q "$2"; }

@test "hosts: one whose scratch directory is gone refuses the job, and its half in the server puts it offline" {
	for who in server n1 n2 n3; do
		echo "scratch: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/scratch.so\"; dir = \"$SB/$who/scratch\"; };" \
			>"$SB/$who/etc/modules.d/scratch.conf"
		undo rm -f "$SB/$who/etc/modules.d/scratch.conf"
	done
	mkdir "$SB/n2/scratch" "$SB/n3/scratch"
	undo keelson reload
	keelson reload
	for host in n1 n2 n3; do
		undo reload_host $host
		reload_host $host
	done
	id=$(submit)
	wait_until 20 job_is "$id" R 42
	same 'its second try' n2/0 "$(job_attr "$id" exec_host)"
	undo pbsnodes -C '' n1
	undo pbsnodes -r n1
	wait_until 20 node_has n1 offline
	same comment "scratch directory $SB/n1/scratch: No such file or directory" "$(node_attr n1 comment)"
	mkdir "$SB/n1/scratch"
	pbsnodes -r n1
	wait_until 20 node_has n1 free
	id=$(running -l select=1:host=n1)
	same exec_host n1/0 "$(job_attr "$id" exec_host)"
}
