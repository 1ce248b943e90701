#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Lists of who may ask, who may submit where, and who manages.

load helper
load shared

setup() { join_cluster; needs_root; }

server() { qmgr -c "set server $1"; }
denied() { says 159 "$1: Unauthorized Request " as "$OTHER" "$@"; }
host() { hostname; }

@test "server's user list: nothing is answered to others" {
	server "acl_user_enable=True,acl_users=$OWNER@*"
	undo qmgr -c 'unset server acl_user_enable,acl_users'
	id=$(submit -h)
	denied qstat
	denied qstat -Q
	denied qsub -- /bin/true
	denied qselect
	says 159 "qdel: Unauthorized Request  $id" as "$OTHER" qdel "$id"
	has "$(server_log)" "0020;.*Unauthorized Request, request type: status, .* request from: $OTHER@"
	quietly as "$OWNER" qalter -p 1 "$id"
}

@test "server's user list: root is never locked out, an empty list denies everybody else" {
	server 'acl_user_enable=True'
	undo qmgr -c 'unset server acl_user_enable,acl_users'
	says 159 'qstat: Unauthorized Request ' as "$OWNER" qstat
	says 159 'qstat: Unauthorized Request ' as "$MANAGER" qstat
	quietly qstat
	server 'acl_users=+'
	quietly as "$OWNER" qstat
	server "acl_users=\"+,-$OTHER@$(host)\""
	quietly as "$OWNER" qstat
	denied qstat
}

@test "server's user list: what says most about the host counts" {
	server "acl_user_enable=True,acl_users=\"$OWNER@*,-$OTHER,$OTHER@$(host)\""
	undo qmgr -c 'unset server acl_user_enable,acl_users'
	quietly as "$OTHER" qstat
	server "acl_users=\"$OWNER@*,$OTHER,-$OTHER@$(host)\""
	denied qstat
}

@test "server's host list" {
	server 'acl_host_enable=True'
	undo qmgr -c 'unset server acl_host_enable,acl_hosts'
	quietly as "$OWNER" qstat
	server 'acl_hosts=elsewhere'
	says 160 'qstat: Access from host not allowed, or unknown host ' as "$OWNER" qstat
	quietly qstat
	server 'acl_hosts="elsewhere,*"'
	quietly as "$OWNER" qstat
}

@test "a queue's lists" {
	qmgr -c "set queue workq acl_user_enable=True,acl_users=$OWNER"
	undo qmgr -c 'unset queue workq acl_user_enable,acl_users'
	submit -h
	denied qsub -- /bin/true
	qmgr -c 'unset queue workq acl_users'
	says 159 'qsub: Unauthorized Request ' as "$OWNER" qsub -- /bin/true
	qmgr -c 'unset queue workq acl_user_enable'
	qmgr -c 'set queue workq acl_host_enable=True,acl_hosts=elsewhere'
	undo qmgr -c 'unset queue workq acl_host_enable,acl_hosts'
	says 160 'qsub: Access from host not allowed, or unknown host' as "$OWNER" qsub -- /bin/true
	qmgr -c 'unset queue workq acl_hosts'
	submit -h
}

@test "a queue's group list: any of the user's groups" {
	getent group ktproj >/dev/null || groupadd ktproj
	usermod -a -G ktproj "$OWNER"
	undo gpasswd -d "$OWNER" ktproj
	nap 1.1 # who is in which group is kept for a second
	qmgr -c 'set queue workq acl_group_enable=True,acl_groups=ktproj'
	undo qmgr -c 'unset queue workq acl_group_enable,acl_groups'
	a=$(submit -h)
	denied qsub -- /bin/true
	qmgr -c 'create queue in queue_type=route,route_destinations=workq,enabled=true'
	undo qmgr -c 'delete queue in'
	undo eval 'qselect | xargs -r qdel -W force; wait_until 10 no_jobs'
	b=$(submit -q in -h)
	c=$(submit_as "$OTHER" -q in)
	qmgr -c 'set queue in route_held_jobs=true'
	qstart in
	routed() { same queue workq "$(job_attr "$b" queue)"; }
	wait_until 10 routed
	wait_until 10 is_over "$c"
	same comment 'Job rejected by all possible destinations' "$(job_attr "$c" comment)"
	qmgr -c "set queue workq acl_groups=\"-$(id -gn "$OWNER"),ktproj\""
	says 159 'qsub: Unauthorized Request ' as "$OWNER" qsub -- /bin/true
	as "$OWNER" qdel "$a"
}

@test "acl_roots: root's jobs" {
	says 175 'qsub: Bad UID for job execution' qsub -- /bin/true
	server "acl_roots=root@*"
	undo qmgr -c 'unset server acl_roots'
	qsub -h -- /bin/true
	server "acl_roots=root@elsewhere"
	says 175 'qsub: Bad UID for job execution' qsub -- /bin/true
	server "acl_roots=notroot"
	says 175 'qsub: Bad UID for job execution' qsub -- /bin/true
}

@test "managers and operators: by host pattern" {
	id=$(submit -h)
	server "operators += $OTHER@*.nowhere"
	undo qmgr -c "set server operators -= $OTHER@*.nowhere"
	says 159 "qalter: Unauthorized Request  $id" as "$OTHER" qalter -p 2 "$id"
	server "operators += $OTHER@*"
	undo qmgr -c "set server operators -= $OTHER@*"
	quietly as "$OTHER" qalter -p 2 "$id"
	server "managers += $OTHER@*"
	undo qmgr -c "set server managers -= $OTHER@*"
	quietly as "$OTHER" qmgr -c 'create queue mine'
	quietly as "$OTHER" qmgr -c 'delete queue mine'
}
