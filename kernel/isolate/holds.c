/* SPDX-License-Identifier: Apache-2.0
 *
 * holds.c - holds that the module took itself: real holds, told to its process when they end.
 *
 *   released  -> the process is asked for the verdict of its resume(), the operation is held again meanwhile
 *   cancelled -> it is told
 *   the process ends -> the operation fails
 */
#include <stdlib.h>
#include <utlist.h>

#include "isolate/inside.h"

/* Holds of the module cannot be resumed by anybody. */
void iso_holds_end(struct process *p)
{
	struct iso_call *c;
	struct iso_hold *h;

	for (c = p->iso->calls; c != NULL; c = c->hh.next) {
		if (c->process != p)
			continue;
		c->process = NULL;
		DL_FOREACH(c->holds, h) {
			HASH_DEL(p->holds, h);
			iso_release(p->iso, h->hold);
		}
	}
}

static struct iso_call *hold_free(struct iso_hold *h)
{
	struct iso_call *call = h->call;

	if (call->process != NULL)
		HASH_DEL(call->process->holds, h);
	DL_DELETE(call->holds, h);
	free(h);
	return call;
}

static void tell_cancelled(struct iso_call *call, int64_t number, int32_t reason)
{
	struct isolate *iso = call->iso;
	size_t begun = talk_begin(&iso->scratch);

	talk_put_int(&iso->scratch, TALK_CANCEL);
	talk_put_int(&iso->scratch, (int64_t)call->number);
	talk_put_int(&iso->scratch, number);
	talk_put_int(&iso->scratch, reason);
	(void)ask_heard(iso, call->process, begun);
}

static keel_verdict hold_resumed(struct keel_call *c, void *arg)
{
	struct iso_hold *h = arg;
	int64_t number = h->number;
	struct iso_call *call = hold_free(h);
	struct isolate *iso = call->iso;
	size_t begun;

	if (!process_hears(call->process)) {
		call_settle(call);
		return iso->call->fail(c, "module %s: its process ended while it waited", iso->name);
	}
	if (call->over) {
		tell_cancelled(call, number, KEEL_CANCEL_STOPPING);
		call_settle(call);
		return KEEL_NEXT;
	}
	begun = talk_begin(&iso->scratch);
	talk_put_int(&iso->scratch, TALK_RESUME);
	talk_put_int(&iso->scratch, (int64_t)call->number);
	talk_put_int(&iso->scratch, number);
	return call_ask(call, c, begun);
}

static void hold_cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	struct iso_hold *h = arg;
	int64_t number = h->number;
	struct iso_call *call = hold_free(h);

	(void)c;
	tell_cancelled(call, number, reason);
	call_settle(call);
}

int32_t call_hold(struct iso_call *call, struct keel_hold_opts *opts, int64_t number, const char **ret_why)
{
	struct isolate *iso = call->iso;
	struct iso_hold *h = calloc(1, sizeof(*h)), *same;
	int32_t v;

	HASH_FIND(hh, call->process->holds, &number, sizeof(number), same);
	if (h == NULL || same != NULL || HASH_COUNT(call->process->holds) >= CALLS_MAX) {
		*ret_why = "it cannot wait: its process has too many holds";
		free(h);
		return KEEL_FAIL;
	}
	*h = (struct iso_hold){ .call = call, .number = number };
	opts->resume = hold_resumed;
	opts->cancel = hold_cancelled;
	opts->arg = h;
	HASH_ADD(hh, call->process->holds, number, sizeof(h->number), h);
	*ret_why = "it cannot wait: no memory";
	if (!hash_holds(h)) {
		free(h);
		return KEEL_FAIL;
	}
	v = iso->call->hold(call_of(call), opts, &h->hold);
	if (v != KEEL_WAIT) {
		*ret_why = hooks_call_why(call_of(call));
		HASH_DEL(call->process->holds, h);
		free(h);
		return v;
	}
	DL_APPEND(call->holds, h);
	if (opts->until_id != NULL &&
	    hooks_told(iso->parts->hooks, call->since, opts->until_point, opts->until_id))
		iso_release(iso, h->hold);
	return v;
}

void call_release(struct process *p, int64_t number)
{
	struct iso_hold *h;

	HASH_FIND(hh, p->holds, &number, sizeof(number), h);
	if (h != NULL)
		iso_release(p->iso, h->hold);
}
