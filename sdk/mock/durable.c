/* SPDX-License-Identifier: Apache-2.0
 *
 * durable.c - holds that outlive the module that took them: recorded by object, module and key.
 *
 *   taken with a key -> held -> told of its end           -> forgotten
 *                            -> its module goes -> up     -> taken back in a tap of *_known: held again
 *                                                         -> forgotten, by name or at its deadline
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "inside.h"

struct durable {
	struct durable *prev, *next;
	struct keel_mock *mock;
	char *klass, *id, *module, *key, *why;
	int64_t until, timeout;
	struct keel_hold *hold; /* NULL: it is up */
	struct item *deadline;	/* while it is up */
};

static void durable_drop(struct durable *d)
{
	struct keel_mock *mock = d->mock;

	DL_DELETE(mock->durables, d);
	if (d->deadline != NULL)
		item_drop(mock, d->deadline);
	free(d->klass);
	free(d->id);
	free(d->module);
	free(d->key);
	free(d->why);
	free(d);
}

static int64_t left(const struct durable *d)
{
	return d->until > d->mock->now ? d->until - d->mock->now : 0;
}

static const char *module_of(const struct op *op)
{
	return op->chain->tap[op->at]->owner->label;
}

static bool is_of(const struct durable *d, const struct op *op)
{
	const struct keel_obj *o = event_obj(op->point, op->event);

	return o != NULL && strcmp(d->id, o->body->id) == 0 && strcmp(d->klass, o->body->klass->name) == 0 &&
	       strcmp(d->module, module_of(op)) == 0;
}

static struct durable *durable_find(const struct op *op, const char *key)
{
	struct durable *d;

	DL_FOREACH(op->mock->durables, d)
		if (is_of(d, op) && strcmp(d->key, key) == 0)
			break;
	return d;
}

/* ---- held -------------------------------------------------------------------------------------------- */
const char *durable_objection(const struct op *op, const char *key)
{
	const struct keel_obj *o = event_obj(op->point, op->event);
	const struct durable *d;

	if (o == NULL || o->body->draft || o->body->dead)
		return "a hold with a durable_key needs an object that is stored";
	if (key[0] == '\0')
		return "its durable_key is empty";
	d = durable_find(op, key);
	return d != NULL && d->hold != NULL ? "there is a hold of this durable_key on the object" : NULL;
}

void durable_record(struct keel_hold *h, const char *key)
{
	const struct keel_obj *o = event_obj(h->op->point, h->op->event);
	struct durable *d = durable_find(h->op, key);

	if (d != NULL)
		durable_drop(d); /* it was up: this one takes its place */
	d = make(sizeof(*d));
	*d = (struct durable){ .mock = h->head.mock, .klass = dup_text(o->body->klass->name),
			       .id = dup_text(o->body->id), .module = dup_text(module_of(h->op)),
			       .key = dup_text(key), .why = dup_text(h->why), .timeout = h->timeout,
			       .until = h->head.mock->now + h->timeout, .hold = h };
	DL_APPEND(h->head.mock->durables, d);
	h->durable = d;
}

static void expired(void *arg)
{
	struct durable *d = arg;

	d->deadline = NULL;
	host_log(d->mock, KEEL_LOG_ERROR, "Hook", d->id,
		 "'%s' of module %s was given up: nobody took it back before its deadline", d->why, d->module);
	durable_drop(d);
}

void durable_ended(struct keel_hold *h)
{
	struct durable *d = h->durable;

	if (d == NULL)
		return;
	if (h->reason != KEEL_CANCEL_STOPPING) {
		durable_drop(d);
		return;
	}
	d->hold = NULL;
	d->deadline = host_item(d->mock, left(d), expired, d);
}

void durables_fini(struct keel_mock *mock)
{
	while (mock->durables != NULL)
		durable_drop(mock->durables);
}

/* ---- what a tap of *_known may do ---------------------------------------------------------------------- */
static struct durable *up_of(const struct op *op, const char *key)
{
	struct durable *d = key != NULL ? durable_find(op, key) : NULL;

	return d != NULL && d->hold == NULL ? d : NULL;
}

int32_t durable_at(const struct op *op, uint32_t i, struct keel_durable *ret)
{
	struct keel_durable found = { .size = sizeof(found) };
	const struct durable *d;

	DL_FOREACH(op->mock->durables, d)
		if (d->hold == NULL && is_of(d, op) && i-- == 0)
			break;
	if (d == NULL)
		return -ENOENT;
	found.key = d->key;
	found.why = d->why;
	found.left_ms = left(d);
	found.size = ret->size;
	memcpy(ret, &found, ret->size < sizeof(found) ? ret->size : sizeof(found));
	return 0;
}

int32_t durable_rearm(struct op *like, const struct keel_hold_opts *opts, struct keel_hold **ret)
{
	struct keel_hold_opts o = { 0 };
	struct keel_hold *h;
	struct durable *d;
	struct op *op;

	memcpy(&o, opts, opts->size < sizeof(o) ? opts->size : sizeof(o));
	d = up_of(like, o.durable_key);
	if (d == NULL)
		return -ENOENT;
	if (fails(like->mock))
		return -ENOMEM;
	o.why = o.why != NULL ? o.why : d->why;
	o.timeout_ms = left(d) > 0 ? left(d) : 1;
	op = op_orphan(like);
	h = hold_of(op, &o);
	if (h == NULL) {
		op_free(op);
		return -EINVAL;
	}
	op_park(op);
	h->since -= d->timeout - left(d);
	h->timeout = d->timeout;
	h->durable = d;
	d->hold = h;
	item_drop(like->mock, d->deadline);
	d->deadline = NULL;
	if (ret != NULL)
		*ret = h;
	return 0;
}

void durable_forget(const struct op *op, const char *key)
{
	struct durable *d = up_of(op, key);

	if (d != NULL)
		durable_drop(d);
}
