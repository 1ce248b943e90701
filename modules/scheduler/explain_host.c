/* SPDX-License-Identifier: Apache-2.0
 *
 * explain_host.c - `keelson explain n2`: why nothing starts on a host, or a vnode: its state and whose it is, what it is kept
 * for, who is there, what is left.
 *
 * What other modules say of a vnode is in attributes that listings have; those which say why no job starts are in a table.
 */
#include "scheduler.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "keel/text.h"

KEEL_ATTRS_OF(node, state, comment);
KEEL_ATTR_OPT(node, offline_by);

#define VNODES 50 /* at most so many of a host are listed */
#define TENANTS 20

static const char *date(int64_t seconds, char buf[64])
{
	const time_t when = (time_t)seconds;
	struct tm tm;

	if (!localtime_r(&when, &tm) || !strftime(buf, 64, "%a %b %e %H:%M:%S %Y", &tm))
		strcpy(buf, "?");
	return buf;
}

/* ---- what keeps jobs away ------------------------------------------------------------------------------------------- */

static void tell_offline(struct keel_obj *node, struct keel_text *out)
{
	const char *by = node_offline_by ? keel_get_str(node, node_offline_by) : NULL, *comment = keel_get_str(node, node_comment);
	const uint32_t bits = keel_node_state(node);
	char when[64];
	long long since;
	int at = 0;

	if (!(bits & (KEEL_NODE_OFFLINE | KEEL_NODE_OFFLINE_BY_MOM)))
		return;
	if (by && sscanf(by, "%lld %n", &since, &at) == 1 && at > 0)
		explain_line(out, "offline", "by %s since %s%s%s; `pbsnodes -r %s` ends that", by + at, date(since, when),
			     comment ? ": " : "", comment ? comment : "", keel_id(node));
	else
		explain_line(out, "offline", "%s%s%s; `pbsnodes -r %s` ends that",
			     bits & KEEL_NODE_OFFLINE_BY_MOM ? "by the server, since its host has an error" : "by whom is not recorded",
			     comment ? ": " : "", comment ? comment : "", keel_id(node));
}

static void tell_down(struct keel_obj *node, struct keel_text *out)
{
	const int64_t since = keel_node_lost_at(node);
	const char *comment = keel_get_str(node, node_comment);
	char when[64];

	if (!(keel_node_state(node) & (KEEL_NODE_DOWN | KEEL_NODE_UNKNOWN))) {
		if (!keel_node_linked(node))
			explain_line(out, "link", "none now: no job starts there until its host answers");
		return;
	}
	if (since > 0)
		explain_line(out, "down", "its host has not answered since %s%s%s", date(since, when), comment ? ": " : "",
			     comment ? comment : "");
	else
		explain_line(out, "down", "its host has not answered yet, since the server started or it was made%s%s",
			     comment ? ": " : "", comment ? comment : "");
}

/* Attributes with the reason why no job, or not each one, starts on a vnode. */
static const struct {
	const char *attr, *line, *before;
	bool jobs; /* it names jobs of other users */
} kept[] = {
	{ "queue", "queue", "only for jobs of ", false },
	{ "partition", "partition", "only for jobs of queues of ", false },
	{ "max_running", "limit", "jobs at a time: ", false },
	{ "no_multinode_jobs", "limit", "no jobs of more than one host: ", false },
	{ "resv", "reserved", "for ", false },
	{ "maintenance_jobs", "suspended", "for maintenance, nothing starts before they are resumed: ", true },
};

static void tell_window(struct keel_mod *mod, const char *id, struct keel_text *out)
{
	struct keel_obj *resv = keel_find(mod, "resv", id);
	const struct keel_attr *start = resv ? keel_attr_find(mod, "resv", "reserve_start") : NULL;
	const struct keel_attr *end = resv ? keel_attr_find(mod, "resv", "reserve_end") : NULL;
	char from[64], till[64];

	if (start && end)
		explain_line(out, "window", "%s from %s to %s%s", id, date(keel_get_int(resv, start), from),
			     date(keel_get_int(resv, end), till),
			     keel_get_int(resv, start) <= keel_time(mod) ? ": it is that time" : "");
}

