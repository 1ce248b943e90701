/* SPDX-License-Identifier: Apache-2.0
 *
 * lifecycle.c - one module from opened to running and back.
 *
 *   OPEN -> taps (quiet) -> needs -> contributions -> init -> READY -> replay -> start -> RUNNING
 *   RUNNING -> stop -> taps and rows withdrawn -> fini -> private memory freed -> OPEN
 *
 * Several modules go up and down together, step by step, as at the start and the end of a daemon: all are ready
 * before the replay, and all are stopped before the first of them ends.
 *
 * Each step undoes what the steps before it did when it fails. A callback that fails without a word is
 * given one.
 */
#include <errno.h>
#include <string.h>

#include "hook/hooks.h"
#include "link/links.h"
#include "loop/loop.h"
#include "log/log.h"
#include "module/inside.h"
#include "object/objects.h"
#include "registry/registry.h"
#include "store/store.h"
#include "util/crumb.h"
#include "util/err.h"

typedef int32_t step_fn(struct keel_mod *, struct keel_err *);

/* Of a module whose `fn` failed: "module NAME<failed>: <its error>". */
static int call_step(struct module *m, const char *name, step_fn *fn, const char *failed, struct keel_err *err)
{
	struct keel_err own = { 0 };
	struct crumb crumb;
	int ret;

	if (fn == NULL)
		return 0;
	crumb_begin(&crumb, &m->owner, name, NULL);
	ret = fn(&m->owner.pub, &own);
	crumb_end(&crumb);
	if (ret == 0)
		return 0;
	return err_set(err, ret < 0 ? ret : -EIO, "module %s%s: %s", m->desc.name, failed,
		       own.text[0] != '\0' ? own.text : "it gave no reason");
}

/* ---- up --------------------------------------------------------------------------------------------- */
/* Everything that could still call into the module: taps, message handlers, rows. */
static void withdraw(struct module *m)
{
	hooks_detach(m->owner.parts->hooks, &m->owner);
	if (m->owner.parts->links != NULL)
		links_detach(m->owner.parts->links, &m->owner);
	registry_remove(m->owner.parts->registry, &m->owner);
}

static int module_ready(struct module *m, struct keel_err *err)
{
	int ret;

	memset(m->owner.pub.state, 0, m->desc.state_size); /* it may have run before */
	ret = needs_find(m, false, err);
	if (ret == 0)
		ret = registry_add(m->owner.parts->registry, &m->owner, m->desc.contribs, m->desc.n_contribs, err);
	if (ret < 0)
		return ret;
	ret = needs_find(m, true, err);
	if (ret == 0)
		ret = call_step(m, "init", m->desc.init, ": init failed", err);
	if (ret < 0) {
		withdraw(m);
		objects_detach(&m->owner);
		return ret;
	}
	hooks_quiet(m->owner.parts->hooks, &m->owner, true); /* those that init() added, too */
	m->state = MODULE_READY;
	return 0;
}

/* ---- down ------------------------------------------------------------------------------------------- */
bool module_stays(const struct module *m)
{
	return m->owner.parts->store != NULL && store_is_with(m->owner.parts->store, &m->owner);
}

int module_busy(struct module *m, struct keel_err *err)
{
	int ret;

	if (module_stays(m))
		return err_set(err, -ENOTEMPTY, "module %s cannot be unloaded while the daemon runs, for it keeps its objects; "
			       "stop the daemon first", m->desc.name);
	ret = m->state == MODULE_RUNNING ? call_step(m, "busy", m->desc.busy, " is busy", err) : 0;
	return ret == 0 || ret == -ENOTEMPTY ? ret : -EBUSY;
}

/* Not the module itself is to blame: what it asks a worker thread to do hangs, or it waits behind that. */
bool module_work_log(const struct module *m)
{
	if (m->owner.working > 0)
		log_add(m->owner.parts->log, KEEL_LOG_ERROR, "Module", m->desc.name,
			"work() of it has not returned (%u of them): what that asks does not answer, a file system, a program, a "
			"server?", m->owner.working);
	return m->owner.working > 0;
}

