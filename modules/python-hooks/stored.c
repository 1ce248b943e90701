/* SPDX-License-Identifier: Apache-2.0
 *
 * stored.c - hooks in the store: objects of class "hook" whose attributes are the texts of hook.c; script and configuration are blobs.
 */
#include "manage.h"

#include <stdlib.h>
#include <string.h>

#include "keel/blob.h"

KEEL_USE_OPT(blob);

const struct keel_class_def hook_class = {
	.size = sizeof(struct keel_class_def),
	.flags = KEEL_CLASS_SAVE,
	.name = "hook",
	.doc = "a hook of the site: a script in Python",
};

#define STORED(name, type_name, words)                                                           \
	const struct keel_attr_def stored_##name = KEEL_ATTR_DEF("hook", #name, type_name, .flags = KEEL_ATTR_SAVE, \
								 .read_roles = KEEL_NOBODY, .doc = words);
#include "stored.def"
#undef STORED

KEEL_ATTRS_OF(hook, enabled, event, user, alarm, freq, order, debug, fail_action, suffix, version, place, pending, spread);

static const char *const blob_names[] = { [BODY_SCRIPT] = "script", [BODY_CONFIG] = "config" };

int64_t version_next(struct state *st)
{
	struct manage *m = st->manage;
	int64_t now = keel_time(st->mod) * 1000;

	m->last_version = now > m->last_version ? now : m->last_version + 1;
	return m->last_version;
}

/* ---- writing ---------------------------------------------------------------------------------------------------------------- */

struct writing {
	struct state *st;
	struct keel_obj *obj;
	struct keel_changes *set;
	struct keel_err *err;
	int32_t code; /* of the first value that cannot be written */
};

static void put_text(struct writing *w, const char *name, const char *text)
{
	const struct keel_attr *attr = keel_attr_find(w->st->mod, "hook", name);

	if (w->code)
		return;
	w->code = attr ? keel_change_text(w->set, w->obj, attr, *text ? KEEL_SET : KEEL_UNSET, NULL, text, w->err)
		       : keel_error(w->err, PBSE_SYSTEM, "there is no attribute %s of class hook", name);
}

static void put_int(struct writing *w, const char *name, int64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)n);
	put_text(w, name, text);
}

static void put_all(struct writing *w, const struct hook *h)
{
	char text[1024];

	for (uint32_t i = 0; hook_attrs[i]; i++)
		if (strcmp(hook_attrs[i], "freq") != 0 && hook_text(h, hook_attrs[i], text, sizeof(text)) >= 0)
			put_text(w, hook_attrs[i], text);
	put_int(w, "freq", h->freq);
	put_text(w, "suffix", h->suffix ? h->suffix : "");
	put_int(w, "version", h->version);
	put_int(w, "place", h->place);
	put_text(w, "pending", h->pending ? "True" : "False");
	put_text(w, "spread", h->spread ? "True" : "False");
}

static int32_t write_all(struct state *st, struct keel_obj *obj, const struct hook *h, const enum body *which, const void *bytes,
			 uint32_t len, struct keel_err *err)
{
	struct writing w = { .st = st, .obj = obj, .set = keel_changes(st->mod), .err = err };

	if (w.set)
		put_all(&w, h);
	if (!w.set || (!w.code && which && keel_blob_put(obj, blob_names[*which], len ? bytes : NULL, len) < 0))
		w.code = keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	if (w.code)
		keel_discard(w.set);
	else
		keel_commit(w.set);
	return w.code;
}

int32_t stored_write(struct state *st, struct keel_obj *obj, const struct hook *h, struct keel_err *err)
{
	return write_all(st, obj, h, NULL, NULL, 0, err);
}

int32_t stored_write_body(struct state *st, struct keel_obj *obj, const struct hook *h, enum body which, const void *bytes,
			  uint32_t len, struct keel_err *err)
{
	return write_all(st, obj, h, &which, bytes, len, err);
}

/* ---- reading, at the start -------------------------------------------------------------------------------------------------- */

struct load {
	enum body which;
	char name[];
};

static bool keep_body(struct hook *h, enum body which, const void *bytes, uint32_t len)
{
	char **to = which == BODY_SCRIPT ? &h->script : &h->config, *copy = malloc((size_t)len + 1);

	if (!copy)
		return false;
	memcpy(copy, bytes, len);
	copy[len] = '\0';
	free(*to);
	*to = copy;
	*(which == BODY_SCRIPT ? &h->script_len : &h->config_len) = len;
	return true;
}

/* The configuration is read after the script: then the hook is complete. */
static void on_blob(struct keel_mod *mod, void *arg, const void *bytes, uint32_t len);

