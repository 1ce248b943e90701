#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Changing what runs while requests come: load, unload, reload of one module and of all, order and match.
# RELOAD_ROUNDS=100 makes the storm longer; scripts/bench has the figures.

load helper
load shared

ROUNDS=${RELOAD_ROUNDS:-12}

setup_file()
{
	open_cluster
	cp "$KEELSON_BUILD/tests/fixtures/tally.so" "$SB/tally.so"
	site tally "path = \"$SB/tally.so\";"
	keelson reload
}

# site MODULE 'KEYS': its group, in a file of its own.
site() { printf '%s: {\n\t%s\n};\n' "$1" "$2" >"$SB/server/etc/modules.d/$1.conf"; }
fixture() { site "$1" "path = \"$KEELSON_BUILD/tests/fixtures/$1.so\"; ${2-}"; }
gone() { rm -f "$SB/server/etc/modules.d/$1.conf" && keelson reload >/dev/null; }
column() { keelson modules --json | jq -r ".modules[\"$1\"].$2"; }
server_pid() { cat "$SB/server/server_priv/server.lock"; }
rss() { awk '/^VmRSS/ { print $2 }' "/proc/$(server_pid)/status"; }

@test "keelson modules: who they are, how they fare" {
	has "$(keelson modules)" '^MODULE +VERSION +VENDOR +ABI +STATE +RUNS +SINCE +TAPS +CALLS +TIME$'
	has "$(keelson modules)" '^tally +build-A +fixtures +1\.0 +running +'
	same path "$SB/tally.so" "$(column tally path)"
}

@test "keelson unload, load: one module, until the next reload of all" {
	found=$(keelson unload tally)
	has "$found" '^tally: unloaded$'
	has "$found" 'tally is enabled in .*/tally.conf:1: the next reload'
	lacks "$(keelson modules)" '^tally '
	says 1 'keelson: module tally is not loaded' keelson unload tally
	says 0 'tally: loaded' keelson load tally
	has "$(keelson load tally 2>&1 || true)" 'module tally is loaded already'
	has "$(server_log)" 'unload of module, asked for by '
}

@test "keelson load: a module that the files do not enable, and one that is none" {
	fixture reject 'enabled = false;'
	has "$(keelson load reject)" 'reject is not enabled in the configuration: the next reload of it unloads'
	says 0 'reject: unloaded' keelson reload
	says 0 'no module has changed' keelson reload
	gone reject
	found=$(keelson load nonesuch 2>&1) && false
	has "$found" 'nonesuch.so'
}

@test "keelson unload: who is needed is not unloaded" {
	found=$(keelson unload scheduler 2>&1) && false
	has "$found" 'module scheduler is needed by '
	found=$(keelson unload store-sqlite 2>&1) && false
	has "$found" 'store-sqlite cannot be unloaded while the daemon runs'
}

@test "load, unload, reload: managers only" {
	needs_root
	for words in 'load tally' 'unload tally' 'reload tally' 'reload'; do
		# shellcheck disable=SC2086
		found=$(as "$OPERATOR" keelson $words 2>&1) && false
		has "$found" 'Unauthorized Request'
	done
}

@test "a new build takes the place of the old one, and knows the same jobs" {
	id=$(submit -h)
	before=$(keelson tally)
	sed 's/build-A/build-B/' "$SB/tally.so" >"$SB/tally.new"
	mv "$SB/tally.new" "$SB/tally.so"
	says 0 'tally: replaced, version build-A by build-B' keelson reload
	same 'version' build-B "$(column tally version)"
	same 'what it knows' "$before" "$(keelson tally)"
	qdel "$id"
	lacks "$(keelson tally)" "$before"
}

@test "a file that is gone: what runs goes on, and a reload says that the next start misses it" {
	mv "$SB/tally.so" "$SB/tally.away"
	undo keelson reload
	undo mv "$SB/tally.away" "$SB/tally.so"
	for words in reload 'reload tally'; do
		# shellcheck disable=SC2086
		has "$(keelson $words)" '^tally: its file .*/tally.so is gone; what runs goes on, the next start misses it$'
	done
	has "$(keelson modules)" '^tally .* running '
}

