/* SPDX-License-Identifier: Apache-2.0
 *
 * part.c - what several simulated hosts have of one job: the states of modules/sisters, as that module has them, and links
 * between hosts that lose, delay and repeat what is said.
 *
 *	start message -> sisters: ready; primary: JOIN -> PROLOGUE -> its task runs -> END -> it has ended
 *
 * A wire is the link between a primary and one of its sisters. Each end notices some time later that it is cut, and the
 * primary links again. Timers hold no pointers to parts: an end finds its part, or it is gone.
 */
#include <stdlib.h>
#include <string.h>

#include "msg/msg.h"
#include "sim.h"

#if __has_include("sisters/primary.h")
#include "sisters/primary.h"
#include "sisters/sister.h"

#define TICK_MS 1000
#define JOIN_MS 30000 /* as modules/sisters has them */
#define PROLOGUE_MS 30000
#define ACT_MS 30000
#define END_MS 60000
#define END_DELAY_MS 2000
#define DOWNTIME_MS 300000
#define GRACE_MS 15000
#define NOTICE_MS 12000
#define BACKOFF_MS 5000
#define ORDER_MS 100 /* the longest that a prologue takes */
#define LATE_MS 8000
#define REFUSED 0.04 /* of the prologues of a job, some host's */
#define BUSY_MS 200
#define BADSTATE 15016
#define HOOK_REJECT 15169

struct wire {
	uint32_t epoch;
	bool up;
	int64_t retry_ms, last_ms[2];
};

struct part {
	uint32_t index, n;
	struct host **hosts;
	char *share;	     /* of exec_vnode, on this host */
	bool tolerates_start, tolerates_run;
	bool ending, over;   /* the program has ended; the other hosts too */
	bool lost;	     /* it went on without a host */
	enum primary_step waits; /* for this one to pass */
	bool acting;	     /* for the server's question: */
	int64_t act_number;
	char act_name[16];
	struct primary primary;
	struct primary_host *mates;
	bool *released;	     /* hosts that the job does not have any more */
	struct wire *wires;  /* of a primary */
	struct sister sister;
	uint32_t epoch;	     /* of a sister: the wire that it believes to be up */
	struct loop_timer *tick;
};

enum word { JOIN, ORDER, JOINED, NONE, FAILED, ENDED, ANSWER };

/* Something that happens later: a word that arrives, or what an end notices. */
struct later {
	struct sim *sim;
	struct host *primary, *sister;
	char *id;
	int64_t run;
	uint32_t index, epoch; /* of the sister, of the wire */
	enum word word;
	uint64_t number;
	char name[PRIMARY_NAME_MAX + 1];
	int32_t status, code;
	bool stopped, left; /* left: the server has given it up */
	void (*fn)(struct later *);
};

static struct task *run_find(struct host *h, const char *id, int64_t run)
{
	struct task *t;

	HASH_FIND_STR(h->tasks, id, t);
	return h->alive && t != NULL && t->run == run && t->part != NULL ? t : NULL;
}

static void happens(void *arg)
{
	struct later *l = arg;

	l->fn(l);
	free(l->id);
	free(l);
}

/* About the wire of a sister, whichever end it is seen from. */
static struct later *later_make(const struct task *t, uint32_t index)
{
	struct later *l = calloc(1, sizeof(*l));

	*l = (struct later){ .sim = t->host->sim, .primary = t->part->hosts[0], .sister = t->part->hosts[index],
			     .id = strdup(t->id), .run = t->run, .index = index };
	return l;
}

static void later_in(struct later *l, int64_t ms, void (*fn)(struct later *))
{
	l->fn = fn;
	loop_timer(l->sim->loop, ms, happens, l);
}

/* ---- wires ------------------------------------------------------------------------------------------------ */

static struct wire *wire_of(struct later *l)
{
	struct task *t = run_find(l->primary, l->id, l->run);
	struct wire *w = t != NULL ? &t->part->wires[l->index] : NULL;

	return w != NULL && w->epoch == l->epoch ? w : NULL;
}

static void grace_over(struct later *l)
{
	struct wire *w = wire_of(l);

	if (w != NULL && !w->up)
		primary_down(&run_find(l->primary, l->id, l->run)->part->primary, l->index);
}

static void primary_notices(struct later *l)
{
	struct wire *w = wire_of(l);
	struct task *t = run_find(l->primary, l->id, l->run);
	struct later *grace;

	if (w == NULL || w->up)
		return;
	w->retry_ms = l->sim->now_ms + chance_between(&l->sim->net, 0, BACKOFF_MS);
	grace = later_make(t, l->index);
	grace->epoch = l->epoch;
	later_in(grace, GRACE_MS, grace_over);
	primary_link(&t->part->primary, l->index, false, l->sim->now_ms);
}

static void sister_notices(struct later *l)
{
	struct task *t = run_find(l->sister, l->id, l->run);

	if (t != NULL && t->part->epoch == l->epoch)
		sister_link(&t->part->sister, false, l->sim->now_ms);
}

static void notice(const struct task *t, uint32_t index, uint32_t epoch, void (*fn)(struct later *))
{
	struct later *l = later_make(t, index);

	l->epoch = epoch;
	later_in(l, chance_between(&l->sim->net, 0, NOTICE_MS), fn);
}

/* `t` is the primary's. */
static void wire_cut(const struct task *t, uint32_t index)
{
	struct wire *w = &t->part->wires[index];

	if (!w->up)
		return;
	w->up = false;
	notice(t, index, w->epoch, primary_notices);
	notice(t, index, w->epoch, sister_notices);
}

