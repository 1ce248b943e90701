#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Whatever there is in modules/ can be taken out of a running server and put back: what is gone is unknown, everything
# else goes on, and afterwards it is as it was. Or it says who needs it.

load helper

unload_says='cannot be unloaded while the daemon runs'

# The port where the server takes its hosts is its own from the second start on.
cluster_of_two()
{
	setup_sandbox --hosts 2 --ncpus 4
	sandbox restart server
	for host in n1 n2; do wait_until 20 node_is "$host" free; done
	qmgr -c 'set server job_history_enable = true'
}

# Something of everything, as far as its module is there.
world()
{
	cluster_of_two
	local line
	for line in 'set server eligible_time_enable = true' 'set server max_queued = [u:PBS_GENERIC=50]' \
		'set server restrict_res_to_release_on_suspend = ncpus' 'set sched preempt_order = SCRD' \
		'create queue away queue_type=route,route_destinations=workq,enabled=t,started=t' \
		'create queue urgent queue_type=e,priority=200,enabled=t,started=t' \
		'create resource lic type=long,flag=q' 'set server resources_available.lic = 5' \
		'set node n2 comment = "the fan is loud"'; do
		qmgr -c "$line" >/dev/null 2>&1 || true
	done
	going=$(running) stopped=$(running) over=$(submit -- /bin/true)
	qsig -s suspend "$stopped"
	submit -h >/dev/null
	submit -l ncpus=400 >/dev/null
	submit -J 1-5%2 >/dev/null 2>&1 || true
	submit -W depend=afterok:"$going" >/dev/null 2>&1 || true
	submit -q away -M somebody@nowhere -m abe >/dev/null 2>&1 || true
	wait_until 20 job_is "$over" F
	wait_until 20 settled
}

# Nothing moves: no job is on its way to its host, and the same is said twice.
settled()
{
	local once
	once=$(everything) && lacks "$once" ' substate = 41$' && nap .3 && [ "$once" = "$(everything)" ]
}

# What users and administrators see, but for times and what is measured.
everything()
{
	{
		qstat -xtf && pbsnodes -av && printf '%s\n' 'print server' 'list server' 'list sched' \
			'print queue @default' 'list queue @default' 'list node @default' 'list resource' | qmgr
	} 2>&1 | grep -vE '^ *(resources_used\.|mtime|eligible_time|last_|license_count)'
}

as_before() { local now; now=$(everything) && diff <(echo "$before") <(echo "$now"); }

is_loaded() { keelson modules | grep -q "^$1 "; }

