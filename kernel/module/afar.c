/* SPDX-License-Identifier: Apache-2.0
 *
 * afar.c - verbs asked of another host's daemon: `keelson modules -H host`.
 *
 *   keelson.at [host, verb, argument]  -> errand -> message keelson.ask  -> the verb, there
 *                         the one answer <- errand <- message keelson.told <-
 *
 * Who may ask is judged here, by the roles of the verb's own row: a host believes its server, and nobody else may
 * send it such a question. An errand ends with the answer, with the link, or at its deadline: a change of modules
 * waits for what they have not finished.
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "link/links.h"
#include "loop/loop.h"
#include "module/verbs.h"
#include "util/err.h"

#define ERRAND_MS 60000
#define ERRANDS_MAX 64

struct errand {
	struct errand *prev, *next;
	struct modules *all;
	struct keel_req *req;
	int64_t number;
	struct loop_timer *deadline;
	char peer[];
};

static const struct keel_request_api *request_api(struct modules *all)
{
	return verbs_group(all, "request", struct keel_request_api);
}

static const struct keel_msg_api *msg_api_of(struct modules *all)
{
	return verbs_group(all, "msg", struct keel_msg_api);
}

static int32_t send(struct modules *all, const char *peer, const char *name, struct keel_out *out)
{
	return verbs_group(all, "link", struct keel_link_api)->send(&all->self.pub, peer, name, out);
}

/* ---- there ------------------------------------------------------------------------------------------- */
void afar_answer(const struct asked *a, struct keel_out *out)
{
	msg_api_of(a->all)->put_int(out, "number", a->number);
	(void)send(a->all, a->peer, "keelson.told", out); /* when the server is away nobody waits for it */
}

void afar_refuse(const struct asked *a, int32_t code, const char *text)
{
	const struct keel_msg_api *msg = msg_api_of(a->all);
	struct keel_out *out = msg->out(&a->all->self.pub);

	msg->put_int(out, "refused", code);
	msg->put_str(out, "text", text);
	afar_answer(a, out);
}

static void on_ask(struct keel_mod *m, const char *peer, const struct keel_msg *body)
{
	struct modules *all = owner_of(m)->parts->modules;
	const struct keel_msg_api *msg = msg_api_of(all);
	const char *name = msg->str(body, "verb"), *who = msg->str(body, "who");
	const struct verb *v = name != NULL ? verb_find(name) : NULL;
	const struct asked a = { .all = all, .peer = (char *)(uintptr_t)peer,
				 .number = msg->integer(body, "number", 0),
				 .who = (char *)(uintptr_t)(who != NULL ? who : peer), .arg = msg->str(body, "arg") };

	if (v == NULL)
		afar_refuse(&a, PBSE_IVALREQ, "this host's daemon does not know that verb; upgrade it");
	else if (verb_ask(v, &a) < 0)
		afar_refuse(&a, PBSE_INTERNAL, "no memory for the question");
}

/* ---- here -------------------------------------------------------------------------------------------- */
static void errand_free(struct errand *e)
{
	DL_DELETE(e->all->errands, e);
	loop_timer_cancel(e->deadline);
	free(e);
}

static void late(void *arg)
{
	struct errand *e = arg;

	e->deadline = NULL;
	request_api(e->all)->reply(e->req, PBSE_SYSTEM, "host %s has not answered within %d s; look into its log",
				   e->peer, ERRAND_MS / 1000);
	errand_free(e);
}

static void on_lost(void *arg, const char *peer)
{
	struct modules *all = arg;
	struct errand *e, *next;

	DL_FOREACH_SAFE(all->errands, e, next) {
		if (strcmp(e->peer, peer) != 0)
			continue;
		request_api(all)->reply(e->req, PBSE_SYSTEM, "the link to host %s was lost before it answered; ask "
					"again, and look first whether a change was made", peer);
		errand_free(e);
	}
}

static struct errand *errand_find(struct modules *all, const char *peer, int64_t number)
{
	struct errand *e;

	DL_FOREACH(all->errands, e) {
		if (e->number == number && strcmp(e->peer, peer) == 0)
			break;
	}
	return e;
}

