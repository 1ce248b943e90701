/* SPDX-License-Identifier: Apache-2.0
 *
 * test_durable.c - holds that outlive the daemon: taken, killed, back; taken back, left alone, forgotten.
 *
 * A restart is a new kernel with the rows that the old one left in a store in memory.
 */
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "hook/hooks.h"
#include "keel/keel.h"
#include "log/log.h"
#include "loop/loop.h"
#include "object/objects.h"
#include "registry/registry.h"

static struct parts parts;
static struct owner jobs, alpha; /* who declares jobs, who takes holds */
static const struct keel_call_api *call;
static const struct keel_object_api *object;
static struct keel_obj *job;
static char *dir;
static int64_t timeout_ms, left_ms;
static bool takes_back, forgets;
static keel_verdict last_hold;
static struct keel_hold *last_taken;
static uint32_t n_back, n_resumed, n_cancelled, n_done;

static const struct keel_class_def job_class = { .size = sizeof(job_class), .flags = KEEL_CLASS_SAVE,
						 .name = "job", .doc = "a test",
						 .known_point = KEEL_POINT_job_known };
static const struct keel_contrib rows[] = { { "CLASS", &job_class } };

static keel_verdict resumed(struct keel_call *c, void *arg)
{
	(void)c;
	(void)arg;
	n_resumed++;
	return KEEL_REJECT; /* nobody asks any more */
}

static void cancelled(struct keel_call *c, void *arg, int32_t reason)
{
	(void)c;
	(void)arg;
	n_cancelled += reason == KEEL_CANCEL_TIMEOUT;
}

static struct keel_hold_opts opts(const char *why)
{
	return (struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts), .why = why,
					.durable_key = "mine", .timeout_ms = timeout_ms,
					.until_point = KEEL_POINT_job_purged, .until_id = "1.svr",
					.resume = resumed, .cancel = cancelled };
}

static keel_verdict on_delete(struct keel_call *c, const struct keel_ev_job_delete *ev)
{
	const struct keel_hold_opts o = opts("the reason");

	(void)ev;
	last_hold = call->hold(c, &o, &last_taken);
	return last_hold;
}