static bool read_body(struct state *st, const char *hook, enum body which)
{
	size_t size = strlen(hook) + 1;
	struct load *l = malloc(sizeof(*l) + size);

	if (!l)
		return false;
	l->which = which;
	memcpy(l->name, hook, size);
	if (keel_has(blob) && keel_blob_get(st->mod, "hook", hook, blob_names[which], on_blob, l) == 0)
		return true;
	free(l);
	return false;
}

static void loaded(struct state *st, struct hook *h)
{
	h->loading = false;
	imports_go_on(st, h);
	shows_go_on(st);
	hook_changed(st, h);
}

/* Without all of it, it does not run. */
static void unreadable(struct state *st, struct hook *h, enum body which, const char *why)
{
	keel_log(st->mod, KEEL_LOG_ERROR, "Hook", h->name,
		 "its %s cannot be read from the store (%s): the hook is skipped until it is imported again, or the server restarted",
		 which == BODY_SCRIPT ? "script" : "configuration file", why);
	free(h->script);
	h->script = NULL;
	h->script_len = 0;
	loaded(st, h);
}

static void on_blob(struct keel_mod *mod, void *arg, const void *bytes, uint32_t len)
{
	struct state *st = mod->state;
	struct load *l = arg;
	struct hook *h = hook_find(st, l->name);

	if (!h || !h->loading)
		; /* deleted meanwhile */
	else if (!bytes && len)
		unreadable(st, h, l->which, strerror((int)len));
	else if (bytes && !keep_body(h, l->which, bytes, len))
		unreadable(st, h, l->which, strerror(ENOMEM));
	else if (l->which == BODY_CONFIG)
		loaded(st, h);
	else if (!read_body(st, l->name, BODY_CONFIG))
		unreadable(st, h, BODY_CONFIG, strerror(ENOMEM));
	free(l);
}

/* Values of an older version that are refused by now stay at their defaults. */
static void take(struct state *st, struct hook *h, const struct keel_obj *obj, const struct keel_attr *attr)
{
	const char *text = keel_get_str(obj, attr);
	struct keel_err err = { 0 };

	if (text && hook_set(h, keel_attr_name(attr), KEEL_SET, text, &err) != 0)
		keel_log(st->mod, KEEL_LOG_ERROR, "Hook", h->name, "its stored %s counts as not set: %s", keel_attr_name(attr), err.text);
}

static void take_all(struct state *st, struct hook *h, const struct keel_obj *obj)
{
	const struct keel_attr *attrs[] = { hook_enabled, hook_event, hook_user, hook_alarm, hook_order, hook_debug, hook_fail_action };
	const char *freq = keel_get_str(obj, hook_freq);

	for (uint32_t i = 0; i < KEEL_COUNT(attrs); i++)
		take(st, h, obj, attrs[i]);
	if (freq && strtoll(freq, NULL, 10) > 0)
		h->freq = strtoll(freq, NULL, 10);
	h->version = keel_get_int(obj, hook_version);
	h->place = keel_get_int(obj, hook_place);
	h->pending = keel_get_int(obj, hook_pending);
	h->spread = keel_get_int(obj, hook_spread);
}

static bool load_one(struct state *st, const struct keel_obj *obj)
{
	struct hook *h = hook_new(st, keel_id(obj));
	const char *suffix = keel_get_str(obj, hook_suffix);
	struct manage *m = st->manage;

	if (!h || (suffix && !(h->suffix = strdup(suffix))))
		return false;
	take_all(st, h, obj);
	m->last_version = h->version > m->last_version ? h->version : m->last_version;
	m->last_place = h->place > m->last_place ? h->place : m->last_place;
	h->loading = !h->pending;
	return true;
}

static void read_all(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct hook *h, *next;

	(void)arg;
	st->manage->reader = NULL;
	HASH_ITER(hh, st->hooks, h, next)
		if (h->loading && !read_body(st, h->name, BODY_SCRIPT))
			unreadable(st, h, BODY_SCRIPT, "no memory, or the store offers no blobs");
}

int32_t stored_load(struct state *st, struct keel_err *err)
{
	struct keel_cursor *walk = keel_cursor(st->mod, "hook");
	struct keel_obj *obj;
	bool good = walk != NULL;

	while (good && (obj = keel_next(walk)))
		good = load_one(st, obj);
	if (walk)
		keel_cursor_close(walk);
	if (good && st->hooks)
		good = (st->manage->reader = keel_timer(st->mod, 0, read_all, NULL)) != NULL;
	return good ? 0 : keel_error(err, -ENOMEM, "no memory for the hooks of the store");
}
