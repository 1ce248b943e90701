/* SPDX-License-Identifier: Apache-2.0
 *
 * state.c - the words of a vnode's `state`: bits, their names, which of them a request may set.
 *
 * The value is one integer of bits; `free` is none. Administrators set and clear a few by name, the system and
 * features (NODE_STATE rows) the rest. state_notify() follows each change: log record, last_state_change_time,
 * point node_state.
 */
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/type.h"

KEEL_ATTRS_OF(node, last_state_change_time, host_lost);
KEEL_ATTR_AS(attr_node_state, node, state, 0);

static const struct word base_words[] = {
	{ KEEL_NODE_UNKNOWN, 10, KEEL_NODE_STATE_CLOSED, "state-unknown", NULL },
	{ KEEL_NODE_DOWN, 20, KEEL_NODE_STATE_CLOSED, "down", NULL },
	{ KEEL_NODE_STALE, 30, KEEL_NODE_STATE_CLOSED, "Stale", NULL },
	{ KEEL_NODE_OFFLINE, 40, KEEL_NODE_STATE_CLOSED, "offline", NULL },
	{ KEEL_NODE_JOB_BUSY, 50, 0, "job-busy", NULL },
	{ KEEL_NODE_JOB_EXCLUSIVE, 60, 0, "job-exclusive", NULL },
	{ KEEL_NODE_BUSY, 70, KEEL_NODE_STATE_CLOSED, "busy", NULL },
	{ KEEL_NODE_INITIALIZING, 80, KEEL_NODE_STATE_CLOSED, "initializing", NULL },
	{ KEEL_NODE_UNRESOLVABLE, 120, KEEL_NODE_STATE_CLOSED, "unresolvable", NULL },
	{ KEEL_NODE_OFFLINE_BY_MOM, 130, KEEL_NODE_STATE_CLOSED, "offline", NULL },
	{ KEEL_NODE_SLEEP, 150, KEEL_NODE_STATE_CLOSED, "sleep", NULL },
};

static const struct {
	const char *name;
	uint32_t bit;
} settable[] = {
	{ "free", 0 },
	{ "offline", KEEL_NODE_OFFLINE },
	{ "offline_by_mom", KEEL_NODE_OFFLINE_BY_MOM },
	{ "down", KEEL_NODE_DOWN },
	{ "sleep", KEEL_NODE_SLEEP },
};

/* ---- words ----------------------------------------------------------------------------------- */

static int32_t word_add(struct state *st, const struct word *w)
{
	struct word **at = &st->words, *copy = malloc(sizeof(*copy));

	if (!copy)
		return -1;
	*copy = *w;
	while (*at && (*at)->place <= w->place)
		at = &(*at)->next;
	copy->next = *at;
	*at = copy;
	return 0;
}

void words_free(struct state *st)
{
	struct word *w, *next;

	for (w = st->words; w; w = next) {
		next = w->next;
		free(w);
	}
	st->words = NULL;
}

int32_t words_fill(struct state *st)
{
	size_t i;

	for (i = 0; !st->words_filled && i < sizeof(base_words) / sizeof(base_words[0]); i++)
		if (word_add(st, &base_words[i])) {
			words_free(st);
			return -1;
		}
	st->words_filled = true;
	return 0;
}

static int32_t row_add(struct keel_mod *self, struct keel_mod *owner, const void *def,
		       struct keel_err *err)
{
	const struct keel_node_state_def *row = def;
	struct state *st = self->state;
	struct word *w;

	if (!row->name || !*row->name || row->bit == 0 || (row->bit & (row->bit - 1)))
		return keel_error(err, -1, "a NODE_STATE row of %s has no name, or not one bit",
				  owner->name);
	if (words_fill(st))
		return keel_error(err, -1, "out of memory");
	for (w = st->words; w; w = w->next)
		if (w->bit == row->bit || strcmp(w->name, row->name) == 0)
			return keel_error(err, -1, "vnode state '%s' (bit 0x%x) of %s is taken by '%s'",
					  row->name, row->bit, owner->name, w->name);
	return word_add(st, &(struct word){ row->bit, row->place, row->unavailable, row->name, NULL });
}

static void row_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	const struct keel_node_state_def *row = def;
	struct state *st = self->state;
	struct word **at = &st->words, *gone;

	(void)owner;
	while (*at && (*at)->bit != row->bit)
		at = &(*at)->next;
	if ((gone = *at)) {
		*at = gone->next;
		free(gone);
	}
}

