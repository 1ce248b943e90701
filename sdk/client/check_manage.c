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

static bool begins(const char *word, const char *value)
{
	return any_case_order(word, value, strlen(value)) == 0;
}

int check_queue_type(const char *value, enum verify_for what)
{
	(void)what;
	return judge(begins("Execution", value) || begins("Route", value));
}

/* The name must be the canonical one of the resolver, or this host's own. */
static bool is_full_host(const char *host)
{
	struct addrinfo hints = { .ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM }, *found;
	char own[PBS_MAXHOSTNAME + 1];
	bool same;

	if (gethostname(own, sizeof(own)) == 0 && same_word(own, host))
		return true;
	if (getaddrinfo(host, NULL, &hints, &found) != 0)
		return false;
	same = found->ai_canonname != NULL && same_word(found->ai_canonname, host);
	freeaddrinfo(found);
	return same;
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
	return host != NULL && host != entry && (host[1] == '*' || is_full_host(host + 1));
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

/* The server checks whether the letters are known. */
static bool is_preempt_group(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (at[i] < 'A' || at[i] > 'Z' || memchr(at, at[i], i) != NULL)
			return false;
	return len > 0;
}

/* Groups of letters separated by numbers, letters first and last: "SCR 80 SC 50 S". */
int check_preempt_order(const char *value, enum verify_for what)
{
	bool letters = true;

	(void)what;
	value += strspn(value, " \t");
	do {
		size_t len = strcspn(value, " \t");

		if (letters ? !is_preempt_group(value, len) : strspn(value, "0123456789") != len)
			return PBSE_BADATVAL;
		letters = !letters;
		value += len;
		value += strspn(value, " \t");
	} while (*value != '\0');
	return letters ? PBSE_BADATVAL : 0;
}

int check_preempt_sort(const char *value, enum verify_for what)
{
	(void)what;
	return judge(same_word(value, "min_time_since_start"));
}

int check_sequence_id(const char *value, enum verify_for what)
{
	long long n;

	if (check_long(value, what) != 0)
		return PBSE_BADATVAL;
	n = strtoll(value, NULL, 10);
	return n < 9999999 || n > 999999999999 ? PBSE_INVALID_MAX_JOB_SEQUENCE_ID : 0;
}
