/* SPDX-License-Identifier: Apache-2.0
 *
 * test_json.c - JSON of objects: types, escapes, one key once, always valid.
 */
#include <jansson.h>

#include "capture.h"
#include "json_show.h"

static char *document(const struct entry *rows)
{
	struct attrl list[64];
	struct json_show js;
	struct json_out j;
	struct capture c;
	struct show s;

	capture_begin(&c);
	CU_ASSERT_EQUAL(show_init(&s, &c.out, true), 0);
	json_show_init(&js, &j, &s);
	jout_begin(&j, &c.out);
	json_show_attributes(&js, entries(rows, list), NULL);
	jout_end(&j);
	json_show_fini(&js);
	show_fini(&s);
	return capture_end(&c);
}

static void is(const struct entry *rows, const char *expected)
{
	char *text = document(rows);

	if (strcmp(text, expected) != 0)
		fprintf(stderr, "\n got: %s|\nwant: %s|\n", text, expected);
	CU_ASSERT_STRING_EQUAL(text, expected);
	free(text);
}

static void test_layout(void)
{
	static const struct entry rows[] = {
		{ "Job_Name", NULL, "j1" },
		{ "Priority", NULL, "0" },
		{ "Rerunable", NULL, "True" },
		{ "ctime", NULL, "1795187626" },
		{ "Resource_List", "mem", "50mb" },
		{ "Resource_List", "ncpus", "1" },
		{ "Resource_List", "walltime", "00:10:00" },
		{ "Variable_List", NULL, "A=1,B=x y,C=a\\,b=c,D,E=" },
		{ NULL, NULL, NULL },
	};

	is(rows, "{\n\t\"Job_Name\":\t\"j1\",\n\t\"Priority\":\t0,\n\t\"Rerunable\":\t\"True\",\n"
		 "\t\"ctime\":\t\"Fri Nov 20 15:13:46 2026\",\n"
		 "\t\"Resource_List\":\t{\n\t\t\"mem\":\t\"50mb\",\n\t\t\"ncpus\":\t1,\n"
		 "\t\t\"walltime\":\t\"00:10:00\"\n\t},\n"
		 "\t\"Variable_List\":\t{\n\t\t\"A\":\t\"1\",\n\t\t\"B\":\t\"x y\",\n"
		 "\t\t\"C\":\t\"a,b=c\",\n\t\t\"D\":\t\"\",\n\t\t\"E\":\t\"\"\n\t}\n}\n");
	is((const struct entry[]){ { NULL, NULL, NULL } }, "{}\n");
}

static void test_types_are_fixed(void)
{
	static const struct entry rows[] = {
		{ "Job_Name", NULL, "10" },	{ "project", NULL, "1e3" },
		{ "Account_Name", NULL, "true" }, { "comment", NULL, "{}" },
		{ "run_count", NULL, "007" },	{ "Resource_List", "mem", "100" },
		{ NULL, NULL, NULL },
	};

	is(rows, "{\n\t\"Job_Name\":\t\"10\",\n\t\"project\":\t\"1e3\",\n"
		 "\t\"Account_Name\":\t\"true\",\n\t\"comment\":\t\"{}\",\n\t\"run_count\":\t7,\n"
		 "\t\"Resource_List\":\t{\n\t\t\"mem\":\t\"100\"\n\t}\n}\n");
}

/* What an attribute nobody knows becomes. */
static void test_guesses(void)
{
	static const char *const cases[][2] = {
		{ "10", "10" },	       { "0012", "12" },       { "1e3", "1000" },
		{ "-0", "0" },	       { "-5", "-5" },	       { "-007", "-7" },
		{ "1.50", "1.5" },     { "true", "true" },     { "null", "null" },
		{ "True", "\"True\"" }, { ".5", "\".5\"" },    { "5.", "\"5.\"" },
		{ "+5", "\"+5\"" },    { "-", "\"-\"" },       { "NaN", "\"NaN\"" },
		{ "1e999", "\"1e999\"" }, { "0x10", "\"0x10\"" }, { "4gb", "\"4gb\"" },
		{ "00:10:00", "\"00:10:00\"" }, { "", "\"\"" }, { "1 2", "\"1 2\"" },
		{ "[1,2]", "[1, 2]" }, { "[1,", "\"[1,\"" },   { "{\"a\":1}", "{\"a\": 1}" },
		{ "{\"a\":1,\"a\":2}", "\"{\\\"a\\\":1,\\\"a\\\":2}\"" },
		{ "\"x\"", "\"x\"" },  { "\"x", "\"\\\"x\"" },
		{ "12345678901234567890123", "12345678901234567890123" },
		{ "012345678901234567890123", "\"012345678901234567890123\"" },
		{ "[u:a=1]", "\"[u:a=1]\"" },
	};
	char expected[256];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct entry rows[] = { { "vendor_x", NULL, cases[i][0] }, { NULL, NULL, NULL } };

		snprintf(expected, sizeof(expected), "{\n\t\"vendor_x\":\t%s\n}\n", cases[i][1]);
		is(rows, expected);
	}
}

