#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Bad input: each mistake gets a sentence and a number, and nothing that was there is lost by it. At the
# end of each story the server is the same process, and the job that was there before is there still.

load helper
load shared

setup_file() { open_cluster --set client.stall=500ms; }

setup()
{
	join_cluster
	server_pid=$(head -n 1 "$SB/server/server_priv/server.lock")
	kept=$(submit -h)
	etc=$SB/server/etc
	socket=unix:$SB/server/run/server.sock
	link=tcp:127.0.0.1:$(cat "$SB/server/run/link.port")
}

unharmed()
{
	same 'pid of the server' "$server_pid" "$(head -n 1 "$SB/server/server_priv/server.lock")"
	kill -0 "$server_pid"
	job_is "$kept" H 20
	same 'a job runs' 0 "$(job_attr "$(finished -- /bin/true)" Exit_status)"
}

# refuses STATUS PATTERN COMMAND...: that status, and a line of the answer that matches.
refuses()
{
	local status=$1 pattern=$2 found got=0
	shift 2
	found=$("$@" 2>&1 </dev/null) || got=$?
	same "exit of \`$*\`" "$status" "$got" || { echo "$found" >&2; return 1; }
	has "$found" "$pattern"
}

# ---- names that nobody has ---------------------------------------------------------------------------

@test "bad input: an unknown job" {
	for command in qstat qdel qhold qrls qrerun 'qsig -s TERM' 'qalter -p 1'; do
		says 153 "${command%% *}: Unknown Job Id 999999.svr" $command 999999
	done
	says 2 'qrun: Unknown Job Id 999999.svr' qrun 999999
	unharmed
}

@test "bad input: ids that are no ids" {
	for id in 1.nosuchhost 12x '1;' -- $'1\n2'; do
		[ "$id" != -- ] || continue
		says 1 "qdel: illegally formed job identifier: $id" qdel "$id"
	done
	unharmed
}

@test "bad input: one unknown job among others does not stop the rest" {
	a=$(submit -h) b=$(submit -h)
	says 153 'qdel: Unknown Job Id 999999.svr' qdel "$a" 999999 "$b"
	job_is "$a" F
	job_is "$b" F
	unharmed
}

@test "bad input: an unknown queue" {
	says 170 'qsub: Unknown queue' as "$OWNER" qsub -q nosuch -- /bin/true
	refuses 170 'Unknown queue' qmgr -c 'set queue nosuch enabled = true'
	refuses 170 'Unknown queue' qmgr -c 'delete queue nosuch'
	refuses 170 'Unknown queue' qstat -Q nosuch
	refuses 2 'Unknown queue' qdisable nosuch
	unharmed
}

@test "bad input: an unknown node" {
	says 1 'Node: nosuch,  Error: Unknown node ' pbsnodes nosuch
	refuses 1 'Unknown node' pbsnodes -o nosuch
	refuses 214 'Unknown node' qmgr -c 'set node nosuch comment = x'
	refuses 214 'Unknown node' qmgr -c 'delete node nosuch'
	unharmed
}

@test "bad input: an unknown attribute" {
	says 154 'qsub: Error (15002) submitting job' as "$OWNER" qsub -W nosuch=1 -- /bin/true
	refuses 154 'Undefined attribute' qalter -W nosuch=1 "$kept"
	refuses 4 'Syntax error' qmgr -c 'set server nosuch = 1'
	refuses 154 'Undefined attribute' qmgr -c 'set node n1 nosuch = 1'
	unharmed
}

@test "bad input: an unknown resource" {
	says 187 'qsub: Unknown resource Resource_List.nosuch' as "$OWNER" qsub -l nosuch=1 -- /bin/true
	says 187 'qsub: Unknown resource: nosuch' as "$OWNER" qsub -l select=1:nosuch=1 -- /bin/true
	refuses 187 'Unknown resource' qalter -l nosuch=1 "$kept"
	refuses 187 'Unknown resource' qmgr -c 'set server resources_default.nosuch = 1'
	refuses 187 'Unknown resource' qmgr -c 'set node n1 resources_available.nosuch = 1'
	unharmed
}

# ---- values that are none --------------------------------------------------------------------------------

