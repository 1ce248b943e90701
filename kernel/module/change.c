/* SPDX-License-Identifier: Apache-2.0
 *
 * change.c - one change of the running set, from being asked for to its answer.
 *
 *   ASKED   it waits for the changes before it
 *   READ    the configuration is read; what modules need to be opened and cannot have at once is begun:
 *           processes of their own come up
 *   PLAN    files are opened and checked, a plan is made, processes are asked whether they agree. Up to here
 *           there is no effect
 *   APPLY   a group of modules in a turn; before it a moment for what its modules have not finished. Then
 *           processes say whether they have started
 *   end     old files are closed, the configuration is in force; or everything is undone
 *
 * A change goes on when whoever asked is gone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "hook/hooks.h"
#include "log/log.h"
#include "loop/loop.h"
#include "module/inside.h"
#include "request/router.h"
#include "util/err.h"
#include "util/text.h"

#define WAITING_MAX 16
#define DRAIN_MS 2000 /* for holds and requests of a module that leaves */
#define DRAIN_LOOK_MS 5
#define NEXT_TURN_MS 5   /* what came meanwhile is served, saved and answered before the next group */

enum stage { ASKED, READ, PLAN, APPLY };

struct change {
	struct change *prev, *next; /* those that wait */
	struct modules *all;
	enum modules_change kind;
	char *name, *who;
	modules_changed_fn *done;
	void *arg;
	enum stage stage; /* what it has reached */
	struct plan plan;
	struct conf *conf; /* read for this change, or NULL */
	void *kept;
	struct group *groups;
	uint32_t n_groups, at;
	uint32_t preparing; /* what is begun and not there yet */
	int prepare_ret;
	struct loop_timer *timer;
	int64_t drain_end_ms; /* 0: not begun */
	struct buf out;
	struct keel_err err;
};

static const char *const kind_names[] = {
	[MODULES_CONFIGURE] = "reload of the configuration",
	[MODULES_LOAD] = "load of module",
	[MODULES_UNLOAD] = "unload of module",
	[MODULES_RELOAD] = "reload of module",
};

static void KEEL_PRINTF(3, 4) change_log(const struct change *c, uint32_t event, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_addv(c->all->parts->log, event, "Module", c->name != NULL ? c->name : "keelson", fmt, ap);
	va_end(ap);
}

/* ---- the end of a change ------------------------------------------------------------------------------ */
static void conf_end(struct change *c, bool in_force)
{
	const struct modules_files *f = &c->all->files;

	if (c->conf == NULL)
		return;
	if (in_force)
		f->keep(c->all->parts, c->conf, c->kept);
	else
		f->drop(c->all->parts, c->conf, c->kept);
	c->conf = NULL;
}

static void change_free(struct change *c)
{
	loop_timer_cancel(c->timer);
	groups_free(c->groups, c->n_groups);
	conf_end(c, false);
	buf_fini(&c->out);
	free(c->name);
	free(c->who);
	free(c);
}

static void lines_log(const struct change *c)
{
	for (const char *at = c->out.data; at != NULL && *at != '\0';) {
		size_t len = strcspn(at, "\n");

		change_log(c, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "%.*s", (int)len, at);
		at += len + (at[len] == '\n');
	}
}

static void go_on(void *arg);

static void next_change(struct modules *all)
{
	struct change *c = all->waiting;

	if (c == NULL)
		return;
	DL_DELETE(all->waiting, c);
	all->change = c;
	c->timer = loop_timer(all->parts->loop, 0, go_on, c);
	if (c->timer == NULL)
		go_on(c);
}

static void answer(struct change *c, int ret)
{
	struct modules *all = c->all;

	isolated_end(all);
	if (c->plan.all != NULL)
		plan_drop(&c->plan);
	conf_end(c, ret == 0 && c->kind == MODULES_CONFIGURE);
	if (ret < 0)
		change_log(c, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "%s, asked for by %s, refused: %s",
			   kind_names[c->kind], c->who, c->err.text);
	else
		change_log(c, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "%s, asked for by %s: done",
			   kind_names[c->kind], c->who);
	lines_log(c);
	all->change = NULL;
	if (all->files.changed != NULL)
		all->files.changed(all->parts);
	if (c->done != NULL)
		c->done(c->arg, ret, ret < 0 ? c->err.text : c->out.data != NULL ? c->out.data : "");
	change_free(c);
	next_change(all);
}

/* Files of those that are gone are closed when nothing can come back. */
static void leavers_close(struct change *c, uint32_t n_groups)
{
	for (uint32_t i = 0; i < n_groups; i++) {
		const struct group *g = &c->groups[i];

		for (uint32_t j = 0; j < g->leave.n; j++) {
			if (!set_has(&g->come, g->leave.at[j]))
				module_leave(g->leave.at[j]);
		}
	}
}

/* Those that are there are in order of needs again. Who was made anew meanwhile has his name. */
static void there_order(struct change *c)
{
	struct set *after = &c->plan.after, *there = &c->all->there, old = *there;

	for (uint32_t i = 0; i < after->n; i++)
		after->at[i] = set_named(there, after->at[i]->desc.name);
	*there = *after;
	*after = old;
}

