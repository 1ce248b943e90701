/* SPDX-License-Identifier: Apache-2.0
 *
 * change.c - changes that an administrator requests, one at a time. The configuration is read and compared with what runs.
 * Values alone are exchanged at once. Another set of modules is another image of this daemon, which the daemon makes: it
 * checks the set in a child, calls modules_agree(), and ends; or modules_renewal_failed(), and nothing has changed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "log/log.h"
#include "loop/loop.h"
#include "module/inside.h"
#include "util/err.h"

#define WAITING_MAX 16

struct change {
	struct change *prev, *next; /* those that wait */
	struct modules *all;
	struct modules_ask ask; /* its strings are owned */
	struct conf *conf; /* read for this change, or NULL */
	void *kept;
	struct loop_timer *timer;
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
	log_addv(c->all->parts->log, event, "Module", c->ask.name != NULL ? c->ask.name : "keelson", fmt, ap);
	va_end(ap);
}

/* ---- the end of a change ------------------------------------------------------------------------------ */
static void conf_end(struct change *c, bool in_force)
{
	const struct modules_files *f = &c->all->files;

	if (c->conf != NULL && in_force)
		f->keep(c->all->parts, c->conf, c->kept);
	else if (c->conf != NULL)
		f->drop(c->all->parts, c->conf, c->kept);
	c->conf = NULL;
}

static void change_free(struct change *c)
{
	loop_timer_cancel(c->timer);
	conf_end(c, false);
	buf_fini(&c->out);
	free((char *)(uintptr_t)c->ask.name);
	free((char *)(uintptr_t)c->ask.who);
	free((char *)(uintptr_t)c->ask.token);
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

static void change_begin(void *arg);

static void next_change(struct modules *all)
{
	struct change *c = all->waiting;

	if (c == NULL)
		return;
	DL_DELETE(all->waiting, c);
	all->change = c;
	c->timer = loop_timer(all->parts->loop, 0, change_begin, c);
	if (c->timer == NULL)
		change_begin(c);
}

static void change_end(struct change *c, int ret)
{
	struct modules *all = c->all;

	values_drop(all);
	conf_end(c, ret == 0);
	if (ret < 0)
		change_log(c, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "%s, asked for by %s, refused: %s",
			   kind_names[c->ask.change], c->ask.who, c->err.text);
	else
		change_log(c, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "%s, asked for by %s: done",
			   kind_names[c->ask.change], c->ask.who);
	lines_log(c);
	all->change = NULL;
	if (c->ask.done != NULL)
		c->ask.done(c->ask.arg, ret, ret < 0 ? c->err.text : c->out.data != NULL ? c->out.data : "");
	change_free(c);
	next_change(all);
}

/* ---- what would leave -------------------------------------------------------------------------------------- */
/* No module that stays can do without one that leaves. All that cannot are named. */
static int refuse_needed(const struct change *c, const struct module *gone, struct keel_err *err)
{
	const struct module *m;
	struct buf names;
	uint32_t n = 0;

	buf_init(&names);
	SET_EACH(&c->all->there, m) {
		if (conf_enabled(c->conf, m->desc.name) != NULL && module_follows(m, gone, false))
			buf_printf(&names, "%s%s", n++ > 0 ? ", " : "", m->desc.name);
	}
	if (n > 0)
		err_set(err, -EBUSY, "module %s is needed by %s %s; %s", gone->desc.name,
			n > 1 ? "modules" : "module", names.failed ? "others" : names.data,
			c->ask.change == MODULES_CONFIGURE ? n > 1 ? "disable them too" : "disable it too" :
			n > 1				   ? "unload them first" :
							     "unload it first");
	buf_fini(&names);
	return n > 0 ? -EBUSY : 0;
}

/* Nothing may be lost with those that leave. All reasons are named. */
static int refuse_loss(const struct change *c, struct keel_err *err)
{
	struct module *m;
	struct keel_err why;
	struct buf reasons;
	int ret = 0;

	buf_init(&reasons);
	SET_EACH(&c->all->there, m) {
		if (conf_enabled(c->conf, m->desc.name) != NULL || module_busy(m, &why) != -ENOTEMPTY)
			continue;
		buf_printf(&reasons, "%s%s", reasons.len > 0 ? "; " : "", why.text);
		ret = -EBUSY;
	}
	if (ret < 0)
		err_set(err, ret, "nothing was changed: %s", reasons.failed ? "modules are busy" : reasons.data);
	buf_fini(&reasons);
	return ret;
}

static int leavers_lint(const struct change *c, struct keel_err *err)
{
	const struct module *m;
	int ret = 0;

	SET_EACH(&c->all->there, m) {
		if (ret == 0 && conf_enabled(c->conf, m->desc.name) == NULL)
			ret = refuse_needed(c, m, err);
	}
	return ret == 0 ? refuse_loss(c, err) : ret;
}

/* ---- what it is --------------------------------------------------------------------------------------------- */
static int named_lint(const struct change *c, struct keel_err *err)
{
	const char *name = c->ask.name;
	const struct module *m = name != NULL ? set_named(&c->all->there, name) : NULL;

	if (c->ask.change == MODULES_LOAD && m != NULL)
		return err_set(err, -EALREADY, "module %s is loaded already; `keelson reload %s` loads it anew", name, name);
	if ((c->ask.change == MODULES_UNLOAD || c->ask.change == MODULES_RELOAD) && m == NULL)
		return err_set(err, -ENOENT, "module %s is not loaded%s", name,
			       c->ask.change == MODULES_RELOAD ? "; load it with `keelson load`" : "");
	return 0;
}

static bool is_passed(const struct modules *all, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = all->passed.data; at != NULL && *at != '\0'; at += strcspn(at, "\n") + 1)
		if (strncmp(at, name, len) == 0 && at[len] == '\n')
			return true;
	return false;
}

