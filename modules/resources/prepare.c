/* SPDX-License-Identifier: Apache-2.0
 *
 * prepare.c - completes a job's Resource_List: defaults, select and place, sums, limits.
 *
 * The names of computed values are in the job's hidden `resources_defaulted`, so that a later change of the job
 * computes them again from what the user requested. Steps return 0, or a PBSE code with w->err. Another class with these three
 * attributes is completed the same way, without the bounds of jobs.
 */
#include "resources.h"

#include "keel/text.h"

#include <string.h>

KEEL_ATTR_OPT(job, Resource_List);
KEEL_ATTR_OPT(job, resources_defaulted);
KEEL_ATTR_OPT(queue, default_chunk);
KEEL_ATTR_OPT(server, default_chunk);
KEEL_ATTR_OPT(queue, resources_max);
KEEL_ATTR_OPT(queue, resources_min);
KEEL_ATTR_OPT(server, resources_max);
KEEL_ATTR_OPT(queue, resources_default);
KEEL_ATTR_OPT(server, resources_default);
KEEL_ATTR_OPT(job, schedselect);

struct work {
	struct keel_mod *mod;
	struct state *st;
	struct keel_changes *ch;
	const struct keel_attr *attr_list, *attr_defaulted, *attr_schedselect; /* of its class */
	bool is_job;
	struct keel_obj *job, *queue, *server;
	const struct keel_reslist *before; /* what an earlier preparation made */
	const char *computed;		   /* those of it that it computed; may be NULL */
	struct keel_reslist *list;
	struct keel_select *select;
	struct keel_text schedselect;
	struct keel_text defaulted; /* comma list being written */
	struct keel_err *err;
};

static int32_t no_memory(struct work *w)
{
	return fail(w->err, PBSE_SYSTEM, "System error: out of memory");
}

static const struct keel_reslist *list_of(struct keel_obj *obj,
					  const struct keel_attr *attr)
{
	return obj && attr ? keel_get_ptr(obj, attr) : NULL;
}

static int32_t put_computed(struct work *w, const struct keel_res_value *v)
{
	if (list_put(&w->list, v))
		return no_memory(w);
	keel_text_printf(&w->defaulted, "%s%s", w->defaulted.len ? "," : "", v->res->name);
	return 0;
}

static int32_t put_text(struct work *w, const char *name, const char *text)
{
	struct keel_res_value v = { .res = table_find(w->st, name), .text = text };

	return put_computed(w, &v);
}

static bool same_value(const struct keel_res_value *a, const struct keel_res_value *b)
{
	return a && b && value_compare(a, b) == 0;
}

/* Removes what an earlier preparation computed, unless this change sets it. */
static void drop_defaulted(struct work *w)
{
	const struct keel_reslist *old = w->before;
	const char *names = w->computed;
	bool new_select = !same_value(list_get(old, "select"), list_get(w->list, "select"));
	uint32_t i;

	for (i = list_count(w->list); old && i-- > 0;) {
		const struct keel_res_value *v = &w->list->v[i];
		bool unchanged = same_value(list_get(old, v->res->name), v);
		bool computed = names && name_in(names, v->res->name);
		bool replaced = new_select && list_get(w->list, "select") &&
				(v->res->flags & KEEL_RES_HOST);

		if (unchanged && (computed || replaced))
			list_drop(w->list, v->res->name);
	}
}

static int32_t from_nodes(struct work *w)
{
	const struct keel_res_value *nodes = list_get(w->list, "nodes");
	char *select, *place;
	int32_t code;

	if (!nodes)
		return 0;
	if (list_get(w->list, "select") || list_get(w->list, "place"))
		return fail(w->err, PBSE_INVALNODEPLACE, "Cannot be used with select or place: nodes");
	code = nodes_convert(nodes->text, w->list, &select, &place, w->err);
	if (code)
		return code;
	code = put_text(w, "select", select);
	if (!code)
		code = put_text(w, "place", place);
	free(select);
	free(place);
	return code;
}

