/* SPDX-License-Identifier: Apache-2.0
 *
 * check_value.c - plain types: the whole text must convert.
 */
#include "check.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "any_case.h"
#include "pbs_error.h"

#define DIGITS "0123456789"

int check_bool(const char *value, enum verify_for what)
{
	static const char *const words[] = { "true", "t", "1", "y", "false", "f", "0", "n", NULL };

	(void)what;
	for (const char *const *w = words; *w != NULL; w++)
		if (same_word(*w, value))
			return 0;
	return PBSE_BADATVAL;
}

static int parse_long(const char *value, long long *ret)
{
	char *end;

	if (strspn(value, "+-" DIGITS) == 0)
		return -EINVAL;
	errno = 0;
	*ret = strtoll(value, &end, 10);
	return errno != 0 || *end != '\0' ? -EINVAL : 0;
}

int check_long(const char *value, enum verify_for what)
{
	long long n;

	(void)what;
	return parse_long(value, &n) < 0 ? PBSE_BADATVAL : 0;
}

int check_count(const char *value, enum verify_for what)
{
	long long n;

	(void)what;
	return parse_long(value, &n) < 0 || n < 0 ? PBSE_BADATVAL : 0;
}

int check_positive(const char *value, enum verify_for what)
{
	long long n;

	(void)what;
	return parse_long(value, &n) < 0 || n <= 0 ? PBSE_BADATVAL : 0;
}

/* Digits, then [kmgtp], then b (bytes) or w (words); any case, both letters may be left out. */
int check_size(const char *value, enum verify_for what)
{
	const char *at = value + (*value == '+');
	size_t digits = strspn(at, DIGITS);

	(void)what;
	if (digits == 0 || digits > 19)
		return PBSE_BADATVAL;
	at += digits;
	if (*at != '\0' && strchr("kKmMgGtTpP", *at) != NULL)
		at++;
	if (*at != '\0' && strchr("bBwW", *at) != NULL)
		at++;
	return *at == '\0' ? 0 : PBSE_BADATVAL;
}

/* [[H:]M:]S[.fraction], each part digits. */
int check_time(const char *value, enum verify_for what)
{
	const char *at = value;
	int parts = 0;
	size_t digits;

	(void)what;
	for (;;) {
		digits = strspn(at, DIGITS);
		if (digits == 0 || digits > 18 || ++parts > 3)
			return PBSE_BADATVAL;
		at += digits;
		if (*at != ':')
			break;
		at++;
	}
	if (*at == '.')
		at += 1 + strspn(at + 1, DIGITS);
	return *at == '\0' ? 0 : PBSE_BADATVAL;
}

/* [+-]digits[.digits][e[+-]digits]; strtod() would depend on the locale of the program. */
int check_float(const char *value, enum verify_for what)
{
	const char *at = value + (*value == '+' || *value == '-');
	size_t whole = strspn(at, DIGITS), more = 0, exponent;

	(void)what;
	at += whole;
	if (*at == '.') {
		more = strspn(at + 1, DIGITS);
		at += 1 + more;
	}
	if (whole + more == 0)
		return PBSE_BADATVAL;
	if (*at == 'e' || *at == 'E') {
		at += at[1] == '+' || at[1] == '-' ? 2 : 1;
		exponent = strspn(at, DIGITS);
		if (exponent == 0)
			return PBSE_BADATVAL;
		at += exponent;
	}
	return *at == '\0' ? 0 : PBSE_BADATVAL;
}

/* Resources with a built-in type that is not text. Sorted. */
static const struct {
	const char *name;
	check_fn *check;
} resources[] = {
	{ "accelerator", check_bool },
	{ "accelerator_memory", check_size },
	{ "cput", check_time },
	{ "file", check_size },
	{ "hbmem", check_size },
	{ "max_walltime", check_time },
	{ "mem", check_size },
	{ "min_walltime", check_time },
	{ "mpiprocs", check_count },
	{ "naccelerators", check_count },
	{ "nchunk", check_count },
	{ "ncpus", check_count },
	{ "nice", check_long },
	{ "nodect", check_count },
	{ "ompthreads", check_count },
	{ "pcput", check_time },
	{ "place", check_place },
	{ "pmem", check_size },
	{ "pvmem", check_size },
	{ "select", check_select },
	{ "soft_walltime", check_time },
	{ "vmem", check_size },
	{ "walltime", check_time },
};

int check_resource(const char *name, const char *value)
{
	for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++)
		if (strcmp(resources[i].name, name) == 0)
			return resources[i].check(value, VERIFY_SUBMIT);
	return 0;
}
