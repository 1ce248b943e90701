/* SPDX-License-Identifier: Apache-2.0
 *
 * job.c - jobs that have a part here and are on more than one host.
 */
#include "sisters.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct job *job_find(struct keel_mod *mod, const char *id, int64_t run)
{
	struct state *st = mod->state;
	struct job *j = NULL;

	if (id)
		HASH_FIND_STR(st->jobs, id, j);
	return j && j->run == run ? j : NULL;
}

int job_host(const struct job *j, const char *name)
{
	for (uint32_t i = 0; name && i < j->n; i++)
		if (strcmp(j->hosts[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void job_free(struct job *j)
{
	for (uint32_t i = 0; j->hosts && i < j->n; i++) {
		free(j->hosts[i].name);
		free(j->hosts[i].address);
		free(j->hosts[i].key);
	}
	if (j->record >= 0)
		close(j->record);
	keel_strings_free(j->items);
	free(j->primary.hosts);
	free(j->hosts);
	free(j->id);
	free(j);
}

static bool host_copy(const struct keel_part_host *from, struct host *to)
{
	to->name = strdup(from->name);
	to->address = from->address ? strdup(from->address) : NULL;
	to->key = from->key ? strdup(from->key) : NULL;
	return to->name && (to->address || !from->address) && (to->key || !from->key);
}

static struct job *job_make(const struct keel_part *part)
{
	struct job *j = calloc(1, sizeof(*j));
	bool whole = j && (j->id = strdup(part->id)) && (j->hosts = calloc(part->n_hosts, sizeof(*j->hosts))) &&
		     (j->primary.hosts = calloc(part->n_hosts, sizeof(*j->primary.hosts)));

	if (j)
		j->record = -1;
	for (uint32_t i = 0; whole && i < part->n_hosts; i++) {
		whole = host_copy(&part->hosts[i], &j->hosts[i]);
		j->n++;
	}
	if (!whole) {
		if (j)
			job_free(j);
		return NULL;
	}
	j->run = part->run;
	j->self = part->index;
	return j;
}

static void tick(struct keel_mod *mod, void *arg);

static void tick_need(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (!st->tick && st->jobs && !st->stopping)
		st->tick = keel_timer(mod, TICK_MS, tick, NULL);
}

struct job *job_of(struct keel_mod *mod, const struct keel_part *part)
{
	struct state *st = mod->state;
	struct job *j;

	HASH_FIND_STR(st->jobs, part->id, j);
	if (j && j->run == part->run)
		return j;
	if (j)
		job_drop(mod, j);
	if (part->n_hosts < 2)
		return NULL;
	j = job_make(part);
	if (j) {
		HASH_ADD_KEYPTR(hh, st->jobs, j->id, strlen(j->id), j);
		if (j->hh.tbl) {
			if (j->self == 0)
				lead_init(mod, j, part);
			else
				follow_init(mod, j, part);
			tick_need(mod);
			return j;
		}
		job_free(j);
	}
	keel_log(mod, KEEL_LOG_ERROR, "Job", part->id, "no memory for the job's other hosts");
	return NULL;
}

void job_drop(struct keel_mod *mod, struct job *j)
{
	struct state *st = mod->state;

	for (uint32_t i = 0; i < j->n; i++)
		pair_release(j, i);
	gates_free(j);
	tasks_free(mod, j);
	output_forget(mod, j);
	HASH_DEL(st->jobs, j);
	job_free(j);
}

void job_resized(struct keel_mod *mod, struct job *j, const struct keel_part *part)
{
	for (uint32_t i = 0; i < j->n; i++) {
		uint32_t k = 0;

		while (k < part->n_hosts && strcmp(part->hosts[k].name, j->hosts[i].name) != 0)
			k++;
		if (k < part->n_hosts)
			continue;
		pair_release(j, i);
		if (j->self == 0 && i > 0) {
			primary_released(&j->primary, i);
			tasks_lost(mod, j, i);
		}
	}
}

/* ---- links --------------------------------------------------------------------------------------------- */
/* A link is known to be lost when its grace is over, or seen to be by looking. */
static void look(struct keel_mod *mod, struct job *j)
{
	int64_t now = keel_now_ms(mod);

	if (j->self == 0) {
		for (uint32_t i = 1; i < j->n; i++)
			primary_link(&j->primary, i, keel_link_is_up(mod, pair_peer(&j->hosts[i])), now);
		return;
	}
	if (!keel_link_is_up(mod, pair_peer(&j->hosts[0])))
		sister_link(&j->sister, false, now);
}

static bool alone(struct keel_mod *mod, const struct job *j)
{
	for (uint32_t i = 1; i < j->n; i++)
		if (j->primary.hosts[i].linked)
			return false;
	return !keel_link_is_up(mod, "server");
}

static void tick(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct job *j, *next;
	int64_t now = keel_now_ms(mod);

	(void)arg;
	st->tick = NULL;
	HASH_ITER(hh, st->jobs, j, next) {
		const struct keel_part *part = keel_part_find(j->id);

		look(mod, j);
		tasks_tick(mod, j, now);
		if (j->self == 0) {
			j->primary.stopped = part && part->state == KEEL_PART_STOPPED;
			j->primary.downtime_ms = limit_ms(mod, LIMIT_DOWNTIME);
			primary_tick(&j->primary, now, alone(mod, j));
		} else {
			j->sister.downtime_ms = limit_ms(mod, LIMIT_DOWNTIME);
			sister_tick(&j->sister, now);
			output_pump(mod, j);
		}
	}
	tick_need(mod);
}
