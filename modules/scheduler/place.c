/* SPDX-License-Identifier: Apache-2.0
 *
 * place.c - find vnodes for every chunk of a job.
 *
 * Vnodes are tried in the order of the snapshot. A chunk goes to one vnode when one is big enough, else
 * over several vnodes of one host (not vscatter). What a trial takes is taken from `free` at once and
 * given back when the trial fails, so nothing is ever given twice.
 *
 * A failure is explained afterwards (explain.c).
 */
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- trial ---------------------------------------------------------------------------------------------- */

static bool queue_has_nodes(const struct snapshot *s, const char *queue)
{
	uint32_t i;

	for (i = 0; queue && i < s->n; i++)
		if (s->node[i].queue && strcmp(s->node[i].queue, queue) == 0)
			return true;
	return false;
}

/* Vnodes of the job's queue if it has some, else those that belong to no queue. */
static void choose(struct trial *t)
{
	const char *queue = queue_has_nodes(t->s, t->w->queue) ? t->w->queue : NULL;
	uint32_t i;

	for (i = 0; i < t->s->n; i++) {
		const struct vnode *v = &t->s->node[i];

		t->may[i] = queue ? v->queue && strcmp(v->queue, queue) == 0 : !v->queue;
		if (t->may[i] && t->w->eligible && v->usable && !t->w->eligible(t->w->arg, v))
			t->may[i] = 0;
		if (v->in_use)
			t->host_busy[v->host] = 1;
	}
}

static bool trial_init(struct trial *t, struct snapshot *s, const struct wish *w)
{
	uint32_t i;

	memset(t, 0, sizeof(*t));
	t->s = s;
	t->w = w;
	t->demand = calloc(w->select->n + 1, sizeof(*t->demand));
	t->may = calloc(2, s->n + 1);
	t->host_used = calloc(2, s->n_hosts + 1);
	if (!t->demand || !t->may || !t->host_used)
		return false;
	t->used = t->may + s->n + 1;
	t->host_busy = t->host_used + s->n_hosts + 1;
	for (i = 0; i < w->select->n; i++)
		if (!demand_make(&t->demand[i], s, &w->select->chunk[i]))
			return false;
	choose(t);
	return true;
}

static void trial_fini(struct trial *t)
{
	uint32_t i;

	for (i = 0; t->demand && i < t->w->select->n; i++)
		demand_fini(&t->demand[i]);
	for (i = 0; i < t->n_part; i++)
		free(t->part[i].amount);
	free(t->part);
	free(t->demand);
	free(t->may);
	free(t->host_used);
}

/* Is the vnode open to this job, whatever the amounts? */
static bool is_open(const struct trial *t, uint32_t i)
{
	const struct vnode *v = &t->s->node[i];
	uint8_t share = v->share[t->w->place.share & 3];

	if (!t->may[i])
		return false;
	if (t->empty)
		return true;
	if (!v->usable || (share != KEEL_SHARE_SHARED && v->in_use))
		return false;
	return share != KEEL_SHARE_EXCLHOST || !t->host_busy[v->host];
}

/* Does the arrangement let this chunk onto the vnode, after the chunks before it? */
static bool is_arranged(const struct trial *t, uint32_t i)
{
	switch (t->w->place.arrange) {
	case KEEL_PLACE_SCATTER: return !t->host_used[t->s->node[i].host];
	case KEEL_PLACE_VSCATTER: return !t->used[i];
	default: return true;
	}
}

static bool part_add(struct trial *t, uint32_t chunk, uint32_t demand, uint32_t node,
		     const double *amount)
{
	const struct demand *d = &t->demand[demand];
	struct vnode *v = &t->s->node[node];
	struct part *p;
	uint32_t k;

	if (t->n_part == t->room) {
		uint32_t room = t->room ? t->room * 2 : 8;
		struct part *bigger = reallocarray(t->part, room, sizeof(*bigger));

		if (!bigger)
			return false;
		t->part = bigger;
		t->room = room;
	}
	p = &t->part[t->n_part];
	p->amount = calloc(d->n_need + 1, sizeof(double));
	if (!p->amount)
		return false;
	p->chunk = chunk;
	p->demand = demand;
	p->node = node;
	for (k = 0; k < d->n_need; k++) {
		p->amount[k] = amount[k];
		if (d->need[k].column < t->s->n_column)
			v->free[d->need[k].column] -= amount[k];
	}
	t->n_part++;
	return true;
}

