/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_isolated.c - what it costs to ask a tap in a process of its own: from raise() to done(), microseconds.
 *
 *   bench_isolated BUILD [CALLS]
 *
 * The event is that of a submission, with a job and a queue. Prints the median and the 99th percentile as
 * JSON lines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "conf/conf.h"
#include "hook/hooks.h"
#include "keel/keel.h"
#include "log/log.h"
#include "loop/loop.h"
#include "main/daemon.h"
#include "module/modules.h"
#include "object/objects.h"
#include "registry/registry.h"
#include "request/router.h"
#include "store/store.h"

#define CALLS 20000

struct bench {
	struct parts parts;
	struct owner owner; /* that raises */
	char home[64];
	const struct keel_hook_api *hook;
	struct keel_obj *job, *queue;
	double *took, began;
	long calls, at;
};

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void die(const char *what, const struct keel_err *err)
{
	fprintf(stderr, "bench_isolated: %s: %s\n", what, err != NULL ? err->text : "");
	exit(1);
}

static void not_dirty(void *arg, struct keel_obj *o)
{
	(void)arg, (void)o;
}

static void kernel_make(struct bench *b, const char *build)
{
	static char modules[4096];
	const struct hooks_conf hooks = { .hold_default_ms = 60000, .soft_budget_ms = 20, .hard_budget_ms = 250 };
	struct parts *p = &b->parts;

	p->daemon = KEEL_SERVER;
	p->home = b->home;
	p->server_name = p->host_name = p->daemon_name = (char *)"bench";
	p->exec_dir = (char *)(uintptr_t)build;
	snprintf(modules, sizeof(modules), "%s/modules", build);
	if (loop_create(&p->loop) < 0 || registry_create(&p->registry) < 0 ||
	    log_open(p->loop, b->home, "bench", 0, false, &p->log, NULL) < 0 ||
	    registry_offer(p->registry, "core", &core_api) < 0 ||
	    objects_create(p->registry, not_dirty, NULL, &p->objects) < 0 ||
	    hooks_create(p, &hooks, &p->hooks) < 0 || router_create(p, &p->router) < 0 ||
	    modules_create(p, modules, NULL, &p->modules) < 0)
		die("cannot make a kernel", NULL);
	b->hook = registry_service(p->registry, "hook", 0, NULL, NULL);
}

/* A job that is a draft, as one that is being submitted, and a queue. */
static void objects_make(struct bench *b)
{
	static const struct keel_class_def classes[] = { { .size = sizeof(classes[0]), .name = "job", .doc = "" },
							 { .size = sizeof(classes[0]), .name = "queue", .doc = "" } };
	static const struct keel_contrib rows[] = { KEEL_ROW(CLASS, classes[0]), KEEL_ROW(CLASS, classes[1]) };
	static struct owner owner = { .pub.name = "bench" };
	const struct keel_object_api *object = registry_service(b->parts.registry, "object", 0, NULL, NULL);
	struct keel_err err;

	owner.parts = &b->parts;
	if (registry_add(b->parts.registry, &owner, rows, 2, &err) < 0)
		die("cannot make classes", &err);
	b->job = object->draft(&owner.pub, "job", "1.svr", &err);
	b->queue = object->draft(&owner.pub, "queue", "workq", &err);
	if (b->job == NULL || b->queue == NULL || object->publish(b->queue) < 0)
		die("cannot make objects", &err);
}

static void module_make(struct bench *b, const char *build)
{
	char path[128];
	struct conf *conf;
	struct keel_err err;
	FILE *f;

	snprintf(path, sizeof(path), "%s/keelson.conf", b->home);
	f = fopen(path, "we");
	if (f == NULL || fclose(f) != 0)
		die("cannot write the configuration", NULL);
	snprintf(path, sizeof(path), "%s/modules.d", b->home);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/modules.d/all.conf", b->home);
	f = fopen(path, "we");
	if (f == NULL || fprintf(f, "supervise: { }\nisolation: { }\nreject: { path = \"%s/tests/fixtures/reject.so\"; "
				    "isolation = \"process\"; isolation_limits = { deadline = \"2s\"; }; text = \"no\"; };\n",
				 build) < 0 || fclose(f) != 0)
		die("cannot write the configuration", NULL);
	snprintf(path, sizeof(path), "%s/keelson.conf", b->home);
	if (conf_read(path, NULL, &conf, &err) < 0 || modules_load(b->parts.modules, conf, true, &err) < 0 ||
	    modules_start(b->parts.modules, &err) < 0)
		die("cannot load the modules", &err);
	conf_destroy(conf);
}

static void one(void *arg);

static void done(struct keel_mod *m, void *arg, const struct keel_outcome *o)
{
	struct bench *b = arg;

	(void)m;
	if (o->verdict != KEEL_REJECT)
		die("a call failed", &(struct keel_err){ .text = "" });
	b->took[b->at++] = now_us() - b->began;
	if (b->at == b->calls)
		loop_stop(b->parts.loop);
	else
		loop_timer(b->parts.loop, 0, one, b);
}

static void one(void *arg)
{
	struct bench *b = arg;

	b->began = now_us();
	b->hook->raise(&b->owner.pub,
		       &(struct keel_raise){ .size = sizeof(struct keel_raise),
					     .point = KEEL_POINT_job_submit,
					     .event = KEEL_EVENT(job_submit, .id = "1.svr", .job = b->job,
								 .queue = b->queue, .who = "user@host"),
					     .done = done, .arg = b });
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	struct bench b = { .calls = argc > 2 ? atol(argv[2]) : CALLS };

	if (argc < 2 || b.calls <= 0)
		return 2;
	b.took = calloc((size_t)b.calls, sizeof(*b.took));
	b.owner.parts = &b.parts;
	b.owner.pub.name = "bench";
	snprintf(b.home, sizeof(b.home), "/tmp/keelson-bench.XXXXXX");
	if (mkdtemp(b.home) == NULL)
		die("cannot make a directory", NULL);
	kernel_make(&b, argv[1]);
	objects_make(&b);
	module_make(&b, argv[1]);
	one(&b);
	loop_run(b.parts.loop);
	qsort(b.took, (size_t)b.calls, sizeof(*b.took), by_size);
	printf("{\"name\": \"hook_isolated\", \"value\": %.1f, \"unit\": \"us\"}\n", b.took[b.calls / 2]);
	printf("{\"name\": \"hook_isolated_p99\", \"value\": %.1f, \"unit\": \"us\"}\n",
	       b.took[b.calls * 99 / 100]);
	modules_destroy(b.parts.modules);
	free(b.took);
	return 0;
}
