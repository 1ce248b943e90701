#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Features are folders: what is switched off or deleted is unknown to every command, and nothing else
# misses it.

load helper

BAD_SIGNAL='qsig: Unknown/illegal signal name'

# A copy of the tree and of the build, in which folders of modules are put aside.
setup_file()
{
	export PLACE
	PLACE=$(mktemp -d "${TMPDIR:-/tmp}/keelson-tree.XXXXXX")
	chmod 755 "$PLACE"
	mkdir "$PLACE/tree" "$PLACE/build" "$PLACE/aside"
	(cd "$top" && tar cf - --exclude=./.git --exclude=./build --exclude=./autom4te.cache .) | tar xpf - -C "$PLACE/tree"
	(cd "$KEELSON_BUILD" && tar cf - --exclude=./asan --exclude=./quickstart --exclude=./test-logs --exclude=./tests \
		--exclude=./obj/tests/unit --exclude=./obj/tests/fixtures --exclude=./share/keelson/options .) | tar xpf - -C "$PLACE/build"
}
teardown_file() { rm -rf "$PLACE"; }

eval "$(declare -f teardown | sed "1s/teardown/leave_cluster/")"
teardown()
{
	local thing
	leave_cluster
	for thing in $(ls "$PLACE/aside"); do
		mv "$PLACE/aside/$thing" "$PLACE/${thing//+//}"
	done
	rm -rf "$PLACE/build/share/keelson/options"
}

# answers_like_any_unknown JOB: admin-suspend is a word like any other.
answers_like_any_unknown()
{
	says 165 "$BAD_SIGNAL $1" qsig -s NOSUCHSIGNAL "$1"
	says 165 "$BAD_SIGNAL $1" qsig -s admin-suspend "$1"
	says 165 "$BAD_SIGNAL $1" qsig -s admin-resume "$1"
	lacks "$(pbsnodes -v n1)" maintenance_jobs
	lacks "$(qmgr -c 'list node n1')" maintenance_jobs
	lacks "$(keelson modules)" '^admin-suspend '
	lacks "$(keelson hooks job_suspended)" admin-suspend
}

# One host of 4 cpus; finished jobs are remembered.
cluster() { setup_sandbox && qmgr -c "set server job_history_enable = true"; }

# The copy without the folder of a module, and what was made of it.
tree_without()
{
	local thing
	for thing in "tree/modules/$1" "tree/conf/modules.d/$1.conf" "build/modules/$1.so" "build/obj/modules/$1"; do
		mv "$PLACE/$thing" "$PLACE/aside/${thing//\//+}"
	done
	top=$PLACE/tree
	KEELSON_BUILD=$PLACE/build
}

# The build of $top in $KEELSON_BUILD: objects that are up to date are used as they are.
rebuild()
{
	make -C "$KEELSON_BUILD" -s AUTOCONF=: AUTOMAKE=: ACLOCAL=: srcdir="$top" top_srcdir="$top" \
		abs_top_srcdir="$top" keelson-all "$@" 3>&-
}

@test "features: a tree without modules/admin-suspend builds, starts and runs jobs" {
	tree_without admin-suspend
	rebuild
	[ ! -e "$KEELSON_BUILD/modules/admin-suspend.so" ]
	cluster
	id=$(running)
	answers_like_any_unknown "$id"
	job_is "$id" R 42
	qsig -s suspend "$id"
	job_is "$id" S 43
	qsig -s resume "$id"
	qdel "$id"
	has "$(pbsnodes --admin-suspend n1 2>&1 || true)" 'usage|unrecognized|invalid'
}

# Without the folder nobody knows its words, and everything else is as ever.
runs_without()
{
	needs_module "$1"
	tree_without "$1"
	rebuild
	[ ! -e "$KEELSON_BUILD/modules/$1.so" ]
	cluster
	lacks "$(keelson modules)" "^$1 "
	lacks "$(qmgr -c 'list server'; qmgr -c 'list sched')" "$2"
	id=$(running)
	qsig -s suspend "$id"
	job_is "$id" S 43
	qsig -s resume "$id"
	wait_until 10 job_is "$id" R 42
	qdel "$id"
}

@test "features: a tree without modules/release-restriction builds, starts and runs jobs" {
	runs_without release-restriction restrict_res
}

@test "features: a tree without modules/preemption builds, starts and runs jobs" {
	runs_without preemption preempt_order
}

@test "features: a tree without modules/delete-preemption builds, starts and runs jobs" {
	needs_module preemption
	runs_without delete-preemption nothing-of-its-own
	qmgr -c 'set sched preempt_order = SCR'
	says 166 "qmgr obj= svr=default: Illegal attribute or resource value
qmgr: Error (15014) returned from server" qmgr -c 'set sched preempt_order = D'
}

