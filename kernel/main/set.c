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

#define TEXT_MAX (1u << 20)

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

int set_write(const char *set, const char *name, const char *text, size_t len)
{
	char *path = set_path(set, name);
	int fd = path != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	int ret = path == NULL ? -ENOMEM : fd < 0 ? -errno : fd_write_all(fd, text, len);

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
		(void)file_read(path, TEXT_MAX, &text, &len);
	free(path);
	return text;
}

/* ---- drafts ------------------------------------------------------------------------------------------- */
static char *draft_of(const char *sets, struct keel_err *err)
{
	char *draft = set_path(sets, "draft");

	if (draft == NULL)
		err_set(err, -ENOMEM, "no memory");
	return draft;
}

int set_draft(const char *sets, const char *conf_file, const char *text_from, const char *overrides_from,
	      struct keel_err *err)
{
	char *draft = draft_of(sets, err), *source = text_from != NULL ? set_path(text_from, "conf/keelson.conf") : NULL;
	char *overrides = overrides_from != NULL ? set_read(overrides_from, "conf/overrides") : NULL;
	int ret = draft == NULL || (text_from != NULL && source == NULL) ? -ENOMEM : 0;

	if (ret == 0) {
		set_remove(draft);
		ret = dir_make(sets, 0700);
		if (ret == 0)
			ret = dir_make(draft, 0700);
		if (ret < 0)
			err_set(err, ret, "cannot make the directory %s: %s", draft, strerror(-ret));
	}
	if (ret == 0)
		ret = conf_copy(source != NULL ? source : conf_file, draft, err);
	if (ret == 0 && overrides != NULL && set_write(draft, "overrides", overrides, strlen(overrides)) < 0)
		ret = err_set(err, -EIO, "cannot write into %s", draft);
	free(draft);
	free(source);
	free(overrides);
	return ret;
}

int set_draft_override(const char *sets, const char *module, bool enabled, struct keel_err *err)
{
	char *draft = draft_of(sets, err), *old = draft != NULL ? set_read(draft, "overrides") : NULL;
	size_t len = strlen(module);
	struct buf text;
	int ret = draft != NULL ? 0 : -ENOMEM;

	buf_init(&text);
	for (char *at = old, *line; (line = strsep(&at, "\n")) != NULL;)
		if (*line != '\0' && (strncmp(line, module, len) != 0 || line[len] != '.'))
			buf_printf(&text, "%s\n", line);
	buf_printf(&text, "%s.enabled=%s\n", module, enabled ? "true" : "false");
	if (ret == 0 && (text.failed || set_write(draft, "overrides", text.data, text.len) < 0))
		ret = err_set(err, -EIO, "cannot write into %s", draft);
	buf_fini(&text);
	free(draft);
	free(old);
	return ret;
}

/* What `set` had is away for a moment: a power failure then leaves a set that is no more than not the last one. */
int set_draft_take(const char *sets, const char *set, struct keel_err *err)
{
	char *draft = draft_of(sets, err), *conf = set_path(set, "conf");
	int ret = draft == NULL || conf == NULL ? -ENOMEM : 0;

	if (ret == 0) {
		set_remove(conf);
		if (rename(draft, conf) < 0)
			ret = err_set(err, -errno, "cannot rename %s to %s: %s", draft, conf, strerror(errno));
	}
	free(draft);
	free(conf);
	return ret;
}

void set_draft_drop(const char *sets)
{
	char *draft = set_path(sets, "draft");

	if (draft != NULL)
		set_remove(draft);
	free(draft);
}

/* ---- sets --------------------------------------------------------------------------------------------- */
int set_create(const char *sets, char **ret_set, struct keel_err *err)
{
	int ret = dir_make(sets, 0700);
	char *set = NULL, *modules = NULL;

	for (unsigned n = 1; ret == 0; n++) {
		free(set);
		set = text_format("%s/%u", sets, n);
		ret = set == NULL ? -ENOMEM : mkdir(set, 0700) == 0 ? 1 : errno == EEXIST ? 0 : -errno;
	}
	if (ret == 1) {
		modules = set_path(set, "modules");
		ret = modules == NULL ? -ENOMEM : dir_make(modules, 0700);
	}
	free(modules);
	if (ret == 0) {
		*ret_set = set;
		return 0;
	}
	err_set(err, ret, "cannot make a directory in %s: %s", sets, strerror(-ret));
	free(set);
	return ret;
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
