/* SPDX-License-Identifier: Apache-2.0
 *
 * test_store.c - turns become transactions, answers wait for them; with a store in memory whose
 * commits can be held up and made to fail.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "harness.h"
#include "log/log.h"
#include "loop/loop.h"
#include "msg/msg.h"
#include "no_memory.h"
#include "object/objects.h"
#include "registry/registry.h"
#include "store/store.h"
#include "util/err.h"

/* ---- a store in memory --------------------------------------------------------------------- */

/* Shared with the worker thread, under `lock`. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	bool held;         /* commits wait */
	unsigned failing;  /* commits still to fail */
	int32_t failing_with;
	unsigned commits, tries;
	char rows[8192];   /* "job/1=4 job/1.script=9 -job/2 |": one bar per transaction */
	char stored[64];   /* what read_blob finds */
	const void *blob;  /* where the bytes of the last one were */
	const char *owner, *former, *job; /* rows that load finds; NULL: it does not */
	bool damaged, old; /* the rows that load finds: one is damaged; some are of an older version */
	struct loop *loop; /* woken by each try */
} disk = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0, 0, 0, 0, "", "", NULL,
	   NULL, NULL, NULL, false, false, NULL };

static void woken(void *arg)
{
	(void)arg;
}

static int32_t disk_open(struct keel_mod *m, struct keel_err *err)
{
	(void)m, (void)err;
	return 0;
}

static int32_t disk_load(struct keel_mod *m,
			 int32_t (*row)(void *arg, const char *klass, const char *id,
					const void *bytes, uint32_t len),
			 void *arg, struct keel_err *err)
{
	int32_t rc = row(arg, "job", disk.job ? disk.job : "loaded", "\x81\xa1n\x05", 4);

	if (rc == 0 && disk.former)
		rc = row(arg, "keel_former", disk.former, "\x80", 1);
	if (rc == 0 && disk.owner)
		rc = row(arg, "daemon", disk.owner, "\x81\xa1m\x07", 4);
	(void)m, (void)err;
	for (int i = 0; i < 3 && rc == 0 && disk.old; i++)
		rc = row(arg, "keel_hold", (const char *[]){ "job/1/waits/a", "job/1/waits/b", "job/2/waits/a" }[i],
			 "\x81\xa3why\xa1x", 7);
	if (rc == 0 && disk.old)
		rc = row(arg, "unheard", "1", "\x81\xa1n\x05", 4);
	return rc == 0 && disk.damaged ? row(arg, "job", "broken", "\x81\xa1n", 3) : rc;
}

static int32_t disk_commit(struct keel_mod *m, const struct keel_store_row *rows, uint32_t n,
			   struct keel_err *err)
{
	char *at;
	int32_t rc = 0;

	(void)m;
	pthread_mutex_lock(&disk.lock);
	disk.tries++;
	pthread_cond_broadcast(&disk.moved);
	(void)loop_post(disk.loop, woken, NULL);
	while (disk.held)
		pthread_cond_wait(&disk.moved, &disk.lock);
	if (disk.failing > 0) {
		disk.failing--;
		rc = err_set(err, disk.failing_with, "the disk is full");
	}
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		at = disk.rows + strlen(disk.rows);
		sprintf(at, "%s%s/%s%s%s ", rows[i].bytes ? "" : "-", rows[i].klass, rows[i].id,
			rows[i].blob ? "." : "", rows[i].blob ? rows[i].blob : "");
		if (rows[i].blob)
			disk.blob = rows[i].bytes;
	}
	if (rc == 0) {
		strcat(disk.rows, "|");
		disk.commits++;
	}
	pthread_mutex_unlock(&disk.lock);
	return rc;
}