static int32_t check_mix(struct work *w)
{
	/* Did the user write the select? With -l nodes= it is computed from both. */
	const bool chunked = list_get(w->list, "select") && !list_get(w->list, "nodes");
	bool host_level = false;
	uint32_t i;

	for (i = 0; i < list_count(w->list); i++) {
		const struct keel_resource *res = w->list->v[i].res;

		if (!(res->flags & KEEL_RES_HOST))
			continue;
		host_level = true;
		if (chunked)
			return fail(w->err, PBSE_INVALJOBRESC, "%s: %s",
				    keel_pbse_text(PBSE_INVALJOBRESC), res->name);
	}
	/* An altered job has a select, which drop_defaulted() removed and build_select() computes again. */
	if (list_get(w->list, "place") && !list_get(w->list, "select") && !host_level &&
	    !w->before)
		return fail(w->err, PBSE_PLACENOSELECT, "%s",
			    keel_pbse_text(PBSE_PLACENOSELECT));
	return 0;
}

static int32_t add_defaults(struct work *w, const struct keel_reslist *from)
{
	bool chunked = list_get(w->list, "select") != NULL;
	uint32_t i;
	int32_t code = 0;

	for (i = 0; i < list_count(from) && !code; i++) {
		const struct keel_res_value *v = &from->v[i];

		if (list_get(w->list, v->res->name) || (v->res->flags & KEEL_RES_SYSTEM))
			continue;
		if (!chunked || !(v->res->flags & KEEL_RES_HOST))
			code = put_computed(w, v);
	}
	return code;
}

static void write_value(struct keel_text *out, const struct keel_res_value *v)
{
	char text[64];
	const char *quote = !v->text || !strpbrk(v->text, ":+=,() '\"") ? "" : strchr(v->text, '"') ? "'" : "\"";

	if (!v->text)
		value_text(v, false, text, sizeof(text));
	keel_text_str(out, ":");
	keel_text_str(out, v->res->name);
	keel_text_str(out, "=");
	keel_text_str(out, quote);
	keel_text_str(out, v->text ? v->text : text);
	keel_text_str(out, quote);
}

/* Without a select: one chunk of the job's host-level resources. */
static int32_t build_select(struct work *w)
{
	struct keel_text out;
	uint32_t i;
	int32_t code;

	if (list_get(w->list, "select"))
		return list_get(w->list, "place") ? 0 : put_text(w, "place", "free");
	keel_text_init(&out);
	keel_text_str(&out, "1");
	for (i = 0; i < list_count(w->list); i++)
		if (w->list->v[i].res->flags & KEEL_RES_HOST)
			write_value(&out, &w->list->v[i]);
	code = out.failed ? no_memory(w) : put_text(w, "select", out.data);
	keel_text_fini(&out);
	if (!code && !list_get(w->list, "place"))
		code = put_text(w, "place", "pack");
	return code;
}

static const struct keel_res_value *chunk_get(const struct keel_chunk *c, const char *name)
{
	uint32_t i;

	for (i = 0; i < c->n; i++)
		if (strcmp(c->v[i].res->name, name) == 0)
			return &c->v[i];
	return NULL;
}

static void write_chunk_defaults(struct work *w, struct keel_text *out, const struct keel_chunk *c)
{
	const struct keel_reslist *queue = list_of(w->queue, queue_default_chunk);
	const struct keel_reslist *server = list_of(w->server, server_default_chunk);
	uint32_t i;

	for (i = 0; i < list_count(queue); i++)
		if (!chunk_get(c, queue->v[i].res->name))
			write_value(out, &queue->v[i]);
	for (i = 0; i < list_count(server); i++)
		if (!chunk_get(c, server->v[i].res->name) &&
		    !list_get(queue, server->v[i].res->name))
			write_value(out, &server->v[i]);
}

