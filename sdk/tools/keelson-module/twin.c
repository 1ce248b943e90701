/* SPDX-License-Identifier: Apache-2.0
 *
 * twin.c - a module in a process of its own, for a host that has no second process: what the daemon does in
 * kernel/isolate, but whoever asks waits for the answer.
 *
 *   host -> tap of the twin -> question -> keelson-modhost -> the module's tap
 *                                <- its questions, answered out of the host (isolate/answer.c)
 *   verdict <----------------- answer
 *
 * The process' clock is the host's: after each exchange it says when it has something to do, a timer of the
 * twin then gives it a turn. So both hosts do the same things at the same times.
 */
#include "twin.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_rows.h"
#include "twin_inside.h"
#include "util/version.h"

enum { TAPS_MAX = 256, CONTRIBS_MAX = 256, RULES_MAX = 256, SAME_POINT = 4 };

/* This process checks one module. */
static struct {
	char path[PATH_MAX];
	struct keel_module desc;
	struct keel_conf_rule rules[RULES_MAX];
	struct keel_tap taps[TAPS_MAX];
	struct keel_contrib contribs[CONTRIBS_MAX];
	struct keel_request_def requests[TWIN_REQUESTS];
} twin;

const char *twin_lost(void)
{
	return twin_seen.lost;
}

const char *twin_unopened(void)
{
	return twin_seen.unopened;
}

bool twin_watches(void)
{
	return twin_seen.watches;
}

static struct twin *twin_in(struct keel_mod *m)
{
	return m->state;
}

/* ---- taps ---------------------------------------------------------------------------------------------- */
/* The n-th tap of a point. */
static int64_t row_of(uint32_t point, unsigned nth)
{
	for (uint32_t i = 0; i < twin.desc.n_taps; i++)
		if (twin.taps[i].point == point && nth-- == 0)
			return i;
	return -1;
}

