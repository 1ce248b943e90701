/* SPDX-License-Identifier: Apache-2.0
 *
 * spans.c - the times of a reservation that are left, and their vnodes.
 *
 * Stored are the soonest (reserve_start, reserve_end, resv_nodes) and, of one that repeats, its rule with the begin and the
 * length that it was made with (reserve_standing, reserve_standing_duration), how many are over (reserve_index), and the
 * vnodes of all that are left (reserve_execvnodes). So the begins stay where they are when the first ones are over, or when
 * the soonest is altered.
 */
#include "reservations.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(resv, reserve_start, reserve_end, reserve_duration, reserve_rrule, reserve_timezone, reserve_count, reserve_index,
	      reserve_standing, reserve_standing_duration, resv_nodes, reserve_execvnodes, reserve_rules, Resource_List, queue);

/* ---- in memory -------------------------------------------------------------------------------------- */

void spans_free(struct keel_mod *mod, struct resv *r)
{
	for (uint32_t i = 0; i < r->n_spans; i++)
		nodes_drop(mod, r->span[i].nodes);
	free(r->span);
	r->span = NULL;
	r->n_spans = 0;
}

/* What place and vnodes say together decides whether it has them for itself. */
static int32_t share_of(struct keel_obj *resv)
{
	struct keel_place place = { 0 };
	char text[128];

	if (keel_get_text(resv, resv_Resource_List, "place", text, sizeof(text)) > 0)
		keel_resource_place_parse(text, &place, NULL);
	return place.share;
}

/* The same text as a time beside it is kept once. False: no memory, nothing has changed. */
static bool span_put(struct keel_mod *mod, struct keel_obj *resv, uint32_t i, const char *nodes)
{
	struct resv *r = resv_slot(mod, resv);
	struct span *s = &r->span[i];
	char *before = i ? r->span[i - 1].nodes : NULL, *text = NULL;

	if (nodes && s->nodes && strcmp(s->nodes, nodes) == 0)
		return true;
	if (nodes && *nodes) {
		text = before && strcmp(before, nodes) == 0 ? nodes_share(before)
							    : nodes_take(mod, resv, nodes, strlen(nodes));
		if (!text)
			return false;
	}
	if (i == 0 && resv_is_running(resv))
		nodes_alone(mod, s->nodes, KEEL_SHARE_UNSET, false);
	nodes_drop(mod, s->nodes);
	s->nodes = text;
	return true;
}

/* ---- from what is stored ---------------------------------------------------------------------------- */

static bool repeats(struct keel_obj *resv)
{
	return keel_is_set(resv, resv_reserve_rrule) && keel_get_int(resv, resv_reserve_count) > 1;
}

/* What the rule is counted from does not change with the soonest time. */
static void remember(struct keel_obj *resv)
{
	if (keel_is_set(resv, resv_reserve_standing))
		return;
	keel_set_int(resv, resv_reserve_standing, keel_get_int(resv, resv_reserve_start));
	keel_set_int(resv, resv_reserve_standing_duration, keel_get_int(resv, resv_reserve_duration));
}

/* Begins of all its times, those that are over too; the caller frees. NULL: it has one, or there is no memory. */
static int64_t *begins_of(struct keel_mod *mod, struct keel_obj *resv, uint32_t *ret_n)
{
	const char *zone = keel_get_str(resv, resv_reserve_timezone);
	int64_t *begins = NULL;
	int32_t code;

	*ret_n = 0;
	remember(resv);
	code = occurrences_of(keel_get_str(resv, resv_reserve_rrule), zone ? zone : "UTC",
			      keel_get_int(resv, resv_reserve_standing),
			      keel_get_int(resv, resv_reserve_standing_duration),
			      (uint32_t)keel_get_int(resv, resv_reserve_count), &begins, ret_n);
	if (!code)
		return begins;
	*ret_n = 0;
	keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv),
		 "its rule cannot be read any more (%d): it ends with the soonest of its times; is the time zone %s still known?",
		 (int)code, zone ? zone : "UTC");
	return NULL;
}

