/* SPDX-License-Identifier: Apache-2.0
 *
 * primary.c - see primary.h.
 */
#include "primary.h"

#include <stdio.h>
#include <string.h>

#include "keel/hook_fields.h"

#define QUIET_MS 15000
static const int64_t say_after_ms[] = { 6000, 16000, 60000 }; /* that a host is away: after the first time */

static const char *const stages[] = { [STEP_NONE] = KEEL_STAGE_RUN, [STEP_JOIN] = KEEL_STAGE_JOIN,
				      [STEP_PROLOGUE] = KEEL_STAGE_PROLOGUE, [STEP_ACT] = KEEL_STAGE_RUN, [STEP_END] = KEEL_STAGE_END };

static const struct {
	int32_t code, status;
} refusals[] = {
	{ 15136, -22 }, /* a hook of the site raised, or took too long */
	{ 15170, -16 }, /* to be queued again */
	{ 15171, -17 }, /* to be deleted */
};

int32_t primary_refusal(int32_t code)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (refusals[i].code == code)
			return refusals[i].status;
	return STATUS_RETRY;
}

#define EACH(p, i) for (uint32_t i = 1; i < (p)->n; i++)

static void emit(struct primary *p, struct primary_act a)
{
	p->act(p->arg, &a);
}

static bool starts(const struct primary *p)
{
	return !p->running && !p->over && p->step != STEP_END;
}

static const char *stage_of(const struct primary *p)
{
	if (p->step == STEP_NONE && starts(p))
		return KEEL_STAGE_PROLOGUE;
	return stages[p->step];
}

void primary_init(struct primary *p, uint32_t n, struct primary_host *hosts, int64_t now)
{
	p->n = n;
	p->hosts = hosts;
	p->now_ms = now;
	EACH(p, i)
		hosts[i].away_ms = now;
}

/* It has its part, as far as is known: this daemon was restarted, and has not heard of it. */
static bool is_unheard(const struct primary *p, const struct primary_host *h)
{
	return p->running && h->state == HOST_SILENT && !h->excused;
}

bool primary_waits_for(const struct primary *p, uint32_t host)
{
	const struct primary_host *h = &p->hosts[host];

	if (p->step != STEP_END && h->asked)
		return p->step != STEP_NONE;
	switch (p->step) {
	case STEP_JOIN:
		return h->state == HOST_SILENT && !h->excused;
	case STEP_PROLOGUE:
	case STEP_ACT:
		return h->state == HOST_JOINED && h->owes;
	case STEP_END:
		return h->state == HOST_JOINED || is_unheard(p, h);
	default:
		return false;
	}
}

static void give(struct primary *p, uint32_t host, const char *name)
{
	struct primary_host *h = &p->hosts[host];

	h->order = ++p->number;
	h->owes = true;
	snprintf(h->name, sizeof(h->name), "%s", name);
	if (h->linked)
		emit(p, (struct primary_act){ .kind = ACT_ORDER, .host = host, .number = h->order, .name = h->name });
}

/* Hosts are what the job is: stopped, or not. */
static void align(struct primary *p)
{
	if (!p->running || p->over || p->step != STEP_NONE || p->now_ms < p->quiet_ms)
		return;
	EACH(p, i)
		if (p->hosts[i].state == HOST_JOINED && p->hosts[i].linked && !p->hosts[i].owes &&
		    p->hosts[i].stopped != p->stopped)
			give(p, i, p->stopped ? "suspend" : "resume");
}

static void refuse(struct primary *p)
{
	bool act = p->step == STEP_ACT;
	struct primary_act a = { .kind = ACT_REFUSE, .status = p->status, .code = p->code, .text = p->text };

	p->step = STEP_NONE;
	if (act) {
		EACH(p, i)
			p->hosts[i].owes = false;
		align(p);
		emit(p, a);
		p->status = p->code = 0;
		return;
	}
	p->over = true;
	EACH(p, i)
		if (p->hosts[i].state == HOST_JOINED)
			give(p, i, "abort");
	emit(p, a);
}

static void settle(struct primary *p)
{
	bool failed = p->status || p->code;

	if (p->step == STEP_NONE)
		return;
	if (failed && (p->step == STEP_JOIN || p->step == STEP_PROLOGUE)) {
		refuse(p);
		return;
	}
	EACH(p, i)
		if (primary_waits_for(p, i))
			return;
	if (failed && p->step == STEP_ACT) {
		refuse(p);
		return;
	}
	if (p->step == STEP_ACT)
		p->quiet_ms = p->now_ms + QUIET_MS;
	p->over = p->over || p->step == STEP_END;
	p->step = STEP_NONE;
	emit(p, (struct primary_act){ .kind = ACT_PASS });
}

static void act_failed(struct primary *p, int32_t code, const char *text)
{
	if (p->code)
		return;
	p->code = code < 0 ? CODE_COMM : code;
	snprintf(p->text, sizeof(p->text), "%s", text);
}

static bool is_signal(const char *name)
{
	return strcmp(name, "suspend") != 0 && strcmp(name, "resume") != 0;
}

