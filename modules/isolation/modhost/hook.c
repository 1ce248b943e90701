/* SPDX-License-Identifier: Apache-2.0
 *
 * hook.c - the group hook: points are raised by the daemon, and who waits hears of the outcome later. Taps are those of the
 * descriptor.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "host.h"
#include "keel/sized.h"

struct raised {
	struct raised *prev, *next;
	int64_t number;
	keel_outcome_fn *done;
	void *arg;
};

/* The event of a point of the map, whole; NULL: it cannot be sent. */
static const struct map_point *event_whole(uint32_t point, const void *event, union event_room *ret)
{
	const struct map_point *p = event ? map_point(point) : NULL;

	memset(ret, 0, sizeof(*ret));
	if (p)
		keel_sized(ret->bytes, p->event_size, event);
	return p;
}

/* ---- GATE and ASK ------------------------------------------------------------------------------------ */
static void complain(uint32_t point, const char *why)
{
	char text[256];

	snprintf(text, sizeof(text), "module %s raised point %u: %s", host.name, point, why);
	host_log(KEEL_LOG_ERROR, text);
}

static keel_verdict fail(const struct keel_raise *r, const char *why)
{
	complain(r->point, why);
	if (r->done)
		r->done(&host.mod, r->arg, &(struct keel_outcome){ .size = sizeof(struct keel_outcome), .verdict = KEEL_FAIL,
								    .text = why });
	return KEEL_FAIL;
}

static keel_verdict raise_point(struct keel_mod *m, const struct keel_raise *theirs)
{
	struct keel_outcome o = { .size = sizeof(o) };
	union event_room event;
	struct keel_raise r;
	struct raised *w;
	struct answer a;

	KEEL_SIZED(&r, theirs);
	if (r.changes || r.req)
		return fail(&r, "a module in a process of its own has no change sets, and no requester to give");
	if (!event_whole(r.point, r.event, &event))
		return fail(&r, "it is not a point that a module in a process of its own can raise");
	ask_event(&a, UP_raise, r.point, &event);
	o.verdict = (keel_verdict)take_int(&a.in);
	if (o.verdict == KEEL_WAIT) {
		w = own(malloc(sizeof(*w)));
		*w = (struct raised){ .number = take_int(&a.in), .done = r.done, .arg = r.arg };
		DL_APPEND(host.raised, w);
	} else if (r.done) {
		o.code = (int32_t)take_int(&a.in);
		o.text = take_str(&a.in);
		o.by = take_str(&a.in);
		r.done(m, r.arg, &o);
	}
	ask_end(&a);
	return o.verdict;
}

void on_outcome(const struct value *v, struct talk_in *in)
{
	const struct keel_outcome o = { .size = sizeof(o), .verdict = (keel_verdict)v[1].i, .code = (int32_t)v[2].i,
					.text = v[3].s, .by = v[4].s };
	struct raised *w, was;

	(void)in;
	DL_FOREACH(host.raised, w) {
		if (w->number == v[0].i)
			break;
	}
	if (w) {
		was = *w;
		DL_DELETE(host.raised, w);
		free(w);
		if (was.done)
			was.done(&host.mod, was.arg, &o);
	}
	reply_begin();
	frame_end();
}

/* ---- NOTE and FOLD ------------------------------------------------------------------------------------- */
static void raise_note(struct keel_mod *m, uint32_t point, const void *theirs)
{
	union event_room event;
	const struct map_point *p = event_whole(point, theirs, &event);
	struct answer a;

	(void)m;
	if (!p || p->kind != KEEL_NOTE)
		return;
	ask_event(&a, UP_note, point, &event);
	ask_end(&a);
}

static int64_t raise_fold(struct keel_mod *m, uint32_t point, const void *theirs, char *buf, uint32_t len)
{
	union event_room event;
	const struct map_point *p = event_whole(point, theirs, &event);
	const char *text, *why;
	struct answer a;
	int64_t sum;

	(void)m;
	if (buf && len > 0)
		buf[0] = '\0';
	if (!p || p->kind != KEEL_FOLD)
		return 0;
	ask_event(&a, UP_fold, point, &event, (int64_t)(buf ? len : 0));
	sum = take_int(&a.in);
	text = take_str(&a.in);
	if (buf && len > 0)
		snprintf(buf, len, "%s", text ? text : "");
	why = take_str(&a.in);
	if (why)
		complain(point, why);
	ask_end(&a);
	return sum;
}

/* ---- the rest ------------------------------------------------------------------------------------------- */
static bool hook_tapped(struct keel_mod *m, uint32_t point)
{
	(void)m;
	return ask_code(UP_tapped, (int64_t)point) == 1;
}

static int32_t hook_tap_add(struct keel_mod *m, uint32_t point, const char *name, int32_t order, keel_any_fn *fn, void *arg,
			    struct keel_err *err)
{
	(void)m, (void)point, (void)order, (void)fn, (void)arg;
	return fail_with(err, -ENOTSUP, "tap %s cannot be added: the taps of a module in a process of its own are those of its "
			 "descriptor", name ? name : "");
}

static void hook_tap_remove(struct keel_mod *m, uint32_t point, const char *name)
{
	(void)m, (void)point, (void)name;
}

static int32_t hook_holds_text(struct keel_mod *m, const char *id, char *buf, uint32_t len)
{
	struct answer a;

	(void)m;
	ask(&a, UP_holds_text, id);
	return text_take(&a, buf, len);
}

static uint32_t hook_point(struct keel_mod *m, const char *name)
{
	(void)m;
	for (uint32_t id = 1; name && id < KEEL_POINT_MAX; id++)
		if (map_point(id) && strcmp(map_point(id)->name, name) == 0)
			return id;
	return 0;
}

static int32_t hook_about(struct keel_mod *m, uint32_t point, struct keel_about_point *ret)
{
	const struct map_point *p = map_point(point);
	struct keel_about_point d = { .size = sizeof(d), .doc = "" };

	(void)m;
	if (!p)
		return -ENOENT;
	d.kind = p->kind;
	d.name = p->name;
	d.event_size = p->event_size;
	d.fields = p->fields(&d.n_fields);
	keel_sized_give(ret, &d);
	return 0;
}

static int32_t hook_end(struct keel_mod *m, const void *arg)
{
	(void)m, (void)arg;
	return -ENOTSUP;
}

static int32_t hook_replay(struct keel_mod *m)
{
	(void)m;
	return -ENOTSUP;
}

static void hook_bench(struct keel_mod *m)
{
	(void)m;
}

const struct keel_hook_api host_hook = {
	.size = sizeof(host_hook), .raise = raise_point, .note = raise_note, .fold = raise_fold, .tapped = hook_tapped,
	.tap_add = hook_tap_add, .tap_remove = hook_tap_remove, .holds_text = hook_holds_text,
	.point = hook_point, .about = hook_about, .end = hook_end, .replay = hook_replay, .bench = hook_bench,
};
