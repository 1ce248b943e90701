/* SPDX-License-Identifier: Apache-2.0
 *
 * test_drain.c - before a restart each request that was read gets its one reply, then each client a goodbye.
 */
#include "fixture.h"
#include "keel/module.h"

static struct kernel k;
static struct owner guard;
static const struct keel_call_api *call;
static const struct keel_hook_api *hook;
static struct keel_hold *held;
static struct keel_req *kept, *waiting;
static struct keel_obj *object;
static int n_gone, n_cancelled, n_outcomes, n_done;
static bool act_first;

/* ---- a module --------------------------------------------------------------------------------- */
static void on_echo(struct keel_mod *m, struct keel_req *q)
{
	(void)m;
	k.request->reply(q, 0, NULL);
}

static void on_keep(struct keel_mod *m, struct keel_req *q)
{
	(void)m;
	kept = q;
}

static void gone(struct keel_mod *m, void *arg)
{
	(void)m;
	n_gone++;
	k.request->reply(arg, 0, NULL);
}

static void on_wait(struct keel_mod *m, struct keel_req *q)
{
	(void)m;
	waiting = q;
	k.request->on_gone(q, gone, q);
}

static void on_part(struct keel_mod *m, struct keel_req *q)
{
	kept = q;
	CU_ASSERT_EQUAL(k.request->part(q, k.msg->out(m)), 0);
}

/* A part now, and later others. */
static void on_stream(struct keel_mod *m, struct keel_req *q)
{
	k.request->on_gone(q, gone, q);
	CU_ASSERT_EQUAL(k.request->part(q, k.msg->out(m)), 0);
}

static void decided(struct keel_mod *m, void *arg, const struct keel_outcome *outcome)
{
	(void)m;
	n_outcomes++;
	k.request->reply(arg, outcome->verdict == KEEL_FAIL ? 15011 : 0, NULL);
}

/* Raises an operation that waits; before that it may act. */
static void on_decide(struct keel_mod *m, struct keel_req *q)
{
	if (act_first)
		store_dirty(k.parts.store, object);
	hook->raise(m, &(struct keel_raise){ .size = sizeof(struct keel_raise),
					     .point = KEEL_POINT_request_receive,
					     .event = KEEL_EVENT(request_receive, .name = "late", .who = "me"),
					     .req = q, .done = decided, .arg = q });
}

static keel_verdict resume(struct keel_call *c, void *arg)
{
	(void)c, (void)arg;
	return KEEL_NEXT;
}

static void cancel(struct keel_call *c, void *arg, int32_t reason)
{
	(void)c, (void)arg;
	CU_ASSERT_EQUAL(reason, KEEL_CANCEL_CLIENT_GONE);
	n_cancelled++;
}

static keel_verdict on_receive(struct keel_call *c, const struct keel_ev_request_receive *ev)
{
	if (strcmp(ev->name, "late") != 0)
		return KEEL_NEXT;
	return call->hold(c, &(struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts), .why = "a question",
						       .timeout_ms = 60000, .resume = resume, .cancel = cancel },
			  &held);
}

#define REQUEST(request_name, fn, ...)                                                             \
	{ "REQUEST", &(const struct keel_request_def){ .size = sizeof(struct keel_request_def),     \
						       .roles = KEEL_EVERYBODY, .doc = "test",      \
						       .name = (request_name), .handler = (fn),     \
						       __VA_ARGS__ } }
static const struct keel_contrib rows[] = {
	REQUEST("echo", on_echo),
	REQUEST("keep", on_keep),
	REQUEST("wait", on_wait, .flags = KEEL_REQUEST_WAITS),
	REQUEST("stream", on_stream, .flags = KEEL_REQUEST_WAITS | KEEL_REQUEST_READ),
	REQUEST("list", on_keep, .flags = KEEL_REQUEST_READ),
	REQUEST("part", on_part, .flags = KEEL_REQUEST_READ),
	REQUEST("decide", on_decide),
	REQUEST("late", on_echo),
};
static const struct keel_tap taps[] = { KEEL_TAP(request_receive, on_receive) };

static void start(struct wire_client *c)
{
	struct keel_err err = { 0 };

	n_gone = n_cancelled = n_outcomes = n_done = 0;
	held = NULL;
	kept = waiting = NULL;
	act_first = false;
	kernel_start(&k);
	CU_ASSERT_FATAL(registry_add(k.parts.registry, &k.owner, rows, KEEL_COUNT(rows), &err) == 0);
	memset(&guard, 0, sizeof(guard));
	guard.pub.name = "guard";
	guard.parts = &k.parts;
	call = registry_service(k.parts.registry, "call", 0, NULL, &err);
	hook = registry_service(k.parts.registry, "hook", 0, NULL, &err);
	CU_ASSERT_FATAL(hooks_attach(k.parts.hooks, &guard, taps, KEEL_COUNT(taps), &err) == 0);
	wire_connect(&k, c);
}

static bool is_set(void *arg)
{
	return *(void **)arg != NULL;
}