/* A signal does not wait for a host that is away; what must hold on every host does not begin without it. */
static bool all_reachable(struct primary *p)
{
	EACH(p, i) {
		const struct primary_host *h = &p->hosts[i];

		if (is_signal(p->name) || (h->state == HOST_JOINED && h->linked) || (h->state != HOST_JOINED && !is_unheard(p, h)))
			continue;
		act_failed(p, CODE_COMM, "a host of the job cannot be reached");
		return false;
	}
	return true;
}

static void begin(struct primary *p, uint32_t i)
{
	const struct primary_host *h = &p->hosts[i];

	if (p->step == STEP_JOIN && h->state == HOST_SILENT && h->linked)
		emit(p, (struct primary_act){ .kind = ACT_ASK, .host = i });
	else if (p->step == STEP_PROLOGUE && h->state == HOST_JOINED)
		give(p, i, ORDER_ADMIT);
	else if (p->step == STEP_ACT && h->state == HOST_JOINED && h->linked)
		give(p, i, p->name);
	else if (p->step == STEP_END && (h->state == HOST_JOINED || h->state == HOST_SILENT))
		give(p, i, "end");
}

void primary_step(struct primary *p, enum primary_step step, const char *name, int64_t within_ms, int64_t now)
{
	p->now_ms = now;
	p->step = step;
	p->deadline_ms = now + (step == STEP_PROLOGUE ? within_ms * 95 / 100 : within_ms);
	snprintf(p->name, sizeof(p->name), "%s", name);
	if (step == STEP_ACT)
		p->status = p->code = 0;
	if (step != STEP_ACT || all_reachable(p))
		EACH(p, i)
			begin(p, i);
	settle(p);
}

void primary_runs(struct primary *p)
{
	if (p->over)
		return;
	p->running = true;
	if (p->status || p->code)
		emit(p, (struct primary_act){ .kind = ACT_FAIL, .status = STATUS_LOST, .text = p->text });
	p->status = p->code = 0;
}

/* ---- hosts that are no more --------------------------------------------------------------------------- */
static void lost(struct primary *p, uint32_t host, const char *stage, int32_t status, int32_t code, const char *text)
{
	struct primary_host *h = &p->hosts[host];

	if (h->state == HOST_LOST || h->state == HOST_RELEASED || h->asked)
		return;
	if (code != CODE_SILENT)
		h->state = HOST_LOST;
	h->owes = false;
	h->asked = true;
	emit(p, (struct primary_act){ .kind = ACT_LOST, .host = host, .stage = stage, .status = status, .code = code,
				      .text = text });
	settle(p);
}

void primary_verdict(struct primary *p, uint32_t host, int32_t status, int32_t code, const char *text, bool tolerated)
{
	struct primary_host *h = &p->hosts[host];

	if (!h->asked)
		return;
	h->asked = false;
	h->excused = true;
	if (!tolerated && starts(p) && !p->status) {
		p->status = status;
		p->code = code ? code : CODE_COMM;
		snprintf(p->text, sizeof(p->text), "%s", text);
		if (p->step == STEP_NONE) /* what waits before the program, or between the steps, need not wait on */
			emit(p, (struct primary_act){ .kind = ACT_FAIL, .status = status, .text = text });
	} else if (!tolerated && p->running && !p->over && p->step != STEP_END) {
		emit(p, (struct primary_act){ .kind = ACT_FAIL, .status = STATUS_LOST, .text = text });
	}
	settle(p);
}

/* Without a host that belongs to the job. */
static void gone(struct primary *p, uint32_t host, const char *text)
{
	const char *stage = stage_of(p);
	int32_t status = p->step == STEP_JOIN ? STATUS_JOIN : starts(p) ? STATUS_RETRY : STATUS_LOST;

	if (!p->over)
		lost(p, host, stage, status, CODE_COMM, text);
}

/* ---- what hosts say ------------------------------------------------------------------------------------- */
static void again(struct primary *p, uint32_t host)
{
	const struct primary_host *h = &p->hosts[host];

	if (h->linked)
		emit(p, (struct primary_act){ .kind = ACT_ORDER, .host = host, .number = h->order, .name = h->name });
}

void primary_joined(struct primary *p, uint32_t host, bool stopped)
{
	struct primary_host *h = &p->hosts[host];

	h->stopped = stopped;
	if (h->state == HOST_LOST) {
		give(p, host, "end"); /* the job went on without it */
		h->owes = false;
	} else if (h->state == HOST_SILENT) {
		h->state = HOST_JOINED;
		if (p->step == STEP_PROLOGUE || (h->excused && !p->over))
			give(p, host, ORDER_ADMIT);
		else if (p->step == STEP_END || p->over)
			give(p, host, "end");
		settle(p);
	} else if (h->state == HOST_JOINED && h->owes) {
		again(p, host);
	} else {
		align(p);
	}
}

