/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of this folder share.
 */
#ifndef KEELSON_MODFILE_INSIDE_H
#define KEELSON_MODFILE_INSIDE_H

#include <elf.h>

#include "modfile/modfile.h"

#define PHDRS_MAX 1024u

/* `len` bytes at `offset`, or false. */
bool modfile_cut(struct modfile_bytes whole, uint64_t offset, uint64_t len, struct modfile_bytes *ret);
/* The head of the file, if it is a shared object of this machine; and its table of segments. */
const char *modfile_head(struct modfile_bytes file, Elf64_Ehdr *ret_head, struct modfile_bytes *ret_segments);
Elf64_Phdr modfile_segment(struct modfile_bytes segments, unsigned i);

/* `len` bytes of the image at an address of the file; NULL: not in it. */
void *modfile_image_at(const struct modfile_image *image, uint64_t address, uint64_t len);
/* A row of the symbol table. False: not in the image. */
bool modfile_symbol_row(const struct modfile_image *image, uint64_t index, Elf64_Sym *ret);

#endif
