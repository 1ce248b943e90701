/* SPDX-License-Identifier: Apache-2.0
 *
 * test_mock.c - what a test host adds to the kernel: violations, calls that fail, requests, peers, services.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "keel/mock.h"

/* ---- a module that does at job_submit what a test gives it to do ---------------------------------- */
typedef keel_verdict deed_fn(struct keel_call *c, struct keel_obj *job);
static deed_fn *deed;
static void (*on_request)(struct keel_mod *, struct keel_req *);
static bool fini_leaves; /* a timer */

static struct keel_hold *kept_hold;
static struct keel_mod *kept_mod;
static int ticks;

static keel_verdict on_submit(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	keel_log(c->mod, KEEL_LOG_DEBUG, "Rogue", ev->id, "submit");
	return deed != NULL ? deed(c, ev->job) : KEEL_NEXT;
}

static void handle(struct keel_mod *mod, struct keel_req *q)
{
	on_request(mod, q);
}

static void tick(struct keel_mod *mod, void *arg)
{
	(void)mod;
	(void)arg;
	ticks++;
}

static void on_fini(struct keel_mod *mod)
{
	if (fini_leaves)
		keel_timer(mod, 1000, tick, NULL);
}

KEEL_USE(link);
KEEL_USE(blob);
static const struct keel_tap taps[] = { KEEL_TAP(job_submit, on_submit) };
static const struct keel_request_def request_row = { .size = sizeof(request_row), .roles = KEEL_OPERATORS,
						     .name = "Rogue", .doc = "a request", .handler = handle };
static const struct keel_attr_def own_attr =
	KEEL_ATTR_DEF("job", "rogue", "long", .flags = KEEL_ATTR_SAVE, .doc = "a number",
		      .read_roles = KEEL_EVERYBODY, .write_roles = KEEL_EVERYBODY);
static const struct keel_signal_def signal_row = { .size = sizeof(signal_row), .name = "rogue-signal",
						   .doc = "of nobody" };
static const struct keel_contrib contribs[] = { KEEL_ROW(REQUEST, request_row), KEEL_ROW(ATTR, own_attr),
						KEEL_ROW(SIGNAL, signal_row) };
struct keel_kernel KEEL_MODULE_kernel = { .size = sizeof(KEEL_MODULE_kernel) };
static const struct keel_module rogue = {
	.magic = KEEL_MAGIC, .abi_major = KEEL_ABI_MAJOR, .size = sizeof(rogue), .name = "rogue",
	.version = "1", .summary = "bad", .roles = KEEL_SERVER, .kernel = &KEEL_MODULE_kernel,
	.needs = __start_keel_needs, .needs_end = __stop_keel_needs, KEEL_CONTRIBS(contribs), KEEL_TAPS(taps),
	.fini = on_fini,
};

/* ---- a mock with it ----------------------------------------------------------------------------------- */
static struct keel_mock *mock;
static struct keel_mod *mod;
static struct keel_obj *job;
static struct keel_mock_outcome out;
static char told[256]; /* names of violations, in order */

static void on_violation(void *arg, const char *name, const char *words)
{
	(void)arg;
	(void)words;
	strcat(strcat(told, told[0] != '\0' ? " " : ""), name);
}

static void begin(void)
{
	struct keel_err err;

	told[0] = '\0';
	deed = NULL;
	fini_leaves = false;
	ticks = 0;
	mock = keel_mock_new(KEEL_SERVER);
	keel_mock_on_violation(mock, on_violation, NULL);
	mod = keel_mock_load(mock, &rogue, NULL, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	job = keel_mock_object(mock, "job", "1.svr");
}

static void end(const char *violations)
{
	uint32_t n = 0, found = keel_mock_free(mock);

	CU_ASSERT_STRING_EQUAL(told, violations);
	for (const char *at = violations; *at != '\0'; at++)
		n += at == violations || at[-1] == ' ';
	CU_ASSERT_EQUAL(found, n);
}

static keel_verdict submit(deed_fn *what)
{
	deed = what;
	return keel_mock_raise(mock, KEEL_POINT_job_submit, KEEL_EVENT(job_submit, .id = "1.svr", .job = job),
			       &out);
}

/* ---- violations ------------------------------------------------------------------------------------------ */
static keel_verdict odd_answer(struct keel_call *c, struct keel_obj *o)
{
	(void)c, (void)o;
	return 9;
}

static keel_verdict wait_for_nothing(struct keel_call *c, struct keel_obj *o)
{
	(void)c, (void)o;
	return KEEL_WAIT;
}

static keel_verdict take(struct keel_call *c, struct keel_obj *o)
{
	(void)o;
	return keel_hold(c, &(struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts),
						      .why = "why not", .timeout_ms = 100 }, &kept_hold);
}

