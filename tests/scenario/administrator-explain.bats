#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What an administrator asks: is it well (keelson health), and why does this not run (keelson explain).
# bats file_tags=scheduler
load helper
load shared
load scheduler

setup_file() { open_site 2; }

health() { keelson health "$@"; }
says_degraded() { run keelson health; [ "$status" -eq 1 ] && has "$output" "^degraded +$1" 2>/dev/null; }

# ---- health ------------------------------------------------------------------------------------------------

# Checks the text format 0.0.4: HELP and TYPE before each name's samples, which stand together; no sample twice; numbers;
# labels in quotes; buckets that never fall, up to the count.
metrics_are_good()
{
	awk '
	function bad(why) { printf "line %d: %s: %s\n", NR, why, $0; failed = 1 }
	/^# HELP / { if ($3 in helped) bad("HELP twice"); helped[$3] = 1; if (NF < 4) bad("no words"); next }
	/^# TYPE / { if (!($3 in helped) || ($3 in type)) bad("TYPE"); type[$3] = $4; now = $3
		     if ($4 !~ /^(gauge|counter|histogram)$/) bad("type"); next }
	/^#/ || NF == 0 { bad("not known"); next }
	{
		series = $0; sub(/ [^ ]*$/, "", series); value = $NF
		name = series; sub(/\{.*/, "", name)
		labels = substr(series, length(name) + 1)
		base = name
		if (type[now] == "histogram") sub(/_(bucket|sum|count)$/, "", base)
		if (base != now) bad("not below its TYPE")
		if (name !~ /^keelson_[a-z_]+$/) bad("name")
		if (type[now] == "counter" && name !~ /_total$/) bad("a counter without _total")
		if (value !~ /^-?[0-9.]+(e[-+][0-9]+)?$/) bad("value")
		if (labels != "" && labels !~ /^\{[a-z_]+="([^"\\]|\\.)*"\}$/) bad("labels")
		if (series in seen) bad("twice"); seen[series] = 1
		if (name ~ /_bucket$/) { if (name == last && value + 0 < most) bad("falls"); most = value + 0; last = name }
		if (name ~ /_count$/ && value + 0 != most) bad("count is not the last bucket")
		n++
	}
	END { if (n < 20) { print "only " n " samples"; failed = 1 } exit failed }' <<<"$1"
}

# The name of each metric and of each value of JSON is in the manual page.
names_are_documented()
{
	local page name
	page=$(sed 's/\\-/-/g' "$top/sdk/man/keelson-health.8")
	for name in $(sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' <<<"$1") $(grep -oE '(^\{|, )"[a-z_]+": ' <<<"$2" | tr -d '{," :'); do
		[[ $page == *"$name"* ]] || [[ $name =~ ^(up|down|offline|closed|p50|p99|minute|hour|spool|logs)$ ]] ||
			{ echo "$name is not in keelson-health(8)" >&2; return 1; }
	done
}

@test "administrator #22: keelson health says that all is well, for people, for programs and for Prometheus" {
	local text json metrics
	needs_module server-health
	running >/dev/null
	submit -h >/dev/null
	text=$(health)
	same 'first line' well "${text%%$'\n'*}"
	has "$text" '^hosts +2 up, 0 down, 0 offline, 0 closed'
	has "$text" '^versions +2 '
	has "$text" '^jobs .* 1 held, .* 1 running'
	has "$text" '^requests +[0-9.]+ a second, .* p50, .* p99$'
	has "$text" '^commits +[0-9.]+ a second, .* p50, .* p99, .* longest$'
	has "$text" '^stalls .* in the last minute, .* in the last hour$'
	has "$text" '^free .* store, .* spool, .* logs$'
	json=$(health --json)
	has "$json" '^\{"status": "well", "why": \[\], .*"hosts": \{"up": 2, "down": 0,.*"scheduling": true,.*\}$'
	metrics=$(health --metrics)
	metrics_are_good "$metrics"
	has "$metrics" '^keelson_jobs\{state="running"\} 1$'
	has "$metrics" '^keelson_degraded 0$'
	has "$metrics" '^keelson_commit_duration_seconds_count [1-9]'
	names_are_documented "$metrics" "$json"
	run -2 keelson health --nonsense
	has "$output" '^usage: keelson health'
}

@test "administrator #22: everybody has the figures, operators the names" {
	local job
	needs_module server-health
	needs_root
	job=$(submit -l select=1:ncpus=9)
	has "$(health)" "^note +the job that has waited longest is $job\$"
	has "$(as "$OTHER" keelson health)" '^hosts +2 up'
	has "$(as "$OTHER" keelson health)" '^oldest wait +[0-9]'
	lacks "$(as "$OTHER" keelson health)" "$job|^versions"
	metrics_are_good "$(as "$OTHER" keelson health --metrics)"
}

@test "administrator #22: a host that is down is degraded, one that is offline and scheduling that is off are not" {
	needs_module server-health
	undo scheduling true
	scheduling false
	undo pbsnodes -r n2
	pbsnodes -o n2
	run -0 keelson health
	has "$output" '^note +scheduling is off: no job starts$'
	has "$output" '^hosts +1 up, 0 down, 1 offline'
	pbsnodes -r n2
	kill_mom n2
	wait_until 60 says_degraded '1 host is down: n2$'
	has "$(health --metrics)" '^keelson_hosts\{state="down"\} 1$'
	metrics_are_good "$(health --metrics)"
	has "$(health --json)" '"status": "degraded", "why": \["1 host is down: n2"\]'
	sandbox restart n2
	is_well() { keelson health >/dev/null; }
	wait_until 60 is_well
}

limit()
{
	sed -i --follow-symlinks "s/.*disk_free = .*/	disk_free = $1;/" "$SB/server/etc/modules.d/server-health.conf"
	keelson reload >/dev/null
}

@test "administrator #22: a file system that is nearly full is degraded, and named" {
	needs_module server-health
	undo limit 5
	limit 100
	says_degraded "store: the file system of $SB/server/server_priv has [0-9.]+ % free\$"
	limit 5
	health
}

@test "administrator #22: no answer is exit status 2 within seconds, and nothing on the standard output" {
	local server
	needs_module server-health
	server=$(head -n 1 "$SB/server/server_priv/server.lock")
	undo kill -CONT "$server"
	kill -STOP "$server"
	run -2 --separate-stderr keelson health --metrics
	same 'standard output' '' "$output"
	has "$stderr" '^keelson health: the server does not answer: no reply within 5 seconds$'
	kill -CONT "$server"
	run -2 --separate-stderr env PBS_SERVER_SOCKET=/nonexistent/sock keelson health
	same 'standard output' '' "$output"
	has "$stderr" '^keelson health: the server does not answer: cannot connect to '
}
