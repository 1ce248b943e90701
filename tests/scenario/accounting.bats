#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Accounting: which records are written, and what is in them.

load helper
load shared

records() { accounting | grep -F ";$1;"; }
letters() { records "$1" | cut -d';' -f2 | xargs | tr -d ' '; }
record() { records "$2" | grep -E "^[^;]*;$1;"; } # letter, job
item() { sed -n "s/.*[ ;]$1=\([^ ]*\).*/\1/p"; }
has_letters() { same "records of $1" "$2" "$(letters "$1")"; }

@test "accounting: a day file that others may read" {
	submit -h
	file=$SB/server/server_priv/accounting/$(date +%Y%m%d)
	same mode 644 "$(stat -c %a "$file")"
	same folder 755 "$(stat -c %a "$(dirname "$file")")"
}

@test "accounting: every line has four parts, every item an equal sign" {
	finished -N plain -A 'two words' -- /bin/true
	accounting | while read -r line; do
		[[ $line =~ ^[0-9]{2}/[0-9]{2}/[0-9]{4}\ [0-9]{2}:[0-9]{2}:[0-9]{2}\;[A-Za-z]\;[^\;]+\;[^\;]*$ ]] ||
			{ echo "$line" >&2; exit 1; }
	done
}

@test "accounting: queued, started, ended" {
	id=$(finished -N acct -A charge -l select=2:ncpus=1:mem=10mb -l walltime=1:00 -- /bin/sh -c 'exit 3')
	has_letters "$id" QSE
	queued=$(record Q "$id") ended=$(record E "$id")
	general="user=$OWNER group=$(id -gn "$OWNER") account=\"charge\" project=_pbs_project_default \
jobname=acct queue=workq ctime=[0-9]+ qtime=[0-9]+ etime=[0-9]+"
	resources="Resource_List.mem=20mb Resource_List.ncpus=2 Resource_List.nodect=2 Resource_List.place=free \
Resource_List.select=2:ncpus=1:mem=10mb Resource_List.walltime=00:01:00"
	has "$queued" ";Q;$id;$general $resources \$"
	has "$(record S "$id")" ";S;$id;$general start=[0-9]+ exec_host=n1/0\\+n1/1 \
exec_vnode=\\(n1:ncpus=1:mem=10240kb\\)\\+\\(n1:ncpus=1:mem=10240kb\\) $resources \
resource_assigned.mem=20480kb resource_assigned.ncpus=2 \$"
	has "$ended" ";E;$id;$general start=[0-9]+ exec_host=.* $resources session=[0-9]+ end=[0-9]+ Exit_status=3 \
resources_used.cpupercent=[0-9]+ resources_used.cput=[0-9:]{8} resources_used.mem=[0-9]+kb \
resources_used.ncpus=2 resources_used.vmem=[0-9]+kb resources_used.walltime=[0-9:]{8} run_count=1\$"
}

@test "accounting: times are ordered" {
	ended=$(record E "$(finished -- /bin/true)")
	[ "$(item ctime <<<"$ended")" -le "$(item start <<<"$ended")" ]
	[ "$(item start <<<"$ended")" -le "$(item end <<<"$ended")" ]
}

@test "accounting: held jobs have no etime" {
	id=$(submit -h)
	same etime 0 "$(record Q "$id" | item etime)"
}

@test "accounting: deleted while queued" {
	id=$(submit -h)
	as "$OWNER" qdel "$id"
	has_letters "$id" QD
	has "$(record D "$id")" ";D;$id;requestor=$OWNER@$(hostname)\$"
}

@test "accounting: deleted while running" {
	id=$(running)
	as "$OWNER" qdel "$id"
	ends "$id"
	has_letters "$id" QSDE
	same status 271 "$(record E "$id" | item Exit_status)"
}

@test "accounting: deleted by force" {
	id=$(running)
	qdel -W force "$id"
	ends "$id"
	has_letters "$id" QSDE
	same status 265 "$(record E "$id" | item Exit_status)"
}

@test "accounting: run again" {
	id=$(running)
	qrerun "$id"
	wait_until 20 job_is "$id" R 42
	has_letters "$id" QSRS
	same status -11 "$(record R "$id" | item Exit_status)"
	same runs 1 "$(record R "$id" | item run_count)"
	as "$OWNER" qsig "$id"
	ends "$id"
	same runs 2 "$(record E "$id" | item run_count)"
}

@test "accounting: suspended and resumed" {
	id=$(running)
	qsig -s suspend "$id"
	qsig -s resume "$id"
	wait_until 20 job_is "$id" R 42
	has "$(letters "$id")" '^QSzr$'
	has "$(record r "$id")" ";r;$id;\$"
}

@test "accounting: altered" {
	id=$(submit -h)
	as "$OWNER" qalter -l walltime=5 -p 3 "$id"
	found=$(records "$id" | grep ';a;')
	has "$found" 'Resource_List.walltime=00:00:05'
	has "$found" 'Priority=3'
}

@test "accounting: a project with blanks is quoted" {
	id=$(submit -h -P 'my project')
	has "$(record Q "$id")" ' project="my project" '
}

@test "accounting: a job that names a program that is not there" {
	id=$(finished -- /no/such/program)
	same status 254 "$(record E "$id" | item Exit_status)"
}
