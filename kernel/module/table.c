/* SPDX-License-Identifier: Apache-2.0
 *
 * table.c - the modules there are: for the group "inspect", for a crash report, and for a comparison of two sets.
 */
#include <stdio.h>
#include <string.h>

#include "conf/conf.h"
#include "hook/hooks.h"
#include "keel/sized.h"
#include "module/inside.h"
#include "store/store.h"

static void modules_inspect(struct keel_mod *mod, void (*fn)(void *arg, const struct keel_about_module *), void *arg)
{
	const struct module *m;

	SET_EACH(&owner_of(mod)->parts->modules->there, m) {
		char runs[128] = "inside";

		if (m->how.row != NULL)
			m->how.row->def->text(&m->how.row->owner->pub, (struct keel_mod *)(uintptr_t)&m->owner.pub, runs,
					     sizeof(runs));
		fn(arg, &(struct keel_about_module){ .size = sizeof(struct keel_about_module), .roles = m->desc.roles,
						     .name = m->desc.name, .version = m->desc.version,
						     .vendor = m->desc.vendor, .path = m->image.path, .runs = runs,
						     .abi_major = m->image.note.major, .abi_minor = m->image.note.minor,
						     .since = m->since });
	}
}

/* Named by the configuration, and not there. */
static void off_inspect(struct keel_mod *mod, void (*fn)(void *arg, const char *name, const char *why), void *arg)
{
	const struct modules *all = owner_of(mod)->parts->modules;
	char why[512];
	uint32_t n = 0;
	const struct conf_module *said = all->parts->conf != NULL ? conf_modules(all->parts->conf, &n) : NULL;

	for (uint32_t i = 0; i < n; i++) {
		if (set_named(&all->there, said[i].name) != NULL)
			continue;
		if (said[i].enabled)
			snprintf(why, sizeof(why), "%s", is_passed(all, said[i].name) ? "it runs in other daemons than this one"
				 : "left out, for it is not required (required = false): the log of the start says why");
		else if (said[i].by_file)
			snprintf(why, sizeof(why), "switched off (keelson unload), until modules.d is read again; enabled in %s", said[i].file);
		else
			snprintf(why, sizeof(why), "enabled = false in %s", said[i].file);
		fn(arg, said[i].name, why);
	}
}

static void account_give(struct keel_mod *mod, uint32_t which, struct keel_account *ret)
{
	struct parts *parts = owner_of(mod)->parts;
	struct keel_account now = { .count = 0 };

	if (which < KEEL_ACCOUNTS) {
		now = parts->account[which];
		parts->account[which].longest_ns = 0;
	}
	now.size = sizeof(now);
	now.now_ns = which == KEEL_ACCOUNT_COMMIT ? (uint64_t)store_writing_ns(parts->store) : 0;
	keel_sized_give(ret, &now);
}

static const char *trouble(struct keel_mod *mod)
{
	return store_trouble(owner_of(mod)->parts->store);
}

const struct keel_inspect_api inspect_api = {
	.size = sizeof(inspect_api),
	.version = KEEL_ABI_MINOR,
	.modules = modules_inspect,
	.taps = hooks_taps,
	.holds = hooks_holds,
	.unbench = hooks_unbench,
	.reset = hooks_reset_times,
	.account = account_give,
	.trouble = trouble,
	.off = off_inspect,
};

void modules_identify(struct modules *all, struct buf *out)
{
	const struct module *m;

	SET_EACH(&all->there, m)
		buf_printf(out, "%s %s, build %s, %s\n", m->desc.name, m->desc.version,
			   m->image.note.build_id[0] != '\0' ? m->image.note.build_id : "unknown", m->image.path);
}

void modules_report(const struct modules *all, struct buf *out)
{
	const struct module *m;

	SET_EACH(&all->there, m) {
		buf_printf(out, "%s\t", m->desc.name);
		/* It may hold anything: on one line. */
		for (const char *at = m->desc.version[0] != '\0' ? m->desc.version : "-"; *at != '\0'; at++)
			buf_add(out, (unsigned char)*at < ' ' ? "?" : at, 1);
		buf_str(out, "\n");
	}
}
