#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# needs modules/task-manager
#
# What a module on a host does with programs before they run, the job's own and tasks beside it: the fixture `programs` plays a
# site's hook, its files are in $knobs. And what becomes of a job that a host refuses: `veto_host`.

load helper
load shared

setup_file()
{
	export knobs=$BATS_FILE_TMPDIR/knobs
	mkdir -p "$knobs"
	open_cluster --hosts 2 --enable programs --set "programs.path=$KEELSON_BUILD/tests/fixtures/programs.so" --set "programs.dir=$knobs"
}

setup() { join_cluster; needs_module sisters; rm -f "$knobs"/*; }

both=(-l select=2:ncpus=1 -l place=scatter)
dsh="$KEELSON_BUILD/bin/pbsdsh"
knob() { printf '%s\n' "$2" >"$knobs/$1"; }
# seen HOST ID TEXT: the fixture saw that there
seen() { has "$(mom_log "$1")" ";Fixture;$2;$3"; }
script_of() { echo "$SB/n1/mom_priv/jobs/$1.SC"; }

# program [words]: what a job of this program wrote is in $out, its id in $id
program()
{
	local file
	file=$(here "out.$RANDOM")
	id=$(finished -j oe -o "$file" -- "$@")
	out=$(tr '\0' '\n' <"$file")
}
# text TEXT [qsub arguments]: the same of a script
text()
{
	local file
	file=$(here "out.$RANDOM")
	id=$(shell "$1" -j oe -o "$file" "${@:2}")
	ends "$id"
	out=$(tr '\0' '\n' <"$file")
}

@test "hosts-programs: of a script its shell, its path and its environment are seen; a variable that is added is there" {
	knob launch-env X=1
	text 'echo "X=$X $0 $#"; echo "task $PBS_TASKNUM"; cat /proc/$PPID/cmdline'
	has "$out" "^X=1 $(script_of "$id") 0\$"
	has "$out" '^task 1$'
	has "$out" '^-[a-z]*sh$' # it is a login shell's, as without the change
	seen n1 "$id" "launch <[^>]*sh> <$(script_of "$id")> task=1 nodefile=.*/aux/$id X=none dir=/"
	seen n1 "$id" "second <[^>]*sh> <$(script_of "$id")> task=1 nodefile=.*/aux/$id X=1 dir=/"
}

@test "hosts-programs: a script gets an argument that is appended" {
	knob launch-append 'one more'
	text 'echo "$# <$1>"; exit 3'
	has "$out" '^1 <one more>$'
	same Exit_status 3 "$(job_attr "$id" Exit_status)"
}

@test "hosts-programs: a program is executed with what was set: another one, found in PATH, and one argument more" {
	knob launch-program cat
	knob launch-append /proc/self/environ
	program /bin/true /proc/self/cmdline
	has "$out" '^cat$'
	has "$out" '^/proc/self/cmdline$'
	has "$out" '^/proc/self/environ$'
	has "$out" "^PBS_JOBID=$id\$"
	seen n1 "$id" 'launch </bin/true> </proc/self/cmdline> task=1'
	seen n1 "$id" 'second <cat> </proc/self/cmdline> </proc/self/environ> task=1'
}

@test "hosts-programs: the whole environment is replaced" {
	knob launch-alone X=only
	program /usr/bin/env
	same environment X=only "$out"
}

@test "hosts-programs: what cannot be executed is refused, and the job runs as it would have" {
	knob launch-env no-variable
	program /bin/echo as ever
	same output 'as ever' "$out"
	seen n1 "$id" 'launch refused: Invalid argument$'
}

@test "hosts-programs: a program that is not there ends the job like one that it named itself" {
	knob launch-program nosuchprogram
	program /bin/true
	same Exit_status 254 "$(job_attr "$id" Exit_status)"
	same output 'nosuchprogram: No such file or directory' "$out"
}

@test "hosts-programs: tasks on each host get an argument and a variable" {
	knob spawn-env X=2
	knob spawn-append last
	text "$dsh -- /bin/sh -c 'echo \"\$PBS_NODENUM \$PBS_TASKNUM X=\$X \$0\"; cat /proc/self/environ | tr \"\\0\" \"\\n\" | grep ^X='" "${both[@]}"
	has "$out" '^0 [0-9A-F]{8} X=2 last$'
	has "$out" '^1 [0-9A-F]{8} X=2 last$'
	same processes 2 "$(grep -cx X=2 <<<"$out")"
	for host in n1 n2; do
		seen $host "$id" "spawn </bin/sh> <-c> <echo .*> task=[0-9A-F]{8} nodefile=.*/aux/$id X=none dir=/"
	done
}

@test "hosts-programs: a task that is refused is not started, its job goes on and another one starts" {
	local go
	go=$(here go)
	knob spawn-reject 'not here'
	id=$(shell "$dsh -n 1 -- /bin/echo started; echo goes on; until [ -e '$go' ]; do sleep 0.1; done; $dsh -n 1 -- /bin/echo later" \
		-j oe -o "$(here out)" "${both[@]}")
	refused() { has "$(mom_log n2)" ";Job;$id;task [0-9A-F]{8} not started, echo: not here\$" 2>/dev/null; }
	wait_until 20 refused
	rm "$knobs/spawn-reject"
	touch "$go"
	ends "$id"
	out=$(cat "$(here out)")
	has "$out" '^pbsdsh: error 17012 on spawn$'
	lacks "$out" '^started$'
	has "$out" '^goes on$'
	has "$out" '^later$'
	same Exit_status 0 "$(job_attr "$id" Exit_status)"
}

