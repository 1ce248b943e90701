/* SPDX-License-Identifier: Apache-2.0
 *
 * record.c - a task's files in mom_priv/jobs: .JB spec, .SC script, .TK diary, which ends with the end.
 */
#include "executor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
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
		keel_log(mod, KEEL_LOG_ERROR, "Job", t->id, "its diary cannot be written: %s", strerror(-r));
}

static void resumed_take(struct diary *d, const char *rest)
{
	long long at = 0, up = 0;

	if (sscanf(rest, "%lld %lld", &at, &up) < 1)
		return;
	d->stopped += d->stopped_at ? at - d->stopped_at : 0;
	d->up_stopped += d->up_stopped_at ? up - d->up_stopped_at : 0;
	d->stopped_at = d->up_stopped_at = 0;
}

static void stopped_take(struct diary *d, const char *rest)
{
	long long at = 0, up = 0;

	if (sscanf(rest, "%lld %lld", &at, &up) >= 1)
		d->stopped_at = at, d->up_stopped_at = up;
}

static void shepherd_take(struct diary *d, const char *rest)
{
	unsigned long long start;
	int pid;

	if (sscanf(rest, "%d %llu", &pid, &start) == 2)
		d->shepherd = pid, d->shepherd_start = start;
}

static void started_take(struct diary *d, const char *rest)
{
	d->started = true;
	d->session = (pid_t)strtol(rest, NULL, 10);
}

static void settled_take(struct diary *d, const char *rest)
{
	(void)rest;
	d->settled = true;
}

static void refused_take(struct diary *d, const char *rest)
{
	int status, used = 0;

	if (sscanf(rest, "%d %n", &status, &used) == 1 && used)
		d->refused = status, snprintf(d->why, sizeof(d->why), "%s", rest + used);
}

static void ended_take(struct diary *d, const char *rest)
{
	unsigned long long cpu_us;
	int status, session;
	char done[8];

	if (sscanf(rest, "%d session %d cpu_us %llu max_rss_kb %*u at %*d %7s", &status, &session, &cpu_us, done) == 4 &&
	    strcmp(done, "done") == 0)
		d->ended = true, d->status = status, d->session = session, d->cpu_us = cpu_us;
}

/* The first word of a line, and what the rest of it becomes: a number of so many bytes, a text in as many, or what
 * a function makes of it. */
#define NUMBER(member) offsetof(struct diary, member), .number = sizeof(((struct diary *)0)->member)
#define TEXT(member) offsetof(struct diary, member), .text = sizeof(((struct diary *)0)->member)
static const struct {
	const char *word;
	size_t at, number, text;
	void (*take)(struct diary *d, const char *rest);
} words[] = {
	{ "world ", TEXT(world) },	{ "run ", NUMBER(run) },
	{ "shepherd ", .take = shepherd_take }, { "successor ", .take = shepherd_take },
	{ "began ", NUMBER(began) },	{ "up ", NUMBER(up) },
	{ "uid ", NUMBER(uid) },	{ "user ", TEXT(user) },
	{ "walltime ", NUMBER(walltime) }, { "cput ", NUMBER(cput) },
	{ "ncpus ", NUMBER(ncpus) },	{ "output ", TEXT(output) },
	{ "error ", TEXT(error) },	{ "freezer ", TEXT(freezer) },
	{ "bound ", TEXT(bound) },
	{ "started ", .take = started_take }, { "settled", .take = settled_take }, { "refused ", .take = refused_take },
	{ "stopped ", .take = stopped_take }, { "resumed ", .take = resumed_take },
	{ "notice ", TEXT(notice) },	{ "limit ", NUMBER(limit) },	{ "over ", NUMBER(up_over) },
	{ "ended ", .take = ended_take }, { "placed ", NUMBER(placed) },
	{ "unrun ", TEXT(unrun) },
	{ "kept.OU ", TEXT(kept[0].at) }, { "dest.OU ", TEXT(kept[0].dest) }, { "why.OU ", TEXT(kept[0].why) },
	{ "kept.ER ", TEXT(kept[1].at) }, { "dest.ER ", TEXT(kept[1].dest) }, { "why.ER ", TEXT(kept[1].why) },
};

