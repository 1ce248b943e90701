/* SPDX-License-Identifier: Apache-2.0
 *
 * going.c - server half: runs that hosts were ordered to discard, until each has said that nothing of it is left ("task.gone").
 *
 * The job does not start again before that: the next run could meet the last one at its files. A host that is down, or says
 * nothing for GOING_MS, is not waited for; it ends what it has when it is back.
 */
#include "executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOING_MS 60000

struct going {
	char *id, **peers; /* owned */
	int64_t run;
	uint32_t n;
	struct keel_timer *timer;
	struct going *prev, *next;
};

static void going_free(struct state *st, struct going *g)
{
	DL_DELETE(st->server.going, g);
	keel_timer_cancel(g->timer);
	for (uint32_t i = 0; i < g->n; i++)
		free(g->peers[i]);
	free(g->peers);
	free(g->id);
	free(g);
}

void going_fini(struct state *st)
{
	while (st->server.going)
		going_free(st, st->server.going);
}

static bool id_is_going(struct state *st, const char *id)
{
	const struct going *g;

	DL_FOREACH(st->server.going, g)
		if (strcmp(g->id, id) == 0)
			return true;
	return false;
}

const char *going_peer(struct state *st, const char *id)
{
	const struct going *g;

	DL_FOREACH(st->server.going, g)
		if (strcmp(g->id, id) == 0)
			return g->peers[0];
	return NULL;
}

static void going_over(struct keel_mod *mod, struct going *g, const char *last)
{
	struct state *st = mod->state;
	char id[512];

	snprintf(id, sizeof(id), "%s", g->id);
	if (*last)
		keel_log(mod, KEEL_LOG_DEBUG3, "Node", last, "Discard done for job %s", id);
	going_free(st, g);
	if (id_is_going(st, id))
		return;
	TELL(mod, discarded, id);
	starts_go_on(st, id);
}

static void going_due(struct keel_mod *mod, void *arg)
{
	struct going *g = arg;

	g->timer = NULL;
	keel_log(mod, KEEL_LOG_ERROR, "Job", g->id, "host %s has not said within %d s that nothing of run %lld is left: it is not waited for",
		 g->peers[0], GOING_MS / 1000, (long long)g->run);
	going_over(mod, g, "");
}

static struct going *going_create(const char *id, int64_t run, uint32_t room)
{
	struct going *g = calloc(1, sizeof(*g));

	if (g && (g->id = strdup(id)) && (g->peers = calloc(room ? room : 1, sizeof(*g->peers)))) {
		g->run = run;
		return g;
	}
	if (g)
		free(g->id);
	free(g);
	return NULL;
}

void going_begin(struct keel_mod *mod, const struct entry *e)
{
	struct state *st = mod->state;
	struct going *g = going_create(e->id, e->run, e->n_hosts);

	if (!g)
		return; /* then it is not waited for */
	for (uint32_t i = 0; i < e->n_hosts; i++)
		if (host_is_known(st, e->hosts[i]) && keel_link_is_up(mod, e->hosts[i]) && (g->peers[g->n] = strdup(e->hosts[i])))
			g->n++;
	DL_APPEND(st->server.going, g);
	if (g->n)
		g->timer = keel_timer(mod, GOING_MS, going_due, g);
	else
		going_over(mod, g, "");
}

static bool peer_drop(struct going *g, const char *peer)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (strcmp(g->peers[i], peer) == 0) {
			free(g->peers[i]);
			g->peers[i] = g->peers[--g->n];
			return true;
		}
	return false;
}

void going_down(struct keel_mod *mod, const char *peer)
{
	struct state *st = mod->state;
	struct going *g = st->server.going;

	while (g) {
		bool over = peer_drop(g, peer) && g->n == 0;

		if (over)
			going_over(mod, g, ""); /* listeners may begin others: start over */
		g = over ? st->server.going : g->next;
	}
}

void on_discarded(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	const char *id = keel_msg_str(m, "id");
	int64_t run = keel_msg_int(m, "run", -1);
	struct going *g;

	DL_FOREACH(st->server.going, g)
		if (id && g->run == run && strcmp(g->id, id) == 0 && peer_drop(g, peer)) {
			if (g->n == 0)
				going_over(mod, g, peer);
			return;
		}
}

void going_again(struct keel_mod *mod, const char *peer)
{
	struct state *st = mod->state;
	const struct going *g;

	DL_FOREACH(st->server.going, g)
		for (uint32_t i = 0; i < g->n; i++)
			if (strcmp(g->peers[i], peer) == 0)
				keel_link_send(mod, peer, "task.discard", run_message(mod, g->id, g->run));
}

/* ---- host half ----------------------------------------------------------------------------------------- */

void gone_tell(struct keel_mod *mod, const char *id, int64_t run)
{
	if (keel_link_is_up(mod, "server")) /* else the server orders it again when the link is back */
		keel_link_send(mod, "server", "task.gone", run_message(mod, id, run));
}
