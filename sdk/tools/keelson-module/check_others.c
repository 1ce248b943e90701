/* SPDX-License-Identifier: Apache-2.0
 *
 * check_others.c - does anything end a hold that waits for what happens to others?
 *
 * The mock host cannot know: it sees a module that listens to events, not what it makes of them. So everything that it
 * listens to is told, of everything that there is; who waits then, with nothing under way, waits for its deadline. Not
 * judged is who may be woken in ways that cannot be played here: a message, a peer, another module, an operator's request.
 */
#include "check_others.h"

#include <string.h>

#include "check_child.h"
#include "check_events.h"
#include "check_points.h"

enum { TURNS_MAX = 500 };

/* ---- telling ----------------------------------------------------------------------------------------- */
/* Events that a module is told while it runs. */
static bool is_told(unsigned i)
{
	static const uint32_t not[] = { KEEL_POINT_server_start, KEEL_POINT_server_stop, KEEL_POINT_job_known,
					KEEL_POINT_node_known };
	const struct point *p = stage_point(i);

	for (size_t n = 0; n < KEEL_COUNT(not); n++)
		if (p->id == not[n])
			return false;
	return p->kind == KEEL_NOTE && stage_listens(i);
}

static bool is_about(const struct point *p, enum flavour f, const char *id)
{
	const char *klass = event_klass(p), *its = klass == NULL ? NULL : stage_id(klass, flavour_cast(f));

	return id != NULL && its != NULL && strcmp(its, id) == 0;
}

void others_tell(struct stage *s, const char *but)
{
	const struct point *p;
	struct event e;

	for (unsigned i = 0; (p = stage_point(i)) != NULL; i++)
		for (int f = MINIMAL; is_told(i) && f < N_FLAVOURS; f++) {
			const uint32_t id = stage_point_id(s, p);

			if (s->mod == NULL || id == 0 || is_about(p, (enum flavour)f, but) ||
			    !event_make(s, p, (enum flavour)f, &e))
				continue;
			(void)keel_mock_raise(s->mock, id, &e, NULL);
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
/* What such an event says is known here: it is about an object, or about a cycle. */
static bool is_known(const struct point *p)
{
	return event_klass(p) != NULL || p->id == KEEL_POINT_cycle_begin || p->id == KEEL_POINT_cycle_end;
}

/* A row of an older module is shorter. */
static bool row_wakes(const struct keel_contrib *c)
{
	const struct keel_request_def *request = c->def;
	const struct keel_attr_def *attr = c->def;

	if (strcmp(c->kind, "REQUEST") == 0)
		return request->size < sizeof(*request) || !(request->flags & KEEL_REQUEST_READ);
	if (strcmp(c->kind, "ATTR") == 0)
		return attr->size >= sizeof(*attr) && attr->changed != NULL;
	return strcmp(c->kind, "SERVICE") == 0;
}

/* Returns whether a request, a message, another module or an attribute may end a hold of it. */
static bool others_may_wake(const struct keel_module *m)
{
	for (uint32_t i = 0; i < m->n_needs; i++)
		if (strcmp(m->needs[i].group, "link") == 0)
			return true;
	for (uint32_t i = 0; i < m->n_contribs; i++)
		if (row_wakes(&m->contribs[i]))
			return true;
	return false;
}

/* May it be woken by what is not told here? */
static bool has_other_ways(const struct keel_module *m)
{
	const struct point *p;

	for (unsigned i = 0; (p = stage_point(i)) != NULL; i++)
		if (is_told(i) && !is_known(p))
			return true;
	return others_may_wake(m);
}

/* "module: why (0s of 60s)" */
static bool is_of(const struct keel_module *m, const char *hold)
{
	size_t len = strlen(m->name);

	return strncmp(hold, m->name, len) == 0 && hold[len] == ':';
}

/* Does anything else wait, or is anything under way? */
static bool is_alone(struct stage *s)
{
	const char *hold;

	for (uint32_t i = 0; (hold = keel_mock_hold(s->mock, i)) != NULL; i++)
		if (!is_of(s->of->m, hold) || keel_mock_hold_until(s->mock, i) != NULL)
			return false;
	return keel_mock_live(s->mod) == 0;
}

void others_judge(struct stage *s)
{
	const char *hold;

	if (s->mod == NULL || has_other_ways(s->of->m))
		return;
	for (int n = 0; n < TURNS_MAX && keel_mock_holds(s->mock) > 0 && keel_mock_live(s->mod) > 0; n++)
		if (!keel_mock_next(s->mock))
			break;
	hold = keel_mock_hold(s->mock, 0);
	if (hold != NULL && is_alone(s))
		finding(RULE_calls_hold_ends, "'%.*s' is still there when every event that it listens to was told of all others, "
			"%s: only its deadline ends it", (int)(strcspn(hold, "(") - 1), hold, child_last_step());
}
