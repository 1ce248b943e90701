/* SPDX-License-Identifier: Apache-2.0
 *
 * place.c - where files of Keelson are.
 */
#include "place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool place_find(const char *const *places, const char *file, char ret_path[PATH_MAX])
{
	char folder[PATH_MAX], path[3 * PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", folder, PATH_MAX - 1); /* the folder this program was started from */
	char *slash;
	bool known;

	folder[len > 0 ? len : 0] = '\0';
	slash = strrchr(folder, '/');
	known = slash != NULL;
	if (known)
		*slash = '\0';
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
