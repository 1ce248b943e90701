/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.c - see fixture.h.
 */
#include "module/fixture.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "main/daemon.h"
#include "util/err.h"
#include "util/file.h"
#include "util/text.h"

struct kernel k;

const char *fixtures_dir(void)
{
	static char *dir;
	const char *build = getenv("KEELSON_BUILD");

	if (getenv("FIXTURES_DIR") != NULL)
		return getenv("FIXTURES_DIR");
	if (dir == NULL)
		dir = path_join(build != NULL ? build : ".", "tests/fixtures");
	return dir;
}

static void dirty(void *arg, struct keel_obj *o)
{
	(void)arg;
	objects_saved(o);
}

static void parts_up(struct parts *p, const char *set)
{
	static const struct hooks_conf hooks_conf = { .hold_default_ms = 60000 };
	static char *modules_dir;

	if (modules_dir == NULL)
		modules_dir = realpath(fixtures_dir(), NULL);
	if (modules_dir == NULL || loop_create(&p->loop) < 0 ||
	    log_open(p->loop, k.dir, "test", 0xffff, false, &p->log, NULL) < 0 ||
	    registry_create(&p->registry) < 0 ||
	    registry_offer(p->registry, "core", &core_api) < 0 ||
	    objects_create(p->registry, dirty, NULL, &p->objects) < 0 ||
	    hooks_create(p, &hooks_conf, &p->hooks) < 0 ||
	    modules_create(p, modules_dir, set, &p->modules) < 0)
		abort();
}

static void parts_down(struct parts *p)
{
	modules_destroy(p->modules);
	hooks_destroy(p->hooks);
	objects_destroy(p->objects);
	registry_destroy(p->registry);
	log_close(p->log);
	loop_destroy(p->loop);
}

void kernel_start(void)
{
	memset(&k, 0, sizeof(k));
	k.dir = scratch_new();
	k.parts.home = k.dir;
	k.parts.daemon = KEEL_SERVER;
	k.self.pub.name = "test";
	k.self.parts = &k.parts;
	buf_init(&k.out);
	parts_up(&k.parts, NULL);
}

void kernel_stop(void)
{
	parts_down(&k.parts);
	conf_destroy(k.parts.conf);
	conf_destroy(k.read);
	buf_fini(&k.out);
	free(k.conf_path);
	free(k.copies);
	free(k.running);
	scratch_remove(k.dir);
	free(k.dir);
}

void configure(const char *text)
{
	struct conf *conf;

	free(k.conf_path);
	k.conf_path = path_join(k.dir, "keelson.conf");
	if (file_write_durable(k.conf_path, "", 0, 0600) < 0)
		abort();
	char *dir = path_join(k.dir, "modules.d"), *file = path_join(dir, "test.conf");

	if (dir_make(dir, 0755) < 0 || file_write_durable(file, text, strlen(text), 0600) < 0)
		abort();
	free(dir);
	free(file);
	if (conf_read(k.conf_path, NULL, &conf, &k.err) < 0) {
		fprintf(stderr, "%s\n", k.err.text);
		abort();
	}
	conf_destroy(k.read);
	k.read = conf;
}

/* What is in force, for an unload. */
static void running_keep(void)
{
	static unsigned n;
	char *command;

	free(k.running);
	k.running = text_format("%s/running.%u", k.dir, n++);
	command = text_format("mkdir -p %s/conf && cp -r %s %s/modules.d %s/conf", k.running, k.conf_path, k.dir, k.running);
	if (command == NULL || system(command) != 0)
		abort();
	free(command);
}

static int load_conf(struct conf *conf)
{
	if (conf != k.parts.conf)
		conf_destroy(k.parts.conf);
	k.parts.conf = conf;
	return modules_load(k.parts.modules, conf, false, &k.err);
}

int load(const char *text)
{
	configure(text);
	running_keep();
	struct conf *conf = k.read;

	k.read = NULL;
	return load_conf(conf);
}

