/* SPDX-License-Identifier: Apache-2.0
 *
 * survey.c - hosts by state and version, and the job that has waited longest: walks in slices.
 *
 * Jobs are walked only when the job that was the oldest one waits no more: one that comes to wait later is younger.
 */
#include "health.h"

#include <stdlib.h>
#include <string.h>

KEEL_USE(job);
KEEL_USE(node);
KEEL_ATTRS_OF(job, etime, qtime);
KEEL_ATTR_OF(node, pbs_version);

#define SLICE_US 1000
#define LOOK_EVERY 32 /* objects, at the clock */

/* ---- hosts ------------------------------------------------------------------------------------------------------ */

/* Is this the first vnode of its host? */
static bool is_new(struct survey *s, const char *host)
{
	uint64_t hash = 14695981039346656037ULL;
	uint32_t at;

	for (; *host; host++)
		hash = (hash ^ (unsigned char)*host) * 1099511628211ULL;
	hash += hash == 0;
	for (at = (uint32_t)(hash % s->room); s->seen[at]; at = (at + 1) % s->room)
		if (s->seen[at] == hash)
			return false;
	s->seen[at] = hash;
	return true;
}

static enum host_state state_of(struct keel_mod *mod, struct keel_obj *node)
{
	const uint32_t bits = keel_node_state(node);

	(void)mod;
	if (bits & (KEEL_NODE_OFFLINE | KEEL_NODE_OFFLINE_BY_MOM))
		return HOST_OFFLINE;
	if (bits & (KEEL_NODE_DOWN | KEEL_NODE_UNKNOWN))
		return HOST_DOWN;
	return (bits & (KEEL_NODE_STALE | KEEL_NODE_SLEEP)) ||
			       (keel_node_closed_inside(node) && !(bits & (KEEL_NODE_JOB_EXCLUSIVE | KEEL_NODE_BUSY)))
		       ? HOST_CLOSED
		       : HOST_UP;
}

static void version_count(struct survey *s, const char *text)
{
	char clean[sizeof(s->version[0].text)];
	uint32_t i;

	for (i = 0; text[i] && i < sizeof(clean) - 1; i++)
		clean[i] = text[i] >= ' ' && text[i] < 127 ? text[i] : '?';
	clean[i] = '\0';
	for (i = 0; i < s->n_versions && strcmp(s->version[i].text, clean) != 0; i++)
		;
	if (i == s->n_versions && i < VERSIONS)
		strcpy(s->version[s->n_versions++].text, clean);
	else if (i == s->n_versions)
		strcpy(s->version[i].text, "other");
	s->version[i].hosts++;
}

static void host_count(struct keel_mod *mod, struct survey *s, struct keel_obj *node, const char *host)
{
	const enum host_state state = state_of(mod, node);
	const char *version = keel_get_str(node, node_pbs_version);

	s->hosts[state]++;
	s->unlinked += !keel_node_linked(node);
	if (state == HOST_DOWN && s->hosts[HOST_DOWN] <= NAMES_SHOWN)
		keel_text_printf(&s->down, "%s%s", s->hosts[HOST_DOWN] > 1 ? ", " : "", host);
	version_count(s, version ? version : NO_VERSION);
}

static void node_count(struct keel_mod *mod, struct survey *s, struct keel_obj *node)
{
	const char *host = keel_node_host_of(keel_id(node));

	/* Vnodes may come while the walk goes on: the places are for twice as many as there were. */
	if (++s->vnodes < s->room && is_new(s, host ? host : keel_id(node)))
		host_count(mod, s, node, host ? host : keel_id(node));
}

/* ---- the job that has waited longest ------------------------------------------------------------------------------ */

/* Since when it could start; 0: it waits for nothing but a time, a hold, or is no queued job. */
static int64_t waits_since(struct keel_obj *job)
{
	int64_t since;

	if (keel_job_state(job) != 'Q')
		return 0;
	since = keel_get_int(job, job_etime);
	return since > 0 ? since : keel_get_int(job, job_qtime);
}

static void job_look(struct survey *s, struct keel_obj *job)
{
	const int64_t since = waits_since(job);

	if (since <= 0 || (s->best[0] && since >= s->best_since))
		return;
	s->best_since = since;
	strncpy(s->best, keel_id(job), sizeof(s->best) - 1);
}

/* Is the one that was the oldest still that? */
static bool is_known(struct keel_mod *mod, struct survey *s)
{
	struct keel_obj *job = s->oldest[0] ? keel_find(mod, "job", s->oldest) : NULL;

	return job && waits_since(job) == s->since;
}

/* ---- slices ------------------------------------------------------------------------------------------------------- */

void survey_end(struct survey *s)
{
	if (s->nodes)
		keel_cursor_close(s->nodes);
	if (s->jobs)
		keel_cursor_close(s->jobs);
	s->nodes = s->jobs = NULL;
	keel_text_fini(&s->down);
	free(s->seen);
	s->seen = NULL;
}

void survey_begin(struct keel_mod *mod, struct survey *s)
{
	char oldest[sizeof(s->oldest)];
	const int64_t since = s->since;

	survey_end(s);
	memcpy(oldest, s->oldest, sizeof(oldest));
	memset(s, 0, sizeof(*s));
	memcpy(s->oldest, oldest, sizeof(oldest));
	s->since = since;
	keel_text_init(&s->down);
	s->room = 2 * keel_count(mod, "node") + 64;
	s->seen = calloc(s->room, sizeof(*s->seen));
	s->nodes = keel_cursor(mod, "node");
	if (!is_known(mod, s)) {
		s->oldest[0] = '\0';
		s->jobs = keel_cursor(mod, "job");
		s->failed = !s->jobs;
	}
	s->failed = s->failed || !s->seen || !s->nodes;
}

/* Returns whether the walk has ended; false: the slice has. */
static bool walk(struct keel_mod *mod, struct survey *s, struct keel_cursor **cursor, int64_t until)
{
	struct keel_obj *obj;

	for (uint32_t n = 1; *cursor && (obj = keel_next(*cursor)) != NULL; n++) {
		if (cursor == &s->nodes)
			node_count(mod, s, obj);
		else
			job_look(s, obj);
		if (n % LOOK_EVERY == 0 && keel_clock_us(mod) > until)
			return false;
	}
	if (*cursor)
		keel_cursor_close(*cursor);
	*cursor = NULL;
	return true;
}

bool survey_go(struct keel_mod *mod, struct survey *s)
{
	const int64_t until = keel_clock_us(mod) + SLICE_US;

	if (s->failed)
		return true;
	if (!walk(mod, s, &s->nodes, until) || !walk(mod, s, &s->jobs, until))
		return false;
	if (s->best[0]) {
		memcpy(s->oldest, s->best, sizeof(s->oldest));
		s->since = s->best_since;
	}
	return true;
}
