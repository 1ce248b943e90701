/* SPDX-License-Identifier: Apache-2.0
 *
 * read.c - the main file, the files beside it, which modules they name; values that take the place of theirs.
 *
 * Every file is parsed on its own, so that each setting knows its line; a group may appear once in
 * all of them.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/inside.h"
#include "util/err.h"
#include "util/file.h"
#include "util/text.h"

#define MODULES_D "modules.d"
#define COPY_MAIN "conf/keelson.conf"
#define FILE_MAX (4u * 1024u * 1024u)

int conf_no_memory(struct keel_err *err)
{
	return err_set(err, -ENOMEM, "configuration: no memory");
}

char *conf_place(const config_setting_t *s)
{
	const config_setting_t *root = s;

	while (config_setting_parent(root) != NULL)
		root = config_setting_parent(root);
	if (is_override(s) || config_setting_get_hook(root) == NULL)
		return strdup("override");
	if (s == root)
		return strdup(config_setting_get_hook(root));
	return text_format("%s:%u", (const char *)config_setting_get_hook(root), config_setting_source_line(s));
}

int conf_refuse(struct keel_err *err, const config_setting_t *s, const char *fmt, ...)
{
	char *where = conf_place(s);
	struct buf text;
	va_list ap;
	int ret;

	buf_init(&text);
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	ret = where == NULL || text.failed ? conf_no_memory(err) : err_set(err, -EINVAL, "%s: %s", where, text.data);
	buf_fini(&text);
	free(where);
	return ret;
}

config_setting_t *conf_group(const struct conf *c, const char *group)
{
	config_setting_t *s;

	if (group[0] == '\0')
		return config_root_setting(&c->files[0]->parsed);
	for (uint32_t i = 0; i < c->n_files; i++) {
		s = config_setting_get_member(config_root_setting(&c->files[i]->parsed), group);
		if (s != NULL && config_setting_is_group(s))
			return s;
	}
	return config_setting_get_member(config_root_setting(&c->overrides), group);
}

/* Reads `file`, which is called `path` in errors. */
static int file_parse(struct conf *c, const char *path, const char *file, struct keel_err *err)
{
	struct conf_file **files = reallocarray(c->files, c->n_files + 1, sizeof(*files));
	struct conf_file *f = calloc(1, sizeof(*f));
	char *text, *ended;
	size_t len;
	int ret;

	c->files = files != NULL ? files : c->files;
	if (files == NULL || f == NULL || (f->path = strdup(path)) == NULL) {
		free(f);
		return conf_no_memory(err);
	}
	config_init(&f->parsed);
	c->files[c->n_files++] = f;
	ret = file_guard(file, err);
	if (ret < 0)
		return ret;
	ret = file_read(file, FILE_MAX, &text, &len);
	if (ret < 0)
		return err_set(err, ret, "cannot read the configuration file %s: %s", path,
			       ret == -ENOTSUP ? "it is a pipe, not a file" : strerror(-ret));
	ret = conf_bounds(c, path, text, len, err);
	/* libconfig accepts no comment in a last line that does not end. */
	ended = text_format("%s%s", text, len > 0 && text[len - 1] != '\n' ? "\n" : "");
	if (ret == 0 && ended == NULL)
		ret = conf_no_memory(err);
	else if (ret == 0 && config_read_string(&f->parsed, ended) != CONFIG_TRUE)
		ret = err_set(err, -EINVAL, "%s:%d: %s%s", path, config_error_line(&f->parsed),
			      config_error_text(&f->parsed),
			      strcmp(config_error_text(&f->parsed), "syntax error") != 0 ? "" :
			      ", here or before: settings end with ';', texts stand in quotes, lists have no last comma");
	config_setting_set_hook(config_root_setting(&f->parsed), f->path);
	free(text);
	free(ended);
	return ret;
}

struct conf_module *conf_module(const struct conf *c, const char *name)
{
	for (uint32_t i = 0; i < c->n_modules; i++)
		if (strcmp(c->modules[i].name, name) == 0)
			return &c->modules[i];
	return NULL;
}

/* Adds an enabled module; `where` is copied. NULL: no memory. */
static struct conf_module *module_add(struct conf *c, const char *name, const char *where)
{
	struct conf_module *m = reallocarray(c->modules, c->n_modules + 1, sizeof(*m));

