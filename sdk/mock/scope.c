/* SPDX-License-Identifier: Apache-2.0
 *
 * scope.c - taps that are called only for some objects: `match = { queue = "^gpu"; };` in a module's group.
 *
 * A pattern is looked for in the words that rows of the kind SCOPE have for the objects of an event. An event whose
 * objects nobody has words for is for every tap.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <libconfig.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "inside.h"
#include "keel/sized.h"

enum { LONGEST_TRY = 100000 }; /* steps of a pattern that goes astray */

struct site_match {
	char *scope;
	uint32_t line;
	pcre2_code *code;
	bool gave_up; /* said once */
};

/* ---- rows: who has the words ---------------------------------------------------------------------------- */
static struct keel_scope_def def_of(const void *row)
{
	struct keel_scope_def d;

	KEEL_SIZED(&d, (const struct keel_scope_def *)row);
	return d;
}

static const struct row *row_find(const struct keel_mock *mock, const char *name, const char *klass)
{
	const struct row *r;

	DL_FOREACH(mock->rows, r)
		if (r->is_built_in && strcmp(r->kind, "SCOPE") == 0 && strcmp(def_of(r->def).name, name) == 0 &&
		    (klass == NULL || strcmp(def_of(r->def).klass, klass) == 0))
			break;
	return r;
}

int scope_row_add(struct mod *m, const void *row, struct keel_err *err)
{
	const struct keel_scope_def d = def_of(row);
	const struct row *taken;

	if (d.name == NULL || d.klass == NULL || d.text == NULL)
		return err_set(err, -EINVAL, "scope '%s' of module %s has no name, no class or no function",
			       d.name != NULL ? d.name : "", m->desc.name);
	taken = row_find(mock_of(m), d.name, d.klass);
	if (taken == NULL)
		return 0;
	return err_set(err, -EEXIST, "scope '%s' of class '%s', of module %s, is already that of module %s; enable only "
		       "one of the two", d.name, d.klass, m->desc.name, taken->owner->desc.name);
}

/* A row of the list is all there is. */
void scope_row_remove(struct mod *m, const void *row)
{
	(void)m;
	(void)row;
}

/* ---- what a site wrote ---------------------------------------------------------------------------------- */
static int match_read(const struct keel_module *d, const config_setting_t *s, struct block *b, struct keel_err *err)
{
	const char *pattern = config_setting_get_string(s);
	struct site_match *t;
	char why[128] = "";
	PCRE2_SIZE at = 0;
	int error = 0;

	if (pattern == NULL)
		return conf_refuse(s, config_setting_name(s), "a pattern, \"...\"", err);
	b->matches = enlarge(b->matches, (b->n_matches + 1) * sizeof(*b->matches));
	t = &b->matches[b->n_matches++];
	*t = (struct site_match){ .scope = dup_text(config_setting_name(s)), .line = config_setting_source_line(s) };
	t->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_MULTILINE, &error, &at, NULL);
	if (t->code != NULL)
		return 0;
	pcre2_get_error_message(error, (PCRE2_UCHAR *)why, sizeof(why));
	return err_set(err, -EINVAL, "conf:%u: %s.match.%s: \"%s\" is no regular expression: %s at character %zu", t->line,
		       d->name, t->scope, pattern, why, at + 1);
}

int scope_read(const struct keel_module *d, const void *group, struct block *b, struct keel_err *err)
{
	const config_setting_t *s = config_setting_get_member(group, "match");
	int ret = 0;

	for (int i = 0; s != NULL && i < config_setting_length(s) && ret == 0; i++)
		ret = match_read(d, config_setting_get_elem(s, (unsigned)i), b, err);
	return ret;
}

void scope_free(struct block *b)
{
	for (uint32_t i = 0; i < b->n_matches; i++) {
		free(b->matches[i].scope);
		pcre2_code_free(b->matches[i].code);
	}
	free(b->matches);
}

/* ---- does somebody know the scopes? --------------------------------------------------------------------- */
/* Of its own, which are no rows yet while it is opened. */
static const char *own_scope(const struct keel_module *d, uint32_t i)
{
	const struct keel_contrib *c = &d->contribs[i];

	return c->kind != NULL && c->def != NULL && strcmp(c->kind, "SCOPE") == 0 ? def_of(c->def).name : NULL;
}

static bool offers(const struct keel_module *d, const char *scope)
{
	for (uint32_t i = 0; i < d->n_contribs; i++)
		if (own_scope(d, i) != NULL && strcmp(own_scope(d, i), scope) == 0)
			return true;
	return false;
}

