/* SPDX-License-Identifier: Apache-2.0
 *
 * test_place.c - where jobs go, why they do not, and that nothing is ever given twice.
 *
 * The language of selects is a small one of the test: "2:ncpus=2:mem=1024+1:ncpus=1" (mem in kb).
 */
#include "place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

#define BUILTIN (KEEL_RES_BUILTIN | KEEL_RES_HOST)
static const struct keel_resource resources[] = {
	{ "ncpus", KEEL_RES_LONG, BUILTIN | KEEL_RES_EACH },
	{ "mem", KEEL_RES_SIZE, BUILTIN | KEEL_RES_EACH },
	{ "vmem", KEEL_RES_SIZE, BUILTIN | KEEL_RES_EACH },
	{ "arch", KEEL_RES_STRING, BUILTIN },
	{ "host", KEEL_RES_STRING, BUILTIN },
	{ "vnode", KEEL_RES_STRING, BUILTIN },
	{ "ompthreads", KEEL_RES_LONG, BUILTIN },
	{ "rb", KEEL_RES_BOOL, KEEL_RES_HOST },
	{ "rsa", KEEL_RES_STRINGS, KEEL_RES_HOST },
	{ "rf", KEEL_RES_FLOAT, KEEL_RES_HOST | KEEL_RES_EACH },
	{ "fres", KEEL_RES_LONG, KEEL_RES_HOST | KEEL_RES_FIRST },
};
#define N_RES (sizeof(resources) / sizeof(resources[0]))
enum { NCPUS, MEM, VMEM, ARCH, HOST, VNODE, OMPTHREADS, RB, RSA, RF, FRES };
static const char *const checked[] = { "ncpus", "mem", "arch", "host", "vnode", NULL };

/* ---- a site ------------------------------------------------------------------------------------------ */

#define NODES_MAX 32
#define COLUMNS 4
static const uint32_t column_res[COLUMNS] = { NCPUS, MEM, RF, FRES };

struct site {
	struct snapshot s;
	struct vnode node[NODES_MAX];
	double amount[NODES_MAX][2 * COLUMNS];
	struct keel_res_value other[NODES_MAX][5];
	char name[NODES_MAX][16], host[NODES_MAX][16];
	const struct keel_resource *column[COLUMNS];
};
static struct site site;

static void site_empty(void)
{
	uint32_t i;

	snapshot_unlink(&site.s);
	memset(&site, 0, sizeof(site));
	site.s.node = site.node;
	site.s.column = site.column;
	site.s.n_column = COLUMNS;
	site.s.checked = checked;
	for (i = 0; i < COLUMNS; i++)
		site.column[i] = &resources[column_res[i]];
}

static struct vnode *add(uint32_t host, double ncpus, double mem_kb)
{
	uint32_t i = site.s.n++;
	struct vnode *v = &site.node[i];

	snprintf(site.name[i], sizeof(site.name[i]), "n%u", i);
	snprintf(site.host[i], sizeof(site.host[i]), "h%u", host);
	v->name = site.name[i];
	v->host = host;
	if (host >= site.s.n_hosts)
		site.s.n_hosts = host + 1;
	v->usable = true;
	v->share[0] = v->share[1] = KEEL_SHARE_SHARED;
	v->share[2] = KEEL_SHARE_EXCL;
	v->share[3] = KEEL_SHARE_EXCLHOST;
	v->total = site.amount[i];
	v->free = site.amount[i] + COLUMNS;
	v->total[0] = v->free[0] = ncpus;
	v->total[1] = v->free[1] = mem_kb * 1024;
	v->other = site.other[i];
	v->other[v->n_other++] = (struct keel_res_value){ .res = &resources[ARCH], .text = "linux" };
	v->other[v->n_other++] =
		(struct keel_res_value){ .res = &resources[HOST], .text = site.host[i] };
	v->other[v->n_other++] =
		(struct keel_res_value){ .res = &resources[VNODE], .text = site.name[i] };
	snapshot_link(&site.s);
	return v;
}

