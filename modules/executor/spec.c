/* SPDX-License-Identifier: Apache-2.0
 *
 * spec.c - write and read the description of a task. See spec.h.
 */
#include "spec.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static bool out_reserve(struct spec_out *out, size_t more)
{
	size_t room = out->room ? out->room : 4096;
	char *bytes;

	if (more > SPEC_MAX - out->len)
		out->large = true;
	if (out->failed || out->large)
		return !(out->failed = true);
	while (room < out->len + more)
		room *= 2;
	if (room == out->room)
		return true;
	bytes = realloc(out->bytes, room);
	if (!bytes)
		return !(out->failed = true);
	out->bytes = bytes;
	out->room = room;
	return true;
}

void spec_put(struct spec_out *out, const char *key, const char *value)
{
	size_t key_len = strlen(key), len;

	if (!value)
		return;
	len = strlen(value);
	if (!out_reserve(out, key_len + len + 2))
		return;
	memcpy(out->bytes + out->len, key, key_len);
	out->bytes[out->len + key_len] = '=';
	memcpy(out->bytes + out->len + key_len + 1, value, len + 1);
	out->len += key_len + len + 2;
}

void spec_put_number(struct spec_out *out, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	spec_put(out, key, text);
}

int spec_end(struct spec_out *out)
{
	spec_put(out, "end", "");
	return out->large ? -E2BIG : out->failed ? -ENOMEM : 0;
}

void spec_out_fini(struct spec_out *out)
{
	free(out->bytes);
	*out = (struct spec_out){ 0 };
}

static int number_decode(const char *text, uint64_t max, uint64_t *ret)
{
	unsigned long long n;
	char *end;

	if (*text < '0' || *text > '9')
		return -EPROTO;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (*end || errno || n > max)
		return -EPROTO;
	*ret = n;
	return 0;
}

/* "resource:value" */
static int limit_decode(struct spec *s, char *text)
{
	uint64_t resource, value;
	char *colon = strchr(text, ':'), head[16];
	size_t len = colon ? (size_t)(colon - text) : sizeof(head);

	if (len >= sizeof(head) || s->n_limits == SPEC_LIMITS_MAX)
		return -EPROTO;
	memcpy(head, text, len);
	head[len] = '\0';
	if (number_decode(head, RLIM_NLIMITS - 1, &resource) < 0 ||
	    number_decode(colon + 1, UINT64_MAX, &value) < 0)
		return -EPROTO;
	s->limits[s->n_limits++] = (struct spec_limit){ (int)resource, value };
	return 0;
}

enum field_kind { FIELD_TEXT, FIELD_BOOL, FIELD_UINT, FIELD_ENV, FIELD_ARG, FIELD_GROUP, FIELD_LIMIT };

/* name, kind, where (uid_t, gid_t and mode_t are all 32 bits here) */
static const struct field {
	const char *name;
	enum field_kind kind;
	size_t at;
} fields[] = {
	{ "id", FIELD_TEXT, offsetof(struct spec, id) },
	{ "run", FIELD_TEXT, offsetof(struct spec, run) },
	{ "jobs_dir", FIELD_TEXT, offsetof(struct spec, jobs_dir) },
	{ "undelivered", FIELD_TEXT, offsetof(struct spec, undelivered) },
	{ "user", FIELD_TEXT, offsetof(struct spec, user) },
	{ "home", FIELD_TEXT, offsetof(struct spec, home) },
	{ "shell", FIELD_TEXT, offsetof(struct spec, shell) },
	{ "script", FIELD_TEXT, offsetof(struct spec, script) },
	{ "dir", FIELD_TEXT, offsetof(struct spec, dir) },
	{ "tmpdir", FIELD_TEXT, offsetof(struct spec, tmpdir) },
	{ "sandbox", FIELD_TEXT, offsetof(struct spec, sandbox) },
	{ "cgroup", FIELD_TEXT, offsetof(struct spec, cgroup) },
	{ "bound", FIELD_TEXT, offsetof(struct spec, bound) },
	{ "out.run", FIELD_TEXT, offsetof(struct spec, out.run) },
	{ "out.place", FIELD_TEXT, offsetof(struct spec, out.place) },
	{ "out.remove", FIELD_BOOL, offsetof(struct spec, out.remove) },
	{ "out.keep", FIELD_BOOL, offsetof(struct spec, out.keep) },
	{ "err.run", FIELD_TEXT, offsetof(struct spec, err.run) },
	{ "err.place", FIELD_TEXT, offsetof(struct spec, err.place) },
	{ "err.remove", FIELD_BOOL, offsetof(struct spec, err.remove) },
	{ "err.keep", FIELD_BOOL, offsetof(struct spec, err.keep) },
	{ "drop", FIELD_BOOL, offsetof(struct spec, drop) },
	{ "uid", FIELD_UINT, offsetof(struct spec, uid) },
	{ "gid", FIELD_UINT, offsetof(struct spec, gid) },
	{ "umask", FIELD_UINT, offsetof(struct spec, umask) },
	{ "index", FIELD_UINT, offsetof(struct spec, index) },
	{ "hosts", FIELD_UINT, offsetof(struct spec, hosts) },
	{ "start_ms", FIELD_UINT, offsetof(struct spec, start_ms) },
	{ "deliver_ms", FIELD_UINT, offsetof(struct spec, deliver_ms) },
	{ "env", FIELD_ENV, 0 },
	{ "arg", FIELD_ARG, 0 },
	{ "group", FIELD_GROUP, 0 },
	{ "limit", FIELD_LIMIT, 0 },
};
_Static_assert(sizeof(uid_t) == 4 && sizeof(gid_t) == 4 && sizeof(mode_t) == 4, "see fields[]");

