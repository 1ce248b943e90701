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
	local feature
	# shellcheck disable=SC2046,SC2059
	sed -i 's/enabled = true/enabled = false/' $(printf "$SB/server/etc/modules.d/%s.conf " "${FEATURES[@]}")
	keelson reload >/dev/null
	for feature; do
		sed -i 's/enabled = false/enabled = true/' "$SB/server/etc/modules.d/$feature.conf"
		keelson reload >/dev/null
	done
}

# Who is asked where the features meet, in which order.
chains()
{
	keelson hooks | awk '$3 ~ /^taps=/ { print $1, $3 }'
	for point in job_suspended job_purged; do keelson hooks $point | awk '{ print $1, $2 }'; done
}

# What the vnode says, in one line.
vnode()
{
	pbsnodes -v n1 | awk -v when="$1" '
		$1 ~ /^(state|maintenance_jobs|resources_assigned.(ncpus|mem))$/ { text = text " " $3 }
		END { print when ":" text }'
}

# One of everything: admin-suspend under a restriction, preemption by suspension, then by deletion. The
# job is called a.
everything()
{
	local a b
	a=$(running -l select=1:ncpus=4:mem=512mb)
	qsig -s admin-suspend "$a"
	{
		vnode admin-suspended
		qstat -f "$a" | grep released
		qsig -s resume "$a" 2>&1 || true
		qsig -s admin-resume "$a"
		vnode resumed
		qmgr -c 'set sched preempt_order = S'
		b=$(submit -q express -l select=1:ncpus=2:mem=512mb)
		wait_until 20 job_is "$b" R 42
		vnode preempted
		qstat -f "$a" | grep -E 'released|substate'
		qdel -W force "$b"
		wait_until 20 job_is "$a" R 42
		qmgr -c 'set sched preempt_order = D'
		b=$(submit -q express -l select=1:ncpus=2:mem=512mb)
		wait_until 20 job_is "$b" R 42
		vnode deleted
		qstat -xf "$a" | grep -E 'job_state|substate'
		accounting | awk -F';' -v a="$a" '$3 == a { printf "%s", $2 } END { print "" }'
		qdel -W force "$b"
		vnode end
	} | sed "s/$a/a/g"
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
	has "$first" '^admin-suspended: maintenance 524288kb 0 a$'
	has "$first" '^preempted: free 1048576kb 2$'
	has "$first" '^deleted: free 524288kb 2$'
	has "$first" '^    substate = 91$'
	has "$first" '^QSzrzrDE$'
	has "$first" '^end: free 0kb 0$'
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
