/* SPDX-License-Identifier: Apache-2.0
 *
 * load.c - modules up and down, step by step as in the daemon.
 *
 *	descriptor, configuration -> needs -> contributions -> init -> taps (quiet) -> replay -> start
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "inside.h"

#define DRAIN_MS 2000 /* for holds and requests of a module that goes */
#define DRAIN_LOOK_MS 5

/* ---- up ------------------------------------------------------------------------------------------------ */
static int needs_write(struct mod *m, bool only_optional, struct keel_err *err)
{
	for (uint32_t i = 0; i < m->desc.n_needs; i++) {
		const struct keel_need *need = &m->desc.needs[i];
		struct keel_err why = { 0 };
		const void *table;

		if (only_optional && !need->optional)
			continue;
		table = service_find(mock_of(m), need->group, need->minor, NULL, &why);
		if (table == NULL && !need->optional)
			return err_set(err, -ENOENT, "module %s cannot be loaded: %s", m->desc.name, why.text);
		memcpy((char *)m->pub.state + need->offset, &table, sizeof(table));
	}
	return 0;
}

static void offer_to_all(struct keel_mock *mock)
{
	struct mod *m;

	DL_FOREACH(mock->mods, m)
		needs_write(m, true, NULL);
}

static struct mod *mod_find(struct keel_mock *mock, const char *name)
{
	struct mod *m;

	DL_FOREACH(mock->mods, m)
		if (strcmp(m->desc.name, name) == 0)
			break;
	return m;
}

static int relations(struct keel_mock *mock, const struct keel_module *d, struct keel_err *err)
{
	for (const char *const *n = d->requires_modules; n != NULL && *n != NULL; n++)
		if (mod_find(mock, *n) == NULL)
			return err_set(err, -ENOENT, "module %s requires module %s; enable it, or disable %s",
				       d->name, *n, d->name);
	for (const char *const *n = d->conflicts; n != NULL && *n != NULL; n++)
		if (mod_find(mock, *n) != NULL)
			return err_set(err, -EEXIST, "modules %s and %s cannot run together; disable one of "
				       "them", d->name, *n);
	return 0;
}

typedef int32_t step_fn(struct keel_mod *, struct keel_err *);

static int step(struct mod *m, const char *name, step_fn *fn, struct keel_err *err)
{
	struct keel_err own = { 0 };
	int ret = 0;

	if (fn != NULL)
		IN(m, ret = fn(&m->pub, &own));
	if (ret == 0)
		return 0;
	return err_set(err, ret < 0 ? ret : -EIO, "module %s: %s failed: %s", m->desc.name, name,
		       own.text[0] != '\0' ? own.text : "it gave no reason");
}

struct mod *mod_make(struct keel_mock *mock, const char *name)
{
	struct mod *m = make(sizeof(*m)), *other;
	uint32_t n = 1;

	head_init(&m->head, mock, m);
	DL_FOREACH(mock->mods, other)
		n += strcmp(other->desc.name, name) == 0;
	m->label = n > 1 ? print_text("%s#%u", name, n) : dup_text(name);
	return m;
}

/* ---- down ------------------------------------------------------------------------------------------------ */
static void withdraw(struct mod *m)
{
	taps_detach(m);
	ops_leave(mock_of(m), m);
	own_leave(m);
	links_leave(m);
	requests_leave(m);
	rows_remove(m);
}

/* What is still under way when all its code has run. */
static void left_behind(struct mod *m)
{
	struct keel_mock *mock = mock_of(m);

	if (m->live > 0)
		violation(mock, "left-behind", "%u timers, watches or calls of %s after it ended", m->live,
			  m->label);
	if (m->n_open_handles > 0)
		violation(mock, "cursor-open", "%u cursors, views or change sets of %s after it ended",
			  m->n_open_handles, m->label);
	items_leave(mock, m);
}

static void mod_free(struct mod *m)
{
	conf_free(m->conf);
	if (!guard_free(m->pub.state, m->desc.state_size))
		violation(mock_of(m), "state-overrun", "%s has written around its state of %u bytes", m->label,
			  m->desc.state_size);
	m->conf = NULL;
	m->pub.state = poison_page(mock_of(m));
	m->pub.conf = m->pub.state;
	keep(mock_of(m), m->label);
	free(m->conf_text);
	m->conf_text = NULL;
	head_end(&m->head);
}

static void halt(struct mod *m)
{
	if (m->state == MOD_RUNNING && m->desc.stop != NULL)
		IN(m, m->desc.stop(&m->pub));
	m->state = MOD_READY;
}