int up(const char *text)
{
	char word[128];
	int ret = load(text);

	if (ret == 0)
		ret = modules_start(k.parts.modules, &k.err);
	while (ret < 0 && modules_bad(k.parts.modules) != NULL) {
		snprintf(word, sizeof(word), "%s.enabled=false", modules_bad(k.parts.modules));
		parts_down(&k.parts);
		parts_up(&k.parts, NULL);
		ret = conf_override(k.parts.conf, word, &k.err);
		if (ret == 0)
			ret = load_conf(k.parts.conf);
		if (ret == 0)
			ret = modules_start(k.parts.modules, &k.err);
	}
	if (ret < 0)
		modules_stop(k.parts.modules);
	return ret;
}

/* ---- changes: the kernel reads what configure() wrote ---------------------------------------------- */
void (*on_read)(void), (*on_keep)(void);

static int changed_read(enum fixture_change what, const char *name, struct conf **ret_conf)
{
	char word[128];
	int ret = conf_read(k.conf_path, what == UNLOAD ? k.running : NULL, ret_conf, &k.err);

	snprintf(word, sizeof(word), "%s.enabled=%s", name != NULL ? name : "", what == UNLOAD ? "false" : "true");
	return ret == 0 && name != NULL ? conf_override(*ret_conf, word, &k.err) : ret;
}

static bool is_other(const struct keel_draft *d)
{
	for (uint32_t i = 0; i < d->n; i++) {
		const uint32_t flags = d->modules[i].flags;
		const bool runs = flags & KEEL_DRAFT_RUNS, enabled = flags & KEEL_DRAFT_ENABLED;

		if (flags & (KEEL_DRAFT_FILE | KEEL_DRAFT_HOW) || (runs != enabled && !(flags & KEEL_DRAFT_ELSEWHERE)))
			return true;
	}
	return d->restart;
}

/* What `keelsond --check` does, in a process of its own as there. */
static void check(const char *report, const struct conf *conf, const char *copies)
{
	struct parts parts = { .home = k.dir, .daemon = k.parts.daemon };
	struct keel_err err = { 0 };
	bool stores;
	int ret;

	parts_up(&parts, copies);
	ret = modules_check(parts.modules, conf, true, &stores, &err);
	file_write_durable(report, err.text, strlen(err.text), 0600);
	_exit(ret < 0);
}

static int checked(const struct conf *conf, const char *copies)
{
	char *report = path_join(k.dir, "report"), *text = NULL;
	int end = 0, ret = 0;
	pid_t child = fork();
	size_t len;

	if (child == 0)
		check(report, conf, copies);
	if (waitpid(child, &end, 0) < 0 || file_read(report, 1 << 20, &text, &len) < 0)
		abort();
	if (end != 0)
		ret = err_set(&k.err, -EINVAL, "%s", text);
	free(report);
	free(text);
	return ret;
}

/* Returns the directory that has them. */
static char *files_copy(const struct keel_draft *d)
{
	static unsigned n;
	char *copies = text_format("%s/copies.%u", k.dir, n++);
	char *modules = path_join(copies, "modules");

	if (dir_make(modules, 0700) < 0)
		abort();
	free(modules);
	for (uint32_t i = 0; i < d->n; i++) {
		const struct keel_draft_module *m = &d->modules[i];
		char *command = text_format("cp -p %s %s/modules/%s.so", m->path, copies, m->name);

		if (m->flags & KEEL_DRAFT_ENABLED && access(m->path, F_OK) == 0 && system(command) != 0)
			abort();
		free(command);
	}
	return copies;
}

/* The image of the process that comes; `copies` is moved. */
static int renew(enum fixture_change what, struct conf *conf, char *copies)
{
	int ret;

	free(k.copies);
	k.copies = copies;

	k.renewed = true;
	parts_down(&k.parts);
	conf_destroy(k.parts.conf);
	k.parts.conf = conf;
	parts_up(&k.parts, k.copies);
	if (what != UNLOAD)
		running_keep();
	ret = modules_load(k.parts.modules, conf, true, &k.err);
	return ret == 0 ? modules_start(k.parts.modules, &k.err) : ret;
}

