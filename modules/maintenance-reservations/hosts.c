/* SPDX-License-Identifier: Apache-2.0
 *
 * hosts.c - the hosts of a window: their names from a select, their vnodes from the server, and both as texts.
 *
 * Linear but for sorting: names are sorted once, each vnode is looked up in them once.
 */
#include "maintenance.h"

#include <stdlib.h>
#include <string.h>

static int32_t no_memory(struct keel_err *err)
{
	return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
}

void hosts_fini(struct hosts *h)
{
	for (uint32_t i = 0; h->host && i < h->n; i++)
		free(h->host[i].name);
	free(h->host);
	free(h->part);
	*h = (struct hosts){ 0 };
}

/* ---- names --------------------------------------------------------------------------------------------- */

/* The host of a chunk that asks for a host and its cpus, once; NULL: it asks for something else. */
static const char *chunk_host(const struct keel_chunk *c)
{
	const char *host = NULL;

	for (uint32_t i = 0; i < c->n; i++) {
		if (strcmp(c->v[i].res->name, "host") == 0)
			host = c->v[i].text;
		else if (strcmp(c->v[i].res->name, "ncpus") != 0)
			return NULL;
	}
	return c->count == 1 && host && *host ? host : NULL;
}

static int32_t hosts_take(struct hosts *h, const struct keel_select *s, struct keel_err *err)
{
	h->host = calloc(s->n + 1u, sizeof(*h->host));
	if (!h->host)
		return no_memory(err);
	for (uint32_t i = 0; i < s->n; i++) {
		const char *host = chunk_host(&s->chunk[i]);

		if (!host)
			return keel_error(err, PBSE_IVALREQ, "%s", keel_pbse_text(PBSE_IVALREQ));
		h->host[i].name = strdup(host);
		if (!h->host[i].name)
			return no_memory(err);
		h->n = i + 1;
	}
	return 0;
}

int32_t hosts_of_select(struct keel_mod *mod, const char *select, struct hosts *h, struct keel_err *err)
{
	struct keel_select *parsed;
	int32_t code;

	(void)mod;
	*h = (struct hosts){ 0 };
	code = keel_resource_select_parse(select, &parsed, err);
	if (code)
		return code;
	code = hosts_take(h, parsed, err);
	keel_resource_select_free(parsed);
	if (code)
		hosts_fini(h);
	return code;
}

/* ---- vnodes ----------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct host *const *one = a, *const *other = b;

	return strcmp((*one)->name, (*other)->name);
}

static struct host **sorted(const struct hosts *h)
{
	struct host **list = calloc(h->n + 1u, sizeof(struct host *));

	for (uint32_t i = 0; list && i < h->n; i++)
		list[i] = &h->host[i];
	if (list)
		qsort(list, h->n, sizeof(struct host *), by_name);
	return list;
}

static struct host *host_of(const struct hosts *h, struct host *const *names, struct keel_obj *node)
{
	const struct keel_res_value *host = keel_resource_list_get(keel_node_available(node), "host");
	struct host key = { .name = host ? (char *)(uintptr_t)host->text : NULL }, *wanted = &key, **found;

	if (!key.name)
		return NULL;
	found = bsearch(&wanted, names, h->n, sizeof(struct host *), by_name);
	return found ? *found : NULL;
}

static int32_t part_add(struct hosts *h, struct host *host, struct keel_obj *node)
{
	const double ncpus = keel_resource_list_number(keel_node_available(node), "ncpus", 0);
	struct part *more;

	if (!(ncpus >= 1))
		return 0;
	if ((h->n_parts & (h->n_parts + 1)) == 0) { /* 0, 1, 3, 7 ...: full */
		more = realloc(h->part, (2 * (size_t)h->n_parts + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		h->part = more;
	}
	h->part[h->n_parts++] = (struct part){ (uint32_t)(host - h->host), keel_id(node), ncpus };
	host->ncpus += ncpus;
	return 0;
}

/* Those of one host stay in the order of the server: a sort by counting. */
static int32_t parts_sort(struct hosts *h)
{
	uint32_t *at = calloc(h->n + 1u, sizeof(*at));
	struct part *to = calloc(h->n_parts + 1u, sizeof(*to));

	if (!at || !to) {
		free(at);
		free(to);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < h->n_parts; i++)
		at[h->part[i].host + 1]++;
	for (uint32_t i = 1; i <= h->n; i++)
		at[i] += at[i - 1];
	for (uint32_t i = 0; i < h->n_parts; i++)
		to[at[h->part[i].host]++] = h->part[i];
	free(at);
	free(h->part);
	h->part = to;
	return 0;
}

int32_t hosts_resolve(struct keel_mod *mod, struct hosts *h)
{
	struct host **names = sorted(h);
	struct keel_cursor *walk = names ? keel_cursor(mod, "node") : NULL;
	struct keel_obj *node;
	int32_t ret = walk ? 0 : -ENOMEM;

	while (walk && !ret && (node = keel_next(walk))) {
		struct host *host = host_of(h, names, node);

		if (host)
			ret = part_add(h, host, node);
	}
	if (walk)
		keel_cursor_close(walk);
	free(names);
	return ret ? ret : parts_sort(h);
}

const char *hosts_missing(const struct hosts *h)
{
	for (uint32_t i = 0; i < h->n; i++)
		if (!(h->host[i].ncpus >= 1))
			return h->host[i].name;
	return NULL;
}

/* ---- texts -------------------------------------------------------------------------------------------------- */

static char *text_take(struct keel_text *t)
{
	char *ret = t->failed ? NULL : strdup(t->data);

	keel_text_fini(t);
	return ret;
}

/* As text: printf() of as many doubles takes longer than all the rest. */
static void put_cpus(struct keel_text *t, double ncpus)
{
	char digits[24], *at = digits + sizeof(digits);
	uint64_t n = ncpus < 1e15 ? (uint64_t)ncpus : UINT64_C(1000000000000000);

	do
		*--at = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	keel_text_add(t, at, (size_t)(digits + sizeof(digits) - at));
}

static void put_word(struct keel_text *t, const char *before, const char *name)
{
	if (t->len)
		keel_text_add(t, "+", 1);
	keel_text_str(t, before);
	keel_text_str(t, name);
	keel_text_str(t, ":ncpus=");
}

char *hosts_select(const struct hosts *h, uint32_t first, uint32_t n)
{
	struct keel_text t;

	keel_text_init(&t);
	for (uint32_t i = first; i < h->n && i - first < n; i++) {
		put_word(&t, "host=", h->host[i].name);
		put_cpus(&t, h->host[i].ncpus);
	}
	return text_take(&t);
}

char *hosts_nodes(const struct hosts *h, uint32_t first, uint32_t n)
{
	struct keel_text t;

	keel_text_init(&t);
	for (uint32_t i = 0; i < h->n_parts; i++) {
		if (h->part[i].host < first || h->part[i].host - first >= n)
			continue;
		put_word(&t, "(", h->part[i].vnode);
		put_cpus(&t, h->part[i].ncpus);
		keel_text_add(&t, ")", 1);
	}
	return text_take(&t);
}