static void say_what_next(struct change *c)
{
	const struct conf_module *said;

	if (c->kind == MODULES_UNLOAD) {
		said = conf_enabled(c->plan.conf, c->name);
		if (said != NULL)
			buf_printf(&c->out,
				   "%s is enabled in %s: the next reload of the configuration, and "
				   "the next start, load it again\n",
				   c->name, said->file);
	} else if (c->kind == MODULES_LOAD && !c->plan.was_enabled) {
		buf_printf(&c->out,
			   "%s is not enabled in the configuration: the next reload of it unloads the "
			   "module again\n",
			   c->name);
	}
}

static void succeed(struct change *c)
{
	for (uint32_t i = 0; i < c->n_groups; i++)
		group_tell(&c->groups[i], &c->out);
	if (c->n_groups == 0)
		buf_str(&c->out, "no module has changed\n");
	say_what_next(c);
	modules_tell_waiting(c->all);
	there_order(c);
	leavers_close(c, c->n_groups);
	set_fini(&c->plan.coming); /* they run */
	answer(c, 0);
}

static void undo(struct change *c, int ret)
{
	struct keel_err why = { 0 };

	while (c->at > 0) {
		if (group_revert(c->all, &c->groups[--c->at], &why) < 0)
			err_set(&c->err, ret, "%.220s; and %.250s", c->err.text, why.text);
	}
	buf_reset(&c->out);
	answer(c, ret);
}

/* ---- phase 2 -------------------------------------------------------------------------------------------- */
static void later(struct change *c, int64_t ms)
{
	c->timer = loop_timer(c->all->parts->loop, ms, go_on, c);
	if (c->timer == NULL) { /* no memory, but the work is half done: at once, then */
		err_set(&c->err, -ENOMEM, "no memory to go on");
		undo(c, -ENOMEM);
	}
}

/* Is there something that a moment may finish? */
static bool unfinished(const struct change *c, const struct group *g)
{
	for (uint32_t i = 0; i < g->leave.n; i++) {
		const struct owner *owner = &g->leave.at[i]->owner;

		if (owner->kept > 0 || hooks_waits(c->all->parts->hooks, owner) ||
		    (c->all->parts->router != NULL && router_serves(c->all->parts->router, owner)))
			return true;
	}
	return false;
}

/* True: it is over. *ret_busy is then what modules have left: asking them may be a walk through all objects. */
static bool drain(struct change *c, const struct group *g, int *ret_busy)
{
	int64_t now = loop_now_ms(c->all->parts->loop);

	*ret_busy = leavers_busy(&g->leave, &c->err);
	if (*ret_busy == 0 && !unfinished(c, g))
		return true;
	if (c->drain_end_ms == 0)
		c->drain_end_ms = now + DRAIN_MS;
	return now >= c->drain_end_ms;
}

/* Others will call functions of these, or wait for them. */
static int leavers_kept(const struct set *leavers, struct keel_err *err)
{
	for (uint32_t i = 0; i < leavers->n; i++) {
		const struct module *m = leavers->at[i];

		if (m->owner.kept > 0)
			return err_set(err, -EBUSY,
				       "nothing was changed: answers between module %s and others are on "
				       "their way (%u); try again",
				       m->desc.name, m->owner.kept);
	}
	return 0;
}

static void next_group(struct change *c)
{
	struct group *g = &c->groups[c->at];
	int ret;

	if (!drain(c, g, &ret)) {
		later(c, DRAIN_LOOK_MS);
		return;
	}
	c->drain_end_ms = 0;
	if (ret == 0)
		ret = leavers_kept(&g->leave, &c->err);
	if (ret == 0)
		ret = group_apply(c->all, g, &c->err);
	if (ret < 0) {
		undo(c, ret);
		return;
	}
	c->at++;
	later(c, NEXT_TURN_MS);
}

/* ---- up to the plan --------------------------------------------------------------------------------------- */
/* Whatever modules of c->plan.conf need to be opened and cannot have at once is begun here: counted in
 * c->preparing, told by change_prepared(). */
static void prepare(struct change *c)
{
	uint32_t n = 0;

	if (c->kind != MODULES_UNLOAD)
		isolated_begin(c->all, c->plan.conf, c->name, c->kind == MODULES_RELOAD, c, &n);
	c->preparing += n;
}

void change_prepared(struct change *c, int ret, const struct keel_err *why)
{
	if (ret < 0 && c->prepare_ret == 0) {
		c->prepare_ret = ret;
		c->err = *why;
	}
	if (--c->preparing == 0 && c->timer == NULL)
		later(c, NEXT_TURN_MS);
}

static int conf_get(struct change *c)
{
	struct modules *all = c->all;
	char *said;
	int ret;

	c->plan.conf = all->parts->conf;
	if (c->kind == MODULES_UNLOAD)
		return 0;
	ret = all->files.read(all->parts, &c->conf, &c->kept, &c->err);
	if (ret < 0)
		return ret;
	c->plan.conf = c->conf;
	if (c->kind == MODULES_CONFIGURE)
		return 0;
	c->plan.was_enabled = conf_enabled(c->conf, c->name) != NULL;
	said = text_format("%s.enabled=true", c->name);
	ret = said != NULL ? conf_override(c->conf, said, &c->err) : -ENOMEM;
	free(said);
	return ret;
}