static void site_hosts(uint32_t n, double ncpus)
{
	uint32_t i;

	site_empty();
	for (i = 0; i < n; i++)
		add(i, ncpus, 2 * 1024 * 1024);
}

/* ---- a job --------------------------------------------------------------------------------------------- */

struct job {
	struct keel_select select;
	struct keel_chunk chunk[8];
	struct keel_res_value v[8][8];
	char text[512];
};

static void value_read(struct keel_res_value *v, const char *name, const char *text)
{
	uint32_t i;

	for (i = 0; i < N_RES && strcmp(resources[i].name, name) != 0; i++)
		;
	v->res = &resources[i];
	if (v->res->type == KEEL_RES_BOOL)
		v->n = strcmp(text, "True") == 0;
	else if (v->res->type < KEEL_RES_BOOL)
		v->n = strtod(text, NULL) * (v->res->type == KEEL_RES_SIZE ? 1024 : 1);
	else
		v->text = text;
}

static void job_read(struct job *j, const char *select)
{
	char *save = NULL, *chunk, *word, *save_word, *value;

	memset(j, 0, sizeof(*j));
	snprintf(j->text, sizeof(j->text), "%s", select);
	j->select.chunk = j->chunk;
	for (chunk = strtok_r(j->text, "+", &save); chunk; chunk = strtok_r(NULL, "+", &save)) {
		struct keel_chunk *c = &j->chunk[j->select.n];
		struct keel_res_value *v = j->v[j->select.n++];

		save_word = NULL;
		c->count = (uint32_t)strtoul(strtok_r(chunk, ":", &save_word), NULL, 10);
		c->v = v;
		while ((word = strtok_r(NULL, ":", &save_word))) {
			value = strchr(word, '=');
			*value++ = '\0';
			value_read(&v[c->n++], word, value);
		}
		j->select.chunks += c->count;
	}
}

static char *put(const char *select, int arrange, int share, struct reason *r)
{
	struct job j;
	struct wish w = { .select = &j.select, .queue = "workq" };

	job_read(&j, select);
	snapshot_link(&site.s);
	w.place.arrange = arrange;
	w.place.share = share;
	memset(r, 0, sizeof(*r));
	return place_job(&site.s, &w, r);
}

static void fits(const char *select, int arrange, const char *wanted)
{
	struct reason r;
	char *text = put(select, arrange, 0, &r);

	CU_ASSERT_STRING_EQUAL(text ? text : r.text, wanted);
	if (!text || strcmp(text, wanted) != 0)
		printf("\n%s: %s, not %s\n", select, text ? text : r.text, wanted);
	free(text);
}

static void refuses_shared(const char *select, int arrange, int share, bool never,
			   const char *wanted)
{
	struct reason r;
	char *text = put(select, arrange, share, &r);

	CU_ASSERT_PTR_NULL(text);
	CU_ASSERT_EQUAL(r.never, never);
	CU_ASSERT_STRING_EQUAL(r.text, wanted);
	if (text || strcmp(r.text, wanted) != 0)
		printf("\n%s: %s, not %s\n", select, text ? text : r.text, wanted);
	free(text);
}

static void refuses(const char *select, int arrange, bool never, const char *wanted)
{
	refuses_shared(select, arrange, 0, never, wanted);
}

/* ---- tests ----------------------------------------------------------------------------------------------- */

static void test_free(void)
{
	site_hosts(2, 4);
	fits("1:ncpus=3:mem=1024", KEEL_PLACE_FREE, "(n0:ncpus=3:mem=1024kb)");
	fits("2:ncpus=1", KEEL_PLACE_FREE, "(n0:ncpus=1)+(n1:ncpus=1)");
	fits("1:ncpus=2+1:ncpus=1:mem=5", KEEL_PLACE_FREE, "(n1:ncpus=2)+(n1:ncpus=1:mem=5kb)");
	CU_ASSERT_EQUAL(site.node[1].free[0], 0);
}

