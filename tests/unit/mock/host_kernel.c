/* SPDX-License-Identifier: Apache-2.0
 *
 * host_kernel.c - the daemon's own loop, log, registry, objects, hooks and modules; its time is virtual.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "harness.h"
#include "hook/hooks.h"
#include "log/log.h"
#include "host/virtual.h"
#include "main/core_api.h"
#include "mock/host.h"
#include "module/modules.h"
#include "object/objects.h"
#include "registry/registry.h"
#include "util/file.h"
#include "util/text.h"

#define MODULES_MAX 8

static struct {
	struct parts parts;
	struct owner self;
	char *dir;
	struct {
		char *name, *conf;
	} wanted[MODULES_MAX];
} k;

static void saved(void *arg, struct keel_obj *o)
{
	(void)arg;
	objects_saved(o);
}

/* Class and attributes, as a base module would bring them. */
static void vocabulary(void)
{
	struct keel_contrib rows[1 + N_JOB_ATTRS] = { { "CLASS", &job_class } };
	struct keel_err err;

	for (int i = 0; i < N_JOB_ATTRS; i++)
		rows[1 + i] = (struct keel_contrib){ "ATTR", &job_attrs[i] };
	if (registry_add(k.parts.registry, &k.self, rows, KEEL_COUNT(rows), &err) < 0)
		abort();
}

static struct conf *configuration(struct keel_err *err)
{
	char *path = path_join(k.dir, "keelson.conf"), *sub = path_join(k.dir, "modules.d");
	char *file = path_join(sub, "test.conf");
	struct conf *conf = NULL;
	struct buf text;

	buf_init(&text);
	buf_str(&text, "\n");
	for (int i = 0; i < MODULES_MAX; i++)
		if (k.wanted[i].name != NULL)
			buf_printf(&text, "%s: { path = \"%s\"; %s };\n", k.wanted[i].name,
				   probe_path(k.wanted[i].name), k.wanted[i].conf);
	dir_make(sub, 0755);
	file_write_durable(path, "", 0, 0600);
	file_write_durable(file, text.data, text.len, 0600);
	if (conf_read(path, &conf, err) < 0)
		conf = NULL;
	buf_fini(&text);
	free(path);
	free(sub);
	free(file);
	return conf;
}

