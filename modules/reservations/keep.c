/* SPDX-License-Identifier: Apache-2.0
 *
 * keep.c - what a running reservation keeps of its vnodes, and what is left to be searched.
 *
 * A chunk of its select has a slot, a group of its vnodes, `(a:ncpus=1)`, fills one. Groups are in the order of the chunks, but
 * some may be lost: each fills the next slot whose chunk asks for what it has. A group with a running job stays; of the
 * others those stay whose vnodes are up, or, when it is altered, none has to.
 */
#include "reservations.h"

#include <stdlib.h>
#include <string.h>

#include "keel/words.h"

KEEL_ATTR_OF(resv, schedselect);

static const char has_jobs[] = "Reservation has running jobs in it";

/* ---- the select ------------------------------------------------------------------------------------------ */

/* The end of the chunk that begins at `at`. */
static const char *chunk_end(const char *at)
{
	char quote = '\0';

	for (; *at && (quote || *at != '+'); at++)
		if (quote)
			quote = *at == quote ? '\0' : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
	return at;
}

/* Slots as texts: `2:ncpus=1+ncpus=3` has three. */
static bool slots_make(const char *select, const struct keel_select *parsed, struct keep *k)
{
	const char *at = select, *end;

	k->slot = calloc(parsed->chunks ? parsed->chunks : 1, sizeof(*k->slot));
	for (uint32_t c = 0; k->slot && c < parsed->n && *at; c++, at = end + (*end == '+')) {
		const size_t digits = strspn(at, "0123456789");

		end = chunk_end(at);
		if (digits && at[digits] == ':')
			at += digits + 1;
		for (uint32_t i = 0; i < parsed->chunk[c].count && k->n < parsed->chunks; i++)
			k->slot[k->n++] = (struct slot){ .text = at, .len = (size_t)(end - at), .chunk = &parsed->chunk[c] };
	}
	return k->slot && k->n == parsed->chunks;
}

/* ---- groups -------------------------------------------------------------------------------------------------- */

struct group {
	const struct keel_exec_part *part;
	uint32_t n;
	bool jobs, broken;
};

static bool has_job(struct keel_mod *mod, struct keel_obj *resv, const char *vnode)
{
	struct keel_obj *node = keel_find(mod, "node", vnode);
	uint32_t jobs = 0;

	if (node)
		keel_node_used_inside(node, keel_id(resv), &jobs, NULL);
	return jobs > 0;
}

static struct group group_at(struct keel_mod *mod, struct keel_obj *resv, const struct keel_exec *exec, uint32_t i)
{
	struct group g = { .part = &exec->part[i] };

	while (i + g.n < exec->n && g.part[g.n].chunk == g.part->chunk) {
		g.jobs |= has_job(mod, resv, g.part[g.n].vnode);
		g.broken |= vnode_is_broken(mod, g.part[g.n].vnode);
		g.n++;
	}
	return g;
}

/* What the group has of a resource. */
static double group_sum(const struct group *g, const struct keel_resource *res, bool *ret_has)
{
	double sum = 0;

	for (uint32_t i = 0; i < g->n; i++)
		for (uint32_t v = 0; v < g->part[i].n; v++)
			if (strcmp(g->part[i].v[v].res->name, res->name) == 0) {
				sum += g->part[i].v[v].n;
				*ret_has = true;
			}
	return sum;
}

/* Has the vnode that word? */
static bool vnode_says(struct keel_mod *mod, const char *vnode, const struct keel_res_value *want)
{
	struct keel_obj *node = keel_find(mod, "node", vnode);
	const struct keel_reslist *list = node ? keel_node_available(node) : NULL;
	const struct keel_res_value *v = list ? keel_resource_list_get(list, want->res->name) : NULL;

	if (!v)
		return false;
	if (keel_res_is_number(want->res))
		return v->n == want->n;
	return v->text && want->text && keel_words_have(v->text, want->text);
}

static bool group_fits(struct keel_mod *mod, const struct group *g, const struct keel_chunk *chunk)
{
	for (uint32_t i = 0; i < chunk->n; i++) {
		const struct keel_res_value *want = &chunk->v[i];
		bool has = false;
		const double sum = group_sum(g, want->res, &has);

		if (has ? sum != want->n : !(want->res->flags & (KEEL_RES_EACH | KEEL_RES_FIRST | KEEL_RES_SUM)) &&
						   !vnode_says(mod, g->part->vnode, want))
			return false;
	}
	return true;
}

static void group_text(const struct group *g, struct keel_text *t)
{
	char amount[256];

	for (uint32_t i = 0; i < g->n; i++) {
		keel_text_printf(t, "%s%s", i ? "+" : "(", g->part[i].vnode);
		for (uint32_t v = 0; v < g->part[i].n; v++) {
			keel_resource_value_text(&g->part[i].v[v], true, amount, sizeof(amount));
			keel_text_printf(t, ":%s=%s", g->part[i].v[v].res->name, amount);
		}
	}
	keel_text_str(t, ")");
}

/* ---- which group fills which slot -------------------------------------------------------------------------------- */

