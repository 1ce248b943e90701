/* SPDX-License-Identifier: Apache-2.0
 *
 * where.c - which copies a job needs: of its stagein or stageout, and of output that is for another host.
 */
#include "staging.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "keel/file.h"
#include "keel/place.h"
#include "keel/service/facts.h"
#include "keel/service/part.h"
#include "keel/strings.h"

#define PBS_CONF_MAX 65536

KEEL_USE(facts);
KEEL_USE_OPT(part);

/* ---- copies ------------------------------------------------------------------------------------------------------------ */
/* The path on this host; NULL: on another one. The caller frees it. */
static char *path_here(const char *host, const char *path)
{
	return keel_has(part) ? keel_part_path_here(host, path) : NULL;
}

static int32_t copy_add(struct copies *c, const char *id, const char *local, const char *host, const char *path, bool spooled)
{
	struct copy *more = realloc(c->at, (c->n + 1) * sizeof(*more)), *at;
	char *filled = keel_marks_fill(id, path), *here;

	if (more)
		c->at = more;
	if (!more || !filled) {
		free(filled);
		return -ENOMEM;
	}
	here = path_here(host, filled);
	at = &c->at[c->n++];
	*at = (struct copy){ .spooled = spooled, .local = keel_marks_fill(id, local), .host = strdup(here ? "" : host),
			     .path = here ? here : filled };
	if (here)
		free(filled);
	return at->local && at->host ? 0 : -ENOMEM;
}

static int32_t items_add(struct copies *c, const char *id, const char *attr)
{
	char *text = keel_facts_text(id, attr);
	struct items items;
	int32_t r = text ? items_parse(&items, text) : 0;

	if (text && r == 0) {
		for (uint32_t i = 0; r == 0 && i < items.n; i++)
			r = copy_add(c, id, items.at[i].local, items.at[i].host, items.at[i].path, false);
		items_free(&items);
	}
	free(text);
	return r;
}

static bool says(const char *id, const char *attr, const char *letters)
{
	char *text = keel_facts_text(id, attr);
	bool found = text && strcmp(text, "n") != 0 && strstr(text, letters) != NULL;

	free(text);
	return found;
}

/* A stream that has a file of its own in the spool, for another host. */
static int32_t stream_add(struct copies *c, struct keel_mod *mod, const char *id, const char *attr, const char *letter,
			  const char *suffix, int64_t status)
{
	char *text = keel_facts_text(id, attr), *path, *host, *here, spool[4096];
	int32_t r = 0;

	host = text ? host_cut(text, &path) : NULL;
	here = host && *path ? path_here(host, path) : NULL;
	snprintf(spool, sizeof(spool), "%s/spool/%s%s", keel_home(mod), id, suffix);
	if (host && *path && !here /* what is here is placed by its shepherd */ &&
	    (!says(id, "Keep_Files", letter) || says(id, "Keep_Files", "d")) &&
	    !(status == 0 && says(id, "Remove_Files", letter)) && !says(id, "Join_Path", *letter == 'o' ? "eo" : "oe") &&
	    access(spool, F_OK) == 0)
		r = copy_add(c, id, spool, host, path, true);
	free(here);
	free(text);
	return r;
}

int32_t copies_find(struct keel_mod *mod, const char *id, const char *attr, const int64_t *status, struct copies *ret)
{
	int32_t r;

	*ret = (struct copies){ .n = 0 };
	r = items_add(ret, id, attr);
	if (r == 0 && status)
		r = stream_add(ret, mod, id, "Output_Path", "o", ".OU", *status);
	if (r == 0 && status)
		r = stream_add(ret, mod, id, "Error_Path", "e", ".ER", *status);
	if (r < 0)
		copies_free(ret);
	return r;
}

void copies_free(struct copies *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		free(c->at[i].local);
		free(c->at[i].host);
		free(c->at[i].path);
	}
	free(c->at);
	*c = (struct copies){ .n = 0 };
}

/* ---- programs ------------------------------------------------------------------------------------------------------------ */
char **words_split(const char *text)
{
	size_t n = 0, room = strlen(text) / 2 + 2;
	char **words = calloc(room, sizeof(*words)), *rest = strdup(text), *at = rest, *word;
	bool whole = words && rest;

	while (whole && (word = strsep(&at, " \t")))
		if (*word)
			whole = (words[n++] = strdup(word)) != NULL;
	free(rest);
	if (whole)
		return words;
	keel_strings_free(words);
	return NULL;
}

/* The value of a line "NAME=value" of pbs.conf; the caller frees it. NULL: there is none. */
static char *pbs_conf_value(const char *name)
{
	const char *path = getenv("PBS_CONF_FILE");
	char *text = keel_file_text(path ? path : "/etc/pbs.conf", PBS_CONF_MAX), *rest = text, *line, *found = NULL;
	size_t len = strlen(name);

	while (rest && (line = strsep(&rest, "\n")))
		if (strncmp(line, name, len) == 0 && line[len] == '=') {
			free(found);
			found = strdup(line + len + 1);
		}
	free(text);
	return found;
}

char **scp_find(const char *ours)
{
	char *program = *ours ? NULL : pbs_conf_value("PBS_SCP"), *args = program ? pbs_conf_value("PBS_SCP_ARGS") : NULL, *line = NULL;
	char **words;

	if (*ours)
		line = strdup(ours);
	else if (asprintf(&line, "%s %s", program && *program ? program : "scp", args ? args : "-Brp") < 0)
		line = NULL;
	words = line ? words_split(line) : NULL;
	free(line);
	free(args);
	free(program);
	return words;
}
