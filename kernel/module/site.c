/* SPDX-License-Identifier: Apache-2.0
 *
 * site.c - what the site says about the taps of a module: `order`, where they stand, `match`, what they
 * are called for, and `budget`, how long they may take.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "module/inside.h"
#include "util/err.h"
#include "wire/buf.h"

void site_destroy(struct site *s)
{
	if (s == NULL)
		return;
	conf_orders_free(s->orders, s->n_orders);
	conf_matches_free(s->matches, s->n_matches);
	free(s->taps);
	free(s);
}

/* ---- order ------------------------------------------------------------------------------------------ */
static bool order_apply(struct site *s, const struct conf_order *o)
{
	bool any = false;

	for (uint32_t i = 0; i < s->n_taps; i++) {
		struct keel_tap *t = &s->taps[i];

		if (strcmp(t->name, o->tap) != 0)
			continue;
		any = true;
		t->order = o->has_order ? (int32_t)o->order : t->order;
		t->before = o->before != NULL ? o->before : t->before;
		t->after = o->after != NULL ? o->after : t->after;
	}
	return any;
}

static int refuse_tap(const struct site *s, const char *module, const struct conf_order *o, struct keel_err *err)
{
	struct buf names;

	buf_init(&names);
	for (uint32_t i = 0; i < s->n_taps; i++)
		buf_printf(&names, "%s%s", i > 0 ? ", " : "", s->taps[i].name);
	err_set(err, -EINVAL, "%s: %s.order: module %s has no tap \"%s\" (it has %s)", o->where, module,
		module, o->tap, names.len == 0 || names.failed ? "none" : names.data);
	buf_fini(&names);
	return -EINVAL;
}

/* ---- all of it ---------------------------------------------------------------------------------------- */
int site_read(const struct module *m, const struct conf *conf, struct site **ret_site, struct keel_err *err)
{
	const char *name = m->desc.name;
	struct site *s = calloc(1, sizeof(*s));
	int ret;

	if (s != NULL)
		s->taps = calloc(m->desc.n_taps + 1, sizeof(*s->taps));
	if (s == NULL || s->taps == NULL) {
		free(s);
		return err_set(err, -ENOMEM, "no memory to load module %s", name);
	}
	s->n_taps = m->desc.n_taps;
	if (s->n_taps > 0)
		memcpy(s->taps, m->taps, s->n_taps * sizeof(*s->taps));
	ret = conf_orders(conf, name, &s->orders, &s->n_orders, err);
	for (uint32_t i = 0; i < s->n_orders && ret == 0; i++)
		ret = order_apply(s, &s->orders[i]) ? 0 : refuse_tap(s, name, &s->orders[i], err);
	if (ret == 0)
		ret = conf_matches(conf, name, &s->matches, &s->n_matches, err);
	if (ret == 0)
		ret = conf_budget(conf, name, &s->budget, err);
	if (ret < 0)
		site_destroy(s);
	else
		*ret_site = s;
	return ret;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool site_same(const struct site *a, const struct site *b)
{
	if (a->n_taps != b->n_taps || a->n_matches != b->n_matches ||
	    memcmp(&a->budget, &b->budget, sizeof(a->budget)) != 0)
		return false;
	for (uint32_t i = 0; i < a->n_taps; i++) {
		if (a->taps[i].order != b->taps[i].order || !same_text(a->taps[i].before, b->taps[i].before) ||
		    !same_text(a->taps[i].after, b->taps[i].after))
			return false;
	}
	for (uint32_t i = 0; i < a->n_matches; i++) {
		if (!same_text(a->matches[i].scope, b->matches[i].scope) ||
		    !same_text(a->matches[i].pattern, b->matches[i].pattern))
			return false;
	}
	return true;
}

