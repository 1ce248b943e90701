/* SPDX-License-Identifier: Apache-2.0
 *
 * test_store.c - the store as the kernel uses it: order, all or nothing (also over kill -9), errors.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "keel/keel.h"
#include "keel/mock.h"
#include "state.h"

extern const struct keel_module keel_module;

static char home[64];

static const struct keel_store_api *api;

/* One instance of the module in its mock. */
struct instance {
	struct keel_mock *mock;
	struct keel_mod *mod;
	struct state *state;
};

static void instance_init(struct instance *in)
{
	struct keel_err err = { 0 };

	in->mock = keel_mock_new(KEEL_SERVER);
	keel_mock_home(in->mock, home);
	in->mod = keel_mock_load(in->mock, &keel_module, "checkpoint_pages = 1000;", &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(in->mod);
	in->state = in->mod->state;
	api = keel_mock_group(in->mock, "store");
}

static void home_make(void)
{
	strcpy(home, "/tmp/keelson-store-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(home));
}

static void home_drop(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf '%s'", home);
	CU_ASSERT_EQUAL(system(command), 0);
}

static void start(struct instance *in)
{
	struct keel_err err = { 0 };

	instance_init(in);
	if (api->open(in->mod, &err) < 0)
		printf("\n%s\n", err.text);
	CU_ASSERT_EQUAL_FATAL(in->state->db != NULL, 1);
}

static void stop(struct instance *in)
{
	CU_ASSERT_EQUAL(keel_mock_free(in->mock), 0);
}

/* What load() returns, as "class/id=body ". */
static int32_t tell(void *arg, const char *klass, const char *id, const void *bytes, uint32_t len)
{
	char *text = arg;

	sprintf(text + strlen(text), "%s/%s=%.*s ", klass, id, (int)len, (const char *)bytes);
	return 0;
}

static const char *all(struct instance *in)
{
	static char text[4096];
	struct keel_err err = { 0 };

	text[0] = '\0';
	CU_ASSERT_EQUAL(api->load(in->mod, tell, text, &err), 0);
	return text;
}

static const char *blob(struct instance *in, const char *id, const char *name)
{
	static char text[64];
	struct keel_err err = { 0 };
	void *bytes = NULL;
	uint32_t len = 0;

	CU_ASSERT_EQUAL(api->read_blob(in->mod, "job", id, name, &bytes, &len, &err), 0);
	snprintf(text, sizeof(text), "%.*s", (int)len, bytes ? (char *)bytes : "");
	if (!bytes)
		strcpy(text, "(none)");
	free(bytes);
	return text;
}

#define PUT(klass, id, text) { klass, id, NULL, text, sizeof(text) - 1 }
#define BLOB(klass, id, name, text) { klass, id, name, text, sizeof(text) - 1 }
#define DROP(klass, id) { klass, id, NULL, NULL, 0 }
#define COMMIT(in, ...)                                                                            \
	do {                                                                                       \
		const struct keel_store_row rows_[] = { __VA_ARGS__ };                             \
		struct keel_err err_ = { 0 };                                                      \
		CU_ASSERT_EQUAL(api->commit((in)->mod, rows_, KEEL_COUNT(rows_), &err_), 0);      \
	} while (0)

static void order_of_creation(void)
{
	struct instance in;
	struct stat sb;
	char path[96];

	home_make();
	start(&in);
	CU_ASSERT_STRING_EQUAL(all(&in), "");
	COMMIT(&in, PUT("job", "9", "a"), PUT("queue", "q", "b"), PUT("job", "10", "c"),
	       BLOB("job", "9", "script", "#!"), BLOB("job", "10", "script", ""));
	COMMIT(&in, PUT("job", "9", "a2"), PUT("job", "1", "d"));
	COMMIT(&in, DROP("job", "10"), PUT("job", "10", "again"));
	CU_ASSERT_STRING_EQUAL(all(&in), "job/9=a2 queue/q=b job/1=d job/10=again ");
	CU_ASSERT_STRING_EQUAL(blob(&in, "9", "script"), "#!");
	CU_ASSERT_STRING_EQUAL(blob(&in, "10", "script"), "(none)"); /* deleted with its object */
	stop(&in);
	start(&in);
	CU_ASSERT_STRING_EQUAL(all(&in), "job/9=a2 queue/q=b job/1=d job/10=again ");
	snprintf(path, sizeof(path), "%s/server_priv/keelson.db", home);
	CU_ASSERT_EQUAL(stat(path, &sb), 0);
	CU_ASSERT_EQUAL(sb.st_mode & 07777, 0600);
	stop(&in);
	home_drop();
}

static void blobs(void)
{
	struct instance in;

	home_make();
	start(&in);
	COMMIT(&in, PUT("job", "1", "x"), BLOB("job", "1", "a", "one"), BLOB("job", "1", "b", ""));
	COMMIT(&in, BLOB("job", "1", "a", "two"));
	CU_ASSERT_STRING_EQUAL(blob(&in, "1", "a"), "two");
	CU_ASSERT_STRING_EQUAL(blob(&in, "1", "b"), ""); /* empty, but set */
	COMMIT(&in, { "job", "1", "a", NULL, 0 });
	CU_ASSERT_STRING_EQUAL(blob(&in, "1", "a"), "(none)");
	CU_ASSERT_STRING_EQUAL(blob(&in, "2", "a"), "(none)");
	stop(&in);
	home_drop();
}

static int32_t refuse(void *arg, const char *klass, const char *id, const void *bytes, uint32_t len)
{
	(void)klass, (void)id, (void)bytes, (void)len;
	return ++*(int *)arg == 2 ? -EPROTO : 0;
}

static void loading_stops(void)
{
	struct keel_err err = { 0 };
	struct instance in;
	int told = 0;

	home_make();
	start(&in);
	COMMIT(&in, PUT("job", "1", "x"), PUT("job", "2", "x"), PUT("job", "3", "x"));
	CU_ASSERT_EQUAL(api->load(in.mod, refuse, &told, &err), -EPROTO);
	CU_ASSERT_EQUAL(told, 2);
	stop(&in);
	home_drop();
}

/* ---- open() fails -------------------------------------------------------------------------- */

static void refused(int32_t code, const char *words)
{
	const struct keel_store_api *before = api; /* of another instance */
	struct keel_err err = { 0 };
	struct instance in;

	instance_init(&in);
	CU_ASSERT_EQUAL(api->open(in.mod, &err), code);
	if (!strstr(err.text, words))
		printf("\n%s\n", err.text);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, words));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, home));
	stop(&in);
	api = before;
}

