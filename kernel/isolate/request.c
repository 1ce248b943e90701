/* SPDX-License-Identifier: Apache-2.0
 *
 * request.c - REQUEST rows of an isolated module: the request goes to the process, the answer comes back.
 */
#include <stdlib.h>
#include <string.h>

#include "isolate/answer.h"
#include "isolate/inside.h"
#include "msg/msg.h"
#include "pbs_error.h"
#include "request/router.h"

static void req_free(struct iso_req *r)
{
	if (r->process != NULL && r->process->raised != NULL)
		hooks_requester_left(r->iso->parts->hooks, r->req);
	HASH_DEL(r->iso->reqs, r);
	free(r);
}

struct iso_req *request_find(const struct process *p, uint64_t number)
{
	struct iso_req *r;

	HASH_FIND(hh, p->iso->reqs, &number, sizeof(number), r);
	return r != NULL && r->process == p ? r : NULL;
}

static void tell(const struct iso_req *r, enum talk_down what)
{
	struct isolate *iso = r->iso;
	size_t begun = talk_begin(&iso->scratch);

	talk_put_int(&iso->scratch, what);
	talk_put_int(&iso->scratch, (int64_t)r->number);
	(void)ask_heard(iso, r->process, begun);
}

static void gone(struct keel_mod *m, void *arg)
{
	struct iso_req *r = arg;

	(void)m;
	tell(r, TALK_GONE);
}

static int64_t row_of(const struct isolate *iso, const char *name)
{
	for (uint32_t i = 0; i < iso->desc.n_contribs; i++) {
		const struct keel_contrib *c = &iso->contribs[i];

		if (strcmp(c->kind, "REQUEST") == 0 &&
		    strcmp(((const struct keel_request_def *)c->def)->name, name) == 0)
			return i;
	}
	return -1;
}

static int send_asked(struct isolate *iso, const struct iso_req *r, int64_t row)
{
	struct buf *m = &iso->scratch;
	size_t begun = talk_begin(m);
	struct buf body;
	int ret;

	buf_init(&body);
	msg_pack(iso->request->body(r->req), &body);
	talk_put_int(m, TALK_ASKED);
	talk_put_int(m, (int64_t)r->number);
	talk_put_int(m, row);
	answer_session(m, iso->request->session(r->req));
	talk_put_bytes(m, body.data, body.failed ? 0 : (uint32_t)body.len);
	ret = ask_heard(iso, r->process, begun);
	buf_fini(&body);
	return ret;
}

void request_asked(struct keel_mod *mod, struct keel_req *req)
{
	struct isolate *iso = owner_of(mod)->isolate;
	int64_t row = row_of(iso, router_req_name(req));
	struct iso_req *r = row >= 0 ? calloc(1, sizeof(*r)) : NULL;

	if (r == NULL || !process_up(iso->now) || HASH_COUNT(iso->reqs) >= CALLS_MAX) {
		free(r);
		iso->request->reply(req, PBSE_SYSTEM, "module %s is not there now: its process ended or has too "
				    "much to do", iso->name);
		return;
	}
	*r = (struct iso_req){ .iso = iso, .process = iso->now, .number = ++iso->next_req,
				.req = req };
	HASH_ADD(hh, iso->reqs, number, sizeof(r->number), r);
	if (!hash_holds(r)) {
		free(r);
		iso->request->reply(req, PBSE_SYSTEM, "no memory to ask module %s", iso->name);
		return;
	}
	if (send_asked(iso, r, row) < 0) {
		req_free(r);
		iso->request->reply(req, PBSE_SYSTEM, "module %s is not there now: its process does not hear", iso->name);
		return;
	}
	iso->request->on_gone(req, gone, r);
}

static struct keel_out *out_of(const void *body, uint32_t len)
{
	struct keel_out *out = out_create();

	if (out != NULL && !out_adopt(out, body, len)) {
		out_drop(out);
		out = NULL;
	}
	return out;
}

void request_heard(struct process *p, uint32_t what, struct talk_in *in)
{
	struct isolate *iso = p->iso;
	struct iso_req *r = request_find(p, (uint64_t)talk_int(in));
	struct keel_req *req;

	if (talk_bad(in) || r == NULL)
		return; /* a second answer, or of a request that was answered for it */
	req = r->req;
	if (what == TALK_ANSWER) {
		int32_t code = (int32_t)talk_int(in);
		const char *text = talk_str(in);

		if (talk_bad(in))
			return;
		req_free(r);
		iso->request->reply(req, code, text != NULL ? "%s" : NULL, text);
	} else {
		uint32_t len;
		const void *body = talk_bytes(in, &len);
		struct keel_out *out = talk_bad(in) ? NULL : out_of(body, len);

		req_free(r);
		if (out != NULL)
			iso->request->reply_out(req, out);
		else
			iso->request->reply(req, PBSE_INTERNAL, "module %s sent no answer that can be read",
					    iso->name);
	}
}

int request_part(struct isolate *iso, struct iso_req *r, const void *body, uint32_t len)
{
	struct keel_out *out = out_of(body, len);

	return out != NULL ? iso->request->part(r->req, out) : -22;
}

static void drained(struct keel_mod *m, void *arg)
{
	struct iso_req *r = arg;

	(void)m;
	tell(r, TALK_DRAINED);
}

int request_drained(struct isolate *iso, struct iso_req *r)
{
	return iso->request->drained(r->req, drained, r);
}

void requests_fail(struct process *p, const char *why)
{
	struct isolate *iso = p->iso;
	struct iso_req *r, *next;

	HASH_ITER(hh, iso->reqs, r, next) {
		struct keel_req *req = r->req;

		if (r->process != p)
			continue;
		req_free(r);
		iso->request->reply(req, PBSE_SYSTEM, "module %s: %s", iso->name, why);
	}
}