static void parts_drop(struct trial *t, uint32_t down_to)
{
	uint32_t k;

	while (t->n_part > down_to) {
		struct part *p = &t->part[--t->n_part];
		const struct demand *d = &t->demand[p->demand];

		for (k = 0; k < d->n_need; k++)
			if (d->need[k].column < t->s->n_column)
				t->s->node[p->node].free[d->need[k].column] += p->amount[k];
		free(p->amount);
	}
}

static bool put_whole(struct trial *t, uint32_t chunk, uint32_t demand, uint32_t node)
{
	const struct demand *d = &t->demand[demand];
	double amount[d->n_need + 1];
	uint32_t k;

	if (short_of(&t->s->node[node], d, chunk))
		return false;
	for (k = 0; k < d->n_need; k++)
		amount[k] = is_needed(&d->need[k], chunk) ? d->need[k].amount : 0;
	if (!part_add(t, chunk, demand, node, amount))
		t->failed = true;
	t->used[node] = 1;
	return !t->failed;
}

/* Over the vnodes of one host, `from` being the first, as much of each as there is. */
static bool put_spread(struct trial *t, uint32_t chunk, uint32_t demand, uint32_t from)
{
	const struct demand *d = &t->demand[demand];
	double missing[d->n_need + 1], amount[d->n_need + 1];
	uint32_t i, k, before = t->n_part, open = 0;

	for (k = 0; k < d->n_need; k++) {
		missing[k] = is_needed(&d->need[k], chunk) ? d->need[k].amount : 0;
		open += missing[k] > 0;
	}
	for (i = from; i < t->s->n && open && !t->failed; i = t->s->node[i].next_of_host) {
		bool any = false;

		if (!is_open(t, i) || mismatch(&t->s->node[i], d))
			continue;
		for (k = 0; k < d->n_need; k++) {
			double most = left(&t->s->node[i], &d->need[k]);

			amount[k] = most < 0 ? 0 : most < missing[k] ? most : missing[k];
			any |= amount[k] > 0;
		}
		if (!any)
			continue;
		if (!part_add(t, chunk, demand, i, amount))
			t->failed = true;
		for (k = 0; k < d->n_need; k++) {
			open -= missing[k] > 0 && missing[k] - amount[k] <= EPSILON;
			missing[k] -= amount[k];
		}
	}
	if (open || t->failed || t->n_part == before) {
		parts_drop(t, before);
		return false;
	}
	for (k = before; k < t->n_part; k++)
		t->used[t->part[k].node] = 1;
	return true;
}

#define ANY_HOST UINT32_MAX
/* The vnode to try after `i`: any, or the next one of the host. */
static uint32_t after(const struct trial *t, uint32_t i, uint32_t host)
{
	return host == ANY_HOST ? i + 1 : t->s->node[i].next_of_host;
}

/* `from`: the first vnode to try. */
static bool put_chunk(struct trial *t, uint32_t chunk, uint32_t demand, uint32_t host, uint32_t from)
{
	const struct demand *d = &t->demand[demand];
	uint32_t i;

	for (i = from; i < t->s->n && !t->failed; i = after(t, i, host))
		if (is_open(t, i) && is_arranged(t, i) && !mismatch(&t->s->node[i], d) &&
		    put_whole(t, chunk, demand, i)) {
			t->host_used[t->s->node[i].host] = 1;
			return true;
		}
	if (t->w->place.arrange == KEEL_PLACE_VSCATTER || t->s->n_hosts == t->s->n)
		return false;
	for (i = from; i < t->s->n && !t->failed; i = after(t, i, host))
		if (t->s->node[i].leads_host && is_arranged(t, i) &&
		    put_spread(t, chunk, demand, i)) {
			t->host_used[t->s->node[i].host] = 1;
			return true;
		}
	return false;
}

static bool put_all(struct trial *t, uint32_t host, uint32_t from)
{
	uint32_t d, c, chunk = 0;

	memset(t->used, 0, t->s->n);
	memset(t->host_used, 0, t->s->n_hosts);
	for (d = 0; d < t->w->select->n; d++)
		for (c = 0; c < t->w->select->chunk[d].count; c++)
			if (!put_chunk(t, chunk++, d, host, from)) {
				t->stuck = d;
				parts_drop(t, 0);
				return false;
			}
	return true;
}

