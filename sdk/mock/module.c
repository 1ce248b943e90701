/* SPDX-License-Identifier: Apache-2.0
 *
 * module.c - modules up and down, by the functions with which the daemon does it.
 */
#include "module/inside.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "hook/inside.h"
#include "host.h"
#include "keel/load.h"
#include "loop/loop.h"
#include "registry/inside.h"
#include "request/inside.h"
#include "util/err.h"
#include "util/file.h"
#include "util/text.h"
#include "virtual.h"

#define DRAIN_MS 2000 /* for holds and requests of a module that goes */
#define DRAIN_LOOK_MS 5
#define WORKS_MAX 1000 /* turns for workers of a module that has gone */

struct loaded {
	struct loaded *next;
	struct module *m; /* NULL: unloaded */
	struct module *left; /* it left something behind */
	const struct keel_module *raw;
	char *conf;
};

const struct keel_mod *module_called(struct keel_mock *mock, const char *tap)
{
	const size_t len = strcspn(tap, ".");
	const struct loaded *l;

	LL_FOREACH(mock->loaded, l)
		if (l->m != NULL && strlen(l->m->desc.name) == len && strncmp(l->m->desc.name, tap, len) == 0)
			return &l->m->owner.pub;
	return NULL;
}

/* While code of `m` is called from here. */
static void enter(struct keel_mock *mock, const struct module *m)
{
	mock->in_module++;
	mock->inside = &m->owner.pub;
}

static struct loaded *loaded_of(const struct keel_mod *pub)
{
	struct loaded *l;

	LL_FOREACH(host_of_mod(pub)->loaded, l)
		if (l->m != NULL && &l->m->owner.pub == pub)
			return l;
	die("a module that is not loaded");
}

/* ---- the configuration of one -------------------------------------------------------------------------------- */
static void without_dir(const struct keel_mock *mock, struct keel_err *err)
{
	size_t len = strlen(mock->dir) + 1;
	char *at = err != NULL ? strstr(err->text, mock->dir) : NULL;

	if (at != NULL)
		memmove(at, at + len, strlen(at + len) + 1);
}

static int conf_make(struct keel_mock *mock, const char *name, const char *text, struct conf **ret, struct keel_err *err)
{
	char *path = path_join(mock->dir, "conf");
	FILE *f = fopen(path, "we");
	int code;

	if (f == NULL || fprintf(f, "%s: { %s\n};\n", name, text != NULL ? text : "") < 0 || fclose(f) != 0)
		die("cannot write %s", path);
	code = conf_read(path, NULL, ret, err);
	free(path);
	return code;
}

/* ---- what a module uses ------------------------------------------------------------------------------------- */
static const void *table_of(void *mock, const char *name, uint32_t minor, struct keel_err *err)
{
	(void)minor, (void)err;
	return keel_mock_group(mock, name);
}

/* The one that a test program is linked with, if any. */
extern __attribute__((weak)) const struct keel_module keel_module;

void module_of_test(struct keel_mock *mock)
{
	if (&keel_module != NULL)
		keel_load_kernel(&keel_module, table_of, mock);
}

void keel_mock_use(struct keel_mock *mock, const struct keel_module *raw)
{
	const struct keel_object_api *object = keel_mock_group(mock, "object");

	keel_load_kernel(raw, table_of, mock);
	NEED_EACH(raw, need)
		keel_load_write(need, need->klass != NULL ? (const void *)object->attr(&mock->self.pub, need->klass, need->name)
							  : keel_mock_group(mock, need->name));
}

/* ---- up ------------------------------------------------------------------------------------------------------- */
static int look(struct keel_mock *mock, const struct keel_module *raw, struct module *m, struct keel_err *err)
{
	int ret;

	m->owner.parts = &mock->parts;
	m->required = true;
	m->image.path = host_dup("test");
	m->image.raw = raw;
	ret = descriptor_lint(m, "the test", raw, err);
	if (ret == 0 && (m->desc.roles & mock->parts.daemon) == 0)
		ret = err_set(err, -ENOEXEC, "module %s does not run in this daemon (its roles are %u)", m->desc.name,
			      m->desc.roles);
	return ret;
}

static int fit(struct keel_mock *mock, struct module *m, const struct conf *conf, struct keel_err *err)
{
	struct set all = { 0 };
	struct module *each;
	int ret;

	SET_EACH(&mock->parts.modules->there, each)
		if (set_add(&all, each) < 0)
			die("no memory");
	ret = set_add(&all, m);
	if (ret == 0)
		ret = relations_lint(&all, m, conf, err);
	set_fini(&all);
	return ret;
}

