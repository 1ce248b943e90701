/* SPDX-License-Identifier: Apache-2.0
 *
 * resize.c - server half: a job that runs has fewer hosts.
 *
 *   hosts that stay    "task.resize": their list, node numbers and node file as they are now; again whenever they introduce
 *                      themselves with the run
 *   hosts that are out "task.release": they end their part, and report "task.released"; until then they are the entry's
 *                      leaving ones, and get the order again whenever they introduce themselves with the run
 *   the primary        "task.pruned": before its program is started it goes on without some; "task.prune_done"
 *
 * And what `keelson explain` says of them.
 */
#include "executor.h"

#include <stdlib.h>
#include <string.h>

#include "keel/text.h"

void leaving_free(struct entry *e)
{
	for (uint32_t i = 0; i < e->n_leaving; i++)
		free(e->leaving[i]);
	free(e->leaving);
	e->leaving = NULL;
	e->n_leaving = 0;
}

static int leaving_at(const struct entry *e, const char *peer)
{
	for (uint32_t i = 0; i < e->n_leaving; i++)
		if (strcmp(e->leaving[i], peer) == 0)
			return (int)i;
	return -1;
}

static void leaving_add(struct entry *e, const char *peer)
{
	char **bigger = leaving_at(e, peer) < 0 ? reallocarray(e->leaving, e->n_leaving + 1u, sizeof(*bigger)) : NULL;

	if (!bigger)
		return; /* it is one; or its next hello ends it */
	e->leaving = bigger;
	if ((bigger[e->n_leaving] = strdup(peer)))
		e->n_leaving++;
}

static void leaving_drop(struct entry *e, const char *peer)
{
	int at = leaving_at(e, peer);

	if (at < 0)
		return;
	free(e->leaving[at]);
	e->leaving[at] = e->leaving[--e->n_leaving];
}

static void run_send(struct keel_mod *mod, const struct entry *e, const char *peer, const char *message)
{
	keel_link_send(mod, peer, message, run_message(mod, e->id, e->run));
}

void leaving_forget(struct keel_mod *mod, const struct entry *e)
{
	for (uint32_t i = 0; i < e->n_leaving; i++)
		run_send(mod, e, e->leaving[i], "task.forget");
}

static void released(struct keel_mod *mod, const struct entry *e, const char *peer)
{
	struct keel_obj *job = keel_find(mod, "job", e->id);

	if (job)
		TELL(mod, released, job, peer);
}

/* ---- which hosts are out --------------------------------------------------------------------------------- */

static bool is_in(const struct spread *s, const char *peer)
{
	struct spread_host *h;

	HASH_FIND_STR(s->by_name, peer, h);
	return h != NULL;
}

/* Hosts of what the job gave up and holds still; those that have no part of it are free now. The listener may change the
 * job: its text is read before. */
static void deallocated_look(struct keel_mod *mod, struct entry *e, struct keel_obj *job, const struct spread *has, bool run)
{
	char *vnodes = dispatch_text(mod, job, "exec_vnode_deallocated", NULL);
	struct spread s;

	if (!vnodes)
		return;
	if (dispatch_hosts(mod, vnodes, &s) == 0) {
		for (uint32_t i = 0; i < s.n_hosts; i++) {
			const char *name = s.host[i]->name;

			if (is_in(has, name))
				continue;
			if (run)
				leaving_add(e, name);
			else if (leaving_at(e, name) < 0)
				released(mod, e, name);
		}
		spread_fini(&s);
	}
	free(vnodes);
}

/* After a restart. */
void leaving_known(struct keel_mod *mod, struct entry *e, struct keel_obj *job, const struct spread *has)
{
	deallocated_look(mod, e, job, has, true);
}

void task_resize(struct keel_mod *mod, struct keel_obj *job)
{
	const struct conf *cf = mod->conf;
	struct entry *e = entry_find(mod->state, keel_id(job));
	struct spread s;
	bool fewer = false;

	if (!e)
		return;
	entry_peer(mod, e);
	if (dispatch_spread(mod, job, &s) < 0) {
		keel_log(mod, KEEL_LOG_ERROR, "Job", e->id, "out of memory: its hosts do not know that it has fewer vnodes");
		return;
	}
	for (uint32_t i = 0; i < e->n_hosts; i++)
		if (!is_in(&s, e->hosts[i])) {
			leaving_add(e, e->hosts[i]);
			run_send(mod, e, e->hosts[i], "task.release");
			fewer = true;
		}
	if (fewer)
		entry_hosts_set(e, &s, cf->first_host_only && s.n_hosts ? 1 : s.n_hosts);
	resize_send(mod, e, job, &s, NULL);
	deallocated_look(mod, e, job, &s, false);
	spread_fini(&s);
}