void primary_failed(struct primary *p, uint32_t host, int32_t status, int32_t code, const char *text)
{
	if (p->hosts[host].state == HOST_SILENT && starts(p))
		lost(p, host, KEEL_STAGE_JOIN, status, code ? code : CODE_COMM, text);
	else if (p->hosts[host].state == HOST_SILENT)
		p->hosts[host].state = HOST_LOST;
	else if (p->hosts[host].state == HOST_JOINED)
		gone(p, host, "its part of the job is not there any more");
}

void primary_answer(struct primary *p, uint32_t host, uint64_t number, int32_t code, const char *text)
{
	struct primary_host *h = &p->hosts[host];

	if (!h->owes || number != h->order)
		return;
	h->owes = false;
	if (strcmp(h->name, ORDER_ADMIT) == 0 && code) {
		lost(p, host, KEEL_STAGE_PROLOGUE, code < 0 ? code : primary_refusal(code), code < 0 ? 0 : code, text);
		return;
	}
	if (code && p->step == STEP_ACT && strcmp(h->name, p->name) == 0)
		act_failed(p, code, text);
	else if (!code && (strcmp(h->name, "suspend") == 0 || strcmp(h->name, "resume") == 0))
		h->stopped = h->name[0] == 's';
	settle(p);
}

void primary_ended(struct primary *p, uint32_t host)
{
	struct primary_host *h = &p->hosts[host];

	if (h->state == HOST_LOST || h->state == HOST_RELEASED || h->state == HOST_ENDED)
		return;
	if (p->step != STEP_END && !p->over) {
		gone(p, host, "its part of the job has ended");
		return;
	}
	h->state = HOST_ENDED;
	settle(p);
}

void primary_nothing(struct primary *p, uint32_t host)
{
	if (!starts(p))
		gone(p, host, "it has no part of the job any more");
}

void primary_link(struct primary *p, uint32_t host, bool up, int64_t now)
{
	struct primary_host *h = &p->hosts[host];

	p->now_ms = now;
	if (h->linked == up)
		return;
	h->linked = up;
	h->met = h->met || up;
	h->away_ms = up ? 0 : now;
	h->say_ms = 0;
	if (up && h->state != HOST_RELEASED)
		emit(p, (struct primary_act){ .kind = ACT_ASK, .host = host });
}

/* While it runs, it has longer: primary_tick(). */
void primary_down(struct primary *p, uint32_t host)
{
	if (p->hosts[host].linked || !p->hosts[host].met || p->hosts[host].state == HOST_ENDED)
		return;
	if (starts(p) || p->step == STEP_END)
		gone(p, host, "the link to it is lost");
}

void primary_released(struct primary *p, uint32_t host)
{
	p->hosts[host].state = HOST_RELEASED;
	p->hosts[host].asked = p->hosts[host].owes = false;
	settle(p);
}

/* ---- time ------------------------------------------------------------------------------------------------- */
static void too_late(struct primary *p, uint32_t host)
{
	struct primary_host *h = &p->hosts[host];

	if (h->asked || !primary_waits_for(p, host))
		return;
	switch (p->step) {
	case STEP_JOIN:
		lost(p, host, KEEL_STAGE_JOIN, STATUS_JOIN, CODE_SILENT, "it has not joined in time");
		break;
	case STEP_ACT:
		h->owes = false;
		act_failed(p, CODE_COMM, "a host of the job does not answer");
		break;
	default:
		gone(p, host, "it does not answer");
	}
}

static void deadline(struct primary *p)
{
	enum primary_step step = p->step;

	p->deadline_ms = INT64_MAX;
	emit(p, (struct primary_act){ .kind = ACT_LATE });
	for (uint32_t i = 1; i < p->n && p->step == step; i++)
		too_late(p, i);
	settle(p);
}

static void away(struct primary *p, uint32_t host, bool alone)
{
	struct primary_host *h = &p->hosts[host];
	int64_t since = p->now_ms - h->away_ms;
	uint32_t i = 0;

	if (alone) {
		if (!p->cut_off)
			emit(p, (struct primary_act){ .kind = ACT_CUT_OFF, .host = host });
		h->away_ms = p->now_ms;
		h->say_ms = 0;
		return;
	}
	if (since >= p->downtime_ms) {
		lost(p, host, KEEL_STAGE_RUN, STATUS_LOST, CODE_COMM, "the link to it is lost");
		return;
	}
	if (p->now_ms < h->say_ms)
		return;
	emit(p, (struct primary_act){ .kind = ACT_AWAY, .host = host });
	while (i < 2 && h->say_ms && since >= say_after_ms[i])
		i++;
	h->say_ms = p->now_ms + say_after_ms[i];
}

void primary_tick(struct primary *p, int64_t now, bool alone)
{
	p->now_ms = now;
	if (p->step != STEP_NONE && now >= p->deadline_ms)
		deadline(p);
	if (!p->running || p->over || p->step == STEP_END)
		return;
	EACH(p, i) {
		const struct primary_host *h = &p->hosts[i];

		if (!h->linked && !h->asked && (h->state == HOST_JOINED || is_unheard(p, h)))
			away(p, i, alone);
	}
	p->cut_off = alone;
	align(p);
}