const struct keel_kind_def node_state_kind = {
	.size = sizeof(struct keel_kind_def),
	.row_size = sizeof(struct keel_node_state_def),
	.name = "NODE_STATE",
	.doc = "a word of a vnode's state",
	.add = row_add,
	.remove = row_remove,
};

/* ---- the type ----------------------------------------------------------------------------------- */

static int32_t bits_of(const char *text, uint32_t *ret)
{
	uint32_t bits = 0;

	while (*text) {
		size_t len = strcspn(text, ","), i;

		for (i = 0; i < sizeof(settable) / sizeof(settable[0]); i++)
			if (strlen(settable[i].name) == len && memcmp(settable[i].name, text, len) == 0)
				break;
		if (i == sizeof(settable) / sizeof(settable[0]))
			return PBSE_BADNDATVAL;
		bits |= settable[i].bit;
		text += len + (text[len] == ',');
	}
	*ret = bits;
	return 0;
}

static int32_t type_parse(struct keel_mod *mod, const struct keel_attr *attr, int32_t op,
			  const char *key, const char *text, union keel_slot *slot, bool *is_set,
			  struct keel_err *err)
{
	uint32_t bits, old = *is_set ? (uint32_t)slot->i : 0;

	(void)attr, (void)key, (void)mod;
	if (!*text || bits_of(text, &bits))
		return keel_error(err, PBSE_BADNDATVAL, "Illegal value for node state");
	if (op == KEEL_SET)
		bits |= old & ~SETTABLE;
	else
		bits = op == KEEL_INCR ? old | bits : old & ~bits;
	slot->i = bits;
	*is_set = true;
	return 0;
}

static void type_format(struct keel_mod *mod, const union keel_slot *slot, const char *key,
			const struct keel_emit *emit)
{
	struct state *st = mod->state;
	const struct word *w;
	char text[256] = "";
	size_t n = 0;

	(void)key;
	for (w = st->words; w; w = w->next) {
		bool twice = w->bit == KEEL_NODE_OFFLINE_BY_MOM && (slot->i & KEEL_NODE_OFFLINE);

		if ((slot->i & w->bit) && !twice && n < sizeof(text))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? "," : "", w->name);
	}
	if (n == 0)
		n = (size_t)snprintf(text, sizeof(text), "free");
	emit->fn(emit->arg, NULL, text, (uint32_t)(n < sizeof(text) ? n : sizeof(text) - 1));
}

static void match_emit(void *arg, const char *key, const char *text, uint32_t len)
{
	(void)key;
	snprintf(arg, 256, "%.*s", (int)len, text);
}

static int32_t type_match(struct keel_mod *mod, const union keel_slot *slot, bool is_set, int32_t op,
			  const char *key, const char *text, struct keel_err *err)
{
	char have[256] = "";

	(void)is_set, (void)err;
	type_format(mod, slot, key, &(struct keel_emit){ match_emit, have });
	return op == KEEL_NE ? strcmp(have, text) != 0 : strcmp(have, text) == 0;
}

const struct keel_type_def state_type = {
	.size = sizeof(struct keel_type_def),
	.flags = KEEL_TYPE_INT | KEEL_TYPE_MERGES,
	.name = "node_state",
	.doc = "comma list of words, `free` for none",
	.parse = type_parse,
	.format = type_format,
	.match = type_match,
	KEEL_TYPE_OF_INT,
};

/* ---- changes -------------------------------------------------------------------------------------- */

uint32_t node_state(struct keel_mod *mod, struct keel_obj *node)
{
	(void)mod;
	return (uint32_t)keel_get_int(node, attr_node_state);
}

const char *node_word(struct keel_mod *mod, uint32_t i, uint32_t *ret_bit)
{
	const struct word *w = ((struct state *)mod->state)->words;

	while (w && i-- > 0)
		w = w->next;
	if (w)
		*ret_bit = w->bit;
	return !w ? NULL : w->bit == KEEL_NODE_OFFLINE_BY_MOM ? "offline_by_mom" : w->name;
}

/* Does a word that is set close it so? */
static bool is_closed(struct keel_mod *mod, struct keel_obj *node, uint32_t flags)
{
	struct state *st = mod->state;
	uint32_t bits = node_state(mod, node);
	const struct word *w;

	for (w = st->words; w; w = w->next)
		if ((w->closes & flags) && (bits & w->bit))
			return true;
	return false;
}

