# SPDX-License-Identifier: Apache-2.0
#
# netns.bash - stories of hosts with networks of their own (sandbox --netns), whose links can be cut. Load it after helper.bash.

has_netns() { [ "$EUID" -eq 0 ] && { command -v ip && command -v nsenter && unshare -n true; } >/dev/null 2>&1; }
needs_netns() { needs_root; has_netns || skip "needs network namespaces"; }

# in_host HOST COMMAND...: with the network of that host
in_host() { nsenter "--net=/run/netns/$(cat "$SB/net")-$1" "${@:2}"; }

# job_processes HOST: what runs there beside its daemon and the daemon's nursery
job_processes()
{
	local pid line
	for pid in $(ip netns pids "$(cat "$SB/net")-$1"); do
		line=$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") || continue
		[[ -z $line || $line == *keelsond* || $line == 'keelson-shepherd nursery'* ]] || echo "$pid $line"
	done
}
has_no_process() { same "processes of jobs on $1" '' "$(job_processes "$1")"; }

# parts_on HOST: the jobs that have a record there
parts_on() { find "$SB/$1/mom_priv/jobs" -name '*.TK' -printf '%f\n' | sed 's/\.TK$//' | sort; }
has_no_part() { lacks "$(parts_on "$1")" "^$2\$"; } # host, job

# The daemon of HOST has noticed that OTHER is away.
misses() { mom_log "$1" | grep -q ";Link;$2;link is down"; }
is_free() { node_attr "$1" state | grep -qx free; }
