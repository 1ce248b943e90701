/* SPDX-License-Identifier: Apache-2.0
 *
 * descriptor.c - from an image to a descriptor that callers need not check.
 *
 * Everything is normalised once: rows are copied from the module's stride to this SDK's size, texts are
 * checked to be in the image and made printable in place.
 */
#include "modfile/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "modfile/text.h"

#define ROWS_MAX 4096u
#define STRIDE_MAX 4096u
#define TEXT_LEN_MAX 65535u
#define NAME_LEN_MAX 63u

__attribute__((format(printf, 2, 3))) static bool no(char *why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, MODFILE_WHY_MAX, fmt, args);
	va_end(args);
	return false;
}

/* ---- texts ---------------------------------------------------------------------------------------- */

static bool text_take(struct modfile_module *m, const char *text, const char *of, char *why)
{
	uint64_t left = (uintptr_t)m->image.base + m->image.len - (uintptr_t)text;
	size_t len;

	if (text == NULL)
		return true;
	if (!modfile_image_has(&m->image, text, 1))
		return no(why, "a text of its %s points to where the file has none", of);
	len = strnlen(text, left < TEXT_LEN_MAX ? left : TEXT_LEN_MAX);
	if (len == left || len == TEXT_LEN_MAX)
		return no(why, "a text of its %s has no end", of);
	text_make_printable((char *)(uintptr_t)text, len);
	return true;
}

/* The texts of a row: the pointers at these offsets. */
static bool texts_take(struct modfile_module *m, const void *row, const size_t *offsets, size_t n, const char *of,
		       char *why)
{
	for (size_t i = 0; i < n; i++) {
		const char *text;

		memcpy(&text, (const char *)row + offsets[i], sizeof(text));
		if (!text_take(m, text, of, why))
			return false;
	}
	return true;
}
#define TEXTS_TAKE(m, row, of, why, ...)                                                                \
	texts_take(m, row, (const size_t[]){ __VA_ARGS__ },                                             \
		   sizeof((const size_t[]){ __VA_ARGS__ }) / sizeof(size_t), of, why)

bool modfile_name_is_good(const char *text)
{
	size_t len = text == NULL ? 0 : strlen(text);

	return len > 0 && len <= NAME_LEN_MAX && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_") == len;
}

/* ---- tables --------------------------------------------------------------------------------------- */

/* `n` rows at `table` in the module's stride, as rows of `size` bytes. NULL with why[]. */
static void *rows_take(struct modfile_module *m, const void *table, uint32_t n, uint32_t stride, uint32_t size,
		       const char *of, char *why)
{
	char *rows = NULL;

	if (n > ROWS_MAX || stride < 2 * sizeof(uint32_t) || stride > STRIDE_MAX) {
		no(why, "its table of %s has a wrong size", of);
	} else if (n > 0 && !modfile_image_has(&m->image, table, (uint64_t)n * stride)) {
		no(why, "its table of %s is not in the file", of);
	} else if ((rows = calloc(n + 1, size)) == NULL) {
		no(why, "there is no memory to look at it");
	}
	for (uint32_t i = 0; rows != NULL && i < n; i++)
		memcpy(rows + (size_t)i * size, (const char *)table + (size_t)i * stride,
		       stride < size ? stride : size);
	return rows;
}

/* The stride of a table whose rows begin with their size. */
static uint32_t stride_of(const struct modfile_module *m, const void *table, uint32_t n)
{
	uint32_t size = 0;

	if (n > 0 && modfile_image_has(&m->image, table, sizeof(size)))
		memcpy(&size, table, sizeof(size));
	return n == 0 ? STRIDE_MAX : size;
}