static void end(struct mod *m, bool was_init)
{
	struct keel_mock *mock = mock_of(m);

	halt(m);
	withdraw(m);
	if (was_init && m->desc.fini != NULL)
		IN(m, m->desc.fini(&m->pub));
	binds_leave(mock, m);
	left_behind(m);
	DL_DELETE(mock->mods, m);
	mod_free(m);
}

/* Each may still have answers for another one, so all stop before the first one goes. */
void mods_end(struct keel_mock *mock)
{
	for (struct mod *m = mock->mods != NULL ? mock->mods->prev : NULL; m != NULL;
	     m = m == mock->mods ? NULL : m->prev)
		halt(m);
	while (mock->mods != NULL)
		end(mock->mods->prev, true);
}

static int busy(struct mod *m, bool comes, struct keel_err *why)
{
	int ret = 0;

	if (m->desc.busy != NULL)
		IN(m, ret = m->desc.busy(&m->pub, why));
	return ret == -ENOTEMPTY && comes ? 0 : ret;
}

/* What a moment may finish: holds, operations, requests of it, and what it says itself. */
static bool unfinished(struct mod *m, bool comes)
{
	struct keel_err why;

	return m->kept > 0 || busy(m, comes, &why) != 0 || ops_concern(mock_of(m), m) || requests_concern(m);
}

/* `comes`: to be loaded again at once. */
static int unload(struct mod *m, bool comes, struct keel_err *err)
{
	struct keel_mock *mock = mock_of(m);
	struct keel_err why = { 0 };

	if (m->head.ended)
		die("module %s is unloaded already", m->label);
	if (m->desc.flags & KEEL_MOD_RESIDENT)
		return err_set(err, -EBUSY, "module %s cannot be unloaded; restart the daemon", m->desc.name);
	for (int64_t until = mock->now + DRAIN_MS; mock->now < until && unfinished(m, comes);)
		keel_mock_advance(mock, DRAIN_LOOK_MS);
	if (busy(m, comes, &why) != 0)
		return err_set(err, -EBUSY, "module %s is busy: %s", m->desc.name,
			       why.text[0] != '\0' ? why.text : "it gave no reason");
	if (m->kept > 0)
		return err_set(err, -EBUSY,
			       "answers between module %s and others are on their way (%u)", m->desc.name,
			       m->kept);
	end(m, true);
	return 0;
}

int keel_mock_unload(struct keel_mod *pub, struct keel_err *err)
{
	struct mod *m = (struct mod *)pub;
	int ret = m->head.ended ? 0 : scopes_without(m, err);

	return ret != 0 ? ret : unload(m, false, err);
}

/* ---- all the way ----------------------------------------------------------------------------------------- */
static int up(struct mod *m, struct keel_err *err)
{
	int ret = needs_write(m, false, err);
	bool was_init = false;

	DL_APPEND(mock_of(m)->mods, m);
	if (ret == 0)
		ret = rows_add(m, err);
	if (ret == 0)
		ret = step(m, "init", m->desc.init, err);
	was_init = ret == 0;
	m->quiet = true;
	if (ret == 0)
		ret = taps_attach(m, err);
	if (ret == 0) {
		replay(m);
		ret = step(m, "start", m->desc.start, err);
	}
	if (ret != 0) {
		end(m, was_init);
		return ret;
	}
	m->quiet = false;
	m->state = MOD_RUNNING;
	return 0;
}

static int open(struct keel_mock *mock, const struct keel_module *raw, const char *conf, struct mod **ret,
		struct keel_err *err)
{
	struct keel_module d;
	struct block *block = NULL;
	int code = descriptor_lint(raw, &d, err);

	if (code == 0 && (d.roles & mock->daemon) == 0)
		code = err_set(err, -ENOEXEC, "module %s does not run in this daemon (its roles are %u)", d.name,
			       d.roles);
	if (code == 0)
		code = conf_fill(&d, conf, &block, err);
	if (code == 0)
		code = relations(mock, &d, err);
	if (code == 0)
		code = scope_lint(mock, NULL, &d, block, err);
	if (code != 0 || ret == NULL) {
		conf_free(block);
		return code;
	}
	*ret = mod_make(mock, d.name);
	(*ret)->desc = d;
	(*ret)->raw = raw;
	(*ret)->conf = block;
	(*ret)->conf_text = dup_text(conf);
	(*ret)->pub = (struct keel_mod){ guard_make(d.state_size), block->shown, d.name };
	return 0;
}

