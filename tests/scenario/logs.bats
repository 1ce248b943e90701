#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Where administrators look: the folders of PBS_HOME, lock files, and what logs look like.

load helper
load shared

setup_file()
{
	open_cluster
	logged=$(finished -N logged -- /bin/true)
	export logged
}

mode() { stat -c %a "$SB/$1"; }
today() { date +%Y%m%d; }

@test "logs: folders and their modes, of a server" {
	for row in 'server_logs 755' 'sched_logs 755' 'spool 1777' 'undelivered 1777' 'server_priv 750' \
		'sched_priv 750' 'server_priv/accounting 755' 'datastore 700' 'pbs_environment 644'; do
		set -- $row
		same "mode of $1" "$2" "$(mode "server/$1")"
	done
	has "$(cat "$SB/server/pbs_version")" .
}

@test "logs: folders and their modes, of a host" {
	for row in 'mom_logs 755' 'spool 1777' 'undelivered 1777' 'aux 755' 'checkpoint 700' 'mom_priv 751' \
		'pbs_environment 644'; do
		set -- $row
		same "mode of $1" "$2" "$(mode "n1/$1")"
	done
}

@test "logs: a file per day that everybody reads" {
	for file in server/server_logs n1/mom_logs; do
		same "mode of $file" 644 "$(mode "$file/$(today)")"
		[[ $(ls "$SB/$file") =~ ^[0-9]{8}$ ]]
	done
}

@test "logs: lock files hold the pid" {
	for row in 'server server/server_priv/server.lock' 'n1 n1/mom_priv/mom.lock'; do
		set -- $row
		pid=$(head -n 1 "$SB/$2")
		same "daemon of $2" keelsond "$(cat "/proc/$pid/comm")"
	done
}

@test "logs: every line has six fields" {
	for name in server n1; do
		sandbox log "$name" | while IFS= read -r line; do
			[[ $line =~ ^[0-9]{2}/[0-9]{2}/[0-9]{4}\ [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{6})?\;[0-9a-f]{4}\;[^\;]+\;[A-Za-z]+\;[^\;]*\;.*$ ]] ||
				{ echo "$name: $line" >&2; exit 1; }
		done
	done
}

@test "logs: who writes is named" {
	has "$(server_log)" ';Server@svr;'
	has "$(mom_log n1)" ';pbs_mom;'
}

@test "logs: the first lines say what runs" {
	found=$(server_log | head -n 6)
	has "$found" ';0002;Server@svr;Svr;Log;Log opened$'
	has "$found" ';pbs_version='
	has "$found" ';0006;Server@svr;Fil;Server@svr;Version .*, started, initialization type = 1$'
}

@test "logs: a job's life on the server" {
	found=$(server_log | grep -F ";Job;$logged;")
	lines=$(cut -d';' -f2,6- <<<"$found")
	for line in '0400;Updated job state to 81 and substate to 10' '0100;enqueuing into workq, state Q hop 1' \
		"0008;Job Queued at request of $OWNER@[^ ]+, owner = $OWNER@[^ ]+, job name = logged, queue = workq" \
		'0008;Job Run at request of Scheduler@[^ ]+ on exec_vnode \(n1:ncpus=1\)' \
		'0400;Updated job state to 82 and substate to 41' \
		'0080;Obit received momhop:1 serverhop:1 state:R substate:4[12]' \
		'0400;Updated job state to 69 and substate to 50' '0400;Updated job state to 69 and substate to 51' \
		'0400;Updated job state to 69 and substate to 52' '0400;Updated job state to 69 and substate to 53' \
		'0010;Exit_status=0 resources_used.cpupercent=.* resources_used.walltime=[0-9:]{8}'; do
		has "$lines" "^$line\$"
	done
}

@test "logs: a job's life on the host" {
	lines=$(mom_log n1 | grep -F ";Job;$logged;" | cut -d';' -f2,6-)
	forgotten() { mom_log n1 | grep -F ";Job;$logged;" | grep -q 'delete job request received'; }
	wait_until 10 forgotten
	lines=$(mom_log n1 | grep -F ";Job;$logged;" | cut -d';' -f2,6-)
	for line in '0008;Started, pid = [0-9]+' '0080;task 00000001 terminated' '0008;Terminated' \
		'0100;task 00000001 cput=[0-9:]{8}' '0008;kill_job' '0100;Obit sent' \
		'0080;copy file request received' '0100;Staged 2/2 items out over 0:00:00'; do
		has "$lines" "^$line\$"
	done
}

