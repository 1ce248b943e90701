/* SPDX-License-Identifier: Apache-2.0
 *
 * test_storm.c - many clients that come, ask, stop reading, send nonsense and go, in an order made from
 * a seed, and a module that answers when it likes. Nothing may be lost, counted wrong or touched after
 * its end (run with a sanitizer).
 */
#include "fixture.h"

enum { CLIENTS = 24, KEPT = 4096, STEPS = 6000, PART_SIZE = 20000 };

struct kept {
	struct keel_req *q; /* NULL: free */
	bool tell;
};

static struct kernel k;
static struct kept kept[KEPT];
static struct wire_client clients[CLIENTS];
static bool open_now[CLIENTS];
static uint64_t seed;
static long n_asked, n_gone;

static uint32_t random_below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 11) % n);
}

/* ---- the module --------------------------------------------------------------------------------- */
static void gone(struct keel_mod *m, void *arg)
{
	struct kept *x = arg;

	(void)m;
	CU_ASSERT_FATAL(x->q != NULL && x->tell);
	x->tell = false;
	n_gone++;
	if (random_below(2) == 0)
		return; /* it is answered some other time */
	k.request->reply(x->q, 0, NULL);
	x->q = NULL;
}

static void on_keep(struct keel_mod *m, struct keel_req *q)
{
	struct kept *x = kept;

	(void)m;
	n_asked++;
	while (x < kept + KEPT && x->q != NULL)
		x++;
	if (x == kept + KEPT || random_below(4) == 0) {
		k.request->reply(q, (int32_t)random_below(2) * 15001, NULL);
		return;
	}
	x->q = q;
	x->tell = random_below(2);
	if (x->tell)
		k.request->on_gone(q, gone, x);
}

static void go_on(struct keel_mod *m, void *arg)
{
	(void)m;
	(void)arg;
}

static void act_on(struct kept *x)
{
	static char block[PART_SIZE];
	struct keel_out *o;
	int32_t ret;

	switch (random_below(4)) {
	case 0:
		o = k.msg->out(&k.owner.pub);
		k.msg->put_bytes(o, "block", block, random_below(PART_SIZE));
		ret = k.request->part(x->q, o);
		CU_ASSERT(ret == 0 || ret == -ENOBUFS || ret == -EPIPE);
		if (ret == -ENOBUFS)
			k.request->drained(x->q, go_on, x);
		return;
	case 1:
		k.request->reply(x->q, 15001, "no %u", random_below(9));
		break;
	case 2:
		k.request->reply(x->q, 0, NULL);
		break;
	default:
		o = k.msg->out(&k.owner.pub);
		k.msg->put_str(o, "text", "done");
		k.request->reply_out(x->q, o);
		break;
	}
	x->q = NULL;
}

static void module_acts(void)
{
	for (int i = 0; i < 8; i++) {
		struct kept *x = &kept[random_below(64)];

		if (x->q != NULL)
			act_on(x);
	}
}

/* ---- the clients -------------------------------------------------------------------------------- */
static void ask(struct wire_client *c)
{
	struct keel_out *o = wire_request(random_below(20) == 0 ? "unknown" : "keep");
	size_t len;
	const char *bytes = out_frame(o, WIRE_REQUEST, seed, &len);

	/* Sometimes half of it; what the socket does not take is half of it too. */
	if (send(c->fd, bytes, random_below(10) == 0 ? len / 2 : len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		CU_ASSERT(errno == EAGAIN || errno == EPIPE || errno == ECONNRESET);
	out_drop(o);
}

static void say_nonsense(struct wire_client *c)
{
	char bytes[64];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)random_below(256);
	(void)!send(c->fd, bytes, 1 + random_below(sizeof(bytes)), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void client_acts(int i)
{
	struct wire_client *c = &clients[i];
	char sink[4096];
	uint32_t what = random_below(100);

	if (!open_now[i]) {
		wire_connect(&k, c);
		open_now[i] = true;
	} else if (what < 5) {
		wire_close(c);
		open_now[i] = false;
	} else if (what < 7) {
		say_nonsense(c);
	} else if (what < 9) {
		shutdown(c->fd, SHUT_WR);
	} else if (what < 60) {
		ask(c);
	} else {
		while (recv(c->fd, sink, sizeof(sink), MSG_DONTWAIT) > 0 && random_below(4) != 0)
			;
	}
}

static bool at_once(void *arg)
{
	return ++*(int *)arg > 2;
}

static bool no_clients(void *arg)
{
	return ((struct router *)arg)->n_clients == 0;
}

static void storm(uint64_t from)
{
	static const struct keel_request_def def = { .size = sizeof(def), .roles = KEEL_EVERYBODY,
						     .name = "keep", .doc = "test", .handler = on_keep };
	static const struct keel_contrib row[] = { KEEL_ROW(REQUEST, def) };
	struct keel_err err;
	struct router *r;

	seed = from;
	n_asked = n_gone = 0;
	memset(kept, 0, sizeof(kept));
	memset(open_now, 0, sizeof(open_now));
	kernel_start(&k);
	r = k.parts.router;
	r->limits.quarantine = 16;
	r->limits.queued_high = 100000;
	r->limits.queued_low = 20000;
	r->limits.requests_open = 20;
	r->limits.requests_per_turn = 3;
	r->limits.stall_ms = 40;
	r->limits.sweep_ms = 10;
	CU_ASSERT_FATAL(registry_add(k.parts.registry, &k.owner, row, 1, &err) == 0);
	for (int i = 0; i < STEPS; i++) {
		client_acts((int)random_below(CLIENTS));
		module_acts();
		CU_ASSERT(loop_run_until(k.parts.loop, at_once, &(int){ 0 },
					 random_below(8) == 0) <= 0);
	}
	for (int i = 0; i < CLIENTS; i++) {
		if (open_now[i])
			wire_close(&clients[i]);
	}
	CU_ASSERT(loop_run_until(k.parts.loop, no_clients, r, DEADLINE_MS) == 0);
	for (struct kept *x = kept; x < kept + KEPT; x++) {
		if (x->q != NULL) {
			CU_ASSERT(!x->tell);
			k.request->reply(x->q, 0, NULL);
		}
	}
	CU_ASSERT(n_asked > 100);
	CU_ASSERT(n_gone > 0);
	CU_ASSERT(router_idle(r));
	CU_ASSERT_EQUAL(r->input, 0);
	for (const struct uid_share *s = r->shares; s != NULL; s = s->next)
		CU_ASSERT(s->n == 0 && s->deciding == 0 && s->queued == 0);
	CU_ASSERT_PTR_NULL(r->orphans);
	CU_ASSERT(!log_has(&k, "answered before; ignored"));
	kernel_stop(&k);
}

static void test_storms(void)
{
	for (uint64_t i = 1; i <= 4; i++)
		storm(i * 0x9e3779b97f4a7c15ull);
}

TESTS_MAIN("storm", TEST(test_storms))
