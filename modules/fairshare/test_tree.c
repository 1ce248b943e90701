/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tree.c - shares from a file, usage, who goes first; strangers; a file that is read again.
 */
#include "tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

static struct tree tree;
static int complaints, last_line;

static void complain(void *arg, int line, const char *why)
{
	(void)arg, (void)why;
	complaints++;
	last_line = line;
}

static void read_file(const char *text, double unknown)
{
	complaints = 0;
	CU_ASSERT_EQUAL(tree_read(&tree, text, unknown, complain, NULL), 0);
	tree_settle(&tree);
}

static struct share *find(const char *name)
{
	struct share *s = tree_find(&tree, name);

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	return s;
}

static void charge(const char *name, double amount)
{
	tree_charge(&tree, tree_get(&tree, name), amount);
	tree_settle(&tree);
}

#define SAME(a, b) CU_ASSERT_DOUBLE_EQUAL(a, b, 1e-9)

static const char groups[] = "# who paid for it\n"
			     "physics 10 root 60\n"
			     "biology 20 root 30\n"
			     "alice 11 physics 40\n"
			     "bob 12 physics 20\n"
			     "carol 21 biology 1 # alone\n";

static void test_parts(void)
{
	CU_ASSERT_EQUAL_FATAL(tree_init(&tree), 0);
	read_file(groups, 10);
	CU_ASSERT_EQUAL(complaints, 0);
	SAME(find("physics")->part, 0.6);
	SAME(find("alice")->part, 0.4);
	SAME(find("carol")->part, 0.3);
	SAME(find("unknown")->part, 0.1);
	tree_get(&tree, "x");
	tree_get(&tree, "y");
	tree_settle(&tree);
	SAME(find("x")->part, 0.05);
	CU_ASSERT_EQUAL(tree.n_strangers, 2);
	CU_ASSERT_PTR_EQUAL(tree_get(&tree, "x"), find("x"));
	tree_fini(&tree);
}

static void test_order(void)
{
	CU_ASSERT_EQUAL_FATAL(tree_init(&tree), 0);
	read_file(groups, 10);
	tree_get(&tree, "x");
	tree_settle(&tree);
	/* nothing has been used: the larger share goes first, of groups, then of their members */
	CU_ASSERT_EQUAL(find("alice")->place, 1);
	CU_ASSERT_EQUAL(find("bob")->place, 2);
	CU_ASSERT_EQUAL(find("carol")->place, 3);
	SAME(find("alice")->sum, 1);
	SAME(find("physics")->sum, 1);
	charge("alice", 100);
	/* physics has used something: all others first, bob before alice */
	CU_ASSERT_TRUE(find("carol")->place < find("bob")->place);
	CU_ASSERT_TRUE(find("x")->place < find("bob")->place);
	CU_ASSERT_TRUE(find("bob")->place < find("alice")->place);
	charge("carol", 100); /* 100 of 0.3 is more than 100 of 0.6 */
	CU_ASSERT_TRUE(find("alice")->place < find("carol")->place);
	CU_ASSERT_TRUE(tree_compare(find("bob"), find("carol")) < 0);
	SAME(find("physics")->sum, 101);
	SAME(tree.root->sum, 201);
	SAME(tree_used(&tree, find("alice")), 0.5);
	SAME(tree_used(&tree, find("physics")), 0.5);
	tree_fini(&tree);
}

/* Members of groups and who is in none, all in one order. */
static void test_order_of_depths(void)
{
	static const char *const order[] = { "d", "z", "a", "y" };

	CU_ASSERT_EQUAL_FATAL(tree_init(&tree), 0);
	read_file("y 3 b 10\nb 2 root 10\nc 6 root 10\na 1 root 10\nd 7 c 10\nz 4 b 10\ny 3 b 10\n", 0);
	CU_ASSERT_EQUAL(find("a")->place, 1); /* its part is larger than y's, z's */
	CU_ASSERT_EQUAL(find("y")->place, find("z")->place);
	charge("a", 100);
	charge("y", 100);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		CU_ASSERT_EQUAL(find(order[i])->place, i + 1);
	tree_fini(&tree);
}

