#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What is asked of a job while a module takes its time with its verdict (fixture linger): the job starts, ends
# or is changed by somebody else meanwhile, and what was asked means the job that is there then.

load helper
load shared

points='job_modify job_move job_hold job_signal job_delete'

# linger_at POINTS
linger_at()
{
	echo "linger: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/linger.so\"; at = \"$1\"; user = \"$OWNER\"; };" \
		>"$SB/server/etc/modules.d/linger.conf"
	sandbox reload >/dev/null
}

setup_file()
{
	open_cluster
	linger_at "$points"
	qmgr -c 'create queue other queue_type=e,enabled=t,started=t,resources_default.mem=100mb'
}
setup()
{
	needs_root # who tidies up does not wait
	join_cluster
	undo qmgr -c 'set server scheduling = true'
	qmgr -c 'set server scheduling = false'
	asked=()
}

waiting() { [ "$(keelson holds | grep -c 'time until the next job')" -eq "$1" ]; }

# ask USER COMMAND...: it waits for a verdict now; what it says is in the file $n, its status is answer $n.
ask()
{
	n=${#asked[@]}
	as "$@" >"$BATS_TEST_TMPDIR/$n" 2>&1 3>&- &
	asked+=($!)
	wait_until 20 waiting $((n + 1))
}
over() { ! kill -0 "$1" 2>/dev/null; }
# The next job is queued; who asks once more waits for the one after it.
go_on() { submit -h >/dev/null; }
got_on() { over "$1" || { go_on; false; }; }

# answer N STATUS TEXT
answer()
{
	local got=0
	wait_until 20 got_on "${asked[$1]}"
	wait "${asked[$1]}" || got=$?
	same "answer $1" "$2 $3" "$got $(cat "$BATS_TEST_TMPDIR/$1")"
}

start() { quietly qrun -H n1 "$1"; wait_until 20 job_is "$1" R 42; }
charged() { qmgr -c 'list server' | value resources_assigned.ncpus; }

# until_told: a job that ends with 0 as soon as there is a file `told`.
until_told()
{
	rm -f "$(here told)"
	submit "$@" -- /bin/sh -c "until test -e $(here told); do sleep 0.1; done"
}
told() { as "$OWNER" touch "$(here told)"; }

@test "the server restarts with another set of modules: what waits for a verdict waits for it again" {
	id=$(submit -l ncpus=1)
	other=$(submit)
	ask "$OWNER" qalter -l ncpus=2 "$id"
	ask "$OWNER" qdel "$other"
	undo load_mail
	keelson unload mail >/dev/null
	wait_until 20 waiting 2
	! over "${asked[0]}"
	! over "${asked[1]}"
	same ncpus 1 "$(job_attr "$id" Resource_List.ncpus)"
	go_on
	answer 0 0 ''
	answer 1 0 ''
	same ncpus 2 "$(job_attr "$id" Resource_List.ncpus)"
	same alterations 1 "$(server_log | grep -c ";$id;Job Modified at request of $OWNER@")"
	same deletions 1 "$(accounting | grep -c ";D;$other;requestor=$OWNER@")"
}

@test "qalter: the job starts meanwhile" {
	id=$(submit -l ncpus=1)
	ask "$OWNER" qalter -l ncpus=2 "$id"
	start "$id"
	answer 0 167 "qalter: Cannot modify attribute while job running  Resource_List.ncpus $id"
	same ncpus 1 "$(job_attr "$id" Resource_List.ncpus)"
	qdel -W force "$id"
	same charged 0 "$(charged)"
}

@test "qalter: the job ends meanwhile" {
	id=$(until_told)
	start "$id"
	ask "$OWNER" qalter -N late "$id"
	told
	ends "$id"
	answer 0 35 'qalter: Job has finished'
	same name STDIN "$(job_attr "$id" Job_Name)"
}

@test "qalter: two at a time; nobody's change is lost" {
	id=$(submit -h -l ncpus=1)
	ask "$OWNER" qalter -l walltime=100 "$id"
	ask "$OWNER" qalter -l mem=200mb "$id"
	ask "$OWNER" qmove other "$id"
	answer 0 0 ''
	answer 1 0 ''
	answer 2 0 ''
	same all 'other 00:01:40 200mb 1:mem=200mb:ncpus=1' "$(for a in queue Resource_List.{walltime,mem,select}; do
		job_attr "$id" $a; done | xargs)"
}

@test "qmove: the job starts meanwhile" {
	id=$(submit)
	ask "$OWNER" qmove other "$id"
	start "$id"
	answer 0 168 "qmove: Request invalid for state of job $id"
	same place 'workq 1:ncpus=1' "$(job_attr "$id" queue) $(job_attr "$id" Resource_List.select)"
	same memory '' "$(job_attr "$id" Resource_List.mem)"
}

@test "qhold: the job ends meanwhile" {
	id=$(until_told)
	start "$id"
	ask "$OWNER" qhold "$id"
	told
	ends "$id"
	answer 0 35 'qhold: Job has finished'
	same holds n "$(job_attr "$id" Hold_Types)"
}

@test "qdel: the job ends meanwhile; its history stays" {
	id=$(until_told)
	start "$id"
	ask "$OWNER" qdel "$id"
	told
	ends "$id"
	answer 0 35 "qdel: Job has finished $id"
	job_is "$id" F 92
}

@test "qdel: a subjob ends meanwhile; it ends once" {
	needs_module arrays
	a=$(until_told -J 1-2)
	s=${a/\[\]/[1]}
	start "$s"
	ask "$OWNER" qdel "$s"
	told
	wait_until 20 job_is "$s" X 92
	answer 0 55 "qdel: Request invalid for finished array subjob $s"
	same ends 1 "$(cat "$SB"/server/server_priv/accounting/* | grep -cF ";E;$s;")"
	has "$(job_attr "$a" array_state_count)" 'Queued:1 Running:0 Exiting:0 Expired:1'
}

@test "qsig: the job is started again meanwhile; the signal was for the run that is over" {
	id=$(submit)
	start "$id"
	ask "$OWNER" qsig -s KILL "$id"
	quietly qrerun "$id"
	wait_until 20 job_is "$id" Q
	start "$id"
	answer 0 168 "qsig: Request invalid for state of job $id"
	job_is "$id" R 42
}

@test "qrun: the job is altered meanwhile; its place was found for another one" {
	undo linger_at "$points"
	linger_at start_now
	qmgr -c 'set server scheduling = false'
	id=$(submit -l ncpus=1)
	ask "$ME" qrun -H n1 "$id"
	quietly as "$OWNER" qalter -l ncpus=2 "$id"
	answer 0 2 "qrun: Cannot run job which was altered/moved during current scheduling cycle. $id"
	job_is "$id" Q
	same charged 0 "$(charged)"
}
