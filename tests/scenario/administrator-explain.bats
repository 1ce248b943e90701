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

# ---- explain -----------------------------------------------------------------------------------------------

@test "administrator #19: keelson explain says by whom a job is held, since when, and how that ends" {
	local job
	needs_root
	job=$(submit)
	qdel -W force "$job"
	job=$(submit -h)
	has "$(keelson explain "$job")" "^held +u, a user's hold, set when it was submitted or altered; its owner releases it: .qrls $job"
	qhold -h o "$job"
	has "$(keelson explain "$job")" "^held +o, an operator's hold, by root@[^ ]+ since [A-Z][a-z]+ .*: .qrls -h o $job"
	as "$OWNER" qrls -h u "$job"
	lacks "$(keelson explain "$job")" '^held +u'
	as "$OWNER" qhold "$job"
	has "$(as "$OWNER" keelson explain "$job")" "^held +u, a user's hold, by $OWNER@[^ ]+ since "
	lacks "$(keelson explain "$job")" '^policies'
	sandbox restart server --hard
	has "$(keelson explain "$job")" "^held +o, an operator's hold, by root@"
	has "$(keelson explain "$job")" "^held +u, a user's hold, by $OWNER@"
}

@test "administrator #19: keelson explain says for which jobs one waits, and what they do" {
	local first job
	needs_module dependencies
	first=$(running)
	job=$(submit -W "depend=afterok:$first")
	has "$(keelson explain "$job")" "^depends +afterok $first, state R\$"
	has "$(keelson explain "$job")" '^held +until other jobs have done something'
	qsig -s suspend "$first"
	has "$(keelson explain "$job")" "^depends +afterok $first, state R \(suspended\)\$"
}

@test "administrator #19: keelson explain says until when a job waits" {
	local job
	job=$(submit -a "$(date -d '+2 hours' +%Y%m%d%H%M.%S)")
	has "$(keelson explain "$job")" '^waits +until [A-Z][a-z]+ .* \(-a\), another [12]:[0-9]+:[0-9]+$'
}

@test "administrator #19: a job that runs, is suspended, and goes on; it does not count itself against its limit" {
	local job found
	undo qmgr -c 'unset server max_run'
	qmgr -c 'set server max_run = [u:PBS_GENERIC=1]'
	job=$(running -l walltime=1:00:00)
	found=$(keelson explain "$job")
	has "$found" '^running +on n[12]/.* since .*; until .* at the latest'
	lacks "$found" '^policies|^back-off|^placement|reached'
	qsig -s suspend "$job"
	wait_until 20 job_is "$job" S 43
	found=$(keelson explain "$job")
	has "$found" '^suspended +since .* by root@.* \(suspend\); .qsig -s resume. lets it go on'
	has "$found" '^gave back +all'
}

@test "administrator #19: an array says what its subjobs do" {
	local array
	needs_module arrays
	array=$(submit -J 1-9 -l select=1:ncpus=4)
	wait_until 20 job_is "$(sub "$array" 1)" R 42
	has "$(keelson explain "$array")" '^subjobs +Queued:[0-9]+ Running:[12] '
	has "$(keelson explain "$(sub "$array" 1)")" '^running +on '
}

@test "administrator #19: a job that is over: how, why, where, as long as there is a history of it" {
	local job
	needs_root
	job=$(finished -- /bin/sh -c 'exit 3')
	has "$(keelson explain "$job")" '^finished +.*; exit status 3, its own$'
	has "$(keelson explain "$job")" '^ran +on n[12]/.* from .*; it was started 1 time$'
	job=$(running)
	qdel "$job"
	ends "$job"
	has "$(keelson explain "$job")" '^finished +.*; exit status (271: its first process was ended by signal 15 TERM|265: its first process was ended by signal 9 KILL)$'
	has "$(keelson explain "$job")" '^why +deleted at request of root@'
	job=$(submit -h)
	as "$OWNER" qdel "$job"
	has "$(keelson explain "$job")" '^finished +.*; it has not run$'
	has "$(keelson explain "$job")" "^why +deleted at request of $OWNER@"
	qdel -x "$job"
	run ! keelson explain "$job"
	has "$output" "Unknown Job Id $job: it is over, and not in the history"
}

@test "administrator #19: keelson explain n2 says why nothing starts there" {
	local job found
	needs_root
	has "$(keelson explain n2)" '^vnode +n2  state free$'
	has "$(keelson explain n2)" '^new jobs +may start here'
	undo pbsnodes -r n2
	pbsnodes -o -C 'the fan is loud' n2
	found=$(as "$OTHER" keelson explain n2)
	has "$found" '^offline +by root@[^ ]+ since .*: the fan is loud; .pbsnodes -r n2. ends that$'
	has "$found" '^new jobs +none start here: its state keeps them away \(offline\)$'
	pbsnodes -r n2
	job=$(running -l select=1:ncpus=3:host=n2)
	found=$(keelson explain n2)
	has "$found" "^jobs +1: $job\$"
	has "$found" '^left +.*ncpus 1 of 4'
	lacks "$found" '^offline'
	undo qmgr -c 'set server query_other_jobs = True'
	qmgr -c 'set server query_other_jobs = False'
	lacks "$(as "$OTHER" keelson explain n2)" "$job"
	has "$(as "$OTHER" keelson explain n2)" '^jobs +1$'
	run -159 as "$OTHER" qexplain "$job"
	kill_mom n2
	wait_until 60 is_down n2
	has "$(keelson explain n2)" '^down +its host has not answered since '
	run ! keelson explain nonesuch
	has "$output" 'Unknown Job Id nonesuch, and no host or vnode of this name'
}

@test "administrator #19: a host that is reserved, or under maintenance, and the reservation itself" {
	local resv found
	needs_module maintenance-reservations
	needs_root
	undo qmgr -c 'unset server acl_roots'
	qmgr -c 'set server acl_roots = root'
	resv=$(pbs_rsub -R "$(date -d '+2 hours' +%Y%m%d%H%M.%S)" -D 600 --hosts n2)
	resv=${resv%% *}
	undo pbs_rdel "$resv"
	found=$(keelson explain n2)
	has "$found" "^reserved +for $resv"
	has "$found" "^window +$resv.* from [A-Z][a-z]+ .* to "
	same 'of the reservation' "$(keelson resv "$resv")" "$(keelson explain "$resv")"
}