/* Nothing was done yet. */
static void refuse(struct change *c, int ret)
{
	if (c->err.text[0] == '\0')
		err_set(&c->err, ret, "%s", strerror(-ret));
	answer(c, ret);
}

static void read_all(struct change *c)
{
	int ret;

	c->plan.all = c->all;
	c->plan.kind = c->kind;
	c->plan.name = c->name;
	c->plan.out = &c->out;
	c->preparing = 1;
	ret = conf_get(c);
	if (ret < 0) {
		refuse(c, ret);
		return;
	}
	prepare(c);
	c->stage = READ;
	change_prepared(c, 0, NULL);
}

static void make_plan(struct change *c)
{
	int ret = c->prepare_ret;

	c->stage = PLAN;
	isolated_unsettled(c->all);
	if (ret == 0)
		ret = plan_make(&c->plan, &c->err);
	if (ret == 0)
		ret = plan_groups(&c->plan, &c->groups, &c->n_groups);
	if (ret == 0)
		ret = set_reserve(&c->all->there, c->plan.coming.n);
	if (ret < 0) {
		refuse(c, ret);
		return;
	}
	later(c, NEXT_TURN_MS);
}

/* What was asked of processes has its answer, or is over. False: not yet, or it failed, and `fail` was called. */
static bool answered(struct change *c, void (*fail)(struct change *c, int ret))
{
	int ret = isolated_settled(&c->plan, &c->err);

	if (ret > 0)
		later(c, DRAIN_LOOK_MS);
	else if (ret < 0)
		fail(c, ret);
	return ret == 0;
}

static void agree(struct change *c)
{
	if (!answered(c, refuse))
		return;
	c->stage = APPLY;
	later(c, 0);
}

static void go_on(void *arg)
{
	struct change *c = arg;

	c->timer = NULL;
	if (c->stage == ASKED)
		read_all(c);
	else if (c->stage == READ)
		make_plan(c);
	else if (c->stage == PLAN)
		agree(c);
	else if (c->at < c->n_groups)
		next_group(c);
	else if (answered(c, undo))
		succeed(c);
}

/* ---- asking ----------------------------------------------------------------------------------------------- */
static struct change *change_create(struct modules *all, const struct modules_ask *ask)
{
	struct change *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->all = all;
	c->kind = ask->change;
	c->done = ask->done;
	c->arg = ask->arg;
	c->name = ask->name != NULL ? strdup(ask->name) : NULL;
	c->who = strdup(ask->who);
	buf_init(&c->out);
	if (c->who != NULL && (ask->name == NULL || c->name != NULL))
		return c;
	change_free(c);
	return NULL;
}

static int lint(const struct modules *all, const struct modules_ask *ask, struct keel_err *err)
{
	const struct change *c;
	uint32_t n = 0;

	if (all->files.read == NULL)
		return err_set(err, -ENOTSUP, "this daemon cannot reload its configuration");
	if (ask->change != MODULES_CONFIGURE && !modfile_name_is_good(ask->name))
		return err_set(err, -EINVAL, "\"%.80s\" is no name of a module",
			       ask->name != NULL ? ask->name : "");
	DL_COUNT(all->waiting, c, n);
	if (n >= WAITING_MAX)
		return err_set(err, -EBUSY,
			       "a change asked for by %s is under way and %u others wait; ask again "
			       "when they are done",
			       all->change->who, n);
	return 0;
}

int modules_change(struct modules *all, const struct modules_ask *ask, struct keel_err *err)
{
	struct change *c;
	int ret = lint(all, ask, err);

	if (ret < 0)
		return ret;
	c = change_create(all, ask);
	if (c == NULL)
		return err_set(err, -ENOMEM, "no memory for a change of the modules");
	change_log(c, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "%s, asked for by %s%s%s",
		   kind_names[c->kind], c->who, all->change != NULL ? "; it waits for that of " : "",
		   all->change != NULL ? all->change->who : "");
	DL_APPEND(all->waiting, c);
	if (all->change == NULL)
		next_change(all);
	return 0;
}

/* The daemon ends in the middle: what has left is closed, the rest is unloaded by whoever ends it. */
void changes_end(struct modules *all)
{
	struct change *c = all->change, *next;

	if (c != NULL) {
		for (uint32_t i = 0; i < c->at; i++)
			for (uint32_t j = 0; j < c->groups[i].come.n; j++)
				set_drop(&c->plan.coming, c->groups[i].come.at[j]);
		leavers_close(c, c->at);
		if (c->plan.all != NULL)
			plan_drop(&c->plan);
		change_free(c);
	}
	DL_FOREACH_SAFE(all->waiting, c, next)
		change_free(c);
	all->change = all->waiting = NULL;
	isolated_end(all);
}
