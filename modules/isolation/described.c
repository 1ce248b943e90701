/* SPDX-License-Identifier: Apache-2.0
 *
 * described.c - what the process says its module is, made into a descriptor of this daemon.
 *
 * keelson-modhost has read the module and refuses, by name, what cannot work from a process. But the process may say
 * anything: counts are bounded, the daemon checks the descriptor like one that was mapped, and what would make it wait is
 * refused here, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "isolation.h"

#define ROWS_MAX 1024

static uint32_t count(struct talk_in *in)
{
	int64_t n = take_int(in);

	if (n < 0 || n > ROWS_MAX)
		in->bad = true;
	return in->bad ? 0 : (uint32_t)n;
}

static void *table(struct talk_in *in, uint32_t n, size_t size)
{
	void *rows = calloc(n + 1, size);

	if (!rows)
		in->bad = true;
	return rows;
}

static const char *text(struct talk_in *in)
{
	const char *t = take_str(in);

	return t ? t : "";
}

static void head_take(struct isolated *iso, struct talk_in *in)
{
	struct keel_module *d = &iso->desc;

	*d = (struct keel_module){ .magic = KEEL_MAGIC, .abi_major = KEEL_ABI_MAJOR, .abi_minor = KEEL_ABI_MINOR,
				   .size = sizeof(*d), .init = life_init, .start = life_start,
				   .stop = life_stop, .fini = life_fini };
	take_row(in, talk_head, d);
	if (take_int(in) != 0)
		d->busy = life_busy;
}

static void rules_take(struct isolated *iso, struct talk_in *in)
{
	uint32_t n = count(in);

	iso->rules = table(in, n, sizeof(*iso->rules));
	for (uint32_t i = 0; i < n && !in->bad; i++) {
		iso->rules[i].size = sizeof(*iso->rules);
		take_row(in, talk_rule, &iso->rules[i]);
	}
	iso->desc.n_conf = n;
	iso->desc.conf = n > 0 ? iso->rules : NULL;
}

/* ---- rows: attributes without functions ----------------------------------------------------------- */
static void contribs_take(struct isolated *iso, struct talk_in *in)
{
	uint32_t n = count(in);
	struct keel_attr_def *defs = table(in, n, sizeof(*defs));

	iso->contribs = table(in, n, sizeof(*iso->contribs));
	iso->defs = defs;
	for (uint32_t i = 0; i < n && !in->bad; i++) {
		iso->contribs[i] = (struct keel_contrib){ text(in), &defs[i] };
		defs[i].size = sizeof(defs[i]);
		take_row(in, talk_attr, &defs[i]);
		in->bad = in->bad || strcmp(iso->contribs[i].kind, "ATTR") != 0;
	}
	iso->desc.n_contribs = n;
	iso->desc.contribs = n > 0 ? iso->contribs : NULL;
}

/* ---- taps -------------------------------------------------------------------------------------------- */
static void taps_take(struct isolated *iso, struct talk_in *in)
{
	uint32_t n = count(in);

	iso->taps = table(in, n, sizeof(*iso->taps));
	iso->iso_taps = table(in, n, sizeof(*iso->iso_taps));
	for (uint32_t i = 0; i < n && !in->bad; i++) {
		struct keel_tap *t = &iso->taps[i];
		const struct map_point *p;

		take_row(in, talk_tap, t);
		p = map_point(t->point);
		if (!p || p->kind == KEEL_FOLD || (p->daemon & KEEL_INLINE)) {
			in->bad = true;
			return;
		}
		t->size = sizeof(*t);
		t->flags |= KEEL_TAP_ANY;
		t->fn.generic = tap_called;
		t->arg = &iso->iso_taps[i];
		iso->iso_taps[i] = (struct iso_tap){ iso, t->name, i, p->kind, p };
	}
	iso->desc.n_taps = n;
	iso->desc.taps = n > 0 ? iso->taps : NULL;
}

/* Two lists of module names, NULL-terminated, in one table. */
static void words_take(struct isolated *iso, struct talk_in *in)
{
	uint32_t at = 0, n;

	iso->words = table(in, 2 * ROWS_MAX + 2, sizeof(*iso->words));
	if (in->bad)
		return;
	iso->desc.requires_modules = iso->words;
	for (n = count(in); n > 0; n--)
		iso->words[at++] = text(in);
	iso->desc.conflicts = iso->words + ++at;
	for (n = count(in); n > 0; n--)
		iso->words[at++] = text(in);
}

/* ---- the whole ----------------------------------------------------------------------------------------- */
static int32_t body_take(struct isolated *iso, const struct talk_in *in, struct keel_err *err)
{
	struct talk_in own;

	iso->body_len = (uint32_t)(in->end - in->at);
	iso->body = malloc(iso->body_len + 1u);
	if (!iso->body)
		return keel_error(err, -ENOMEM, "no memory to load module %s", iso->name);
	memcpy(iso->body, in->at, iso->body_len);
	own = (struct talk_in){ .at = iso->body, .end = iso->body + iso->body_len };
	head_take(iso, &own);
	rules_take(iso, &own);
	contribs_take(iso, &own);
	taps_take(iso, &own);
	words_take(iso, &own);
	if (!own.bad && own.at == own.end)
		return 0;
	return keel_error(err, -EPROTO, "module %s: its process describes it wrongly", iso->name);
}

int32_t described(struct isolated *iso, struct talk_in *in, struct keel_err *err)
{
	int64_t code = take_int(in);
	const char *why = take_str(in);

	if (in->bad || code != 0)
		return keel_error(err, code < 0 && code > -4096 ? (int32_t)code : -EPROTO, "%s",
				  why ? why : "its process cannot open it");
	if (!iso->body)
		return body_take(iso, in, err);
	if ((size_t)(in->end - in->at) == iso->body_len && memcmp(in->at, iso->body, iso->body_len) == 0)
		return 0;
	return keel_error(err, -ESTALE, "%s is another module now; reload to use it", iso->path);
}

void described_free(struct isolated *iso)
{
	free(iso->body);
	free(iso->rules);
	free(iso->contribs);
	free(iso->defs);
	free(iso->taps);
	free(iso->iso_taps);
	free(iso->words);
}
