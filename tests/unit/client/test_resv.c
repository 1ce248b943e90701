/* SPDX-License-Identifier: Apache-2.0
 *
 * test_resv.c - calls about reservations: what is sent, what a server without them answers, and a wait over a restart.
 */
#include <stdlib.h>
#include <string.h>

#include "fake_server.h"
#include "harness.h"
#include "pbs_error.h"
#include "pbs_ifl.h"

static int connect_fatal(void)
{
	int c = pbs_connect(NULL);

	CU_ASSERT_FATAL(c > 0);
	return c;
}

static int is_text(const struct pack *p, const char *key, const char *expected)
{
	char *text = pack_strdup(pack_get(&p->root, key));
	int same = text == NULL || expected == NULL ? text == expected : !strcmp(text, expected);

	free(text);
	return same;
}

static void serve_calls(struct fake_server *f, int fd)
{
	struct pack p;

	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	CU_ASSERT(is_text(&p, "req", "resv_submit") && is_text(&p, "extend", "m"));
	CU_ASSERT_EQUAL(pack_get(&p.root, "attrs")->n, 1);
	pack_fini(&p);
	fake_reply(f, fd, 0, NULL, "reply", "M1.testserver CONFIRMED");
	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	CU_ASSERT(is_text(&p, "req", "resv_submit") && is_text(&p, "extend", NULL));
	pack_fini(&p);
	fake_reply(f, fd, PBSE_BADTSPEC, NULL, NULL, NULL);
	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	CU_ASSERT(is_text(&p, "req", "resv_alter") && is_text(&p, "id", "R2") && is_text(&p, "extend", "force"));
	pack_fini(&p);
	fake_reply(f, fd, 0, NULL, "reply", "R2.testserver ALTER REQUESTED");
	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	CU_ASSERT(is_text(&p, "req", "resv_delete") && is_text(&p, "id", ""));
	pack_fini(&p);
	fake_reply(f, fd, PBSE_UNKRESVID, NULL, NULL, NULL);
	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	CU_ASSERT(is_text(&p, "req", "resv_confirm") && is_text(&p, "location", "(a:ncpus=1)"));
	CU_ASSERT_EQUAL(pack_int(&p.root, "start", 0), 12);
	pack_fini(&p);
	fake_reply(f, fd, 0, NULL, NULL, NULL);
}

static void test_calls(void)
{
	char name[] = ATTR_resv_start, one[] = "1", groups[] = ATTR_auth_g, none[] = "";
	struct attropl start = { NULL, name, NULL, one, SET }, unset = { NULL, groups, NULL, none, SET };
	struct fake_server f;
	char *text;
	int c;

	fake_start(&f, serve_calls, NULL);
	c = connect_fatal();
	text = pbs_submit_resv(c, &start, "m");
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_STRING_EQUAL(text, "M1.testserver CONFIRMED");
	free(text);
	CU_ASSERT_PTR_NULL(pbs_submit_resv(c, NULL, NULL));
	CU_ASSERT_EQUAL(pbs_errno, PBSE_BADTSPEC);
	CU_ASSERT_STRING_EQUAL(pbs_geterrmsg(c), "Bad time specification(s)");
	text = pbs_modify_resv(c, "R2", &unset, "force");
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_STRING_EQUAL(text, "R2.testserver ALTER REQUESTED");
	free(text);
	CU_ASSERT_EQUAL(pbs_delresv(c, NULL, NULL), PBSE_UNKRESVID);
	CU_ASSERT_EQUAL(pbs_confirmresv(c, "M1", "(a:ncpus=1)", 12, NULL), 0);
	pbs_disconnect(c);
	fake_stop(&f);
}

/* A value that is wrong is refused here: the server has no request to answer. */
static void serve_nothing(struct fake_server *f, int fd)
{
	struct pack p;

	CU_ASSERT_NOT_EQUAL(fake_request(f, fd, &p), 0);
}

