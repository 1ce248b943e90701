/* SPDX-License-Identifier: Apache-2.0
 *
 * hook.c - the group "hook": a NOTE can be raised, a GATE, an ASK or a FOLD cannot; taps are those of the
 * descriptor.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "modhost/host.h"
#include "util/err.h"

#define NOT_HERE "a module in a process of its own cannot raise this point"

static keel_verdict hook_raise(struct keel_mod *m, const struct keel_raise *r)
{
	const struct keel_outcome o = { .size = sizeof(o), .verdict = KEEL_FAIL, .text = NOT_HERE };

	host_log(host_of(m), KEEL_LOG_ERROR, "raise(): " NOT_HERE);
	if (r->done != NULL)
		r->done(m, r->arg, &o);
	return KEEL_FAIL;
}

static keel_verdict hook_fan(struct keel_mod *m, const struct keel_fan *f)
{
	const struct keel_fan_result none = { .size = sizeof(none), .worst = KEEL_FAIL };

	host_log(host_of(m), KEEL_LOG_ERROR, "fan(): " NOT_HERE);
	if (f->done != NULL)
		f->done(m, f->arg, &none);
	return KEEL_FAIL;
}

static bool name_of(void *arg, struct keel_obj *obj, const char **ret_klass, const char **ret_id)
{
	struct keel_obj *o = handle_check(obj);

	(void)arg;
	if (o == NULL)
		return false;
	*ret_klass = o->klass;
	*ret_id = o->id;
	return true;
}

static void hook_note(struct keel_mod *m, uint32_t point, const void *event)
{
	struct host *h = host_of(m);
	const struct keel_field *fields;
	struct hooks_point p;
	union {
		uint64_t align[32];
		char bytes[256];
	} whole = { .align = { 0 } };
	uint32_t n, size = *(const uint32_t *)event;

	if (!hooks_point(point, &p) || p.kind != KEEL_NOTE || p.event_size > sizeof(whole))
		return;
	memcpy(&whole, event, size < p.event_size ? size : p.event_size);
	fields = hooks_fields(point, &n);
	ask_begin(h, ASK_NOTE);
	talk_put_int(&h->out, point);
	talk_put_event(&h->out, fields, n, &whole, name_of, h);
	ask_code(h);
}

static int64_t hook_fold(struct keel_mod *m, uint32_t point, const void *event, char *buf, uint32_t len)
{
	(void)point, (void)event;
	host_log(host_of(m), KEEL_LOG_ERROR, "fold(): " NOT_HERE);
	if (buf != NULL && len > 0)
		buf[0] = '\0';
	return 0;
}

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

const struct keel_hook_api host_hook = {
	.size = sizeof(host_hook),
	.version = KEEL_ABI_MINOR,
	.raise = hook_raise,
	.note = hook_note,
	.fold = hook_fold,
	.tapped = hook_tapped,
	.tap_add = hook_tap_add,
	.tap_remove = hook_tap_remove,
	.fields = hooks_fields,
	.holds_text = hook_holds_text,
	.fan = hook_fan,
	.point = points_named,
	.about = points_about,
	.define = points_define,
	.tap_on = points_tap_on,
	.tap_off = points_tap_off,
};
