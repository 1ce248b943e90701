/* SPDX-License-Identifier: Apache-2.0
 *
 * start.c - a start, from the service's start() to the messages on the links: task_start() -> the messages -> the script.
 * Each host of the run gets one, the sisters first, over several turns of the loop where that is much; the script goes to the
 * primary.
 *
 * The script is in the store, and a long one takes its time on the link. A link that has too much to carry is cut off.
 * So a host gets one long script at a time, the next one when it says that the last has come.
 */
#include "executor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define FEW 16 /* hosts: more are sent to in turns of their own */
#define SLICE (1u << 20) /* bytes of messages in one turn of the loop */

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

/* ---- the message ---------------------------------------------------------------------------------------- */

/* What the messages to all hosts of a run have in common. */
struct sending {
	struct keel_obj *job;
	struct entry *e;
	struct spread spread;
	char **lines; /* owned, of each host: name, address, key, ncpus, vnodes */
	char *nodes;  /* owned */
	char *executable;
	char *tolerate; /* owned; NULL unset */
	uint32_t n;	      /* hosts that get one */
	uint32_t next;	      /* the sister whose turn it is */
	struct keel_timer *timer;
	char cookie[65];
};

static void sending_fini(struct sending *s)
{
	for (uint32_t i = 0; s->lines && i < s->n; i++)
		free(s->lines[i]);
	free(s->lines);
	free(s->nodes);
	free(s->executable);
	free(s->tolerate);
	spread_fini(&s->spread);
}

void sending_drop(struct entry *e)
{
	if (!e->sending)
		return;
	keel_timer_cancel(e->sending->timer);
	sending_fini(e->sending);
	free(e->sending);
	e->sending = NULL;
}

static int32_t cookie_make(char cookie[65])
{
	static const char digits[] = "0123456789ABCDEF";
	unsigned char bytes[32];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -ENOMEM;
	for (size_t i = 0; i < 64; i++)
		cookie[i] = digits[i % 2 ? bytes[i / 2] & 15 : bytes[i / 2] >> 4];
	cookie[64] = '\0';
	return 0;
}

static char *line_make(struct state *st, const struct spread_host *h)
{
	const struct host *known = host_find(st, h->name);
	char *line;

	if (asprintf(&line, "%s %s %s %lld %s", h->name, known && known->address ? known->address : "-",
		     known && known->key ? known->key : "-", (long long)h->ncpus, h->vnodes.len ? h->vnodes.data : "-") < 0)
		return NULL;
	return line;
}

static int32_t sending_fill(struct keel_mod *mod, struct sending *s)
{
	s->executable = dispatch_text(mod, s->job, "executable", NULL);
	s->nodes = spread_nodes_text(&s->spread);
	s->lines = calloc(s->n, sizeof(*s->lines));
	if (!s->nodes || !s->lines || cookie_make(s->cookie) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n; i++)
		if (!(s->lines[i] = line_make(mod->state, s->spread.host[i])))
			return -ENOMEM;
	return 0;
}

static void hosts_put(const struct sending *s, uint32_t index, struct keel_out *out)
{
	const struct spread_host *h = s->spread.host[index];

	keel_put_int(out, "index", index);
	keel_put_int(out, "ncpus", h->chunk_ncpus > 0 ? h->chunk_ncpus : 1);
	if (h->ompthreads > 0)
		keel_put_int(out, "ompthreads", h->ompthreads);
	keel_put_strings(out, "hosts", (const char *const *)s->lines, s->n);
	keel_open_array(out, "node_hosts");
	for (uint32_t i = 0; i < s->spread.n_nodes; i++)
		if (s->spread.node[i] < s->n)
			keel_add_int(out, s->spread.node[i]);
	keel_close(out);
	keel_put_str(out, "nodes", s->nodes);
}

/* NULL without memory. The primary's still lacks its script. */
static struct keel_out *start_message(struct keel_mod *mod, const struct sending *s, uint32_t index)
{
	struct keel_out *out = run_message(mod, s->e->id, s->e->run);
	char *ncpus, *saved, *rerunable;