#define WAIT_SET(what) CU_ASSERT_FATAL(loop_run_until(k.parts.loop, is_set, &(what), DEADLINE_MS) == 0)

static void done(void *arg)
{
	CU_ASSERT_PTR_EQUAL(arg, &n_done);
	n_done++;
}

static void drain(int64_t ms)
{
	router_drain(k.parts.router, loop_now_ms(k.parts.loop) + ms, done, &n_done);
}

static bool is_done(void *arg)
{
	(void)arg;
	return n_done > 0;
}

static bool is_ending(void *arg)
{
	(void)arg;
	return k.parts.router->drain.phase >= DRAIN_ENDING;
}

static bool is_again(struct wire_client *c)
{
	struct pack p;
	bool again;

	CU_ASSERT_FATAL(pack_open(&p, c->frame.body, c->frame.len) == 0);
	again = pack_int(&p.root, "again", 0) == 1;
	pack_fini(&p);
	return again;
}

/* The next frame replies to `corr` with an error, which says `again` or not. */
static void replied(struct wire_client *c, uint64_t corr, bool again)
{
	CU_ASSERT_EQUAL(wire_code(c), 15060);
	CU_ASSERT_EQUAL(c->frame.type, WIRE_REPLY);
	CU_ASSERT_EQUAL(c->frame.corr, corr);
	CU_ASSERT_EQUAL(is_again(c), again);
}

/* A goodbye, the end of the connection, and of the drain, once. */
static void left(struct wire_client *c)
{
	wire_wait(c);
	CU_ASSERT_FALSE(c->eof);
	CU_ASSERT_EQUAL(c->frame.type, WIRE_GOODBYE);
	wire_wait(c);
	CU_ASSERT(c->eof);
	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, is_done, NULL, DEADLINE_MS), 0);
	CU_ASSERT_EQUAL(n_done, 1);
	CU_ASSERT(router_idle(k.parts.router));
	wire_close(c);
}

/* ---- tests -------------------------------------------------------------------------------------- */
static void test_at_rest(void)
{
	struct wire_client c, later;

	start(&c);
	wire_send(&c, 1, wire_request("echo"));
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	drain(60000);
	CU_ASSERT_EQUAL(n_done, 0); /* not below its caller */
	left(&c);
	wire_connect(&k, &later); /* in the backlog */
	wire_send(&later, 1, wire_request("echo"));
	CU_ASSERT_EQUAL(k.parts.router->n_clients, 0);
	wire_close(&later);
	kernel_stop(&k);
}

static void test_nothing_is_read_after_the_end(void)
{
	struct wire_client c;

	struct keel_req *first;

	start(&c);
	wire_send(&c, 1, wire_request("keep"));
	WAIT_SET(kept);
	first = kept;
	kept = NULL;
	drain(60000);
	wire_send(&c, 2, wire_request("wait"));
	wire_send(&c, 3, wire_request("keep"));
	WAIT_SET(kept);
	k.request->reply(first, 0, NULL);
	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, is_ending, NULL, DEADLINE_MS), 0);
	wire_send(&c, 4, wire_request("echo"));
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	CU_ASSERT_EQUAL(c.frame.corr, 1);
	replied(&c, 2, true);
	CU_ASSERT_EQUAL(n_gone, 1);
	CU_ASSERT_EQUAL(n_done, 0);
	k.request->reply(kept, 0, NULL);
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	CU_ASSERT_EQUAL(c.frame.corr, 3);
	left(&c);
	kernel_stop(&k);
}

static void test_what_acts_ends(void)
{
	struct wire_client c;

	start(&c);
	wire_send(&c, 1, wire_request("keep"));
	wire_send(&c, 2, wire_request("wait"));
	WAIT_SET(waiting);
	drain(60000);
	wire_send(&c, 3, wire_request("echo")); /* others are served meanwhile */
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	CU_ASSERT_EQUAL(c.frame.corr, 3);
	CU_ASSERT_EQUAL(n_done, 0);
	k.request->reply(kept, 0, NULL);
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	CU_ASSERT_EQUAL(c.frame.corr, 1);
	replied(&c, 2, true);
	left(&c);
	kernel_stop(&k);
}

/* It delays nothing, and its client has to begin anew. */
static void test_stream(void)
{
	struct wire_client c;

	start(&c);
	wire_send(&c, 1, wire_request("stream"));
	wire_wait(&c);
	CU_ASSERT_EQUAL(c.frame.type, WIRE_PART);
	drain(60000);
	replied(&c, 1, false);
	CU_ASSERT_EQUAL(n_gone, 1);
	left(&c);
	kernel_stop(&k);
}

static void test_deadline(void)
{
	struct wire_client c;

	start(&c);
	wire_send(&c, 1, wire_request("keep"));
	WAIT_SET(kept);
	drain(30);
	replied(&c, 1, false);
	left(&c);
	k.request->reply(kept, 0, NULL); /* too late, harmless */
	kernel_stop(&k);
}

