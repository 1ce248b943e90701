/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pbs_rstat.c - how reservations are printed: table, full text, lines for a login, calendar.
 */
#include "capture.h"
#include "resv.h"
#include "rstat.h"
#include "streams.h"

#define NOW 1795188393 /* Fri Nov 20 15:26:33 2026 UTC */

static const struct entry ordinary[] = {
	{ "Reserve_Name", NULL, "my;res" },
	{ "reserve_state", NULL, "2" },
	{ "reserve_start", NULL, "1795188420" },
	{ "reserve_end", NULL, "1795188480" },
	{ "reserve_duration", NULL, "60" },
	{ "queue", NULL, "R1" },
	{ "Resource_List", "place", "free" },
	{ "Resource_List", "select", "1:ncpus=2" },
	{ "Authorized_Users", NULL, "pbsuser@HOST" },
	{ "ctime", NULL, "1793664000" },
	{ "mtime", NULL, "1795188395" },
	{ "reserve_standing", NULL, "0" },
	{ "reserve_timezone", NULL, "UTC" },
	{ "reserve_execvnodes", NULL, "1#x" },
	{ "Variable_List", NULL, "A=1\nB=2" },
	{ NULL, NULL, NULL },
};
static const struct entry window[] = {
	{ "Reserve_Name", NULL, "disks" },
	{ "reserve_state", NULL, "2" },
	{ "reserve_start", NULL, "1795190400" },
	{ "reserve_end", NULL, "1795276800" },
	{ "ctime", NULL, "1795188000" },
	{ "Resource_List", "select", "host=hA:ncpus=4+host=hB.example.com:ncpus=4" },
	{ NULL, NULL, NULL },
};

static struct batch_status made(const char *name, const struct entry *rows, struct attrl *list)
{
	return (struct batch_status){ .name = (char *)name, .attribs = entries(rows, list) };
}

static void set_up(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
}

static void time_is(int64_t when, const char *expected)
{
	char text[RSTAT_TIME_SIZE];

	CU_ASSERT_STRING_EQUAL(rstat_time(when, NOW, text), expected);
}

static void test_times(void)
{
	char text[RSTAT_TIME_SIZE];

	time_is(NOW, "Today 15:26");
	time_is(NOW - 15 * 3600, "Today 00:26");
	time_is(NOW + 86400, "Sat 15:26");
	time_is(NOW + 2 * 86400, "Sun Nov 22 15:26"); /* weeks begin on Sunday */
	time_is(NOW - 5 * 86400, "Sun 15:26");
	time_is(NOW - 6 * 86400, "Sat Nov 14 15:26");
	time_is(NOW + 157680000, "Wed Nov 19 2031 15:26");
	time_is(NOW + 365 * 86400, "Sat Nov 20 2027 15:26");
	/* Thu Dec 31 2026, and the Friday after it */
	CU_ASSERT_STRING_EQUAL(rstat_time(1798761600, 1798722000, text), "Fri 00:00");
	CU_ASSERT_STRING_EQUAL(rstat_time(INT64_MAX, NOW, text), "9223372036854775807");
}

static void test_table(void)
{
	struct rstat r = { .now = NOW };
	struct attrl list[16];
	struct batch_status resv = made("R1.HOST", ordinary, list);
	struct streams s;

	streams_begin(&s);
	rstat_table(&r, &resv);
	list[1].value = (char *)"5";
	list[3].value = (char *)"1952868420";
	list[4].value = (char *)"157680000";
	rstat_table(&r, &resv);
	streams_end(&s);
	CU_ASSERT(streams_are(&s,
			      "Resv ID    Queue    User     State             Start / Duration / End              \n"
			      "---------------------------------------------------------------------\n"
			      "R1.HOST    R1       pbsuser@ CO          Today 15:27 / 60 / Today 15:28      \n"
			      "R1.HOST    R1       pbsuser@ RN          Today 15:27 / 157680000 / Wed Nov 19 2031 1\n",
			      ""));
	r = (struct rstat){ .now = NOW, .long_ids = true };
	resv.name = (char *)"R123456789.a-server";
	streams_begin(&s);
	rstat_table(&r, &resv);
	streams_end(&s);
	CU_ASSERT(strstr(s.text[0], "\n" "R123456789.a-se R1            pbsuser@ RN          Today 15:27 / ") != NULL);
	CU_ASSERT_EQUAL(strspn(strchr(s.text[0], '\n') + 1, "-"), 79);
}

static void test_full(void)
{
	struct rstat r = { .now = NOW };
	struct attrl list[16];
	struct batch_status resv = made("R1.HOST", ordinary, list);
	struct streams s;

	streams_begin(&s);
	rstat_full(&r, &resv);
	rstat_brief(&r, &resv);
	streams_end(&s);
	CU_ASSERT(streams_are(&s,
			      "Resv ID: R1.HOST\nReserve_Name = my;res\nreserve_state = RESV_CONFIRMED\n"
			      "reserve_start = Fri Nov 20 15:27:00 2026\nreserve_end = Fri Nov 20 15:28:00 2026\n"
			      "reserve_duration = 60\nqueue = R1\nResource_List.select = 1:ncpus=2\nResource_List.place = free\n"
			      "Authorized_Users = pbsuser@HOST\nctime = Tue Nov 03 00:00:00 2026\n"
			      "mtime = Fri Nov 20 15:26:35 2026\nVariable_List = A=1 B=2\n\nResv ID: R1.HOST\n",
			      ""));
}