@test "order: the site's word on who is asked first" {
	fixture job_submit
	fixture reject 'text = "no"; order = ( { tap = "on_submit"; order = -900; } );'
	keelson reload
	has "$(keelson hooks job_submit | grep -n .)" '^1:1 reject.on_submit order=-900'
	site reject "path = \"$KEELSON_BUILD/tests/fixtures/reject.so\"; order = ( { tap = \"nope\"; } );"
	found=$(keelson reload 2>&1) && false
	has "$found" 'reject.conf:2: reject.order: module reject has no tap "nope"'
	gone reject
	gone job_submit
}

@test "match: taps that are for some queues and some users only" {
	qmgr -c 'create queue gpu queue_type=execution,enabled=true,started=true'
	fixture reject 'text = "not here"; match = { queue = "^gpu$"; };'
	keelson reload
	has "$(submit -q gpu 2>&1 || true)" 'not here'
	qdel "$(submit -h)"
	fixture reject "text = \"not you\"; match = { user = \"^($OTHER|nobody)$\"; };"
	keelson reload
	[ "$OTHER" = "$OWNER" ] || qdel "$(submit -h)"
	has "$(submit_as "$OTHER" -h 2>&1 || true)" 'not you'
	gone reject
}

# ---- what cannot come up ---------------------------------------------------------------------------------

stumble() { fixture stumble "$1 = \"$2\";"; }
died() { [ ! -d "/proc/$1" ]; }
who_serves() { keelson modules --json | jq -c '.modules | map_values([.version, .state, .path])'; }

@test "a new set whose check fails, crashes or is killed changes nothing, and its reason is read" {
	before=$(keelson modules) pid=$(server_pid)
	undo gone stumble
	stumble init fail
	has "$(keelson reload 2>&1 || true)" '^keelson: module stumble: init failed: the fixture stumbles in init$'
	stumble init crash # a sanitizer has its own words for it
	[ -n "${KEELSON_SANITIZED-}" ] || has "$(keelson reload 2>&1 || true)" 'ended by signal 11 .*fatal signal SEGV in init of module stumble'
	stumble init killed
	has "$(keelson reload 2>&1 || true)" '^keelson: nothing was changed: the check of the new set ended by signal 9'
	stumble init leaves
	has "$(keelson reload 2>&1 || true)" '^keelson: nothing was changed: the check of the new set ended before it was done$'
	same 'what runs' "$(cut -c1-70 <<<"$before")" "$(keelson modules | cut -c1-70)"
	same 'process' "$pid" "$(server_pid)"
	[ "$(find "$SB/server/server_priv/sets" -mindepth 1 -maxdepth 1 -type d | wc -l)" -eq 1 ]
}

@test "a new set that does not start, crashes or hangs: the last one serves again, and the reason is read" {
	not_sanitized "the sanitizer ends a crash before the daemon can go back"
	id=$(submit -h)
	before=$(who_serves) pid=$(server_pid)
	undo gone stumble
	stumble start fail
	has "$(keelson reload 2>&1 || true)" 'nothing was changed: .* did not start: module stumble: start failed: the fixture stumbles in start$'
	stumble start crash
	has "$(keelson reload 2>&1 || true)" '^keelson: nothing was changed: with the new set the daemon crashed while it started'
	has "$(server_log)" 'fatal signal SEGV in start of module stumble'
	stumble start hang
	images=$(server_log | grep -c pbs_leaf_name)
	keelson reload >"$BATS_TEST_TMPDIR/hung" 2>&1 3>&- &
	hangs() { tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q -- '--set /' && [ "$(server_log | grep -c pbs_leaf_name)" -gt "$images" ]; }
	wait_until 20 hangs
	kill -ALRM "$pid"
	wait $! && false
	has "$(<"$BATS_TEST_TMPDIR/hung")" '^keelson: nothing was changed: with the new set the daemon was not ready in time'
	same 'what runs' "$before" "$(who_serves)"
	same 'process' "$pid" "$(server_pid)"
	qdel "$id"
}