static void file_with(const char *text)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/server_priv", home);
	mkdir(path, 0750);
	strcat(path, "/keelson.db");
	f = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fputs(text, f);
	fclose(f);
}

static void sql(const char *statements)
{
	char path[96];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/server_priv", home);
	mkdir(path, 0750);
	strcat(path, "/keelson.db");
	CU_ASSERT_EQUAL(sqlite3_open(path, &db), SQLITE_OK);
	CU_ASSERT_EQUAL(sqlite3_exec(db, statements, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void not_ours(void)
{
	char garbage[2048];

	home_make();
	memset(garbage, 'x', sizeof(garbage) - 1);
	garbage[sizeof(garbage) - 1] = '\0';
	file_with(garbage);
	refused(-EBADMSG, "no SQLite database");
	home_drop();
	home_make();
	sql("CREATE TABLE t(a)");
	refused(-EINVAL, "of another program");
	home_drop();
	home_make();
	sql("CREATE TABLE t(a); PRAGMA application_id = 1262832723; PRAGMA user_version = 2");
	refused(-EINVAL, "newer version");
	home_drop();
}

/* A file that open() refuses is unchanged. */
static void not_ours_stays_as_it_was(void)
{
	char path[96], before[8192], after[8192];
	size_t len;
	struct stat sb;
	FILE *f;

	home_make();
	sql("CREATE TABLE t(a)");
	snprintf(path, sizeof(path), "%s/server_priv/keelson.db", home);
	CU_ASSERT_EQUAL(chmod(path, 0644), 0);
	f = fopen(path, "r");
	len = fread(before, 1, sizeof(before), f);
	fclose(f);
	refused(-EINVAL, "of another program");
	CU_ASSERT_EQUAL(stat(path, &sb), 0);
	CU_ASSERT_EQUAL(sb.st_mode & 07777, 0644);
	f = fopen(path, "r");
	CU_ASSERT_EQUAL(fread(after, 1, sizeof(after), f), len);
	fclose(f);
	CU_ASSERT_EQUAL(memcmp(before, after, len), 0);
	strcat(path, "-wal");
	CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
	home_drop();
}

/* The modes of a database that other users could read are corrected, also of -wal and -shm. */
static void others_cannot_read(void)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	struct instance in;
	char path[96];
	struct stat sb;

	home_make();
	start(&in);
	COMMIT(&in, PUT("job", "1", "x"));
	stop(&in);
	snprintf(path, sizeof(path), "%s/server_priv/keelson.db", home);
	CU_ASSERT_EQUAL(chmod(path, 0644), 0);
	start(&in);
	COMMIT(&in, PUT("job", "2", "x"));
	for (size_t i = 0; i < KEEL_COUNT(ends); i++) {
		snprintf(path, sizeof(path), "%s/server_priv/keelson.db%s", home, ends[i]);
		CU_ASSERT_EQUAL(stat(path, &sb), 0);
		CU_ASSERT_EQUAL(sb.st_mode & 07777, 0600);
	}
	stop(&in);
	home_drop();
}

/* The file or its log is deleted or replaced under the running daemon: commits fail, so no lost row is acknowledged. */
static void taken_away(void)
{
	static const char *const ends[] = { "", "-wal" };

	for (size_t i = 0; i < KEEL_COUNT(ends); i++) {
		const struct keel_store_row row = PUT("job", "2", "y");
		struct keel_err err = { 0 };
		char path[96], aside[96];
		struct instance in;

		home_make();
		start(&in);
		COMMIT(&in, PUT("job", "1", "x"));
		snprintf(path, sizeof(path), "%s/server_priv/keelson.db%s", home, ends[i]);
		snprintf(aside, sizeof(aside), "%s/aside", home);
		CU_ASSERT_EQUAL(rename(path, aside), 0);
		CU_ASSERT_EQUAL(api->commit(in.mod, &row, 1, &err), -ESTALE);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, path));
		fclose(fopen(path, "w")); /* another one in its place */
		CU_ASSERT_EQUAL(api->commit(in.mod, &row, 1, &err), -ESTALE);
		CU_ASSERT_EQUAL(rename(aside, path), 0);
		CU_ASSERT_EQUAL(api->commit(in.mod, &row, 1, &err), 0);
		stop(&in);
		start(&in);
		CU_ASSERT_STRING_EQUAL(all(&in), "job/1=x job/2=y ");
		stop(&in);
		home_drop();
	}
}

