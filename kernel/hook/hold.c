/* SPDX-License-Identifier: Apache-2.0
 *
 * hold.c - reasons an operation waits.
 *
 *   hold_take() -> open -> ended: released, by its event, its module or before the tap returned
 *                       -> ended: cancelled, with a reason                     -> callback, freed
 *
 * A hold ends exactly once; ending it only marks it. Its callback (resume or cancel, never both) runs
 * from the loop, or right after the tap that took it when it ended before. The operation continues
 * after the callback of its last hold.
 *
 * Past events are not recorded: a tap tests whether its condition holds already before it takes the hold.
 * No event can be raised between that test and the hold.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "hook/inside.h"
#include "keel/sized.h"
#include "util/err.h"
#include "util/text.h"

uint32_t id_bucket(const char *id)
{
	uint64_t hash = bytes_hash(id, strlen(id));

	return (uint32_t)((hash ^ hash >> 32) % ID_BUCKETS);
}

struct keel_call *hold_call(struct keel_hold *hold)
{
	return hold != NULL ? &((struct hold *)hold)->op->pub : NULL;
}

/* ---- the end of a hold --------------------------------------------------------------------------- */
void hold_end(struct hold *hold, int32_t reason)
{
	struct hooks *h = hold->op->hooks;

	if (!hold->open)
		return;
	hold->open = false;
	hold->reason = reason;
	hold->op->n_open--;
	h->holds.ended++;
	h->holds.open--;
	loop_timer_cancel(hold->deadline);
	hold->deadline = NULL;
	if (hold->opts.until_id != NULL) {
		DL_DELETE2(h->waiting[id_bucket(hold->opts.until_id)], hold, wait_prev, wait);
		h->point[hold->opts.until_point].waiters--;
	}
	if (hold->op->parked)
		op_ready(hold->op);
}

void holds_end(struct op *op, int32_t reason)
{
	struct hold *hold;

	DL_FOREACH(op->holds, hold)
		hold_end(hold, reason);
}

void hold_free(struct hold *hold)
{
	if (hold->tap != NULL) { /* it was taken, and its callback was called */
		hold->op->hooks->holds.called++;
		hold->tap->owner->live--;
	}
	loop_timer_cancel(hold->deadline);
	free((void *)(uintptr_t)hold->opts.why);
	free((void *)(uintptr_t)hold->opts.until_id);
	free(hold);
}

static void hold_expired(void *arg)
{
	struct hold *hold = arg;

	hold->deadline = NULL; /* a timer that fires frees itself */
	hold_end(hold, KEEL_CANCEL_TIMEOUT);
}

void hold_release(struct keel_hold *pub)
{
	if (pub != NULL)
		hold_end((struct hold *)pub, 0);
}

/* ---- taking ----------------------------------------------------------------------------------------- */
static const char *hold_objection(const struct op *op, const struct keel_hold_opts *o)
{
	struct hooks *h = op->hooks;

	if (!(op->point->allowed & VERDICT_BIT(KEEL_WAIT)))
		return "a tap of this point cannot wait";
	if (op->closed)
		return "the operation is being ended";
	if (h->stopping)
		return "the daemon ends";
	if (o->why == NULL || o->why[0] == '\0')
		return "a hold needs a reason (.why)";
	if (o->timeout_ms < 0)
		return "a hold's timeout cannot be negative";
	if (o->until_point == 0)
		return NULL;
	if (point_get(h, o->until_point) == NULL || h->point[o->until_point].kind != KEEL_NOTE ||
	    h->point[o->until_point].id_at == 0)
		return "until_point is not a NOTE about an object";
	return o->until_id == NULL || o->until_id[0] == '\0' ? "until_point without until_id" : NULL;
}

static struct hold *hold_create(struct op *op, const struct keel_hold_opts *o)
{
	struct hooks *h = op->hooks;
	struct hold *hold = calloc(1, sizeof(*hold));

	if (hold == NULL)
		return NULL;
	hold->opts = *o;
	hold->opts.why = strdup(o->why);
	hold->opts.until_id = o->until_point != 0 ? strdup(o->until_id) : NULL;
	if (o->timeout_ms == 0)
		hold->opts.timeout_ms = h->conf.hold_default_ms;
	hold->deadline = loop_timer(h->parts->loop, hold->opts.timeout_ms, hold_expired, hold);
	if (hold->opts.why == NULL || hold->deadline == NULL ||
	    (o->until_point != 0 && hold->opts.until_id == NULL)) {
		hold_free(hold);
		return NULL;
	}
	hold->op = op;
	hold->since_ms = loop_now_ms(h->parts->loop);
	hold->open = true;
	return hold;
}

keel_verdict hold_take(struct keel_call *c, const struct keel_hold_opts *opts, struct keel_hold **ret_hold)
{
	struct op *op = op_of(c);
	struct hooks *h = op->hooks;
	struct keel_hold_opts o;
	const char *no;
	struct hold *hold;

	KEEL_SIZED(&o, opts);
	no = hold_objection(op, &o);
	hold = no == NULL ? hold_create(op, &o) : NULL;
	if (hold == NULL) {
		err_set(&op->err, 0, "it cannot wait: %s", no != NULL ? no : "no memory");
		return KEEL_FAIL;
	}
	hold->tap = op->chain->tap[op->at];
	hold->tap->owner->live++;
	DL_APPEND(op->holds, hold);
	op->n_open++;
	h->holds.taken++;
	h->holds.open++;
	if (hold->opts.until_id != NULL) {
		DL_APPEND2(h->waiting[id_bucket(hold->opts.until_id)], hold, wait_prev, wait);
		h->point[hold->opts.until_point].waiters++;
	}
	if (ret_hold != NULL)
		*ret_hold = (struct keel_hold *)hold;
	return KEEL_WAIT;
}

/* ---- events -------------------------------------------------------------------------------------------- */
void holds_match(struct hooks *h, const struct point *p, const void *event)
{
	const char *id = event_id(p, event);
	struct hold *hold, *next;

	if (id == NULL)
		return;
	DL_FOREACH_SAFE2(h->waiting[id_bucket(id)], hold, next, wait) {
		if (hold->opts.until_point == p->info->id && strcmp(hold->opts.until_id, id) == 0)
			hold_end(hold, 0);
	}
}

/* ---- showing -------------------------------------------------------------------------------------------- */
int32_t holds_text(struct keel_mod *m, const char *id, char *buf, uint32_t len)
{
	struct hooks *h = hooks_of(m);
	const struct op *op;
	const struct hold *hold;
	struct buf text;
	int32_t ret;

	if (buf != NULL && len > 0)
		buf[0] = '\0';
	if (h->holds.parked == 0 || id == NULL)
		return 0;
	buf_init(&text);
	DL_FOREACH2(h->by_id[id_bucket(id)], op, twin) {
		if (strcmp(op_label(op), id) != 0)
			continue;
		DL_FOREACH(op->holds, hold) {
			buf_printf(&text, "%s%s: %s (%llds of %llds)", text.len > 0 ? ", " : "", hold->tap->owner->pub.name,
				   hold->opts.why, (long long)((loop_now_ms(h->parts->loop) - hold->since_ms) / 1000),
				   (long long)(hold->opts.timeout_ms / 1000));
		}
	}
	ret = text.failed ? -ENOMEM : (int32_t)text.len;
	if (buf != NULL && len > 0 && ret > 0)
		snprintf(buf, len, "%s", text.data);
	buf_fini(&text);
	return ret;
}
