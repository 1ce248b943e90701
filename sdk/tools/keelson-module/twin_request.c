/* SPDX-License-Identifier: Apache-2.0
 *
 * twin_request.c - requests to a module in a process of its own: the body as bytes there, the answer as bytes back.
 *
 * What the kit asks has the keys of the table below; that is how a body is read without knowing the request.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "twin_inside.h"

static struct twin_request *request_find(const struct twin *t, uint64_t number)
{
	struct twin_request *r = t->requests;

	while (r != NULL && r->number != number)
		r = r->next;
	return r;
}

struct keel_req *twin_requester(const struct twin *t, uint64_t request)
{
	const struct twin_request *r = request != 0 ? request_find(t, request) : NULL;

	return r != NULL ? r->req : NULL;
}

static struct keel_req *request_end(struct twin_request *r)
{
	struct twin_request **at = &r->twin->requests;
	struct keel_req *req = r->req;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	free(r);
	return req;
}

/* ---- a body as bytes ------------------------------------------------------------------------------- */
static void text_put(struct mp *m, const char *text)
{
	if (text == NULL)
		mp_nil(m);
	else
		mp_str(m, text, strlen(text));
}

static void attrs_put(struct mp *m, const struct keel_attrop *ops, uint32_t n)
{
	size_t all = mp_open_array(m);

	for (uint32_t i = 0; i < n; i++) {
		size_t one = mp_open_array(m);

		text_put(m, ops[i].name);
		text_put(m, ops[i].key);
		text_put(m, ops[i].value);
		mp_int(m, ops[i].op);
		mp_close(m, one, 4);
	}
	mp_close(m, all, n);
}

static void strings_put(struct mp *m, const char *const *list, uint32_t n)
{
	size_t all = mp_open_array(m);

	for (uint32_t i = 0; i < n; i++)
		text_put(m, list[i]);
	mp_close(m, all, n);
}

/* Whatever stands under this key. False: nothing does. */
static bool pair_put(const struct twin *t, const struct keel_msg *body, const char *key, struct mp *m)
{
	const char *text = t->msg->str(body, key);
	const struct keel_attrop *ops = NULL;
	const char *const *list;
	uint32_t n = 0;

	if (text != NULL) {
		text_put(m, key);
		text_put(m, text);
		return true;
	}
	list = t->msg->strings(body, key, &n);
	if (list != NULL) {
		text_put(m, key);
		strings_put(m, list, n);
	} else if (t->msg->attrs(body, key, &ops, &n) == 0) {
		text_put(m, key);
		attrs_put(m, ops, n);
	} else if (t->msg->integer(body, key, 0) == t->msg->integer(body, key, 1)) {
		text_put(m, key);
		mp_int(m, t->msg->integer(body, key, 0));
	} else {
		return false;
	}
	return true;
}

static void body_put(const struct twin *t, struct keel_req *req, struct mp *m)
{
	static const char *const keys[] = { "id", "ids", "name", "kind", "klass", "cmd", "user", "text", "signal",
					    "attrs" };
	const struct keel_msg *body = t->request->body(req);
	size_t map = mp_open_map(m);
	uint32_t n = 0;

	for (size_t i = 0; i < KEEL_COUNT(keys); i++)
		n += pair_put(t, body, keys[i], m);
	mp_close(m, map, n);
}

/* ---- an answer from bytes ------------------------------------------------------------------------------ */
struct building {
	const struct keel_msg_api *msg;
	struct keel_out *out;
	struct mp_reader in;
};

static void value_add(struct building *b);

static void values_add(struct building *b, uint32_t n)
{
	while (n-- > 0 && !b->in.bad)
		value_add(b);
	b->msg->close(b->out);
}

static void value_add(struct building *b)
{
	struct mp_value v = mp_next(&b->in);
	char *text;

	switch (v.kind) {
	case MP_NIL: b->msg->add_str(b->out, NULL); break;
	case MP_INT: b->msg->add_int(b->out, v.i); break;
	case MP_STR:
		text = strndup(v.text, v.n);
		b->msg->add_str(b->out, text);
		free(text);
		break;
	case MP_ARRAY:
		b->msg->open_list(b->out);
		values_add(b, v.n);
		break;
	default: b->in.bad = true; break;
	}
}

static void pair_add(struct building *b, const char *key)
{
	struct mp_value v = mp_next(&b->in);
	char *text;

	switch (v.kind) {
	case MP_NIL: b->msg->put_str(b->out, key, NULL); break;
	case MP_INT: b->msg->put_int(b->out, key, v.i); break;
	case MP_STR:
		text = strndup(v.text, v.n);
		if (text != NULL && strlen(text) == v.n)
			b->msg->put_str(b->out, key, text);
		else
			b->msg->put_bytes(b->out, key, v.text, v.n);
		free(text);
		break;
	case MP_ARRAY:
		b->msg->open_array(b->out, key);
		values_add(b, v.n);
		break;
	default: b->in.bad = true; break;
	}
}

