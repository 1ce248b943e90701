/* SPDX-License-Identifier: Apache-2.0
 *
 * heard.c - a frame of the process, by what it is. Whatever does not parse ends the process.
 */
#include <stdlib.h>

#include "isolate/inside.h"
#include "log/log.h"
#include "store/store.h"
#include "util/err.h"

static void reply(struct process *p, struct talk_in *in, const struct frame *f)
{
	struct pending *q;

	if (f->corr > p->next_id || f->corr <= p->answered || (p->pending != NULL && p->pending->id < f->corr)) {
		process_give_up(p, "its process answered out of order, or a question that there is not");
		return;
	}
	p->answered = f->corr;
	process_paid(p);
	HASH_FIND(hh, p->pending, &f->corr, sizeof(f->corr), q);
	if (q != NULL)
		q->fn(p, q, in, NULL);
}

/* ---- records: as many as a busy module writes, not as many as a broken one ------------------------- */
bool iso_log_may(struct isolate *iso)
{
	int64_t now = loop_now_ms(iso->parts->loop), fresh = (now - iso->logs_ms) * LOGS_PER_SECOND / 1000;

	if (fresh > 0) {
		iso->logs = fresh >= LOGS_BURST - iso->logs ? LOGS_BURST : iso->logs + (uint32_t)fresh;
		iso->logs_ms = now;
	}
	if (iso->logs_lost > 0 && now - iso->logs_told_ms >= LOGS_TOLD_MS) {
		iso_log(iso, KEEL_LOG_ERROR, "%u records of its process were too many and are not here",
			iso->logs_lost);
		iso->logs_lost = 0;
		iso->logs_told_ms = now;
	}
	if (iso->logs == 0) {
		if (iso->logs_lost++ == 0)
			iso->logs_told_ms = now;
		return false;
	}
	iso->logs--;
	return true;
}

static void log_record(struct isolate *iso, struct talk_in *in)
{
	uint32_t event = (uint32_t)talk_int(in) & ~(uint32_t)KEEL_LOG_FORCE;
	const char *klass = talk_str(in), *object = talk_str(in), *text = talk_text(in);

	if (!talk_bad(in) && iso_log_may(iso) && iso->parts->log != NULL)
		log_add(iso->parts->log, event, klass, object, "%s", text);
}

static void noted(struct process *p, struct talk_in *in)
{
	int64_t n = talk_int(in);

	/* It takes them in order: those behind a question come after its answer. */
	if (n <= 0 || n > p->notes || (p->pending != NULL && p->told + (uint64_t)n > p->pending->behind)) {
		in->r.bad = true;
		return;
	}
	p->notes -= (uint32_t)n;
	p->told += (uint64_t)n;
	departed_told(p);
	process_paid(p);
}

/* ---- when everything is durable ------------------------------------------------------------------------ */
struct durable {
	struct owner *owner;
	uint64_t serial; /* of the process that waits */
	int64_t number;
};

static void is_durable(void *arg)
{
	struct durable d = *(struct durable *)arg;
	struct isolate *iso = d.owner->isolate;
	size_t begun;

	free(arg);
	d.owner->live--;
	if (iso == NULL)
		return;
	iso->n_durables--;
	if (iso->now == NULL || iso->now->serial != d.serial)
		return;
	begun = talk_begin(&iso->scratch);
	talk_put_int(&iso->scratch, TALK_DURABLE);
	talk_put_int(&iso->scratch, d.number);
	(void)ask_heard(iso, iso->now, begun);
}

static void when_durable(struct process *p, struct talk_in *in)
{
	struct isolate *iso = p->iso;
	struct durable *d = NULL;

	if (iso->owner != NULL && iso->n_durables < CALLS_MAX)
		d = malloc(sizeof(*d));
	if (d == NULL) {
		process_give_up(p, "its process waits for the store too often");
		return;
	}
	*d = (struct durable){ iso->owner, p->serial, talk_int(in) };
	iso->owner->live++;
	iso->n_durables++;
	if (!talk_bad(in) && store_after(iso->parts->store, is_durable, d) == 0)
		return;
	iso->owner->live--;
	iso->n_durables--;
	free(d);
}

/* ---- by what it is ------------------------------------------------------------------------------------- */
static void event(struct process *p, struct talk_in *in)
{
	int64_t what = talk_int(in);

	switch (what) {
	case TALK_LOG:
		log_record(p->iso, in);
		break;
	case TALK_NOTED:
		noted(p, in);
		break;
	case TALK_RELEASE:
		call_release(p, talk_int(in));
		break;
	case TALK_ANSWER:
	case TALK_ANSWER_OUT:
		request_heard(p, (uint32_t)what, in);
		break;
	case TALK_WHEN_DURABLE:
		when_durable(p, in);
		break;
	default:
		in->r.bad = true;
		break;
	}
}

void heard(struct process *p, const struct frame *f)
{
	struct talk_in in;

	talk_open(&in, f->body, f->len);
	if (f->type == WIRE_REPLY) {
		reply(p, &in, f);
		return;
	}
	if (p->state == PROCESS_COMING)
		in.r.bad = true; /* nothing of the module runs in there */
	else if (f->type == WIRE_REQUEST)
		serve(p, &in, f->corr);
	else if (f->type == WIRE_EVENT)
		event(p, &in);
	else
		in.r.bad = true;
	if (talk_bad(&in))
		process_give_up(p, "its process sent what is no message");
}
