/* SPDX-License-Identifier: Apache-2.0
 *
 * spawn.c - on a worker thread: resolve the user, write the task's files, start its shepherd.
 *
 * The shepherd waits for "go", which is sent only after <id>.TK names it: a daemon that dies between
 * leaves either a recorded task or none at all.
 */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "diary.h"
#include "duration.h"
#include "group.h"
#include "nursery.h"
#include "part.h"
#include "proc.h"

#define UMASK_DEFAULT 077
#define BAD_PROGRAM -1

int launch_fail(struct launch *l, int32_t status, const char *fmt, ...)
{
	va_list args;

	l->status = status;
	va_start(args, fmt);
	vsnprintf(l->why, sizeof(l->why), fmt, args);
	va_end(args);
	return -1;
}

static void job_file(const struct launch *l, const char *suffix, char *buf, size_t len)
{
	snprintf(buf, len, "%s/mom_priv/jobs/%s%s", l->pbs_home, l->id, suffix);
}

/* A new file with these bytes, replacing any old one. The open descriptor (caller closes) or -1. */
static int file_write(struct launch *l, const char *path, const void *bytes, size_t len, mode_t mode)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC;
	const char *p = bytes;
	int fd = open(path, flags, mode);

	if (fd < 0 && errno == EEXIST) {
		unlink(path);
		fd = open(path, flags, mode);
	}
	while (fd >= 0 && len) {
		ssize_t n = write(fd, p, len);

		if (n < 0) {
			int error = errno;

			close(fd);
			unlink(path);
			errno = error;
			fd = -1;
			break;
		}
		p += n;
		len -= (size_t)n;
	}
	if (fd < 0)
		launch_fail(l, KEEL_TASK_RETRY, "%s cannot be written: %s", path, strerror(errno));
	return fd;
}

static int script_write(struct launch *l, char *path, size_t len)
{
	int fd;

	job_file(l, ".SC", path, len);
	fd = file_write(l, path, l->script, l->script_len, 0700);
	if (fd < 0)
		return -1;
	if (geteuid() == 0 && fchown(fd, l->account_of.uid, l->gid) < 0) {
		l->own = errno == EDQUOT;
		close(fd);
		return launch_fail(l, KEEL_TASK_RETRY, "%s: owner: %s", path, strerror(errno));
	}
	fchmod(fd, 0700);
	close(fd);
	return 0;
}

static bool has_nodes(const struct launch *l)
{
	return l->nodes && !(l->no_sister_nodes && l->facts->view.index);
}

static int nodes_write(struct launch *l)
{
	char path[4096];
	int fd;

	if (!has_nodes(l))
		return 0;
	snprintf(path, sizeof(path), "%s/aux/%s", l->pbs_home, l->id);
	fd = file_write(l, path, l->nodes, strlen(l->nodes), 0644);
	if (fd < 0)
		return -1;
	fchmod(fd, 0644);
	close(fd);
	return 0;
}

