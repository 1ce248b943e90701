/* SPDX-License-Identifier: Apache-2.0
 *
 * test_known.c - what a host knows of a job is read, changed, kept on disk; texts like exec_vnode.
 */
#include "host.h"

#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

static char dir[] = "/tmp/test_known.XXXXXX";

static void object_write(struct pack *p, const char *klass, const char *id)
{
	uint32_t map = pack_open_map(p), attrs, keys;

	pack_pair_text(p, "class", klass);
	pack_pair_text(p, "id", id);
	pack_key(p, "attrs");
	attrs = pack_open_map(p);
	pack_pair_text(p, "euser", "u1");
	pack_key(p, "Resource_List");
	keys = pack_open_map(p);
	pack_pair_text(p, "ncpus", "1");
	pack_pair_text(p, "mem", "1gb");
	pack_close(p, keys, 2);
	pack_pair_text(p, "run_count", "3");
	pack_close(p, attrs, 3);
	pack_close(p, map, 3);
}

static void message_write(struct pack *p)
{
	uint32_t map = pack_open_map(p), vnodes;

	pack_pair_int(p, "run", 4);
	pack_pair_int(p, "at", 100);
	pack_key(p, "job");
	object_write(p, "job", "1.svr");
	pack_key(p, "vnodes");
	vnodes = pack_open_map(p);
	pack_key(p, "n1");
	object_write(p, "node", "n1");
	pack_key(p, "n2");
	object_write(p, "node", "n2");
	pack_close(p, vnodes, 2);
	pack_close(p, map, 4);
}

static struct known *known_made(void)
{
	struct pack p = { .data = NULL };
	struct known *k;

	message_write(&p);
	k = known_read("1.svr", p.data, p.len);
	pack_fini(&p);
	CU_ASSERT_PTR_NOT_NULL_FATAL(k);
	return k;
}

static void what_is_read_is_written_the_same(void)
{
	struct pack first = { .data = NULL }, again = { .data = NULL };
	struct known *k = known_made();

	message_write(&first);
	known_write(k, &again);
	CU_ASSERT_EQUAL_FATAL(first.len, again.len);
	CU_ASSERT(memcmp(first.data, again.data, first.len) == 0);
	CU_ASSERT_EQUAL(k->run, 4);
	CU_ASSERT_STRING_EQUAL(known_get(&k->job, "Resource_List", "mem"), "1gb");
	CU_ASSERT_PTR_NULL(known_get(&k->job, "Resource_List", NULL));
	CU_ASSERT_PTR_NULL(known_get(&k->job, "euser", "x"));
	pack_fini(&first);
	pack_fini(&again);
	known_free(k);
}

static void values_change(void)
{
	struct known *k = known_made();
	struct pack p = { .data = NULL };
	struct value attrs, list;

	CU_ASSERT_EQUAL(known_set(&k->job, "Resource_List", "walltime", "10"), 0);
	CU_ASSERT_EQUAL(known_set(&k->job, "euser", NULL, "u2"), 0);
	CU_ASSERT_EQUAL(known_set(&k->job, "Resource_List", "mem", NULL), 0);
	CU_ASSERT_STRING_EQUAL(known_get(&k->job, "euser", NULL), "u2");
	CU_ASSERT_PTR_NULL(known_get(&k->job, "Resource_List", "mem"));
	known_pack_attrs(&k->job, &p); /* the keys of an attribute are together, wherever they were added */
	CU_ASSERT_FATAL(value_read(p.data, p.len, &attrs) && attrs.count == 3);
	CU_ASSERT(value_find(&attrs, "Resource_List", &list) && list.kind == 'm' && list.count == 2);
	known_set(&k->job, "Resource_List", NULL, NULL);
	CU_ASSERT_PTR_NULL(known_get(&k->job, "Resource_List", "ncpus"));
	CU_ASSERT_PTR_NULL(known_vnode(k, "n3", false));
	CU_ASSERT_PTR_NOT_NULL(known_vnode(k, "n2", false));
	CU_ASSERT_PTR_NOT_NULL(known_vnode(k, "n3", true));
	CU_ASSERT_PTR_EQUAL(known_vnode(k, "n3", true), known_vnode(k, "n3", false));
	pack_fini(&p);
	known_free(k);
}

/* Cut anywhere, and with any one byte another: it is read whole, or refused. */
static void halves_are_refused(void)
{
	struct pack p = { .data = NULL };

	message_write(&p);
	for (uint32_t len = 0; len < p.len; len++)
		CU_ASSERT_PTR_NULL(known_read("1.svr", p.data, len));
	for (uint32_t i = 0; i < p.len; i++) {
		char was = p.data[i];

		p.data[i] = (char)(was ^ 0x1b);
		known_free(known_read("1.svr", p.data, p.len));
		p.data[i] = was;
	}
	pack_fini(&p);
}

static struct known *found;
static int n_found;

static void take(void *arg, struct known *k)
{
	(void)arg;
	n_found++;
	known_free(found);
	found = k;
}

