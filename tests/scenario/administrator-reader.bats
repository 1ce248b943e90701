#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What a reader of the whole found between its parts: commands in jobs, users that are root under another name.

load helper

fails() # text, command...
{
	local text=$1 found
	shift
	if found=$("$@" 2>&1); then echo "\`$*\` does not fail: $found" >&2; return 1; fi
	[[ $found == *"$text"* ]] || { printf '"%s" is not in: %s\n' "$text" "$found" >&2; return 1; }
}

@test "administrator #3: a job is its owner's in its script, and on no other host" {
	needs_root
	needs_module client-relay
	setup_sandbox --hosts 3 --logins 1
	qmgr -c 'set server query_other_jobs = False, job_history_enable = True'
	id=$(at login1 "$OWNER" qsub -l select=1:host=n1+1:host=n2 -l place=scatter -- /bin/sleep 6161)
	wait_until 20 job_is "$id" R
	at n1 "$OWNER" qalter -N here "$id"
	says 0 "$id" at n1 "$OWNER" qselect
	has "$(at n1 "$OWNER" keelson explain "$id")" "$id +state R"
	fails 'Unauthorized Request' at n1 "$OTHER" qdel "$id"
	for here in n2 n3; do
		fails 'Unauthorized Request' at "$here" "$OWNER" qdel "$id"
		says 0 '' at "$here" "$OWNER" qselect
		fails 'Unauthorized Request' at "$here" "$OWNER" keelson explain "$id"
	done
	at n1 "$OWNER" qdel "$id"
	wait_until 20 eval "! qstat $id"
	id=$(at login1 "$OWNER" qsub -h -- /bin/true)
	fails 'Unauthorized Request' at n1 "$OWNER" qdel "$id"
}

@test "administrator #3: a user of uid 0 who is not called root gets no job, but a reason" {
	needs_root
	setup_sandbox
	sed "s|^\($OWNER:[^:]*:\)[0-9]*:|\10:|" /etc/passwd >"$SB/passwd"
	sandbox kill n1
	unshare -m --propagation private bash -ec "mount --bind '$SB/passwd' /etc/passwd; exec \"\$@\"" bash \
		"$top/scripts/sandbox" restart --dir "$SB" --build "$KEELSON_BUILD" n1 3>&- || skip "needs mount namespaces"
	qmgr -c 'set server job_history_enable = True'
	id=$(as "$OWNER" qsub -- /bin/sh -c "id -u >$SB/uid")
	wait_until 20 comment_says "$id" "user $OWNER is root on this host \(uid 0\): jobs of root are those of the user root"
	[ ! -e "$SB/uid" ]
}

@test "administrator #2: a login node's own modules are switched there, by its root" {
	needs_root
	needs_module client-relay
	setup_sandbox --logins 1
	fails 'Unauthorized Request' at login1 "$OWNER" keelson unload client-relay
	has "$(at login1 root keelson unload client-relay)" '^client-relay: unloaded'
	fails 'none of the modules of its daemon carries requests there' at login1 "$OWNER" qstat
	qstat -B
	has "$(at login1 root keelson load client-relay)" '^client-relay: loaded'
	at login1 "$OWNER" qstat -B
	has "$(at login1 root keelson reload client-relay)" '^client-relay: restarted'
	at login1 "$OWNER" qstat -B
}

@test "administrator #3: a manager of a login node is named as the host is enrolled" {
	needs_root
	needs_module client-relay
	setup_sandbox --logins 1
	printf 'client-relay: { enabled = true; manage = ["login*"]; };\n' >"$SB/server/etc/modules.d/client-relay.conf"
	keelson reload client-relay
	fails 'Unauthorized Request' at login1 "$OWNER" qmgr -c 'set server comment = one'
	qmgr -c "set server managers += $OWNER@login1"
	at login1 "$OWNER" qmgr -c 'set server comment = two'
	fails 'Unauthorized Request' at n1 "$OWNER" qmgr -c 'set server comment = three'
	has "$(qstat -Bf)" ' comment = two$'
}

@test "administrator #3: with flatuid a reservation takes its owner's jobs from each host" {
	needs_root
	needs_module client-relay
	needs_module reservations
	setup_sandbox --logins 2
	id=$(at login1 "$OWNER" pbs_rsub -R "$(moment 3600)" -D 60 | cut -d' ' -f1)
	at login1 "$OWNER" qsub -q "${id%%.*}" -- /bin/true
	fails 'Unauthorized Request' at login2 "$OWNER" qsub -q "${id%%.*}" -- /bin/true
	qmgr -c 'set server flatuid = True'
	id=$(at login1 "$OWNER" pbs_rsub -R "$(moment 7200)" -D 60 | cut -d' ' -f1)
	has "$(pbs_rstat -f "$id")" "^Authorized_Users = $OWNER@login1$"
	at login2 "$OWNER" qsub -q "${id%%.*}" -- /bin/true
	fails 'Unauthorized Request' at login2 "$OTHER" qsub -q "${id%%.*}" -- /bin/true
}

@test "administrator #19: a host that is called as a reservation is explained, too" {
	needs_module reservations
	setup_sandbox
	qmgr -c 'create node M1 Mom=n1'
	has "$(keelson explain M1)" '^vnode +M1 '
	says 1 'keelson: Unknown Reservation Id' keelson explain M2
}
