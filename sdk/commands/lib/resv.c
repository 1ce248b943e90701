/* SPDX-License-Identifier: Apache-2.0
 *
 * resv.c - what the commands about reservations have in common: options, states, hosts.
 */
#include "resv.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "pbs_error.h"
#include "reach.h"

static const struct {
	char letter;
	const char *attribute;
} options[] = {
	{ 'm', ATTR_m },      { 'M', ATTR_M },	    { 'N', ATTR_resv_name }, { 'u', ATTR_u },
	{ 'g', ATTR_g },      { 'U', ATTR_auth_u }, { 'G', ATTR_auth_g },    { 'H', ATTR_auth_h },
	{ 'r', ATTR_resv_rrule },
};

/* Those with values of their own syntax. */
static const struct {
	char letter;
	const char *attribute;
} others[] = {
	{ 'R', ATTR_resv_start },
	{ 'E', ATTR_resv_end },
	{ 'D', ATTR_resv_duration },
	{ 'I', ATTR_inter },
};

static const struct {
	const char *name, *letters;
} states[] = {
	[RESV_NONE] = { "RESV_NONE", "NO" },
	[RESV_UNCONFIRMED] = { "RESV_UNCONFIRMED", "UN" },
	[RESV_CONFIRMED] = { "RESV_CONFIRMED", "CO" },
	[RESV_WAIT] = { "RESV_WAIT", "WT" },
	[RESV_TIME_TO_RUN] = { "RESV_TIME_TO_RUN", "TR" },
	[RESV_RUNNING] = { "RESV_RUNNING", "RN" },
	[RESV_FINISHED] = { "RESV_FINISHED", "FN" },
	[RESV_BEING_DELETED] = { "RESV_BEING_DELETED", "BD" },
	[RESV_DELETED] = { "RESV_DELETED", "DE" },
	[RESV_DELETING_JOBS] = { "RESV_DELETING_JOBS", "DJ" },
	[RESV_DEGRADED] = { "RESV_DEGRADED", "DG" },
	[RESV_BEING_ALTERED] = { "RESV_BEING_ALTERED", "AL" },
	[RESV_IN_CONFLICT] = { "RESV_IN_CONFLICT", "IC" },
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int resv_bad_id(const char *command, const char *text, int status)
{
	fprintf(stderr, "%s: illegally formed reservation identifier: %s\n", command, text);
	return status;
}

const char *resv_attribute(int letter)
{
	for (size_t i = 0; i < COUNT(options); i++)
		if (options[i].letter == letter)
			return options[i].attribute;
	return NULL;
}

static int letter_of(const char *attribute)
{
	for (size_t i = 0; i < COUNT(options); i++)
		if (strcmp(options[i].attribute, attribute) == 0)
			return options[i].letter;
	for (size_t i = 0; i < COUNT(others); i++)
		if (strcmp(others[i].attribute, attribute) == 0)
			return others[i].letter;
	return 'W';
}

int resv_failed(const struct cmd *cmd, int c)
{
	int error = pbs_errno;
	const struct ecl_attribute_errors *refused = pbs_get_attributes_in_error(c);
	const struct attropl *a = refused && refused->ecl_numerrors > 0 ? refused->ecl_attrerr[0].ecl_attribute : NULL;
	const char *text = pbs_geterrmsg(c);

	if (a && strcmp(a->name, ATTR_l) != 0) {
		cmd_illegal(cmd, letter_of(a->name));
		return cmd_usage(cmd);
	}
	if (text && *text)
		fprintf(stderr, "%s: %s\n", cmd->name, text);
	else
		fprintf(stderr, "%s: Server returned error %d\n", cmd->name, error);
	return reach_exit_status(error);
}

int resv_seconds(const char *text, long *ret)
{
	char *end;

	errno = 0;
	*ret = strtol(text, &end, 10);
	return errno || end == text || *end || *ret > INT_MAX || *ret < -INT_MAX ? -EINVAL : 0;
}

int resv_times_set(struct attr_list *l, const struct date_span *times)
{
	char number[24];
	int ret = 0;

	snprintf(number, sizeof(number), "%lld", times->start);
	if (times->start)
		ret = attr_list_set(l, ATTR_resv_start, NULL, number);
	snprintf(number, sizeof(number), "%lld", times->end);
	if (ret == 0 && times->end)
		ret = attr_list_set(l, ATTR_resv_end, NULL, number);
	return ret;
}

/* The row of a state; COUNT(states): it is no number of one. */
static size_t state_find(const char *value)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	return end == value || *end || n > COUNT(states) ? COUNT(states) : n;
}

const char *resv_state_name(const char *value)
{
	size_t i = state_find(value);

	return i < COUNT(states) ? states[i].name : value;
}

const char *resv_state_letters(const char *value)
{
	size_t i = state_find(value);

	return i < COUNT(states) ? states[i].letters : value;
}

/* The next `host=NAME` of a select; moves *at behind it. NULL: there is none. */
static const char *next_host(const char **at, size_t *ret_len)
{
	static const char word[] = "host=";
	const char *host = strstr(*at, word);

	if (!host)
		return NULL;
	host += sizeof(word) - 1;
	*ret_len = strcspn(host, ":+");
	*at = host + *ret_len;
	return host;
}

void resv_hosts_print(FILE *out, const struct batch_status *resv, unsigned most)
{
	const char *at = status_value(resv, ATTR_l, "select"), *host;
	unsigned n = 0;
	size_t len;

	while (at && (host = next_host(&at, &len)) != NULL)
		if (++n <= most || most == 0)
			fprintf(out, "%s%.*s", n > 1 ? ", " : "", (int)len, host);
	if (most > 0 && n > most)
		fprintf(out, " and %u more", n - most);
}
