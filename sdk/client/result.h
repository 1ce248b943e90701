/* SPDX-License-Identifier: Apache-2.0
 *
 * result.h - results of replies that are taken as they are.
 */
#ifndef CLIENT_RESULT_H
#define CLIENT_RESULT_H

#include "pack.h"

/* A string result: `key` is looked up, `text` becomes malloc'ed. A listener's reply function. */
struct result_text {
	const char *key;
	char *text;
};
int result_text_reply(const msgpack_object *body, void *arg);

/* An array of strings: may be filled by several bodies; a listener's part or reply function. */
struct result_texts {
	const char *key;
	char **texts; /* NULL-terminated once not NULL */
	size_t n, size;
};
int result_texts_hear(const msgpack_object *body, void *arg);

/* The array, NULL-terminated, also when empty; NULL: no memory (and `r` is freed). */
char **result_texts_take(struct result_texts *r);
void result_texts_free(struct result_texts *r);

#endif
