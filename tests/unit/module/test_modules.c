/* SPDX-License-Identifier: Apache-2.0
 *
 * test_modules.c - load, order, unwinding, reload, the kernel's verbs.
 */
#include <stdlib.h>

#include "module/fixture.h"
#include "util/text.h"

static void purge(const char *id)
{
	hooks_note(k.parts.hooks, KEEL_POINT_job_purged, KEEL_EVENT(job_purged, .id = id));
}

static void loaded_modules_hear(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(load("job_purged: { }\njob_queued: { enabled = false; }\ntask_end: { }"), 0);
	purge("1.svr");
	CU_ASSERT_FALSE(logged("fixture job_purged"));
	CU_ASSERT_EQUAL(modules_start(k.parts.modules, &k.err), 0);
	purge("2.svr");
	CU_ASSERT_TRUE(logged("Fixture;2.svr;fixture job_purged requeued=0"));
	CU_ASSERT_PTR_NOT_NULL(strstr(described(), "\njob_purged\t1.0\t"));
	CU_ASSERT_PTR_NULL(strstr(described(), "task_end")); /* for another daemon */
	CU_ASSERT_PTR_NULL(strstr(described(), "job_queued"));
	modules_stop(k.parts.modules);
	CU_ASSERT_STRING_EQUAL(described(), "\n");
	purge("3.svr");
	CU_ASSERT_FALSE(logged("3.svr"));
	kernel_stop();
}

static void every_point_has_a_fixture(void)
{
	static const char *const names[] = {
#define HOOK(id, name, kind, daemon, doc) #name,
#include "keel/hook_points.def"
#undef HOOK
	};
	struct buf text;

	kernel_start();
	k.parts.daemon = KEEL_ANY;
	buf_init(&text);
	for (size_t i = 0; i < KEEL_COUNT(names); i++)
		buf_printf(&text, "%s: { }\n", names[i]);
	CU_ASSERT_EQUAL(up(text.data), 0);
	for (size_t i = 0; i < KEEL_COUNT(names); i++) {
		CU_ASSERT_PTR_NOT_NULL(strstr(chain(names[i]), names[i]));
	}
	buf_fini(&text);
	kernel_stop();
}

static void a_failed_init_unwinds(void)
{
	kernel_start();
	CU_ASSERT(up("job_purged: { }\nfailing_init: { }") < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "failing_init"));
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "the fixture never starts"));
	CU_ASSERT_STRING_EQUAL(described(), "\n");
	CU_ASSERT_PTR_NULL(registry_service(k.parts.registry, "failing", 0, NULL, NULL));
	CU_ASSERT_EQUAL(up("job_purged: { }"), 0);
	kernel_stop();
}

static void needs_that_form_a_loop_are_printed(void)
{
	bool stores;

	kernel_start();
	configure("cycle_a: { }\ncycle_b: { }");
	CU_ASSERT_EQUAL(modules_check(k.parts.modules, k.read, false, &stores, &k.err), -ELOOP);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "cycle_a needs cycle_b"));
	CU_ASSERT_EQUAL(load("cycle_a: { }"), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "cycle_b"));
	kernel_stop();
}

static void bad_configuration_is_refused_before_anything(void)
{
	bool stores = true;

	kernel_start();
	configure("job_purged: { colour = \"red\"; }");
	CU_ASSERT(modules_check(k.parts.modules, k.read, false, &stores, &k.err) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "colour"));
	configure("nonesuch: { }");
	CU_ASSERT(modules_check(k.parts.modules, k.read, false, &stores, &k.err) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "nonesuch.so"));
	configure("job_purged: { }");
	CU_ASSERT_EQUAL(modules_check(k.parts.modules, k.read, false, &stores, &k.err), 0);
	CU_ASSERT(!stores);
	kernel_stop();
}

