/* SPDX-License-Identifier: Apache-2.0
 *
 * part.c - what several simulated hosts have of one job: the states of modules/sisters, as that module has them.
 *
 *	start message -> sisters: ready; primary: JOIN -> PROLOGUE -> its task runs -> END -> it has ended
 */
#include <stdlib.h>
#include <string.h>

#include "msg/msg.h"
#include "part.h"

#ifdef HAS_SISTERS

#define TICK_MS 1000
#define JOIN_MS 30000 /* as modules/sisters has them */
#define PROLOGUE_MS 30000
#define ACT_MS 30000
#define END_MS 60000
#define END_DELAY_MS 2000
#define DOWNTIME_MS 300000
#define ORDER_MS 100 /* the longest that a prologue takes */
#define REFUSED 0.04 /* of the prologues of a job, some host's */
#define BUSY_MS 200
#define BADSTATE 15016
#define HOOK_REJECT 15169

/* ---- what they do -------------------------------------------------------------------------------------------- */

static void step(struct task *t, enum primary_step which, const char *name, int64_t within_ms)
{
	t->part->waits = which;
	primary_step(&t->part->primary, which, name, within_ms, t->host->sim->now_ms);
}

/* A step of the primary has passed (code 0), or not. */
static void stepped(struct task *t, enum primary_step which, int32_t status, int32_t code)
{
	struct part *p = t->part;

	if (which == STEP_JOIN || which == STEP_PROLOGUE) {
		if (t->state != 'B')
			return;
		if (code != 0)
			task_refuse(t, status);
		else if (which == STEP_JOIN)
			step(t, STEP_PROLOGUE, "prologue", PROLOGUE_MS);
		else
			task_run(t);
	} else if (which == STEP_ACT && p->acting) {
		p->acting = false;
		task_acted(t, p->act_name, p->act_number, code);
	} else if (which == STEP_END && p->ending && !p->over) {
		p->over = true;
		task_over(t);
	}
}

/* A step may end within the call that began it: what follows comes afterwards. */
static void steps_on(struct later *l)
{
	struct task *t = part_find(l->primary, l->id, l->run);

	if (t != NULL)
		stepped(t, (enum primary_step)l->number, l->status, l->code);
}

static void step_over(struct task *t, int32_t status, int32_t code)
{
	struct later *l = later_make(t, 0);

	l->number = t->part->waits;
	l->status = status;
	l->code = code;
	later_in(l, 0, steps_on);
}

static void order_send(struct task *t, const struct primary_act *a)
{
	struct later order = { .word = ORDER, .number = a->number };

	snprintf(order.name, sizeof(order.name), "%s", a->name);
	if (a->number > t->host->order)
		t->host->order = a->number;
	wire_send(t, a->host, order);
}

static void mate_lost(struct task *t, const struct primary_act *a)
{
	struct part *p = t->part;
	bool start = strcmp(a->stage, "join") == 0 || strcmp(a->stage, "prologue") == 0;
	bool tolerated = start ? p->tolerates_start : p->tolerates_run;

	trace(t->host->sim, "%s: %s is lost in stage %s: %s", t->id, p->hosts[a->host]->name, a->stage, a->text);
	p->lost |= tolerated;
	primary_verdict(&p->primary, a->host, a->status, a->code, a->text, tolerated);
}

static void primary_does(void *arg, const struct primary_act *a)
{
	struct task *t = arg;

	switch (a->kind) {
	case ACT_ASK:
		wire_send(t, a->host, (struct later){ .word = JOIN });
		break;
	case ACT_ORDER:
		order_send(t, a);
		break;
	case ACT_LOST:
		mate_lost(t, a);
		break;
	case ACT_PASS:
		step_over(t, 0, 0);
		break;
	case ACT_REFUSE:
		step_over(t, a->status != 0 ? a->status : STATUS_RETRY, a->code != 0 ? a->code : CODE_COMM);
		break;
	case ACT_FAIL:
		task_kill(t, 0, a->status);
		break;
	default:
		break;
	}
}

