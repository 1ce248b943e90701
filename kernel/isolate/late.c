/* SPDX-License-Identifier: Apache-2.0
 *
 * late.c - a question that has no answer within the deadline ends the process.
 *
 * A process does one thing at a time, in the order it was told: what it owes first, it works at since it was told
 * that, or since it answered what came before. It is looked at at least four times within the deadline, and looks are
 * counted, not the clock: while the daemon itself stands still, or the machine sleeps, no process is late.
 */
#include "isolate/inside.h"

static void sweep(void *arg);

static bool owes(const struct process *p)
{
	return p->pending != NULL || p->notes > 0;
}

static int64_t look_each_ms(const struct process *p)
{
	int64_t each = p->iso->limits.deadline_ms / 4 + 1;

	return each < LOOK_MAX_MS ? each : LOOK_MAX_MS;
}

static void sweep_later(struct process *p)
{
	if (p->sweep == NULL && p->fd >= 0)
		p->sweep = loop_timer(p->iso->parts->loop, look_each_ms(p), sweep, p);
}

void process_owes(struct process *p)
{
	if (!owes(p))
		p->late_ms = 0;
	sweep_later(p);
}

void process_paid(struct process *p)
{
	p->mute = false;
	p->late_ms = 0;
}

static void judge(struct process *p)
{
	int64_t deadline = p->state == PROCESS_UP ? p->iso->limits.deadline_ms : START_DEADLINE_MS;

	if (p->late_ms >= deadline)
		process_give_up(p, p->pending != NULL ? "its process gave no answer for %lld ms" :
				   "its process has not finished what it was told for %lld ms",
				(long long)deadline);
	p->late_ms += look_each_ms(p);
}

static void sweep(void *arg)
{
	struct process *p = arg;

	p->sweep = NULL;
	p->users++;
	process_pump(p); /* we may be the one who was late */
	if (p->iso != NULL && owes(p)) {
		judge(p);
		sweep_later(p);
	}
	process_unuse(p);
}
