# SPDX-License-Identifier: Apache-2.0
#
# maintenance.bash - what stories of maintenance windows share, after helper.bash and shared.bash: hosts n1 and n2 with a
# vnode of 4 cpus each, host n3 with the vnodes n3[0] and n3[1] of 2 cpus; reservations, and what is true of them.
#
# Each story leaves the cluster without reservations.

open_maintenance()
{
	needs_root
	open_cluster --hosts 3 "$@"
	printf '%s\n' executor.ncpus=2 executor.vnodes=2 "executor.tmpdir=$SB/n3/tmp" >"$SB/n3/etc/settings"
	sandbox kill n3
	qmgr -c 'delete node n3'
	sandbox restart n3
	wait_until 60 node_is 'n3[0]' free
	wait_until 60 node_is 'n3[1]' free
	qmgr -c 'set server acl_roots = root'
}

setup_file() { open_maintenance; }

teardown()
{
	[ -n "${BATS_TEST_COMPLETED-}" ] || { show_state; pbs_rstat -f >&2 || true; }
	undo_all
	qmgr -c 'set server scheduling = true'
	no_jobs || qselect | xargs -r qdel -W force >/dev/null 2>&1 || true
	forget_all
	wait_until 10 no_jobs
	wait_until 30 all_forgotten
}
forget_all() { listed | xargs -r pbs_rdel >/dev/null 2>&1 || true; }
listed() { pbs_rstat -B | sed -n 's/^Resv ID: //p'; }
all_forgotten() { [ -z "$(listed)" ]; }

paused() { qmgr -c 'set server scheduling = false'; }
cycle() { qmgr -c 'set server scheduling = true'; }

# resv_call ...: tools/resv
resv_call() { "$KEELSON_BUILD/tests/scenario/tools/resv" "$@"; }

# ---- reservations ------------------------------------------------------------------------------------------

# A moment so many seconds from now, as -R and -E have it.
within() { echo "-R $(moment "$1") -E $(moment "$2")"; } # options: from, till

# window FROM TILL [pbs_rsub options] HOST...: by root; its id. Anything but CONFIRMED is an error.
window() { window_of root "$@"; }
window_of() # user, from, till, ...
{
	local line
	# shellcheck disable=SC2046
	line=$(as "$1" pbs_rsub $(within "$2" "$3") --hosts "${@:4}") || return
	[[ $line =~ ^(M[0-9]+\.svr)\ CONFIRMED$ ]] || { echo "pbs_rsub said: $line" >&2; return 1; }
	echo "${BASH_REMATCH[1]}"
}

# asked FROM TILL [pbs_rsub options]: a reservation of $OWNER; its id. booked: and it is confirmed.
asked()
{
	local line
	# shellcheck disable=SC2046
	line=$(as "$OWNER" pbs_rsub $(within "$1" "$2") "${@:3}") && echo "${line%% *}"
}
booked()
{
	local id
	id=$(asked "$@") && wait_until 30 resv_is "$id" CONFIRMED 2 && echo "$id"
}

# resv_on ID NODES: its resv_nodes, '' when there are none.
resv_on() { same_value "vnodes of $1" "$2" resv_nodes "$(pbs_rstat -f "$1")"; }
resv_gone() { lacks "$(listed)" "^${1//./\\.}\$"; }
in_conflict() { resv_is "$1" DEGRADED 12; }

# letters ID: of the column State. queue_is ID NAME VALUE. marks VNODE: its attribute `resv`.
letters() { pbs_rstat "$1" | awk -v id="$1" '$1 == id { print $4 }'; }
queue_is() { same_value "$2 of queue ${1%.svr}" "$3" "$2" "$(qmgr -c "list queue ${1%.svr}")"; }
no_queue() { ! qmgr -c "list queue ${1%.svr}" >/dev/null 2>&1; }
marks() { value resv "$(pbsnodes -v "$1")"; }
waits_for_queue() { job_is "$1" Q && comment_is "$1" 'Not Running: Queue not started.'; }

records() { accounting | grep -E ";$1;${2//./\\.};" || true; } # type, id
says_usage() # 'line...' command...: exit 2, these lines, then the usage
{
	local text status=0
	text=$("${@:2}" 2>&1) || status=$?
	same "exit of \`${*:2}\`" 2 "$status" || { echo "$text" >&2; return 1; }
	same "words of \`${*:2}\`" "$1" "${text%%$'\n'usage: pbs_rsub *}"
}
