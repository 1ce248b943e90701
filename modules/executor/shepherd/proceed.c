/* SPDX-License-Identifier: Apache-2.0
 *
 * proceed.c - a shepherd was killed, and its task has lost who watched over it: end what is left of it. Its output
 * and its directories are then dealt with as ever. How its program ends cannot be learned any more. One that has not
 * begun leaves nothing.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../group.h"
#include "../proc.h"
#include "shepherd.h"

/* The job's cookie is in the environment of its processes, in whatever session they are. */
static const char *cookie_of(const struct spec *s)
{
	static const char name[] = "PBS_JOBCOOKIE=";

	for (size_t i = 0; i < s->n_env; i++)
		if (strncmp(s->env[i], name, sizeof(name) - 1) == 0 && s->env[i][sizeof(name) - 1])
			return s->env[i];
	return NULL;
}

static void strays_kill(const struct spec *s)
{
	char *began = record_last(s, "started "), *who = record_last(s, "shepherd ");
	unsigned long long since = 0;
	int session = began ? atoi(began) : 0;
	char node[40];

	snprintf(node, sizeof(node), "PBS_NODENUM=%u", s->index);
	if (s->cgroup)
		group_kill(s->cgroup);
	if (who)
		sscanf(who, "%*d %llu", &since);
	proc_kill_strays(session, cookie_of(s), node, since, s->drop ? s->uid : getuid());
	free(began);
	free(who);
	rest_end(s);
}

/* It was refused, or its first process may not even have been there. */
static bool had_begun(const struct spec *s)
{
	char *refused = record_last(s, "refused "), *began = record_last(s, "started ");
	bool yes = began && !refused;

	free(began);
	free(refused);
	return yes;
}

/* From the last line of the diary, where there is one. */
static bool end_read(const struct spec *s, struct outcome *ret)
{
	char *end = record_last(s, "ended "), done[8];
	int session;
	bool known = end && sscanf(end, "%d session %d cpu_us %*u max_rss_kb %*u at %*d %7s", &ret->status, &session, done) == 3 &&
		     strcmp(done, "done") == 0;

	if (known)
		ret->session = session;
	free(end);
	return known;
}

int proceed(struct spec *s, struct outcome *ret)
{
	char *tmpdir = record_last(s, "tmpdir "), *began, world[PROC_WORLD_SIZE], *then = record_last(s, "world ");

	if (tmpdir)
		s->tmpdir = tmpdir; /* kept: we end soon */
	/* Pids mean nothing any more when the machine was started anew. */
	proc_world(world);
	if (then && world[0] && strcmp(then, world) == 0)
		strays_kill(s);
	free(then);
	if (!had_begun(s)) {
		courier_clean(s, false);
		return -ENOENT;
	}
	if (end_read(s, ret))
		return 0;
	began = record_last(s, "started ");
	*ret = (struct outcome){ .status = 256 + SIGKILL, .session = began ? atoi(began) : 0 };
	free(began);
	outcome_write(s, ret); /* where it cannot be written the output is placed all the same */
	return 0;
}
