/* SPDX-License-Identifier: Apache-2.0
 *
 * place.c - where files of this installation are: beside the program, so that they may be installed elsewhere than they
 * were configured for; else where they were configured to be.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "main/inside.h"
#include "util/text.h"
#include "util/file.h"

/* Returns the directory of the running program; NULL on any error. */
static char *program_dir(void)
{
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len <= 0)
		return NULL;
	path[len] = '\0';
	*strrchr(path, '/') = '\0';
	return strdup(path);
}

/* Returns the absolute path of something relative to the program; NULL: it does not exist. */
static char *beside(const char *relative)
{
	char *dir = program_dir(), *path = dir == NULL ? NULL : path_join(dir, relative),
	     *real = path == NULL ? NULL : realpath(path, NULL);

	free(dir);
	free(path);
	return real;
}

/* Returns <prefix> of <prefix>/sbin/keelsond; else the program's own directory: a build tree. */
char *place_exec_dir(void)
{
	char *dir = program_dir(), *slash = dir == NULL ? NULL : strrchr(dir, '/');

	if (slash != NULL && slash != dir && (strcmp(slash, "/sbin") == 0 || strcmp(slash, "/bin") == 0))
		*slash = '\0';
	return dir == NULL ? strdup("/usr/local") : dir;
}

char *place_modules_dir(void)
{
	char *dir = beside("modules"); /* a build tree */

	if (dir == NULL)
		dir = beside(KEELSON_MODULE_BESIDE);
	return dir == NULL ? strdup(KEELSON_MODULE_DIR) : dir;
}

char *place_conf_file(void)
{
	char *file = beside(KEELSON_CONF_BESIDE);

	if (file != NULL && file_trust(file, NULL) == 0)
		return file;
	free(file);
	return strdup(KEELSON_CONF_FILE);
}
