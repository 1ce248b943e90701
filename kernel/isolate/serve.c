/* SPDX-License-Identifier: Apache-2.0
 *
 * serve.c - what the module asks while it runs: answered (answer.c) with what the daemon has.
 */
#include <errno.h>
#include <string.h>

#include "isolate/answer.h"
#include "isolate/inside.h"

struct served {
	struct process *process;
	struct iso_call *call; /* NULL: not within one */
};

static struct keel_obj *draft(void *arg, const char *klass, const char *id)
{
	const struct served *s = arg;
	const struct iso_call *call = s->call;

	if (call == NULL && s->process->departed != NULL &&
	    s->process->iso->object->find(&s->process->iso->owner->pub, klass, id) == NULL)
		return departed_find(s->process, klass, id);
	for (uint32_t i = 0; call != NULL && i < call->n_drafts; i++) {
		if (strcmp(call->draft[i].id, id) == 0 && strcmp(call->draft[i].klass, klass) == 0)
			return call->draft[i].obj;
	}
	return NULL;
}

static int32_t hold(void *arg, struct keel_hold_opts *opts, int64_t number, const char **ret_why)
{
	return call_hold(((const struct served *)arg)->call, opts, number, ret_why);
}

static int32_t part(void *arg, uint64_t request, const void *body, uint32_t len)
{
	struct process *p = ((const struct served *)arg)->process;
	struct iso_req *r = request_find(p, request);

	return r != NULL ? request_part(p->iso, r, body, len) : -EPIPE;
}

static int32_t drained(void *arg, uint64_t request)
{
	struct process *p = ((const struct served *)arg)->process;
	struct iso_req *r = request_find(p, request);

	return r != NULL ? request_drained(p->iso, r) : -EPIPE;
}

static void raise_it(void *arg, struct raising *r, struct buf *out)
{
	const struct served *s = arg;

	iso_raise(s->process, s->call, r, out);
}

static void reply(struct process *p, uint64_t corr, const struct buf *answer)
{
	struct isolate *iso = p->iso;
	size_t begun = talk_begin(&iso->scratch);

	buf_add(&iso->scratch, answer->data, answer->len);
	iso->scratch.failed |= answer->failed;
	talk_end(&iso->scratch, begun, WIRE_REPLY, corr);
	/* A replay may be as long as it is, what it asks for while that is queued may not. */
	p->answers = (p->out.len > 0 ? p->answers : 0) + iso->scratch.len - begun;
	if (p->answers > QUEUE_MAX)
		process_give_up(p, "its process does not read what it is told");
	if (process_send(iso, p, begun) == -ENOMEM)
		process_give_up(p, "no memory to answer its process");
}

void serve(struct process *p, struct talk_in *in, uint64_t corr)
{
	struct isolate *iso = p->iso;
	int64_t what = talk_int(in);
	uint64_t number = (uint64_t)talk_int(in);
	struct iso_call *call = number != 0 ? call_find(p, number) : NULL;
	struct served s = { p, call };
	struct whom whom = { .call = call != NULL ? call_of(call) : NULL, .object = iso->object,
			     .api = iso->call, .hook = iso->hook, .draft = draft, .walk = &p->walk,
			     .hold = hold, .part = part, .drained = drained, .raise = raise_it, .arg = &s };
	struct buf out = { 0 };

	if (iso->owner != NULL)
		whom.mod = &iso->owner->pub;
	if (whom.mod != NULL && answer(&whom, what, in, &out))
		reply(p, corr, &out);
	else
		in->r.bad = true;
	buf_fini(&out);
}