/* ---- reload ----------------------------------------------------------------------------------------- */
static void reload_follows_the_configuration(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("job_purged: { }\njob_obit: { }"), 0);
	CU_ASSERT_EQUAL(reload("job_purged: { }\njob_obit: { }"), 0);
	CU_ASSERT_STRING_EQUAL(k.out.data, "no module has changed\n");
	CU_ASSERT_EQUAL(reload("job_obit: { }\njob_queued: { }"), 0);
	CU_ASSERT_STRING_EQUAL(k.out.data, "job_purged: unloaded\njob_queued: loaded\n");
	purge("1.svr");
	CU_ASSERT_FALSE(logged("fixture job_purged"));
	hooks_note(k.parts.hooks, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = "2.svr"));
	CU_ASSERT_TRUE(logged("2.svr;fixture job_queued"));
	kernel_stop();
}

static void what_a_reload_cannot_use_is_told(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("job_purged: { }"), 0);
	CU_ASSERT_EQUAL(reload("job_purged: { }\nattribute: { }"), 0);
	CU_ASSERT_STRING_EQUAL(k.out.data, "attribute: loaded\n");
	CU_ASSERT_TRUE(logged("attribute job.cost_centre of attribute has no effect: no module declares the class 'job'"));
	kernel_stop();
}

/* What a module is busy with ends before its process does; what it looks after would be lost. */
static void only_a_loss_refuses(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("busy: { busy = false; looks_after = true; }\njob_obit: { }"), 0);
	CU_ASSERT_EQUAL(reload("job_queued: { }"), -EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "nothing was changed: module busy is busy: 2 things are looked after"));
	CU_ASSERT_PTR_NOT_NULL(strstr(described(), "busy"));
	CU_ASSERT_PTR_NOT_NULL(strstr(described(), "job_obit"));
	CU_ASSERT_PTR_NULL(strstr(described(), "job_queued"));
	CU_ASSERT_EQUAL(change(MODULES_UNLOAD, "busy"), -EBUSY);
	CU_ASSERT_EQUAL(reload("busy: { busy = true; }\njob_obit: { }"), 0);
	CU_ASSERT_STRING_EQUAL(k.out.data, "busy: configuration changed\n");
	CU_ASSERT_EQUAL(reload("job_queued: { }"), 0);
	CU_ASSERT_STRING_EQUAL(k.out.data, "busy: unloaded\njob_obit: unloaded\njob_queued: loaded\n");
	kernel_stop();
}

/* The replay gives a restarted module back what it looks after. */
static void who_comes_again_need_not_be_empty(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("busy: { busy = false; looks_after = true; }"), 0);
	CU_ASSERT_EQUAL(change(MODULES_RELOAD, "busy"), 0);
	CU_ASSERT_STRING_EQUAL(k.out.data, "busy: restarted\n");
	CU_ASSERT_EQUAL(change(MODULES_UNLOAD, "busy"), -EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "2 things are looked after"));
	kernel_stop();
}

static void a_bad_reload_changes_nothing(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("job_purged: { }"), 0);
	CU_ASSERT(reload("job_obit: { }\nbadabi: { }") < 0);
	CU_ASSERT(reload("job_purged: { x = 1; }") < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(described(), "\njob_purged\t1.0\t"));
	purge("1.svr");
	CU_ASSERT_TRUE(logged("1.svr;fixture job_purged"));
	CU_ASSERT(reload("job_purged: { }\nfailing_init: { }") < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(described(), "\njob_purged\t1.0\t"));
	CU_ASSERT_PTR_NULL(strstr(described(), "failing_init"));
	kernel_stop();
}

/* The file is replaced under the running daemon: the new code must be used, not the old mapping. */
static void a_changed_file_is_loaded_anew(void)
{
	char *so, *text;

	kernel_start();
	so = path_join(k.dir, "switch.so");
	text = text_format("job_purged: { path = \"%s\"; }\n", so);
	copy_fixture("job_purged.so", so);
	CU_ASSERT_EQUAL(up(text), 0);
	copy_fixture("job_purged.so", so); /* another inode */
	CU_ASSERT_EQUAL(reload(text), 0);
	CU_ASSERT_STRING_EQUAL(k.out.data, "job_purged: replaced\n");
	purge("1.svr");
	CU_ASSERT_TRUE(logged("1.svr;fixture job_purged"));
	copy_fixture("job_obit.so", so); /* a file of another module is no update */
	CU_ASSERT(reload(text) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "holds module 'job_obit'"));
	purge("2.svr");
	CU_ASSERT_TRUE(logged("2.svr;fixture job_purged"));
	free(text);
	free(so);
	kernel_stop();
}

