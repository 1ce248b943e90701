/* SPDX-License-Identifier: Apache-2.0
 *
 * words.h - an option string as words.
 */
#ifndef QSUB_WORDS_H
#define QSUB_WORDS_H

#define WORDS_MAX 128

struct words {
	char *bytes; /* owned; the words point into it */
	int n;
	char *word[WORDS_MAX + 2]; /* [0] is "qsub"; NULL behind the last */
};

/* Blanks separate, " and ' quote, \ takes one character as it is. 0; -E2BIG: more than WORDS_MAX;
 * -EINVAL: a quote is not closed; -ENOMEM. words_fini() after 0. */
int words_split(struct words *w, const char *text);

/* One of them: from *at, up to a character of `ends` outside quotes, to *out, terminated; both move on. 0, -EINVAL. */
int word_copy(const char **at, char **out, const char *ends);

void words_fini(struct words *w);

#endif
