/* SPDX-License-Identifier: Apache-2.0
 *
 * place.c - [free|pack|scatter|vscatter] [:excl|shared|exclhost] [:group=resource], and the legacy
 * `-l nodes=` language in terms of select and place.
 */
#include "resources.h"

#include "keel/text.h"

#include <string.h>

static const char *const arrangements[] = { "free", "pack", "scatter", "vscatter" };
static const char *const sharings[] = { "", "shared", "excl", "exclhost" };

static int word_index(const char *const *words, int n, const char *word, size_t len)
{
	int i;

	for (i = 0; i < n; i++)
		if (len && strlen(words[i]) == len && memcmp(words[i], word, len) == 0)
			return i;
	return -1;
}

static int32_t bad(struct keel_err *err)
{
	return fail(err, PBSE_BADATVAL, "Illegal attribute or resource value");
}

int32_t place_parse(const char *text, struct keel_place *ret, struct keel_err *err)
{
	struct keel_place place = { 0 };
	bool arranged = false;
	int i;

	while (*text) {
		size_t len = strcspn(text, ":");

		if ((i = word_index(arrangements, 4, text, len)) >= 0 && !arranged) {
			place.arrange = i;
			arranged = true;
		} else if ((i = word_index(sharings, 4, text, len)) > 0 && !place.share) {
			place.share = i;
		} else if (strncmp(text, "group=", 6) == 0 && len > 6 && !place.group[0] &&
			   len - 6 < sizeof(place.group)) {
			memcpy(place.group, text + 6, len - 6);
			if (!name_is_valid(place.group))
				return bad(err);
		} else {
			return bad(err);
		}
		text += len;
		if (*text == ':' && !*++text)
			return bad(err);
	}
	*ret = place;
	return 0;
}

static bool number(const char *text, unsigned long *ret)
{
	char *end;

	*ret = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && *ret > 0 && *ret <= 1000000;
}

/* One `N:ppn=P:ncpus=X:property` or `host:...` of a nodes specification. */
static int32_t nodes_chunk(char *spec, struct keel_text *out, struct keel_err *err)
{
	char *save = NULL, *word = strtok_r(spec, ":", &save);
	unsigned long count = 1, ppn = 0, ncpus = 0;
	char host[256] = "";
	size_t len = 0;

	if (!word)
		return bad(err);
	if (name_is_valid(word))
		len = (size_t)snprintf(host, sizeof(host), ":host=%s", word);
	else if (!number(word, &count))
		return bad(err);
	while (len < sizeof(host) && (word = strtok_r(NULL, ":", &save))) {
		bool read = true;

		if (strncmp(word, "ppn=", 4) == 0)
			read = number(word + 4, &ppn);
		else if (strncmp(word, "ncpus=", 6) == 0)
			read = number(word + 6, &ncpus);
		else if ((read = name_is_valid(word)))
			len += (size_t)snprintf(host + len, sizeof(host) - len, ":%s=True", word);
		if (!read)
			return bad(err);
	}
	if (len >= sizeof(host))
		return bad(err);
	keel_text_printf(out, "%lu:ncpus=%lu", count, ncpus ? ncpus : ppn ? ppn : 1);
	if (ppn)
		keel_text_printf(out, ":mpiprocs=%lu", ppn);
	keel_text_str(out, host);
	return 0;
}

static int32_t convert(char *nodes, struct keel_text *out, const char **ret_place,
		       struct keel_err *err)
{
	char *save = NULL, *spec, *suffix = strchr(nodes, '#');
	int32_t code = 0;

	*ret_place = "scatter";
	if (suffix) {
		*suffix++ = '\0';
		if (strcmp(suffix, "excl") == 0)
			*ret_place = "scatter:excl";
		else if (strcmp(suffix, "shared") == 0)
			*ret_place = "scatter:shared";
	}
	for (spec = strtok_r(nodes, "+", &save); spec && !code; spec = strtok_r(NULL, "+", &save)) {
		if (out->len)
			keel_text_str(out, "+");
		code = nodes_chunk(spec, out, err);
	}
	if (!code && out->len == 0)
		code = bad(err);
	return code;
}

int32_t nodes_convert(const char *nodes, char **ret_select, char **ret_place, struct keel_err *err)
{
	char *copy = strdup(nodes);
	struct keel_text out;
	const char *place;
	int32_t code;

	keel_text_init(&out);
	code = copy ? convert(copy, &out, &place, err)
		    : fail(err, PBSE_SYSTEM, "System error: out of memory");
	if (!code) {
		*ret_select = out.failed ? NULL : strdup(out.data);
		*ret_place = strdup(place);
		if (!*ret_select || !*ret_place) {
			free(*ret_select);
			free(*ret_place);
			code = fail(err, PBSE_SYSTEM, "System error: out of memory");
		}
	}
	keel_text_fini(&out);
	free(copy);
	return code;
}
