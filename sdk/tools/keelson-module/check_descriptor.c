/* SPDX-License-Identifier: Apache-2.0
 *
 * check_descriptor.c - the tables of a descriptor: whole, named, explained, and possible.
 */
#include <stdio.h>
#include <string.h>

#include "check_child.h"
#include "check_static.h"
#include "keel/sized.h"
#include "points.h"
#include "rules/rules.h"
#include "words.h"

enum { ROWS_MAX = 4096, ORDER_MAX = 1000 };

static bool said(const char *text)
{
	return text != NULL && text[strspn(text, " \t\n")] != '\0';
}

/* ---- head ------------------------------------------------------------------------------------------ */
static void head_rules(const struct keel_module *m)
{
	const struct {
		uint32_t n;
		const void *table;
		const char *name;
	} tables[] = { { m->n_conf, m->conf, "conf" },
		       { m->n_contribs, m->contribs, "contribs" }, { m->n_taps, m->taps, "taps" } };

	if (m->magic != KEEL_MAGIC || m->size < sizeof(*m))
		finding(RULE_static_descriptor, "it does not begin as KEEL_MODULE() makes it");
	if (!said(m->name) || strlen(m->name) > 63 ||
	    strspn(m->name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != strlen(m->name))
		finding(RULE_static_descriptor, ".name '%s' is not 1 to 63 of a-z 0-9 - _",
			said(m->name) ? m->name : "");
	if (!said(m->version))
		finding(RULE_static_descriptor, "it has no .version");
	if (!said(m->summary))
		finding(RULE_static_descriptor, "it has no .summary");
	for (size_t i = 0; i < KEEL_COUNT(tables); i++) {
		if (tables[i].n == 0 && tables[i].table != NULL)
			finding(RULE_static_descriptor, "it has a table in .%s and .n_%s does not count its rows",
				tables[i].name, tables[i].name);
		if (tables[i].n > ROWS_MAX || (tables[i].n > 0 && tables[i].table == NULL))
			finding(RULE_static_descriptor, "it counts %u rows in .%s and has no such table",
				(unsigned)tables[i].n, tables[i].name);
	}
	if (m->n_conf > 0 && m->conf != NULL && m->conf[0].size < offsetof(struct keel_conf_rule, doc))
		finding(RULE_static_descriptor, "rows of .conf have no .size");
	if (m->n_taps > 0 && m->taps != NULL && m->taps[0].size < offsetof(struct keel_tap, order))
		finding(RULE_static_descriptor, "rows of .taps have no .size");
	if (m->roles == 0 || (m->roles & ~(uint32_t)KEEL_ANY) != 0)
		finding(RULE_static_roles, ".roles is %u", (unsigned)m->roles);
}

/* ---- configuration --------------------------------------------------------------------------------- */
static const char *row_objection(const struct keel_module *m, const struct keel_conf_rule *r)
{
	uint32_t width = rule_width(r);

	if (is_common_key(r->key))
		return "has a key that every module's group has already (the site's): choose another name";
	if (width == 0)
		return "has a type that is none";
	if (r->offset > m->conf_size || width > m->conf_size - r->offset || r->offset % width != 0)
		return "does not fit into the struct";
	if (r->type == KEEL_CONF_ENUM && !said(r->choices))
		return "has no choices";
	if (r->min > r->max)
		return "has a .min above its .max";
	return NULL;
}

static void conf_rules(const struct keel_module *m)
{
	for (uint32_t i = 0; i < m->n_conf; i++) {
		const struct keel_conf_rule r = rule_at(m->conf, i);
		const char *no = row_objection(m, &r);
		char words[VALUE_WORDS];
		struct conf_data *d;

		if (!said(r.key)) {
			finding(RULE_static_conf_rows, "row %u has no key", (unsigned)i);
			continue;
		}
		for (uint32_t j = 0; j < i; j++)
			if (rule_at(m->conf, j).key != NULL && strcmp(rule_at(m->conf, j).key, r.key) == 0)
				finding(RULE_static_conf_rows, "%s is there twice", r.key);
		if (!said(r.doc))
			finding(RULE_static_docs, "key %s of the configuration", r.key);
		if (no != NULL) {
			finding(RULE_static_conf_rows, "%s %s", r.key, no);
			continue;
		}
		d = conf_data_create(m->conf_size);
		if (d != NULL && r.fallback != NULL && value_from_text(&r, r.fallback, d) < 0)
			finding(RULE_static_conf_defaults, "%s = %s: expected %s", r.key, r.fallback, value_expected(&r, words));
		conf_data_destroy(d);
	}
}

/* ---- contributions --------------------------------------------------------------------------------- */
/* A string of the row; NULL: it is not there, or behind its size. */
static const char *text_of(const void *def, size_t offset)
{
	uint32_t size = *(const uint32_t *)def;
	const char *text;

	if (offset + sizeof(text) > size)
		return NULL;
	memcpy(&text, (const char *)def + offset, sizeof(text));
	return text;
}

static void contrib_rule(const struct keel_contrib *c, uint32_t row)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	const struct modfile_kind *k;
	const char *name;

	if (!said(c->kind) || c->def == NULL || *(const uint32_t *)c->def < 2 * sizeof(uint32_t)) {
		finding(RULE_static_descriptor, "row %u of .contribs has no kind, no def or no size",
			(unsigned)row);
		return;
	}
	k = modfile_kind(c->kind);
	if (k == NULL)
		return; /* of another module: only that knows what its rows hold */
	name = text_of(c->def, k->title);
	if (strcmp(c->kind, "ATTR") == 0)
		name = ((const struct keel_attr_def *)c->def)->name;
	if (strcmp(c->kind, "ATTR") == 0 && said(name) &&
	    (strspn(name, letters) != strlen(name) || (name[0] >= '0' && name[0] <= '9')))
		finding(RULE_static_attr_names, "'%s'", name);
	if (!said(name))
		finding(RULE_static_descriptor, "row %u of .contribs, %s, has no name", (unsigned)row, c->kind);
	else if (!said(text_of(c->def, k->doc)))
		finding(RULE_static_docs, "%s %s", k->word, name);
}

