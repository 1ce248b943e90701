#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# restrict_res_to_release_on_suspend: a suspended job gives back what the administrator named, and keeps
# the rest. One host of 4 cpus and 2gb; each story begins without a restriction and without jobs.
#
# #48 is in python-hooks-others.bats.
#
# needs modules/release-restriction

load helper
load shared

RESTRICT=restrict_res_to_release_on_suspend
A=(-l select=1:ncpus=4:mem=512mb)

setup_file()
{
	open_cluster --hosts 1 --ncpus 4
	qmgr -c 'set node n1 resources_available.mem = 2gb'
	qmgr -c 'create resource lic type=long,flag=nh'
	qmgr -c 'create resource srvlic type=long,flag=q'
	qmgr -c 'create resource quelic type=long,flag=q'
	qmgr -c 'set node n1 resources_available.lic = 10'
	qmgr -c 'set server resources_available.srvlic = 100'
	qmgr -c 'set queue workq resources_available.quelic = 100'
	qmgr -c 'set server restrict_res_to_release_on_suspend = ncpus' # the later ones begin from unset
	qmgr -c 'unset server restrict_res_to_release_on_suspend'
}

restrict()
{
	undo qmgr -c "unset server $RESTRICT"
	qmgr -c "set server $RESTRICT = '$1'"
}
restriction() { qmgr -c "list server $RESTRICT" | value "$RESTRICT"; }

# assigned NAME: of vnode n1; in_server, in_queue NAME
assigned() { node_attr "${2-n1}" "resources_assigned.$1"; }
in_server() { qstat -Bf | value "resources_assigned.$1"; }
in_queue() { qstat -Qf "${2-workq}" | value "resources_assigned.$1"; }

# ra NCPUS MEM: what of n1 is assigned
ra()
{
	same 'ncpus of n1' "$1" "$(assigned ncpus)" && same 'mem of n1' "$2" "$(assigned mem)"
}

# released JOB TEXT [name=amount ...]: both attributes, nothing else in the list
released()
{
	local id=$1 text=$2
	shift 2
	same resources_released "$text" "$(job_attr "$id" resources_released)" &&
		same resource_released_list "$*" "$(released_list "$id")"
}
released_list()
{
	qstat -xf "$1" | sed -n 's/^ *resource_released_list\.\(.*\) = \(.*\)/\1=\2/p' | paste -sd' '
}
not_released() { lacks "$(qstat -xf "$1")" 'release'; }

zero() { [ -z "${1//[0.kmgb]/}" ]; }
# Nothing is left assigned anywhere.
nothing_assigned()
{
	local line
	{ pbsnodes -v n1; qstat -Bf; qstat -Qf; } | sed -n 's/.*resources_assigned\.//p' >"$BATS_TEST_TMPDIR/assigned"
	while read -r line; do
		zero "${line#* = }" || { echo "still assigned: $line" >&2; return 1; }
	done <"$BATS_TEST_TMPDIR/assigned"
}

records() { accounting | grep -E "^[^;]*;$1;$2;" | cut -d';' -f4-; } # LETTER JOB

@test "release-restriction #1: without a restriction a suspended job gives back everything" {
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	job_is "$a" S 43
	ra 0 0kb
	not_released "$a"
}

@test "release-restriction #3: ncpus alone comes free, memory stays with the job" {
	restrict ncpus
	a=$(running "${A[@]}")
	quietly qsig -s suspend "$a"
	job_is "$a" S 43
	ra 0 524288kb
	released "$a" '(n1:ncpus=4)' ncpus=4
	same 'mem of the server' 512mb "$(in_server mem)"
	same 'ncpus of the server' 0 "$(in_server ncpus)"
	same 'ncpus of the queue' 0 "$(in_queue ncpus)"
	same 'nodect of the queue' 1 "$(in_queue nodect)"
}

@test "release-restriction #4: resuming brings the old amounts back" {
	restrict ncpus
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	quietly qsig -s resume "$a"
	wait_until 10 job_is "$a" R 42
	ra 4 524288kb
	not_released "$a"
	has "$(job_attr "$a" comment)" '^Job run at '
	node_is n1 job-busy
}