static int32_t disk_read(struct keel_mod *m, const char *klass, const char *id, const char *name,
			 void **ret_bytes, uint32_t *ret_len, struct keel_err *err)
{
	int32_t rc = 0;

	(void)m, (void)klass, (void)id;
	*ret_bytes = NULL;
	*ret_len = 0;
	if (strcmp(name, "bad") == 0)
		return err_set(err, -EIO, "the disk is gone");
	pthread_mutex_lock(&disk.lock);
	if (disk.stored[0]) {
		*ret_bytes = strdup(disk.stored);
		*ret_len = (uint32_t)strlen(disk.stored);
		rc = *ret_bytes ? 0 : -ENOMEM;
	}
	pthread_mutex_unlock(&disk.lock);
	return rc;
}

static const struct keel_store_api disk_api = { .size = sizeof(disk_api),
						.open = disk_open,
						.load = disk_load,
						.commit = disk_commit,
						.read_blob = disk_read };
static const struct keel_service_def disk_service = { sizeof(disk_service), 0, "store", "",
						      &disk_api };

static void disk_hold(bool held)
{
	pthread_mutex_lock(&disk.lock);
	disk.held = held;
	pthread_cond_broadcast(&disk.moved);
	pthread_mutex_unlock(&disk.lock);
}

/* Until the worker has tried `n` commits. */
static void disk_tried(unsigned n)
{
	pthread_mutex_lock(&disk.lock);
	while (disk.tries < n)
		pthread_cond_wait(&disk.moved, &disk.lock);
	pthread_mutex_unlock(&disk.lock);
}

static const char *disk_rows(void)
{
	static char rows[8192];

	pthread_mutex_lock(&disk.lock);
	strcpy(rows, disk.rows);
	pthread_mutex_unlock(&disk.lock);
	return rows;
}

/* ---- a kernel ------------------------------------------------------------------------------ */

static struct kernel {
	struct parts parts;
	struct owner owner;
	struct keel_mod *mod;
	const struct keel_object_api *object;
	const struct keel_blob_api *blob;
	const struct keel_attr *n;
	char dir[64];
	char told[256]; /* by waiters and reads, in order */
} k;

static const struct keel_class_def job_class = { sizeof(job_class), KEEL_CLASS_SAVE | KEEL_CLASS_SUFFIX, "job", "", 0, 0 };
static const struct keel_class_def daemon_class = { sizeof(daemon_class), KEEL_CLASS_SAVE | KEEL_CLASS_DAEMON, "daemon", "", 0,
						    0 };
static const struct keel_attr_def m_attr = KEEL_ATTR_DEF("daemon", "m", "long", .flags = KEEL_ATTR_SAVE);
static const struct keel_attr_def n_attr =
	KEEL_ATTR_DEF("job", "n", "long", .flags = KEEL_ATTR_SAVE, .read_roles = KEEL_EVERYBODY);

