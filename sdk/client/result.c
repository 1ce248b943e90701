/* SPDX-License-Identifier: Apache-2.0
 *
 * result.c - results of replies: strings.
 */
#include "result.h"

#include <errno.h>
#include <stdlib.h>

int result_text_reply(const struct pack_value *body, void *arg)
{
	struct result_text *r = arg;

	r->text = pack_strdup(pack_get(body, r->key));
	return r->text == NULL ? -EPROTO : 0;
}

static int room_for_one(struct result_texts *r)
{
	size_t size = r->size == 0 ? 64 : r->size * 2;
	char **texts;

	if (r->n + 1 < r->size)
		return 0;
	texts = realloc(r->texts, size * sizeof(*texts));
	if (texts == NULL)
		return -ENOMEM;
	r->texts = texts;
	r->size = size;
	return 0;
}

int result_texts_add(const struct pack_value *body, void *arg)
{
	struct result_texts *r = arg;
	const struct pack_value *list = pack_get(body, r->key);

	if (list == NULL)
		return 0;
	if (list->kind != PACK_ARRAY)
		return -EPROTO;
	for (uint32_t i = 0; i < list->n; i++) {
		if (room_for_one(r) < 0)
			return -ENOMEM;
		r->texts[r->n] = pack_strdup(&list->at[i]);
		if (r->texts[r->n] == NULL)
			return -EPROTO;
		r->texts[++r->n] = NULL;
	}
	return 0;
}

void result_texts_free(struct result_texts *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->texts[i]);
	free(r->texts);
	r->texts = NULL;
	r->n = r->size = 0;
}

char **result_texts_take(struct result_texts *r)
{
	if (room_for_one(r) < 0) {
		result_texts_free(r);
		return NULL;
	}
	r->texts[r->n] = NULL;
	return r->texts;
}