	if (m == NULL)
		return NULL;
	c->modules = m;
	m += c->n_modules;
	*m = (struct conf_module){ .name = strdup(name), .file = strdup(where), .enabled = true,
				   .required = true };
	if (m->name != NULL && m->file != NULL) {
		c->n_modules++;
		return m;
	}
	free((char *)m->name);
	free((char *)m->file);
	return NULL;
}

static int module_read(struct conf *c, const config_setting_t *s, struct keel_err *err)
{
	const char *name = config_setting_name(s);
	struct conf_module *m = conf_module(c, name);
	char *where;

	if (!config_setting_is_group(s))
		return conf_refuse(err, s, "%s: expected a group named like a module, got a single value; such keys belong "
				   "into the main file", name);
	if (m != NULL)
		return conf_refuse(err, s, "%s: expected a module once, got it again (first in %s)", name, m->file);
	where = conf_place(s);
	m = where != NULL ? module_add(c, name, where) : NULL;
	free(where);
	return m != NULL ? conf_module_keys(s, m, err) : conf_no_memory(err);
}

static int modules_read(struct conf *c, const char *path, const char *file, struct keel_err *err)
{
	const config_setting_t *root;
	int ret = file_parse(c, path, file, err);

	if (ret < 0)
		return ret;
	root = config_root_setting(&c->files[c->n_files - 1]->parsed);
	for (int i = 0; ret == 0 && i < config_setting_length(root); i++)
		ret = module_read(c, config_setting_get_elem(root, (unsigned)i), err);
	return ret;
}

static int is_conf_name(const struct dirent *e)
{
	size_t len = strlen(e->d_name);

	return e->d_name[0] != '.' && len > 5 && strcmp(e->d_name + len - 5, ".conf") == 0;
}

/* Returns the directory of modules beside the main file `path`. NULL: no memory. */
static char *modules_dir(const char *path)
{
	const char *slash = strrchr(path, '/');

	return text_format("%.*s" MODULES_D, slash == NULL ? 0 : (int)(slash - path) + 1, path);
}

/* Every *.conf in `look`, which is called as if it were in `dir`. A directory that does not exist is no error. */
static int dir_read(struct conf *c, const char *look, const char *dir, struct keel_err *err)
{
	struct dirent **names;
	int ret = file_guard(look, err), n;

	if (ret < 0)
		return ret;
	n = scandir(look, &names, is_conf_name, alphasort);
	if (n < 0 && errno == ENOENT)
		return 0;
	if (n < 0)
		return err_set(err, -errno, "cannot read the directory %s: %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		char *path = ret == 0 ? path_join(dir, names[i]->d_name) : NULL;
		char *file = ret == 0 ? path_join(look, names[i]->d_name) : NULL;

		if (ret == 0)
			ret = path == NULL || file == NULL ? conf_no_memory(err) : modules_read(c, path, file, err);
		free(path);
		free(file);
		free(names[i]);
	}
	free(names);
	return ret;
}

int conf_read(const char *path, const char *set, struct conf **ret_conf, struct keel_err *err)
{
	struct conf *c = calloc(1, sizeof(*c));
	char *dir = modules_dir(path), *file = set != NULL ? path_join(set, COPY_MAIN) : strdup(path);
	char *other = set != NULL ? path_join(set, "conf/" MODULES_D) : modules_dir(path);
	int ret = c == NULL || dir == NULL || file == NULL || other == NULL ? conf_no_memory(err) : 0;

	if (c != NULL)
		config_init(&c->overrides);
	if (ret == 0)
		ret = file_parse(c, path, file, err);
	if (ret == 0)
		ret = dir_read(c, other, dir, err);
	free(dir);
	free(file);
	free(other);
	if (ret < 0)
		conf_destroy(c);
	else
		*ret_conf = c;
	return ret;
}

void conf_destroy(struct conf *c)
{
	if (c == NULL)
		return;
	for (uint32_t i = 0; i < c->n_files; i++) {
		config_destroy(&c->files[i]->parsed);
		free(c->files[i]->path);
		free(c->files[i]);
	}
	for (uint32_t i = 0; i < c->n_modules; i++) {
		free((char *)c->modules[i].name);
		free((char *)c->modules[i].file);
	}
	config_destroy(&c->overrides);
	free(c->modules);
	free(c->files);
	free(c);
}

const struct conf_module *conf_modules(const struct conf *c, uint32_t *ret_n)
{
	*ret_n = c->n_modules;
	return c->modules;
}

