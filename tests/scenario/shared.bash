# SPDX-License-Identifier: Apache-2.0
#
# shared.bash - one cluster for all stories of a file: load it after helper.bash. A file that wants another cluster, or more
# before or behind its stories, has a setup_file(), setup() or teardown_file() of its own.
#
# Each story leaves the cluster as it found it: teardown removes its jobs; what else it changed it puts
# back itself, or says so to `undo`.

# open_cluster [options of `sandbox start`]: finished jobs are remembered.
open_cluster()
{
	state_shown=$BATS_FILE_TMPDIR/state-shown
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR setup_sandbox "$@"
	qmgr -c 'set server job_history_enable = true'
	export SB
}

close_cluster()
{
	sandbox stop || true
	rm -rf "$SB"
}

join_cluster()
{
	. "$SB/env"
	ask_is_there || true
	state_shown=$BATS_TEST_TMPDIR/state-shown
	undone=$BATS_TEST_TMPDIR/undo
}

setup_file() { open_cluster; }
teardown_file() { close_cluster; }
setup() { join_cluster; }

vacate() { qdel -W force "$@"; wait_until 10 no_jobs; }
ended_jobs() { qselect | xargs -r qdel -W force; wait_until 10 no_jobs; }
kill_mom() { sandbox kill "$1"; undo sandbox restart "$1"; }

# undo COMMAND...: run it when this story is over, however it ends; the last said is done first.
undo() { { printf '%q ' "$@"; echo; } >>"$undone"; }

undo_all()
{
	local i lines
	[ -e "$undone" ] || return 0
	mapfile -t lines <"$undone"
	for ((i = ${#lines[@]} - 1; i >= 0; i--)); do eval "${lines[i]}" || true; done
}

no_jobs() { ask_for jobs || ask_lines=$(qselect); [ -z "$ask_lines" ]; }

teardown()
{
	[ -n "${BATS_TEST_COMPLETED-}" ] || show_state
	undo_all
	no_jobs || {
		qselect | xargs -r qdel -W force >/dev/null 2>&1 || true
		wait_until 10 no_jobs
	}
}

# ---- jobs that end -------------------------------------------------------------------------------------

ends() { wait_until 20 is_over "$1"; }

# script: a file with the lines of stdin on the desk of $OWNER; prints its path.
script()
{
	local path
	path=$(desk "$OWNER")/${1:-job.sh}
	cat >"$path"
	chmod 755 "$path"
	echo "$path"
}

# here PATH: a file on the desk of $OWNER.
here() { echo "$(desk "$OWNER")/$1"; }

# finished [qsub arguments]: a job of $OWNER that is over; prints its id.
finished()
{
	local id
	id=$(submit "$@") || return
	ends "$id" || return
	echo "$id"
}

# shell TEXT [qsub arguments]: submit TEXT as a script on stdin.
shell()
{
	local text=$1
	shift
	printf '%s\n' "$text" | as "$OWNER" qsub "$@"
}

# output_of TEXT [qsub arguments]: what the script TEXT wrote, both streams, as a job that is over.
output_of()
{
	local id file
	file=$(here "out.$RANDOM")
	id=$(shell "$1" -j oe -o "$file" "${@:2}") && ends "$id" && cat "$file"
}
