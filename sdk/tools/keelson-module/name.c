/* SPDX-License-Identifier: Apache-2.0
 *
 * name.c - what a module may be called.
 *
 * Its name is a group of the configuration, a file, a target of its build and part of identifiers: what
 * is taken in one of them, or has a special character there, is not a name.
 */
#include "name.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *why;
} reserved[] = {
	/* groups of keelson.conf */
	{ "log", "that group of the configuration is Keelson's own" },
	{ "client", "that group of the configuration is Keelson's own" },
	{ "link", "that group of the configuration is Keelson's own" },
	{ "hooks", "that group of the configuration is Keelson's own" },
	{ "kernel", "that is what Keelson calls itself in its log" },
	/* words of libconfig */
	{ "true", "that is a value in configuration files" },
	{ "false", "that is a value in configuration files" },
	/* targets of make and CMake, and folders they make */
	{ "all", "the build has a target of that name" },
	{ "check", "the build has a target of that name" },
	{ "clean", "the build has a target of that name" },
	{ "install", "the build has a target of that name" },
	{ "help", "the build has a target of that name" },
	{ "test", "the build has a target of that name" },
	{ "package", "the build has a target of that name" },
};

const char *module_name_refused(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len > MODULE_NAME_MAX)
		return "a name has 1 to 63 characters";
	if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != len)
		return "a name has small letters, digits, '-' and '_' only";
	if (name[0] < 'a' || name[0] > 'z')
		return "a name begins with a small letter";
	if (name[len - 1] == '-' || name[len - 1] == '_')
		return "a name ends with a letter or a digit";
	for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
		if (strcmp(reserved[i].name, name) == 0)
			return reserved[i].why;
	return NULL;
}

void module_name_identifier(const char *name, char *ret, size_t size)
{
	snprintf(ret, size, "%s", name);
	for (; *ret != '\0'; ret++)
		if (*ret == '-')
			*ret = '_';
}