@test "bad input: a select that is none" {
	for select in '' 0 -1 1+ +1 1::ncpus=1 1:ncpus 1:ncpus=x 1:=3 99999999999 \
		"$(printf '1:ncpus=1+%.0s' {1..500})"; do
		refuses 166 'Illegal attribute or resource value' \
			as "$OWNER" qsub -l "select=$select" -- /bin/true
	done
	refuses 12 'duplicated resource within a section' \
		as "$OWNER" qsub -l select=1:ncpus=1:ncpus=2 -- /bin/true
	for place in nosuch pack:pack free:nosuch group= ''; do
		refuses 166 'Illegal attribute or resource value' \
			as "$OWNER" qsub -l select=1 -l "place=$place" -- /bin/true
	done
	unharmed
}

@test "bad input: values of the wrong type" {
	while IFS='|' read -r what; do
		refuses 166 'Illegal attribute or resource value' qmgr -c "$what"
	done <<-'END'
		set server scheduling = perhaps
		set queue workq Priority = high
		set queue workq enabled = 2
		set server scheduler_iteration = soon
	END
	for list in mem=10xx walltime=1:2:3:4:5 ncpus=1.5.2 mem=-; do
		refuses 166 'Illegal attribute or resource value' as "$OWNER" qsub -l "$list" -- /bin/true
	done
	unharmed
}

@test "bad input: names with a slash, a newline or too many letters" {
	for name in a/b $'a\nb' "$(printf 'x%.0s' {1..300})"; do
		refuses 2 'illegal -N value|Job name is too long' as "$OWNER" qsub -N "$name" -- /bin/true
	done
	refuses 180 '15028' qmgr -c 'create queue averyveryverylongname queue_type = e'
	refuses 3 'Syntax error' qmgr -c 'create queue a/b queue_type = e'
	refuses 3 'Syntax error' qmgr -c 'create node a*b'
	lacks "$(pbsnodes -a)" 'a\*b'
	unharmed
}

# ---- scripts -----------------------------------------------------------------------------------------------

@test "bad input: a script with a line of 1 MiB runs" {
	file=$(script long.sh < <(printf 'echo '; head -c 1048576 /dev/zero | tr '\0' x; echo ' | wc -c'))
	id=$(as "$OWNER" qsub -j oe -o "$(here long.out)" "$file")
	ends "$id"
	same letters 1048577 "$(tr -d ' ' <"$(here long.out)")"
	unharmed
}

@test "bad input: a directive of 1 MiB is refused, not cut" {
	file=$(script directive.sh < <(printf '#PBS -N '; head -c 1048576 /dev/zero | tr '\0' x; echo))
	refuses 2 'Job name is too long' as "$OWNER" qsub "$file"
	unharmed
}

@test "bad input: a script with a NUL arrives whole" {
	file=$(script nul.sh < <(printf "#!/bin/cat\na\\0b\n"))
	id=$(as "$OWNER" qsub -j oe -o "$(here nul.out)" "$file")
	ends "$id"
	cmp "$file" "$(here nul.out)"
	unharmed
}

@test "bad input: a script that is no file" {
	refuses 1 'script file' as "$OWNER" qsub "$(here nosuchfile)"
	refuses 1 'script' as "$OWNER" qsub /
	unharmed
}

# ---- people who may not -----------------------------------------------------------------------------------

@test "bad input: somebody who is no manager" {
	needs_root
	for order in 'set server scheduling = false' 'create queue x queue_type = e' 'delete node n1' \
		'delete queue workq' 'create resource r type = long' 'set node n1 comment = x'; do
		refuses 159 'Unauthorized Request' as "$OTHER" qmgr -c "$order"
	done
	refuses 1 'Unauthorized Request' as "$OTHER" pbsnodes -o n1
	refuses 2 'Unauthorized Request' as "$OTHER" qdisable workq
	refuses 2 'Unauthorized Request' as "$OTHER" qstop workq
	refuses 2 'Unauthorized Request' as "$OTHER" qrun "$kept"
	refuses 1 'Unauthorized Request' as "$OTHER" keelson reload
	for order in qdel qhold qrls 'qsig -s TERM' 'qalter -p 1' qrerun; do
		refuses 159 'Unauthorized Request' as "$OTHER" $order "$kept"
	done
	refuses 159 'Unauthorized Request' as "$OPERATOR" qmgr -c 'delete queue workq'
	node_is n1 free
	unharmed
}

# ---- configuration --------------------------------------------------------------------------------------

