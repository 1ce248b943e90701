/* SPDX-License-Identifier: Apache-2.0
 *
 * impossible.c - refuse_impossible: a job that could never run is refused when it is submitted.
 *
 * Never means: not on empty vnodes, and with all the server and its queue have. Vnodes that are down or
 * offline count: they come back.
 */
#include "scheduler.h"

#include <stdlib.h>
#include <string.h>

/* The resources that a draft requests: the values of its change set, not yet its own. */
struct request {
	char *select, *place, *queue;
	struct keel_select *chunks;
	struct keel_res_value *value; /* of Resource_List */
	const struct keel_res_value **whole;
	uint32_t n;
};

static char *text_of(struct keel_call *c, struct keel_obj *job, const char *attr, const char *key)
{
	char none[1], *text;
	int32_t len = keel_call_get(c, job, attr, key, none, sizeof(none));

	text = len >= 0 ? malloc((size_t)len + 1) : NULL;
	if (text)
		keel_call_get(c, job, attr, key, text, (uint32_t)len + 1);
	return text;
}

static void values_read(struct keel_call *c, struct keel_obj *job, struct request *r)
{
	const struct keel_resource *res;
	uint32_t n = 0, i;

	while (keel_resource_at(n))
		n++;
	r->value = calloc(n + 1, sizeof(*r->value));
	r->whole = calloc(n + 1, sizeof(*r->whole));
	for (i = 0; r->value && r->whole && (res = keel_resource_at(i)); i++) {
		char *text = text_of(c, job, "Resource_List", res->name);

		if (text && keel_resource_value_parse(res, text, &r->value[r->n], NULL) == 0) {
			r->whole[r->n] = &r->value[r->n];
			r->n++;
		}
		free(text);
	}
}

static void request_fini(struct request *r)
{
	uint32_t i;

	for (i = 0; i < r->n; i++)
		keel_resource_value_fini(&r->value[i]);
	if (r->chunks)
		keel_resource_select_free(r->chunks);
	free(r->value);
	free(r->whole);
	free(r->select);
	free(r->place);
	free(r->queue);
}

static bool is_possible(struct keel_call *c, struct keel_obj *job, struct request *r,
			struct reason *ret)
{
	struct snapshot *s = snapshot_now(c->mod);
	struct wish w = { 0 };

	r->select = text_of(c, job, "schedselect", NULL);
	r->place = text_of(c, job, "Resource_List", "place");
	r->queue = text_of(c, job, "queue", NULL);
	values_read(c, job, r);
	if (!s || !s->n || !r->select || has_room(c->mod, r->queue) ||
	    keel_resource_select_parse(r->select, &r->chunks, NULL) ||
	    (r->place && keel_resource_place_parse(r->place, &w.place, NULL)))
		return true; /* not ours to judge */
	w.select = r->chunks;
	w.queue = r->queue;
	w.whole = r->whole;
	w.n_whole = r->n;
	return place_possible(s, &w, ret);
}

keel_verdict refuse_impossible(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	const struct conf *conf = c->mod->conf;
	struct request r = { 0 };
	struct reason why = { 0 };
	bool possible;

	if (!conf->refuse_impossible)
		return KEEL_NEXT;
	possible = is_possible(c, ev->job, &r, &why);
	request_fini(&r);
	return possible ? KEEL_NEXT
			: keel_reject(c, PBSE_EXCQRESC, "Can Never Run: %s", why.text);
}