/* ---- a change of the modules: from now on `wanted` -------------------------------------------------- */
static int files_read(struct parts *parts, struct conf **ret_conf, void **ret_kept, struct keel_err *err)
{
	(void)parts;
	*ret_kept = NULL;
	*ret_conf = configuration(err);
	return *ret_conf != NULL ? 0 : -1;
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

struct changed {
	bool done;
	int ret;
	struct keel_err *err;
};

static void on_changed(void *arg, int ret, const char *text)
{
	struct changed *c = arg;

	c->done = true;
	c->ret = ret;
	if (ret < 0 && c->err != NULL)
		snprintf(c->err->text, sizeof(c->err->text), "%s", text);
}

static int reload(struct keel_err *err)
{
	static const struct modules_files files = { .read = files_read, .keep = files_keep,
						    .drop = files_drop };
	struct changed c = { .err = err };
	const struct modules_ask ask = { .change = MODULES_CONFIGURE, .who = "test",
					 .done = on_changed, .arg = &c };

	modules_set_files(k.parts.modules, &files);
	if (modules_change(k.parts.modules, &ask, err) < 0)
		return -1;
	while (!c.done)
		loop_turn(k.parts.loop, loop_next_ms(k.parts.loop));
	return c.ret < 0 ? -1 : 0;
}

static void start(void)
{
	static const struct hooks_conf hooks_conf = { .hold_default_ms = 60000 };
	static const struct loop_virtual time = { .now_ms = 1000000,
						 .epoch_us = INT64_C(1699999000) * 1000000 };

	memset(&k, 0, sizeof(k));
	k.dir = scratch_new();
	k.parts.home = k.dir;
	k.parts.daemon = KEEL_ANY;
	k.self.pub.name = "test";
	k.self.parts = &k.parts;
	if (loop_create_virtual(&time, &k.parts.loop) < 0 ||
	    log_open(k.parts.loop, k.dir, "test", 0xffff, false, &k.parts.log, NULL) < 0 ||
	    registry_create(&k.parts.registry) < 0 ||
	    registry_offer(k.parts.registry, "core", core_api()) < 0 ||
	    objects_create(k.parts.registry, saved, NULL, &k.parts.objects) < 0 ||
	    hooks_create(&k.parts, &hooks_conf, &k.parts.hooks) < 0 ||
	    modules_create(&k.parts, k.dir, &k.parts.modules) < 0)
		abort();
	vocabulary();
	k.parts.conf = configuration(NULL);
	if (k.parts.conf == NULL || modules_load(k.parts.modules, k.parts.conf, NULL) < 0 ||
	    modules_start(k.parts.modules, NULL) < 0)
		abort();
}

/* The part of a line behind stamp, event and daemon. */
static void add_line(struct buf *out, const char *line)
{
	size_t len = strcspn(line, "\n");

	for (int i = 0; i < 3; i++)
		line += strcspn(line, ";\n") + 1;
	len = strcspn(line, "\n");
	buf_add(out, line, len);
	buf_str(out, "\n");
}

static char *log_text(void)
{
	DIR *d = opendir(k.dir);
	struct dirent *e;
	struct buf out;
	char *bytes = NULL;
	size_t len;

	buf_init(&out);
	buf_str(&out, "");
	while (d != NULL && bytes == NULL && (e = readdir(d)) != NULL) {
		char *path = path_join(k.dir, e->d_name);

		if (strspn(e->d_name, "0123456789") == 8)
			file_read(path, 1 << 24, &bytes, &len);
		free(path);
	}
	closedir(d);
	for (const char *line = bytes; line != NULL && *line != '\0'; line += strcspn(line, "\n") + 1)
		add_line(&out, line);
	free(bytes);
	return out.data;
}

static char *stop(void)
{
	char *log;

	hooks_stop(k.parts.hooks);
	modules_destroy(k.parts.modules);
	registry_remove(k.parts.registry, &k.self);
	hooks_destroy(k.parts.hooks);
	objects_destroy(k.parts.objects);
	registry_destroy(k.parts.registry);
	log_close(k.parts.log);
	log = log_text();
	loop_destroy(k.parts.loop);
	conf_destroy(k.parts.conf);
	for (int i = 0; i < MODULES_MAX; i++) {
		free(k.wanted[i].name);
		free(k.wanted[i].conf);
	}
	scratch_remove(k.dir);
	free(k.dir);
	return log;
}

static struct keel_mod *self(void)
{
	return &k.self.pub;
}

static const void *group(const char *name)
{
	return registry_service(k.parts.registry, name, 0, NULL, NULL);
}

static int place_of(const char *module)
{
	int i = 0;

	while (i < MODULES_MAX && (k.wanted[i].name == NULL || strcmp(k.wanted[i].name, module) != 0))
		i++;
	return i;
}

static void want(int at, const char *module, const char *conf)
{
	free(k.wanted[at].name);
	free(k.wanted[at].conf);
	k.wanted[at].name = module != NULL ? strdup(module) : NULL;
	k.wanted[at].conf = conf != NULL ? strdup(conf) : strdup("");
}

static int load(const char *module, const char *conf, struct keel_err *err)
{
	int at = 0, ret;

	while (k.wanted[at].name != NULL)
		at++;
	want(at, module, conf);
	ret = reload(err);
	if (ret != 0)
		want(at, NULL, NULL);
	return ret;
}

static int unload(const char *module, struct keel_err *err)
{
	int at = place_of(module), ret;
	char *was = at < MODULES_MAX ? strdup(k.wanted[at].conf) : NULL;

	if (was == NULL)
		return -1;
	want(at, NULL, NULL);
	ret = reload(err);
	if (ret != 0)
		want(at, module, was);
	free(was);
	return ret;
}

static int reconf(const char *module, const char *conf, struct keel_err *err)
{
	int at = place_of(module), ret;
	char *was = at < MODULES_MAX ? strdup(k.wanted[at].conf) : NULL;

	if (was == NULL)
		return -1;
	want(at, module, conf);
	ret = reload(err);
	if (ret != 0)
		want(at, module, was);
	free(was);
	return ret;
}

static void advance(int64_t ms)
{
	int64_t until = loop_now_ms(k.parts.loop) + ms, next;

	while ((next = loop_next_ms(k.parts.loop)) <= until)
		loop_turn(k.parts.loop, next);
	loop_turn(k.parts.loop, until);
}

/* The engine only compares them. */
static struct keel_req *client(void)
{
	return (struct keel_req *)&k;
}

static void gone(struct keel_req *req)
{
	hooks_client_gone(k.parts.hooks, req);
}

static void say(const char *words)
{
	log_add(k.parts.log, KEEL_LOG_DEBUG, "Story", NULL, "%s", words);
}

const struct host kernel_host = { "kernel", start, stop, self,	  group, load, unload,
				  reconf,   advance, client, gone, say };