static void test_values(void)
{
	static const struct row {
		const char *name, *value;
		int error;
	} rows[] = {
		{ ATTR_m, "abq", PBSE_BADATVAL },	{ ATTR_m, "", PBSE_BADATVAL },
		{ ATTR_resv_start, "x", PBSE_BADATVAL }, { ATTR_resv_duration, "1:x", PBSE_BADATVAL },
		{ ATTR_resv_name, "a b", PBSE_BADATVAL }, { ATTR_resv_name, "a\x01", PBSE_BADATVAL },
		{ ATTR_auth_u, "a@", PBSE_BADATVAL },	{ ATTR_auth_g, "a,,b", PBSE_BADATVAL },
		{ ATTR_auth_h, "+", PBSE_BADATVAL },	{ ATTR_inter, "soon", PBSE_BADATVAL },
		{ ATTR_u, "a@b@c,d,e", PBSE_BADATVAL },
	};
	struct fake_server f;
	int c;

	fake_start(&f, serve_nothing, NULL);
	c = connect_fatal();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct attropl a = { NULL, (char *)rows[i].name, NULL, (char *)rows[i].value, SET };

		CU_ASSERT_PTR_NULL(pbs_submit_resv(c, &a, NULL));
		CU_ASSERT_EQUAL(pbs_errno, rows[i].error);
		CU_ASSERT_PTR_NOT_NULL(pbs_get_attributes_in_error(c));
	}
	pbs_disconnect(c);
	fake_stop(&f);
}

static void serve_unknown(struct fake_server *f, int fd)
{
	static const int codes[] = { PBSE_UNKREQ, PBSE_UNKREQ, PBSE_UNKREQ, PBSE_UNKREQ, PBSE_IVALREQ };
	struct pack p;

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
		pack_fini(&p);
		fake_reply(f, fd, codes[i], "Unknown request", NULL, NULL);
	}
}

static void test_no_such_request(void)
{
	struct fake_server f;
	int c;

	fake_start(&f, serve_unknown, NULL);
	c = connect_fatal();
	CU_ASSERT_PTR_NULL(pbs_submit_resv(c, NULL, NULL));
	CU_ASSERT_EQUAL(pbs_errno, PBSE_NOSUP);
	CU_ASSERT_STRING_EQUAL(pbs_geterrmsg(c), "No support for requested service");
	CU_ASSERT_PTR_NULL(pbs_modify_resv(c, NULL, NULL, NULL));
	CU_ASSERT_EQUAL(pbs_errno, PBSE_NOSUP);
	CU_ASSERT_EQUAL(pbs_delresv(c, "R1", NULL), PBSE_NOSUP);
	CU_ASSERT_EQUAL(pbs_confirmresv(c, "R1", NULL, 0, NULL), PBSE_NOSUP);
	CU_ASSERT_PTR_NULL(pbs_statresv(c, NULL, NULL, NULL));
	CU_ASSERT_EQUAL(pbs_errno, PBSE_NOSUP);
	pbs_disconnect(c);
	fake_stop(&f);
	CU_ASSERT_EQUAL(pbs_delresv(c, "R1", NULL), PBSE_IVALREQ);
	CU_ASSERT_PTR_NULL(pbs_statresv(c, NULL, NULL, NULL));
	CU_ASSERT_EQUAL(pbs_errno, PBSE_IVALREQ);
}

static void send_state(struct fake_server *f, int fd, const char *state)
{
	fake_begin(f);
	pack_map(&f->body, 1);
	pack_str(&f->body, "objects");
	pack_array(&f->body, 1);
	pack_array(&f->body, 2);
	pack_str(&f->body, "R1.testserver");
	pack_array(&f->body, 1);
	pack_array(&f->body, 3);
	pack_str(&f->body, ATTR_resv_state);
	pack_str(&f->body, NULL);
	pack_str(&f->body, state);
	fake_send(f, fd, WIRE_PART);
}

static void serve_states(struct fake_server *f, int fd)
{
	static const char *const states[] = { "RESV_NONE", "RESV_RUNNING", "RESV_DEGRADED", "10", "other" };
	struct pack p;

	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	CU_ASSERT(is_text(&p, "class", "resv"));
	pack_fini(&p);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		send_state(f, fd, states[i]);
	fake_reply(f, fd, 0, NULL, NULL, NULL);
}

