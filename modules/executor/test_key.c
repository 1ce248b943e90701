/* SPDX-License-Identifier: Apache-2.0
 *
 * test_key.c - address and public key of a host, which the server passes on to the other hosts of its jobs.
 */
#include "executor.h"

#include <errno.h>
#include <string.h>

#include "harness.h"
#include "keel/mock.h"
#include "keel/service/carrier.h"
#include "with_resources.h"

extern const struct keel_module keel_module;

static struct keel_mock *mock;
static struct keel_mod *mod;
static int32_t proved_error;

static int32_t proves(struct keel_mod *m, const char *peer, char key[KEEL_CARRIER_KEY])
{
	(void)m, (void)peer;
	strcpy(key, "PROVED");
	return proved_error;
}

static const char *key_after_hello(void)
{
	keel_mock_deliver(mock, "A", "task.hello", "host = \"A\"; ncpus = 4; running = []; vnodes = [\"A\"]; "
			  "address = \"10.0.0.1:15002\"; key = \"SAID\";");
	keel_mock_advance(mock, 0);
	return host_find(mod->state, "A")->key;
}

static void load(void)
{
	struct keel_err err;

	mock = mock_with_resources();
	mod = keel_mock_load(mock, &keel_module, "", &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	keel_mock_advance(mock, 0);
	keel_mock_peer(mock, "A", KEEL_MOM, true);
}

/* A host cannot pass the key of another one on as its own. */
static void test_key_is_the_proved_one(void)
{
	static const struct keel_carrier_api carrier = { .size = sizeof(carrier), .proved = proves };

	load();
	KEEL_USE_carrier = &carrier;
	proved_error = 0;
	CU_ASSERT_STRING_EQUAL(key_after_hello(), "PROVED");
	proved_error = -ENOTCONN; /* in this process */
	CU_ASSERT_STRING_EQUAL(key_after_hello(), "SAID");
	KEEL_USE_carrier = NULL;
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

static bool reachable_at(const char *address)
{
	char body[1000];

	snprintf(body, sizeof(body), "host = \"A\"; address = \"%s\"; key = \"K\";", address);
	keel_mock_deliver(mock, "A", "task.hello", body);
	return host_is_reachable(mod->state, "A");
}

/* An address with a blank would be two words of a line. */
static void test_bad_address(void)
{
	static const char *const bad[] = { "a b:1", "", "a:1\n", "\xc3\xa4:1" };
	char longest[402] = "";

	load();
	for (size_t i = 0; i < KEEL_COUNT(bad); i++)
		CU_ASSERT(!reachable_at(bad[i]));
	memset(longest, '1', sizeof(longest) - 1); /* past modules/executor/resync.c PLACE_MAX */
	CU_ASSERT(!reachable_at(longest) && reachable_at(longest + 1));
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

TESTS_MAIN("key", TEST(test_key_is_the_proved_one), TEST(test_bad_address))
