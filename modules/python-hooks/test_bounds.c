/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bounds.c - one more than what is allowed, of calls, processes, lines, questions, notes, records.
 */
#include "harness.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "test_process.h"

#define LINES 200	   /* outcome.c */
#define CHECKS 100	   /* check.c */
#define FILES 1000	   /* record.c */
#define UNDER_WAY 64	   /* record.c */
#define ANSWERS (4u << 20) /* record.c */

static struct going runs[WAITING_MAX + 10];
static uint32_t n_ends;
static struct result last;

static void done(struct run *r, struct result *result)
{
	(void)r;
	n_ends++;
	result_fini(&last);
	last = *result;
	*result = (struct result){ .how = ACCEPTED };
}

static struct ask *call(struct going *g, struct hook *h, const char *user)
{
	struct run *r = &g->run;
	struct pack event = { .data = NULL };
	uint32_t open = pack_open_map(&event);
	struct ask *a;

	pack_close(&event, open, 0);
	*g = (struct going){ .over = false };
	*r = (struct run){ .st = &st, .hook = h, .event = &events[*user ? EVENT_execjob_prologue : EVENT_queuejob] };
	snprintf(r->user, sizeof(r->user), "%s", user);
	a = pool_ask(r, &event, done);
	pack_fini(&event);
	return a;
}

static void begin(void)
{
	daemon_begin();
	n_ends = 0;
}

static void end(struct hook *h)
{
	hook_free(&st, h);
	daemon_end();
	result_fini(&last);
}

/* past modules/python-hooks/pool.h WAITING_MAX */
static void calls_that_wait(void)
{
	struct hook *h;

	begin();
	h = hook_make("h1");
	h->loading = true;
	for (uint32_t i = 0; i < WAITING_MAX; i++)
		CU_ASSERT_PTR_NOT_NULL(call(&runs[i], h, ""));
	CU_ASSERT_PTR_NULL(call(&runs[WAITING_MAX], h, ""));
	CU_ASSERT_EQUAL(n_ends, 0);
	end(h);
	CU_ASSERT_EQUAL(n_ends, WAITING_MAX);
}

/* past modules/python-hooks/pool.h PROCESSES_MAX: one that is idle makes room */
static void processes(void)
{
	struct hook *h;
	char user[16];

	begin();
	h = hook_make("h1");
	h->user = HOOK_OWNER;
	for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
		snprintf(user, sizeof(user), "u%u", i);
		call(&runs[i], h, user);
		comes_up(i);
		says_result(i, number_of(i, 0), "accept", NULL, false);
	}
	call(&runs[0], h, "another");
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(h->pool->n_processes, PROCESSES_MAX);
	CU_ASSERT_STRING_EQUAL(fakes.all[0].lost, "it is not needed any more");
	ends(0);
	keel_mock_advance(mock, 0);
	comes_up(PROCESSES_MAX);
	says_result(PROCESSES_MAX, number_of(PROCESSES_MAX, 0), "accept", NULL, false);
	CU_ASSERT_EQUAL(n_ends, PROCESSES_MAX + 1);
	end(h);
}

static void says_log(uint32_t n, uint32_t len)
{
	struct pack p = { .data = NULL };
	uint32_t open = pack_open_list(&p);
	char *text = calloc(1, len + 1);

	memset(text, 'x', len);
	pack_text(&p, "log");
	pack_int(&p, KEEL_LOG_DEBUG);
	pack_text(&p, "Hook");
	pack_text(&p, "h1");
	pack_text(&p, text);
	pack_close(&p, open, 5);
	says(n, &p);
	free(text);
}

/* past modules/python-hooks/pool.h LOGS_MAX */
static void lines_of_a_run(void)
{
	struct hook *h;

	begin();
	h = hook_make("h1");
	call(&runs[0], h, "");
	comes_up(0);
	for (uint32_t i = 0; i < LOGS_MAX; i++)
		says_log(0, 1);
	CU_ASSERT_PTR_NULL(keel_mock_logged(mock, "writes too much"));
	says_log(0, 1);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "its script writes too much: other lines of this run are dropped"));
	keel_mock_log_clear(mock);
	says_log(0, 1);
	CU_ASSERT_PTR_NULL(keel_mock_log(mock, 0));
	says_result(0, number_of(0, 0), "accept", NULL, false);
	call(&runs[0], h, "");
	says_log(0, 3);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "Hook;h1;xxx"));
	end(h);
}