@test "release-restriction #6: a list of two, in either order" {
	for names in ncpus,mem mem,ncpus; do
		restrict "$names"
		a=$(running "${A[@]}")
		qsig -s suspend "$a"
		released "$a" '(n1:ncpus=4:mem=524288kb)' mem=524288kb ncpus=4
		ra 0 0kb
		qdel -W force "$a"
	done
}

@test "release-restriction #7: nothing of it is used: nothing comes free but the slots" {
	restrict mem
	a=$(running -l select=1:ncpus=4)
	node_is n1 job-busy
	qsig -s suspend "$a"
	released "$a" '(n1:ncpus=0)' ncpus=0
	same 'ncpus of n1' 4 "$(assigned ncpus)"
	node_is n1 free
	lacks "$(pbsnodes -v n1)" '^ *jobs ='
}

@test "release-restriction #8: an unknown name refuses the whole list" {
	restrict mem
	says 187 "qmgr obj= svr=default: Unknown resource
qmgr: Error (15035) returned from server" qmgr -c "s s $RESTRICT = 'ncpus,abcd'"
	same restriction mem "$(restriction)"
}

@test "release-restriction #9: an operator cannot set it" {
	needs_root
	says 155 "qmgr obj= svr=default: Cannot set attribute, read only or insufficient permission  $RESTRICT
qmgr: Error (15003) returned from server" as "$OPERATOR" qmgr -c "s s $RESTRICT = ncpus"
	same restriction '' "$(restriction)"
}

@test "release-restriction #10: a user cannot set it, but reads it" {
	needs_root
	says 159 "qmgr obj= svr=default: Unauthorized Request 
qmgr: Error (15007) returned from server" as "$OTHER" qmgr -c "s s $RESTRICT = ncpus"
	restrict ncpus
	says 0 "Server svr
    $RESTRICT = ncpus" as "$OTHER" qmgr -c "l s $RESTRICT"
	has "$(as "$OTHER" qstat -Bf)" "^    $RESTRICT = ncpus\$"
}

@test "release-restriction #11: names are added and taken away" {
	restrict ncpus
	quietly qmgr -c "s s $RESTRICT += mem"
	same restriction ncpus,mem "$(restriction)"
	has "$(qmgr -c 'p s')" "^set server $RESTRICT = ncpus\$"
	has "$(qmgr -c 'p s')" "^set server $RESTRICT \+= mem\$"
	quietly qmgr -c "s s $RESTRICT += 'lic, ncpus'"
	same restriction ncpus,mem,lic,ncpus "$(restriction)"
	quietly qmgr -c "s s $RESTRICT -= ncpus"
	same restriction mem,lic "$(restriction)"
	quietly qmgr -c "unset server $RESTRICT"
	says 0 'Server svr' qmgr -c "l s $RESTRICT"
	lacks "$(qmgr -c 'p s')" "$RESTRICT"
	has "$(server_log)" ";0004;.*;Svr;svr;attributes set: $RESTRICT = ncpus\$"
	has "$(server_log)" ";0004;.*;Svr;svr;attributes set: $RESTRICT \+ mem\$"
	has "$(server_log)" ";0004;.*;Svr;svr;attributes set: $RESTRICT - ncpus\$"
	has "$(server_log)" ";0004;.*;Svr;svr;attributes unset: $RESTRICT = \$"
}

@test "release-restriction #11: names may be written in any case" {
	restrict NCPUS
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	released "$a" '(n1:ncpus=4)' ncpus=4
	ra 0 524288kb
	qmgr -c "s s $RESTRICT -= nCPUs"
	same restriction '' "$(restriction)"
}

@test "release-restriction #12: whoever sees the job sees what it released" {
	needs_root
	restrict ncpus
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	for user in "$OWNER" "$OTHER" "$OPERATOR" "$MANAGER"; do
		found=$(as "$user" qstat -f "$a")
		same "as $user" '(n1:ncpus=4)' "$(value resources_released <<<"$found")"
		same "as $user" 4 "$(value resource_released_list.ncpus <<<"$found")"
	done
	undo qmgr -c 'set server query_other_jobs = True'
	qmgr -c 'set server query_other_jobs = False'
	got=0
	found=$(as "$OTHER" qstat -f "$a" 2>&1) || got=$?
	lacks "$found" 'Job Id|released'
	has "$(as "$OWNER" qstat -f "$a")" resources_released
}