@test "a set that another user could have written is not run by root" {
	needs_root
	sets=$SB/server/server_priv/sets
	undo chmod 0700 "$sets"
	before=$(who_serves) pid=$(server_pid)
	chmod g+w "$sets"
	has "$(keelson reload tally 2>&1 || true)" "is not trusted: $sets may be written by others"
	chmod g-w "$sets"
	set=$(realpath "$sets/served")
	undo chown root "$set/modules/tally.so"
	chown "$OTHER" "$set/modules/tally.so"
	has "$(keelsond --conf "$SB/server/etc/keelson.conf" --check --set "$set" 2>&1 || true)" 'tally.so belongs to another user'
	same 'what runs' "$before" "$(who_serves)"
	same 'process' "$pid" "$(server_pid)"
}

@test "a check whose report does not fit onto the disk fails" {
	set=$(realpath "$SB/server/server_priv/sets/served")
	keelsond --conf "$SB/server/etc/keelson.conf" --check --set "$set" >/dev/null
	lacks "$(keelsond --conf "$SB/server/etc/keelson.conf" --check --set "$set" >/dev/full && echo passes)" passes
}

@test "a daemon that was started with SIGCHLD ignored learns how a check ended" {
	undo sandbox restart server
	undo rm -f "$SB/server/etc/modules.d/stumble.conf"
	pid=$(server_pid)
	kill -TERM "$pid"
	wait_until 20 died "$pid"
	env --ignore-signal=CHLD keelsond --conf "$SB/server/etc/keelson.conf" 3>&-
	stumble init fail
	has "$(keelson reload 2>&1 || true)" '^keelson: module stumble: init failed: the fixture stumbles in init$'
}

@test "kill -9 in the middle of a restart: what was acknowledged is there" {
	id=$(submit -h)
	undo gone stumble
	stumble start killed
	keelson reload >/dev/null 2>&1 3>&- &
	dies() { [ ! -d "/proc/$(server_pid)" ]; }
	wait_until 20 dies
	kill $! 2>/dev/null || true
	rm "$SB/server/etc/modules.d/stumble.conf"
	sandbox restart server
	qdel "$id"
}

@test "SIGTERM while a set is checked: the reload is refused, the daemon ends at once" {
	pid=$(server_pid)
	undo sandbox restart server
	undo rm "$SB/server/etc/modules.d/stumble.conf"
	stumble init hang
	keelson reload >"$BATS_TEST_TMPDIR/waits" 2>&1 3>&- &
	checks() { pgrep -P "$pid" -f -- --check >"$BATS_TEST_TMPDIR/checks"; }
	wait_until 20 checks
	kill -TERM "$pid"
	wait $! && false
	same reason 'keelson: nothing was changed: the daemon stops' "$(<"$BATS_TEST_TMPDIR/waits")"
	wait_until 3 died "$pid"
	wait_until 3 died "$(<"$BATS_TEST_TMPDIR/checks")"
}

@test "kill -9 while a set is checked: the check ends with the daemon" {
	pid=$(server_pid)
	undo sandbox restart server
	undo rm "$SB/server/etc/modules.d/stumble.conf"
	stumble init hang
	keelson reload >/dev/null 2>&1 3>&- &
	undo kill $!
	checks() { pgrep -P "$pid" -f -- --check >"$BATS_TEST_TMPDIR/checks"; }
	wait_until 20 checks
	kill -KILL "$pid"
	wait_until 3 died "$(<"$BATS_TEST_TMPDIR/checks")"
}

