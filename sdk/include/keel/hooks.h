/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/hooks.h - events, handlers and taps, made from hook_points.def and hook_fields.h.
 *
 * Kinds decide what a tap may answer:
 *   GATE  may this happen?            NEXT DONE REJECT WAIT FAIL   change set
 *   ASK   who provides the answer?    NEXT DONE WAIT FAIL          first DONE wins
 *   FOLD  everyone adds               NEXT FAIL
 *   NOTE  it happened                 NEXT FAIL
 */
#ifndef KEEL_HOOKS_H
#define KEEL_HOOKS_H

#include "keel/hook_fields.h"
#include "keel/types.h"

enum keel_hook_kind { KEEL_GATE = 1, KEEL_ASK = 2, KEEL_FOLD = 3, KEEL_NOTE = 4 };

enum keel_point {
#define HOOK(id, name, kind, daemon, doc) KEEL_POINT_##name = (id),
#include "keel/hook_points.def"
#undef HOOK
};
#define KEEL_POINT_MAX 192 /* ids are below */

#define KEEL_CTYPE_OBJ struct keel_obj *
#define KEEL_CTYPE_STR const char *
#define KEEL_CTYPE_INT int64_t
#define KEEL_EV_MEMBER(type, name) KEEL_CTYPE_##type name;

#define HOOK(id, name, kind, daemon, doc)                                                          \
	struct keel_ev_##name {                                                                    \
		uint32_t size, reserved;                                                           \
		KEEL_FIELDS_##name(KEEL_EV_MEMBER)                                                 \
	};                                                                                         \
	typedef keel_verdict keel_##name##_fn(struct keel_call *, const struct keel_ev_##name *);
#include "keel/hook_points.def"
#undef HOOK

/* The generic event view: what reflection gives for any point. */
enum keel_field_type { KEEL_FIELD_OBJ = 1, KEEL_FIELD_STR = 2, KEEL_FIELD_INT = 3 };
struct keel_field {
	const char *name;
	uint32_t type, offset;
};
struct keel_about_point {
	uint32_t size;
	uint32_t kind;          /* enum keel_hook_kind */
	const char *name, *doc; /* "job_submit", a sentence */
	/* The event begins with `uint32_t size, reserved`; every other field is OBJ, STR or INT, 8 bytes. */
	const struct keel_field *fields;
	uint32_t n_fields, event_size;
};
typedef keel_verdict keel_any_fn(struct keel_call *, uint32_t point, const void *event, void *arg);

union keel_tap_fn {
	void (*any)(void);
	keel_any_fn *generic; /* of KEEL_TAP_ANY */
#define HOOK(id, name, kind, daemon, doc) keel_##name##_fn *name;
#include "keel/hook_points.def"
#undef HOOK
};

/* What becomes of an operation when a tap fails: one of the first three. */
enum keel_tap_flag {
	KEEL_ON_FAIL_REJECT = 1, /* default for GATE */
	KEEL_ON_FAIL_SKIP = 2,   /* default elsewhere */
	KEEL_ON_FAIL_BENCH = 4,  /* skip, and do not call this tap again until a reload */
	KEEL_TAP_ANY = 8,	 /* fn.generic is called, with `arg`, whatever the point */
};

/* A tap: a function at a point. Places in the chain: before and after, then order, then name. */
struct keel_tap {
	uint32_t size;
	uint32_t point;	      /* enum keel_point */
	const char *name;     /* of its own among the module's taps of a point; people read module.name */
	union keel_tap_fn fn; /* the member named like the point: its type is checked */
	int32_t order;	      /* -1000..1000, low first */
	uint32_t flags;	      /* enum keel_tap_flag: what becomes of a FAIL */
	const char *before, *after; /* comma lists of module or module.tap names; unknown ones are ignored */
	void *arg;	      /* of KEEL_TAP_ANY */
};
#define KEEL_TAP(point_name, handler, ...)                                                         \
	{ .size = sizeof(struct keel_tap), .point = KEEL_POINT_##point_name, .name = #handler,     \
	  .fn = { .point_name = (handler) }, __VA_ARGS__ }

/* Fill an event: KEEL_EVENT(job_queued, .id = id, .job = job). */
#define KEEL_EVENT(point_name, ...)                                                                \
	(&(const struct keel_ev_##point_name){ .size = sizeof(struct keel_ev_##point_name),        \
					       __VA_ARGS__ })

#endif
