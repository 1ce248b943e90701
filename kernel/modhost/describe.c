/* SPDX-License-Identifier: Apache-2.0
 *
 * describe.c - map the module's file, lint it as the daemon would, and say what it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "module/look.h"
#include "modhost/host.h"
#include "util/err.h"
#include "util/version.h"

/* ---- open ------------------------------------------------------------------------------------------ */
static char *copy(const char *text)
{
	char *own = strdup(text);

	if (own == NULL)
		abort();
	return own;
}

static int taps_take(struct host *h, struct keel_err *err)
{
	const struct keel_module *d = h->desc;

	h->taps = calloc(d->n_taps + 1, sizeof(*h->taps));
	if (h->taps == NULL)
		return err_set(err, -ENOMEM, "no memory for its taps");
	for (uint32_t i = 0; i < d->n_taps; i++) {
		const struct keel_tap *t = (const struct keel_tap *)((const char *)d->taps +
								     (size_t)i * d->taps[0].size);

		h->taps[i] = (struct tap_row){ t->point, t->name, t->fn };
	}
	return 0;
}

int host_open(struct host *h, struct talk_in *in, struct keel_err *err)
{
	int64_t version = talk_int(in);
	const char *text = talk_text(in), *path = talk_text(in);
	struct parts *p = &h->parts;
	int ret;

	if (version != TALK_VERSION || strcmp(text, KEELSON_VERSION_TEXT) != 0)
		return err_set(err, -EPROTO, "keelson-modhost is of another version than keelsond (%s); install "
			       "both from one package", KEELSON_VERSION_TEXT);
	p->daemon = (uint32_t)talk_int(in);
	p->home = copy(talk_text(in));
	p->exec_dir = copy(talk_text(in));
	p->server_name = copy(talk_text(in));
	p->host_name = copy(talk_text(in));
	if (!talk_done(in) || h->file != NULL)
		return err_set(err, -EPROTO, "keelson-modhost was asked something it does not know");
	if (h->refused.text[0] != '\0') {
		*err = h->refused;
		return -EPERM;
	}
	ret = module_look(path, &h->file, err);
	if (ret < 0)
		return ret;
	h->desc = module_look_descriptor(h->file);
	h->rules = module_look_rules(h->file);
	return taps_take(h, err);
}

/* ---- say what it is ----------------------------------------------------------------------------------- */
static void put_rules(const struct host *h, struct buf *m)
{
	talk_put_int(m, h->desc->n_conf);
	for (uint32_t i = 0; i < h->desc->n_conf; i++) {
		const struct keel_conf_rule *r = &h->rules[i];

		talk_put_int(m, r->type);
		talk_put_int(m, r->offset);
		talk_put_int(m, r->flags);
		talk_put_str(m, r->key);
		talk_put_str(m, r->fallback);
		talk_put_int(m, r->min);
		talk_put_int(m, r->max);
		talk_put_str(m, r->choices);
		talk_put_str(m, r->doc);
	}
}

static void put_needs(const struct keel_module *d, struct buf *m)
{
	talk_put_int(m, d->n_needs);
	for (uint32_t i = 0; i < d->n_needs; i++) {
		talk_put_str(m, d->needs[i].group);
		talk_put_int(m, d->needs[i].optional);
	}
}

static void put_attr(const void *def, struct buf *m)
{
	struct keel_attr_def a = { 0 };
	uint32_t size;

	memcpy(&size, def, sizeof(size));
	memcpy(&a, def, size < sizeof(a) ? size : sizeof(a));
	talk_put_int(m, a.flags);
	talk_put_str(m, a.klass);
	talk_put_str(m, a.name);
	talk_put_str(m, a.type);
	talk_put_str(m, a.doc);
	talk_put_int(m, a.read_roles);
	talk_put_int(m, a.write_roles);
	talk_put_int(m, a.order);
	talk_put_str(m, a.fallback);
	talk_put_int(m, a.check != NULL || a.derive != NULL || a.changed != NULL);
}

static void put_request(const void *def, struct buf *m)
{
	struct keel_request_def r = { 0 };
	uint32_t size;

	memcpy(&size, def, sizeof(size));
	memcpy(&r, def, size < sizeof(r) ? size : sizeof(r));
	talk_put_int(m, r.roles);
	talk_put_str(m, r.name);
	talk_put_str(m, r.doc);
	talk_put_int(m, r.number);
	talk_put_int(m, r.flags);
}

static void put_contribs(const struct keel_module *d, struct buf *m)
{
	talk_put_int(m, d->n_contribs);
	for (uint32_t i = 0; i < d->n_contribs; i++) {
		const struct keel_contrib *c = &d->contribs[i];
		const char *kind = c->kind != NULL && c->def != NULL ? c->kind : "";

		talk_put_str(m, kind);
		if (strcmp(kind, "ATTR") == 0)
			put_attr(c->def, m);
		else if (strcmp(kind, "REQUEST") == 0)
			put_request(c->def, m);
	}
}

static void put_taps(const struct keel_module *d, struct buf *m)
{
	uint32_t stride = d->n_taps > 0 ? d->taps[0].size : 0;

	talk_put_int(m, d->n_taps);
	for (uint32_t i = 0; i < d->n_taps; i++) {
		struct keel_tap t = { 0 };

		memcpy(&t, (const char *)d->taps + (size_t)i * stride, stride < sizeof(t) ? stride : sizeof(t));
		talk_put_int(m, t.point);
		talk_put_str(m, t.name);
		talk_put_int(m, t.order);
		talk_put_int(m, t.flags);
		talk_put_str(m, t.before);
		talk_put_str(m, t.after);
	}
}

static void put_words(const char *const *words, struct buf *m)
{
	uint32_t n = 0;

	while (words != NULL && words[n] != NULL)
		n++;
	talk_put_int(m, n);
	for (uint32_t i = 0; i < n; i++)
		talk_put_str(m, words[i]);
}

void describe(const struct host *h, struct buf *m)
{
	const struct keel_module *d = h->desc;

	talk_put_str(m, d->name);
	talk_put_str(m, d->version);
	talk_put_str(m, d->vendor);
	talk_put_str(m, d->summary);
	talk_put_int(m, d->roles);
	talk_put_int(m, d->flags);
	talk_put_int(m, d->conf_size);
	talk_put_int(m, d->busy != NULL);
	put_rules(h, m);
	put_needs(d, m);
	put_contribs(d, m);
	put_taps(d, m);
	put_words(d->requires_modules, m);
	put_words(d->conflicts, m);
}
