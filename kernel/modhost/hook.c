/* SPDX-License-Identifier: Apache-2.0
 *
 * hook.c - the group "hook": points are raised in raise.c; taps are those of the descriptor. Points that modules publish
 * stay in the daemon.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "keel/sized.h"
#include "modhost/host.h"
#include "util/err.h"

static bool hook_tapped(struct keel_mod *m, uint32_t point)
{
	struct host *h = host_of(m);

	ask_begin(h, ASK_TAPPED);
	talk_put_int(&h->out, point);
	return ask_code(h) == 1;
}

static int32_t hook_tap_add(struct keel_mod *m, uint32_t point, const char *name, int32_t order,
			    keel_any_fn *fn, void *arg, struct keel_err *err)
{
	(void)m, (void)point, (void)order, (void)fn, (void)arg;
	return err_set(err, -ENOTSUP, "tap %s cannot be added: the taps of a module in a process of its own are "
				      "those of its descriptor", name != NULL ? name : "");
}

static void hook_tap_remove(struct keel_mod *m, uint32_t point, const char *name)
{
	(void)m, (void)point, (void)name;
}

static int32_t hook_holds_text(struct keel_mod *m, const char *id, char *buf, uint32_t len)
{
	struct host *h = host_of(m);
	struct answer a;
	int32_t code;

	ask_begin(h, ASK_HOLDS_TEXT);
	talk_put_str(&h->out, id);
	ask(h, &a);
	code = (int32_t)talk_int(&a.in);
	if (len > 0)
		snprintf(buf, len, "%s", talk_text(&a.in));
	ask_end(&a);
	return code;
}

static uint32_t hook_point(struct keel_mod *m, const char *name)
{
	struct hooks_point p;

	(void)m;
	for (uint32_t id = 1; name != NULL && id < KEEL_POINT_OWN; id++) {
		if (hooks_point(id, &p) && strcmp(p.name, name) == 0)
			return id;
	}
	return 0;
}

int32_t map_about(struct keel_mod *m, uint32_t point, struct keel_point_def *ret)
{
	struct keel_point_def d = { .size = sizeof(d), .doc = "" };
	struct hooks_point p;

	(void)m;
	if (!hooks_point(point, &p))
		return -ENOENT;
	d.kind = p.kind;
	d.name = p.name;
	d.event_size = p.event_size;
	d.fields = hooks_fields(point, &d.n_fields);
	keel_sized_give(ret, &d);
	return 0;
}

static int32_t hook_end(struct keel_mod *m, const void *arg)
{
	(void)m, (void)arg;
	return -ENOTSUP;
}

const struct keel_hook_api host_hook = {
	.size = sizeof(host_hook),
	.version = KEEL_ABI_MINOR,
	.raise = raise_point,
	.note = raise_note,
	.fold = raise_fold,
	.tapped = hook_tapped,
	.tap_add = hook_tap_add,
	.tap_remove = hook_tap_remove,
	.fields = hooks_fields,
	.holds_text = hook_holds_text,
	.point = hook_point,
	.about = map_about,
	.end = hook_end,
};