static void kernel_create(void)
{
	struct keel_err err = { 0 };

	memset(&k, 0, sizeof(k));
	strcpy(k.dir, "/tmp/keelson-front-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(k.dir));
	disk.held = disk.damaged = disk.old = false;
	disk.owner = disk.former = disk.job = NULL;
	disk.failing = disk.commits = disk.tries = 0;
	disk.failing_with = -ENOSPC;
	disk.rows[0] = disk.stored[0] = '\0';
	k.parts.server_name = k.parts.daemon_name = (char *)"test";
	k.owner = (struct owner){ .pub.name = "testmod", .parts = &k.parts };
	k.mod = &k.owner.pub;
	CU_ASSERT_FATAL(loop_create(&k.parts.loop) == 0);
	disk.loop = k.parts.loop;
	CU_ASSERT_FATAL(log_open(k.parts.loop, k.dir, "test", 0xffff, false, &k.parts.log, &err) ==
			0);
	CU_ASSERT_FATAL(registry_create(&k.parts.registry) == 0);
	CU_ASSERT_FATAL(store_create(&k.parts, &k.parts.store) == 0);
	CU_ASSERT_FATAL(objects_create(k.parts.registry, store_dirty, k.parts.store,
				       &k.parts.objects) == 0);
	k.object = registry_service(k.parts.registry, "object", 0, NULL, NULL);
	k.blob = registry_service(k.parts.registry, "blob", 0, NULL, NULL);
}

static void kernel_rows(bool with_store)
{
	const struct keel_contrib rows[] = { KEEL_ROW(CLASS, job_class),
					     KEEL_ROW(ATTR, n_attr),
					     KEEL_ROW(CLASS, daemon_class),
					     KEEL_ROW(ATTR, m_attr),
					     KEEL_ROW(SERVICE, disk_service) };

	CU_ASSERT_FATAL(registry_add(k.parts.registry, &k.owner, rows, with_store ? 5 : 4, NULL) == 0);
	k.n = k.object->attr(k.mod, "job", "n");
}

static void kernel_start(bool with_store)
{
	struct keel_err err = { 0 };

	kernel_create();
	kernel_rows(with_store);
	CU_ASSERT_EQUAL(store_use(k.parts.store, &err), 0);
}

static bool idle(void *arg)
{
	(void)arg;
	return store_idle(k.parts.store);
}

/* The allocation that fails may be that of its own timer. */
static int run_until(bool (*done)(void *arg), void *arg)
{
	int rc = loop_run_until(k.parts.loop, done, arg, DEADLINE_MS);

	return rc == -ENOMEM ? loop_run_until(k.parts.loop, done, arg, DEADLINE_MS) : rc;
}

static void settle(void)
{
	CU_ASSERT_EQUAL(run_until(idle, NULL), 0);
}

static void kernel_drop(void)
{
	char command[96];

	objects_destroy(k.parts.objects);
	registry_destroy(k.parts.registry);
	log_close(k.parts.log);
	loop_destroy(k.parts.loop);
	snprintf(command, sizeof(command), "rm -rf '%s'", k.dir);
	CU_ASSERT_EQUAL(system(command), 0);
}

static void kernel_stop(void)
{
	settle();
	store_close(k.parts.store);
	registry_remove(k.parts.registry, &k.owner);
	CU_ASSERT_EQUAL(k.owner.live, 0);
	store_destroy(k.parts.store);
	kernel_drop();
}

static void note(void *arg)
{
	strcat(k.told, arg);
}

static void after(const char *word)
{
	CU_ASSERT_EQUAL(store_after(k.parts.store, note, (void *)(uintptr_t)word), 0);
}

static bool told(void *arg)
{
	return strcmp(k.told, arg) == 0;
}

static void wait_told(const char *words)
{
	if (run_until(told, (void *)(uintptr_t)words))
		printf("\ntold '%s', not '%s'\n", k.told, words);
	CU_ASSERT_STRING_EQUAL(k.told, words);
}

static struct keel_obj *job(const char *id)
{
	struct keel_obj *o = k.object->draft(k.mod, "job", id, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	CU_ASSERT_EQUAL_FATAL(k.object->publish(o), 0);
	return o;
}

static void got(struct keel_mod *m, void *arg, const void *bytes, uint32_t len)
{
	(void)arg;
	CU_ASSERT_PTR_EQUAL(m, k.mod);
	if (!bytes && len)
		sprintf(k.told + strlen(k.told), "[%s]", strerrorname_np((int)len));
	else
		sprintf(k.told + strlen(k.told), "[%.*s]", bytes ? (int)len : 4, bytes ? (const char *)bytes : "none");
}

static void get(const char *id, const char *name)
{
	CU_ASSERT_EQUAL(k.blob->get(k.mod, "job", id, name, got, NULL), 0);
}

/* ---- tests --------------------------------------------------------------------------------- */

static void without_a_store(void)
{
	kernel_start(false);
	CU_ASSERT_EQUAL(k.blob->put(job("1"), "s", "x", 1), 0);
	after("a");
	k.object->destroy(k.object->find(k.mod, "job", "1"));
	wait_told("a");
	get("1", "s");
	wait_told("a[none]");
	CU_ASSERT_PTR_NULL(store_trouble(k.parts.store));
	kernel_stop();
}

static void one_turn_one_transaction(void)
{
	kernel_start(true);
	CU_ASSERT_EQUAL(k.object->get_int(k.object->find(k.mod, "job", "loaded"), k.n), 5);
	after("z");
	wait_told("z");
	CU_ASSERT_STRING_EQUAL(disk_rows(), "");
	k.object->set_int(job("1"), k.n, 4);
	job("2");
	after("a");
	job("3");
	after("b");
	CU_ASSERT_FALSE(store_idle(k.parts.store));
	wait_told("zab");
	CU_ASSERT_STRING_EQUAL(disk_rows(), "job/1 job/2 job/3 |");
	CU_ASSERT_TRUE(store_idle(k.parts.store));
	kernel_stop();
}

static bool tried_one(void *arg)
{
	bool yes;

	pthread_mutex_lock(&disk.lock);
	yes = disk.tries >= *(unsigned *)arg;
	pthread_mutex_unlock(&disk.lock);
	return yes;
}

/* The batch is with the worker, which holds it. */
static void under_way(unsigned tries)
{
	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, tried_one, &tries, DEADLINE_MS), 0);
	disk_tried(tries);
}

