#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# qmgr: what is printed can be read again, what is wrong is named, exit statuses tell which.

load helper
load shared

# refuses STATUS OBJECT ERRNO TEXT COMMAND
refuses()
{
	says "$1" "qmgr obj=$2 svr=default: $4
qmgr: Error ($3) returned from server" qmgr -c "$5"
}

# syntax STATUS COMMAND COLUMN: the caret stands under that character.
syntax()
{
	says "$1" "qmgr: Syntax error
$2
$(printf '%*s^' "$3" '')" qmgr -c "$2"
}

@test "qmgr print server: a fresh server" {
	saved=$SB SB=$(mktemp -d "${TMPDIR:-/tmp}/keelson-story.XXXXXX")
	undo rm -rf "$SB"
	undo "$top/scripts/sandbox" stop --dir "$SB" --build "$KEELSON_BUILD"
	sandbox start
	. "$SB/env"
	same server "#
# Create queues and set their attributes.
#
#
# Create and define queue workq
#
create queue workq
set queue workq queue_type = Execution
set queue workq enabled = True
set queue workq started = True
#
# Set server attributes.
#
set server scheduling = True
set server default_queue = workq
set server log_events = 511
set server mailer = /usr/sbin/sendmail
set server mail_from = adm
set server query_other_jobs = True
set server resources_default.ncpus = 1
set server default_chunk.ncpus = 1
set server scheduler_iteration = 600
set server resv_enable = True
set server node_fail_requeue = 310
set server max_array_size = 10000
set server resend_term_delay = 5
set server pbs_license_min = 0
set server pbs_license_max = 2147483647
set server pbs_license_linger_time = 31536000
set server eligible_time_enable = False
set server max_concurrent_provision = 5
set server clear_topjob_estimates_enable = False
set server max_job_sequence_id = 9999999" "$(qmgr -c 'print server')"
	SB=$saved
}

@test "qmgr print: an attribute of the server that a module brings is written as it is read again" {
	local job printed got=0
	undo keelson reload
	printf 'budget: { enabled = true; path = "%s"; projects = [ "a=1" ]; };\n' "$KEELSON_BUILD/tests/fixtures/budget.so" \
		>"$SB/server/etc/modules.d/budget.conf"
	undo rm -f "$SB/server/etc/modules.d/budget.conf"
	keelson reload
	job=$(submit -W budget_project=a -- /bin/true)
	wait_until 20 job_is "$job" F
	quietly qdel -x "$job"
	printed=$(qmgr -c 'print server' | grep budget_used)
	has "$printed" '^set server default budget_used = a=[0-9]+$'
	qmgr -c "$printed" 2>/dev/null || got=$?
	same 'understood, and refused: it is the module'"'s alone" 155 "$got"
}

@test "qmgr print: read again it changes nothing" {
	qmgr <<-'END' >/dev/null
		create resource lic type=long,flag=q
		create queue q1 queue_type=e,enabled=t,started=f,Priority=5
		set queue q1 resources_max.ncpus = 4
		set queue q1 acl_users = "a@x,b@y"
		set server comment = "it's closed, sorry"
		set server managers += joe@*
	END
	undo qmgr -c 'delete resource lic'
	undo qmgr -c 'delete queue q1'
	undo qmgr -c 'unset server comment'
	undo qmgr -c 'set server managers -= joe@*'
	before=$(qmgr -c 'p s')
	has "$before" '^create resource lic$'
	has "$before" '^set resource lic flag = q$'
	has "$before" '^set queue q1 acl_users = a@x$'
	has "$before" '^set queue q1 acl_users \+= b@y$'
	has "$before" "^set server comment = \"it's closed, sorry\"\$"
	qmgr <<<"$before" >/dev/null 2>&1
	same again "$before" "$(qmgr -c 'p s')"
	qmgr -c 'delete queue q1'
	qmgr -c 'delete resource lic'
	qmgr <<<"$before" >/dev/null 2>&1
	same anew "$before" "$(qmgr -c 'p s')"
}

