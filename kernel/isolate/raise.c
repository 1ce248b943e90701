/* SPDX-License-Identifier: Apache-2.0
 *
 * raise.c - operations that the module raised: a question whose answer may come later.
 *
 *   the process asks -> raise() -> its outcome is the answer
 *                               -> WAIT is the answer -> ... -> done() -> TALK_OUTCOME
 *
 * Nobody is called in the process while it waits for that answer: who has to be asked there, too, is, and then the
 * answer is WAIT. An operation ends with the process that raised it, and with the call whose drafts it is about.
 */
#include <stdio.h>
#include <stdlib.h>

#include "isolate/inside.h"

static void tell(struct process *p, int64_t number, const struct keel_outcome *o);

/* ---- outcomes -------------------------------------------------------------------------------------- */
static void forget(struct iso_raised *r)
{
	if (r->process != NULL)
		HASH_DEL(r->process->raised, r);
	free(r);
}

static void over(struct keel_mod *m, void *arg, const struct keel_outcome *o)
{
	struct iso_raised *r = arg;
	struct process *p = r->process;
	int64_t number = r->number;

	(void)m;
	if (r->out != NULL)
		answer_outcome(r->out, o);
	else if (process_hears(p))
		tell(p, number, o);
	forget(r);
}

static void tell(struct process *p, int64_t number, const struct keel_outcome *o)
{
	struct buf *m = &p->iso->scratch;
	size_t begun = talk_begin(m);

	talk_put_int(m, TALK_OUTCOME);
	talk_put_int(m, number);
	answer_outcome(m, o);
	if (ask_heard(p->iso, p, begun) < 0)
		process_give_up(p, "no memory to tell its process an outcome");
}

/* ---- raising ----------------------------------------------------------------------------------------- */
static void refuse(struct isolate *iso, const struct raising *r, const char *why, struct buf *out)
{
	const struct keel_outcome o = { .size = sizeof(o), .verdict = KEEL_FAIL, .text = why };

	if (iso_log_may(iso))
		iso_log(iso, KEEL_LOG_ERROR, "module %s raised point %u: %s", iso->name, r->raise.point,
			why);
	answer_outcome(out, &o);
}

static struct iso_raised *find(const struct process *p, int64_t number)
{
	struct iso_raised *r;

	HASH_FIND(hh, p->raised, &number, sizeof(number), r);
	return r;
}

static const char *objection(const struct process *p, const struct iso_call *call, const struct raising *r)
{
	if (r->refused != NULL)
		return r->refused;
	if (HASH_COUNT(p->raised) >= RAISED_MAX)
		return "too many operations that its process raised wait";
	if (call != NULL && call->depth >= RAISED_DEPTH)
		return "operations are nested too deeply";
	return find(p, r->number) != NULL ? "its process raises it twice" : NULL;
}

static struct iso_raised *create(struct process *p, const struct iso_call *call, const struct raising *r, struct buf *out)
{
	struct iso_raised *made = calloc(1, sizeof(*made));

	if (made == NULL)
		return NULL;
	*made = (struct iso_raised){ .process = p, .number = r->number, .out = out,
				     .call = call != NULL && r->drafts ? call->number : 0 };
	HASH_ADD(hh, p->raised, number, sizeof(made->number), made);
	if (hash_holds(made))
		return made;
	free(made);
	return NULL;
}

void iso_raise(struct process *p, const struct iso_call *call, struct raising *r, struct buf *out)
{
	struct isolate *iso = p->iso;
	const struct iso_req *asker = r->request != 0 ? request_find(p, r->request) : NULL;
	const char *why = objection(p, call, r);
	struct iso_raised *made = why == NULL ? create(p, call, r, out) : NULL;
	uint32_t outer = iso->raising;

	if (made == NULL) {
		refuse(iso, r, why != NULL ? why : "no memory", out);
		return;
	}
	r->raise.req = asker != NULL ? asker->req : NULL;
	r->raise.done = over;
	r->raise.arg = made;
	iso->raising = call != NULL ? call->depth + 1 : 1;
	if (iso->hook->raise(&iso->owner->pub, &r->raise) == KEEL_WAIT) {
		made->out = NULL;
		answer_outcome(out, &(struct keel_outcome){ .size = sizeof(struct keel_outcome),
							    .verdict = KEEL_WAIT });
	}
	iso->raising = outer;
}

/* ---- ends ----------------------------------------------------------------------------------------------- */
static bool is_to_end(const void *arg)
{
	return ((const struct iso_raised *)arg)->ends;
}

static void end_marked(const struct isolate *iso, int32_t reason)
{
	hooks_raised_end(iso->parts->hooks, over, is_to_end, reason);
}

void raised_call_ends(struct process *p, uint64_t call)
{
	struct iso_raised *r;
	bool any = false;

	for (r = p->raised; r != NULL; r = r->hh.next) {
		if (r->call != call || r->ends)
			continue;
		r->ends = any = true;
	}
	if (any)
		end_marked(p->iso, KEEL_CANCEL_OBJECT_GONE);
}

void raised_end(struct process *p)
{
	struct iso_raised *r, *next;
	bool any = p->raised != NULL;

	HASH_ITER(hh, p->raised, r, next) {
		HASH_DEL(p->raised, r);
		r->process = NULL;
		r->ends = true;
	}
	if (any)
		end_marked(p->iso, KEEL_CANCEL_STOPPING);
}