static int module_make(struct keel_mock *mock, const struct keel_module *raw, const char *text, struct module **ret_m,
		       struct keel_err *err)
{
	struct module *m = host_alloc(sizeof(*m));
	struct conf *conf = NULL;
	int ret = look(mock, raw, m, err);

	if (ret == 0)
		ret = conf_make(mock, m->desc.name, text, &conf, err);
	if (ret == 0)
		ret = module_furnish(m, conf, err);
	if (ret == 0)
		ret = fit(mock, m, conf, err);
	conf_destroy(conf);
	without_dir(mock, err);
	if (ret == 0)
		*ret_m = m;
	else
		module_close(m);
	return ret;
}

/* Its workers come back to it when it has stopped, too. */
static void module_gone(struct keel_mock *mock, struct loaded *l)
{
	struct module *m = l->m;

	for (int n = 0; n < WORKS_MAX && m->owner.working > 0; n++)
		loop_turn(mock->parts.loop, keel_mock_now(mock));
	l->m = NULL;
	taps_forget(mock, &m->owner);
	if (m->owner.live > 0)
		violation(mock, "left-behind", "%u timers, watches or calls of %s after it ended", m->owner.live,
			  m->desc.name);
	if (m->owner.live > 0)
		l->left = m;
	else
		module_close(m);
}

static int run(struct keel_mock *mock, struct module *m, struct keel_err *err)
{
	struct modules *all = mock->parts.modules;
	struct set s = { 0 };
	struct module *bad;
	int ret;

	enter(mock, m);
	stand_aside(mock, &m->desc);
	ret = set_add(&s, m);
	if (ret == 0)
		ret = set_attach(all, &s, err);
	if (ret == 0)
		ret = set_ready(&s, &bad, err);
	if (ret == 0)
		ret = set_start(all, &s, &bad, err);
	if (ret != 0)
		set_down(&s);
	mock->in_module--;
	set_fini(&s);
	return ret;
}

struct keel_mod *keel_mock_load(struct keel_mock *mock, const struct keel_module *raw, const char *conf,
				struct keel_err *err)
{
	struct keel_err own;
	struct loaded *l;
	struct module *m, *other;

	if (err == NULL)
		err = &own;
	*err = (struct keel_err){ 0 };
	if (module_make(mock, raw, conf, &m, err) != 0)
		return NULL;
	l = host_keep(mock, host_alloc(sizeof(*l)));
	*l = (struct loaded){ .m = m, .raw = raw, .conf = conf != NULL ? host_keep(mock, host_dup(conf)) : NULL };
	LL_PREPEND(mock->loaded, l);
	if (run(mock, m, err) != 0) {
		module_gone(mock, l);
		stand_in_again(mock);
		return NULL;
	}
	*err = (struct keel_err){ 0 };
	if (set_add(&mock->parts.modules->there, m) < 0)
		die("no memory");
	taps_watch(mock, &m->owner);
	SET_EACH(&mock->parts.modules->there, other)
		module_offer(other);
	return &m->owner.pub;
}

int keel_mock_check(struct keel_mock *mock, const struct keel_module *raw, const char *conf, struct keel_err *err)
{
	struct module *m;
	int ret = module_make(mock, raw, conf, &m, err);

	if (ret == 0)
		module_close(m);
	return ret;
}

struct keel_mod *keel_mock_load_file(struct keel_mock *mock, const char *path, const char *conf, struct keel_err *err)
{
	void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct keel_module *raw = file != NULL ? dlsym(file, "keel_module") : NULL;

	if (file != NULL) {
		mock->files = realloc(mock->files, (mock->n_files + 1) * sizeof(void *));
		if (mock->files == NULL)
			die("no memory");
		mock->files[mock->n_files++] = file;
	}
	if (raw == NULL) {
		err_set(err, -ENOENT, "%s cannot be loaded: %s", path,
			file != NULL ? "it exports no keel_module" : dlerror());
		return NULL;
	}
	return keel_mock_load(mock, raw, conf, err);
}

/* ---- down ------------------------------------------------------------------------------------------------------ */
/* What it has not answered when it has stopped it never will. */
static void halt(struct keel_mock *mock, struct module *m)
{
	mock->inside = &m->owner.pub;
	if (m->state == MODULE_RUNNING && m->desc.stop != NULL)
		m->desc.stop(&m->owner.pub);
	if (m->state == MODULE_RUNNING)
		m->state = MODULE_READY;
	replies_missing(mock, &m->owner);
}