static void test_pack(void)
{
	site_hosts(2, 4);
	fits("2:ncpus=2", KEEL_PLACE_PACK, "(n0:ncpus=2)+(n0:ncpus=2)");
	fits("1:ncpus=1", KEEL_PLACE_PACK, "(n1:ncpus=1)");
	refuses("2:ncpus=2", KEEL_PLACE_PACK, false,
		"Insufficient amount of resource: ncpus (R: 4 A: 3 T: 8)");
	refuses("2:ncpus=3", KEEL_PLACE_PACK, true, "No available resources on nodes");
	CU_ASSERT_EQUAL(site.node[1].free[0], 3); /* trials leave nothing taken */
}

static void test_scatter(void)
{
	site_hosts(2, 4);
	fits("2:ncpus=1", KEEL_PLACE_SCATTER, "(n0:ncpus=1)+(n1:ncpus=1)");
	refuses("3:ncpus=1", KEEL_PLACE_SCATTER, true, "Not enough total nodes available");
	site.node[0].usable = false;
	refuses("2:ncpus=1", KEEL_PLACE_SCATTER, false, "Not enough free nodes available");
}

static void test_vnodes_of_a_host(void)
{
	site_empty();
	add(0, 2, 1024);
	add(0, 2, 1024);
	add(1, 1, 1024);
	fits("1:ncpus=3", KEEL_PLACE_FREE, "(n0:ncpus=2+n1:ncpus=1)");
	fits("1:ncpus=1", KEEL_PLACE_FREE, "(n1:ncpus=1)");
	site_empty();
	add(0, 2, 1024);
	add(0, 2, 1024);
	add(1, 1, 1024);
	refuses("1:ncpus=3", KEEL_PLACE_VSCATTER, true,
		"Insufficient amount of resource: ncpus ");
	fits("2:ncpus=1", KEEL_PLACE_SCATTER, "(n0:ncpus=1)+(n2:ncpus=1)");
	fits("2:ncpus=1", KEEL_PLACE_VSCATTER, "(n0:ncpus=1)+(n1:ncpus=1)");
	refuses("4:ncpus=1", KEEL_PLACE_VSCATTER, true, "Not enough total nodes available");
	site_empty();
	add(0, 2, 1024);
	add(0, 2, 1024);
	fits("1:ncpus=1:mem=1500", KEEL_PLACE_PACK, "(n0:ncpus=1:mem=1024kb+n1:mem=476kb)");
	site_empty();
	for (uint32_t i = 0; i < 6; i++)
		add(i / 3, 3, 1024);
	/* The first host has no room for another 5, but for 4. */
	fits("2:ncpus=5+2:ncpus=4", KEEL_PLACE_FREE,
	     "(n0:ncpus=3+n1:ncpus=2)+(n3:ncpus=3+n4:ncpus=2)+(n1:ncpus=1+n2:ncpus=3)+(n4:ncpus=1+n5:ncpus=3)");
}

static void test_exclusive(void)
{
	struct reason r;
	char *text;

	site_hosts(1, 4);
	fits("1:ncpus=1", KEEL_PLACE_FREE, "(n0:ncpus=1)");
	refuses_shared("1:ncpus=1", KEEL_PLACE_FREE, KEEL_SHARE_EXCL, false,
		       "No available resources on nodes");
	site_hosts(1, 4);
	text = put("2:ncpus=1", KEEL_PLACE_FREE, KEEL_SHARE_EXCL, &r);
	CU_ASSERT_STRING_EQUAL(text, "(n0:ncpus=1)+(n0:ncpus=1)");
	free(text);
	refuses("1:ncpus=1", KEEL_PLACE_FREE, false, "Not enough free nodes available");
	site_empty();
	add(0, 2, 1024);
	add(0, 2, 1024);
	add(1, 2, 1024);
	site.node[1].in_use = true;
	text = put("1:ncpus=1", KEEL_PLACE_FREE, KEEL_SHARE_EXCLHOST, &r);
	CU_ASSERT_STRING_EQUAL(text, "(n2:ncpus=1)");
	free(text);
}