# A copy of the server's configuration to spoil; $copy.
spoil() { copy=$BATS_TEST_TMPDIR/etc; rm -rf "$copy"; cp -a "$etc" "$copy"; }
check() { "$KEELSON_BUILD/keelsond" --conf "$copy/keelson.conf" --check; }

# check_says FILE LINE PATTERN: with LINE added to FILE of the configuration.
check_says()
{
	spoil
	echo "$2" >>"$copy/$1"
	refuses 1 "^keelsond: $copy/$1:[0-9]+: $3" check
}

@test "bad input: keelsond --check names file, line, key, what was expected and what was found" {
	spoil
	refuses 0 'the configuration is right' check
	while IFS='|' read -r line pattern; do
		check_says keelson.conf "$line" "$pattern"
	done <<-'END'
		nosuch = 1;|nosuch: expected a known key \(.*\), got "nosuch"
		hooks: { strikes = "many"; };|hooks.strikes: expected integer from 0 to [0-9]+, got "many"
		hooks: { strikes = -1; };|hooks.strikes: expected integer .*, got -1
		hooks: { soft_budget = "10 parsecs"; };|hooks.soft_budget: expected duration .*, got "10 parsecs"
		client: { socket = 5; };|client.socket: expected string.*, got 5
		client: { stall = "1ms"; };|client.stall: expected duration .* from 100ms .*, got "1ms"
		nosuchgroup: { a = 1; };|nosuchgroup: expected a known group
		hooks: {|syntax error
		roles = 5;|duplicate setting name
	END
	unharmed
}

@test "bad input: the keys of modules are checked as well" {
	for line in 'nosuch = 1;|nosuch: expected a known key' 'slice = 1.5;|slice: expected duration' \
		'by_queue = "yes";|by_queue: expected true or false, got "yes"' \
		'rest = "a while";|rest: expected duration'; do
		spoil
		echo "scheduler: { ${line%%|*} };" >"$copy/modules.d/scheduler.conf"
		refuses 1 "^keelsond: $copy/modules.d/scheduler.conf:1: scheduler.${line#*|}" check
	done
	unharmed
}

@test "bad input: a reload of a wrong configuration changes nothing" {
	cp "$etc/modules.d/scheduler.conf" "$BATS_TEST_TMPDIR/was"
	undo keelson reload
	undo cp "$BATS_TEST_TMPDIR/was" "$etc/modules.d/scheduler.conf"
	for text in 'scheduler: { enabled = true; nosuch = 1; };' 'scheduler: { enabled = "no"; };' \
		'scheduler: { isolation = "prison"; };' 'scheduler: { isolation_limits = { memory = "1kb"; }; };' \
		'scheduler: {' 'admin-suspend: { enabled = false; };' $'\x01\x02garbage'; do
		printf '%s\n' "$text" >"$etc/modules.d/scheduler.conf"
		refuses 1 "scheduler.conf:" keelson reload
		has "$(keelson modules)" '^ *scheduler '
	done
	unharmed
}

@test "bad input: what is no file in modules.d is named, and nobody waits for it" {
	undo rm -rf "$etc/modules.d/odd.conf"
	for make in 'mkfifo' 'mkdir' 'ln -s odd.conf' 'ln -s nowhere' 'ln -s /dev/zero'; do
		$make "$etc/modules.d/odd.conf"
		refuses 1 'cannot read the configuration file .*/odd.conf: ' timeout 20 keelson reload
		rm -rf "$etc/modules.d/odd.conf"
	done
	unharmed
}

# ---- modules ----------------------------------------------------------------------------------------------

# enable FILE.so: a module named so, in the server's configuration.
enable()
{
	local name
	name=$(basename "$1" .so)
	echo "$name: { enabled = true; path = \"$1\"; };" >"$etc/modules.d/$name.conf"
	undo rm -f "$etc/modules.d/$name.conf"
}

# module_refused FILE.so PATTERN: by a check, by a reload; then the daemon goes on without it.
module_refused()
{
	local name
	name=$(basename "$1" .so)
	enable "$1"
	spoil
	refuses 1 "$2" check
	refuses 1 "$2" keelson reload
	rm "$etc/modules.d/$name.conf"
	lacks "$(keelson modules)" "^ *$name "
	unharmed
}

@test "bad input: a module of another interface" {
	module_refused "$KEELSON_BUILD/tests/fixtures/badabi.so" 'interface 99\.0, this daemon has 1\.'
}

@test "bad input: a module with an unresolved symbol" {
	module_refused "$KEELSON_BUILD/tests/fixtures/unresolved.so" 'undefined symbol: nobody_defines_this'
}

@test "bad input: a file that is no module" {
	for what in empty text library cut; do
		file=$BATS_TEST_TMPDIR/$what.so
		case $what in
		empty) : >"$file" ;;
		text) echo 'This is no module.' >"$file" ;;
		library) cp "$KEELSON_BUILD/libpbs.so.0" "$file" ;;
		cut) head -c 3000 "$KEELSON_BUILD/modules/admin-suspend.so" >"$file" ;;
		esac
		module_refused "$file" "$file"
	done
}

