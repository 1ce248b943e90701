#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# pbsnodes: listings of hosts and vnodes, and marking them.
#
# Two hosts of 4 cpus, n1 and n2; a story about vnodes has a host of its own.

load helper
load shared

USAGE='usage:	pbsnodes [-{o|r}][-C comment][-s server] host host ...
	pbsnodes -l [-s server]
	pbsnodes [-s server] -v vnode vnode ...
	pbsnodes -a[v][S[j][L]][-F format][-D delim][-s server]
	pbsnodes -[H][S[j][L]][-F format][-D delim] host host ...
	pbsnodes --version'

setup_file() { open_cluster --hosts 2; }

names_of() { sed -n 's/^     \([^ ]*\) = .*/\1/p' | xargs; }

@test "pbsnodes -a: a host's attributes in their order; managers see more" {
	names=$(as "$OWNER" pbsnodes -a n1 | names_of)
	common="ntype state pcpus resources_available.arch resources_available.host resources_available.mem \
resources_available.ncpus resources_available.vnode resources_assigned.accelerator_memory \
resources_assigned.hbmem resources_assigned.mem resources_assigned.naccelerators resources_assigned.ncpus \
resources_assigned.vmem resv_enable sharing license last_state_change_time"
	[ "$EUID" -ne 0 ] || same 'for users' "Mom $common" "$(as "$OWNER" pbsnodes n1 | names_of)"
	same 'for managers' "Mom Port pbs_version $common" "$(pbsnodes n1 | names_of)"
}

@test "pbsnodes: a name line, attributes, an empty line" {
	found=$(pbsnodes -a; echo end)
	same names 'n1 n2 end' "$(grep -v '^     ' <<<"$found" | xargs)"
	same blanks 2 "$(grep -c '^$' <<<"$found")"
	found=$(pbsnodes n1)
	same first n1 "$(head -n 1 <<<"$found")"
	for line in 'Mom = n1' 'ntype = PBS' 'state = free' 'resources_available.ncpus = 4' \
		'resources_assigned.ncpus = 0' 'sharing = default_shared' 'resv_enable = True'; do
		has "$found" "^     $line\$"
	done
	lacks "$found" '^     (jobs|comment|last_used_time) ='
}

@test "pbsnodes: the jobs of a node, one entry per slot" {
	id=$(running -l select=1:ncpus=2:mem=100mb:host=n1)
	found=$(pbsnodes -v n1)
	has "$found" "^     jobs = $id/0, $id/1\$"
	has "$found" '^     resources_assigned.ncpus = 2$'
	has "$found" '^     resources_assigned.mem = 102400kb$'
	qdel -W force "$id"
	is_idle() { ! pbsnodes n1 | grep -q ' jobs = '; }
	wait_until 10 is_idle
	has "$(pbsnodes n1)" '^     last_used_time = '
}

@test "pbsnodes: all cpus taken is job-busy" {
	id=$(running -l select=1:ncpus=4:host=n2)
	node_is n2 job-busy
	node_is n1 free
	qdel -W force "$id"
	wait_until 10 node_is n2 free
}

@test "pbsnodes -aSj: a table" {
	id=$(running -l select=1:ncpus=2:mem=1gb:host=n1)
	found=$(pbsnodes -aSj)
	same header "                                                        mem       ncpus   nmics   ngpus
vnode           state           njobs   run   susp      f/t        f/t     f/t     f/t   jobs
--------------- --------------- ------ ----- ------ ------------ ------- ------- ------- -------" \
		"$(head -n 3 <<<"$found")"
	has "$found" "^n1              free                 1     1      0 +[0-9]+gb/[0-9]+gb     2/4     0/0     0/0 ${id%.svr}\$"
	has "$found" "^n2              free                 0     0      0 +[0-9]+gb/[0-9]+gb     4/4     0/0     0/0 --\$"
	same 'with -v' "$found" "$(pbsnodes -aSvj)"
}

@test "pbsnodes -aS: the other table" {
	found=$(pbsnodes -aS)
	same header "vnode           state           OS       hardware host            queue        mem     ncpus   nmics   ngpus  comment
--------------- --------------- -------- -------- --------------- ---------- -------- ------- ------- ------- ---------" \
		"$(head -n 2 <<<"$found")"
	has "$found" "^n1              free            --       --       n1              --         +[0-9]+gb       4       0       0 --\$"
}

