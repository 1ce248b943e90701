/* SPDX-License-Identifier: Apache-2.0
 *
 * durable.c - holds that outlive the daemon.
 *
 *   taken with a key -> recorded, and held -> told of its end          -> forgotten
 *                                          -> the daemon or its module ends -> up
 *   up -> rearm() in a tap of *_known -> held      (its operation is an orphan: nobody waits for a verdict)
 *      -> forget(), or its deadline               -> forgotten
 *
 * A record is an object of the class `keel_hold`, so it is stored in the transaction of whatever else
 * happens in the turn. Deadlines are by the wall clock: they go on while the daemon is down.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "hook/quick.h"
#include "keel/module.h"
#include "keel/sized.h"
#include "registry/registry.h"
#include "util/text.h"

#define CLASS "keel_hold"

/* What is said of it in words, each an attribute of the record. */
enum { OF_CLASS, OF_ID, MODULE, KEY, WHY, N_TEXTS };
static const char *const text_names[N_TEXTS] = { "of_class", "of_id", "module", "key", "why" };

struct durable {
	struct durable *prev, *next; /* of the bucket of `id` */
	struct hooks *hooks;
	char *text[N_TEXTS];
	int64_t until_ms, timeout_ms; /* until: by the wall clock */
	struct hold *hold;            /* NULL: it is up */
	struct loop_timer *deadline;  /* while it is up */
};

/* ---- the record ----------------------------------------------------------------------------------- */
static const struct keel_class_def class_def = { .size = sizeof(class_def), .flags = KEEL_CLASS_SAVE,
						 .name = CLASS,
						 .doc = "holds that outlive the daemon" };
#define ATTR(attr, type_name, text)                                                                \
	static const struct keel_attr_def attr_##attr = { .size = sizeof(attr_##attr),             \
							  .flags = KEEL_ATTR_SAVE, .klass = CLASS, \
							  .name = #attr, .type = (type_name),      \
							  .doc = (text) }
ATTR(of_class, "string", "class of its object");
ATTR(of_id, "string", "id of its object");
ATTR(module, "string", "who took it");
ATTR(key, "string", "its name there");
ATTR(why, "string", "what for");
ATTR(until, "long", "deadline, milliseconds since 1970");
ATTR(timeout, "long", "how long it was to last, milliseconds");
static const struct keel_contrib rows[] = {
	{ "CLASS", &class_def },   { "ATTR", &attr_of_class }, { "ATTR", &attr_of_id },
	{ "ATTR", &attr_module },  { "ATTR", &attr_key },      { "ATTR", &attr_why },
	{ "ATTR", &attr_until },   { "ATTR", &attr_timeout },
};

int durables_init(struct hooks *h)
{
	return registry_add(h->parts->registry, &h->self, rows, KEEL_COUNT(rows), NULL);
}

static const struct keel_attr *attr(struct hooks *h, const char *name)
{
	return h->object->attr(&h->self.pub, CLASS, name);
}

static char *record_name(const struct durable *d)
{
	return text_format("%s/%s/%s/%s", d->text[OF_CLASS], d->text[OF_ID], d->text[MODULE], d->text[KEY]);
}

static int record_fill(struct hooks *h, struct keel_obj *o, const struct durable *d)
{
	for (int i = 0; i < N_TEXTS; i++) {
		if (h->object->set_str(o, attr(h, text_names[i]), d->text[i]) < 0)
			return -ENOMEM;
	}
	h->object->set_int(o, attr(h, "until"), d->until_ms);
	h->object->set_int(o, attr(h, "timeout"), d->timeout_ms);
	return h->object->publish(o);
}

static int record_write(const struct durable *d)
{
	struct hooks *h = d->hooks;
	char *name = record_name(d);
	struct keel_obj *o = name != NULL ? h->object->draft(&h->self.pub, CLASS, name, NULL) : NULL;
	int ret = o != NULL ? record_fill(h, o, d) : -ENOMEM;

	if (ret < 0 && o != NULL)
		h->object->destroy(o);
	free(name);
	return ret;
}

static void record_remove(const struct durable *d)
{
	struct hooks *h = d->hooks;
	char *name = record_name(d);
	struct keel_obj *o = name != NULL ? h->object->find(&h->self.pub, CLASS, name) : NULL;

	if (o != NULL)
		h->object->destroy(o);
	free(name);
}

/* ---- in memory --------------------------------------------------------------------------------------- */
static int64_t wall_ms(const struct hooks *h)
{
	return loop_time_us(h->parts->loop) / 1000;
}

static int64_t left_ms(const struct durable *d)
{
	int64_t left = d->until_ms - wall_ms(d->hooks);

	return left > 0 ? left : 0;
}

static void durable_free(struct durable *d)
{
	if (d == NULL)
		return;
	loop_timer_cancel(d->deadline);
	for (int i = 0; i < N_TEXTS; i++)
		free(d->text[i]);
	free(d);
}

