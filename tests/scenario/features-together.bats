#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The features admin-suspend, release-restriction, preemption and delete-preemption do not know each
# other: in whatever order they are loaded the same happens, alone and in pairs their own stories hold.
# (That any of their folders can be deleted is told in features.bats.)
#
# needs modules/admin-suspend
# needs modules/release-restriction
# needs modules/preemption
# needs modules/delete-preemption

load helper

FEATURES=(admin-suspend release-restriction preemption delete-preemption)

# ---- every order of loading ---------------------------------------------------------------------------

# permutations WORD...: one per line
permutations()
{
	local -a words=("$@") rest
	local i line
	[ $# -gt 1 ] || { echo "$*"; return; }
	for i in "${!words[@]}"; do
		rest=("${words[@]}")
		unset "rest[$i]"
		while read -r line; do echo "${words[$i]} $line"; done < <(permutations "${rest[@]}")
	done
}

load_in_order()
{
	local feature off=()
	for feature in "${FEATURES[@]}"; do off+=(--disable "$feature"); done
	sandbox reload "${off[@]}" >/dev/null
	for feature; do sandbox reload --enable "$feature" >/dev/null; done
}

# Who is asked at the points where the features meet, in which order.
chains()
{
	local point
	for point in job_signal job_suspended job_resume job_resumed job_purged suspend_release acct_record job_preempt \
		preempt_victims node_delete resource_delete; do
		echo "$point: $(keelson hooks "$point" | awk '$2 != "" { print $1, $2 }' | paste -sd' ')"
	done
}

numbers()
{
	echo "$1: $(node_attr n1 state) ncpus=$(node_attr n1 resources_assigned.ncpus)" \
		"mem=$(node_attr n1 resources_assigned.mem)"
}

# One of everything: admin-suspend under a restriction, preemption by suspension, then by deletion.
everything()
{
	local a b
	a=$(running -l select=1:ncpus=4:mem=512mb)
	qsig -s admin-suspend "$a"
	numbers admin-suspended
	echo "listed: $(mj n1 | sed "s/$a/a/")  released: $(job_attr "$a" resources_released)"
	qsig -s resume "$a" 2>&1 | sed "s/$a/a/" || true
	qsig -s admin-resume "$a"
	numbers resumed
	qmgr -c 'set sched preempt_order = S'
	b=$(submit -q express -l select=1:ncpus=2:mem=512mb)
	wait_until 20 job_is "$b" R 42
	job_is "$a" S 45
	numbers preempted
	echo "released: $(job_attr "$a" resource_released_list.ncpus)"
	qdel -W force "$b"
	wait_until 20 job_is "$a" R 42
	qmgr -c 'set sched preempt_order = D'
	b=$(submit -q express -l select=1:ncpus=2:mem=512mb)
	wait_until 20 job_is "$b" R 42
	numbers deleted
	echo "a: $(state_of_job "$a") $(job_attr "$a" substate)"
	echo "records: $(accounting | awk -F';' -v a="$a" '$3 == a { printf "%s", $2 }')"
	qdel -W force "$b"
	numbers end
}

@test "features together: whatever the order of loading, the same happens" {
	setup_sandbox --ncpus 4
	qmgr -c 'set server job_history_enable = true'
	qmgr -c 'create queue express queue_type=execution,priority=200,enabled=true,started=true'
	qmgr -c 'set server restrict_res_to_release_on_suspend = ncpus'
	first=
	while read -r order; do
		# shellcheck disable=SC2086
		load_in_order $order
		qmgr -c 'set server scheduling = true'
		found=$(chains; everything)
		[ -n "$first" ] || first=$found
		same "after $order" "$first" "$found"
	done < <(permutations "${FEATURES[@]}")
	has "$first" '^listed: a  released: \(n1:ncpus=4\)$'
	has "$first" '^preempted: free ncpus=2 mem=1048576kb$'
	has "$first" '^deleted: free ncpus=2 mem=524288kb$'
	has "$first" '^a: F 91$'
	has "$first" '^end: free ncpus=0 mem=0kb$'
}

# ---- alone and in pairs ---------------------------------------------------------------------------------

# own_stories FEATURE LOADED...: some of them, as FILE PATTERN.
own_stories()
{
	case $1 in
	admin-suspend) echo "admin-suspend.bats #(2|50):" ;;
	release-restriction) echo "release-restriction.bats #(3|22):" ;;
	preemption) echo "delete-preemption.bats #(1|16|17):" ;;
	delete-preemption) [[ " $* " = *' preemption '* ]] && echo "delete-preemption.bats #(2|6|7):" ;;
	esac
}

# stories_with FEATURE...: only these are loaded, and their stories are told.
stories_with()
{
	local feature file pattern off=
	for feature in "${FEATURES[@]}"; do
		[[ " $* " = *" $feature "* ]] || off+=" --disable $feature"
	done
	for feature; do
		read -r file pattern < <(own_stories "$feature" "$@") || continue
		(
			unset "${!BATS_@}" SB
			export KEELSON_BUILD KEELSON_STORY_OPTIONS=$off
			bats "$top/tests/scenario/$file" --filter "$pattern"
		) >"$BATS_TEST_TMPDIR/$feature" 2>&1 3>&- || {
			echo "with $* alone, of $feature:" >&2
			cat "$BATS_TEST_TMPDIR/$feature" >&2
			return 1
		}
		has "$(cat "$BATS_TEST_TMPDIR/$feature")" '^ok 1 '
	done
}

@test "features together: admin-suspend alone" { stories_with admin-suspend; }
@test "features together: release-restriction alone" { stories_with release-restriction; }
@test "features together: preemption alone" { stories_with preemption; }
@test "features together: admin-suspend and release-restriction" { stories_with admin-suspend release-restriction; }
@test "features together: admin-suspend and preemption" { stories_with admin-suspend preemption; }
@test "features together: release-restriction and preemption" { stories_with release-restriction preemption; }
@test "features together: preemption and delete-preemption" { stories_with preemption delete-preemption; }

# Its letter has no taker then: it is there and does nothing.
@test "features together: delete-preemption without preemption" {
	setup_sandbox --disable preemption
	qmgr -c 'set server job_history_enable = true'
	has "$(keelson modules)" '^delete-preemption .*running'
	says 154 "qmgr obj= svr=default: Undefined attribute 
qmgr: Error (15002) returned from server" qmgr -c 'set sched preempt_order = D'
	id=$(running)
	[ -n "$id" ]
}
@test "features together: admin-suspend and delete-preemption" { stories_with admin-suspend delete-preemption; }
@test "features together: release-restriction and delete-preemption" { stories_with release-restriction delete-preemption; }