static void gathering_while_writing(void)
{
	kernel_start(true);
	disk_hold(true);
	job("1");
	after("a");
	under_way(1);
	after("b"); /* all it saw is in that batch */
	job("2");
	after("c");
	job("3");
	after("d");
	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, never, NULL, 20), -ETIMEDOUT);
	CU_ASSERT_STRING_EQUAL(k.told, "");
	disk_hold(false);
	wait_told("abcd");
	CU_ASSERT_STRING_EQUAL(disk_rows(), "job/1 |job/2 job/3 |");
	kernel_stop();
}

static void the_copy_is_of_its_turn(void)
{
	struct keel_obj *o;

	kernel_start(true);
	disk_hold(true);
	o = job("1");
	under_way(1);
	k.object->set_int(o, k.n, 9); /* changed, and gone, while it is being written */
	k.object->destroy(o);
	job("1");
	disk_hold(false);
	after("a");
	wait_told("a");
	CU_ASSERT_STRING_EQUAL(disk_rows(), "job/1 |-job/1 job/1 |");
	kernel_stop();
}

static void never_stored_never_deleted(void)
{
	kernel_start(true);
	k.object->destroy(job("1"));
	after("a");
	wait_told("a");
	CU_ASSERT_STRING_EQUAL(disk_rows(), "");
	kernel_stop();
}

static void blobs_go_with_their_object(void)
{
	struct keel_obj *o, *draft, *dropped;

	kernel_start(true);
	draft = k.object->draft(k.mod, "job", "1", NULL);
	dropped = k.object->draft(k.mod, "job", "2", NULL);
	CU_ASSERT_EQUAL(k.blob->put(draft, "script", "abc", 3), 0);
	CU_ASSERT_EQUAL(k.blob->put(dropped, "script", "abc", 3), 0);
	CU_ASSERT_EQUAL(k.blob->put(draft, "", "abc", 3), -EINVAL);
	CU_ASSERT_EQUAL(k.blob->put(draft, "script", "abc", 1u + INT32_MAX), -EINVAL); /* past kernel/store/blob.c BLOB_MAX */
	k.object->destroy(dropped);
	after("a");
	wait_told("a");
	CU_ASSERT_STRING_EQUAL(disk_rows(), "");
	CU_ASSERT_TRUE(store_idle(k.parts.store));
	k.object->publish(draft);
	after("b");
	wait_told("ab");
	CU_ASSERT_STRING_EQUAL(disk_rows(), "job/1 job/1.script |");
	o = job("3");
	CU_ASSERT_EQUAL(k.blob->put(o, "script", "abc", 3), 0);
	k.object->destroy(o);
	CU_ASSERT_EQUAL(k.blob->put(o, "script", "abc", 3), -EINVAL);
	k.blob->put(draft, "script", NULL, 0);
	after("c");
	wait_told("abc");
	CU_ASSERT_STRING_EQUAL(disk_rows(), "job/1 job/1.script |-job/1.script |");
	kernel_stop();
}