@test "qmgr print: read again it sets what was set, whatever is in the text" {
	local text
	undo pbsnodes -C "" n1
	for text in 'a;b' 'a;delete queue workq' 'ends in \' "it's \"bad\" 'really\"" "'\"'\"" '# no comment' 'a	tab'; do
		pbsnodes -C "$text" n1
		qmgr -c 'print node n1 comment' >"$SB/again"
		pbsnodes -C "" n1
		qmgr <"$SB/again" >"$SB/said" 2>&1
		same session 'Max open servers: 49' "$(<"$SB/said")"
		same "$text" "$text" "$(pbsnodes -F json n1 | jq -r '.nodes.n1.comment')"
	done
	# a line end cannot be written: it is never the begin of a command
	pbsnodes -C $'one\ndelete queue workq' n1
	has "$(qmgr -c 'print node n1 comment')" '^set node n1 comment = "one delete queue workq"$'
	# and a table stays a table
	same lines 3 "$(pbsnodes -aS | wc -l)"
	has "$(pbsnodes -aS)" 'one delete queue workq$'
	has "$(qmgr -c 'list node n1 comment')" '^    comment = one\^Jdelete queue workq$'
}

@test "qmgr print: queue, node, sched, one attribute" {
	same attribute '#
# Set server attributes.
#
set server scheduling = True' "$(qmgr -c 'p s scheduling')"
	node=$(qmgr -c 'print node n1')
	same head '#
# Create nodes and set their properties.
#
#
# Create and define node n1
#
create node n1' "$(head -n 7 <<<"$node")"
	has "$node" '^set node n1 resources_available.ncpus = 4$'
	same all "$node" "$(qmgr -c 'print node @default')"
	has "$(qmgr -c 'print sched')" '^create sched default$'
	has "$(qmgr -c 'print sched')" '^set sched scheduler_iteration = 600$'
}

@test "qmgr list: objects and attributes" {
	same queue "Queue workq
    queue_type = Execution
    total_jobs = 0
    state_count = Transit:0 Queued:0 Held:0 Waiting:0 Running:0 Exiting:0 Begun:0 
    enabled = True
    started = True" "$(qmgr -c 'list queue workq' | grep -v resources_assigned)"
	same 'all queues' "$(qmgr -c 'list queue workq')" "$(qmgr -c 'list queue @default')"
	same 'reverse order' 'Server svr
    default_queue = workq
    scheduling = True' "$(qmgr -c 'l s scheduling,default_queue')"
	has "$(qmgr -c 'list server')" '^    server_state = Active$'
	has "$(qmgr -c 'list node n1')" '^    last_state_change_time = [0-9]+$'
	same 'unset' 'Queue workq' "$(qmgr -c 'list queue workq Priority')"
	same sched 'Sched default' "$(qmgr -c 'list sched' | head -n 1)"
	same none '' "$(qmgr -c 'list resource')"
}

@test "qmgr: prefixes of verbs and objects, any case of attributes" {
	quietly qmgr -c 'c q qq queue_type=e'
	undo qmgr -c 'delete queue qq'
	quietly qmgr -c 's q qq PRIORITY = 3'
	has "$(qmgr -c 'p q qq')" '^set queue qq Priority = 3$'
	quietly qmgr -c 'u q qq priority'
	lacks "$(qmgr -c 'p q qq')" Priority
	quietly qmgr -c 'd q qq'
}

@test "qmgr: = += -= on lists, numbers, sizes and texts" {
	undo qmgr -c 'unset server acl_users,comment,resources_available'
	undo qmgr -c 'set server scheduler_iteration = 600'
	qmgr -c 'set server acl_users = a@h'
	qmgr -c 'set server acl_users += "b@h,c@h"'
	qmgr -c 'set server acl_users -= a@h'
	same list b@h,c@h "$(qmgr -c 'l s acl_users' | value acl_users)"
	qmgr -c 'set server scheduler_iteration += 5'
	same number 605 "$(qmgr -c 'l s scheduler_iteration' | value scheduler_iteration)"
	qmgr -c 'set server scheduler_iteration -= 15'
	same number 590 "$(qmgr -c 'l s scheduler_iteration' | value scheduler_iteration)"
	qmgr -c 'set server resources_available.mem = 1gb'
	qmgr -c 'set server resources_available.mem += 1mb'
	same size 1025mb "$(qmgr -c 'l s resources_available' | value resources_available.mem)"
	qmgr -c 'set server comment = abc'
	qmgr -c 'set server comment += def'
	same text abcdef "$(qmgr -c 'l s comment' | value comment)"
	qmgr -c 'set server comment -= def'
	same text abc "$(qmgr -c 'l s comment' | value comment)"
}

