/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pbs_rsub.c - the command line of pbs_rsub, and the hosts of --hosts.
 */
#include <getopt.h>

#include "capture.h"
#include "rsub.h"
#include "streams.h"

#define WORDS_MOST 32

static struct wish w;
static struct streams s;
static char *argv[WORDS_MOST + 1], copy[1024];
static int argc;

/* Words of one line, each until the next '|'. Returns what is wrong: 0, 1 (a value), or the status of wish_check(). */
static int line_read(const char *line)
{
	char *word, *rest = copy;
	int status;

	attr_list_fini(&w.attrs);
	w = (struct wish){ 0 };
	snprintf(copy, sizeof(copy), "pbs_rsub|%s", line);
	for (argc = 0; (word = strsep(&rest, "|")) != NULL && argc < WORDS_MOST; argc++)
		argv[argc] = word;
	argv[argc] = NULL;
	optind = 0;
	streams_begin(&s);
	status = options_read(&w, argc, argv) ? wish_check(&w, argc, argv) : 1;
	streams_end(&s);
	return status;
}

static int is(const char *name, const char *resource, const char *expected)
{
	const char *got = wish_get(&w, name, resource);

	return got == NULL || expected == NULL ? got == expected : strcmp(got, expected) == 0;
}

static void set_up(void)
{
	setenv("PBS_CONF_FILE", "/dev/null", 1);
	setenv("PBS_SERVER", "HOST", 1);
	setenv("LOGNAME", "me,too", 1);
	setenv("MAIL", "/var/mail/me", 1);
	setenv("TZ", "UTC", 1);
	unsetenv("PBS_TZID");
}

static void test_values(void)
{
	CU_ASSERT_EQUAL(line_read("-R|203012312359.30|-D|1:00.5|-l|select=2:ncpus=1|-l|place=free,mem=1gb|-N|n|-I|-5|-m|abce|-M|a@b,c|-U|+u|"
				  "-G|-g|-H|h|-u|x|-g|y|-W|delete_idle_time=10:00,Priority=3|-q|@srv:1"), 0);
	CU_ASSERT(is(ATTR_resv_start, "", "1924991970"));
	CU_ASSERT(is(ATTR_resv_end, "", NULL));
	CU_ASSERT(is(ATTR_l, "walltime", "1:00.5"));
	CU_ASSERT(is(ATTR_l, "select", "2:ncpus=1") && is(ATTR_l, "place", "free") && is(ATTR_l, "mem", "1gb"));
	CU_ASSERT(is(ATTR_resv_name, "", "n") && is(ATTR_inter, "", "-5"));
	CU_ASSERT(is(ATTR_m, "", "abce") && is(ATTR_M, "", "a@b,c"));
	CU_ASSERT(is(ATTR_auth_u, "", "+u") && is(ATTR_auth_g, "", "-g") && is(ATTR_auth_h, "", "h"));
	CU_ASSERT(is(ATTR_u, "", "x") && is(ATTR_g, "", "y"));
	CU_ASSERT(is(ATTR_del_idle_time, "", "10:00") && is(ATTR_p, "", "3"));
	CU_ASSERT_STRING_EQUAL(w.server, "srv:1");
	CU_ASSERT(strncmp(wish_get(&w, ATTR_v, ""), "PBS_O_LOGNAME=me\\,too,PBS_O_HOST=", 33) == 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(wish_get(&w, ATTR_v, ""), ",PBS_O_MAIL=/var/mail/me"));
	CU_ASSERT_PTR_NULL(strstr(wish_get(&w, ATTR_v, ""), "PBS_TZID"));
}