@test "bad input: a module that does not exist" {
	module_refused "$SB/nosuch.so" "$SB/nosuch.so|No such file"
}

# ---- sockets ----------------------------------------------------------------------------------------------

throw() { "$KEELSON_BUILD/tests/scenario/tools/throw" "$@"; }
frame() { throw frame "$@"; }

# closes WHERE: what is on stdin makes the peer close the connection.
closes() { throw 20 "$1" | grep -q ^closed; }

@test "bad input: garbage on the clients' socket" {
	head -c 300000 /dev/urandom | closes "$socket"
	printf 'GET / HTTP/1.1\r\nHost: x\r\n\r\n' | closes "$socket"
	head -c 1000 /dev/zero | tr '\0' '\377' | closes "$socket"
	has "$(server_log)" 'Req;client;connection of .* closed: not the wire format'
	unharmed
}

@test "bad input: frames that are too long, of no kind, or hold no map" {
	frame 4294967295 1 0 | closes "$socket"
	frame 134217729 1 0 | closes "$socket"
	frame 4 99 0 | closes "$socket"
	frame 4 1 7 | closes "$socket"
	{ frame 5 1 0; printf '\xdf\xff\xff\xff\xff'; } | closes "$socket"       # 4 G pairs in no bytes
	{ frame 40 1 0; printf '\x91%.0s' {1..40}; } | closes "$socket"          # too deep
	{ frame 5 1 0; printf '\x81\xa3req'; } | closes "$socket"                # a key without its value
	{ frame 6 1 0; printf '\x81\xa3req\x05'; } | closes "$socket"            # a value of another type
	unharmed
}

@test "bad input: a request nobody knows is answered, and the connection goes on" {
	found=$({ frame 11 1 0; printf '\x81\xa3req\xa5nosuc'; } | throw 1 "$socket") && false
	has "$found" '^open, [1-9][0-9]* bytes answered'
	has "$(server_log)" 'Reject reply code=15005.*type=nosuc'
	unharmed
}

@test "bad input: half a request is dropped after its time" {
	{ frame 1000 1 0; printf '\x83\xa3req'; } | closes "$socket"
	has "$(server_log)" 'half a request and nothing more'
	unharmed
}

@test "bad input: garbage on the port of the links" {
	head -c 300000 /dev/urandom | closes "$link"
	frame 4294967295 1 0 | closes "$link"
	printf 'KEEL\x01\x02\xffn1' | closes "$link"
	head -c 400 /dev/zero | closes "$link"
	wait_until 10 grep -q 'not the link protocol\|handshake took too long' <(server_log)
	node_is n1 free
	unharmed
}

# 16384 requests for the queues, whose answers nobody reads.
deaf_client()
{
	local i
	{ frame 28 1 0; printf '\x83\xa3req\xa6status\xa5class\xa5queue\xa2id\xa0'; } >"$BATS_TEST_TMPDIR/one"
	for ((i = 0; i < 14; i++)); do
		cat "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/one" >"$BATS_TEST_TMPDIR/two"
		mv "$BATS_TEST_TMPDIR/two" "$BATS_TEST_TMPDIR/one"
	done
	throw -d 30 "$socket" <"$BATS_TEST_TMPDIR/one"
}

@test "bad input: a client that stops reading delays nobody and is dropped" {
	deaf_client >"$BATS_TEST_TMPDIR/deaf" 3>&- &
	for i in {1..10}; do timeout 5 qstat >/dev/null; done
	wait $!
	has "$(cat "$BATS_TEST_TMPDIR/deaf")" '^closed, 0 bytes answered'
	has "$(server_log)" 'it does not read its answers'
	unharmed
}
