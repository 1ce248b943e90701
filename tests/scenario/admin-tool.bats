#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# keelson: check a configuration, look at modules, chains and holds, reload.

load helper
load shared

USAGE='usage: keelson check'
conf() { echo "$SB/server/etc/keelson.conf"; }

# broken 'TEXT': the configuration with a line more, in a folder of its own; prints its path.
broken()
{
	local dir=$BATS_TEST_TMPDIR/etc
	rm -rf "$dir"
	mkdir -p "$dir"
	cp -r "$SB/server/etc/." "$dir/"
	printf '%s\n' "$1" >>"$dir/keelson.conf"
	echo "$dir/keelson.conf"
}

@test "keelson check: a good configuration" {
	keelson check "$(conf)"
}

@test "keelson check: an unknown key is named with file and line" {
	file=$(broken 'colour = "blue";')
	found=$(keelson check "$file" 2>&1) && false
	has "$found" "keelson.conf:$(wc -l <"$file"): .*colour"
}

@test "keelson check: a wrong type, a value out of range" {
	found=$(keelson check "$(broken 'limits: { frame_max = "much"; };')" 2>&1) && false
	has "$found" 'keelson.conf:[0-9]+: '
	file=$(broken '')
	sed -i 's/heartbeat = "1s"/heartbeat = "fast"/' "${file%/*}/modules.d/link-tcp.conf"
	found=$(keelson check "$file" 2>&1) && false
	has "$found" 'link-tcp.conf:[0-9]+: .*heartbeat: expected .*, got '
}

@test "keelson check: keys that moved to a file of their module" {
	found=$(keelson check "$(broken 'link: { listen = "0.0.0.0:15001"; };')" 2>&1) && false
	has "$found" 'keelson.conf:[0-9]+: link: these keys are those of a module now; write them into modules.d/link-tcp.conf'
}

@test "keelson check: broken syntax" {
	found=$(keelson check "$(broken 'roles = [')" 2>&1) && false
	has "$found" 'keelson.conf:[0-9]+: '
}

@test "keelson check: a file that is not there" {
	found=$(keelson check /no/such/file 2>&1) && false
	has "$found" '/no/such/file'
}

@test "keelson modules: what is loaded" {
	found=$(keelson modules)
	for module in jobs queues nodes resources manager status scheduler executor accounting store-sqlite admin-suspend; do
		has "$found" "(^|[[:space:]])$module([[:space:]]|\$)"
	done
}

@test "keelson hooks: a chain as it is compiled" {
	found=$(keelson hooks job_known)
	has "$found" 'jobs'
	keelson hooks >/dev/null
	found=$(keelson hooks no_such_point 2>&1) && false
	has "$found" 'no_such_point'
}

@test "keelson: a verb that nobody offers" {
	found=$(keelson tickets 2>&1) && false
	has "$found" "^keelson: nobody offers the verb 'tickets'; 'keelson modules' says which modules run"
	has "$found" "$USAGE"
}

@test "keelson holds: nothing waits" {
	keelson holds
}

@test "keelson reload: changes nothing when nothing changed" {
	before=$(keelson modules --json | grep -v -e '"calls"' -e '"time_ns"')
	id=$(running)
	keelson reload
	same modules "$before" "$(keelson modules --json | grep -v -e '"calls"' -e '"time_ns"')"
	job_is "$id" R 42
}

@test "keelson reload: a module that is switched off is gone, and comes back" {
	undo "$top/scripts/sandbox" reload --dir "$SB" --build "$KEELSON_BUILD" --enable admin-suspend
	sandbox reload --disable admin-suspend
	id=$(running)
	says 165 "qsig: Unknown/illegal signal name $id" qsig -s admin-suspend "$id"
	lacks "$(keelson modules | grep -v -i -e off -e disabled)" '(^|[[:space:]])admin-suspend '
	sandbox reload --enable admin-suspend
	quietly qsig -s admin-suspend "$id"
	node_is n1 maintenance
	quietly qsig -s admin-resume "$id"
}

@test "keelson reload: a broken file changes nothing" {
	cp "$SB/server/etc/modules.d/scheduler.conf" "$BATS_TEST_TMPDIR/kept"
	undo cp "$BATS_TEST_TMPDIR/kept" "$SB/server/etc/modules.d/scheduler.conf"
	echo 'nonsense {' >>"$SB/server/etc/modules.d/scheduler.conf"
	found=$(keelson reload 2>&1) && false
	has "$found" 'scheduler.conf'
	running >/dev/null
}

@test "keelson reload: managers only" {
	needs_root
	found=$(as "$OWNER" keelson reload 2>&1) && false
	has "$found" 'Unauthorized Request'
}