@test "release-restriction #13: nobody sets the attributes of a job" {
	restrict ncpus
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	for name in resources_released resource_released_list; do
		says 155 "qalter: Cannot set attribute, read only or insufficient permission  $name $a" \
			qalter -W "$name=9" "$a"
	done
	released "$a" '(n1:ncpus=4)' ncpus=4
}

@test "release-restriction #14: the z record says what came free" {
	restrict ncpus
	a=$(unmeasured suspend "${A[@]}")
	has "$(records z "$a")" '^resources_used\..* resources_released=\(n1:ncpus=4\)$'
	qdel -W force "$a"
	a=$(running "${A[@]}")
	wait_until 30 has_usage "$a"
	qsig -s suspend "$a"
	has "$(records z "$a")" '^resources_used\..* resources_released=\(n1:ncpus=4\)$'
	qdel -W force "$a"
	lacks "$(records '[ERD]' "$a")" released
}

@test "release-restriction #15: without a restriction z has the usage alone" {
	a=$(unmeasured suspend "${A[@]}")
	has "$(records z "$a")" '^resources_used\.'
	qsig -s resume "$a"
	wait_until 10 job_is "$a" R 42
	has "$(accounting)" ";r;$a;\$"
	wait_until 30 has_usage "$a"
	qsig -s suspend "$a"
	has "$(records z "$a")" '^resources_used\.'
	lacks "$(records z "$a")" released
}

@test "release-restriction #16: the r record is empty" {
	restrict ncpus
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	qsig -s resume "$a"
	wait_until 10 job_is "$a" R 42
	has "$(accounting)" ";r;$a;\$"
}

@test "release-restriction #17: a resource of the list is not deleted" {
	qmgr -c 'create resource res1 type=long,flag=q'
	restrict ncpus,res1
	says 70 "qmgr obj=res1 svr=default: Resource busy on server
qmgr: Error (15174) returned from server" qmgr -c 'delete resource res1'
	quietly qmgr -c "s s $RESTRICT -= res1"
	quietly qmgr -c 'delete resource res1'
}

@test "release-restriction #17: what else is wrong is said first: unknown, built in, busy on a job" {
	restrict ncpus,srvlic
	says 187 "qmgr obj=res9 svr=default: Unknown resource
qmgr: Error (15035) returned from server" qmgr -c 'delete resource res9'
	got=0
	found=$(qmgr -c 'delete resource ncpus' 2>&1) || got=$?
	has "$found" '^qmgr: Error \(15004\)'
	submit -h -l select=1:ncpus=1 -l srvlic=1
	says 70 "qmgr obj=srvlic svr=default: Resource busy on job
qmgr: Error (15174) returned from server" qmgr -c 'delete resource srvlic'
}

@test "release-restriction #18: a resource of the server comes free when it is listed" {
	restrict ncpus
	a=$(running -l select=1:ncpus=4 -l srvlic=30)
	qsig -s suspend "$a"
	same srvlic 30 "$(in_server srvlic)"
	qdel -W force "$a"
	restrict srvlic
	a=$(running -l select=1:ncpus=4 -l srvlic=30)
	qsig -s suspend "$a"
	same srvlic 0 "$(in_server srvlic)"
	same list 30 "$(job_attr "$a" resource_released_list.srvlic)"
	same text '(n1:ncpus=0)' "$(job_attr "$a" resources_released)"
	same 'ncpus of the server' 4 "$(in_server ncpus)"
}

@test "release-restriction #19: a resource of the queue likewise" {
	restrict ncpus
	a=$(running -l select=1:ncpus=4 -l quelic=10)
	qsig -s suspend "$a"
	same quelic 10 "$(in_queue quelic)"
	qdel -W force "$a"
	restrict quelic
	a=$(running -l select=1:ncpus=4 -l quelic=10)
	qsig -s suspend "$a"
	same quelic 0 "$(in_queue quelic)"
	same list 10 "$(job_attr "$a" resource_released_list.quelic)"
}