static void reads_see_what_is_on_its_way(void)
{
	struct keel_obj *o;
	uint32_t live;

	kernel_start(true);
	disk_hold(true);
	o = job("1");
	k.blob->put(o, "s", "one", 3);
	get("1", "s");
	under_way(1);
	wait_told("[one]");
	get("1", "s"); /* with the worker */
	wait_told("[one][one]");
	k.blob->put(o, "s", "two", 3);
	get("1", "s"); /* the youngest */
	k.blob->put(o, "s", NULL, 0);
	get("1", "s");
	get("9", "s");
	wait_told("[one][one][two][none][none]");
	disk_hold(false);
	settle();
	strcpy(disk.stored, "kept");
	live = k.owner.live;
	k.told[0] = '\0';
	get("1", "s");
	get("1", "bad");
	get("1", "s");
	CU_ASSERT_EQUAL(k.owner.live, live + 3); /* nobody unloads it now */
	wait_told("[kept][EIO][kept]");
	kernel_stop();
}

static bool in_trouble(void *arg)
{
	(void)arg;
	return store_trouble(k.parts.store) != NULL;
}

/* A blob is on its way until the loop knows that it is stored, not only until the worker has stored it. */
static void reads_before_the_end_is_known(void)
{
	struct pollfd end = { .events = POLLIN };

	kernel_start(true);
	disk_hold(true);
	k.blob->put(job("1"), "s", "one", 3);
	under_way(1);
	get("1", "s");
	wait_told("[one]"); /* what woke the loop so far is done with */
	disk_hold(false);
	end.fd = uv_backend_fd((const uv_loop_t *)k.parts.loop);
	CU_ASSERT_EQUAL(poll(&end, 1, 20000), 1);
	get("1", "s");
	wait_told("[one][one]");
	kernel_stop();
}

/* The request has ended, the commit has not: the bytes are where they were, and are given back after it. */
static void bytes_of_a_long_request_stay(void)
{
	static const char body[] = "\x81\xa1s\xc4\x03one";
	char *memory = malloc(sizeof(body)), *script = memory + 5;
	struct keel_msg *m;

	kernel_start(true);
	memcpy(memory, body, sizeof(body));
	CU_ASSERT_EQUAL_FATAL(msg_take(memory, 0, sizeof(body) - 1, &m), 0);
	disk_hold(true);
	k.blob->put(job("1"), "s", script, 3);
	msg_destroy(m);
	under_way(1);
	get("1", "s");
	wait_told("[one]");
	disk_hold(false);
	settle();
	CU_ASSERT_PTR_EQUAL(disk.blob, script);
	kernel_stop();
	CU_ASSERT_PTR_NULL(msg_hold(script, 3));
}

static void failing_and_recovering(void)
{
	kernel_start(true);
	disk.failing = 4;
	k.object->destroy(k.object->find(k.mod, "job", "loaded"));
	job("1");
	after("a");
	CU_ASSERT_EQUAL(loop_run_until(k.parts.loop, in_trouble, NULL, DEADLINE_MS), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(store_trouble(k.parts.store), "the disk is full"));
	CU_ASSERT_STRING_EQUAL(k.told, "");
	job("2");
	after("b");
	wait_told("ab");
	CU_ASSERT_PTR_NULL(store_trouble(k.parts.store));
	CU_ASSERT_STRING_EQUAL(disk_rows(), "-job/loaded job/1 |job/2 |");
	kernel_stop();
}

