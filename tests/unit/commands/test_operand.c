/* SPDX-License-Identifier: Apache-2.0
 *
 * test_operand.c - job ids, destinations and servers on a command line.
 */
#include <errno.h>

#include "capture.h"
#include "operand.h"

static void job(const char *text, const char *id, const char *server)
{
	struct operand op;

	CU_ASSERT_EQUAL(operand_job(text, &op), 0);
	CU_ASSERT_STRING_EQUAL(op.id, id);
	CU_ASSERT_STRING_EQUAL(op.server, server);
}

static void test_jobs(void)
{
	job("12", "12.HOST", "");
	job("  12", "12.HOST", "");
	job("12.HOST", "12.HOST", "");
	job("12.localhost", "12.localhost", "localhost");
	job("12@localhost", "12.HOST", "localhost");
	job("12.HOST@other:15001", "12.HOST", "other:15001");
	job("12[]", "12[].HOST", "");
	job("12[3].HOST", "12[3].HOST", "");
	job("12[1-5]", "12[1-5].HOST", "");
	job("12[1-3,7,10-20:5]", "12[1-3,7,10-20:5].HOST", "");
	job("12[1-9:2]@b", "12[1-9:2].HOST", "b");
	job("123456789012", "123456789012.HOST", "");
}

/* past sdk/commands/lib/operand.c INDEX_PART_MAX */
static void test_malformed_jobs(void)
{
	static const char *const bad[] = {
		"", " ", "x", "12x", "1234567890123", "12[", "12[1", "12[a]", "12[1-]", "12[1-2:]",
		"12[]x", "12.", "12@", "12.HOST@", "12@a@b", "12.HOST:", "12.HOST:123456",
		"12.HOST x", "1.no-such-host.invalid", "12[1-2-3]", "12[1,]", "12[,1]", "12[1,a]", "12[1-,2]", ".HOST", "@HOST",
	};
	char long_id[600] = "1.";
	struct operand op;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(operand_job(bad[i], &op), -EINVAL);
	memset(long_id + 2, 'a', sizeof(long_id) - 3);
	CU_ASSERT_EQUAL(operand_job(long_id, &op), -EINVAL);
	for (size_t len = 120; len <= 121; len++) { /* with the brackets */
		snprintf(long_id, sizeof(long_id), "1[%0*d]", (int)len - 2, 1);
		CU_ASSERT_EQUAL(operand_job(long_id, &op), len == 120 ? 0 : -EINVAL);
	}
}

/* past sdk/commands/lib/operand.c QUEUE_NAME_MAX */
static void test_destinations(void)
{
	struct operand op;
	char queue[257];

	memset(queue, 'q', 256);
	queue[256] = '\0';
	CU_ASSERT_EQUAL(operand_destination(queue, &op), -EINVAL);
	CU_ASSERT_EQUAL(operand_destination(queue + 1, &op), 0);

	CU_ASSERT_EQUAL(operand_destination("workq", &op), 0);
	CU_ASSERT_STRING_EQUAL(op.id, "workq");
	CU_ASSERT(!op.named);
	CU_ASSERT_EQUAL(operand_destination("q@s:15001", &op), 0);
	CU_ASSERT_STRING_EQUAL(op.id, "q");
	CU_ASSERT_STRING_EQUAL(op.server, "s:15001");
	CU_ASSERT_EQUAL(operand_destination("@s", &op), 0);
	CU_ASSERT_STRING_EQUAL(op.id, "");
	CU_ASSERT(op.named);
	CU_ASSERT_EQUAL(operand_destination("", &op), -EINVAL);
	CU_ASSERT_EQUAL(operand_destination("q@", &op), -EINVAL);
	CU_ASSERT_EQUAL(operand_destination("q@a b", &op), -EINVAL);
	CU_ASSERT_EQUAL(operand_server("s:1", &op), 0);
	CU_ASSERT_EQUAL(operand_server("s:", &op), -EINVAL);
	CU_ASSERT_EQUAL(operand_server("", &op), -EINVAL);
	CU_ASSERT_EQUAL(operand_server("a/b", &op), -EINVAL);
}

static void test_reservations(void)
{
	static const char *const bad[] = { "", "R", "12", "X12", "R12.", "R12@", "R1x", "r12", "bogus", "R12[1]", "RS12", "R-1",
					   "M12.a b", "R123456789012345678901" };
	struct operand op;

	CU_ASSERT_EQUAL(operand_resv(" R12", &op), 0);
	CU_ASSERT_STRING_EQUAL(op.id, "R12.HOST");
	CU_ASSERT_STRING_EQUAL(op.server, "");
	CU_ASSERT_EQUAL(operand_resv("S0.HOST@other:1", &op), 0);
	CU_ASSERT_STRING_EQUAL(op.id, "S0.HOST");
	CU_ASSERT_STRING_EQUAL(op.server, "other:1");
	CU_ASSERT_EQUAL(operand_resv("M7.localhost", &op), 0);
	CU_ASSERT_STRING_EQUAL(op.id, "M7.localhost");
	CU_ASSERT_STRING_EQUAL(op.server, "localhost");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(operand_resv(bad[i], &op), -EINVAL);
}

static void set_up(void)
{
	setenv("PBS_CONF_FILE", "/dev/null", 1);
	setenv("PBS_SERVER", "HOST", 1);
}

TESTS_MAIN_BETWEEN("operand", set_up, NULL, TEST(test_jobs), TEST(test_malformed_jobs),
		   TEST(test_destinations), TEST(test_reservations))