static bool spans_make(struct keel_mod *mod, struct keel_obj *resv, struct resv *r)
{
	const int64_t index = keel_get_int(resv, resv_reserve_index);
	const uint32_t over = index > 1 && index <= UINT32_MAX ? (uint32_t)index - 1 : 0;
	uint32_t n = 0, left;
	int64_t *begins = repeats(resv) ? begins_of(mod, resv, &n) : NULL;

	left = n > over + 1 ? n - over : 1;
	r->span = calloc(left, sizeof(*r->span));
	r->n_spans = r->span ? left : 0;
	for (uint32_t i = 1; i < r->n_spans; i++)
		r->span[i] = (struct span){ .from = begins[over + i],
					    .till = begins[over + i] + keel_get_int(resv, resv_reserve_standing_duration) };
	if (r->span)
		r->span[0] = (struct span){ .from = keel_get_int(resv, resv_reserve_start),
					    .till = keel_get_int(resv, resv_reserve_end) };
	free(begins);
	return r->span != NULL;
}

/* Ranges of one set come one after the other: they share one text. */
struct fill {
	struct keel_mod *mod;
	struct keel_obj *resv;
	struct resv *r;
	const char *set;
	char *nodes;
};

static int32_t fill_range(void *arg, const char *set, size_t len, uint32_t first, uint32_t last)
{
	struct fill *f = arg;

	if (set != f->set) {
		nodes_drop(f->mod, f->nodes);
		f->nodes = nodes_take(f->mod, f->resv, set, len);
		f->set = set;
	}
	if (!f->nodes)
		return -ENOMEM;
	for (uint32_t i = first; i <= last; i++) {
		nodes_drop(f->mod, f->r->span[i].nodes);
		f->r->span[i].nodes = nodes_share(f->nodes);
	}
	return 0;
}

static int32_t spans_fill(struct keel_mod *mod, struct keel_obj *resv, struct resv *r)
{
	struct fill f = { .mod = mod, .resv = resv, .r = r };
	const char *list = keel_get_str(resv, resv_reserve_execvnodes), *soonest = keel_get_str(resv, resv_resv_nodes);
	int32_t ret = 0;

	if (list && r->n_spans > 1)
		ret = sequence_each(list, r->n_spans, fill_range, &f);
	nodes_drop(mod, f.nodes);
	if (ret == -EINVAL)
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv),
			 "the vnodes of its later times cannot be read (%.200s); they are searched again", list);
	if (ret == -ENOMEM || !span_put(mod, resv, 0, soonest))
		return -ENOMEM;
	return 0;
}

int32_t spans_read(struct keel_mod *mod, struct keel_obj *resv)
{
	struct resv *r = resv_slot(mod, resv);

	if (!r)
		return -ENOMEM;
	spans_free(mod, r);
	return spans_make(mod, resv, r) ? spans_fill(mod, resv, r) : -ENOMEM;
}

/* ---- what others have of it ----------------------------------------------------------------------------- */

static uint32_t block_flags(struct keel_mod *mod, struct keel_obj *resv, const struct span *s, int32_t share, bool begun)
{
	uint32_t flags = begun ? KEEL_BLOCK_BEGAN : 0;

	if (keel_get_int(resv, resv_reserve_rules) & RULE_WHATEVER)
		return flags | KEEL_BLOCK_WHATEVER;
	return nodes_are_alone(mod, s->nodes, share) ? flags | KEEL_BLOCK_ALONE : flags;
}

static void span_block(struct keel_mod *mod, struct keel_obj *resv, const struct span *s, uint32_t part, bool begun,
		       int32_t share)
{
	const bool whatever = keel_get_int(resv, resv_reserve_rules) & RULE_WHATEVER;
	const char *nodes = whatever ? s->nodes : nodes_and_hosts(mod, s->nodes, share);
	struct keel_err err = { 0 };

	if (s->till <= s->from)
		return;
	if (keel_sched_block(&(struct keel_sched_block){
				     .size = sizeof(struct keel_sched_block),
				     .flags = block_flags(mod, resv, s, share, begun),
				     .id = keel_id(resv),
				     .part = part,
				     .from = s->from,
				     .till = s->till,
				     .exec_vnode = nodes ? nodes : "",
				     .queue = keel_get_str(resv, resv_queue),
			     },
			     &err))
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv), "its vnodes are not kept free for it: %s", err.text);
}

/* Parts are counted over all its times, so that those that are left keep theirs. */
static uint32_t part_of(struct keel_obj *resv)
{
	const int64_t index = keel_get_int(resv, resv_reserve_index);

	return index > 1 && index <= UINT32_MAX / 2 ? (uint32_t)index - 1 : 0;
}

