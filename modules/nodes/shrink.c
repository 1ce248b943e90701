/* SPDX-License-Identifier: Apache-2.0
 *
 * shrink.c - a job that runs has fewer vnodes than before, or less of one: what is left keeps its slots.
 *
 * Each part that stays is one of before: of the same vnode, with as much or less of each resource. Parts may come in
 * another order. Only vnodes that lose something are touched.
 */
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(node, last_used_time);

#define UNMATCHED UINT32_MAX

struct shrinking {
	const char *job_id;
	struct parts before, after;
	uint32_t *match; /* of each part of `after` the one of `before`, and of each of `before` the reverse */
	uint32_t *stays;
	uint32_t *first; /* of each part of `before`: where its slots begin among those of its tenant */
	struct holder *holder; /* counted */
	char *given_back; /* names that the job gave back when it was suspended */
};

static double amount_of(const struct keel_exec_part *part, const struct keel_resource *res)
{
	for (uint32_t i = 0; i < part->n; i++)
		if (part->v[i].res == res)
			return part->v[i].n;
	return 0;
}

/* Has `part` all that `less` has? `same`: and no more. */
static bool has_all(const struct keel_exec_part *part, const struct keel_exec_part *less, bool same)
{
	if (strcmp(part->vnode, less->vnode) != 0)
		return false;
	for (uint32_t i = 0; i < less->n; i++)
		if (amount_of(part, less->v[i].res) < less->v[i].n)
			return false;
	for (uint32_t i = 0; same && i < part->n; i++)
		if (amount_of(less, part->v[i].res) < part->v[i].n)
			return false;
	return true;
}

/* The nearest free part of `before` on either side of `near`, where the next one is as a rule. */
static uint32_t match_find(const struct shrinking *s, const struct keel_exec_part *part, uint32_t near, bool same)
{
	const uint32_t n = s->before.n;

	for (uint32_t d = 0; d <= n; d++) {
		const uint32_t up = near + d, down = near - d; /* below 0: a large number */

		if (up < n && s->stays[up] == UNMATCHED && has_all(&s->before.part[up], part, same))
			return up;
		if (down < n && s->stays[down] == UNMATCHED && has_all(&s->before.part[down], part, same))
			return down;
		if (up >= n && d >= near)
			break;
	}
	return UNMATCHED;
}

static int32_t parts_match(struct shrinking *s)
{
	uint32_t near = 0;

	for (uint32_t i = 0; i < s->before.n; i++)
		s->stays[i] = UNMATCHED;
	for (uint32_t i = 0; i < s->after.n; i++) {
		uint32_t at = match_find(s, &s->after.part[i], near, true);

		if (at == UNMATCHED)
			at = match_find(s, &s->after.part[i], near, false);
		if (at == UNMATCHED)
			return PBSE_IVALREQ;
		s->match[i] = at;
		s->stays[at] = i;
		near = at + 1;
	}
	return 0;
}

/* ---- slots --------------------------------------------------------------------------------------------- */

static struct tenant *tenant_on(const struct parts *p, uint32_t i, const char *job_id)
{
	return p->at[i].vnode ? *tenant_at(p->at[i].vnode, job_id) : NULL;
}

/* What part `i` of before lost makes its vnode one that shrinks. */
static bool is_less(const struct shrinking *s, uint32_t i)
{
	return s->stays[i] == UNMATCHED || !has_all(&s->after.part[s->stays[i]], &s->before.part[i], false);
}

static void slots_locate(struct shrinking *s)
{
	struct tenant *t;

	for (uint32_t i = 0; i < s->before.n; i++)
		if ((t = tenant_on(&s->before, i, s->job_id)))
			t->n_kept = 0, t->shrinks = t->stays = false;
	for (uint32_t i = 0; i < s->before.n; i++) {
		if (!(t = tenant_on(&s->before, i, s->job_id)))
			continue;
		s->first[i] = t->n_kept;
		t->n_kept += part_cpus(&s->before.part[i]);
		t->shrinks |= is_less(s, i);
		t->stays |= s->stays[i] != UNMATCHED;
		if (t->given_back && !s->given_back)
			s->given_back = strdup(t->given_back);
	}
	for (uint32_t i = 0; i < s->before.n; i++)
		if ((t = tenant_on(&s->before, i, s->job_id)))
			t->n_kept = 0;
}

/* The slots of the parts that stay move to the front, in the order of before. */
static void slots_keep(const struct shrinking *s)
{
	struct tenant *t;

	for (uint32_t i = 0; i < s->before.n; i++) {
		const uint32_t j = s->stays[i];
		uint32_t cpus;

		if (j == UNMATCHED || !(t = tenant_on(&s->before, i, s->job_id)) || !t->shrinks)
			continue;
		cpus = part_cpus(&s->after.part[j]);
		for (uint32_t k = 0; k < cpus && s->first[i] + k < t->n_slots; k++)
			t->slot[t->n_kept++] = t->slot[s->first[i] + k];
	}
}

static void tenants_shrink(struct keel_mod *mod, const struct shrinking *s)
{
	for (uint32_t i = 0; i < s->before.n; i++) {
		struct tenant **at = s->before.at[i].vnode ? tenant_at(s->before.at[i].vnode, s->job_id) : NULL;
		struct tenant *t = at ? *at : NULL;

		if (!t || !t->shrinks)
			continue;
		if (t->stays) {
			t->n_slots = t->n_kept;
			t->shrinks = false;
			continue;
		}
		*at = t->next;
		tenant_free(mod, t);
		keel_set_int(s->before.at[i].node, node_last_used_time, keel_time(mod));
	}
}