	if (!out)
		return NULL;
	for (size_t i = 0; i < KEEL_COUNT(start_texts); i++) {
		char *text = dispatch_text(mod, s->job, start_texts[i].attr, start_texts[i].key);

		if (text)
			keel_put_str(out, start_texts[i].name, text);
		free(text);
	}
	store_put(mod, out);
	if (s->executable)
		keel_put_str(out, "executable", s->executable);
	saved = dispatch_text(mod, s->job, "checkpointed", NULL);
	keel_put_int(out, "restart", saved != NULL);
	rerunable = dispatch_text(mod, s->job, "Rerunable", NULL);
	keel_put_int(out, "rerunable", rerunable && strcmp(rerunable, "True") == 0);
	ncpus = dispatch_text(mod, s->job, "Resource_List", "ncpus");
	keel_put_int(out, "job_ncpus", ncpus ? strtoll(ncpus, NULL, 10) : s->spread.host[0]->chunk_ncpus);
	hosts_put(s, index, out);
	keel_put_str(out, "cookie", s->cookie);
	keel_put_str(out, "tolerate", s->tolerate ? s->tolerate : "");
	free(saved);
	free(rerunable);
	free(ncpus);
	return out;
}

void resize_send(struct keel_mod *mod, const struct entry *e, struct keel_obj *job, struct spread *spread, const char *only)
{
	struct sending s = { .job = job, .spread = *spread, .n = e->n_hosts };

	s.nodes = spread_nodes_text(spread);
	s.lines = calloc(s.n + 1u, sizeof(*s.lines));
	for (uint32_t i = 0; s.lines && i < s.n; i++)
		if (!(s.lines[i] = line_make(mod->state, spread->host[i])))
			goto out;
	for (uint32_t i = 0; s.nodes && s.lines && i < s.n; i++) {
		struct keel_out *out = !only || strcmp(e->hosts[i], only) == 0 ? run_message(mod, e->id, e->run) : NULL;

		if (!out)
			continue;
		hosts_put(&s, i, out);
		keel_link_send(mod, e->hosts[i], "task.resize", out);
	}
out:
	s.spread = (struct spread){ 0 }; /* the caller's */
	sending_fini(&s);
}

static int32_t start_send(struct keel_mod *mod, const char *peer, struct keel_out *out)
{
	struct state *st = mod->state;

	keel_put_int(out, "sent", ++st->server.last_start);
	return keel_link_send(mod, peer, "task.start", out);
}

static int32_t primary_send(struct keel_mod *mod, struct entry *e, struct keel_out *out)
{
	int32_t r = start_send(mod, e->peer, out);

	e->sent = ((const struct state *)mod->state)->server.last_start;
	return r;
}

static struct entry *entry_create(struct keel_mod *mod, struct keel_obj *job, const struct spread *hosts, uint32_t n)
{
	struct state *st = mod->state;
	const char *id = keel_id(job);
	struct entry *e = entry_find(st, id);
	char *text;
	int64_t run;

	if (e)
		entry_drop(st, e);
	e = calloc(1, sizeof(*e));
	if (!e || !(e->id = strdup(id)) || entry_hosts_set(e, hosts, n) < 0) {
		if (e)
			free(e->id);
		free(e);
		return NULL;
	}
	text = dispatch_text(mod, job, "run_version", NULL);
	run = text ? strtoll(text, NULL, 10) : 0;
	free(text);
	e->run = run < 0 ? 0 : run;
	HASH_ADD_KEYPTR(hh, st->server.entries, e->id, strlen(e->id), e);
	if (e->hh.tbl)
		return e;
	entry_hosts_free(e);
	free(e->id);
	free(e);
	return NULL;
}

/* ---- its script -------------------------------------------------------------------------------------------- */

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

	others_discard(mod, e);
	entry_drop(st, e);
	if (job)
		TELL(mod, refused, job, KEEL_TASK_RETRY, why);
}

