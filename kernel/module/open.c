/* SPDX-License-Identifier: Apache-2.0
 *
 * open.c - from a group of the configuration to an opened module: file, descriptor, configuration.
 * Nothing of the module runs but its check() function, which has no effect.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module/inside.h"
#include "util/crumb.h"
#include "util/err.h"
#include "util/text.h"

char *module_path(const char *dir, const struct conf_module *said)
{
	char *name, *path;

	if (said->path != NULL)
		return path_join(dir, said->path);
	name = text_format("%s.so", said->name);
	path = name != NULL ? path_join(dir, name) : NULL;
	free(name);
	return path;
}

char *module_copy(const struct modules *all, const char *name)
{
	char *path = all->set != NULL ? text_format("%s/modules/%s.so", all->set, name) : NULL;

	if (path != NULL && access(path, F_OK) == 0)
		return path;
	free(path);
	return NULL;
}

void module_close(struct module *m)
{
	if (m == NULL)
		return;
	conf_data_destroy(m->conf);
	conf_data_destroy(m->fresh);
	site_destroy(m->site);
	site_destroy(m->fresh_site);
	free(m->rules);
	free(m->taps);
	loader_close(m);
	free(m->image.path);
	free(m);
}

int module_values(const struct module *m, const struct conf *conf, struct conf_data **ret_data, struct keel_err *err)
{
	return conf_fill(conf, m->desc.name, m->rules, m->desc.n_conf, m->desc.conf_size, loader_key, modules_of(m), ret_data,
			 err);
}

int module_configure(const struct module *m, const struct conf *conf, struct conf_data **ret_data,
		     struct keel_err *err)
{
	const struct keel_module *d = &m->desc;
	const struct conf_module *said = conf_module(conf, d->name);
	struct keel_err why = { 0 };
	struct conf_data *data;
	struct crumb crumb;
	int ret = module_values(m, conf, &data, err);

	if (ret < 0)
		return ret;
	if (m->how.row != NULL) {
		ret = m->how.row->def->check(&m->how.row->owner->pub, (struct keel_mod *)(uintptr_t)&m->owner.pub, conf_data(data),
					     &why);
	} else if (d->check != NULL) {
		crumb_begin(&crumb, (struct owner *)(uintptr_t)&m->owner, "check", NULL);
		ret = d->check(conf_data(data), &why);
		crumb_end(&crumb);
	}
	if (ret == 0) {
		*ret_data = data;
		return 0;
	}
	conf_data_destroy(data);
	ret = ret < 0 ? ret : -EINVAL;
	if (why.text[0] == '\0')
		return err_set(err, ret, "module %s does not accept its configuration", d->name);
	if (said == NULL || said->file == NULL)
		return err_set(err, ret, "%s: %s", d->name, why.text);
	return err_set(err, ret, "%s: %s: %s", said->file, d->name, why.text);
}

/* Its file and descriptor. An error names the place that names the file, and what to do when it is not there. */
static int open_image(struct modules *all, struct module *m, const struct conf_module *said, struct keel_err *err)
{
	const bool in_file = said->file != NULL && strchr(said->file, ':') != NULL; /* else ordered by name */
	const bool maps = m->how.row == NULL;
	char *path = module_path(all->dir, said), *copy = maps ? module_copy(all, said->name) : NULL;
	struct keel_err why = { 0 };
	int ret = path == NULL ? err_set(&why, -ENOMEM, "no memory to load module %s", said->name) :
				 image_open(path, copy, maps, &m->image, &why);

	free(path);
	free(copy);
	if (ret == 0 && !maps)
		ret = loader_open(m, said->name, &why);
	if (ret == 0)
		ret = descriptor_lint(m, m->image.path, m->image.raw, &why);
	return ret == 0 ? 0 : err_set(err, ret, "%s%s%s%s", in_file ? said->file : "", in_file ? ": " : "", why.text,
				      ret == -ENOENT ? "; install it there, or name its file with 'path'" : "");
}

int module_furnish(struct module *m, const struct conf *conf, struct keel_err *err)
{
	int ret;

	needs_kernel(m);
	ret = module_configure(m, conf, &m->conf, err);
	m->owner.pub.name = m->desc.name;
	if (ret == 0)
		m->owner.pub.conf = conf_data(m->conf);
	if (ret == 0)
		ret = site_read(m, conf, &m->site, err);
	if (ret < 0 || m->how.row != NULL)
		return ret; /* the state is the loader's */
	m->owner.pub.state = calloc(1, m->desc.state_size > 0 ? m->desc.state_size : 1);
	return m->owner.pub.state != NULL ? 0 : err_set(err, -ENOMEM, "no memory for module %s", m->desc.name);
}

static int open_checked(struct modules *all, struct module *m, const struct conf *conf,
			const struct conf_module *said, struct keel_err *err)
{
	int ret = how_find(all, conf, said->name, &m->how, err);

	if (ret < 0)
		return ret;
	ret = open_image(all, m, said, err);
	if (ret < 0)
		return ret;
	if (strcmp(m->desc.name, said->name) != 0)
		return err_set(err, -EINVAL, "%s: the file %s holds module '%s', not '%s'",
			       said->file != NULL ? said->file : "configuration", m->image.path,
			       m->desc.name, said->name);
	if ((m->desc.roles & all->parts->daemon) == 0)
		return 0;
	m->required = said->required;
	return module_furnish(m, conf, err);
}

int module_open(struct modules *all, const struct conf *conf, const struct conf_module *said,
		struct module **ret_module, struct keel_err *err)
{
	struct module *m = calloc(1, sizeof(*m));
	int ret;

	*ret_module = NULL;
	if (m == NULL)
		return err_set(err, -ENOMEM, "no memory to load module %s", said->name);
	m->owner.parts = all->parts;
	ret = open_checked(all, m, conf, said, err);
	if (ret < 0 || (m->desc.roles & all->parts->daemon) == 0) {
		module_close(m);
		return ret;
	}
	*ret_module = m;
	return 0;
}
