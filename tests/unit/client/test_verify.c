/* SPDX-License-Identifier: Apache-2.0
 *
 * test_verify.c - values that pass and values that do not, before anything is sent.
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"
#include "harness.h"
#include "pbs_error.h"
#include "verify.h"

static int c;

/* A connection that is not read: the checks need no reply. */
static void set_up(void)
{
	int pair[2];

	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	close(pair[1]);
	c = pair[0];
	CU_ASSERT_FATAL(connection_add(c, NULL) >= 0);
}

static void tear_down(void)
{
	CU_ASSERT_EQUAL(pbs_disconnect(c), 0);
}

struct row {
	const char *name, *resource, *value;
	int error;
};

static void check_rows(enum verify_for what, enum batch_op op, const struct row *rows)
{
	for (; rows->name != NULL; rows++) {
		struct attropl a = { NULL, (char *)rows->name, (char *)rows->resource,
				     (char *)rows->value, op };
		int got = verify(c, what, &a);

		if (got != rows->error)
			printf("\n  %s.%s = %s: %d, not %d", rows->name,
			       rows->resource ? rows->resource : "", rows->value, got, rows->error);
		CU_ASSERT_EQUAL(got, rows->error);
	}
}

#define BAD PBSE_BADATVAL
#define NAME_230                                                                                   \
	"1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678" \
	"9012345678901234567890123456789012345678901234567890123456789012345678901234567890123456" \
	"789012345678901234567890123456789012345678901234567890"

