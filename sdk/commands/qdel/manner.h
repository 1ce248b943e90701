/* SPDX-License-Identifier: Apache-2.0
 *
 * manner.h - the options of a deletion.
 */
#ifndef QDEL_MANNER_H
#define QDEL_MANNER_H

#include <stdbool.h>

#define MANNER_EXTEND_SIZE 64

struct manner {
	bool force, history;
	long mail_limit; /* more jobs than this: no mail; -1: never mail */
};

#define MANNER_INIT { .mail_limit = 1000 }

/* Parses a value of -W: "force", "suppress_email=N", or digits, which have no effect. Returns false for others. */
bool manner_word(struct manner *m, const char *word);

/* The text for the server about `n` jobs. */
void manner_extend(const struct manner *m, int n, char extend[MANNER_EXTEND_SIZE]);

#endif