/* Durable is what returns 0, whatever numbers a vendor's store has for its errors. */
static void any_other_number_is_a_failure(void)
{
	kernel_start(true);
	disk.failing = 1;
	disk.failing_with = ENOSPC;
	job("1");
	after("a");
	wait_told("a");
	CU_ASSERT_STRING_EQUAL(disk_rows(), "job/1 |");
	CU_ASSERT_EQUAL(disk.tries, 2);
	kernel_stop();
}

static void closed_while_writing(void)
{
	kernel_start(true);
	disk.failing = 1;
	job("1");
	after("a");
	under_way(1);
	get("loaded", "s");
	store_close(k.parts.store); /* the failed write is not tried again */
	CU_ASSERT_EQUAL(disk.tries, 1);
	CU_ASSERT_STRING_EQUAL(k.told, "[none]"); /* nobody was told that it is durable */
	registry_remove(k.parts.registry, &k.owner);
	store_destroy(k.parts.store);
	k.parts.store = NULL;
	CU_ASSERT_EQUAL(k.owner.live, 0);
	kernel_drop();
}

static void damaged_store(void)
{
	struct keel_err err = { 0 };

	kernel_create();
	kernel_rows(true);
	disk.damaged = true;
	CU_ASSERT_EQUAL(store_use(k.parts.store, &err), -EPROTO);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "job 'broken'"));
	kernel_stop();
}

/* Lines of the log with `text`. */
static unsigned logged(const char *text)
{
	char command[256], line[32] = "";
	FILE *f;

	snprintf(command, sizeof(command), "cat '%s'/* | grep -c '%s'", k.dir, text);
	f = popen(command, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_PTR_NOT_NULL(fgets(line, sizeof(line), f));
	pclose(f);
	return (unsigned)atoi(line);
}

/* Holds that were stored when there were such; rows of a class that may come back stay. */
static void rows_of_an_older_version(void)
{
	struct keel_err err = { 0 };

	kernel_create();
	kernel_rows(true);
	disk.old = true;
	CU_ASSERT_EQUAL(store_use(k.parts.store, &err), 0);
	settle();
	CU_ASSERT_STRING_EQUAL(disk_rows(), "-keel_hold/job/1/waits/a -keel_hold/job/1/waits/b -keel_hold/job/2/waits/a |");
	CU_ASSERT_EQUAL(logged("holds of an older version"), 1);
	CU_ASSERT_EQUAL(logged("3 stored holds of an older version are dropped"), 1);
	CU_ASSERT_EQUAL(objects_drop(k.parts.objects, "keel_hold"), 0);
	CU_ASSERT_EQUAL(objects_drop(k.parts.objects, "job"), 0); /* a class that is declared */
	CU_ASSERT_EQUAL(objects_drop(k.parts.objects, "unheard"), 1); /* it was kept until now */
	CU_ASSERT_PTR_NOT_NULL(k.object->find(k.mod, "job", "loaded"));
	kernel_stop();
}

/* ---- whose store it is ----------------------------------------------------------------------- */

/* A store of `owner`, which had the name `former` before, for the daemon "test". What store_use() says. */
static int named(const char *owner, const char *former, const char *rename, struct keel_err *err)
{
	kernel_create();
	kernel_rows(true);
	disk.owner = owner;
	disk.former = former;
	disk.job = "1.old";
	k.parts.rename_server = rename;
	return store_use(k.parts.store, err);
}

static void refuses(const char *owner, const char *former, const char *rename, const char *why)
{
	struct keel_err err = { 0 };

	CU_ASSERT(named(owner, former, rename, &err) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, why));
	kernel_stop();
}