static void test_submit_values(void)
{
	static const struct row rows[] = {
		{ ATTR_N, NULL, "a_b-c+d.e1", 0 },
		{ ATTR_N, NULL, "1abc", 0 },
		{ ATTR_N, NULL, "", BAD },
		{ ATTR_N, NULL, NULL, BAD },
		{ ATTR_N, NULL, "bad name", BAD },
		{ ATTR_N, NULL, NAME_230, 0 },
		{ ATTR_N, NULL, NAME_230 "1", PBSE_JOBNBIG },
		{ ATTR_o, NULL, "host:path", 0 },
		{ ATTR_o, NULL, ":path", BAD },
		{ ATTR_o, NULL, "host:", BAD },
		{ ATTR_o, NULL, "/run:", 0 },
		{ ATTR_depend, NULL, "afterok:1:2.svr@srv,on:3,afterany:5[].svr", 0 },
		{ ATTR_depend, NULL, "afterok", BAD },
		{ ATTR_depend, NULL, "afterok:", BAD },
		{ ATTR_depend, NULL, "afterok:1[2]", BAD },
		{ ATTR_depend, NULL, "afterok:1[2-3].svr", BAD },
		{ ATTR_depend, NULL, "sometime:1", BAD },
		{ ATTR_depend, NULL, "on:x", BAD },
		{ ATTR_depend, NULL, "on:1:2", BAD },
		{ ATTR_depend, NULL, "runone:1:2", BAD },
		{ ATTR_depend, NULL, "afterok:1,", BAD },
		{ ATTR_depend, NULL, "afterok:1x", BAD },
		{ ATTR_h, NULL, "uos", 0 },
		{ ATTR_h, NULL, "un", BAD },
		{ ATTR_h, NULL, "x", BAD },
		{ ATTR_j, NULL, "oe", 0 },
		{ ATTR_j, NULL, "oee", BAD },
		{ ATTR_k, NULL, "doe", 0 },
		{ ATTR_k, NULL, "d", BAD },
		{ ATTR_k, NULL, "no", BAD },
		{ ATTR_R, NULL, "eo", 0 },
		{ ATTR_R, NULL, "n", BAD },
		{ ATTR_m, NULL, "abe", 0 },
		{ ATTR_m, NULL, "j", BAD },
		{ ATTR_m, NULL, "ja", 0 },
		{ ATTR_m, NULL, "na", BAD },
		{ ATTR_M, NULL, "a,b@c", 0 },
		{ ATTR_M, NULL, "a,,b", BAD },
		{ ATTR_M, NULL, "a@", BAD },
		{ ATTR_u, NULL, "a,b@c", 0 },
		{ ATTR_u, NULL, "a,b", BAD },
		{ ATTR_S, NULL, "/bin/sh,/bin/csh@h", 0 },
		{ ATTR_S, NULL, "relative", BAD },
		{ ATTR_S, NULL, "/a,/b", BAD },
		{ ATTR_c, NULL, "c=10", 0 },
		{ ATTR_c, NULL, "c=", BAD },
		{ ATTR_c, NULL, "z", BAD },
		{ ATTR_p, NULL, "-1024", 0 },
		{ ATTR_p, NULL, "1024", BAD },
		{ ATTR_p, NULL, "abc", BAD },
		{ ATTR_p, NULL, "99999999999999999999", BAD },
		{ ATTR_J, NULL, "1-10:2", 0 },
		{ ATTR_J, NULL, "1-2:2", 0 },
		{ ATTR_J, NULL, "5-5", BAD },
		{ ATTR_J, NULL, "1-10:0", BAD },
		{ ATTR_J, NULL, "5", BAD },
		{ ATTR_J, NULL, "1-9999999999", PBSE_ATVALERANGE },
		{ ATTR_sandbox, NULL, "private", 0 },
		{ ATTR_sandbox, NULL, "here", BAD },
		{ ATTR_stagein, NULL, "a@h:b,c@h:/d", 0 },
		{ ATTR_stagein, NULL, "a@h", BAD },
		{ ATTR_project, NULL, "p q", 0 },
		{ ATTR_project, NULL, "p/q", BAD },
		{ ATTR_tolerate_node_failures, NULL, "job_start", 0 },
		{ ATTR_tolerate_node_failures, NULL, "ALL", BAD },
		{ ATTR_l, "ncpus", "4", 0 },
		{ ATTR_l, "ncpus", "abc", BAD },
		{ ATTR_l, "ncpus", "-1", BAD },
		{ ATTR_l, "mem", "10GB", 0 },
		{ ATTR_l, "mem", "10k", 0 },
		{ ATTR_l, "mem", "10xx", BAD },
		{ ATTR_l, "mem", "gb", BAD },
		{ ATTR_l, "walltime", "100:00:00.5", 0 },
		{ ATTR_l, "walltime", "90", 0 },
		{ ATTR_l, "walltime", "1:2:3:4", BAD },
		{ ATTR_l, "walltime", "1:", BAD },
		{ ATTR_l, "walltime", "abc", BAD },
		{ ATTR_l, "custom", "anything", 0 },
		{ ATTR_l, "select", "2:ncpus=1:mem=1gb+3", 0 },
		{ ATTR_l, "select", "0", 0 }, /* the server refuses it, in other words */
		{ ATTR_l, "select", "ncpus=1:foo=\"a:b+c\"", 0 },
		{ ATTR_l, "select", "1:ncpus", BAD },
		{ ATTR_l, "select", "1:ncpus=x", BAD },
		{ ATTR_l, "select", "1:ncpus=1+", BAD },
		{ ATTR_l, "select", "1:foo=\"open", BAD },
		{ ATTR_l, "select", "1:ncpus=1:", BAD },
		{ ATTR_l, "place", "scatter:excl:group=rack", 0 },
		{ ATTR_l, "place", "group=rack", 0 },
		{ ATTR_l, "place", "excl", 0 },
		{ ATTR_l, "place", "foo", BAD },
		{ ATTR_l, "place", "excl:free", BAD },
		{ ATTR_l, "place", "free:pack", BAD },
		{ "no_such_attribute", NULL, "x", 0 }, /* a module of the server may know it */
		{ "", NULL, "x", PBSE_NOATTR },
		{ NULL, NULL, NULL, 0 },
	};

	check_rows(VERIFY_SUBMIT, SET, rows);
}