static void bad_places(void)
{
	char path[96], to[96];

	home_make();
	snprintf(path, sizeof(path), "%s/server_priv", home);
	mkdir(path, 0750);
	chmod(path, 0770);
	refused(-EPERM, "others may write");
	chmod(path, 0750);
	snprintf(to, sizeof(to), "%s/elsewhere", home);
	strcat(path, "/keelson.db");
	CU_ASSERT_EQUAL(symlink(to, path), 0); /* not followed */
	refused(-ELOOP, "cannot open");
	home_drop();
	home_make();
	snprintf(path, sizeof(path), "%s/server_priv", home);
	fclose(fopen(path, "w"));
	refused(-ENOTDIR, "no directory");
	home_drop();
}

static void in_use(void)
{
	struct instance in;
	struct keel_err err = { 0 };
	char path[96], pid[32];
	sqlite3 *db;

	home_make();
	start(&in);
	snprintf(pid, sizeof(pid), "process %ld", (long)getpid());
	refused(-EBUSY, pid);
	CU_ASSERT_EQUAL(api->open(in.mod, &err), 0); /* the same instance again is no error */
	stop(&in);
	snprintf(path, sizeof(path), "%s/server_priv/keelson.db", home);
	CU_ASSERT_EQUAL(sqlite3_open(path, &db), SQLITE_OK);
	CU_ASSERT_EQUAL(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	refused(-EBUSY, "locked");
	sqlite3_close(db);
	start(&in);
	stop(&in);
	home_drop();
}

/* ---- failures while writing ---------------------------------------------------------------- */

static char big[200000];

static void set_up(void)
{
	memset(big, 'b', sizeof(big) - 1);
}

static void full(void)
{
	const struct keel_store_row rows[] = { PUT("job", "1", "new"), PUT("job", "2", big) };
	struct keel_err err = { 0 };
	struct instance in;

	home_make();
	start(&in);
	COMMIT(&in, PUT("job", "1", "old"));
	sqlite3_exec(in.state->db, "PRAGMA max_page_count = 20", NULL, NULL, NULL);
	CU_ASSERT_EQUAL(api->commit(in.mod, rows, 2, &err), -ENOSPC);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "keelson.db"));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "free space"));
	CU_ASSERT_STRING_EQUAL(all(&in), "job/1=old ");
	sqlite3_exec(in.state->db, "PRAGMA max_page_count = 100000", NULL, NULL, NULL);
	CU_ASSERT_EQUAL(api->commit(in.mod, rows, 2, &err), 0); /* the same batch later */
	COMMIT(&in, DROP("job", "2"));
	CU_ASSERT_STRING_EQUAL(all(&in), "job/1=new ");
	stop(&in);
	home_drop();
}