@test "a start that fails again and again leaves one set behind, beside the last that served" {
	pid=$(server_pid)
	undo sandbox restart server
	undo rm "$SB/server/etc/modules.d/stumble.conf"
	kill -TERM "$pid"
	wait_until 20 died "$pid"
	stumble start fail
	sed -i '/stumble.so/s/$/ required = true;/' "$SB/server/etc/modules.d/stumble.conf"
	for _ in 1 2 3 4; do
		found=$(keelsond --conf "$SB/server/etc/keelson.conf" 2>&1) && false
		has "$found" 'the fixture stumbles in start'
	done
	[ "$(find "$SB/server/server_priv/sets" -mindepth 1 -maxdepth 1 -type d | wc -l)" -le 2 ]
}

@test "SIGTERM in the last moment before a restart is not lost" {
	pid=$(server_pid)
	undo sandbox restart server
	undo rm -f "$SB/server/etc/modules.d/stumble.conf"
	fixture stumble 'stop = true;'
	keelson reload
	rm "$SB/server/etc/modules.d/stumble.conf"
	keelson reload >/dev/null 2>&1 3>&- &
	undo kill $!
	wait_until 20 died "$pid"
	has "$(server_log)" 'caught signal 15'
}

@test "keelsond --last-good: a start with broken files names it" {
	undo sandbox restart server
	undo rm -f "$SB/server/etc/modules.d/broken.conf"
	id=$(submit -h)
	pkill -TERM -F "$SB/server/server_priv/server.lock"
	ends() { [ ! -d "/proc/$(server_pid)" ]; }
	wait_until 20 ends
	echo 'broken {' >"$SB/server/etc/modules.d/broken.conf"
	conf=$SB/server/etc/keelson.conf
	found=$(keelsond --conf "$conf" 2>&1) && false
	has "$found" 'broken.conf:.* syntax error'
	has "$found" 'keelsond --last-good'
	keelsond --conf "$conf" --last-good 3>&-
	qdel "$id"
	has "$(keelson modules)" '^tally '
}

@test "without the module that changes what runs a daemon serves, and is restarted to change" {
	conf=$SB/server/etc/modules.d/reload.conf
	undo sandbox restart server
	undo sed -i 's/enabled = false/enabled = true/' "$conf"
	sed -i 's/enabled = true/enabled = false/' "$conf"
	found=$(keelson reload 2>&1) && false
	has "$found" 'without module reload nothing can be changed any more while the daemon runs: disable it in its file and restart'
	sandbox restart server
	qdel "$(submit -h)"
	found=$(keelson reload 2>&1) && false
	has "$found" '^keelson: the server runs without module reload, .*or restart the daemon'
	kill -HUP "$(server_pid)"
	hup_logged() { server_log | grep -q 'no module reads the configuration again'; }
	wait_until 10 hup_logged
	qdel "$(submit -h)"
}

# ---- what goes on over a restart ----------------------------------------------------------------------------

@test "what waits and what runs goes on over a reload, and no host is down" {
	fixture job_obit 'enabled = false;'
	undo gone job_obit
	undo keelson reload
	as "$OWNER" qsub -W block=true -N waits -- /bin/sleep 3 >"$BATS_TEST_TMPDIR/blocked" 2>&1 3>&- &
	blocks=$!
	end=$(here end)
	rm -f "$end"
	printf 'echo begins\nuntil test -e %s; do sleep .1; done\necho ends\n' "$end" >"$(desk "$OWNER")/script"
	id=$(as "$OWNER" qsub -N runs script)
	wait_until 20 job_is "$id" R 42
	task=$(mom_log n1 | sed -n "s/.*;$id;Started, pid = //p")
	keelson load job_obit
	keelson unload job_obit
	[ -d "/proc/$task" ]
	touch "$end"
	wait "$blocks"
	lacks "$(<"$BATS_TEST_TMPDIR/blocked")" 'qsub:'
	over() { [ ! -d "/proc/$task" ]; }
	wait_until 20 over
	wait_until 20 grep -q ends "$(desk "$OWNER")/runs.o${id%%.*}"
	same 'once' "$(printf 'begins\nends')" "$(<"$(desk "$OWNER")/runs.o${id%%.*}")"
	lacks "$(server_log)" ';n1;(node down|link is down)'
}

