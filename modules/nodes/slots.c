/* SPDX-License-Identifier: Apache-2.0
 *
 * slots.c - the jobs on a vnode (its tenants): slots, resources_assigned, job-busy and job-exclusive.
 *
 * A job takes one slot per cpu, the lowest free ones. A suspended job releases its slots and is not listed. It stays
 * a tenant only if it keeps some resources; `given_back` names the released ones, which are charged again when it
 * is resumed, and before everything is released at its end.
 */
#include "nodes.h"

#include "keel/text.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(node, resources_available, last_used_time);
KEEL_ATTR_AS(attr_node_sharing, node, sharing, 0);

#define SLOTS_MAX 1000000u /* of a vnode */
#define ANY_SLOT UINT32_MAX

/* ---- tenants ------------------------------------------------------------------------------------ */

void tenant_free(struct keel_mod *mod, struct tenant *t)
{
	holder_leave(mod, t->holder);
	free(t->given_back);
	free(t->slot);
	free(t);
}

void vnode_fini(struct keel_mod *mod, void *slot)
{
	struct vnode *v = slot;
	struct tenant *t, *next;

	for (t = v->tenants; t; t = next) {
		next = t->next;
		tenant_free(mod, t);
	}
	v->tenants = NULL;
	holds_drop(mod, v);
	changes_forget(mod, v);
}

struct tenant **tenant_at(struct vnode *v, const char *job_id)
{
	struct tenant **at = &v->tenants;

	while (*at && strcmp((*at)->job_id, job_id) != 0)
		at = &(*at)->next;
	return at;
}

struct tenant *tenant_get(struct vnode *v, const char *job_id)
{
	struct tenant **at = tenant_at(v, job_id);
	size_t size = strlen(job_id) + 1;

	if (!*at && (*at = calloc(1, sizeof(**at) + size)))
		memcpy((*at)->job_id, job_id, size);
	return *at;
}

static uint32_t slots_used(const struct vnode *v)
{
	const struct tenant *t;
	uint32_t n = 0;

	for (t = v->tenants; t; t = t->next)
		n += t->n_slots;
	return n;
}

static uint32_t lowest(const bool *taken, uint32_t *from)
{
	while (taken[*from])
		++*from;
	return (*from)++;
}

/* Takes `n` slots and sets *first to the first of them. ANY_SLOT: the lowest free ones; any other *first is the slot
 * the job had before: a job that got it meanwhile moves to another. Returns 0 or PBSE_SYSTEM: out of memory. */
static int32_t slots_take(struct vnode *v, struct tenant *t, uint32_t n, uint32_t *first)
{
	const bool had = *first != ANY_SLOT && n;
	uint32_t room = slots_used(v) + n + 1, begin = t->n_slots, from = 0, i, *held = NULL;
	const struct tenant *other;
	const uint32_t size = had && *first >= room ? *first + 1 : room;
	bool few[64], *taken = size <= KEEL_COUNT(few) ? memset(few, 0, size) : calloc(size, sizeof(*taken));
	uint32_t *bigger = taken ? reallocarray(t->slot, t->n_slots + n + 1, sizeof(*bigger)) : NULL;

	if (bigger) {
		t->slot = bigger;
		for (other = v->tenants; other; other = other->next)
			for (i = 0; i < other->n_slots; i++) {
				if (other->slot[i] < room)
					taken[other->slot[i]] = true;
				if (had && other->slot[i] == *first && !held)
					held = &other->slot[i];
			}
		if (had) {
			taken[*first] = true;
			if (held)
				*held = lowest(taken, &from);
			t->slot[t->n_slots++] = *first;
		}
		while (t->n_slots < begin + n)
			t->slot[t->n_slots++] = lowest(taken, &from);
		*first = n ? t->slot[begin] : 0;
	}
	if (taken != few)
		free(taken);
	return bigger ? 0 : PBSE_SYSTEM;
}

/* ---- occupancy ------------------------------------------------------------------------------------- */

void occupancy_update(struct keel_mod *mod, struct keel_obj *node)
{
	struct vnode *v = keel_slot(mod, node);
	uint32_t want = 0, have = node_state(mod, node) & (KEEL_NODE_JOB_BUSY | KEEL_NODE_JOB_EXCLUSIVE);
	const struct tenant *t;
	uint32_t used;
	double cpus;

	if (!v)
		return;
	used = slots_used(v);
	cpus = keel_resource_list_number(keel_get_ptr(node, node_resources_available), "ncpus", 0);
	for (t = v->tenants; t; t = t->next)
		if (t->exclusive && !t->given_back)
			want = KEEL_NODE_JOB_EXCLUSIVE;
	if (!want && used && used >= cpus)
		want = KEEL_NODE_JOB_BUSY;
	if (have & ~want)
		node_set_state(mod, node, have & ~want, false);
	if (want & ~have)
		node_set_state(mod, node, want & ~have, true);
}

