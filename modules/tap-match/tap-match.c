/* SPDX-License-Identifier: Apache-2.0
 *
 * tap-match.c - taps that are called only for some objects: `match = { queue = "^gpu"; }`.
 *
 * A scope has a name ("queue") and, for each class of objects that has one, a row of the kind SCOPE that returns it as
 * text. An event passes when each pattern of the module matches the text of an object of the event. A scope that
 * no object of the event has is ignored.
 */
#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "keel/keel.h"
#include "keel/text.h"

#define LONGEST_TRY 100000 /* steps before a match fails with an error */
#define WORDS_SIZE 512	   /* enough for most objects; longer texts are fetched again */

struct row {
	struct row *next;
	struct keel_mod *owner;
	const struct keel_scope_def *def;
};
struct term {
	char *name;
	pcre2_code *code;
	bool gave_up; /* logged once */
};
struct filter {
	struct filter *prev, *next;
	char *module;
	pcre2_match_data *found;
	pcre2_match_context *context;
	uint32_t n;
	struct term term[];
};
struct state {
	struct row *rows;
	struct filter *filters;
};

/* ---- the kind SCOPE: what returns the texts --------------------------------------------------------------- */
static struct row *row_find(const struct state *st, const char *name, const char *klass)
{
	struct row *row;

	LL_FOREACH(st->rows, row) {
		if (strcmp(row->def->name, name) == 0 && (klass == NULL || strcmp(row->def->klass, klass) == 0))
			break;
	}
	return row;
}

static int32_t scope_add(struct keel_mod *m, struct keel_mod *owner, const void *row, struct keel_err *err)
{
	const struct keel_scope_def *def = row;
	struct state *st = m->state;
	struct row *taken, *fresh;

	if (def->name == NULL || def->klass == NULL || def->text == NULL)
		return keel_error(err, -EINVAL, "scope '%s' of module %s has no name, no class or no function",
				  def->name != NULL ? def->name : "", owner->name);
	taken = row_find(st, def->name, def->klass);
	if (taken != NULL)
		return keel_error(err, -EEXIST, "scope '%s' of class '%s', of module %s, is already that of module %s; "
				  "enable only one of the two", def->name, def->klass, owner->name, taken->owner->name);
	fresh = malloc(sizeof(*fresh));
	if (fresh == NULL)
		return keel_error(err, -ENOMEM, "no memory for scope '%s'", def->name);
	*fresh = (struct row){ .owner = owner, .def = def };
	LL_PREPEND(st->rows, fresh);
	return 0;
}

static void scope_remove(struct keel_mod *m, struct keel_mod *owner, const void *def)
{
	const struct keel_scope_def *gone = def;
	struct state *st = m->state;
	struct row *row = row_find(st, gone->name, gone->klass);

	(void)owner;
	if (row == NULL)
		return;
	LL_DELETE(st->rows, row);
	free(row);
}

/* ---- filters ----------------------------------------------------------------------------------------------------- */
static void filter_drop(struct keel_mod *m, void *filter)
{
	struct state *st = m->state;
	struct filter *f = filter;

	DL_DELETE(st->filters, f);
	for (uint32_t i = 0; i < f->n; i++) {
		pcre2_code_free(f->term[i].code);
		free(f->term[i].name);
	}
	pcre2_match_data_free(f->found);
	pcre2_match_context_free(f->context);
	free(f->module);
	free(f);
}

/* Each name once, though every class of objects that has it brings a row. */
static int32_t refuse_scope(const struct state *st, const char *module, const struct keel_match *said, struct keel_err *err)
{
	struct keel_text known;
	const struct row *row;
	int32_t ret;

	keel_text_init(&known);
	LL_FOREACH(st->rows, row) {
		if (row_find(st, row->def->name, NULL) == row)
			keel_text_printf(&known, "%s%s", known.len > 0 ? ", " : "", row->def->name);
	}
	ret = keel_error(err, -EINVAL, "%s: %s.match.%s: no module offers a scope \"%s\" (there are: %s)", said->where, module,
			 said->scope, said->scope, known.len > 0 ? known.data : "none");
	keel_text_fini(&known);
	return ret;
}

static int32_t term_fill(const struct state *st, struct term *t, const struct keel_match *said, const char *module,
			 struct keel_err *err)
{
	PCRE2_SIZE at = 0;
	int error = 0;
	char why[128] = "";

	/* A host has no objects, and so no scopes. */
	if (st->rows != NULL && row_find(st, said->scope, NULL) == NULL)
		return refuse_scope(st, module, said, err);
	t->name = strdup(said->scope);
	if (t->name == NULL)
		return keel_error(err, -ENOMEM, "no memory for the scopes of module %s", module);
	t->code = pcre2_compile((PCRE2_SPTR)said->pattern, PCRE2_ZERO_TERMINATED, PCRE2_MULTILINE, &error, &at, NULL);
	if (t->code != NULL) {
		pcre2_jit_compile(t->code, PCRE2_JIT_COMPLETE); /* where there is none it does without */
		return 0;
	}
	pcre2_get_error_message(error, (PCRE2_UCHAR *)why, sizeof(why));
	return keel_error(err, -EINVAL, "%s: %s.match.%s: \"%s\" is no regular expression: %s at character %zu",
			  said->where, module, said->scope, said->pattern, why, at + 1);
}