static void diary_line(struct diary *d, const char *line)
{
	for (size_t i = 0; i < KEEL_COUNT(words); i++) {
		size_t len = strlen(words[i].word);
		char *at = (char *)d + words[i].at, *end;
		int64_t n;

		if (strncmp(line, words[i].word, len) != 0)
			continue;
		line += len;
		n = strtoll(line, &end, 10);
		if (words[i].take)
			words[i].take(d, line);
		else if (!words[i].number)
			snprintf(at, words[i].text, "%s", line);
		else if (end != line)
			memcpy(at, words[i].number == sizeof(int32_t) ? (const void *)&(int32_t){ (int32_t)n } : &n,
			       words[i].number);
		return;
	}
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
		d.session = 0, d.started = false;
	*ret = d;
	return 0;
}

static void usage_path(const char *jobs_dir, const struct task *t, char path[4096])
{
	snprintf(path, 4096, "%s/%s.US", jobs_dir, t->id);
}

#define USAGE_LINE 200

/* One line of one length: who reads it finds the old one or the new one. */
void record_usage(struct keel_mod *mod, const struct task *t)
{
	const struct state *st = mod->state;
	const struct usage *u = &t->usage;
	char path[4096], text[USAGE_LINE], line[USAGE_LINE + 1];
	int fd;

	usage_path(st->mom.jobs_dir, t, path);
	fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	snprintf(text, sizeof(text), "run %lld cput_ms %llu mem_kb %llu vmem_kb %llu cpupercent %llu done", (long long)t->run,
		 (unsigned long long)u->cput_ms, (unsigned long long)u->mem_kb, (unsigned long long)u->vmem_kb,
		 (unsigned long long)u->cpupercent);
	snprintf(line, sizeof(line), "%-*s\n", USAGE_LINE - 1, text);
	if (pwrite(fd, line, sizeof(line) - 1, 0) < 0)
		keel_log(mod, KEEL_LOG_ERROR, "Job", t->id, "%s: %s", path, strerror(errno));
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

/* Behind that, a line for each other host that has used something, at the place of its number. */
#define ELSEWHERE_LINE 400

void record_elsewhere(struct keel_mod *mod, const struct task *t, const struct elsewhere *e)
{
	const struct state *st = mod->state;
	char path[4096], text[ELSEWHERE_LINE], line[ELSEWHERE_LINE + 1];
	int fd;

	usage_path(st->mom.jobs_dir, t, path);
	if (access(path, F_OK) < 0) /* it has not run for long */
		record_usage(mod, t);
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	snprintf(text, sizeof(text), "%s %llu %llu %llu %llu done", e->host, (unsigned long long)e->cput_ms,
		 (unsigned long long)e->mem_kb, (unsigned long long)e->vmem_kb, (unsigned long long)e->cpupercent);
	snprintf(line, sizeof(line), "%-*s\n", ELSEWHERE_LINE - 1, text);
	if (pwrite(fd, line, ELSEWHERE_LINE, USAGE_LINE + (off_t)e->number * ELSEWHERE_LINE) < 0)
		keel_log(mod, KEEL_LOG_ERROR, "Job", t->id, "%s: %s", path, strerror(errno));
	close(fd);
}

void record_elsewhere_read(const char *jobs_dir, const struct task *t)
{
	unsigned long long cput, mem, vmem, percent;
	char path[4096], host[256], done[8], *line = NULL;
	size_t room = 0;
	FILE *f;

	usage_path(jobs_dir, t, path);
	f = t->part ? fopen(path, "re") : NULL;
	if (f && getline(&line, &room, f) > 0)
		while (getline(&line, &room, f) > 0)
			if (sscanf(line, "%255s %llu %llu %llu %llu %7s", host, &cput, &mem, &vmem, &percent, done) == 6 &&
			    strcmp(done, "done") == 0)
				part_elsewhere_put(t->part, host, &(struct elsewhere){ .cput_ms = cput, .mem_kb = mem,
										       .vmem_kb = vmem, .cpupercent = percent });
	free(line);
	if (f)
		fclose(f);
}

static const char *const suffixes[] = { ".SC", ".JB", ".US", ".TK" }; /* .TK last: without it they are no task's */

void record_remove(struct keel_mod *mod, const char *id)
{
	const struct state *st = mod->state;
	char path[4096];

	snprintf(path, sizeof(path), "%s/aux/%s", keel_home(mod), id);
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