/* Its soonest time holds its vnodes, also while its last jobs are being deleted. */
static bool has_begun(struct keel_obj *resv)
{
	return resv_is_running(resv) || (keel_get_int(resv, resv_reserve_rules) & RULE_BEGUN);
}

void spans_block(struct keel_mod *mod, struct keel_obj *resv)
{
	const struct resv *r = resv_slot(mod, resv);
	const uint32_t first = part_of(resv), n = r ? r->n_spans : 0;

	for (uint32_t i = 0; i < n; i++)
		span_block(mod, resv, &r->span[i], first + i, i == 0 && has_begun(resv), share_of(resv));
	keel_sched_unblock(keel_id(resv), first + n);
}

void span_block_soonest(struct keel_mod *mod, struct keel_obj *resv)
{
	const struct resv *r = resv_slot(mod, resv);

	if (r && r->n_spans)
		span_block(mod, resv, &r->span[0], part_of(resv), has_begun(resv), share_of(resv));
}

/* What is over takes nothing of the vnodes: a block of nothing, long ago, replaces it. False: no memory. */
static bool soonest_unblock(struct keel_obj *resv)
{
	const struct keel_sched_block nothing = {
		.size = sizeof(nothing), .id = keel_id(resv), .part = part_of(resv), .from = 1, .till = 2, .exec_vnode = "",
	};

	return keel_sched_block(&nothing, NULL) == 0;
}

/* ---- changes ------------------------------------------------------------------------------------------ */

static int32_t text_store(struct keel_obj *resv, const struct keel_attr *attr, const char *text)
{
	if (text)
		return keel_set_str(resv, attr, text);
	keel_unset(resv, attr, NULL);
	return 0;
}

/* Its vnodes, as they are in memory. */
static int32_t spans_store(struct keel_mod *mod, struct keel_obj *resv)
{
	struct resv *r = resv_slot(mod, resv);
	struct keel_text text;
	int32_t ret = text_store(resv, resv_resv_nodes, r->span[0].nodes);

	if (ret || (r->n_spans < 2 && !keel_is_set(resv, resv_reserve_execvnodes)))
		return ret;
	keel_text_init(&text);
	ret = r->n_spans < 2 ? 0 : sequence_write(r->span, r->n_spans, &text);
	if (!ret)
		ret = text_store(resv, resv_reserve_execvnodes, r->n_spans < 2 ? NULL : text.data);
	keel_text_fini(&text);
	return ret;
}

/* The soonest has begun, and has other vnodes now. */
static void held_again(struct keel_mod *mod, struct keel_obj *resv)
{
	if (resv_is_running(resv))
		spans_hold(mod, resv);
}

int32_t span_place(struct keel_mod *mod, struct keel_obj *resv, uint32_t i, const char *nodes)
{
	struct resv *r = resv_slot(mod, resv);

	if (!r || i >= r->n_spans)
		return -EINVAL;
	if (!span_put(mod, resv, i, nodes))
		return -ENOMEM;
	if (i == 0)
		held_again(mod, resv);
	return spans_store(mod, resv);
}

int32_t spans_place(struct keel_mod *mod, struct keel_obj *resv, const char *const *nodes, uint32_t n)
{
	struct resv *r = resv_slot(mod, resv);

	if (!r || !r->n_spans)
		return -EINVAL;
	for (uint32_t i = 0; i < r->n_spans; i++)
		if (!span_put(mod, resv, i, i < n ? nodes[i] : NULL))
			return -ENOMEM;
	held_again(mod, resv);
	return spans_store(mod, resv);
}

void span_move(struct keel_mod *mod, struct keel_obj *resv, int64_t from, int64_t till)
{
	struct resv *r = resv_slot(mod, resv);

	keel_set_int(resv, resv_reserve_start, from);
	keel_set_int(resv, resv_reserve_end, till);
	keel_set_int(resv, resv_reserve_duration, till - from);
	if (r && r->n_spans) {
		r->span[0].from = from;
		r->span[0].till = till;
	}
}