static void sister_wired(struct task *t, const struct wire *w)
{
	t->part->epoch = w->epoch;
	sister_link(&t->part->sister, false, t->host->sim->now_ms);
	sister_link(&t->part->sister, true, t->host->sim->now_ms);
}

static void wires_try(struct task *t)
{
	struct part *p = t->part;
	struct sim *s = t->host->sim;

	for (uint32_t i = 1; i < p->n; i++) {
		struct wire *w = &p->wires[i];
		struct task *other;

		if (w->up || p->released[i] || p->mates[i].linked || w->retry_ms > s->now_ms || !p->hosts[i]->alive)
			continue;
		*w = (struct wire){ .epoch = ++s->wires, .up = true, .last_ms = { s->now_ms, s->now_ms } };
		other = run_find(p->hosts[i], t->id, t->run);
		if (other != NULL)
			sister_wired(other, w);
		primary_link(&p->primary, i, true, s->now_ms);
	}
}

/* ---- words ------------------------------------------------------------------------------------------------- */

static void send(const struct task *from, uint32_t index, struct later what);

static void primary_hears(struct later *l)
{
	struct task *t = wire_of(l) != NULL && wire_of(l)->up ? run_find(l->primary, l->id, l->run) : NULL;
	struct primary *p = t != NULL ? &t->part->primary : NULL;

	if (p == NULL)
		return;
	switch (l->word) {
	case JOINED:
		primary_joined(p, l->index, l->stopped);
		break;
	case FAILED:
		primary_failed(p, l->index, l->status, l->code, "refused");
		break;
	case ANSWER:
		primary_answer(p, l->index, l->number, l->code, "no");
		break;
	case ENDED:
		if (l->left && l->index < t->part->n)
			t->part->released[l->index] = true;
		if (l->left)
			primary_released(p, l->index);
		else
			primary_ended(p, l->index);
		break;
	default:
		primary_nothing(p, l->index);
	}
}

static void sister_hears(struct later *l)
{
	struct task *lead = wire_of(l) != NULL && wire_of(l)->up ? run_find(l->primary, l->id, l->run) : NULL;
	struct task *t = run_find(l->sister, l->id, l->run);

	if (lead == NULL || !l->sister->alive)
		return;
	if (t == NULL) {
		if (l->word == JOIN)
			send(lead, l->index, (struct later){ .word = NONE });
	} else if (l->word == JOIN) {
		sister_asked(&t->part->sister);
	} else {
		sister_order(&t->part->sister, l->number, l->name);
	}
}

static void send(const struct task *from, uint32_t index, struct later what)
{
	struct sim *s = from->host->sim;
	struct task *lead = run_find(from->part->hosts[0], from->id, from->run);
	struct wire *w = lead != NULL ? &lead->part->wires[index] : NULL;
	int64_t at_ms = s->now_ms + chance_between(&s->net, 0, 2);
	int to = what.word >= JOINED;

	if (w == NULL || !w->up)
		return;
	if (!s->calm && chance_is(&s->net, s->conf.faults.drop)) {
		trace(s, "%s %s %s wire breaks", from->id, lead->host->name, from->part->hosts[index]->name);
		wire_cut(lead, index);
		return;
	}
	if (!s->calm && chance_is(&s->net, s->conf.faults.delay))
		at_ms += chance_between(&s->net, 1, LATE_MS);
	if (at_ms < w->last_ms[to])
		at_ms = w->last_ms[to];
	w->last_ms[to] = at_ms;
	for (int i = 0; i == 0 || (i == 1 && !s->calm && chance_is(&s->net, s->conf.faults.dup)); i++) {
		struct later *l = later_make(from, index);

		l->epoch = w->epoch;
		l->word = what.word;
		l->number = what.number;
		l->status = what.status;
		l->code = what.code;
		l->stopped = what.stopped;
		memcpy(l->name, what.name, sizeof(l->name));
		later_in(l, at_ms - s->now_ms, to ? primary_hears : sister_hears);
	}
}

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
	struct task *t = run_find(l->primary, l->id, l->run);

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
	send(t, a->host, order);
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
		send(t, a->host, (struct later){ .word = JOIN });
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
	struct task *t = run_find(l->sister, l->id, l->run);
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
	send(t, t->part->index, l);
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
	struct task *lead = run_find(p->hosts[0], t->id, t->run);

	p->sister = (struct sister){ .act = sister_does, .arg = t, .downtime_ms = DOWNTIME_MS };
	sister_init(&p->sister, t->host->sim->now_ms);
	if (task_is_alive(t))
		sister_ready(&p->sister);
	else if (t->state == 'F')
		sister_refused(&p->sister, t->status, HOOK_REJECT, "refused");
	else if (t->state == 'E')
		part_ended(t);
	if (lead != NULL && lead->part->wires[p->index].up)
		sister_wired(t, &lead->part->wires[p->index]);
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
	lead = p->index > 0 ? run_find(p->hosts[0], t->id, t->run) : NULL;
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
	struct task *t = run_find(l->primary, l->id, l->run);

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
	const char *tolerate = msg_api()->str(m, "tolerate");
	uint32_t n = 0;
	const char *const *lines = msg_api()->strings(m, "hosts", &n);
	int64_t index = msg_api()->integer(m, "index", 0);
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
	const char *const *lines = msg_api()->strings(m, "hosts", &n);

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