static void end(struct keel_mock *mock, struct loaded *l)
{
	struct set s = { 0 };

	if (set_add(&s, l->m) < 0)
		die("no memory");
	enter(mock, l->m);
	halt(mock, l->m);
	values_keep(mock, &l->m->owner);
	set_down(&s);
	mock->in_module--;
	set_drop(&mock->parts.modules->there, l->m);
	set_fini(&s);
	module_gone(mock, l);
	if (!mock->down)
		stand_in_again(mock);
}

void modules_down(struct keel_mock *mock)
{
	struct set *there = &mock->parts.modules->there;
	struct loaded *l;

	mock->in_module++;
	for (uint32_t i = there->n; i > 0; i--)
		halt(mock, there->at[i - 1]);
	set_down(there);
	mock->in_module--;
	set_fini(there);
	LL_FOREACH(mock->loaded, l)
		if (l->m != NULL)
			module_gone(mock, l);
}

void modules_fini(struct keel_mock *mock)
{
	struct loaded *l;

	LL_FOREACH(mock->loaded, l)
		module_close(l->left);
}

/* `comes`: to be loaded again at once; then nothing of it is lost. */
static int busy(struct module *m, bool comes, struct keel_err *err)
{
	int ret = module_busy(m, err);

	return ret == -ENOTEMPTY && comes && !module_stays(m) ? 0 : ret;
}

static int unload(struct loaded *l, bool comes, struct keel_err *err)
{
	struct module *m = l->m;
	struct keel_mock *mock = host_of(m->owner.parts);
	int64_t until = keel_mock_now(mock) + DRAIN_MS;
	struct keel_err why;
	int ret;

	loop_due(mock->parts.loop); /* a module is unloaded between turns */
	enter(mock, m);
	while (keel_mock_now(mock) < until && !module_stays(m) &&
	       (busy(m, comes, &why) != 0 || hooks_parked(mock->parts.hooks) > 0 ||
		!router_idle(mock->parts.router)))
		keel_mock_advance(mock, DRAIN_LOOK_MS);
	ret = busy(m, comes, err) == 0 ? 0 : -EBUSY;
	mock->in_module--;
	if (ret == 0)
		end(mock, l);
	return ret;
}

int keel_mock_unload(struct keel_mod *pub, struct keel_err *err)
{
	return unload(loaded_of(pub), false, err);
}

struct keel_mod *keel_mock_reload(struct keel_mod *pub, struct keel_err *err)
{
	struct loaded *l = loaded_of(pub);
	struct keel_mock *mock = host_of_mod(pub);

	return unload(l, true, err) == 0 ? keel_mock_load(mock, l->raw, l->conf, err) : NULL;
}

struct keel_mod *keel_mock_restart(struct keel_mod *pub, struct keel_err *err)
{
	struct loaded *l = loaded_of(pub);
	struct keel_mock *mock = host_of_mod(pub);

	end(mock, l);
	return keel_mock_load(mock, l->raw, l->conf, err);
}

/* ---- other values ------------------------------------------------------------------------------------------------ */
static int change(struct keel_mock *mock, struct module *m, const struct conf *conf, struct keel_err *err)
{
	struct modules *all = mock->parts.modules;
	int ret = values_read(m, conf, err);

	if (ret > 0)
		ret = err_set(err, -EBUSY, "a value of module %s that is read at its start only has changed; "
			      "keel_mock_restart() it", m->desc.name);
	if (ret == 0) {
		enter(mock, m);
		ret = modules_apply(all, err);
		mock->in_module--;
	}
	values_drop(all);
	return ret;
}

int keel_mock_reconf(struct keel_mod *pub, const char *text, struct keel_err *err)
{
	struct loaded *l = loaded_of(pub);
	struct keel_mock *mock = host_of_mod(pub);
	struct conf *conf = NULL;
	int ret = conf_make(mock, l->m->desc.name, text, &conf, err);

	if (ret == 0)
		ret = change(mock, l->m, conf, err);
	conf_destroy(conf);
	without_dir(mock, err);
	if (ret == 0)
		l->conf = text != NULL ? host_keep(mock, host_dup(text)) : NULL;
	return ret;
}

uint32_t keel_mock_live(const struct keel_mod *pub)
{
	const struct owner *o = (const struct owner *)pub;
	struct keel_mock *mock = host_of_mod(pub);
	uint32_t n = o->live;

	for (const struct row *r = mock->parts.registry->rows; r != NULL; r = r->next)
		n -= r->owner == o;
	FOR_EACH_TAP(mock->parts.hooks, t)
		n -= t->owner == o;
	for (const struct op *op = mock->parts.hooks->parked; op != NULL; op = op->next) {
		n -= op->raiser == o;
		for (const struct hold *h = op->holds; h != NULL; h = h->next)
			n -= h->tap->owner == o;
	}
	return n;
}
