#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# python-hooks-guide.bats - the hooks of sdk/doc/hooks do what they say, installed by the lines of their own heads.
#
# needs modules/python-hooks

load helper
load shared

setup_file()
{
	open_cluster --hosts 3 --set log.events=4095
	printf '%s\n' 'create queue small queue_type=execution,enabled=true,started=true' \
		'create queue short queue_type=execution,enabled=true,started=true' \
		'create queue day queue_type=execution,enabled=true,started=true' | qmgr
}

# install NAME: as its head says, from a copy of its folder, in $desk; it goes with the story. On return hosts have it.
install()
{
	desk=$SB/guide
	mkdir -p "$desk"
	cp "$top"/sdk/doc/hooks/*.* "$desk"
	local line event before
	event=$(sed -n 's/.*create hook .*event=//p' "$desk/$1.py")
	before=$(sent "$1")
	while read -r line; do
		(cd "$desk" && bash -e -c "$line")
	done < <(sed -n 's/^#\t\(qmgr .*\)/\1/p' "$desk/$1.py")
	undo qmgr -c "delete hook $1"
	[[ $event != *exec* ]] || wait_until 30 has_sent "$1" $((before + 3))
}
sent() { server_log | grep -c "successfully sent hook file .*/$1.PY to " || true; }
has_sent() { [ "$(sent "$1")" -ge "$2" ]; }

held() { submit -h "$@"; }
log_says() { has "$(server_log)" "$1" 2>/dev/null; }
state_is() { same "state of $1" "$2" "$(node_attr "$1" state)" 2>/dev/null; }

@test "hooks of the guide: default_project" {
	install default_project
	group=$(id -gn "$OWNER")
	echo "{\"project of a group\": {\"$group\": \"p-own\"}}" >"$desk/own.json"
	qmgr -c "import hook default_project application/x-config default $desk/own.json"
	same project p-own "$(job_attr "$(held)" project)"
	same project mine "$(job_attr "$(held -P mine)" project)"
	echo '{"project of a group": {"nosuch": "x"}}' >"$desk/own.json"
	qmgr -c "import hook default_project application/x-config default $desk/own.json"
	got=$(held 2>&1) && false
	same words 'qsub: no project is known for you: say which one with -P, or ask for one' "$got"
}

@test "hooks of the guide: memory_limit" {
	install memory_limit
	a=$(held -q small)
	same mem 1gb "$(job_attr "$a" Resource_List.mem)"
	a=$(held -q small -l mem=2gb)
	got=$(held -q small -l mem=5gb 2>&1) && false
	same words 'qsub: queue small takes jobs up to 4gb of memory, this one asks for 5gb' "$got"
	got=$(held -q small -l select=2:mem=3gb 2>&1) && false
	has "$got" 'this one asks for 6gb'
	got=$(qalter -l mem=8gb "$a" 2>&1) && false
	has "$got" 'queue small takes jobs up to 4gb'
	same mem 2gb "$(job_attr "$a" Resource_List.mem)"
	b=$(held -l mem=8gb) # other queues have no limit
	got=$(qmove small "$b" 2>&1) && false
	has "$got" 'queue small takes jobs up to 4gb'
	same queue workq "$(job_attr "$b" queue)"
}

@test "hooks of the guide: licences" {
	install licences
	printf '[licences]\nfree = %s/free\n' "$SB" >"$desk/here.ini"
	qmgr -c "import hook licences application/x-config default $desk/here.ini"
	echo 'matlab 0' >"$SB/free"
	chmod 644 "$SB/free"
	a=$(submit -l software=matlab)
	wait_until 20 comment_says "$a" 'no licence of matlab is free'
	job_is "$a" Q
	ends "$(submit -- /bin/true)"
	echo 'matlab 2' >"$SB/free"
	qmgr -c 'set server scheduling = true'
	wait_until 30 job_is "$a" R
}

@test "hooks of the guide: queue_by_walltime" {
	install queue_by_walltime
	same queue short "$(job_attr "$(held -l walltime=10:00)" queue)"
	same queue day "$(job_attr "$(held -l walltime=1:00:01)" queue)"
	same queue small "$(job_attr "$(held -q small)" queue)"
	got=$(held 2>&1) && false
	same words 'qsub: please say how long the job may take: qsub -l walltime=HH:MM:SS' "$got"
	got=$(held -l walltime=200:00:00 2>&1) && false
	same words 'qsub: no queue takes jobs of more than 168:00:00' "$got"
}

in_hours() { date -d "+$1 hours" +%Y%m%d%H%M; }

@test "hooks of the guide: reservation_rules" {
	needs_root
	install reservation_rules
	id=$(as "$OWNER" pbs_rsub -R "$(in_hours 1)" -D 2:00:00)
	id=${id%% *}
	undo pbs_rdel "$id"
	wait_until 20 resv_is "$id" CONFIRMED
	says 32 'pbs_rsub: a reservation is for 24:00:00 at most' as "$OWNER" pbs_rsub -R "$(in_hours 1)" -E "$(in_hours 30)"
	says 32 'pbs_rsub: a reservation begins within 14 days' as "$OWNER" pbs_rsub -R "$(in_hours 400)" -D 2:00:00
	says 32 'pbs_ralter: a reservation is for 24:00:00 at most' as "$OWNER" pbs_ralter -D 25:00:00 "$id"
	[ -d "$top/modules/maintenance-reservations" ] || return 0
	id=$(as "$MANAGER" pbs_rsub --hosts n1 -R "$(in_hours 400)" -D 30:00:00)
	undo pbs_rdel "${id%% *}"
}

runs_on() { mom_log "$1" | grep -c ';Hook;node_health;finished$' || true; }
has_run_on() { [ "$(runs_on "$1")" -ge "$2" ]; }

@test "hooks of the guide: node_health" {
	touch "$SB/mount"
	install node_health
	qmgr -c 'set hook node_health freq = 1'
	echo "{\"free bytes\": {\"/\": 0}, \"paths\": [\"$SB/mount\"]}" >"$desk/here.json"
	qmgr -c "import hook node_health application/x-config default $desk/here.json"
	pbsnodes -o n2 # an administrator's word
	pbsnodes -C mine n2
	undo pbsnodes -r n2
	undo qmgr -c 'unset node n2 comment'
	before=$(runs_on n2)
	wait_until 40 has_run_on n2 $((before + 2)) # one that began before may write over it
	rm "$SB/mount"
	wait_until 40 state_is n1 offline
	has "$(node_attr n1 comment)" "node_health: $SB/mount is missing"
	wait_until 40 state_is n3 offline
	touch "$SB/mount"
	wait_until 40 state_is n1 free
	same comment '' "$(node_attr n1 comment)"
	wait_until 40 state_is n3 free
	state_is n2 offline
	same comment mine "$(node_attr n2 comment)"
}

@test "hooks of the guide: pad_nodes, trim_nodes" {
	install pad_nodes
	install trim_nodes
	cat >"$desk/sick.py" <<-'EOS'
		import pbs
		if pbs.get_local_nodename() == "n2":
		    pbs.event().reject("sick")
	EOS
	before=$(sent sick)
	qmgr -c 'create hook sick event=execjob_begin'
	undo qmgr -c 'delete hook sick'
	qmgr -c "import hook sick application/x-python default $desk/sick.py"
	wait_until 30 has_sent sick $((before + 3))
	undo pbsnodes -r n2
	undo qmgr -c 'unset node n2 comment'
	a=$(submit -l select=2:ncpus=1 -l place=scatter -- /bin/sleep 1000)
	same select 3:ncpus=1 "$(job_attr "$a" Resource_List.select)"
	same tolerance job_start "$(job_attr "$a" tolerate_node_failures)"
	wait_until 60 job_is "$a" R 42
	same hosts 'n1/0+n3/0' "$(job_attr "$a" exec_host)"
	same nodect 2 "$(job_attr "$a" Resource_List.nodect)"
	wait_until 30 state_is n2 offline
	same comment "it did not start $a" "$(node_attr n2 comment)"
	same 'one chunk' 1:ncpus=1 "$(job_attr "$(held -l select=1:ncpus=1)" Resource_List.select)"
}

@test "hooks of the guide: who_changed_what" {
	install who_changed_what
	qmgr -c 'set node n1 comment = hello'
	qmgr -c 'unset node n1 comment'
	wait_until 20 log_says 'Hook;[^;]*;'$ME'@[^;]*: MGR_CMD_SET n1: comment = hello: done$'
	wait_until 20 log_says ': MGR_CMD_UNSET n1: comment unset: done$'
	qmgr -c 'set node nosuch comment = x' || true
	wait_until 20 log_says ': MGR_CMD_SET nosuch: comment = x: refused .15062.$'
}

@test "hooks of the guide: scratch" {
	needs_root
	install scratch
	undo qmgr -c 'delete resource scratch_kb'
	out=$(here where)
	rm -f "$out"
	a=$(submit -l select=1:host=n1 -- /bin/sh -c "dd if=/dev/zero of=\$SCRATCH/x bs=1024 count=64; echo \$SCRATCH >$out")
	ends "$a"
	same folder "/var/tmp/scratch.$a" "$(cat "$out")"
	same kilobytes 64 "$(job_attr "$a" resources_used.scratch_kb)"
	wait_until 20 test ! -e "/var/tmp/scratch.$a"
	has "$(accounting | grep ";E;$a;")" ' resources_used.scratch_kb=64( |$)'

	next=/var/tmp/scratch.$((${a%%.*} + 1)).svr # a folder that somebody else made before
	as "$OTHER" mkdir -m 777 "$next"
	undo rm -rf "$next"
	a=$(submit -l select=1:host=n1 -- /bin/sh -c 'touch $SCRATCH/here')
	same trap "/var/tmp/scratch.$a" "$next"
	ends "$a"
	same status -17 "$(job_attr "$a" Exit_status)"
	[ ! -e "$next/here" ]
}

@test "hooks of the guide: guarded_changes" {
	needs_root
	install guarded_changes
	a=$(held -l walltime=1:00:00)
	got=$(as "$OWNER" qalter -p 5 "$a" 2>&1) && false
	has "$got" 'the priority of a job can be lowered only'
	as "$OWNER" qalter -p -5 "$a"
	got=$(as "$OWNER" qalter -l walltime=2:00:00 "$a" 2>&1) && false
	has "$got" 'a longer walltime than 01:00:00 needs another job'
	as "$OWNER" qalter -l walltime=30:00 "$a"
	qalter -p 5 -l walltime=3:00:00 "$a"
	same priority 5 "$(job_attr "$a" Priority)"
}

@test "hooks of the guide: job_ended" {
	install job_ended
	a=$(submit -P p1 -- /bin/sh -c 'exit 3')
	ends "$a"
	wait_until 20 log_says ";0008;[^;]*;Job;$a;ended user=$OWNER project=p1 queue=workq exit=3 cpu=00:00:0[0-9] mem="
}

@test "hooks of the guide: vnode_watch" {
	install vnode_watch
	pbsnodes -o n3
	wait_until 20 log_says 'vnode_watch: n3 is .*ND_STATE_OFFLINE'
	pbsnodes -r n3
	wait_until 20 log_says 'vnode_watch: n3 is well again'
}

@test "hooks of the guide: each has cases, which keelson hook test runs without a server" {
	cp -r "$top/sdk/doc/hooks" "$SB/cases"
	keelson hook tables >"$SB/cases/tables.json"
	PBS_SERVER_SOCKET=/nonesuch keelson hook test "$SB/cases"
}

# The administrator's guide from a fresh installation, typed word by word.
@test "hooks of the guide: its sessions, from an installation alone" {
	command -v python3 >/dev/null || skip "python3 is missing"
	installed=$(mktemp -d "${TMPDIR:-/tmp}/keelson-hooks-guide.XXXXXX")
	undo rm -rf "$installed"
	chmod 755 "$installed"
	make -C "$KEELSON_BUILD" -s install DESTDIR="$installed" prefix=/usr sysconfdir=/etc >/dev/null 3>&-
	undo qmgr -c 'delete hook no_walltime'
	export PATH=$installed/usr/bin:$PATH KEEL_HOME=$SB/server KEEL_DOC=$installed/usr/share/doc/keelson
	[ "$EUID" -ne 0 ] || export KEEL_USER=$OWNER
	"$top/sdk/doc/tools/docs" play "$top/sdk/doc/hooks-guide.md" "$(desk "$OWNER")" 3>&-
}