bool span_next(struct keel_mod *mod, struct keel_obj *resv)
{
	struct resv *r = resv_slot(mod, resv);
	bool all;

	if (!r || r->n_spans < 2)
		return false;
	all = !soonest_unblock(resv);
	nodes_drop(mod, r->span[0].nodes);
	memmove(r->span, r->span + 1, (size_t)--r->n_spans * sizeof(*r->span));
	span_move(mod, resv, r->span[0].from, r->span[0].till);
	keel_set_int(resv, resv_reserve_index, keel_get_int(resv, resv_reserve_index) + 1);
	keel_set_int(resv, resv_reserve_rules, keel_get_int(resv, resv_reserve_rules) & ~(int64_t)RULE_BEGUN);
	if (spans_store(mod, resv))
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv),
			 "no memory to keep the vnodes of its next times; they are searched again after a restart");
	if (all) {
		keel_sched_unblock(keel_id(resv), 0);
		spans_block(mod, resv);
	}
	return true;
}

/* ---- held ---------------------------------------------------------------------------------------------- */

void spans_hold(struct keel_mod *mod, struct keel_obj *resv)
{
	struct resv *r = resv_slot(mod, resv);
	struct keel_err err = { 0 };

	if (!r || !r->n_spans)
		return;
	if (keel_node_hold(keel_id(resv), r->span[0].nodes, &err))
		keel_log(mod, KEEL_LOG_ERROR, "Resv", keel_id(resv), "its vnodes are not charged: %s", err.text);
	r->lacks = !nodes_are_there(mod, r->span[0].nodes);
	nodes_alone(mod, r->span[0].nodes, share_of(resv), true);
}

void spans_hold_again(struct keel_mod *mod, struct keel_obj *resv)
{
	const struct resv *r = resv_slot(mod, resv);

	if (r && r->lacks && has_begun(resv))
		spans_hold(mod, resv);
}

void spans_unhold(struct keel_mod *mod, struct keel_obj *resv)
{
	struct resv *r = resv_slot(mod, resv);

	keel_node_hold(keel_id(resv), NULL, NULL);
	if (r && r->n_spans)
		nodes_alone(mod, r->span[0].nodes, KEEL_SHARE_UNSET, false);
}

void spans_release(struct keel_mod *mod, struct keel_obj *resv)
{
	keel_sched_unblock(keel_id(resv), 0);
	spans_unhold(mod, resv);
}

/* ---- texts ---------------------------------------------------------------------------------------------------- */

bool nodes_name(const char *nodes, const char *vnode)
{
	const size_t len = strlen(vnode);

	for (const char *at = nodes; (at = strpbrk(at, "(+")); ) {
		at += strspn(at, "(+");
		if (strncmp(at, vnode, len) == 0 && (at[len] == ':' || at[len] == ')' || at[len] == '+'))
			return true;
	}
	return false;
}

static int by_name(const void *key, const void *entry)
{
	return strcmp(key, *(const char *const *)entry);
}

/* Does the group, `(a:ncpus=1+b:ncpus=1)`, name one of them? */
static bool group_names(const struct keel_exec *exec, uint32_t chunk, const char *const *vnodes, uint32_t n)
{
	for (uint32_t i = 0; i < exec->n; i++)
		if (exec->part[i].chunk == chunk &&
		    bsearch(exec->part[i].vnode, vnodes, n, sizeof(*vnodes), by_name))
			return true;
	return false;
}

/* The end of the group that begins at `at`. Values may have parentheses in quotes. */
const char *nodes_group_end(const char *at)
{
	char quote = '\0';

	for (; *at; at++) {
		if (quote)
			quote = *at == quote ? '\0' : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
		else if (*at == ')')
			return at + 1;
	}
	return at;
}

bool nodes_without(struct keel_mod *mod, const char *nodes, const char *const *vnodes, uint32_t n, char **ret)
{
	struct keel_exec *exec;
	struct keel_text text;
	uint32_t chunk = 0;
	bool less = false;

	(void)mod;
	*ret = NULL;
	if (!nodes || keel_resource_exec_parse(nodes, &exec, NULL))
		return false;
	keel_text_init(&text);
	for (const char *at = nodes, *end; *at; at = end + (*end == '+'), chunk++) {
		const bool lost = group_names(exec, chunk, vnodes, n);

		end = nodes_group_end(at);
		less |= lost;
		if (lost)
			continue;
		keel_text_str(&text, text.len ? "+" : "");
		keel_text_add(&text, at, (size_t)(end - at));
	}
	keel_resource_exec_free(exec);
	less = less && !text.failed;
	if (less && text.len)
		*ret = strdup(text.data);
	keel_text_fini(&text);
	return less;
}