static keel_verdict take_and_go(struct keel_call *c, struct keel_obj *o)
{
	take(c, o);
	return KEEL_NEXT;
}

static void test_verdicts_and_holds(void)
{
	begin();
	CU_ASSERT_EQUAL(submit(odd_answer), KEEL_REJECT);
	CU_ASSERT_EQUAL(submit(wait_for_nothing), KEEL_REJECT);
	CU_ASSERT_EQUAL(submit(take_and_go), KEEL_NEXT);
	CU_ASSERT_EQUAL(keel_mock_ended(mock, KEEL_CANCEL_STOPPING), 1);
	CU_ASSERT_EQUAL(submit(take), KEEL_WAIT);
	CU_ASSERT_STRING_EQUAL(keel_mock_hold(mock, 0), "rogue: why not (0s of 0s)");
	keel_mock_advance(mock, 100);
	CU_ASSERT_EQUAL(keel_mock_ended(mock, KEEL_CANCEL_TIMEOUT), 1);
	CU_ASSERT_PTR_NULL(keel_mock_hold(mock, 0));
	CU_ASSERT_EQUAL(submit(take), KEEL_WAIT);
	keel_mock_release(mock, 0);
	CU_ASSERT_FALSE(out.told);
	CU_ASSERT(keel_mock_next(mock));
	CU_ASSERT(out.told);
	CU_ASSERT_EQUAL(submit(take), KEEL_WAIT);
	keel_mock_expire(mock, 0);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(out.code, 15136);
	end("bad-verdict wait-without-hold hold-without-wait");
}

static keel_verdict with_timers(struct keel_call *c, struct keel_obj *o)
{
	struct keel_timer *t = keel_timer(c->mod, 5, tick, NULL);

	(void)o;
	keel_timer_cancel(t);
	keel_timer_cancel(t);
	keel_timer_cancel(NULL);
	return KEEL_NEXT;
}

static void test_ended_twice(void)
{
	begin();
	submit(with_timers);
	keel_mock_advance(mock, 1000);
	CU_ASSERT_EQUAL(ticks, 0);
	end("timer-ended");
}

static void stray_work(void *arg)
{
	(void)arg;
	keel_now_ms(kept_mod);
}

static keel_verdict with_work(struct keel_call *c, struct keel_obj *o)
{
	(void)o;
	kept_mod = c->mod;
	return keel_work(c->mod, stray_work, tick, c->mod) == 0 ? KEEL_NEXT : KEEL_FAIL;
}

static void test_threads(void)
{
	begin();
	submit(with_work);
	CU_ASSERT_EQUAL(ticks, 0);
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(ticks, 1);
	end("off-thread");
}

static void test_left_behind(void)
{
	begin();
	fini_leaves = true;
	CU_ASSERT_EQUAL(keel_mock_unload(mod, NULL), 0);
	end("left-behind");
}

/* ---- requests --------------------------------------------------------------------------------------------- */
static void answer_twice(struct keel_mod *m, struct keel_req *q)
{
	const struct keel_attrop *ops;
	struct keel_out *o = keel_out(m);
	uint32_t n;

	keel_put_str(o, "name", keel_msg_str(keel_req_body(q), "name"));
	keel_put_int(o, "n", keel_msg_int(keel_req_body(q), "n", 7));
	CU_ASSERT_EQUAL(keel_msg_attrs(keel_req_body(q), "attrs", &ops, &n), 0);
	CU_ASSERT_EQUAL(n, 2);
	CU_ASSERT_STRING_EQUAL(ops[0].key, "ncpus");
	CU_ASSERT_PTR_NULL(ops[1].key);
	CU_ASSERT_EQUAL(ops[1].op, KEEL_UNSET);
	keel_open_array(o, "list");
	keel_add_str(o, "a\"b");
	keel_add_int(o, -1);
	keel_open_list(o);
	keel_add_str(o, NULL);
	keel_close(o);
	keel_close(o);
	keel_reply_out(q, o);
	keel_reply(q, 0, NULL);
}