static void forget(struct durable *d)
{
	DL_DELETE(d->hooks->durable[id_bucket(d->text[OF_ID])], d);
	record_remove(d);
	durable_free(d);
}

/* Linked; NULL: no memory. Texts are copied. */
static struct durable *durable_create(struct hooks *h, const char *const text[N_TEXTS])
{
	struct durable *d = calloc(1, sizeof(*d));
	bool ok = d != NULL;

	for (int i = 0; i < N_TEXTS && ok; i++)
		ok = (d->text[i] = strdup(text[i] != NULL ? text[i] : "")) != NULL;
	if (!ok) {
		durable_free(d);
		return NULL;
	}
	d->hooks = h;
	DL_APPEND(h->durable[id_bucket(d->text[OF_ID])], d);
	return d;
}

static struct durable *durable_find(struct hooks *h, const struct keel_obj *obj, const char *module,
				    const char *key)
{
	const char *klass = h->object->klass(obj), *id = h->object->id(obj);
	struct durable *d;

	DL_FOREACH(h->durable[id_bucket(id)], d) {
		if (strcmp(d->text[OF_ID], id) == 0 && strcmp(d->text[OF_CLASS], klass) == 0 &&
		    strcmp(d->text[MODULE], module) == 0 && strcmp(d->text[KEY], key) == 0)
			break;
	}
	return d;
}

/* ---- up: nobody has it --------------------------------------------------------------------------------- */
static void expired(void *arg)
{
	struct durable *d = arg;

	d->deadline = NULL;
	hooks_log(d->hooks, KEEL_LOG_ERROR, d->text[OF_ID],
		  "'%s' of module %s was given up: nobody took it back before its deadline", d->text[WHY],
		  d->text[MODULE]);
	forget(d);
}

static void put_up(struct durable *d)
{
	d->hold = NULL;
	d->deadline = loop_timer(d->hooks->parts->loop, left_ms(d), expired, d);
}

static void load_one(struct hooks *h, struct keel_obj *o)
{
	const struct keel_object_api *object = h->object;
	const char *text[N_TEXTS];
	struct durable *d;

	for (int i = 0; i < N_TEXTS; i++)
		text[i] = object->get_str(o, attr(h, text_names[i]));
	d = durable_create(h, text);
	if (d == NULL) {
		hooks_log(h, KEEL_LOG_ERROR, object->id(o),
			  "no memory for a recorded hold; restart the daemon");
		return;
	}
	d->until_ms = object->get_int(o, attr(h, "until"));
	d->timeout_ms = object->get_int(o, attr(h, "timeout"));
	put_up(d);
}

void durables_load(struct hooks *h)
{
	struct keel_cursor *cursor;
	struct keel_obj *o;

	if (h->durables_loaded || hooks_object(h) == NULL)
		return;
	h->durables_loaded = true;
	cursor = h->object->cursor != NULL ? h->object->cursor(&h->self.pub, CLASS) : NULL;
	if (cursor == NULL)
		return;
	while ((o = h->object->next(cursor)) != NULL)
		load_one(h, o);
	h->object->cursor_close(cursor);
}

void durables_fini(struct hooks *h)
{
	for (uint32_t i = 0; i < ID_BUCKETS; i++) {
		struct durable *d, *next;

		DL_FOREACH_SAFE(h->durable[i], d, next)
			durable_free(d);
		h->durable[i] = NULL;
	}
	registry_remove(h->parts->registry, &h->self);
}

void durables_describe(struct hooks *h, struct buf *out)
{
	const struct durable *d;

	for (uint32_t i = 0; i < ID_BUCKETS; i++) {
		DL_FOREACH(h->durable[i], d) {
			if (d->hold == NULL)
				buf_printf(out, "%s - %s: %s (%llds of %llds, nobody has taken it back)\n",
					   d->text[OF_ID], d->text[MODULE], d->text[WHY],
					   (long long)((d->timeout_ms - left_ms(d)) / 1000),
					   (long long)(d->timeout_ms / 1000));
		}
	}
}

/* ---- held ------------------------------------------------------------------------------------------------ */
static struct keel_obj *object_of(const struct op *op)
{
	return event_obj(op->point, op->event);
}

static const char *module_of(const struct op *op)
{
	return op->chain->tap[op->at]->owner->pub.name;
}

const char *durable_objection(const struct op *op, const char *key)
{
	struct hooks *h = op->hooks;
	const struct keel_object_api *object = hooks_object(h);
	struct keel_obj *obj = object_of(op);
	const struct durable *d;

	if (object == NULL || attr(h, "key") == NULL)
		return "holds are not recorded here";
	if (obj == NULL || object->find(&h->self.pub, object->klass(obj), object->id(obj)) != obj)
		return "a hold with a durable_key needs an object that is stored";
	if (key[0] == '\0')
		return "its durable_key is empty";
	d = durable_find(h, obj, module_of(op), key);
	return d != NULL && d->hold != NULL ? "there is a hold of this durable_key on the object" : NULL;
}