/* So many that their names fill a page: the last of them is named, too. */
static void test_many_set_keys(void)
{
	struct job j;
	struct reason r;
	char names[60][16], *text;
	const char *key[60];
	struct wish w = { .select = &j.select, .set_key = key, .n_set_key = 60 };

	for (int i = 0; i < 60; i++) {
		snprintf(names[i], sizeof(names[i]), "nobody_has_%02d", i);
		key[i] = i < 59 ? names[i] : "rsa";
	}
	site_hosts(2, 4);
	site.s.explicit_sets = true;
	for (int i = 0; i < 2; i++)
		site.node[i].other[site.node[i].n_other++] =
			(struct keel_res_value){ .res = &resources[RSA], .text = i ? "b" : "a" };
	snapshot_link(&site.s);
	job_read(&j, "1:ncpus=4");
	for (int i = 0; i < 2; i++) {
		text = place_job(&site.s, &w, &r);
		CU_ASSERT_PTR_NOT_NULL(text);
		free(text);
	}
	text = place_job(&site.s, &w, &r);
	CU_ASSERT_PTR_NULL(text);
	CU_ASSERT_STRING_EQUAL(r.text, "rsa set a has too few free resources");
}

/* The texts a site with one host of 4 cpus and 2 gb is known for. */
static void test_reasons(void)
{
	site_hosts(1, 4);
	refuses("1:ncpus=8", KEEL_PLACE_PACK, true,
		"Insufficient amount of resource: ncpus (R: 8 A: 4 T: 4)");
	refuses("2:ncpus=3", KEEL_PLACE_FREE, true,
		"Insufficient amount of resource: ncpus (R: 6 A: 4 T: 4)");
	refuses("1:ncpus=1:mem=5242880", KEEL_PLACE_FREE, true,
		"Insufficient amount of resource: mem (R: 5gb A: 2gb T: 2gb)");
	refuses("1:ncpus=1:vnode=foo", KEEL_PLACE_FREE, true,
		"Insufficient amount of resource: vnode (foo != n0)");
	refuses("1:ncpus=1:arch=sun", KEEL_PLACE_FREE, true,
		"Insufficient amount of resource: arch (sun != linux)");
	refuses("2:ncpus=1", KEEL_PLACE_SCATTER, true, "Not enough total nodes available");
	fits("3:ncpus=1", KEEL_PLACE_FREE, "(n0:ncpus=1)+(n0:ncpus=1)+(n0:ncpus=1)");
	refuses("1:ncpus=2", KEEL_PLACE_FREE, false,
		"Insufficient amount of resource: ncpus (R: 2 A: 1 T: 4)");
	refuses("1:ncpus=64", KEEL_PLACE_FREE, true,
		"Insufficient amount of resource: ncpus (R: 64 A: 4 T: 4)");
	fits("1:ncpus=1", KEEL_PLACE_FREE, "(n0:ncpus=1)");
	refuses("1:ncpus=1", KEEL_PLACE_FREE, false, "Not enough free nodes available");
	site_empty();
	refuses("1:ncpus=1", KEEL_PLACE_FREE, false, "Not enough free nodes available");
}

static void test_kinds_of_values(void)
{
	site_hosts(1, 4);
	refuses("1:ncpus=1:rb=True", KEEL_PLACE_FREE, true,
		"Insufficient amount of resource: rb (True != False)");
	fits("1:ncpus=1:rb=False", KEEL_PLACE_FREE, "(n0:ncpus=1)");
	fits("1:ncpus=1:host=H0", KEEL_PLACE_FREE, "(n0:ncpus=1)");
	fits("1:ompthreads=7:ncpus=1", KEEL_PLACE_FREE, "(n0:ncpus=1)");
	fits("1:vmem=9999999:ncpus=0", KEEL_PLACE_FREE, "(n0:vmem=9999999kb:ncpus=0)");
	site.node[0].other[3] = (struct keel_res_value){ .res = &resources[RSA], .text = "a,b" };
	site.node[0].n_other = 4;
	refuses("1:rsa=c", KEEL_PLACE_FREE, true,
		"Insufficient amount of resource: rsa (c != a,b)");
	fits("1:ncpus=1:rsa=b", KEEL_PLACE_FREE, "(n0:ncpus=1)");
}

