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

static int type_find(const char *at, size_t len)
{
	for (int i = 0; i < (int)(sizeof(types) / sizeof(types[0])); i++)
		if (strlen(types[i].name) == len && strncmp(types[i].name, at, len) == 0)
			return i;
	return -EINVAL;
}

/* Returns the length of the sequence number and brackets of an id, or 0. */
static size_t id_number_len(const char *at, size_t len)
{
	size_t n = strspn(at, DIGITS);

	if (n == 0 || n > PBS_MAXSEQNUM)
		return 0;
	if (n + 1 < len && at[n] == '[' && at[n + 1] == ']')
		n += 2;
	if (n > len || (n < len && at[n] != '.' && at[n] != '@'))
		return 0;
	return n;
}

static int id_write(FILE *out, const char *at, size_t len, const char *server)
{
	size_t number = id_number_len(at, len);

	if (number == 0 || (number + 1 == len))
		return -EINVAL;
	fprintf(out, "%.*s", (int)number, at);
	if (server != NULL && (number == len || at[number] == '@'))
		fprintf(out, ".%s", server);
	fprintf(out, "%.*s", (int)(len - number), at + number);
	return 0;
}

static int arg_write(FILE *out, enum takes takes, const char *at, size_t len, const char *server)
{
	if (takes != A_COUNT)
		return id_write(out, at, len, server);
	if (len == 0 || strspn(at, DIGITS) < len)
		return -EINVAL;
	fprintf(out, "%.*s", (int)len, at);
	return 0;
}

/* Parses one "type:arg[:arg...]" at *at and moves *at behind it. */
static int clause_write(FILE *out, const char **at, const char *server)
{
	size_t len = item_len(*at);
	int type = type_find(*at, len), args = 0;

	if (type < 0 || (*at)[len] != ':')
		return -EINVAL;
	fputs(types[type].name, out);
	*at += len;
	while (**at == ':') {
		len = item_len(++*at);
		fputc(':', out);
		if (arg_write(out, types[type].takes, *at, len, server) < 0)
			return -EINVAL;
		*at += len;
		args++;
	}
	return types[type].takes != IDS && args != 1 ? -EINVAL : 0;
}

static int write_all(FILE *out, const char *value, const char *server)
{
	for (;;) {
		if (clause_write(out, &value, server) < 0)
			return -EINVAL;
		if (*value == '\0')
			return 0;
		fputc(',', out);
		value++;
	}
}

int depend_complete(const char *value, const char *server, char **ret_full)
{
	char *full = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&full, &size);
	int ret;

	if (out == NULL)
		return -ENOMEM;
	ret = write_all(out, value, server);
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
