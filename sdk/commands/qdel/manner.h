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
	bool limited; /* mail_limit was given */
	long mail_limit; /* more jobs than this: no mail; -1: never mail */
};

#define MANNER_INIT { .mail_limit = 1000 }

/* Parses a value of -W: "force", "suppress_email=N", or digits, which have no effect. Returns false for others. */
bool manner_word(struct manner *m, const char *word);

/* Parses an option line of the server ("-Wsuppress_email=100 -x"); it never overrides options given before, and unknown
 * words are skipped. */
void manner_line(struct manner *m, const char *line);

/* The text for the server about `n` jobs. */
void manner_extend(const struct manner *m, int n, char extend[MANNER_EXTEND_SIZE]);

#endif