@test "release-restriction #21: the list changes while the job is suspended: exactly the old amounts come back" {
	restrict ncpus
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	qmgr -c "s s $RESTRICT = mem"
	released "$a" '(n1:ncpus=4)' ncpus=4
	qsig -s resume "$a"
	wait_until 10 job_is "$a" R 42
	ra 4 524288kb
	same 'mem of the server' 512mb "$(in_server mem)"
	qsig -s suspend "$a" # each suspension asks anew
	released "$a" '(n1:mem=524288kb)' mem=524288kb
	ra 4 0kb
}

@test "release-restriction #21: set while the job is suspended without a list: everything comes back" {
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	restrict mem
	not_released "$a"
	qsig -s resume "$a"
	wait_until 10 job_is "$a" R 42
	ra 4 524288kb
}

@test "release-restriction #22: unset while suspended, then a restart: the job keeps its truth" {
	restrict ncpus
	a=$(running "${A[@]}")
	comment=$(job_attr "$a" comment)
	qsig -s suspend "$a"
	qmgr -c "unset server $RESTRICT"
	sandbox restart server
	ra 0 524288kb
	same 'mem of the server' 512mb "$(in_server mem)"
	same 'mem of the queue' 512mb "$(in_queue mem)"
	same 'nodect of the server' 1 "$(in_server nodect)"
	lacks "$(pbsnodes -v n1)" '^ *jobs ='
	job_is "$a" S 43 # 23
	released "$a" '(n1:ncpus=4)' ncpus=4
	same comment "$comment" "$(job_attr "$a" comment)"
	wait_until 20 host_is_up
	qsig -s resume "$a"
	wait_until 10 job_is "$a" R 42
	ra 4 524288kb
	not_released "$a"
}
host_is_up() { lacks "$(node_attr n1 state)" 'down|unknown' 2>/dev/null; }

@test "release-restriction #23: a restart keeps both attributes, state and substate, kill -9 as well" {
	restrict ncpus
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	sandbox restart server --hard
	job_is "$a" S 43
	released "$a" '(n1:ncpus=4)' ncpus=4
	same restriction ncpus "$(restriction)"
	ra 0 524288kb
}

@test "release-restriction #24: a suspended job is deleted: nothing stays assigned" {
	restrict ncpus
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	quietly qdel "$a"
	wait_until 30 is_over "$a"
	ra 0 0kb
	nothing_assigned
	not_released "$a"
}

@test "release-restriction #24: a restart while the suspended job is dying changes nothing of it" {
	restrict ncpus
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	qdel "$a"
	sandbox restart server --hard
	wait_until 40 is_over "$a"
	nothing_assigned
}

@test "release-restriction #25: a suspended job is deleted by force, at once" {
	restrict ncpus
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	quietly qdel -W force "$a"
	is_over "$a"
	nothing_assigned
	has "$(accounting)" ";D;$a;"
	has "$(accounting)" ";E;$a;"
	has "$(server_log)" ";Job;$a;Delete forced\$"
	has "$(server_log)" ";Job;$a;Discard running job, Forced Delete \$"
}

@test "release-restriction #26: only force puts a suspended job back into its queue" {
	restrict ncpus
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	undo qmgr -c 'set server scheduling = true'
	qmgr -c 'set server scheduling = false'
	says 168 "qrerun: Request invalid for state of job $a" qrerun "$a"
	job_is "$a" S 43
	quietly qrerun -W force "$a"
	wait_until 10 job_is "$a" Q 10
	nothing_assigned
	not_released "$a"
	lacks "$(qstat -f "$a")" exec_vnode
	has "$(accounting)" ";R;$a;"
	has "$(server_log)" ";Job;$a;Discard running job, Force rerun \$"
}

@test "release-restriction #27: the owner may not suspend" {
	needs_root
	a=$(running "${A[@]}")
	says 159 "qsig: Unauthorized Request  $a" as "$OWNER" qsig -s suspend "$a"
	job_is "$a" R 42
}