/* ---- a hold survives only as long as its module -------------------------------------------------- */
static uint32_t told_n;
static keel_verdict told_verdict;
static void on_done(struct keel_mod *m, void *arg, const struct keel_outcome *out)
{
	(void)m;
	(void)arg;
	told_n++;
	told_verdict = out->verdict;
}

static bool is_told(void *arg)
{
	(void)arg;
	return told_n > 0;
}

static keel_verdict delete_job(void)
{
	const struct keel_hook_api *hook =
		registry_service(k.parts.registry, "hook", 0, NULL, NULL);

	told_n = 0;
	return hook->raise(&k.self.pub,
			   &(struct keel_raise){ .size = sizeof(struct keel_raise),
						 .point = KEEL_POINT_job_delete,
						 .event = KEEL_EVENT(job_delete, .id = "1.svr"),
						 .done = on_done });
}

static void holds_of_a_module(void)
{
	kernel_start();
	CU_ASSERT_EQUAL(up("hold: { timeout = \"60s\"; }"), 0);
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	purge("1.svr");
	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, is_told, NULL, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(told_verdict, KEEL_NEXT);
	CU_ASSERT_TRUE(logged("fixture hold resumed"));
	CU_ASSERT_EQUAL(delete_job(), KEEL_WAIT);
	CU_ASSERT_EQUAL(reload(""), 0);
	CU_ASSERT_EQUAL(told_n, 1);
	CU_ASSERT_EQUAL(told_verdict, KEEL_FAIL);
	CU_ASSERT_TRUE(logged("fixture hold cancelled: 4"));
	kernel_stop();
}

/* ---- verbs ---------------------------------------------------------------------------------------------- */
static const struct keel_request_def *verbs[16];
static uint32_t n_verbs;
static char answer[4096];
static const char *asked_point;

static int verb_add(void *arg, struct owner *owner, const void *def, struct keel_err *err)
{
	(void)arg;
	(void)err;
	CU_ASSERT_STRING_EQUAL(owner->pub.name, "kernel");
	verbs[n_verbs++] = def;
	return 0;
}

static void verb_remove(void *arg, struct owner *owner, const void *def)
{
	(void)arg;
	(void)owner;
	(void)def;
	n_verbs--;
}

static const struct keel_msg *fake_body(struct keel_req *req)
{
	(void)req;
	return NULL;
}

static void fake_reply(struct keel_req *req, int32_t code, const char *fmt, ...)
{
	va_list ap;

	(void)req;
	va_start(ap, fmt);
	snprintf(answer, sizeof(answer), "%d ", code);
	vsnprintf(answer + strlen(answer), sizeof(answer) - strlen(answer), fmt, ap);
	va_end(ap);
}

static void fake_reply_out(struct keel_req *req, struct keel_out *out)
{
	(void)req;
	(void)out;
}

/* {args: [point]}, or none. */
static const char *const *fake_strings(const struct keel_msg *m, const char *key, uint32_t *ret_n)
{
	(void)m;
	*ret_n = strcmp(key, "args") == 0 && asked_point != NULL ? 1 : 0;
	return *ret_n > 0 ? &asked_point : NULL;
}

static struct keel_out *fake_out(struct keel_mod *m)
{
	return (struct keel_out *)m;
}

static void fake_put_strings(struct keel_out *o, const char *key, const char *const *text, uint32_t n)
{
	(void)o;
	snprintf(answer, sizeof(answer), "%s %u:", key, n);
	for (uint32_t i = 0; i < n; i++)
		snprintf(answer + strlen(answer), sizeof(answer) - strlen(answer), " [%s]", text[i]);
}

static const struct keel_session *fake_session(struct keel_req *req)
{
	static const struct keel_session session = { .size = sizeof(session), .who = "root@test" };

	(void)req;
	return &session;
}

static bool is_answered(void *arg)
{
	(void)arg;
	return answer[0] != '\0';
}