@test "keelson: misuse" {
	for words in '' 'frobnicate' 'modules x' '-Z'; do
		got=0
		# shellcheck disable=SC2086
		found=$(keelson $words 2>&1) || got=$?
		same "status of '$words'" 2 "$got"
		has "$found" "^$USAGE"
	done
	has "$(keelson --version)" '[0-9]'
}

@test "every command: --help is its usage, on stdout, and no failure" {
	for command in "$KEELSON_BUILD"/bin/*; do
		found=$("$command" --help 2>/dev/null) || { echo "${command##*/}: status $?"; return 1; }
		[[ $found == [Uu]sage:* ]] || { echo "${command##*/}: $found"; return 1; }
	done
}

# unwritten COMMAND...: fails where its answer cannot be written, be it that the disk is full or nobody listens.
unwritten()
{
	local got=0
	"$@" >/dev/full 2>"$BATS_TEST_TMPDIR/said" || got=$?
	same "exit of \`$*\` on a full disk" 1 "$got"
	has "$(cat "$BATS_TEST_TMPDIR/said")" 'cannot write'
	got=0
	"$@" >&- 2>"$BATS_TEST_TMPDIR/said" || got=$?
	same "exit of \`$*\` without an output" 1 "$got"
}

@test "an answer that could not be written is a failure" {
	id=$(submit -h)
	unwritten qmgr -c 'print server'
	unwritten qstat -f
	unwritten pbsnodes -av
	unwritten qselect
	unwritten qexplain "$id"
	for words in modules 'modules --json' hooks 'hooks job_submit' 'hooks --time' reload "explain $id"; do
		# shellcheck disable=SC2086
		unwritten keelson $words
	done
	qdel "$id" >&-
	unwritten as "$OWNER" qsub -h -- /bin/true
	has "$(cat "$BATS_TEST_TMPDIR/said")" 'qsub: the job was submitted, it is [0-9]+\.svr'
}

@test "every program: usage that could not be written is a failure, and so is what keelson-module and keelsond found out" {
	for program in "$KEELSON_BUILD"/bin/* "$KEELSON_BUILD"/keelsond; do
		unwritten "$program" --help
	done
	for program in "$KEELSON_BUILD"/bin/keelson-module "$KEELSON_BUILD"/keelsond; do
		unwritten "$program" --version
	done
	unwritten keelson sim --steps 1
	for words in check 'check --list' describe 'describe --json'; do
		# shellcheck disable=SC2086
		unwritten "$KEELSON_BUILD"/bin/keelson-module $words "$KEELSON_BUILD"/tests/fixtures/reject.so
	done
	"$KEELSON_BUILD"/bin/keelson-key make --role mom --host n1 --dir "$BATS_TEST_TMPDIR" >/dev/null
	unwritten "$KEELSON_BUILD"/bin/keelson-key show "$BATS_TEST_TMPDIR/n1.pub"
	unwritten "$KEELSON_BUILD"/keelsond --conf "$SB/server/etc/keelson.conf" --check
}

@test "keelson-key shows what it made, and refuses what is no key file" {
	cd "$BATS_TEST_TMPDIR"
	PATH=$KEELSON_BUILD/bin:$PATH
	mkdir keys
	has "$(keelson-key make --role mom --host n7 --dir keys)" '^keys/n7.pub$'
	has "$(keelson-key show keys/n7.key)" '^file +secret key$'
	has "$(keelson-key show keys/n7.pub)" '^fingerprint ([0-9a-f]{4}-){7}[0-9a-f]{4}$'
	same 'the other half' "$(keelson-key show keys/n7.pub | tail -n +2)" "$(keelson-key show keys/n7.key | tail -n +2)"
	says 1 'keelson-key: keys/n7.pub: exists already; remove it first if the key is to be replaced' \
		keelson-key make --role mom --host n7 --dir keys
	mkfifo keys/pipe.pub
	says 1 'keelson-key: key file keys/pipe.pub is no regular file' timeout 10 keelson-key show keys/pipe.pub
	echo 'mom n7 nonsense' >keys/bad.pub
	says 1 'keelson-key: key file keys/bad.pub: expected one line `server|mom|login HOST KEY`; write it with keelson-key' \
		keelson-key show keys/bad.pub
}

@test "keelson: says when the server is down" {
	sandbox kill server
	undo "$top/scripts/sandbox" restart --dir "$SB" --build "$KEELSON_BUILD" server
	found=$(keelson modules 2>&1) && false
	has "$found" 'cannot connect to server svr'
}