static void tell_kept(struct keel_mod *mod, struct keel_obj *node, bool others, struct keel_text *out)
{
	char text[1024], *id, *save = NULL;

	for (size_t i = 0; i < KEEL_COUNT(kept); i++) {
		const struct keel_attr *attr = keel_attr_find(mod, "node", kept[i].attr);

		if (!attr || keel_get_text(node, attr, NULL, text, sizeof(text)) <= 0 || strcmp(text, "False") == 0)
			continue;
		explain_line(out, kept[i].line, "%s%s", kept[i].before,
			     kept[i].jobs && !others ? "jobs of others" : text);
		if (strcmp(kept[i].line, "reserved") != 0)
			continue;
		for (id = strtok_r(text, ", ", &save); id; id = strtok_r(NULL, ", ", &save))
			tell_window(mod, id, out);
	}
}

/* ---- who is there, what is left --------------------------------------------------------------------------------------- */

struct tenants {
	struct keel_text *out;
	uint32_t n, stopped;
	bool others;
};

static void tenant(void *arg, const char *job_id, bool suspended)
{
	struct tenants *t = arg;

	t->stopped += suspended;
	if (t->n++ < TENANTS && t->others)
		keel_text_printf(t->out, "%s%s%s", t->n > 1 ? ", " : "", job_id, suspended ? " (suspended)" : "");
}

static void tell_tenants(struct keel_obj *node, bool others, struct keel_text *out)
{
	struct keel_text names;
	struct tenants t = { .out = &names, .others = others };

	keel_text_init(&names);
	keel_node_tenants(node, tenant, &t);
	if (t.n)
		explain_line(out, "jobs", "%u%s%s%s%s", t.n, names.data && *names.data ? ": " : "", names.data ? names.data : "",
			     t.n > TENANTS && others ? " ..." : "",
			     keel_node_state(node) & KEEL_NODE_JOB_EXCLUSIVE ? "; one of them has it for itself" : "");
	keel_text_fini(&names);
}

static void tell_left(struct keel_obj *node, struct keel_text *out)
{
	const struct keel_reslist *has = keel_node_available(node), *taken = keel_node_assigned(node);
	char text[1024] = "", left[64], all[64];
	size_t n = 0;

	for (uint32_t i = 0; i < keel_resource_list_count(has); i++) {
		const struct keel_res_value *v = keel_resource_list_at(has, i);
		const struct keel_res_value *used = keel_resource_list_get(taken, v->res->name);
		double free = v->n - (used ? used->n : 0);

		if (v->res->type >= KEEL_RES_BOOL || v->n <= 0)
			continue;
		explain_amount_text(v->res, free > 0 ? free : 0, left, sizeof(left));
		explain_amount_text(v->res, v->n, all, sizeof(all));
		if (n < sizeof(text))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %s of %s", n ? ", " : "", v->res->name, left, all);
	}
	if (n)
		explain_line(out, "left", "%s", text);
}

/* ---- the lines of a vnode, of a host -------------------------------------------------------------------------------------- */

static void tell_vnode(struct keel_mod *mod, struct keel_obj *node, bool others, struct keel_text *out)
{
	const char *host = keel_node_host_of(keel_id(node));
	char state[256] = "";

	keel_get_text(node, node_state, NULL, state, sizeof(state));
	if (host && strcmp(host, keel_id(node)) != 0)
		explain_line(out, "vnode", "%s of host %s  state %s", keel_id(node), host, state);
	else
		explain_line(out, "vnode", "%s  state %s", keel_id(node), state);
	if (!scheduling_on(mod))
		explain_line(out, "scheduling", "off: no job starts");
	tell_offline(node, out);
	tell_down(node, out);
	tell_kept(mod, node, others, out);
	tell_tenants(node, others, out);
	tell_left(node, out);
	explain_line(out, "new jobs",
		     keel_node_unavailable(node) ? "none start here: its state keeps them away (%s)" : "may start here, state %s", state);
}

bool explain_host(struct keel_mod *mod, const char *name, bool others, struct keel_text *out)
{
	struct keel_obj *node = keel_find(mod, "node", name);
	struct keel_cursor *walk = keel_cursor(mod, "node");
	uint32_t n = 0, more = 0;

	if (node) {
		tell_vnode(mod, node, others, out);
		n++;
	}
	while (walk && (node = keel_next(walk)) != NULL) {
		const char *host = keel_node_host_of(keel_id(node));

		if (!host || strcmp(host, name) != 0 || strcmp(keel_id(node), name) == 0)
			continue;
		if (n++ < VNODES)
			tell_vnode(mod, node, others, out);
		else
			more++;
	}
	if (walk)
		keel_cursor_close(walk);
	if (more)
		explain_line(out, "vnodes", "and %u more", more);
	return n > 0;
}
