/* SPDX-License-Identifier: Apache-2.0
 *
 * script.c - starts that wait for the job's script: it is in the store, and a long one takes its time on the link.
 *
 * A link that has too much to carry is cut off. So a host gets one long script at a time, the next one when it says that
 * the last has come.
 */
#include "executor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct waiting {
	struct waiting *next;
	int64_t run;
	struct keel_out *out;
	char *peer, *whose; /* the job that has the script: a subjob's is its array's */
	char id[];
};

static void waiting_free(struct waiting *w)
{
	free(w->peer);
	free(w->whose);
	free(w);
}

static void start_failed(struct keel_mod *mod, struct entry *e, const char *why)
{
	struct state *st = mod->state;
	struct keel_obj *job = keel_find(mod, "job", e->id);

	entry_drop(st, e);
	if (job)
		TELL(mod, refused, job, -3, why);
}

static void start(struct keel_mod *mod, struct entry *e, struct keel_out *out, const void *script, uint32_t len)
{
	struct state *st = mod->state;
	struct host *h = host_find(st, e->peer);

	e->starting = false;
	keel_put_bytes(out, "script", script ? script : "", script ? len : 0);
	if (!host_is_known(st, e->peer)) {
		keel_out_drop(out); /* a host that has to introduce itself would not have it on its list */
		start_failed(mod, e, "the execution host is away");
		return;
	}
	if (start_send(mod, e, out) < 0) {
		start_failed(mod, e, "the execution host is away");
		return;
	}
	if (h && len > SCRIPT_LONG)
		h->receiving = true;
	if (e->modified)
		modify_send(mod, e);
	if (e->killing)
		order_send(mod, e, "task.kill", e->kill_delay);
}

static void script_read(struct keel_mod *mod, void *arg, const void *bytes, uint32_t len);

static int32_t script_ask(struct keel_mod *mod, struct waiting *w)
{
	return keel_blob_get(mod, "job", w->whose, "script", script_read, w);
}

static void next_ask(struct keel_mod *mod, struct host *h)
{
	while (h && h->waiting && !h->receiving) {
		struct waiting *w = h->waiting;

		h->waiting = w->next;
		if (script_ask(mod, w) == 0)
			return; /* script_read() goes on */
		script_read(mod, w, NULL, ENOMEM);
	}
}

static void script_read(struct keel_mod *mod, void *arg, const void *bytes, uint32_t len)
{
	struct state *st = mod->state;
	struct waiting *w = arg, **at;
	struct entry *e = entry_find(st, w->id);
	struct host *h = host_find(st, w->peer);

	if (!e || e->run != w->run) {
		keel_out_drop(w->out); /* withdrawn meanwhile */
	} else if (!bytes && len > 0) { /* an empty script would be a job that did nothing and ended well */
		keel_out_drop(w->out);
		start_failed(mod, e, "its script cannot be read from the server's store; the server's log has the reason");
	} else if (h && h->receiving && len > SCRIPT_LONG) {
		for (at = &h->waiting; *at; at = &(*at)->next)
			;
		w->next = NULL;
		*at = w;
		return;
	} else {
		start(mod, e, w->out, bytes, len);
	}
	h = host_find(st, w->peer);
	waiting_free(w);
	next_ask(mod, h);
}

int32_t script_start(struct keel_mod *mod, struct entry *e, const char *array, struct keel_out *out)
{
	struct waiting *w = calloc(1, sizeof(*w) + strlen(e->id) + 1);
	int32_t r = -ENOMEM;

	if (w) {
		w->run = e->run;
		w->out = out;
		w->peer = strdup(e->peer);
		w->whose = strdup(array ? array : e->id);
		strcpy(w->id, e->id);
		e->starting = true;
		r = w->peer && w->whose ? script_ask(mod, w) : -ENOMEM;
	}
	if (r < 0) {
		keel_out_drop(out);
		if (w)
			waiting_free(w);
	}
	return r;
}

/* Its link is lost, or this module goes: each start fails by itself. */
void scripts_drop(struct keel_mod *mod, struct host *h)
{
	const struct state *st = mod->state;

	while (h->waiting) {
		struct waiting *w = h->waiting;

		h->waiting = w->next;
		if (!st->stopping && script_ask(mod, w) == 0)
			continue;
		keel_out_drop(w->out);
		waiting_free(w);
	}
}

static void on_got(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct host *h = host_find(mod->state, peer);

	(void)m;
	if (h)
		h->receiving = false;
	next_ask(mod, h);
}

int32_t script_init(struct keel_mod *mod)
{
	return keel_link_on(mod, "task.got", KEEL_MOM, on_got);
}

/* ---- host half ---------------------------------------------------------------------------------------- */

void script_came(struct keel_mod *mod, const struct keel_msg *m)
{
	uint32_t len = 0;

	if (keel_msg_bytes(m, "script", &len) && len > SCRIPT_LONG)
		keel_link_send(mod, "server", "task.got", keel_out(mod));
}