static keel_verdict on_known(struct keel_call *c, const struct keel_ev_job_known *ev)
{
	const struct keel_hold_opts o = opts(NULL);
	struct keel_durable d = { .size = sizeof(d) };

	(void)ev;
	if (call->durable(c, 0, &d) < 0)
		return KEEL_NEXT;
	n_back++;
	left_ms = d.left_ms;
	CU_ASSERT_STRING_EQUAL(d.key, "mine");
	CU_ASSERT_STRING_EQUAL(d.why, "the reason");
	CU_ASSERT_EQUAL(call->durable(c, 1, &d), -ENOENT);
	if (forgets)
		call->forget(c, "mine");
	if (takes_back)
		CU_ASSERT_EQUAL(call->rearm(c, &o, NULL), 0);
	if (takes_back || forgets)
		CU_ASSERT_EQUAL(call->rearm(c, &o, NULL), -ENOENT); /* only once */
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = { KEEL_TAP(job_delete, on_delete), KEEL_TAP(job_known, on_known) };

/* ---- a store in memory --------------------------------------------------------------------------- */
#define ROWS_MAX 8
static struct row {
	char klass[16], id[64], bytes[512];
	uint32_t len;
} stored[ROWS_MAX];
static uint32_t n_stored, n_dirty;
static struct keel_obj *dirty[ROWS_MAX];

static void is_dirty(void *arg, struct keel_obj *o)
{
	(void)arg;
	dirty[n_dirty++ % ROWS_MAX] = o;
}

static void row_put(const char *klass, const char *id, const void *bytes, uint32_t len, bool deleted)
{
	uint32_t i = 0;

	while (i < n_stored && (strcmp(stored[i].klass, klass) != 0 || strcmp(stored[i].id, id) != 0))
		i++;
	if (deleted) {
		if (i < n_stored)
			stored[i] = stored[--n_stored];
		return;
	}
	if (i == n_stored)
		n_stored++;
	snprintf(stored[i].klass, sizeof(stored[i].klass), "%s", klass);
	snprintf(stored[i].id, sizeof(stored[i].id), "%s", id);
	memcpy(stored[i].bytes, bytes, len);
	stored[i].len = len;
}

static void store(void)
{
	CU_ASSERT_FATAL(n_dirty <= ROWS_MAX);
	for (uint32_t i = 0; i < n_dirty; i++) {
		const char *klass, *id;
		const void *bytes;
		uint32_t len;
		bool deleted;

		if (objects_encode(dirty[i], &klass, &id, &bytes, &len, &deleted) == 0)
			row_put(klass, id, bytes, len, deleted);
		objects_saved(dirty[i]);
	}
	n_dirty = 0;
}

/* ---- a kernel --------------------------------------------------------------------------------------- */
static void kernel_up(void)
{
	static const struct hooks_conf conf = { .hold_default_ms = 60000 };

	memset(&parts, 0, sizeof(parts));
	alpha = (struct owner){ .pub.name = "alpha", .parts = &parts };
	jobs = (struct owner){ .pub.name = "jobs", .parts = &parts };
	if (loop_create(&parts.loop) < 0 || registry_create(&parts.registry) < 0 ||
	    log_open(parts.loop, dir, "test", 0xffff, false, &parts.log, NULL) < 0 ||
	    objects_create(parts.registry, is_dirty, NULL, &parts.objects) < 0 ||
	    hooks_create(&parts, &conf, &parts.hooks) < 0 ||
	    registry_add(parts.registry, &jobs, rows, KEEL_COUNT(rows), NULL) < 0)
		abort();
	call = registry_service(parts.registry, "call", 0, NULL, NULL);
	object = registry_service(parts.registry, "object", 0, NULL, NULL);
	for (uint32_t i = 0; i < n_stored; i++)
		CU_ASSERT_EQUAL(objects_decode(parts.objects, stored[i].klass, stored[i].id,
					       stored[i].bytes, stored[i].len, NULL), 0);
	hooks_attach(parts.hooks, &alpha, taps, KEEL_COUNT(taps), NULL);
	hooks_replay(parts.hooks, parts.objects, &alpha);
	job = object->find(&jobs.pub, "job", "1.svr");
}

/* What happens after the last commit is not stored. */
static void kernel_down(void)
{
	store();
	hooks_stop(parts.hooks);
	hooks_detach(parts.hooks, &alpha);
	hooks_destroy(parts.hooks);
	CU_ASSERT_EQUAL(alpha.live, 0);
	registry_remove(parts.registry, &jobs);
	objects_destroy(parts.objects);
	registry_destroy(parts.registry);
	log_close(parts.log);
	loop_destroy(parts.loop);
	n_dirty = 0;
}

static void restart(void)
{
	kernel_down();
	kernel_up();
}

static void start(void)
{
	timeout_ms = 60000;
	takes_back = forgets = false;
	n_back = n_resumed = n_cancelled = n_done = n_stored = n_dirty = 0;
	dir = scratch_new();
	kernel_up();
	job = object->draft(&jobs.pub, "job", "1.svr", NULL);
}

static void stop(void)
{
	kernel_down();
	scratch_remove(dir);
	free(dir);
}

static void done(struct keel_mod *m, void *arg, const struct keel_outcome *out)
{
	(void)m;
	(void)arg;
	(void)out;
	n_done++;
}

static keel_verdict delete_job(void)
{
	return hooks_raise(parts.hooks, &(struct keel_raise){
		.size = sizeof(struct keel_raise), .point = KEEL_POINT_job_delete, .done = done,
		.event = KEEL_EVENT(job_delete, .id = "1.svr", .job = job) });
}

static bool is_over(void *arg)
{
	(void)arg;
	return n_resumed + n_cancelled > 0 || object->count(&jobs.pub, "keel_hold") == 0;
}

static bool nothing_is_held(void *arg)
{
	struct hooks_counts n;

	(void)arg;
	hooks_count(parts.hooks, &n);
	return n.taken == n.told;
}

static void purge_job(void)
{
	hooks_note(parts.hooks, KEEL_POINT_job_purged, KEEL_EVENT(job_purged, .id = "1.svr", .job = job));
	loop_run_until(parts.loop, is_over, NULL, DEADLINE_MS);
}

/* Lines of `keelson holds` that contain `text`. */
static uint32_t shown(const char *text)
{
	struct buf out;
	uint32_t n = 0;

	buf_init(&out);
	hooks_describe_holds(parts.hooks, &out);
	for (const char *at = out.data; at != NULL && (at = strstr(at, text)) != NULL; at++)
		n++;
	buf_fini(&out);
	return n;
}

static void a_draft_has_none(void)
{
	start();
	CU_ASSERT_EQUAL(delete_job(), KEEL_REJECT);
	CU_ASSERT_EQUAL(last_hold, KEEL_FAIL);
	CU_ASSERT_EQUAL(object->count(&jobs.pub, "keel_hold"), 0);
	stop();
}

static void a_hold_that_ends_is_forgotten(void)
{
	start();
	object->publish(job);
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	CU_ASSERT_EQUAL(object->count(&jobs.pub, "keel_hold"), 1);
	CU_ASSERT_EQUAL(delete_job(), KEEL_REJECT); /* one of a name */
	n_done = 0;
	purge_job();
	CU_ASSERT_EQUAL(n_resumed, 1);
	CU_ASSERT_EQUAL(n_done, 1);
	CU_ASSERT_EQUAL(object->count(&jobs.pub, "keel_hold"), 0);
	restart();
	CU_ASSERT_EQUAL(n_back, 0);
	stop();
}

static void taken_back_it_ends_as_ever(void)
{
	start();
	object->publish(job);
	takes_back = true;
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	restart();
	CU_ASSERT_EQUAL(n_back, 1);
	CU_ASSERT(left_ms > 0 && left_ms <= 60000);
	CU_ASSERT_EQUAL(n_resumed, 0);
	CU_ASSERT_EQUAL(shown("1.svr job_known alpha: the reason"), 1);
	restart(); /* and again */
	CU_ASSERT_EQUAL(n_back, 2);
	purge_job();
	CU_ASSERT_EQUAL(n_resumed, 1);
	CU_ASSERT_EQUAL(object->count(&jobs.pub, "keel_hold"), 0);
	CU_ASSERT_EQUAL(shown("1.svr"), 0);
	stop();
}

static void its_deadline_goes_on(void)
{
	start();
	object->publish(job);
	takes_back = true;
	timeout_ms = 50;
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	kernel_down();
	usleep(60000);
	kernel_up();
	CU_ASSERT_EQUAL(left_ms, 0);
	CU_ASSERT_EQUAL(loop_run_until(parts.loop, is_over, NULL, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(n_cancelled, 1);
	CU_ASSERT_EQUAL(object->count(&jobs.pub, "keel_hold"), 0);
	stop();
}

static void left_alone_it_times_out(void)
{
	start();
	object->publish(job);
	timeout_ms = 100;
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	restart();
	CU_ASSERT_EQUAL(shown("1.svr - alpha: the reason"), 1);
	CU_ASSERT_EQUAL(loop_run_until(parts.loop, is_over, NULL, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(n_resumed + n_cancelled, 0);
	CU_ASSERT_EQUAL(object->count(&jobs.pub, "keel_hold"), 0);
	stop();
}

static void forgotten_it_does_not_come_back(void)
{
	start();
	object->publish(job);
	forgets = true;
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	restart();
	CU_ASSERT_EQUAL(n_back, 1);
	CU_ASSERT_EQUAL(object->count(&jobs.pub, "keel_hold"), 0);
	restart();
	CU_ASSERT_EQUAL(n_back, 1);
	stop();
}

/* A reload of the module is like a restart. */
static void a_module_that_comes_again_gets_it_back(void)
{
	start();
	object->publish(job);
	takes_back = true;
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	hooks_detach(parts.hooks, &alpha);
	CU_ASSERT_EQUAL(n_done, 1);
	CU_ASSERT_EQUAL(object->count(&jobs.pub, "keel_hold"), 1);
	hooks_attach(parts.hooks, &alpha, taps, KEEL_COUNT(taps), NULL);
	CU_ASSERT_EQUAL(hooks_replay(parts.hooks, parts.objects, &alpha), 0);
	CU_ASSERT_EQUAL(n_back, 1);
	purge_job();
	CU_ASSERT_EQUAL(n_resumed, 1);
	stop();
}

/* Who took it is in another process, and that ended. */
static void lost_it_is_up_though_its_operation_ends(void)
{
	start();
	object->publish(job);
	takes_back = true;
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	hooks_hold_lost(last_taken);
	hooks_hold_lost(last_taken); /* no second time */
	CU_ASSERT_EQUAL(shown("1.svr - alpha: the reason"), 1);
	CU_ASSERT_EQUAL(hooks_replay(parts.hooks, parts.objects, &alpha), 0);
	CU_ASSERT_EQUAL(n_back, 1);
	CU_ASSERT_EQUAL(shown("alpha: the reason"), 2); /* taken back, and not told yet */
	call->release(last_taken);
	loop_run_until(parts.loop, is_over, NULL, DEADLINE_MS);
	CU_ASSERT_EQUAL(n_resumed, 1);
	CU_ASSERT_EQUAL(object->count(&jobs.pub, "keel_hold"), 1);
	purge_job();
	loop_run_until(parts.loop, nothing_is_held, NULL, DEADLINE_MS);
	CU_ASSERT_EQUAL(n_resumed, 2);
	CU_ASSERT_EQUAL(object->count(&jobs.pub, "keel_hold"), 0);
	stop();
}

TESTS_MAIN("hook/durable", TEST(a_draft_has_none), TEST(a_hold_that_ends_is_forgotten),
	   TEST(taken_back_it_ends_as_ever), TEST(its_deadline_goes_on), TEST(left_alone_it_times_out),
	   TEST(forgotten_it_does_not_come_back), TEST(a_module_that_comes_again_gets_it_back),
	   TEST(lost_it_is_up_though_its_operation_ends))