@test "release-restriction #28: suspended twice: refused, and nothing counted twice" {
	restrict ncpus
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	says 168 "qsig: Request invalid for state of job $a" qsig -s suspend "$a"
	ra 0 524288kb
	released "$a" '(n1:ncpus=4)' ncpus=4
}

@test "release-restriction #28: what else may be asked of a suspended job" {
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	says 168 "qmove: Request invalid for state of job $a" qmove workq "$a"
	says 2 "qrun: Resource temporarily unavailable $a" qrun "$a"
	says 167 "qalter: Cannot modify attribute while job running  Resource_List.select $a" \
		qalter -l select=1:ncpus=1 "$a"
	says 165 "qsig: Unknown/illegal signal name $a" qsig -s SUSPEND "$a"
	quietly qhold -h u "$a"
	job_is "$a" S 43
	quietly qrls -h u "$a"
	qsig -s resume "$a"
	wait_until 10 job_is "$a" R 42
	says 168 "qsig: Request invalid for state of job $a" qsig -s resume "$a"
	says 73 "qsig: Job can not be resumed with the requested resume signal $a" qsig -s admin-resume "$a"
}

@test "release-restriction #29: a resume waits for room, and needs only what was released" {
	restrict ncpus
	a=$(running -l select=1:ncpus=4:mem=1500mb)
	qsig -s suspend "$a"
	b=$(running -l select=1:ncpus=2:mem=400mb)
	quietly qsig -s resume "$a"
	job_is "$a" S 45
	quietly qsig -s resume "$a"
	job_is "$a" S 45
	qdel "$b"
	wait_until 30 job_is "$a" R 42
	ra 4 1536000kb
}

@test "release-restriction #30: who was suspended by a person stays so, whatever is free" {
	restrict ncpus
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	for _ in 1 2 3; do finished -l select=1:ncpus=4 -- /bin/true; done
	job_is "$a" S 43
}

@test "release-restriction #31: a job is resumed the way it was suspended" {
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	says 73 "qsig: Job can not be resumed with the requested resume signal $a" qsig -s admin-resume "$a"
	qsig -s resume "$a"
	wait_until 10 job_is "$a" R 42
	qsig -s admin-suspend "$a"
	says 73 "qsig: Job can not be resumed with the requested resume signal $a" qsig -s resume "$a"
	qsig -s admin-resume "$a"
}

@test "release-restriction #32: admin-suspend obeys the list too" {
	restrict ncpus
	a=$(running "${A[@]}")
	qsig -s admin-suspend "$a"
	node_is n1 maintenance "$a"
	ra 0 524288kb
	same nodect 1 "$(in_server nodect)" # 49
	released "$a" '(n1:ncpus=4)' ncpus=4
	qsig -s admin-resume "$a"
	node_is n1 job-busy ''
	job_is "$a" R 42
	ra 4 524288kb
	not_released "$a"
}

@test "release-restriction #35: what the suspended job keeps nobody else gets" {
	restrict mem
	a=$(running -l select=1:ncpus=4:mem=2gb)
	qsig -s suspend "$a"
	b=$(submit -l select=1:ncpus=1)
	wait_until 10 comment_says "$b" '^Not Running: Insufficient amount of resource: ncpus'
	job_is "$b" Q
}

