/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_isolate.c - whatever the process of an isolated module says, the daemon stands: its messages, its
 * questions while a call of it is open, its description of itself.
 *
 * The input is read as a program: each message begins with a byte that says what it is, its values are
 * chosen by the bytes behind it, from a few that mean something and from the input itself.
 */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	mp_fini(&iso->scratch);
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

/* ---- messages from the input ----------------------------------------------------------------------------- */
struct tape {
	const uint8_t *at, *end;
};

static uint8_t next(struct tape *t)
{
	return t->at < t->end ? *t->at++ : 0;
}

static void put_any(struct mp *m, struct tape *t)
{
	static const char *const words[] = { "job", "1.svr", "2.svr", "comment", "Priority", "", "7", "x" };
	uint8_t kind = next(t);

	if (kind < 96) {
		talk_put_str(m, words[kind % 8]);
	} else if (kind < 160) {
		talk_put_int(m, kind - 100);
	} else if (kind < 176) {
		mp_nil(m);
	} else if (kind < 192) {
		talk_put_int(m, (int64_t)(UINT64_C(0x8000000000000000) >> (next(t) % 64)));
	} else if (kind < 224) {
		uint32_t len = next(t);
		size_t left = (size_t)(t->end - t->at);

		len = len < left ? len : (uint32_t)left;
		talk_put_bytes(m, t->at, len);
		t->at += len;
	} else {
		mp_byte(m, next(t)); /* perhaps nonsense */
	}
}

static void message(struct isolate *iso, struct tape *t)
{
	uint8_t what = next(t), n = next(t) % 12;
	struct mp m = { 0 };
	struct frame f = { .type = what % 4 < 2 ? WIRE_REQUEST : what % 4 == 2 ? WIRE_EVENT : WIRE_REPLY,
			   .corr = next(t) % 4 };

	if (f.type == WIRE_REQUEST) {
		talk_put_int(&m, what / 4 % (ASK_LAST + 1));
		talk_put_int(&m, next(t) % 3); /* call 1 is open */
	} else if (f.type == WIRE_EVENT) {
		talk_put_int(&m, TALK_LOG + what / 4 % 7);
	}
	while (n-- > 0)
		put_any(&m, t);
	f.body = m.data != NULL ? m.data : "";
	f.len = (uint32_t)m.len;
	heard(iso->now, &f);
	mp_fini(&m);
}

static void described(struct tape *t)
{
	struct isolate iso = { .parts = &parts, .name = (char *)"fuzzed" };
	struct mp m = { 0 };
	struct keel_err err;
	struct talk_in in;

	talk_put_int(&m, 0);
	while (t->at < t->end)
		put_any(&m, t);
	talk_open(&in, m.data, (uint32_t)m.len);
	described_take(&iso, &in, m.data, (uint32_t)m.len, &err);
	described_fini(&iso);
	mp_fini(&m);
}

/* True at the second look. */
static bool turned(void *arg)
{
	bool *looked = arg, was = *looked;

	*looked = true;
	return was;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tape t = { data, data + size };
	struct keel_obj *draft;
	struct isolate iso;
	int ends[2];

	if (parts.loop == NULL)
		kernel_make();
	if (size > 0 && data[0] % 4 == 0) {
		t.at++;
		described(&t);
		return 0;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0)
		abort();
	draft = object->draft(&base.pub, "job", "2.svr", NULL);
	isolate_make(&iso, ends[0]);
	call_open(draft);
	while (t.at < t.end && iso.now->lost[0] == '\0')
		message(&iso, &t);
	isolate_drop(&iso);
	close(ends[1]);
	object->destroy(draft);
	loop_run_until(parts.loop, turned, &(bool){ false }, 1000); /* what was cancelled is freed */
	return 0;
}
