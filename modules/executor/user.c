/* SPDX-License-Identifier: Apache-2.0
 *
 * user.c - who a task runs as: numbers, groups, home and shell from the name service. Worker thread.
 */
#include "launch.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROUPS_FIRST 64

void user_fini(struct user *u)
{
	free(u->name);
	free(u->home);
	free(u->shell);
	free(u->groups);
	free(u->chosen);
	*u = (struct user){ 0 };
}

int user_copy(const struct user *from, struct user *to)
{
	*to = (struct user){ .uid = from->uid, .gid = from->gid, .n_groups = from->n_groups,
			     .chosen_gid = from->chosen_gid };
	to->name = strdup(from->name);
	to->home = strdup(from->home);
	to->shell = strdup(from->shell);
	to->groups = calloc(from->n_groups ? from->n_groups : 1, sizeof(gid_t));
	to->chosen = from->chosen ? strdup(from->chosen) : NULL;
	if (!to->name || !to->home || !to->shell || !to->groups) {
		user_fini(to);
		return -ENOMEM;
	}
	memcpy(to->groups, from->groups, from->n_groups * sizeof(gid_t));
	return 0;
}

static int groups_read(struct user *u)
{
	int room = GROUPS_FIRST, n;

	for (;;) {
		gid_t *more = realloc(u->groups, (size_t)room * sizeof(gid_t));

		if (!more)
			return -ENOMEM;
		u->groups = more;
		n = room;
		if (getgrouplist(u->name, u->gid, u->groups, &n) >= 0)
			break;
		if (n <= room || (size_t)n > SPEC_GROUPS_MAX)
			return -EOVERFLOW;
		room = n;
	}
	u->n_groups = (size_t)n;
	return 0;
}

static int account_read(struct launch *l)
{
	struct user *u = &l->account_of;
	struct passwd pw, *found = NULL;
	char buf[16384];
	int r = getpwnam_r(l->user, &pw, buf, sizeof(buf), &found);

	if (!found)
		return launch_fail(l, KEEL_TASK_BAD_USER, "user %s is unknown on this host%s%s", l->user,
				   r ? ": " : "", r ? strerror(r) : "");
	*u = (struct user){ .uid = pw.pw_uid, .gid = pw.pw_gid };
	u->name = strdup(l->user);
	u->home = strdup(pw.pw_dir && *pw.pw_dir ? pw.pw_dir : "/");
	u->shell = strdup(pw.pw_shell && *pw.pw_shell ? pw.pw_shell : "/bin/sh");
	if (!u->name || !u->home || !u->shell || groups_read(u) < 0)
		return launch_fail(l, -3, "no memory for the groups of user %s", l->user);
	return 0;
}

/* Groups are left and deleted while jobs wait. */
static int group_fail(struct launch *l, int32_t status, const char *why)
{
	l->own = true;
	return launch_fail(l, status, "Bad GID for job execution: user %s is in no group %s %s", l->user, l->group, why);
}

/* Kept with the account, and looked up anew with it: a query costs as much as a file of the task's. */
static int group_find(struct user *u, const char *name, gid_t *ret)
{
	struct group gr, *found = NULL;
	char buf[65536];

	if (!u->chosen || strcmp(u->chosen, name) != 0) {
		if (getgrnam_r(name, &gr, buf, sizeof(buf), &found) || !found)
			return -ENOENT;
		free(u->chosen);
		u->chosen = strdup(name);
		u->chosen_gid = gr.gr_gid;
	}
	*ret = u->chosen_gid;
	return 0;
}

/* A group the user is no member of is refused: the server may have older tables than we. */
static int group_choose(struct launch *l)
{
	gid_t gid;

	l->gid = l->account_of.gid;
	if (!l->group || !*l->group)
		return 0;
	if (group_find(&l->account_of, l->group, &gid) < 0)
		return group_fail(l, KEEL_TASK_BAD_USER, "on this host, which has none");
	for (size_t i = 0; i < l->account_of.n_groups; i++)
		if (l->account_of.groups[i] == gid) {
			l->gid = gid;
			return 0;
		}
	return group_fail(l, KEEL_TASK_BAD_GROUP, "any more");
}

int user_resolve(struct launch *l)
{
	if (!l->user || !*l->user)
		return launch_fail(l, KEEL_TASK_BAD_USER, "the job names no user");
	if (!l->resolved && account_read(l) < 0)
		return -1;
	l->resolved = true;
	if (l->account_of.uid == 0 && strcmp(l->user, "root") != 0)
		return launch_fail(l, KEEL_TASK_BAD_USER, "user %s is root on this host (uid 0): jobs of root are those of the user "
				   "root, where acl_roots of the server has it", l->user);
	if (geteuid() != 0 && l->account_of.uid != geteuid())
		return launch_fail(l, KEEL_TASK_BAD_USER,
				   "this daemon runs without root and cannot become user %s", l->user);
	return group_choose(l);
}
