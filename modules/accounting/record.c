/* SPDX-License-Identifier: Apache-2.0
 *
 * record.c - the text of a record about a job: items in a fixed order, made from its attributes now.
 *
 * While it is built every item ends with a blank; only the letters of `blank_ended` keep the last one.
 */
#include "accounting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OPT(job, exec_vnode);
KEEL_ATTR_OPT(job, euser);
KEEL_ATTR_OPT(job, egroup);
KEEL_ATTR_OPT(job, Account_Name);
KEEL_ATTR_OPT(job, project);
KEEL_ATTR_OPT(job, Job_Name);
KEEL_ATTR_OPT(job, queue);
KEEL_ATTR_OPT(job, ctime);
KEEL_ATTR_OPT(job, qtime);
KEEL_ATTR_OPT(job, etime);
KEEL_ATTR_OPT(job, stime);
KEEL_ATTR_OPT(job, exec_host);
KEEL_ATTR_OPT(job, Resource_List);
KEEL_ATTR_OPT(job, obittime);
KEEL_ATTR_OPT(job, session_id);
KEEL_ATTR_OPT(job, Exit_status);
KEEL_ATTR_OPT(job, resources_used);
KEEL_ATTR_OPT(job, run_count);
KEEL_ATTR_OPT(job, phase_start);
KEEL_ATTR_OPT(job, exec_host_orig);
KEEL_ATTR_OPT(job, exec_vnode_orig);
KEEL_ATTR_OPT(job, Resource_List_orig);

#define ITEMS_ROOM 65536 /* bytes that taps append to one record, as a rule */

static const char blank_ended[] = "QSscB";
/* Those that say where a job begins to run, or goes on with less; those of a part of its run that is over. */
static const char beginning[] = "STcs", phases[] = "ue";

static const char *string_of(struct keel_obj *job, const struct keel_attr *attr)
{
	return attr ? keel_get_str(job, attr) : NULL;
}

static void add_string(struct text *t, struct keel_obj *job, const char *key,
		       const struct keel_attr *attr, bool always)
{
	const char *value = string_of(job, attr);

	if (value && *value)
		text_item(t, key, value, always);
}

static bool is_set(struct keel_obj *job, const struct keel_attr *attr)
{
	return attr && keel_is_set(job, attr);
}

static void add_int(struct text *t, struct keel_obj *job, const char *key,
		    const struct keel_attr *attr)
{
	long long n = is_set(job, attr) ? (long long)keel_get_int(job, attr) : 0;

	text_printf(t, "%s=%lld ", key, n);
}

/* ---- resource lists --------------------------------------------------------------------------- */

struct listing {
	struct text *t;
	const char *prefix;
	const char *walltime; /* instead of the list's own; NULL: as it is */
	bool had_walltime;
};

static void add_entry(void *arg, const char *key, const char *text, uint32_t len)
{
	struct listing *l = arg;
	const bool is_walltime = l->walltime && key && strcmp(key, "walltime") == 0;
	char name[256], *value = is_walltime ? strdup(l->walltime) : strndup(text, len);

	if (!value) {
		l->t->broken = true;
		return;
	}
	l->had_walltime |= is_walltime;
	snprintf(name, sizeof(name), "%s.%s", l->prefix, key ? key : "");
	text_item(l->t, name, value, false);
	free(value);
}

static void add_list(struct text *t, struct keel_obj *job, const char *prefix,
		     const struct keel_attr *attr)
{
	struct listing l = { .t = t, .prefix = prefix };
	const struct keel_emit emit = { add_entry, &l };

	if (is_set(job, attr))
		keel_emit(job, attr, NULL, &emit);
}

struct sums {
	struct keel_res_value *v;
	uint32_t n;
};

static int order_of_sums(const void *a, const void *b)
{
	const struct keel_res_value *x = a, *y = b;
	uint32_t own_x = x->res->flags & KEEL_RES_BUILTIN, own_y = y->res->flags & KEEL_RES_BUILTIN;

	if (own_x != own_y)
		return own_x ? -1 : 1;
	return strcmp(x->res->name, y->res->name);
}

static bool sums_add(struct sums *s, const struct keel_res_value *v)
{
	struct keel_res_value *bigger;
	uint32_t i;

	for (i = 0; i < s->n; i++) {
		if (s->v[i].res == v->res) {
			s->v[i].n += v->n;
			return true;
		}
	}
	bigger = reallocarray(s->v, s->n + 1, sizeof(*bigger));
	if (!bigger)
		return false;
	s->v = bigger;
	s->v[s->n++] = *v;
	return true;
}

static void add_sums(struct text *t, struct sums *s)
{
	char name[256], value[64];
	uint32_t i;

	if (s->n)
		qsort(s->v, s->n, sizeof(s->v[0]), order_of_sums);
	for (i = 0; i < s->n; i++) {
		snprintf(name, sizeof(name), "resource_assigned.%s", s->v[i].res->name);
		keel_resource_value_text(&s->v[i], true, value, sizeof(value));
		text_item(t, name, value, false);
	}
}