@test "qmgr: several attributes, all or nothing" {
	refuses 166 workq 15014 'Illegal attribute or resource value' 'set queue workq comment = x, Priority = abc'
	lacks "$(qmgr -c 'list queue workq')" comment
	quietly qmgr -c 'set queue workq comment = x, Priority = 4'
	undo qmgr -c 'unset queue workq comment, Priority'
	has "$(qmgr -c 'list queue workq')" '^    Priority = 4$'
}

@test "qmgr: stdin, comments, continued lines, active objects" {
	found=$(printf 'list queue workq started\n# comment\n\nactive queue workq\nlist queue started\nlist \\\nqueue workq enabled\nquit\n' |
		qmgr)
	same session 'Max open servers: 49
Queue workq
    started = True

Queue workq
    started = True

Queue workq
    enabled = True' "$found"
}

@test "qmgr: an error does not end a session, -a does" {
	got=0
	found=$(printf 'frobnicate x\nlist queue workq started\nquit\n' | qmgr 2>&1) || got=$?
	same status 0 "$got"
	same words 'Max open servers: 49
qmgr: Illegal operation: frobnicate
Try '"'help'"' if you are having trouble.
qmgr: line 1: frobnicate x
Queue workq
    started = True' "$found"
	got=0
	found=$(printf 'bogus\nlist queue workq started\n' | qmgr -a 2>/dev/null) || got=$?
	same status 1 "$got"
	same words 'Max open servers: 49' "$found"
}

@test "qmgr -e -n -z: echo, check only, quiet" {
	same echo "Max open servers: 49
list queue workq started
Queue workq
    started = True

quit" "$(printf 'list queue workq started\nquit\n' | qmgr -e)"
	quietly qmgr -n -c 'list queue workq started'
	quietly qmgr -n -c 'delete queue workq'
	has "$(qstat -Q)" '^workq '
	says 1 '' qmgr -z -c 'bogus'
	says 170 '' qmgr -z -c 'delete queue nosuch'
}

@test "qmgr: commands separated by semicolons" {
	found=$(printf 'list queue workq started; list queue workq enabled\n' | qmgr)
	same both 2 "$(grep -c '^Queue workq' <<<"$found")"
}

@test "qmgr: syntax errors point at the fault" {
	says 1 "qmgr: Illegal operation: frobnicate
Try 'help' if you are having trouble." qmgr -c 'frobnicate server x'
	says 2 'qmgr: No object type given' qmgr -c 'list'
	says 2 'qmgr: Illegal object type: banana.' qmgr -c 'list banana'
	syntax 4 'set server nosuch = 1' 18
	syntax 4 'unset server nosuch' 19
	syntax 4 'create queue bad name' 21
	syntax 3 'create queue 1q' 13
	syntax 3 'create resource 9foo type=long' 16
	syntax 4 'set server max_run = 5' 21
}

@test "qmgr: a resource that somebody uses is not defined anew" {
	qmgr -c 'create resource lic type=long,flag=q'
	undo qmgr -c 'delete resource lic'
	undo qmgr -c 'unset server resources_available.lic'
	qmgr -c 'set server resources_available.lic = 3'
	refuses 70 lic 15174 'Resource busy on server' 'set resource lic flag = h'
	refuses 70 lic 15174 'Resource busy on server' 'unset resource lic flag'
	qmgr -c 'set resource lic type = long, flag = q' # as it is
	qmgr -c 'unset server resources_available.lic'
	qmgr -c 'set resource lic flag = h'
}