int32_t node_sharing(struct keel_mod *mod, struct keel_obj *node, int32_t place_share)
{
	const char *sharing = keel_get_str(node, attr_node_sharing);
	bool forced, whole_host, excl;

	(void)mod;
	if (!sharing)
		sharing = "default_shared";
	if (strcmp(sharing, "ignore_excl") == 0)
		return KEEL_SHARE_SHARED;
	forced = strncmp(sharing, "force_", 6) == 0;
	whole_host = strstr(sharing, "exclhost") != NULL;
	excl = strstr(sharing, "excl") != NULL;
	if (place_share == KEEL_SHARE_EXCLHOST || (forced && whole_host))
		return KEEL_SHARE_EXCLHOST;
	if (place_share == KEEL_SHARE_EXCL || forced)
		return KEEL_SHARE_EXCL;
	if (place_share == KEEL_SHARE_SHARED || !excl)
		return KEEL_SHARE_SHARED;
	return whole_host ? KEEL_SHARE_EXCLHOST : KEEL_SHARE_EXCL;
}

bool node_in_use(struct keel_mod *mod, struct keel_obj *node)
{
	struct vnode *v = keel_slot(mod, node);

	const struct tenant *t = v ? v->tenants : NULL;

	while (t && (t->given_back || t->guest))
		t = t->next;
	return t != NULL;
}

uint32_t node_jobs_on(struct keel_mod *mod, struct keel_obj *node)
{
	struct vnode *v = keel_slot(mod, node);
	const struct tenant *t;
	uint32_t n = 0;

	for (t = v ? v->tenants : NULL; t; t = t->next)
		n += !t->given_back && !t->guest;
	return n;
}

/* ---- assign ----------------------------------------------------------------------------------------- */

/* Returns SLOTS_MAX + 1 for any number above SLOTS_MAX. */
uint32_t part_cpus(const struct keel_exec_part *part)
{
	uint32_t i;

	for (i = 0; i < part->n; i++)
		if (strcmp(part->v[i].res->name, "ncpus") == 0)
			return part->v[i].n > SLOTS_MAX ? SLOTS_MAX + 1
			       : part->v[i].n > 0	? (uint32_t)part->v[i].n
							: 0;
	return 0;
}

static int32_t part_assign(struct keel_mod *mod, const struct parts *p, uint32_t i, const char *job_id,
			   struct holder *holder, int32_t share, uint32_t *first)
{
	struct vnode *v = p->at[i].vnode;
	struct tenant *t = v ? tenant_get(v, job_id) : NULL;
	uint32_t cpus = part_cpus(&p->part[i]);

	if (!t)
		return PBSE_SYSTEM;
	if (cpus > SLOTS_MAX || slots_used(v) + cpus > SLOTS_MAX)
		return PBSE_BADATVAL;
	t->guest = false;
	tenant_lodge(mod, t, holder);
	t->exclusive = node_sharing(mod, p->at[i].node, share) != KEEL_SHARE_SHARED;
	return slots_take(v, t, cpus, first);
}

/* ---- the parts of a job ------------------------------------------------------------------------------ */

struct spot spot_find(struct keel_mod *mod, const char *vnode)
{
	struct keel_obj *node = keel_find(mod, "node", vnode);

	return (struct spot){ node, node ? keel_slot(mod, node) : NULL };
}

int32_t parts_find(struct keel_mod *mod, const struct keel_exec *exec, struct parts *p, struct keel_err *err)
{
	uint32_t i;

	*p = (struct parts){ exec->n, exec->part, calloc(exec->n ? exec->n : 1, sizeof(*p->at)) };
	if (!p->at)
		return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	for (i = 0; i < p->n; i++)
		p->at[i] = spot_find(mod, p->part[i].vnode);
	return 0;
}

/* ---- exec_host ------------------------------------------------------------------------------------------ */

static void number_add(struct keel_text *out, char before, uint32_t n)
{
	char text[12], *end = text + sizeof(text), *from = end;

	do
		*--from = (char)('0' + n % 10);
	while (n /= 10);
	*--from = before;
	keel_text_add(out, from, (size_t)(end - from));
}

