/* SPDX-License-Identifier: Apache-2.0
 *
 * show.c - what list, print and export of hooks show: attributes in the order of hook_attrs, or one body in base64.
 */
#include "manage.h"

#include <stdlib.h>
#include <string.h>

#define PART_BYTES (192u * 1024u)
#define OF_PRODUCT "pbshook" /* `extend` of a request for hooks that come with the product: there are none */

static void add_attr(struct keel_out *out, const char *name, const char *key, const char *text)
{
	keel_open_list(out);
	keel_add_str(out, name);
	keel_add_str(out, key);
	keel_add_str(out, text);
	keel_close(out);
}

static void add_attrs(struct keel_out *out, const struct hook *h)
{
	char text[1024];

	for (uint32_t i = 0; hook_attrs[i]; i++)
		if (hook_text(h, hook_attrs[i], text, sizeof(text)) >= 0)
			add_attr(out, hook_attrs[i], "", *text ? text : "\"\"");
}

/* -ENOMEM, or 0: also when there is none. */
static int32_t add_body(struct keel_out *out, const struct hook *h, const char *type)
{
	bool script = strcmp(type, TYPE_SCRIPT) == 0;
	const char *body = script ? h->script : strcmp(type, TYPE_CONFIG) == 0 ? h->config : NULL;
	char *text = body ? base64_text(body, script ? h->script_len : h->config_len) : NULL;

	if (text)
		add_attr(out, "content", type, text);
	free(text);
	return body && !text ? -ENOMEM : 0;
}

static int32_t add_hook(struct keel_out *out, const struct hook *h, const char *content)
{
	int32_t r = 0;

	keel_open_list(out);
	keel_add_str(out, h->name);
	keel_open_list(out);
	if (content)
		r = add_body(out, h, content);
	else
		add_attrs(out, h);
	keel_close(out);
	keel_close(out);
	return r;
}

static int32_t send_part(struct keel_req *req, struct keel_out *out)
{
	int32_t r;

	keel_close(out);
	r = keel_part(req, out);
	return r == -ENOBUFS ? 0 : r; /* it was taken, and there is not much of it */
}

/* There are few hooks, and their attributes are short: they go at once. */
static int32_t send_all(struct state *st, struct keel_req *req)
{
	struct keel_cursor *walk = keel_cursor(st->mod, "hook");
	struct keel_out *out = NULL;
	struct keel_obj *obj;
	int32_t r = walk ? 0 : -ENOMEM;

	while (r == 0 && (obj = keel_next(walk))) {
		const struct hook *h = hook_find(st, keel_id(obj));

		if (!h || h->pending)
			continue;
		if (!out && (out = keel_out(st->mod)))
			keel_open_array(out, "objects");
		r = add_hook(out, h, NULL);
		if (r == 0 && out && keel_out_length(out) >= PART_BYTES) {
			r = send_part(req, out);
			out = NULL;
		}
	}
	if (walk)
		keel_cursor_close(walk);
	return r == 0 && out ? send_part(req, out) : r;
}

static int32_t send_one(struct state *st, struct keel_req *req, const struct hook *h, const char *content)
{
	struct keel_out *out = keel_out(st->mod);

	keel_open_array(out, "objects");
	if (add_hook(out, h, content) == 0)
		return out ? send_part(req, out) : -ENOMEM;
	keel_out_drop(out);
	return -ENOMEM;
}

/* The content type whose body is wanted; NULL: attributes are. */
static const char *content_wanted(const struct keel_msg *body)
{
	const struct keel_attrop *want;
	uint32_t n = 0;

	if (keel_msg_attrs(body, "want", &want, &n))
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		if (want[i].name && strcmp(want[i].name, "content") == 0)
			return want[i].key ? want[i].key : "";
	return NULL;
}

/* A request that waits for a body. */
struct show {
	struct show *prev, *next;
	struct keel_req *req;
};

/* 1: it waits, and there is no answer yet. Else as send_one(). */
static int32_t show_one(struct state *st, struct keel_req *req, const struct hook *h)
{
	const char *content = content_wanted(keel_req_body(req));
	struct show *s;

	if (!content || !h->loading)
		return send_one(st, req, h, content);
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->req = req;
	DL_APPEND(st->manage->shows, s);
	return 1;
}

static void on_status(struct keel_mod *mod, struct keel_req *req)
{
	const struct keel_msg *body = keel_req_body(req);
	const char *id = keel_msg_str(body, "id"), *extend = keel_msg_str(body, "extend");
	bool named = id && *id && *id != '@', site = !extend || strcmp(extend, OF_PRODUCT) != 0;
	const struct hook *h = named && site ? hook_find(mod->state, id) : NULL;
	char text[512];
	int32_t r = 0;

	if (!may_manage(mod, req, text, sizeof(text))) {
		keel_reply(req, PBSE_HOOKERROR, "%s", text);
		return;
	}
	if (named && (!h || h->pending)) {
		if (content_wanted(body))
			keel_reply(req, PBSE_HOOKERROR, h ? "%.*s is pending delete!" : "%.*s does not exist!", (int)NAME_LEN_MAX, id);
		else
			keel_reply(req, PBSE_HOOKERROR, "hook not found");
		return;
	}
	if (named)
		r = show_one(mod->state, req, h);
	else if (site)
		r = send_all(mod->state, req);
	if (r != 1)
		keel_reply(req, r == 0 ? 0 : r == -EPIPE ? PBSE_PROTOCOL : PBSE_SYSTEM, NULL);
}

void shows_go_on(struct state *st)
{
	struct show *all = st->manage->shows, *s, *next;

	st->manage->shows = NULL;
	DL_FOREACH_SAFE(all, s, next) {
		on_status(st->mod, s->req);
		free(s);
	}
}

void shows_drop(struct state *st)
{
	struct show *s, *next;

	DL_FOREACH_SAFE(st->manage->shows, s, next) {
		keel_reply(s->req, PBSE_SYSTEM, "the listing ends here: the server ends");
		free(s);
	}
	st->manage->shows = NULL;
}

const struct keel_listed_def hook_listed = {
	.size = sizeof(struct keel_listed_def),
	.name = "hook",
	.doc = "hooks of the site",
	.fn = on_status,
};