static void test_fractions_and_first(void)
{
	site_hosts(1, 8);
	site.node[0].total[2] = site.node[0].free[2] = 2.5;
	site.node[0].total[3] = site.node[0].free[3] = 8;
	fits("1:rf=2.25:ncpus=1", KEEL_PLACE_FREE, "(n0:rf=2.25:ncpus=1)");
	refuses("1:rf=1.5:ncpus=1", KEEL_PLACE_FREE, false,
		"Insufficient amount of resource: rf (R: 1.5 A: 0.25 T: 2.5)");
	fits("2:fres=8:ncpus=1", KEEL_PLACE_FREE, "(n0:fres=8:ncpus=1)+(n0:ncpus=1)");
	refuses("1:fres=1:ncpus=1", KEEL_PLACE_FREE, false,
		"Insufficient amount of resource: fres (R: 1 A: 0 T: 8)");
}

static void test_some_vnodes_only(void)
{
	site_hosts(2, 4);
	fits("2:ncpus=2", KEEL_PLACE_SCATTER, "(n0:ncpus=2)+(n1:ncpus=2)");
	refuses("1:ncpus=3", KEEL_PLACE_FREE, false,
		"Insufficient amount of resource: ncpus (R: 3 A: 2 T: 4)");
	fits("1:ncpus=1", KEEL_PLACE_FREE, "(n0:ncpus=1)");
	refuses("1:ncpus=3", KEEL_PLACE_FREE, false, "Insufficient amount of resource: ncpus ");
	refuses("1:ncpus=1:vnode=foo", KEEL_PLACE_FREE, true,
		"Insufficient amount of resource: vnode ");
}

static void test_queues(void)
{
	site_hosts(2, 4);
	site.node[0].queue = "special";
	fits("1:ncpus=1", KEEL_PLACE_FREE, "(n1:ncpus=1)");
	site.node[1].queue = "workq";
	fits("1:ncpus=1", KEEL_PLACE_FREE, "(n1:ncpus=1)");
	site.node[1].queue = "special";
	refuses("1:ncpus=1", KEEL_PLACE_FREE, false, "Not enough free nodes available");
}

/* A job that wants all its chunks where a value is the same. */
static char *put_in_set(const char *select, struct reason *r)
{
	struct job j;
	struct wish w = { .select = &j.select, .place = { .arrange = KEEL_PLACE_FREE, .group = "rsa" } };

	job_read(&j, select);
	snapshot_link(&site.s);
	return place_job(&site.s, &w, r);
}

static void color(uint32_t node, const char *value)
{
	struct vnode *v = &site.node[node];

	v->other[v->n_other++] = (struct keel_res_value){ .res = &resources[RSA], .text = value };
}

static void in_set(const char *select, const char *wanted)
{
	struct reason r;
	char *text = put_in_set(select, &r);

	CU_ASSERT_STRING_EQUAL(text ? text : r.text, wanted);
	free(text);
}

static void test_sets(void)
{
	site_hosts(4, 4);
	color(0, "a");
	color(1, "a,b");
	color(2, "b");
	in_set("1:ncpus=4", "(n3:ncpus=4)"); /* no value: a set, too, and the smallest */
	in_set("2:ncpus=4", "(n0:ncpus=4)+(n1:ncpus=4)");
	in_set("2:ncpus=4", "rsa set a has too few free resources");
	site_hosts(4, 4);
	color(0, "a");
	color(1, "a,b");
	color(2, "b");
	in_set("3:ncpus=4", "(n0:ncpus=4)+(n1:ncpus=4)+(n2:ncpus=4)"); /* fits into none: spans */
	site.s.no_span = true;
	in_set("3:ncpus=4", "can't fit in the largest placement set, and can't span psets");
	site.s.explicit_sets = true;
	in_set("1:ncpus=1", "rsa set a has too few free resources");
}