/* A host introduces itself with the run. It may have been away when the job got fewer vnodes. */
void resize_again(struct keel_mod *mod, struct entry *e, const char *peer)
{
	const struct keel_attr *before = keel_attr_find(mod, "job", "exec_vnode_orig");
	struct keel_obj *job = before ? keel_find(mod, "job", e->id) : NULL;
	struct spread s;

	if (!job || !keel_is_set(job, before) || dispatch_spread(mod, job, &s) < 0)
		return;
	resize_send(mod, e, job, &s, peer);
	spread_fini(&s);
}

/* ---- what hosts say ---------------------------------------------------------------------------------------- */

/* Of the run `m` names; NULL: it is over, or another one. */
static struct entry *entry_named(struct keel_mod *mod, const struct keel_msg *m)
{
	const char *id = keel_msg_str(m, "id");
	struct entry *e = id ? entry_find(mod->state, id) : NULL;

	if (!e || e->run != keel_msg_int(m, "run", -1))
		return NULL;
	entry_peer(mod, e);
	return e;
}

/* What it has used is for the primary, which reports what all hosts have. */
static void usage_pass(struct keel_mod *mod, const struct entry *e, const char *host, const struct keel_msg *m)
{
	uint32_t n = 0;
	const char *const *items = keel_msg_strings(m, "items", &n);
	struct keel_out *out;

	if (!items || n == UINT32_MAX || n == 0 || !e->peer)
		return;
	out = run_message(mod, e->id, e->run);
	keel_put_str(out, "host", host);
	keel_put_strings(out, "items", items, n);
	keel_link_send(mod, e->peer, "task.left", out);
}

/* It is one of the leaving hosts until the job ends, or it introduces itself without the run: it has a record of it. */
void on_released(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct entry *e = entry_named(mod, m);

	if (!e || leaving_at(e, peer) < 0)
		return;
	usage_pass(mod, e, peer, m);
	released(mod, e, peer);
}

/* It introduces itself; `has`: with this run. Returns whether it is one of those that are to leave it. */
bool leaving_hello(struct keel_mod *mod, struct entry *e, const char *peer, bool has)
{
	if (leaving_at(e, peer) < 0)
		return false;
	if (has) {
		run_send(mod, e, peer, "task.release");
	} else {
		leaving_drop(e, peer);
		released(mod, e, peer);
	}
	return true;
}

void on_pruned(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct entry *e = entry_named(mod, m);
	struct keel_obj *job = e && strcmp(e->peer ? e->peer : "", peer) == 0 ? keel_find(mod, "job", e->id) : NULL;
	const char *vnodes = keel_msg_str(m, "vnodes"), *select = keel_msg_str(m, "select");
	char *id = job ? strdup(e->id) : NULL;
	int64_t run = e ? e->run : 0;

	if (id && vnodes && select)
		TELL(mod, pruned, job, vnodes, select);
	e = id ? entry_find(mod->state, id) : NULL;
	if (e && e->run == run)
		run_send(mod, e, peer, "task.prune_done");
	free(id);
}

/* ---- keelson explain ---------------------------------------------------------------------------------------- */

#define SHOWN 10 /* hosts by name */

static void away_put(struct keel_mod *mod, const struct entry *e, struct keel_text *out)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < e->n_hosts; i++)
		if (!keel_link_is_up(mod, e->hosts[i]) && found++ < SHOWN)
			keel_text_printf(out, "%s%s", found == 1 ? "; no link to " : ", ", e->hosts[i]);
	if (found > SHOWN)
		keel_text_printf(out, " and %u more", found - SHOWN);
}

static void leaving_put(const struct entry *e, struct keel_text *out)
{
	for (uint32_t i = 0; i < e->n_leaving && i < SHOWN; i++)
		keel_text_printf(out, "%s%s", i ? ", " : "; given up: ", e->leaving[i]);
	if (e->n_leaving > SHOWN)
		keel_text_printf(out, " and %u more", e->n_leaving - SHOWN);
}

/* Of a job over several hosts: how many, and which of them the server does not reach. Of one on a host: that it is not reached. */
keel_verdict on_job_explain(struct keel_call *c, const struct keel_ev_job_explain *ev)
{
	struct entry *e = entry_find(c->mod->state, ev->id);
	struct keel_text text;

	if (!e)
		return KEEL_NEXT;
	entry_peer(c->mod, e);
	if (!e->n_hosts || (e->n_hosts + e->n_leaving < 2 && keel_link_is_up(c->mod, e->hosts[0])))
		return KEEL_NEXT;
	keel_text_init(&text);
	if (e->n_hosts + e->n_leaving < 2) {
		keel_text_printf(&text, "link         none to %s: what became of the job is known when that answers", e->hosts[0]);
	} else {
		keel_text_printf(&text, "parts        on %u hosts, the first is %s", e->n_hosts, e->hosts[0]);
		away_put(c->mod, e, &text);
		leaving_put(e, &text);
	}
	keel_text_str(&text, "\n");
	if (!text.failed)
		keel_append(c, text.data);
	keel_text_fini(&text);
	return KEEL_NEXT;
}