/* One word's text, entities decoded, in place at *to. */
static char *word_copy(const char *from, const char *end, char *to)
{
	static const struct {
		const char *entity;
		char c;
	} entities[] = {
		{ "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' }, { "&apos;", '\'' },
	};

	while (from < end) {
		size_t i, n = sizeof(entities) / sizeof(entities[0]);

		for (i = 0; i < n && strncmp(from, entities[i].entity, strlen(entities[i].entity)); i++)
			;
		*to++ = i < n ? entities[i].c : *from;
		from += i < n ? strlen(entities[i].entity) : 1;
	}
	*to++ = '\0';
	return to;
}

char **words_decode(const char *text, const char *tag)
{
	size_t tag_len = strlen(tag), n = 0, room = text ? strlen(text) : 0;
	size_t most = room / (2 * tag_len + 5) + 2;
	char **words = calloc(1, most * sizeof(*words) + room + 1);
	char *to = words ? (char *)(words + most) : NULL;
	const char *p = text;

	while (words && p && (p = strchr(p, '<')) && n + 1 < most) {
		const char *end;

		if (strncmp(p + 1, tag, tag_len) != 0 || p[tag_len + 1] != '>')
			break;
		p += tag_len + 2;
		end = strchr(p, '<');
		if (!end || strncmp(end, "</", 2) != 0)
			break;
		words[n++] = to;
		to = word_copy(p, end, to);
		p = strchr(end, '>');
	}
	return words;
}

static int program_write(struct launch *l, struct spec_out *out)
{
	static const char *const tags[] = { "jsdl-hpcpa:Executable", "jsdl-hpcpa:Argument" };
	const char *texts[] = { l->executable, l->arguments };

	for (int i = 0; i < 2; i++) {
		char **words = words_decode(texts[i], tags[i]);

		if (!words)
			return launch_fail(l, KEEL_TASK_RETRY, "no memory for the program's arguments");
		if (i == 0 && !words[0]) {
			free(words);
			return launch_fail(l, BAD_PROGRAM, "executable \"%s\" is not XML-coded",
					   l->executable);
		}
		for (char **w = words; *w; w++)
			spec_put(out, "arg", *w);
		free(words);
	}
	return 0;
}

/* Shell_Path_List "path[@host],...": the one for this host, else the one without host. */
static void shell_choose(const struct launch *l, char *buf, size_t len)
{
	const char *p = l->shell;

	snprintf(buf, len, "%s", l->account_of.shell);
	while (p && *p) {
		int item = (int)strcspn(p, ","), path = (int)strcspn(p, "@,");
		bool here = path < item && (size_t)(item - path - 1) == strlen(l->host) &&
			    strncasecmp(p + path + 1, l->host, strlen(l->host)) == 0;

		if (here || path == item)
			snprintf(buf, len, "%.*s", path, p);
		if (here)
			return;
		p += item + (p[item] == ',');
	}
}

static void limit_write(struct spec_out *out, int resource, int64_t value)
{
	char text[64];

	if (value < 0)
		return;
	snprintf(text, sizeof(text), "%d:%lld", resource, (long long)value);
	spec_put(out, "limit", text);
}

static void account_write(const struct launch *l, struct spec_out *out)
{
	const struct user *u = &l->account_of;
	char shell[1024];

	shell_choose(l, shell, sizeof(shell));
	spec_put(out, "user", u->name);
	spec_put(out, "home", u->home);
	spec_put(out, "shell", shell);
	spec_put_number(out, "drop", geteuid() == 0);
	spec_put_number(out, "uid", u->uid);
	spec_put_number(out, "gid", l->gid);
	for (size_t i = 0; i < u->n_groups; i++)
		spec_put_number(out, "group", u->groups[i]);
}

static void place_write(const struct launch *l, const char *sandbox, struct spec_out *out)
{
	char path[4096];

	spec_put(out, "id", l->id);
	spec_put_number(out, "run", (uint64_t)l->run);
	spec_put_number(out, "index", l->facts->view.index);
	spec_put_number(out, "hosts", l->facts->view.n_hosts);
	snprintf(path, sizeof(path), "%s/mom_priv/jobs", l->pbs_home);
	spec_put(out, "jobs_dir", path);
	snprintf(path, sizeof(path), "%s/undelivered", l->pbs_home);
	spec_put(out, "undelivered", path);
	if (l->tmpdir) {
		snprintf(path, sizeof(path), "%s/pbs.%s", l->tmpdir, l->id);
		spec_put(out, "tmpdir", path);
	}
	spec_put(out, "sandbox", sandbox);
	spec_put(out, "cgroup", l->group_path);
	if (l->bound_path && !(l->group_path && strcmp(l->bound_path, l->group_path) == 0))
		spec_put(out, "bound", l->bound_path);
	spec_put_number(out, "start_ms", (uint64_t)l->start_ms);
	spec_put_number(out, "deliver_ms", (uint64_t)l->deliver_ms);
	spec_put_number(out, "umask", l->umask ? strtoul(l->umask, NULL, 8) & 0777 : UMASK_DEFAULT);
}

static bool is_private(const struct launch *l)
{
	return l->sandbox && strcasecmp(l->sandbox, "PRIVATE") == 0;
}

bool launch_makes_dir(const struct launch *l)
{
	return is_private(l) && !(l->jobdir_shared && l->facts->view.index); /* there the primary makes it, and removes it */
}

static void sandbox_name(const struct launch *l, char *buf, size_t len)
{
	snprintf(buf, len, "%s/pbs.%s.x8z", l->jobdir_root ? l->jobdir_root : l->account_of.home, l->id);
}

char *launch_dir(const struct launch *l)
{
	char dir[4096];

	if (!is_private(l))
		return l->account_of.home ? strdup(l->account_of.home) : NULL;
	sandbox_name(l, dir, sizeof(dir));
	return strdup(dir);
}

static int spec_write(struct launch *l, struct spec_out *out)
{
	char script[4096], sandbox[4096];
	bool private = is_private(l);
	int r;

	sandbox_name(l, sandbox, sizeof(sandbox));
	place_write(l, launch_makes_dir(l) ? sandbox : NULL, out);
	if (private && !launch_makes_dir(l))
		spec_put(out, "dir", sandbox);
	account_write(l, out);
	if (l->pcput)
		limit_write(out, RLIMIT_CPU, duration_parse(l->pcput));
	if (l->file)
		limit_write(out, RLIMIT_FSIZE, size_parse(l->file));
	if (l->pvmem)
		limit_write(out, RLIMIT_AS, size_parse(l->pvmem));
	if (l->has_script) {
		if (script_write(l, script, sizeof(script)) < 0)
			return -1;
		spec_put(out, "script", script);
	} else if (!l->facts->view.index && program_write(l, out) < 0) {
		return -1;
	}
	r = output_write(l, out) < 0 ||
			    environment_write(l, private ? sandbox : l->account_of.home, out) < 0
		    ? -ENOMEM
		    : spec_end(out);
	if (r == -E2BIG)
		return launch_fail(l, BAD_PROGRAM, "its environment and arguments have more than %u MiB",
				   SPEC_MAX >> 20);
	if (r < 0)
		return launch_fail(l, KEEL_TASK_RETRY, "no memory to describe the task");
	return 0;
}

/* What the job has, as it is compared with when it is changed. */
static void wish_print(FILE *f, const char *key, const char *text)
{
	if (text && !strchr(text, '\n'))
		fprintf(f, "%s %s\n", key, text);
}

static char *record_text(const struct launch *l, size_t *ret_len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);

	if (!f)
		return NULL;
	fprintf(f,
		"world %s\nrun %lld\nshepherd %d %llu\nbegan %lld\nup %lld\nuid %u\nuser %s\nwalltime %lld\ncput %lld\n"
		"ncpus %lld\n",
		l->world, (long long)l->run, (int)l->pid, (unsigned long long)l->start, (long long)time(NULL),
		(long long)proc_up_ms(), (unsigned)l->account_of.uid, l->user, l->walltime ? (long long)duration_parse(l->walltime) : 0,
		l->cput ? (long long)duration_parse(l->cput) : 0, (long long)l->job_ncpus);
	wish_print(f, "output", l->output);
	wish_print(f, "error", l->error);
	wish_print(f, "freezer", l->group_path);
	wish_print(f, "bound", l->bound_path);
	part_print(f, l->facts);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

static int record_write(struct launch *l)
{
	char path[4096], *text;
	size_t len = 0;
	int fd;

	text = record_text(l, &len);
	if (!text)
		return launch_fail(l, KEEL_TASK_RETRY, "no memory to write down the task");
	job_file(l, ".TK", path, sizeof(path));
	fd = file_write(l, path, text, len, 0600);
	free(text);
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int shepherd_record(struct launch *l)
{
	char dir[4096], line[64];
	struct proc p;
	int r;

	if (proc_read(l->pid, &p) < 0)
		return launch_fail(l, KEEL_TASK_RETRY, "the shepherd ended at once");
	l->start = p.start;
	if (!l->follows)
		return record_write(l);
	snprintf(dir, sizeof(dir), "%s/mom_priv/jobs", l->pbs_home);
	snprintf(line, sizeof(line), "successor %d %llu", (int)l->pid, (unsigned long long)l->start);
	r = diary_append(dir, l->id, line);
	return r < 0 ? launch_fail(l, KEEL_TASK_RETRY, "its diary cannot be written: %s", strerror(-r)) : 0;
}

static int shepherd_start(struct launch *l, int spec_fd)
{
	int talk[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, talk) < 0)
		return launch_fail(l, KEEL_TASK_RETRY, "no socket for the shepherd: %s", strerror(errno));
	l->pid = nursery_fork(l->nursery, l->shepherd, l->id, spec_fd, talk[1]);
	close(talk[1]);
	if (l->pid < 0) {
		close(talk[0]);
		return launch_fail(l, KEEL_TASK_RETRY, "%s cannot be started: %s", l->shepherd,
				   strerror(-l->pid));
	}
	l->pidfd = pidfd_open(l->pid, 0);
	if (l->pidfd < 0)
		launch_fail(l, KEEL_TASK_RETRY, "shepherd %d cannot be watched: %s", (int)l->pid,
			    strerror(errno));
	if (l->pidfd < 0 || shepherd_record(l) < 0 ||
	    send(talk[0], l->follows ? "p" : "g", 1, MSG_NOSIGNAL) != 1) {
		close(talk[0]); /* it leaves without having done anything */
		if (l->pidfd >= 0)
			close(l->pidfd);
		return l->status ? -1 : launch_fail(l, KEEL_TASK_RETRY, "the shepherd ended at once");
	}
	l->talk = talk[0];
	fcntl(l->talk, F_SETFL, O_NONBLOCK);
	return 0;
}

/* In the group that it has anyway, where that bounds memory; else in one beside it, of the first kind. */
static void bound_make(struct launch *l)
{
	int64_t bytes = l->bound_kb > INT64_MAX / 1024 ? INT64_MAX : l->bound_kb * 1024;

	if (l->bound_kb <= 0)
		return;
	if (l->group_path && group_bound(l->group_path, bytes) == 0) {
		l->bound_path = strdup(l->group_path);
		return;
	}
	l->bound_path = group_make(l->memory_dir, l->id);
	if (!l->bound_path || group_bound(l->bound_path, bytes) == 0)
		return;
	group_remove(l->bound_path);
	free(l->bound_path);
	l->bound_path = NULL;
}

void spawn_work(void *arg)
{
	struct launch *l = arg;
	int spec_fd;
	struct spec_out out = { 0 };
	char path[4096];
	int fd = -1;

	if (health_room(l->pbs_home, l->room, l->why, sizeof(l->why)) < 0) {
		l->status = KEEL_TASK_RETRY;
		return;
	}
	if (user_resolve(l) < 0 || nodes_write(l) < 0)
		return;
	l->group_path = group_make(l->groups_dir, l->id);
	bound_make(l);
	/* The spec as a file, open for the shepherd. */
	job_file(l, ".JB", path, sizeof(path));
	if (spec_write(l, &out) == 0)
		fd = file_write(l, path, out.bytes, out.len, 0600);
	spec_out_fini(&out);
	spec_fd = fd;
	if (spec_fd >= 0) {
		shepherd_start(l, spec_fd);
		close(spec_fd);
	}
	if (l->status && l->bound_path)
		group_remove(l->bound_path);
	if (l->status && l->group_path)
		group_remove(l->group_path);
}

void follow_work(void *arg)
{
	struct launch *l = arg;
	char path[4096];
	int spec_fd;

	job_file(l, ".JB", path, sizeof(path));
	spec_fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (spec_fd < 0) {
		launch_fail(l, KEEL_TASK_RETRY, "%s cannot be read: %s", path, strerror(errno));
		return;
	}
	shepherd_start(l, spec_fd);
	close(spec_fd);
}
