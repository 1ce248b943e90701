#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# mom_priv/prologue and mom_priv/epilogue: what they get, and what their exit statuses do to a job.

# needs modules/prologue
load helper
load shared

setup_file() { open_cluster --hosts 2; }
setup()
{
	join_cluster
	for host in n1 n2; do undo rm -f "$SB/$host/mom_priv/prologue" "$SB/$host/mom_priv/epilogue"; done
	said=$SB/said.$BATS_TEST_NUMBER
}

# site HOST NAME: a script of the site, from stdin.
site() { { echo '#!/bin/sh'; cat; } >"$SB/$1/mom_priv/$2"; chmod 755 "$SB/$1/mom_priv/$2"; }
said() { has "$(cat "$said")" "$1"; }
# once TEXT: the script does TEXT at its first run and succeeds later.
once() { echo "[ -e '$said.once' ] && exit 0; touch '$said.once'; $1"; }
on_n1() { submit -l select=1:ncpus=1:host=n1 "$@"; }

@test "multi-host #36: a prologue that exits 1 ends the job with -2 and is named in its stderr" {
	echo 'echo from the prologue; exit 1' | site n1 prologue
	a=$(on_n1 -o "$(here out)" -e "$(here err)" -- /bin/touch "$(here ran)")
	ends "$a"
	same Exit_status -2 "$(job_attr "$a" Exit_status)"
	same stderr "Could not run prolog: pro/epilogue failed, file: $SB/n1/mom_priv/prologue, exit: 1, nonzero p/e exit status" "$(cat "$(here err)")"
	same stdout "from the prologue" "$(cat "$(here out)")"
	[ ! -e "$(here ran)" ]
	has "$(mom_log n1)" ";0080;pbs_mom;Job;$a;running prologue\$"
}

@test "multi-host #36: a prologue that exits 2 has the job queued again, other values too" {
	for value in 2 3 255; do
		rm -f "$said.once"
		once "exit $value" | site n1 prologue
		a=$(on_n1 -- /bin/touch "$(here "ran.$value")")
		ends "$a"
		same runs 2 "$(job_attr "$a" run_count)"
		same Exit_status 0 "$(job_attr "$a" Exit_status)"
		[ -e "$(here "ran.$value")" ]
		has "$(mom_log n1)" ";0001;pbs_mom;Job;$a;pro/epilogue failed, file: .*/mom_priv/prologue, exit: $value, nonzero p/e exit status"
	done
}

@test "multi-host #36: one that takes longer than \$prologalarm is killed, and the job queued again" {
	once 'sleep 300' | site n1 prologue
	echo '$prologalarm 1' >"$SB/n1/mom_priv/config"
	undo reload_host n1
	undo rm -f "$SB/n1/mom_priv/config"
	reload_host n1
	a=$(on_n1 -- /bin/true)
	ends "$a"
	same runs 2 "$(job_attr "$a" run_count)"
	has "$(mom_log n1)" ";Job;$a;completed prologue, exit=-4\$"
}

@test "multi-host #36: what others may write is not run: Permission Error" {
	once 'exit 1' | site n1 prologue
	chmod 775 "$SB/n1/mom_priv/prologue"
	a=$(on_n1 -- /bin/true)
	refused() { has "$(mom_log n1)" ";0001;pbs_mom;Job;$a;pro/epilogue failed, file: .*/mom_priv/prologue, exit: -1, Permission Error\$"; }
	wait_until 20 refused
	[ ! -e "$said.once" ]
	rm "$SB/n1/mom_priv/prologue"
	ends "$a"
	same Exit_status 0 "$(job_attr "$a" Exit_status)"
}

@test "multi-host #36: arguments; the epilogue comes after the last process and before the output is placed" {
	echo "echo \$# \"\$@\" >>'$said'; id -u >>'$said'" | site n1 prologue
	echo "echo \$# \"\$@\" >>'$said'; pgrep -u '$OWNER' -f '^sleep 4321' >>'$said'; echo last words" | site n1 epilogue
	a=$(on_n1 -N abc -A acc1 -l walltime=60 -o "$(here out)" -- /bin/sh -c 'setsid sleep 4321 & echo mine; exit 4')
	ends "$a"
	group=$(id -gn "$OWNER")
	said "^3 $a $OWNER $group\$"
	said "^$EUID\$"
	said "^10 $a $OWNER $group abc [0-9]+ .*walltime=00:01:00.* .*walltime=.* workq acc1 4\$"
	said "^10 $a $OWNER $group abc $(job_attr "$a" session_id) "
	same lines 3 "$(wc -l <"$said")"
	same output 'mine last words' "$(xargs <"$(here out)")"
	same Exit_status 4 "$(job_attr "$a" Exit_status)"
	has "$(mom_log n1)" ";0080;pbs_mom;Job;$a;running epilogue\$"
}

@test "multi-host #36: what the epilogue exits with is logged, and the job ends as it did" {
	echo 'exit 2' | site n1 epilogue
	a=$(on_n1 -- /bin/sh -c 'exit 3')
	ends "$a"
	same Exit_status 3 "$(job_attr "$a" Exit_status)"
	same runs 1 "$(job_attr "$a" run_count)"
	has "$(mom_log n1)" ";0001;pbs_mom;Job;$a;pro/epilogue failed, file: .*/mom_priv/epilogue, exit: 2, nonzero p/e exit status"
}

@test "multi-host #36: the epilogue runs once every host of the job has ended, and gets to know what all have used" {
	needs_module sisters
	needs_module task-manager
	echo "echo \"\$7\" >>'$said'; pgrep -u '$OWNER' -f '[s]leep 4322' >>'$said'" | site n1 epilogue
	a=$(shell "$KEELSON_BUILD/bin/pbsdsh -o -- /bin/sh -c 'exec setsid /bin/sleep 4322'
		until [ \$(pgrep -f '^/bin/sleep 4322' | wc -l) = 2 ]; do sleep .1; done" -l select=2:ncpus=1 -l place=scatter)
	ends "$a"
	said '^cpupercent=[0-9]+,cput=00:00:0[0-9],mem=[0-9]+kb,ncpus=2,vmem=[0-9]+kb,walltime=00:00:0[0-9]$'
	same lines 1 "$(wc -l <"$said")"
}
