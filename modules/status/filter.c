/* SPDX-License-Identifier: Apache-2.0
 *
 * filter.c - which objects a listing shows, and which of their attributes.
 */
#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/acl.h"

KEEL_ATTR_OPT(server, query_other_jobs);
KEEL_ATTR_OPT(server, flatuid);
KEEL_ATTR_OPT(server, show_hidden_attribs);
KEEL_ATTR_OPT(job, job_state);
KEEL_ATTR_OPT(job, Job_Owner);
KEEL_ATTR_OPT(job, exec_host);

#define TEST_COST 64u

/* Selections that mean another attribute than the one they name. */
static const struct {
	const char *asked, *meant;
} aliases[] = {
	{ "User_List", "Job_Owner" },
	{ "destination", "queue" },
};

/* Selections that clients make whatever modules there are: nothing has what no module declares. */
static const char *const may_be_absent[] = { "array" };

static bool is_absent(const char *name)
{
	for (size_t i = 0; i < KEEL_COUNT(may_be_absent); i++)
		if (strcmp(may_be_absent[i], name) == 0)
			return true;
	return false;
}

void filter_free(struct test **filter)
{
	struct test *t, *next;

	for (t = *filter; t; t = next) {
		next = t->next;
		free(t->key);
		free(t->text);
		free(t);
	}
	*filter = NULL;
}

int32_t filter_add(struct listing *l, const char *name, const char *key, const char *text, int32_t op,
		   struct keel_err *err)
{
	const struct keel_attr *attr;
	struct test *t;
	size_t i;

	for (i = 0; i < KEEL_COUNT(aliases); i++)
		if (strcmp(aliases[i].asked, name) == 0)
			name = aliases[i].meant;
	attr = keel_attr_find(l->mod, l->klass, name);
	if (!attr && is_absent(name)) {
		l->nothing = true;
		return 0;
	}
	if (!attr)
		return keel_error(err, PBSE_NOATTR, "%s %s", keel_pbse_text(PBSE_NOATTR), name);
	if (op < KEEL_EQ || op > KEEL_LT)
		op = KEEL_EQ;
	t = calloc(1, sizeof(*t));
	if (!t || !(t->text = strdup(text ? text : "")) || (key && !(t->key = strdup(key)))) {
		filter_free(&t);
		return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	}
	t->attr = attr;
	t->of_whole = l->instead && is_absent(name);
	t->op = op;
	t->next = l->filter;
	l->filter = t;
	l->filter_cost += TEST_COST + strlen(t->text);
	return 0;
}

/* `queue@server`, `@server`: the server is this one. */
static int32_t add_destination(struct listing *l, const char *text, struct keel_err *err)
{
	char name[64];
	size_t len = strcspn(text, "@");

	if (len == 0)
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)len, text);
	if (!keel_find(l->mod, "queue", name))
		return keel_error(err, PBSE_UNKQUE, "Unknown queue destination %s", name);
	return filter_add(l, "queue", NULL, name, KEEL_EQ, err);
}

int32_t filter_compile(struct listing *l, const struct keel_msg *body, struct keel_err *err)
{
	struct keel_obj *server = keel_find(l->mod, "server", keel_server_name(l->mod));
	const struct keel_attrop *ops;
	uint32_t n = 0, i;
	int32_t code = keel_msg_attrs(body, "select", &ops, &n);

	if (code && code != -ENODATA)
		return keel_error(err, PBSE_PROTOCOL, "%s", keel_pbse_text(PBSE_PROTOCOL));
	l->others_hidden = !(l->roles & KEEL_OPERATORS) && server && server_query_other_jobs &&
			   !keel_get_int(server, server_query_other_jobs);
	l->flatuid = server && server_flatuid && keel_get_int(server, server_flatuid);
	if (server && server_show_hidden_attribs && keel_get_int(server, server_show_hidden_attribs))
		l->roles |= KEEL_UNHIDDEN;
	for (i = 0, code = 0; i < n && !code; i++) {
		if (strcmp(ops[i].name, "destination") == 0)
			code = add_destination(l, ops[i].value ? ops[i].value : "", err);
		else
			code = filter_add(l, ops[i].name, ops[i].key, ops[i].value, ops[i].op, err);
	}
	return code;
}

bool is_history(struct listing *l, struct keel_obj *obj)
{
	int64_t state;

	if (strcmp(l->klass, "job") != 0)
		return false;
	state = keel_get_int(obj, job_job_state) & 0x7f;
	return state == 'F' || state == 'M';
}

bool filter_pass(struct listing *l, struct keel_obj *obj, bool part)
{
	const struct test *t;

	if (l->nothing || (!l->history && is_history(l, obj)))
		return false;
	if (l->others_hidden && strcmp(l->klass, "job") == 0) {
		const struct keel_session *who = keel_req_session(l->req);
		const char *owner = job_Job_Owner ? keel_get_str(obj, job_Job_Owner) : NULL;

		const char *exec_host = job_exec_host && !is_history(l, obj) ? keel_get_str(obj, job_exec_host) : NULL;

		if (!owner || !keel_acl_is_job_owner(owner, exec_host, who->user, who->host, keel_host_name(l->mod), l->flatuid))
			return false;
	}
	for (t = l->filter; t; t = t->next)
		if (!(part && t->of_whole) && keel_match(obj, t->attr, t->op, t->key, t->text, NULL) <= 0)
			return false;
	return true;
}

/* A want list is an array of [name, resource or nil]: the same shape as an attribute list. */
int32_t view_compile(struct listing *l, const struct keel_msg *body, struct keel_err *err)
{
	const struct keel_attrop *ops;
	struct keel_wanted *want = NULL;
	uint32_t n = 0, i;
	int32_t code = keel_msg_attrs(body, "want", &ops, &n);

	if (code && code != -ENODATA)
		return keel_error(err, PBSE_PROTOCOL, "%s", keel_pbse_text(PBSE_PROTOCOL));
	if (n && !(want = calloc(n, sizeof(*want))))
		return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	for (i = 0; i < n; i++)
		want[i] = (struct keel_wanted){ ops[i].name, ops[i].key };
	l->view = keel_view(l->mod, l->klass, want, n, l->roles);
	free(want);
	return l->view ? 0 : keel_error(err, PBSE_SYSTEM, "System error: out of memory");
}

struct keel_obj *find_operand(struct listing *l, const char *id)
{
	struct keel_obj *obj = keel_find(l->mod, l->klass, id);
	size_t number = keel_id_number(id), len = strcspn(id, "@");
	char full[512];

	if (obj)
		return obj;
	if (id[len] == '@' && len < sizeof(full)) {
		memcpy(full, id, len);
		full[len] = '\0';
		return find_operand(l, full);
	}
	if (strcmp(l->klass, "job") != 0 || number == 0 || id[number])
		return NULL;
	if (snprintf(full, sizeof(full), "%s.%s", id, keel_server_name(l->mod)) >=
	    (int)sizeof(full))
		return NULL;
	return keel_find(l->mod, "job", full);
}
