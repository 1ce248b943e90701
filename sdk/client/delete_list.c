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

/* A failure is [id, code]. */
static int failure_add(struct failures *f, const msgpack_object *pair)
{
	struct batch_deljob_status *one;

	if (pair->type != MSGPACK_OBJECT_ARRAY || pair->via.array.size < 2 ||
	    pair->via.array.ptr[0].type != MSGPACK_OBJECT_STR ||
	    pair->via.array.ptr[1].type != MSGPACK_OBJECT_POSITIVE_INTEGER ||
	    pair->via.array.ptr[1].via.u64 > INT32_MAX)
		return -EPROTO;
	one = calloc(1, sizeof(*one));
	if (one == NULL)
		return -ENOMEM;
	one->code = (int)pair->via.array.ptr[1].via.u64;
	one->name = pack_strdup(&pair->via.array.ptr[0]);
	*f->tail = one;
	f->tail = &one->next;
	return one->name == NULL ? -EPROTO : 0;
}

static int failures_reply(const msgpack_object *body, void *arg)
{
	const msgpack_object *list = pack_get(body, "failed");
	int ret = 0;

	if (list == NULL || list->type != MSGPACK_OBJECT_ARRAY)
		return 0;
	for (uint32_t i = 0; i < list->via.array.size && ret == 0; i++)
		ret = failure_add(arg, &list->via.array.ptr[i]);
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
