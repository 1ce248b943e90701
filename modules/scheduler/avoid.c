/* SPDX-License-Identifier: Apache-2.0
 *
 * avoid.c - a host that refused a job is not used for that job for a while, longer each time.
 *
 * The start itself had succeeded by then (start.c): the refusal comes with the requeue of a job that was
 * placed and never started. What happens on one host costs the job only that host, and the host only that job.
 */
#include "scheduler.h"
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(job, exec_vnode);

#define AVOIDED 4 /* hosts kept per job; the oldest goes first */
#define DOUBLED 5

struct avoided {
	char *vnode; /* the first one it had there */
	int64_t since_ms, until_ms;
	uint32_t times;
};

struct memory {
	struct avoided host[AVOIDED];
	uint32_t n;
};

void avoid_forget(struct entry *e)
{
	while (e->refused && e->refused->n)
		free(e->refused->host[--e->refused->n].vnode);
	free(e->refused);
	free(e->sent_to);
	e->refused = NULL;
	e->sent_to = NULL;
}

void avoid_sent(struct entry *e)
{
	const char *exec = keel_get_str(e->job, job_exec_vnode);

	free(e->sent_to);
	e->sent_to = NULL;
	if (exec && *exec == '(')
		e->sent_to = strndup(exec + 1, strcspn(exec + 1, ":+)"));
}

static struct avoided *remembered(struct memory *m, const char *vnode)
{
	uint32_t i = 0;

	while (i < m->n && strcmp(m->host[i].vnode, vnode) != 0)
		i++;
	if (i < m->n)
		return &m->host[i];
	if (m->n == AVOIDED) {
		free(m->host[0].vnode);
		memmove(m->host, m->host + 1, sizeof(m->host) - sizeof(m->host[0]));
		m->n--;
	}
	m->host[m->n] = (struct avoided){ .vnode = strdup(vnode) };
	return m->host[m->n].vnode ? &m->host[m->n++] : NULL;
}

/* Jobs that may try again are looked at; one timer for all of them. */
static void time_passes(struct keel_mod *mod, void *arg)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;

	(void)arg;
	st->avoid_timer = NULL;
	st->epoch++;
	wake(mod, CMD_JOB);
	if (keel_now_ms(mod) < st->avoid_until_ms)
		st->avoid_timer = keel_timer(mod, conf->rest, time_passes, NULL);
}

void avoid_refused(struct keel_mod *mod, struct entry *of, struct entry *job)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	struct avoided *a;

	if (!of->sent_to)
		return;
	if (!job->refused)
		job->refused = calloc(1, sizeof(*job->refused));
	a = job->refused ? remembered(job->refused, of->sent_to) : NULL;
	free(of->sent_to);
	of->sent_to = NULL;
	if (!a)
		return;
	a->since_ms = keel_now_ms(mod);
	a->until_ms = a->since_ms + (conf->rest << (a->times < DOUBLED ? a->times : DOUBLED));
	a->times++;
	if (a->until_ms > st->avoid_until_ms)
		st->avoid_until_ms = a->until_ms;
	if (!st->avoid_timer)
		st->avoid_timer = keel_timer(mod, conf->rest, time_passes, NULL);
}

static bool is_avoided(struct keel_mod *mod, const struct avoided *a)
{
	struct state *st = mod->state;

	return !st->serving && a->until_ms > keel_now_ms(mod) && a->since_ms >= st->forgiven_ms;
}

bool avoids(struct keel_mod *mod, const struct entry *e)
{
	uint32_t i;

	for (i = 0; e->refused && i < e->refused->n; i++)
		if (is_avoided(mod, &e->refused->host[i]))
			return true;
	return false;
}

bool avoid_tell(struct keel_mod *mod, const struct entry *e, char *text, size_t size)
{
	int64_t now = keel_now_ms(mod);
	size_t len = 0;
	uint32_t i;

	for (i = 0; e && e->refused && i < e->refused->n && len < size; i++) {
		const struct avoided *a = &e->refused->host[i];

		if (is_avoided(mod, a))
			len += (size_t)snprintf(text + len, size - len, "%s%s for another %lld s (failed there %u times)",
						len ? ", " : "", a->vnode, (long long)(a->until_ms - now + 999) / 1000, a->times);
	}
	return len > 0;
}

void avoid_shut(struct keel_mod *mod, struct snapshot *s, struct keel_obj *job, struct shut *ret)
{
	const struct entry *e = entry_of(mod, job);
	uint32_t i, k, n;

	*ret = (struct shut){ 0 };
	for (i = 0; e && e->refused && i < e->refused->n; i++) {
		const struct avoided *a = &e->refused->host[i];
		const struct vnode *v = is_avoided(mod, a) ? vnode_named(s, a->vnode) : NULL;
		const uint32_t *node = v ? order_of_host(s, v->host, &n) : NULL;
		uint32_t *more = node && n ? reallocarray(ret->node, ret->n + n, sizeof(*more)) : NULL;

		if (!more)
			continue;
		ret->node = more;
		for (k = 0; k < n; k++)
			if (s->node[node[k]].usable) {
				s->node[node[k]].usable = false;
				snapshot_changed(s, node[k]);
				ret->node[ret->n++] = node[k];
			}
	}
}

void avoid_open(struct snapshot *s, struct shut *shut)
{
	while (shut->n) {
		s->node[shut->node[--shut->n]].usable = true;
		snapshot_changed(s, shut->node[shut->n]);
	}
	free(shut->node);
}
