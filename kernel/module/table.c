/* SPDX-License-Identifier: Apache-2.0
 *
 * table.c - the modules there are, as rows of texts: for `keelson modules`, for a crash report, and for a comparison of two
 * sets; and the chain of a point in a set that is only checked.
 */
#include <string.h>

#include "hook/hooks.h"
#include "module/inside.h"
#include "util/err.h"

void words_put(struct buf *out, const char *text)
{
	for (const char *at = text != NULL && text[0] != '\0' ? text : "-"; *at != '\0'; at++)
		buf_add(out, (unsigned char)*at < ' ' ? "?" : at, 1);
}

static void row_put(struct buf *out, const struct module *m)
{
	static const char *const states[] = { [MODULE_OPEN] = "open", [MODULE_READY] = "ready", [MODULE_RUNNING] = "running" };
	const char *const words[] = { m->desc.name, m->desc.version, m->desc.vendor };
	const uint32_t roles = m->desc.roles;
	struct hooks_usage usage;

	hooks_usage(m->owner.parts->hooks, &m->owner, &usage);
	for (size_t i = 0; i < KEEL_COUNT(words); i++) {
		words_put(out, words[i]);
		buf_str(out, "\t");
	}
	buf_printf(out, "%u.%u\t%s\t", m->image.note.major, m->image.note.minor, usage.benched > 0 ? "benched" : states[m->state]);
	if (m->how.row != NULL)
		loader_describe(m, out);
	else
		buf_str(out, "inside");
	buf_printf(out, "\t%lld\t%u\t%llu\t%llu\t%s\t", (long long)m->since, usage.taps, (unsigned long long)usage.calls,
		   (unsigned long long)usage.time_ns, roles == KEEL_SERVER ? "server" : roles == KEEL_MOM ? "mom" : "server,mom");
	words_put(out, m->image.path);
	buf_str(out, "\n");
}

void modules_table(struct modules *all, struct buf *out)
{
	const struct module *m;

	buf_str(out, "name\tversion\tvendor\tabi\tstate\truns\tsince\ttaps\tcalls\ttime_ns\troles\tpath\n");
	SET_EACH(&all->there, m)
		row_put(out, m);
}

void modules_identify(struct modules *all, struct buf *out)
{
	const struct module *m;

	SET_EACH(&all->there, m)
		buf_printf(out, "%s %s, build %s, %s\n", m->desc.name, m->desc.version,
			   m->image.note.build_id[0] != '\0' ? m->image.note.build_id : "unknown",
			   m->image.path);
}

void modules_report(const struct modules *all, struct buf *out)
{
	const struct module *m;

	SET_EACH(&all->there, m) {
		buf_printf(out, "%s\t", m->desc.name);
		words_put(out, m->desc.version);
		buf_str(out, "\n");
	}
}

int modules_preview(struct modules *all, const char *point, struct buf *out, struct keel_err *err)
{
	struct hooks *h = all->parts->hooks;
	struct module *m;
	int ret = 0;

	SET_EACH(&all->there, m) {
		if (ret == 0 && m->state == MODULE_READY)
			ret = hooks_attach(h, &m->owner, m->site->taps, m->site->n_taps, err);
	}
	if (ret == 0 && (ret = hooks_describe(h, point, out)) < 0)
		err_set(err, ret, "no hook point is called \"%s\"; `keelson hooks` lists them", point);
	return ret;
}