static void test_states_are_decimal(void)
{
	static const char *const expected[] = { "0", "5", "10", "10", "other" };
	struct batch_status *list;
	struct fake_server f;
	size_t i = 0;
	int c;

	fake_start(&f, serve_states, NULL);
	c = connect_fatal();
	list = pbs_statresv(c, NULL, NULL, NULL);
	for (const struct batch_status *b = list; b != NULL; b = b->next)
		CU_ASSERT_STRING_EQUAL(b->attribs->value, expected[i++]);
	CU_ASSERT_EQUAL(i, 5);
	pbs_statfree(list);
	pbs_disconnect(c);
	fake_stop(&f);
}

/* The reservation is there, its decision is not; then the server ends the request. */
static void serve_cut(struct fake_server *f, int fd)
{
	struct pack p;

	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	pack_fini(&p);
	fake_begin(f);
	pack_map(&f->body, 1);
	pack_key_str(&f->body, "id", "R7.testserver");
	fake_send(f, fd, WIRE_PART);
	fake_reply(f, fd, PBSE_SVRDOWN, NULL, NULL, NULL);
	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	CU_ASSERT(is_text(&p, "req", "resv_wait") && is_text(&p, "id", "R7.testserver"));
	CU_ASSERT(pack_int(&p.root, "seconds", 0) < -1000);
	pack_fini(&p);
	if (f->arg == NULL)
		fake_reply(f, fd, 0, NULL, "reply", "R7.testserver CONFIRMED");
	else
		fake_reply(f, fd, PBSE_UNKRESVID, NULL, NULL, NULL);
}

static void waits(void *gone, const char *expected)
{
	char name[] = ATTR_inter, seconds[] = "-100000";
	struct attropl wait = { NULL, name, NULL, seconds, SET };
	struct fake_server f;
	char *text;
	int c;

	fake_start(&f, serve_cut, gone);
	c = connect_fatal();
	text = pbs_submit_resv(c, &wait, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_STRING_EQUAL(text, expected);
	CU_ASSERT_EQUAL(pbs_errno, 0);
	free(text);
	pbs_disconnect(c);
	fake_stop(&f);
}

static void test_wait_is_sent_once(void)
{
	static int gone;

	waits(NULL, "R7.testserver CONFIRMED");
	waits(&gone, "R7.testserver DENIED");
}

/* What became of an alteration is asked for; it is not sent again. */
static void serve_cut_alter(struct fake_server *f, int fd)
{
	struct pack p;

	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	CU_ASSERT(is_text(&p, "req", "resv_alter") && is_text(&p, "id", "R7"));
	pack_fini(&p);
	fake_begin(f);
	pack_map(&f->body, 1);
	pack_key_str(&f->body, "id", "R7.testserver");
	fake_send(f, fd, WIRE_PART);
	fake_reply(f, fd, PBSE_SVRDOWN, NULL, NULL, NULL);
	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	CU_ASSERT(is_text(&p, "req", "resv_wait") && is_text(&p, "id", "R7.testserver"));
	CU_ASSERT_EQUAL(pack_int(&p.root, "alters", 0), 1);
	pack_fini(&p);
	fake_reply(f, fd, 0, NULL, "reply", "R7.testserver DENIED");
}

static void test_alteration_is_sent_once(void)
{
	struct fake_server f;
	char *text;
	int c;

	fake_start(&f, serve_cut_alter, NULL);
	c = connect_fatal();
	text = pbs_modify_resv(c, "R7", NULL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_STRING_EQUAL(text, "R7.testserver DENIED");
	free(text);
	pbs_disconnect(c);
	fake_stop(&f);
}

TESTS_MAIN("resv", TEST(test_calls), TEST(test_values), TEST(test_no_such_request), TEST(test_states_are_decimal),
	   TEST(test_wait_is_sent_once), TEST(test_alteration_is_sent_once))
