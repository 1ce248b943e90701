/* SPDX-License-Identifier: Apache-2.0
 *
 * test_key.c - the public key of a host, which the server passes on to the other hosts of its jobs.
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
static int32_t proved_error;

static int32_t proves(struct keel_mod *m, const char *peer, char key[KEEL_CARRIER_KEY])
{
	(void)m, (void)peer;
	strcpy(key, "PROVED");
	return proved_error;
}

static const char *key_after_hello(struct keel_mod *mod)
{
	keel_mock_deliver(mock, "A", "task.hello", "host = \"A\"; ncpus = 4; running = []; vnodes = [\"A\"]; "
			  "address = \"10.0.0.1:15002\"; key = \"SAID\";");
	keel_mock_advance(mock, 0);
	return host_find(mod->state, "A")->key;
}

/* A host cannot pass the key of another one on as its own. */
static void test_key_is_the_proved_one(void)
{
	static const struct keel_carrier_api carrier = { .size = sizeof(carrier), .proved = proves };
	struct keel_mod *mod;
	struct keel_err err;

	mock = mock_with_resources();
	mod = keel_mock_load(mock, &keel_module, "", &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mod);
	keel_mock_advance(mock, 0);
	keel_mock_peer(mock, "A", KEEL_MOM, true);
	KEEL_USE_carrier = &carrier;
	proved_error = 0;
	CU_ASSERT_STRING_EQUAL(key_after_hello(mod), "PROVED");
	proved_error = -ENOTCONN; /* in this process */
	CU_ASSERT_STRING_EQUAL(key_after_hello(mod), "SAID");
	KEEL_USE_carrier = NULL;
	CU_ASSERT_EQUAL(keel_mock_free(mock), 0);
}

TESTS_MAIN("key", TEST(test_key_is_the_proved_one))
