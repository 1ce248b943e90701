/* SPDX-License-Identifier: Apache-2.0
 *
 * manage.c - what administrators change, and what of it the scheduler has to know.
 *
 * A formula is checked before it is accepted, that of the server and that of the scheduler against each
 * other. Afterwards: values that server and scheduler share follow, settings are read again, a cycle.
 */
#include "scheduler.h"

#include "formula.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(server, job_sort_formula, scheduling, scheduler_iteration);
KEEL_ATTRS_OF(sched, job_sort_formula, sched_priv, scheduling, scheduler_iteration);

#define DEFAULT "default"

enum { MANAGE_CREATE, MANAGE_DELETE, MANAGE_SET, MANAGE_UNSET };

/* ---- before ----------------------------------------------------------------------------------------- */

/* 0 or a PBSE number. */
static int32_t formula_refused(struct keel_call *c, struct keel_obj *obj,
			       const struct keel_attr *here, struct keel_obj *other,
			       const struct keel_attr *there)
{
	char want[FORMULA_MAX + 2]; /* cut to this */
	const char *have = keel_get_str(obj, here);
	const char *others = other ? keel_get_str(other, there) : NULL;
	int32_t code;

	if (keel_call_get(c, obj, "job_sort_formula", NULL, want, sizeof(want)) <= 0 ||
	    (have && strcmp(have, want) == 0))
		return 0;
	code = strlen(want) > FORMULA_MAX ? PBSE_BAD_FORMULA : formula_check(c->mod, want);
	if (code == 0 && others && strcmp(others, want) != 0)
		code = PBSE_SVR_SCHED_JSF_INCOMPAT;
	return code;
}

static int32_t formula_of_request(struct keel_call *c, const struct keel_ev_management *ev)
{
	struct keel_obj *server = keel_find(c->mod, "server", keel_server_name(c->mod));
	struct keel_obj *sched = keel_find(c->mod, "sched", DEFAULT);

	if (ev->cmd == MANAGE_DELETE || !ev->obj)
		return 0;
	if (strcmp(ev->klass, "server") == 0)
		return formula_refused(c, ev->obj, server_job_sort_formula, sched, sched_job_sort_formula);
	if (strcmp(ev->klass, "sched") == 0)
		return formula_refused(c, ev->obj, sched_job_sort_formula,
				       strcmp(ev->name, DEFAULT) == 0 ? server : NULL,
				       server_job_sort_formula);
	return 0;
}

/* ---- after -------------------------------------------------------------------------------------------- */

static void follow(struct keel_obj *sched, const struct keel_attr *to,
		   struct keel_obj *server, const struct keel_attr *from)
{
	if (keel_get_int(sched, to) != keel_get_int(server, from))
		keel_set_int(sched, to, keel_get_int(server, from));
}

/* After the request has been carried out. */
static void settled(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	struct keel_obj *sched = keel_find(mod, "sched", DEFAULT), *obj;
	struct keel_cursor *cursor;
	int32_t command = st->managed;

	(void)arg;
	if (command == 0)
		return; /* the cycle is woken once for all requests of this turn */
	st->managed = 0;
	if (server && sched) {
		follow(sched, sched_scheduling, server, server_scheduling);
		follow(sched, sched_scheduler_iteration, server, server_scheduler_iteration);
	}
	cursor = keel_cursor(mod, "sched");
	while (cursor && (obj = keel_next(cursor)))
		if (!keel_is_set(obj, sched_sched_priv))
			sched_paths(mod, obj);
	if (cursor)
		keel_cursor_close(cursor);
	if (command == CMD_CONFIGURED)
		keel_log(mod, KEEL_LOG_SCHED, "Req", "", "Scheduler is reconfiguring");
	config_read(mod);
	if (st->managed_resource)
		st->generation = 0; /* columns of the picture of vnodes */
	st->managed_resource = false;
	st->unsure = true; /* totals of server and queues */
	if (st->managed_more)
		st->relevance++;
	st->managed_more = false;
	rest_over(mod);
	iteration_start(mod);
	wake(mod, command);
}

keel_verdict on_management(struct keel_call *c, const struct keel_ev_management *ev)
{
	struct state *st = keel_state(c);
	int32_t code = formula_of_request(c, ev);
	char text[16];

	if (ev->cmd == MANAGE_DELETE && strcmp(ev->klass, "sched") == 0 &&
	    strcmp(ev->name, DEFAULT) == 0)
		code = PBSE_SCHED_NO_DEL;
	if (code)
		return keel_reject(c, code, "%s", keel_pbse_text(code));
	st->managed_more |= strcmp(ev->klass, "server") != 0;
	st->managed_resource |= strcmp(ev->klass, "resource") == 0;
	st->managed = CMD_SWITCHED;
	if (strcmp(ev->klass, "queue") == 0)
		st->managed = CMD_QUEUE;
	else if (strcmp(ev->klass, "sched") == 0 &&
		 !(ev->obj && keel_call_get(c, ev->obj, "scheduling", NULL, text, sizeof(text)) > 0 &&
		   (strcmp(text, "True") == 0) != (keel_get_int(ev->obj, sched_scheduling) != 0)))
		st->managed = CMD_CONFIGURED; /* nothing about scheduling itself */
	keel_defer(c->mod, settled, NULL);
	return KEEL_NEXT;
}
