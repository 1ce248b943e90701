/* SPDX-License-Identifier: Apache-2.0
 *
 * record.c - of a hook with debug = true: what its script had and what it answered, as JSON, in hooks/tmp of the daemon's private
 * folder.
 *
 *	hook_<event>_<hook>_<time>.<n>.in	{"setup": {...}, "event": {...}, "answers": [[question, answer] ...]}
 *	hook_<event>_<hook>_<time>.<n>.out	RESULT
 *
 * A worker writes them; of many the oldest go. `keelson hook run` takes an .in.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pool.h"
#include "run.h"

#define FILES_MAX 1000u
#define ANSWERS_MAX (4u << 20) /* bytes */
#define UNDER_WAY_MAX 64	/* others are not recorded */

struct record {
	struct pack setup, event, answers, result;
	uint32_t n_answers;
	char *dir, *path; /* path: without .in */
	int error;
};

void record_free(struct record *rec)
{
	if (!rec)
		return;
	pack_fini(&rec->setup);
	pack_fini(&rec->event);
	pack_fini(&rec->answers);
	pack_fini(&rec->result);
	free(rec->dir);
	free(rec->path);
	free(rec);
}

/* ---- files: a worker --------------------------------------------------------------------------------------- */
static FILE *file_open(struct record *rec, const char *suffix)
{
	char path[1400];
	int fd;

	snprintf(path, sizeof(path), "%s%s", rec->path, suffix);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd >= 0 ? fdopen(fd, "w") : NULL;
}

/* The oldest one goes. */
static void oldest_remove(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	struct stat s, oldest = { .st_mtime = 0 };
	char name[256] = "";
	uint32_t n = 0;

	while (d && (e = readdir(d)) != NULL) {
		if (strncmp(e->d_name, "hook_", 5) != 0 || fstatat(dirfd(d), e->d_name, &s, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (n++ == 0 || s.st_mtime < oldest.st_mtime) {
			oldest = s;
			snprintf(name, sizeof(name), "%s", e->d_name);
		}
	}
	if (n > FILES_MAX)
		unlinkat(dirfd(d), name, 0);
	if (d)
		closedir(d);
}

static void dirs_make(const char *dir)
{
	char *parent = strdup(dir), *slash = parent ? strrchr(parent, '/') : NULL;

	if (slash) {
		*slash = '\0';
		mkdir(parent, 0755);
	}
	mkdir(dir, 0700);
	free(parent);
}

static void write_work(void *arg)
{
	struct record *rec = arg;
	FILE *in, *out;

	dirs_make(rec->dir);
	in = file_open(rec, ".in");
	out = file_open(rec, ".out");
	if (in && out) {
		fputs("{\"setup\": ", in);
		json_write(in, &rec->setup);
		fputs(",\n\"event\": ", in);
		json_write(in, &rec->event);
		fputs(",\n\"answers\": ", in);
		json_write(in, &rec->answers);
		fputs("}\n", in);
		json_write(out, &rec->result);
		fputc('\n', out);
	}
	if (!in || !out || ferror(in) || ferror(out))
		rec->error = errno ? errno : EIO;
	if (in && fclose(in) != 0)
		rec->error = errno;
	if (out && fclose(out) != 0)
		rec->error = errno;
	oldest_remove(rec->dir);
	oldest_remove(rec->dir);
}

static void written(struct keel_mod *mod, void *arg)
{
	struct record *rec = arg;

	struct runs *runs = ((struct state *)mod->state)->runs;

	if (runs)
		runs->n_records--;
	if (rec->error)
		keel_log(mod, KEEL_LOG_ERROR, "Hook", "", "cannot write %s.in and .out: %s", rec->path, strerror(rec->error));
	record_free(rec);
}

/* ---- a run ------------------------------------------------------------------------------------------------- */
static bool paths_make(struct record *rec, const struct run *r, int64_t number)
{
	struct keel_mod *mod = r->st->mod;

	if (asprintf(&rec->dir, "%s/%s_priv/hooks/tmp", keel_home(mod), r->event->daemon == KEEL_MOM ? "mom" : "server") < 0)
		rec->dir = NULL;
	if (!rec->dir || asprintf(&rec->path, "%s/hook_%s_%s_%lld.%lld", rec->dir, r->event->name, r->name,
				  (long long)keel_time(mod), (long long)number) < 0)
		rec->path = NULL;
	return rec->path != NULL;
}

void record_in(struct run *r, const struct pack *event)
{
	const struct setup of = { .user = r->user };
	struct record *rec = r->st->runs->n_records < UNDER_WAY_MAX ? calloc(1, sizeof(*rec)) : NULL;

	if (!rec)
		return;
	setup_pack(r->st, r->hook, r->event->daemon == KEEL_MOM, &of, &rec->setup);
	pack_raw(&rec->event, event);
	pack_open_list(&rec->answers);
	if (paths_make(rec, r, ++r->st->runs->recorded) && !rec->setup.failed && !rec->event.failed)
		((struct going *)r)->record = rec;
	else
		record_free(rec);
}

/* The question without its first word. */
static void question_copy(struct pack *p, const struct value *frame)
{
	const char *at = frame->at, *from;
	struct value v;
	uint32_t open = pack_open_list(p);

	value_next(frame, &at, &v);
	from = at;
	while (value_next(frame, &at, &v))
		;
	pack_plain(p, from, (uint32_t)(at - from));
	pack_close(p, open, frame->count - 1);
}

void record_answer(struct run *r, const struct value *frame, const struct pack *answer)
{
	struct record *rec = ((struct going *)r)->record;
	uint32_t open;

	if (!rec || rec->answers.len + answer->len > ANSWERS_MAX)
		return;
	open = pack_open_list(&rec->answers);
	question_copy(&rec->answers, frame);
	pack_raw(&rec->answers, answer);
	pack_close(&rec->answers, open, 2);
	rec->n_answers++;
}

static void result_pack(struct pack *p, const struct result *result)
{
	static const char *const hows[] = { "accept", "reject", "exception", "alarm", "broken" };
	uint32_t map = pack_open_map(p), list;

	pack_pair_text(p, "how", hows[result->how]);
	pack_pair_text(p, "text", result->text);
	pack_pair_text(p, "trace", result->trace);
	pack_pair_int(p, "us", result->us);
	pack_pair_int(p, "rerun", result->rerun);
	pack_pair_int(p, "delete", result->remove);
	pack_pair_int(p, "restart_cycle", result->restart_cycle);
	pack_pair_text(p, "reboot", result->reboot);
	pack_key(p, "changes");
	list = pack_open_list(p);
	for (uint32_t i = 0; i < result->n_changes; i++)
		change_pack(p, result->changes[i].target, &result->changes[i]);
	pack_close(p, list, result->n_changes);
	pack_close(p, map, 9);
}

void record_out(struct run *r, const struct result *result)
{
	struct going *g = (struct going *)r;
	struct record *rec = g->record;

	if (!rec)
		return;
	g->record = NULL;
	pack_close(&rec->answers, 5, rec->n_answers); /* its head has five bytes */
	result_pack(&rec->result, result);
	if (rec->answers.failed || rec->result.failed || keel_work(r->st->mod, write_work, written, rec) < 0) {
		record_free(rec);
		return;
	}
	r->st->runs->n_records++;
}