static void test_illegal(void)
{
	static const struct row {
		const char *line, *text;
	} rows[] = {
		{ "-R|9999", "pbs_rsub: illegal -R time value\n" },
		{ "-E|", "pbs_rsub: illegal -E time value\n" },
		{ "-I|x", "pbs_rsub: illegal -I time value\n" },
		{ "-I|", "pbs_rsub: illegal -I time value\n" },
		{ "-I|99999999999", "pbs_rsub: illegal -I time value\n" },
		{ "-q|srv", "pbs_rsub: illegal -q value: format \"@server\"\n" },
		{ "-q|@", "pbs_rsub: illegal -q value: format \"@server\"\n" },
		{ "-r|1234567890123456789012345678901234567890123456789012345678901234567",
		  "pbs_rsub: illegal -r value (expression too long)\n" },
		{ "-W|a", "pbs_rsub: illegal -W value\n" },
		{ "-W|qmove=", "pbs_rsub: illegal -W value\n" },
		{ "-l|=1", "pbs_rsub: illegal -l value\n" },
		{ "-D|1:x", "pbs_rsub: illegal -D value\n" },
		{ "-D|-5", "pbs_rsub: illegal -D value\n" },
		{ "-D|1:2:3:4", "pbs_rsub: illegal -D value\n" },
		{ "-D|1.5.5", "pbs_rsub: illegal -D value\n" },
		{ "-D|", "pbs_rsub: illegal -D value\n" },
		{ "-Z", "pbs_rsub: invalid option -- 'Z'\n" },
		{ "-R", "pbs_rsub: option requires an argument -- 'R'\n" },
		{ "--nosuch", "" },
		{ "--hosts=a", "" },
		{ "--job", "" },
		{ "--rolling|0|--hosts|a", "pbs_rsub: illegal --rolling value\n" },
		{ "--rolling|x|--hosts|a", "pbs_rsub: illegal --rolling value\n" },
		{ "--action|kill|--hosts|a", "pbs_rsub: illegal --action value\n" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CU_ASSERT_EQUAL(line_read(rows[i].line), 1);
		CU_ASSERT(streams_are(&s, "", rows[i].text));
	}
}

/* The first lines are these; then the usage, or nothing. */
static void refused(const char *line, const char *text, bool with_usage)
{
	char expected[2048];

	snprintf(expected, sizeof(expected), "%s%s", text, with_usage ? pbs_rsub.usage : "");
	CU_ASSERT_EQUAL(line_read(line), 2);
	CU_ASSERT(streams_are(&s, "", expected));
}

static void test_refused(void)
{
	refused("-R|1200|stray", "pbs_rsub: directive error: -R 1200 stray \n", true);
	refused("-W|qmove=1|-R|1200", "pbs_rsub: -Wqmove is not compatible with -R or -E option\n", true);
	refused("-Wqmove=1|-I|0", "pbs_rsub: -I <timeout> value must be negative when used with -Wqmove option.\n", false);
	refused("--job|1|-E|1200", "pbs_rsub: Start/End time cannot be used with --job option\n", true);
	refused("--job|x", "pbs_rsub: illegally formed job identifier: x\n", false);
	refused("-r|FREQ=DAILY;COUNT=2", "pbs_rsub error: a valid PBS_TZID timezone environment variable is required.\n", false);
	refused("--hosts|a|-I|5", "pbs_rsub: can't use -I with --hosts\n", true);
	refused("-l|select=1|--hosts|a|-I|5", "pbs_rsub: can't use -I with --hosts\npbs_rsub: can't use -l with --hosts\n", true);
	refused("--hosts|a|-l|walltime=10", "pbs_rsub: can't use -l with --hosts\n", true);
	refused("--hosts|a|-r|x", "pbs_rsub: can't use -r with --hosts\n", true);
	refused("--hosts|a|--job|1", "pbs_rsub: can't use --job with --hosts\n", true);
	refused("--hosts|a|-Wqmove=1", "pbs_rsub: can't use -Wqmove with --hosts\n", true);
	refused("--dry-run|-R|1200", "pbs_rsub: --dry-run, --repeat, --rolling, --health and --action need --hosts\n", true);
}

static void test_follows(void)
{
	CU_ASSERT_EQUAL(line_read("-W|qmove=12"), 0);
	CU_ASSERT(is(ATTR_inter, "", "-10") && is(ATTR_convert, "", "12.HOST"));
	CU_ASSERT_EQUAL(line_read("--job|12[3]"), 0);
	CU_ASSERT(is(ATTR_resv_job, "", "12[3].HOST"));
	setenv("PBS_TZID", "Europe/Berlin", 1);
	CU_ASSERT_EQUAL(line_read("-r|FREQ=DAILY;COUNT=2"), 0);
	CU_ASSERT(is(ATTR_resv_rrule, "", "FREQ=DAILY;COUNT=2") && is(ATTR_resv_timezone, "", "Europe/Berlin"));
	CU_ASSERT_PTR_NOT_NULL(strstr(wish_get(&w, ATTR_v, ""), ",PBS_TZID=Europe/Berlin"));
	unsetenv("PBS_TZID");
	CU_ASSERT_EQUAL(line_read("a|--hosts|-E|1800|b|-D|1:00:00|-N|maint|c|--repeat|FREQ=WEEKLY;COUNT=2|--rolling|2|--health|true|--action|drain"), 0);
	CU_ASSERT(w.hosts && w.n_operands == 3);
	CU_ASSERT_STRING_EQUAL(w.operand[2], "c");
	CU_ASSERT(is(ATTR_resv_rrule, "", "FREQ=WEEKLY;COUNT=2") && is(ATTR_resv_timezone, "", "UTC"));
	CU_ASSERT(is("maintenance_rolling", "", "2") && is("maintenance_health", "", "true") && is("maintenance_action", "", "drain"));
	CU_ASSERT_EQUAL(line_read("--hosts|a|--dry-run"), 0);
	CU_ASSERT(w.dry_run && w.n_operands == 1);
}

static void test_host_list(void)
{
	static char a[] = "a", b[] = "b", none[] = "";
	char *twice[] = { b, a, none, b, a }, *empty[] = { none, none }, *good[] = { b, none, a };
	struct hosts h;
	char expected[2048];

	snprintf(expected, sizeof(expected), "pbs_rsub: Duplicate host: b\n%s", pbs_rsub.usage);
	streams_begin(&s);
	CU_ASSERT_EQUAL(hosts_take(&h, twice, 5), 2);
	streams_end(&s);
	CU_ASSERT(streams_are(&s, "", expected));
	hosts_free(&h);
	snprintf(expected, sizeof(expected), "pbs_rsub: missing host(s)\n%s", pbs_rsub.usage);
	streams_begin(&s);
	CU_ASSERT_EQUAL(hosts_take(&h, empty, 2), 2);
	streams_end(&s);
	CU_ASSERT(streams_are(&s, "", expected));
	hosts_free(&h);
	CU_ASSERT_EQUAL(hosts_take(&h, good, 3), 0);
	CU_ASSERT_EQUAL(h.n, 2);
	hosts_free(&h);
}

struct vnode {
	struct batch_status status;
	struct attrl attr[2];
};

/* host or ncpus NULL: the vnode lacks it. */
static void vnode_make(struct vnode *v, struct vnode *next, const char *name, const char *host, const char *ncpus)
{
	struct attrl *last = NULL;

	v->attr[0] = (struct attrl){ NULL, (char *)ATTR_rescavail, (char *)"ncpus", (char *)ncpus, SET };
	if (ncpus)
		last = &v->attr[0];
	v->attr[1] = (struct attrl){ last, (char *)ATTR_rescavail, (char *)"host", (char *)host, SET };
	if (host)
		last = &v->attr[1];
	v->status = (struct batch_status){ .next = next ? &next->status : NULL, .name = (char *)name, .attribs = last };
}

static void text_is(char *text, const char *expected)
{
	CU_ASSERT_STRING_EQUAL(text, expected);
	free(text);
}

static void test_select(void)
{
	static char x[] = "hX", a[] = "hA", other[] = "HA", bare[] = "hB";
	char *good[] = { x, a }, *missing[] = { a, other }, *cpuless[] = { bare, a };
	struct vnode v[8];
	struct hosts h;

	vnode_make(&v[0], &v[1], "hX", "hX", NULL); /* the natural vnode of a host with others */
	vnode_make(&v[1], &v[2], "hX[0]", "hX", "2");
	vnode_make(&v[2], &v[3], "hA", "hA", "4");
	vnode_make(&v[3], &v[4], "hX[1]", "hX", "2");
	vnode_make(&v[4], &v[5], "lost", NULL, "7");
	vnode_make(&v[5], NULL, "hB", "hB", "0");
	CU_ASSERT_EQUAL(hosts_take(&h, good, 2), 0);
	CU_ASSERT_EQUAL(hosts_count(&h, &v[0].status), 0);
	text_is(hosts_select(&h), "host=hX:ncpus=4+host=hA:ncpus=4");
	text_is(hosts_nodes(&h), "(hX[0]:ncpus=2)+(hX[1]:ncpus=2)+(hA:ncpus=4)");
	hosts_free(&h);
	CU_ASSERT_EQUAL(hosts_take(&h, missing, 2), 0);
	streams_begin(&s);
	CU_ASSERT_EQUAL(hosts_count(&h, &v[0].status), 2);
	streams_end(&s);
	CU_ASSERT(streams_are(&s, "", "pbs_rsub: Host with resources not found: HA\n"));
	hosts_free(&h);
	CU_ASSERT_EQUAL(hosts_take(&h, cpuless, 2), 0);
	streams_begin(&s);
	CU_ASSERT_EQUAL(hosts_count(&h, &v[0].status), 2);
	streams_end(&s);
	CU_ASSERT(streams_are(&s, "", "pbs_rsub: Host with resources not found: hB\n"));
	vnode_make(&v[4], &v[5], "hC", "hC", "many");
	streams_begin(&s);
	CU_ASSERT_EQUAL(hosts_count(&h, &v[0].status), 2);
	streams_end(&s);
	CU_ASSERT(streams_are(&s, "", "pbs_rsub: Attribute value error\n"));
	hosts_free(&h);
}

static void test_many_hosts(void)
{
	static char names[5000][16];
	static char *operands[5000];
	struct hosts h;

	for (int i = 0; i < 5000; i++) {
		snprintf(names[i], sizeof(names[i]), "random%d", (i * 7919) % 5000);
		operands[i] = names[i];
	}
	CU_ASSERT_EQUAL(hosts_take(&h, operands, 5000), 0);
	streams_begin(&s);
	CU_ASSERT_EQUAL(hosts_count(&h, NULL), 2);
	streams_end(&s);
	CU_ASSERT(streams_are(&s, "", "pbs_rsub: Host with resources not found: random0\n"));
	hosts_free(&h);
}

TESTS_MAIN_BETWEEN("pbs_rsub", set_up, NULL, TEST(test_values), TEST(test_illegal), TEST(test_refused), TEST(test_follows),
		   TEST(test_host_list), TEST(test_select), TEST(test_many_hosts))
