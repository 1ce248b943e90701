/* SPDX-License-Identifier: Apache-2.0
 *
 * check_events.c - a value for every field of every point.
 *
 * A field is known by its name: what it means is the same at every point. Objects may be absent only
 * where those who raise the point leave them out.
 */
#include "check_events.h"

#include <string.h>

static const char *const names[] = { "a minimal event", "a usual event", "a maximal event",
				     "an event of negative numbers" };

const char *flavour_name(enum flavour f)
{
	return names[f];
}

enum cast flavour_cast(enum flavour f)
{
	return f == MINIMAL ? CAST_BARE : f == MAXIMAL ? CAST_FULL : CAST_USUAL;
}

/* The class of an object by the name of its field. */
static const char *klass_of(const char *field)
{
	static const struct {
		const char *field, *klass;
	} known[] = { { "job", "job" }, { "queue", "queue" }, { "node", "node" }, { "obj", "queue" },
		    { "resv", "resv" } };

	for (size_t i = 0; i < KEEL_COUNT(known); i++)
		if (strcmp(known[i].field, field) == 0)
			return known[i].klass;
	return NULL;
}

const char *event_klass(const struct point *p)
{
	for (uint32_t i = 0; i < p->n_fields; i++)
		if (p->fields[i].type == KEEL_FIELD_OBJ)
			return klass_of(p->fields[i].name);
	return strncmp(p->name, "task_", 5) == 0 ? "job" : NULL;
}

static const char *text_of(const struct point *p, const char *field, enum flavour f)
{
	static const struct {
		const char *field, *usual;
	} known[] = {
		{ "who", "user@mockhost" }, { "user", "user" }, { "host", "mockhost" }, { "peer", "mockhost" },
		{ "klass", "queue" }, { "name", "workq" }, { "holds", "u" },
		{ "exec_vnode", "(mockhost:ncpus=1)" }, { "signal", "suspend" }, { "from", "workq" },
		{ "comment", "Not Running" }, { "letter", "E" }, { "method", "D" }, { "why", "lost" },
		{ "reason", "Insufficient amount of resource: ncpus" }, { "what", "ncpus" },
		{ "text", "some text" }, { "with", "R1001.svr" },
	};
	static char endless[4096];
	const char *klass = event_klass(p);

	if (strcmp(field, "id") == 0) /* that of the object of the event, however large it is */
		return stage_id(klass == NULL ? "resource" : klass, flavour_cast(f));
	if (f == MINIMAL)
		return "";
	if (f == MAXIMAL) {
		for (size_t i = 0; i < sizeof(endless) - 1; i++)
			endless[i] = "%n%s,'\"\\;:+=()[] a-Z0"[i % 21];
		return endless;
	}
	for (size_t i = 0; i < KEEL_COUNT(known); i++)
		if (strcmp(known[i].field, field) == 0)
			return known[i].usual;
	return "text";
}

/* What a usual event says, where 1 is none of the usual: a job that really starts, is over, runs. */
static int64_t number_of(const char *field, enum flavour f)
{
	static const struct {
		const char *field;
		int64_t usual;
	} known[] = { { "dry", 0 }, { "requeued", 0 }, { "deleted", 0 }, { "state", 'R' }, { "uid", 1000 }, { "start", 1700003600 } };
	static const int64_t numbers[] = { [MINIMAL] = 0, [USUAL] = 1, [MAXIMAL] = INT64_MAX,
					   [NEGATIVE] = INT64_MIN };

	for (size_t i = 0; f == USUAL && i < KEEL_COUNT(known); i++)
		if (strcmp(known[i].field, field) == 0)
			return known[i].usual;
	return numbers[f];
}

bool event_make(struct stage *s, const struct point *p, enum flavour f, struct event *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (p->event_size > sizeof(*ret))
		return false;
	ret->size = p->event_size;
	for (uint32_t i = 0; i < p->n_fields; i++) {
		const struct keel_field *field = &p->fields[i];
		char *at = (char *)ret + field->offset;
		const char *text, *klass;
		const struct keel_obj *obj = NULL;
		int64_t number = number_of(field->name, f);

		switch (field->type) {
		case KEEL_FIELD_OBJ:
			klass = klass_of(field->name);
			if (klass != NULL && !(f == MINIMAL && p->id == KEEL_POINT_management))
				obj = stage_object(s, klass, flavour_cast(f));
			memcpy(at, &obj, sizeof(obj));
			break;
		case KEEL_FIELD_STR:
			text = text_of(p, field->name, f);
			memcpy(at, &text, sizeof(text));
			break;
		default: memcpy(at, &number, sizeof(number)); break;
		}
	}
	return true;
}

/* ---- where the module has taps ------------------------------------------------------------------------- */
static struct {
	bool listens[KEEL_POINT_MAX], known; /* by place in the list */
} seen;

bool stage_points_seen(void)
{
	return seen.known;
}

void stage_points_see(struct stage *s)
{
	const char *name = s->of->m->name, *at;
	const struct point *p;

	for (unsigned i = 0; !seen.known && (p = point_at(i)) != NULL; i++)
		/* "a.tap b.tap": is one of them the module's, also one that it added at run time? */
		for (at = keel_mock_chain(s->mock, p->id); s->mod != NULL && *at != '\0'; at += strspn(at, " ")) {
			seen.listens[i] = seen.listens[i] || (strncmp(at, name, strlen(name)) == 0 && at[strlen(name)] == '.');
			at += strcspn(at, " ");
		}
	seen.known = true;
}

bool stage_listens(unsigned i)
{
	return seen.listens[i];
}
