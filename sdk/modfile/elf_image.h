/* SPDX-License-Identifier: Apache-2.0
 *
 * elf_image.h - the untrusted bytes of an ELF file.
 */
#ifndef KEELSON_ELF_IMAGE_H
#define KEELSON_ELF_IMAGE_H

#include "modfile/inside.h"

struct elf_image {
	struct modfile_bytes file; /* mapped */
	Elf64_Ehdr head;
};

/* Returns NULL, or the error: why it is no 64-bit shared object; the caller closes it in any case. */
const char *elf_image_open(struct elf_image *i, const char *path);
void elf_image_close(struct elf_image *i);

/* Returns NULL if the file has no such bytes. */
const void *elf_at(const struct elf_image *i, uint64_t offset, uint64_t len);
/* The same for a table of rows, which begin at multiples of 8. */
const void *elf_rows(const struct elf_image *i, uint64_t offset, uint64_t len);
/* Returns a string of a table of strings; "": there is none. */
const char *elf_text(const struct elf_image *i, const Elf64_Shdr *table, uint64_t offset);
/* Returns all section headers, *ret_n of them; NULL: none, or truncated. */
const Elf64_Shdr *elf_sections(const struct elf_image *i, unsigned *ret_n);
const char *elf_section_name(const struct elf_image *i, const Elf64_Shdr *section);

/* Calls fn for each symbol of the tables of this type (SHT_SYMTAB, SHT_DYNSYM). Returns false if there is none. */
bool elf_symbols(const struct elf_image *i, uint32_t type,
		 void (*fn)(void *arg, const struct elf_image *, const Elf64_Sym *, const char *name),
		 void *arg);

#endif
