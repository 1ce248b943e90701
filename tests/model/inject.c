/* SPDX-License-Identifier: Apache-2.0
 *
 * inject.c - break something on purpose, so that it can be seen that the checks find it. Each breaks one
 * promise from outside, as a mistake in a module would.
 */
#include <stdlib.h>
#include <string.h>

#include "keel/service/resv.h"
#include "keel/service/sched.h"
#include "model.h"
#include "msg/msg.h"
#include "registry/registry.h"

static struct keel_obj *first_of(struct sim *s, const char *klass)
{
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, klass);
	struct keel_obj *obj = s->object->next(walk);

	s->object->cursor_close(walk);
	return obj;
}

/* A vnode, the server or a queue counts one cpu too many. */
static bool charge(struct sim *s, struct keel_obj *obj, const char *klass)
{
	const struct keel_attr *a = s->object->attr(&s->owner.pub, klass, "resources_assigned");

	return s->object->set_text(obj, a, KEEL_SET, "ncpus", "99", NULL) == 0;
}

static bool vnode(struct sim *s) { return charge(s, first_of(s, "node"), "node"); }
static bool queue(struct sim *s) { return charge(s, first_of(s, "queue"), "queue"); }
static bool server(struct sim *s) { return charge(s, first_of(s, "server"), "server"); }

/* A job is gone without having ended. */
static bool lost(struct sim *s)
{
	struct keel_obj *job = first_of(s, "job");

	if (job != NULL)
		s->object->destroy(job);
	return job != NULL;
}

/* A running job has given back resources without a suspension. */
static bool released(struct sim *s)
{
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "job");
	const struct keel_attr *exec = s->object->attr(&s->owner.pub, "job", "exec_vnode");
	struct keel_obj *job;

	while ((job = s->object->next(walk)) != NULL)
		if (s->job->state(s->job->self, job) == 'R' && !s->job->is_suspended(s->job->self, job))
			break;
	s->object->cursor_close(walk);
	return job != NULL && s->object->set_str(job, exec, "(n1:ncpus=4)+(n1:ncpus=3)") == 0;
}

/* An administrator's mark without a suspension. */
static bool marked(struct sim *s)
{
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "job");
	const struct keel_attr *mark = s->object->attr(&s->owner.pub, "job", "admin_suspended");
	struct keel_obj *job;

	while ((job = s->object->next(walk)) != NULL)
		if (s->job->state(s->job->self, job) == 'R')
			break;
	s->object->cursor_close(walk);
	return job != NULL && mark != NULL && s->object->set_str(job, mark, "1 by nobody") == 0;
}

/* A run that has begun begins once more, on another host. */
static bool twice(struct sim *s)
{
	const struct host *h;
	struct host *other;

	for (h = s->hosts; h != NULL; h = h->hh.next) {
		const struct task *t = h->tasks;
		struct keel_out *o;
		const char *bytes;
		uint32_t len;

		if (t == NULL || !task_is_alive(t))
			continue;
		other = h->hh.next != NULL ? h->hh.next : s->hosts;
		o = out_create();
		out_put_str(o, "msg", "task.start");
		out_put_str(o, "id", t->id);
		out_put_int(o, "run", t->run);
		bytes = out_bytes(o, &len);
		host_message(other, bytes, len);
		out_drop(o);
		return other->alive;
	}
	return false;
}

static struct task *some_sister(struct sim *s)
{
	for (const struct host *h = s->hosts; h != NULL; h = h->hh.next)
		for (struct task *t = h->tasks; t != NULL; t = t->hh.next)
			if (part_is_sister(t) && task_is_alive(t) && !t->discarded)
				return t;
	return NULL;
}

/* A host loses its part of a job that runs, without a word. */
static bool part(struct sim *s)
{
	struct task *t = some_sister(s);

	if (t != NULL)
		task_vanish(t);
	return t != NULL;
}

