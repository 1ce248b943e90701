/* SPDX-License-Identifier: Apache-2.0
 *
 * check_manage.c - rules for attributes that managers set.
 */
#include "check.h"

#include <ctype.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "any_case.h"
#include "pbs_error.h"

/* The beginning of a word is enough. */
int check_queue_type(const char *value, enum verify_for what)
{
	size_t len = strlen(value);

	(void)what;
	return judge(any_case_order("Execution", value, len) == 0 || any_case_order("Route", value, len) == 0);
}

/* A host is user@HOST by the name that it is enrolled with, which the resolver here need not know, nor have as the canonical
 * one. So a name with dots must resolve, one without is taken as it is. */
static bool is_host(const char *host)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
	char own[PBS_MAXHOSTNAME + 1];

	if (gethostname(own, sizeof(own)) == 0 && same_word(own, host))
		return true;
	for (const char *at = host; *at != '\0'; at++)
		if (!isalnum((unsigned char)*at) && strchr("-_.:", *at) == NULL)
			return false;
	if (strpbrk(host, ".:") == NULL)
		return *host != '\0';
	if (getaddrinfo(host, NULL, &hints, &found) != 0)
		return false;
	freeaddrinfo(found);
	return true;
}

static bool is_manager(const char *at, size_t len)
{
	char entry[PBS_MAXUSER + PBS_MAXHOSTNAME + 2];
	char *host;

	if (len >= sizeof(entry))
		return false;
	memcpy(entry, at, len);
	entry[len] = '\0';
	while (len > 0 && isspace((unsigned char)entry[len - 1]))
		entry[--len] = '\0';
	host = strchr(entry, '@');
	return host != NULL && host != entry && (host[1] == '*' || is_host(host + 1));
}

int check_managers(const char *value, enum verify_for what)
{
	(void)what;
	for (;;) {
		size_t len;

		value += strspn(value, " \t");
		len = strcspn(value, ",");
		if (!is_manager(value, len))
			return PBSE_BADHOST;
		if (value[len] == '\0')
			return 0;
		value += len + 1;
	}
}

int check_preempt_prio(const char *value, enum verify_for what)
{
	static const char *const words[] = { "normal_jobs",	  "fairshare", "queue_softlimits",
					     "server_softlimits", "express_queue" };
	size_t i, len;

	(void)what;
	for (;;) {
		value += strspn(value, " \t");
		len = strcspn(value, "+, \t");
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i]) == len && strncmp(words[i], value, len) == 0)
				break;
		if (i == sizeof(words) / sizeof(words[0]))
			return PBSE_BADATVAL;
		value += len;
		value += strspn(value, " \t");
		if (*value == '\0')
			return 0;
		if (*value != '+' && *value != ',')
			return PBSE_BADATVAL;
		value++;
	}
}

/* Groups of different letters separated by numbers, letters first and last: "SCR 80 SC 50 S". The server checks whether the
 * letters are known. */
int check_preempt_order(const char *value, enum verify_for what)
{
	bool letters = true;

	(void)what;
	value += strspn(value, " \t");
	do {
		size_t len = strcspn(value, " \t");

		if (len == 0 || (!letters && strspn(value, "0123456789") != len))
			return PBSE_BADATVAL;
		for (size_t i = 0; letters && i < len; i++)
			if (value[i] < 'A' || value[i] > 'Z' || memchr(value, value[i], i) != NULL)
				return PBSE_BADATVAL;
		letters = !letters;
		value += len;
		value += strspn(value, " \t");
	} while (*value != '\0');
	return letters ? PBSE_BADATVAL : 0;
}

int check_sequence_id(const char *value, enum verify_for what)
{
	long long n;

	if (check_long(value, what) != 0)
		return PBSE_BADATVAL;
	n = strtoll(value, NULL, 10);
	return n < 9999999 || n > 999999999999 ? PBSE_INVALID_MAX_JOB_SEQUENCE_ID : 0;
}
