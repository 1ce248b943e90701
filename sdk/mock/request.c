/* SPDX-License-Identifier: Apache-2.0
 *
 * request.c - REQUEST rows, the group "request", and clients whom the test plays.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "inside.h"

struct keel_req {
	struct head head;
	struct keel_req *prev, *next; /* those that wait for their answer */
	struct keel_session session;
	struct request *route; /* NULL: a client that asks nothing */
	struct keel_msg *msg;
	struct keel_mock_reply *reply;
	const char **part; /* as JSON */
	uint32_t n_parts;
	bool gone, slow;
	keel_fn *on_gone, *on_drained;
	void *gone_arg, *drained_arg;
	struct mod *owner;
};

/* ---- rows ---------------------------------------------------------------------------------------------- */
static struct request *request_find(struct keel_mock *mock, const char *name)
{
	struct request *r = mock->requests;

	while (r != NULL && strcmp(r->def.name, name) != 0)
		r = r->next;
	return r;
}

int request_add(struct mod *m, const void *row, struct keel_err *err)
{
	const struct keel_request_def *def = row;
	const struct request *other;
	struct request *r;

	if (def->size < offsetof(struct keel_request_def, number) || def->name == NULL ||
	    def->name[0] == '\0' || def->handler == NULL)
		return err_set(err, -EINVAL, "a REQUEST row of module %s has no name or no handler",
			       m->desc.name);
	other = request_find(mock_of(m), def->name);
	if (other != NULL)
		return err_set(err, -EEXIST, "request '%s' of module %s is already served by %s; enable only "
			       "one of the two", def->name, m->desc.name, other->owner->desc.name);
	r = make(sizeof(*r));
	memcpy(&r->def, def, def->size < sizeof(r->def) ? def->size : sizeof(r->def));
	r->owner = m;
	r->row = row;
	LL_PREPEND(mock_of(m)->requests, r);
	return 0;
}

void request_remove(struct mod *m, const void *row)
{
	struct request *r, *next;

	LL_FOREACH_SAFE(mock_of(m)->requests, r, next) {
		if (r->row != row)
			continue;
		LL_DELETE(mock_of(m)->requests, r);
		free(r);
	}
}

/* ---- the end of a request -------------------------------------------------------------------------------- */
static void req_end(struct keel_req *q)
{
	DL_DELETE(q->head.mock->reqs, q);
	msg_end(q->msg);
	keep(q->head.mock, (char *)q->part); /* the reply shows it */
	head_end(&q->head);
}

static void answer(struct keel_req *q, int32_t code, const char *text, struct node *body)
{
	struct keel_mock_reply *ret = q->gone ? NULL : q->reply;
	struct text t = { 0 };

	if (body != NULL)
		node_json(body, &t);
	if (ret != NULL) {
		ret->told = true;
		ret->code = code;
		snprintf(ret->text, sizeof(ret->text), "%s", text != NULL ? text : "");
		ret->json = keep(q->head.mock, t.data != NULL ? t.data : dup_text("{}"));
	} else {
		free(t.data);
	}
	node_free(body);
	req_end(q);
}

bool requests_concern(const struct mod *m)
{
	const struct keel_req *q;

	DL_FOREACH(mock_of(m)->reqs, q)
		if (q->owner == m)
			break;
	return q != NULL;
}

void requests_leave(struct mod *m)
{
	struct keel_req *q, *next;

	DL_FOREACH_SAFE(mock_of(m)->reqs, q, next) {
		if (q->owner != m)
			continue;
		violation(mock_of(m), "reply-missing", "%s to %s", m->label, q->route->def.name);
		answer(q, INTERNAL, "The module that serves this request was unloaded", NULL);
	}
}

void requests_fini(struct keel_mock *mock)
{
	while (mock->reqs != NULL)
		req_end(mock->reqs);
	while (mock->requests != NULL) {
		struct request *r = mock->requests;

		mock->requests = r->next;
		free(r);
	}
}

/* ---- the group ------------------------------------------------------------------------------------------------ */
static bool alive(struct keel_req *q, const char *what)
{
	if (q == NULL)
		die("request->%s() without a request", what);
	return head_good(&q->head, strncmp(what, "reply", 5) == 0 ? "reply-twice" : "request-ended", what);
}

const struct keel_session *req_session(struct keel_req *q)
{
	return &q->session;
}

static const struct keel_session *session(struct keel_req *q)
{
	(void)alive(q, "session");
	return &q->session;
}

static const struct keel_msg *body(struct keel_req *q)
{
	(void)alive(q, "body");
	return q->msg;
}

static void reply(struct keel_req *q, int32_t code, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (!alive(q, "reply"))
		return;
	snprintf(text, sizeof(text), "%s", pbse_text(code));
	if (fmt != NULL) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
	}
	answer(q, code, text, NULL);
}

static void reply_out(struct keel_req *q, struct keel_out *o)
{
	struct node *root = out_take(o, "reply_out");

	if (!alive(q, "reply_out")) {
		node_free(root);
		return;
	}
	if (root == NULL)
		answer(q, SYSTEM, "the answer does not fit into memory", NULL);
	else
		answer(q, 0, NULL, root);
}