static void keep(struct conf *conf)
{
	if (on_keep != NULL)
		on_keep();
	running_keep();
	conf_destroy(k.parts.conf);
	k.parts.conf = conf;
}

int change(enum fixture_change what, const char *name)
{
	struct conf *conf = NULL;
	struct keel_draft draft = { 0 };
	char *copies;
	bool other;
	int ret = changed_read(what, name, &conf);

	k.err.text[0] = '\0';
	k.renewed = false;
	if (on_read != NULL)
		on_read();
	if (ret == 0)
		ret = modules_draft(k.parts.modules, conf, &draft, &k.err);
	other = what != CONFIGURE || is_other(&draft);
	copies = ret == 0 && other ? files_copy(&draft) : NULL;
	if (ret == 0)
		ret = other ? checked(conf, copies) : modules_apply(k.parts.modules, &k.err);
	modules_draft_drop(k.parts.modules, &draft);
	if (ret == 0 && other)
		return renew(what, conf, copies);
	free(copies);
	if (ret == 0)
		keep(conf);
	else
		conf_destroy(conf);
	return ret;
}

int reload(const char *text)
{
	configure(text);
	return change(CONFIGURE, NULL);
}

char *log_text(void)
{
	DIR *d = opendir(k.dir);
	struct dirent *e;
	char *bytes = NULL;
	size_t len;

	while (d != NULL && bytes == NULL && (e = readdir(d)) != NULL) {
		char *path = path_join(k.dir, e->d_name);

		if (strspn(e->d_name, "0123456789") == 8)
			file_read(path, 1 << 24, &bytes, &len);
		free(path);
	}
	if (d != NULL)
		closedir(d);
	return bytes != NULL ? bytes : strdup("");
}

static void benched_find(void *arg, const struct keel_about_tap *t)
{
	const char **module = arg;

	if (*module != NULL && t->benched && strcmp(t->module, *module) == 0)
		*module = NULL;
}

static void module_describe(void *arg, const struct keel_about_module *m)
{
	const char *module = m->name;

	hooks_taps(&k.self.pub, benched_find, &module);
	buf_printf(arg, "%s\t%s\t%s\t%s\n", m->name, m->version, m->runs, module == NULL ? "benched" : "");
}

const char *described(void)
{
	const struct keel_inspect_api *inspect = registry_service(k.parts.registry, "inspect", 0, NULL, NULL);

	buf_reset(&k.out);
	buf_str(&k.out, "\n");
	inspect->modules(&k.self.pub, module_describe, &k.out);
	return k.out.data;
}

static void tap_name(void *arg, const struct keel_about_tap *t)
{
	if (t->point == *(const uint32_t *)arg)
		buf_printf(&k.out, k.out.len > 0 ? " %s" : "%s", t->name);
}

const char *chain(const char *point)
{
	const struct keel_hook_api *hook = registry_service(k.parts.registry, "hook", 0, NULL, NULL);
	uint32_t id = hook->point(&k.self.pub, point);

	buf_reset(&k.out);
	buf_str(&k.out, "");
	CU_ASSERT_NOT_EQUAL(id, 0);
	hooks_taps(&k.self.pub, tap_name, &id);
	return k.out.data;
}

bool logged(const char *text)
{
	char *log = log_text();
	bool found = strstr(log, text) != NULL;

	free(log);
	return found;
}

void copy_fixture(const char *name, const char *to)
{
	char *from = path_join(fixtures_dir(), name), *bytes;
	size_t len;

	if (file_read(from, 1 << 26, &bytes, &len) < 0 ||
	    file_write_durable(to, bytes, len, 0755) < 0)
		abort();
	free(bytes);
	free(from);
}