bool node_unavailable(struct keel_mod *mod, struct keel_obj *node)
{
	return is_closed(mod, node, UINT32_MAX);
}

bool node_closed_inside(struct keel_mod *mod, struct keel_obj *node)
{
	return is_closed(mod, node, ~(uint32_t)KEEL_NODE_STATE_OUTSIDE);
}

static void state_notify(struct keel_mod *mod, struct keel_obj *node, uint32_t before, uint32_t after,
			 uint32_t bits, bool on)
{
	const char *id = keel_id(node);
	long long now = keel_time(mod), last = keel_get_int(node, node_last_state_change_time);

	keel_log(mod, KEEL_LOG_DEBUG3, "Node", id,
		 "set_vnode_state;vnode.state=0x%x vnode_o.state=0x%x "
		 "vnode.last_state_change_time=%lld vnode_o.last_state_change_time=%lld "
		 "state_bits=0x%llx state_bit_op_type_str=%s state_bit_op_type_enum=%d",
		 after, before, now, last,
		 on ? (unsigned long long)bits : ~(unsigned long long)bits,
		 on ? "Nd_State_Or" : "Nd_State_And", on ? 1 : 2);
	keel_set_int(node, node_last_state_change_time, now);
	node_touch(mod, node);
	keel_note(mod, KEEL_POINT_node_state,
		  KEEL_EVENT(node_state, .id = id, .node = node, .before = before, .after = after));
}

void node_set_state(struct keel_mod *mod, struct keel_obj *node, uint32_t bits, bool on)
{
	struct vnode *v = keel_slot(mod, node);
	uint32_t before = node_state(mod, node), after = on ? before | bits : before & ~bits;

	if (before == after)
		return;
	if (v)
		v->notified = after;
	keel_set_int(node, attr_node_state, after);
	state_notify(mod, node, before, after, bits, on);
}

void node_arrived(struct keel_mod *mod, struct keel_obj *node)
{
	struct vnode *v = keel_slot(mod, node);
	uint32_t bits = node_state(mod, node);

	if (!v || !v->awaited)
		return;
	v->awaited = false;
	keel_note(mod, KEEL_POINT_node_state,
		  KEEL_EVENT(node_state, .id = keel_id(node), .node = node, .before = bits | KEEL_NODE_UNKNOWN,
			     .after = bits));
}

void state_changed(struct keel_mod *mod, struct keel_obj *node, const struct keel_attr *attr)
{
	struct vnode *v = keel_slot(mod, node);
	uint32_t after = node_state(mod, node);
	uint32_t before;

	(void)attr;
	if (v && !v->known) { /* just created, or loaded from the store */
		node_known(mod, node);
		newcomer_expect(mod, keel_id(node));
		return;
	}
	if (!v || v->notified == after)
		return;
	before = v->notified;
	v->notified = after;
	if (before & ~after & KEEL_NODE_OFFLINE)
		sick_forgiven(node);
	state_notify(mod, node, before, after, before ^ after, (after & ~before) != 0);
}

int64_t node_lost_at(struct keel_mod *mod, struct keel_obj *node)
{
	(void)mod;
	return keel_get_int(node, node_host_lost);
}

void node_lost(struct keel_mod *mod, struct keel_obj *node)
{
	if (!keel_is_set(node, node_host_lost))
		keel_set_int(node, node_host_lost, keel_time(mod));
}

void node_known(struct keel_mod *mod, struct keel_obj *node)
{
	struct state *st = mod->state;
	struct vnode *v = keel_slot(mod, node);
	const char *host = node_mom(node);
	/* This daemon has restarted, and its host is on its way. */
	bool counts_as_up = keel_is_set(node, node_last_state_change_time) && keel_link_is_awaited(mod, host);
	uint32_t bits = node_state(mod, node);

	if (!counts_as_up)
		bits = (bits & LASTING) | KEEL_NODE_UNKNOWN | KEEL_NODE_DOWN;

	if (v) {
		v->notified = bits;
		v->known = true;
		v->awaited = counts_as_up;
	}
	keel_set_int(node, attr_node_state, bits);
	if (!counts_as_up)
		node_lost(mod, node); /* until its host reports; the time of an older loss stays */
	if (!keel_is_set(node, node_last_state_change_time))
		keel_set_int(node, node_last_state_change_time, keel_time(mod));
	st->members++;
	node_reshape(mod);
}