static void ask(const char *name, const char *point)
{
	answer[0] = '\0';
	asked_point = point;
	for (uint32_t i = 0; i < n_verbs; i++)
		if (strcmp(verbs[i]->name, name) == 0)
			verbs[i]->handler(&k.self.pub, NULL);
	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, is_answered, NULL, DEADLINE_MS), 0);
}

static const char *asked_token;

static const char *fake_str(const struct keel_msg *m, const char *key)
{
	(void)m;
	return strcmp(key, "extend") == 0 ? asked_token : NULL;
}

static const char *made(struct parts *parts, const char *token, int *ret)
{
	(void)parts;
	*ret = 0;
	return strcmp(token, "beef") == 0 ? "job_purged: unloaded\n" : NULL;
}

static void the_kernel_answers_its_verbs(void)
{
	struct modules_files files = kernel_files;
	static const struct registry_kind kind = { "REQUEST", verb_add, verb_remove, NULL, 0 };
	static const struct keel_request_api request = {
		.size = sizeof(request), .session = fake_session, .body = fake_body,
		.reply = fake_reply,
		.reply_out = fake_reply_out,
	};
	static const struct keel_msg_api msg = { .size = sizeof(msg), .strings = fake_strings, .str = fake_str,
						 .out = fake_out, .put_strings = fake_put_strings };

	kernel_start();
	n_verbs = 0;
	CU_ASSERT_EQUAL(registry_kind(k.parts.registry, &kind), 0);
	CU_ASSERT_EQUAL_FATAL(n_verbs, 3);
	CU_ASSERT_EQUAL(registry_offer(k.parts.registry, "request", &request), 0);
	CU_ASSERT_EQUAL(registry_offer(k.parts.registry, "msg", &msg), 0);
	CU_ASSERT_EQUAL(up("job_purged: { }\nhold: { }"), 0);
	modules_set_files(k.parts.modules, &(struct modules_files){ 0 });
	ask("keelson.reload", NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(answer, "15010 this daemon cannot"));
	modules_set_files(k.parts.modules, &kernel_files);
	ask("keelson.reload", NULL);
	CU_ASSERT_STRING_EQUAL(answer, "lines 1: [no module has changed]");
	ask("keelson.load", "job_purged");
	CU_ASSERT_NSTRING_EQUAL(answer, "15010 module job_purged is loaded already", 41);
	ask("keelson.load", "nonesuch");
	CU_ASSERT_PTR_NOT_NULL(strstr(answer, "15010 cannot read module file "));
	files.renew = NULL;
	files.made = made;
	modules_set_files(k.parts.modules, &files);
	ask("keelson.unload", "job_purged");
	CU_ASSERT_STRING_EQUAL(answer, "15010 this daemon cannot run another set of modules while it serves; restart it");
	asked_token = "beef"; /* the library sends the request again: it made this image */
	ask("keelson.unload", "job_purged");
	CU_ASSERT_STRING_EQUAL(answer, "lines 1: [job_purged: unloaded]");
	asked_token = "dead";
	ask("keelson.unload", "job_purged");
	CU_ASSERT_STRING_EQUAL(answer, "15010 this daemon cannot run another set of modules while it serves; restart it");
	ask("keelson.unload", "../x");
	CU_ASSERT_STRING_EQUAL(answer, "15010 \"../x\" is no name of a module");
	kernel_stop();
	CU_ASSERT_EQUAL(n_verbs, 0);
}

TESTS_MAIN("module/modules", TEST(loaded_modules_hear), TEST(every_point_has_a_fixture),
	   TEST(a_failed_init_unwinds), TEST(needs_that_form_a_loop_are_printed),
	   TEST(bad_configuration_is_refused_before_anything), TEST(reload_follows_the_configuration), TEST(what_a_reload_cannot_use_is_told),
	   TEST(only_a_loss_refuses), TEST(who_comes_again_need_not_be_empty), TEST(a_bad_reload_changes_nothing),
	   TEST(a_changed_file_is_loaded_anew), TEST(holds_of_a_module),
	   TEST(the_kernel_answers_its_verbs))
