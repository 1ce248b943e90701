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

/* The share of one node in the job's -l ncpus= and -l mem=; 0: not requested. */
struct share {
	unsigned long nodes, ncpus, mem_kb;
};

/* One `N:ppn=P:cpp=C:ncpus=X:property` or `host:...` of a nodes specification. */
struct node_spec {
	unsigned long count, ppn, cpp, ncpus;
	char properties[256]; /* `:host=n1:fast=True` */
};

/* Returns whether the word begins with `name`; *ret_read: a number follows, and none was read into *ret before. */
static bool named_number(const char *word, const char *name, unsigned long *ret, bool *ret_read)
{
	size_t len = strlen(name);

	if (strncmp(word, name, len) != 0)
		return false;
	*ret_read = !*ret && number(word + len, ret);
	return true;
}

static bool spec_read(char *spec, struct node_spec *ret)
{
	char *save = NULL, *word = strtok_r(spec, ":", &save);
	size_t len = 0;

	*ret = (struct node_spec){ .count = 1 };
	if (!word)
		return false;
	if (name_is_valid(word))
		len = (size_t)snprintf(ret->properties, sizeof(ret->properties), ":host=%s", word);
	else if (!number(word, &ret->count))
		return false;
	while (len < sizeof(ret->properties) && (word = strtok_r(NULL, ":", &save))) {
		bool read;

		if (named_number(word, "ppn=", &ret->ppn, &read) || named_number(word, "cpp=", &ret->cpp, &read) ||
		    named_number(word, "ncpus=", &ret->ncpus, &read)) {
			if (!read)
				return false;
			continue;
		}
		if (!name_is_valid(word))
			return false;
		len += (size_t)snprintf(ret->properties + len, sizeof(ret->properties) - len, ":%s=True", word);
	}
	return len < sizeof(ret->properties);
}

/* Appends the chunk of one specification and adds its ncpus, of all nodes, to *ncpus. */
static int32_t nodes_chunk(char *spec, const struct share *share, struct keel_text *out, double *ncpus,
			   struct keel_err *err)
{
	struct node_spec n;
	unsigned long each;

	if (!spec_read(spec, &n))
		return bad(err);
	each = n.ncpus ? n.ncpus : share->ncpus ? share->ncpus : (n.ppn ? n.ppn : 1) * (n.cpp ? n.cpp : 1);
	*ncpus += (double)each * (double)n.count;
	keel_text_printf(out, "%lu:ncpus=%lu", n.count, each);
	if (share->mem_kb)
		keel_text_printf(out, ":mem=%luKB", share->mem_kb);
	if (n.ppn > 1)
		keel_text_printf(out, ":mpiprocs=%lu", n.ppn);
	keel_text_str(out, n.properties);
	return 0;
}

static int32_t nodes_count(const char *nodes, unsigned long *ret, struct keel_err *err)
{
	unsigned long sum = 0, parts = 0, n;
	int32_t code = 0;

	while (*nodes && !code) {
		n = strtoul(nodes, NULL, 10);
		code = chunks_check(sum += n > 0 && n <= 1000000 ? n : 1, ++parts, err);
		nodes += strcspn(nodes, "+");
		nodes += *nodes == '+';
	}
	*ret = sum ? sum : 1;
	return code;
}

/* Cuts `#excl` or `#shared` off the last specification and returns the place in *ret_place. */
static int32_t suffix_cut(char *nodes, const char **ret_place, struct keel_err *err)
{
	char *suffix = strchr(nodes, '#');

	*ret_place = "scatter";
	if (!suffix)
		return 0;
	if (suffix > nodes && suffix[-1] == ':')
		return fail(err, PBSE_ATTRRO, "Cannot set attribute, read only or insufficient permission  "
					      "Resource_List.nodes");
	*suffix++ = '\0';
	if (strcmp(suffix, "excl") == 0)
		*ret_place = "scatter:excl";
	else if (strcmp(suffix, "shared") == 0)
		*ret_place = "free";
	else
		return bad(err);
	return 0;
}

static int32_t convert(char *nodes, const struct keel_reslist *wide, struct keel_text *out,
		       const char **ret_place, struct keel_err *err)
{
	double all_ncpus = list_number(wide, "ncpus", 0), ncpus = 0;
	struct share share = { 0 };
	char *save = NULL, *spec;
	int32_t code = suffix_cut(nodes, ret_place, err);

	if (!code)
		code = nodes_count(nodes, &share.nodes, err);
	if (code)
		return code;
	share.ncpus = (unsigned long)all_ncpus / share.nodes;
	share.mem_kb = (unsigned long)(list_number(wide, "mem", 0) / 1024) / share.nodes;
	for (spec = strtok_r(nodes, "+", &save); spec && !code; spec = strtok_r(NULL, "+", &save)) {
		if (out->len)
			keel_text_str(out, "+");
		code = nodes_chunk(spec, &share, out, &ncpus, err);
	}
	if (!code && (out->len == 0 || (list_get(wide, "ncpus") && ncpus != all_ncpus)))
		code = bad(err);
	return code;
}

int32_t nodes_convert(const char *nodes, const struct keel_reslist *wide, char **ret_select,
		      char **ret_place, struct keel_err *err)
{
	char *copy = strdup(nodes);
	struct keel_text out;
	const char *place;
	int32_t code;

	keel_text_init(&out);
	code = copy ? convert(copy, wide, &out, &place, err)
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
