/* SPDX-License-Identifier: Apache-2.0
 *
 * log.c - day files; which records are written, and how.
 *
 * The formatted second is cached. A file belongs to a local day; the first record of another day closes it and opens
 * the next. One that was moved away, removed or replaced is noticed by the first record of another second, or by log_look(). When
 * the new file cannot be opened the old one is used on, says so once, and the next second tries again.
 */
#include "log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "loop/loop.h"
#include "wire/buf.h"
#include "util/err.h"
#include "util/file.h"
#include "util/version.h"

#define STAMP_SIZE 32
#define EVENT_BITS 0x7fffu /* the FORCE bit is not shown */

struct log {
	struct loop *loop; /* borrowed: the clock */
	char *dir;         /* owned; NULL: standard error */
	char *name;        /* owned */
	uint32_t mask, override; /* override: set at run time; 0 none */
	bool microseconds, json;
	int fd;
	int day;              /* YYYYMMDD of the open file, 0 none */
	int64_t second;       /* of `stamp` */
	char stamp[STAMP_SIZE];
	struct buf text, line; /* reused by each record */
	uint64_t lost;         /* records that could not be written */
	int lost_why;          /* errno of the last of them */
	bool torn;             /* the file ends in the middle of a record */
	int unopened;          /* why the day's file could not be opened, which the log says already; 0: it is open */
};

static bool is_c1(unsigned char c)
{
	return c >= 0x80 && c < 0xa0;
}

/* C0, DEL, and C1: for terminals U+009B, in UTF-8 c2 9b, means ESC [. */
static bool is_control(const char *text, const char *at)
{
	unsigned char c = (unsigned char)*at, before = at > text ? (unsigned char)at[-1] : 0;

	return c < 0x20 || c == 0x7f || (c == 0xc2 && is_c1((unsigned char)at[1])) ||
	       (is_c1(c) && (before < 0x80 || before == 0xc2));
}

/* Appends `text`, with its control characters as \n, \x1b ... so that a record is always one line, and `end`. */
static void field_add(struct buf *out, const char *text, char end)
{
	const char *from = text, *at;

	for (at = text; *at != '\0'; at++) {
		if (*at == '\t' || !is_control(text, at))
			continue;
		buf_add(out, from, (size_t)(at - from));
		buf_printf(out, *at == '\n' ? "\\n" : "\\x%02x", (unsigned char)*at);
		from = at + 1;
	}
	buf_add(out, from, (size_t)(at - from));
	buf_add(out, &end, 1);
}

static void pbs_add(struct log *g, uint32_t event, const char *klass, const char *object, const char *text)
{
	buf_printf(&g->line, "%s;%04x;%s;", g->stamp, event & EVENT_BITS, g->name);
	field_add(&g->line, klass, ';');
	field_add(&g->line, object, ';');
	field_add(&g->line, text, '\n');
}

/* Returns the length of the UTF-8 sequence at `at`; 0: not UTF-8 (also overlong forms, surrogates, above U+10FFFF). */
static size_t utf8_length(const unsigned char *at)
{
	size_t n = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] >= 0xa0) || (at[0] == 0xf0 && at[1] < 0x90) ||
	    (at[0] == 0xf4 && at[1] >= 0x90))
		return 0;
	return n;
}

/* UTF-8 is kept; a byte that is not is escaped as if it were Latin-1, so that the line is JSON. */
static void member_add(struct buf *out, const char *key, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t n;

	buf_printf(out, ",\"%s\":\"", key);
	for (; *at != '\0'; at += n == 0 ? 1 : n) {
		n = utf8_length(at);
		if (n == 2 && at[0] == 0xc2 && is_c1(at[1]))
			buf_printf(out, "\\u%04x", at[1]);
		else if (n == 0 || at[0] < 0x20 || at[0] == 0x7f)
			buf_printf(out, "\\u%04x", at[0]);
		else if (at[0] == '"' || at[0] == '\\')
			buf_printf(out, "\\%c", at[0]);
		else
			buf_add(out, (const char *)at, n);
	}
	buf_str(out, "\"");
}

static void json_add(struct log *g, uint32_t event, const char *klass, const char *object, const char *text)
{
	buf_printf(&g->line, "{\"time\":\"%s\",\"event\":%u", g->stamp, event & EVENT_BITS);
	member_add(&g->line, "daemon", g->name);
	member_add(&g->line, "class", klass);
	member_add(&g->line, "object", object);
	member_add(&g->line, "text", text);
	buf_str(&g->line, "}\n");
}

/* Writes a record with the second in g->stamp. Of a line that fits only in part the beginning stays, as a line of its own. */
static void record_write(struct log *g, uint32_t event, const char *klass, const char *object, const char *text)
{
	size_t written = 0;
	char words[80];
	int ret;

	buf_reset(&g->line);
	(g->json ? json_add : pbs_add)(g, event, klass, object, text);
	ret = g->line.failed ? -ENOMEM : g->torn ? fd_write_all(g->fd, "\n", 1) : 0;
	if (ret == 0) {
		ret = fd_write(g->fd, g->line.data, g->line.len, &written);
		g->torn = ret < 0 && written > 0;
	}
	if (ret < 0) {
		g->lost++;
		g->lost_why = -ret;
	} else if (g->lost > 0) {
		snprintf(words, sizeof(words), "%llu records were lost: %s", (unsigned long long)g->lost,
			 strerror(g->lost_why));
		g->lost = 0;
		record_write(g, KEEL_LOG_ERROR, "Svr", "Log", words);
	}
}