/* An unknown entity has its place at once. */
static void test_newcomer(void)
{
	uint32_t place;
	double part;

	CU_ASSERT_EQUAL_FATAL(tree_init(&tree), 0);
	read_file(groups, 10);
	charge("x", 10);
	charge("alice", 1);
	charge("carol", 1000);
	place = tree_get(&tree, "y")->place;
	part = find("y")->part;
	CU_ASSERT_TRUE(find("bob")->place < place && place <= find("x")->place);
	CU_ASSERT_TRUE(find("x")->place < find("carol")->place);
	tree_settle(&tree);
	CU_ASSERT_EQUAL(find("y")->place, place);
	SAME(find("y")->part, part);
	SAME(find("y")->of_group, 0.5);
	CU_ASSERT_TRUE(place < find("x")->place);
	tree_fini(&tree);
}

/* Strangers who have used nothing are alike, also when one comes after the places were made. */
static void test_strangers_are_alike(void)
{
	CU_ASSERT_EQUAL_FATAL(tree_init(&tree), 0);
	read_file(groups, 10);
	tree_get(&tree, "x");
	tree_settle(&tree);
	CU_ASSERT_EQUAL(tree_get(&tree, "y")->place, find("x")->place);
	tree_settle(&tree);
	CU_ASSERT_EQUAL(find("y")->place, find("x")->place);
	CU_ASSERT_TRUE(find("carol")->place < find("x")->place); /* 0.3 is more than 0.05 */
	tree_fini(&tree);
}

/* Usage decays to what everybody begins with, not below. */
static void test_floor(void)
{
	CU_ASSERT_EQUAL_FATAL(tree_init(&tree), 0);
	read_file("alice 1 root 50\nbob 2 root 50\n", 0);
	tree_set(&tree, tree_get(&tree, "alice"), 4);
	tree_begin_with(&tree, 2); /* a unit is worth half */
	tree_settle(&tree);
	SAME(find("alice")->sum, 4);
	SAME(find("bob")->sum, 2);
	tree_begin_with(&tree, 8);
	tree_settle(&tree);
	CU_ASSERT_EQUAL(find("alice")->place, find("bob")->place);
	charge("alice", 8);
	SAME(find("alice")->sum, 16);
	tree_fini(&tree);
}

/* Of an account or a group, too. */
static void test_called_root(void)
{
	CU_ASSERT_EQUAL_FATAL(tree_init(&tree), 0);
	read_file(groups, 0);
	CU_ASSERT_PTR_EQUAL(tree_get(&tree, "root"), tree.unknown);
	tree_fini(&tree);
}

static void test_numbers(void)
{
	CU_ASSERT_EQUAL_FATAL(tree_init(&tree), 0);
	read_file(groups, 10);
	SAME(tree_factor(&tree, find("alice")), 1);
	charge("alice", 30);
	charge("carol", 30);
	SAME(tree_usage(&tree, find("physics")), 0.5);
	SAME(tree_usage(&tree, find("alice")), 0.5);
	SAME(tree_usage(&tree, find("bob")), 0.5 * 20 / 60); /* the use of bob's group counts as well */
	SAME(tree_factor(&tree, find("carol")), exp2(-0.5 / 0.3));
	SAME(tree_factor(&tree, find("unknown")), 1);
	tree_fini(&tree);
}

static void test_no_shares(void)
{
	CU_ASSERT_EQUAL_FATAL(tree_init(&tree), 0);
	read_file("alice 1 root 0\nbob 2 root 5\n", 0);
	charge("bob", 1000);
	tree_get(&tree, "x");
	tree_get(&tree, "y");
	charge("y", 1);
	SAME(find("alice")->part, 0);
	CU_ASSERT_TRUE(find("bob")->place < find("alice")->place); /* no part: behind everybody */
	CU_ASSERT_TRUE(find("x")->place < find("y")->place);
	SAME(tree_factor(&tree, find("alice")), 0);
	tree_fini(&tree);
}

