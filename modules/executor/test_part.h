/* SPDX-License-Identifier: Apache-2.0
 *
 * test_part.h - a listener of service part, start messages of a job over three hosts, and tasks in it.
 */
#ifndef EXECUTOR_TEST_PART_H
#define EXECUTOR_TEST_PART_H

#pragma GCC diagnostic ignored "-Wunused-function" /* each test needs some of it */
#include "test_fixture.h"

#include <signal.h>
#include <sys/wait.h>

#include "talk.h"

/* What the listener was notified of last, and how often. */
static struct noted {
	int ready, refused, started, over, ended, used, gone, resized;
	uint32_t number, index, n_hosts;
	int32_t status, code;
	bool discarded;
	char why[200], items[300];
} noted;

static struct { int n; int32_t code; char text[300]; } done;

static void on_ready(struct keel_mod *m, const struct keel_part *p)
{
	(void)m;
	noted.ready++;
	noted.index = p->index;
	CU_ASSERT(p->state == KEEL_PART_READY || p->state == KEEL_PART_STOPPED);
}
static void on_part_refused(struct keel_mod *m, const struct keel_part *p, int32_t status, int32_t code, const char *why)
{
	(void)m, (void)p;
	noted.refused++;
	noted.status = status;
	noted.code = code;
	snprintf(noted.why, sizeof(noted.why), "%s", why);
}
static void on_part_started(struct keel_mod *m, const struct keel_part *p)
{
	(void)m;
	noted.started++;
	CU_ASSERT(p->started);
}
static void on_over(struct keel_mod *m, const struct keel_part *p, uint32_t number, int32_t status)
{
	(void)m, (void)p;
	noted.over++;
	noted.number = number;
	noted.status = status;
}
static void on_part_ended(struct keel_mod *m, const struct keel_part *p, const char *const *items, uint32_t n)
{
	(void)m;
	noted.ended++;
	CU_ASSERT_EQUAL(p->state, KEEL_PART_ENDED);
	noted.items[0] = '\0';
	for (uint32_t i = 0; i < n; i++)
		strcat(strcat(noted.items, items[i]), " ");
}
static void on_part_used(struct keel_mod *m, const struct keel_part *p, const char *const *items, uint32_t n)
{
	(void)m, (void)p, (void)items, (void)n;
	noted.used++;
}
static void on_gone(struct keel_mod *m, const char *id, int64_t run, bool discarded)
{
	(void)m, (void)id, (void)run;
	noted.gone++;
	noted.discarded = discarded;
}
static void on_resized(struct keel_mod *m, const struct keel_part *p, const struct keel_part *before)
{
	(void)m;
	noted.resized++;
	noted.n_hosts = before->n_hosts * 10 + p->n_hosts;
}
static const struct keel_part_events part_events = {
	.size = sizeof(struct keel_part_events), .ready = on_ready, .refused = on_part_refused, .started = on_part_started,
	.task_over = on_over, .ended = on_part_ended, .used = on_part_used, .gone = on_gone, .resized = on_resized,
};

static bool is_ready(void *arg) { (void)arg; return noted.ready || noted.refused; }
static bool is_begun(void *arg) { (void)arg; return noted.started > 0; }
static bool is_over_now(void *arg) { return noted.over >= (arg ? *(int *)arg : 1); }
static bool is_part_ended(void *arg) { (void)arg; return noted.ended || noted.gone; }
static bool is_gone(void *arg) { (void)arg; return noted.gone > 0; }
static bool is_resized(void *arg) { (void)arg; return noted.resized > 0; }
static bool is_refused(void *arg) { (void)arg; return keel_mock_logged(mock, "does not say which hosts") != NULL; }
static bool is_done(void *arg) { return done.n >= (arg ? *(int *)arg : 1); }

static void on_done(struct keel_mod *me, void *arg, int32_t code, const char *text)
{
	(void)me, (void)arg;
	done.n++;
	done.code = code;
	snprintf(done.text, sizeof(done.text), "%s", text ? text : "");
}

static void part_listen(void)
{
	noted = (struct noted){ 0 };
	CU_ASSERT_EQUAL(part_api.listen(mod, mod, &part_events), 0);
}

static void part_start(void)
{
	listen_more = part_listen;
	begin();
}

static const char *const three[] = { "first 10.0.0.1:15003 key1 1 (first:ncpus=1)", "thishost - - 3 (thishost:ncpus=3)",
				     "third 10.0.0.3:15003 key3 2 (third:ncpus=2)+(third:ncpus=1)" };

static struct keel_out *start_begin(const char *id, int64_t run, int64_t index)
{
	struct keel_out *out = keel_out(mod);

	keel_put_str(out, "id", id);
	keel_put_int(out, "run", run);
	keel_put_int(out, "index", index);
	keel_put_str(out, "user", user);
	keel_put_str(out, "name", "name");
	keel_put_str(out, "umask", "22");
	keel_put_str(out, "variables", "GREETING=hello,PATH=/usr/bin:/bin");
	keel_put_strings(out, "hosts", three, 3);
	keel_put_int(out, "ncpus", 3);
	keel_put_int(out, "ompthreads", 2);
	keel_put_str(out, "nodes", "first\nthishost\nthird\nthird\n");
	keel_put_str(out, "cookie", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	keel_put_str(out, "tolerate", "job_start");
	keel_put_int(out, "rerunable", 1);
	return out;
}

static void send(const char *word, struct keel_out *out)
{
	CU_ASSERT_EQUAL(keel_link_send(mod, "thishost", word, out), 0);
}

static void about(const char *word, const char *id, int64_t run)
{
	struct keel_out *out = keel_out(mod);

	keel_put_str(out, "id", id);
	keel_put_int(out, "run", run);
	send(word, out);
}

static void sister_start(const char *id)
{
	send("task.start", start_begin(id, 1, 1));
	CU_ASSERT(until(is_ready, DEADLINE_MS));
	CU_ASSERT_EQUAL(noted.refused, 0);
}

static void spawn_ask(const char *id, uint32_t number, const char *script)
{
	const char *argv[] = { "sh", "-c", script, NULL }, *env[] = { "GREETING=other", "PBS_NODENUM=77", "OWN=1", NULL };

	part_api.spawn(mod, id, &(struct keel_part_task){ .size = sizeof(struct keel_part_task), .number = number,
							  .argv = argv, .env = env }, mod, on_done, NULL);
}

static int32_t spawn_wait(const char *id, uint32_t number, const char *script)
{
	memset(&done, 0, sizeof(done));
	spawn_ask(id, number, script);
	CU_ASSERT(until(is_done, DEADLINE_MS));
	return done.code;
}

static const char *written(const char *id, int stream)
{
	static char text[8192];
	int64_t n = part_api.read(mod, id, stream, 0, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

static bool is_there(const char *format, const char *id)
{
	char path[400];

	snprintf(path, sizeof(path), format, home, id);
	return access(path, F_OK) == 0;
}

#endif