static bool set_differs(const struct change *c)
{
	uint32_t n;
	const struct conf_module *said = conf_modules(c->conf, &n);
	const struct module *m;

	for (uint32_t i = 0; i < n; i++) {
		m = said[i].enabled ? set_named(&c->all->there, said[i].name) : NULL;
		if (said[i].enabled && (m != NULL ? module_differs(m, c->conf, &said[i]) : !is_passed(c->all, said[i].name)))
			return true;
	}
	SET_EACH(&c->all->there, m) {
		if (conf_enabled(c->conf, m->desc.name) == NULL)
			return true;
	}
	return false;
}

/* 1: some can be read at start only. */
static int all_values_read(struct change *c, struct keel_err *err)
{
	struct module *m;
	int ret = 0, restart = 0;

	SET_EACH(&c->all->there, m) {
		if (ret < 0 || conf_enabled(c->conf, m->desc.name) == NULL)
			continue;
		ret = values_read(m, c->conf, err);
		restart |= ret > 0;
	}
	return ret < 0 ? ret : restart;
}

static void file_gone_describe(const struct module *m, struct buf *out)
{
	if (image_gone(&m->image))
		buf_printf(out, "%s: its file %s is gone; what runs goes on, the next start misses it\n", m->desc.name,
			   m->image.path);
}

static int values_change(struct change *c)
{
	struct module *m;
	int ret;

	SET_EACH(&c->all->there, m)
		file_gone_describe(m, &c->out);
	ret = values_apply(c->all, &c->err);
	if (ret == 0)
		values_describe(c->all, &c->out);
	if (ret == 0 && c->out.len == 0)
		buf_str(&c->out, "no module has changed\n");
	return ret;
}

static void change_begin(void *arg)
{
	struct change *c = arg;
	const struct modules_files *f = &c->all->files;
	const char *other = NULL;
	int ret = named_lint(c, &c->err), restart = 0;

	c->timer = NULL;
	if (ret == 0)
		ret = f->read(c->all->parts, &c->ask, &c->conf, &c->kept, &other, &c->err);
	if (ret == 0)
		restart = ret = all_values_read(c, &c->err);
	if (ret >= 0 && restart == 0 && other == NULL && c->ask.change == MODULES_CONFIGURE && !set_differs(c)) {
		change_end(c, values_change(c));
		return;
	}
	if (ret >= 0)
		ret = leavers_lint(c, &c->err);
	if (ret == 0)
		ret = f->renew != NULL ? f->renew(c->all->parts, &c->ask, c->conf, &c->err) :
					 err_set(&c->err, -ENOTSUP, "this daemon cannot run another set of modules while it serves; restart it");
	if (ret < 0)
		change_end(c, ret);
}

/* ---- another set: what the check of it reported --------------------------------------------------------------- */
/* Returns the line of a module in a report, NULL: it has none. */
static const char *report_line(const char *report, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = report; *at != '\0'; at += strcspn(at, "\n") + 1)
		if (strncmp(at, name, len) == 0 && at[len] == '\t')
			return at;
	return NULL;
}

/* `was` and `now` are lines: name, file, version. */
static void comer_describe(struct change *c, const char *was, const char *now)
{
	int len = (int)strcspn(now, "\n"), name = (int)strcspn(now, "\t");
	const char *version = now + name + 1 + strcspn(now + name + 1, "\t") + 1, *old;

	if (was == NULL) {
		buf_printf(&c->out, "%.*s: loaded\n", name, now);
		return;
	}
	old = was + name + 1 + strcspn(was + name + 1, "\t") + 1;
	if (strcspn(old, "\n") != strcspn(version, "\n") || strncmp(old, version, strcspn(old, "\n")) != 0)
		buf_printf(&c->out, "%.*s: replaced, version %.*s by %.*s\n", name, now, (int)strcspn(old, "\n"), old,
			   (int)strcspn(version, "\n"), version);
	else if (strncmp(was, now, (size_t)len) != 0)
		buf_printf(&c->out, "%.*s: replaced\n", name, now);
	else if (c->ask.change == MODULES_RELOAD && strncmp(now, c->ask.name, (size_t)name) == 0 && c->ask.name[name] == '\0')
		buf_printf(&c->out, "%.*s: restarted\n", name, now);
}