static void a_store_of_another_name(void)
{
	struct keel_err err = { 0 };

	refuses("old", NULL, NULL, "that of server \"old\", this one is called \"test\": say server_name = \"old\"");
	refuses("old", NULL, NULL, "`keelsond --rename-server old`");
	refuses("old", NULL, "other", "--rename-server other: the store is that of server \"old\", not of \"other\"");
	refuses("test", NULL, "old", "--rename-server old: the store is that of server \"test\", and that is the name of this one");
	refuses("test", NULL, "test", "--rename-server test: the store is that of server \"test\"");
	refuses(NULL, NULL, "old", "--rename-server old: the store is a new one");
	CU_ASSERT_EQUAL(named("test", NULL, NULL, &err), 0);
	CU_ASSERT_PTR_NULL(k.object->find(k.mod, "job", "1.test"));
	CU_ASSERT_PTR_NULL(k.object->find(k.mod, "daemon", "old"));
	settle();
	CU_ASSERT_STRING_EQUAL(disk_rows(), "");
	kernel_stop();
}

static void found_by_each_name(const char *other)
{
	struct keel_obj *daemon = k.object->find(k.mod, "daemon", "test"), *job = k.object->find(k.mod, "job", "1.old");
	struct keel_err err = { 0 };
	char id[64];

	CU_ASSERT_PTR_NOT_NULL_FATAL(daemon);
	CU_ASSERT_PTR_NOT_NULL_FATAL(job);
	CU_ASSERT_EQUAL(k.object->get_int(daemon, k.object->attr(k.mod, "daemon", "m")), 7);
	CU_ASSERT_PTR_EQUAL(k.object->find(k.mod, "daemon", "old"), daemon);
	CU_ASSERT_PTR_EQUAL(k.object->find(k.mod, "job", "1.test"), job);
	CU_ASSERT_STRING_EQUAL(k.object->id(job), "1.old");
	CU_ASSERT_PTR_NULL(k.object->find(k.mod, "job", "1.elsewhere"));
	CU_ASSERT_PTR_NULL(k.object->find(k.mod, "job", "1"));
	CU_ASSERT_PTR_NULL(k.object->find(k.mod, "job", "2.old"));
	snprintf(id, sizeof(id), "1.%s", other);
	CU_ASSERT_PTR_EQUAL(k.object->find(k.mod, "job", id), strcmp(other, "none") == 0 ? NULL : job);
	CU_ASSERT_PTR_NULL(k.object->draft(k.mod, "job", "1.test", &err)); /* its number is taken */
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "already exists"));
}

static void a_store_is_renamed(void)
{
	struct keel_err err = { 0 };

	CU_ASSERT_EQUAL(named("old", "older", "old", &err), 0);
	found_by_each_name("older");
	settle();
	/* one transaction: the new name, the old one to remember */
	CU_ASSERT_STRING_EQUAL(disk_rows(), "-daemon/old daemon/test keel_former/old |");
	CU_ASSERT_EQUAL(logged("is that of"), 1);
	kernel_stop();
	/* done before the start was seen to its end; or given again */
	CU_ASSERT_EQUAL(named("test", "old", "old", &err), 0);
	found_by_each_name("none");
	settle();
	CU_ASSERT_STRING_EQUAL(disk_rows(), "");
	kernel_stop();
	/* the next start, and back to a name that it had */
	CU_ASSERT_EQUAL(named("test", "old", NULL, &err), 0);
	found_by_each_name("none");
	kernel_stop();
	CU_ASSERT_EQUAL(named("old", "test", "old", &err), 0);
	found_by_each_name("none");
	settle();
	CU_ASSERT_STRING_EQUAL(disk_rows(), "-keel_former/test -daemon/old daemon/test keel_former/old |");
	kernel_stop();
}

#define MANY 20000

