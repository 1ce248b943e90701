/* SPDX-License-Identifier: Apache-2.0
 *
 * request.c - the groups request and msg: requests for the module's REQUEST rows. What the module reads of a message is
 * fetched from the daemon; a body that it builds is recorded, call by call, and built there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "host.h"
#include "pbs_error.h"

struct text {
	struct text *next;
	char bytes[];
};

struct keel_msg {
	int64_t request;
	struct text *texts; /* what was read of it: as long as it is there */
};

struct keel_req {
	int64_t number;
	const char *name;
	struct keel_session session;
	struct keel_msg body;
};

struct keel_out {
	struct talk calls;
};

static void *msg_keep(struct keel_msg *m, const void *bytes, size_t len)
{
	struct text *t = own(malloc(sizeof(*t) + len));

	memcpy(t->bytes, bytes, len);
	LL_PREPEND(m->texts, t);
	return t->bytes;
}

static const char *msg_keep_text(struct keel_msg *m, const char *text)
{
	return text ? msg_keep(m, text, strlen(text) + 1) : NULL;
}

/* ---- requests ------------------------------------------------------------------------------------------ */
static void req_free(struct keel_req *q)
{
	struct text *t;

	while ((t = q->body.texts) != NULL) {
		LL_DELETE(q->body.texts, t);
		free(t);
	}
	free(q);
}

static const struct keel_request_def *row_of(int64_t row)
{
	const struct keel_contrib *c = row >= 0 && row < host.desc->n_contribs ? &host.desc->contribs[row] : NULL;

	return c && strcmp(c->kind, "REQUEST") == 0 ? c->def : NULL;
}

void on_request(const struct value *v, struct talk_in *in)
{
	const struct keel_request_def *row = row_of(v[1].i);
	struct keel_req *q = own(calloc(1, sizeof(*q)));
	struct talk_in session;

	(void)in;
	q->number = q->body.request = v[0].i;
	session.at = msg_keep(&q->body, v[2].s, v[2].len);
	session.end = session.at + v[2].len;
	session.bad = false;
	q->session.size = sizeof(q->session);
	take_row(&session, talk_session, &q->session);
	if (row && !host.unusable) {
		q->name = row->name;
		row->handler(&host.mod, q);
	} else {
		host_request.reply(q, PBSE_INTERNAL, NULL);
	}
	reply_begin();
	frame_end();
}

/* ---- the group request ------------------------------------------------------------------------------------ */
static const struct keel_session *req_session(struct keel_req *q)
{
	return &q->session;
}

static const struct keel_msg *req_body(struct keel_req *q)
{
	return &q->body;
}

static void req_reply(struct keel_req *q, int32_t code, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	if (fmt)
		vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	told(UP_answer, q->number, (int64_t)code, fmt ? text : NULL);
	req_free(q);
}

static void out_free(struct keel_out *o)
{
	if (o)
		free(o->calls.data);
	free(o);
}

static void req_reply_out(struct keel_req *q, struct keel_out *out)
{
	told(UP_answer_out, q->number, out->calls.data, out->calls.len);
	out_free(out);
	req_free(q);
}

static int32_t req_part(struct keel_req *q, struct keel_out *out)
{
	(void)q;
	host_log(KEEL_LOG_ERROR, "part(): " REFUSAL);
	out_free(out);
	return -EPIPE;
}

REFUSED(drained, int32_t, -EPIPE, struct keel_req *, keel_fn *, void *)

/* A reply to a client that is gone goes nowhere. */
static void req_on_gone(struct keel_req *q, keel_fn *fn, void *arg)
{
	(void)q, (void)fn, (void)arg;
}

static const char *req_name(struct keel_req *q)
{
	return q->name;
}

const struct keel_request_api host_request = {
	.size = sizeof(host_request), .session = req_session, .body = req_body, .reply = req_reply,
	.reply_out = req_reply_out, .part = req_part, .drained = drained, .on_gone = req_on_gone, .name = req_name,
};

/* ---- the group msg: reading --------------------------------------------------------------------------------- */
static struct keel_msg *mine(const struct keel_msg *m)
{
	return (struct keel_msg *)(uintptr_t)m;
}

