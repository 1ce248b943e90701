/* SPDX-License-Identifier: Apache-2.0
 *
 * delete_list.c - deletes many jobs by one request; the reply lists those that failed.
 */
#include <errno.h>
#include <stdlib.h>

#include "call.h"
#include "connection.h"
#include "pbs_error.h"

#define REQUEST_IDS 10000 /* at most in one request */

void pbs_delstatfree(struct batch_deljob_status *list)
{
	while (list != NULL) {
		struct batch_deljob_status *next = list->next;

		free(list->name);
		free(list);
		list = next;
	}
}

struct failures {
	struct batch_deljob_status *first, **tail;
};

/* An error is [id, code]. */
static int failure_add(struct failures *f, const struct pack_value *pair)
{
	struct batch_deljob_status *one;

	if (pair->kind != PACK_ARRAY || pair->n < 2 ||
	    pair->at[0].kind != PACK_STR ||
	    pair->at[1].kind != PACK_INT ||
	    pair->at[1].i > INT32_MAX)
		return -EPROTO;
	one = calloc(1, sizeof(*one));
	if (one == NULL)
		return -ENOMEM;
	one->code = (int)pair->at[1].i;
	one->name = pack_strdup(&pair->at[0]);
	*f->tail = one;
	f->tail = &one->next;
	return one->name == NULL ? -EPROTO : 0;
}

static int failures_reply(const struct pack_value *body, void *arg)
{
	const struct pack_value *list = pack_get(body, "failed");
	int ret = 0;

	if (list == NULL || list->kind != PACK_ARRAY)
		return 0;
	for (uint32_t i = 0; i < list->n && ret == 0; i++)
		ret = failure_add(arg, &list->at[i]);
	return ret;
}

struct batch_deljob_status *pbs_deljoblist(int c, char **ids, int n, const char *extend)
{
	struct failures f = { .tail = &f.first };
	struct listener l = { .reply = failures_reply, .arg = &f };
	int at = 0, some;

	if (ids == NULL || n < 0) {
		connection_fail_code(connection_find(c), PBSE_IVALREQ);
		return NULL;
	}
	do {
		some = n - at < REQUEST_IDS ? n - at : REQUEST_IDS;
		if (CALL(c, "delete_list", &l, arg_strs("ids", ids + at, (size_t)some),
			 arg_str("extend", extend)) != 0) {
			pbs_delstatfree(f.first);
			return NULL;
		}
		at += some;
	} while (at < n);
	return f.first;
}
