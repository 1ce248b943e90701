/* SPDX-License-Identifier: Apache-2.0
 *
 * change.c - changes, one at a time:
 *
 *	a set with the configuration -> a draft of it: values alone are applied at once
 *	-> files of the modules into the set -> a child opens it -> the answer is left for the next image -> keel_renew_go()
 *
 * Files are read and written on a worker thread. An error before the last step changes nothing.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "reload.h"

#define WAITING_MAX 16
#define PAUSE_SAID_MS 1000

static const char *const kind_names[] = {
	[CHANGE_CONFIGURE] = "reload of the configuration",
	[CHANGE_LOAD] = "load of module",
	[CHANGE_UNLOAD] = "unload of module",
	[CHANGE_RELOAD] = "reload of module",
	[CHANGE_SERVED] = "start",
};

static const char *object_of(const struct change *c)
{
	return c->name ? c->name : "keelson";
}

static void change_free(struct change *c)
{
	keel_text_fini(&c->out);
	free((char *)(uintptr_t)c->name);
	free((char *)(uintptr_t)c->who);
	free((char *)(uintptr_t)c->token);
	free(c->sets);
	free(c->from);
	free(c->fresh);
	free(c);
}

/* ---- the end of a change ------------------------------------------------------------------------------------- */
static void lines_log(const struct change *c)
{
	for (const char *at = c->out.data; *at; at += strcspn(at, "\n"), at += *at == '\n')
		keel_log(c->mod, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "Module", object_of(c), "%.*s", (int)strcspn(at, "\n"), at);
}

static void end_log(const struct change *c, int32_t ret)
{
	const char *kind = kind_names[c->kind];

	if (c->kind == CHANGE_SERVED && (ret == 0 || ((const struct state *)c->mod->state)->stopping))
		return;
	if (c->kind == CHANGE_SERVED)
		keel_log(c->mod, KEEL_LOG_ERROR, "Module", "keelson", "what runs cannot be kept as a set: %s; another set of modules "
			 "needs a restart, `keelsond --last-good` is what served before", c->err.text);
	else if (ret < 0)
		keel_log(c->mod, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "Module", object_of(c), "%s, asked for by %s, refused: %s", kind,
			 c->who, c->err.text);
	else
		keel_log(c->mod, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "Module", object_of(c), "%s, asked for by %s: done", kind, c->who);
}

static void change_begin(struct change *c);

/* What a worker still looks at stays until that is done. */
static void change_release(struct change *c)
{
	if (c->working) {
		c->over = true;
		return;
	}
	if (c->draft)
		keel_renew_drop(c->mod);
	if (c->fresh)
		set_remove(c->fresh);
	change_free(c);
}

void change_end(struct change *c, int32_t ret)
{
	struct state *st = c->mod->state;

	end_log(c, ret);
	if (ret == 0)
		lines_log(c);
	if (c->req && ret < 0)
		keel_reply(c->req, PBSE_SYSTEM, "%s", c->err.text);
	else if (c->req)
		reply_lines(c->mod, c->req, c->out.data);
	st->first = c->next;
	change_release(c);
	if (st->first && !st->stopping)
		change_begin(st->first);
}

void changes_refuse(struct keel_mod *mod, const char *why)
{
	struct state *st = mod->state;

	st->stopping = true;
	while (st->first) {
		check_cancel(st->first);
		change_end(st->first, keel_error(&st->first->err, -ECANCELED, "%s", why));
	}
}

void changes_go_on(struct keel_mod *mod)
{
	const struct state *st = mod->state;

	if (st->first && !st->first->sets && !st->stopping)
		change_begin(st->first);
}

void changes_drop(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct change *c;

	while ((c = st->first)) {
		st->first = c->next;
		check_cancel(c);
		if (st->going && c->fresh) { /* it is what comes */
			free(c->fresh);
			c->fresh = NULL;
		}
		change_release(c);
	}
}

/* ---- another image --------------------------------------------------------------------------------------------- */
/* What the next image, or this set once more, will answer and log. */
static int32_t answer_write(const struct change *c)
{
	struct keel_text text;
	int32_t ret;

	keel_text_init(&text);
	keel_text_printf(&text, "%s\n%s\n%s\n%s\n%s", c->token ? c->token : "", object_of(c), kind_names[c->kind], c->who, c->out.data);
	ret = text.failed || c->out.failed ? -ENOMEM : text_write(c->sets, "answer", text.data, false);
	keel_text_fini(&text);
	return ret;
}

/* How long requests will wait, when that is worth a word: as the last start took, by the jobs that there are now. */
static void pause_describe(struct change *c)
{
	const struct state *st = c->mod->state;
	int64_t ms = st->start_us / 1000 * (1 + keel_count(c->mod, "job")) / (1 + st->start_jobs);

	keel_log(c->mod, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "Module", "keelson", "another set of modules: requests will wait for about %lld ms",
		 (long long)ms);
	if (ms >= PAUSE_SAID_MS)
		keel_text_printf(&c->out, "the daemon restarts: requests wait for about %lld s\n", (long long)(ms + 500) / 1000);
}