@test "release-restriction #40: damaged while the server was down: the log says so, everything comes free" {
	command -v sqlite3 >/dev/null || skip "needs sqlite3"
	restrict ncpus
	a=$(running "${A[@]}")
	sandbox kill server
	damage "$a"
	sandbox restart server
	wait_until 20 job_is "$a" R 42
	wait_until 20 host_is_up
	qsig -s suspend "$a"
	job_is "$a" S 43
	has "$(server_log)" ";0008;[^;]*;Job;$a;Unable to create resource released list\$"
	not_released "$a"
	ra 0 0kb
	nothing_assigned
	qdel -W force "$a"
}
# What is stored of a job: its exec_vnode begins with a bracket that nobody understands.
damage()
{
	local db=$SB/server/server_priv/keelson.db body broken
	body=$(sqlite3 "$db" "SELECT hex(body) FROM objects WHERE class = 'job' AND id = '$1'")
	broken=${body//286E313A6E63707573/5B6E313A6E63707573} # (n1:ncpus, [n1:ncpus
	[ "$broken" != "$body" ]
	sqlite3 "$db" "UPDATE objects SET body = x'$broken' WHERE class = 'job' AND id = '$1'"
}

@test "release-restriction #42: an empty value is none" {
	restrict ncpus
	quietly qmgr -c "s s $RESTRICT = ''"
	same restriction '' "$(restriction)"
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	not_released "$a"
	ra 0 0kb
}

@test "release-restriction #43: taking away is not checked, adding is; what is not counted may be listed" {
	restrict ncpus
	quietly qmgr -c "s s $RESTRICT -= abcd"
	quietly qmgr -c "s s $RESTRICT -= vmem"
	same restriction ncpus "$(restriction)"
	says 187 "qmgr obj= svr=default: Unknown resource
qmgr: Error (15035) returned from server" qmgr -c "s s $RESTRICT += abcd"
	same restriction ncpus "$(restriction)"
	quietly qmgr -c "s s $RESTRICT = 'arch,walltime'"
	a=$(running "${A[@]}")
	qsig -s suspend "$a"
	released "$a" '(n1:ncpus=0)' ncpus=0
}

@test "release-restriction #44: it is no attribute of a scheduler" {
	says 154 "qmgr obj=default svr=default: Undefined attribute 
qmgr: Error (15002) returned from server" qmgr -c "set sched default $RESTRICT = ncpus"
}

@test "release-restriction #45: two chunks on one vnode, in every format" {
	restrict ncpus,lic
	a=$(running -l select=2:ncpus=2:mem=512mb:lic=1)
	qsig -s suspend "$a"
	released "$a" '(n1:ncpus=2:lic=1)+(n1:ncpus=2:lic=1)' lic=2 ncpus=4
	has "$(qstat -f -F json "$a")" '"resources_released":.*"\(n1:ncpus=2:lic=1\)\+\(n1:ncpus=2:lic=1\)"'
	same json '"resource_released_list":{"lic":2,"ncpus":4},' \
		"$(qstat -f -F json "$a" | grep -A3 '"resource_released_list"' | tr -d ' \t\n')"
	has "$(qstat -f -F dsv "$a" | tr '|' '\n')" '^resource_released_list\.lic=2$'
	has "$(qstat -f -F dsv "$a" | tr '|' '\n')" '^resources_released=\(n1:ncpus=2:lic=1\)\+\(n1:ncpus=2:lic=1\)$'
	same 'place in the listing' 'run_version resources_released resource_released_list.lic resource_released_list.ncpus Submit_Host' \
		"$(qstat -f "$a" | sed -n 's/^    \([^ ]*\) = .*/\1/p' | grep -A4 run_version | paste -sd' ')"
	qsig -s resume "$a"
	wait_until 10 job_is "$a" R 42
	not_released "$a"
}

@test "release-restriction #46: totals of vnode, server and queue" {
	a=$(running -l select=1:ncpus=2:mem=1gb:lic=2 -l srvlic=3)
	before=$(totals)
	qsig -s suspend "$a"
	nothing_assigned
	qsig -s resume "$a"
	wait_until 10 job_is "$a" R 42
	same totals "$before" "$(totals)"
	restrict ncpus
	qsig -s suspend "$a"
	ra 0 1048576kb
	same 'lic of n1' 2 "$(assigned lic)"
	for get in in_server in_queue; do
		same "$get" '0 1gb 1 3' "$($get ncpus) $($get mem) $($get nodect) $($get srvlic)"
	done
	qsig -s resume "$a"
	wait_until 10 job_is "$a" R 42
	same totals "$before" "$(totals)"
}
totals() { { pbsnodes -v n1; qstat -Bf; qstat -Qf; } | grep -E 'resources_assigned|^ *jobs = '; }

@test "release-restriction #47: others took what was released: the resume waits for exactly that" {
	restrict ncpus,lic
	a=$(running -l select=2:ncpus=2:mem=512mb:lic=1)
	before=$(totals)
	qsig -s suspend "$a"
	filler=$(running -l select=1:ncpus=3)
	quietly qsig -s resume "$a"
	job_is "$a" S 45
	wait_until 10 comment_says "$a" '^Not Running: Insufficient amount of resource: ncpus \(R: 4 A: 1 T: 4\)'
	qmgr -c "s s $RESTRICT = mem"
	qdel "$filler"
	wait_until 30 job_is "$a" R 42
	node_is n1 job-busy
	same totals "$before" "$(totals)"
}

@test "release-restriction #50: suspended as early as can be: both attributes, or nothing happened" {
	needs_module arrays
	restrict ncpus
	for _ in 1 2 3 4 5; do
		a=$(submit "${A[@]}")
		got=0
		found=$(qsig -s suspend "$a" 2>&1) || got=$?
		if [ "$got" -eq 0 ]; then
			job_is "$a" S 43
			released "$a" '(n1:ncpus=4)' ncpus=4
			ra 0 524288kb
		else
			same "exit of $found" 168 "$got"
			wait_until 20 job_is "$a" R 42
			ra 4 524288kb
		fi
		qdel -W force "$a"
	done
}

# array: an array of three one-cpu subjobs that run; prints `7` of `7[].svr`.
array()
{
	local id i
	id=$(submit -J 1-3 -l select=1:ncpus=1:mem=100mb) || return
	id=${id%%[*}
	for i in 1 2 3; do wait_until 20 job_is "$id[$i].svr" R 42 || return; done
	echo "$id"
}

@test "release-restriction #33: a subjob is suspended alone, the array as a whole" {
	restrict ncpus
	a=$(array)
	quietly qsig -s suspend "$a[1].svr"
	job_is "$a[1].svr" S 43
	released "$a[1].svr" '(n1:ncpus=1)' ncpus=1
	for i in 2 3; do
		job_is "$a[$i].svr" R 42
		not_released "$a[$i].svr"
	done
	ra 2 307200kb
	quietly qsig -s suspend "$a[].svr"
	for i in 1 2 3; do
		job_is "$a[$i].svr" S 43
		released "$a[$i].svr" '(n1:ncpus=1)' ncpus=1
	done
	ra 0 307200kb
	job_is "$a[].svr" B
	same counts 'Queued:0 Running:3 Exiting:0 Expired:0' "$(job_attr "$a[].svr" array_state_count | sed 's/ *$//')"
	quietly qsig -s suspend "$a[].svr" # nothing left to do
	ra 0 307200kb
	quietly qsig -s resume "$a[].svr"
	for i in 1 2 3; do wait_until 20 job_is "$a[$i].svr" R 42; done
	ra 3 307200kb
	qdel -W force "$a[].svr"
	nothing_assigned
}

@test "release-restriction #34: a range in which nothing can be suspended is answered at once" {
	restrict ncpus
	a=$(array)
	qsig -s suspend "$a[].svr"
	before=$SECONDS
	says 168 "qsig: Request invalid for state of job $a[2-3].svr" qsig -s suspend "$a[2-3].svr"
	[ $((SECONDS - before)) -le 5 ]
	qdel -W force "$a[].svr"
	nothing_assigned
}

@test "a job in a reservation: only its queue's total moves" {
	needs_module reservations
	needs_root
	local resv id
	restrict ncpus
	resv=$(as "$OWNER" pbs_rsub -I 60 -R "$(date -d '+3 seconds' +%Y%m%d%H%M.%S)" -D 600 -l select=1:ncpus=2:mem=512mb | cut -d' ' -f1)
	undo pbs_rdel "$resv"
	id=$(submit -q "${resv%%.*}" -l select=1:ncpus=1:mem=256mb)
	starts "$id"
	ra 2 524288kb
	same queue 1 "$(in_queue ncpus "${resv%%.*}")"
	qsig -s suspend "$id"
	ra 2 524288kb
	same queue 0 "$(in_queue ncpus "${resv%%.*}")"
	qsig -s resume "$id"
	ra 2 524288kb
	same queue 1 "$(in_queue ncpus "${resv%%.*}")"
}
