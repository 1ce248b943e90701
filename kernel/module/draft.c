/* SPDX-License-Identifier: Apache-2.0
 *
 * draft.c - another configuration beside the one in force: what it says of each module, and in what that differs from what
 * runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module/inside.h"
#include "util/err.h"

bool is_passed(const struct modules *all, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = all->passed.data; at != NULL && *at != '\0'; at += strcspn(at, "\n") + 1)
		if (strncmp(at, name, len) == 0 && at[len] == '\n')
			return true;
	return false;
}

/* What is another one for `m`, which runs and is enabled. Returns its flags, AT_START with them when some of its values are
 * read at start only, or -errno with *err. */
#define AT_START (1 << 30)
static int differs(struct module *m, const struct conf *conf, const char *path, struct keel_err *err)
{
	int ret = values_read(m, conf, err), flags = ret > 0 ? AT_START : 0;
	const struct stat *was = &m->image.st;
	struct stat now;

	if (ret < 0)
		return ret;
	if (strcmp(path, m->image.path) != 0 ||
	    (stat(path, &now) == 0 && (now.st_size != was->st_size || now.st_mtim.tv_sec != was->st_mtim.tv_sec ||
				       now.st_mtim.tv_nsec != was->st_mtim.tv_nsec)))
		flags |= KEEL_DRAFT_FILE;
	if (how_differs(m, conf))
		flags |= KEEL_DRAFT_HOW;
	if (m->fresh != NULL)
		flags |= KEEL_DRAFT_VALUES;
	return m->fresh_site != NULL ? flags | KEEL_DRAFT_SITE : flags;
}

static int row_fill(struct modules *all, const struct conf *conf, const struct conf_module *said, struct keel_draft *draft,
		    struct keel_draft_module *row, struct keel_err *err)
{
	struct module *m = set_named(&all->there, said->name);
	int flags = said->enabled ? KEEL_DRAFT_ENABLED : 0, other;

	*row = (struct keel_draft_module){ .name = said->name, .path = module_path(all->dir, said), .where = said->file };
	draft->n++;
	if (row->path == NULL)
		return err_set(err, -ENOMEM, "no memory");
	flags |= said->by_file ? KEEL_DRAFT_BY_FILE : 0;
	if (m != NULL) {
		other = said->enabled ? differs(m, conf, row->path, err) : 0;
		if (other < 0)
			return other;
		row->version = m->desc.version;
		flags |= KEEL_DRAFT_RUNS | (access(m->image.path, F_OK) < 0 ? KEEL_DRAFT_GONE : 0) | (other & ~AT_START);
		draft->restart |= (other & AT_START) != 0;
	} else if (is_passed(all, said->name)) {
		flags |= KEEL_DRAFT_ELSEWHERE;
	}
	row->flags = (uint32_t)flags;
	return 0;
}

int modules_draft(struct modules *all, const struct conf *conf, struct keel_draft *ret, struct keel_err *err)
{
	uint32_t n;
	const struct conf_module *said = conf_modules(conf, &n);
	struct keel_draft_module *rows = calloc(n + all->there.n + 1, sizeof(*rows));
	const struct module *m;
	int code = rows == NULL ? err_set(err, -ENOMEM, "no memory") : 0;

	*ret = (struct keel_draft){ .size = sizeof(*ret), .modules = rows };
	for (uint32_t i = 0; i < n && code == 0; i++)
		code = row_fill(all, conf, &said[i], ret, &rows[i], err);
	if (code < 0) {
		modules_draft_drop(all, ret);
		return code;
	}
	SET_EACH(&all->there, m)
		if (conf_module(conf, m->desc.name) == NULL)
			rows[ret->n++] = (struct keel_draft_module){ .name = m->desc.name, .version = m->desc.version,
								     .flags = KEEL_DRAFT_RUNS };
	return 0;
}

void modules_draft_drop(struct modules *all, struct keel_draft *draft)
{
	for (uint32_t i = 0; i < draft->n; i++)
		free((char *)(uintptr_t)draft->modules[i].path);
	free((void *)(uintptr_t)draft->modules);
	*draft = (struct keel_draft){ 0 };
	values_drop(all);
}

bool modules_need(struct keel_mod *mod, const char *name, const char *other)
{
	const struct set *there = &owner_of(mod)->parts->modules->there;
	const struct module *m = set_named(there, name), *o = set_named(there, other);

	return m != NULL && o != NULL && module_follows(m, o, false);
}

int modules_busy(const struct modules *all, const char *name, struct keel_err *err)
{
	struct module *m = set_named(&all->there, name);

	return m != NULL ? module_busy(m, err) : 0;
}