static void prologue_done(struct later *l)
{
	struct task *t = part_find(l->sister, l->id, l->run);
	struct sim *s = l->sim;

	if (t != NULL)
		sister_done(&t->part->sister, l->number, !s->calm && chance_is(&s->tasks, REFUSED / t->part->n) ? HOOK_REJECT : 0, "no");
}

static void sister_obeys(struct task *t, uint64_t number, const char *name)
{
	struct later *l;

	if (strcmp(name, "prologue") == 0) {
		l = later_make(t, t->part->index);
		l->number = number;
		later_in(l, chance_between(&l->sim->tasks, 1, ORDER_MS), prologue_done);
	} else if (strcmp(name, "suspend") == 0 || strcmp(name, "resume") == 0) {
		task_acted(t, name, (int64_t)number, 0);
	} else {
		if (strcmp(name, "end") == 0 || strcmp(name, "abort") == 0)
			task_kill(t, END_DELAY_MS, 0);
		sister_done(&t->part->sister, number, 0, NULL);
	}
}

static void sister_does(void *arg, const struct sister_act *a)
{
	struct task *t = arg;
	struct later l = { .number = a->number, .status = a->status, .code = a->code, .stopped = t->state == 'S' };

	switch (a->kind) {
	case DO_ORDER:
		sister_obeys(t, a->number, a->name);
		return;
	case DO_END:
		trace(t->host->sim, "%s ends its part of %s: the primary is lost", t->host->name, t->id);
		task_kill(t, END_DELAY_MS, 0);
		return;
	case SAY_JOINED:
		l.word = JOINED;
		break;
	case SAY_FAILED:
		l.word = FAILED;
		break;
	case SAY_ENDED:
		l.word = ENDED;
		l.left = t->leaving;
		break;
	case SAY_ANSWER:
		l.word = ANSWER;
		break;
	}
	wire_send(t, t->part->index, l);
}

/* ---- their life ---------------------------------------------------------------------------------------------- */

bool part_is_sister(const struct task *t)
{
	return t->part != NULL && t->part->index > 0;
}

static void tick(void *arg)
{
	struct task *t = arg;
	struct part *p = t->part;
	bool alone = !t->host->link.up;

	p->tick = loop_timer(t->host->sim->loop, TICK_MS, tick, t);
	if (p->index > 0) {
		sister_tick(&p->sister, t->host->sim->now_ms);
		return;
	}
	wires_try(t);
	for (uint32_t i = 1; i < p->n; i++)
		alone &= !p->mates[i].linked;
	p->primary.stopped = t->state == 'S';
	primary_tick(&p->primary, t->host->sim->now_ms, alone);
}

static void primary_start(struct task *t)
{
	struct part *p = t->part;

	memset(p->mates, 0, p->n * sizeof(*p->mates));
	memset(p->wires, 0, p->n * sizeof(*p->wires));
	p->primary = (struct primary){ .act = primary_does, .arg = t, .number = t->host->order, .downtime_ms = DOWNTIME_MS,
				       .running = task_is_alive(t), .over = t->state == 'E' || t->state == 'F',
				       .stopped = t->state == 'S' };
	primary_init(&p->primary, p->n, p->mates, t->host->sim->now_ms);
	for (uint32_t i = 1; i < p->n; i++)
		if (p->released[i])
			primary_released(&p->primary, i);
	p->acting = false;
	if (p->ending && !p->over)
		step(t, STEP_END, "end", END_MS);
}

static void sister_start(struct task *t)
{
	struct part *p = t->part;
	struct task *lead = part_find(p->hosts[0], t->id, t->run);

	p->sister = (struct sister){ .act = sister_does, .arg = t, .downtime_ms = DOWNTIME_MS };
	sister_init(&p->sister, t->host->sim->now_ms);
	if (task_is_alive(t))
		sister_ready(&p->sister);
	else if (t->state == 'F')
		sister_refused(&p->sister, t->status, HOOK_REJECT, "refused");
	else if (t->state == 'E')
		part_ended(t);
	if (lead != NULL && lead->part->wires[p->index].up)
		wire_taken(t, &lead->part->wires[p->index]);
}