static bool slot_fill(struct slot *s, const struct group *g)
{
	struct keel_text text;

	keel_text_init(&text);
	group_text(g, &text);
	s->kept = text.failed ? NULL : strdup(text.data);
	s->vnode = g->n == 1 ? strdup(g->part->vnode) : NULL;
	keel_text_fini(&text);
	return s->kept && (s->vnode || g->n > 1);
}

static const char *fill(struct keel_mod *mod, struct keel_obj *resv, const struct keel_exec *exec, bool altered, struct keep *k)
{
	struct group g;
	uint32_t at = 0;

	for (uint32_t i = 0; i < exec->n; i += g.n) {
		uint32_t slot = at;

		g = group_at(mod, resv, exec, i);
		if (g.broken && g.jobs)
			return has_jobs;
		if (g.broken || (altered && !g.jobs))
			continue;
		while (slot < k->n && !group_fits(mod, &g, k->slot[slot].chunk))
			slot++;
		if (slot == k->n && g.jobs)
			return has_jobs;
		if (slot == k->n)
			continue;
		if (!slot_fill(&k->slot[slot], &g))
			return "no memory";
		at = slot + 1;
	}
	return NULL;
}

/* ---- what is searched ---------------------------------------------------------------------------------------------- */

static void add(struct keel_text *t, const char *text, size_t len)
{
	keel_text_str(t, t->len ? "+" : "");
	keel_text_add(t, text, len);
}

/* How many slots from this one on are the same, and nothing fills them. */
static uint32_t run_of(const struct keep *k, uint32_t i)
{
	uint32_t n = 0;

	while (i + n < k->n && !k->slot[i + n].kept && k->slot[i + n].text == k->slot[i].text)
		n++;
	return n;
}

/* The select of the slots that nothing fills; with `pinned` those that are filled too, each on its vnode. */
static void select_of(const struct keep *k, bool pinned, struct keel_text *t)
{
	for (uint32_t i = 0, n; i < k->n; i += n ? n : 1) {
		const struct slot *s = &k->slot[i];

		n = run_of(k, i);
		if (!n && !pinned)
			continue;
		keel_text_printf(t, "%s%u:", t->len ? "+" : "", n ? (unsigned)n : 1);
		keel_text_add(t, s->text, s->len);
		if (s->vnode && !memmem(s->text, s->len, "vnode=", 6))
			keel_text_printf(t, ":vnode=%s", s->vnode);
	}
}

static char *text_end(struct keel_text *t)
{
	char *ret = t->failed ? NULL : strdup(t->data);

	keel_text_fini(t);
	return ret;
}

const char *keep_make(struct keel_mod *mod, struct keel_obj *resv, const char *nodes, bool altered, struct keep *k)
{
	const char *select = keel_get_str(resv, resv_schedselect), *why = "no memory";
	struct keel_exec *exec = NULL;
	struct keel_text rest, beside;

	*k = (struct keep){ 0 };
	if (!select || keel_resource_select_parse(select, &k->parsed, NULL))
		return "its select cannot be read";
	if (slots_make(select, k->parsed, k))
		why = nodes && keel_resource_exec_parse(nodes, &exec, NULL) == 0 ? fill(mod, resv, exec, altered, k) : NULL;
	keel_resource_exec_free(exec);
	if (why)
		return why;
	keel_text_init(&rest);
	keel_text_init(&beside);
	select_of(k, altered, &rest);
	for (uint32_t i = 0; i < k->n && !altered; i++)
		if (k->slot[i].kept)
			add(&beside, k->slot[i].kept, strlen(k->slot[i].kept));
	k->select = text_end(&rest);
	k->beside = text_end(&beside);
	return k->select && k->beside ? NULL : "no memory";
}

/* The found groups into the slots that are empty. NULL: they do not fit in, or no memory. */
char *keep_merge(const struct keep *k, const char *found)
{
	struct keel_text t;

	keel_text_init(&t);
	for (uint32_t i = 0; i < k->n; i++) {
		const char *end = k->slot[i].kept ? found : nodes_group_end(found);

		if (k->slot[i].kept)
			add(&t, k->slot[i].kept, strlen(k->slot[i].kept));
		else if (end > found)
			add(&t, found, (size_t)(end - found));
		else
			t.failed = true;
		found = end + (end > found && *end == '+');
	}
	return text_end(&t);
}

/* Is there a vnode with a running job of it that it would not have any more? */
bool keep_loses_jobs(struct keel_mod *mod, struct keel_obj *resv, const char *before, const char *after)
{
	struct keel_exec *exec;
	bool lost = false;

	if (!before || keel_resource_exec_parse(before, &exec, NULL))
		return false;
	for (uint32_t i = 0; i < exec->n && !lost; i++)
		lost = has_job(mod, resv, exec->part[i].vnode) && !nodes_name(after, exec->part[i].vnode);
	keel_resource_exec_free(exec);
	return lost;
}

void keep_fini(struct keep *k)
{
	for (uint32_t i = 0; i < k->n; i++) {
		free(k->slot[i].kept);
		free(k->slot[i].vnode);
	}
	free(k->slot);
	free(k->select);
	free(k->beside);
	keel_resource_select_free(k->parsed);
	*k = (struct keep){ 0 };
}
