/* SPDX-License-Identifier: Apache-2.0
 *
 * known.c - see known.h.
 */
#include "hooks.h"
#include "known.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- values ------------------------------------------------------------------------------------------- */
static void value_free(struct known_value *v)
{
	free(v->attr);
	free(v->key);
	free(v->text);
}

static void thing_fini(struct known_thing *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		value_free(&t->values[i]);
	free(t->values);
	free(t->id);
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The value; else *ret_at is where one of this attribute belongs. */
static struct known_value *own_find(const struct known_thing *t, const char *attr, const char *key, uint32_t *ret_at)
{
	*ret_at = t->n;
	for (uint32_t i = 0; i < t->n; i++) {
		if (strcmp(t->values[i].attr, attr) != 0)
			continue;
		if (is_same(t->values[i].key, key))
			return &t->values[i];
		*ret_at = i + 1;
	}
	return NULL;
}

static void value_drop(struct known_thing *t, uint32_t i)
{
	value_free(&t->values[i]);
	memmove(&t->values[i], &t->values[i + 1], (t->n - i - 1) * sizeof(*t->values));
	t->n--;
}

static void attr_unset(struct known_thing *t, const char *attr, const char *key)
{
	for (uint32_t i = t->n; i-- > 0;)
		if (strcmp(t->values[i].attr, attr) == 0 && (!key || is_same(t->values[i].key, key)))
			value_drop(t, i);
}

static int value_put(struct known_thing *t, uint32_t at, const char *attr, const char *key, const char *text)
{
	struct known_value v = { strdup(attr), key ? strdup(key) : NULL, strdup(text) }, *more = t->values;

	if (t->n == t->room)
		more = realloc(t->values, (t->room ? t->room * 2 : 64) * sizeof(*more));
	if (more && t->n == t->room)
		t->room = t->room ? t->room * 2 : 64;
	t->values = more ? more : t->values;
	if (!more || !v.attr || !v.text || (key && !v.key)) {
		value_free(&v);
		return -ENOMEM;
	}
	memmove(&t->values[at + 1], &t->values[at], (t->n - at) * sizeof(*t->values));
	t->values[at] = v;
	t->n++;
	return 0;
}

int known_set(struct known_thing *t, const char *attr, const char *key, const char *text)
{
	struct known_value *v;
	uint32_t at;
	char *copy;

	if (!text) {
		attr_unset(t, attr, key);
		return 0;
	}
	v = own_find(t, attr, key, &at);
	if (!v)
		return value_put(t, at, attr, key, text);
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free(v->text);
	v->text = copy;
	return 0;
}

const char *known_get(const struct known_thing *t, const char *attr, const char *key)
{
	uint32_t at;
	const struct known_value *v = own_find(t, attr, key, &at);

	return v ? v->text : NULL;
}

/* Those of one attribute, from i on: how many. */
static uint32_t keys_pack(const struct known_thing *t, uint32_t i, struct pack *p)
{
	const char *attr = t->values[i].attr;
	uint32_t n = 0, map = t->values[i].key ? pack_open_map(p) : 0;

	if (!t->values[i].key) {
		pack_text(p, t->values[i].text);
		return 1;
	}
	for (; i + n < t->n && strcmp(t->values[i + n].attr, attr) == 0 && t->values[i + n].key; n++)
		pack_pair_text(p, t->values[i + n].key, t->values[i + n].text);
	pack_close(p, map, n);
	return n;
}

void known_pack_attrs(const struct known_thing *t, struct pack *p)
{
	uint32_t map = pack_open_map(p), n = 0;

	for (uint32_t i = 0; i < t->n; n++) {
		pack_key(p, t->values[i].attr);
		i += keys_pack(t, i, p);
	}
	pack_close(p, map, n);
}

/* ---- jobs --------------------------------------------------------------------------------------------- */
struct known *known_new(const char *id, int64_t run)
{
	struct known *k = calloc(1, sizeof(*k));

	if (!k || !(k->id = strdup(id)) || !(k->job.id = strdup(id))) {
		known_free(k);
		return NULL;
	}
	k->run = run;
	return k;
}

void known_free(struct known *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; i < k->n_vnodes; i++)
		thing_fini(&k->vnodes[i]);
	thing_fini(&k->job);
	thing_fini(&k->made);
	free(k->vnodes);
	free(k->id);
	free(k);
}

struct known_thing *known_vnode(const struct known *k, const char *name, bool make)
{
	struct known *own = (struct known *)k;
	struct known_thing *more;

	for (uint32_t i = 0; i < k->n_vnodes; i++) {
		uint32_t at = (k->next + i) % k->n_vnodes;

		if (strcmp(k->vnodes[at].id, name) != 0)
			continue;
		own->next = at + 1;
		return &k->vnodes[at];
	}
	more = make ? realloc(k->vnodes, (k->n_vnodes + 1) * sizeof(*more)) : NULL;
	if (!more)
		return NULL;
	own->vnodes = more;
	more[k->n_vnodes] = (struct known_thing){ .id = strdup(name) };
	return more[k->n_vnodes].id ? &more[own->n_vnodes++] : NULL;
}

void known_pack(const struct known_thing *t, const char *klass, struct pack *p)
{
	uint32_t map = pack_open_map(p);

	pack_pair_text(p, "class", klass);
	pack_pair_text(p, "id", t->id);
	pack_key(p, "attrs");
	known_pack_attrs(t, p);
	pack_close(p, map, 3);
}