/* ---- taps ------------------------------------------------------------------------------------------ */
struct keel_tap tap_row(const struct keel_module *m, uint32_t i)
{
	struct keel_tap t;

	KEEL_SIZED(&t, (const char *)m->taps + (size_t)i * m->taps[0].size);
	return t;
}

static void tap_rule(const struct keel_module *m, uint32_t i)
{
	const struct keel_tap t = tap_row(m, i);
	const struct point *p = point_find(t.point);
	const char *name = said(t.name) ? t.name : "a tap without name";

	if (p == NULL || t.fn.any == NULL)
		finding(RULE_static_tap_points, "%s: %s", name, p == NULL ? "no such point" : "no handler");
	else if ((p->daemon & m->roles) == 0)
		finding(RULE_static_tap_points, "%s: %s is never raised where this module runs", name, p->name);
	if (t.order < -ORDER_MAX || t.order > ORDER_MAX)
		finding(RULE_static_tap_order, "%s has %d", name, (int)t.order);
	if (!said(t.name) || strpbrk(t.name, " ,.") != NULL)
		finding(RULE_static_tap_names, "%s: no name, or one with a blank, comma or dot",
			p == NULL ? "?" : p->name);
	for (uint32_t j = 0; j < i; j++)
		if (tap_row(m, j).point == t.point && said(t.name) && said(tap_row(m, j).name) &&
		    strcmp(tap_row(m, j).name, t.name) == 0)
			finding(RULE_static_tap_names, "two are called %s at %s", name, p == NULL ? "?" : p->name);
}

static void tables_read(void *arg)
{
	const struct keel_module *m = arg;

	child_step("its tables being read");
	head_rules(m);
	if (rule_broken(RULE_static_descriptor))
		return;
	look_from_to(RULE_static_needs, RULE_static_tap_names);
	for (const struct keel_need *n = m->needs; n != m->needs_end; n++)
		if (!said(n->name) || n->at == NULL)
			finding(RULE_static_needs, "a row of what it uses has no name or no place (%s)",
				said(n->name) ? n->name : "");
	conf_rules(m);
	for (uint32_t i = 0; i < m->n_contribs; i++)
		contrib_rule(&m->contribs[i], i);
	for (uint32_t i = 0; i < m->n_taps; i++)
		tap_rule(m, i);
}

/* In a child: the pointers of a damaged file lead anywhere. */
bool check_descriptor(const struct keel_module *m)
{
	static const enum rule needed[] = { RULE_static_descriptor, RULE_static_roles,	 RULE_static_needs,
					    RULE_static_conf_rows,  RULE_static_conf_defaults,
					    RULE_static_tap_points, RULE_static_tap_names,
					    RULE_static_tap_order };
	const char *why;

	look_from_to(RULE_static_descriptor, RULE_static_roles);
	if (child_run(tables_read, (void *)(uintptr_t)m, 30, &why) != CHILD_DONE)
		finding(RULE_static_descriptor, "%s", why);
	for (size_t i = 0; i < KEEL_COUNT(needed); i++)
		if (rule_broken(needed[i]))
			return false;
	return true;
}
