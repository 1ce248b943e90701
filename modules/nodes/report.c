/* SPDX-License-Identifier: Apache-2.0
 *
 * report.c - is a host's report valid? A host is not trusted: its key proves its name and nothing else.
 *
 * A report is accepted or refused as a whole; the error names the host and the item. fault_*() return the error's
 * text, NULL if there is none.
 */
#include "nodes.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(node, Mom);

#define NAME_MAX_LENGTH 255
#define WORD_MAX_LENGTH 64
#define SHOWN 64

/* The name of a host or vnode in a report; only administrators may use other characters. */
bool node_name_is_good(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len > NAME_MAX_LENGTH || !isalnum((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr(".-_[]", name[i]))
			return false;
	return true;
}

static const char *fault_of_vnode(struct keel_mod *mod, const char *host, const char *name)
{
	size_t len = strlen(host), all = strlen(name);
	struct keel_obj *node;
	const char *mom;

	if (!node_name_is_good(name))
		return "letters, digits, '.', '-', '_', '[' and ']' make a name, at most 255 of them";
	/* HOST or HOST[...] */
	if (strncmp(name, host, len) == 0 &&
	    (name[len] == '\0' || (name[len] == '[' && all > len + 2 && strcspn(name + len, "]") == all - len - 1)))
		node = strcmp(name, host) ? keel_find(mod, "node", name) : NULL;
	else if (!(node = keel_find(mod, "node", name)))
		return "it is no vnode of this host; allow it with qmgr: create node NAME Mom=HOST";
	mom = node ? keel_get_str(node, node_Mom) : NULL;
	return mom && strcmp(mom, host) ? "it belongs to another host" : NULL;
}

static const char *fault_of_amount(const char *text, const char *unit, long long most)
{
	char *end;
	long long n;

	errno = 0;
	n = strtoll(text, &end, 10);
	return end == text || strcmp(end, unit) || errno || n < 0 || n > most ? "this is no amount" : NULL;
}

static const char *fault_of_word(const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr(".-_", text[i]))
			return "this is no word";
	return len == 0 || len > WORD_MAX_LENGTH ? "this is no word" : NULL;
}

/* Plain text of one line, as listings show it. */
static const char *fault_of_version(const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return "this is no version";
	return len == 0 || len > WORD_MAX_LENGTH ? "this is no version" : NULL;
}

static const char *fault_of(struct keel_mod *mod, const char *host, const char *item)
{
	const char *value = strchr(item, '=');

	if (!value++)
		return "this is no fact";
	if (!strncmp(item, "vnode=", 6))
		return fault_of_vnode(mod, host, value);
	if (!strncmp(item, "ncpus=", 6) || !strncmp(item, "pcpus=", 6))
		return fault_of_amount(value, "", 1000000);
	if (!strncmp(item, "mem=", 4))
		return fault_of_amount(value, "kb", 1LL << 50);
	if (!strncmp(item, "version=", 8))
		return fault_of_version(value);
	return fault_of_word(value);
}

bool report_is_good(struct keel_mod *mod, const char *host, const char *const *facts, uint32_t n)
{
	const struct conf *conf = mod->conf;
	const char *fault = node_name_is_good(host) ? NULL : "a host cannot have this name", *item = host;
	int64_t vnodes = 0;

	for (uint32_t i = 0; !fault && i < n; i++) {
		item = facts[i];
		fault = fault_of(mod, host, item);
		vnodes += !strncmp(item, "vnode=", 6);
		if (!fault && vnodes > conf->vnodes_per_host)
			fault = "the host has more vnodes than nodes.vnodes_per_host allows";
	}
	if (fault)
		keel_log(mod, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "Node", host,
			 "what host %s reports is refused, its vnodes stay as they are: \"%.*s\": %s", host, SHOWN, item,
			 fault);
	return !fault;
}
