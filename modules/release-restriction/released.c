/* SPDX-License-Identifier: Apache-2.0
 *
 * released.c - resources_released and resource_released_list of a suspended job.
 *
 * Both are derived at each read: jobs stores the names released at the suspension, the amounts are those of exec_vnode
 * and Resource_List, which do not change while the job is suspended.
 */
#include "release-restriction.h"

#include <string.h>

KEEL_ATTR_OPT(job, exec_vnode);
KEEL_ATTR_OPT(job, Resource_List);

static bool counts(const struct keel_res_value *v, const char *names)
{
	return keel_res_is_number(v->res) && (v->res->flags & COUNTED) && names_have(names, v->res->name);
}

void released_text(const struct keel_exec *exec,
		   const char *names, struct keel_text *ret)
{
	char amount[64];
	uint32_t i, k;

	for (i = 0; i < exec->n; i++) {
		const struct keel_exec_part *part = &exec->part[i];
		bool any = false;

		keel_text_printf(ret, "%s(%s", i ? "+" : "", part->vnode);
		for (k = 0; k < part->n; k++) {
			if (!counts(&part->v[k], names))
				continue;
			keel_resource_value_text(&part->v[k], true, amount, sizeof(amount));
			keel_text_printf(ret, ":%s=%s", part->v[k].res->name, amount);
			any = true;
		}
		keel_text_printf(ret, "%s)", any ? "" : ":ncpus=0");
	}
}

/* ---- sums ------------------------------------------------------------------------------------------------ */

/* The next resource in the order of names. */
static const struct keel_resource *next_after(const struct keel_resource *last)
{
	const struct keel_resource *res, *next = NULL;
	uint32_t i;

	for (i = 0; (res = keel_resource_at(i)); i++)
		if ((!last || strcmp(res->name, last->name) > 0) && (!next || strcmp(res->name, next->name) < 0))
			next = res;
	return next;
}

/* Adds the amounts of a resource on vnodes, *sum is the first of them; a vnode that releases nothing counts as ncpus=0. */
static bool sum_on_vnodes(const struct keel_exec *exec, const char *names, struct keel_res_value *sum)
{
	const struct keel_resource *res = sum->res;
	bool is_there = false;
	uint32_t i, k;

	for (i = 0; i < exec->n; i++) {
		bool any = false;

		for (k = 0; k < exec->part[i].n; k++) {
			const struct keel_res_value *v = &exec->part[i].v[k];
			double before = sum->n;

			if (!counts(v, names))
				continue;
			any = true;
			if (v->res != res)
				continue;
			*sum = *v;
			sum->n += before;
			is_there = true;
		}
		is_there |= !any && strcmp(res->name, "ncpus") == 0;
	}
	return is_there;
}

void released_amounts(const struct keel_exec *exec, const struct keel_reslist *requested, const char *names, amount_fn *fn,
		      void *arg)
{
	const struct keel_resource *res = NULL;

	while ((res = next_after(res))) {
		const struct keel_res_value *v = keel_resource_list_get(requested, res->name);
		struct keel_res_value sum = { .res = res };

		if (sum_on_vnodes(exec, names, &sum))
			fn(arg, &sum, true);
		else if (v && (res->flags & KEEL_RES_SUM) && counts(v, names))
			fn(arg, v, false);
	}
}

/* ---- the rows --------------------------------------------------------------------------------------------- */

static struct keel_exec *exec_of(struct keel_obj *job, const char *names)
{
	const char *text = names ? keel_get_str(job, job_exec_vnode) : NULL;
	struct keel_exec *exec;

	return text && keel_resource_exec_parse(text, &exec, NULL) == 0 ? exec : NULL;
}

void released_of(struct keel_obj *job, struct keel_text *ret)
{
	const char *names = keel_job_released(job);
	struct keel_exec *exec = exec_of(job, names);

	if (exec)
		released_text(exec, names, ret);
	keel_resource_exec_free(exec);
}

static void derive_released(struct keel_mod *mod, struct keel_obj *job, const struct keel_emit *emit)
{
	struct keel_text text;

	(void)mod;
	keel_text_init(&text);
	released_of(job, &text);
	if (text.len && !text.failed)
		emit->fn(emit->arg, NULL, text.data, (uint32_t)text.len);
	keel_text_fini(&text);
}

static void emit_amount(void *arg, const struct keel_res_value *v, bool in_kb)
{
	const struct keel_emit *emit = arg;
	char amount[64];

	keel_resource_value_text(v, in_kb, amount, sizeof(amount));
	emit->fn(emit->arg, v->res->name, amount, (uint32_t)strlen(amount));
}

static void derive_released_list(struct keel_mod *mod, struct keel_obj *job, const struct keel_emit *emit)
{
	const char *names = keel_job_released(job);
	struct keel_exec *exec = exec_of(job, names);
	struct keel_emit copy = *emit;

	(void)mod;
	if (exec)
		released_amounts(exec, keel_get_ptr(job, job_Resource_List), names, emit_amount, &copy);
	keel_resource_exec_free(exec);
}

/* FLAG1: the error of a change is "read only", not that the job runs. */
const struct keel_attr_def released_row =
	KEEL_ATTR_DEF("job", "resources_released", "string", .order = 650, .flags = KEEL_ATTR_FLAG1,
		      .read_roles = KEEL_EVERYBODY, .derive = derive_released, .doc = "what came free at the suspension, vnode by vnode");
const struct keel_attr_def released_list_row =
	KEEL_ATTR_DEF("job", "resource_released_list", "resource_list", .order = 651,
		      .flags = KEEL_ATTR_FLAG1, .read_roles = KEEL_EVERYBODY, .derive = derive_released_list,
		      .doc = "what came free at the suspension, in sum");