static void test_limits_of_vnodes(void)
{
	struct vnode_limits one = { .jobs = 1 };

	site_hosts(2, 4);
	site.node[0].limits = &one;
	fits("1:ncpus=1", KEEL_PLACE_FREE, "(n0:ncpus=1)");
	fits("1:ncpus=1", KEEL_PLACE_FREE, "(n1:ncpus=1)");
	site.node[1].limits = &one;
	refuses("1:ncpus=1", KEEL_PLACE_FREE, false, "Node has reached job run limit");
	site_hosts(2, 4);
	site.node[0].one_host_only = true;
	fits("2:ncpus=1", KEEL_PLACE_FREE, "(n1:ncpus=1)+(n1:ncpus=1)");
	fits("2:ncpus=2", KEEL_PLACE_FREE, "(n0:ncpus=2)+(n0:ncpus=2)"); /* on one host it may */
	refuses("2:ncpus=4", KEEL_PLACE_FREE, true, "Node can't satisfy a multi-node job");
}

static void test_shared_amounts(void)
{
	uint32_t via[COLUMNS] = { 0, 0, 1, 0 };

	site_hosts(2, 4);
	site.node[0].total[2] = site.node[0].free[2] = 2;
	site.node[1].via = via;
	fits("2:ncpus=3:rf=1", KEEL_PLACE_FREE, "(n0:ncpus=3:rf=1)+(n1:ncpus=3:rf=1)");
	CU_ASSERT_EQUAL(site.node[0].free[2], 0);
	refuses("1:ncpus=1:rf=1", KEEL_PLACE_FREE, false,
		"Insufficient amount of resource: rf (R: 1 A: 0 T: 2)");
}

static void test_again(void)
{
	struct keel_res_value v = { .res = &resources[NCPUS], .n = 3 };
	struct keel_exec_part part = { "n0", 0, 1, &v };
	struct keel_exec exec = { 1, 1, &part };
	struct reason r;

	site_hosts(1, 4);
	CU_ASSERT_TRUE(place_again(&site.s, &exec, 0, 0, &r));
	CU_ASSERT_FALSE(place_again(&site.s, &exec, 0, 0, &r));
	CU_ASSERT_STRING_EQUAL(r.text, "Insufficient amount of resource: ncpus (R: 3 A: 1 T: 4)");
	CU_ASSERT_EQUAL(site.node[0].free[0], 1);
	site.node[0].usable = false;
	CU_ASSERT_FALSE(place_again(&site.s, &exec, 0, 0, &r));
	CU_ASSERT_STRING_EQUAL(r.text, "Not enough free nodes available");
	part.vnode = "gone";
	CU_ASSERT_FALSE(place_again(&site.s, &exec, 0, 0, &r));
	place_take(&site.s, &exec, false); /* unknown: nothing */
	CU_ASSERT_EQUAL(site.node[0].free[0], 1);
}

/* Random sites and jobs: amounts balance, no vnode is overdrawn, arrangements hold, and what is refused
 * leaves no trace. */
static uint32_t seed = 20240229;
static double total_free(void)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < site.s.n; i++)
		sum += site.node[i].free[0];
	return sum;
}

static void check_arrangement(const char *text, int arrange)
{
	uint32_t seen[NODES_MAX] = { 0 }, hosts[NODES_MAX] = { 0 }, n_hosts = 0, i;
	const char *p;

	for (p = text; (p = strchr(p, '(')); p++) {
		uint32_t node = (uint32_t)strtoul(p + 2, NULL, 10);

		CU_ASSERT_FATAL(node < site.s.n);
		seen[node]++;
		hosts[site.node[node].host]++;
	}
	for (i = 0; i < NODES_MAX; i++) {
		n_hosts += hosts[i] > 0;
		CU_ASSERT_FALSE(arrange == KEEL_PLACE_VSCATTER && seen[i] > 1);
		CU_ASSERT_FALSE(arrange == KEEL_PLACE_SCATTER && hosts[i] > 1);
	}
	CU_ASSERT_FALSE(arrange == KEEL_PLACE_PACK && n_hosts != 1);
}

