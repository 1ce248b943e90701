/* SPDX-License-Identifier: Apache-2.0
 *
 * describe.c - map the module's file, refuse what cannot work from a process, and say what it is.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "keel/sized.h"
#include "keel/isolable.h"

/* ---- tables of this size, whatever the file's ---------------------------------------------------------- */
static void *rows_copy(const void *rows, uint32_t n, uint32_t size)
{
	char *copy = own(calloc(n + 1, size));
	uint32_t theirs = 0;

	if (n > 0)
		memcpy(&theirs, rows, sizeof(theirs));
	for (uint32_t i = 0; i < n; i++)
		keel_sized(copy + (size_t)i * size, size, (const char *)rows + (size_t)i * theirs);
	return copy;
}

static bool bars(char why[KEEL_ISOLABLE_WHY])
{
	bool barred = keel_isolable_bars_flags(host.desc->flags, why);

	for (const struct keel_need *n = host.desc->needs; n != host.desc->needs_end && !barred; n++)
		barred = n->klass == NULL && keel_isolable_bars_need(n->name, n->optional, why);
	for (uint32_t i = 0; i < host.desc->n_contribs && !barred; i++) {
		const struct keel_contrib *c = &host.desc->contribs[i];
		struct keel_attr_def attr = { .size = sizeof(attr) };

		if (strcmp(c->kind, "ATTR") == 0)
			KEEL_SIZED(&attr, c->def);
		barred = keel_isolable_bars_row(c->kind, attr.name, attr.check || attr.derive || attr.changed, why);
	}
	for (uint32_t i = 0; i < host.desc->n_taps && !barred; i++) {
		const struct map_point *p = map_point(host.taps[i].point);

		barred = !p || keel_isolable_bars_tap(p->name, p->kind, p->daemon, why);
		if (!p)
			snprintf(why, KEEL_ISOLABLE_WHY, "it taps point %u, which this daemon does not have", host.taps[i].point);
	}
	return barred;
}

int32_t module_open(const char *path, char *why, uint32_t len)
{
	char no[KEEL_ISOLABLE_WHY];
	void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct keel_module *d = file ? dlsym(file, "keel_module") : NULL;

	if (!d || d->magic != KEEL_MAGIC) {
		snprintf(why, len, "%s cannot be opened: %s", path, d ? "its magic number is wrong" : dlerror());
		return -EINVAL;
	}
	host.desc = d;
	host.rules = rows_copy(d->conf, d->n_conf, sizeof(*host.rules));
	host.taps = rows_copy(d->taps, d->n_taps, sizeof(*host.taps));
	module_link();
	if (!bars(no))
		return 0;
	snprintf(why, len, "module %s cannot run in a process of its own: %s; take isolation = \"process\" out of its "
		 "configuration, or leave it out", d->name, no);
	return -ENOTSUP;
}

/* ---- say what it is ----------------------------------------------------------------------------------- */
static void put_contribs(struct talk *m)
{
	talk_int(m, host.desc->n_contribs);
	for (uint32_t i = 0; i < host.desc->n_contribs; i++) {
		const struct keel_contrib *c = &host.desc->contribs[i];
		struct keel_attr_def attr;

		talk_str(m, c->kind);
		KEEL_SIZED(&attr, c->def);
		talk_row(m, talk_attr, &attr);
	}
}

static void put_words(const char *const *words, struct talk *m)
{
	uint32_t n = 0;

	while (words && words[n])
		n++;
	talk_int(m, n);
	for (uint32_t i = 0; i < n; i++)
		talk_str(m, words[i]);
}

void describe(struct talk *m)
{
	const struct keel_module *d = host.desc;

	talk_row(m, talk_head, d);
	talk_int(m, d->busy != NULL);
	talk_int(m, d->n_conf);
	for (uint32_t i = 0; i < d->n_conf; i++)
		talk_row(m, talk_rule, &host.rules[i]);
	put_contribs(m);
	talk_int(m, d->n_taps);
	for (uint32_t i = 0; i < d->n_taps; i++)
		talk_row(m, talk_tap, &host.taps[i]);
	put_words(d->requires_modules, m);
	put_words(d->conflicts, m);
}