void part_start(struct task *t)
{
	if (t->part == NULL)
		return;
	if (t->part->index == 0)
		primary_start(t);
	else
		sister_start(t);
	t->part->tick = loop_timer(t->host->sim->loop, 1, tick, t);
}

void part_stop(struct task *t)
{
	struct part *p = t->part;
	struct task *lead;

	if (p == NULL)
		return;
	loop_timer_cancel(p->tick);
	p->tick = NULL;
	for (uint32_t i = 1; p->index == 0 && i < p->n; i++)
		wire_cut(t, i);
	lead = p->index > 0 ? part_find(p->hosts[0], t->id, t->run) : NULL;
	if (lead != NULL)
		wire_cut(lead, p->index);
}

void part_free(struct part *p)
{
	if (p == NULL)
		return;
	loop_timer_cancel(p->tick);
	free(p->hosts);
	free(p->share);
	free(p->mates);
	free(p->released);
	free(p->wires);
	free(p);
}

/* ---- what happens to their tasks ------------------------------------------------------------------------------ */

bool part_set_up(struct task *t)
{
	if (t->part == NULL)
		return false;
	if (t->part->index == 0)
		step(t, STEP_JOIN, "join", JOIN_MS);
	else
		sister_ready(&t->part->sister);
	return t->part->index == 0;
}

void part_runs(struct task *t)
{
	if (t->part != NULL)
		primary_runs(&t->part->primary);
}

void part_refused(struct task *t)
{
	if (part_is_sister(t))
		sister_refused(&t->part->sister, t->status, HOOK_REJECT, "refused");
}

bool part_is_ending(const struct task *t)
{
	return t->part != NULL && t->part->ending;
}

bool part_ends(struct task *t)
{
	struct part *p = t->part;

	if (p == NULL || p->index > 0 || p->over || t->discarded || !task_is_alive(t))
		return false;
	p->ending = true;
	if (p->acting) {
		p->acting = false;
		task_acted(t, p->act_name, p->act_number, BADSTATE);
	}
	p->primary.step = STEP_NONE;
	step(t, STEP_END, "end", END_MS);
	return true;
}

void part_ended(struct task *t)
{
	if (!part_is_sister(t))
		return;
	sister_ended(&t->part->sister);
	sister_drained(&t->part->sister);
}

static void act_again(struct later *l)
{
	struct task *t = part_find(l->primary, l->id, l->run);

	if (t != NULL && !part_acts(t, l->name, (int64_t)l->number))
		task_acted(t, l->name, (int64_t)l->number, 0);
}

bool part_acts(struct task *t, const char *name, int64_t number)
{
	struct part *p = t->part;
	struct later *l;

	if (p == NULL || p->index > 0 || p->ending || t->state != (name[0] == 's' ? 'R' : 'S'))
		return false;
	if (p->primary.step != STEP_NONE || p->acting || t->stop_timer != NULL) {
		l = later_make(t, 0);
		l->number = (uint64_t)number;
		snprintf(l->name, sizeof(l->name), "%s", name);
		later_in(l, BUSY_MS, act_again);
		return true;
	}
	p->acting = true;
	p->act_number = number;
	snprintf(p->act_name, sizeof(p->act_name), "%s", name);
	step(t, STEP_ACT, name, ACT_MS);
	return true;
}

bool part_answer(struct task *t, int64_t number, int32_t code)
{
	if (part_is_sister(t))
		sister_done(&t->part->sister, (uint64_t)number, code, "no");
	return part_is_sister(t);
}

/* A primary whose hosts are not all linked, or do something. */
bool part_is_moving(const struct task *t)
{
	const struct part *p = t->part;

	if (p == NULL || p->index > 0)
		return false;
	if (p->ending || p->acting || p->primary.step != STEP_NONE)
		return true;
	for (uint32_t i = 1; i < p->n; i++)
		if (!p->released[i] && (!p->mates[i].linked || p->mates[i].owes))
			return true;
	return false;
}

bool part_may_lack(const struct task *t)
{
	return t->part != NULL && t->part->lost;
}

