/* SPDX-License-Identifier: Apache-2.0
 *
 * hooks.c - the engine as a whole: its life, and the group "hook".
 */
#include "hook/hooks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hook/inside.h"
#include "keel/sized.h"
#include "log/log.h"
#include "registry/registry.h"

/* ---- the group "hook" -------------------------------------------------------------------------------- */
static void hook_note(struct keel_mod *m, uint32_t point, const void *event)
{
	hooks_note(hooks_of(m), point, event);
}

static int64_t hook_fold(struct keel_mod *m, uint32_t point, const void *event, char *buf, uint32_t len)
{
	return hooks_fold(hooks_of(m), point, event, buf, len);
}

bool hooks_tapped(struct hooks *h, uint32_t point)
{
	return point < KEEL_POINT_MAX && (h->point[point].chain != NULL || h->point[point].waiters > 0);
}

keel_verdict hooks_raise(struct hooks *h, const struct keel_raise *raise)
{
	return hook_raise(&h->self.pub, raise);
}

static bool hook_tapped(struct keel_mod *m, uint32_t point)
{
	return hooks_tapped(hooks_of(m), point);
}

static uint32_t hook_point(struct keel_mod *m, const char *name)
{
	(void)m;
	for (uint32_t i = 0; name != NULL && i < KEEL_POINT_MAX; i++) {
		if (point_infos[i].name != NULL && strcmp(point_infos[i].name, name) == 0)
			return i;
	}
	return 0;
}

static int32_t hook_about(struct keel_mod *m, uint32_t point, struct keel_about_point *ret)
{
	const struct point *p = point_get(hooks_of(m), point);
	struct keel_about_point d = { .size = sizeof(d) };

	if (p == NULL)
		return -ENOENT;
	d.kind = p->kind;
	d.name = p->info->name;
	d.doc = p->info->doc;
	d.event_size = p->event_size;
	d.fields = p->info->fields();
	while (d.fields[d.n_fields].name != NULL)
		d.n_fields++;
	keel_sized_give(ret, &d);
	return 0;
}

static void hook_bench(struct keel_mod *m)
{
	taps_mark(hooks_of(m), owner_of(m), TAP_BENCHED, true);
}

static const struct keel_hook_api hook_api = {
	.size = sizeof(hook_api),
	.version = KEEL_ABI_MINOR,
	.raise = hook_raise,
	.note = hook_note,
	.fold = hook_fold,
	.tapped = hook_tapped,
	.tap_add = tap_add,
	.tap_remove = tap_remove,
	.holds_text = holds_text,
	.point = hook_point,
	.about = hook_about,
	.end = hook_end,
	.replay = hook_replay,
	.bench = hook_bench,
};

/* ---- API groups that are offered later than these ------------------------------------------------------ */
const struct keel_object_api *hooks_object(struct hooks *h)
{
	if (h->object == NULL)
		h->object = registry_service(h->parts->registry, "object", 0, NULL, NULL);
	return h->object;
}

void hooks_log(struct hooks *h, uint32_t event, const char *object, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_addv(h->parts->log, event, "Hook", object, fmt, ap);
	va_end(ap);
}

/* ---- life ------------------------------------------------------------------------------------------------ */
int hooks_create(struct parts *parts, const struct hooks_conf *conf, struct hooks **ret_hooks)
{
	struct hooks *h = cache_alloc(sizeof(*h));
	int ret;

	if (h == NULL)
		return -ENOMEM;
	h->parts = parts;
	h->conf = *conf;
	h->self.pub.name = "kernel";
	h->self.parts = parts;
	points_init(h);
	crumb_late = callback_late;
	ret = registry_offer(parts->registry, "hook", &hook_api);
	if (ret == 0)
		ret = registry_offer(parts->registry, "call", &call_api);
	if (ret == 0)
		ret = filter_init(h);
	if (ret < 0) {
		hooks_destroy(h);
		return ret;
	}
	*ret_hooks = h;
	return 0;
}

void hooks_stop(struct hooks *h)
{
	h->stopping = true;
	ops_end(h);
}

void hooks_destroy(struct hooks *h)
{
	if (h == NULL)
		return;
	ops_end(h);
	notes_drop(h);
	for (uint32_t i = 0; i < KEEL_POINT_MAX; i++) {
		struct chain *c = h->point[i].chain;

		for (uint32_t k = 0; c != NULL && k < c->n; k++)
			tap_destroy(c->tap[k]);
		free(c);
	}
	chains_sweep(h);
	free(h);
}
