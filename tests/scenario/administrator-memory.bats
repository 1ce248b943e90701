#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# $enforce of mom_priv/config: jobs that use more of a host than they asked for.

# needs modules/host-limits
load helper
load mail
load shared

setup_file()
{
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR post_office
	export POST MAILER
	open_cluster --hosts 2 --set executor.usage_interval=1s --set executor.kill_delay=1s --set host-limits.burst_window=1s --set host-limits.cgroup=false --set mail.sendmail="$MAILER"
}
setup()
{
	join_cluster
	[ -d "$top/modules/mom-config" ] || skip 'there is no modules/mom-config'
	for host in n1 n2; do undo reload_host "$host"; undo rm -f "$SB/$host/mom_priv/config"; done
	grab=$KEELSON_BUILD/tests/scenario/tools/grab
}

enforces() { local host=$1; shift; printf "\$enforce %s\n" "$@" >"$SB/$host/mom_priv/config"; reload_host "$host"; }
here() { echo "$(desk "$OWNER")/$1"; }
grabbed() { grep -q grabbed "$(here "$1")"; }
none_is() { ! pgrep -f "^$*\$"; }
# over JOB STATUS RESOURCE WORDS FILE: it was ended by its limit, and everything says so, with how much
over()
{
	wait_until 30 is_over "$1"
	same status "$2" "$(job_attr "$1" Exit_status)"
	comment_says "$1" " and exceeded resource $3 \\($4\\)\$"
	has "$(cat "$(here "$5")")" "^=>> PBS: job killed: $4\$"
}

@test "administrator #21: \$enforce mem: who has more than was asked for is ended, and it is said how much of how much" {
	local id
	enforces n1 mem
	id=$(submit -m a -l select=1:ncpus=1:mem=40mb:host=n1 -o "$(here out)" -e "$(here err)" -- "$grab" 100)
	over "$id" -27 mem 'mem 1[0-9]{5}kb exceeded limit 40960kb' err
	wait_until 10 none_is "$grab" 100
	mom_log n1 | grep -E ";Job;$id;mem 1[0-9]{5}kb exceeded limit 40960kb\$"
	needs_module mail
	wait_until 30 mails_are 1 "$id" 'Job exceeded resource mem'
	has "$(cat "$(mails "$id" 'Job exceeded resource mem')")" '^mem 1[0-9]{5}kb exceeded limit 40960kb$'
}

@test "administrator #21: nothing is enforced by default; a reload puts it in force, for what runs too, and off again" {
	local id
	id=$(running -l select=1:ncpus=1:mem=40mb:host=n1 -o "$(here out)" -e "$(here err)" -k oed -- "$grab" 101)
	wait_until 20 grabbed out
	wait_until 20 used_mem_is_over "$id" 100000
	job_is "$id" R
	enforces n1 mem '!mem'
	job_is "$id" R
	enforces n1 mem
	over "$id" -27 mem 'mem 1[0-9]{5}kb exceeded limit 40960kb' err
}
used_mem_is_over() { local kb; kb=$(job_attr "$1" resources_used.mem); [ "${kb%kb}" -gt "$2" ]; }

@test "administrator #21: \$enforce complexmem: what processes share counts once" {
	local shares alone
	enforces n1 complexmem
	shares=$(running -l select=1:ncpus=1:mem=150mb:host=n1 -o "$(here out)" -e "$(here err)" -k oed -- "$grab" 102 3)
	wait_until 20 grabbed out
	wait_until 20 used_mem_is_over "$shares" 200000
	alone=$(submit -l select=1:ncpus=1:mem=50mb:host=n1 -o "$(here out2)" -e "$(here err2)" -- "$grab" 103)
	over "$alone" -27 mem 'mem 1[0-9]{5}kb exceeded limit 51200kb' err2
	job_is "$shares" R
	enforces n1 mem
	over "$shares" -27 mem 'mem [0-9]{6}kb exceeded limit 153600kb' err
}

@test "administrator #21: a job over two hosts has its share of each; the other host ends the whole job, and says why" {
	local id
	needs_module sisters
	needs_module task-manager
	enforces n1 mem
	enforces n2 mem
	id=$(submit -l select=1:ncpus=1:mem=1gb:host=n1+1:ncpus=1:mem=40mb:host=n2 -o "$(here out)" -e "$(here err)" \
		-- /bin/sh -c "$KEELSON_BUILD/bin/pbsdsh -n 1 -- $grab 104; sleep 1000")
	over "$id" -27 mem 'mem 1[0-9]{5}kb exceeded limit 40960kb on n2' err
	wait_until 10 none_is "$grab" 104
	mom_log n2 | grep -E ";Job;$id;mem 1[0-9]{5}kb exceeded limit 40960kb\$"
}

@test "administrator #21: a job that is suspended is judged when it goes on; the host's daemon may have been killed meanwhile" {
	local id
	id=$(running -l select=1:ncpus=1:mem=40mb:host=n1 -o "$(here out)" -e "$(here err)" -k oed -- "$grab" 105)
	wait_until 20 grabbed out
	qsig -s suspend "$id"
	job_is "$id" S
	printf '$enforce mem\n' >"$SB/n1/mom_priv/config"
	kill_mom n1
	sandbox restart n1
	wait_until 20 used_mem_is_over "$id" 100000
	job_is "$id" S
	qsig -s resume "$id"
	over "$id" -27 mem 'mem 1[0-9]{5}kb exceeded limit 40960kb' err
}

@test "administrator #21: \$enforce cpuburst and cpuaverage: more processors than ncpus" {
	local burst average
	enforces n1 cpuburst 'delta_percent_over 0' 'delta_cpufactor 0.2' 'delta_weightup 1'
	enforces n2 cpuaverage 'average_trialperiod 1' 'average_percent_over 0' 'average_cpufactor 0.2'
	burst=$(submit -l select=1:ncpus=1:host=n1 -o "$(here out)" -e "$(here err)" -- /bin/sh -c "$grab -c & $grab -c & $grab -c & wait")
	average=$(submit -l select=1:ncpus=1:host=n2 -o "$(here out2)" -e "$(here err2)" -- "$grab" -c)
	over "$average" -25 ncpus 'ncpus [0-9]+\.[0-9] exceeded limit 1 \(sum\)' err2
	over "$burst" -24 ncpus 'ncpus [0-9]+\.[0-9] exceeded limit 1 \(burst\)' err
}

@test "administrator #21: a wrong line of \$enforce is refused with what may stand there" {
	printf '$enforce mem 3\n' >"$SB/n1/mom_priv/config"
	run reload_host n1
	[ "$status" -ne 0 ]
	mom_log n1 | grep -F 'refused: pbs_mom: config file(s) parsing failed: mom_priv/config line 1: behind mem stands nothing'
	printf '$enforce delta_weightup 1.5\n' >"$SB/n1/mom_priv/config"
	run reload_host n1
	[ "$status" -ne 0 ]
	mom_log n1 | grep -F 'line 1: delta_weightup: "1.5" is no number from 0 to 1'
	printf '$enforce vmem\n' >"$SB/n1/mom_priv/config"
	run reload_host n1
	[ "$status" -ne 0 ]
	mom_log n1 | grep -F '"vmem" is neither mem, complexmem, cpuaverage nor cpuburst'
}
