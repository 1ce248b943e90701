/* SPDX-License-Identifier: Apache-2.0
 *
 * check_job.c - rules for attributes of jobs.
 */
#include "check.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static bool only(const char *value, const char *letters)
{
	return strspn(value, letters) == strlen(value);
}

int check_job_name(const char *value, enum verify_for what)
{
	if (strlen(value) > PBS_MAXJOBNAME)
		return PBSE_JOBNBIG;
	return judge(what == VERIFY_SELECT || only(value, LETTERS DIGITS "_-+."));
}

int check_resv_name(const char *value, enum verify_for what)
{
	(void)what;
	if (strlen(value) > PBS_MAXJOBNAME)
		return PBSE_JOBNBIG;
	for (const unsigned char *at = (const unsigned char *)value; *at != '\0'; at++)
		if (*at <= ' ' || *at == 0x7f)
			return PBSE_BADATVAL;
	return 0;
}

int check_path(const char *value, enum verify_for what)
{
	size_t host = strcspn(value, ":/"); /* a colon behind a slash belongs to the path */

	(void)what;
	return judge(value[host] != ':' || (host > 0 && value[host + 1] != '\0'));
}

int check_holds(const char *value, enum verify_for what)
{
	(void)what;
	return judge(only(value, "uosnp") &&
		     (value[1] == '\0' || strpbrk(value, "np") == NULL));
}

int check_keep(const char *value, enum verify_for what)
{
	bool files = strpbrk(value, "oe") != NULL;

	(void)what;
	if (strchr(value, 'n') != NULL)
		return judge(strcmp(value, "n") == 0);
	return judge(only(value, "oed") && files);
}

int check_mail_points(const char *value, enum verify_for what)
{
	if (strcmp(value, "n") == 0)
		return 0;
	if (what == VERIFY_RESV || what == VERIFY_RESV_ALTER)
		return judge(only(value, "abec"));
	return judge(only(value, "abej") && strcmp(value, "j") != 0);
}

/* Every item of a comma list must pass `item`; `one_plain`: at most one may be without "@host". */
static bool list_is(const char *value, bool (*item)(const char *at, size_t len), bool one_plain)
{
	int plain = 0;

	for (;;) {
		size_t len = strcspn(value, ",");
		const char *at = memchr(value, '@', len);

		if (at == NULL)
			plain++;
		else if (at + 1 == value + len)
			return false;
		if (!item(value, at == NULL ? len : (size_t)(at - value)))
			return false;
		if (value[len] == '\0')
			return !one_plain || plain <= 1;
		value += len + 1;
	}
}

static bool is_name(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (isspace((unsigned char)at[i]) && i > 0 && i + 1 < len)
			return false;
	return len > 0;
}

static bool is_absolute(const char *at, size_t len)
{
	return len > 0 && *at == '/';
}

static bool is_signed_name(const char *at, size_t len)
{
	size_t sign = len > 0 && (*at == '+' || *at == '-');

	return is_name(at + sign, len - sign);
}

int check_mail_users(const char *value, enum verify_for what)
{
	(void)what;
	return judge(list_is(value, is_name, false));
}

/* [+|-]name[@host],... */
int check_names(const char *value, enum verify_for what)
{
	(void)what;
	return judge(list_is(value, is_signed_name, false));
}

int check_users(const char *value, enum verify_for what)
{
	return judge(list_is(value, is_name, what != VERIFY_SELECT));
}

int check_shells(const char *value, enum verify_for what)
{
	(void)what;
	return judge(list_is(value, is_absolute, true));
}

int check_checkpoint(const char *value, enum verify_for what)
{
	bool minutes = (*value == 'c' || *value == 'w') && value[1] == '=';

	(void)what;
	if (minutes)
		return judge(value[2] != '\0' && only(value + 2, DIGITS));
	return judge(value[1] == '\0' && strchr("nscwu", *value) != NULL);
}

int check_priority(const char *value, enum verify_for what)
{
	int bad = check_long(value, what);
	long n;

	if (bad != 0 || what == VERIFY_SELECT)
		return bad;
	n = strtol(value, NULL, 10);
	return judge(n >= -1024 && n <= 1023);
}

/* X-Y[:Z] with X < Y, Z >= 1. */
int check_array_range(const char *value, enum verify_for what)
{
	unsigned long first, last, step = 1;
	char *end;

	(void)what;
	if (!isdigit((unsigned char)*value))
		return PBSE_BADATVAL;
	first = strtoul(value, &end, 10);
	if (*end != '-' || !isdigit((unsigned char)end[1]))
		return PBSE_BADATVAL;
	last = strtoul(end + 1, &end, 10);
	if (*end == ':') {
		if (!isdigit((unsigned char)end[1]))
			return PBSE_BADATVAL;
		step = strtoul(end + 1, &end, 10);
	}
	if (*end != '\0' || first >= last || step < 1)
		return PBSE_BADATVAL;
	return last > INT_MAX || step > INT_MAX ? PBSE_ATVALERANGE : 0;
}

/* local@host:remote, comma separated. */
int check_stage(const char *value, enum verify_for what)
{
	(void)what;
	for (;;) {
		size_t len = strcspn(value, ",");
		const char *at = memchr(value, '@', len);
		const char *colon = at == NULL ? NULL : memchr(at, ':', len - (size_t)(at - value));

		if (colon == NULL || at == value || colon == at + 1 || colon + 1 == value + len)
			return PBSE_BADATVAL;
		if (value[len] == '\0')
			return 0;
		value += len + 1;
	}
}

int check_project(const char *value, enum verify_for what)
{
	(void)what;
	return judge(strpbrk(value, "/[]\";:|<>+,?*") == NULL);
}

int check_job_state(const char *value, enum verify_for what)
{
	return judge(what != VERIFY_SELECT || only(value, "BEFHMQRSTUWX"));
}
