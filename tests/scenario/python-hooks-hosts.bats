#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# python-hooks-hosts.bats - hooks on their way to hosts, hosts that were away meanwhile, and what runs on a host without a job.
# needs modules/python-hooks

load helper
load shared

setup_file() { open_cluster --hosts 2 --set log.events=4095; }

# write NAME: the script on stdin becomes that hook's.
write()
{
	cat >"$SB/$1.py"
	qmgr -c "import hook $1 application/x-python default $SB/$1.py"
}

# hook NAME ATTRIBUTES: its script is stdin; it goes with the story.
hook()
{
	qmgr -c "create hook $1 $2"
	undo gone "$1"
	write "$1"
}

# gone NAME: it is deleted, here and on all hosts.
gone() { qmgr -c "delete hook $1" && wait_until 60 is_gone "$1"; }
is_gone() { [[ $(qmgr -c 'list hook' 2>&1) != *"Hook $1"$'\n'* ]] && [ -z "$(find "$SB"/n?/mom_priv/hooks -name "$1.*")" ]; }

# there HOST HOOK: that host has the script as the server has it. attributes HOST HOOK LINE
there() { cmp -s "$SB/$1/mom_priv/hooks/$2.PY" "$SB/$2.py"; }
attributes() { grep -qx "$3" "$SB/$1/mom_priv/hooks/$2.HK"; }
sent() { log_has ";successfully sent hook file .*/$2 to $1\$" 2>/dev/null; }
mom_said() { a_line_matches "$(mom_log "$1")" "$2"; }
lines() { grep -c -- "$2" <<<"$(mom_log "$1")" || true; }
runs_on() { running -l select=1:vnode="$1"; }

@test "python-hooks #33: a host that has not taken a hook gets no job; later it runs, with the hook" {
	wait_until 20 node_is n1 free
	mom=$(mom_of n1)
	undo kill -CONT "$mom"
	kill -STOP "$mom"
	hook h33 event=execjob_begin <<-'EOS'
		import pbs
		pbs.logmsg(pbs.LOG_DEBUG, "h33 saw " + pbs.event().job.id)
	EOS
	wait_until 60 sent n2 h33.PY
	a=$(submit -l select=1:vnode=n1)
	wait_until 20 comment_says "$a" 'pending copy hook or delete hook request'
	log_has ";vnode n1's parent mom n1:[0-9]+ has a pending copy hook or delete hook request\$"
	log_has "15167"
	b=$(runs_on n2)
	kill -CONT "$mom"
	wait_until 60 job_is "$a" R 42
	sent n1 h33.HK
	sent n1 h33.PY
	wait_until 20 mom_said n1 "h33 saw $a"
	mom_said n1 ';h33.PY;copy hook-related file request received$'
	there n1 h33
	same mode 600 "$(stat -c %a "$SB/n1/mom_priv/hooks/h33.PY")"
}

@test "python-hooks #33: a host that was away gets what was changed, and loses what was deleted" {
	hook kept event=execjob_begin <<<'import pbs'
	hook away event=execjob_begin <<<'import pbs'
	wait_until 60 sent n2 away.PY
	wait_until 60 sent n2 kept.PY
	kill_mom n2
	qmgr -c 'delete hook away'
	qmgr -c 'set hook kept alarm = 7'
	write kept <<<'import sys'
	wait_until 60 attributes n1 kept alarm=7
	text="qmgr obj=away svr=default: hook name 'away' is pending delete, try another name
qmgr: hook error returned from server"
	says 32 "$text" qmgr -c 'create hook away'
	sandbox restart n2
	wait_until 60 there n2 kept
	wait_until 60 attributes n2 kept alarm=7
	wait_until 60 log_has ';successfully deleted hook file away.PY from n2$'
	log_has ';hook script mismatched checksums: kept.PY of n2'
	wait_until 60 is_gone away
	qmgr -c 'create hook away' # the name is free again, and the undo has something to delete
}

@test "python-hooks: server and hosts that were killed have the same hooks, and send none again" {
	hook again event=execjob_begin,alarm=9 <<-'EOS'
		import pbs
		pbs.logmsg(pbs.LOG_DEBUG, "again saw " + pbs.event().job.id)
	EOS
	for host in n1 n2; do wait_until 60 sent $host again.PY; done
	before=$(lines server 'sent hook file .*again')
	for daemon in n1 server n2; do sandbox restart $daemon --hard; done
	wait_until 60 answers
	for host in n1 n2; do
		a=$(runs_on $host)
		wait_until 20 mom_said $host "again saw $a"
	done
	has "$(qmgr -c 'list hook again')" '^    alarm = 9$'
	same 'files sent' "$before" "$(lines server 'sent hook file .*again')"
}

# A file is there whole, as it was or as it is to be.
@test "python-hooks: a host that is killed while it takes a file has it whole afterwards" {
	hook long event=execjob_begin <<<'import pbs'
	wait_until 60 there n1 long
	for round in 1 2 3 4; do
		{ echo "import pbs # $round"; for ((i = 0; i < 6000; i++)); do echo "# $i $round ....................................................................................."; done; } >"$SB/long.py"
		qmgr -c "import hook long application/x-python default $SB/long.py"
		nap "0.00$((round * 2))"
		sandbox restart n1 --hard
		wait_until 60 there n1 long
	done
	same 'left behind' '' "$(find "$SB/n1/mom_priv/hooks" -name '.new-*')"
	runs_on n1
}