/* past modules/python-hooks/pool.h LOG_BYTES_MAX */
static void bytes_of_a_run(void)
{
	struct hook *h;

	begin();
	h = hook_make("h1");
	call(&runs[0], h, "");
	comes_up(0);
	for (uint32_t i = 0; i < 8; i++)
		says_log(0, LOG_BYTES_MAX / 8);
	CU_ASSERT_PTR_NULL(keel_mock_logged(mock, "writes too much"));
	says_log(0, 1);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "writes too much"));
	end(h);
}

static void says_ask(uint32_t n, const char *id)
{
	struct pack p = { .data = NULL };
	uint32_t open = pack_open_list(&p);

	pack_text(&p, "ask");
	pack_text(&p, "object");
	pack_text(&p, "job");
	pack_text(&p, id);
	pack_close(&p, open, 4);
	says(n, &p);
}

/* past modules/python-hooks/pool.h QUESTIONS_MAX */
static void questions(void)
{
	struct hook *h;

	begin();
	server_start(&st, NULL);
	h = hook_make("h1");
	call(&runs[0], h, "");
	comes_up(0);
	fakes.all[0].deaf = true;
	for (uint32_t i = 0; i < QUESTIONS_MAX; i++)
		says_ask(0, "1.svr");
	CU_ASSERT_EQUAL(n_ends, 0);
	says_ask(0, "1.svr");
	CU_ASSERT(n_ends == 1 && last.how == EXCEPTION);
	ends(0);
	server_stop(&st);
	end(h);
}

/* past modules/python-hooks/pool.c ALARM_MAX: a number of seconds that is none in ms */
static void an_alarm(void)
{
	struct hook *h;

	begin();
	h = hook_make("h1");
	h->alarm = INT64_MAX;
	call(&runs[0], h, "");
	comes_up(0);
	CU_ASSERT_EQUAL(fakes.all[0].n_sent, 1);
	keel_mock_advance(mock, 1000000);
	CU_ASSERT_EQUAL(n_ends, 0);
	says_result(0, number_of(0, 0), "accept", NULL, false);
	CU_ASSERT_EQUAL(n_ends, 1);
	end(h);
}

static void checked(struct state *s, void *arg, const char *why)
{
	(void)s, (void)arg, (void)why;
	n_ends++;
}

/* past modules/python-hooks/check.c CHECKS_MAX */
static void checks(void)
{
	begin();
	for (int i = 0; i < CHECKS; i++)
		CU_ASSERT_EQUAL(pool_check(&st, "h1", "pass", 4, checked, NULL), 0);
	CU_ASSERT_EQUAL(pool_check(&st, "h1", "pass", 4, checked, NULL), -ENOMEM);
	CU_ASSERT_EQUAL(n_ends, 0);
	daemon_end();
}

/* past modules/python-hooks/folder.c DEPTH_MAX, past modules/python-hooks/folder.c PASSES_MAX is deeper than a path may be made
 * by anyone in the life of a process */
static void a_deep_folder(void)
{
	char path[128];
	struct hook *h;
	int fd, below;

	begin();
	h = hook_make("h1");
	call(&runs[0], h, "");
	comes_up(0);
	snprintf(path, sizeof(path), "%s", folder_path(h->pool->processes->folder));
	fd = open(path, O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 300; i++) {
		mkdirat(fd, "d", 0700);
		close(openat(fd, "f", O_CREAT | O_WRONLY, 0600));
		below = openat(fd, "d", O_RDONLY | O_DIRECTORY);
		close(fd);
		fd = below;
	}
	close(fd);
	end(h); /* nothing is left */
}

/* Where the daemon is no root its rights do not open them. */
static void locked_folders(void)
{
	struct hook *h;
	int top, below;

	begin();
	h = hook_make("h1");
	call(&runs[0], h, "");
	comes_up(0);
	top = open(folder_path(h->pool->processes->folder), O_RDONLY | O_DIRECTORY);
	CU_ASSERT_EQUAL(mkdirat(top, "d", 0700), 0);
	below = openat(top, "d", O_RDONLY | O_DIRECTORY);
	CU_ASSERT_EQUAL(mkdirat(below, "e", 0), 0);
	CU_ASSERT_EQUAL(fchmod(below, 0), 0);
	CU_ASSERT_EQUAL(fchmod(top, 0500), 0);
	close(below);
	close(top);
	end(h); /* nothing is left */
}

