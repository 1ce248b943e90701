/* SPDX-License-Identifier: Apache-2.0
 *
 * life.c - the steps of the module's life, as the daemon asks for them: open, configuration, init, start,
 * reconf, busy, stop, fini.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "keel/load.h"
#include "modhost/host.h"
#include "util/err.h"

/* ---- a configuration from values ---------------------------------------------------------------------- */
static void *keep(struct values *v, void *block)
{
	void **owned = reallocarray(v->owned, v->n_owned + 1, sizeof(*owned));

	if (owned == NULL || block == NULL)
		abort();
	v->owned = owned;
	return owned[v->n_owned++] = block;
}

void values_fini(struct values *v)
{
	for (uint32_t i = 0; i < v->n_owned; i++)
		free(v->owned[i]);
	free(v->owned);
	free(v->bytes);
	*v = (struct values){ 0 };
}

static const char *own_text(struct values *v, struct talk_in *in)
{
	const char *text = talk_str(in);

	return text != NULL ? keep(v, strdup(text)) : NULL;
}

static const char **list_take(struct values *v, struct talk_in *in)
{
	int64_t n = talk_int(in);
	const char **list;

	if (n < 0 || talk_bad(in) || n > in->r.end - in->r.at)
		return NULL;
	list = keep(v, calloc((size_t)n + 1, sizeof(*list)));
	for (int64_t i = 0; i < n; i++)
		list[i] = own_text(v, in);
	return list;
}

static void value_take(struct values *v, const struct keel_conf_rule *r, struct talk_in *in)
{
	char *at = v->bytes + r->offset;

	if (r->type == KEEL_CONF_STRING) {
		const char *text = own_text(v, in);

		memcpy(at, &text, sizeof(text));
	} else if (r->type == KEEL_CONF_LIST) {
		const char **list = list_take(v, in);

		memcpy(at, &list, sizeof(list));
	} else {
		int64_t n = talk_int(in);
		int32_t choice = (int32_t)n;
		bool truth = n != 0;

		if (r->type == KEEL_CONF_BOOL)
			memcpy(at, &truth, sizeof(truth));
		else if (r->type == KEEL_CONF_ENUM)
			memcpy(at, &choice, sizeof(choice));
		else
			memcpy(at, &n, sizeof(n));
	}
}

int values_take(const struct host *h, struct talk_in *in, struct values *ret)
{
	*ret = (struct values){ .bytes = calloc(1, h->desc->conf_size + 1u) };
	if (ret->bytes == NULL)
		abort();
	for (uint32_t i = 0; i < h->desc->n_conf; i++)
		value_take(ret, &h->rules[i], in);
	if (talk_done(in))
		return 0;
	values_fini(ret);
	return -EPROTO;
}

/* ---- steps -------------------------------------------------------------------------------------------- */
typedef int32_t step_fn(struct keel_mod *, struct keel_err *);

static int call_step(struct host *h, step_fn *fn, struct keel_err *err)
{
	return fn != NULL ? fn(&h->owner.pub, err) : 0;
}

static const void *group_of(void *arg, const char *name, uint32_t minor, struct keel_err *err)
{
	const void *group = host_group(name);
	uint32_t version = 0;

	(void)arg;
	if (group != NULL)
		memcpy(&version, (const char *)group + sizeof(uint32_t), sizeof(version));
	if (group != NULL && version >= minor)
		return group;
	err_set(err, -ENOENT, "the group '%s' is not there in its minor version %u", name, minor);
	return NULL;
}

/* Asked before init(), and again of a running module: then nothing else changes. */
static int step_conf(struct host *h, struct talk_in *in, struct keel_err *err)
{
	struct values fresh;
	int ret = values_take(h, in, &fresh);

	keel_load_kernel(h->desc, group_of, NULL);
	if (ret == 0 && h->desc->check != NULL)
		ret = h->desc->check(fresh.bytes, err);
	if (ret != 0) {
		values_fini(&fresh);
		return ret;
	}
	values_fini(&h->checked);
	h->checked = fresh;
	return 0;
}

static int needs_write(struct host *h, struct keel_err *err)
{
	int ret = keel_load_services(h->desc, group_of, NULL, err);

	return ret == 0 ? keel_load_attrs(h->desc, host_group("object"), &h->owner.pub, err) : ret;
}

static int step_init(struct host *h, struct keel_err *err)
{
	int ret;

	h->unusable = true; /* the daemon says what comes after this without waiting */
	if (h->checked.bytes == NULL)
		return err_set(err, -EPROTO, "it has no configuration");
	h->conf = h->checked;
	h->checked = (struct values){ 0 };
	h->owner.pub.conf = h->conf.bytes;
	h->owner.pub.name = h->desc->name;
	h->owner.pub.state = calloc(1, h->desc->state_size + 1u);
	if (h->owner.pub.state == NULL)
		return err_set(err, -ENOMEM, "no memory for its state");
	ret = needs_write(h, err);
	if (ret == 0)
		ret = call_step(h, h->desc->init, err);
	h->unusable = ret != 0;
	return ret;
}

static int step_reconf(struct host *h, struct talk_in *in, struct keel_err *err)
{
	struct values fresh, old = h->conf;
	int ret = values_take(h, in, &fresh);

	if (ret < 0)
		return ret;
	h->conf = fresh;
	h->owner.pub.conf = fresh.bytes;
	ret = h->desc->reconf != NULL ? h->desc->reconf(&h->owner.pub, fresh.bytes, err) : 0;
	if (ret != 0) {
		h->conf = old;
		h->owner.pub.conf = old.bytes;
		old = fresh;
	}
	values_fini(&old);
	return ret;
}

static int step_void(struct host *h, void (*fn)(struct keel_mod *))
{
	if (fn != NULL)
		fn(&h->owner.pub);
	return 0;
}

static int step(struct host *h, int64_t what, struct talk_in *in, struct keel_err *err)
{
	if (h->desc == NULL || h->unusable)
		return err_set(err, -EPROTO, "no module is open");
	switch (what) {
	case TALK_CONF:
		return step_conf(h, in, err);
	case TALK_INIT:
		return step_init(h, err);
	case TALK_START:
		return call_step(h, h->desc->start, err);
	case TALK_RECONF:
		return step_reconf(h, in, err);
	case TALK_BUSY:
		return call_step(h, h->desc->busy, err);
	case TALK_STOP:
		return step_void(h, h->desc->stop);
	case TALK_FINI:
		return step_void(h, h->desc->fini);
	}
	return err_set(err, -EPROTO, "keelson-modhost was asked something it does not know");
}

void life(struct host *h, int64_t what, struct talk_in *in, uint64_t corr)
{
	struct keel_err err = { 0 };
	int ret = what == TALK_OPEN ? host_open(h, in, &err) : step(h, what, in, &err);

	talk_begin(&h->out);
	talk_put_int(&h->out, ret > 0 ? -EIO : ret);
	if (what == TALK_OPEN && ret == 0) {
		describe(h, &h->out);
	} else {
		if (what != TALK_OPEN)
			talk_put_int(&h->out, err.code);
		talk_put_str(&h->out, err.text);
	}
	host_reply(h, corr);
}
