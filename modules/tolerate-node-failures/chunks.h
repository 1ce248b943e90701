/* SPDX-License-Identifier: Apache-2.0
 *
 * chunks.h - what a select or an exec_vnode says, on a host, which knows no definitions of resources.
 */
#ifndef CHUNKS_H
#define CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `name=text`. n: the number it is, sizes in bytes; `word`: it is none. */
struct chunk_value {
	const char *name, *text;
	double n;
	bool word;
};

/* A vnode's share of a chunk, or an item of a select (vnode NULL). */
struct chunk_part {
	const char *vnode;
	uint32_t chunk; /* 0-based: which parenthesis, or which item */
	uint32_t count; /* of an item */
	uint32_t n;
	const struct chunk_value *v;
};

struct chunks {
	uint32_t n, n_parts; /* chunks or items; parts, in order */
	struct chunk_part *part;
	struct chunk_value *value;
	char *text;
};

/* 0; -EINVAL: it is no such text; -ENOMEM. The caller calls chunks_fini() in any case. */
int32_t chunks_of_exec(const char *exec_vnode, struct chunks *ret);
int32_t chunks_of_select(const char *select, struct chunks *ret);
void chunks_fini(struct chunks *);

/* The length of the text up to one of `stops` outside of quotes, or its end. */
size_t chunk_span(const char *text, const char *stops);
/* NULL: it does not name that resource. */
const struct chunk_value *chunk_get(const struct chunk_part *, const char *name);
/* The same texts, whatever quotes are around them? */
bool chunk_same_word(const char *a, const char *b);

#endif