static void a_file_for_each_job(void)
{
	struct known *k = known_made(), *bad = known_new("../x", 1);
	char path[300];
	FILE *f;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	CU_ASSERT_EQUAL(known_save(dir, k), 0);
	CU_ASSERT_EQUAL(known_save(dir, bad), -EINVAL);
	snprintf(path, sizeof(path), "%s/2.svr", dir);
	f = fopen(path, "w"); /* a torn one */
	fputs("mmm", f);
	fclose(f);
	CU_ASSERT_EQUAL(known_load(dir, take, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(n_found, 1);
	CU_ASSERT_STRING_EQUAL(found->id, "1.svr");
	CU_ASSERT_EQUAL(found->n_vnodes, 2);
	CU_ASSERT(access(path, F_OK) != 0);
	known_forget(dir, "1.svr");
	CU_ASSERT_EQUAL(known_load(dir, take, NULL), 0);
	CU_ASSERT_EQUAL(n_found, 1);
	CU_ASSERT_EQUAL(rmdir(dir), 0);
	known_free(found);
	found = NULL;
	known_free(k);
	known_free(bad);
}

/* ---- exec_vnode ------------------------------------------------------------------------------------------ */
static void items_of_exec_vnode(void)
{
	const char *at = "(n1[0]:ncpus=1:mem=2kb+n1[1]:ncpus=1)+(n2:s=\"a+b):c\":ncpus=3)+n3", *amount;
	struct exec_item item;
	uint32_t chunk = 0;
	char name[128], value[256];

	CU_ASSERT(exec_next(&at, &chunk, &item) && strcmp(item.vnode, "n1[0]") == 0 && item.chunk == 0 && item.len == 15);
	amount = item.res;
	CU_ASSERT(exec_amount(&amount, item.res + item.len, name, value) && strcmp(name, "ncpus") == 0 && strcmp(value, "1") == 0);
	CU_ASSERT(exec_amount(&amount, item.res + item.len, name, value) && strcmp(name, "mem") == 0 && strcmp(value, "2kb") == 0);
	CU_ASSERT_FALSE(exec_amount(&amount, item.res + item.len, name, value));
	CU_ASSERT(exec_next(&at, &chunk, &item) && strcmp(item.vnode, "n1[1]") == 0 && item.chunk == 0);
	CU_ASSERT(exec_next(&at, &chunk, &item) && strcmp(item.vnode, "n2") == 0 && item.chunk == 1);
	amount = item.res;
	CU_ASSERT(exec_amount(&amount, item.res + item.len, name, value) && strcmp(value, "\"a+b):c\"") == 0);
	CU_ASSERT(exec_next(&at, &chunk, &item) && strcmp(item.vnode, "n3") == 0 && item.chunk == 2 && item.len == 0);
	CU_ASSERT_FALSE(exec_next(&at, &chunk, &item));
}

static void amounts_add_up(void)
{
	char buf[256];

	CU_ASSERT_STRING_EQUAL(exec_add(NULL, "1gb", buf), "1gb");
	CU_ASSERT_STRING_EQUAL(exec_add("1", "2", buf), "3");
	CU_ASSERT_STRING_EQUAL(exec_add("1gb", "1024kb", buf), "1049600kb");
	CU_ASSERT_STRING_EQUAL(exec_add("red", "blue", buf), "blue");
}

static const char *host_of(void *arg, const char *vnode)
{
	(void)arg;
	return vnode[0] == 'A' ? "A" : NULL;
}

static void what_stays_keeps_its_slots(void)
{
	static const char before[] = "(A[0]:ncpus=1+A[1]:ncpus=1)+(B:ncpus=3)+(C:ncpus=2)+(E:ncpus=1+E[0]:ncpus=1)";
	char *hosts = exec_hosts(before, "A/0*0+B/2*3+C/1*2+E/0*0", "(A[0]:ncpus=1+A[1]:ncpus=1)+(C:ncpus=2)+(E:ncpus=1)", host_of, NULL);

	CU_ASSERT_STRING_EQUAL(hosts, "A/0*0+C/1*2+E/0");
	free(hosts);
	hosts = exec_hosts(before, NULL, "(A[0]:ncpus=4)", host_of, NULL); /* no slot is known */
	CU_ASSERT_STRING_EQUAL(hosts, "A/0*4");
	free(hosts);
}

static void made_is(const char *before, const char *after, const char *text)
{
	struct known *k = known_new("1.svr", 1);
	char line[200] = "";

	CU_ASSERT_PTR_NOT_NULL_FATAL(k);
	CU_ASSERT_TRUE(variables_made(k, before, after));
	for (uint32_t i = 0; i < k->made.n; i++)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%s=%s", i ? "|" : "", k->made.values[i].attr, k->made.values[i].text);
	CU_ASSERT_STRING_EQUAL(line, text);
	known_free(k);
}

static void variables_that_scripts_set(void)
{
	made_is("", "", "");
	made_is("A=1,B=2", "A=1,B=2", "");
	made_is("", "A=1", "A=1");
	made_is("A=1,B=2", "A=1,B=2,C=3", "C=3");
	made_is("A=1,B=2,C=3", "A=1,C=4,D=", "C=4|D=");
	made_is("A=1\\,2,B='x,y'", "A=1\\,2,B=x\\,y,C=a\\\\b\\,c\\\"=d", "C=a\\b,c\"=d");
	made_is("A=1,A=2,B=3", "A=2,B=3", "A=2");
	made_is("A=1", "A=1,PBS_NODEFILE=x,TMPDIR=y,TMPDIRS=z,=v,novalue", "TMPDIRS=z");
	made_is("A=1,,B=2", "A=1,B=3,'", "B=3");
}

/* past modules/python-hooks/host.h VARIABLES_MAX */
static void too_many_variables(void)
{
	char text[20000] = "";
	struct known *k = known_new("1.svr", 1);
	size_t len = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(k);
	for (int i = 0; i < VARIABLES_MAX + 1; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "V%d=%d,", i, i);
	CU_ASSERT_FALSE(variables_made(k, "", text));
	CU_ASSERT_EQUAL(k->made.n, VARIABLES_MAX);
	known_free(k);
}

TESTS_MAIN("known", TEST(what_is_read_is_written_the_same), TEST(values_change), TEST(halves_are_refused),
		   TEST(a_file_for_each_job), TEST(items_of_exec_vnode), TEST(amounts_add_up), TEST(what_stays_keeps_its_slots),
		   TEST(variables_that_scripts_set), TEST(too_many_variables))