/* NULL: these bytes are no answer. */
static struct keel_out *out_of(const struct twin *t, const void *body, uint32_t len)
{
	struct building b = { .msg = t->msg, .out = t->msg->out(t->mod),
			      .in = { .at = body, .end = (const unsigned char *)body + len } };
	struct mp_value map = mp_next(&b.in);

	b.in.bad |= map.kind != MP_MAP;
	for (uint32_t i = 0; i < map.n && !b.in.bad; i++) {
		struct mp_value k = mp_next(&b.in);
		char *key = k.kind == MP_STR ? strndup(k.text, k.n) : NULL;

		if (key == NULL)
			b.in.bad = true;
		else
			pair_add(&b, key);
		free(key);
	}
	if (!b.in.bad)
		return b.out;
	t->msg->drop(b.out);
	return NULL;
}

/* ---- asked and answered -------------------------------------------------------------------------------- */
static void tell(struct twin_request *r, int64_t what)
{
	modhost_begin(&r->twin->host, what);
	talk_put_int(&r->twin->host.out, (int64_t)r->number);
	modhost_tell(&r->twin->host);
	twin_settle(r->twin);
}

static void gone(struct keel_mod *m, void *arg)
{
	(void)m;
	tell(arg, TALK_GONE);
}

static void drained(struct keel_mod *m, void *arg)
{
	(void)m;
	tell(arg, TALK_DRAINED);
}

static void asked(struct keel_mod *m, struct keel_req *req, int64_t row)
{
	struct twin *t = m->state;
	struct twin_request *r = calloc(1, sizeof(*r));
	struct mp body = { 0 };

	if (r == NULL) {
		t->request->reply(req, 15010, "no memory");
		return;
	}
	*r = (struct twin_request){ t->requests, t, ++t->n_requests, req };
	t->requests = r;
	t->request->on_gone(req, gone, r);
	body_put(t, req, &body);
	modhost_begin(&t->host, TALK_ASKED);
	talk_put_int(&t->host.out, (int64_t)r->number);
	talk_put_int(&t->host.out, row);
	answer_session(&t->host.out, t->request->session(req));
	talk_put_bytes(&t->host.out, body.data, (uint32_t)body.len);
	modhost_tell(&t->host);
	mp_fini(&body);
	twin_settle(t);
}

void twin_answered(struct twin *t, int64_t what, struct talk_in *in)
{
	struct twin_request *r = request_find(t, (uint64_t)talk_int(in));
	struct keel_out *out;
	const char *text;
	const void *body;
	uint32_t len;
	int32_t code;

	if (r == NULL)
		return;
	if (what == TALK_ANSWER) {
		code = (int32_t)talk_int(in);
		text = talk_str(in);
		t->request->reply(request_end(r), code, text != NULL ? "%s" : NULL, text);
		return;
	}
	body = talk_bytes(in, &len);
	out = out_of(t, body, len);
	if (out != NULL)
		t->request->reply_out(request_end(r), out);
	else
		t->request->reply(request_end(r), 15011, "its process sent no answer that can be read");
}

int32_t twin_part(void *asking, uint64_t request, const void *body, uint32_t len)
{
	const struct twin *t = ((const struct asking *)asking)->twin;
	struct twin_request *r = request_find(t, request);
	struct keel_out *out = r != NULL ? out_of(t, body, len) : NULL;

	return out != NULL ? t->request->part(r->req, out) : -EPIPE;
}

int32_t twin_drained(void *asking, uint64_t request)
{
	const struct twin *t = ((const struct asking *)asking)->twin;
	struct twin_request *r = request_find(t, request);

	return r != NULL ? t->request->drained(r->req, drained, r) : -EPIPE;
}

void twin_requests_end(struct twin *t)
{
	while (t->requests != NULL)
		t->request->reply(request_end(t->requests), 15010, "its module is being stopped");
}

/* ---- a handler for each row ------------------------------------------------------------------------------ */
static int64_t rows[TWIN_REQUESTS];

#define ROWS(do) do(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11) do(12) do(13) do(14) do(15)
#define HANDLER(i)                                                                                 \
	static void asked_##i(struct keel_mod *m, struct keel_req *req)                              \
	{                                                                                          \
		asked(m, req, rows[i]);                                                            \
	}
ROWS(HANDLER)

void (*twin_handler(unsigned i, int64_t row))(struct keel_mod *, struct keel_req *)
{
#define NAME(i) asked_##i,
	static void (*const handlers[TWIN_REQUESTS])(struct keel_mod *, struct keel_req *) = { ROWS(NAME) };

	rows[i] = row;
	return handlers[i];
}
