/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.c - see fixture.h.
 */
#include "module/fixture.h"

#include <dirent.h>
#include <stdlib.h>

#include "main/core_api.h"
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

void kernel_start(void)
{
	static const struct hooks_conf hooks_conf = { .hold_default_ms = 60000 };
	char *modules_dir = realpath(fixtures_dir(), NULL);

	memset(&k, 0, sizeof(k));
	if (modules_dir == NULL)
		abort();
	k.dir = scratch_new();
	k.parts.home = k.dir;
	k.parts.daemon = KEEL_SERVER;
	k.self.pub.name = "test";
	k.self.parts = &k.parts;
	buf_init(&k.out);
	if (loop_create(&k.parts.loop) < 0 ||
	    log_open(k.parts.loop, k.dir, "test", 0xffff, false, &k.parts.log, NULL) < 0 ||
	    registry_create(&k.parts.registry) < 0 ||
	    registry_offer(k.parts.registry, "core", core_api()) < 0 ||
	    objects_create(k.parts.registry, dirty, NULL, &k.parts.objects) < 0 ||
	    hooks_create(&k.parts, &hooks_conf, &k.parts.hooks) < 0 ||
	    modules_create(&k.parts, modules_dir, &k.parts.modules) < 0)
		abort();
	modules_set_files(k.parts.modules, &kernel_files);
	free(modules_dir);
}

void kernel_stop(void)
{
	modules_destroy(k.parts.modules);
	hooks_destroy(k.parts.hooks);
	objects_destroy(k.parts.objects);
	registry_destroy(k.parts.registry);
	log_close(k.parts.log);
	loop_destroy(k.parts.loop);
	conf_destroy(k.parts.conf);
	buf_fini(&k.out);
	free(k.conf_path);
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
	conf_destroy(k.parts.conf);
	k.parts.conf = conf;
}

int load(const char *text)
{
	configure(text);
	return modules_load(k.parts.modules, k.parts.conf, &k.err);
}

int up(const char *text)
{
	int ret = load(text);

	return ret == 0 ? modules_start(k.parts.modules, &k.err) : ret;
}

/* ---- changes: the kernel reads what configure() wrote ---------------------------------------------- */
static int files_read(struct parts *parts, struct conf **ret_conf, void **ret_kept, struct keel_err *err)
{
	(void)parts;
	*ret_kept = NULL;
	return conf_read(k.conf_path, NULL, ret_conf, err);
}

static void files_keep(struct parts *parts, struct conf *conf, void *kept)
{
	(void)kept;
	conf_destroy(parts->conf);
	parts->conf = conf;
}

static void files_drop(struct parts *parts, struct conf *conf, void *kept)
{
	(void)parts;
	(void)kept;
	conf_destroy(conf);
}

const struct modules_files kernel_files = { .read = files_read, .keep = files_keep, .drop = files_drop };

static void changed(void *arg, int ret, const char *text)
{
	int *ret_place = arg;

	*ret_place = ret;
	if (ret < 0)
		snprintf(k.err.text, sizeof(k.err.text), "%s", text);
	else
		buf_str(&k.out, text);
}

static bool is_changed(void *arg)
{
	return *(int *)arg <= 0;
}

int change(enum modules_change what, const char *name)
{
	int ret = 1, asked;

	buf_reset(&k.out);
	buf_str(&k.out, "");
	k.err.text[0] = '\0';
	asked = modules_change(k.parts.modules,
			       &(struct modules_ask){ .change = what, .name = name, .who = "root@test",
						      .done = changed, .arg = &ret },
			       &k.err);
	if (asked < 0)
		return asked;
	return loop_run_until(k.parts.loop, is_changed, &ret, DEADLINE_MS) < 0 ? -ETIMEDOUT : ret;
}

int reload(const char *text)
{
	configure(text);
	return change(MODULES_CONFIGURE, NULL);
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

const char *described(void)
{
	buf_reset(&k.out);
	modules_table(k.parts.modules, &k.out);
	return strchr(k.out.data, '\n');
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