static void disk_fails(void)
{
	const struct keel_store_row rows[] = { PUT("job", "1", "new"), PUT("job", "2", big) };
	struct keel_err err = { 0 };
	struct rlimit before, small;
	struct instance in;

	home_make();
	start(&in);
	COMMIT(&in, PUT("job", "1", "old"));
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small = (struct rlimit){ 100000, before.rlim_max };
	setrlimit(RLIMIT_FSIZE, &small);
	CU_ASSERT_TRUE(api->commit(in.mod, rows, 2, &err) < 0);
	setrlimit(RLIMIT_FSIZE, &before);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cannot write"));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "; ")); /* followed by the advice */
	CU_ASSERT_STRING_EQUAL(all(&in), "job/1=old ");
	CU_ASSERT_EQUAL(api->commit(in.mod, rows, 2, &err), 0);
	stop(&in);
	home_drop();
}

/* ---- kill -9 ------------------------------------------------------------------------------- */

#define KILLS 12
#define ROWS 24

/* Each batch writes its number into every row and blob; after its commit the number goes to the parent. */
static void writer(int tell_fd, int from)
{
	struct keel_store_row rows[ROWS * 2];
	struct keel_err err = { 0 };
	char id[ROWS][16], body[1500];
	struct instance in;

	instance_init(&in);
	if (api->open(in.mod, &err) < 0)
		_exit(1);
	for (int batch = from;; batch++) {
		uint32_t len = (uint32_t)snprintf(body, sizeof(body), "%d", batch);

		for (int i = 0; i < ROWS; i++) {
			snprintf(id[i], sizeof(id[i]), "%d", i);
			rows[2 * i] = (struct keel_store_row){ "job", id[i], NULL, body, len };
			rows[2 * i + 1] = (struct keel_store_row){ "job", id[i], "s", body, len };
		}
		if (api->commit(in.mod, rows, ROWS * 2, &err) < 0 ||
		    write(tell_fd, &batch, sizeof(batch)) != sizeof(batch))
			_exit(1);
	}
}

struct census {
	int rows, batch, mixed;
};

static int32_t count(void *arg, const char *klass, const char *id, const void *bytes, uint32_t len)
{
	struct census *c = arg;
	char text[16];
	int batch;

	(void)klass, (void)id;
	snprintf(text, sizeof(text), "%.*s", (int)len, (const char *)bytes);
	batch = atoi(text);
	c->mixed += c->rows++ > 0 && batch != c->batch;
	c->batch = batch;
	return 0;
}

/* Lets it commit for a while, kills it in the middle, returns the last number that was acknowledged. */
static int kill_a_writer(int from, long run_us)
{
	struct timespec begin, now;
	int fd[2], durable = from - 1, batch, status;
	pid_t pid;

	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	pid = fork();
	if (pid == 0) {
		close(fd[0]);
		writer(fd[1], from);
	}
	close(fd[1]);
	CU_ASSERT_EQUAL(read(fd[0], &batch, sizeof(batch)), sizeof(batch));
	durable = batch;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do { /* at any moment: in the middle of a write as well as between two */
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 <
		 run_us);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	CU_ASSERT_TRUE(WIFSIGNALED(status));
	while (read(fd[0], &batch, sizeof(batch)) == sizeof(batch))
		durable = batch;
	close(fd[0]);
	return durable;
}

static void killed(void)
{
	struct keel_err err = { 0 };
	int next = 1;

	home_make();
	for (int i = 0; i < KILLS; i++) {
		int durable = kill_a_writer(next, 3000 + 7919L * i % 40000);
		struct census c = { 0 };
		struct instance in;
		char text[16];

		start(&in);
		CU_ASSERT_EQUAL(api->load(in.mod, count, &c, &err), 0);
		CU_ASSERT_EQUAL(c.rows, ROWS);
		CU_ASSERT_EQUAL(c.mixed, 0);
		/* All acknowledged batches are there; at most the one in progress may be there too. */
		CU_ASSERT_TRUE(c.batch == durable || c.batch == durable + 1);
		snprintf(text, sizeof(text), "%d", c.batch);
		CU_ASSERT_STRING_EQUAL(blob(&in, "0", "s"), text);
		CU_ASSERT_STRING_EQUAL(blob(&in, "23", "s"), text);
		next = c.batch + 1;
		stop(&in);
	}
	home_drop();
}

TESTS_MAIN_BETWEEN("store-sqlite", set_up, NULL, TEST(order_of_creation), TEST(blobs), TEST(loading_stops),
		   TEST(not_ours), TEST(not_ours_stays_as_it_was), TEST(others_cannot_read), TEST(taken_away), TEST(bad_places), TEST(in_use), TEST(full), TEST(disk_fails), TEST(killed))