static void test_states(void)
{
	CU_ASSERT_STRING_EQUAL(resv_state_letters("12"), "IC");
	CU_ASSERT_STRING_EQUAL(resv_state_name("12"), "RESV_IN_CONFLICT");
	CU_ASSERT_STRING_EQUAL(resv_state_name("10"), "RESV_DEGRADED");
	CU_ASSERT_STRING_EQUAL(resv_state_letters("0"), "NO");
	CU_ASSERT_STRING_EQUAL(resv_state_name("13"), "13");
	CU_ASSERT_STRING_EQUAL(resv_state_name("-1"), "-1");
	CU_ASSERT_STRING_EQUAL(resv_state_letters("RESV_RUNNING"), "RESV_RUNNING");
	CU_ASSERT_STRING_EQUAL(resv_state_name(""), "");
}

static void motd_is(const struct batch_status *resv, int64_t now, const char *expected)
{
	struct rstat r = { .now = now };
	struct streams s;

	streams_begin(&s);
	rstat_motd(&r, resv);
	streams_end(&s);
	CU_ASSERT(streams_are(&s, expected, ""));
}

static void test_motd(void)
{
	struct attrl list[16], other[16];
	struct batch_status resv = made("M5.svr", window, list), plain = made("R1.HOST", ordinary, other);

	motd_is(&resv, NOW, "Maintenance of hA, hB.example.com is planned from Fri Nov 20 2026 16:00 UTC until "
			    "Sat Nov 21 2026 16:00 UTC (M5.svr, disks).\n");
	motd_is(&resv, 1795190400, "Maintenance of hA, hB.example.com is under way until Sat Nov 21 2026 16:00 UTC (M5.svr, disks).\n");
	motd_is(&resv, 1795276800, "");
	motd_is(&resv, 1795190400 - 7 * 86400 - 1, "");
	motd_is(&plain, NOW, "");
	list[0].value = (char *)"NULL";
	list[1].value = (char *)"7";
	motd_is(&resv, NOW, "");
	list[1].value = (char *)"5";
	list[5].value = (char *)"host=1:ncpus=1+host=2:ncpus=1+host=3:ncpus=1+host=4:ncpus=1+host=5+host=6+host=7+host=8+host=9+host=10";
	motd_is(&resv, 1795190400, "Maintenance of 1, 2, 3, 4, 5, 6, 7, 8 and 2 more is under way until Sat Nov 21 2026 16:00 UTC (M5.svr).\n");
}

static void take(void *arg, const char *bytes, size_t n)
{
	char *text = arg;
	size_t len = strlen(text);

	memcpy(text + len, bytes, n);
	text[len + n] = '\0';
}

/* Every line has at most 75 octets, and what is joined is what was folded. */
static void folds(const char *line)
{
	char text[4096] = "", joined[4096] = "";

	rstat_fold(line, take, text);
	for (char *at = text; *at; at = strstr(at, "\r\n") + 2) {
		size_t n = (size_t)(strstr(at, "\r\n") - at);

		CU_ASSERT(n <= 75);
		CU_ASSERT(at == text || *at == ' ');
		CU_ASSERT(((unsigned char)at[at == text ? 0 : 1] & 0xc0) != 0x80);
		take(joined, at + (at != text), n - (at != text));
	}
	CU_ASSERT_STRING_EQUAL(joined, line);
}

static void test_fold(void)
{
	char line[1000];

	folds("");
	for (size_t n = 73; n < 230; n++) {
		memset(line, 'x', n);
		line[n] = '\0';
		folds(line);
	}
	for (size_t shift = 0; shift < 4; shift++) { /* of two, three, four octets each */
		memset(line, 'x', shift);
		line[shift] = '\0';
		for (int i = 0; i < 40; i++)
			strcat(line, i % 3 == 0 ? "\xc3\xa9" : i % 3 == 1 ? "\xe2\x82\xac" : "\xf0\x9f\x94\xa7");
		folds(line);
	}
}

static void test_escape(void)
{
	char *text = rstat_escape("a,b;c\\d\ne\rf\x01");

	CU_ASSERT_STRING_EQUAL(text, "a\\,b\\;c\\\\d\\ne f ");
	free(text);
}

static void test_calendar(void)
{
	struct rstat r = { .now = NOW };
	struct attrl list[16], other[16];
	struct batch_status resv = made("M5.svr", window, list), plain = made("R1.HOST", ordinary, other);
	struct streams s;

	streams_begin(&s);
	rstat_calendar_begin();
	rstat_event(&r, &resv);
	rstat_event(&r, &plain);
	rstat_calendar_end();
	streams_end(&s);
	CU_ASSERT_PTR_NOT_NULL(strstr(s.text[0], "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Keelson//pbs_rstat "));
	CU_ASSERT_PTR_NOT_NULL(strstr(s.text[0],
				      "BEGIN:VEVENT\r\nUID:M5.svr-1795188000\r\nDTSTAMP:20261120T152633Z\r\nDTSTART:20261120T160000Z\r\n"
				      "DTEND:20261121T160000Z\r\nSUMMARY:Maintenance (disks): hA\\, hB.example.com\r\nSTATUS:CONFIRMED\r\n"
				      "END:VEVENT\r\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(s.text[0], "SUMMARY:Reservation R1.HOST (my\\;res)\r\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(s.text[0], "END:VEVENT\r\nEND:VCALENDAR\r\n"));
}

TESTS_MAIN_BETWEEN("pbs_rstat", set_up, NULL, TEST(test_times), TEST(test_table), TEST(test_full), TEST(test_states),
		   TEST(test_motd), TEST(test_fold), TEST(test_escape), TEST(test_calendar))
