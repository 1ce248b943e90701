/* SPDX-License-Identifier: Apache-2.0
 *
 * preview.c - what a window would meet, in lines: jobs that still run at its beginning, reservations that it would hit; then numbers.
 */
#include "maintenance.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

KEEL_ATTRS_OF(job, Resource_List, stime, reserve_ID);

#define LINES 1000   /* of each sort; all are counted */
#define UNKNOWN 1e15 /* an end of a job */

struct preview {
	struct keel_mod *mod;
	const struct keel_resv_window *w;
	const char **vnodes;
	uint32_t n_vnodes;
	char **jobs; /* owned; names of those on these vnodes, some more than once */
	uint32_t n_jobs;
	uint32_t runs, hit; /* how many */
	bool failed;
	struct keel_text text;
};

static const char *moment(int64_t when, char buf[32])
{
	const time_t at = (time_t)when;
	struct tm tm;

	if (!localtime_r(&at, &tm) || !strftime(buf, 32, "%a %b %d %H:%M:%S %Y", &tm))
		snprintf(buf, 32, "%lld", (long long)when);
	return buf;
}

/* ---- jobs --------------------------------------------------------------------------------------------------- */

static void tenant(void *arg, const char *job_id, bool suspended)
{
	struct preview *p = arg;
	char **more;

	(void)suspended;
	if (p->failed)
		return;
	if ((p->n_jobs & (p->n_jobs + 1)) == 0) { /* 0, 1, 3, 7 ...: full */
		more = realloc(p->jobs, (2 * (size_t)p->n_jobs + 1) * sizeof(*more));
		p->failed = !more;
		if (!more)
			return;
		p->jobs = more;
	}
	p->jobs[p->n_jobs] = strdup(job_id);
	p->failed = !p->jobs[p->n_jobs];
	p->n_jobs += !p->failed;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* When a job ends at the latest: by its walltime, or with its reservation. UNKNOWN or more: that is not known. */
static double end_of(const struct preview *p, struct keel_obj *job)
{
	const double walltime = keel_resource_list_number(keel_get_ptr(job, job_Resource_List), "walltime", -1);
	const int64_t began = keel_get_int(job, job_stime);
	const char *id = keel_get_str(job, job_reserve_ID);
	struct keel_obj *resv = id ? keel_find(p->mod, "resv", id) : NULL;
	struct keel_resv_window w = { 0 };
	const double end = walltime < 0 || began <= 0 ? UNKNOWN : (double)began + walltime;

	if (!resv || keel_resv_state(resv) != KEEL_RESV_RUNNING || !keel_resv_window(resv, 0, &w) || (double)w.till > end)
		return end;
	return (double)w.till;
}

static void job_line(struct preview *p, const char *id)
{
	struct keel_obj *job = keel_find(p->mod, "job", id);
	const double end = job ? end_of(p, job) : 0;
	char date[32];

	if (!job || end <= (double)p->w->from || ++p->runs > LINES)
		return;
	if (end >= UNKNOWN)
		keel_text_printf(&p->text, "Job %s runs there without an end that is known; it would go on\n", id);
	else
		keel_text_printf(&p->text, "Job %s runs there until %s at the latest; it would go on\n", id,
				 moment((int64_t)end, date));
}

static void jobs_list(struct preview *p)
{
	for (uint32_t i = 0; i < p->n_vnodes; i++) {
		struct keel_obj *node = keel_find(p->mod, "node", p->vnodes[i]);

		if (node)
			keel_node_tenants(node, tenant, p);
	}
	if (p->n_jobs)
		qsort(p->jobs, p->n_jobs, sizeof(*p->jobs), by_text);
	for (uint32_t i = 0; i < p->n_jobs; i++)
		if (i == 0 || strcmp(p->jobs[i - 1], p->jobs[i]) != 0)
			job_line(p, p->jobs[i]);
}

/* ---- reservations ---------------------------------------------------------------------------------------------- */

static bool is_there(const struct preview *p, const char *nodes)
{
	const char **names;
	uint32_t n;
	bool found = false;

	if (vnodes_of(nodes, &names, &n))
		return false;
	for (uint32_t i = 0; i < n && !found; i++)
		found = bsearch(&names[i], p->vnodes, p->n_vnodes, sizeof(*p->vnodes), by_text) != NULL;
	free(names);
	return found;
}

/* Vnodes are compared once for all times of it that have the same. */
static uint32_t times_hit(const struct preview *p, struct keel_obj *resv)
{
	struct keel_resv_window w;
	const char *last = NULL;
	bool there = false;
	uint32_t n = 0;

	for (uint32_t i = 0; keel_resv_window(resv, i, &w); i++) {
		if (!w.nodes || w.from >= p->w->till || p->w->from >= w.till)
			continue;
		if (w.nodes != last)
			there = is_there(p, w.nodes);
		last = w.nodes;
		n += there;
	}
	return n;
}

static void resv_line(struct preview *p, struct keel_obj *resv)
{
	const int32_t state = keel_resv_state(resv);
	const bool window = keel_resv_kind(resv) == KIND;
	uint32_t times;

	if (state == KEEL_RESV_UNCONFIRMED || (times = times_hit(p, resv)) == 0)
		return;
	p->hit += !window;
	if (p->hit > LINES)
		return;
	if (window)
		keel_text_printf(&p->text, "Maintenance %s is there, too; both would stay\n", keel_id(resv));
	else
		keel_text_printf(&p->text, "Reservation %s would lose vnodes%s; others are looked for\n", keel_id(resv),
				 state == KEEL_RESV_RUNNING ? ", its running jobs would go on" : "");
}

static void resvs_list(struct preview *p)
{
	struct keel_cursor *walk = keel_cursor(p->mod, "resv");
	struct keel_obj *resv;

	p->failed |= !walk;
	while (walk && (resv = keel_next(walk)))
		resv_line(p, resv);
	if (walk)
		keel_cursor_close(walk);
}

/* ---- all ------------------------------------------------------------------------------------------------------------ */

static const char *s(uint32_t n)
{
	return n == 1 ? "" : "s";
}

static char *preview_take(struct preview *p)
{
	char *ret;

	keel_text_printf(&p->text, "%u vnode%s, %u job%s that would still run, %u reservation%s that would lose vnodes; nothing was changed",
			 p->n_vnodes, s(p->n_vnodes), p->runs, s(p->runs), p->hit, s(p->hit));
	ret = p->failed || p->text.failed ? NULL : strdup(p->text.data);
	keel_text_fini(&p->text);
	for (uint32_t i = 0; i < p->n_jobs; i++)
		free(p->jobs[i]);
	free(p->jobs);
	free(p->vnodes);
	return ret;
}

char *preview(struct keel_mod *mod, const struct keel_resv_window *w)
{
	struct preview p = { .mod = mod, .w = w };

	if (vnodes_of(w->nodes, &p.vnodes, &p.n_vnodes))
		return NULL;
	keel_text_init(&p.text);
	jobs_list(&p);
	resvs_list(&p);
	return preview_take(&p);
}
