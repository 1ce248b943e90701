/* SPDX-License-Identifier: Apache-2.0
 *
 * logged.h - what is in the log files of a folder.
 */
#ifndef TESTS_LOGGED_H
#define TESTS_LOGGED_H

#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static inline bool logged(const char *dir, const char *text)
{
	char pattern[PATH_MAX], line[4096];
	glob_t found;
	bool has = false;

	snprintf(pattern, sizeof(pattern), "%s/[0-9]*", dir);
	if (glob(pattern, 0, NULL, &found) != 0)
		return false;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		FILE *f = fopen(found.gl_pathv[i], "r");

		while (f != NULL && !has && fgets(line, sizeof(line), f) != NULL)
			has = strstr(line, text) != NULL;
		if (f != NULL)
			fclose(f);
	}
	globfree(&found);
	return has;
}

#endif
