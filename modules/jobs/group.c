/* SPDX-License-Identifier: Apache-2.0
 *
 * group.c - group_list: which group a job runs as.
 *
 * The name service is queried for each job that names a group, on a worker thread: what a session knows of its
 * user's groups is of the time it connected.
 */
#include "jobs.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BUF_FIRST 4096u
#define GROUPS_FIRST 64

struct group_question {
	char *user, *group; /* group "": the user's own */
	char *found;	    /* NULL: there is none, or the user is no member */
	group_done *done;
	void *arg;
};

static void question_free(struct group_question *q)
{
	free(q->user);
	free(q->group);
	free(q->found);
	free(q);
}

/* ---- on the worker ------------------------------------------------------------------------------------ */

/* Calls `get` with a growing buffer until what it reads fits. False: it failed, or there is no memory. */
static bool read_whole(int (*get)(void *arg, char *buf, size_t len), void *arg)
{
	size_t size = BUF_FIRST;
	char *buf = NULL;
	int code = ERANGE;

	for (; code == ERANGE; size *= 2) {
		char *bigger = realloc(buf, size);

		if (!bigger)
			break;
		buf = bigger;
		code = get(arg, buf, size);
	}
	free(buf);
	return code == 0;
}

struct primary {
	const char *user;
	gid_t gid;
};

static int primary_get(void *arg, char *buf, size_t len)
{
	struct primary *p = arg;
	struct passwd pw, *found = NULL;
	int code = getpwnam_r(p->user, &pw, buf, len, &found);

	if (found)
		p->gid = pw.pw_gid;
	return code ? code : found ? 0 : ENOENT;
}

struct named {
	const char *name; /* NULL: by gid */
	gid_t gid;
	char *found;
};

static int named_get(void *arg, char *buf, size_t len)
{
	struct named *n = arg;
	struct group gr, *found = NULL;
	int code = n->name ? getgrnam_r(n->name, &gr, buf, len, &found)
			   : getgrgid_r(n->gid, &gr, buf, len, &found);

	if (found) {
		n->gid = gr.gr_gid;
		n->found = strdup(gr.gr_name);
	}
	return code ? code : found ? 0 : ENOENT;
}

static bool is_member(const char *user, gid_t primary, gid_t gid)
{
	int room = GROUPS_FIRST, n = room;
	gid_t *ids = NULL, *more;
	bool member = primary == gid;

	while (!member && room <= NGROUPS_MAX && (more = realloc(ids, (size_t)room * sizeof(gid_t)))) {
		ids = more;
		n = room;
		if (getgrouplist(user, primary, ids, &n) >= 0)
			break;
		room = n > room ? n : 2 * room;
		n = 0;
	}
	for (int i = 0; ids && i < n; i++)
		member |= ids[i] == gid;
	free(ids);
	return member;
}

static void question_work(void *arg)
{
	struct group_question *q = arg;
	struct primary own = { .user = q->user };
	struct named named = { .name = *q->group ? q->group : NULL };

	if (!read_whole(primary_get, &own))
		return;
	named.gid = own.gid;
	if (read_whole(named_get, &named) && is_member(q->user, own.gid, named.gid))
		q->found = named.found;
	else
		free(named.found);
	if (!*q->group && !q->found && asprintf(&q->found, "%u", own.gid) < 0)
		q->found = NULL;
}

/* ---- on the loop ---------------------------------------------------------------------------------------- */

static void question_done(struct keel_mod *mod, void *arg)
{
	struct group_question *q = arg;

	q->done(mod, q->arg, q->found ? 0 : PBSE_BADGRP, q->found);
	question_free(q);
}

void group_ask(struct keel_mod *mod, const char *user, const char *group, group_done *done, void *arg)
{
	struct group_question *q = calloc(1, sizeof(*q));

	if (q) {
		q->done = done;
		q->arg = arg;
		q->user = strdup(user);
		q->group = strdup(group);
	}
	if (q && q->user && q->group && keel_work(mod, question_work, question_done, q) == 0)
		return;
	if (q)
		question_free(q);
	done(mod, arg, PBSE_SYSTEM, NULL);
}

/* The entry for `host`, else the one for every host, else none: "". */
static void entry_choose(const char *list, const char *host, char *buf, size_t size)
{
	bool exact = false;

	buf[0] = '\0';
	for (const char *at = list; *at && !exact;) {
		size_t len = strcspn(at, ","), name = strcspn(at, "@,");

		exact = name < len && strlen(host) == len - name - 1 &&
			strncasecmp(at + name + 1, host, len - name - 1) == 0;
		if (exact || name == len)
			snprintf(buf, size, "%.*s", (int)name, at);
		at += len + (at[len] == ',');
	}
}

bool group_wanted(struct keel_mod *mod, struct keel_req *req, char *buf, size_t size)
{
	const char *host = keel_host_name(mod);
	const struct keel_attrop *attrs;
	bool wanted = false;
	uint32_t n = 0;

	if (keel_msg_attrs(keel_req_body(req), "attrs", &attrs, &n))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (strcasecmp(attrs[i].name, job_attr_group_list.name) == 0) {
			entry_choose(attrs[i].value ? attrs[i].value : "", host, buf, size);
			wanted = true;
		}
	return wanted;
}