/* ---- together ---------------------------------------------------------------------------------------- */
int set_attach(struct modules *all, const struct set *s, struct keel_err *err)
{
	struct hooks *h = all->parts->hooks;
	struct module *m;
	int ret;

	SET_EACH(s, m) {
		ret = hooks_attach(h, &m->owner, m->site->taps, m->site->n_taps, err);
		if (ret < 0)
			return ret;
		hooks_quiet(h, &m->owner, true);
		m->owner.budget = m->site->budget;
	}
	return 0;
}

int set_ready(struct set *s, struct module **ret_bad, struct keel_err *err)
{
	struct module *m;
	int ret;

	SET_EACH(s, m) {
		*ret_bad = m;
		ret = m->state == MODULE_OPEN ? module_ready(m, err) : 0; /* some are there before */
		if (ret < 0)
			return ret;
	}
	SET_EACH(s, m) {
		*ret_bad = m;
		ret = hooks_filter(m->owner.parts->hooks, &m->owner, m->site->matches, m->site->n_matches, err);
		if (ret < 0)
			return ret;
		module_offer(m);
	}
	*ret_bad = NULL;
	return 0;
}

int set_start(struct modules *all, struct set *s, struct module **ret_bad, struct keel_err *err)
{
	struct module *m;
	int ret;

	if (all->parts->objects != NULL)
		hooks_replay(all->parts->hooks, all->parts->objects, NULL);
	SET_EACH(s, m) {
		if (m->state != MODULE_READY)
			continue;
		*ret_bad = m;
		ret = call_step(m, "start", m->desc.start, ": start failed", err);
		if (ret < 0)
			return ret;
		hooks_quiet(all->parts->hooks, &m->owner, false);
		m->state = MODULE_RUNNING;
		m->since = loop_time(all->parts->loop);
	}
	*ret_bad = NULL;
	return 0;
}

void set_halt(const struct set *s)
{
	for (uint32_t i = s->n; i > 0; i--) {
		struct module *m = s->at[i - 1];

		if (m->state != MODULE_RUNNING)
			continue;
		if (m->desc.stop != NULL)
			CRUMB_CALL(&m->owner, "stop", NULL, m->desc.stop(&m->owner.pub));
		m->state = MODULE_READY;
	}
}

void set_down(const struct set *s)
{
	set_halt(s);
	for (uint32_t i = s->n; i > 0; i--) {
		struct module *m = s->at[i - 1];

		withdraw(m);
		if (m->state != MODULE_OPEN && m->desc.fini != NULL)
			CRUMB_CALL(&m->owner, "fini", NULL, m->desc.fini(&m->owner.pub));
		objects_detach(&m->owner);
		if (m->how.row != NULL)
			loader_close(m); /* while its loader, which ends after it, is there */
		m->state = MODULE_OPEN;
	}
}

void set_leave(struct set *s)
{
	uint32_t left = s->n;

	set_down(s);
	for (uint32_t i = s->n; i > 0; i--) {
		struct module *m = s->at[i - 1];

		/* What a module left behind may still use its memory: that stays, then. */
		if (m->owner.live == 0)
			module_close(m);
		else if (module_work_log(m))
			s->at[--left] = m; /* until that is done */
		else if (m->since != 0) /* stop() was called; where a start was refused it was not, and nothing of that is an error */
			log_add(m->owner.parts->log, KEEL_LOG_ERROR, "Module", m->desc.name,
				"%u timers, watches or calls are left after it ended; its code stays in memory. Report this to its "
				"vendor", m->owner.live);
	}
	s->n -= left;
	if (s->n > 0)
		memmove(s->at, s->at + left, s->n * sizeof(*s->at));
	else
		set_fini(s);
}
