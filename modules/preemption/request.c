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
#include <strings.h>

KEEL_ATTR_OF(sched, scheduling);

#define IDS_MAX 100000

/* A request about many victims: answered when each has its outcome. */
struct many {
	struct keel_req *req;
	struct keel_out *out; /* array `jobs` is open in it */
	uint32_t open;
};

static void many_done(struct many *m)
{
	if (--m->open)
		return;
	keel_close(m->out);
	keel_reply_out(m->req, m->out);
	free(m);
}

static void one_done(struct keel_mod *mod, void *arg, const char *id, const char *outcome,
		     const struct keel_preempt_def *by)
{
	struct many *m = arg;

	(void)by, (void)mod;
	keel_open_list(m->out);
	keel_add_str(m->out, id);
	keel_add_str(m->out, outcome);
	keel_close(m->out);
	many_done(m);
}

static bool is_scheduler(struct keel_mod *mod, const struct keel_session *who)
{
	const struct conf *conf = mod->conf;
	struct keel_obj *sched = sched_default(mod);
	const char *const *user;

	if (sched && keel_get_int(sched, sched_scheduling))
		return false; /* this daemon's own works */
	if (strcasecmp(who->host, keel_host_name(mod)) != 0)
		return false;
	for (user = conf->scheduler_users; user && *user; user++)
		if (strcmp(*user, who->user) == 0)
			return true;
	return false;
}

static void on_preempt_jobs(struct keel_mod *mod, struct keel_req *req)
{
	uint32_t n, i;
	const char *const *ids = keel_msg_strings(keel_req_body(req), "ids", &n);
	struct many *m;

	if (!is_scheduler(mod, keel_req_session(req)) || !ids) {
		keel_reply(req, PBSE_INTERNAL, NULL);
		return;
	}
	if (n > IDS_MAX) {
		keel_reply(req, PBSE_INTERNAL, "at most %d jobs give way by one request; send more requests", IDS_MAX);
		return;
	}
	m = calloc(1, sizeof(*m));
	if (!m || !(m->out = keel_out(mod))) {
		free(m);
		keel_reply(req, PBSE_SYSTEM, NULL);
		return;
	}
	m->req = req;
	m->open = 1; /* our own, so that it cannot end while we are handing out */
	keel_open_array(m->out, "jobs");
	for (i = 0; i < n; i++) {
		m->open++;
		preempt(mod, ids[i], one_done, m);
	}
	many_done(m);
}

const struct keel_request_def preempt_request = {
	.size = sizeof(struct keel_request_def),
	.roles = KEEL_EVERYBODY,
	.name = "preempt_jobs",
	.doc = "a scheduler lets running jobs give way",
	.handler = on_preempt_jobs,
	.number = 93,
};