const char *part_share(const struct task *t)
{
	return t->part != NULL ? t->part->share : NULL;
}

/* ---- the start message ------------------------------------------------------------------------------------------- */

/* "name address key ncpus share" */
static bool line_take(struct sim *s, struct part *p, uint32_t i, const char *line)
{
	char *copy = strdup(line), *rest = copy, *name = strsep(&rest, " "), *share = strrchr(line, ' ');

	p->hosts[i] = host_find(s, name);
	if (i == p->index && share != NULL)
		p->share = strdup(share + 1);
	free(copy);
	return p->hosts[i] != NULL;
}

struct part *part_make(struct host *h, const struct keel_msg *m)
{
	const char *tolerate = msg_api.str(m, "tolerate");
	uint32_t n = 0;
	const char *const *lines = msg_api.strings(m, "hosts", &n);
	int64_t index = msg_api.integer(m, "index", 0);
	struct part *p;

	if (lines == NULL || n == UINT32_MAX || n < 2)
		return NULL;
	p = calloc(1, sizeof(*p));
	*p = (struct part){ .index = (uint32_t)index, .n = n, .hosts = calloc(n, sizeof(struct host *)),
			    .mates = calloc(n, sizeof(struct primary_host)), .wires = calloc(n, sizeof(struct wire)),
			    .released = calloc(n, sizeof(bool)) };
	p->tolerates_run = tolerate != NULL && strcmp(tolerate, "all") == 0;
	p->tolerates_start = p->tolerates_run || (tolerate != NULL && strcmp(tolerate, "job_start") == 0);
	for (uint32_t i = 0; i < n; i++)
		if (!line_take(h->sim, p, i, lines[i]))
			sim_wrong(h->sim, "a start message names a host that is not there: %s", lines[i]);
	if (index < 0 || index >= n || p->hosts[index] != h)
		sim_wrong(h->sim, "%s got the part of another host: index %lld", h->name, (long long)index);
	return p;
}

/* A job that has fewer hosts, or less on this one. */
void part_resize(struct task *t, const struct keel_msg *m)
{
	struct part *p = t->part;
	uint32_t n = 0;
	const char *const *lines = msg_api.strings(m, "hosts", &n);

	if (p == NULL || lines == NULL || n == UINT32_MAX)
		return;
	for (uint32_t i = 0; i < p->n; i++) {
		size_t len = strlen(p->hosts[i]->name);
		uint32_t k = 0;

		while (k < n && (strncmp(lines[k], p->hosts[i]->name, len) != 0 || lines[k][len] != ' '))
			k++;
		if (k < n && i == p->index) {
			free(p->share);
			p->share = strdup(strrchr(lines[k], ' ') + 1);
		} else if (k == n && p->index == 0 && i > 0 && !p->released[i]) {
			p->released[i] = true;
			primary_released(&p->primary, i);
		}
	}
}
#else /* modules/sisters was deleted: no job has more than one host */
struct part *part_make(struct host *h, const struct keel_msg *m) { (void)h, (void)m; return NULL; }
bool part_is_sister(const struct task *t) { (void)t; return false; }
void part_start(struct task *t) { (void)t; }
void part_stop(struct task *t) { (void)t; }
void part_free(struct part *p) { (void)p; }
bool part_set_up(struct task *t) { (void)t; return false; }
void part_runs(struct task *t) { (void)t; }
void part_refused(struct task *t) { (void)t; }
bool part_is_ending(const struct task *t) { (void)t; return false; }
bool part_ends(struct task *t) { (void)t; return false; }
void part_ended(struct task *t) { (void)t; }
bool part_acts(struct task *t, const char *name, int64_t number) { (void)t, (void)name, (void)number; return false; }
bool part_answer(struct task *t, int64_t number, int32_t code) { (void)t, (void)number, (void)code; return false; }
bool part_is_moving(const struct task *t) { (void)t; return false; }
bool part_may_lack(const struct task *t) { (void)t; return false; }
const char *part_share(const struct task *t) { (void)t; return NULL; }
void part_resize(struct task *t, const struct keel_msg *m) { (void)t, (void)m; }
#endif