static void test_alter_and_select(void)
{
	static const struct row alter[] = {
		{ ATTR_depend, NULL, "", 0 }, /* takes it away */
		{ ATTR_l, "walltime", "", 0 },
		{ ATTR_l, "walltime", "x", BAD },
		{ NULL, NULL, NULL, 0 },
	};
	static const struct row select[] = {
		{ ATTR_state, NULL, "QRX", 0 },
		{ ATTR_state, NULL, "Z", BAD },
		{ ATTR_p, NULL, "5000", 0 },
		{ ATTR_N, NULL, "any name", 0 },
		{ ATTR_l, "ncpus", "x", BAD },
		{ NULL, NULL, NULL, 0 },
	};
	static const struct row no_operator[] = {
		{ ATTR_state, NULL, "Q", BAD },
		{ NULL, NULL, NULL, 0 },
	};

	check_rows(VERIFY_ALTER, SET, alter);
	check_rows(VERIFY_ALTER, UNSET, alter); /* no caller means anything by it */
	check_rows(VERIFY_SELECT, EQ, select);
	check_rows(VERIFY_SELECT, SET, no_operator);
}

static int manage(int obj, const char *name, const char *value)
{
	struct attropl a = { NULL, (char *)name, NULL, (char *)value, SET };

	return verify_manager(c, MGR_CMD_SET, obj, &a);
}

/* past sdk/client/check.h RESOURCE_NAME_MAX, past sdk/client/check_select.c VALUE_MAX: their ends count. */
static void test_long_chunks(void)
{
	char text[4200];

	for (int more = 0; more <= 1; more++) {
		const struct row rows[] = { { ATTR_l, "select", text, more ? PBSE_BADATVAL : 0 }, { NULL, NULL, NULL, 0 } };

		snprintf(text, sizeof(text), "1:%0*d=1", 63 + more, 0);
		text[2] = 'x';
		check_rows(VERIFY_SUBMIT, SET, rows);
		snprintf(text, sizeof(text), "1:foo=%0*d", 4095 + more, 0);
		check_rows(VERIFY_SUBMIT, SET, rows);
	}
}

