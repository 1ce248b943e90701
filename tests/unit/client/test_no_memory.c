/* SPDX-License-Identifier: Apache-2.0
 *
 * test_no_memory.c - the n-th allocation of a call fails, for every n: the call answers an error or
 * succeeds, and nothing is touched that is not there.
 *
 * malloc and its kin are interposed for the thread that asks for it; a sanitizer that does the same
 * leaves this test without its subject, so it then passes at once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake_server.h"
#include "harness.h"
#include "host_merge.h"
#include "pbs_error.h"
#include "pbs_ifl.h"

#include <stdio.h>
#ifdef __SANITIZE_ADDRESS__
int main(void)
{
	puts("skipped: the sanitizer has its own malloc; the plain build runs this");
	return 0;
}
#else

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static _Thread_local long left = -1; /* allocations that still succeed; -1: all */
static _Thread_local int has_failed;

static int fails(void)
{
	if (left < 0)
		return 0;
	if (left > 0) {
		left--;
		return 0;
	}
	has_failed = 1;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

static void answer(struct fake_server *f, int fd)
{
	fake_begin(f);
	pack_map(&f->body, 2);
	pack_str(&f->body, "objects");
	pack_array(&f->body, 2);
	for (int i = 0; i < 2; i++) {
		pack_array(&f->body, 2);
		pack_str(&f->body, "v");
		pack_array(&f->body, 1);
		pack_array(&f->body, 3);
		pack_str(&f->body, ATTR_rescavail);
		pack_str(&f->body, "host");
		pack_str(&f->body, "h");
	}
	pack_str(&f->body, "ids");
	pack_array(&f->body, 1);
	pack_str(&f->body, "1.s");
	fake_send(f, fd, WIRE_PART);
	fake_reply(f, fd, 0, NULL, "id", "1.s");
}

static void serve(struct fake_server *f, int fd)
{
	struct pack p;

	while (fake_request(f, fd, &p) == 0) {
		pack_fini(&p);
		answer(f, fd);
	}
}

/* Each call returns whether it succeeded. */
static int call_submit(int c)
{
	struct attropl name = { NULL, (char *)ATTR_N, NULL, (char *)"n", SET };
	struct attropl after = { &name, (char *)ATTR_depend, NULL, (char *)"after:1", SET };
	struct attropl path = { &after, (char *)ATTR_o, NULL, (char *)"x", SET };
	char *id = pbs_submit(c, &path, "/dev/null", "q", NULL);

	free(id);
	return id != NULL;
}

static int call_refused(int c)
{
	struct attropl bad = { NULL, (char *)ATTR_p, NULL, (char *)"x", SET };

	CU_ASSERT_PTR_NULL(pbs_submit(c, &bad, NULL, NULL, NULL));
	CU_ASSERT_EQUAL(pbs_errno, PBSE_BADATVAL);
	pbs_geterrmsg(c);
	return 1;
}

static int call_status(int c)
{
	struct batch_status *list = pbs_statjob(c, NULL, NULL, NULL);

	pbs_statfree(list);
	return list != NULL;
}

static int call_hosts(int c)
{
	struct batch_status *list = pbs_stathost(c, NULL, NULL, NULL);

	pbs_statfree(list);
	return list != NULL;
}

static int call_select(int c)
{
	char **ids = pbs_selectjob(c, NULL, NULL);

	for (int i = 0; ids != NULL && ids[i] != NULL; i++)
		free(ids[i]);
	free(ids);
	return ids != NULL;
}

static void fail_each(int (*one)(int c))
{
	struct fake_server f;
	int worked = 0;

	for (long n = 0; n < 300; n++) {
		int c;

		fake_start(&f, serve, NULL);
		has_failed = 0;
		left = n;
		c = pbs_connect(NULL);
		if (c > 0) {
			worked = one(c);
			pbs_disconnect(c);
		}
		left = -1;
		fake_stop(&f);
		if (!has_failed)
			break;
	}
	CU_ASSERT(!has_failed && worked); /* in the end there was enough */
}

static void test_submit(void)
{
	fail_each(call_submit);
}

static void test_refused(void)
{
	fail_each(call_refused);
}

static void test_status(void)
{
	fail_each(call_status);
}

static void test_hosts(void)
{
	fail_each(call_hosts);
}

static void test_select(void)
{
	fail_each(call_select);
}

TESTS_MAIN("no memory", TEST(test_submit), TEST(test_refused), TEST(test_status), TEST(test_hosts),
	   TEST(test_select))
#endif