/* A handler of each type for each of the first taps of a point. */
#define HANDLER(name, kind, nth)                                                                   \
	static keel_verdict at_##name##_##nth(struct keel_call *c, const struct keel_ev_##name *ev)  \
	{                                                                                          \
		return twin_tap(c, KEEL_POINT_##name, KEEL_##kind, row_of(KEEL_POINT_##name, nth), ev); \
	}
#define HOOK(id, name, kind, daemon, doc)                                                          \
	HANDLER(name, kind, 0) HANDLER(name, kind, 1) HANDLER(name, kind, 2) HANDLER(name, kind, 3)
#include "keel/hook_points.def"
#undef HOOK

static bool handler_of(uint32_t point, unsigned nth, union keel_tap_fn *ret)
{
	static const struct {
		uint32_t point;
		union keel_tap_fn fn[SAME_POINT];
	} handlers[] = {
#define HOOK(id, name, kind, daemon, doc)                                                          \
	{ id, { { .name = at_##name##_0 }, { .name = at_##name##_1 }, { .name = at_##name##_2 },    \
		{ .name = at_##name##_3 } } },
#include "keel/hook_points.def"
#undef HOOK
	};

	for (size_t i = 0; i < KEEL_COUNT(handlers); i++)
		if (handlers[i].point == point && nth < SAME_POINT) {
			*ret = handlers[i].fn[nth];
			return true;
		}
	return false;
}

/* ---- life ---------------------------------------------------------------------------------------------- */
static int32_t step(struct twin *t, struct keel_err *err)
{
	struct talk_in in;
	int32_t code, pbse;

	if (!twin_ask(t, &in))
		return t->core->error(err, -ECHILD, "%s", twin_seen.lost);
	code = (int32_t)talk_int(&in);
	pbse = (int32_t)talk_int(&in);
	if (code == 0)
		return 0;
	t->core->error(err, code, "%s", talk_text(&in));
	if (err != NULL)
		err->code = pbse;
	return code;
}

static int32_t life(struct keel_mod *m, int64_t what, struct keel_err *err)
{
	struct twin *t = twin_in(m);
	int32_t ret;

	modhost_begin(&t->host, what);
	ret = step(t, err);
	twin_settle(t);
	return ret;
}

static int32_t file_open(struct twin *t, struct keel_err *err)
{
	struct talk_in in;
	struct mp *m = &t->host.out;
	int64_t code;

	modhost_begin(&t->host, TALK_OPEN);
	talk_put_int(m, TALK_VERSION);
	talk_put_str(m, KEELSON_VERSION_TEXT);
	talk_put_str(m, twin.path);
	talk_put_int(m, t->core->daemon(t->mod));
	talk_put_str(m, t->core->home(t->mod));
	talk_put_str(m, t->core->exec_dir(t->mod));
	talk_put_str(m, t->core->server_name(t->mod));
	talk_put_str(m, t->core->host_name(t->mod));
	if (!twin_ask(t, &in))
		return t->core->error(err, -ECHILD, "%s", twin_seen.lost);
	code = talk_int(&in);
	if (code == 0)
		return 0;
	snprintf(twin_seen.unopened, sizeof(twin_seen.unopened), "%s", talk_text(&in));
	return t->core->error(err, -EPROTO, "%s", twin_seen.unopened);
}

static int32_t conf_tell(struct twin *t, int64_t what, const void *conf, struct keel_err *err)
{
	modhost_begin(&t->host, what);
	talk_put_conf(&t->host.out, twin.rules, twin.desc.n_conf, conf);
	return step(t, err);
}

static void end(struct twin *t)
{
	t->core->timer_cancel(t->turn);
	t->turn = NULL;
	twin_requests_end(t);
	modhost_close(&t->host);
}

static int32_t init(struct keel_mod *m, struct keel_err *err)
{
	struct twin *t = twin_in(m);
	int64_t now = t->core->now_ms(m);
	int32_t ret;

	t->mod = m;
	twin_seen = (struct twin_seen){ .watches = false };
	t->host.heard = twin_heard;
	t->host.arg = t;
	if (!modhost_open(&t->host, m->name, now, t->core->time(m) * 1000000 - now * 1000))
		return t->core->error(err, -ECHILD, "%s", t->host.lost);
	ret = file_open(t, err);
	if (ret == 0)
		ret = conf_tell(t, TALK_CONF, m->conf, err);
	if (ret == 0)
		ret = life(m, TALK_INIT, err);
	if (ret != 0)
		end(t);
	return ret;
}

static int32_t start(struct keel_mod *m, struct keel_err *err)
{
	return life(m, TALK_START, err);
}

static int32_t reconf(struct keel_mod *m, const void *now, struct keel_err *err)
{
	struct twin *t = twin_in(m);
	int32_t ret = conf_tell(t, TALK_CONF, now, err);

	if (ret == 0)
		ret = conf_tell(t, TALK_RECONF, now, err);
	twin_settle(t);
	return ret;
}

static int32_t busy(struct keel_mod *m, struct keel_err *err)
{
	return life(m, TALK_BUSY, err);
}

static void stop(struct keel_mod *m)
{
	life(m, TALK_STOP, NULL);
}

static void fini(struct keel_mod *m)
{
	life(m, TALK_FINI, NULL);
	end(twin_in(m));
}

/* ---- the descriptor ------------------------------------------------------------------------------------ */
static const char *taps_take(const struct keel_module *m)
{
	uint32_t nth[KEEL_POINT_MAX] = { 0 };

	if (m->n_taps > TAPS_MAX)
		return "it has too many taps";
	for (uint32_t i = 0; i < m->n_taps; i++) {
		struct keel_tap *t = &twin.taps[i];

		*t = tap_row(m, i);
		t->size = sizeof(*t);
		if (t->point >= KEEL_POINT_MAX || !handler_of(t->point, nth[t->point]++, &t->fn))
			return "it has too many taps at one point";
	}
	twin.desc.taps = m->n_taps > 0 ? twin.taps : NULL;
	return NULL;
}

static const char *contribs_take(const struct keel_module *m)
{
	unsigned n = 0;

	if (m->n_contribs > CONTRIBS_MAX)
		return "it contributes too many rows";
	for (uint32_t i = 0; i < m->n_contribs; i++) {
		const struct keel_request_def *def = m->contribs[i].def;
		struct keel_request_def *own = &twin.requests[n];

		twin.contribs[i] = m->contribs[i];
		if (strcmp(m->contribs[i].kind, "REQUEST") != 0)
			continue;
		if (n == TWIN_REQUESTS)
			return "it has too many requests";
		memset(own, 0, sizeof(*own));
		memcpy(own, def, def->size < sizeof(*own) ? def->size : sizeof(*own));
		own->size = sizeof(*own);
		own->handler = twin_handler(n++, i);
		twin.contribs[i].def = own;
	}
	twin.desc.contribs = m->n_contribs > 0 ? twin.contribs : NULL;
	return NULL;
}

const struct keel_module *twin_of(const char *path, const struct keel_module *m, const char **ret_why)
{
	static const struct keel_need needs[] = {
		KEEL_NEED(core, 0, struct twin, core),	   KEEL_NEED(object, 0, struct twin, object),
		KEEL_NEED(call, 0, struct twin, call),	   KEEL_NEED(hook, 0, struct twin, hook),
		KEEL_NEED(msg, 0, struct twin, msg),	   KEEL_NEED(request, 0, struct twin, request),
	};

	*ret_why = "it has too many rules of configuration";
	if (m->n_conf > RULES_MAX)
		return NULL;
	if (realpath(path, twin.path) == NULL) {
		*ret_why = "its file is not there any more";
		return NULL;
	}
	twin.desc = *m;
	twin.desc.state_size = sizeof(struct twin);
	twin.desc.needs = needs;
	twin.desc.n_needs = KEEL_COUNT(needs);
	for (uint32_t i = 0; i < m->n_conf; i++)
		twin.rules[i] = conf_row(m, i);
	twin.desc.init = init;
	twin.desc.start = start;
	twin.desc.reconf = reconf;
	twin.desc.busy = m->busy != NULL ? busy : NULL;
	twin.desc.stop = stop;
	twin.desc.fini = fini;
	*ret_why = taps_take(m);
	if (*ret_why == NULL)
		*ret_why = contribs_take(m);
	return *ret_why == NULL ? &twin.desc : NULL;
}