static void test_manage(void)
{
	static const char *const floats[] = { "1", "-0.5", "+2.", ".5", "1e3", "1.5E-3", "0" };
	static const char *const no_floats[] = { "+inf", "-nan", "0x1p3", ".", "-", "1e", "1.5e+",
						 "1,5", "1.5.", "1 " };
	char own[PBS_MAXHOSTNAME + 8] = "u@";
	struct attropl nothing = { NULL, (char *)ATTR_managers, NULL, NULL, SET };
	struct attropl odd = { NULL, (char *)ATTR_comment, NULL, (char *)"x", (enum batch_op)77 };

	gethostname(own + 2, PBS_MAXHOSTNAME);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SERVER, ATTR_managers, "a@*,b@*.dom"), 0);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SERVER, ATTR_managers, own), 0);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SERVER, ATTR_managers, "a@no-such-login_1,b@localhost,c@127.0.0.1"), 0);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SERVER, ATTR_managers, "a@no such"), PBSE_BADHOST);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SERVER, ATTR_managers, "a@n1/0"), PBSE_BADHOST);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SERVER, ATTR_managers, "a@"), PBSE_BADHOST);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SERVER, ATTR_managers, "a@no.such.invalid"), PBSE_BADHOST);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SERVER, ATTR_managers, "a"), PBSE_BADHOST);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SERVER, ATTR_managers, "a@*,"), PBSE_BADHOST);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SERVER, ATTR_operators, "@*"), PBSE_BADHOST);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SERVER, ATTR_scheduling, "maybe"), BAD);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SERVER, ATTR_license_min, "-1"),
			PBSE_LICENSE_MIN_BADVAL);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SERVER, ATTR_max_job_sequence_id, "5"),
			PBSE_INVALID_MAX_JOB_SEQUENCE_ID);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_QUEUE, ATTR_qtype, "e"), 0);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_QUEUE, ATTR_qtype, "exec"), 0);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_QUEUE, ATTR_qtype, "ROUTE"), 0);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_QUEUE, ATTR_qtype, "push"), BAD);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SCHED, ATTR_preempt_order, "SCR 80 SC 50 S"), 0);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SCHED, ATTR_preempt_order, "SCR 50"), BAD);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SCHED, ATTR_preempt_order, "scr"), BAD);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SCHED, ATTR_preempt_order, "SS"), BAD);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SCHED, ATTR_preempt_order, "50 S"), BAD);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SCHED, ATTR_preempt_order, "S -1"), BAD);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SCHED, ATTR_preempt_prio, "express_queue, normal_jobs"), 0);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SCHED, ATTR_preempt_prio, "fairshare+normal_jobs"), 0);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_SCHED, ATTR_preempt_prio, "starving_jobs"), BAD);
	for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++)
		CU_ASSERT_EQUAL(manage(MGR_OBJ_SCHED, ATTR_job_sort_formula_threshold, floats[i]), 0);
	for (size_t i = 0; i < sizeof(no_floats) / sizeof(no_floats[0]); i++)
		CU_ASSERT_EQUAL(manage(MGR_OBJ_SCHED, ATTR_job_sort_formula_threshold, no_floats[i]), BAD);
	CU_ASSERT_EQUAL(manage(MGR_OBJ_HOOK, "order", "a lot"), 0);
	CU_ASSERT_EQUAL(verify_manager(c, MGR_CMD_LIST, MGR_OBJ_SERVER, &nothing), 0);
	CU_ASSERT_EQUAL(verify_manager(c, MGR_CMD_SET, MGR_OBJ_SERVER, &odd), BAD);
	CU_ASSERT_EQUAL(verify_manager(c, MGR_CMD_UNSET, MGR_OBJ_SERVER, &odd), BAD);
}

static void test_what_is_told(void)
{
	struct attropl second = { NULL, (char *)ATTR_p, NULL, (char *)"x", SET };
	struct attropl first = { &second, (char *)ATTR_l, (char *)"mem", (char *)"10xx", SET };
	struct ecl_attribute_errors *e;

	CU_ASSERT_PTR_NULL(pbs_submit(c, &first, NULL, NULL, NULL));
	CU_ASSERT_EQUAL(pbs_errno, BAD);
	CU_ASSERT_STRING_EQUAL(pbs_geterrmsg(c),
			       "Illegal attribute or resource value Resource_List.mem");
	e = pbs_get_attributes_in_error(c);
	CU_ASSERT_PTR_NOT_NULL_FATAL(e);
	CU_ASSERT_EQUAL_FATAL(e->ecl_numerrors, 2);
	CU_ASSERT_STRING_EQUAL(e->ecl_attrerr[1].ecl_attribute->name, ATTR_p);
	CU_ASSERT_EQUAL(e->ecl_attrerr[1].ecl_errcode, BAD);
	CU_ASSERT_EQUAL(verify(c, VERIFY_SUBMIT, NULL), 0);
	CU_ASSERT_PTR_NULL(pbs_get_attributes_in_error(c));
	CU_ASSERT_PTR_NULL(pbs_geterrmsg(c));
	CU_ASSERT_EQUAL(verify(-1, VERIFY_SUBMIT, NULL), PBSE_IVALREQ);
	CU_ASSERT_PTR_NULL(pbs_submit(c, NULL, NULL, "longer_than_a_queue", NULL));
	CU_ASSERT_EQUAL(pbs_errno, PBSE_QUENBIG);
	CU_ASSERT_PTR_NULL(pbs_geterrmsg(c));
}

TESTS_MAIN_BETWEEN("verify", set_up, tear_down, TEST(test_submit_values), TEST(test_alter_and_select),
		   TEST(test_long_chunks), TEST(test_manage), TEST(test_what_is_told))
