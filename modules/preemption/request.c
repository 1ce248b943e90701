/* SPDX-License-Identifier: Apache-2.0
 *
 * request.c - preempt_jobs: a site's own scheduler names victims and gets the outcome of each.
 *
 * Only the scheduler may send it: one of `scheduler_users`, while the server's own does not work (it is off,
 * or `scheduling` is False). For all others it fails with 15011 and changes nothing.
 */
#include "preemption.h"

#include <stdlib.h>
#include <string.h>

#define IDS_MAX 100000

/* A request about many victims: answered when each has its outcome. */
struct many {
	struct keel_req *req;
	struct keel_out *out; /* array `jobs` is open in it */
	uint32_t open;
};

static void many_done(struct keel_mod *mod, struct many *m)
{
	struct state *st = mod->state;

	if (--m->open)
		return;
	st->msg->close(m->out);
	st->request->reply_out(m->req, m->out);
	free(m);
}

static void one_done(struct keel_mod *mod, void *arg, const char *id, const char *outcome,
		     const struct keel_preempt_def *by)
{
	struct state *st = mod->state;
	struct many *m = arg;

	(void)by;
	st->msg->open_list(m->out);
	st->msg->add_str(m->out, id);
	st->msg->add_str(m->out, outcome);
	st->msg->close(m->out);
	many_done(mod, m);
}

static bool own_scheduler_works(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *sched = sched_default(mod);

	return sched && st->object->get_int(sched, st->sched.scheduling);
}

static bool is_scheduler(struct keel_mod *mod, const struct keel_session *who)
{
	const struct conf *conf = mod->conf;
	const char *const *user;

	for (user = conf->scheduler_users; user && *user; user++)
		if (strcmp(*user, who->user) == 0)
			return !own_scheduler_works(mod);
	return false;
}

static void on_preempt_jobs(struct keel_mod *mod, struct keel_req *req)
{
	struct state *st = mod->state;
	uint32_t n, i;
	const char *const *ids = st->msg->strings(st->request->body(req), "ids", &n);
	struct many *m;

	if (!is_scheduler(mod, st->request->session(req)) || !ids) {
		st->request->reply(req, PBSE_INTERNAL, NULL);
		return;
	}
	if (n > IDS_MAX) {
		st->request->reply(req, PBSE_INTERNAL, "at most %d jobs give way by one request; send more requests", IDS_MAX);
		return;
	}
	m = calloc(1, sizeof(*m));
	if (!m || !(m->out = st->msg->out(mod))) {
		free(m);
		st->request->reply(req, PBSE_SYSTEM, NULL);
		return;
	}
	m->req = req;
	m->open = 1; /* our own, so that it cannot end while we are handing out */
	st->msg->open_array(m->out, "jobs");
	for (i = 0; i < n; i++) {
		m->open++;
		preempt(mod, ids[i], one_done, m);
	}
	many_done(mod, m);
}

const struct keel_request_def preempt_request = {
	.size = sizeof(struct keel_request_def),
	.roles = KEEL_EVERYBODY,
	.name = "preempt_jobs",
	.doc = "a scheduler lets running jobs give way",
	.handler = on_preempt_jobs,
	.number = 93,
};