@test "features: a tree without modules/entity-limits builds, starts and runs jobs" {
	runs_without entity-limits max_run
	has "$(qmgr -c "set server max_run = '[o:PBS_ALL=1]'" 2>&1 || true)" '15002'
}

@test "features: a tree without modules/fairshare builds, starts and runs jobs" {
	runs_without fairshare nothing-of-its-own
	says 1 "pbsfs: fairshare is not there: the server's module is switched off" pbsfs
}

@test "features: a tree without modules/prime-time builds, starts and runs jobs" {
	runs_without prime-time nothing-of-its-own
}

@test "features: a tree without modules/routing builds, starts and runs jobs" {
	runs_without routing nothing-of-its-own
	says 166 "qmgr obj=r svr=default: Illegal attribute or resource value
qmgr: Error (15014) returned from server" qmgr -c 'create queue r queue_type=route'
}

@test "features: a tree without modules/dependencies builds, starts and runs jobs" {
	runs_without dependencies nothing-of-its-own
	says 154 'qsub: Error (15002) submitting job' as "$OWNER" qsub -W depend=afterok:1 -- /bin/true
}

@test "features: a tree without modules/eligible-time builds, starts and runs jobs" {
	runs_without eligible-time eligible_time
}

@test "features: a tree without modules/mail builds, starts and runs jobs" {
	runs_without mail nothing-of-its-own
}

@test "features: a tree without modules/admin builds, starts and runs jobs" {
	runs_without admin nothing-of-its-own
	for verb in modules hooks 'hooks --time' holds; do
		run keelson $verb
		[ "$status" -eq 1 ]
		has "$output" "^keelson: the server runs without module admin, .* write .admin: \{ enabled = true; \};. in its modules.d"
	done
}

@test "features: the kernel was built without a word of it" {
	lacks "$(strings "$KEELSON_BUILD/keelsond")" 'admin-suspend|maintenance'
}

@test "features: switched off by a reload, its words are gone; switched on, they are back" {
	cluster
	id=$(running)
	sandbox reload --disable admin-suspend
	answers_like_any_unknown "$id"
	sandbox reload --enable admin-suspend
	qsig -s admin-suspend "$id"
	node_is n1 maintenance "$id"
}

@test "features: it is not switched off under its suspended jobs" {
	cluster
	a=$(running) b=$(running)
	qsig -s admin-suspend "$a" "$b"
	got=0
	found=$(sandbox reload --disable admin-suspend 2>&1) || got=$?
	same status 1 "$got"
	has "$found" 'admin-suspended'
	has "$found" "$a"
	has "$found" "$b"
	node_is n1 maintenance "$a,$b"
	qsig -s admin-resume "$a" "$b"
	job_is "$a" R 42
	sandbox reload
	answers_like_any_unknown "$a"
}

@test "features: a tree without modules/arrays builds, starts and runs jobs" {
	needs_module arrays
	tree_without arrays
	rebuild
	[ ! -e "$KEELSON_BUILD/modules/arrays.so" ]
	cluster
	id=$(running)
	has "$(submit -J 1-3 2>&1 || true)" 'Error \(15002\) submitting job'
	lacks "$(qstat -f "$id")" ' array'
	same 'no arrays' '' "$(qselect -J)"
	has "$(qstat -t)" ' R workq'
	has "$(qdel '5[]' 2>&1 || true)" 'Unknown Job Id 5\[\]\.svr'
	quietly qdel "$id"
}

@test "features: a tree without modules/tolerate-node-failures builds, starts and runs jobs; a lost host ends one" {
	needs_module sisters
	cluster() { setup_sandbox --hosts 2 --set sisters.max_poll_downtime=2s && qmgr -c "set server job_history_enable = true"; }
	runs_without tolerate-node-failures nothing-of-its-own
	for words in tolerate_node_failures=all spare_nodes=1; do
		has "$(submit -W $words 2>&1)" '^qsub: Error \(15002\) submitting job$'
	done
	id=$(running -l select=2:ncpus=1 -l place=scatter)
	sandbox kill n2
	wait_until 20 job_is "$id" Q
	same runs 1 "$(job_attr "$id" run_count)"
	has "$(accounting)" ";R;$id;.*Exit_status=-14 "
}

@test "features: a tree without modules/python-hooks builds, starts and runs jobs; hooks are an unknown object type" {
	runs_without python-hooks nothing-of-its-own
	got=$(qmgr -c 'create hook h1' 2>&1) && false
	has "$got" '^qmgr: '
}