static int drops;
static void on_gone(struct keel_mod *m, void *arg)
{
	(void)m;
	(void)arg;
	drops++;
}

static void answer_never(struct keel_mod *m, struct keel_req *q)
{
	(void)m;
	keel_on_gone(q, on_gone, NULL);
}

static void answer_in_parts(struct keel_mod *m, struct keel_req *q)
{
	struct keel_view *v = keel_view(m, "job", NULL, 0, KEEL_USER);
	struct keel_out *o = keel_out(m);

	keel_open_array(o, "jobs");
	CU_ASSERT_EQUAL(keel_pack(keel_find(m, "job", "1.svr"), NULL, v, o), 0);
	keel_close(o);
	CU_ASSERT_EQUAL(keel_part(q, o), 0);
	keel_view_close(v);
	keel_reply(q, 15001, NULL);
}

static void test_requests(void)
{
	const struct keel_session *operator;
	struct keel_mock_reply reply;
	struct keel_req *q;

	begin();
	operator = keel_mock_session(mock, "root", KEEL_OPERATORS);
	keel_mock_request(mock, keel_mock_session(mock, "bob", 0), "Rogue", NULL, &reply);
	CU_ASSERT_EQUAL(reply.code, 15007);
	keel_mock_request(mock, operator, "Nothing", NULL, &reply);
	CU_ASSERT_EQUAL(reply.code, 15005);
	on_request = answer_twice;
	keel_mock_request(mock, operator, "Rogue",
			  "name = \"x\"; attrs = ( (\"Resource_List\", \"ncpus\", \"2\"), (\"a\", \"\", \"\", 1) );",
			  &reply);
	CU_ASSERT_EQUAL(reply.code, 0);
	CU_ASSERT_STRING_EQUAL(reply.json, "{\"name\": \"x\", \"n\": 7, \"list\": [\"a\\\"b\", -1, [null]]}");
	on_request = answer_in_parts;
	keel_mock_set(job, "rogue", NULL, "12");
	keel_mock_request(mock, operator, "Rogue", NULL, &reply);
	CU_ASSERT_EQUAL(reply.parts, 1);
	CU_ASSERT_STRING_EQUAL(reply.part[0], "{\"jobs\": [[\"1.svr\", [[\"rogue\", null, \"12\"]]]]}");
	CU_ASSERT_STRING_EQUAL(reply.text, "Unknown Job Id");
	on_request = answer_never;
	q = keel_mock_request(mock, operator, "Rogue", NULL, &reply);
	keel_mock_client_gone(q);
	keel_mock_client_gone(q);
	CU_ASSERT_EQUAL(drops, 1);
	CU_ASSERT_FALSE(reply.told);
	end("reply-twice reply-missing");
}

/* ---- other daemons, blobs, files --------------------------------------------------------------------------- */
static void heard(struct keel_mod *m, const char *peer, const struct keel_msg *msg)
{
	keel_log(m, 1, "Rogue", peer, "heard %lld", (long long)keel_msg_int(msg, "n", 0));
}

static void got(struct keel_mod *m, void *arg, const void *bytes, uint32_t len)
{
	(void)arg;
	keel_log(m, 1, "Rogue", NULL, "blob %.*s", (int)len, bytes != NULL ? (const char *)bytes : "");
}

static void readable(struct keel_mod *m, void *arg)
{
	char byte;

	(void)m;
	CU_ASSERT_EQUAL(read(*(int *)arg, &byte, 1), 1);
	ticks++;
}

static void roomy(struct keel_mod *m, void *watch)
{
	(void)m;
	CU_ASSERT_EQUAL(keel_watch_for(*(struct keel_watch **)watch, 0), 0);
	ticks++;
}

