/* SPDX-License-Identifier: Apache-2.0
 *
 * node_jobs.c - the jobs that the verb of a node applies to: those on its vnodes that run or are admin-suspended.
 *
 * Found by the tenants of vnodes, so that the cost grows with the jobs on the node, not with those in the cluster.
 */
#include "admin-suspend.h"

#include <stdlib.h>
#include <string.h>

static void node_jobs_add(struct node_jobs *w, const char *job_id)
{
	char **bigger = w->failed ? NULL : reallocarray(w->id, w->n + 1, sizeof(*bigger));

	if (bigger)
		w->id = bigger;
	if (!bigger || !(w->id[w->n] = strdup(job_id)))
		w->failed = true;
	else
		w->n++;
}

static void add_running(void *arg, const char *job_id, bool suspended)
{
	if (!suspended)
		node_jobs_add(arg, job_id);
}

/* The oldest first. */
static int by_number(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	long long n = strtoll(x, NULL, 10), m = strtoll(y, NULL, 10);

	return n != m ? (n > m) - (n < m) : strcmp(x, y);
}

/* Sorts; a job with chunks on several vnodes is kept once. */
static void each_once(struct node_jobs *w)
{
	uint32_t i, n = 0;

	if (w->n)
		qsort(w->id, w->n, sizeof(*w->id), by_number);
	for (i = 0; i < w->n; i++)
		if (n && strcmp(w->id[n - 1], w->id[i]) == 0)
			free(w->id[i]);
		else
			w->id[n++] = w->id[i];
	w->n = n;
}

bool node_jobs_find(struct keel_mod *mod, const char *name, bool running, struct node_jobs *ret)
{
	struct keel_cursor *walk = keel_cursor(mod, "node");
	const struct listed *l;
	struct keel_obj *node;
	bool found = false;

	*ret = (struct node_jobs){ .failed = !walk };
	while (walk && (node = keel_next(walk))) {
		if (!is_of_node(node, name))
			continue;
		found = true;
		if (running)
			keel_node_tenants(node, add_running, ret);
		for (l = listing_of(mod, node); l; l = l->next)
			node_jobs_add(ret, l->id);
	}
	if (walk)
		keel_cursor_close(walk);
	each_once(ret);
	return found || !walk;
}

void node_jobs_free(struct node_jobs *w)
{
	uint32_t i;

	for (i = 0; i < w->n; i++)
		free(w->id[i]);
	free(w->id);
}

/* A node operand is a vnode or a host: all its vnodes. */
bool is_of_node(struct keel_obj *node, const char *name)
{
	const char *id = keel_id(node), *host;

	if (strcmp(id, name) == 0)
		return true;
	host = keel_node_host_of(id);
	return host && strcmp(host, name) == 0;
}
