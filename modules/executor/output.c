/* SPDX-License-Identifier: Apache-2.0
 *
 * output.c - where a task's output is while it runs, and where it goes at the end.
 *
 *   kept (-k o, e)        <home>/<jobname>.o<seq> from the start; with `d` the final path itself
 *   joined (-j oe, eo)    one stream has no file of its own
 *   /dev/null             nowhere, from the start
 *   else                  spool/<id>.OU, .ER; then the path, when its host is this one or a `usecp`
 *                         rule says that the files of that host are seen here
 */
#include "keel/jobid.h"
#include "keel/place.h"
#include "launch.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* By its name. */
static bool is_this_host(const char *own, const char *name)
{
	char machine[256] = "";

	gethostname(machine, sizeof(machine) - 1);
	return strcasecmp(name, "localhost") == 0 || keel_host_same(name, own) || keel_host_same(name, machine);
}

/* A rule is "hostpattern:/their/prefix /our/prefix". */
static char *usecp_apply(const char *const *usecp, const char *host, const char *path)
{
	char pattern[256], theirs[2048], ours[2048], *found;

	for (const char *const *rule = usecp; rule && *rule; rule++) {
		if (sscanf(*rule, "%255[^:]:%2047s %2047s", pattern, theirs, ours) != 3 ||
		    fnmatch(pattern, host, FNM_CASEFOLD) != 0 ||
		    strncmp(path, theirs, strlen(theirs)) != 0)
			continue;
		return asprintf(&found, "%s%s", ours, path + strlen(theirs)) < 0 ? NULL : found;
	}
	return NULL;
}

char *path_here(const char *const *usecp, const char *own, const char *host, const char *path)
{
	char *found = usecp_apply(usecp, host, path);

	return found || !is_this_host(own, host) ? found : strdup(path);
}

bool output_host(const struct launch *l, const char *text, char host[256])
{
	const char *colon = text ? strchr(text, ':') : NULL;
	char *ours;

	if (!colon || colon == text || colon - text >= 256)
		return false;
	snprintf(host, 256, "%.*s", (int)(colon - text), text);
	ours = path_here((const char *const *)l->usecp, l->host, host, colon + 1);
	free(ours);
	return !ours;
}

/* The path of `text` ("[host:]path") on this host; NULL when it is elsewhere. `here`: the name service says that
 * it is this host. */
char *output_place(const struct launch *l, const char *text, bool here)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	const char *path = colon ? colon + 1 : text;
	char host[256], *filled, *found = NULL;

	if (!path || !*path)
		return NULL;
	filled = keel_marks_fill(l->id, path);
	if (!filled || !colon)
		return filled;
	if ((size_t)(colon - text) < sizeof(host)) {
		snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
		found = path_here((const char *const *)l->usecp, l->host, host, filled);
		if (!found && here)
			return filled;
	}
	free(filled);
	return found;
}

/* "name.o12" in the home directory; a subjob 12[3].svr has "name.o12.3". */
static char *kept_path(const struct launch *l, char letter)
{
	size_t digits = strspn(l->id, "0123456789");
	size_t len = 0;
	const char *index = keel_id_index(l->id, &len);
	const char *name = l->name ? l->name : "STDIN";
	char *out;

	if (strchr(name, '/'))
		name = strrchr(name, '/') + 1;
	return asprintf(&out, "%s/%s.%c%.*s%s%.*s", l->account_of.home, name, letter, (int)digits,
			l->id, index ? "." : "", (int)len, index ? index : "") < 0 ? NULL : out;
}

struct stream_names {
	char letter;
	const char *suffix, *run, *place, *remove, *keep;
};
static const struct stream_names out_names = { 'o', ".OU", "out.run", "out.place", "out.remove",
					       "out.keep" };
static const struct stream_names err_names = { 'e', ".ER", "err.run", "err.place", "err.remove",
					       "err.keep" };

static bool has(const char *letters, char letter)
{
	return letters && strcmp(letters, "n") != 0 && strchr(letters, letter);
}

static int stream_write(const struct launch *l, const struct stream_names *n, const char *wanted,
			bool here, struct spec_out *out)
{
	char *place = output_place(l, wanted, here), *run = NULL;
	bool direct = has(l->keep, n->letter) && has(l->keep, 'd') && place;
	bool keep = has(l->keep, n->letter) && (direct || !has(l->keep, 'd')); /* 'd' and not here: as without -k */
	bool nowhere = !keep && place && strcmp(place, "/dev/null") == 0;

	if (direct || nowhere) {
		run = place;
		place = NULL;
	} else if (keep) {
		run = kept_path(l, n->letter);
	} else if (asprintf(&run, "%s/spool/%s%s", l->pbs_home, l->id, n->suffix) < 0) {
		run = NULL;
	}
	if (run) {
		spec_put(out, n->run, run);
		spec_put_number(out, n->keep, keep || nowhere);
		spec_put(out, n->place, keep ? NULL : place);
		spec_put_number(out, n->remove, has(l->remove, n->letter) && !nowhere);
	}
	free(place);
	if (!run)
		return -ENOMEM;
	free(run);
	return 0;
}

bool output_indirect(const struct launch *l)
{
	char *out = output_place(l, l->output, l->output_here), *err = output_place(l, l->error, l->error_here);
	bool found = has(l->keep, 'd') && ((!out && has(l->keep, 'o')) || (!err && has(l->keep, 'e')));

	free(out);
	free(err);
	return found;
}

int output_write(const struct launch *l, struct spec_out *out)
{
	bool oe = l->join && strcmp(l->join, "oe") == 0, eo = l->join && strcmp(l->join, "eo") == 0;
	int r = 0;

	if (!eo)
		r = stream_write(l, &out_names, l->output, l->output_here, out);
	if (!oe && r == 0)
		r = stream_write(l, &err_names, l->error, l->error_here, out);
	return r;
}