static void test_again(void)
{
	CU_ASSERT_EQUAL_FATAL(tree_init(&tree), 0);
	read_file(groups, 10);
	charge("alice", 100);
	charge("x", 10);
	read_file("x 5 root 1\nnew 7 root 1\n", 2);
	SAME(find("x")->own, 11);
	CU_ASSERT_TRUE(find("x")->is_named);
	CU_ASSERT_PTR_EQUAL(find("alice")->parent, tree.unknown);
	SAME(tree.unknown->sum, 101);
	SAME(tree.root->sum, 111);
	SAME(find("new")->part, 0.25);
	CU_ASSERT_FALSE(find("physics")->is_named);
	tree_forget(&tree, find("x")); /* named: stays */
	CU_ASSERT_PTR_NOT_NULL(tree_find(&tree, "x"));
	tree_forget(&tree, find("alice"));
	CU_ASSERT_PTR_NULL(tree_find(&tree, "alice"));
	tree_settle(&tree);
	SAME(tree.root->sum, 11);
	tree_fini(&tree);
}

static void forget_strangers(void *arg, struct share *s)
{
	(void)arg;
	if (!s->is_named)
		tree_forget(&tree, s);
}

static void test_forget_all(void)
{
	CU_ASSERT_EQUAL_FATAL(tree_init(&tree), 0);
	read_file(groups, 10);
	charge("x", 0.1); /* no sum of them is exact */
	charge("y", 0.2);
	charge("alice", 4);
	tree_each(&tree, forget_strangers, NULL);
	CU_ASSERT_PTR_NULL(tree_find(&tree, "x"));
	CU_ASSERT_PTR_NULL(tree_find(&tree, "y"));
	CU_ASSERT_EQUAL(tree.n_strangers, 0);
	tree_settle(&tree);
	CU_ASSERT_TRUE(tree.unknown->sum == tree.one);
	SAME(tree.root->sum, 5);
	tree_fini(&tree);
}

static void test_refused(void)
{
	static const char *const bad[] = {
		"alice 1 nobody 5",  "alice 1 root",	 "alice 1 root -5",	 "alice x root 5",
		"root 1 root 5",     "alice 1 root 5 6", "alice 1 unknown 5",	 "alice 1 root nan",
		"alice 1 alice 5",   "unknown 1 root 5", "alice 1 root 1e300",
	};
	char line[64], text[4096] = "a0 1 root 1\n";

	CU_ASSERT_EQUAL_FATAL(tree_init(&tree), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		read_file(bad[i], 1);
		CU_ASSERT_EQUAL(complaints, 1);
	}
	read_file("alice 1 root 5\n\nalice 2 root 5\nbob 3 root 1\n", 1);
	CU_ASSERT_EQUAL(complaints, 1);
	CU_ASSERT_EQUAL(last_line, 3);
	SAME(find("alice")->part, 5.0 / 7);
	for (int i = 1; i < 50; i++) {
		snprintf(line, sizeof(line), "a%d %d a%d 1\n", i, i + 1, i - 1);
		strcat(text, line);
	}
	read_file(text, 1);
	CU_ASSERT_TRUE(complaints > 0); /* too deep */
	tree_fini(&tree);
}

static void test_many(void)
{
	char name[32];

	CU_ASSERT_EQUAL_FATAL(tree_init(&tree), 0);
	read_file("", 10);
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "u%d", i);
		tree_charge(&tree, tree_get(&tree, name), (i * 7919) % 20000);
	}
	tree_settle(&tree);
	for (int i = 0; i < 20000; i += 997) {
		snprintf(name, sizeof(name), "u%d", i);
		CU_ASSERT_EQUAL(find(name)->place, (uint32_t)((i * 7919) % 20000) + 1);
	}
	tree_fini(&tree);
}

TESTS_MAIN("tree", TEST(test_parts), TEST(test_order), TEST(test_order_of_depths), TEST(test_newcomer),
	   TEST(test_strangers_are_alike), TEST(test_floor), TEST(test_called_root), TEST(test_numbers), TEST(test_no_shares), TEST(test_again), TEST(test_forget_all),
	   TEST(test_refused), TEST(test_many))