static void test_undecided(void)
{
	struct wire_client c;

	start(&c);
	wire_send(&c, 1, wire_request("decide"));
	WAIT_SET(held);
	drain(60000);
	replied(&c, 1, true);
	left(&c);
	CU_ASSERT_EQUAL(n_cancelled, 1);
	CU_ASSERT_EQUAL(n_outcomes, 1);
	kernel_stop(&k);
}

static void test_not_yet_received(void)
{
	struct wire_client c;

	start(&c);
	wire_send(&c, 1, wire_request("late"));
	WAIT_SET(held);
	drain(60000);
	replied(&c, 1, true);
	left(&c);
	CU_ASSERT_EQUAL(n_cancelled, 1);
	kernel_stop(&k);
}

/* One that acted before its operation waits is not sent again. */
static void test_undecided_but_acted(void)
{
	struct wire_client c;

	start(&c);
	act_first = true;
	object = calloc(1, 4096);
	wire_send(&c, 1, wire_request("decide"));
	WAIT_SET(held);
	drain(60000);
	wire_send(&c, 2, wire_request("echo"));
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	CU_ASSERT_EQUAL(c.frame.corr, 2);
	call->release(held);
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	CU_ASSERT_EQUAL(c.frame.corr, 1);
	left(&c);
	kernel_stop(&k);
	free(object);
}

static void test_lists_at_the_deadline(void)
{
	struct wire_client c;

	start(&c);
	wire_send(&c, 1, wire_request("part"));
	wire_wait(&c);
	CU_ASSERT_EQUAL(c.frame.type, WIRE_PART);
	kept = NULL;
	wire_send(&c, 2, wire_request("list"));
	WAIT_SET(kept);
	drain(30);
	replied(&c, 2, true);
	replied(&c, 1, false);
	left(&c);
	kernel_stop(&k);
}

/* A client that does not read keeps nothing waiting. */
static void test_slow_reader(void)
{
	static char block[4 << 20];
	struct wire_client c, slow;
	struct keel_out *o;

	start(&c);
	wire_connect(&k, &slow);
	wire_send(&slow, 1, wire_request("keep"));
	WAIT_SET(kept);
	o = k.msg->out(&k.owner.pub);
	k.msg->put_bytes(o, "block", block, sizeof(block));
	k.request->reply_out(kept, o);
	wire_send(&c, 1, wire_request("echo"));
	CU_ASSERT_EQUAL(wire_code(&c), 0);
	drain(60000);
	left(&c);
	wire_close(&slow);
	kernel_stop(&k);
}

static void test_socket_is_handed_over(void)
{
	struct wire_client c, next;
	struct keel_err err = { 0 };
	struct router *old;
	int fd;

	start(&c);
	drain(60000);
	left(&c);
	old = k.parts.router;
	fd = router_listen_fd(old);
	CU_ASSERT(fd >= 3);
	wire_connect(&k, &next);
	wire_send(&next, 1, wire_request("echo"));
	registry_remove(k.parts.registry, &k.owner);
	router_destroy(old);
	CU_ASSERT_EQUAL(access(k.socket, F_OK), 0);
	/* The next image has a registry of its own. */
	registry_destroy(k.parts.registry);
	CU_ASSERT_FATAL(registry_create(&k.parts.registry) == 0);
	CU_ASSERT_FATAL(router_create(&k.parts, &k.parts.router) == 0);
	CU_ASSERT_FATAL(registry_add(k.parts.registry, &k.owner, rows, KEEL_COUNT(rows), &err) == 0);
	CU_ASSERT_FATAL(router_listen(k.parts.router, k.socket, fd, &err) == 0);
	CU_ASSERT_EQUAL(wire_code(&next), 0);
	wire_close(&next);
	kernel_stop(&k);
	CU_ASSERT(access(k.socket, F_OK) < 0);
}

/* A socket with another path is of no use: the configuration names a new one. */
static void test_another_socket(void)
{
	struct wire_client c;
	struct keel_err err = { 0 };
	char path[128];
	int fd;

	start(&c);
	fd = router_listen_fd(k.parts.router);
	loop_watch_cancel(k.parts.router->listener);
	close(k.parts.router->listen_fd);
	k.parts.router->listener = NULL;
	free(k.parts.router->listen_path);
	k.parts.router->handed = false;
	snprintf(path, sizeof(path), "%s/other.sock", k.dir);
	CU_ASSERT_FATAL(router_listen(k.parts.router, path, fd, &err) == 0);
	CU_ASSERT_EQUAL(access(path, F_OK), 0);
	wire_close(&c);
	kernel_stop(&k);
}

TESTS_MAIN("drain", TEST(test_at_rest), TEST(test_nothing_is_read_after_the_end), TEST(test_what_acts_ends),
	   TEST(test_stream), TEST(test_deadline), TEST(test_undecided), TEST(test_not_yet_received), TEST(test_undecided_but_acted),
	   TEST(test_lists_at_the_deadline), TEST(test_slow_reader), TEST(test_socket_is_handed_over),
	   TEST(test_another_socket))
