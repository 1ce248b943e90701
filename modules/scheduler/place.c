/* SPDX-License-Identifier: Apache-2.0
 *
 * place.c - a trial to place a job: what is found, as an exec_vnode; what is not, as a reason.
 *
 * Vnodes are tried in the order of the snapshot (order.c), chunk by chunk (put.c), set by set when
 * there are placement sets (sets.c). A failure is explained afterwards (explain.c).
 */
#include "spans.h"
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scratch *scratch_make(const struct snapshot *s)
{
	struct scratch *x = calloc(1, sizeof(*x) + sizeof(uint32_t) * (2 * (size_t)s->n + 3 * (size_t)s->n_hosts + 4));

	if (!x)
		return NULL;
	x->used = (uint32_t *)(void *)(x + 1);
	x->tapped = x->used + s->n;
	x->host_used = x->tapped + s->n;
	x->host_tried = x->host_used + s->n_hosts;
	x->host_short = x->host_tried + s->n_hosts;
	return x;
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
			if (is_needed(&d->need[k], p->chunk) && (t->amount[p->amount + k] > 0 || !spread))
				value_write(out, d->need[k].res, t->amount[p->amount + k]);
	}
	fputc(')', out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* ---- a trial ---------------------------------------------------------------------------------------------- */

static bool trial_init(struct trial *t, struct snapshot *s, const struct wish *w)
{
	uint32_t i;

	memset(t, 0, sizeof(*t));
	t->s = s;
	t->w = w;
	t->set = NO_SET;
	if (!snapshot_linked(s))
		return false;
	t->till = s->n_future ? w->till : 0;
	if (t->till)
		order_until(s, t->till);
	order_settle(s);
	s->scratch->trial++;
	t->demand = calloc(w->select->n + 1, sizeof(*t->demand));
	if (!t->demand)
		return false;
	for (i = 0; i < w->select->n; i++)
		if (!demand_make(&t->demand[i], s, &w->select->chunk[i]))
			return false;
	t->has_queue_nodes = queue_has_nodes(t);
	return true;
}

static void trial_fini(struct trial *t)
{
	uint32_t i;

	parts_drop(t, 0);
	for (i = 0; t->demand && i < t->w->select->n; i++) {
		free(t->demand[i].need);
		free(t->demand[i].other);
		free(t->demand[i].klass_ok);
	}
	free(t->part);
	free(t->amount);
	free(t->demand);
}

static void no_memory(struct reason *ret)
{
	reason_set(ret, "out of memory in the scheduler");
	ret->never = false;
}

/* Totals, then a placement on empty vnodes; what is found holds until vnodes are others. `ret` stays
 * as it is when it is possible. */
static bool possible(struct trial *t, struct reason *ret)
{
	struct memo *memo = t->w->memo, now = { .shape = t->s->shape };

	if (memo && memo->shape && memo->shape == t->s->shape) {
		now = *memo;
	} else {
		bool untapped = t->untapped;

		t->untapped = true; /* what taps refuse is not for ever */
		now.possible = pools_possible(t->s, t->w, &now.why) && !explain_never(t, &now.why);
		t->untapped = untapped;
		if (memo && !t->failed)
			*memo = now;
	}
	if (!now.possible)
		*ret = now.why;
	return now.possible;
}

/* Would it fit if nothing were promised? The reason then is what is in the way. */
static bool is_promised(struct trial *t, struct reason *ret)
{
	int64_t till = t->till;
	struct reason unused = { 0 };
	bool fits;

	if (!till)
		return false;
	t->till = 0;
	fits = try_sets(t, &unused);
	t->till = till;
	if (fits)
		reason_block(ret, block_in_way(t, till));
	parts_drop(t, 0);
	return fits;
}

/* The parts are taken, or the reason is given. */
static bool try(struct trial *t, struct reason *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (!pools_fit(t->s, t->w, ret)) {
		t->untapped = true;
		possible(t, ret);
		return false;
	}
	if (try_sets(t, ret))
		return true;
	if (!t->failed && is_promised(t, ret)) {
		ret->alone = t->refused;
		return false;
	}
	t->untapped = !t->refused;
	if (t->failed)
		no_memory(ret);
	else if (!t->w->quiet && !ret->text[0] && possible(t, ret))
		explain(t, ret);
	ret->chunk = t->unplaced;
	ret->alone = t->refused;
	return false;
}

/* ---- the snapshot and the job ---------------------------------------------------------------------------------- */

/* After its end the vnodes will have as much as before. */
static void moments_take(const struct trial *t)
{
	uint32_t i, k;

	for (i = 0; i < t->n_part; i++) {
		const struct part *p = &t->part[i];
		const struct demand *d = &t->demand[p->demand];

		for (k = 0; k < d->n_need; k++)
			if (d->need[k].column < t->s->n_column)
				spans_move(t->s, p->node, d->need[k].column, -t->amount[p->amount + k], t->w->till);
	}
}

static void taken(struct trial *t)
{
	struct snapshot *s = t->s;
	uint32_t i;

	s->takes++;
	pools_move(s, t->w->queue, t->w->whole, t->w->n_whole, NULL, 1);
	for (i = 0; i < t->n_part; i++) {
		struct vnode *v = &s->node[t->part[i].node];

		if (v->taken_in != s->takes)
			limits_count(v->limits, t->w->user, t->w->group);
		settle(s, t->part[i].node, t->w->place.share);
	}
	if (s->n_future && t->w->till)
		moments_take(t);
	for (i = 0; i < t->n_part; i++)
		snapshot_changed(s, t->part[i].node);
	t->n_part = t->n_amount = 0;
}

char *place_job(struct snapshot *s, const struct wish *w, struct reason *ret)
{
	struct trial t;
	char *text = NULL;

	if (!trial_init(&t, s, w))
		no_memory(ret);
	else if (try(&t, ret)) {
		text = exec_text(&t);
		if (text)
			taken(&t);
		else
			no_memory(ret);
	}
	trial_fini(&t);
	return text;
}

char *place_find(struct snapshot *s, const struct wish *w, struct reason *ret)
{
	struct trial t;
	char *text = NULL;

	if (!trial_init(&t, s, w))
		no_memory(ret);
	else if (try(&t, ret) && !(text = exec_text(&t)))
		no_memory(ret);
	trial_fini(&t);
	return text;
}

bool place_fits(struct snapshot *s, const struct wish *w, struct reason *ret)
{
	struct trial t;
	bool fits = false;

	if (trial_init(&t, s, w))
		fits = try(&t, ret);
	else
		no_memory(ret);
	trial_fini(&t);
	return fits;
}

bool place_possible(struct snapshot *s, const struct wish *w, struct reason *ret)
{
	struct trial t;
	bool fits = true;

	if (trial_init(&t, s, w))
		fits = possible(&t, ret);
	trial_fini(&t);
	return fits;
}

bool place_words(struct snapshot *s, const struct wish *w, struct vnode_words *ret)
{
	struct trial t;
	bool ok = trial_init(&t, s, w);

	if (ok)
		words_find(&t, ret);
	trial_fini(&t);
	return ok;
}

/* ---- what a snapshot needs besides its vnodes ------------------------------------------------------------- */

void snapshot_unlink(struct snapshot *s)
{
	klasses_free(s->klasses);
	order_free(s->order);
	free(s->scratch);
	sets_free(s->sets);
	s->klasses = NULL;
	s->order = NULL;
	s->scratch = NULL;
	s->sets = NULL;
}

void snapshot_link(struct snapshot *s)
{
	uint32_t i;

	s->some_one_host = false;
	for (i = 0; i < s->n; i++)
		s->some_one_host |= s->node[i].one_host_only;
	snapshot_unlink(s);
	klasses_make(s);
	order_make(s);
	s->scratch = scratch_make(s);
}

bool snapshot_linked(const struct snapshot *s)
{
	return s->klasses && s->order && s->scratch;
}

void snapshot_changed(struct snapshot *s, uint32_t node)
{
	order_update(s, node);
}