@test "hosts-programs: a job whose program was changed ends whole when its shepherd is killed" {
	knob launch-alone PATH=/usr/bin:/bin
	id=$(submit -- /bin/sh -c 'setsid sleep 4327 & exec sleep 4328')
	sleeps() { pgrep -f '^sleep 4327' >/dev/null && pgrep -f '^sleep 4328' >/dev/null; }
	wait_until 20 sleeps
	kill -9 "$(ps -o ppid= -p "$(pgrep -f '^sleep 4328')")"
	ends "$id"
	none() { ! pgrep -f '^sleep 432[78]' >/dev/null; }
	wait_until 10 none
}

# ---- refusals -----------------------------------------------------------------------------------------------------------------
# fixture HOST NAME [conf]
fixture()
{
	local file=$SB/$1/etc/modules.d/$2.conf
	echo "$2: { enabled = true; path = \"$KEELSON_BUILD/tests/fixtures/$2.so\"; ${3-} };" >"$file"
	undo reload_host "$1"
	undo rm "$file"
	reload_host "$1"
}
vetoes() { fixture n1 veto_host "at = \"$1\"; code = $2; text = \"it says no\";"; }
says() { has "$(server_log)" "$1" 2>/dev/null; }

@test "hosts-programs: an end that is refused with -19 deletes the job, -18 queues it again" {
	vetoes epilogue -19
	id=$(finished -r n -l host=n1 -- /bin/true)
	same Exit_status -19 "$(job_attr "$id" Exit_status)"
	job_is "$id" F 93
	has "$(server_log)" ";000c;Server@svr;Job;$id;a hook requested for job to be deleted\$"
	fixture n1 veto_host 'at = "epilogue"; code = -18; text = "again";'
	id=$(submit -l host=n1 -- /bin/true)
	again() { [ "$(job_attr "$id" run_count)" -ge 2 ]; }
	wait_until 60 again
	has "$(server_log)" ";Job;$id;a hook requested for job to be requeued\$"
	qdel -W force "$id"
}

@test "hosts-programs: a begin that is refused says with its number what becomes of the job" {
	for code in 15169 15170 15136; do
		vetoes begin $code
		id=$(submit -l host=n1 -- /bin/true)
		wait_until 20 says ";0008;Server@svr;Job;$id;send of job to n1 failed error = $code reject_msg=,it says no\$"
		has "$(server_log)" ";0008;Server@svr;Job;$id;Unable to Run Job, MOM rejected\$"
		lacks "$(job_attrs "$id")" Exit_status
		qdel -W force "$id"
	done
	vetoes begin 15171
	id=$(submit -l host=n1 -- /bin/true)
	wait_until 20 says ";Job;$id;Job aborted per a hook rejection"
}

@test "hosts-programs: a begin that another host than the first refuses: queued again, or deleted" {
	for code in 15170:-16 15136:-22; do
		status=${code#*:} code=${code%:*}
		fixture n2 veto_host "at = \"begin\"; code = $code; text = \"it says no\";"
		id=$(submit "${both[@]}" -- /bin/true)
		requeued() { has "$(accounting)" "^[^;]*;R;$id;.*Exit_status=$status " 2>/dev/null; }
		wait_until 30 requeued
		qdel -W force "$id"
	done
	fixture n2 veto_host 'at = "begin"; code = 15171; text = "it says no";'
	id=$(submit "${both[@]}" -- /bin/true)
	ends "$id"
	same run_count 1 "$(job_attr "$id" run_count)"
}

# ---- other hosts than the first -------------------------------------------------------------------------------------------------
@test "hosts-programs: each host of a job may refuse its end, and its resumption; each notices that it stands still" {
	echo 'task_suspended: { enabled = true; path = "'"$KEELSON_BUILD"'/tests/fixtures/task_suspended.so"; };
		veto_resume: { enabled = true; path = "'"$KEELSON_BUILD"'/tests/fixtures/veto_resume.so"; file = "'"$knobs"'/stays"; text = "not yet"; };' \
		>"$SB/n2/etc/modules.d/others.conf"
	undo reload_host n2
	undo rm "$SB/n2/etc/modules.d/others.conf"
	fixture n2 veto_preterm
	id=$(submit "${both[@]}" -- /bin/sleep 1000)
	wait_until 20 job_is "$id" R 42
	run -65 qdel "$id"
	has "$output" 'not now'
	job_is "$id" R 42
	touch "$knobs/stays"
	qsig -s suspend "$id"
	wait_until 20 job_is "$id" S
	has "$(mom_log n2)" ";Fixture;$id;"
	qsig -s resume "$id" || true
	wait_until 20 seen_refusal "$id"
	job_is "$id" S
	rm "$knobs/stays" "$SB/n2/etc/modules.d/veto_preterm.conf"
	qsig -s resume "$id"
	wait_until 20 job_is "$id" R 42
	reload_host n2
	qdel "$id"
	wait_until 20 no_jobs
}
seen_refusal() { has "$(mom_log n2)" ";Job;$1;execjob_preresume hook rejected request: not yet\$" 2>/dev/null; }