@test "pbsnodes -F json: parsed by a parser" {
	id=$(running -l select=1:ncpus=2:mem=100mb:host=n1)
	json=$(pbsnodes -a -F json)
	same nodes 'n1 n2' "$(jq -r '.nodes | keys | join(" ")' <<<"$json")"
	same server svr "$(jq -r .pbs_server <<<"$json")"
	same jobs "[\"$id\"]" "$(jq -c '.nodes.n1.jobs' <<<"$json")"
	same cpus '4 2' "$(jq -r '.nodes.n1 | "\(.resources_available.ncpus) \(.resources_assigned.ncpus)"' <<<"$json")"
	same memory 102400kb "$(jq -r '.nodes.n1.resources_assigned.mem' <<<"$json")"
	same 'zero is left out' null "$(jq '.nodes.n2.resources_assigned.ncpus' <<<"$json")"
	same time number "$(jq -r '.nodes.n1.last_state_change_time | type' <<<"$json")"
	same 'with operands' 'n2' "$(pbsnodes -v -F json n2 | jq -r '.nodes | keys | join(" ")')"
}

@test "pbsnodes -aSj -F json: keys of the table, state in both spellings" {
	id=$(running -l select=1:ncpus=1:host=n1)
	json=$(pbsnodes -aSj -F json)
	same state 'free free' "$(jq -r '.nodes.n1 | "\(.State) \(.state)"' <<<"$json")"
	same counts '1 1 0' \
		"$(jq -r '.nodes.n1 | "\(."Total Jobs") \(."Running Jobs") \(."Suspended Jobs")"' <<<"$json")"
	same cpus 3/4 "$(jq -r '.nodes.n1."ncpus f/t"' <<<"$json")"
	same jobs "[\"$id\"]" "$(jq -c '.nodes.n1.jobs' <<<"$json")"
}

@test "pbsnodes -F dsv" {
	id=$(running -l select=1:ncpus=2:host=n1)
	found=$(as "$OWNER" pbsnodes -a -F dsv)
	has "$found" "^Name=n1\\|Mom=n1\\|.*\\|state=free\\|.*\\|jobs=$id/0,$id/1\\|.*resources_available.ncpus=4"
	has "$(pbsnodes -aSj -F dsv)" '^vnode=n1\|state=free\|njobs=1\|run=1\|susp=0\|mem\(f/t\)=[0-9a-z/]*\|ncpus\(f/t\)=2/4\|nmics\(f/t\)=0/0\|ngpus\(f/t\)=0/0\|jobs='"$id"'$'
	has "$(pbsnodes -a -F dsv -D '%' n2)" '^Name=n2%Mom=n2%'
}

@test "pbsnodes -o -r -C: offline, back, and why" {
	quietly pbsnodes -o n1
	undo pbsnodes -r -C '' n1
	node_is n1 offline
	same 'listed' 'n1                   offline ' "$(pbsnodes -l)"
	quietly pbsnodes -r n1
	node_is n1 free
	same 'listed' '' "$(pbsnodes -l)"
	quietly pbsnodes -o -C 'disk swap' n1
	same 'listed' 'n1                   offline disk swap' "$(pbsnodes -l)"
	quietly pbsnodes -C 'other note' n1
	same comment 'other note' "$(node_attr n1 comment)"
	node_is n1 offline
	quietly pbsnodes -r -C '' n1
	same comment '' "$(node_attr n1 comment)"
	node_is n1 free
}

@test "pbsnodes -c: clears offline too" {
	pbsnodes -o n1
	quietly pbsnodes -c n1
	node_is n1 free
}

@test "pbsnodes -o: jobs go on, new ones wait" {
	id=$(running -l select=1:host=n1)
	pbsnodes -o n1
	undo pbsnodes -r n1
	job_is "$id" R 42
	next=$(submit -l select=1:host=n1)
	refused() { job_attr "$next" comment | grep -q '^Not Running: '; }
	wait_until 10 refused
	job_is "$next" Q
	pbsnodes -r n1
	wait_until 10 job_is "$next" R 42
}

