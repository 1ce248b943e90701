/* SPDX-License-Identifier: Apache-2.0
 *
 * request.c - the group "request": requests for the module's REQUEST rows, and their answers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "modhost/host.h"
#include "msg/msg.h"
#include "util/err.h"

struct keel_req {
	struct keel_req *prev, *next;
	struct host *host;
	int64_t number;
	struct keel_session session; /* strings in `words` */
	char *words[5];
	struct keel_msg *body;
	keel_fn *gone, *drained;
	void *gone_arg, *drained_arg;
};

void session_take(struct talk_in *in, struct keel_session *ret)
{
	*ret = (struct keel_session){ .size = sizeof(*ret) };
	ret->roles = (uint32_t)talk_int(in);
	ret->uid = (uint32_t)talk_int(in);
	ret->gid = (uint32_t)talk_int(in);
	ret->user = talk_text(in);
	ret->host = talk_text(in);
	ret->who = talk_text(in);
	ret->group = talk_str(in);
	ret->groups = talk_str(in);
}

int64_t req_number(const struct keel_req *q)
{
	return q->number;
}

static struct keel_req *req_find(struct host *h, int64_t number)
{
	struct keel_req *q;

	DL_FOREACH(h->reqs, q) {
		if (q->number == number)
			break;
	}
	return q;
}

static void req_free(struct keel_req *q)
{
	DL_DELETE(q->host->reqs, q);
	for (uint32_t i = 0; i < KEEL_COUNT(q->words); i++)
		free(q->words[i]);
	msg_destroy(q->body);
	free(q);
}

/* The strings of the message die with it. */
static void session_own(struct keel_req *q)
{
	const char **texts[] = { &q->session.user, &q->session.host, &q->session.who, &q->session.group,
				 &q->session.groups };

	for (uint32_t i = 0; i < KEEL_COUNT(texts); i++)
		*texts[i] = q->words[i] = *texts[i] != NULL ? strdup(*texts[i]) : NULL;
}

static void (*handler_of(const struct host *h, int64_t row))(struct keel_mod *, struct keel_req *)
{
	const struct keel_contrib *c;

	if (row < 0 || h->desc == NULL || row >= h->desc->n_contribs)
		return NULL;
	c = &h->desc->contribs[row];
	return strcmp(c->kind, "REQUEST") == 0 ? ((const struct keel_request_def *)c->def)->handler : NULL;
}

void req_take(struct host *h, struct talk_in *in)
{
	struct keel_req *q = calloc(1, sizeof(*q));
	void (*handler)(struct keel_mod *, struct keel_req *);
	const void *body;
	uint32_t len;

	if (q == NULL)
		abort();
	q->host = h;
	q->number = talk_int(in);
	handler = handler_of(h, talk_int(in));
	if (talk_int(in) != 0)
		session_take(in, &q->session);
	body = talk_bytes(in, &len);
	session_own(q);
	DL_APPEND(h->reqs, q);
	if (handler == NULL || !talk_done(in) || msg_open(body, len, &q->body) < 0)
		host_request.reply(q, 15011, NULL);
	else
		handler(&h->owner.pub, q);
}

void req_gone_told(struct host *h, struct talk_in *in)
{
	struct keel_req *q = req_find(h, talk_int(in));
	keel_fn *fn = q != NULL ? q->gone : NULL;

	if (fn != NULL) {
		q->gone = NULL;
		fn(&h->owner.pub, q->gone_arg);
	}
}

void req_drained_told(struct host *h, struct talk_in *in)
{
	struct keel_req *q = req_find(h, talk_int(in));
	keel_fn *fn = q != NULL ? q->drained : NULL;

	if (fn != NULL) {
		q->drained = NULL;
		fn(&h->owner.pub, q->drained_arg);
	}
}

/* ---- the group ---------------------------------------------------------------------------------------- */
static const struct keel_session *req_session(struct keel_req *q)
{
	return &q->session;
}

static const struct keel_msg *req_body(struct keel_req *q)
{
	return q->body;
}

static void req_reply(struct keel_req *q, int32_t code, const char *fmt, ...)
{
	struct host *h = q->host;
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	if (fmt != NULL)
		vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	talk_begin(&h->out);
	talk_put_int(&h->out, TALK_ANSWER);
	talk_put_int(&h->out, q->number);
	talk_put_int(&h->out, code);
	talk_put_str(&h->out, fmt != NULL ? text : NULL);
	host_event(h);
	req_free(q);
}

static void put_out(struct host *h, struct keel_out *out)
{
	uint32_t len = 0;
	const char *bytes = out_bytes(out, &len);

	talk_put_bytes(&h->out, bytes, bytes != NULL ? len : 0);
	out_drop(out);
}

static void req_reply_out(struct keel_req *q, struct keel_out *out)
{
	struct host *h = q->host;

	talk_begin(&h->out);
	talk_put_int(&h->out, TALK_ANSWER_OUT);
	talk_put_int(&h->out, q->number);
	put_out(h, out);
	host_event(h);
	req_free(q);
}

static int32_t req_part(struct keel_req *q, struct keel_out *out)
{
	ask_begin(q->host, ASK_PART);
	talk_put_int(&q->host->out, q->number);
	put_out(q->host, out);
	return (int32_t)ask_code(q->host);
}

static int32_t req_drained(struct keel_req *q, keel_fn *fn, void *arg)
{
	q->drained = fn;
	q->drained_arg = arg;
	ask_begin(q->host, ASK_DRAINED);
	talk_put_int(&q->host->out, q->number);
	return (int32_t)ask_code(q->host);
}

static void req_on_gone(struct keel_req *q, keel_fn *fn, void *arg)
{
	q->gone = fn;
	q->gone_arg = arg;
}

const struct keel_request_api host_request = {
	.size = sizeof(host_request),
	.version = KEEL_ABI_MINOR,
	.session = req_session,
	.body = req_body,
	.reply = req_reply,
	.reply_out = req_reply_out,
	.part = req_part,
	.drained = req_drained,
	.on_gone = req_on_gone,
};
