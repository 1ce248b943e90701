/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pyhost.h - the daemon's end of a keelson-pyhost, for its tests.
 */
#ifndef PYTHON_HOOKS_TEST_PYHOST_H
#define PYTHON_HOOKS_TEST_PYHOST_H

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "harness.h"
#include "talk.h"

static char *scratch;
static char program[PATH_MAX];

static struct {
	pid_t pid;
	int fd, status;
	char *frame;
	uint32_t len;
	struct value v; /* the last frame */
	rlim_t files;	/* descriptors it may have; 0: as many as this */
	int64_t number;
} host;

/* ---- the daemon's end ------------------------------------------------------------------------------------- */
static void say(struct pack *p)
{
	CU_ASSERT_FALSE_FATAL(p->failed);
	send(host.fd, &p->len, sizeof(p->len), MSG_NOSIGNAL);
	send(host.fd, p->data, p->len, MSG_NOSIGNAL);
	pack_fini(p);
}

static bool read_all(void *to, size_t len)
{
	struct pollfd p = { .fd = host.fd, .events = POLLIN };
	char *at = to;

	while (len > 0) {
		ssize_t n = poll(&p, 1, DEADLINE_MS) == 1 ? recv(host.fd, at, len, 0) : -1;

		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* The first text of the next frame; "": the process has ended. */
static const char *hear(void)
{
	static char word[32];
	struct value v;
	uint32_t len;

	word[0] = '\0';
	free(host.frame);
	host.frame = NULL;
	host.v = (struct value){ .kind = 0 };
	if (!read_all(&len, sizeof(len)))
		return word;
	host.len = len;
	host.frame = malloc(len + 1);
	CU_ASSERT_TRUE_FATAL(len <= 1024 * 1024 && read_all(host.frame, len) && value_read(host.frame, len, &host.v));
	CU_ASSERT_TRUE_FATAL(value_nth(&host.v, 0, &v) && v.len < sizeof(word));
	memcpy(word, v.s, v.len);
	word[v.len] = '\0';
	return word;
}

static bool nth_is(uint32_t n, const char *text)
{
	struct value v;

	return value_nth(&host.v, n, &v) && value_is(&v, text);
}

/* What the result says under this key; it is freed with the next one. */
static const char *result(const char *key)
{
	static char *text;
	struct value v, found;

	free(text);
	text = value_nth(&host.v, 2, &v) && value_find(&v, key, &found) ? value_text(&found) : NULL;
	return text ? text : "";
}

static bool has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

static int64_t retires(void)
{
	struct value v;

	return value_nth(&host.v, 2, &v) ? value_int(&v, "retire", 0) : -1;
}

/* ---- the process ------------------------------------------------------------------------------------------ */
static void begin(const char *mode)
{
	int ends[2], null = open("/dev/null", O_RDWR | O_CLOEXEC), nothing = fcntl(null, F_DUPFD_CLOEXEC, 20);

	close(null);
	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	host.fd = ends[0];
	host.pid = fork();
	if (host.pid == 0) {
		char packages[PATH_MAX];

		struct rlimit files = { host.files, host.files };

		if (host.files > 0)
			setrlimit(RLIMIT_NOFILE, &files);
		snprintf(packages, sizeof(packages), "--packages=%s", scratch);
		dup2(fcntl(ends[1], F_DUPFD_CLOEXEC, 20), 3);
		for (int i = 0; i < 3; i++)
			dup2(nothing, i);
		if (chdir(scratch) == 0)
			execl(program, program, packages, mode, NULL);
		_exit(127);
	}
	close(ends[1]);
	close(nothing);
}

static void finish(void)
{
	if (host.pid > 0) {
		close(host.fd);
		waitpid(host.pid, &host.status, 0);
	}
	host.pid = 0;
	free(host.frame);
	host.frame = NULL;
	host.v = (struct value){ .kind = 0 };
	result(""); /* which frees the last text */
}

static void setup_of(const char *hook, const char *script, size_t len)
{
	struct pack p = { .data = NULL };
	uint32_t open = pack_open_list(&p), map;

	pack_text(&p, "setup");
	map = pack_open_map(&p);
	pack_pair_text(&p, "hook", hook);
	pack_pair_text(&p, "path", "h1.PY");
	pack_key(&p, "script");
	pack_bytes(&p, script, (uint32_t)len);
	pack_close(&p, map, 3);
	pack_close(&p, open, 2);
	say(&p);
}

static const char *serves(const char *script)
{
	finish();
	begin(NULL);
	setup_of("h1", script, strlen(script));
	return hear();
}

static void call_send(void)
{
	struct pack p = { .data = NULL };
	uint32_t open = pack_open_list(&p), map;

	pack_text(&p, "call");
	pack_int(&p, ++host.number);
	map = pack_open_map(&p);
	pack_pair_int(&p, "number", host.number);
	pack_close(&p, map, 1);
	pack_close(&p, open, 3);
	say(&p);
}

/* What it says next. */
static const char *call(void)
{
	call_send();
	return hear();
}

/* `how` of the only run of a script; "": it ended without one. */
static const char *run(const char *script)
{
	CU_ASSERT_STRING_EQUAL_FATAL(serves(script), "up");
	return call()[0] == '\0' ? "" : result("how");
}

static void answer(const char *text)
{
	struct pack p = { .data = NULL };
	uint32_t open = pack_open_list(&p);

	pack_text(&p, "answer");
	pack_text(&p, text);
	pack_close(&p, open, 2);
	say(&p);
}

/* How the process ended by itself. */
static int ended(void)
{
	waitpid(host.pid, &host.status, 0);
	host.pid = 0;
	close(host.fd);
	return host.status;
}

#endif