static void many(void)
{
	char id[16];
	unsigned commits;

	kernel_start(true);
	pthread_mutex_lock(&disk.lock);
	disk.rows[0] = '\0';
	pthread_mutex_unlock(&disk.lock);
	for (int i = 0; i < MANY; i++) {
		struct keel_obj *o = k.object->draft(k.mod, "brief", "x", NULL);

		CU_ASSERT_PTR_NULL(o);
		snprintf(id, sizeof(id), "%d", i % 50);
		o = k.object->find(k.mod, "job", id);
		if (o)
			k.object->destroy(o);
		else
			job(id);
		if (i % 100 == 99)
			settle();
	}
	commits = disk.commits;
	CU_ASSERT_EQUAL(commits, 0); /* each came and went within its turn */
	kernel_stop();
}

/* The first allocation of the turn is the test's own timer. */
static void no_memory_to_gather(void)
{
	for (long n = 2; INJECTING && n < 6; n++) {
		kernel_start(true);
		job("1");
		job("2");
		after("a");
		countdown = n;
		wait_told("a");
		countdown = -1;
		CU_ASSERT_STRING_EQUAL(disk_rows(), "job/1 job/2 |");
		CU_ASSERT_PTR_NULL(store_trouble(k.parts.store));
		kernel_stop();
	}
}

static unsigned n_got;

static void got_anything(struct keel_mod *m, void *arg, const void *bytes, uint32_t len)
{
	(void)m, (void)arg;
	n_got++;
	CU_ASSERT(bytes ? len == 3 && memcmp(bytes, "one", 3) == 0 : len == ENOMEM);
}

/* A submission and a start. What was taken is answered, once; what was refused leaves nothing. */
static bool a_day(unsigned *ret_asked, bool *ret_waits)
{
	struct keel_obj *o = k.object->draft(k.mod, "job", "1", NULL);
	bool good = o && k.blob->put(o, "s", "one", 3) == 0 && k.object->publish(o) == 0;

	if (!good) {
		k.object->destroy(o);
		return false;
	}
	good = k.blob->get(k.mod, "job", "1", "s", got_anything, NULL) == 0;
	*ret_asked += good;
	if (k.blob->get(k.mod, "job", "loaded", "s", got_anything, NULL) == 0)
		++*ret_asked;
	else
		good = false;
	*ret_waits = store_after(k.parts.store, note, (void *)(uintptr_t)"a") == 0;
	return *ret_waits && good;
}

static void each_allocation_fails(void)
{
	bool good = false;

	for (long n = 1; !good && n < 1000; n++) {
		unsigned asked = 0;
		bool waits = false;
		long left;

		kernel_start(true);
		n_got = 0;
		strcpy(disk.stored, "one");
		countdown = INJECTING ? n : -1;
		good = a_day(&asked, &waits);
		if (waits)
			wait_told("a");
		left = countdown;
		settle();
		countdown = -1;
		CU_ASSERT_EQUAL(n_got, asked);
		CU_ASSERT_STRING_EQUAL(k.told, waits ? "a" : "");
		CU_ASSERT_STRING_EQUAL(disk_rows(), k.object->find(k.mod, "job", "1") ? "job/1 job/1.s |" : "");
		good = good && (left > 0 || !INJECTING); /* on a day without a failure */
		kernel_stop();
	}
	CU_ASSERT_TRUE(good);
}

TESTS_MAIN("store", TEST(without_a_store), TEST(one_turn_one_transaction), TEST(gathering_while_writing),
	   TEST(the_copy_is_of_its_turn), TEST(never_stored_never_deleted), TEST(blobs_go_with_their_object),
	   TEST(reads_see_what_is_on_its_way),
	   TEST(reads_before_the_end_is_known), TEST(bytes_of_a_long_request_stay), TEST(failing_and_recovering), TEST(any_other_number_is_a_failure), TEST(closed_while_writing),
	   TEST(damaged_store), TEST(rows_of_an_older_version), TEST(a_store_of_another_name),
	   TEST(a_store_is_renamed), TEST(many),
	   TEST(no_memory_to_gather), TEST(each_allocation_fails))