/* What was ordered while it was on its way. */
static void orders_follow(struct keel_mod *mod, struct entry *e)
{
	if (e->modified)
		modify_send(mod, e);
	if (e->killing)
		order_send(mod, e, "task.kill", e->kill_delay);
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
	if (primary_send(mod, e, out) < 0) {
		start_failed(mod, e, "the execution host is away");
		return;
	}
	if (h && len > SCRIPT_LONG)
		h->receiving = true;
	orders_follow(mod, e);
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

/* ---- a start ------------------------------------------------------------------------------------------------- */

/* The job goes on without hosts that are lost while it starts. */
static bool is_tolerant(const struct sending *s)
{
	return s->tolerate && *s->tolerate && strcmp(s->tolerate, "none") != 0;
}

/* Have its hosts introduced themselves? Those that have not are requested to. */
static bool hosts_are_there(struct keel_mod *mod, const struct sending *s)
{
	uint32_t needed = is_tolerant(s) ? 1 : s->n;
	bool there = s->n > 0;

	for (uint32_t i = 0; i < needed; i++) {
		const char *peer = s->spread.host[i]->name;
		bool up = keel_link_is_up(mod, peer);

		if (up && !host_is_known(mod->state, peer))
			keel_link_send(mod, peer, "task.who", keel_out(mod));
		there = there && up && host_is_known(mod->state, peer) && (s->n == 1 || host_is_reachable(mod->state, peer));
	}
	return there;
}

static int32_t sending_go(struct keel_mod *mod, struct sending *s);

static void sending_more(struct keel_mod *mod, void *arg)
{
	struct sending *s = arg;
	struct entry *e = s->e;

	s->timer = NULL;
	s->job = keel_find(mod, "job", e->id);
	if (s->job && sending_go(mod, s) < 0)
		start_failed(mod, e, "the server has no memory for it, or the execution host is away");
}

/* Goes on in the next turn of the loop: this one has taken the vnodes. */
static int32_t sending_later(struct keel_mod *mod, struct sending *s)
{
	s->e->starting = true;
	s->timer = keel_timer(mod, 0, sending_more, s);
	return s->timer ? 0 : -ENOMEM;
}

/* Sends to sisters, as much as one turn of the loop may take; then to the primary. A sister that cannot be reached is missed by
 * the primary, which knows what that means for the job. */
static int32_t sending_go(struct keel_mod *mod, struct sending *s)
{
	struct entry *e = s->e;
	struct keel_out *out;
	uint32_t bytes = 0;
	bool has_program = s->executable != NULL;

	for (; s->next < s->n; s->next++) {
		if (bytes > SLICE)
			return sending_later(mod, s);
		out = start_message(mod, s, s->next);
		if (!out)
			return -ENOMEM;
		bytes += keel_out_length(out);
		start_send(mod, e->hosts[s->next], out);
	}
	out = start_message(mod, s, 0);
	if (!out)
		return -ENOMEM;
	sending_drop(e); /* before the script is read: a start that fails in that call drops the entry */
	e->starting = false;
	if (!has_program)
		return script_start(mod, e, out);
	if (primary_send(mod, e, out) < 0)
		return -ENOTCONN;
	orders_follow(mod, e);
	return 0;
}

int32_t task_start(struct keel_mod *mod, struct keel_obj *job)
{
	const struct conf *cf = mod->conf;
	struct sending *s = calloc(1, sizeof(*s));
	struct entry *e = NULL;
	int32_t r = !s ? -ENOMEM : strlen(keel_id(job)) > NURSERY_ID_MAX ? -ENAMETOOLONG : dispatch_spread(mod, job, &s->spread);

	if (r == 0) {
		s->job = job;
		s->next = 1;
		s->tolerate = dispatch_text(mod, job, "tolerate_node_failures", NULL);
		s->n = cf->first_host_only && s->spread.n_hosts ? 1 : s->spread.n_hosts;
		r = hosts_are_there(mod, s) ? 0 : -ENOTCONN;
	}
	if (r == 0 && !(e = entry_create(mod, job, &s->spread, s->n)))
		r = -ENOMEM;
	if (!e) {
		if (s)
			sending_fini(s);
		free(s);
		return r;
	}
	s->e = e;
	e->sending = s;
	r = sending_fill(mod, s);
	if (r == 0)
		r = s->n > FEW ? sending_later(mod, s) : sending_go(mod, s);
	if (r < 0) {
		others_discard(mod, e);
		entry_drop(mod->state, e);
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

void on_got(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct host *h = host_find(mod->state, peer);

	(void)m;
	if (h)
		h->receiving = false;
	next_ask(mod, h);
}