/* past modules/python-hooks/setup.c CONF_MAX: what is behind is not read */
static void a_long_pbs_conf(void)
{
	char path[] = "/tmp/keelson-hooks-conf.XXXXXX";
	struct value conf_map, v;
	FILE *f = fdopen(mkstemp(path), "w");

	fprintf(f, "FIRST = 1\n# NONE = 2\n");
	for (int i = 0; i < 65536 / 8; i++)
		fputs("#......\n", f);
	fputs("LAST=1\n", f);
	fclose(f);
	setenv("PBS_CONF_FILE", path, 1);
	begin();
	CU_ASSERT_TRUE(value_read(st.pools->conf.data, st.pools->conf.len, &conf_map));
	CU_ASSERT(value_find(&conf_map, "FIRST", &v) && value_is(&v, "1"));
	CU_ASSERT_FALSE(value_find(&conf_map, "NONE", &v));
	CU_ASSERT_FALSE(value_find(&conf_map, "LAST", &v));
	daemon_end();
	unsetenv("PBS_CONF_FILE");
	unlink(path);
}

/* ---- runs ---------------------------------------------------------------------------------------------------- */
/* past modules/python-hooks/run.h NOTES_MAX */
static void notes(void)
{
	struct keel_obj *job;
	struct hook *h;

	begin();
	job = keel_mock_object(mock, "job", "1.svr");
	h = hook_make("h1");
	h->events = UINT32_C(1) << EVENT_postqueuejob;
	h->loading = true;
	taps_follow(&st, h);
	for (uint32_t i = 0; i < NOTES_MAX; i++)
		keel_mock_raise(mock, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = "1.svr", .job = job), NULL);
	CU_ASSERT_EQUAL(st.runs->n_notes, NOTES_MAX);
	CU_ASSERT_PTR_NULL(keel_mock_logged(mock, "are passed over"));
	keel_mock_raise(mock, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = "1.svr", .job = job), NULL);
	CU_ASSERT_EQUAL(st.runs->n_notes, NOTES_MAX);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "10000 events wait for scripts; others are passed over"));
	end(h);
}

/* past modules/python-hooks/run.h NOTE_BYTES_MAX */
static void bytes_of_notes(void)
{
	struct keel_obj *job;
	struct hook *h;

	begin();
	job = keel_mock_object(mock, "job", "1.svr");
	h = hook_make("h1");
	h->events = UINT32_C(1) << EVENT_postqueuejob;
	h->loading = true;
	taps_follow(&st, h);
	keel_mock_raise(mock, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = "1.svr", .job = job), NULL);
	CU_ASSERT_EQUAL(st.runs->n_notes, 1);
	CU_ASSERT(st.runs->note_bytes > 0 && st.runs->note_bytes < 65536);
	st.runs->note_bytes += NOTE_BYTES_MAX;
	keel_mock_raise(mock, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = "1.svr", .job = job), NULL);
	CU_ASSERT_EQUAL(st.runs->n_notes, 1);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "1 events wait for scripts; others are passed over"));
	st.runs->note_bytes -= NOTE_BYTES_MAX;
	end(h);
}

/* past modules/python-hooks/outcome.c LINES_MAX */
static void a_long_traceback(void)
{
	char trace[3 * (LINES + 1) + 1] = "";
	struct result result = { .how = EXCEPTION, .text = trace, .trace = trace };
	struct going *g;
	struct hook *h;
	uint32_t n = 0;

	begin();
	h = hook_make("h1");
	g = run_new(&st, h, EVENT_queuejob);
	for (int i = 0; i < LINES + 1; i++)
		strcat(trace, "yz\n");
	result.text = NULL;
	run_ended(&g->run, &result);
	for (uint32_t i = 0; keel_mock_log(mock, i); i++)
		n += strcmp(keel_mock_log(mock, i), "Hook;h1;yz") == 0;
	CU_ASSERT_EQUAL(n, LINES);
	run_free(g);
	end(h);
}

static uint32_t files_in(const char *dir)
{
	char command[200];
	uint32_t n = 0;
	FILE *f;

	snprintf(command, sizeof(command), "ls %s | wc -l", dir);
	f = popen(command, "r");
	if (!f || fscanf(f, "%u", &n) != 1)
		abort();
	pclose(f);
	return n;
}