static bool has_ticked(void *arg)
{
	(void)arg;
	return ticks > 0;
}

static void test_others(void)
{
	struct keel_out *o;
	struct keel_watch *w;
	int fds[2];

	begin();
	CU_ASSERT_EQUAL(keel_link_on(mod, "hello", KEEL_MOM, heard), 0);
	CU_ASSERT_EQUAL(keel_link_send(mod, "n1", "hello", keel_out(mod)), -ENOTCONN);
	keel_mock_peer(mock, "n1", KEEL_MOM, true);
	CU_ASSERT(keel_link_is_up(mod, "n1"));
	o = keel_out(mod);
	keel_put_int(o, "n", 4);
	CU_ASSERT_EQUAL(keel_link_send(mod, "n1", "greet", o), 0);
	keel_mock_loopback(mock, true);
	o = keel_out(mod);
	keel_put_int(o, "n", 5);
	CU_ASSERT_EQUAL(keel_link_send(mod, "server", "hello", o), 0);
	keel_mock_advance(mock, 0);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "heard 5"));
	CU_ASSERT_EQUAL(keel_blob_put(job, "script", "echo", 4), 0);
	CU_ASSERT_EQUAL(keel_blob_get(mod, "job", "1.svr", "script", got, NULL), 0);
	keel_mock_advance(mock, 0);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "blob echo"));
	CU_ASSERT_EQUAL(pipe(fds), 0);
	w = keel_watch_fd(mod, fds[0], readable, &fds[0]);
	keel_mock_advance(mock, 1000);
	CU_ASSERT_EQUAL(ticks, 0);
	CU_ASSERT_EQUAL(write(fds[1], "x", 1), 1);
	CU_ASSERT(keel_mock_wait(mock, has_ticked, NULL, 10000));
	CU_ASSERT_EQUAL(keel_mock_live(mod), 1);
	keel_watch_cancel(w);
	w = keel_watch_fd(mod, fds[1], roomy, &w);
	keel_mock_advance(mock, 10);
	CU_ASSERT_EQUAL(ticks, 1); /* it is not for reading */
	CU_ASSERT_EQUAL(keel_watch_for(w, 4), -EINVAL);
	CU_ASSERT_EQUAL(keel_watch_for(w, KEEL_WRITABLE), 0);
	ticks = 0;
	CU_ASSERT(keel_mock_wait(mock, has_ticked, NULL, 10000));
	CU_ASSERT_EQUAL(ticks, 1); /* it paused itself */
	keel_watch_cancel(w);
	close(fds[0]);
	close(fds[1]);
	end("");
}

/* ---- failures ---------------------------------------------------------------------------------------------- */
static keel_verdict uses_much(struct keel_call *c, struct keel_obj *o)
{
	struct keel_err err = { 0 };
	struct keel_timer *t = keel_timer(c->mod, 5, tick, NULL);

	if (t == NULL)
		return keel_fail(c, "no timer");
	keel_timer_cancel(t);
	if (keel_call_set(c, o, "rogue", NULL, "3", &err) != 0)
		return keel_reject(c, err.code, "%s", err.text);
	return keel_attr_find(c->mod, "job", "rogue") != NULL ? KEEL_NEXT : KEEL_DONE;
}

static void test_failures(void)
{
	uint32_t before;

	begin();
	before = keel_mock_calls(mock);
	CU_ASSERT_EQUAL(submit(uses_much), KEEL_NEXT);
	CU_ASSERT_EQUAL(keel_mock_calls(mock) - before, 3);
	keel_mock_fail_call(mock, 1);
	CU_ASSERT_EQUAL(submit(uses_much), KEEL_REJECT);
	CU_ASSERT_STRING_EQUAL(out.text, "no timer");
	CU_ASSERT_STRING_EQUAL(out.by, "rogue.on_submit");
	keel_mock_fail_call(mock, 2);
	CU_ASSERT_EQUAL(submit(uses_much), KEEL_REJECT);
	CU_ASSERT_EQUAL(out.code, 15010);
	keel_mock_fail_call(mock, 3);
	CU_ASSERT_EQUAL(submit(uses_much), KEEL_DONE);
	CU_ASSERT_EQUAL(submit(uses_much), KEEL_NEXT);
	end("");
}

