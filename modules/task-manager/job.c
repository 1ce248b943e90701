/* SPDX-License-Identifier: Apache-2.0
 *
 * job.c - jobs that have a part on this host and whose tasks, or clients, are known here.
 */
#include "task-manager.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static void job_free(struct job *j)
{
	free(j->id);
	free(j);
}

static struct job *job_create(struct state *s, const struct keel_part *p)
{
	struct job *j = calloc(1, sizeof(*j));

	if (j == NULL || (j->id = strdup(p->id)) == NULL) {
		free(j);
		return NULL;
	}
	j->run = p->run;
	j->slot = keel_part_slot(p, p->index);
	j->next = 2; /* 1 is the job's program */
	HASH_ADD_KEYPTR(hh, s->jobs, j->id, strlen(j->id), j);
	if (j->hh.tbl == NULL) {
		job_free(j);
		return NULL;
	}
	return j;
}

struct job *job_find(struct state *s, const char *id, int64_t run)
{
	struct job *j;

	HASH_FIND_STR(s->jobs, id, j);
	return j != NULL && j->run == run ? j : NULL;
}

struct job *job_of(struct state *s, const struct keel_part *p)
{
	struct job *j;

	HASH_FIND_STR(s->jobs, p->id, j);
	if (j != NULL && j->run != p->run) {
		job_destroy(s, j);
		j = NULL;
	}
	return j != NULL ? j : job_create(s, p);
}

void job_destroy(struct state *s, struct job *j)
{
	struct task *t, *next;
	struct event *e, *after;

	while (j->clients != NULL)
		client_end(j->clients, TM_ENOTCONNECTED, "the job is over on this host");
	HASH_ITER(hh, j->tasks, t, next)
		task_remove(j, t);
	/* Those that a service works on are freed when it calls back. */
	DL_FOREACH_SAFE(j->events, e, after)
		e->job = NULL;
	values_destroy(j);
	HASH_DEL(s->jobs, j);
	job_free(j);
}

/* A job that was found at start has tasks that this daemon does not know: it goes on where they hardly are. */
uint32_t job_number(struct job *j)
{
	const uint32_t most = (1u << NUMBER_BITS) - 1;
	uint32_t number;

	if (j->found && !j->moved && getrandom(&j->next, sizeof(j->next), 0) != (ssize_t)sizeof(j->next))
		j->next = most / 2;
	j->moved = true;
	do {
		j->next &= most;
		if (j->next < 2)
			j->next = 2;
		number = j->slot << NUMBER_BITS | j->next++;
	} while (task_find(j, number) != NULL);
	return number;
}
