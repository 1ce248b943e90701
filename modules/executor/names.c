/* SPDX-License-Identifier: Apache-2.0
 *
 * names.c - hosts that users name in output paths: is it this one? A name server may be silent, so a chore queries it
 * (keelson-resolve) before the start that needs it; a name without answer is another host's. Answers are kept.
 */
#include "executor.h"

#include <stdlib.h>
#include <string.h>

#include "chore.h"

#define ASK_MS 5000
#define FRESH_MS 60000
#define NAMES_KEPT 1000

struct name {
	char *host;
	bool here;
	int64_t until_ms;
	UT_hash_handle hh;
};

struct query {
	struct launch *l;
	void (*then)(struct keel_mod *, void *arg);
	void *arg;
	char host[256];
};

static void name_drop(struct state *st, struct name *n)
{
	HASH_DEL(st->mom.names, n);
	free(n->host);
	free(n);
}

void names_fini(struct state *st)
{
	struct name *n, *next;

	HASH_ITER(hh, st->mom.names, n, next)
		name_drop(st, n);
}

static struct name *name_find(struct keel_mod *mod, const char *host)
{
	struct state *st = mod->state;
	struct name *n;

	HASH_FIND_STR(st->mom.names, host, n);
	if (!n || n->until_ms >= keel_now_ms(mod))
		return n;
	name_drop(st, n);
	return NULL;
}

static bool name_keep(struct keel_mod *mod, const char *host, bool here)
{
	struct state *st = mod->state;
	struct name *n = name_find(mod, host);

	if (n)
		return true;
	if (HASH_COUNT(st->mom.names) >= NAMES_KEPT)
		names_fini(st);
	n = calloc(1, sizeof(*n));
	if (!n || !(n->host = strdup(host))) {
		free(n);
		return false;
	}
	n->here = here;
	n->until_ms = keel_now_ms(mod) + FRESH_MS;
	HASH_ADD_KEYPTR(hh, st->mom.names, n->host, strlen(n->host), n);
	if (n->hh.tbl)
		return true;
	free(n->host);
	free(n);
	return false;
}

static void answered(struct keel_mod *mod, void *arg, int status, const char *why)
{
	const struct state *st = mod->state;
	struct query a = *(struct query *)arg;

	free(arg);
	if (status < 0 && !st->stopping)
		keel_log(mod, KEEL_LOG_JOB, "Job", a.l->id,
			 "whether %s is this host was not learned: %s; it counts as another one", a.host, why);
	if (st->stopping || !name_keep(mod, a.host, status == 0))
		a.then(mod, a.arg);
	else
		names_settle(mod, a.l, a.then, a.arg);
}

static bool ask(struct keel_mod *mod, struct launch *l, const char *host, void (*then)(struct keel_mod *, void *),
		void *arg)
{
	struct query *a = malloc(sizeof(*a));
	char *argv[] = { launch_program(mod, "keelson-resolve"), (char *)host, NULL };
	bool begun = false;

	if (a && argv[0]) {
		a->l = l;
		a->then = then;
		a->arg = arg;
		strcpy(a->host, host);
		begun = chore_begin(mod, l->user ? l->user : "", argv, -1, -1, ASK_MS, answered, a) == 0;
	}
	if (!begun)
		free(a);
	free(argv[0]);
	return begun;
}

void names_settle(struct keel_mod *mod, struct launch *l, void (*then)(struct keel_mod *, void *), void *arg)
{
	const char *texts[] = { l->output, l->error };
	bool *here[] = { &l->output_here, &l->error_here };
	char host[256];

	for (int i = 0; i < 2; i++) {
		struct name *n;

		if (!output_host(l, texts[i], host))
			continue;
		n = name_find(mod, host);
		if (!n && ask(mod, l, host, then, arg))
			return;
		*here[i] = n && n->here;
	}
	then(mod, arg);
}
