/* SPDX-License-Identifier: Apache-2.0
 *
 * start.c - a start, from the service's start() to the message on the link: task_start() -> the message -> the script.
 *
 * The script is in the store, and a long one takes its time on the link. A link that has too much to carry is cut off.
 * So a host gets one long script at a time, the next one when it says that the last has come.
 */
#include "executor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* message key, attribute, key of the attribute */
static const struct {
	const char *name, *attr, *key;
} start_texts[] = {
	{ "user", "euser", NULL },
	{ "group", "egroup", NULL },
	{ "name", "Job_Name", NULL },
	{ "queue", "queue", NULL },
	{ "account", "Account_Name", NULL },
	{ "variables", "Variable_List", NULL },
	{ "shell", "Shell_Path_List", NULL },
	{ "join", "Join_Path", NULL },
	{ "keep", "Keep_Files", NULL },
	{ "output", "Output_Path", NULL },
	{ "error", "Error_Path", NULL },
	{ "remove", "Remove_Files", NULL },
	{ "umask", "umask", NULL },
	{ "sandbox", "sandbox", NULL },
	{ "arguments", "argument_list", NULL },
	{ "walltime", "Resource_List", "walltime" },
	{ "cput", "Resource_List", "cput" },
	{ "pcput", "Resource_List", "pcput" },
	{ "file", "Resource_List", "file" },
	{ "pvmem", "Resource_List", "pvmem" },
};

static int32_t start_message(struct keel_mod *mod, struct keel_obj *job, const struct entry *e,
			     const char *executable, struct keel_out *out)
{
	char *hosts, *vnodes, *select, *ncpus, *saved, *lines;
	int64_t n;
	int32_t r;

	if (!out)
		return -ENOMEM;
	keel_put_str(out, "id", e->id);
	keel_put_int(out, "run", e->run);
	for (size_t i = 0; i < KEEL_COUNT(start_texts); i++) {
		char *text = dispatch_text(mod, job, start_texts[i].attr, start_texts[i].key);

		if (text)
			keel_put_str(out, start_texts[i].name, text);
		free(text);
	}
	store_put(mod, out);
	if (executable)
		keel_put_str(out, "executable", executable);
	saved = dispatch_text(mod, job, "checkpointed", NULL);
	keel_put_int(out, "restart", saved != NULL);
	free(saved);
	hosts = dispatch_text(mod, job, "exec_host", NULL);
	vnodes = dispatch_text(mod, job, "exec_vnode", NULL);
	select = dispatch_text(mod, job, "schedselect", NULL);
	ncpus = dispatch_text(mod, job, "Resource_List", "ncpus");
	n = vnodes ? nodes_first_ncpus(vnodes) : 0;
	r = nodes_text(hosts, vnodes, select, &lines);
	keel_put_int(out, "job_ncpus", ncpus ? strtoll(ncpus, NULL, 10) : n);
	keel_put_int(out, "ncpus", n > 0 ? n : 1);
	if (lines)
		keel_put_str(out, "nodes", lines);
	free(hosts);
	free(vnodes);
	free(select);
	free(ncpus);
	free(lines);
	return r;
}

static int32_t start_send(struct keel_mod *mod, struct entry *e, struct keel_out *out)
{
	struct state *st = mod->state;

	e->sent = ++st->server.last_start;
	keel_put_int(out, "sent", e->sent);
	return keel_link_send(mod, e->peer, "task.start", out);
}

static struct entry *entry_create(struct keel_mod *mod, struct keel_obj *job, char *peer)
{
	struct state *st = mod->state;
	const char *id = keel_id(job);
	struct entry *e = entry_find(st, id);
	char *text;
	int64_t run;

	if (e)
		entry_drop(st, e);
	e = calloc(1, sizeof(*e));
	if (!e || !(e->id = strdup(id))) {
		free(e);
		free(peer);
		return NULL;
	}
	text = dispatch_text(mod, job, "run_version", NULL);
	run = text ? strtoll(text, NULL, 10) : 0;
	free(text);
	e->run = run < 0 ? 0 : run;
	e->peer = peer;
	HASH_ADD_KEYPTR(hh, st->server.entries, e->id, strlen(e->id), e);
	if (e->hh.tbl)
		return e;
	free(e->id);
	free(peer);
	free(e);
	return NULL;
}

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

/* Reads the script of the job, or of the array it is of, and sends the start behind it. `out` is owned by it, also when
 * it fails with -ENOMEM or an error of keel_blob_get(); a script that cannot be read later refuses the start. */
static int32_t script_start(struct keel_mod *mod, struct entry *e, struct keel_out *out)
{
	struct waiting *w = calloc(1, sizeof(*w) + strlen(e->id) + 1);
	char array[512];
	int32_t r = -ENOMEM;

	if (w) {
		w->run = e->run;
		w->out = out;
		w->peer = strdup(e->peer);
		w->whose = strdup(keel_id_whole(e->id, array, sizeof(array)) ? array : e->id);
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

int32_t task_start(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	char *peer = dispatch_peer(mod, job), *executable;
	struct keel_out *out;
	struct entry *e;
	int32_t r;

	if (strlen(keel_id(job)) > NURSERY_ID_MAX) {
		free(peer);
		return -ENAMETOOLONG;
	}
	if (!peer || !host_is_known(st, peer) || !keel_link_is_up(mod, peer)) {
		if (peer && keel_link_is_up(mod, peer))
			keel_link_send(mod, peer, "task.who", keel_out(mod));
		free(peer);
		return -ENOTCONN;
	}
	e = entry_create(mod, job, peer);
	if (!e)
		return -ENOMEM;
	executable = dispatch_text(mod, job, "executable", NULL);
	out = keel_out(mod);
	r = start_message(mod, job, e, executable, out);
	if (r == 0)
		r = executable ? start_send(mod, e, out) : script_start(mod, e, out);
	free(executable);
	if (r < 0)
		entry_drop(st, e);
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

void on_got(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct host *h = host_find(mod->state, peer);

	(void)m;
	if (h)
		h->receiving = false;
	next_ask(mod, h);
}