/* The select with chunk defaults filled in, for schedulers and sums. */
static int32_t build_schedselect(struct work *w)
{
	struct keel_select *visible;
	struct keel_text *out = &w->schedselect;
	uint32_t i, k;
	int32_t code = select_parse(w->mod, list_get(w->list, "select")->text, &visible, w->err);

	if (code)
		return code;
	for (i = 0; i < visible->n; i++) {
		const struct keel_chunk *c = &visible->chunk[i];

		keel_text_printf(out, "%s%u", i ? "+" : "", c->count);
		for (k = 0; k < c->n; k++)
			write_value(out, &c->v[k]);
		write_chunk_defaults(w, out, c);
	}
	select_free(visible);
	if (out->failed)
		return no_memory(w);
	return select_parse(w->mod, out->data, &w->select, w->err);
}

static int32_t add_sum(struct work *w, const struct keel_res_value *v, uint32_t count,
		       struct keel_reslist **sums)
{
	struct keel_res_value sum = *v;
	const struct keel_res_value *before = list_get(*sums, v->res->name);

	sum.n *= count;
	if (before) {
		sum.n += before->n;
		sum.unit = before->unit;
	}
	if (!amount_fits(sum.res, sum.n))
		return fail(w->err, PBSE_BADATVAL, "Illegal attribute or resource value: %s", sum.res->name);
	return list_put(sums, &sum) ? no_memory(w) : 0;
}

static int32_t build_sums(struct work *w)
{
	struct keel_res_value nodect = { .res = table_find(w->st, "nodect"),
					 .n = w->select->chunks };
	struct keel_reslist *sums = NULL;
	uint32_t i, k;
	int32_t code = put_computed(w, &nodect);

	for (i = 0; i < w->select->n; i++) {
		const struct keel_chunk *c = &w->select->chunk[i];

		for (k = 0; k < c->n && !code; k++)
			if (c->v[k].res->flags & KEEL_RES_SUM)
				code = add_sum(w, &c->v[k], c->count, &sums);
	}
	for (i = 0; i < list_count(sums) && !code; i++)
		if (!list_get(w->list, sums->v[i].res->name))
			code = put_computed(w, &sums->v[i]);
	list_free(sums);
	return code;
}

static bool is_negative(const struct keel_res_value *v)
{
	return (v->res->flags & (KEEL_RES_SUM | KEEL_RES_EACH | KEEL_RES_FIRST)) && v->n < 0;
}

/* Consumable amounts must not be negative, else a job would add to what is available. */
static int32_t check_amounts(struct work *w)
{
	const struct keel_chunk *c = w->select->chunk, *end = c + w->select->n;
	uint32_t i;

	for (i = 0; i < list_count(w->list); i++)
		if (is_negative(&w->list->v[i]))
			return fail(w->err, PBSE_BADATVAL, "Illegal attribute or resource value Resource_List.%s",
				    w->list->v[i].res->name);
	for (; c < end; c++)
		for (i = 0; i < c->n; i++)
			if (is_negative(&c->v[i]))
				return fail(w->err, PBSE_BADATVAL, "Illegal attribute or resource value: %s",
					    c->v[i].res->name);
	return 0;
}

/* Fails if an amount compares with its bound as `wrong`: 1 above, -1 below. */
static int32_t check_bounds(struct work *w, const struct keel_reslist *bounds, int32_t wrong)
{
	uint32_t i;

	for (i = 0; i < list_count(bounds); i++) {
		const struct keel_res_value *have = list_get(w->list, bounds->v[i].res->name);

		if (have && keel_res_is_number(have->res) &&
		    value_compare(have, &bounds->v[i]) == wrong)
			return fail(w->err, PBSE_EXCQRESC, "%s",
				    keel_pbse_text(PBSE_EXCQRESC));
	}
	return 0;
}

/* Where a bound is, one that asks for nothing asks for all of it. */
static int32_t add_bounds(struct work *w)
{
	int32_t code = w->is_job ? add_defaults(w, list_of(w->queue, queue_resources_max)) : 0;

	return code || !w->is_job ? code : add_defaults(w, list_of(w->server, server_resources_max));
}

static int32_t check_all_bounds(struct work *w)
{
	int32_t code;

	if (!w->is_job)
		return 0;
	if ((code = check_bounds(w, list_of(w->queue, queue_resources_max), 1)) ||
	    (code = check_bounds(w, list_of(w->queue, queue_resources_min), -1)))
		return code;
	return check_bounds(w, list_of(w->server, server_resources_max), 1);
}

