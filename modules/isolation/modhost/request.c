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
	struct keel_req *prev, *next;
	int64_t number;
	const char *name;
	struct keel_session session;
	struct keel_msg body;
	keel_fn *gone, *drained;
	void *gone_arg, *drained_arg;
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
const struct keel_session *session_take(const char *bytes, uint32_t len, const char *(*keep)(const char *), void *room)
{
	struct keel_session *s = room;
	struct talk_in in = { .at = bytes, .end = bytes + len };

	if (len == 0)
		return NULL;
	*s = (struct keel_session){ .size = sizeof(*s) };
	s->roles = (uint32_t)take_int(&in);
	s->uid = (uint32_t)take_int(&in);
	s->gid = (uint32_t)take_int(&in);
	s->user = keep(take_str(&in));
	s->host = keep(take_str(&in));
	s->who = keep(take_str(&in));
	s->group = keep(take_str(&in));
	s->groups = keep(take_str(&in));
	return s;
}

static const char *as_it_is(const char *text)
{
	return text;
}

static struct keel_req *req_find(int64_t number)
{
	struct keel_req *q;

	DL_FOREACH(host.reqs, q) {
		if (q->number == number)
			break;
	}
	return q;
}

static void req_free(struct keel_req *q)
{
	struct text *t;

	DL_DELETE(host.reqs, q);
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
	const char *session;

	(void)in;
	q->number = q->body.request = v[0].i;
	session = msg_keep(&q->body, v[2].len > 0 ? v[2].s : "", v[2].len);
	session_take(session, v[2].len, as_it_is, &q->session);
	DL_APPEND(host.reqs, q);
	if (row && !host.unusable) {
		q->name = row->name;
		row->handler(&host.mod, q);
	} else {
		host_request.reply(q, PBSE_INTERNAL, NULL);
	}
	reply_begin();
	frame_end();
}

void on_gone(const struct value *v, struct talk_in *in)
{
	struct keel_req *q = req_find(v[0].i);
	keel_fn *fn = q ? q->gone : NULL;

	(void)in;
	if (fn) {
		q->gone = NULL;
		fn(&host.mod, q->gone_arg);
	}
	reply_begin();
	frame_end();
}

void on_drained(const struct value *v, struct talk_in *in)
{
	struct keel_req *q = req_find(v[0].i);
	keel_fn *fn = q ? q->drained : NULL;

	(void)in;
	if (fn) {
		q->drained = NULL;
		fn(&host.mod, q->drained_arg);
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
	int32_t code = (int32_t)ask_code(UP_part, q->number, out->calls.data, out->calls.len);

	out_free(out);
	return code;
}

static int32_t req_drained(struct keel_req *q, keel_fn *fn, void *arg)
{
	q->drained = fn;
	q->drained_arg = arg;
	return (int32_t)ask_code(UP_drained, q->number);
}

static void req_on_gone(struct keel_req *q, keel_fn *fn, void *arg)
{
	q->gone = fn;
	q->gone_arg = arg;
}

static const char *req_name(struct keel_req *q)
{
	return q->name;
}

const struct keel_request_api host_request = {
	.size = sizeof(host_request), .session = req_session, .body = req_body, .reply = req_reply,
	.reply_out = req_reply_out, .part = req_part, .drained = req_drained, .on_gone = req_on_gone, .name = req_name,
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

static const void *msg_bytes(const struct keel_msg *m, const char *key, uint32_t *ret_len)
{
	const void *bytes = NULL;
	const char *at;
	struct answer a;

	*ret_len = 0;
	ask(&a, UP_msg_bytes, m->request, key);
	if (take_int(&a.in) != 0) {
		at = take_bytes(&a.in, ret_len);
		bytes = msg_keep(mine(m), at ? at : "", *ret_len);
	}
	ask_end(&a);
	return bytes;
}

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

static int32_t msg_attrs(const struct keel_msg *m, const char *key, const struct keel_attrop **ret, uint32_t *ret_n)
{
	struct keel_attrop *list;
	struct answer a;
	int32_t code;

	ask(&a, UP_msg_attrs, m->request, key);
	code = (int32_t)take_int(&a.in);
	*ret_n = (uint32_t)take_int(&a.in);
	list = own(calloc(*ret_n + 1u, sizeof(*list)));
	for (uint32_t i = 0; i < *ret_n; i++) {
		list[i].name = msg_keep_text(mine(m), take_str(&a.in));
		list[i].key = msg_keep_text(mine(m), take_str(&a.in));
		list[i].value = msg_keep_text(mine(m), take_str(&a.in));
		list[i].op = (int32_t)take_int(&a.in);
	}
	*ret = msg_keep(mine(m), list, (*ret_n + 1u) * sizeof(*list));
	free(list);
	ask_end(&a);
	return code;
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

static void put_bytes(struct keel_out *o, const char *key, const void *bytes, uint32_t len)
{
	struct talk *m = build(o, BUILD_BYTES, key);

	if (m)
		talk_bytes(m, bytes, len);
}

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

static void open_list(struct keel_out *o)
{
	build(o, BUILD_LIST, NULL);
}

static void close_array(struct keel_out *o)
{
	build(o, BUILD_CLOSE, NULL);
}

static uint32_t length(const struct keel_out *o)
{
	return o ? o->calls.len : 0; /* about what it will be */
}

const struct keel_msg_api host_msg = {
	.size = sizeof(host_msg), .str = msg_str, .bytes = msg_bytes, .integer = msg_integer, .strings = msg_strings,
	.attrs = msg_attrs, .out = msg_out, .put_str = put_str, .put_int = put_int, .put_bytes = put_bytes,
	.put_strings = put_strings, .open_array = open_array, .add_str = add_str, .add_int = add_int, .open_list = open_list,
	.close = close_array, .length = length, .drop = out_free,
};
