/* SPDX-License-Identifier: Apache-2.0
 *
 * operand.c - what a word on a command line names.
 */
#include "operand.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDEX_PART_MAX 120 /* of an id, between and with the brackets */
#define QUEUE_NAME_MAX 255 /* the server has a lower limit and its own error */

static size_t digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* Length of "IDX" or "X-Y[:Z]" at `text`, 0 when it is neither. */
static size_t range_part(const char *text)
{
	size_t n = digits(text), d = n;

	if (n > 0 && text[n] == '-') {
		d = digits(text + n + 1);
		n += d + 1;
		if (d > 0 && text[n] == ':') {
			d = digits(text + n + 1);
			n += d + 1;
		}
	}
	return d > 0 ? n : 0;
}

/* Length of "[]" or "[range,...]" at `text`; 0 when it is neither. */
static size_t index_part(const char *text)
{
	size_t n = 1, m;

	if (text[n] == ']')
		return 2;
	do {
		m = range_part(text + n);
		n += m + 1;
	} while (m > 0 && text[n - 1] == ',');
	return m > 0 && text[n - 1] == ']' ? n : 0;
}

/* Length of host[:port] at `text`, 0 when there is none or the port is no number. */
static size_t host_part(const char *text)
{
	size_t n = 0, d;

	while (isalnum((unsigned char)text[n]) || (text[n] && strchr(".-_", text[n])))
		n++;
	if (n == 0 || n > PBS_MAXSERVERNAME || text[n] != ':')
		return n <= PBS_MAXSERVERNAME ? n : 0;
	d = digits(text + n + 1);
	return d > 0 && d <= PBS_MAXPORTNUM ? n + 1 + d : 0;
}

static bool is_host(const char *server)
{
	char host[OPERAND_SERVER_SIZE];
	struct addrinfo *found = NULL;
	int rc;

	snprintf(host, sizeof(host), "%s", server);
	host[strcspn(host, ":")] = '\0';
	rc = getaddrinfo(host, NULL, NULL, &found);
	if (rc == 0)
		freeaddrinfo(found);
	return rc == 0;
}

/* The "@server" that ends an operand, or nothing. */
static int take_at_server(const char *text, struct operand *ret)
{
	size_t n;

	if (*text == '\0')
		return 0;
	n = *text == '@' ? host_part(text + 1) : 0;
	if (n == 0 || text[n + 1] != '\0')
		return -EINVAL;
	memcpy(ret->server, text + 1, n);
	ret->server[n] = '\0';
	ret->named = true;
	return 0;
}

/* The server of ids without one. "": only where it is to be connected to is known, it completes them itself. */
static void own_server(char own[OPERAND_SERVER_SIZE])
{
	char *value = pbs_conf_value("PBS_SERVER"), *host = pbs_conf_value("PBS_SERVER_HOST_NAME");
	const char *fallback = value || host ? NULL : pbs_default();

	snprintf(own, OPERAND_SERVER_SIZE, "%s", value ? value : fallback ? fallback : "");
	free(value);
	free(host);
}

/* Does this id end in a name that the default server had before? The answer for one such name is kept. */
static bool is_renamed(const char *id, const char *owner)
{
	static char asked[OPERAND_SERVER_SIZE];
	static bool answer;
	char *server;
	int c;

	if (strcmp(asked, owner) == 0)
		return answer;
	c = pbs_connect(NULL);
	server = c > 0 ? pbs_locjob(c, id, NULL) : NULL;
	if (c > 0)
		pbs_disconnect(c);
	snprintf(asked, sizeof(asked), "%s", owner);
	answer = server != NULL;
	free(server);
	return answer;
}

/* `n` bytes at `text` are the id without its server, which follows or is completed. */
static int id_complete(const char *text, size_t n, struct operand *ret)
{
	struct operand op = { 0 };
	char own[OPERAND_SERVER_SIZE], owner[OPERAND_SERVER_SIZE];
	size_t m = 0;

	own_server(own);
	snprintf(owner, sizeof(owner), "%s", own);
	if (text[n] == '.') {
		m = host_part(text + n + 1);
		if (m == 0)
			return -EINVAL;
		snprintf(owner, sizeof(owner), "%.*s", (int)m, text + n + 1);
		m++;
	}
	if (take_at_server(text + n + m, &op) < 0)
		return -EINVAL;
	snprintf(op.id, sizeof(op.id), "%.*s%s%s", (int)n, text, *owner ? "." : "", owner);
	if (*own && strcmp(owner, own) != 0 && !is_renamed(op.id, owner)) {
		if (!is_host(owner))
			return -EINVAL;
		if (!op.named)
			snprintf(op.server, sizeof(op.server), "%s", owner);
	}
	*ret = op;
	return 0;
}

int operand_job(const char *text, struct operand *ret)
{
	size_t n, m;

	text += strspn(text, " \t");
	n = digits(text);
	if (n == 0 || n > PBS_MAXSEQNUM)
		return -EINVAL;
	if (text[n] == '[') {
		m = index_part(text + n);
		if (m == 0 || m > INDEX_PART_MAX)
			return -EINVAL;
		n += m;
	}
	return id_complete(text, n, ret);
}

int operand_resv(const char *text, struct operand *ret)
{
	size_t n;

	text += strspn(text, " \t");
	n = *text && strchr("RSM", *text) ? digits(text + 1) : 0;
	return n == 0 || n > PBS_MAXSEQNUM ? -EINVAL : id_complete(text, n + 1, ret);
}

int operand_destination(const char *text, struct operand *ret)
{
	struct operand op = { 0 };
	size_t n = strcspn(text, "@");

	if (n > QUEUE_NAME_MAX || n >= sizeof(op.id) || (n == 0 && *text == '\0'))
		return -EINVAL;
	memcpy(op.id, text, n);
	if (take_at_server(text + n, &op) < 0)
		return -EINVAL;
	*ret = op;
	return 0;
}

int operand_server(const char *text, struct operand *ret)
{
	struct operand op = { .named = true };
	size_t n = host_part(text);

	if (n == 0 || text[n] != '\0')
		return -EINVAL;
	memcpy(op.server, text, n);
	*ret = op;
	return 0;
}