static const char *msg_str(const struct keel_msg *m, const char *key)
{
	struct answer a;
	const char *text;

	ask(&a, UP_msg_str, m->request, key);
	text = msg_keep_text(mine(m), take_str(&a.in));
	ask_end(&a);
	return text;
}

REFUSED(bytes, const void *, NULL, const struct keel_msg *, const char *, uint32_t *)
REFUSED(attrs, int32_t, -ENODATA, const struct keel_msg *, const char *, const struct keel_attrop **, uint32_t *)

static int64_t msg_integer(const struct keel_msg *m, const char *key, int64_t otherwise)
{
	return ask_code(UP_msg_int, m->request, key, otherwise);
}

static const char *const *msg_strings(const struct keel_msg *m, const char *key, uint32_t *ret_n)
{
	const char **list = NULL;
	struct answer a;
	int64_t n;

	ask(&a, UP_msg_strings, m->request, key);
	n = take_int(&a.in);
	*ret_n = n == -2 ? UINT32_MAX : n < 0 ? 0 : (uint32_t)n;
	if (n >= 0) {
		list = own(calloc((size_t)n + 1, sizeof(*list)));
		for (int64_t i = 0; i < n; i++)
			list[i] = msg_keep_text(mine(m), take_str(&a.in));
	}
	ask_end(&a);
	if (list) {
		const char **kept = msg_keep(mine(m), list, ((size_t)n + 1) * sizeof(*list));

		free(list);
		list = kept;
	}
	return list;
}

/* ---- the group msg: building --------------------------------------------------------------------------------- */
static struct keel_out *msg_out(struct keel_mod *m)
{
	(void)m;
	return calloc(1, sizeof(struct keel_out));
}

/* One of the calls that build it; NULL: there is no `o`. */
static struct talk *build(struct keel_out *o, enum build what, const char *key)
{
	if (!o)
		return NULL;
	talk_int(&o->calls, what);
	if (what <= BUILD_ARRAY)
		talk_str(&o->calls, key);
	return &o->calls;
}

static void put_str(struct keel_out *o, const char *key, const char *text)
{
	struct talk *m = build(o, BUILD_STR, key);

	if (m)
		talk_str(m, text);
}

static void put_int(struct keel_out *o, const char *key, int64_t n)
{
	struct talk *m = build(o, BUILD_INT, key);

	if (m)
		talk_int(m, n);
}

REFUSED(put_bytes, void, , struct keel_out *, const char *, const void *, uint32_t)

static void put_strings(struct keel_out *o, const char *key, const char *const *texts, uint32_t n)
{
	struct talk *m = build(o, BUILD_STRINGS, key);

	if (m)
		talk_int(m, n);
	for (uint32_t i = 0; m && i < n; i++)
		talk_str(m, texts[i]);
}

static void open_array(struct keel_out *o, const char *key)
{
	build(o, BUILD_ARRAY, key);
}

static void add_str(struct keel_out *o, const char *text)
{
	struct talk *m = build(o, BUILD_ADD_STR, NULL);

	if (m)
		talk_str(m, text);
}

static void add_int(struct keel_out *o, int64_t n)
{
	struct talk *m = build(o, BUILD_ADD_INT, NULL);

	if (m)
		talk_int(m, n);
}

REFUSED(open_list, void, , struct keel_out *)

static void close_array(struct keel_out *o)
{
	build(o, BUILD_CLOSE, NULL);
}

static uint32_t length(const struct keel_out *o)
{
	return o ? o->calls.len : 0; /* about what it will be */
}

const struct keel_msg_api host_msg = {
	.size = sizeof(host_msg), .str = msg_str, .bytes = bytes, .integer = msg_integer, .strings = msg_strings,
	.attrs = attrs, .out = msg_out, .put_str = put_str, .put_int = put_int, .put_bytes = put_bytes,
	.put_strings = put_strings, .open_array = open_array, .add_str = add_str, .add_int = add_int, .open_list = open_list,
	.close = close_array, .length = length, .drop = out_free,
};
