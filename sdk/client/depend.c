/* SPDX-License-Identifier: Apache-2.0
 *
 * depend.c - the value of the attribute depend.
 *
 * An id is digits, for an array followed by "[]", then ".server" and "@server" or nothing.
 * Subjobs and ranges cannot be parents. A port in a server's name is written "\:" because ':' separates ids.
 */
#include "depend.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pbs_error.h"

#define DIGITS "0123456789"

enum takes { A_COUNT, IDS, ONE_ID };
static const struct {
	const char *name;
	enum takes takes;
} types[] = {
	{ "on", A_COUNT },	  { "after", IDS },	   { "afterok", IDS },
	{ "afternotok", IDS },	  { "afterany", IDS },	   { "before", IDS },
	{ "beforeok", IDS },	  { "beforenotok", IDS },  { "beforeany", IDS },
	{ "runone", ONE_ID },
};

/* Length up to the next ':' or ',' that is not escaped. */
static size_t item_len(const char *at)
{
	size_t n = 0;

	while (at[n] != '\0' && at[n] != ':' && at[n] != ',')
		n += at[n] == '\\' && at[n + 1] != '\0' ? 2 : 1;
	return n;
}

/* An id: a sequence number, brackets or none, then nothing or the server's name behind '.' or '@'. */
static int id_write(FILE *out, const char *at, size_t len, const char *server)
{
	size_t number = strspn(at, DIGITS);

	if (number == 0 || number > PBS_MAXSEQNUM)
		return -EINVAL;
	if (number + 1 < len && at[number] == '[' && at[number + 1] == ']')
		number += 2;
	if (number > len || number + 1 == len || (number < len && at[number] != '.' && at[number] != '@'))
		return -EINVAL;
	fprintf(out, "%.*s", (int)number, at);
	if (server != NULL && (number == len || at[number] == '@'))
		fprintf(out, ".%s", server);
	fprintf(out, "%.*s", (int)(len - number), at + number);
	return 0;
}

/* Parses one "type:arg[:arg...]" at *at and moves *at behind it. */
static int clause_write(FILE *out, const char **at, const char *server)
{
	size_t type, n_types = sizeof(types) / sizeof(types[0]), len = item_len(*at);
	int args = 0;

	for (type = 0; type < n_types; type++)
		if (strlen(types[type].name) == len && strncmp(types[type].name, *at, len) == 0)
			break;
	if (type == n_types || (*at)[len] != ':')
		return -EINVAL;
	fputs(types[type].name, out);
	*at += len;
	while (**at == ':') {
		len = item_len(++*at);
		fputc(':', out);
		if (types[type].takes != A_COUNT) {
			if (id_write(out, *at, len, server) < 0)
				return -EINVAL;
		} else {
			if (len == 0 || strspn(*at, DIGITS) < len)
				return -EINVAL;
			fprintf(out, "%.*s", (int)len, *at);
		}
		*at += len;
		args++;
	}
	return types[type].takes != IDS && args != 1 ? -EINVAL : 0;
}

int depend_complete(const char *value, const char *server, char **ret_full)
{
	char *full = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&full, &size);
	int ret;

	if (out == NULL)
		return -ENOMEM;
	ret = clause_write(out, &value, server);
	while (ret == 0 && *value != '\0') {
		fputc(',', out);
		value++;
		ret = clause_write(out, &value, server);
	}
	if (fclose(out) != 0 && ret == 0)
		ret = -ENOMEM;
	if (ret == 0 && ret_full != NULL)
		*ret_full = full;
	else
		free(full);
	return ret;
}

int check_depend(const char *value, enum verify_for what)
{
	(void)what;
	return depend_complete(value, NULL, NULL) == 0 ? 0 : PBSE_BADATVAL;
}
