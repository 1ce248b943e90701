/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_hook.c - what it costs to ask a point: nobody there, one tap, an event told to one tap. The
 * least of several rounds is printed, as JSON lines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hook/hooks.h"
#include "keel/keel.h"
#include "loop/loop.h"
#include "registry/registry.h"

#define CALLS 100000 /* a round is short enough to be left alone by a busy machine once in a while */
#define ROUNDS 200

struct bench {
	struct parts parts;
	struct owner owner;
	const struct keel_hook_api *hook;
};

static keel_verdict on_submit(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)c;
	return ev->size == 0 ? KEEL_FAIL : KEEL_NEXT;
}

static keel_verdict on_queued(struct keel_call *c, const struct keel_ev_job_queued *ev)
{
	(void)c;
	return ev->size == 0 ? KEEL_FAIL : KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(job_submit, on_submit),
	KEEL_TAP(job_queued, on_queued),
};

/* The request and the event are the caller's; built once, so that only the engine is measured. */
static void raises(struct bench *b)
{
	const struct keel_raise r = {
		.size = sizeof(r), .point = KEEL_POINT_job_submit,
		.event = KEEL_EVENT(job_submit, .id = "1.bench", .who = "user@host"),
	};

	for (int i = 0; i < CALLS; i++)
		if (b->hook->raise(&b->owner.pub, &r) != KEEL_NEXT)
			abort();
}

static void notes(struct bench *b)
{
	const struct keel_ev_job_queued *event = KEEL_EVENT(job_queued, .id = "1.bench");

	for (int i = 0; i < CALLS; i++)
		b->hook->note(&b->owner.pub, KEEL_POINT_job_queued, event);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double round_ns(struct bench *b, void (*calls)(struct bench *))
{
	double began = seconds();

	calls(b);
	return (seconds() - began) * 1e9 / CALLS;
}

static void measure(struct bench *b, const char *name, void (*calls)(struct bench *))
{
	double least = round_ns(b, calls);

	for (int i = 1; i < ROUNDS; i++) {
		double ns = round_ns(b, calls);

		least = ns < least ? ns : least;
	}
	printf("{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"ns\"}\n", name, least);
}

int main(void)
{
	static const struct hooks_conf conf = { 60000, 20, 250, 3, 0, 0 };
	struct bench b = { .owner.pub.name = "bench", .owner.parts = &b.parts };
	struct keel_err err;

	if (loop_create(&b.parts.loop) < 0 || registry_create(&b.parts.registry) < 0 ||
	    hooks_create(&b.parts, &conf, &b.parts.hooks) < 0)
		return 1;
	b.hook = registry_service(b.parts.registry, "hook", 0, NULL, &err);
	measure(&b, "hook_empty", raises);
	measure(&b, "hook_note_empty", notes);
	if (hooks_attach(b.parts.hooks, &b.owner, taps, KEEL_COUNT(taps), &err) < 0)
		return 1;
	measure(&b, "hook_tap", raises);
	measure(&b, "hook_note_tap", notes);
	hooks_detach(b.parts.hooks, &b.owner);
	hooks_destroy(b.parts.hooks);
	registry_destroy(b.parts.registry);
	loop_destroy(b.parts.loop);
	return 0;
}