static void list(const struct keel_module *d, struct text *t)
{
	for (uint32_t i = 0; i < d->n_contribs; i++) {
		const char *name = own_scope(d, i);

		if (name != NULL && (t->data == NULL || strstr(t->data, name) == NULL))
			text_put(t, "%s%s", t->data != NULL ? ", " : "", name);
	}
}

static bool is_known(const struct keel_mock *mock, const struct mod *but, const struct keel_module *own, const char *scope)
{
	const struct mod *m;

	DL_FOREACH(mock->mods, m)
		if (m != but && offers(&m->desc, scope))
			return true;
	return offers(own, scope);
}

int scope_lint(const struct keel_mock *mock, const struct mod *but, const struct keel_module *d, const struct block *b,
	       struct keel_err *err)
{
	struct text known = { 0 };
	const struct mod *m;
	uint32_t i = 0;

	if (!(mock->daemon & KEEL_SERVER)) /* others have no objects */
		return 0;
	while (i < b->n_matches && is_known(mock, but, d, b->matches[i].scope))
		i++;
	if (i == b->n_matches)
		return 0;
	DL_FOREACH(mock->mods, m)
		if (m != but)
			list(&m->desc, &known);
	list(d, &known);
	err_set(err, -EINVAL, "conf:%u: %s.match.%s: no module offers a scope \"%s\" (there are: %s)", b->matches[i].line,
		d->name, b->matches[i].scope, b->matches[i].scope, known.data != NULL ? known.data : "none");
	free(known.data);
	return -EINVAL;
}

int scopes_without(const struct mod *gone, struct keel_err *err)
{
	const struct mod *m;
	int ret = 0;

	DL_FOREACH(mock_of(gone)->mods, m)
		if (m != gone && ret == 0)
			ret = scope_lint(mock_of(gone), gone, &m->desc, m->conf, err);
	return ret;
}

/* ---- is this event for it? ------------------------------------------------------------------------------ */
/* A pattern that gives up counts as found: better asked once too often than not asked. */
static bool is_found(const struct op *op, const struct tap *t, struct site_match *match, const char *words)
{
	pcre2_match_context *bounds = pcre2_match_context_create(NULL);
	pcre2_match_data *found = pcre2_match_data_create(1, NULL);
	int ret;

	if (bounds == NULL || found == NULL)
		die("no memory");
	pcre2_set_match_limit(bounds, LONGEST_TRY);
	ret = pcre2_match(match->code, (PCRE2_SPTR)words, strlen(words), 0, 0, found, bounds);
	pcre2_match_data_free(found);
	pcre2_match_context_free(bounds);
	if (ret >= 0 || ret == PCRE2_ERROR_NOMATCH)
		return ret >= 0;
	if (!match->gave_up)
		host_log(op->mock, KEEL_LOG_ERROR, "Hook", op_label(op),
			 "the pattern of %s for %s takes too long and counts as found; make it simpler", t->owner->desc.name,
			 match->scope);
	match->gave_up = true;
	return true;
}

/* Its words for the pattern; free() them. */
static char *words_of(const struct row *r, struct body *b)
{
	const struct keel_scope_def d = def_of(r->def);
	uint32_t size = 512;
	char *words = make(size);
	int32_t len;

	IN(r->owner, len = d.text(&r->owner->pub, handle_of(b), words, size));
	if (len >= (int32_t)size) {
		free(words);
		size = (uint32_t)len + 1;
		words = make(size);
		IN(r->owner, len = d.text(&r->owner->pub, handle_of(b), words, size));
	}
	if (len <= 0)
		words[0] = '\0';
	return words;
}

static bool match_holds(const struct op *op, const struct tap *t, struct site_match *match)
{
	bool is_in = false, known = false;
	union any_event event;
	uint32_t n;
	const struct keel_field *f = row_fields(op->point, &n);

	event_whole(op->point, op->event, &event);
	for (uint32_t i = 0; i < n && !is_in; i++) {
		const struct keel_obj *o = NULL;
		const struct row *r;
		char *words;

		if (f[i].type == KEEL_FIELD_OBJ)
			memcpy(&o, (const char *)&event + f[i].offset, sizeof(o));
		r = o != NULL ? row_find(op->mock, match->scope, o->body->klass->name) : NULL;
		if (r == NULL)
			continue;
		words = words_of(r, o->body);
		is_in = is_found(op, t, match, words);
		known = true;
		free(words);
	}
	return is_in || !known;
}

bool scope_holds(const struct op *op, const struct tap *t)
{
	const struct block *b = t->owner->conf;

	for (uint32_t i = 0; b != NULL && i < b->n_matches; i++)
		if (!match_holds(op, t, &b->matches[i]))
			return false;
	return true;
}
