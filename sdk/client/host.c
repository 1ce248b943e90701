/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c - hosts: the vnodes of one host shown as one object.
 *
 * A host with one vnode is that vnode. For others: jobs are joined; an attribute that all vnodes
 * which have it agree on is kept, else "<various>"; a resource that any vnode counts in
 * resources_assigned is summed, and shown in both groups.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "any_case.h"
#include "connection.h"
#include "host_merge.h"
#include "pbs_error.h"
#include "status.h"

struct numbered {
	struct batch_status *vnode;
	const char *host;
	size_t place; /* in the reply */
};

static int by_host(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;
	int order = any_case_order(x->host, y->host, SIZE_MAX);

	return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

/* A host is listed at the place of its first vnode. */
struct group {
	size_t place;
	struct batch_status *host;
};

static int by_place(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

static size_t list_number(struct batch_status *list, struct numbered **ret)
{
	struct numbered *all;
	size_t n = 0;

	for (struct batch_status *v = list; v != NULL; v = v->next)
		n++;
	all = calloc(n == 0 ? 1 : n, sizeof(*all));
	*ret = all;
	if (all == NULL)
		return 0;
	n = 0;
	for (struct batch_status *v = list; v != NULL; v = v->next, n++) {
		all[n] = (struct numbered){ v, v->name, n };
		for (const struct attrl *a = v->attribs; a != NULL; a = a->next)
			if (strcmp(a->name, ATTR_rescavail) == 0 && a->resource != NULL &&
			    strcmp(a->resource, "host") == 0 && a->value != NULL) {
				all[n].host = a->value;
				break;
			}
	}
	return n;
}

/* Merges the `n` vnodes of one host at `run`; takes ownership of them. Returns NULL if out of memory. */
static struct batch_status *run_merge(const struct numbered *run, size_t n)
{
	struct batch_status *host;

	for (size_t i = 0; i < n; i++)
		run[i].vnode->next = i + 1 < n ? run[i + 1].vnode : NULL;
	if (n == 1)
		return run[0].vnode;
	host = host_merge(run[0].host, run[0].vnode);
	pbs_statfree(run[0].vnode);
	return host;
}

/* Takes ownership of the vnodes. Returns NULL if out of memory, or no host matches. */
static struct batch_status *hosts_of(struct batch_status *vnodes, const char *only)
{
	struct numbered *all;
	struct group *groups;
	struct batch_status *hosts = NULL;
	size_t n = list_number(vnodes, &all), found = 0, run;

	groups = calloc(n == 0 ? 1 : n, sizeof(*groups));
	if (all == NULL || groups == NULL) {
		pbs_statfree(vnodes);
		free(all);
		free(groups);
		return NULL;
	}
	qsort(all, n, sizeof(*all), by_host);
	for (size_t i = 0; i < n; i += run) {
		bool wanted = only == NULL || same_word(only, all[i].host);
		struct batch_status *host;

		for (run = 1; i + run < n && same_word(all[i].host, all[i + run].host); run++)
			;
		host = run_merge(all + i, run);
		if (host != NULL && wanted)
			groups[found++] = (struct group){ all[i].place, host };
		else
			pbs_statfree(host);
	}
	qsort(groups, found, sizeof(*groups), by_place);
	for (size_t i = found; i-- > 0; hosts = groups[i].host)
		groups[i].host->next = hosts;
	free(all);
	free(groups);
	return hosts;
}

/* An object is one allocation: an entry that is unlinked is not freed. */
static void keep_wanted(struct batch_status *hosts, const struct attrl *want)
{
	for (; hosts != NULL; hosts = hosts->next)
		for (struct attrl **at = &hosts->attribs; *at != NULL;) {
			const struct attrl *w = want, *a = *at;

			while (w != NULL && !(w->name != NULL && same_word(w->name, a->name) &&
					      (w->resource == NULL || *w->resource == '\0' ||
					       (a->resource != NULL && same_word(w->resource, a->resource)))))
				w = w->next;
			if (w != NULL)
				at = &(*at)->next;
			else
				*at = a->next;
		}
}

struct batch_status *pbs_stathost(int c, const char *id, struct attrl *want, const char *extend)
{
	char available[] = ATTR_rescavail, assigned[] = ATTR_rescassn, resource[] = "host";
	struct attrl host = { .next = want, .name = available, .resource = resource };
	struct attrl all_available = { .next = &host, .name = available };
	struct attrl all_assigned = { .next = &all_available, .name = assigned };
	struct status_query q = { .klass = "node", .extend = extend };
	const char *only = id == NULL || *id == '\0' ? NULL : id;
	struct batch_status *vnodes, *hosts;

	/* A resource is summed over both groups: if one of them is wanted, both are requested, and keep_wanted() removes what
	 * the caller did not want. */
	q.want = want != NULL ? &host : NULL;
	for (const struct attrl *w = want; w != NULL; w = w->next)
		if (w->name != NULL && (strcmp(w->name, ATTR_rescavail) == 0 || strcmp(w->name, ATTR_rescassn) == 0))
			q.want = &all_assigned;
	vnodes = status_list(c, &q);
	if (vnodes == NULL)
		return NULL;
	hosts = hosts_of(vnodes, only);
	if (hosts == NULL)
		connection_fail_code(connection_find(c), only != NULL ? PBSE_UNKNODE : PBSE_SYSTEM);
	if (want != NULL)
		keep_wanted(hosts, want);
	return hosts;
}

struct batch_status *pbs_statnode(int c, const char *id, struct attrl *want, const char *extend)
{
	return pbs_stathost(c, id, want, extend);
}
