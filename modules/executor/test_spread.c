/* SPDX-License-Identifier: Apache-2.0
 *
 * test_spread.c - hosts, shares and node numbers of a run.
 */
#include "spread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness.h"

/* Vnodes A1, A2 ... are of host A; one that begins with x is not known. */
static const char *by_letter(struct keel_mod *me, const char *vnode)
{
	static const char *const names[] = { "A", "B", "C" };

	(void)me;
	return *vnode >= 'A' && *vnode <= 'C' ? names[*vnode - 'A'] : NULL;
}

static struct spread made(const char *hosts, const char *vnodes, const char *select)
{
	struct spread s;
	struct spread_of of = { .exec_host = hosts, .exec_vnode = vnodes, .select = select, .host_of = by_letter };

	CU_ASSERT_EQUAL_FATAL(spread_make(&of, &s), 0);
	return s;
}

static void nodes_are(const char *hosts, const char *vnodes, const char *select, const char *wanted)
{
	struct spread s = made(hosts, vnodes, select);
	char *text = spread_nodes_text(&s);

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_STRING_EQUAL(text, wanted);
	free(text);
	spread_fini(&s);
}

static void test_nodes(void)
{
	nodes_are("a/0", "(a:ncpus=1)", "1:ncpus=1", "a\n");
	nodes_are("a/0*2+b/1*2+c/0", "(a:ncpus=2)+(b:ncpus=2)+(c:ncpus=1)",
		  "2:ncpus=2:mpiprocs=2+1:ncpus=1", "a\na\nb\nb\nc\n");
	nodes_are("a/0+b/0", "(a:ncpus=1:mpiprocs=3)+(b:ncpus=1)", NULL, "a\na\na\nb\n");
	nodes_are("a/0", NULL, "ncpus=1:mpiprocs=2", "a\na\n");
	nodes_are("a/0", "(a[0]:ncpus=1+a[1]:ncpus=1)", "", "a\n");
	nodes_are("a/0+b/0", "(a:ncpus=1)+(b:mem=1kb)", "1:ncpus=1+1:ncpus=0:mem=1kb", "a\n");
	nodes_are("", "", "", "");
	nodes_are(NULL, NULL, NULL, "");
}

/* past modules/executor/spread.h NODES_MAX: nothing is left out unseen */
static void test_nodes_many(void)
{
	struct spread s = made("a/0+b/0", "(a:mpiprocs=999999)+(b:mpiprocs=1)", NULL);
	char *text = spread_nodes_text(&s);

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_EQUAL(s.n_nodes, 1000000);
	CU_ASSERT_EQUAL(strlen(text), 2000000);
	CU_ASSERT_STRING_EQUAL(text + 1999996, "a\nb\n");
	free(text);
	spread_fini(&s);
	CU_ASSERT_EQUAL(spread_make(&(struct spread_of){ .exec_vnode = "(a:mpiprocs=999999)+(b:mpiprocs=2)" }, &s), -E2BIG);
	CU_ASSERT_EQUAL(spread_make(&(struct spread_of){ .exec_vnode = "(a:mpiprocs=9000000000000000000)" }, &s), -E2BIG);
	CU_ASSERT_EQUAL(s.n_hosts, 0);
}

static void host_is(const struct spread *s, uint32_t i, const char *name, const char *vnodes, int64_t ncpus, int64_t first)
{
	CU_ASSERT_FATAL(i < s->n_hosts);
	CU_ASSERT_STRING_EQUAL(s->host[i]->name, name);
	CU_ASSERT_STRING_EQUAL(s->host[i]->vnodes.data, vnodes);
	CU_ASSERT_EQUAL(s->host[i]->ncpus, ncpus);
	CU_ASSERT_EQUAL(s->host[i]->chunk_ncpus, first);
}

/* Chunks over several vnodes, several chunks of one host, in any order. */
static void test_shares(void)
{
	struct spread s = made("A/0*0+B/0*2+A/3+C/0", "(A1:ncpus=1:mem=1kb+A2:ncpus=2)+(B1:ncpus=2)+(A3:ncpus=1)+(C:mem=1kb)",
			       "1:ncpus=3:ompthreads=2+1:ncpus=2:mpiprocs=2:ompthreads=4+2:ncpus=1");

	CU_ASSERT_EQUAL(s.n_hosts, 3);
	host_is(&s, 0, "A", "(A1:ncpus=1:mem=1kb+A2:ncpus=2)+(A3:ncpus=1)", 4, 3);
	host_is(&s, 1, "B", "(B1:ncpus=2)", 2, 2);
	host_is(&s, 2, "C", "(C:mem=1kb)", 0, 0);
	CU_ASSERT_EQUAL(s.host[0]->ompthreads, 2);
	CU_ASSERT_EQUAL(s.host[1]->ompthreads, 4);
	CU_ASSERT_EQUAL(s.host[2]->ompthreads, 0);
	CU_ASSERT_EQUAL_FATAL(s.n_nodes, 5);
	for (uint32_t i = 0; i < 5; i++)
		CU_ASSERT_EQUAL(s.node[i], ((const uint32_t[]){ 0, 1, 1, 0, 2 })[i]);
	spread_cut(&s);
	CU_ASSERT_EQUAL(s.n_hosts, 1);
	spread_fini(&s);
}

/* A vnode that is not known is of the host that exec_host names, else of its own name; a chunk may name vnodes of two hosts. */
static void test_odd(void)
{
	struct spread s = made("h/0+B/0", "(x1:ncpus=1)+(B1:ncpus=1+A1:ncpus=1+B2:ncpus=1)", NULL);

	CU_ASSERT_EQUAL(s.n_hosts, 3);
	host_is(&s, 0, "h", "(x1:ncpus=1)", 1, 1);
	host_is(&s, 1, "B", "(B1:ncpus=1+B2:ncpus=1)", 2, 2);
	host_is(&s, 2, "A", "(A1:ncpus=1)", 1, 1);
	CU_ASSERT_EQUAL(s.n_nodes, 2);
	spread_fini(&s);
	s = made(NULL, "x1:ncpus=2+A1:ncpus=3", NULL);
	host_is(&s, 0, "x1", "(x1:ncpus=2)", 2, 2);
	host_is(&s, 1, "A", "(A1:ncpus=3)", 3, 3);
	spread_fini(&s);
	s = made("+/", "()+(:)+(", "++");
	spread_fini(&s);
}

static double seconds(uint32_t vnodes, uint32_t per_host)
{
	struct keel_text text;
	struct timespec from, to;
	struct spread s;

	keel_text_init(&text);
	for (uint32_t i = 0; i < vnodes; i++)
		keel_text_printf(&text, "%s(host%u[%u]:ncpus=1)", i ? "+" : "", i / per_host, i);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	CU_ASSERT_EQUAL_FATAL(spread_make(&(struct spread_of){ .exec_vnode = text.data }, &s), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	CU_ASSERT_EQUAL(s.n_hosts, vnodes);
	spread_fini(&s);
	keel_text_fini(&text);
	return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

/* Four times the vnodes take less than eight times the time. */
static void test_linear(void)
{
	double few = seconds(20000, 1), many = seconds(80000, 1);

	CU_ASSERT(many < 8 * few + 0.02);
}

TESTS_MAIN("spread", TEST(test_nodes), TEST(test_nodes_many), TEST(test_shares), TEST(test_odd), TEST(test_linear))
