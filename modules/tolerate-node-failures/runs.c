/* SPDX-License-Identifier: Apache-2.0
 *
 * runs.c - on a primary: hosts of a job that fail, and whether the job goes on without them.
 *
 * task_lost -> a record, "tolerance.lost" to the server until it has noted that, and the answer that the value of the run's
 * start gives. The records are stored with the job on the server: it sends them with the other facts of a run
 * ("tolerance.ask", "tolerance.facts"), so that a daemon that restarts has them again.
 */
#include "runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

KEEL_USE_OPT(part);

/* ---- runs ------------------------------------------------------------------------------------------------ */

static void facts_free(struct run *r)
{
	for (uint32_t i = 0; i < r->n_words; i++)
		free(r->words[i]);
	free(r->words);
	free(r->exec_vnode);
	free(r->schedselect);
	free(r->keep);
	free(r->cray);
	r->words = NULL;
	r->n_words = 0;
	r->exec_vnode = r->schedselect = r->keep = r->cray = NULL;
}

static void run_free(struct state *st, struct run *r)
{
	HASH_DEL(st->runs, r);
	for (struct lost *l = r->lost, *next; l; l = next) {
		next = l->next;
		free(l->host);
		free(l->vnodes);
		free(l);
	}
	facts_free(r);
	free(r->id);
	free(r);
}

static struct run *run_find(const struct state *st, const char *id)
{
	struct run *r;

	HASH_FIND_STR(st->runs, id, r);
	return r;
}

static struct run *run_add(struct state *st, const char *id, int64_t number)
{
	struct run *r = calloc(1, sizeof(*r));

	if (!r || !(r->id = strdup(id))) {
		free(r);
		return NULL;
	}
	r->run = number;
	HASH_ADD_KEYPTR(hh, st->runs, r->id, strlen(r->id), r);
	if (!r->hh.tbl) { /* no memory */
		free(r->id);
		free(r);
		return NULL;
	}
	return r;
}

struct run *run_of(struct keel_mod *mod, const char *id, const struct keel_part **ret_part)
{
	const struct keel_part *part = keel_has(part) ? keel_part_find(id) : NULL;
	struct state *st = mod->state;
	struct run *r;

	if (ret_part)
		*ret_part = part;
	if (!part || part->index != 0)
		return NULL;
	r = run_find(st, id);
	if (r && r->run != part->run && !r->hold) {
		run_free(st, r);
		r = NULL;
	}
	return r ? r : run_add(st, id, part->run);
}

struct lost *run_lost(const struct run *r, const char *host)
{
	struct lost *l = r->lost;

	while (l && strcmp(l->host, host) != 0)
		l = l->next;
	return l;
}

/* Its share of the job now: a job that is pruned has none there. */
static char *vnodes_of(const struct run *r, const char *host)
{
	const struct keel_part *part = keel_part_find(r->id);

	for (uint32_t i = 0; part && i < part->n_hosts; i++)
		if (strcmp(part->hosts[i].name, host) == 0 && part->hosts[i].vnodes)
			return strdup(part->hosts[i].vnodes);
	return NULL;
}

static struct lost *lost_get(struct run *r, const char *host)
{
	struct lost *l = run_lost(r, host), **end = &r->lost;

	if (l)
		return l;
	l = calloc(1, sizeof(*l));
	if (!l || !(l->host = strdup(host))) {
		free(l);
		return NULL;
	}
	l->vnodes = vnodes_of(r, host);
	while (*end)
		end = &(*end)->next;
	*end = l;
	return l;
}

struct keel_out *run_message(struct keel_mod *mod, const struct run *r)
{
	struct keel_out *out = keel_out(mod);

	keel_put_str(out, "id", r->id);
	keel_put_int(out, "run", r->run);
	return out;
}

/* ---- the server's facts ------------------------------------------------------------------------------------ */