/* past modules/python-hooks/record.c FILES_MAX, past modules/python-hooks/record.c UNDER_WAY_MAX,
 * past modules/python-hooks/record.c ANSWERS_MAX: those beyond are dropped */
static void records(void)
{
	struct result result = { .how = ACCEPTED };
	struct pack event = { .data = NULL }, answer = { .data = NULL }, frame = { .data = NULL };
	char dir[128], command[200], *big = calloc(1, ANSWERS / 2);
	struct value question;
	struct going *g;
	struct hook *h;
	uint32_t open;

	begin();
	snprintf(dir, sizeof(dir), "%s/server_priv", home);
	mkdir(dir, 0700);
	snprintf(dir, sizeof(dir), "%s/server_priv/hooks/tmp", home);
	h = hook_make("h1");
	pack_nothing(&event);
	memset(big, 'x', ANSWERS / 2 - 1);
	pack_text(&answer, big);
	open = pack_open_list(&frame);
	pack_text(&frame, "ask");
	pack_text(&frame, "object");
	pack_close(&frame, open, 2);
	CU_ASSERT_TRUE(value_read(frame.data, frame.len, &question));
	for (uint32_t i = 0; i < UNDER_WAY + 1; i++) {
		g = run_new(&st, h, EVENT_queuejob);
		record_in(&g->run, &event);
		CU_ASSERT_EQUAL(g->record != NULL, i < UNDER_WAY);
		if (i == 0)
			for (int n = 0; n < 3; n++)
				record_answer(&g->run, &question, &answer);
		record_out(&g->run, &result);
		run_free(g);
	}
	keel_mock_advance(mock, 0);
	CU_ASSERT_EQUAL(files_in(dir), 2 * UNDER_WAY);
	for (uint32_t i = 0; i < FILES / 2; i++) {
		g = run_new(&st, h, EVENT_queuejob);
		record_in(&g->run, &event);
		record_out(&g->run, &result);
		run_free(g);
		keel_mock_advance(mock, 0);
	}
	CU_ASSERT_EQUAL(files_in(dir), FILES);
	pack_fini(&event);
	pack_fini(&answer);
	pack_fini(&frame);
	free(big);
	snprintf(command, sizeof(command), "rm -rf %s/server_priv", home);
	CU_ASSERT_EQUAL(system(command), 0);
	end(h);
}

static bool is_reason(uint32_t room, const char *said, const char *expected)
{
	const struct run r = { .name = "h", .event = &events[EVENT_queuejob] };
	char text[64], *copy = strdup(said), buf[64];
	const struct result result = { .how = REJECTED, .text = copy };

	snprintf(text, sizeof(text), "%s", expected);
	result_text(&r, &result, buf, room);
	free(copy);
	return strcmp(buf, text) == 0;
}

/* What a script says to a user: whole characters, nothing that a terminal obeys. */
static void a_reason(void)
{
	CU_ASSERT_TRUE(is_reason(64, "one\n\ttwo", "one\n\ttwo"));
	CU_ASSERT_TRUE(is_reason(64, "a\x1b[31m\r\x7f\b.", "a [31m   ."));
	CU_ASSERT_TRUE(is_reason(64, "\xc2\x9b\x9b\xc2", "   \xc2"));
	CU_ASSERT_TRUE(is_reason(64, "\xc3\xa9\xc4\x85\xe2\x82\xac", "\xc3\xa9\xc4\x85\xe2\x82\xac"));
	CU_ASSERT_TRUE(is_reason(8, "12345\xe2\x82\xac", "12345"));
	CU_ASSERT_TRUE(is_reason(9, "12345\xe2\x82\xac", "12345\xe2\x82\xac"));
	CU_ASSERT_TRUE(is_reason(1, "1", ""));
	CU_ASSERT_TRUE(is_reason(64, "", "queuejob request rejected by 'h'"));
}

TESTS_MAIN("bounds", TEST(calls_that_wait), TEST(bytes_of_notes), TEST(processes), TEST(lines_of_a_run), TEST(bytes_of_a_run), TEST(questions),
	   TEST(an_alarm), TEST(checks), TEST(a_deep_folder), TEST(locked_folders), TEST(a_long_pbs_conf), TEST(notes),
	   TEST(a_long_traceback), TEST(records), TEST(a_reason))
