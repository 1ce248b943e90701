/* SPDX-License-Identifier: Apache-2.0
 *
 * symbol.c - a name in the dynamic symbol table, by one of its two kinds of hash table, as a loader finds it.
 */
#include <string.h>

#include "modfile/inside.h"

bool modfile_symbol_row(const struct modfile_image *image, uint64_t index, Elf64_Sym *ret)
{
	const void *row = image->symbols == 0 || index > UINT32_MAX ?
				  NULL :
				  modfile_image_at(image, image->symbols + index * sizeof(*ret), sizeof(*ret));

	if (row != NULL)
		memcpy(ret, row, sizeof(*ret));
	return row != NULL;
}

static bool is_called(const struct modfile_image *image, const Elf64_Sym *sym, const char *name)
{
	uint64_t len = strlen(name) + 1;
	const char *text = modfile_image_at(image, image->texts + sym->st_name, len);

	return text != NULL && sym->st_name < image->texts_len && memcmp(text, name, len) == 0;
}

/* Word i of a table of words at `address`; 0 when it is not in the image. */
static uint32_t word(const struct modfile_image *image, uint64_t address, uint64_t i)
{
	const void *at = modfile_image_at(image, address + i * sizeof(uint32_t), sizeof(uint32_t));
	uint32_t n = 0;

	if (at != NULL)
		memcpy(&n, at, sizeof(n));
	return n;
}

/* Head: buckets, first symbol, words of the filter, its shift; then filter, buckets, hashes of symbols. */
static bool find_gnu(const struct modfile_image *image, const char *name, Elf64_Sym *ret)
{
	uint64_t t = image->gnu_hash, i;
	uint32_t n_buckets = word(image, t, 0), first = word(image, t, 1), wanted = 5381;
	uint64_t buckets = t + 16 + (uint64_t)word(image, t, 2) * 8, hashes = buckets + (uint64_t)n_buckets * 4;

	for (const char *at = name; *at != '\0'; at++)
		wanted = wanted * 33 + (unsigned char)*at;
	i = n_buckets == 0 ? 0 : word(image, buckets, wanted % n_buckets);
	for (; i >= first && i != 0; i++) {
		uint32_t hash = word(image, hashes, i - first);

		if (!modfile_symbol_row(image, i, ret))
			return false;
		if ((hash | 1) == (wanted | 1) && is_called(image, ret, name))
			return true;
		if (hash & 1)
			return false;
	}
	return false;
}

const void *modfile_symbol(const struct modfile_image *image, const char *name)
{
	Elf64_Sym sym;
	bool found = image->gnu_hash != 0 && find_gnu(image, name, &sym);
	/* The other table's head: buckets, symbols; all symbols are compared. */
	uint32_t n = image->gnu_hash == 0 && image->hash != 0 ? word(image, image->hash, 1) : 0;

	for (uint32_t i = 1; i < n && !found && modfile_symbol_row(image, i, &sym); i++)
		found = is_called(image, &sym, name);
	if (!found || sym.st_shndx == SHN_UNDEF || ELF64_ST_BIND(sym.st_info) == STB_LOCAL)
		return NULL;
	return modfile_image_at(image, sym.st_value, 1);
}
