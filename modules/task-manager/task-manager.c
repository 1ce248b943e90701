/* SPDX-License-Identifier: Apache-2.0
 *
 * task-manager.c - programs of a job start, signal and wait for tasks on the job's hosts.
 *
 * The part of a job on this host does the work (service part), for other hosts the module that reaches them (service sister), if
 * there is one: on one host this works without.
 */
#include "task-manager.h"

KEEL_USE(part);
KEEL_USE_OPT(sister);

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(BOOL, struct conf, attach, .fallback = "true", .doc = "may processes from outside become part of a job?"),
};

static const struct keel_contrib contribs[] = {
	KEEL_ROW(REQUEST, tm_init),	KEEL_ROW(REQUEST, tm_spawn),	KEEL_ROW(REQUEST, tm_kill),
	KEEL_ROW(REQUEST, tm_obit),	KEEL_ROW(REQUEST, tm_taskinfo), KEEL_ROW(REQUEST, tm_rescinfo),
	KEEL_ROW(REQUEST, tm_publish),	KEEL_ROW(REQUEST, tm_subscribe), KEEL_ROW(REQUEST, tm_attach),
	KEEL_ROW(MOM_DIRECTIVE, attach_directive),
};

static void on_gone(struct keel_mod *me, const char *id, int64_t run, bool discarded)
{
	struct job *j = job_find(me->state, id, run);

	(void)discarded;
	if (j != NULL)
		job_destroy(me->state, j);
}

static void on_task_over_elsewhere(struct keel_mod *me, const char *id, int64_t run, uint32_t number, int32_t status)
{
	struct job *j = job_find(me->state, id, run);

	if (j != NULL)
		task_over(me->state, j, number, status);
}

static void on_task_over(struct keel_mod *me, const struct keel_part *p, uint32_t number, int32_t status)
{
	on_task_over_elsewhere(me, p->id, p->run, number, status);
}

static void was_found(struct keel_mod *me, const struct keel_part *p, void *arg)
{
	struct job *j = job_of(me->state, p);

	(void)arg;
	if (j != NULL)
		j->found = true;
}

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *s = mod->state;

	(void)err;
	s->mod = mod;
	s->attach_said = -1;
	return 0;
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	static const struct keel_part_events events = {
		.size = sizeof(events), .task_over = on_task_over, .gone = on_gone,
	};
	static const struct keel_sister_events elsewhere = {
		.size = sizeof(elsewhere), .task_over = on_task_over_elsewhere,
	};
	int32_t ret;

	keel_part_each(was_found, mod, NULL);
	ret = keel_part_listen(mod, &events);
	if (ret == 0 && keel_has(sister))
		ret = keel_sister_listen(mod, &elsewhere);
	if (ret < 0)
		keel_part_listen(mod, NULL);
	return ret < 0 ? keel_error(err, ret, "no memory to hear of tasks") : 0;
}

static void stop(struct keel_mod *mod)
{
	struct state *s = mod->state;

	while (s->jobs != NULL)
		job_destroy(s, s->jobs);
	keel_part_listen(mod, NULL);
	if (keel_has(sister))
		keel_sister_listen(mod, NULL);
}

KEEL_MODULE(.name = "task-manager", .version = "1.0", .vendor = "Keelson", .summary = "tasks of jobs, and processes from outside",
	    .roles = KEEL_MOM, .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules), KEEL_CONTRIBS(contribs),
	    .init = init, .start = start, .stop = stop);
