#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# restrict_res_to_release_on_suspend over several hosts, with a host that refuses, and while the feature
# is switched off and on.
#
# needs modules/release-restriction

load helper

RESTRICT=restrict_res_to_release_on_suspend

cluster()
{
	setup_sandbox --set executor.first_host_only=true "$@" # jobs lie over several hosts
	qmgr -c 'set server job_history_enable = true'
}
restrict() { qmgr -c "set server $RESTRICT = '$1'"; }
assigned() { node_attr "$1" "resources_assigned.$2"; }

@test "release-restriction #5: two chunks on two hosts" {
	cluster --hosts 2 --ncpus 8
	restrict ncpus
	a=$(running -l select=1:ncpus=8:mem=512mb+1:ncpus=6:mem=256mb)
	qsig -s suspend "$a"
	same text '(n1:ncpus=8)+(n2:ncpus=6)' "$(job_attr "$a" resources_released)"
	same sum 14 "$(job_attr "$a" resource_released_list.ncpus)"
	same n1 '0 524288kb' "$(assigned n1 ncpus) $(assigned n1 mem)"
	same n2 '0 262144kb' "$(assigned n2 ncpus) $(assigned n2 mem)"
	for host in n1 n2; do
		node_is "$host" free
		lacks "$(pbsnodes -v "$host")" '^ *jobs ='
	done
	qsig -s resume "$a"
	wait_until 10 job_is "$a" R 42
	same n1 '8 524288kb' "$(assigned n1 ncpus) $(assigned n1 mem)"
	same n2 '6 262144kb' "$(assigned n2 ncpus) $(assigned n2 mem)"
	node_is n1 job-busy
}

@test "release-restriction #20: what is counted on each vnode, and on the first alone" {
	cluster --hosts 2 --ncpus 4
	qmgr -c 'create resource each type=long,flag=nh'
	qmgr -c 'create resource first type=long,flag=fh'
	for host in n1 n2; do
		qmgr -c "set node $host resources_available.each = 10"
		qmgr -c "set node $host resources_available.first = 10"
	done
	restrict each,first
	a=$(running -l select=2:ncpus=2:each=3:first=4 -l place=scatter)
	numbers() { for h in n1 n2; do echo -n "$h $(assigned $h ncpus) $(assigned $h each) $(assigned $h first) "; done; }
	before=$(numbers)
	same 'while it runs' 'n1 2 3 4 n2 2 3 ' "$(sed 's/ 0 $/ /;s/  $/ /' <<<"$before")"
	qsig -s suspend "$a"
	same 'while it is suspended' 'n1 2 0 0 n2 2 0 ' "$(numbers | sed 's/ 0 $/ /;s/  $/ /')"
	qsig -s resume "$a"
	wait_until 10 job_is "$a" R 42
	same 'after it' "$before" "$(numbers)"
}

# The fixture stands for a hook: it rejects while its file is there.
@test "release-restriction #39: a host that refuses to resume: the job stays suspended, totals as before" {
	file=$BATS_TEST_TMPDIR/no
	cluster --ncpus 4 --no-wait
	echo "veto_resume: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/veto_resume.so\";
		file = \"$file\"; text = \"not now\"; };" >"$SB/n1/etc/modules.d/veto_resume.conf"
	sandbox restart n1
	restrict ncpus
	a=$(running -l select=1:ncpus=4:mem=512mb)
	qsig -s suspend "$a"
	touch "$file"
	qsig -s resume "$a"
	wait_until 10 host_refused "$a"
	wait_until 10 has_comment "$a" '^Not Running: PBS Error: not now'
	job_is "$a" S 45
	same text '(n1:ncpus=4)' "$(job_attr "$a" resources_released)"
	same n1 '0 524288kb' "$(assigned n1 ncpus) $(assigned n1 mem)"
	node_is n1 free
	rm "$file"
	wait_until 30 runs_in_a_cycle "$a"
	same n1 '4 524288kb' "$(assigned n1 ncpus) $(assigned n1 mem)"
}
runs_in_a_cycle() { qmgr -c 'set server scheduling = true' && job_is "$1" R 42; }
host_refused() { has "$(mom_log n1)" ";Job;$1;execjob_preresume hook rejected request: not now" 2>/dev/null; }
has_comment() { has "$(job_attr "$1" comment)" "$2" 2>/dev/null; }