static int field_decode(struct spec *s, const struct field *f, char *value)
{
	char *member = (char *)s + f->at;
	uint64_t n = 0;
	int r = 0;

	switch (f->kind) {
	case FIELD_TEXT:
		*(char **)(void *)member = *value ? value : NULL;
		break;
	case FIELD_BOOL:
		r = number_decode(value, 1, &n);
		*(bool *)member = n != 0;
		break;
	case FIELD_UINT:
		r = number_decode(value, UINT32_MAX - 1, &n);
		*(uint32_t *)(void *)member = (uint32_t)n;
		break;
	case FIELD_ENV:
		s->env[s->n_env++] = value;
		break;
	case FIELD_ARG:
		s->args[s->n_args++] = value;
		break;
	case FIELD_GROUP:
		r = number_decode(value, UINT32_MAX - 1, &n);
		s->groups[s->n_groups++] = (gid_t)n;
		break;
	case FIELD_LIMIT:
		r = limit_decode(s, value);
		break;
	}
	return r;
}

/* Room for as many list items as there are strings at most. */
static int lists_create(struct spec *s, const char *bytes, size_t len)
{
	size_t n_env = 1, n_args = 1, n_groups = 1;

	for (size_t at = 0; at < len; at += strlen(bytes + at) + 1) {
		n_env += strncmp(bytes + at, "env=", 4) == 0;
		n_args += strncmp(bytes + at, "arg=", 4) == 0;
		n_groups += strncmp(bytes + at, "group=", 6) == 0;
	}
	if (n_groups - 1 > SPEC_GROUPS_MAX)
		return -EPROTO;
	s->env = calloc(n_env, sizeof(*s->env));
	s->args = calloc(n_args, sizeof(*s->args));
	s->groups = calloc(n_groups, sizeof(*s->groups));
	return s->env && s->args && s->groups ? 0 : -ENOMEM;
}

static int strings_decode(char *bytes, size_t len, struct spec *s)
{
	for (size_t at = 0; at < len;) {
		char *text = bytes + at, *equal = strchr(text, '=');
		const size_t n_fields = sizeof(fields) / sizeof(fields[0]);
		size_t f = 0, name = equal ? (size_t)(equal - text) : 0;

		at += strlen(text) + 1;
		if (!equal)
			return -EPROTO;
		if (name == 3 && memcmp(text, "end", 3) == 0) {
			bool whole = s->id && s->run && s->jobs_dir && s->undelivered && s->user && s->home && s->shell &&
				     (s->script || s->n_args || s->index) && (s->out.run || s->err.run);

			return at == len && whole && !strchr(s->id, '/') && s->id[0] != '.' ? 0 : -EPROTO;
		}
		while (f < n_fields &&
		       (strlen(fields[f].name) != name || memcmp(fields[f].name, text, name) != 0))
			f++;
		if (f == n_fields || field_decode(s, &fields[f], equal + 1) < 0)
			return -EPROTO;
	}
	return -EPROTO;
}

int spec_decode(char *bytes, size_t len, struct spec *ret)
{
	struct spec s = { .fds = { -1, -1 } };
	int r;

	if (!len || len > SPEC_MAX || bytes[len - 1])
		return -EPROTO;
	r = lists_create(&s, bytes, len);
	if (r == 0)
		r = strings_decode(bytes, len, &s);
	if (r < 0)
		spec_fini(&s);
	else
		*ret = s;
	return r;
}

int spec_load(int fd, char **ret_bytes, struct spec *ret)
{
	struct stat st;
	size_t at = 0;
	char *bytes;
	int r = 0;

	if (fstat(fd, &st) < 0 || st.st_size <= 0 || (uint64_t)st.st_size > SPEC_MAX)
		return -EPROTO;
	bytes = malloc((size_t)st.st_size);
	if (!bytes)
		return -ENOMEM;
	while (r == 0 && at < (size_t)st.st_size) {
		ssize_t n = pread(fd, bytes + at, (size_t)st.st_size - at, (off_t)at);

		at += n > 0 ? (size_t)n : 0;
		r = n > 0 ? 0 : -EIO;
	}
	r = r < 0 ? r : spec_decode(bytes, at, ret);
	if (r < 0)
		free(bytes);
	else
		*ret_bytes = bytes;
	return r;
}

int spec_path(const struct spec *s, const char *path, const char *suffix, char *buf)
{
	size_t len = strlen(path);
	struct stat st;
	bool slash = len && path[len - 1] == '/';
	bool dir = slash || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
	int n = dir ? snprintf(buf, PATH_MAX, "%s%s%s%s", path, slash ? "" : "/", s->id, suffix)
		    : snprintf(buf, PATH_MAX, "%s", path);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int stream_settle(const struct spec *s, struct spec_stream *stream, const char *suffix, char **ret)
{
	char path[PATH_MAX];
	int r = stream->run && stream->keep ? spec_path(s, stream->run, suffix, path) : -ENOENT;

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	*ret = strdup(path);
	if (!*ret)
		return -ENOMEM;
	stream->run = *ret;
	return 0;
}

int spec_settle(struct spec *s)
{
	int r = stream_settle(s, &s->out, ".OU", &s->settled[0]);

	return r < 0 ? r : stream_settle(s, &s->err, ".ER", &s->settled[1]);
}

void spec_fini(struct spec *s)
{
	free(s->settled[0]);
	free(s->settled[1]);
	free(s->env);
	free(s->args);
	free(s->groups);
	*s = (struct spec){ 0 };
}
