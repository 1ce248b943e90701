/* SPDX-License-Identifier: Apache-2.0
 *
 * record.c - a task's files in mom_priv/jobs: .JB spec, .SC script, .TK diary, which ends with the end.
 */
#include "executor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diary.h"

void record_note(struct keel_mod *mod, const struct task *t, const char *fmt, ...)
{
	const struct state *st = mod->state;
	char line[1536];
	va_list args;
	int r;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	r = diary_append(st->mom.jobs_dir, t->id, line);
	if (r < 0 && r != -ENOENT)
		st->core->log(mod, KEEL_LOG_ERROR, "Job", t->id, "its diary cannot be written: %s", strerror(-r));
}

static void diary_resumed(struct diary *d, int64_t at, int64_t up)
{
	d->stopped += d->stopped_at ? at - d->stopped_at : 0;
	d->up_stopped += d->up_stopped_at ? up - d->up_stopped_at : 0;
	d->stopped_at = d->up_stopped_at = 0;
}

static void diary_line(struct diary *d, const char *line)
{
	long long n = 0, up = 0;
	unsigned long long start = 0;
	int pid = 0, used = 0;
	char done[8];

	if (sscanf(line, "run %lld", &n) == 1)
		d->run = n;
	else if (sscanf(line, "shepherd %d %llu", &pid, &start) == 2)
		d->shepherd = pid, d->shepherd_start = start;
	else if (sscanf(line, "successor %d %llu", &pid, &start) == 2)
		d->shepherd = pid, d->shepherd_start = start;
	else if (sscanf(line, "placed %d", &pid) == 1)
		d->placed = pid;
	else if (sscanf(line, "began %lld", &n) == 1)
		d->began = n;
	else if (sscanf(line, "walltime %lld", &n) == 1)
		d->walltime = n;
	else if (sscanf(line, "cput %lld", &n) == 1)
		d->cput = n;
	else if (sscanf(line, "ncpus %lld", &n) == 1)
		d->ncpus = n;
	else if (sscanf(line, "started %d", &pid) == 1)
		d->session = pid;
	else if (sscanf(line, "up %lld", &n) == 1)
		d->up = n;
	else if (sscanf(line, "over %lld", &n) == 1)
		d->up_over = n;
	else if (sscanf(line, "stopped %lld %lld", &n, &up) >= 1)
		d->stopped_at = n, d->up_stopped_at = up;
	else if (sscanf(line, "resumed %lld %lld", &n, &up) >= 1)
		diary_resumed(d, n, up);
	else if (sscanf(line, "limit %lld", &n) == 1)
		d->limit = (int32_t)n;
	else if (sscanf(line, "refused %d %n", &pid, &used) == 1 && used)
		d->refused = pid, snprintf(d->why, sizeof(d->why), "%s", line + used);
	else if (sscanf(line, "ended %lld session %d cpu_us %llu max_rss_kb %*u at %*d %7s", &n, &pid, &start,
			done) == 4 && strcmp(done, "done") == 0)
		d->ended = true, d->status = (int32_t)n, d->session = pid, d->cpu_us = start;
	else if (sscanf(line, "uid %lld", &n) == 1)
		d->uid = (uid_t)n;
	else if (strncmp(line, "user ", 5) == 0)
		snprintf(d->user, sizeof(d->user), "%s", line + 5);
	else if (strncmp(line, "world ", 6) == 0)
		snprintf(d->world, sizeof(d->world), "%s", line + 6);
	else if (strncmp(line, "output ", 7) == 0)
		snprintf(d->output, sizeof(d->output), "%s", line + 7);
	else if (strncmp(line, "error ", 6) == 0)
		snprintf(d->error, sizeof(d->error), "%s", line + 6);
	else if (strncmp(line, "freezer ", 8) == 0)
		snprintf(d->freezer, sizeof(d->freezer), "%s", line + 8);
}

int record_read(const char *jobs_dir, const char *id, struct diary *ret)
{
	struct diary d = { .run = -1, .ncpus = 1, .placed = -1, .uid = (uid_t)-1 };
	char path[4096], *line = NULL;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.TK", jobs_dir, id);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		diary_line(&d, line);
	}
	free(line);
	fclose(f);
	if (d.run < 0 || d.shepherd <= 1)
		return -EPROTO;
	if (d.refused) /* that of a process which could not become the task */
		d.session = 0;
	*ret = d;
	return 0;
}

static void usage_path(const char *jobs_dir, const struct task *t, char path[4096])
{
	snprintf(path, 4096, "%s/%s.US", jobs_dir, t->id);
}

/* One line of one length: who reads it finds the old one or the new one. */
void record_usage(struct keel_mod *mod, const struct task *t)
{
	const struct state *st = mod->state;
	const struct usage *u = &t->usage;
	char path[4096], text[200], line[sizeof(text) + 1];
	int fd;

	usage_path(st->mom.jobs_dir, t, path);
	fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	snprintf(text, sizeof(text), "run %lld cput_ms %llu mem_kb %llu vmem_kb %llu cpupercent %llu done", (long long)t->run,
		 (unsigned long long)u->cput_ms, (unsigned long long)u->mem_kb, (unsigned long long)u->vmem_kb,
		 (unsigned long long)u->cpupercent);
	snprintf(line, sizeof(line), "%-199s\n", text);
	if (pwrite(fd, line, sizeof(line) - 1, 0) < 0)
		st->core->log(mod, KEEL_LOG_ERROR, "Job", t->id, "%s: %s", path, strerror(errno));
	close(fd);
}

void record_usage_read(const char *jobs_dir, const struct task *t, struct usage *ret)
{
	unsigned long long cput, mem, vmem, percent;
	char path[4096], done[8];
	long long run;
	FILE *f;

	usage_path(jobs_dir, t, path);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fscanf(f, "run %lld cput_ms %llu mem_kb %llu vmem_kb %llu cpupercent %llu %7s", &run, &cput, &mem, &vmem,
		   &percent, done) == 6 && run == t->run && strcmp(done, "done") == 0)
		*ret = (struct usage){ .cput_ms = cput, .mem_kb = mem, .vmem_kb = vmem, .cpupercent = percent,
				       .last_cput_ms = cput };
	fclose(f);
}

static const char *const suffixes[] = { ".SC", ".JB", ".US", ".TK" }; /* .TK last: without it they are no task's */

void record_remove(struct keel_mod *mod, const char *id)
{
	const struct state *st = mod->state;
	char path[4096];

	snprintf(path, sizeof(path), "%s/aux/%s", st->core->home(mod), id);
	unlink(path);
	for (size_t i = 0; i < KEEL_COUNT(suffixes); i++) {
		snprintf(path, sizeof(path), "%s/%s%s", st->mom.jobs_dir, id, suffixes[i]);
		unlink(path);
	}
}

bool record_is_file(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < KEEL_COUNT(suffixes); i++)
		if (len > 3 && strcmp(name + len - 3, suffixes[i]) == 0)
			return true;
	return false;
}
