/* SPDX-License-Identifier: Apache-2.0
 *
 * setup.c - a home directory with the configuration that is shipped: all modules but the store and the links, and of
 * the features those of --features.
 */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim.h"

/* What a server is not a server without. */
static const char base[] = " accounting executor jobs manager nodes queues resources scheduler status ";

static char *KEEL_PRINTF(1, 2) text_of(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	return text;
}

static bool listed(const char *list, const char *name, char separator)
{
	size_t len = strlen(name);

	for (const char *at = strstr(list, name); at != NULL; at = strstr(at + 1, name))
		if ((at == list || at[-1] == separator) && (at[len] == '\0' || at[len] == separator))
			return true;
	return false;
}

static bool wanted(const struct sim_conf *c, const char *module)
{
	/* Disk and links are the world's; mail is not sent. */
	if (strncmp(module, "store-", 6) == 0 || strncmp(module, "link-", 5) == 0 || strcmp(module, "mail") == 0)
		return false;
	return listed(base, module, ' ') || strcmp(c->features, "all") == 0 ||
	       listed(c->features, module, ',');
}

/* Where keelsond, or this program, was built or installed: <dir>/modules and the configuration. */
static char *conf_dir(void)
{
	char *built = text_of("%s/conf", SIM_SOURCE_DIR);
	const char *said = getenv("KEELSON_CONF_DIR");

	if (said == NULL && access(built, F_OK) == 0)
		return built;
	free(built);
	return strdup(said != NULL ? said : SIM_CONF_DIR);
}

/* Those of a build, or of an installation that may have been moved. */
static char *modules_dir(void)
{
	static const char *const beside[] = { "../../modules", SIM_MODULE_BESIDE };
	char path[PATH_MAX], *dir;
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len <= 0)
		return strdup(SIM_MODULE_DIR);
	path[len] = '\0';
	*strrchr(path, '/') = '\0';
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		dir = text_of("%s/%s", path, beside[i]);
		if (access(dir, F_OK) == 0)
			return dir;
		free(dir);
	}
	return strdup(SIM_MODULE_DIR);
}

/* NULL, or a sentence about the first of the features that is no module. */
static char *features_check(const struct sim_conf *c, const char *dir)
{
	char *names = strdup(c->features), *rest = names, *why = NULL, *name;

	while (why == NULL && (name = strsep(&rest, ",")) != NULL) {
		char *file = text_of("%s/%s.conf", dir, name);

		if (strcmp(name, "all") != 0 && strcmp(name, "none") != 0 && (strchr(name, '/') != NULL || access(file, F_OK) < 0))
			why = text_of("--features: there is no module '%s' in %s", name, dir);
		free(file);
	}
	free(names);
	return why;
}

/* One that needs what is not there is not in this build. */
static bool was_built(const char *module)
{
	char *dir = modules_dir(), *file = text_of("%s/%s.so", dir, module);
	bool ret = access(file, F_OK) == 0;

	free(file);
	free(dir);
	return ret;
}

static char *modules_write(struct sim *s, const char *to)
{
	char *from = conf_dir(), *dir = text_of("%s/modules.d", from), *why = NULL;
	struct dirent **names;
	int n = scandir(dir, &names, NULL, alphasort);

	if (n < 0)
		why = text_of("no modules.d in %s: %s; name the directory of keelson.conf with "
			      "KEELSON_CONF_DIR", from, strerror(errno));
	else
		why = features_check(&s->conf, dir);
	for (int i = 0; i < n; i++) {
		size_t len = strlen(names[i]->d_name);
		char *module = strndup(names[i]->d_name, len > 5 ? len - 5 : 0);
		char *source = text_of("%s/%s", dir, names[i]->d_name);
		char *target = text_of("%s/%s", to, names[i]->d_name), real[PATH_MAX];

		if (len > 5 && strcmp(names[i]->d_name + len - 5, ".conf") == 0 &&
		    wanted(&s->conf, module) && was_built(module) && realpath(source, real) != NULL &&
		    symlink(real, target) < 0)
			why = text_of("cannot write %s: %s", target, strerror(errno));
		free(module);
		free(source);
		free(target);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	free(from);
	free(dir);
	return why;
}

static char *conf_write(struct sim *s, const char *path)
{
	char *modules = modules_dir();
	FILE *f = fopen(path, "w");

	if (f == NULL)
		return text_of("cannot write %s: %s", path, strerror(errno));
	fprintf(f,
		"roles = [\"server\"];\nhome = \"%s\";\nexec_dir = \"/usr\";\nmodules_dir = \"%s\";\n"
		"server_name = \"svr\";\nhost_name = \"simhost\";\n"
		"log: { events = %u; microseconds = true; };\n",
		s->home, modules, s->conf.log_events);
	free(modules);
	return fclose(f) == 0 ? NULL : text_of("cannot write %s: %s", path, strerror(errno));
}

char *setup(struct sim *s)
{
	const char *tmp = getenv("TMPDIR");
	char *etc, *modules, *conf, *why = NULL;

	s->home = s->conf.dir != NULL ? strdup(s->conf.dir) :
					text_of("%s/keelson-sim.XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (s->conf.dir == NULL ? mkdtemp(s->home) == NULL :
				  mkdir(s->home, 0700) < 0 && errno != EEXIST)
		return text_of("cannot make the directory %s: %s", s->home, strerror(errno));
	etc = text_of("%s/etc", s->home);
	modules = text_of("%s/modules.d", etc);
	conf = text_of("%s/keelson.conf", etc);
	if (mkdir(etc, 0700) < 0 || mkdir(modules, 0700) < 0)
		why = text_of("cannot make the directory %s: %s; --dir wants a new one", modules,
			      strerror(errno));
	if (why == NULL)
		why = modules_write(s, modules);
	if (why == NULL)
		why = conf_write(s, conf);
	s->options = (struct options){ .conf_file = conf, .roles = KEEL_SERVER, .foreground = true,
				       .set = s->conf.set, .n_set = s->conf.n_set };
	free(etc);
	free(modules);
	return why;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

void setup_remove(struct sim *s)
{
	if (s->home != NULL && s->conf.dir == NULL)
		nftw(s->home, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free((char *)(uintptr_t)s->options.conf_file);
	free(s->home);
}
