/* SPDX-License-Identifier: Apache-2.0
 *
 * scope.c - taps that are called only for some objects: `match = { queue = "^gpu"; }`.
 *
 * A scope has a name ("queue") and, for each class of objects that has one, a row of the kind SCOPE that returns it as
 * text. A tap is called when each pattern of its module matches the text of an object of the event. A scope that
 * no object of the event has is ignored. Taps without a scope pay nothing: TAP_SCOPED is one of the bits that
 * lead to the slow path.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "hook/inside.h"
#include "registry/registry.h"
#include "util/err.h"

#define LONGEST_TRY 100000 /* steps before a match fails with an error */
#define WORDS_SIZE 512	   /* enough for most objects; longer texts are fetched again */

/* ---- rows: what returns the texts ------------------------------------------------------------------ */
struct scope_row {
	struct scope_row *next;
	struct owner *owner;
	const struct keel_scope_def *def;
};

static struct scope_row *row_find(const struct hooks *h, const char *name, const char *klass)
{
	struct scope_row *row;

	LL_FOREACH(h->scopes, row) {
		if (strcmp(row->def->name, name) == 0 && strcmp(row->def->klass, klass) == 0)
			break;
	}
	return row;
}

static int row_add(void *arg, struct owner *owner, const void *row, struct keel_err *err)
{
	const struct keel_scope_def *def = row;
	struct hooks *h = arg;
	struct scope_row *taken, *fresh;

	if (def->name == NULL || def->klass == NULL || def->text == NULL)
		return err_set(err, -EINVAL,
			       "scope '%s' of module %s has no name, no class or no function",
			       def->name != NULL ? def->name : "", owner->pub.name);
	taken = row_find(h, def->name, def->klass);
	if (taken != NULL)
		return err_set(err, -EEXIST,
			       "scope '%s' of class '%s', of module %s, is already that of module %s; "
			       "enable only one of the two",
			       def->name, def->klass, owner->pub.name, taken->owner->pub.name);
	fresh = malloc(sizeof(*fresh));
	if (fresh == NULL)
		return err_set(err, -ENOMEM, "no memory for scope '%s'", def->name);
	*fresh = (struct scope_row){ .owner = owner, .def = def };
	LL_PREPEND(h->scopes, fresh);
	return 0;
}

static void row_remove(void *arg, struct owner *owner, const void *def)
{
	const struct keel_scope_def *gone = def;
	struct hooks *h = arg;
	struct scope_row *row = row_find(h, gone->name, gone->klass);

	(void)owner;
	LL_DELETE(h->scopes, row);
	free(row);
}

int scopes_init(struct hooks *h)
{
	return registry_kind(h->parts->registry,
			     &(struct registry_kind){ .name = "SCOPE", .add = row_add,
						      .remove = row_remove, .arg = h,
						      .row_size = sizeof(struct keel_scope_def) });
}

void scopes_fini(struct hooks *h)
{
	struct scope_row *row, *next;

	LL_FOREACH_SAFE(h->scopes, row, next)
		free(row);
}

/* ---- compiled `match` ---------------------------------------------------------------------------------- */
struct term {
	char *name;
	pcre2_code *code;
	bool gave_up; /* logged once */
};

struct scope {
	pcre2_match_data *found;
	pcre2_match_context *context;
	uint32_t n;
	struct term term[];
};

void scope_destroy(struct scope *s)
{
	if (s == NULL)
		return;
	for (uint32_t i = 0; i < s->n; i++) {
		pcre2_code_free(s->term[i].code);
		free(s->term[i].name);
	}
	pcre2_match_data_free(s->found);
	pcre2_match_context_free(s->context);
	free(s);
}

static int term_fill(struct term *t, const struct conf_match *said, const char *module,
		     struct keel_err *err)
{
	PCRE2_SIZE at = 0;
	int error = 0;
	char why[128] = "";