struct keel_mod *keel_mock_load(struct keel_mock *mock, const struct keel_module *raw, const char *conf,
				struct keel_err *err)
{
	struct keel_err own;
	struct mod *m;

	if (err == NULL)
		err = &own;
	*err = (struct keel_err){ 0 };
	if (open(mock, raw, conf, &m, err) != 0 || up(m, err) != 0)
		return NULL;
	offer_to_all(mock);
	return &m->pub;
}

int keel_mock_check(struct keel_mock *mock, const struct keel_module *raw, const char *conf,
		    struct keel_err *err)
{
	return open(mock, raw, conf, NULL, err);
}

struct keel_mod *keel_mock_load_file(struct keel_mock *mock, const char *path, const char *conf,
				     struct keel_err *err)
{
	void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct keel_module *raw = file != NULL ? dlsym(file, "keel_module") : NULL;

	if (file != NULL) {
		mock->files = enlarge(mock->files, (mock->n_files + 1) * sizeof(void *));
		mock->files[mock->n_files++] = file;
	}
	if (raw == NULL) {
		err_set(err, -ENOENT, "%s cannot be loaded: %s", path,
			file != NULL ? "it exports no keel_module" : dlerror());
		return NULL;
	}
	return keel_mock_load(mock, raw, conf, err);
}

struct keel_mod *keel_mock_reload(struct keel_mod *pub, struct keel_err *err)
{
	struct mod *m = (struct mod *)pub;
	struct keel_mock *mock = mock_of(m);
	const struct keel_module *raw = m->raw;
	const char *conf = keep(mock, dup_text(m->conf_text));

	return unload(m, true, err) == 0 ? keel_mock_load(mock, raw, conf, err) : NULL;
}

struct keel_mod *keel_mock_restart(struct keel_mod *pub, struct keel_err *err)
{
	struct mod *m = (struct mod *)pub;
	struct keel_mock *mock = mock_of(m);
	const struct keel_module *raw = m->raw;
	const char *conf = keep(mock, dup_text(m->conf_text));

	if (m->head.ended)
		die("module %s is unloaded already", m->label);
	end(m, true);
	return keel_mock_load(mock, raw, conf, err);
}

/* The values a module sees become these; *block gets those it had. */
static int swap_values(struct mod *m, struct block **block, bool tell, struct keel_err *err)
{
	struct block *was = m->conf;
	struct keel_err why = { 0 };
	int ret = 0;

	m->conf = *block;
	m->pub.conf = m->conf->shown;
	*block = was;
	if (tell && m->desc.reconf != NULL)
		IN(m, ret = m->desc.reconf(&m->pub, m->pub.conf, &why));
	if (ret == 0)
		return 0;
	return err_set(err, ret < 0 ? ret : -EINVAL, "module %s does not take its new configuration: %s",
		       m->desc.name, why.text[0] != '\0' ? why.text : "it gave no reason");
}

/* All of it, or nothing. */
static int change(struct mod *m, struct block **block, bool tell, struct keel_err *err)
{
	int ret = swap_values(m, block, tell, err);

	if (ret == 0)
		ret = taps_reorder(m, err);
	if (ret != 0) {
		swap_values(m, block, tell, NULL);
		taps_reorder(m, NULL);
	}
	return ret;
}

int keel_mock_reconf(struct keel_mod *pub, const char *conf, struct keel_err *err)
{
	struct mod *m = (struct mod *)pub;
	struct block *fresh;
	const char *key;
	int ret = conf_fill(&m->desc, conf, &fresh, err);

	if (ret != 0)
		return ret;
	ret = scope_lint(mock_of(m), m, &m->desc, fresh, err);
	if (ret != 0) {
		conf_free(fresh);
		return ret;
	}
	key = conf_differs(m->desc.conf, m->desc.n_conf, m->conf->data, fresh->data, KEEL_CONF_RESTART);
	if (key != NULL)
		ret = err_set(err, -EBUSY, "%s.%s cannot change while the daemon runs; restart it, or take the "
			      "change back", m->desc.name, key);
	else
		ret = change(m, &fresh, conf_differs(m->desc.conf, m->desc.n_conf, m->conf->data, fresh->data, 0) != NULL, err);
	conf_free(fresh);
	if (ret != 0)
		return ret;
	free(m->conf_text);
	m->conf_text = dup_text(conf);
	return 0;
}

uint32_t keel_mock_live(const struct keel_mod *pub)
{
	return ((const struct mod *)pub)->live;
}