void run_ask(struct keel_mod *mod, struct run *r)
{
	if (r->known)
		return;
	r->asked = true;
	keel_link_send(mod, "server", "tolerance.ask", run_message(mod, r)); /* again when there is a link */
}

static char *text_copy(const struct keel_msg *m, const char *key)
{
	const char *text = keel_msg_str(m, key);

	return text && *text ? strdup(text) : NULL;
}

static void words_take(struct run *r, const struct keel_msg *m)
{
	uint32_t n = 0;
	const char *const *words = keel_msg_strings(m, "words", &n);

	r->words = words && n && n != UINT32_MAX ? calloc(n, sizeof(*r->words)) : NULL;
	for (uint32_t i = 0; r->words && i < n; i++)
		if ((r->words[r->n_words] = strdup(words[i])))
			r->n_words++;
}

/* "host stage code text", as the server stored it. */
static void lost_take(struct run *r, const char *line)
{
	char host[256], stage[16];
	int code, end = 0;
	struct lost *l;

	if (sscanf(line, "%255s %15s %d %n", host, stage, &code, &end) != 3 || !(l = lost_get(r, host)) || l->code)
		return;
	l->code = code;
	l->silent = false;
	l->reported = true;
	memcpy(l->stage, stage, sizeof(l->stage));
	snprintf(l->text, sizeof(l->text), "%s", line + end);
}

static void on_facts(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	const char *id = keel_msg_str(m, "id"), *const *lines;
	struct run *r = id ? run_find(mod->state, id) : NULL;
	uint32_t n = 0;

	(void)peer;
	if (!r || r->run != keel_msg_int(m, "run", -1) || r->known)
		return;
	facts_free(r);
	r->exec_vnode = text_copy(m, "exec_vnode");
	r->schedselect = text_copy(m, "schedselect");
	r->keep = text_copy(m, "keep");
	r->cray = text_copy(m, "cray");
	words_take(r, m);
	lines = keel_msg_strings(m, "lost", &n);
	for (uint32_t i = 0; lines && n != UINT32_MAX && i < n; i++)
		lost_take(r, lines[i]);
	r->known = true;
	if (r->hold)
		keel_release(r->hold);
}

static keel_verdict facts_here(struct keel_call *c, void *arg)
{
	struct run *r = arg;

	(void)c;
	r->hold = NULL;
	return KEEL_NEXT;
}

static void facts_given_up(struct keel_call *c, void *arg, int32_t reason)
{
	struct run *r = arg;

	(void)c, (void)reason;
	r->hold = NULL;
}

/* Hooks of sites, and the spares, need the facts when the program is started: they are sent for while sisters join. */
keel_verdict on_task_prologue(struct keel_call *c, const struct keel_ev_task_prologue *ev)
{
	const struct keel_part *part;
	struct run *r = ev->index == 0 ? run_of(c->mod, ev->id, &part) : NULL;

	if (!r || r->hold || part->n_hosts < 2 || !tolerates(part->tolerate, KEEL_STAGE_JOIN))
		return KEEL_NEXT;
	run_ask(c->mod, r);
	if (r->known)
		return KEEL_NEXT;
	return keel_hold(c, &(struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts), .arg = r, .resume = facts_here,
						      .cancel = facts_given_up, .timeout_ms = FACTS_WITHIN_MS,
						      .why = "what the job keeps of its hosts is not known yet" }, &r->hold);
}

/* ---- hosts that fail ------------------------------------------------------------------------------------------ */

bool tolerates(const char *value, const char *stage)
{
	enum tolerance tolerance = TOLERATE_NONE;

	if (!value || !tolerance_of(value, &tolerance))
		return false;
	return strcmp(stage, KEEL_STAGE_RUN) == 0 ? tolerance == TOLERATE_ALL : tolerance != TOLERATE_NONE;
}