/* A signal that still waits is for the next image. */
static void hup_pass_on(const struct state *st)
{
	for (const struct change *c = st->first->next; c; c = c->next)
		if (!c->req) {
			raise(SIGHUP);
			return;
		}
}

static int32_t image_change(struct change *c, const char *report)
{
	struct state *st = c->mod->state;
	int32_t ret = lint_loss(c, &c->err);

	if (!report_line(report, c->mod->name)) /* an init() has ended the process */
		ret = keel_error(&c->err, -EPROTO, "nothing was changed: the check of the new set ended before it was done");
	if (ret == 0 && c->kind == CHANGE_LOAD && !report_line(report, c->name))
		ret = keel_error(&c->err, -EINVAL, "module %s does not run in this daemon; its .roles say where it does", c->name);
	if (ret < 0)
		return ret;
	pause_describe(c);
	describe_set(c, report);
	ret = answer_write(c);
	if (ret < 0)
		return keel_error(&c->err, ret, "nothing was changed: cannot write into %s: %s", c->sets, strerror(-ret));
	ret = keel_renew_go(c->mod, c->fresh, st->set, &c->err);
	if (ret < 0)
		return ret;
	st->going = true;
	lines_log(c);
	hup_pass_on(st);
	return 0;
}

void change_checked(struct change *c, int32_t ret)
{
	char *report = ret == 0 ? text_read(c->fresh, "report") : NULL;

	if (ret == 0)
		ret = report ? image_change(c, report) : keel_error(&c->err, -ENOMEM, "no memory");
	free(report);
	if (ret < 0)
		change_end(c, ret);
}

/* ---- what it is ------------------------------------------------------------------------------------------------ */
static int32_t work_begin(struct change *c, void (*work)(void *), keel_fn *done)
{
	int32_t ret = keel_work(c->mod, work, done, c);

	c->working = ret == 0;
	return ret < 0 ? keel_error(&c->err, ret, "no memory for a change of the modules") : 0;
}

/* A worker is done. Returns whether the change goes on. */
static bool work_end(struct change *c)
{
	c->working = false;
	if (c->over)
		change_free(c);
	else if (c->ret < 0)
		change_end(c, c->ret);
	else
		return true;
	return false;
}

static int32_t draft_read(struct change *c)
{
	int32_t ret = keel_renew_draft(c->mod, c->fresh, &c->draft, &c->err);

	if (ret < 0)
		c->draft = NULL;
	return ret;
}

static void serve(void *arg)
{
	struct change *c = arg;

	c->ret = set_served(c->sets, c->from);
	if (c->ret < 0)
		snprintf(c->err.text, sizeof(c->err.text), "cannot note %s as the last set that served: %s", c->from, strerror(-c->ret));
}

static void served(struct keel_mod *mod, void *arg)
{
	struct change *c = arg;

	(void)mod;
	if (work_end(c))
		change_end(c, 0);
}

/* What runs is what is in the set, if no file has changed since the start. */
static int32_t set_adopt(struct change *c)
{
	struct state *st = c->mod->state;
	int32_t ret = draft_read(c);

	if (ret == 0 && draft_is_other(c->draft))
		ret = keel_error(&c->err, -ESTALE, "its files have changed since the daemon was started");
	if (ret == 0 && !(c->from = strdup(c->fresh)))
		ret = keel_error(&c->err, -ENOMEM, "no memory");
	if (ret < 0)
		return ret;
	st->set = c->fresh;
	c->fresh = NULL;
	return work_begin(c, serve, served);
}

static void copy(void *arg)
{
	struct change *c = arg;

	c->ret = set_modules(c->fresh, c->from, c->draft, &c->err);
}

static void copied(struct keel_mod *mod, void *arg)
{
	struct change *c = arg;
	int32_t ret;

	(void)mod;
	if (!work_end(c))
		return;
	ret = c->kind == CHANGE_SERVED ? set_adopt(c) : check_begin(c);
	if (ret < 0)
		change_end(c, ret);
}

static void keep(void *arg)
{
	struct change *c = arg;

	c->ret = set_conf_take(c->from, c->fresh);
	set_remove(c->fresh);
}

/* The values are in force, whether they could be kept or not. */
static void kept(struct keel_mod *mod, void *arg)
{
	struct change *c = arg;

	if (c->ret < 0)
		keel_log(mod, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "Module", "keelson", "the configuration in force cannot be kept in %s: %s",
			 c->from, strerror(-c->ret));
	c->ret = 0;
	if (work_end(c))
		change_end(c, 0);
}

static void values_change(struct change *c)
{
	int32_t ret;

	describe_values(c);
	c->draft = NULL; /* it ends, either way */
	ret = keel_renew_apply(c->mod, &c->err);
	if (ret == 0)
		files_apply(c->mod);
	if (ret < 0 || !c->from) {
		change_end(c, ret);
		return;
	}
	ret = work_begin(c, keep, kept);
	if (ret < 0) {
		c->ret = ret;
		kept(c->mod, c);
	}
}

