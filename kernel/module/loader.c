/* SPDX-License-Identifier: Apache-2.0
 *
 * loader.c - map a module file, through libltdl with a loader of our own.
 *
 * The stock loader binds lazily, so that a module with an unresolved symbol would die in the middle of
 * a request, and it replaces the error by "file not found". Ours binds now, keeps symbols
 * local and keeps the error. Only absolute paths of .so files are opened: a bare name would be searched
 * for, a .la file can pull in others.
 *
 * libltdl keeps its loaders for the process, so the vtable and the last error are per process too.
 */
#include <dlfcn.h>
#include <errno.h>
#include <ltdl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module/inside.h"
#include "util/err.h"
#include "util/file.h"

#define OUR_LOADER "keelson"

static _Thread_local char reason[400];

static void reason_keep(void)
{
	const char *text = dlerror();

	snprintf(reason, sizeof(reason), "%s", text != NULL ? text : "no reason given");
}

static lt_module so_open(lt_user_data data, const char *path, lt_dladvise advise)
{
	void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	(void)data;
	(void)advise;
	if (so == NULL)
		reason_keep();
	return so;
}

static int so_close(lt_user_data data, lt_module so)
{
	(void)data;
	(void)so;
	return 0; /* code stays: threads may be in it, and sanitizers want to name it */
}

static void *so_symbol(lt_user_data data, lt_module so, const char *name)
{
	void *symbol = dlsym(so, name);

	(void)data;
	if (symbol == NULL)
		reason_keep();
	return symbol;
}

static const lt_dlvtable our_loader = {
	.name = OUR_LOADER,
	.module_open = so_open,
	.module_close = so_close,
	.find_sym = so_symbol,
	.priority = LT_DLLOADER_PREPEND,
};

/* Ours alone: libltdl would fall through to its own. */
static int loader_init(struct keel_err *err)
{
	if (lt_dlinit() != 0)
		return err_set(err, -EIO, "cannot prepare loading modules: %s", lt_dlerror());
	if (lt_dlloader_find(OUR_LOADER) != NULL)
		return 0;
	free(lt_dlloader_remove("lt_dlopen")); /* its vtable is malloc'ed, and the caller's now */
	if (lt_dlloader_add(&our_loader) != 0)
		return err_set(err, -EIO, "cannot prepare loading modules: %s", lt_dlerror());
	return 0;
}

static int map(const char *file, struct image *image, struct keel_err *err)
{
	lt_dlhandle handle;

	if (loader_init(err) < 0)
		return -EIO;
	reason[0] = '\0';
	handle = lt_dlopen(file);
	if (handle == NULL)
		return err_set(err, -ELIBBAD, "cannot load module file %s: %s", image->path,
			       reason[0] != '\0' ? reason : lt_dlerror());
	image->raw = lt_dlsym(handle, "keel_module");
	if (image->raw == NULL)
		return err_set(err, -ENOEXEC, "%s exports no keel_module; a module is defined by KEEL_MODULE()",
			       image->path);
	return 0;
}

int image_open(const char *path, const char *copy, bool mapped, struct image *ret_image, struct keel_err *err)
{
	const char *file = copy != NULL ? copy : path;
	struct image image = { 0 };
	size_t len = strlen(path);
	int ret = 0;

	if (path[0] != '/' || len < 4 || strcmp(path + len - 3, ".so") != 0)
		ret = err_set(err, -EINVAL, "module path '%s' is not an absolute path of a .so file", path);
	if (ret == 0)
		ret = file_trust(file, err);
	if (ret == 0)
		ret = note_read(file, path, &image.st, &image.note, err);
	if (ret == 0 && (image.path = strdup(path)) == NULL)
		ret = err_set(err, -ENOMEM, "no memory to load %s", path);
	if (ret == 0 && mapped)
		ret = map(file, &image, err);
	if (ret == 0)
		*ret_image = image;
	else
		free(image.path);
	return ret;
}
