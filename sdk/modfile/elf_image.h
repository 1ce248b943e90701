/* SPDX-License-Identifier: Apache-2.0
 *
 * elf_image.h - the bytes of an ELF file, which may be anything.
 */
#ifndef KEELSON_ELF_IMAGE_H
#define KEELSON_ELF_IMAGE_H

#include "modfile/inside.h"

struct elf_image {
	struct modfile_bytes file; /* mapped */
	Elf64_Ehdr head;
};

/* NULL, or why it is no 64-bit shared object; to be closed either way. */
const char *elf_image_open(struct elf_image *i, const char *path);
void elf_image_close(struct elf_image *i);

/* NULL when the file has no such bytes. */
const void *elf_at(const struct elf_image *i, uint64_t offset, uint64_t len);
/* The same for a table of rows, which begin at multiples of 8. */
const void *elf_rows(const struct elf_image *i, uint64_t offset, uint64_t len);
/* A string of a table of strings; "" when it is not one. */
const char *elf_text(const struct elf_image *i, const Elf64_Shdr *table, uint64_t offset);
/* All section headers, *ret_n of them; NULL: none that are whole. */
const Elf64_Shdr *elf_sections(const struct elf_image *i, unsigned *ret_n);
const char *elf_section_name(const struct elf_image *i, const Elf64_Shdr *section);

/* Calls fn for each symbol of the tables of this type (SHT_SYMTAB, SHT_DYNSYM). False: there is none. */
bool elf_symbols(const struct elf_image *i, uint32_t type,
		 void (*fn)(void *arg, const struct elf_image *, const Elf64_Sym *, const char *name),
		 void *arg);

#endif
