/* SPDX-License-Identifier: Apache-2.0
 *
 * spread.c - the hosts of a run, the share of exec_vnode that each has, and the node numbers: each chunk gives as many as it
 * has mpiprocs (else one, or none when it has no cpu), in the order of exec_host.
 *
 * The host of a chunk's first vnode is the one that exec_host names; that of others, and of all where there is no exec_host, is what
 * host_of() says, else that of the first, else its own name. mpiprocs is no amount of a vnode, so it is looked for in exec_vnode first and then in the select ("2:ncpus=4:mpiprocs=2+1:ncpus=1"), whose
 * counts are unfolded chunk by chunk. Everything is linear in the number of vnodes.
 */
#include "spread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "name=12" among the colon-separated words of [text, end); -1 absent. */
static int64_t amount_find(const char *text, const char *end, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = text; p < end;) {
		const char *stop = memchr(p, ':', (size_t)(end - p));

		stop = stop ? stop : end;
		if ((size_t)(stop - p) > len && strncmp(p, name, len) == 0 && p[len] == '=')
			return strtoll(p + len + 1, NULL, 10);
		p = stop + 1;
	}
	return -1;
}

/* ---- chunk by chunk ---------------------------------------------------------------------------------- */

struct words {
	const char *at, *end; /* NULL: there are none */
};

/* Where three texts are that list the same chunks in the same order. */
struct walk {
	char *hosts, *vnodes;	    /* the rest; NULL at the end */
	const char *select;	    /* the rest */
	struct words chunk;	    /* of the select, */
	int64_t chunk_left;	    /* which stands for so many more */
	char *host, *part, *part_end; /* now: the host's name, the vnodes without parentheses */
	uint32_t number;
};

static bool select_next(struct walk *w)
{
	char *after;

	if (w->chunk_left > 0) {
		w->chunk_left--;
		return true;
	}
	w->chunk = (struct words){ 0 };
	if (!w->select || !*w->select)
		return false;
	w->chunk.at = w->select;
	w->chunk.end = w->select + strcspn(w->select, "+");
	w->select = *w->chunk.end ? w->chunk.end + 1 : w->chunk.end;
	w->chunk_left = strtoll(w->chunk.at, &after, 10);
	if (after != w->chunk.at && (*after == ':' || after == w->chunk.end))
		w->chunk.at = *after == ':' ? after + 1 : after;
	else
		w->chunk_left = 1;
	return w->chunk_left-- > 0;
}

/* The next "(...)" of exec_vnode, or one vnode without. */
static void part_next(struct walk *w)
{
	char *at = w->vnodes;
	bool group;

	w->part = NULL;
	if (!at || !*at)
		return;
	group = *at == '(';
	w->part = at + group;
	w->part_end = w->part + strcspn(w->part, group ? ")" : "+");
	at = w->part_end + (*w->part_end == ')');
	w->vnodes = at + (*at == '+');
}

static bool walk_next(struct walk *w)
{
	size_t len;

	w->host = w->hosts && *w->hosts ? w->hosts : NULL;
	if (w->host) {
		len = strcspn(w->host, "+");
		w->hosts = w->host + len + (w->host[len] == '+');
		w->host[strcspn(w->host, "/+")] = '\0';
	}
	part_next(w);
	if (!select_next(w))
		w->chunk = (struct words){ 0 };
	w->number++;
	return w->host || w->part;
}

static int64_t walk_amount(const struct walk *w, const char *name)
{
	int64_t n = w->part ? amount_find(w->part, w->part_end, name) : -1;

	return n < 0 && w->chunk.at ? amount_find(w->chunk.at, w->chunk.end, name) : n;
}

/* ---- hosts --------------------------------------------------------------------------------------------- */

/* Doubles the array that has room for a power of two when it is full. */
static bool grow(void **at, size_t n, size_t size)
{
	void *bigger;

	if (n & (n - 1))
		return true;
	bigger = reallocarray(*at, n ? 2 * n : 1, size);
	if (!bigger)
		return false;
	*at = bigger;
	return true;
}

static void host_free(struct spread_host *h)
{
	keel_text_fini(&h->vnodes);
	free(h->name);
	free(h);
}

static struct spread_host *host_get(struct spread *s, const char *name)
{
	struct spread_host *h = s->n_hosts ? s->host[s->n_hosts - 1] : NULL;

	if (h && strcmp(h->name, name) == 0)
		return h; /* neighbours are of one host mostly */
	HASH_FIND_STR(s->by_name, name, h);
	if (h)
		return h;
	h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	keel_text_init(&h->vnodes);
	h->name = strdup(name);
	if (!h->name || !grow((void **)&s->host, s->n_hosts, sizeof(struct spread_host *))) {
		host_free(h);
		return NULL;
	}
	HASH_ADD_KEYPTR(hh, s->by_name, h->name, strlen(h->name), h);
	if (!h->hh.tbl) {
		host_free(h);
		return NULL;
	}
	h->index = s->n_hosts;
	s->host[s->n_hosts++] = h;
	return h;
}