/* Appends `host/slot*cpus` for a chunk; *0 if the chunk is spread over several vnodes. */
static void host_item(struct keel_text *out, const struct parts *p, uint32_t i,
		      uint32_t first_slot)
{
	const struct keel_exec_part *part = &p->part[i];
	bool spread = i + 1 < p->n && p->part[i + 1].chunk == part->chunk;
	uint32_t cpus = spread ? 0 : part_cpus(part);

	if (i)
		keel_text_add(out, "+", 1);
	keel_text_str(out, node_mom(p->at[i].node));
	number_add(out, '/', first_slot);
	if (cpus != 1)
		number_add(out, '*', cpus);
}

/* The job's tenant on the vnode of part `i`, NULL if there is none. */
static struct tenant *tenant_of(const struct parts *p, uint32_t i, const char *job_id)
{
	return p->at[i].vnode ? *tenant_at(p->at[i].vnode, job_id) : NULL;
}

static bool part_leave(struct keel_mod *mod, const struct parts *p, uint32_t i, const char *job_id)
{
	struct tenant **at = p->at[i].vnode ? tenant_at(p->at[i].vnode, job_id) : NULL, *t = at ? *at : NULL;

	if (!t)
		return false;
	*at = t->next;
	tenant_free(mod, t);
	return true;
}

/* Clears given_back on all its vnodes and returns the names, which the caller frees; NULL: nothing was released. */
static char *thaw(const struct parts *p, const char *job_id)
{
	char *names = NULL;
	uint32_t i;

	for (i = 0; i < p->n; i++) {
		struct tenant *t = tenant_of(p, i, job_id);

		if (!t || !t->given_back)
			continue;
		free(names);
		names = t->given_back;
		t->given_back = NULL;
	}
	return names;
}

/* Releases its slots and records `only` as released, on all its vnodes or none. Returns whether it did: false if the
 * job is on none of them, is suspended already, or out of memory. */
static bool freeze(const struct parts *p, const char *job_id, const char *only)
{
	bool there = false, failed = false;
	struct tenant *t;
	uint32_t i;

	for (i = 0; i < p->n; i++) {
		t = tenant_of(p, i, job_id);
		if (!t || t->given_back)
			continue;
		there = true;
		failed |= !(t->given_back = strdup(only));
	}
	if (failed)
		free(thaw(p, job_id));
	for (i = 0; i < p->n && there && !failed; i++)
		if ((t = tenant_of(p, i, job_id)))
			t->n_slots = 0;
	return there && !failed;
}

/* Undoes an assignment that failed: a suspended job stays suspended, any other leaves. */
static void parts_return(struct keel_mod *mod, const struct parts *p, const char *job_id)
{
	uint32_t i;

	for (i = 0; i < p->n; i++) {
		struct tenant *t = tenant_of(p, i, job_id);

		if (t && t->given_back)
			t->n_slots = 0;
		else if (t)
			part_leave(mod, p, i, job_id);
	}
}

/* `had`: the job's exec_host so far, "" for none. Appends the new one to `out`. */
static int32_t parts_assign(struct keel_mod *mod, const struct parts *p, const char *job_id, struct holder *holder,
			    int32_t share, const char *had, struct keel_text *out)
{
	int32_t code = 0;
	uint32_t i, slot;
	const char *slash;
	unsigned long named;
	size_t len;

	for (i = 0; !code && i < p->n; i++) {
		const bool begins = i == 0 || p->part[i].chunk != p->part[i - 1].chunk;

		slot = ANY_SLOT;
		if (begins) { /* that of the next chunk of exec_host (n1/0*2+n2/3), where there is one */
			len = strcspn(had, "+");
			slash = memchr(had, '/', len);
			named = slash ? strtoul(slash + 1, NULL, 10) : ANY_SLOT;
			slot = named < SLOTS_MAX ? (uint32_t)named : ANY_SLOT;
			had += len + (had[len] == '+');
		}
		code = part_assign(mod, p, i, job_id, holder, share, &slot);
		if (!code && begins)
			host_item(out, p, i, slot);
	}
	return code;
}