	t->name = strdup(said->scope);
	if (t->name == NULL)
		return err_set(err, -ENOMEM, "no memory for the scopes of module %s", module);
	t->code = pcre2_compile((PCRE2_SPTR)said->pattern, PCRE2_ZERO_TERMINATED, PCRE2_MULTILINE,
				&error, &at, NULL);
	if (t->code != NULL) {
		pcre2_jit_compile(t->code, PCRE2_JIT_COMPLETE); /* where there is none it does without */
		return 0;
	}
	pcre2_get_error_message(error, (PCRE2_UCHAR *)why, sizeof(why));
	return err_set(err, -EINVAL, "%s: %s.match.%s: \"%s\" is no regular expression: %s at character %zu",
		       said->where, module, said->scope, said->pattern, why, at + 1);
}

int scope_create(const char *module, const struct conf_match *said, uint32_t n, struct scope **ret_scope,
		 struct keel_err *err)
{
	struct scope *s = n > 0 ? calloc(1, sizeof(*s) + n * sizeof(s->term[0])) : NULL;
	int ret = 0;

	*ret_scope = s;
	if (n == 0)
		return 0;
	if (s != NULL) {
		s->n = n;
		s->found = pcre2_match_data_create(1, NULL);
		s->context = pcre2_match_context_create(NULL);
	}
	if (s == NULL || s->found == NULL || s->context == NULL)
		ret = err_set(err, -ENOMEM, "no memory for the scopes of module %s", module);
	else
		pcre2_set_match_limit(s->context, LONGEST_TRY);
	for (uint32_t i = 0; i < n && ret == 0; i++)
		ret = term_fill(&s->term[i], &said[i], module, err);
	if (ret < 0) {
		scope_destroy(s);
		*ret_scope = NULL;
	}
	return ret;
}

/* ---- matching an event ---------------------------------------------------------------------------------- */
/* A match that fails with an error counts as found: a call too many is better than one that is missed. */
static bool found_in(const struct op *op, const struct tap *t, const struct scope *s, struct term *term,
		     const char *words)
{
	int ret = pcre2_match(term->code, (PCRE2_SPTR)words, strlen(words), 0, 0, s->found, s->context);

	if (ret >= 0 || ret == PCRE2_ERROR_NOMATCH)
		return ret >= 0;
	if (!term->gave_up)
		hooks_log(op->hooks, KEEL_LOG_ERROR, op_label(op),
			  "the pattern of %s for %s takes too long and counts as found; make it simpler",
			  t->owner->pub.name, term->name);
	term->gave_up = true;
	return true;
}

static int32_t words_of(const struct scope_row *row, struct keel_obj *obj, char *words, uint32_t size)
{
	int32_t len;

	CRUMB_CALL(row->owner, "text() of a scope", row->def->name,
		   len = row->def->text(&row->owner->pub, obj, words, size));
	return len;
}

static bool object_is_in(const struct op *op, const struct tap *t, struct term *term,
			 const struct scope_row *row, struct keel_obj *obj)
{
	char some[WORDS_SIZE] = "", *words = some;
	int32_t len = words_of(row, obj, some, sizeof(some));
	bool found;

	if (len >= (int32_t)sizeof(some)) {
		words = calloc(1, (size_t)len + 1);
		if (words == NULL)
			return true;
		words_of(row, obj, words, (uint32_t)len + 1);
	}
	found = found_in(op, t, t->owner->scope, term, words);
	if (words != some)
		free(words);
	return found;
}

static bool term_holds(const struct op *op, const struct tap *t, struct term *term)
{
	bool known = false;

	for (const struct keel_field *f = op->point->info->fields(); f->name != NULL; f++) {
		struct keel_obj *obj = NULL;
		const struct scope_row *row;

		if (f->type == KEEL_FIELD_OBJ)
			memcpy(&obj, (const char *)op->event + f->offset, sizeof(obj));
		row = obj != NULL ? row_find(op->hooks, term->name, hooks_object(op->hooks)->klass(obj)) :
				    NULL;
		if (row == NULL)
			continue;
		if (object_is_in(op, t, term, row, obj))
			return true;
		known = true;
	}
	return !known;
}

bool scope_holds(const struct op *op, const struct tap *t)
{
	struct scope *s = t->owner->scope;

	for (uint32_t i = 0; s != NULL && i < s->n; i++) {
		if (!term_holds(op, t, &s->term[i]))
			return false;
	}
	return true;
}

void hooks_scope(struct hooks *h, struct owner *owner, struct scope *scope)
{
	owner->scope = scope;
	taps_mark(h, owner, TAP_SCOPED, scope != NULL);
}
