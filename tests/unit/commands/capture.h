/* SPDX-License-Identifier: Apache-2.0
 *
 * capture.h - let a writer write into memory, and compare.
 */
#ifndef TESTS_COMMANDS_CAPTURE_H
#define TESTS_COMMANDS_CAPTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "out.h"
#include "pbs_ifl.h"

struct capture {
	struct out out;
	int fd;
};

static inline void capture_begin(struct capture *c)
{
	c->fd = memfd_create("capture", 0);
	if (c->fd < 0 || out_init(&c->out, c->fd) < 0)
		abort();
}

/* What was written, malloc'ed. */
static inline char *capture_end(struct capture *c)
{
	off_t size;
	char *text;

	CU_ASSERT_EQUAL(out_fini(&c->out), 0);
	size = lseek(c->fd, 0, SEEK_END);
	text = calloc(1, (size_t)size + 1);
	if (!text || pread(c->fd, text, (size_t)size, 0) != size)
		abort();
	close(c->fd);
	return text;
}

/* Compare, and show both when they differ. */
static inline void capture_is(struct capture *c, const char *expected)
{
	char *text = capture_end(c);

	if (strcmp(text, expected) != 0)
		fprintf(stderr, "\n got: %s|\nwant: %s|\n", text, expected);
	CU_ASSERT_STRING_EQUAL(text, expected);
	free(text);
}

/* A list made of {name, resource, value} rows that end with a NULL name. */
struct entry {
	const char *name, *resource, *value;
};

static inline struct attrl *entries(const struct entry *rows, struct attrl *list)
{
	size_t i;

	for (i = 0; rows[i].name; i++)
		list[i] = (struct attrl){ rows[i + 1].name ? &list[i + 1] : NULL,
					  (char *)rows[i].name, (char *)rows[i].resource,
					  (char *)rows[i].value, SET };
	return i > 0 ? list : NULL;
}

#endif
