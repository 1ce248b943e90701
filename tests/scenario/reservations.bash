# SPDX-License-Identifier: Apache-2.0
#
# reservations.bash - what stories about reservations share: load it after helper.bash. `after` gives times, `reserve` makes
# one, `resv_attr` reads an attribute, `attr_is` compares one.

# after SECONDS: a moment from now, as -R and -E have it. day SECONDS: as pbs_rstat -f has it.
after() { moment "$1"; }
long_date() { LC_ALL=C printf '%(%a %b %d %H:%M:%S %Y)T' "$1"; }

# rsub [arguments]: the owner's request. reserve [arguments]: the id of one that is confirmed; 1 cpu, in an hour, unless said.
rsub() { as "$OWNER" pbs_rsub "$@"; }
reserve()
{
	local line
	[[ " $* " == *' -l '* ]] || set -- "$@" -l select=1:ncpus=1
	[[ " $* " == *' -R '* || " $* " == *' -E '* ]] || set -- "$@" -R "$(after 3600)"
	[[ " $* " == *' -D '* || " $* " == *' -E '* ]] || set -- "$@" -D 600
	line=$(rsub -I 60 "$@") || return
	[[ $line == *' CONFIRMED' ]] || { echo "$line" >&2; return 1; }
	echo "${line% *}"
}

begun() # [arguments]: one that runs
{
	local id
	id=$(reserve -R "$(after 3)" "$@") || return
	wait_until 30 resv_is "$id" RUNNING 5 || return
	echo "$id"
}

# stubborn QUEUE: a job that ignores SIGTERM runs there.
stubborn()
{
	local id mark
	mark=$(here "ignores.$RANDOM")
	id=$(submit -q "$1" -l select=1:ncpus=1 -- /bin/sh -c "trap '' TERM; : >$mark; while :; do sleep 0.2; done") || return
	wait_until 20 job_is "$id" R 42 && wait_until 20 test -e "$mark" || return
	echo "$id"
}

killed() { sandbox restart server --hard; wait_until 60 answers; }

epoch_of() { date -d "$(resv_attr "$@")" +%s; } # id, attribute that is a time

attr_is() { same "$2 of $1" "$3" "$(resv_attr "$1" "$2")"; } # id, attribute, value
is_gone() { ! pbs_rstat -f "$1" 2>/dev/null | grep -q .; }
queue_attr() { qstat -Qf "${1%.svr}" | sed -n "s/^ *$2 = //p"; } # id, attribute
records() { accounting | sed -n "s/^[^;]*;\\($2\\);$1;/\\1 /p"; } # id, letters as U\|Y: letter and text
log_of() { server_log | sed -n "s/^.*;Resv;$1;//p"; } # id
log_line() { has "$(log_of "$1")" "$2"; } # id, pattern
scheduling() { qmgr -c "set server scheduling = $1"; }

# Each story leaves none behind.
no_reservations() { [ -z "$(pbs_rstat)" ]; }
without_reservations()
{
	no_reservations && return
	pbs_rstat -B | sed 's/^Resv ID: //' | xargs -r pbs_rdel || true
	wait_until 60 no_reservations
}
