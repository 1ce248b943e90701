/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of this folder share.
 */
#ifndef KEELSON_MODFILE_INSIDE_H
#define KEELSON_MODFILE_INSIDE_H

#include <elf.h>

#include "modfile/modfile.h"

#define PHDRS_MAX 1024u

/* Returns `len` bytes at `offset` in *ret, or false if they are not all there. */
bool modfile_cut(struct modfile_bytes whole, uint64_t offset, uint64_t len, struct modfile_bytes *ret);
/* Reads the head of a shared object of this machine, and its table of segments. Returns NULL or the error. */
const char *modfile_head(struct modfile_bytes file, Elf64_Ehdr *ret_head, struct modfile_bytes *ret_segments);
Elf64_Phdr modfile_segment(struct modfile_bytes segments, unsigned i);

/* Returns `len` bytes of the image at an address of the file; NULL: not in it. */
void *modfile_image_at(const struct modfile_image *image, uint64_t address, uint64_t len);
/* Reads a row of the symbol table. Returns false if it is not in the image. */
bool modfile_symbol_row(const struct modfile_image *image, uint64_t index, Elf64_Sym *ret);

#endif