/* The linker has put them side by side, from `needs` to `needs_end`. */
static bool needs_take(struct modfile_module *m, const struct keel_module *d, char *why)
{
	uintptr_t from = (uintptr_t)d->needs, to = (uintptr_t)d->needs_end;
	size_t n = to > from ? (to - from) / sizeof(*m->needs) : 0;

	if (to < from || (to - from) % sizeof(*m->needs) != 0 || n > ROWS_MAX)
		return no(why, "its table of needs has a wrong size");
	m->n_needs = (uint32_t)n;
	m->needs = rows_take(m, d->needs, m->n_needs, sizeof(*m->needs), sizeof(*m->needs),
			     "needs", why);
	for (uint32_t i = 0; m->needs != NULL && i < n; i++) {
		if (!TEXTS_TAKE(m, &m->needs[i], "needs", why, offsetof(struct keel_need, klass),
				offsetof(struct keel_need, name)))
			return false;
		if (m->needs[i].name == NULL)
			return no(why, "a need of it has no name");
	}
	return m->needs != NULL;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ*"

static bool conf_take(struct modfile_module *m, const struct keel_module *d, char *why)
{
	const char *key;

	m->conf = rows_take(m, d->conf, d->n_conf, stride_of(m, d->conf, d->n_conf),
			    sizeof(*m->conf), "configuration rules", why);
	for (uint32_t i = 0; m->conf != NULL && i < d->n_conf; i++) {
		if (!TEXTS_TAKE(m, &m->conf[i], "configuration rules", why, offsetof(struct keel_conf_rule, key),
				offsetof(struct keel_conf_rule, fallback), offsetof(struct keel_conf_rule, choices),
				offsetof(struct keel_conf_rule, doc)))
			return false;
		key = m->conf[i].key;
		if (key == NULL || strspn(key, LETTERS) == 0 || key[strspn(key, LETTERS "0123456789-_")] != '\0')
			return no(why, "a key of its configuration cannot be written in a file");
	}
	return m->conf != NULL;
}

static bool taps_take(struct modfile_module *m, const struct keel_module *d, char *why)
{
	m->taps = rows_take(m, d->taps, d->n_taps, stride_of(m, d->taps, d->n_taps),
			    sizeof(*m->taps), "taps", why);
	for (uint32_t i = 0; m->taps != NULL && i < d->n_taps; i++)
		if (!TEXTS_TAKE(m, &m->taps[i], "taps", why, offsetof(struct keel_tap, name),
				offsetof(struct keel_tap, before), offsetof(struct keel_tap, after)))
			return false;
	return m->taps != NULL;
}

/* The definition of a row, in this SDK's size. */
static bool def_take(struct modfile_module *m, struct modfile_contrib *c, const void *raw, char *why)
{
	const struct modfile_kind *k = c->known;
	uint32_t size = stride_of(m, raw, 1);
	const char *name;

	c->def = rows_take(m, raw, 1, size, k->size, k->plural, why);
	if (c->def == NULL || !TEXTS_TAKE(m, c->def, k->plural, why, k->title, k->doc))
		return false;
	for (uint32_t i = 0; i < k->n_fields; i++)
		if (k->fields[i].form == MODFILE_TEXT &&
		    !TEXTS_TAKE(m, c->def, k->plural, why, k->fields[i].offset))
			return false;
	memcpy(&name, (const char *)c->def + k->title, sizeof(name));
	return name != NULL || no(why, "a row of its %s has no name", k->plural);
}

static bool contribs_take(struct modfile_module *m, const struct keel_module *d, char *why)
{
	struct keel_contrib *raw = rows_take(m, d->contribs, d->n_contribs, sizeof(*raw),
					     sizeof(*raw), "contributions", why);
	bool ok = raw != NULL;

	m->contribs = ok ? calloc(d->n_contribs + 1, sizeof(*m->contribs)) : NULL;
	if (ok && m->contribs == NULL)
		ok = no(why, "there is no memory to look at it");
	for (uint32_t i = 0; ok && i < d->n_contribs; i++) {
		struct modfile_contrib *c = &m->contribs[i];

		ok = TEXTS_TAKE(m, &raw[i], "contributions", why, offsetof(struct keel_contrib, kind));
		if (ok && raw[i].kind == NULL)
			ok = no(why, "a contribution of it has no kind");
		if (!ok)
			break;
		c->kind = raw[i].kind;
		c->known = modfile_kind(c->kind);
		ok = c->known == NULL || def_take(m, c, raw[i].def, why);
	}
	free(raw);
	return ok;
}

/* A NULL-terminated list of names. */
static const char **names_take(struct modfile_module *m, const char *const *list, char *why)
{
	const char **names = calloc(ROWS_MAX + 1, sizeof(*names));

	if (names == NULL) {
		no(why, "there is no memory to look at it");
		return NULL;
	}
	for (uint32_t i = 0; list != NULL; i++) {
		if (i == ROWS_MAX || !modfile_image_has(&m->image, list + i, sizeof(*list))) {
			no(why, "a list of modules in it has no end");
			break;
		}
		memcpy(&names[i], list + i, sizeof(*names));
		if (names[i] == NULL)
			return names;
		if (!text_take(m, names[i], "lists of modules", why))
			break;
	}
	if (list == NULL)
		return names;
	free(names);
	return NULL;
}

/* ---- the whole ------------------------------------------------------------------------------------ */

static bool head_take(struct modfile_module *m, char *why)
{
	const struct keel_module *raw = modfile_symbol(&m->image, "keel_module");
	struct keel_module *d = &m->head;

	if (raw == NULL)
		return no(why, "it does not export keel_module");
	if (!modfile_image_has(&m->image, raw, 16))
		return no(why, "its descriptor is not in the file");
	memcpy(d, raw, 16); /* these never change: magic, interface, size */
	if (d->magic != KEEL_MAGIC || d->abi_major != m->note.major || d->abi_minor != m->note.minor)
		return no(why, "its note and its descriptor do not agree");
	if (d->size < offsetof(struct keel_module, conf) || d->size > STRIDE_MAX ||
	    !modfile_image_has(&m->image, raw, d->size))
		return no(why, "its descriptor has a wrong size");
	memcpy(d, raw, d->size < sizeof(*d) ? d->size : sizeof(*d));
	if (!TEXTS_TAKE(m, d, "descriptor", why, offsetof(struct keel_module, name),
			offsetof(struct keel_module, version), offsetof(struct keel_module, vendor),
			offsetof(struct keel_module, summary)))
		return false;
	return modfile_name_is_good(d->name) || no(why, "its name is not 1 to 63 of a-z 0-9 - _");
}

static bool tables_take(struct modfile_module *m, char *why)
{
	const struct keel_module d = m->head;

	if (!needs_take(m, &d, why) || !conf_take(m, &d, why) || !taps_take(m, &d, why) ||
	    !contribs_take(m, &d, why))
		return false;
	m->requires_modules = names_take(m, d.requires_modules, why);
	m->conflicts = m->requires_modules == NULL ? NULL : names_take(m, d.conflicts, why);
	m->head.needs = m->needs;
	m->head.needs_end = m->needs + m->n_needs;
	m->head.kernel = NULL;
	m->head.conf = m->conf;
	m->head.taps = m->taps;
	m->head.contribs = NULL; /* its rows are of another shape here */
	m->head.requires_modules = m->requires_modules;
	m->head.conflicts = m->conflicts;
	return m->conflicts != NULL;
}

struct modfile_module *modfile_read_bytes(struct modfile_bytes file, char why[MODFILE_WHY_MAX])
{
	struct modfile_module *m = calloc(1, sizeof(*m));
	const char *not;

	if (m == NULL) {
		no(why, "there is no memory to look at it");
		return NULL;
	}
	not = modfile_note(file, &m->note);
	if (not == NULL && m->note.major != KEEL_ABI_MAJOR) {
		no(why, "it was built for module interface %u.%u, this program knows %u", m->note.major,
		   m->note.minor, KEEL_ABI_MAJOR);
		free(m);
		return NULL;
	}
	if (not == NULL)
		not = modfile_image_make(file, &m->image);
	if (not != NULL)
		no(why, "%s", not);
	else if (head_take(m, why) && tables_take(m, why))
		return m;
	modfile_module_free(m);
	return NULL;
}

struct modfile_module *modfile_read(const char *path, char why[MODFILE_WHY_MAX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct modfile_module *m = NULL;
	struct modfile_bytes file;
	struct stat st;
	void *at;

	if (fd < 0 || fstat(fd, &st) < 0) {
		no(why, "it cannot be read: %s", strerror(errno));
	} else if (!S_ISREG(st.st_mode) || st.st_size <= 0) {
		no(why, "it is empty or not a file");
	} else if ((at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED) {
		no(why, "it cannot be read: %s", strerror(errno));
	} else {
		file = (struct modfile_bytes){ at, (uint64_t)st.st_size };
		m = modfile_read_bytes(file, why);
		munmap(at, file.len);
	}
	if (fd >= 0)
		close(fd);
	return m;
}

void modfile_module_free(struct modfile_module *m)
{
	if (m == NULL)
		return;
	for (uint32_t i = 0; m->contribs != NULL && i < m->head.n_contribs; i++)
		free(m->contribs[i].def);
	free(m->contribs);
	free(m->needs);
	free(m->conf);
	free(m->taps);
	free(m->requires_modules);
	free(m->conflicts);
	modfile_image_free(&m->image);
	free(m);
}