# Takes it out, after those who say that they need it: in $gone. What must stay is in $stays.
take_out()
{
	local said who users
	is_loaded "$1" || return 0
	if said=$(keelson unload "$1" 2>&1); then
		has "$said" "^$1: unloaded$" || return 1
		gone+=("$1")
		return
	fi
	if [[ $said == *"$unload_says"* || $said == 'keelson: without module reload nothing can be changed any more '* ]]; then
		stays=$1
		return
	fi
	[[ $said =~ "module $1 is needed by module"s?\ ([a-z0-9, -]+)\;\ unload\ (it|them)\ first ]] ||
		{ echo "unload $1: $said" >&2; return 1; }
	users=${BASH_REMATCH[1]//,/ }
	for who in $users; do
		is_loaded "$who" || { echo "$1 is needed by $who, which is not there" >&2; return 1; }
	done
	for who in $users; do take_out "$who" || return 1; done
	is_loaded "$1" || return 0
	said=$(keelson unload "$1" 2>&1) || { echo "unload $1: $said" >&2; return 1; }
	gone+=("$1")
}

put_back()
{
	local i
	for ((i = ${#gone[@]} - 1; i >= 0; i--)); do
		same "load ${gone[i]}" "${gone[i]}: loaded" "$(keelson load "${gone[i]}" | head -n 1)" || return 1
	done
}

# In the configuration, for the next start.
configure() # true|false, module
{
	local file=$SB/server/etc/modules.d/$2.conf
	sed -i '/^[[:space:]]*enabled = .*;$/d; s/enabled = [a-z]*;//' "$file"
	sed -i "s/^$2: {/$2: { enabled = $1;/" "$file"
}
checked() { keelsond --check --conf "$SB/server/etc/keelson.conf" 2>&1; }

# Without it there is no cluster, but one host: that has stories of its own (install).
holds_it_together() { [ "$1" = store-sqlite ] || [ "$1" = link-tcp ]; }

@test "switch off: by the configuration and a restart, and on again" {
	world
	before=$(everything)
	features=()
	for folder in "$top"/modules/*/; do
		module=$(basename "$folder")
		configure false "$module"
		if found=$(checked); then
			features+=("$module")
		else
			has "$found" 'enable it, or disable |enable the module that does'
		fi
		configure true "$module"
	done
	echo "# not needed by others: ${features[*]}" >&3
	sandbox restart server
	wait_until 20 as_before # a restart alone changes nothing

	for module in "${features[@]}"; do
		holds_it_together "$module" || configure false "$module"
	done
	checked
	sandbox restart server
	for module in "${features[@]}"; do
		holds_it_together "$module" || ! is_loaded "$module"
	done
	id=$(submit -- /bin/true)
	wait_until 20 job_is "$id" F
	job_is "$going" R 42
	qdel -x "$id"

	for module in "${features[@]}"; do configure true "$module"; done
	sandbox restart server
	wait_until 20 as_before
	going "$going"
	stopped "$stopped"
}

# A feature is gone: work goes on without it. Leaves no trace.
works_without() # module
{
	local id
	id=$(submit -- /bin/true)
	[ "$1" != scheduler ] || qrun "$id"
	[ "$1" = status ] || [ "$1" = link-tcp ] || wait_until 20 job_is "$id" F
	put_back
	wait_until 20 job_is "$id" F
	qdel -x "$id"
}

# each_alone MODULE...: in a world of its own.
each_alone()
{
	local module before gone stays
	world
	before=$(everything)
	for module; do
		gone=() stays=
		take_out "$module"
		echo "$module: ${gone[*]:-stays}"
		[ "${gone[*]}" = admin ] || keelson modules >/dev/null
		if [ "${gone[*]}" = "$module" ]; then works_without "$module"; else put_back; fi
		wait_until 20 as_before
	done
	going "$going"
	stopped "$stopped"
	lacks "$(server_log)" 'its code stays in memory|caught signal ([^1]|1[^5])'
}

@test "switch off: each module alone, or with those who say that they need it, and on again" {
	modules=() share=(0 1 2 3)
	for folder in "$top"/modules/*/; do modules+=("$(basename "$folder")"); done
	for n in "${share[@]}"; do
		mine=()
		for ((i = n; i < ${#modules[@]}; i += ${#share[@]})); do mine+=("${modules[i]}"); done
		beside each_alone "${mine[@]}"
		share[n]=$!
	done
	for n in "${share[@]}"; do wait "$n"; done
}

@test "switch off: the links; hosts are down after the grace, and up again with what ran" {
	cluster_of_two
	going=$(running)
	keelson unload link-tcp
	down() { node_attr "$1" state | grep -q down; }
	for host in n1 n2; do wait_until 20 down "$host"; done
	has "$(server_log)" ';Link;n1;link is down: no new link within 10 s$'
	job_is "$going" R 42
	keelson load link-tcp
	for host in n1 n2; do wait_until 20 node_is "$host" free; done
	going "$going"
	id=$(submit -- /bin/true)
	wait_until 20 job_is "$id" F
}

@test "switch off: what hosts say while nobody knows jobs and vnodes is heard later" {
	setup_sandbox --ncpus 4
	qmgr -c 'set server job_history_enable = true'
	going=$(running) over=$(running -- /bin/sh -c "$(ends_when_told over 0)") killed=$(running)
	gone=()
	take_out nodes
	is_loaded executor
	tell over
	wait_until 20 mom_says "$over"
	sandbox kill n1
	kill -KILL "$(mom_log n1 | sed -n "s/.*;$killed;Started, pid = //p")"
	sandbox restart n1 --no-wait
	back() { server_log | tail -n 3 | grep -q ';n1;linked with'; }
	wait_until 20 back
	put_back
	wait_until 20 job_is "$over" F
	same 'its end' 0 "$(job_attr "$over" Exit_status)"
	wait_until 20 job_is "$killed" F
	node_is n1 free
	job_is "$going" R 42
	going "$going"
}
mom_says() { mom_log n1 | grep -q ";$1;.*[Tt]erminated"; }
