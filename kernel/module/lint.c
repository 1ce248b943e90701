/* SPDX-License-Identifier: Apache-2.0
 *
 * lint.c - is a descriptor what it says? And make it this kernel's size, whatever the file's.
 *
 * The tables are walked in the module's own stride. What is checked here needs not be checked again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hook/hooks.h"
#include "module/inside.h"
#include "util/err.h"

#define ROWS_MAX 4096u
#define STRIDE_MAX 4096u
#define BLOCK_MAX (64u << 20) /* bytes of state or configuration */
/* The descriptor as the first released interface had it; what was appended since is not in every file. */
#define SIZE_V0 ((uint32_t)(offsetof(struct keel_module, fini) + sizeof(void (*)(void))))

/* Counts and the tables they count. A table that is not counted is an error, too: taps that are never called
 * would let pass what they are there to refuse. */
static const char *table_objection(const struct keel_module *d)
{
	const size_t needs_len = (size_t)((const char *)d->needs_end - (const char *)d->needs);
	const struct {
		uint32_t n;
		const void *table;
		const char *no;
	} tables[] = {
		{ d->n_conf, d->conf, "its configuration rules and .n_conf do not agree" },
		{ d->n_contribs, d->contribs, "its contributions and .n_contribs do not agree" },
		{ d->n_taps, d->taps, "its taps and .n_taps do not agree" },
	};

	for (uint32_t i = 0; i < KEEL_COUNT(tables); i++) {
		if (tables[i].n > ROWS_MAX || (tables[i].n > 0) != (tables[i].table != NULL))
			return tables[i].no;
	}
	/* The linker has put them side by side: rows of one size. */
	if (needs_len % sizeof(*d->needs) != 0 || needs_len / sizeof(*d->needs) > ROWS_MAX)
		return "the rows of what it uses have a wrong size";
	NEED_EACH(d, need)
		if (need->name == NULL || need->at == NULL)
			return "a row of what it uses has no name or no place";
	return NULL;
}

/* *ret_d: the descriptor in this kernel's size. */
static const char *objection(const struct keel_module *raw, struct keel_module *ret_d)
{
	if (raw->magic != KEEL_MAGIC)
		return "its magic number is wrong";
	if (raw->abi_major != KEEL_ABI_MAJOR || raw->abi_minor > KEEL_ABI_MINOR)
		return "note and descriptor are of different interface versions";
	if (raw->size < SIZE_V0)
		return "its size is too small";
	memcpy(ret_d, raw, raw->size < sizeof(*ret_d) ? raw->size : sizeof(*ret_d));
	ret_d->size = sizeof(*ret_d);
	if (!modfile_name_is_good(ret_d->name))
		return "its name is not 1 to 63 of a-z 0-9 - _";
	if (ret_d->version == NULL || ret_d->summary == NULL)
		return "it has no version or no summary";
	if (ret_d->roles == 0 || (ret_d->roles & ~(uint32_t)KEEL_ANY) != 0)
		return "its roles name no daemon";
	if ((ret_d->flags & ~(uint32_t)KEEL_MOD_NO_PROCESS) != 0)
		return "it has flags this kernel does not know";
	if (ret_d->state_size > BLOCK_MAX || ret_d->conf_size > BLOCK_MAX)
		return "its state or configuration is larger than 64 MiB";
	return table_objection(ret_d);
}

/* The rows of a table, which may be shorter or longer than this kernel's, but not shorter than `least`, become rows of
 * this kernel's size, and say so. */
static int rows_copy(const char *file, const char *what, const void *table, uint32_t n, uint32_t least, uint32_t size,
		     void *ret_rows, struct keel_err *err)
{
	uint32_t stride = n > 0 ? *(const uint32_t *)table : size;
	char *row = NULL;

	if (stride < least || stride > STRIDE_MAX)
		return err_set(err, -EINVAL, "%s: %s have a wrong size", file, what);
	if (n > 0 && (row = calloc(n, size)) == NULL)
		return err_set(err, -ENOMEM, "no memory to load %s", file);
	memcpy(ret_rows, &row, sizeof(row));
	for (uint32_t i = 0; i < n; i++, row += size) {
		memcpy(row, (const char *)table + (size_t)i * stride, stride < size ? stride : size);
		memcpy(row, &size, sizeof(size));
	}
	return 0;
}

static const char *rule_objection(const struct keel_conf_rule *r, uint32_t conf_size)
{
	uint32_t size = rule_width(r);

	if (r->key == NULL || r->key[0] == '\0')
		return "has no key";
	if (conf_kernel_key(r->key, false, NULL))
		return "has a key that every module's group has already (the site's): choose another name";
	if (size == 0)
		return "is of a type this kernel does not know";
	if (r->offset > conf_size || size > conf_size - r->offset || r->offset % size != 0)
		return "does not fit into the configuration struct";
	if (r->type == KEEL_CONF_ENUM && r->choices == NULL)
		return "has no choices";
	return NULL;
}

int descriptor_lint(struct module *m, const char *file, const struct keel_module *raw, struct keel_err *err)
{
	const struct keel_module *d = &m->desc;
	const char *no = objection(raw, &m->desc);
	int ret;

	if (no != NULL)
		return err_set(err, -EINVAL, "the descriptor of %s cannot be used: %s", file, no);
	ret = rows_copy(file, "configuration rules", d->conf, d->n_conf, offsetof(struct keel_conf_rule, doc),
			sizeof(*m->rules), &m->rules, err);
	for (uint32_t i = 0; i < d->n_conf && ret == 0; i++) {
		no = rule_objection(&m->rules[i], d->conf_size);
		if (no != NULL)
			ret = err_set(err, -EINVAL, "%s: configuration rule '%s' %s", file,
				      m->rules[i].key != NULL ? m->rules[i].key : "", no);
	}
	if (ret == 0)
		ret = rows_copy(file, "taps", d->taps, d->n_taps, offsetof(struct keel_tap, order), sizeof(*m->taps), &m->taps,
				err);
	return ret == 0 ? hooks_lint(d->name, m->taps, d->n_taps, err) : ret;
}