void known_write(const struct known *k, struct pack *p)
{
	uint32_t map = pack_open_map(p), vnodes;

	pack_pair_int(p, "run", k->run);
	pack_pair_int(p, "at", k->at);
	pack_key(p, "job");
	known_pack(&k->job, "job", p);
	pack_key(p, "vnodes");
	vnodes = pack_open_map(p);
	for (uint32_t i = 0; i < k->n_vnodes; i++) {
		pack_key(p, k->vnodes[i].id);
		known_pack(&k->vnodes[i], "node", p);
	}
	pack_close(p, vnodes, k->n_vnodes);
	pack_close(p, map, 4);
}

/* ---- reading ------------------------------------------------------------------------------------------ */
/* Behind the others: what is read is in order already. */
static int value_take(struct known_thing *t, const char *attr, const struct value *key, const struct value *text)
{
	char *k = key ? value_text(key) : NULL, *v = value_text(text);
	int r = -EINVAL;

	if (v && (!key || k))
		r = value_put(t, t->n, attr, k, v);
	free(k);
	free(v);
	return r;
}

static int attr_take(struct known_thing *t, const char *attr, const struct value *v)
{
	struct value key, text;
	int r = v->kind == 's' ? value_take(t, attr, NULL, v) : v->kind == 'm' ? 0 : -EINVAL;

	for (const char *at = v->at; v->kind == 'm' && r == 0 && value_next(v, &at, &key);)
		r = value_next(v, &at, &text) ? value_take(t, attr, &key, &text) : -EINVAL;
	return r;
}

static bool map_find(const struct value *map, const char *key, struct value *ret)
{
	return value_find(map, key, ret) && ret->kind == 'm';
}

static int thing_take(struct known_thing *t, const struct value *object)
{
	struct value attrs, name, v;
	int r = 0;

	if (!map_find(object, "attrs", &attrs))
		return -EINVAL;
	for (const char *at = attrs.at; r == 0 && value_next(&attrs, &at, &name);) {
		char *attr = value_text(&name);

		r = attr && value_next(&attrs, &at, &v) ? attr_take(t, attr, &v) : -EINVAL;
		free(attr);
	}
	return r;
}

static int vnodes_take(struct known *k, const struct value *vnodes)
{
	struct value name, v;
	int r = 0;

	k->vnodes = calloc(vnodes->count ? vnodes->count : 1, sizeof(*k->vnodes));
	if (!k->vnodes)
		return -ENOMEM;
	for (const char *at = vnodes->at; r == 0 && value_next(vnodes, &at, &name);) {
		struct known_thing *t = &k->vnodes[k->n_vnodes];

		t->id = value_text(&name);
		k->n_vnodes += t->id != NULL;
		r = t->id && value_next(vnodes, &at, &v) ? thing_take(t, &v) : -EINVAL;
	}
	return r;
}

struct known *known_read(const char *id, const void *bytes, uint32_t len)
{
	struct value all, job, vnodes;
	struct known *k;

	if (!value_read(bytes, len, &all) || all.kind != 'm' || !map_find(&all, "job", &job) ||
	    !map_find(&all, "vnodes", &vnodes))
		return NULL;
	k = known_new(id, value_int(&all, "run", 0));
	if (!k)
		return NULL;
	k->at = value_int(&all, "at", 0);
	if (thing_take(&k->job, &job) == 0 && vnodes_take(k, &vnodes) == 0)
		return k;
	known_free(k);
	return NULL;
}

/* ---- the folder --------------------------------------------------------------------------------------- */
static bool id_is_good(const char *id)
{
	return *id && *id != '.' && strlen(id) < 250 && !strpbrk(id, "/ \n");
}

static int all_write(const char *path, const struct pack *p)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600), r;

	if (fd < 0)
		return -errno;
	r = -bytes_write(fd, p->data, p->len);
	close(fd);
	return r;
}

int known_save(const char *dir, const struct known *k)
{
	char path[4400], fresh[4400];
	struct pack p = { .data = NULL };
	int r;

	if (!id_is_good(k->id))
		return -EINVAL;
	snprintf(path, sizeof(path), "%s/%s", dir, k->id);
	snprintf(fresh, sizeof(fresh), "%s/.%s", dir, k->id);
	known_write(k, &p);
	r = p.failed ? -ENOMEM : all_write(fresh, &p);
	pack_fini(&p);
	if (r == 0 && rename(fresh, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(fresh);
	return r;
}

void known_forget(const char *dir, const char *id)
{
	char path[4400];

	snprintf(path, sizeof(path), "%s/%s", dir, id);
	if (id_is_good(id))
		unlink(path);
}

static struct known *file_read(const char *path, const char *id)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat about;
	struct known *k = NULL;
	char *bytes = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 && about.st_size <= 2 * (off_t)KNOWN_MAX)
		bytes = malloc((size_t)about.st_size);
	if (bytes && read(fd, bytes, (size_t)about.st_size) == about.st_size)
		k = known_read(id, bytes, (uint32_t)about.st_size);
	free(bytes);
	close(fd);
	return k;
}

int known_load(const char *dir, void (*fn)(void *arg, struct known *k), void *arg)
{
	const struct dirent *e;
	char path[4400];
	struct known *k;
	DIR *d;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return -errno;
	d = opendir(dir);
	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		k = id_is_good(e->d_name) ? file_read(path, e->d_name) : NULL;
		if (k)
			fn(arg, k);
		else
			unlink(path); /* a torn one, or none of ours */
	}
	closedir(d);
	return 0;
}
