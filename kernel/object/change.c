/* SPDX-License-Identifier: Apache-2.0
 *
 * change.c - one change into a set: permission, flags, parse, check function.
 *
 * The new value is made beside the old one and replaces it only after every check, so that a change that fails leaves
 * the set as it was.
 */
#include <stdlib.h>
#include <string.h>

#include "object/object.h"
#include "util/crumb.h"
#include "util/err.h"

struct attempt {
	struct keel_changes *set;
	const struct keel_session *session; /* NULL: the system */
	struct keel_obj *obj;
	const struct keel_attr *attr;
	int32_t op;
	const char *key, *text;
	union keel_slot slot; /* the new value */
	bool is_set;
	struct keel_err *err;
};

static int attempt_fault(const struct attempt *t, int code)
{
	return attr_fault(t->err, code, t->attr, t->key);
}

static int attempt_permitted(const struct attempt *t)
{
	const struct keel_attr_def *def = &t->attr->def;

	if (!KEEL_ATTR_HAS_VALUE(def) || (def->write_roles & t->session->roles) == 0)
		return attempt_fault(t, PBSE_ATTRRO);
	if ((def->flags & KEEL_ATTR_CREATE) && !(t->obj->flags & OBJ_DRAFT))
		return attempt_fault(t, PBSE_ATTRRO);
	if ((def->flags & KEEL_ATTR_NO_INCR) && (t->op == KEEL_INCR || t->op == KEEL_DECR))
		return attempt_fault(t, PBSE_BADATVAL);
	return 0;
}

static int attempt_valid(const struct attempt *t)
{
	bool keyed = t->attr->type->def.flags & KEEL_TYPE_KEYED;

	if (t->op != KEEL_SET && t->op != KEEL_UNSET && t->op != KEEL_INCR && t->op != KEEL_DECR)
		return err_set(t->err, PBSE_IVALREQ, "%s", pbse_text(PBSE_IVALREQ));
	if (!KEEL_ATTR_HAS_VALUE(&t->attr->def))
		return attempt_fault(t, PBSE_ATTRRO);
	if (t->key && !keyed)
		return attempt_fault(t, PBSE_BADATVAL);
	if (keyed && !t->key && t->text && *t->text)
		return attempt_fault(t, PBSE_BADATVAL);
	return 0;
}

/* ---- making the new value ------------------------------------------------------------------ */

static int attempt_begin(struct attempt *t)
{
	const union keel_slot *now = changes_slot(t->set, t->obj, t->attr);
	bool whole = !t->key && (t->op == KEEL_SET || t->op == KEEL_UNSET) &&
		     !(t->attr->type->def.flags & KEEL_TYPE_MERGES);

	if (!now || whole)
		return 0;
	if (type_copy(t->attr->type, now, &t->slot) != 0)
		return err_no_memory(t->err);
	t->is_set = true;
	return 0;
}

static int attempt_parse(struct attempt *t, int32_t op, const char *text)
{
	int code = type_parse(t->attr, op, t->key, text, &t->slot, &t->is_set, t->err);

	return code > 0 ? code : code ? PBSE_BADATVAL : 0;
}

static int attempt_unset(struct attempt *t)
{
	const struct keel_attr *a = t->attr;

	if (t->key) {
		if (t->is_set && a->type->def.unset(mod_of(a->type->owner), &t->slot, t->key)) {
			type_drop(a->type, &t->slot);
			t->is_set = false;
		}
		return 0;
	}
	if ((a->def.flags & KEEL_ATTR_RESET) && a->def.fallback &&
	    !(a->type->def.flags & KEEL_TYPE_KEYED))
		return attempt_parse(t, KEEL_SET, a->def.fallback);
	return 0;
}

static bool attempt_unsets(const struct attempt *t)
{
	if (t->op == KEEL_UNSET)
		return true;
	return t->op == KEEL_SET && (!t->text || !*t->text) &&
	       (t->attr->type->def.flags & KEEL_TYPE_STRING) &&
	       !(t->attr->def.flags & KEEL_ATTR_EMPTY);
}