/* Is the open file another one than that of its name? */
static bool is_elsewhere(const struct log *g)
{
	struct stat open, named;
	char *path = NULL;
	bool gone;

	if (g->day == 0 || asprintf(&path, "%s/%08d", g->dir, g->day) < 0)
		return false;
	gone = lstat(path, &named) < 0 ? errno == ENOENT :
	       fstat(g->fd, &open) == 0 && (named.st_ino != open.st_ino || named.st_dev != open.st_dev);
	free(path);
	return gone;
}

/* Switch to the file of `day`. Returns 0, or -errno and the old one is used on. */
static int day_open(struct log *g, int day)
{
	char *path = NULL, host[256] = "", words[600];
	int fd, ret;

	if (asprintf(&path, "%s/%08d", g->dir, day) < 0)
		return -ENOMEM;
	if (g->fd >= 0)
		(void)dir_make(g->dir, 0755); /* it may have been moved, too */
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	ret = -errno;
	if (fd < 0 && g->fd >= 0 && g->unopened != ret) {
		snprintf(words, sizeof(words), "cannot open %.400s: %s; records go to the file before it", path, strerror(-ret));
		record_write(g, KEEL_LOG_ERROR, "Svr", "Log", words);
	}
	free(path);
	g->unopened = fd < 0 ? ret : 0;
	if (fd < 0)
		return ret;
	if (g->fd >= 0) {
		record_write(g, KEEL_LOG_SYSTEM, "Svr", "Log", "Log closed");
		dup3(fd, g->fd, O_CLOEXEC);
		close(fd);
		g->torn = false;
	} else {
		g->fd = fd;
	}
	g->day = day;
	gethostname(host, sizeof(host) - 1);
	record_write(g, KEEL_LOG_SYSTEM, "Svr", "Log", "Log opened");
	record_write(g, KEEL_LOG_SYSTEM, "Svr", g->name, "pbs_version=" KEELSON_VERSION_TEXT);
	record_write(g, KEEL_LOG_SYSTEM, "Svr", g->name, "pbs_build=keelson-" KEELSON_RELEASE);
	snprintf(words, sizeof(words), "hostname=%s;pbs_leaf_name=N/A;pbs_mom_node_name=N/A", host);
	record_write(g, KEEL_LOG_SYSTEM, "Svr", g->name, words);
	return 0;
}

/* Prepares stamp and file for a record of now. Returns 0, or the -errno of opening the day's file. */
static int now_begin(struct log *g)
{
	int64_t us = loop_time_us(g->loop);
	time_t second = (time_t)(us / 1000000);
	int day = g->day;
	bool look = second != g->second;
	struct tm tm;

	if (look) {
		localtime_r(&second, &tm);
		strftime(g->stamp, sizeof(g->stamp), "%m/%d/%Y %H:%M:%S", &tm);
		day = (tm.tm_year + 1900) * 10000 + (tm.tm_mon + 1) * 100 + tm.tm_mday;
	}
	g->second = second;
	if (g->microseconds)
		snprintf(strchrnul(g->stamp, '.'), 8, ".%06u", (unsigned)(us % 1000000));
	if (g->dir == NULL || (day == g->day && !(look && is_elsewhere(g))))
		return 0;
	return day_open(g, day);
}

int log_open(struct loop *l, const char *dir, const char *name, uint32_t mask, bool microseconds,
	     struct log **ret_log, struct keel_err *err)
{
	struct log *g = calloc(1, sizeof(*g));
	int ret = -ENOMEM;

	if (g == NULL)
		return err_set(err, -ENOMEM, "log: no memory");
	g->loop = l;
	g->mask = mask;
	g->microseconds = microseconds;
	g->second = -1;
	g->fd = dir == NULL ? STDERR_FILENO : -1;
	g->dir = dir == NULL ? NULL : strdup(dir);
	g->name = strdup(name);
	if (g->name != NULL && (dir == NULL || g->dir != NULL))
		ret = dir == NULL ? 0 : dir_make(dir, 0755);
	if (ret == 0)
		ret = now_begin(g);
	if (ret < 0) {
		err_set(err, ret, "cannot open a log file in %s: %s; check that the directory exists "
			"and that this user may write there",
			dir == NULL ? "(standard error)" : dir, strerror(-ret));
		log_close(g);
		return ret;
	}
	*ret_log = g;
	return 0;
}

void log_close(struct log *g)
{
	if (g == NULL)
		return;
	if (g->dir != NULL && g->fd >= 0) {
		now_begin(g);
		record_write(g, KEEL_LOG_SYSTEM, "Svr", "Log", "Log closed");
		close(g->fd);
	}
	buf_fini(&g->text);
	buf_fini(&g->line);
	free(g->dir);
	free(g->name);
	free(g);
}

void log_look(struct log *g)
{
	if (g->dir != NULL) {
		g->second = -1;
		now_begin(g);
	}
}

void log_set_mask(struct log *g, uint32_t mask, bool override)
{
	*(override ? &g->override : &g->mask) = mask;
}

void log_set_json(struct log *g, bool json)
{
	g->json = json;
}

int log_fd(const struct log *g)
{
	return g->fd;
}

const char *log_dir(const struct log *g)
{
	return g != NULL ? g->dir : NULL;
}

void log_addv(struct log *g, uint32_t event, const char *klass, const char *object, const char *fmt, va_list ap)
{
	if (g == NULL || (event & ((g->override ? g->override : g->mask) | KEEL_LOG_FORCE)) == 0)
		return;
	now_begin(g);
	buf_reset(&g->text);
	buf_vprintf(&g->text, fmt, ap);
	record_write(g, event, klass == NULL ? "n/a" : klass, object == NULL ? "" : object,
		     g->text.data == NULL ? "" : g->text.data);
}

void log_add(struct log *g, uint32_t event, const char *klass, const char *object, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_addv(g, event, klass, object, fmt, ap);
	va_end(ap);
}
