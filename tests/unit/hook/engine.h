/* SPDX-License-Identifier: Apache-2.0
 *
 * engine.h - a hook engine with a loop, two modules, and an object group that knows a few objects by
 * heart.
 */
#ifndef TESTS_HOOK_ENGINE_H
#define TESTS_HOOK_ENGINE_H

#include <errno.h>
#include <string.h>

#include "harness.h"
#include "hook/hooks.h"
#include "keel/keel.h"
#include "log/log.h"
#include "loop/loop.h"
#include "registry/registry.h"

struct keel_obj {
	const char *klass, *id;
	bool exists;
};
struct keel_changes {
	uint32_t n;
	char what[128];
};

extern struct keel_obj job1, job2;
extern uint32_t commits, discards;
extern char trace[1024]; /* what happened, in order */
void note_down(const char *fmt, ...) KEEL_PRINTF(1, 2);

struct engine {
	struct parts parts;
	struct owner alpha, beta;
	const struct keel_hook_api *hook;
	const struct keel_call_api *call;
	char *dir;
	struct keel_err err;
};
extern struct engine e;

void engine_start(void);
void engine_stop(void);
void compute_ms(int64_t ms); /* processor time of this thread */
#define ATTACH(owner, taps)                                                                        \
	hooks_attach(e.parts.hooks, &(owner), (taps), KEEL_COUNT(taps), &e.err)
/* Sums over the taps of a module. */
struct usage {
	uint32_t taps, benched, strikes, fails;
	uint64_t calls, time_ns;
};
struct usage usage_of(const struct owner *owner);
/* Turns of the loop until the trace contains `text`. */
int run_until(const char *text);

/* Outcome of the last raise. */
struct told {
	uint32_t n;
	keel_verdict verdict;
	int32_t code;
	char text[256], by[64];
};
extern struct told told;
keel_verdict raise_point(uint32_t point, const void *event, struct keel_changes *changes,
			 struct keel_req *req);
#define RAISE(point, ...)                                                                          \
	raise_point(KEEL_POINT_##point, KEEL_EVENT(point, __VA_ARGS__), NULL, NULL)
#define NOTE(point, ...)                                                                           \
	e.hook->note(&e.alpha.pub, KEEL_POINT_##point, KEEL_EVENT(point, __VA_ARGS__))

#endif