static void test_keys_come_once(void)
{
	static const struct entry rows[] = {
		{ "Resource_List", "ncpus", "1" },  { "queue", NULL, "q" },
		{ "Resource_List", "walltime", "1" }, { "max_run", NULL, "[u:a=1]" },
		{ "max_run", NULL, "[g:b=2]" },	    { "Variable_List", NULL, "A=1,A=2,,=x" },
		{ NULL, NULL, NULL },
	};

	is(rows, "{\n\t\"Resource_List\":\t{\n\t\t\"ncpus\":\t1,\n\t\t\"walltime\":\t\"1\"\n\t},\n"
		 "\t\"queue\":\t\"q\",\n\t\"max_run\":\t\"[u:a=1],[g:b=2]\",\n"
		 "\t\"Variable_List\":\t{\n\t\t\"A\":\t\"1\",\n\t\t\"\":\t\"x\"\n\t}\n}\n");
}

/* What the job sees: a backslash keeps the next character, quotes keep commas. */
static void test_variables_are_what_the_job_sees(void)
{
	static const struct entry rows[] = {
		{ "Variable_List", NULL,
		  "A=x\\\\,B=q\\\"u\\'o\\\\te\\,x,C='a,b\"',D=\"c,d'\",E=C:\\\\,F=end\\" },
		{ NULL, NULL, NULL },
	};

	is(rows, "{\n\t\"Variable_List\":\t{\n\t\t\"A\":\t\"x\\\\\",\n"
		 "\t\t\"B\":\t\"q\\\"u'o\\\\te,x\",\n\t\t\"C\":\t\"a,b\\\"\",\n"
		 "\t\t\"D\":\t\"c,d'\",\n\t\t\"E\":\t\"C:\\\\\",\n\t\t\"F\":\t\"end\\\\\"\n\t}\n}\n");
}

/* Names whose bytes are no UTF-8 are written alike: the first one counts. */
static void test_odd_names_are_written_once(void)
{
	static const struct entry rows[] = {
		{ "Variable_List", NULL, "A\xff=1,A\xfe=2,A\xef\xbf\xbd=3,A\xc3\xa9=4,A\xc3\xa9=5" },
		{ NULL, NULL, NULL },
	};

	is(rows, "{\n\t\"Variable_List\":\t{\n\t\t\"A\xef\xbf\xbd\":\t\"1\",\n"
		 "\t\t\"A\xc3\xa9\":\t\"4\"\n\t}\n}\n");
}

static void test_escapes(void)
{
	static const struct entry rows[] = {
		{ "comment", NULL, "q\" b\\ n\n t\t r\r f\f b\b e\x1b \x7f /" },
		{ "Job_Name", NULL, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "jobdir", NULL, "a\xff\xc3(\xe2\x82\xed\xa0\x80\xc0\xafz\xf4\x90\x80\x80" },
		{ NULL, NULL, NULL },
	};

	is(rows,
	   "{\n\t\"comment\":\t\"q\\\" b\\\\ n\\n t\\t r\\r f\\f b\\b e\\u001b \x7f /\",\n"
	   "\t\"Job_Name\":\t\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\",\n"
	   "\t\"jobdir\":\t\"a\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
	   "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz"
	   "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n}\n");
}

/* Any bytes in any place: the document parses, without a key twice. */
static void test_any_bytes(void)
{
	static const char *const names[] = { "vendor", "Job_Name", "Priority", "Variable_List" };
	static const char alphabet[] = "{}[]\",:\\0123456789.eE+-truefalsn\n\x01\x80\xc3\xa9\xf0 =";
	char value[24];
	unsigned state = 12345;
	json_error_t why;
	json_t *parsed;
	char *text;
	size_t i, len;
	int round;

	for (round = 0; round < 20000; round++) {
		struct entry rows[] = {
			{ names[round % 4], NULL, value }, { "group", value, value },
			{ NULL, NULL, NULL },
		};

		state = state * 1103515245u + 12345u;
		len = (state >> 16) % (sizeof(value) - 1);
		for (i = 0; i < len; i++) {
			state = state * 1103515245u + 12345u;
			value[i] = alphabet[(state >> 16) % (sizeof(alphabet) - 1)];
		}
		value[len] = '\0';
		text = document(rows);
		parsed = json_loads(text, JSON_REJECT_DUPLICATES, &why);
		if (!parsed)
			fprintf(stderr, "\n%s\n%s\n", why.text, text);
		CU_ASSERT_PTR_NOT_NULL(parsed);
		json_decref(parsed);
		free(text);
	}
}

static void test_names(void)
{
	struct names s;
	char name[16];
	int i;

	names_init(&s, true);
	for (i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		CU_ASSERT_EQUAL(names_add(&s, name, strlen(name)), 1);
	}
	CU_ASSERT_EQUAL(names_add(&s, "4999", 4), 0);
	CU_ASSERT_EQUAL(names_add(&s, "", 0), 1);
	CU_ASSERT_EQUAL(names_add(&s, "", 0), 0);
	names_clear(&s);
	CU_ASSERT_EQUAL(names_add(&s, "4999", 4), 1);
	names_fini(&s);
}

TESTS_MAIN_BETWEEN("json", in_utc, NULL, TEST(test_layout), TEST(test_types_are_fixed), TEST(test_guesses),
		   TEST(test_keys_come_once), TEST(test_variables_are_what_the_job_sees),
		   TEST(test_odd_names_are_written_once), TEST(test_escapes), TEST(test_any_bytes),
		   TEST(test_names))