int durable_record(struct hold *hold, const char *key)
{
	const struct op *op = hold->op;
	struct hooks *h = op->hooks;
	struct keel_obj *obj = object_of(op);
	struct durable *d = durable_find(h, obj, module_of(op), key);

	if (d != NULL)
		forget(d); /* it was up: this one takes its place */
	d = durable_create(h, (const char *[N_TEXTS]){ h->object->klass(obj), h->object->id(obj), module_of(op),
						      key, hold->why });
	if (d == NULL)
		return -ENOMEM;
	d->timeout_ms = hold->timeout_ms;
	d->until_ms = wall_ms(h) + hold->timeout_ms;
	if (record_write(d) < 0) {
		forget(d);
		return -ENOMEM;
	}
	d->hold = hold;
	hold->durable = d;
	return 0;
}

void durable_ended(struct hold *hold)
{
	struct durable *d = hold->durable;

	if (d == NULL)
		return;
	hold->durable = NULL;
	if (hold->reason == KEEL_CANCEL_STOPPING)
		put_up(d);
	else
		forget(d);
}

void hooks_hold_lost(struct keel_hold *pub)
{
	struct hold *hold = (struct hold *)pub;

	if (hold->durable != NULL)
		put_up(hold->durable);
	hold->durable = NULL;
}

/* ---- what a tap of *_known may do -------------------------------------------------------------------------- */
static struct durable *up_of(struct keel_call *c, const char *key)
{
	struct op *op = (struct op *)c;
	struct keel_obj *obj = object_of(op);
	struct durable *d = obj != NULL && key != NULL && hooks_object(op->hooks) != NULL ?
				    durable_find(op->hooks, obj, module_of(op), key) : NULL;

	return d != NULL && d->hold == NULL ? d : NULL;
}

int32_t call_durable(struct keel_call *c, uint32_t i, struct keel_durable *ret)
{
	struct op *op = (struct op *)c;
	const char *id = event_id(op->point, op->event);
	struct keel_durable found = { .size = sizeof(found) };
	const struct durable *d;

	if (id == NULL)
		return -ENOENT;
	DL_FOREACH(op->hooks->durable[id_bucket(id)], d) {
		if (up_of(c, d->text[KEY]) == d && i-- == 0)
			break;
	}
	if (d == NULL)
		return -ENOENT;
	found.key = d->text[KEY];
	found.why = d->text[WHY];
	found.left_ms = left_ms(d);
	keel_sized_give(ret, &found);
	return 0;
}

/* An operation like this call's, that waits and then ends. */
static struct op *orphan_create(const struct op *like)
{
	struct op *op = malloc(sizeof(*op));
	struct copy *copy = op != NULL ? copy_event(like->hooks, like->point, like->event) : NULL;

	if (copy == NULL) {
		free(op);
		return NULL;
	}
	op_init(op, like->hooks, like->point, copy->event);
	op->chain = chain_ref(like->chain);
	op->at = like->at;
	op->copy = copy;
	op->orphan = true;
	op_adopt(op);
	return op;
}

keel_verdict hooks_hold_apart(struct keel_call *c, const struct keel_hold_opts *opts, struct keel_hold **ret_hold)
{
	struct op *op = orphan_create((const struct op *)c);
	keel_verdict v = op != NULL ? hold_take(&op->pub, opts, ret_hold) : KEEL_FAIL;

	if (op != NULL && v != KEEL_WAIT)
		op_free(op);
	return v;
}

int32_t call_rearm(struct keel_call *c, const struct keel_hold_opts *opts, struct keel_hold **ret_hold)
{
	struct keel_hold_opts o;
	struct keel_hold *pub = NULL;
	struct hold *hold;
	struct durable *d;

	KEEL_SIZED(&o, opts);
	d = up_of(c, o.durable_key);
	if (d == NULL)
		return -ENOENT;
	o.why = o.why != NULL ? o.why : d->text[WHY];
	o.timeout_ms = left_ms(d) > 0 ? left_ms(d) : 1;
	if (hooks_hold_apart(c, &o, &pub) != KEEL_WAIT)
		return -EINVAL;
	hold = (struct hold *)pub;
	hold->since_ms -= d->timeout_ms - left_ms(d);
	hold->timeout_ms = d->timeout_ms;
	hold->durable = d;
	d->hold = hold;
	loop_timer_cancel(d->deadline);
	d->deadline = NULL;
	if (ret_hold != NULL)
		*ret_hold = pub;
	return 0;
}

void call_forget(struct keel_call *c, const char *key)
{
	struct durable *d = up_of(c, key);

	if (d != NULL)
		forget(d);
}
