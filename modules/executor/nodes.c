/* SPDX-License-Identifier: Apache-2.0
 *
 * nodes.c - the nodes file of a job: one host name per line, as often as its chunk has mpiprocs (else
 * once), in the order of exec_host.
 *
 * mpiprocs is no amount of a vnode, so it is looked for in exec_vnode first and then in the select
 * ("2:ncpus=4:mpiprocs=2+1:ncpus=1"), whose counts are unfolded chunk by chunk.
 */
#include "executor.h"

#include <errno.h>
#include <stdio.h>
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

/* The next chunk of a select; its count and the words behind it. */
struct chunks {
	const char *at;
	const char *words, *end;
	int64_t left;
};

static bool chunk_next(struct chunks *c)
{
	char *after;

	if (c->left > 0) {
		c->left--;
		return true;
	}
	if (!c->at || !*c->at)
		return false;
	c->words = c->at;
	c->end = c->at + strcspn(c->at, "+");
	c->at = *c->end ? c->end + 1 : c->end;
	c->left = strtoll(c->words, &after, 10);
	if (after != c->words && (*after == ':' || after == c->end))
		c->words = *after == ':' ? after + 1 : after;
	else
		c->left = 1;
	return c->left-- > 0;
}

/* The next "(...)" of exec_vnode, or one vnode without. */
static const char *paren_next(const char *at, const char **ret_end)
{
	if (!at || !*at)
		return NULL;
	if (*at == '+')
		at++;
	*ret_end = at + (*at == '(' ? strcspn(at, ")") : strcspn(at, "+"));
	return at + (*at == '(');
}

int32_t nodes_text(const char *exec_host, const char *exec_vnode, const char *select, char **ret)
{
	struct chunks chunks = { .at = select };
	const char *part = exec_vnode, *part_end = NULL;
	char *text = NULL;
	size_t len = 0;
	int64_t lines = 0;
	FILE *f = exec_host ? open_memstream(&text, &len) : NULL;

	*ret = NULL;
	while (f && *exec_host && lines <= NODES_LINES_MAX) {
		size_t name = strcspn(exec_host, "/+");
		bool have = chunk_next(&chunks);
		int64_t n;

		part = paren_next(part, &part_end);
		n = part ? amount_find(part, part_end, "mpiprocs") : -1;
		if (n < 0 && have)
			n = amount_find(chunks.words, chunks.end, "mpiprocs");
		if (n < 0)
			n = have && amount_find(chunks.words, chunks.end, "ncpus") == 0 ? 0 : 1;
		for (int64_t i = 0; i < n && lines <= NODES_LINES_MAX; i++, lines++) {
			fwrite(exec_host, 1, name, f);
			putc('\n', f);
		}
		part = part ? part_end + (*part_end == ')') : NULL;
		exec_host += strcspn(exec_host, "+");
		exec_host += *exec_host == '+';
	}
	if (!exec_host)
		return 0;
	if (!f || fclose(f) != 0 || lines > NODES_LINES_MAX) {
		free(text);
		return lines > NODES_LINES_MAX ? -E2BIG : -ENOMEM;
	}
	*ret = text;
	return 0;
}

int64_t nodes_first_ncpus(const char *exec_vnode)
{
	const char *end = exec_vnode + (*exec_vnode == '(' ? strcspn(exec_vnode, ")")
							   : strcspn(exec_vnode, "+"));
	int64_t total = 0;

	for (const char *p = exec_vnode; p < end;) {
		const char *stop = p + strcspn(p, "+)");
		int64_t n = amount_find(p, stop < end ? stop : end, "ncpus");

		total += n > 0 ? n : 0;
		p = stop + 1;
	}
	return total;
}
