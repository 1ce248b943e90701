#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A host short of means meets a job in each state (matrix.bash): its spool is full, the name service gives no
# answer, no process can begin. What runs goes on; what should start meanwhile is neither lost nor ended, and starts
# when there is room again.
#
# needs modules/admin-suspend
# needs modules/preemption
# needs modules/arrays

load helper
load matrix

setup() { needs_root; }
teardown()
{
	[ -n "${BATS_TEST_COMPLETED-}" ] || show_state
	rm -f "$SB/silent"
	sandbox stop || true
	! mountpoint -q "$SB/n1/spool" || umount -l "$SB/n1/spool"
	rm -rf "$SB"
}

# What waited may start on n1, or tries to; a job that begins there behind it has been tried too.
others_begin()
{
	qmgr -c 'set queue closed started = true'
	qsig -s admin-resume "${single[SA]}" "$(subjob SA)"
	qrls "${single[H]}" "${array[H]}"
}
# What is at its launch has all it needs since before.
launch()
{
	local id
	rm -f "$parked"/*
	for id in "${single[R41]}" "$(subjob R41)"; do wait_until 20 is_running "$id"; done
}
has_tried() { mom_log n1 | grep -q "${single[Q]}"; }
# None that is to start has ended, none that ran has stopped.
nothing_ended()
{
	local state id
	for state in Q H; do
		for id in "${single[$state]}" "$(subjob $state)"; do
			[[ $(state_of_job "$id") = [QR] ]] || { echo "$id ($state) is $(state_of_job "$id")" >&2; return 1; }
			[ ! -e "$ran/$id" ] || { echo "$id has begun" >&2; return 1; }
		done
	done
	for id in "${single[R42]}" "$(subjob R42)"; do job_is "$id" R 42 && going "$id"; done
}
# The administrator has made room, and says so.
mended()
{
	pbsnodes -r n1
	wait_until 20 is_up n1
	finish
}

@test "matrix: the spool of the host is full" {
	start_cluster
	mount -t tmpfs -o size=4m,mode="$(stat -c %a "$SB/n1/spool")" tmpfs "$SB/n1/spool"
	begin_states
	! cat /dev/zero >"$SB/n1/spool/filler" 2>/dev/null
	expect_states
	others_begin
	wait_until 20 has_tried
	nothing_ended
	rm "$SB/n1/spool/filler"
	launch
	mended
}

# A library that lets each question about a name wait while there is the file $SB/silent.
silent_names()
{
	cat >"$BATS_TEST_TMPDIR/silent.c" <<-C
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <grp.h>
		#include <netdb.h>
		#include <pwd.h>
		#include <unistd.h>
		static void wait_while_silent(void) { while (access("$SB/silent", F_OK) == 0) usleep(20000); }
		#define SILENT(type, name, list, words) type name list \\
			{ type (*next) list = (type (*) list)dlsym(RTLD_NEXT, #name); wait_while_silent(); return next words; }
		SILENT(int, getpwnam_r, (const char *n, struct passwd *p, char *b, size_t l, struct passwd **r), (n, p, b, l, r))
		SILENT(int, getpwuid_r, (uid_t n, struct passwd *p, char *b, size_t l, struct passwd **r), (n, p, b, l, r))
		SILENT(int, getgrnam_r, (const char *n, struct group *p, char *b, size_t l, struct group **r), (n, p, b, l, r))
		SILENT(int, getgrgid_r, (gid_t n, struct group *p, char *b, size_t l, struct group **r), (n, p, b, l, r))
		SILENT(int, getgrouplist, (const char *u, gid_t g, gid_t *l, int *n), (u, g, l, n))
		SILENT(int, getaddrinfo, (const char *h, const char *s, const struct addrinfo *i, struct addrinfo **r), (h, s, i, r))
	C
	gcc -shared -fPIC -o "$SB/silent.so" "$BATS_TEST_TMPDIR/silent.c" -ldl
	export LD_PRELOAD=$SB/silent.so
}

@test "matrix: the name service gives no answer, to the server nor to the host" {
	prepare=silent_names start_cluster
	unset LD_PRELOAD
	begin_states
	touch "$SB/silent"
	expect_states
	others_begin
	wait_until 20 has_tried
	expect_ended # neither killing nor its report asks for names
	launch
	nothing_ended
	rm "$SB/silent"
	mended
}

nursery_of() # host
{
	local mom
	read -r mom <"$SB/$1/mom_priv/mom.lock"
	pgrep -P "$mom" keelson-shepher | head -n 1
}

@test "matrix: the host can start no process of the user" {
	start_cluster
	begin_states
	nursery=$(nursery_of n1)
	prlimit --pid "$nursery" --nproc=1:$(ulimit -Hu)
	expect_states
	others_begin
	wait_until 20 has_tried
	launch
	nothing_ended
	prlimit --pid "$nursery" --nproc="$(ulimit -Hu):$(ulimit -Hu)"
	mended
}
