/* SPDX-License-Identifier: Apache-2.0
 *
 * table.c - the modules there are, as rows of a table: for `keelson modules`; and exactly which, for a report that
 * somebody reads elsewhere.
 */
#include <string.h>

#include "hook/hooks.h"
#include "module/inside.h"

static const char *roles_name(uint32_t roles)
{
	return roles == KEEL_SERVER ? "server" : roles == KEEL_MOM ? "mom" : "server,mom";
}

static const char *state_name(enum module_state state)
{
	static const char *const names[] = { [MODULE_OPEN] = "open", [MODULE_READY] = "ready",
					     [MODULE_RUNNING] = "running" };

	return names[state];
}

void words_put(struct buf *out, const char *text)
{
	for (const char *at = text != NULL && text[0] != '\0' ? text : "-"; *at != '\0'; at++)
		buf_add(out, (unsigned char)*at < ' ' ? "?" : at, 1);
}

/* ---- columns ------------------------------------------------------------------------------------------ */
struct row {
	const struct module *m;
	struct hooks_usage usage;
};

static void put_name(struct buf *out, const struct row *r)
{
	words_put(out, r->m->desc.name);
}

static void put_version(struct buf *out, const struct row *r)
{
	words_put(out, r->m->desc.version);
}

static void put_vendor(struct buf *out, const struct row *r)
{
	words_put(out, r->m->desc.vendor);
}

static void put_abi(struct buf *out, const struct row *r)
{
	buf_printf(out, "%u.%u", r->m->image.note.major, r->m->image.note.minor);
}

static void put_state(struct buf *out, const struct row *r)
{
	buf_str(out, r->usage.benched > 0 ? "benched" : state_name(r->m->state));
}

static void put_runs(struct buf *out, const struct row *r)
{
	if (r->m->how.row != NULL)
		loader_describe(r->m, out);
	else
		buf_str(out, "inside");
}

static void put_since(struct buf *out, const struct row *r)
{
	buf_printf(out, "%lld", (long long)r->m->since);
}

static void put_taps(struct buf *out, const struct row *r)
{
	buf_printf(out, "%u", r->usage.taps);
}

static void put_calls(struct buf *out, const struct row *r)
{
	buf_printf(out, "%llu", (unsigned long long)r->usage.calls);
}

static void put_time(struct buf *out, const struct row *r)
{
	buf_printf(out, "%llu", (unsigned long long)r->usage.time_ns);
}

static void put_roles(struct buf *out, const struct row *r)
{
	buf_str(out, roles_name(r->m->desc.roles));
}

static void put_path(struct buf *out, const struct row *r)
{
	words_put(out, r->m->image.path);
}

static const struct {
	const char *name;
	void (*put)(struct buf *out, const struct row *r);
} columns[] = {
	{ "name", put_name },	{ "version", put_version },	{ "vendor", put_vendor },
	{ "abi", put_abi },	{ "state", put_state },		{ "runs", put_runs },
	{ "since", put_since }, { "taps", put_taps },		{ "calls", put_calls },
	{ "time_ns", put_time }, { "roles", put_roles },	{ "path", put_path },
};

void modules_table(struct modules *all, struct buf *out)
{
	struct row r;
	const struct module *m;

	for (size_t i = 0; i < KEEL_COUNT(columns); i++)
		buf_printf(out, "%s%s", i > 0 ? "\t" : "", columns[i].name);
	buf_str(out, "\n");
	SET_EACH(&all->there, m) {
		r.m = m;
		hooks_usage(all->parts->hooks, &m->owner, &r.usage);
		for (size_t i = 0; i < KEEL_COUNT(columns); i++) {
			buf_str(out, i > 0 ? "\t" : "");
			columns[i].put(out, &r);
		}
		buf_str(out, "\n");
	}
}

void modules_identify(struct modules *all, struct buf *out)
{
	const struct module *m;

	SET_EACH(&all->there, m)
		buf_printf(out, "%s %s, build %s, %s\n", m->desc.name, m->desc.version,
			   m->image.note.build_id[0] != '\0' ? m->image.note.build_id : "unknown",
			   m->image.path);
}
