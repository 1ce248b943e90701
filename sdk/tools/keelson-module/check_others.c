/* SPDX-License-Identifier: Apache-2.0
 *
 * check_others.c - is a hold left that only its deadline ends?
 *
 * The host sees which events a module listens to, not which one releases a hold. So every such event is raised, about every
 * object; a hold that is open afterwards, while no timer and no call of the module is under way, waits for its deadline. Not
 * judged are modules that something else may wake: a message, a peer, another module, a request.
 */
#include "check_others.h"

#include <string.h>

#include "check_child.h"
#include "check_events.h"

enum { TURNS_MAX = 500 };

/* ---- raising ----------------------------------------------------------------------------------------- */
/* Events of a module that runs. */
static bool is_raised(unsigned i)
{
	static const uint32_t not[] = { KEEL_POINT_server_start, KEEL_POINT_server_stop, KEEL_POINT_job_known,
					KEEL_POINT_node_known, KEEL_POINT_resv_known };
	const struct point *p = point_at(i);

	for (size_t n = 0; n < KEEL_COUNT(not); n++)
		if (p->id == not[n])
			return false;
	return p->kind == KEEL_NOTE && stage_listens(i);
}

void others_raise(struct stage *s, const char *but)
{
	const struct point *p;
	struct event e;

	for (unsigned i = 0; (p = point_at(i)) != NULL; i++)
		for (int f = MINIMAL; is_raised(i) && f < N_FLAVOURS; f++) {
			const char *klass = event_klass(p), *of = klass == NULL ? NULL : stage_id(klass, flavour_cast((enum flavour)f));

			if (s->mod == NULL || (but != NULL && of != NULL && strcmp(of, but) == 0) ||
			    !event_make(s, p, (enum flavour)f, &e))
				continue;
			(void)keel_mock_raise(s->mock, p->id, &e, NULL);
			keel_mock_advance(s->mock, 0);
		}
}

void others_go(struct stage *s, const char *but)
{
	static const char *const klasses[] = { "job", "node", "queue" };

	for (size_t k = 0; k < KEEL_COUNT(klasses); k++)
		for (int c = 0; c < N_CASTS; c++) {
			struct keel_obj *o = stage_object(s, klasses[k], (enum cast)c);

			if (o != NULL && !(but != NULL && strcmp(stage_id(klasses[k], (enum cast)c), but) == 0))
				keel_mock_destroy(o);
		}
	keel_mock_advance(s->mock, 0);
}

/* ---- judging ----------------------------------------------------------------------------------------- */
/* Returns whether what is not raised here may release a hold of it: an event of which the kit does not know what it is about, a
 * message, a request, another module, an attribute. */
static bool has_other_ways(const struct keel_module *m)
{
	const struct point *p;

	for (unsigned i = 0; (p = point_at(i)) != NULL; i++)
		if (is_raised(i) && event_klass(p) == NULL && p->id != KEEL_POINT_cycle_begin && p->id != KEEL_POINT_cycle_end)
			return true;
	for (const struct keel_need *n = m->needs; n != m->needs_end; n++)
		if (n->klass == NULL && strcmp(n->name, "link") == 0)
			return true;
	for (uint32_t i = 0; i < m->n_contribs; i++) { /* a row of an older module is shorter */
		const char *kind = m->contribs[i].kind;
		const struct keel_request_def *request = m->contribs[i].def;
		const struct keel_attr_def *attr = m->contribs[i].def;

		if (strcmp(kind, "SERVICE") == 0 ||
		    (strcmp(kind, "REQUEST") == 0 && (request->size < sizeof(*request) || !(request->flags & KEEL_REQUEST_READ))) ||
		    (strcmp(kind, "ATTR") == 0 && attr->size >= sizeof(*attr) && attr->changed != NULL))
			return true;
	}
	return false;
}

void others_judge(struct stage *s)
{
	const size_t len = strlen(s->of->m->name);
	const char *hold, *text;

	if (s->mod == NULL || has_other_ways(s->of->m))
		return;
	for (int n = 0; n < TURNS_MAX && keel_mock_holds(s->mock) > 0 && keel_mock_live(s->mod) > 0; n++)
		if (!keel_mock_next(s->mock))
			break;
	hold = keel_mock_hold(s->mock, 0); /* "module: why (0s of 60s)" */
	for (uint32_t i = 0; (text = keel_mock_hold(s->mock, i)) != NULL; i++)
		if (strncmp(text, s->of->m->name, len) != 0 || text[len] != ':' || keel_mock_hold_until(s->mock, i) != NULL)
			return; /* another one waits, too */
	if (hold != NULL && keel_mock_live(s->mod) == 0)
		finding(RULE_calls_hold_ends, "'%.*s' is still there after every event that it listens to was raised about all others, "
			"%s: only its deadline ends it", (int)(strcspn(hold, "(") - 1), hold, child_last_step());
}
