/* SPDX-License-Identifier: Apache-2.0
 *
 * elf_file.h - properties of a shared object, read without running or loading it.
 */
#ifndef KEELSON_ELF_FILE_H
#define KEELSON_ELF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#define ELF_FILE_NAMES 1024

struct elf_file {
	bool has_note, binds_now, stack_is_executable;
	uint32_t abi_major, abi_minor;
	unsigned n_exports;
	char exports[ELF_FILE_NAMES]; /* names, a blank between two, truncated if they do not fit */
};

/* Returns NULL, or the error: why the file is no shared object for this tool. */
const char *elf_file_read(const char *path, struct elf_file *ret);

#endif