@test "pbsnodes: unknown nodes are 1, the others are done" {
	says 1 'Node: nosuch,  Error: Unknown node ' pbsnodes nosuch
	says 1 'Node: nosuch,  Error: Unknown node ' pbsnodes -H nosuch
	found=$(pbsnodes n1 nosuch 2>/dev/null) && false
	same shown n1 "$(head -n 1 <<<"$found")"
	undo pbsnodes -r n1
	says 1 'Error marking node nosuch - Unknown node ' pbsnodes -o nosuch n1
	node_is n1 offline
}

@test "pbsnodes -F json: an unknown node is in the answer" {
	json=$(pbsnodes -F json nosuch n1 2>/dev/null) || true
	same n1 free "$(jq -r '.nodes.n1.state' <<<"$json")"
	has "$(jq -r '.nodes.nosuch.nosuch' <<<"$json")" 'Unknown node'
}

@test "pbsnodes: misuse is 1, with a usage on stderr" {
	for words in '' -lv -S -Sj '-F json' '-a -F xml'; do
		# shellcheck disable=SC2086
		says 1 "$USAGE" pbsnodes $words
	done
	says 1 "pbsnodes: invalid option -- 'x'
$USAGE" pbsnodes -x
	says 1 "pbsnodes: option requires an argument -- 'D'
$USAGE" pbsnodes -a -F dsv -D
	has "$(pbsnodes --version)" '^pbs_version = '
}

@test "pbsnodes -s: another server" {
	says 1 'Unknown Host.
pbsnodes: cannot connect to server nosuchserver, error=15008' pbsnodes -s nosuchserver -a
	same 'this one' "$(pbsnodes -aS)" "$(pbsnodes -s svr -aS)"
}

@test "pbsnodes: users may look, operators mark" {
	needs_root
	has "$(as "$OWNER" pbsnodes -aSj)" '^n1 '
	for words in '-o n1' '-r n1' '-C x n1'; do
		# shellcheck disable=SC2086
		says 1 'Error marking node n1 - Unauthorized Request ' as "$OWNER" pbsnodes $words
	done
	undo pbsnodes -r n1
	quietly as "$OPERATOR" pbsnodes -o n1
	node_is n1 offline
	quietly as "$OPERATOR" pbsnodes -r n1
}

@test "pbsnodes: a host of several vnodes" {
	saved=$SB SB=$(mktemp -d "${TMPDIR:-/tmp}/keelson-story.XXXXXX")
	undo rm -rf "$SB"
	undo "$top/scripts/sandbox" stop --dir "$SB" --build "$KEELSON_BUILD"
	sandbox start --vnodes 3
	. "$SB/env"
	found=$(pbsnodes -aSv)
	same vnodes 'n1 n1[0] n1[1] n1[2]' "$(awk 'NR > 2 { print $1 }' <<<"$found" | xargs)"
	has "$found" '^n1 +free .* n1 +-- +0 b +0 '
	has "$(pbsnodes -aS)" '^n1 +free .* 12 '
	merged=$(pbsnodes n1)
	has "$merged" '^     resources_available.ncpus = 12$'
	has "$merged" '^     resources_available.vnode = <various>$'
	same one 'n1[1]' "$(pbsnodes -v 'n1[1]' | head -n 1)"
	same all 'n1 n1[0] n1[1] n1[2]' "$(pbsnodes -H n1 | grep -v -e '^ ' -e '^$' | xargs)"
	has "$(pbsnodes -v 'n1[0]')" '^     in_multivnode_host = 1$'
	says 1 'Error marking node n1[2] - Unknown node ' pbsnodes -o 'n1[2]'
	pbsnodes -v -o 'n1[2]'
	same state offline "$(node_attr 'n1[2]' state)"
	has "$(pbsnodes -aS)" '^n1 +<various> '
	pbsnodes -o n1
	same 'all of them' '4' "$(pbsnodes -av | grep -c 'state = offline')"
	pbsnodes -r n1
	same 'none of them' '4' "$(pbsnodes -av | grep -c 'state = free')"
	SB=$saved
}
