/* SPDX-License-Identifier: Apache-2.0
 *
 * periodic.c - the event periodic of a server: a timer for each hook that has it. A run begins every `freq`
 * seconds after the one before began; one that still goes makes the next be passed over.
 */
#include "run.h"
#include "server.h"

#include <stdlib.h>
#include <time.h>

#define SECONDS_MAX INT64_C(1000000000)

struct timed {
	struct state *st;
	struct hook *hook;
	struct keel_timer *timer;
	int64_t freq;  /* seconds, that the timer goes by */
	int64_t begin; /* ms, as keel_now_ms(): when the next run begins */
};

/* ---- timers ------------------------------------------------------------------------------------------------- */
static void timed_fired(struct keel_mod *mod, void *arg);

static void timed_wait(struct timed *t)
{
	struct keel_mod *mod = t->st->mod;
	const int64_t wait = t->begin - keel_now_ms(mod);
	time_t when = (time_t)(keel_time(mod) + (wait > 0 ? (wait + 500) / 1000 : 0));
	char text[64] = "";
	struct tm tm;

	t->timer = keel_timer(mod, wait > 0 ? wait : 0, timed_fired, t);
	if (localtime_r(&when, &tm))
		strftime(text, sizeof(text), "%a %b %d %H:%M:%S %Y", &tm);
	keel_log(mod, KEEL_LOG_DEBUG3, "Hook", t->hook->name, "will run on %s", text);
}

static void timed_fired(struct keel_mod *mod, void *arg)
{
	struct timed *t = arg;
	const int64_t now = keel_now_ms(mod);

	t->timer = NULL;
	t->begin += t->freq * 1000;
	if (t->begin <= now) /* this daemon stood still for longer */
		t->begin = now + t->freq * 1000;
	timed_wait(t);
	if (!run_goes(t->st, t->hook, EVENT_periodic) && run_now(t->st, EVENT_periodic, t->hook, NULL, NULL) < 0)
		keel_log(mod, KEEL_LOG_ERROR, "Hook", t->hook->name, "no memory for its run: it is passed over");
}

static void timed_begin(struct state *st, struct hook *h)
{
	struct timed *t = h->timed ? h->timed : calloc(1, sizeof(*t));

	if (!t)
		return;
	*t = (struct timed){ .st = st, .hook = h, .freq = h->freq < SECONDS_MAX ? h->freq : SECONDS_MAX };
	t->begin = keel_now_ms(st->mod) + t->freq * 1000;
	h->timed = t;
	timed_wait(t);
}

static void timed_end(struct hook *h)
{
	if (!h->timed)
		return;
	keel_timer_cancel(h->timed->timer);
	free(h->timed);
	h->timed = NULL;
}

void timed_follow(struct state *st, struct hook *h)
{
	const int64_t freq = h->freq < SECONDS_MAX ? h->freq : SECONDS_MAX;

	if (keel_daemon(st->mod) & KEEL_MOM)
		hostwide_follow(st, h);
	if (!(keel_daemon(st->mod) & KEEL_SERVER))
		return;
	if (!hook_has(h, EVENT_periodic) || !h->script) {
		timed_end(h);
	} else if (!h->timed) {
		timed_begin(st, h);
	} else if (h->timed->freq != freq) {
		keel_timer_cancel(h->timed->timer);
		timed_begin(st, h);
	}
}

void timed_free(struct state *st, struct hook *h)
{
	if (keel_daemon(st->mod) & KEEL_MOM)
		hostwide_free(st, h);
	timed_end(h);
}

/* ---- the event ---------------------------------------------------------------------------------------------- */
#define WHOLE_MAX 100		     /* objects of a class that are sent as they are; of more there are names */
#define NAMES_MAX (384u * 1024u) /* bytes of names */

static void list_pack(struct state *st, struct pack *params, const char *key, const char *klass)
{
	const bool whole = keel_count(st->mod, klass) <= WHOLE_MAX;
	struct keel_cursor *walk = keel_cursor(st->mod, klass);
	struct keel_obj *obj;
	uint32_t map, n = 0, begin;

	params->failed |= !walk;
	pack_key(params, key);
	begin = params->len;
	map = pack_open_map(params);
	while (walk && (obj = keel_next(walk)) && params->len - begin < NAMES_MAX) {
		pack_key(params, keel_id(obj));
		if (whole)
			pack_object(st, params, obj, NULL, NULL);
		else
			pack_nothing(params);
		n++;
	}
	pack_close(params, map, n);
	if (n < keel_count(st->mod, klass))
		keel_log(st->mod, KEEL_LOG_ERROR, "Hook", "periodic", "%s has %u of %u: their names are longer than %u bytes", key, n,
			 keel_count(st->mod, klass), NAMES_MAX);
	if (walk)
		keel_cursor_close(walk);
}

int32_t server_fill_periodic(struct run *r, const void *event, struct pack *params)
{
	(void)event;
	server_about(r, "", NULL);
	list_pack(r->st, params, "vnode_list", "node");
	list_pack(r->st, params, "resv_list", "resv");
	return 2;
}

keel_verdict server_settle_periodic(struct run *r, struct keel_call *c, const struct result *result)
{
	(void)c;
	server_restarts_cycle(r, result);
	if (result->how == ACCEPTED) {
		keel_log(r->st->mod, KEEL_LOG_DEBUG2, "Hook", r->name, "periodic hook accepted");
		vnodes_change_all(r->st, r->name, result);
	} else {
		run_exit_log(r, result);
	}
	return KEEL_NEXT;
}