static void prepare(void *arg)
{
	struct change *c = arg;

	if (c->kind == CHANGE_SERVED)
		sets_tidy(c->sets); /* starts that failed left them behind */
	c->ret = set_create(c->sets, &c->fresh, &c->err);
	if (c->ret == 0)
		c->ret = set_configure(c->fresh, c->kind == CHANGE_UNLOAD ? NULL : c->conf_file, c->from, &c->err);
	if (c->ret == 0 && c->name)
		c->ret = set_override(c->fresh, c->from, c->name, c->kind != CHANGE_UNLOAD, &c->err);
}

static void prepared(struct keel_mod *mod, void *arg)
{
	struct change *c = arg;
	int32_t ret;

	(void)mod;
	if (!work_end(c))
		return;
	ret = draft_read(c);
	if (ret == 0)
		ret = lint_named(c, &c->err);
	if (ret == 0 && c->kind != CHANGE_SERVED)
		ret = files_read(mod, &c->err);
	if (ret == 0 && c->kind == CHANGE_CONFIGURE && !c->draft->restart && !draft_differs(c->draft)) {
		values_change(c);
		return;
	}
	if (ret == 0 && c->kind != CHANGE_SERVED)
		ret = lint_leavers(c, &c->err);
	if (ret == 0 && c->kind != CHANGE_SERVED && !c->from)
		ret = keel_error(&c->err, -ENOTSUP, "nothing was changed: there is no set to go back to, the log says why; restart the daemon");
	if (ret == 0)
		ret = work_begin(c, copy, copied);
	if (ret < 0)
		change_end(c, ret);
}

static void change_begin(struct change *c)
{
	const struct state *st = c->mod->state;
	int32_t ret = 0;

	if (st->owed && c->kind != CHANGE_SERVED)
		return;
	c->conf_file = st->image.conf_file;
	c->sets = strdup(st->sets);
	c->from = st->set ? strdup(st->set) : NULL;
	if (!c->sets || (st->set && !c->from))
		ret = keel_error(&c->err, -ENOMEM, "no memory");
	else if (c->kind == CHANGE_UNLOAD && !c->from)
		ret = keel_error(&c->err, -ENOTSUP, "nothing was changed: there is no set of what runs, the log says why; restart the daemon");
	else
		ret = c->kind == CHANGE_SERVED && c->from ? work_begin(c, serve, served) : work_begin(c, prepare, prepared);
	if (ret < 0)
		change_end(c, ret);
}

/* ---- requesting one -------------------------------------------------------------------------------------------- */
static struct change *change_create(struct keel_mod *mod, const struct change *like)
{
	struct change *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	*c = *like;
	c->mod = mod;
	c->child_fd = -1;
	c->name = like->name ? strdup(like->name) : NULL;
	c->who = strdup(like->who);
	c->token = like->token ? strdup(like->token) : NULL;
	keel_text_init(&c->out);
	if (c->who && (c->name || !like->name) && (c->token || !like->token))
		return c;
	change_free(c);
	return NULL;
}

static bool name_is_good(const char *name)
{
	size_t len = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") : 0;

	return len > 0 && len < 64 && !name[len] && *name != '-' && *name != '_';
}

static int32_t lint(const struct state *st, const struct change *like, uint32_t n, struct keel_err *err)
{
	if (!keel_has(renew))
		return keel_error(err, -ENOTSUP, "this daemon cannot be changed while it runs");
	if (st->stopping)
		return keel_error(err, -ECANCELED, "nothing was changed: the daemon stops");
	if ((like->kind == CHANGE_LOAD || like->kind == CHANGE_UNLOAD || like->kind == CHANGE_RELOAD) && !name_is_good(like->name))
		return keel_error(err, -EINVAL, "\"%.80s\" is no name of a module", like->name ? like->name : "");
	if (n > WAITING_MAX)
		return keel_error(err, -EBUSY, "a change asked for by %s is under way and %u others wait; ask again when they are done",
				  st->first->who, n - 1);
	return 0;
}

int32_t change_request(struct keel_mod *mod, const struct change *like, struct keel_err *err)
{
	struct state *st = mod->state;
	struct change *c, **last = &st->first;
	uint32_t n = 0;
	int32_t ret;

	for (; *last; last = &(*last)->next)
		n++;
	ret = lint(st, like, n, err);
	if (ret < 0)
		return ret;
	c = change_create(mod, like);
	if (!c)
		return keel_error(err, -ENOMEM, "no memory for a change of the modules");
	if (c->kind != CHANGE_SERVED)
		keel_log(mod, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "Module", object_of(c), "%s, asked for by %s%s%s", kind_names[c->kind],
			 c->who, n > 0 ? "; it waits for that of " : "", n > 0 ? st->first->who : "");
	*last = c;
	if (n == 0)
		change_begin(c);
	return 0;
}