/* Of which module a group of the main file is now; NULL: it never was one. */
static const char *moved_to(const char *group)
{
	static const struct {
		const char *group, *module;
	} moved[] = {
#define MOVED_GROUP(group, module) { group, module },
#include "modfile/moved_groups.def"
#undef MOVED_GROUP
	};

	for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]); i++)
		if (strcmp(moved[i].group, group) == 0)
			return moved[i].module;
	return NULL;
}

int conf_check_groups(const struct conf *c, const char *const *kernel_groups, struct keel_err *err)
{
	const config_setting_t *roots[] = { conf_group(c, ""), config_root_setting(&c->overrides) };

	for (int over = 0; over < 2; over++) {
		for (int i = 0; i < config_setting_length(roots[over]); i++) {
			const config_setting_t *s = config_setting_get_elem(roots[over], (unsigned)i);
			const char *name = config_setting_name(s), *module = moved_to(name);
			const char *const *known = kernel_groups;

			while (*known != NULL && strcmp(*known, name) != 0)
				known++;
			if (!config_setting_is_group(s) || *known != NULL || (over && conf_module(c, name) != NULL))
				continue;
			if (module != NULL)
				return conf_refuse(err, s, "%s: these keys are those of a module now; write them into "
						   MODULES_D "/%s.conf, as %s: { ... };", name, module, module);
			return conf_refuse(err, s, "%s: expected a known group, got \"%s\"; a module's group belongs "
					   "into a file of " MODULES_D, name, name);
		}
	}
	return 0;
}

/* ---- values from a command line, `--set group.key=value` ---------------------------------------------
 * They take the place of those of the files. Their hook marks them; a group that no file has is in a tree of its own.
 */
/* An override of `enabled`, `required` or `path` changes the list of modules at once. */
static int module_override(struct conf *c, const char *group, const char *key, const char *text, struct keel_err *err)
{
	static const struct keel_conf_rule rule = { .size = sizeof(rule), .type = KEEL_CONF_BOOL };
	struct conf_module *m = conf_module(c, group);
	bool value = false;
	struct conf_data d = { .bytes = (char *)&value };
	bool is_enabled = strcmp(key, "enabled") == 0, is_path = strcmp(key, "path") == 0;

	if (!is_enabled && (m == NULL || (!is_path && strcmp(key, "required") != 0)))
		return 0;
	if (!is_path && value_from_text(&rule, text, &d) < 0)
		return err_set(err, -EINVAL, "override: %s.%s: expected true or false, got \"%s\"", group, key, text);
	if (m == NULL)
		m = module_add(c, group, "override");
	if (m == NULL)
		return conf_no_memory(err);
	if (is_path)
		m->path = text;
	else if (is_enabled)
		m->enabled = value;
	else
		m->required = value;
	return 0;
}

int conf_override(struct conf *c, const char *assignment, struct keel_err *err)
{
	const char *equals = strchr(assignment, '='),
		   *point = equals != NULL ? memchr(assignment, '.', (size_t)(equals - assignment)) : NULL,
		   *begin = point != NULL ? point + 1 : assignment;
	char *group = strndup(assignment, point != NULL ? (size_t)(point - assignment) : 0);
	char *key = strndup(begin, equals != NULL ? (size_t)(equals - begin) : 0);
	config_setting_t *to = NULL, *s = NULL;
	int ret = 0;

	if (group == NULL || key == NULL)
		ret = conf_no_memory(err);
	else if (equals != NULL && (point == NULL || point > assignment))
		to = conf_group(c, group);
	if (to == NULL && ret == 0 && equals != NULL)
		to = config_setting_add(config_root_setting(&c->overrides), group, CONFIG_TYPE_GROUP);
	if (to != NULL) {
		config_setting_remove(to, key);
		s = config_setting_add(to, key, CONFIG_TYPE_STRING);
	}
	if (s != NULL && config_setting_set_string(s, equals + 1)) {
		config_setting_set_hook(s, c);
		ret = point != NULL ? module_override(c, group, key, config_setting_get_string(s), err) : 0;
	} else if (ret == 0) { /* the parser knows what may be a name */
		ret = err_set(err, -EINVAL, "override: expected key=value or group.key=value, got \"%s\"", assignment);
	}
	free(group);
	free(key);
	return ret;
}