/* ---- the other vnodes of hosts that are for this job alone ------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A vnode that the job gave up on a host that it keeps becomes a guest's; hosts that it left have no guests. */
static void guests_shrink(struct keel_mod *mod, const struct shrinking *s, int32_t share)
{
	struct parts left = { 0, s->before.part, calloc(s->before.n + 1u, sizeof(*left.at)) };
	const char **host = calloc(s->after.n + 1u, sizeof(*host));
	uint32_t n = 0;

	parts_guests(mod, &s->after, s->job_id, s->holder, share, GUESTS_COME);
	for (uint32_t i = 0; host && i < s->after.n; i++)
		if (s->after.at[i].node)
			host[n++] = node_mom(s->after.at[i].node);
	if (n > 1)
		qsort(host, n, sizeof(*host), by_name);
	for (uint32_t i = 0; host && left.at && i < s->before.n; i++) {
		struct keel_obj *node = s->before.at[i].node;
		const char *name = node ? node_mom(node) : NULL;

		if (name && s->stays[i] == UNMATCHED && !bsearch(&name, host, n, sizeof(*host), by_name))
			left.at[left.n++] = s->before.at[i];
	}
	if (left.n)
		parts_guests(mod, &left, s->job_id, NULL, share, GUESTS_LEAVE);
	free(left.at);
	free(host);
}

/* ---- amounts ------------------------------------------------------------------------------------------- */

/* Charges the parts of `all` that `differ` says. The first part of a job is charged more than others (KEEL_RES_FIRST), so
 * an empty one stands in its place when it is not among them. */
static int32_t charge_some(struct keel_mod *mod, const struct shrinking *s, const struct parts *all,
			   const bool *differ, int32_t sign)
{
	struct keel_exec_part *part = calloc(all->n + 1u, sizeof(*part));
	struct parts some = { 1, part, calloc(all->n + 1u, sizeof(*some.at)) };

	if (!part || !some.at) {
		free(part);
		free(some.at);
		return PBSE_SYSTEM;
	}
	part[0].vnode = "";
	for (uint32_t i = 0; i < all->n; i++)
		if (differ[i]) {
			const uint32_t to = i == 0 ? 0 : some.n++;

			part[to] = all->part[i];
			some.at[to] = all->at[i];
		}
	if (s->given_back && sign < 0) /* first, because amounts do not go below 0 */
		parts_charge(mod, &some, s->holder, 1, s->given_back);
	parts_charge(mod, &some, s->holder, sign, NULL);
	if (s->given_back && sign > 0)
		parts_charge(mod, &some, s->holder, -1, s->given_back);
	free(part);
	free(some.at);
	return 0;
}

/* Another part is the job's first now, which is charged more. */
static bool is_first_of_either(const struct shrinking *s, uint32_t i)
{
	return s->match[0] != 0 && (i == 0 || i == s->match[0]);
}

static int32_t amounts_shrink(struct keel_mod *mod, const struct shrinking *s)
{
	bool *gone = calloc(s->before.n + 1u, sizeof(*gone)), *left = calloc(s->after.n + 1u, sizeof(*left));
	int32_t code = gone && left ? 0 : PBSE_SYSTEM;

	for (uint32_t i = 0; !code && i < s->before.n; i++) {
		gone[i] = is_less(s, i) || is_first_of_either(s, i);
		if (gone[i] && s->stays[i] != UNMATCHED)
			left[s->stays[i]] = true;
	}
	if (!code)
		code = charge_some(mod, s, &s->after, left, 1);
	if (!code)
		code = charge_some(mod, s, &s->before, gone, -1);
	free(gone);
	free(left);
	return code;
}

static int32_t shrink(struct keel_mod *mod, struct shrinking *s, int32_t share, struct keel_err *err)
{
	const size_t n = s->before.n + s->after.n + 1u;
	int32_t code;

	s->match = calloc(n, sizeof(*s->match));
	s->stays = calloc(n, sizeof(*s->stays));
	s->first = calloc(n, sizeof(*s->first));
	if (!s->match || !s->stays || !s->first)
		return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	if (parts_match(s))
		return keel_error(err, PBSE_IVALREQ, "a job that shrinks can only have vnodes that it has, and "
						     "not more of them");
	s->holder = holder_join(holder_known(&s->before, s->job_id));
	slots_locate(s);
	slots_keep(s);
	tenants_shrink(mod, s);
	guests_shrink(mod, s, share);
	code = amounts_shrink(mod, s);
	return code ? keel_error(err, code, "System error: out of memory") : 0;
}

int32_t node_shrink(struct keel_mod *mod, const char *job_id, const char *before, const char *after, int32_t share,
		    struct keel_err *err)
{
	struct shrinking s = { .job_id = job_id };
	struct keel_exec *had = NULL, *has = NULL;
	int32_t code = keel_resource_exec_parse(before, &had, err);

	if (!code)
		code = keel_resource_exec_parse(after, &has, err);
	if (!code)
		code = parts_find(mod, had, &s.before, err);
	if (!code)
		code = parts_find(mod, has, &s.after, err);
	if (!code)
		code = shrink(mod, &s, share, err);
	holder_leave(mod, s.holder);
	free(s.match);
	free(s.stays);
	free(s.first);
	free(s.given_back);
	free(s.before.at);
	free(s.after.at);
	keel_resource_exec_free(had);
	keel_resource_exec_free(has);
	return code;
}