@test "qmgr: errors of the server object" {
	refuses 166 '' 15014 'Illegal attribute or resource value' 'set server scheduling = maybe'
	refuses 166 '' 15014 'Illegal attribute or resource value' 'set server scheduler_iteration = abc'
	refuses 166 '' 15014 'Illegal attribute or resource value' 'set server max_array_size = -5'
	refuses 166 workq 15014 'Illegal attribute or resource value' 'set queue workq max_array_size = -5'
	refuses 155 '' 15003 'Cannot set attribute, read only or insufficient permission  total_jobs' \
		'set server total_jobs = 3'
	refuses 187 '' 15035 'Unknown resource resources_available.nosuch' 'set server resources_available.nosuch = 1'
	refuses 166 '' 15014 'Illegal attribute or resource value resources_default.ncpus' \
		'set server resources_default.ncpus = abc'
	refuses 170 '' 15018 'Unknown queue' 'set server default_queue = nosuch'
	refuses 160 '' 15008 'Access from host not allowed, or unknown host' 'set server managers = badformat'
	says 1 'Unknown Host.
qmgr: cannot connect to server nosuch' qmgr -c 'list server nosuch'
}

@test "qmgr: errors of queues" {
	qmgr -c 'create queue qe'
	undo qmgr -c 'delete queue qe'
	refuses 182 qe 15030 'Cannot enable queue, incomplete definition' 'set queue qe enabled = True'
	quietly qmgr -c 'set queue qe queue_type = execution, enabled = True'
	refuses 166 qe 15014 'Illegal attribute or resource value' 'set queue qe queue_type = foo'
	refuses 154 qe 15002 'Undefined attribute ' 'set queue qe nosuch = 1'
	refuses 187 qe 15035 'Unknown resource resources_max.nosuch' 'set queue qe resources_max.nosuch = 4'
	refuses 177 qe 15025 'Queue already exists' 'create queue qe'
	refuses 170 nosuch 15018 'Unknown queue' 'delete queue nosuch'
	refuses 1 nosuch 15018 'Unknown queue' 'list queue nosuch'
	says 180 'qmgr: Error (15028) returned from server' qmgr -c 'create queue a_queue_name_that_is_too_long'
}

@test "qmgr: a queue that is refused is not made" {
	refuses 166 qx 15014 'Illegal attribute or resource value' 'create queue qx queue_type=e,Priority=abc'
	refuses 170 qx 15018 'Unknown queue' 'delete queue qx'
}

@test "qmgr: errors of nodes" {
	refuses 218 n1 15066 'Node name already exists' 'create node n1'
	refuses 214 nosuch 15062 'Unknown node ' 'set node nosuch state=offline'
	refuses 219 n1 15067 'Illegal value for node state' 'set node n1 state = bogus'
	refuses 187 n1 15035 'Unknown resource resources_available.nosuch' \
		'set node n1 resources_available.nosuch = 3'
	refuses 166 n1 15014 'Illegal attribute or resource value resources_available.ncpus' \
		'set node n1 resources_available.ncpus = abc'
	refuses 170 n1 15018 'Unknown queue' 'set node n1 queue = nosuch'
	refuses 214 nosuch 15062 'Unknown node ' 'delete node nosuch'
	for change in 'resources_assigned.ncpus = 1' 'jobs = x' 'sharing = foo'; do
		got=0
		qmgr -c "set node n1 $change" 2>/dev/null || got=$?
		same "status of $change" 155 "$got"
	done
}

@test "qmgr: a node's state, comment and resources" {
	undo qmgr -c 'set node n1 state = free'
	quietly qmgr -c 'set node n1 state = offline'
	same state 'Node n1
    state = offline' "$(qmgr -c 'list node n1 state')"
	quietly qmgr -c 'set node n1 state = free'
	quietly qmgr -c 'set node n1 state += offline'
	node_is n1 offline
	quietly qmgr -c 'set node n1 state -= offline'
	node_is n1 free
	quietly qmgr -c 'set node n1 comment = "hello there"'
	same comment 'hello there' "$(node_attr n1 comment)"
	quietly qmgr -c 'unset node n1 comment'
	same comment '' "$(node_attr n1 comment)"
}

@test "qmgr: a node with fewer cpus takes fewer jobs" {
	undo qmgr -c 'set node n1 resources_available.ncpus = 4'
	quietly qmgr -c 'set node n1 resources_available.ncpus = 1'
	a=$(running)
	b=$(submit)
	waits() { job_attr "$b" comment | grep -q '^Not Running'; }
	wait_until 20 waits
	qmgr -c 'set node n1 resources_available.ncpus = 2'
	wait_until 20 job_is "$b" R 42
}