static void on_told(struct keel_mod *m, const char *peer, const struct keel_msg *body)
{
	struct modules *all = owner_of(m)->parts->modules;
	const struct keel_msg_api *msg = msg_api_of(all);
	struct errand *e = errand_find(all, peer, msg->integer(body, "number", 0));
	int32_t code = (int32_t)msg->integer(body, "refused", 0);
	const char *text = msg->str(body, "text");
	uint32_t n = 0;
	const char *const *lines = msg->strings(body, "lines", &n);
	struct keel_out *out;

	if (e == NULL)
		return; /* too late */
	if (code != 0 || lines == NULL) {
		request_api(all)->reply(e->req, code > 0 ? code : PBSE_INTERNAL, "%s: %s", peer,
					text != NULL ? text : "no answer that can be read");
	} else {
		out = msg->out(m);
		msg->put_strings(out, "lines", lines, n);
		request_api(all)->reply_out(e->req, out);
	}
	errand_free(e);
}

static struct errand *errand_create(struct modules *all, struct keel_req *req, const char *peer)
{
	struct errand *e, *other;
	uint32_t n = 0;

	DL_COUNT(all->errands, other, n);
	e = n < ERRANDS_MAX ? calloc(1, sizeof(*e) + strlen(peer) + 1) : NULL;
	if (e == NULL)
		return NULL;
	strcpy(e->peer, peer);
	e->all = all;
	e->req = req;
	e->number = ++all->errands_made;
	e->deadline = loop_timer(all->parts->loop, ERRAND_MS, late, e);
	DL_APPEND(all->errands, e);
	if (e->deadline != NULL)
		return e;
	errand_free(e);
	return NULL;
}

static void forward(struct modules *all, struct keel_req *req, const char *const *args, uint32_t n)
{
	const struct keel_request_api *request = request_api(all);
	const struct keel_msg_api *msg = msg_api_of(all);
	struct errand *e = errand_create(all, req, args[0]);
	struct keel_out *out = e != NULL ? msg->out(&all->self.pub) : NULL;

	if (e == NULL) {
		request->reply(req, PBSE_INTERNAL, "too many questions to hosts are open; ask again later");
		return;
	}
	msg->put_int(out, "number", e->number);
	msg->put_str(out, "verb", args[1]);
	msg->put_str(out, "who", request->session(req)->who);
	if (n > 2)
		msg->put_str(out, "arg", args[2]);
	if (send(all, args[0], "keelson.ask", out) == 0)
		return;
	request->reply(req, PBSE_SYSTEM, "there is no link to host %s now; `pbsnodes -av` lists the hosts", args[0]);
	errand_free(e);
}

static void verb_at(struct keel_mod *m, struct keel_req *req)
{
	struct modules *all = owner_of(m)->parts->modules;
	const struct keel_request_api *request = request_api(all);
	uint32_t n = 0;
	const char *const *args = msg_api_of(all)->strings(request->body(req), "args", &n);
	const struct verb *v = args != NULL && n >= 2 && n <= 3 ? verb_find(args[1]) : NULL;

	if (v == NULL)
		request->reply(req, PBSE_IVALREQ, "only the kernel's own verbs can be asked of a host: modules, hooks, "
					     "holds, load, unload, reload");
	else if ((request->session(req)->roles & v->roles) == 0)
		request->reply(req, PBSE_PERM, NULL);
	else
		forward(all, req, args, n);
}

const struct keel_request_def afar_request = {
	.size = sizeof(afar_request), .roles = KEEL_OPERATORS, .name = "keelson.at",
	.doc = "a verb asked of another host's daemon", .flags = KEEL_REQUEST_READ, .handler = verb_at,
};

int afar_open(struct modules *all)
{
	const struct keel_link_api *link = verbs_group(all, "link", struct keel_link_api);
	int ret;

	if (link == NULL)
		return 0;
	if (all->parts->links != NULL)
		links_on_lost(all->parts->links, on_lost, all);
	ret = link->on(&all->self.pub, "keelson.ask", KEEL_SERVER, on_ask);
	return ret == 0 ? link->on(&all->self.pub, "keelson.told", KEEL_MOM, on_told) : ret;
}

void afar_close(struct modules *all)
{
	if (all->parts->links != NULL) {
		links_on_lost(all->parts->links, NULL, NULL);
		links_detach(all->parts->links, &all->self);
	}
	while (all->errands != NULL)
		errand_free(all->errands);
}
