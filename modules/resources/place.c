/* SPDX-License-Identifier: Apache-2.0
 *
 * place.c - [free|pack|scatter|vscatter] [:excl|shared|exclhost] [:group=resource], and the legacy
 * `-l nodes=` language in terms of select and place.
 */
#include "resources.h"

#include <stdio.h>
#include <stdlib.h>
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
				return fail(err, PBSE_BADATVAL, "Illegal attribute or resource value");
		} else {
			return fail(err, PBSE_BADATVAL, "Illegal attribute or resource value");
		}
		text += len;
		if (*text == ':' && !*++text)
			return fail(err, PBSE_BADATVAL, "Illegal attribute or resource value");
	}
	*ret = place;
	return 0;
}

/* One `N:ppn=P:ncpus=X:property` or `host:...` of a nodes specification. */
static int32_t nodes_chunk(char *spec, FILE *out, struct keel_err *err)
{
	char *save = NULL, *word = strtok_r(spec, ":", &save);
	unsigned long count = 1, ppn = 0, ncpus = 0;
	char *end, host[256] = "";

	if (!word)
		return fail(err, PBSE_BADATVAL, "Illegal attribute or resource value");
	count = strtoul(word, &end, 10);
	if (*end) {
		count = 1;
		if (!name_is_valid(word) || snprintf(host, sizeof(host), ":host=%s", word) >= 256)
			return fail(err, PBSE_BADATVAL, "Illegal attribute or resource value");
	}
	if (count == 0 || count > 1000000)
		return fail(err, PBSE_BADATVAL, "Illegal attribute or resource value");
	while ((word = strtok_r(NULL, ":", &save))) {
		if (strncmp(word, "ppn=", 4) == 0)
			ppn = strtoul(word + 4, NULL, 10);
		else if (strncmp(word, "ncpus=", 6) == 0)
			ncpus = strtoul(word + 6, NULL, 10);
		else if (name_is_valid(word))
			snprintf(host + strlen(host), sizeof(host) - strlen(host), ":%s=True", word);
		else
			return fail(err, PBSE_BADATVAL, "Illegal attribute or resource value");
	}
	fprintf(out, "%lu:ncpus=%lu", count, ncpus ? ncpus : ppn ? ppn : 1);
	if (ppn)
		fprintf(out, ":mpiprocs=%lu", ppn);
	fputs(host, out);
	return 0;
}

int32_t nodes_convert(const char *nodes, char **ret_select, char **ret_place, struct keel_err *err)
{
	char *copy = strdup(nodes), *save = NULL, *spec, *suffix, *select = NULL;
	const char *place = "scatter";
	size_t len = 0;
	FILE *out = open_memstream(&select, &len);
	int32_t code = 0;
	int n = 0;

	if (!copy || !out) {
		code = fail(err, PBSE_SYSTEM, "System error: out of memory");
		goto out;
	}
	if ((suffix = strchr(copy, '#'))) {
		*suffix++ = '\0';
		place = strcmp(suffix, "excl") == 0	? "scatter:excl"
			: strcmp(suffix, "shared") == 0 ? "scatter:shared"
							: "scatter";
	}
	for (spec = strtok_r(copy, "+", &save); spec && !code; spec = strtok_r(NULL, "+", &save)) {
		if (n++)
			fputc('+', out);
		code = nodes_chunk(spec, out, err);
	}
	if (!code && n == 0)
		code = fail(err, PBSE_BADATVAL, "Illegal attribute or resource value");
out:
	free(copy);
	if (out && fclose(out) && !code)
		code = fail(err, PBSE_SYSTEM, "System error: out of memory");
	if (!code && !(*ret_place = strdup(place)))
		code = fail(err, PBSE_SYSTEM, "System error: out of memory");
	if (code)
		free(select);
	else
		*ret_select = select;
	return code;
}