static int32_t compute(struct work *w)
{
	struct keel_place place;
	int32_t code;

	drop_defaulted(w);
	if ((code = from_nodes(w)) || (code = check_mix(w)) ||
	    (code = add_defaults(w, list_of(w->queue, queue_resources_default))) ||
	    (code = add_defaults(w, list_of(w->server, server_resources_default))) || (code = add_bounds(w)) ||
	    (code = build_select(w)) || (code = place_parse(list_get(w->list, "place")->text, &place, w->err)) ||
	    (code = build_schedselect(w)) || (code = check_amounts(w)) || (code = build_sums(w)))
		return code;
	return check_all_bounds(w);
}

static int32_t store_list(struct work *w)
{
	char text[64];
	uint32_t i;
	int32_t code = keel_change_text(w->ch, w->job, w->attr_list, KEEL_SET, NULL, "", w->err);

	for (i = 0; i < list_count(w->list) && !code; i++) {
		const struct keel_res_value *v = &w->list->v[i];

		if (!v->text)
			value_text(v, false, text, sizeof(text));
		code = keel_change_text(w->ch, w->job, w->attr_list, KEEL_SET, v->res->name,
					v->text ? v->text : text, w->err);
	}
	if (!code)
		code = keel_change_text(w->ch, w->job, w->attr_schedselect, KEEL_SET, NULL,
					w->schedselect.data, w->err);
	return code;
}

static void find_attributes(struct work *w)
{
	const char *klass = keel_klass(w->job);

	w->is_job = strcmp(klass, "job") == 0;
	w->attr_list = w->is_job ? job_Resource_List : keel_attr_find(w->mod, klass, "Resource_List");
	w->attr_defaulted = w->is_job ? job_resources_defaulted : keel_attr_find(w->mod, klass, "resources_defaulted");
	w->attr_schedselect = w->is_job ? job_schedselect : keel_attr_find(w->mod, klass, "schedselect");
}

static int32_t work_do(struct work *w)
{
	const union keel_slot *given = keel_change_slot(w->ch, w->job, w->attr_list);
	int32_t code;

	keel_text_init(&w->schedselect);
	keel_text_init(&w->defaulted);
	w->server = keel_find(w->mod, "server", keel_server_name(w->mod));
	if (given)
		w->list = list_copy(given->p);
	code = given && !w->list ? no_memory(w) : compute(w);
	if (!code)
		code = store_list(w);
	if (!code)
		code = w->defaulted.failed ? no_memory(w)
					   : keel_change_text(w->ch, w->job, w->attr_defaulted, KEEL_SET, NULL,
							      w->defaulted.data, w->err);
	keel_text_fini(&w->schedselect);
	keel_text_fini(&w->defaulted);
	select_free(w->select);
	list_free(w->list);
	return code;
}

static int32_t work_start(struct work *w)
{
	find_attributes(w);
	if (w->attr_list && w->attr_defaulted && w->attr_schedselect)
		return 0;
	return fail(w->err, PBSE_SYSTEM, "System error: class %s has no Resource_List", keel_klass(w->job));
}

int32_t prepare(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *job,
		struct keel_obj *queue, struct keel_err *err)
{
	struct work w = { .mod = mod, .st = mod->state, .ch = ch, .job = job, .queue = queue, .err = err };
	int32_t code = work_start(&w);

	if (code)
		return code;
	w.before = list_of(job, w.attr_list);
	w.computed = keel_get_str(job, w.attr_defaulted);
	return work_do(&w);
}

int32_t prepare_again(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *job, struct keel_obj *queue,
		      const struct keel_reslist *before, const char *computed, struct keel_err *err)
{
	struct work w = { .mod = mod, .st = mod->state, .ch = ch, .job = job, .queue = queue, .err = err,
			  .before = before, .computed = computed };
	int32_t code = work_start(&w);

	return code ? code : work_do(&w);
}