static void set_describe(struct change *c, const char *report)
{
	const struct module *m;
	struct buf old;
	uint32_t n;
	const struct conf_module *said = conf_modules(c->conf, &n);
	size_t len;

	buf_init(&old);
	modules_report(c->all, &old);
	buf_str(&old, "");
	for (uint32_t i = 0; i < n; i++)
		if (said[i].enabled && report_line(report, said[i].name) == NULL && !is_passed(c->all, said[i].name))
			buf_printf(&c->out, "%s: passed over, it runs in other daemons than this one\n", said[i].name);
	len = c->out.len;
	SET_EACH(&c->all->there, m) {
		if (report_line(report, m->desc.name) == NULL)
			buf_printf(&c->out, "%s: unloaded\n", m->desc.name);
		else
			file_gone_describe(m, &c->out);
	}
	for (uint32_t i = 0; i < n && !old.failed; i++) {
		const char *now = report_line(report, said[i].name);

		if (now != NULL)
			comer_describe(c, report_line(old.data, said[i].name), now);
	}
	values_describe(c->all, &c->out);
	if (c->out.len == len)
		buf_str(&c->out, "no module has changed\n");
	buf_fini(&old);
}

static void next_describe(struct change *c)
{
	const struct conf_module *said = c->ask.name != NULL ? conf_module(c->conf, c->ask.name) : NULL;
	bool enabled = said != NULL && said->by_file;

	if (c->ask.change == MODULES_UNLOAD && enabled)
		buf_printf(&c->out, "%s is enabled in %s: the next reload of the configuration, and the next start, load "
			   "it again\n", c->ask.name, said->file);
	else if (c->ask.change == MODULES_LOAD && !enabled)
		buf_printf(&c->out, "%s is not enabled in the configuration: the next reload of it unloads the module "
			   "again\n", c->ask.name);
}

int modules_agree(struct modules *all, const char *report, struct buf *out, struct keel_err *err)
{
	struct change *c = all->change;
	int ret;

	if (c->ask.change == MODULES_LOAD && report_line(report, c->ask.name) == NULL)
		return err_set(err, -EINVAL, "module %s does not run in this daemon; its .roles say where it does",
			       c->ask.name);
	ret = refuse_loss(c, err);
	if (ret < 0)
		return ret;
	set_describe(c, report);
	next_describe(c);
	lines_log(c);
	buf_add(out, c->out.data, c->out.len);
	return c->out.failed || out->failed ? err_set(err, -ENOMEM, "no memory") : 0;
}

void modules_subject(const struct modules *all, struct buf *out)
{
	const struct modules_ask *a = &all->change->ask;

	buf_printf(out, "%s %s, asked for by %s", a->name != NULL ? a->name : "keelson", kind_names[a->change], a->who);
}

void modules_renewal_failed(struct modules *all, int ret, const char *why)
{
	struct change *c = all->change;

	if (c == NULL)
		return;
	buf_reset(&c->out);
	err_set(&c->err, ret, "%s", why);
	change_end(c, ret);
}

void modules_changes_refuse(struct modules *all, int ret, const char *why)
{
	while (all->change != NULL)
		modules_renewal_failed(all, ret, why);
}

/* ---- requesting one ----------------------------------------------------------------------------------------- */
static struct change *change_create(struct modules *all, const struct modules_ask *ask)
{
	struct change *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->all = all;
	c->ask = *ask;
	c->ask.name = ask->name != NULL ? strdup(ask->name) : NULL;
	c->ask.who = strdup(ask->who);
	c->ask.token = ask->token != NULL ? strdup(ask->token) : NULL;
	buf_init(&c->out);
	if (c->ask.who != NULL && (ask->name == NULL || c->ask.name != NULL) && (ask->token == NULL || c->ask.token != NULL))
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
			       all->change->ask.who, n);
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
		   kind_names[c->ask.change], c->ask.who, all->change != NULL ? "; it waits for that of " : "",
		   all->change != NULL ? all->change->ask.who : "");
	DL_APPEND(all->waiting, c);
	if (all->change == NULL)
		next_change(all);
	return 0;
}

static void change_drop(struct change *c)
{
	if (c->ask.drop != NULL)
		c->ask.drop(c->ask.arg);
	change_free(c);
}

void changes_end(struct modules *all)
{
	struct change *c = all->change, *next;

	all->change = NULL;
	if (c != NULL)
		change_drop(c);
	DL_FOREACH_SAFE(all->waiting, c, next)
		change_drop(c);
	all->waiting = NULL;
}