/* ---- the attribute's own check ------------------------------------------------------------- */

/* Returns the new value as text, which the caller frees; NULL when it is unset, or when this fails: *ret_failed. */
static char *new_text(const struct attempt *t, bool *ret_failed)
{
	int len = t->is_set ? text_of(t->attr, &t->slot, t->key, NULL, 0) : -1;
	char *text;

	*ret_failed = false;
	if (len < 0)
		return NULL;
	text = malloc((size_t)len + 1);
	*ret_failed = !text;
	if (text)
		(void)text_of(t->attr, &t->slot, t->key, text, (uint32_t)len + 1);
	return text;
}

static int attempt_check(const struct attempt *t)
{
	const struct keel_attr *a = t->attr;
	bool failed;
	char *text;
	int code;

	if (!a->def.check)
		return 0;
	text = new_text(t, &failed);
	if (failed)
		return err_no_memory(t->err);
	if (!text && t->op == KEEL_SET && (a->def.flags & KEEL_ATTR_EMPTY))
		text = calloc(1, 1);
	if (!text) /* unset: nothing to check */
		return 0;
	if (t->err)
		t->err->text[0] = '\0';
	CRUMB_CALL(a->owner, "check() of an attribute", a->def.name,
		   code = a->def.check(mod_of(a->owner), t->session, t->obj, t->op, t->key, text, t->err));
	free(text);
	if (!code)
		return 0;
	if (code < 0)
		code = PBSE_BADATVAL;
	if (t->err && t->err->text[0]) {
		t->err->code = code;
		return code;
	}
	return attempt_fault(t, code);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static int attempt_store(struct attempt *t)
{
	struct change *e = change_find(t->set, t->obj, t->attr);

	if (!e)
		e = change_add(t->set, t->obj, t->attr);
	if (!e)
		return err_no_memory(t->err);
	if (e->is_set)
		type_drop(t->attr->type, &e->slot);
	e->slot = t->slot;
	e->is_set = t->is_set;
	return 0;
}

static int attempt(struct attempt *t, bool checked)
{
	int code = attempt_valid(t);

	if (!code)
		code = attempt_begin(t);
	if (!code)
		code = attempt_unsets(t) ? attempt_unset(t) : attempt_parse(t, t->op, t->text ? t->text : "");
	if (!code && checked)
		code = attempt_check(t);
	if (!code)
		code = attempt_store(t);
	if (code && t->is_set)
		type_drop(t->attr->type, &t->slot);
	return code;
}

int32_t changes_ask(struct keel_changes *c, const struct keel_session *s, struct keel_obj *o,
		    const struct keel_attrop *op, struct keel_err *err)
{
	struct attempt t = { .set = c, .session = s, .obj = o, .op = op->op, .key = op->key,
			     .text = op->value, .err = err };
	int code;

	if (o->flags & OBJ_DEAD)
		return err_set(err, PBSE_IVALREQ, "%s", pbse_text(PBSE_IVALREQ));
	t.attr = op->name ? attr_of_request(o->klass, op->name) : NULL;
	if (!t.attr)
		return err_set(err, PBSE_NOATTR, "%s%s%s", pbse_text(PBSE_NOATTR), op->name ? " " : "",
			       op->name ? op->name : "");
	code = s ? attempt_permitted(&t) : 0;
	return code ? code : attempt(&t, true);
}

int32_t changes_text(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a,
		     int32_t op, const char *key, const char *text, struct keel_err *err)
{
	struct attempt t = { .set = c, .obj = o, .attr = a, .op = op, .key = key, .text = text,
			     .err = err };

	if (o->flags & OBJ_DEAD)
		return err_set(err, PBSE_IVALREQ, "%s", pbse_text(PBSE_IVALREQ));
	if (!a->klass)
		return err_set(err, PBSE_NOATTR, "%s", pbse_text(PBSE_NOATTR));
	return attempt(&t, false);
}