@test "logs: deletion, signals, holds, changes" {
	id=$(running)
	qsig -s suspend "$id"
	qsig -s resume "$id"
	as "$OWNER" qhold "$id"
	as "$OWNER" qrls "$id"
	as "$OWNER" qalter -N renamed "$id"
	as "$OWNER" qdel "$id"
	ends "$id"
	lines=$(server_log | grep -F ";Job;$id;" | cut -d';' -f2,6-)
	for line in '0080;signal job request received' "0004;suspend job by $ME@[^ ]+" \
		"0008;job signaled with suspend by $ME@[^ ]+" '0400;Updated job state to 82 and substate to 43' \
		"0004;resume job by $ME@[^ ]+" "0008;Holds u set at request of $OWNER@[^ ]+" \
		"0008;Holds u released at request of $OWNER@[^ ]+" "0008;Job Modified at request of $OWNER@[^ ]+" \
		'0080;delete job request received' '0008;Job sent signal TermJob on delete' \
		"0008;Job to be deleted at request of $OWNER@[^ ]+"; do
		has "$lines" "^$line\$"
	done
}

# states JOB: those the server wrote down after its first start, and what it said of its end.
states()
{
	server_log | grep -F ";Job;$1;" | sed -n '/82 and substate to 42$/,$ {
		s/.*Updated job state to \(..\) and substate to /\1-/p
		s/.*;\(Delete forced\|Obit received\|Exit_status\).*/\1/p }' | tr '\n' ' '
}
goes() { wait_until 20 job_is "$1" "$2"; }

@test "logs: the phases of an end, of a rerun, of a deletion" {
	id=$(running)
	qrerun "$id"
	goes "$id" R
	qdel -W force "$id"
	same 'rerun and forced' '82-42 82-60 Obit received 69-60 69-61 69-62 69-63 81-10 82-41 ' \
		"$(states "$id" | sed 's/82-41 .*/82-41 /')"
	has "$(states "$id")" '69-53 Delete forced Exit_status 70-91 $'
	id=$(submit -h)
	qdel "$id"
	has "$(server_log)" ";0100;[^;]*;Job;$id;in free_nodes and no exec_vnode\$"
	has "$(server_log)" ";Job;$id;Updated job state to 69 and substate to 54\$"
}

@test "logs: nodes come and go" {
	has "$(server_log)" ';0002;Server@svr;Node;n1;node up$'
	sandbox kill n1
	undo "$top/scripts/sandbox" restart --dir "$SB" --build "$KEELSON_BUILD" n1
	noticed() { server_log | grep -q ';0002;Server@svr;Node;n1;node down: '; }
	wait_until 10 noticed
}

@test "logs: an orderly end is told, and numbers go on after it" {
	id=$(submit -h)
	sandbox restart server
	same 'the next id' "$((${id%%.*} + 1)).svr" "$(submit -h)"
	found=$(server_log)
	has "$found" ';Svr;Server@svr;Server shutdown completed$'
	has "$found" ';Svr;Log;Log closed$'
}

@test "logs: a new day has a new file" {
	id=$(submit -h)
	before=$(ls "$SB/server/server_logs")
	same one 1 "$(wc -l <<<"$before")"
	has "$before" "^$(today)\$"
}

@test "logs: log_events of the server chooses what is written; unset, it is as configured" {
	undo qmgr -c 'unset server log_events'
	qmgr -c 'set server log_events = 1'
	unheard=$(submit -h)
	lacks "$(server_log)" ";Job;$unheard;"
	sandbox restart server
	still=$(submit -h)
	lacks "$(server_log)" ";Job;$still;"
	qmgr -c 'unset server log_events'
	heard=$(submit -h)
	has "$(server_log)" ";Job;$heard;Job Queued"
}

@test "logs: a reload of values makes JSON lines of it, and PBS lines again" {
	conf=$SB/server/etc/keelson.conf
	cp "$conf" "$BATS_TEST_TMPDIR/kept"
	undo keelson reload
	undo cp "$BATS_TEST_TMPDIR/kept" "$conf"
	pid=$(head -n 1 "$SB/server/server_priv/server.lock")
	sed -i 's/^log: {/& format = "json";/' "$conf"
	keelson reload
	id=$(submit -h)
	line=$(server_log | grep -F "\"object\":\"$id\",\"text\":\"Job Queued")
	same 'an object' "[8,\"Server@svr\",\"Job\",\"$id\"]" "$(jq -c '[.event, .daemon, .class, .object]' <<<"$line")"
	cp "$BATS_TEST_TMPDIR/kept" "$conf"
	keelson reload
	id=$(submit -h)
	has "$(server_log)" ";0008;Server@svr;Job;$id;Job Queued"
	same 'one process' "$pid" "$(head -n 1 "$SB/server/server_priv/server.lock")"
}