@test "release-restriction: an exclusive job keeps what it keeps, and needs its vnodes for itself again" {
	cluster --ncpus 4
	restrict mem
	a=$(running -l select=1:ncpus=2 -l place=excl)
	node_is n1 job-exclusive
	qsig -s suspend "$a"
	same text '(n1:ncpus=0)' "$(job_attr "$a" resources_released)"
	node_is n1 free
	b=$(running -l select=1:ncpus=1)
	qsig -s resume "$a"
	wait_until 10 has_comment "$a" '^Not Running: '
	job_is "$a" S 45
	qdel "$b"
	wait_until 20 job_is "$a" R 42
	node_is n1 job-exclusive
	same ncpus 2 "$(assigned n1 ncpus)"
}

@test "release-restriction: a vnode that went offline: the resume waits" {
	cluster --ncpus 4
	restrict ncpus
	a=$(running -l select=1:ncpus=4)
	qsig -s suspend "$a"
	pbsnodes -o n1
	qsig -s resume "$a"
	wait_until 10 has_comment "$a" '^Not Running: '
	job_is "$a" S 45
	pbsnodes -r n1
	wait_until 20 job_is "$a" R 42
}

@test "release-restriction: switched off, everything comes free, and suspended jobs keep their truth" {
	cluster --ncpus 4
	restrict ncpus
	a=$(running -l select=1:ncpus=2:mem=512mb)
	qsig -s suspend "$a"
	sandbox reload --disable release-restriction
	lacks "$(qmgr -c 'list server')" "$RESTRICT"
	lacks "$(qstat -f "$a")" 'resources_released|resource_released_list'
	same n1 '0 524288kb' "$(assigned n1 ncpus) $(assigned n1 mem)"
	b=$(running -l select=1:ncpus=2:mem=256mb)
	qsig -s suspend "$b"
	same n1 '0 524288kb' "$(assigned n1 ncpus) $(assigned n1 mem)"
	sandbox restart server --hard
	same n1 '0 524288kb' "$(assigned n1 ncpus) $(assigned n1 mem)"
	sandbox reload --enable release-restriction
	same restriction ncpus "$(qmgr -c "list server $RESTRICT" | value "$RESTRICT")"
	same text '(n1:ncpus=2)' "$(job_attr "$a" resources_released)"
	lacks "$(qstat -f "$b")" 'resources_released|resource_released_list'
	wait_until 20 host_up
	qsig -s resume "$a" "$b"
	wait_until 20 job_is "$a" R 42
	wait_until 20 job_is "$b" R 42
	same n1 '4 786432kb' "$(assigned n1 ncpus) $(assigned n1 mem)"
}
host_up() { lacks "$(node_attr n1 state)" 'down|unknown' 2>/dev/null; }

@test "release-restriction: the point suspend_release is asked at every suspension" {
	cluster --ncpus 4
	echo "suspend_release: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/suspend_release.so\"; };" \
		>"$SB/server/etc/modules.d/suspend_release.conf"
	sandbox reload
	has "$(keelson hooks suspend_release)" release-restriction
	a=$(running -l select=1:ncpus=2)
	qsig -s suspend "$a"
	has "$(server_log)" ";Fixture;$a;fixture suspend_release"
}

# Who is asked what comes free may take his time: the suspension waits, and the job may be gone by then.
@test "release-restriction: an answer that takes its time" {
	cluster --ncpus 4
	echo "ponder: { enabled = true; delay = \"2s\"; path = \"$KEELSON_BUILD/tests/fixtures/ponder.so\"; };" \
		>"$SB/server/etc/modules.d/ponder.conf"
	sandbox reload
	a=$(running -l select=1:ncpus=2:mem=100mb)
	qsig -s suspend "$a"
	job_is "$a" S 43
	same text '(n1:ncpus=2)' "$(job_attr "$a" resources_released)"
	same n1 '0 102400kb' "$(assigned n1 ncpus) $(assigned n1 mem)"
	b=$(running -l select=1:ncpus=2:mem=100mb)
	qsig -s suspend "$b" 2>"$BATS_TEST_TMPDIR/late" &
	wait_until 10 thinking
	qdel -W force "$b"
	wait $! || true
	wait_until 10 job_is "$b" F
	same n1 '0 102400kb' "$(assigned n1 ncpus) $(assigned n1 mem)"
	c=$(running -l select=1:ncpus=2:mem=100mb)
	qsig -s suspend "$c" 2>"$BATS_TEST_TMPDIR/late" &
	wait_until 10 thinking
	qdel "$c"
	wait $! || true
	wait_until 30 job_is "$c" F
	qdel -W force "$a"
	same n1 '0 0kb' "$(assigned n1 ncpus) $(assigned n1 mem)"
}
thinking() { keelson holds | grep -q 'thinking about what comes free'; }
