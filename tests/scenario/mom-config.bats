#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# mom_priv/config of an execution host: what its directives do, what a wrong line does at the start and at SIGHUP.

# needs modules/mom-config
load helper
load shared

setup_file() { open_cluster --hosts 2; }
setup() { join_cluster; file=$SB/n1/mom_priv/config; undo rm -f "$file"; }

directives() { printf '%s\n' "$@" >"$file"; }
# starts_badly TEXT: the daemon of the host does not start, exit 1; it says so, and its log has TEXT.
starts_badly()
{
	local status=0
	(
		. "$SB/env"
		while read -r line; do set -- "$@" --set "$line"; done < <(cat "$SB/settings" "$SB/n1/etc/settings" 2>/dev/null)
		exec "$KEELSON_BUILD/keelsond" --conf "$SB/n1/etc/keelson.conf" "${@:2}"
	) >"$SB/said" 2>&1 3>&- || status=$?
	same "exit of the daemon" 1 "$status"
	grep -F 'pbs_mom: config file(s) parsing failed' "$SB/said"
	mom_log n1 | grep -F -- "$1"
}

@test "multi-host #37: \$prologalarm 0 is refused, the host's daemon ends with 1" {
	needs_module prologue
	sandbox kill n1
	undo sandbox restart n1
	directives '$prologalarm 0'
	starts_badly ';Svr;pbs_mom;config[1] command "$prologalarm 0" failed, aborting'
	rm "$file"
}

@test "tolerate-node-failures #22: waits of a start that are no seconds are refused, the host's daemon ends with 1" {
	needs_module sisters
	sandbox kill n1
	undo sandbox restart n1
	for line in '$job_launch_delay 0' '$sister_join_job_alarm -1' '$sister_join_job_alarm abc'; do
		directives "$line"
		starts_badly ";Svr;pbs_mom;config[1] command \"$line\" failed, aborting"
	done
	rm "$file"
}

@test "mom_priv/config: a name that is none, and a usecp without a host, end the start with their line" {
	sandbox kill n1
	undo sandbox restart n1
	directives '# ours' '$usecp nocolon /home'
	starts_badly 'invalid host specification: nocolon /home'
	mom_log n1 | grep -F 'config[2] command "$usecp nocolon /home" failed, aborting'
	directives '$nosuch 1'
	starts_badly 'command name $nosuch not found'
	rm "$file"
}

@test "mom_priv/config: at SIGHUP a wrong file changes nothing, a good one is in force" {
	directives '$logevent 0xffffffff' '$clienthost somewhere' "\$tmpdir $SB/n1/other"
	mkdir -m 1777 "$SB/n1/other"
	reload_host n1
	mom_log n1 | grep -F 'mom_priv/config[2] $clienthost is accepted, but no module that is loaded obeys it'
	same TMPDIR "$SB/n1/other/pbs." "$(output_of 'echo ${TMPDIR%pbs.*}pbs.' -l select=1:host=n1)"
	directives "\$tmpdir $SB/n1/tmp" '$tmpdir here'
	run reload_host n1
	[ "$status" -ne 0 ]
	mom_log n1 | grep -F 'refused: pbs_mom: config file(s) parsing failed: mom_priv/config line 2: "here" is no absolute path'
	same TMPDIR "$SB/n1/other/pbs." "$(output_of 'echo ${TMPDIR%pbs.*}pbs.' -l select=1:host=n1)"
	rm "$file"
	reload_host n1
	same TMPDIR "$SB/n1/tmp/pbs." "$(output_of 'echo ${TMPDIR%pbs.*}pbs.' -l select=1:host=n1)"
}

@test "mom_priv/config: \$usecp says where files of another host are, \$jobdir_root where private directories are" {
	mkdir -m 1777 "$SB/n1/jobs" "$SB/n1/far"
	directives "\$usecp *.far:/there $SB/n1/far" "\$jobdir_root $SB/n1/jobs"
	reload_host n1
	a=$(submit -l select=1:ncpus=1:host=n1 -W sandbox=PRIVATE -o x.far:/there/out -e x.far:/there/err -- /bin/sh -c 'echo $PBS_JOBDIR; test -O .; stat -c %a .')
	ends "$a"
	same "its output" "$SB/n1/jobs/pbs.$a.x8z 700" "$(xargs <"$SB/n1/far/out")"
	[ ! -e "$SB/n1/jobs/pbs.$a.x8z" ]
}

@test "mom_priv/config: a shared \$jobdir_root is one directory for all hosts of a job; its first host removes it" {
	needs_module sisters
	needs_module task-manager
	mkdir -m 1777 "$SB/shared"
	for host in n1 n2; do
		echo "\$jobdir_root $SB/shared shared" >"$SB/$host/mom_priv/config"
		undo rm -f "$SB/$host/mom_priv/config"
		reload_host "$host"
	done
	a=$(submit -l select=2:ncpus=1 -l place=scatter -W sandbox=PRIVATE -j oe -o "$(here shared)" -- \
		/bin/sh -c "echo mine >file; $KEELSON_BUILD/bin/pbsdsh -n 1 -- /bin/sh -c 'pwd; cat file'")
	ends "$a"
	same output "$SB/shared/pbs.$a.x8z mine" "$(xargs <"$(here shared)")"
	[ ! -e "$SB/shared/pbs.$a.x8z" ]
}

@test "mom_priv/config: a file that others may write is refused" {
	needs_root
	directives '$logevent 4095'
	chmod 666 "$file"
	run reload_host n1
	[ "$status" -ne 0 ]
	mom_log n1 | grep -F 'refused: pbs_mom: config file(s) parsing failed: '
	chmod 644 "$file"
	reload_host n1
}