@test "qmgr: custom resources" {
	quietly qmgr -c 'create resource foo type=long,flag=nh'
	undo qmgr -c 'delete resource foo'
	same list 'Resource foo
    type = long
    flag = hn' "$(qmgr -c 'list resource foo')"
	same print '#
# Create and define resource foo
#
create resource foo
set resource foo type = long
set resource foo flag = hn' "$(qmgr -c 'print resource foo')"
	refuses 207 foo 15055 'Duplicate entry in list ' 'create resource foo'
	refuses 166 bar 15014 'Illegal attribute or resource value' 'create resource bar type=nonsense'
	refuses 156 ncpus 15004 'Invalid request' 'delete resource ncpus'
	refuses 156 ncpus 15004 'Invalid request' 'set resource ncpus type=string'
	refuses 1 nosuch 15035 'Unknown resource' 'list resource nosuch'
	refuses 187 nosuch 15035 'Unknown resource' 'delete resource nosuch'
	quietly qmgr -c 'set resource foo flag=h'
	has "$(qmgr -c 'list resource foo')" '^    flag = h$'
}

@test "qmgr: a custom resource is counted" {
	qmgr -c 'create resource gpus type=long,flag=nh'
	undo qmgr -c 'delete resource gpus'
	qmgr -c 'set node n1 resources_available.gpus = 1'
	undo qmgr -c 'unset node n1 resources_available.gpus'
	a=$(running -l select=1:gpus=1)
	b=$(submit -l select=1:gpus=1)
	waits() { job_attr "$b" comment | grep -q '^Not Running: .*gpus'; }
	wait_until 20 waits
	has "$(pbsnodes n1)" '^     resources_assigned.gpus = 1$'
	got=0
	qmgr -c 'delete resource gpus' 2>/dev/null || got=$?
	same 'in use' 70 "$got"
	as "$OWNER" qsig "$a"
	wait_until 20 job_is "$b" R 42
	qselect | xargs -r qdel -x -W force
}

@test "qmgr: schedulers" {
	refuses 110 default 15214 'Can not delete Scheduler' 'delete sched default'
	refuses 154 default 15002 'Undefined attribute ' 'set sched default nosuch = 1'
	refuses 109 nosuch 15213 'Unknown Scheduler' 'set sched nosuch scheduling = 1'
}

@test "qmgr: permissions" {
	needs_root
	denied='Unauthorized Request '
	for change in 'set server scheduling = True' 'set server managers += x@*'; do
		says 159 "qmgr obj= svr=default: $denied
qmgr: Error (15007) returned from server" as "$OWNER" qmgr -c "$change"
	done
	for change in 'create queue qq' 'set queue qq started = True' 'delete queue qq' 'create resource qq type=long' \
		'set node qq comment = x' 'create node qq'; do
		says 159 "qmgr obj=qq svr=default: $denied
qmgr: Error (15007) returned from server" as "$OWNER" qmgr -c "$change"
	done
	quietly as "$OPERATOR" qmgr -c 'set server comment = x'
	quietly as "$OPERATOR" qmgr -c 'unset server comment'
	says 159 "qmgr obj=qq svr=default: $denied
qmgr: Error (15007) returned from server" as "$OPERATOR" qmgr -c 'create queue qq'
	says 155 'qmgr obj= svr=default: Cannot set attribute, read only or insufficient permission  managers
qmgr: Error (15003) returned from server' as "$OPERATOR" qmgr -c 'set server managers += x@*'
	quietly as "$MANAGER" qmgr -c 'create queue qq'
	quietly as "$MANAGER" qmgr -c 'delete queue qq'
	has "$(as "$OWNER" qmgr -c 'print server')" '^set server scheduling = True$'
}

@test "qmgr: misuse" {
	says 1 "qmgr: invalid option -- 'Z'
Usage: qmgr [-a] [-c command] [-e] [-n] [-z] [server...]
       qmgr --version" qmgr -Z
	has "$(qmgr --version)" '^pbs_version = '
	has "$(printf 'help\nquit\n' | qmgr)" 'create'
	says 3 'Unknown Host.
qmgr: cannot connect to server nosuchserver' qmgr -c 'list server' nosuchserver
}