@test "python-hooks #27: a script of one host may not change a vnode of another" {
	hook h27 event=exechost_periodic,freq=3 <<-'EOS'
		import pbs
		e = pbs.event()
		me = pbs.get_local_nodename()
		if me == "n1":
		    e.vnode_list[me].comment = "by h27"
		    e.vnode_list["n2"] = pbs.vnode("n2")
		    e.vnode_list["n2"].comment = "by h27 of n1"
	EOS
	wait_until 60 log_has ";Not allowed to update vnode 'n2', as it is owned by a different mom\$"
	has "$(node_attr n1 comment)" '^by h27$'
	lacks "$(node_attr n2 comment)" h27
	undo qmgr -c 'unset node n1 comment'
	begun=$(lines n1 ';h27;started')
	more() { [ "$(lines n1 ';h27;started')" -gt "$begun" ]; }
	wait_until 60 more # it runs again
}

@test "python-hooks: exechost_periodic sees the vnodes and jobs of its host" {
	a=$(runs_on n1)
	hook seen event=exechost_periodic,freq=2 <<-'EOS'
		import pbs
		e = pbs.event()
		j = e.job_list
		pbs.logmsg(pbs.LOG_DEBUG, "seen %s ncpus=%s jobs %s" % (",".join(e.vnode_list.keys()),
		           e.vnode_list[pbs.get_local_nodename()].resources_available["ncpus"], ",".join(sorted(j.keys()))))
	EOS
	wait_until 60 mom_said n1 "seen n1 ncpus=[0-9]+ jobs $a\$"
	wait_until 60 mom_said n2 "seen n2 ncpus=[0-9]+ jobs \$"
}

@test "python-hooks: exechost_periodic deletes, requeues and changes jobs of its host" {
	a=$(runs_on n1)
	b=$(runs_on n1)
	c=$(runs_on n1)
	qmgr -c 'set server scheduling = false'
	undo qmgr -c 'set server scheduling = true'
	hook acts event=exechost_periodic,freq=300 <<-EOS
		import pbs
		j = pbs.event().job_list
		if "$a" in j:
		    j["$a"].delete()
		    j["$b"].rerun()
		    j["$c"].Priority = 7
	EOS
	wait_until 60 job_is "$a" F 91
	wait_until 60 job_is "$b" Q
	same priority 7 "$(job_attr "$c" Priority)"
	job_is "$c" R 42
	has "$(server_log)" ";0008;[^;]*;Job;$a;hook request delete $a\$"
	has "$(server_log)" ";0008;[^;]*;Job;$b;hook request rerun $b\$"
}

@test "python-hooks #28: a start-up script that fails takes its host's vnodes offline, the next one that does not frees them" {
	hook h28 'event=exechost_startup,fail_action="offline_vnodes,clear_vnodes_upon_recovery"' <<<'1/0'
	wait_until 60 sent n1 h28.PY
	undo pbsnodes -r n1
	sandbox restart n1
	wait_until 60 node_is n1 offline
	has "$(node_attr n1 comment)" "^offlined by hook 'h28' due to hook error\$"
	has "$(pbsnodes -l)" "^n1 .*offlined by hook 'h28'"
	node_is n2 free
	write h28 <<<'import pbs'
	wait_until 60 there n1 h28
	sandbox restart n1
	wait_until 60 node_is n1 free
	same comment '' "$(node_attr n1 comment)"
}

@test "python-hooks: a start-up script runs at SIGHUP" {
	hook hup event=exechost_startup <<-'EOS'
		import pbs
		pbs.logmsg(pbs.LOG_DEBUG, "hup runs")
	EOS
	wait_until 60 there n1 hup
	same 'runs before' 0 "$(lines n1 'hup runs')"
	kill -HUP "$(mom_of n1)"
	wait_until 60 mom_said n1 'hup runs$'
}

@test "python-hooks: a start-up script adds a vnode, with what it has" {
	undo qmgr -c 'delete node n1[0]'
	hook adds event=exechost_startup <<-'EOS'
		import pbs
		e = pbs.event()
		if pbs.get_local_nodename() == "n1":
		    e.vnode_list["n1[0]"] = pbs.vnode("n1[0]")
		    e.vnode_list["n1[0]"].resources_available["ncpus"] = 2
		    e.vnode_list["n1[0]"].comment = "added"
	EOS
	wait_until 60 there n1 adds
	reload_host n1
	added() { same comment added "$(node_attr 'n1[0]' comment)"; }
	wait_until 60 added
	same ncpus 2 "$(node_attr 'n1[0]' resources_available.ncpus)"
}

@test "tolerate-node-failures #21: a start waits for as long as the hooks of its hosts may take" {
	needs_module tolerate-node-failures
	needs_module sisters
	hook b21 event=execjob_begin,alarm=17 <<<'import pbs'
	hook c21 event=execjob_begin,alarm=15 <<<'import pbs'
	wait_until 60 there n1 c21
	mom_said n1 'joinjob_alarm_time updated to 32$'
	wait_until 60 there n2 c21
	a=$(submit -W tolerate_node_failures=job_start -l select=2:ncpus=1 -l place=scatter)
	wait_until 60 job_is "$a" R 42
	a_line_matches "$(cat "$SB"/n?/mom_logs/*)" "$a;job waiting up to 32 secs \(\\\$sister_join_job_alarm\) for all sister moms to join"
}

@test "python-hooks: a host with \$reject_root_scripts takes no hooks of root, and its jobs start without" {
	echo '$reject_root_scripts true' >>"$SB/n2/mom_priv/config"
	undo reload_host n2
	undo rm "$SB/n2/mom_priv/config"
	reload_host n2
	hook rooted event=execjob_begin <<<'import pbs'
	wait_until 60 sent n1 rooted.PY
	wait_until 60 log_has ';n2 refuses hook file rooted.PY: mom not accepting remote hook files or root job scripts$'
	mom_said n2 ';rooted.HK;refused: mom not accepting remote hook files'
	runs_on n2
}
