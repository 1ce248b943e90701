/* SPDX-License-Identifier: Apache-2.0
 *
 * set.c - see set.h.
 */
#include "main/set.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/conf.h"
#include "util/err.h"
#include "util/file.h"
#include "util/text.h"
#include "wire/buf.h"

#define TEXT_BYTES (1u << 20)

char *set_path(const char *set, const char *name)
{
	return text_format("%s/%s", set, name);
}

char *sets_dir(const char *home, uint32_t roles)
{
	return text_format("%s/%s/sets", home, roles & KEEL_SERVER ? "server_priv" : "mom_priv");
}

static int entry_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

void set_remove(const char *set)
{
	nftw(set, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
}

int set_write(const char *set, const char *name, const char *text)
{
	char *path = set_path(set, name);
	int fd = path != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	int ret = path == NULL ? -ENOMEM : fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	free(path);
	return ret;
}

char *set_read(const char *set, const char *name)
{
	char *path = set_path(set, name), *text = NULL;
	size_t len;

	if (path != NULL)
		(void)file_read(path, TEXT_BYTES, &text, &len);
	free(path);
	return text;
}

void set_unlink(const char *set, const char *name)
{
	char *path = set_path(set, name);

	if (path != NULL)
		unlink(path);
	free(path);
}

/* ---- the configuration ---------------------------------------------------------------------------------- */
int set_configure(const char *set, const char *conf_file, const char *text_from, const char *overrides_from,
		  struct keel_err *err)
{
	char *to = set_path(set, "conf"), *source = text_from != NULL ? set_path(text_from, "conf/keelson.conf") : NULL;
	char *overrides = overrides_from != NULL ? set_read(overrides_from, "conf/overrides") : NULL;
	int ret = to == NULL || (text_from != NULL && source == NULL) ? err_set(err, -ENOMEM, "no memory") :
			conf_copy(source != NULL ? source : conf_file, to, err);

	if (ret == 0 && overrides != NULL && set_write(set, "conf/overrides", overrides) < 0)
		ret = err_set(err, -EIO, "cannot write into %s", set);
	free(to);
	free(source);
	free(overrides);
	return ret;
}

int set_override(const char *set, const char *module, bool enabled, struct keel_err *err)
{
	char *old = set_read(set, "conf/overrides");
	size_t len = strlen(module);
	struct buf text;
	int ret;

	buf_init(&text);
	for (char *at = old, *line; (line = strsep(&at, "\n")) != NULL;)
		if (*line != '\0' && (strncmp(line, module, len) != 0 || line[len] != '.'))
			buf_printf(&text, "%s\n", line);
	buf_printf(&text, "%s.enabled=%s\n", module, enabled ? "true" : "false");
	ret = text.failed ? -ENOMEM : set_write(set, "conf/overrides", text.data);
	buf_fini(&text);
	free(old);
	return ret == 0 ? 0 : err_set(err, ret, "cannot write into %s: %s", set, strerror(-ret));
}

/* They are exchanged in one step: a set has a whole configuration whenever the daemon is killed. */
int set_conf_take(const char *set, const char *from)
{
	char *conf = set_path(set, "conf"), *other = set_path(from, "conf");
	int ret = conf == NULL || other == NULL ? -ENOMEM :
		  renameat2(AT_FDCWD, other, AT_FDCWD, conf, RENAME_EXCHANGE) < 0 ? -errno : 0;

	free(conf);
	free(other);
	set_remove(from);
	return ret;
}

/* ---- all of them ---------------------------------------------------------------------------------------- */
int set_create(const char *sets, char **ret_set, struct keel_err *err)
{
	char *set = NULL, *modules;
	int ret = dir_make(sets, 0700);

	for (unsigned n = 1; ret == 0 || ret == -EEXIST; n++) {
		free(set);
		set = text_format("%s/%u", sets, n);
		ret = set == NULL ? -ENOMEM : mkdir(set, 0700) < 0 ? -errno : 1;
	}
	modules = ret == 1 ? set_path(set, "modules") : NULL;
	if (ret == 1)
		ret = modules == NULL ? -ENOMEM : dir_make(modules, 0700);
	free(modules);
	if (ret < 0) {
		free(set);
		return err_set(err, ret, "cannot make a directory in %s: %s", sets, strerror(-ret));
	}
	*ret_set = set;
	return 0;
}

static int others_remove(const char *sets, const char *set)
{
	const char *name = strrchr(set, '/') + 1;
	DIR *d = opendir(sets);
	struct dirent *e;

	if (d == NULL)
		return -errno;
	while ((e = readdir(d)) != NULL) {
		char *path = e->d_name[0] >= '0' && e->d_name[0] <= '9' && strcmp(e->d_name, name) != 0 ?
				     set_path(sets, e->d_name) : NULL;

		if (path != NULL)
			set_remove(path);
		free(path);
	}
	closedir(d);
	return 0;
}

int set_served(const char *sets, const char *set)
{
	char *link = set_path(sets, "served"), *fresh = set_path(sets, "served.new");
	int ret = link == NULL || fresh == NULL ? -ENOMEM : 0;

	if (ret == 0) {
		unlink(fresh);
		if (symlink(strrchr(set, '/') + 1, fresh) < 0 || rename(fresh, link) < 0)
			ret = -errno;
	}
	free(link);
	free(fresh);
	return ret == 0 ? others_remove(sets, set) : ret;
}

char *set_last(const char *sets)
{
	char *link = set_path(sets, "served"), *real = link != NULL ? realpath(link, NULL) : NULL;

	free(link);
	return real;
}

void sets_tidy(const char *sets)
{
	char *last = set_last(sets);

	others_remove(sets, last != NULL ? last : "/");
	free(last);
}
