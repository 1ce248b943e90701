/* SPDX-License-Identifier: Apache-2.0
 *
 * modules.c - the set of modules: opened and in order, up, down. It is the same from start to end of the kernel.
 */
#include "module/modules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "module/inside.h"
#include "object/objects.h"
#include "registry/registry.h"
#include "util/err.h"

int modules_create(struct parts *parts, const char *dir, const char *set, struct modules **ret_modules)
{
	struct modules *all = calloc(1, sizeof(*all));
	int ret;

	if (all == NULL)
		return -ENOMEM;
	*all = (struct modules){ .parts = parts, .dir = dir, .set = set };
	buf_init(&all->passed);
	ret = loaders_offer(all);
	if (ret == 0)
		ret = registry_offer(parts->registry, "inspect", &inspect_api);
	if (ret < 0)
		modules_destroy(all);
	else
		*ret_modules = all;
	return ret;
}

void modules_destroy(struct modules *all)
{
	if (all == NULL)
		return;
	set_leave(&all->there); /* work that was under way is done */
	buf_fini(&all->passed);
	free(all);
}

/* ---- opened and in order -------------------------------------------------------------------------------- */
static void left_out(struct modules *all, const char *name, const struct keel_err *why)
{
	log_add(all->parts->log, KEEL_LOG_ERROR, "Module", name, "left out, for it is not required: %s", why->text);
}

/* Of those for which first[i] is `which`. */
static int open_enabled(struct modules *all, const struct conf *conf, bool strict, const bool *first, bool which, struct set *s,
			struct keel_err *err)
{
	uint32_t n;
	const struct conf_module *said = conf_modules(conf, &n);

	for (uint32_t i = 0; i < n; i++) {
		struct module *m = NULL;
		int ret;

		if (first[i] != which)
			continue;
		ret = said[i].enabled ? module_open(all, conf, &said[i], &m, err) : 0;

		if (ret == 0 && said[i].enabled && m == NULL)
			buf_printf(&all->passed, "%s\n", said[i].name);
		if (ret == 0 && m != NULL && set_add(s, m) < 0) {
			module_close(m);
			return err_set(err, -ENOMEM, "no memory to load module %s", said[i].name);
		}
		if (ret < 0 && (strict || said[i].required))
			return ret;
		if (ret < 0)
			left_out(all, said[i].name, err);
	}
	return 0;
}

/* `bad` does not fit. Returns whether the set goes on without it. */
static bool give_way(struct modules *all, struct set *s, struct module *bad, bool strict, const struct keel_err *why)
{
	if (bad == NULL || bad->required || strict)
		return false;
	left_out(all, bad->desc.name, why);
	set_drop(s, bad);
	module_close(bad);
	return true;
}

/* Every enabled module of `conf` for this daemon, opened, in order of needs, and in its chains. Those that are not required
 * and do not fit are left out, with a record in the log; not when `strict`. */
static int modules_open(struct modules *all, const struct conf *conf, bool strict, struct set *ret_set, struct keel_err *err)
{
	uint32_t n;
	const struct conf_module *said = conf_modules(conf, &n);
	bool *first = calloc(n + 1, sizeof(*first));
	struct set s = { 0 };
	struct module *bad;
	int ret = first != NULL ? 0 : err_set(err, -ENOMEM, "no memory to load modules");

	/* Modules that load others, and those they require, are started. */
	if (ret == 0) {
		loaders_find(all, said, n, first);
		ret = open_enabled(all, conf, strict, first, true, &s, err);
	}
	if (ret == 0)
		ret = loaders_lint(&s, err);
	if (ret == 0)
		ret = set_order(all, &s, conf, &bad, err);
	if (ret == 0)
		ret = set_ready(&s, &bad, err);
	if (ret == 0)
		ret = set_start(all, &s, &bad, err);
	/* Then the others are opened. */
	if (ret == 0)
		ret = open_enabled(all, conf, strict, first, false, &s, err);
	if (ret == 0) {
		do
			ret = set_order(all, &s, conf, &bad, err);
		while (ret < 0 && give_way(all, &s, bad, strict, err));
	}
	if (ret == 0)
		ret = set_attach(all, &s, err);
	free(first);
	if (ret < 0)
		set_leave(&s);
	else
		*ret_set = s;
	return ret;
}

int modules_check(struct modules *all, const struct conf *conf, bool strict, bool *ret_stores, struct keel_err *err)
{
	struct module *bad;
	int ret = modules_open(all, conf, strict, &all->there, err);

	if (ret < 0)
		return ret;
	*ret_stores = set_bringer(&all->there, "SERVICE", "store") != NULL;
	return set_ready(&all->there, &bad, err);
}

/* ---- up and down ------------------------------------------------------------------------------------------ */
/* `bad` failed with the error *why. Notes it as the one without which the kernel may be started again. */
static void bad_note(struct modules *all, const struct module *bad, const struct keel_err *why)
{
	const struct module *other;

	all->bad[0] = '\0';
	if (bad == NULL || bad->required)
		return;
	SET_EACH(&all->there, other) {
		if (other->required && module_follows(other, bad, false))
			return;
	}
	left_out(all, bad->desc.name, why);
	snprintf(all->bad, sizeof(all->bad), "%s", bad->desc.name);
}

const char *modules_bad(const struct modules *all)
{
	return all != NULL && all->bad[0] != '\0' ? all->bad : NULL;
}

int modules_load(struct modules *all, const struct conf *conf, bool strict, struct keel_err *err)
{
	struct parts *parts = all->parts;
	struct module *bad = NULL;
	struct keel_err why;
	int ret = modules_open(all, conf, strict, &all->there, err);

	if (ret < 0)
		return ret;
	all->strict = strict;
	ret = set_ready(&all->there, &bad, err);
	if (ret < 0 && !strict)
		bad_note(all, bad, err);
	/* Rows for a class that no module declares are no error. A host has fewer classes: there, they are usual. */
	if (ret == 0 && (parts->daemon & KEEL_SERVER) && parts->objects != NULL && objects_waiting(parts->objects, &why) < 0)
		log_add(parts->log, KEEL_LOG_ERROR, "Module", NULL, "%s", why.text);
	return ret;
}

int modules_start(struct modules *all, struct keel_err *err)
{
	struct module *bad = NULL;
	int ret = set_start(all, &all->there, &bad, err);

	if (ret < 0 && !all->strict)
		bad_note(all, bad, err);
	return ret;
}

void modules_halt(struct modules *all)
{
	set_halt(&all->there);
}

bool modules_idle(const struct modules *all)
{
	struct keel_err why;
	struct module *m;

	SET_EACH(&all->there, m) {
		if (m->owner.working > 0 || module_busy(m, &why) == -EBUSY)
			return false;
	}
	return true;
}

void modules_work_log(const struct modules *all)
{
	const struct module *m;

	SET_EACH(&all->there, m)
		(void)module_work_log(m);
}

void modules_stop(struct modules *all)
{
	set_leave(&all->there);
}
