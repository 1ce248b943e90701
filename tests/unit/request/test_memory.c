/* SPDX-License-Identifier: Apache-2.0
 *
 * test_memory.c - each allocation that a connection and its request take fails once: the client gets a reply or
 * hears that the connection is closed, and the next one is served.
 */
#include "fixture.h"
#include "no_memory.h"

static struct kernel k;

static void on_ask(struct keel_mod *m, struct keel_req *q)
{
	(void)m;
	k.request->reply(q, 0, NULL);
}

static const struct keel_request_def ask = { .size = sizeof(ask), .name = "ask", .doc = "test", .handler = on_ask, .roles = KEEL_EVERYBODY };
static const struct keel_contrib rows[] = { KEEL_ROW(REQUEST, ask) };

/* The client has memory. */
static bool heard(void *arg)
{
	long left = countdown;
	bool there;

	countdown = -1;
	there = wire_poll(arg);
	countdown = left;
	return there;
}

static void client_asks(struct wire_client *c)
{
	wire_connect(&k, c);
	wire_send(c, 1, wire_request("ask"));
}

/* False: so many were not needed. */
static bool failed_at(long n)
{
	struct keel_err err = { 0 };
	struct wire_client c;
	bool failed;
	int ret;

	kernel_start(&k);
	CU_ASSERT_EQUAL_FATAL(registry_add(k.parts.registry, &k.owner, rows, 1, &err), 0);
	client_asks(&c);
	countdown = n;
	ret = loop_run_until(k.parts.loop, heard, &c, DEADLINE_MS);
	failed = countdown < 0;
	countdown = -1;
	CU_ASSERT(ret == 0 || loop_run_until(k.parts.loop, heard, &c, DEADLINE_MS) == 0);
	wire_close(&c);
	client_asks(&c);
	CU_ASSERT(wire_code(&c) >= 0); /* that an account could not be read is believed for a moment */
	wire_close(&c);
	registry_remove(k.parts.registry, &k.owner);
	kernel_stop(&k);
	return failed;
}

static void each_allocation_fails(void)
{
	long n = INJECTING;

	while (failed_at(n > 0 ? n : -1) && INJECTING)
		n++;
	CU_ASSERT(!INJECTING || n > 10);
}

TESTS_MAIN("memory", TEST(each_allocation_fails))