/* What exec_vnode takes, summed over its vnodes; sizes in kb. */
static void add_assigned(struct text *t, struct keel_obj *job)
{
	const char *exec_vnode = string_of(job, job_exec_vnode);
	struct keel_exec *exec = NULL;
	struct sums sums = { 0 };
	uint32_t i, k;

	if (!exec_vnode ||
	    keel_resource_exec_parse(exec_vnode, &exec, NULL) || !exec)
		return;
	for (i = 0; i < exec->n; i++)
		for (k = 0; k < exec->part[i].n; k++)
			if (exec->part[i].v[k].res->type < KEEL_RES_BOOL &&
			    !sums_add(&sums, &exec->part[i].v[k]))
				t->broken = true;
	add_sums(t, &sums);
	free(sums.v);
	keel_resource_exec_free(exec);
}

/* ---- groups of items ---------------------------------------------------------------------------- */

static void add_general(struct keel_mod *mod, struct text *t, char letter, struct keel_obj *job)
{
	add_string(t, job, "user", job_euser, false);
	add_string(t, job, "group", job_egroup, false);
	add_string(t, job, "account", job_Account_Name, true);
	add_string(t, job, "project", job_project, false);
	add_string(t, job, "jobname", job_Job_Name, false);
	add_string(t, job, "queue", job_queue, false);
	items_add(mod, t, letter, job, INT32_MIN, ITEMS_TIMES);
	add_int(t, job, "ctime", job_ctime);
	add_int(t, job, "qtime", job_qtime);
	add_int(t, job, "etime", job_etime);
	if (letter != 'Q')
		add_int(t, job, "start", job_stime);
	items_add(mod, t, letter, job, ITEMS_TIMES, ITEMS_LATE);
	/* Its end is that of the job as it was submitted and began. */
	if (letter == 'E' && is_set(job, job_exec_vnode_orig)) {
		add_string(t, job, "exec_host", job_exec_host_orig, false);
		add_string(t, job, "exec_vnode", job_exec_vnode_orig, false);
	} else {
		add_string(t, job, "exec_host", job_exec_host, false);
		add_string(t, job, "exec_vnode", job_exec_vnode, false);
	}
	add_list(t, job, "Resource_List",
		 letter == 'E' && is_set(job, job_Resource_List_orig) ? job_Resource_List_orig : job_Resource_List);
}

/* What ends with this record began with the job, or when it shrank last. */
static void add_phase(struct keel_mod *mod, struct text *t, struct keel_obj *job)
{
	int64_t from = is_set(job, job_phase_start) ? keel_get_int(job, job_phase_start)
		       : is_set(job, job_stime)	    ? keel_get_int(job, job_stime)
						    : keel_time(mod);
	int64_t till = is_set(job, job_obittime) ? keel_get_int(job, job_obittime) : keel_time(mod);
	const long long s = till > from ? (long long)(till - from) : 0;
	char walltime[32];
	struct listing l = { .t = t, .prefix = "resources_used", .walltime = walltime };
	const struct keel_emit emit = { add_entry, &l };

	snprintf(walltime, sizeof(walltime), "%02lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
	add_int(t, job, "session", job_session_id);
	add_int(t, job, "run_count", job_run_count);
	text_add(t, " ", 1);
	if (is_set(job, job_resources_used))
		keel_emit(job, job_resources_used, NULL, &emit);
	if (!l.had_walltime)
		text_item(t, "resources_used.walltime", walltime, false);
}

static void add_end(struct keel_mod *mod, struct text *t, char letter, struct keel_obj *job)
{
	long long end = is_set(job, job_obittime)
				? (long long)keel_get_int(job, job_obittime)
				: (long long)keel_time(mod);
	bool whole = keel_id_is_whole(keel_id(job));

	if (!whole)
		add_int(t, job, "session", job_session_id);
	text_printf(t, "end=%lld ", end);
	add_int(t, job, "Exit_status", job_Exit_status);
	add_list(t, job, "resources_used", job_resources_used);
	items_add(mod, t, letter, job, ITEMS_LATE, INT32_MAX);
	if (!whole)
		add_int(t, job, "run_count", job_run_count);
}

static void add_from_taps(struct keel_mod *mod, struct text *t, char letter, struct keel_obj *job)
{
	const char name[2] = { letter, '\0' };
	char *items = NULL;

	if (!keel_tapped(mod, KEEL_POINT_acct_record))
		return;
	/* fold() does not say how much did not fit */
	for (uint32_t room = ITEMS_ROOM; room && (!items || strlen(items) == room / 2 - 1); room *= 2) {
		free(items);
		items = calloc(1, room);
		if (!items)
			break;
		keel_fold(mod, KEEL_POINT_acct_record,
			  KEEL_EVENT(acct_record, .id = keel_id(job), .job = job, .letter = name),
			  items, room);
	}
	if (!items) {
		t->broken = true;
		return;
	}
	if (*items) {
		text_add(t, items, strlen(items));
		text_add(t, " ", 1);
	}
	free(items);
}

bool record_text(struct keel_mod *mod, char letter, struct keel_obj *job, struct text *ret)
{
	if (letter == 'z')
		add_list(ret, job, "resources_used", job_resources_used);
	else
		add_general(mod, ret, letter, job);
	if (strchr(beginning, letter))
		add_assigned(ret, job);
	if (strchr(phases, letter))
		add_phase(mod, ret, job);
	if (letter == 'E' || letter == 'R')
		add_end(mod, ret, letter, job);
	add_from_taps(mod, ret, letter, job);
	while (ret->n && ret->at[ret->n - 1] == ' ')
		ret->at[--ret->n] = '\0';
	if (letter == 'z')
		return ret->n > 0;
	if (strchr(blank_ended, letter))
		text_add(ret, " ", 1);
	return true;
}