/* True: the parts are there and taken from the snapshot. */
static bool try(struct trial *t)
{
	uint32_t i;

	if (t->w->place.arrange != KEEL_PLACE_PACK)
		return put_all(t, ANY_HOST, 0);
	for (i = 0; i < t->s->n && !t->failed; i++)
		if (t->s->node[i].leads_host && put_all(t, t->s->node[i].host, i))
			return true;
	return false;
}

bool try_empty(struct trial *t)
{
	size_t bytes = sizeof(double) * t->s->n_column;
	double *keep = malloc(bytes * t->s->n + 1);
	uint32_t i;
	bool fits;

	if (!keep) {
		t->failed = true;
		return true;
	}
	for (i = 0; i < t->s->n && bytes; i++) {
		memcpy(keep + (size_t)i * t->s->n_column, t->s->node[i].free, bytes);
		memcpy(t->s->node[i].free, t->s->node[i].total, bytes);
	}
	t->empty = true;
	fits = try(t);
	t->empty = false;
	parts_drop(t, 0);
	for (i = 0; i < t->s->n && bytes; i++)
		memcpy(t->s->node[i].free, keep + (size_t)i * t->s->n_column, bytes);
	free(keep);
	return fits;
}

/* ---- exec_vnode ------------------------------------------------------------------------------------------ */

static void value_write(FILE *out, const struct keel_resource *res, double n)
{
	char text[64];
	size_t end;

	if (res->type == KEEL_RES_SIZE) {
		fprintf(out, ":%s=%.0fkb", res->name, n / 1024);
	} else if (n == floor(n)) {
		fprintf(out, ":%s=%.0f", res->name, n);
	} else {
		snprintf(text, sizeof(text), "%.6f", n);
		for (end = strlen(text); end && text[end - 1] == '0'; end--)
			text[end - 1] = '\0';
		fprintf(out, ":%s=%s", res->name, text);
	}
}

static char *exec_text(const struct trial *t)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	uint32_t i, k;

	if (!out)
		return NULL;
	for (i = 0; i < t->n_part; i++) {
		const struct part *p = &t->part[i];
		const struct demand *d = &t->demand[p->demand];
		bool first = i == 0 || t->part[i - 1].chunk != p->chunk;
		bool spread = !first || (i + 1 < t->n_part && t->part[i + 1].chunk == p->chunk);

		fputs(i == 0 ? "(" : first ? ")+(" : "+", out);
		fputs(t->s->node[p->node].name, out);
		for (k = 0; k < d->n_need; k++)
			if (is_needed(&d->need[k], p->chunk) && (p->amount[k] > 0 || !spread))
				value_write(out, d->need[k].res, p->amount[k]);
	}
	fputc(')', out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* ---- the snapshot and the job ------------------------------------------------------------------------------------------------ */

void snapshot_link(struct snapshot *s)
{
	uint32_t *last = calloc(s->n_hosts + 1, sizeof(*last)), i;

	for (i = 0; i < s->n; i++) {
		struct vnode *v = &s->node[i];

		v->next_of_host = s->n;
		v->leads_host = !last || last[v->host] == 0;
		if (last && last[v->host])
			s->node[last[v->host] - 1].next_of_host = i;
		if (last)
			last[v->host] = i + 1;
	}
	free(last);
}

char *place_job(struct snapshot *s, const struct wish *w, struct reason *ret)
{
	struct trial t;
	char *text = NULL;
	uint32_t i;

	if (!trial_init(&t, s, w)) {
		reason_set(ret, "out of memory in the scheduler");
		ret->never = false;
	} else if (!try(&t)) {
		explain(&t, ret);
	} else if (!(text = exec_text(&t))) {
		parts_drop(&t, 0);
		reason_set(ret, "out of memory in the scheduler");
		ret->never = false;
	} else {
		s->takes++;
		for (i = 0; i < t.n_part; i++)
			settle(s, t.part[i].node, w->place.share);
	}
	trial_fini(&t);
	return text;
}

bool place_fits(struct snapshot *s, const struct wish *w, struct reason *ret)
{
	struct trial t;
	bool fits = false;

	if (!trial_init(&t, s, w)) {
		reason_set(ret, "out of memory in the scheduler");
		ret->never = false;
	} else if (try(&t)) {
		fits = true;
	} else {
		explain(&t, ret);
	}
	parts_drop(&t, 0);
	trial_fini(&t);
	return fits;
}
