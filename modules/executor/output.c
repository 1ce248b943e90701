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
#include "launch.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static bool address_equal(const struct sockaddr *a, const struct sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)(const void *)b)->sin_addr.s_addr;
	if (a->sa_family == AF_INET6)
		return memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
			      &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr, 16) == 0;
	return false;
}

/* Does one of the name's addresses belong to an interface of this host? */
static bool resolves_here(const char *name)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
	struct ifaddrs *own = NULL;
	bool here = false;

	if (getaddrinfo(name, NULL, &hints, &found) == 0 && getifaddrs(&own) == 0)
		for (struct addrinfo *a = found; a && !here; a = a->ai_next)
			for (struct ifaddrs *i = own; i && !here; i = i->ifa_next)
				here = i->ifa_addr && address_equal(a->ai_addr, i->ifa_addr);
	if (own)
		freeifaddrs(own);
	if (found)
		freeaddrinfo(found);
	return here;
}

static bool same_host(const char *a, const char *b)
{
	size_t short_a = strcspn(a, "."), short_b = strcspn(b, ".");

	if (strcasecmp(a, b) == 0)
		return true;
	return (!a[short_a] || !b[short_b]) && short_a == short_b && strncasecmp(a, b, short_a) == 0;
}

static bool is_this_host(const struct launch *l, const char *name)
{
	char own[256] = "";

	gethostname(own, sizeof(own) - 1);
	return strcasecmp(name, "localhost") == 0 || same_host(name, l->host) ||
	       same_host(name, own) || resolves_here(name);
}

/* A rule is "hostpattern:/their/prefix /our/prefix". */
static char *usecp_apply(const struct launch *l, const char *host, const char *path)
{
	char pattern[256], theirs[2048], ours[2048], *found;

	for (char **rule = l->usecp; rule && *rule; rule++) {
		if (sscanf(*rule, "%255[^:]:%2047s %2047s", pattern, theirs, ours) != 3 ||
		    fnmatch(pattern, host, FNM_CASEFOLD) != 0 ||
		    strncmp(path, theirs, strlen(theirs)) != 0)
			continue;
		return asprintf(&found, "%s%s", ours, path + strlen(theirs)) < 0 ? NULL : found;
	}
	return NULL;
}

/* What stands at `at` for a part of the id: its length, and the part; 0 nothing. */
static size_t mark_at(const char *id, const char *at, const char **ret_part, int *ret_len)
{
	static const char *const whole[] = { "${PBS_JOBID}", "$PBS_JOBID" };
	static const char index[] = "^array_index^";
	const char *open = strchr(id, '[');

	if (open && strncmp(at, index, sizeof(index) - 1) == 0) {
		*ret_part = open + 1;
		*ret_len = (int)strcspn(open + 1, "]");
		return sizeof(index) - 1;
	}
	*ret_part = id;
	*ret_len = (int)strlen(id);
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (strncmp(at, whole[i], strlen(whole[i])) == 0)
			return strlen(whole[i]);
	return 0;
}

/* Replace ^array_index^ by the index in the id, and $PBS_JOBID by the id. Malloc'ed. */
static char *marks_fill(const char *id, const char *path)
{
	size_t size = 0, skip;
	char *out = NULL;
	FILE *f = open_memstream(&out, &size);
	const char *part;
	int len;

	if (!f)
		return NULL;
	for (; *path; path += skip ? skip : 1) {
		skip = mark_at(id, path, &part, &len);
		if (skip)
			fprintf(f, "%.*s", len, part);
		else
			putc(*path, f);
	}
	if (fclose(f) == 0)
		return out;
	free(out);
	return NULL;
}

/* The path of `text` ("[host:]path") on this host; NULL when it is elsewhere. */
static char *place_find(const struct launch *l, const char *text)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	const char *path = colon ? colon + 1 : text;
	char host[256], *filled, *found = NULL;

	if (!path || !*path)
		return NULL;
	filled = marks_fill(l->id, path);
	if (!filled || !colon)
		return filled;
	if ((size_t)(colon - text) < sizeof(host)) {
		snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
		found = usecp_apply(l, host, filled);
		if (!found && is_this_host(l, host))
			return filled;
	}
	free(filled);
	return found;
}

/* "name.o12" in the home directory; a subjob 12[3].svr has "name.o12.3". */
static char *kept_path(const struct launch *l, char letter)
{
	size_t digits = strspn(l->id, "0123456789");
	const char *open = strchr(l->id, '[');
	int index = open ? (int)strcspn(open + 1, "]") : 0;
	const char *name = l->name ? l->name : "STDIN";
	char *out;

	if (strchr(name, '/'))
		name = strrchr(name, '/') + 1;
	return asprintf(&out, "%s/%s.%c%.*s%s%.*s", l->account_of.home, name, letter, (int)digits,
			l->id, index ? "." : "", index, index ? open + 1 : "") < 0 ? NULL : out;
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
			struct spec_out *out)
{
	char *place = place_find(l, wanted), *run = NULL;
	bool keep = has(l->keep, n->letter), direct = keep && has(l->keep, 'd') && place;
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

char *output_place(const struct launch *l, const char *text)
{
	return place_find(l, text);
}

int output_write(const struct launch *l, struct spec_out *out)
{
	bool oe = l->join && strcmp(l->join, "oe") == 0, eo = l->join && strcmp(l->join, "eo") == 0;
	int r = 0;

	if (!eo)
		r = stream_write(l, &out_names, l->output, out);
	if (!oe && r == 0)
		r = stream_write(l, &err_names, l->error, out);
	return r;
}
