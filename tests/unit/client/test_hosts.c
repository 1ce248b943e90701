/* SPDX-License-Identifier: Apache-2.0
 *
 * test_hosts.c - pbs_rsub --hosts against a server: what is asked for, and who confirms.
 */
#include <stdlib.h>
#include <string.h>

#include "../commands/streams.h"
#include "fake_server.h"
#include "harness.h"
#include "pbs_error.h"
#include "rsub.h"

/* How the server of one test answers. */
struct script {
	const char *reply; /* to the submission */
	const char *extend; /* of the submission */
	int confirmed; /* code of a confirmation, -1: none is asked for */
	int vnodes; /* code of the status: 0 lists them */
	bool none; /* and there are none */
};

static int is_text(const struct pack *p, const char *key, const char *expected)
{
	char *text = pack_strdup(pack_get(&p->root, key));
	int same = text != NULL && strcmp(text, expected) == 0;

	free(text);
	return same;
}

static void pack_resource(struct buf *b, const char *resource, const char *value)
{
	pack_array(b, 3);
	pack_str(b, ATTR_rescavail);
	pack_str(b, resource);
	pack_str(b, value);
}

static void send_vnodes(struct fake_server *f, int fd)
{
	static const char *const vnodes[][3] = {
		{ "hX[0]", "hX", "2" }, { "hA", "hA", "4" }, { "hX[1]", "hX", "2" },
	};

	fake_begin(f);
	pack_map(&f->body, 1);
	pack_str(&f->body, "objects");
	pack_array(&f->body, 3);
	for (int i = 0; i < 3; i++) {
		pack_array(&f->body, 2);
		pack_str(&f->body, vnodes[i][0]);
		pack_array(&f->body, 2);
		pack_resource(&f->body, "host", vnodes[i][1]);
		pack_resource(&f->body, "ncpus", vnodes[i][2]);
	}
	fake_send(f, fd, WIRE_PART);
}

/* Is this among the attributes? */
static bool has_resource(const struct pack *p, const char *resource, const char *value)
{
	const struct pack_value *attrs = pack_get(&p->root, "attrs");

	for (uint32_t i = 0; i < attrs->n; i++) {
		char *name = pack_strdup(&attrs->at[i].at[1]), *text = pack_strdup(&attrs->at[i].at[2]);
		bool same = name != NULL && text != NULL && strcmp(name, resource) == 0 && strcmp(text, value) == 0;

		free(name);
		free(text);
		if (same)
			return true;
	}
	return false;
}

static void serve(struct fake_server *f, int fd)
{
	const struct script *s = f->arg;
	struct pack p;

	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	CU_ASSERT(is_text(&p, "req", "status") && is_text(&p, "class", "node") && is_text(&p, "id", ""));
	pack_fini(&p);
	if (s->vnodes == 0 && !s->none)
		send_vnodes(f, fd);
	fake_reply(f, fd, s->vnodes, NULL, NULL, NULL);
	if (s->reply == NULL)
		return;
	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	CU_ASSERT(is_text(&p, "req", "resv_submit") && is_text(&p, "extend", s->extend));
	CU_ASSERT(has_resource(&p, "select", "host=hX:ncpus=4+host=hA:ncpus=4"));
	CU_ASSERT(has_resource(&p, "place", "exclhost"));
	pack_fini(&p);
	fake_reply(f, fd, 0, NULL, "reply", s->reply);
	if (s->confirmed < 0)
		return;
	CU_ASSERT_EQUAL_FATAL(fake_request(f, fd, &p), 0);
	CU_ASSERT(is_text(&p, "req", "resv_confirm") && is_text(&p, "id", "M1.testserver"));
	CU_ASSERT(is_text(&p, "location", "(hX[0]:ncpus=2)+(hX[1]:ncpus=2)+(hA:ncpus=4)"));
	CU_ASSERT(is_text(&p, "extend", "PBS_RESV_CONFIRM_SUCCESS"));
	CU_ASSERT_EQUAL(pack_int(&p.root, "start", 0), 1924991970);
	pack_fini(&p);
	fake_reply(f, fd, s->confirmed, NULL, NULL, NULL);
}

/* `pbs_rsub --hosts hX hA` has this status and says this. */
static void submits(const struct script *script, int status, const char *out, const char *err)
{
	static char x[] = "hX", a[] = "hA";
	char *operands[] = { x, a };
	struct wish w = { .dry_run = strstr(script->extend, "dry-run") != NULL };
	struct fake_server f;
	struct hosts h;
	struct streams s;
	int c;

	CU_ASSERT_EQUAL_FATAL(attr_list_set(&w.attrs, ATTR_resv_start, NULL, "1924991970"), 0);
	CU_ASSERT_EQUAL_FATAL(hosts_take(&h, operands, 2), 0);
	fake_start(&f, serve, (void *)(uintptr_t)script);
	c = pbs_connect(NULL);
	CU_ASSERT_FATAL(c > 0);
	streams_begin(&s);
	CU_ASSERT_EQUAL(hosts_submit(&w, &h, c), status);
	streams_end(&s);
	CU_ASSERT(streams_are(&s, out, err));
	pbs_disconnect(c);
	fake_stop(&f);
	hosts_free(&h);
	attr_list_fini(&w.attrs);
}

static void test_server_confirms(void)
{
	submits(&(struct script){ .reply = "M1.testserver CONFIRMED", .extend = "m", .confirmed = -1 }, 0,
		"M1.testserver CONFIRMED\n", "");
	submits(&(struct script){ .reply = "M1.testserver CONFIRMED\nM2.testserver CONFIRMED\n", .extend = "m", .confirmed = -1 }, 0,
		"M1.testserver CONFIRMED\nM2.testserver CONFIRMED\n", "");
	submits(&(struct script){ .reply = "", .extend = "m,dry-run", .confirmed = -1 }, 0, "", "");
	submits(&(struct script){ .reply = "R1 loses hA\nx UNCONFIRMED", .extend = "m,dry-run", .confirmed = -1 }, 0,
		"R1 loses hA\nx UNCONFIRMED\n", "");
}

static void test_command_confirms(void)
{
	submits(&(struct script){ .reply = "M1.testserver UNCONFIRMED", .extend = "m" }, 0, "M1.testserver CONFIRMED\n", "");
	submits(&(struct script){ .reply = "M1.testserver UNCONFIRMED", .extend = "m", .confirmed = PBSE_resvFail }, 15081 % 256, "",
		"pbs_rsub: PBS Failed to confirm resv: reservation failure (15081)\n");
}

static void test_no_vnodes(void)
{
	submits(&(struct script){ .extend = "m", .vnodes = PBSE_NONODES }, 216, "", "pbs_rsub: Server has no node list\n");
	submits(&(struct script){ .extend = "m", .none = true }, 2, "", "pbs_rsub: No nodes found\n");
}

TESTS_MAIN("hosts", TEST(test_server_confirms), TEST(test_command_confirms), TEST(test_no_vnodes))
