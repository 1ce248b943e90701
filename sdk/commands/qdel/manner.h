/* SPDX-License-Identifier: Apache-2.0
 *
 * manner.h - how jobs are to be deleted.
 */
#ifndef QDEL_MANNER_H
#define QDEL_MANNER_H

#include <stdbool.h>

#define MANNER_EXTEND_SIZE 64

struct manner {
	bool force, history;
	bool limited; /* mail_limit was said */
	long mail_limit; /* more jobs than this: no mail; -1: never mail */
};

#define MANNER_INIT { .mail_limit = 1000 }

/* A value of -W: "force", "suppress_email=N", or digits, which say nothing. False: none of them. */
bool manner_word(struct manner *m, const char *word);

/* An option line as the server keeps it ("-Wsuppress_email=100 -x"); it never overrules what was
 * said already, and words that are not known are skipped. */
void manner_line(struct manner *m, const char *line);

/* The text for the server about `n` jobs. */
void manner_extend(const struct manner *m, int n, char extend[MANNER_EXTEND_SIZE]);

#endif