# Submits and deletes until the file is gone; says how often, and how often something failed.
client()
{
	local n=0 bad=0 id
	while [ -e "$SB/storm" ]; do
		if id=$(qsub -h -- /bin/true) && qdel "$id"; then n=$((n + 1)); else bad=$((bad + 1)); fi
	done
	echo "$n $bad"
}

new_build() # digit
{
	sed "s/build-[A-Z0-9]/build-$1/" "$SB/tally.so" >"$SB/tally.new"
	mv "$SB/tally.new" "$SB/tally.so"
	has "$(keelson reload)" "^tally: replaced, version build-[A-Z0-9] by build-$1$"
}
who_runs() { keelson modules --json | jq -c '.modules | map_values([.version, .state, .since, .path])'; }
refused() # pattern: a reload is, and says why; nothing changed
{
	local before found
	before=$(who_runs)
	found=$(keelson reload 2>&1) && return 1
	has "$found" "$1" && same 'what runs' "$before" "$(who_runs)"
}
bad_file()
{
	local good
	good=$(<"$SB/server/etc/modules.d/tally.conf")
	site tally "path = \"$SB/tally.so\";"$'\n\tword = 7;'
	refused 'tally.conf:3: tally.word: expected ' || return 1
	site tally "path = \"$SB/tally.so\"; {"
	refused 'tally.conf:2: syntax error' || return 1
	echo "$good" >"$SB/server/etc/modules.d/tally.conf"
}
bad_init()
{
	fixture failing_init
	refused 'module failing_init: init failed' && gone failing_init
}

round() # number: switch one off and on, change a value, a new build, everything that needs jobs, what is refused
{
	case $(($1 % 6)) in
	0) fixture job_obit && keelson reload && gone job_obit ;;
	1) site tally "path = \"$SB/tally.so\"; word = \"round$1\";" && keelson reload ;;
	2) new_build "$(($1 / 6 % 10))" ;;
	3) keelson reload eligible-time && keelson reload scheduler ;;
	4) keelson reload jobs ;;
	5) bad_init && bad_file ;;
	esac >>"$BATS_TEST_TMPDIR/said" 2>&1
}

@test "a storm of qsub from eight clients, and reloads: no request is lost, nothing grows" {
	undo qmgr -c 'set server job_history_enable = true'
	qmgr -c 'set server job_history_enable = false' # jobs that are over would be what grows
	for _ in 1 2 3; do submit -h; done >"$BATS_TEST_TMPDIR/standing"
	touch "$SB/storm"
	export -f client
	for lane in 1 2 3 4 5 6 7 8; do
		as "$OWNER" bash -c client >"$BATS_TEST_TMPDIR/lane.$lane" 2>"$BATS_TEST_TMPDIR/errors.$lane" 3>&- &
	done
	for ((i = 0; i < ROUNDS; i++)); do
		round $i || { rm "$SB/storm"; cat "$BATS_TEST_TMPDIR/said" >&2; return 1; }
		[ $i -ne $((ROUNDS / 2)) ] || half=$(rss)
	done
	end=$(rss)
	rm "$SB/storm"
	wait
	cat "$BATS_TEST_TMPDIR"/errors.* >&2
	same 'refused' 0 "$(awk '{ bad += $2 } END { print bad + 0 }' "$BATS_TEST_TMPDIR"/lane.*)"
	echo "# $ROUNDS rounds, $(awk '{ n += $1 } END { print n }' "$BATS_TEST_TMPDIR"/lane.*) jobs, RSS $half kB at half, $end kB at the end" >&3
	# The sanitizer keeps what was freed; it tells itself what was not.
	[ -n "${KEELSON_SANITIZED-}" ] || [ "$end" -le $((half + half / 10 + 1024)) ]
	[ "$(find "$SB/server/server_priv/sets" -mindepth 1 -maxdepth 1 -type d | wc -l)" -eq 1 ]
	word=$(keelson tally)
	keelson reload tally
	same 'what is known' "$word" "$(keelson tally)"
	xargs qdel <"$BATS_TEST_TMPDIR/standing"
}