static int32_t assign_parts(struct keel_mod *mod, const struct parts *p, const char *job_id, int32_t share,
			    const char *had, char **ret_exec_host, struct keel_err *err)
{
	struct holder *holder = NULL;
	struct keel_text out;
	int32_t code = 0;

	for (uint32_t i = 0; !code && i < p->n; i++)
		if (!p->at[i].node)
			code = keel_error(err, PBSE_UNKNODE, "Unknown node  %s", p->part[i].vnode);
	keel_text_init(&out);
	if (!code && holder_of(mod, p, job_id, &holder))
		code = PBSE_SYSTEM;
	if (!code)
		code = parts_assign(mod, p, job_id, holder, share, had, &out);
	if (!code && (holders_prepare(mod, p, holder) || out.failed || !(*ret_exec_host = strdup(out.data))))
		code = keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	if (!code) {
		char *only = thaw(p, job_id);

		parts_charge(mod, p, holder, 1, only);
		parts_guests(mod, p, job_id, holder, share, GUESTS_COME);
		free(only);
	} else {
		parts_return(mod, p, job_id);
	}
	holder_leave(mod, holder);
	keel_text_fini(&out);
	return code;
}

static int32_t assign(struct keel_mod *mod, const char *job_id, const char *exec_vnode, int32_t share,
		      const char *had, char **ret_exec_host, struct keel_err *err)
{
	struct keel_exec *exec;
	struct parts p;
	int32_t code = keel_resource_exec_parse(exec_vnode, &exec, err);

	if (code)
		return code;
	code = parts_find(mod, exec, &p, err);
	if (!code)
		code = assign_parts(mod, &p, job_id, share, had, ret_exec_host, err);
	free(p.at);
	keel_resource_exec_free(exec);
	return code;
}

int32_t node_assign(struct keel_mod *mod, const char *job_id, const char *exec_vnode, int32_t share,
		    char **ret_exec_host, struct keel_err *err)
{
	return assign(mod, job_id, exec_vnode, share, "", ret_exec_host, err);
}

int32_t node_assign_again(struct keel_mod *mod, const char *job_id, const char *exec_vnode, int32_t share,
			  const char *exec_host, struct keel_err *err)
{
	char *now = NULL;
	int32_t code = assign(mod, job_id, exec_vnode, share, exec_host ? exec_host : "", &now, err);

	free(now);
	return code;
}

/* ---- release --------------------------------------------------------------------------------------------- */

static void release_parts(struct keel_mod *mod, const struct parts *p, const char *job_id, const char *only)
{
	struct holder *holder = holder_join(holder_known(p, job_id));
	char *back = only ? NULL : thaw(p, job_id);
	bool there = only && freeze(p, job_id, only);
	uint32_t i;

	for (i = 0; !only && i < p->n; i++)
		there |= part_leave(mod, p, i, job_id);
	if (back)
		parts_charge(mod, p, holder, 1, back);
	if (there) {
		parts_charge(mod, p, holder, -1, only);
		parts_guests(mod, p, job_id, NULL, 0, GUESTS_LEAVE);
	}
	holder_leave(mod, holder);
	free(back);
}

void node_release(struct keel_mod *mod, const char *job_id, const char *exec_vnode, const char *only,
		  bool ended)
{
	struct keel_exec *exec = NULL;
	struct keel_err err = { 0 };
	struct parts p = { 0 };
	int32_t code = keel_resource_exec_parse(exec_vnode, &exec, &err);
	uint32_t i;

	if (!code)
		code = parts_find(mod, exec, &p, &err);
	if (code)
		keel_log(mod, KEEL_LOG_ERROR, "Job", job_id, "its vnodes are not given back: %s", err.text);
	for (i = 0; !code && ended && i < p.n; i++)
		if (p.at[i].node)
			keel_set_int(p.at[i].node, node_last_used_time, keel_time(mod));
	if (!code)
		release_parts(mod, &p, job_id, only);
	free(p.at);
	keel_resource_exec_free(exec);
}

void derive_jobs(struct keel_mod *mod, struct keel_obj *node, const struct keel_emit *emit)
{
	struct vnode *v = keel_slot(mod, node);
	const struct tenant *t;
	struct keel_text out;
	uint32_t i;

	keel_text_init(&out);
	for (t = v ? v->tenants : NULL; t; t = t->next)
		for (i = 0; i < t->n_slots; i++)
			keel_text_printf(&out, "%s%s/%u", out.len ? ", " : "", t->job_id, t->slot[i]);
	if (out.len && !out.failed)
		emit->fn(emit->arg, NULL, out.data, (uint32_t)out.len);
	keel_text_fini(&out);
}
