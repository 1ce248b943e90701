/* SPDX-License-Identifier: Apache-2.0
 *
 * released.c - resources_released and resource_released_list of a suspended job.
 *
 * Both are derived at each read: jobs stores the names released at the suspension, the amounts are those of exec_vnode
 * and Resource_List, which do not change while the job is suspended.
 */
#include "release-restriction.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OPT(job, exec_vnode);
KEEL_ATTR_OPT(job, Resource_List);

#define COUNTED (KEEL_RES_SUM | KEEL_RES_EACH | KEEL_RES_FIRST)

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

struct sum {
	struct keel_res_value v;
	bool in_kb;
};
struct sums {
	struct sum *at;
	uint32_t n;
};

static struct sum *sum_of(struct sums *s, const struct keel_resource *res)
{
	uint32_t i;

	for (i = 0; i < s->n; i++)
		if (s->at[i].v.res == res)
			return &s->at[i];
	return NULL;
}

static void sum_add(struct sums *s, const struct keel_res_value *v, bool in_kb)
{
	struct sum *have = sum_of(s, v->res);

	if (have) {
		have->v.n += v->n;
		return;
	}
	have = reallocarray(s->at, s->n + 1, sizeof(*have));
	if (!have)
		return;
	s->at = have;
	s->at[s->n++] = (struct sum){ .v = *v, .in_kb = in_kb };
}

static int by_name(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return strcmp(x->v.res->name, y->v.res->name);
}

void released_amounts(const struct keel_exec *exec,
		      const struct keel_reslist *requested, const char *names, amount_fn *fn, void *arg)
{
	const struct keel_res_value *v, no_cpus = { .res = keel_resource_find("ncpus") };
	struct sums s = { NULL, 0 };
	uint32_t i, k;

	for (i = 0; i < exec->n; i++) {
		bool any = false;

		for (k = 0; k < exec->part[i].n; k++) {
			if (!counts(&exec->part[i].v[k], names))
				continue;
			sum_add(&s, &exec->part[i].v[k], true);
			any = true;
		}
		if (!any && no_cpus.res)
			sum_add(&s, &no_cpus, true);
	}
	for (i = 0; (v = keel_resource_list_at(requested, i)); i++)
		if ((v->res->flags & KEEL_RES_SUM) && counts(v, names) && !sum_of(&s, v->res))
			sum_add(&s, v, false);
	if (s.n)
		qsort(s.at, s.n, sizeof(s.at[0]), by_name);
	for (i = 0; i < s.n; i++)
		fn(arg, &s.at[i].v, s.at[i].in_kb);
	free(s.at);
}

/* ---- the rows --------------------------------------------------------------------------------------------- */

static struct keel_exec *exec_of(struct keel_obj *job)
{
	const char *text = keel_get_str(job, job_exec_vnode);
	struct keel_exec *exec;

	if (!text || keel_resource_exec_parse(text, &exec, NULL))
		return NULL;
	return exec;
}

void released_of(struct keel_obj *job, struct keel_text *ret)
{
	const char *names = keel_job_released(job);
	struct keel_exec *exec = names ? exec_of(job) : NULL;

	if (!exec)
		return;
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

struct emission {
	const struct keel_emit *emit;
};

static void emit_amount(void *arg, const struct keel_res_value *v, bool in_kb)
{
	struct emission *e = arg;
	char amount[64];

	keel_resource_value_text(v, in_kb, amount, sizeof(amount));
	e->emit->fn(e->emit->arg, v->res->name, amount, (uint32_t)strlen(amount));
}

static void derive_released_list(struct keel_mod *mod, struct keel_obj *job,
				 const struct keel_emit *emit)
{
	const char *names = keel_job_released(job);
	struct keel_exec *exec = names ? exec_of(job) : NULL;
	struct emission e = { emit };

	(void)mod;
	if (!exec)
		return;
	released_amounts(exec, keel_get_ptr(job, job_Resource_List), names, emit_amount, &e);
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