static int32_t part(struct keel_req *q, struct keel_out *o)
{
	struct node *root = out_take(o, "part");
	struct text t = { 0 };

	if (!alive(q, "part") || q->gone) {
		node_free(root);
		return -EPIPE;
	}
	if (root != NULL)
		node_json(root, &t);
	node_free(root);
	q->part = enlarge(q->part, (q->n_parts + 1) * sizeof(*q->part));
	q->part[q->n_parts++] = keep(q->head.mock, t.data != NULL ? t.data : dup_text("{}"));
	if (q->reply != NULL) {
		q->reply->parts = q->n_parts;
		q->reply->part = q->part;
	}
	return q->slow ? -ENOBUFS : 0;
}

static void drain(void *arg)
{
	struct keel_req *q = arg;
	keel_fn *fn = q->on_drained;

	if (q->head.ended || q->gone || fn == NULL)
		return;
	q->on_drained = NULL;
	IN(q->owner, fn(&q->owner->pub, q->drained_arg));
}

static int32_t drained(struct keel_req *q, keel_fn *fn, void *arg)
{
	if (!alive(q, "drained") || q->gone)
		return -EPIPE;
	q->on_drained = fn;
	q->drained_arg = arg;
	if (!q->slow)
		host_item(q->head.mock, 0, drain, q);
	return 0;
}

static void on_gone(struct keel_req *q, keel_fn *fn, void *arg)
{
	if (!alive(q, "on_gone"))
		return;
	q->on_gone = fn;
	q->gone_arg = arg;
}

const struct keel_request_api request_api = {
	.size = sizeof(request_api), .session = session, .body = body, .reply = reply,
	.reply_out = reply_out, .part = part, .drained = drained, .on_gone = on_gone,
};

/* ---- the test's side --------------------------------------------------------------------------------------------- */
const struct keel_session *keel_mock_session(struct keel_mock *mock, const char *user, uint32_t roles)
{
	struct keel_session *s = make(sizeof(*s));

	*s = (struct keel_session){
		.size = sizeof(*s), .roles = roles | KEEL_USER, .uid = 1000, .gid = 1000,
		.user = keep(mock, dup_text(user)), .host = mock->host,
		.who = keep(mock, print_text("%s@%s", user, mock->host)), .group = "users", .groups = "users",
	};
	keep(mock, (char *)s);
	return s;
}

struct keel_req *keel_mock_client(struct keel_mock *mock, const struct keel_session *s)
{
	struct keel_req *q = make(sizeof(*q));

	head_init(&q->head, mock, q);
	q->session = s != NULL ? *s : *keel_mock_session(mock, "test", KEEL_EVERYBODY);
	DL_APPEND(mock->reqs, q);
	return q;
}

void keel_mock_client_gone(struct keel_req *q)
{
	if (q->head.ended || q->gone)
		return;
	q->gone = true;
	ops_client_gone(q->head.mock, q);
	if (q->on_gone != NULL)
		IN(q->owner, q->on_gone(&q->owner->pub, q->gone_arg));
	if (q->owner == NULL)
		req_end(q);
}

void keel_mock_client_slow(struct keel_req *q, bool slow)
{
	q->slow = slow;
	if (!slow && q->on_drained != NULL)
		host_item(q->head.mock, 0, drain, q);
}

static void received(struct keel_mod *m, void *arg, const struct keel_outcome *out)
{
	struct keel_req *q = arg;

	(void)m;
	if (q->head.ended)
		return;
	if (out->verdict != KEEL_NEXT && out->verdict != KEEL_DONE) {
		answer(q, out->code != 0 ? out->code : HOOKERROR, out->text, NULL);
		return;
	}
	q->owner = q->route->owner;
	IN(q->owner, q->route->def.handler(&q->owner->pub, q));
}

struct keel_req *keel_mock_request(struct keel_mock *mock, const struct keel_session *s, const char *name,
				   const char *text, struct keel_mock_reply *ret)
{
	struct request *route = request_find(mock, name);
	struct keel_req *q = keel_mock_client(mock, s);
	struct node *root = node_of_text(text);

	if (node_get(root, "req") == NULL)
		node_text(node_add(root, NODE_STR, "req"), name);
	if (ret != NULL)
		*ret = (struct keel_mock_reply){ .json = NULL };
	q->reply = ret;
	q->msg = msg_make(mock, root);
	q->route = route;
	if (route == NULL || (route->def.roles & q->session.roles) == 0) {
		answer(q, route == NULL ? UNKREQ : PERM, pbse_text(route == NULL ? UNKREQ : PERM), NULL);
		return NULL;
	}
	op_raise(&mock->self, &(struct keel_raise){
		.size = sizeof(struct keel_raise), .point = KEEL_POINT_request_receive,
		.event = KEEL_EVENT(request_receive, .name = name, .who = q->session.who),
		.req = q, .done = received, .arg = q });
	return q->head.ended ? NULL : q;
}
