/* SPDX-License-Identifier: Apache-2.0
 *
 * program.c - what is about to be started, as modules see it at task_launch and task_spawn, and may change it. It is made
 * of the files that the shepherd reads: <id>.JB, and the description of a task.
 *
 * A change is a description with the whole environment. Of the job's program it is kept until that runs: the shepherd gets it
 * with "run". A shepherd that follows a killed one starts nothing.
 */
#include "executor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "order.h"
#include "talk.h"

#define SPARE 4096u /* of what the system can execute, for itself */

struct shown {
	struct keel_part_task task;
	struct spec spec;
	struct order order;
	char *bytes;
	const char *argv[3];
};

void shown_fini(struct state *st)
{
	struct shown *s = st->mom.shown;

	st->mom.shown = NULL;
	if (!s)
		return;
	order_fini(&s->order);
	spec_fini(&s->spec);
	free(s->bytes);
	free(s);
}

/* NULL: nothing of that number is about to be started. Without bytes: the program, as it is. */
static struct spec_out *description_of(struct task *t, uint32_t number)
{
	if (number != PROGRAM)
		return member_description(t, number);
	return t->gate && t->prepared && !t->passed && !is_sister(t) ? &t->program : NULL;
}

static int spec_read(struct keel_mod *mod, const char *id, struct shown *s)
{
	const struct state *st = mod->state;
	char path[4096];
	int fd, r;

	snprintf(path, sizeof(path), "%s/%s.JB", st->mom.jobs_dir, id);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = spec_load(fd, &s->bytes, &s->spec);
	close(fd);
	return r;
}

static int described_read(const struct spec_out *from, struct shown *s)
{
	char *bytes = malloc(from->len + 1);

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, from->bytes, from->len);
	return order_decode(&s->spec, bytes, from->len, &s->order);
}

static void fill(struct shown *s, bool described)
{
	const struct spec *spec = &s->spec;
	const char *own[] = { spec->shell, spec->script, NULL };

	memcpy(s->argv, own, sizeof(own));
	s->task.argv = described ? (const char *const *)s->order.args
		       : spec->script ? s->argv : (const char *const *)spec->args;
	s->task.env = (const char *const *)(described ? s->order.env : spec->env);
	s->task.dir = s->order.dir ? s->order.dir : spec->sandbox ? spec->sandbox : spec->dir ? spec->dir : spec->home;
}

const struct keel_part_task *program_show(struct keel_mod *mod, const char *id, uint32_t number)
{
	struct state *st = mod->state;
	struct task *t = task_find(st, id);
	const struct spec_out *from = t ? description_of(t, number) : NULL;
	struct shown *s;

	shown_fini(st);
	s = from ? calloc(1, sizeof(*s)) : NULL;
	st->mom.shown = s;
	if (!s || spec_read(mod, id, s) < 0 || (from->bytes && described_read(from, s) < 0))
		return NULL;
	s->task.size = sizeof(s->task);
	s->task.number = number;
	s->task.node = part_index(t);
	fill(s, from->bytes != NULL);
	return &s->task;
}

/* Each string costs its bytes and a pointer. */
static bool strings_fit(const char *const *strings, size_t *left)
{
	for (; strings && *strings; strings++) {
		size_t len = strlen(*strings) + 1;

		if (len > ORDER_STRING_MAX || len + sizeof(char *) > *left)
			return false;
		*left -= len + sizeof(char *);
	}
	return true;
}

static int32_t is_executable(const struct keel_part_task *what)
{
	long most = sysconf(_SC_ARG_MAX);
	size_t left = most > (long)SPARE ? (size_t)most - SPARE : ORDER_STRING_MAX;

	if (!what->argv || !what->argv[0] || !*what->argv[0])
		return -EINVAL;
	for (const char *const *env = what->env; env && *env; env++)
		if (**env == '=' || !strchr(*env, '='))
			return -EINVAL;
	return strings_fit(what->argv, &left) && strings_fit(what->env, &left) ? 0 : -E2BIG;
}

static int describe(const struct keel_part_task *what, struct spec_out *out)
{
	spec_put(out, "whole", "1");
	spec_put(out, "dir", what->dir && *what->dir ? what->dir : NULL);
	for (const char *const *arg = what->argv; *arg; arg++)
		spec_put(out, "arg", *arg);
	for (const char *const *env = what->env; env && *env; env++)
		spec_put(out, "own", *env);
	return spec_end(out);
}

int32_t program_set(struct keel_mod *mod, const char *id, uint32_t number, const struct keel_part_task *theirs)
{
	struct state *st = mod->state;
	struct task *t = task_find(st, id);
	struct spec_out *to = t ? description_of(t, number) : NULL, out = { 0 };
	struct keel_part_task what;
	int32_t r;

	if (!to)
		return -ENOENT;
	KEEL_SIZED(&what, theirs);
	r = is_executable(&what);
	r = r < 0 ? r : describe(&what, &out);
	if (r == 0 && (out.len > TALK_SPAWN_MAX || (number != PROGRAM && out.len > SPAWNS_BYTES_MAX - t->spawn_bytes + to->len)))
		r = -E2BIG;
	if (r < 0) {
		spec_out_fini(&out);
		return r;
	}
	if (number != PROGRAM)
		t->spawn_bytes += out.len - to->len;
	spec_out_fini(to);
	*to = out;
	return 0;
}

int program_file(const struct spec_out *description)
{
	int fd = memfd_create("task", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, description->bytes, description->len) == (ssize_t)description->len)
		return fd;
	close(fd);
	return -ENOSPC;
}
