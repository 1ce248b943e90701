/* SPDX-License-Identifier: Apache-2.0
 *
 * request.c - REQUEST rows of an isolated module: the request goes to the process, which asks for what it reads of the
 * message; an answer comes back as the calls that build it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "isolation.h"
#include "pbs_error.h"

struct request {
	struct isolated *iso;
	struct keel_req *req;
	int64_t number;
};

/* It is answered now; its req. */
static struct keel_req *request_free(struct request *r)
{
	struct keel_req *req = r->req;

	slot_free(&r->iso->requests, r->number);
	free(r);
	return req;
}

/* ---- a request for the module --------------------------------------------------------------------------- */
static int64_t row_of(const struct isolated *iso, const char *name)
{
	for (uint32_t i = 0; i < iso->desc.n_contribs; i++) {
		const struct keel_request_def *row = iso->contribs[i].def;

		if (strcmp(iso->contribs[i].kind, "REQUEST") == 0 && strcmp(row->name, name) == 0)
			return i;
	}
	return -1;
}

void request_asked(struct keel_mod *mod, struct keel_req *req)
{
	struct isolated *iso = isolated_of(mod);
	struct request *r = iso->phase == SERVING ? calloc(1, sizeof(*r)) : NULL;
	struct talk session = { .data = NULL };

	if (r)
		*r = (struct request){ .iso = iso, .req = req, .number = slot_take(&iso->requests, r) };
	if (!r || r->number == 0) {
		free(r);
		keel_reply(req, PBSE_SYSTEM, "module %s is not there now: its process ended or has too much to do", iso->name);
		return;
	}
	talk_row(&session, talk_session, keel_req_session(req));
	tell_begin(iso, DOWN_request, r->number, row_of(iso, keel_req_name(req)), session.data, session.len);
	if (session.failed || !tell_ignored(iso))
		keel_reply(request_free(r), PBSE_SYSTEM, "module %s is not there now: its process does not hear", iso->name);
	free(session.data);
}

void requests_fail(struct isolated *iso, const char *why)
{
	for (uint32_t i = 0; i < iso->requests.n; i++) {
		struct request *r = iso->requests.at[i].thing;

		if (r)
			keel_reply(request_free(r), PBSE_SYSTEM, "module %s: %s", iso->name, why);
	}
}

/* ---- answers ------------------------------------------------------------------------------------------ */
/* One call that builds a body. False: it is none, or out of place. */
static bool build_step(struct keel_out *out, struct talk_in *in, bool *in_array)
{
	int64_t what = take_int(in), n;
	const char *key = *in_array ? NULL : take_str(in), *list[BUILD_STRINGS_MAX];

	if (in->bad || *in_array == (what <= BUILD_ARRAY) || (!*in_array && !key))
		return false;
	switch (what) {
	case BUILD_STR: keel_put_str(out, key, take_str(in)); break;
	case BUILD_INT: keel_put_int(out, key, take_int(in)); break;
	case BUILD_STRINGS:
		n = take_int(in);
		if (n < 0 || n > (int64_t)KEEL_COUNT(list))
			return false;
		for (int64_t i = 0; i < n; i++) {
			list[i] = take_str(in);
			in->bad = in->bad || !list[i];
		}
		if (!in->bad)
			keel_put_strings(out, key, list, (uint32_t)n);
		break;
	case BUILD_ARRAY: keel_open_array(out, key); break;
	case BUILD_ADD_STR: keel_add_str(out, take_str(in)); break;
	case BUILD_ADD_INT: keel_add_int(out, take_int(in)); break;
	case BUILD_CLOSE: keel_close(out); break;
	default: return false;
	}
	*in_array = what >= BUILD_ARRAY && what < BUILD_CLOSE;
	return !in->bad;
}

/* NULL: it is no body. */
static struct keel_out *build(const struct isolated *iso, const struct value *body)
{
	struct talk_in in = { .at = body->s, .end = body->s + body->len };
	struct keel_out *out = keel_out(iso->mod);
	bool in_array = false;

	while (out && in.at != in.end && build_step(out, &in, &in_array))
		;
	if (in.at == in.end && !in.bad && !in_array)
		return out;
	keel_out_drop(out);
	return NULL;
}

void asked_answer(struct asked *a, const struct value *v)
{
	struct request *r = slot_get(&a->iso->requests, v[0].i);

	if (r) /* else a second answer, or of a request that was answered for it */
		keel_reply(request_free(r), (int32_t)v[1].i, v[2].s ? "%s" : NULL, v[2].s);
}

void asked_answer_out(struct asked *a, const struct value *v)
{
	struct request *r = slot_get(&a->iso->requests, v[0].i);
	struct keel_out *out = r ? build(a->iso, &v[1]) : NULL;

	if (out)
		keel_reply_out(request_free(r), out);
	else if (r)
		keel_reply(request_free(r), PBSE_INTERNAL, "module %s sent no answer that can be read",
			   a->iso->name);
}

/* ---- what it reads of the message -------------------------------------------------------------------- */
static const struct keel_msg *body_of(const struct asked *a, const struct value *v)
{
	struct request *r = v[1].s ? slot_get(&a->iso->requests, v[0].i) : NULL;

	return r ? keel_req_body(r->req) : NULL;
}

void asked_msg_str(struct asked *a, const struct value *v)
{
	const struct keel_msg *m = body_of(a, v);

	talk_str(a->out, m ? keel_msg_str(m, v[1].s) : NULL);
}

void asked_msg_int(struct asked *a, const struct value *v)
{
	const struct keel_msg *m = body_of(a, v);

	talk_int(a->out, m ? keel_msg_int(m, v[1].s, v[2].i) : v[2].i);
}

void asked_msg_strings(struct asked *a, const struct value *v)
{
	const struct keel_msg *m = body_of(a, v);
	uint32_t n = 0;
	const char *const *list = m ? keel_msg_strings(m, v[1].s, &n) : NULL;

	talk_int(a->out, list ? (int64_t)n : n == 0 ? -1 : -2); /* -2: it is there, and no array of strings */
	for (uint32_t i = 0; list && i < n; i++)
		talk_str(a->out, list[i]);
}

