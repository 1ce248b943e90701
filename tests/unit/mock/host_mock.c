/* SPDX-License-Identifier: Apache-2.0
 *
 * host_mock.c - the mock, as the stories see it; and what both hosts share.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keel/mock.h"
#include "mock/host.h"

static struct keel_mock *mock;
static struct {
	const char *name;
	struct keel_mod *mod;
} loaded[8];

/* The daemon does not tell of those, or logs them; test_mock.c is about them. Some the stories never mean. */
static void on_violation(void *arg, const char *name, const char *words)
{
	(void)arg;
	if (strstr(name, "object-") == NULL && strstr(name, "call-") == NULL && strcmp(name, "left-behind") != 0)
		return;
	fprintf(stderr, "%s: %s\n", name, words);
	CU_FAIL("a violation that no story means");
}

static void start(void)
{
	mock = keel_mock_new(KEEL_ANY);
	keel_mock_strict(mock, true);
	memset(loaded, 0, sizeof(loaded));
	keel_mock_on_violation(mock, on_violation, NULL);
	for (int i = 0; i < N_JOB_ATTRS; i++)
		keel_mock_attr_def(mock, &job_attrs[i]);
}

static char *stop(void)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	const char *line;

	keel_mock_shutdown(mock);
	for (uint32_t i = 0; (line = keel_mock_log(mock, i)) != NULL; i++) {
		for (; *line != '\0'; line++) /* as a log file has it */
			fprintf(f, *line == '\n' ? "\\n" : "%c", *line);
		fputs("\n", f);
	}
	fclose(f);
	keel_mock_free(mock);
	return text;
}

static struct keel_mod *self(void)
{
	return keel_mock_self(mock);
}

static const void *group(const char *name)
{
	return keel_mock_group(mock, name);
}

static int place_of(const char *module)
{
	int i = 0;

	while (i < 8 && (loaded[i].mod == NULL || strcmp(loaded[i].name, module) != 0))
		i++;
	return i;
}

static int load(const char *module, const char *conf, struct keel_err *err)
{
	int at = 0;

	while (loaded[at].mod != NULL)
		at++;
	loaded[at].name = module;
	loaded[at].mod = keel_mock_load_file(mock, probe_path(module), conf, err);
	return loaded[at].mod != NULL ? 0 : -1;
}

static int unload(const char *module, struct keel_err *err)
{
	int at = place_of(module), ret = at < 8 ? keel_mock_unload(loaded[at].mod, err) : -1;

	if (ret == 0)
		loaded[at].mod = NULL;
	return ret;
}

static int reconf(const char *module, const char *conf, struct keel_err *err)
{
	int at = place_of(module);

	return at < 8 && keel_mock_reconf(loaded[at].mod, conf, err) == 0 ? 0 : -1;
}

static void advance(int64_t ms)
{
	keel_mock_advance(mock, ms);
}

static struct keel_req *client(void)
{
	return keel_mock_client(mock, NULL);
}

static void gone(struct keel_req *req)
{
	keel_mock_client_gone(req);
}

static void say(const char *words)
{
	const struct keel_core_api *core = group("core");

	core->log(self(), KEEL_LOG_DEBUG, "Story", NULL, "%s", words);
}

const struct host mock_host = { "mock", start,	 stop,	 self,	 group, load, unload,
				reconf, advance, client, gone, say };

/* ---- shared --------------------------------------------------------------------------------------------- */
const char *probe_path(const char *module)
{
	static char path[4096];
	const char *build = getenv("KEELSON_BUILD");
	char *here = build == NULL ? realpath(".", NULL) : strdup(build);

	snprintf(path, sizeof(path), "%s/tests/conformance/%s.so", here, module);
	if (access(path, F_OK) != 0)
		snprintf(path, sizeof(path), "%s/tests/fixtures/%s.so", here, module);
	free(here);
	return path;
}

const struct keel_class_def job_class = { .size = sizeof(job_class), .flags = KEEL_CLASS_SAVE, .name = "job",
					  .doc = "a job", .known_point = KEEL_POINT_job_known };
#define ROW(word, kind, ...)                                                                       \
	KEEL_ATTR_DEF("job", word, kind, .flags = KEEL_ATTR_SAVE, .doc = "of the stories",         \
		      .read_roles = KEEL_EVERYBODY, .write_roles = KEEL_OPERATORS, __VA_ARGS__)
const struct keel_attr_def job_attrs[N_JOB_ATTRS] = {
	ROW("Priority", "long", .fallback = "1", .order = 5), ROW("Name", "string", .order = 1),
	ROW("List", "string_array", .order = 2), ROW("Mem", "size", .order = 3),
	ROW("Time", "time", .order = 4), ROW("Share", "float", .order = 6), ROW("Flag", "bool", .order = 7),
};