/* The host of the vnode at `at`, up to `end`. */
static struct spread_host *host_of_vnode(struct spread *s, const struct spread_of *of, const struct walk *w, char *at,
					 const char *end)
{
	char *name_end, was;
	const char *host;
	struct spread_host *h;

	if (w->host && at == w->part)
		return host_get(s, w->host);
	name_end = memchr(at, ':', (size_t)(end - at));
	name_end = name_end ? name_end : (char *)end;
	was = *name_end;
	*name_end = '\0';
	host = of->host_of ? of->host_of(of->me, at) : NULL;
	h = host_get(s, host ? host : w->host ? w->host : at);
	*name_end = was;
	return h;
}

static void vnode_add(struct spread_host *h, uint32_t chunk, const char *at, const char *end)
{
	int64_t ncpus = amount_find(at, end, "ncpus");
	const char *before = h->last_chunk == chunk ? "+" : h->vnodes.len ? ")+(" : "(";

	keel_text_add(&h->vnodes, before, strlen(before));
	keel_text_add(&h->vnodes, at, (size_t)(end - at));
	if (ncpus > 0)
		h->ncpus += ncpus;
	if (ncpus > 0 && (h->first_chunk == 0 || h->first_chunk == chunk))
		h->chunk_ncpus += ncpus;
	if (h->first_chunk == 0)
		h->first_chunk = chunk;
	h->last_chunk = chunk;
}

/* The vnodes of this chunk, with their hosts; *ret is the host of the first. */
static int32_t chunk_add(struct spread *s, const struct spread_of *of, const struct walk *w, struct spread_host **ret)
{
	int64_t threads;

	*ret = NULL;
	for (char *at = w->part; at && at < w->part_end;) {
		char *end = memchr(at, '+', (size_t)(w->part_end - at));
		struct spread_host *h;

		end = end ? end : w->part_end;
		h = host_of_vnode(s, of, w, at, end);
		if (!h)
			return -ENOMEM;
		if (!*ret)
			*ret = h;
		if (!of->no_nodes)
			vnode_add(h, w->number, at, end);
		at = end + (end < w->part_end);
	}
	if (!*ret && w->host && !(*ret = host_get(s, w->host)))
		return -ENOMEM;
	threads = *ret && (*ret)->ompthreads == 0 ? walk_amount(w, "ompthreads") : 0;
	if (threads > 0)
		(*ret)->ompthreads = threads;
	return 0;
}

/* ---- node numbers ---------------------------------------------------------------------------------------- */

static int32_t nodes_add(struct spread *s, const struct walk *w, const struct spread_host *h)
{
	int64_t n = walk_amount(w, "mpiprocs");

	if (n < 0)
		n = w->chunk.at && amount_find(w->chunk.at, w->chunk.end, "ncpus") == 0 ? 0 : 1;
	if (n > NODES_MAX || s->n_nodes + n > NODES_MAX)
		return -E2BIG;
	while (n-- > 0) {
		if (!grow((void **)&s->node, s->n_nodes, sizeof(*s->node)))
			return -ENOMEM;
		s->node[s->n_nodes++] = h->index;
	}
	return 0;
}

int32_t spread_make(const struct spread_of *of, struct spread *ret)
{
	char *hosts = of->exec_host ? strdup(of->exec_host) : NULL;
	char *vnodes = of->exec_vnode ? strdup(of->exec_vnode) : NULL;
	struct walk w = { .hosts = hosts, .vnodes = vnodes, .select = of->select };
	int32_t r = (of->exec_host && !hosts) || (of->exec_vnode && !vnodes) ? -ENOMEM : 0;

	*ret = (struct spread){ 0 };
	while (r == 0 && walk_next(&w)) {
		struct spread_host *h;

		r = chunk_add(ret, of, &w, &h);
		if (r == 0 && h && !of->no_nodes)
			r = nodes_add(ret, &w, h);
	}
	for (uint32_t i = 0; i < ret->n_hosts; i++) {
		if (ret->host[i]->vnodes.len)
			keel_text_add(&ret->host[i]->vnodes, ")", 1);
		r = r == 0 && ret->host[i]->vnodes.failed ? -ENOMEM : r;
	}
	free(hosts);
	free(vnodes);
	if (r < 0)
		spread_fini(ret);
	return r;
}

void spread_fini(struct spread *s)
{
	HASH_CLEAR(hh, s->by_name);
	for (uint32_t i = 0; i < s->n_hosts; i++)
		host_free(s->host[i]);
	free(s->host);
	free(s->node);
	*s = (struct spread){ 0 };
}

void spread_cut(struct spread *s)
{
	HASH_CLEAR(hh, s->by_name);
	while (s->n_hosts > 1)
		host_free(s->host[--s->n_hosts]);
	s->n_nodes = 0;
}

char *spread_nodes_text(const struct spread *s)
{
	size_t len = 1;
	char *text, *at;

	for (uint32_t i = 0; i < s->n_nodes; i++)
		len += strlen(s->host[s->node[i]]->name) + 1;
	text = at = malloc(len);
	for (uint32_t i = 0; text && i < s->n_nodes; i++) {
		at = stpcpy(at, s->host[s->node[i]]->name);
		*at++ = '\n';
	}
	if (text)
		*at = '\0';
	return text;
}
