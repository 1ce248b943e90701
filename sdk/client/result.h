/* SPDX-License-Identifier: Apache-2.0
 *
 * result.h - results of replies: strings.
 */
#ifndef CLIENT_RESULT_H
#define CLIENT_RESULT_H

#include "pack.h"

/* A string result: `text` is the value of `key`, owned by the caller. result_text_reply() is a listener's `reply`. */
struct result_text {
	const char *key;
	char *text;
};
int result_text_reply(const struct pack_value *body, void *arg);

/* An array of strings, filled by one or more bodies; result_texts_add() is a listener's `part` or `reply`. */
struct result_texts {
	const char *key;
	char **texts; /* NULL-terminated once not NULL */
	size_t n, size;
};
int result_texts_add(const struct pack_value *body, void *arg);

/* Returns the array, NULL-terminated, also if empty, owned by the caller; NULL: out of memory (and `r` is freed). */
char **result_texts_take(struct result_texts *r);
void result_texts_free(struct result_texts *r);

#endif
