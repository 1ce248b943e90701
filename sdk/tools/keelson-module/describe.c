/* SPDX-License-Identifier: Apache-2.0
 *
 * describe.c - a module's descriptor as a page: what it is, needs, adds, taps, and its configuration.
 */
#include "describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
	uint32_t id;
	const char *name, *kind, *doc;
} points[] = {
#define HOOK(id, name, kind, daemon, doc) { id, #name, #kind, doc },
#include "keel/hook_points.def"
#undef HOOK
};

static const char *const conf_types[] = { "", "true or false", "integer", "string", "one of",
					  "duration", "size", "list of strings" };

const char *point_name(uint32_t point)
{
	for (uint32_t i = 0; i < KEEL_COUNT(points); i++)
		if (points[i].id == point)
			return points[i].name;
	return NULL;
}

static const char *or_nothing(const char *text)
{
	return text == NULL ? "" : text;
}

static void needs_print(const struct keel_module *m)
{
	for (uint32_t i = 0; i < m->n_needs; i++)
		printf("needs       %s >= %" PRIu32 "%s\n", m->needs[i].group, m->needs[i].minor,
		       m->needs[i].optional ? " (may be absent)" : "");
}

static void taps_print(const struct keel_module *m)
{
	const char *row = (const char *)m->taps;

	for (uint32_t i = 0; i < m->n_taps; i++, row += m->taps[0].size) {
		const struct keel_tap *t = (const void *)row;

		for (uint32_t p = 0; p < KEEL_COUNT(points); p++)
			if (points[p].id == t->point)
				printf("taps        %s (%s, order %" PRId32 "): %s\n", points[p].name,
				       points[p].kind, t->order, points[p].doc);
	}
}

/* The kinds of the kernel; those of modules have a name at the same place as none of these. */
static void contribs_print(const struct keel_module *m)
{
	for (uint32_t i = 0; i < m->n_contribs; i++) {
		const struct keel_contrib *c = &m->contribs[i];

		if (strcmp(c->kind, "ATTR") == 0) {
			const struct keel_attr_def *a = c->def;
			printf("adds        attribute %s of %s (%s): %s\n", a->name, a->klass, a->type,
			       or_nothing(a->doc));
		} else if (strcmp(c->kind, "REQUEST") == 0) {
			const struct keel_request_def *r = c->def;
			printf("adds        request %s: %s\n", r->name, or_nothing(r->doc));
		} else if (strcmp(c->kind, "SERVICE") == 0) {
			const struct keel_service_def *s = c->def;
			printf("offers      service %s: %s\n", s->name, or_nothing(s->doc));
		} else if (strcmp(c->kind, "SIGNAL") == 0) {
			const struct keel_signal_def *s = c->def;
			printf("adds        signal %s: %s\n", s->name, or_nothing(s->doc));
		} else {
			printf("adds        a row of kind %s\n", c->kind);
		}
	}
}

static void conf_print(const struct keel_module *m)
{
	printf("\n%s: {\n\tenabled = true;\n", m->name);
	for (uint32_t i = 0; i < m->n_conf; i++) {
		const struct keel_conf_rule *r =
			(const void *)((const char *)m->conf + (size_t)i * m->conf[0].size);
		const char *type = r->type < KEEL_COUNT(conf_types) ? conf_types[r->type] : "?";

		printf("\t# %s; %s%s%s\n\t# %s = %s;\n", or_nothing(r->doc), type,
		       r->choices == NULL ? "" : " ", or_nothing(r->choices), r->key,
		       r->fallback == NULL ? "..." : r->fallback);
	}
	printf("};\n");
}

void describe(const struct keel_module *m)
{
	printf("name        %s\nversion     %s\nvendor      %s\nsummary     %s\n", m->name,
	       or_nothing(m->version), or_nothing(m->vendor), or_nothing(m->summary));
	printf("interface   %u.%u\nruns in    %s%s\n", (unsigned)m->abi_major, (unsigned)m->abi_minor,
	       m->roles & KEEL_SERVER ? " server" : "", m->roles & KEEL_MOM ? " mom" : "");
	needs_print(m);
	taps_print(m);
	contribs_print(m);
	conf_print(m);
}
