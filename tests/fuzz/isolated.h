/* SPDX-License-Identifier: Apache-2.0
 *
 * isolated.h - a kernel with a module whose process is up: the other end of its socket is the test's, which says what the
 * process says. A tap of it is at job_submit; call_open() raises that about a draft.
 */
#ifndef TESTS_FUZZ_ISOLATED_H
#define TESTS_FUZZ_ISOLATED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "isolate/inside.h"
#include "keel/keel.h"
#include "object/objects.h"
#include "registry/registry.h"
#include "request/router.h"
#include "store/store.h"

static struct parts parts;
static struct owner base = { .pub.name = "base", .parts = &parts };
static struct owner owner = { .pub.name = "fuzzed", .parts = &parts };
static const struct keel_object_api *object;

static void not_dirty(void *arg, struct keel_obj *o)
{
	(void)arg, (void)o;
}

static void kernel_make(void)
{
	static const struct keel_class_def job = { .size = sizeof(job), .name = "job", .doc = "" };
	static const struct keel_attr_def attrs[] = {
		KEEL_ATTR_DEF("job", "comment", "string", .doc = ""),
		KEEL_ATTR_DEF("job", "Priority", "long", .doc = ""),
	};
	static const struct keel_contrib rows[] = { { "CLASS", &job }, { "ATTR", &attrs[0] },
						    { "ATTR", &attrs[1] } };
	const struct hooks_conf hooks = { .hold_default_ms = 60000, .soft_budget_ms = 1000, .hard_budget_ms = 1000 };
	struct keel_obj *one;

	parts.daemon = KEEL_SERVER;
	parts.home = parts.exec_dir = parts.server_name = parts.host_name = (char *)"fuzz";
	if (loop_create(&parts.loop) < 0 || registry_create(&parts.registry) < 0 ||
	    objects_create(parts.registry, not_dirty, NULL, &parts.objects) < 0 ||
	    hooks_create(&parts, &hooks, &parts.hooks) < 0 || router_create(&parts, &parts.router) < 0 ||
	    store_create(&parts, &parts.store) < 0 ||
	    registry_add(parts.registry, &base, rows, KEEL_COUNT(rows), NULL) < 0)
		abort();
	object = registry_service(parts.registry, "object", 0, NULL, NULL);
	one = object->draft(&base.pub, "job", "1.svr", NULL);
	if (one == NULL || object->publish(one) < 0)
		abort();
}

/* ---- a process that is up, with a call that is open ---------------------------------------------------- */
static struct keel_tap taps[] = { { .size = sizeof(struct keel_tap), .point = KEEL_POINT_job_submit,
				    .name = "on_submit" } };

static keel_verdict never(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	(void)c, (void)ev;
	return KEEL_NEXT;
}

static void *tap_of(void *arg, uint32_t point, const char *name)
{
	struct isolate *iso = arg;

	(void)point, (void)name;
	return iso->iso_taps;
}

static struct process *process_make(struct isolate *iso, int fd)
{
	struct process *p = calloc(1, sizeof(*p));

	if (p == NULL || loop_watch(parts.loop, fd, 0, NULL, NULL, &p->watch) < 0)
		abort();
	p->iso = iso;
	p->fd = fd;
	p->state = PROCESS_UP;
	frame_reader_init(&p->in, TALK_BODY_MAX);
	return p;
}

static void isolate_make(struct isolate *iso, int fd)
{
	static struct iso_tap row;

	row = (struct iso_tap){ iso, "on_submit", 0, KEEL_POINT_job_submit, KEEL_GATE };
	*iso = (struct isolate){ .parts = &parts, .owner = &owner, .name = (char *)"fuzzed",
				 .logs = LOGS_BURST, .iso_taps = &row, .taps = taps,
				 .limits = { .deadline_ms = 1000 } };
	iso->desc.n_taps = 1;
	iso->call = registry_service(parts.registry, "call", 0, NULL, NULL);
	iso->hook = registry_service(parts.registry, "hook", 0, NULL, NULL);
	iso->request = registry_service(parts.registry, "request", 0, NULL, NULL);
	iso->object = object;
	owner.isolate = iso;
	iso->now = process_make(iso, fd);
	taps[0].fn.job_submit = never;
	if (hooks_attach(parts.hooks, &owner, taps, 1, NULL) < 0)
		abort();
	hooks_proxy(parts.hooks, &owner, tap_proxy, tap_of, iso);
}

static void isolate_drop(struct isolate *iso)
{
	hooks_detach(parts.hooks, &owner); /* ends the call */
	process_end(iso, "over");
	buf_fini(&iso->scratch);
	owner.isolate = NULL;
	if (iso->calls != NULL || iso->questions != NULL)
		abort();
}

static void call_open(struct keel_obj *draft)
{
	hooks_raise(parts.hooks, &(struct keel_raise){
		.size = sizeof(struct keel_raise), .point = KEEL_POINT_job_submit,
		.event = KEEL_EVENT(job_submit, .id = "2.svr", .job = draft, .who = "user@host") });
}

#endif