/* ---- modules ------------------------------------------------------------------------------------------------- */
struct greeting {
	uint32_t size, version;
	struct keel_mod *self;
	int number;
};

/* What people write is read as the daemon reads it. */
static void test_units_of_configuration(void)
{
	struct amounts {
		int64_t room, wait;
	};
	static const struct keel_conf_rule rules[] = {
		KEEL_CONF_RULE(SIZE, struct amounts, room, .doc = "how much"),
		KEEL_CONF_RULE(DURATION, struct amounts, wait, .doc = "how long"),
	};
	const struct keel_module guest = { .magic = KEEL_MAGIC, .abi_major = KEEL_ABI_MAJOR, .size = sizeof(guest),
					   .name = "guest", .version = "1", .summary = "a guest",
					   .roles = KEEL_SERVER, .state_size = 8, .conf = rules,
					   .n_conf = KEEL_COUNT(rules), .conf_size = sizeof(struct amounts) };
	const struct amounts *got;
	struct keel_err err = { 0 };

	begin();
	mod = keel_mock_load(mock, &guest, "room = \"64k\"; wait = \"5min\";", &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	got = mod->conf;
	CU_ASSERT_EQUAL(got->room, 65536);
	CU_ASSERT_EQUAL(got->wait, 300000);
	end("");
}

static void test_modules(void)
{
	static const struct greeting greeting = { .size = sizeof(greeting), .version = 1, .number = 42 };
	const struct greeting *seen;
	struct keel_need wants[] = { { .name = "greeting", .minor = 1, .at = &seen } };
	struct keel_module guest = { .magic = KEEL_MAGIC, .abi_major = KEEL_ABI_MAJOR, .size = sizeof(guest),
				     .name = "guest", .version = "1", .summary = "a guest",
				     .roles = KEEL_SERVER, .needs = wants, .needs_end = wants + 1 };
	struct keel_mod *owner;
	struct keel_err err;

	begin();
	CU_ASSERT_STRING_EQUAL(keel_mock_chain(mock, KEEL_POINT_job_submit), "rogue.on_submit");
	CU_ASSERT_PTR_EQUAL(keel_mock_row(mock, "SIGNAL", 0, &owner), &signal_row);
	CU_ASSERT_PTR_EQUAL(owner, mod);
	CU_ASSERT_PTR_NULL(keel_mock_row(mock, "SIGNAL", 1, NULL));

	CU_ASSERT_PTR_NULL(keel_mock_load(mock, &guest, NULL, &err));
	CU_ASSERT_STRING_EQUAL(err.text, "module guest cannot be loaded: no module offers the service 'greeting'; "
					 "enable the module that does");
	keel_mock_service(mock, "greeting", &greeting);
	CU_ASSERT_PTR_NULL(keel_mock_load(mock, &guest, "x = 1;", &err));
	CU_ASSERT_STRING_EQUAL(err.text, "conf:1: guest.x: expected a known key (none), got \"x\"");
	guest.roles = KEEL_MOM;
	CU_ASSERT_PTR_NULL(keel_mock_load(mock, &guest, NULL, &err));
	guest.roles = KEEL_SERVER;
	guest.abi_major = 9;
	CU_ASSERT_PTR_NULL(keel_mock_load(mock, &guest, NULL, &err));
	guest.abi_major = KEEL_ABI_MAJOR;
	mod = keel_mock_load(mock, &guest, NULL, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	CU_ASSERT_EQUAL(seen->number, 42);
	CU_ASSERT_PTR_EQUAL(seen->self, keel_mock_self(mock));
	CU_ASSERT_PTR_NULL(keel_mock_load_file(mock, "/no/such.so", NULL, &err));
	end("");
}

TESTS_MAIN("mock", TEST(test_verdicts_and_holds), TEST(test_ended_twice), TEST(test_threads), TEST(test_left_behind), TEST(test_requests), TEST(test_others),
	   TEST(test_failures), TEST(test_units_of_configuration), TEST(test_modules))
