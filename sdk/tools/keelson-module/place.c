/* SPDX-License-Identifier: Apache-2.0
 *
 * place.c - where files of Keelson are.
 */
#include "place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder this program was started from. */
static bool own_folder(char ret[PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", ret, PATH_MAX - 1);
	char *slash;

	if (len <= 0)
		return false;
	ret[len] = '\0';
	slash = strrchr(ret, '/');
	if (slash == NULL)
		return false;
	*slash = '\0';
	return true;
}

bool place_find(const char *const *places, const char *file, char ret_path[PATH_MAX])
{
	char folder[PATH_MAX], path[3 * PATH_MAX];
	bool known = own_folder(folder);

	for (; *places != NULL; places++) {
		bool absolute = (*places)[0] == '/';

		if (!absolute && !known)
			continue;
		snprintf(path, sizeof(path), "%s/%s/%s", absolute ? "" : folder, *places, file);
		if (realpath(path, ret_path) != NULL)
			return true;
	}
	return false;
}