/* Another host gets a part that no job has. */
static bool orphan(struct sim *s)
{
	const struct task *t = some_sister(s);
	struct host *other = s->hosts;
	const char *hosts[2], *bytes;
	struct keel_out *o;
	uint32_t len;

	while (t != NULL && other != NULL && task_on(other, t->id) != NULL)
		other = other->hh.next;
	if (t == NULL || other == NULL)
		return false;
	hosts[0] = t->host->name;
	hosts[1] = other->name;
	o = out_create();
	out_put_str(o, "msg", "task.start");
	out_put_str(o, "id", t->id);
	out_put_int(o, "run", t->run);
	out_put_int(o, "index", 1);
	msg_api.put_strings(o, "hosts", hosts, KEEL_COUNT(hosts));
	bytes = out_bytes(o, &len);
	host_message(other, bytes, len);
	out_drop(o);
	return other->alive;
}

/* The reply is never read: the request waits for ever. */
static bool silent(struct sim *s)
{
	s->deaf = true;
	return true;
}

/* ---- reservations ------------------------------------------------------------------------------------------- */

/* Their vnodes are not kept free any more. */
static bool block(struct sim *s)
{
	struct keel_err err;
	const struct keel_sched_api *sched = registry_service(s->parts->registry, "sched", 0, NULL, &err);
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "resv");
	struct keel_obj *resv;
	bool any = false;

	while ((resv = s->object->next(walk)) != NULL) {
		sched->unblock(sched->self, s->object->id(resv), 0);
		any = true;
	}
	s->object->cursor_close(walk);
	return any;
}

/* One that is over is still blocked. */
static bool stale(struct sim *s)
{
	struct keel_err err;
	const struct keel_sched_api *sched = registry_service(s->parts->registry, "sched", 0, NULL, &err);
	struct keel_sched_block b = { .size = sizeof(b), .id = "R99999.svr", .exec_vnode = "(n1:ncpus=1)",
				      .from = sim_time(s) + 20000000, .till = sim_time(s) + 20000100 };

	return sched->block(sched->self, &b, &err) == 0;
}

/* One that is over still holds something. */
static bool holder(struct sim *s)
{
	return s->node->hold(s->node->self, "R99999.svr", "(n1:ncpus=1)", NULL) == 0;
}

/* A vnode is closed without a reason. */
static bool alone(struct sim *s)
{
	s->node->set_state(s->node->self, first_of(s, "node"), 0x2000, true);
	return true;
}

/* A reservation is gone, its queue is not. */
static bool ownerless(struct sim *s)
{
	struct keel_obj *resv = first_of(s, "resv");

	if (resv != NULL)
		s->object->destroy(resv);
	return resv != NULL;
}

/* A reservation that has not begun lets its jobs start. */
static bool early(struct sim *s)
{
	struct keel_cursor *walk = s->object->cursor(&s->owner.pub, "resv");
	const struct keel_attr *state = s->object->attr(&s->owner.pub, "resv", "reserve_state"),
			       *name = s->object->attr(&s->owner.pub, "resv", "queue"),
			       *started = s->object->attr(&s->owner.pub, "queue", "started");
	struct keel_obj *resv, *queue = NULL;

	while (queue == NULL && (resv = s->object->next(walk)) != NULL)
		if (s->object->get_int(resv, state) == KEEL_RESV_CONFIRMED)
			queue = s->object->find(&s->owner.pub, "queue", s->object->get_str(resv, name));
	s->object->cursor_close(walk);
	return queue != NULL && s->object->set_text(queue, started, KEEL_SET, NULL, "True", NULL) == 0;
}

static const struct {
	const char *name;
	bool (*fn)(struct sim *s); /* false: there is nothing to break now */
} faults[] = {
	{ "vnode", vnode },	  { "queue", queue },	{ "server", server }, { "lost", lost },
	{ "placed", released },	  { "marked", marked }, { "twice", twice },   { "silent", silent },
	{ "part", part },	  { "orphan", orphan },	{ "block", block },   { "stale", stale },
	{ "holder", holder },	  { "alone", alone },	{ "early", early },   { "ownerless", ownerless },
};

bool inject_known(const char *name)
{
	for (size_t i = 0; i < KEEL_COUNT(faults); i++)
		if (strcmp(faults[i].name, name) == 0)
			return true;
	return false;
}

bool inject(struct sim *s, const char *name)
{
	for (size_t i = 0; i < KEEL_COUNT(faults); i++)
		if (strcmp(faults[i].name, name) == 0)
			return s->server != NULL && faults[i].fn(s);
	return false;
}
