/* SPDX-License-Identifier: Apache-2.0
 *
 * answer_host.c - questions of scripts on a host: what is known of its jobs there, and release_nodes().
 */
#include "host.h"

#include "keel/service/part.h"
#include "keel/service/tolerance.h"

KEEL_USE_OPT(part);
KEEL_USE_OPT(tolerance);

/* The process of an owner is the owner's, whatever its script asks. */
static bool may_see(const struct known *k, const char *user)
{
	const char *owner = known_get(&k->job, "euser", NULL);

	return !*user || (owner && strcmp(owner, user) == 0);
}

static void object_answer(struct state *st, const char *user, const struct value *frame, struct pack *out)
{
	char *klass = value_nth_text(frame, 2), *id = value_nth_text(frame, 3);
	const struct known *k = klass && id && strcmp(klass, "job") == 0 ? host_known(st, id) : NULL;

	if (k && may_see(k, user))
		known_pack(&k->job, "job", out);
	else
		pack_nothing(out);
	free(klass);
	free(id);
}

static void list_answer(struct state *st, const char *user, const struct value *frame, struct pack *out)
{
	char *klass = value_nth_text(frame, 2);
	uint32_t all = pack_open_list(out), list = pack_open_list(out), n = 0;

	for (const struct known *k = klass && strcmp(klass, "job") == 0 && st->host ? st->host->jobs : NULL; k; k = k->hh.next)
		if (may_see(k, user)) {
			known_pack(&k->job, "job", out);
			n++;
		}
	pack_close(out, list, n);
	pack_nothing(out);
	pack_close(out, all, 2);
	free(klass);
}

/* ---- release_nodes() ---------------------------------------------------------------------------------- */
static int32_t release(const char *id, const struct value *list)
{
	const char **vnodes = calloc(list->count + 1, sizeof(*vnodes));
	struct value v;
	uint32_t n = 0;
	int32_t code = -ENOMEM;

	for (const char *at = list->at; vnodes && value_next(list, &at, &v);)
		if ((vnodes[n] = value_text(&v)))
			n++;
	if (vnodes)
		code = keel_tolerance_release(id, vnodes, n);
	for (uint32_t i = 0; i < n; i++)
		free((char *)vnodes[i]);
	free(vnodes);
	return code;
}

static void place_pack(struct state *st, const char *id, struct pack *out)
{
	static const char *const names[] = { "exec_vnode", "exec_host", "exec_host2", "schedselect" };
	struct known *k = host_followed(st, id);
	uint32_t map = pack_open_map(out), n = 0;

	for (size_t i = 0; k && i < KEEL_COUNT(names); i++) {
		const char *text = known_get(&k->job, names[i], NULL);

		if (!text)
			continue;
		pack_pair_text(out, names[i], text);
		n++;
	}
	pack_close(out, map, n);
	if (k && !k->kept)
		known_free(k);
}

/* Of the job of the run alone, before its program is there. */
static void release_answer(struct state *st, const struct run *r, const struct value *frame, bool keeps, struct pack *out)
{
	bool starts = r && (r->event == &events[EVENT_execjob_prologue] || r->event == &events[EVENT_execjob_launch]);
	char *id = value_nth_text(frame, 2), *select = keeps ? value_nth_text(frame, 3) : NULL;
	struct value list = { .kind = 0 };
	int32_t code = -EPERM;

	value_nth(frame, 3, &list);
	if (starts && id && strcmp(id, r->id) == 0 && keel_has(tolerance) && keel_has(part) && (keeps ? select != NULL : list.kind == 'l'))
		code = keeps ? keel_tolerance_keep(id, select) : release(id, &list);
	if (code == 0)
		place_pack(st, id, out);
	else
		pack_nothing(out);
	free(id);
	free(select);
}

bool answer_host(struct state *st, struct run *r, const char *user, const struct value *frame, struct pack *out)
{
	struct value what;

	if (!value_nth(frame, 1, &what))
		return false;
	if (value_is(&what, "object"))
		object_answer(st, user, frame, out);
	else if (value_is(&what, "list"))
		list_answer(st, user, frame, out);
	else if (value_is(&what, "check"))
		pack_nothing(out); /* the server does */
	else if (value_is(&what, "keep") || value_is(&what, "release"))
		release_answer(st, r, frame, value_is(&what, "keep"), out);
	else
		return false;
	return true;
}