static void lost_report(struct keel_mod *mod, const struct run *r, const struct lost *l)
{
	struct keel_out *out = run_message(mod, r);

	keel_put_str(out, "host", l->host);
	keel_put_str(out, "stage", l->stage);
	keel_put_int(out, "code", l->code);
	keel_put_str(out, "text", l->text);
	keel_link_send(mod, "server", "tolerance.lost", out); /* again when there is a link */
}

static void lost_note(struct keel_mod *mod, struct run *r, const struct keel_ev_task_lost *ev)
{
	struct lost *l = lost_get(r, ev->host);

	if (!l || (l->code && ev->code == 0))
		return;
	l->silent = ev->code == 0;
	l->code = (int32_t)ev->code;
	snprintf(l->stage, sizeof(l->stage), "%s", ev->stage);
	snprintf(l->text, sizeof(l->text), "%s", ev->text && *ev->text ? ev->text : "it does not answer");
	l->reported = false;
	if (!l->silent)
		lost_report(mod, r, l);
}

static bool has_host(const struct keel_part *part, const char *host)
{
	for (uint32_t i = 0; i < part->n_hosts; i++)
		if (strcmp(part->hosts[i].name, host) == 0)
			return true;
	return false;
}

keel_verdict on_task_lost(struct keel_call *c, const struct keel_ev_task_lost *ev)
{
	const struct keel_part *part;
	struct run *r = run_of(c->mod, ev->id, &part);

	if (!r)
		return KEEL_NEXT;
	if (!has_host(part, ev->host)) /* the job has given it back */
		return keel_answer(c, "");
	lost_note(c->mod, r, ev);
	return tolerates(part->tolerate, ev->stage) ? keel_answer(c, "") : KEEL_NEXT;
}

static void on_noted(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	const char *id = keel_msg_str(m, "id"), *host = keel_msg_str(m, "host");
	struct run *r = id ? run_find(mod->state, id) : NULL;
	struct lost *l = r && host && r->run == keel_msg_int(m, "run", -1) ? run_lost(r, host) : NULL;

	(void)peer;
	if (l)
		l->reported = true;
}

keel_verdict on_host_peer_up(struct keel_call *c, const struct keel_ev_peer_up *ev)
{
	struct state *st = keel_state(c);
	struct run *r, *next;

	if (!(ev->daemon & KEEL_SERVER))
		return KEEL_NEXT;
	HASH_ITER(hh, st->runs, r, next) {
		if (r->asked)
			run_ask(c->mod, r);
		for (const struct lost *l = r->lost; l; l = l->next)
			if (!l->silent && !l->reported)
				lost_report(c->mod, r, l);
	}
	return KEEL_NEXT;
}

/* ---- life ------------------------------------------------------------------------------------------------------- */

static void on_gone(struct keel_mod *mod, const char *id, int64_t number, bool discarded)
{
	struct state *st = mod->state;
	struct run *r = run_find(st, id);

	(void)discarded;
	if (r && r->run == number && !r->hold)
		run_free(st, r);
}

static const struct keel_part_events events = { .size = sizeof(struct keel_part_events), .gone = on_gone };

int32_t runs_start(struct keel_mod *mod, struct keel_err *err)
{
	int32_t r = 0;

	if (keel_daemon(mod) & KEEL_MOM && keel_has(part))
		r = keel_part_listen(mod, &events);
	if (r == 0)
		r = keel_link_on(mod, "tolerance.facts", KEEL_SERVER, on_facts);
	if (r == 0)
		r = keel_link_on(mod, "tolerance.noted", KEEL_SERVER, on_noted);
	return r < 0 ? keel_error(err, r, "messages about hosts that fail cannot be received") : 0;
}

void runs_stop(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct run *r, *next;

	if (keel_daemon(mod) & KEEL_MOM && keel_has(part))
		keel_part_listen(mod, NULL);
	HASH_ITER(hh, st->runs, r, next)
		if (!r->hold)
			run_free(st, r);
}