static void try_one(void)
{
	uint32_t a = 1 + pick(&seed, 4), an = 1 + pick(&seed, 4), b = 1 + pick(&seed, 2), bn = pick(&seed, 3), i;
	int arrange = (int)pick(&seed, 4), share = pick(&seed, 8) == 0 ? KEEL_SHARE_EXCL : 0;
	double before = total_free();
	char select[64], *text;
	struct reason r;

	snprintf(select, sizeof(select), "%u:ncpus=%u+%u:ncpus=%u:mem=%u", a, an, b, bn, pick(&seed, 4096));
	text = put(select, arrange, share, &r);
	CU_ASSERT_EQUAL(total_free(), text ? before - a * an - b * bn : before);
	CU_ASSERT_TRUE(text || r.text[0]);
	for (i = 0; i < site.s.n; i++) {
		CU_ASSERT_TRUE(site.node[i].free[0] >= 0);
		CU_ASSERT_TRUE(site.node[i].free[1] >= 0);
	}
	if (text)
		check_arrangement(text, arrange);
	free(text);
}

static void test_random(void)
{
	uint32_t round, i, n;

	for (round = 0; round < 500; round++) {
		site_empty();
		n = 1 + pick(&seed, 10);
		for (i = 0; i < n; i++)
			add(pick(&seed, i + 1), pick(&seed, 9), pick(&seed, 8192));
		for (i = 0; i < 30; i++)
			try_one();
	}
}

/* ---- taps ------------------------------------------------------------------------------------------------ */

static const char *refused; /* the vnode that the tap refuses */
static uint32_t asked;

static bool tap(void *arg, const struct vnode *v)
{
	(void)arg;
	asked++;
	return !refused || strcmp(v->name, refused) != 0;
}

static char *put_tapped(const char *select, struct reason *r)
{
	struct job j;
	struct wish w = { .select = &j.select, .queue = "workq", .eligible = tap };

	job_read(&j, select);
	snapshot_link(&site.s);
	asked = 0;
	return place_job(&site.s, &w, r);
}

/* They are asked of vnodes that would do, once each; what they did not refuse is no verdict of one job alone. */
static void taps_are_asked_last(void)
{
	struct reason r = { 0 };
	char *text;

	site_empty();
	for (uint32_t i = 0; i < 3; i++)
		add(i, i ? 4 : 1, 2048);
	refused = NULL;
	text = put_tapped("1:ncpus=3", &r);
	CU_ASSERT_STRING_EQUAL(text, "(n1:ncpus=3)");
	CU_ASSERT_EQUAL(asked, 1);
	free(text);
	CU_ASSERT_PTR_NULL(put_tapped("2:ncpus=3", &r));
	CU_ASSERT_EQUAL(asked, 1);
	CU_ASSERT_FALSE(r.alone || r.never);
	refused = "n2";
	CU_ASSERT_PTR_NULL(put_tapped("1:ncpus=3", &r));
	CU_ASSERT(r.alone && !r.never); /* taps may change their minds */
	CU_ASSERT_PTR_NULL(put_tapped("1:ncpus=5", &r));
	CU_ASSERT_EQUAL(asked, 0);
	CU_ASSERT(r.never && !r.alone);
}

TESTS_MAIN("place", TEST(taps_are_asked_last), TEST(test_free), TEST(test_pack), TEST(test_scatter), TEST(test_vnodes_of_a_host),
	   TEST(test_exclusive), TEST(test_reasons), TEST(test_kinds_of_values),
	   TEST(test_fractions_and_first), TEST(test_some_vnodes_only), TEST(test_queues), TEST(test_sets),
	   TEST(test_many_set_keys), TEST(test_limits_of_vnodes), TEST(test_shared_amounts), TEST(test_again), TEST(test_random))