static void *filter_make(struct keel_mod *m, const struct keel_mod *mod, const struct keel_match *said, uint32_t n,
			 struct keel_err *err)
{
	struct filter *f = calloc(1, sizeof(*f) + n * sizeof(f->term[0]));
	struct state *st = m->state;
	int32_t ret = 0;

	if (f == NULL) {
		keel_error(err, -ENOMEM, "no memory for the scopes of module %s", mod->name);
		return NULL;
	}
	DL_APPEND(st->filters, f);
	f->n = n;
	f->module = strdup(mod->name);
	f->found = pcre2_match_data_create(1, NULL);
	f->context = pcre2_match_context_create(NULL);
	if (f->module == NULL || f->found == NULL || f->context == NULL)
		ret = keel_error(err, -ENOMEM, "no memory for the scopes of module %s", mod->name);
	else
		pcre2_set_match_limit(f->context, LONGEST_TRY);
	for (uint32_t i = 0; i < n && ret == 0; i++)
		ret = term_fill(st, &f->term[i], &said[i], mod->name, err);
	if (ret == 0)
		return f;
	filter_drop(m, f);
	return NULL;
}

/* ---- matching an event ------------------------------------------------------------------------------------------- */
/* A match that fails with an error counts as found: a call too many is better than one that is missed. */
static bool found_in(struct keel_mod *m, const struct filter *f, struct term *term, const char *words)
{
	int ret = pcre2_match(term->code, (PCRE2_SPTR)words, strlen(words), 0, 0, f->found, f->context);

	if (ret >= 0 || ret == PCRE2_ERROR_NOMATCH)
		return ret >= 0;
	if (!term->gave_up)
		keel_log(m, KEEL_LOG_ERROR, "Hook", f->module,
			 "the pattern of %s for %s takes too long and counts as found; make it simpler", f->module, term->name);
	term->gave_up = true;
	return true;
}

static bool object_is_in(struct keel_mod *m, const struct filter *f, struct term *term, const struct row *row,
			 struct keel_obj *obj)
{
	char some[WORDS_SIZE] = "", *words = some;
	int32_t len = row->def->text(row->owner, obj, some, sizeof(some));
	bool found;

	if (len >= (int32_t)sizeof(some)) {
		words = calloc(1, (size_t)len + 1);
		if (words == NULL)
			return true;
		row->def->text(row->owner, obj, words, (uint32_t)len + 1);
	}
	found = found_in(m, f, term, words);
	if (words != some)
		free(words);
	return found;
}

static bool term_passes(struct keel_mod *m, const struct filter *f, struct term *term, const struct keel_about_point *about,
			const void *event)
{
	bool known = false;

	for (uint32_t i = 0; i < about->n_fields; i++) {
		struct keel_obj *obj = NULL;
		const struct row *row;

		if (about->fields[i].type == KEEL_FIELD_OBJ)
			memcpy(&obj, (const char *)event + about->fields[i].offset, sizeof(obj));
		row = obj != NULL ? row_find(m->state, term->name, keel_klass(obj)) : NULL;
		if (row == NULL)
			continue;
		if (object_is_in(m, f, term, row, obj))
			return true;
		known = true;
	}
	return !known;
}

static bool filter_passes(struct keel_mod *m, void *filter, uint32_t point, const void *event)
{
	struct keel_about_point about = { .size = sizeof(about) };
	struct filter *f = filter;

	if (keel_point_about(m, point, &about) < 0)
		return true;
	for (uint32_t i = 0; i < f->n; i++) {
		if (!term_passes(m, f, &f->term[i], &about, event))
			return false;
	}
	return true;
}

/* ---- the module --------------------------------------------------------------------------------------------------- */
/* Those of modules that add their taps later, or have none. */
static void fini(struct keel_mod *m)
{
	struct state *st = m->state;

	while (st->filters != NULL)
		filter_drop(m, st->filters);
}

static const struct keel_kind_def scope_kind = {
	.size = sizeof(scope_kind), .row_size = sizeof(struct keel_scope_def), .name = "SCOPE",
	.doc = "a word that `match` of a site's configuration may use", .add = scope_add, .remove = scope_remove,
};
static const struct keel_filter_def filter_def = {
	.size = sizeof(filter_def), .name = "match", .doc = "patterns for the objects of an event",
	.make = filter_make, .drop = filter_drop, .passes = filter_passes,
};
static const struct keel_contrib contribs[] = { KEEL_ROW(KIND, scope_kind), KEEL_ROW(FILTER, filter_def) };

KEEL_MODULE(.name = "tap-match", .version = "1.0", .vendor = "Keelson",
	    .summary = "calls the taps of a module for some objects only", .roles = KEEL_ANY, .flags = KEEL_MOD_NO_PROCESS, .state_size = sizeof(struct state),
	    KEEL_CONTRIBS(contribs), .fini = fini);
