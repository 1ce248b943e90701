/* SPDX-License-Identifier: Apache-2.0
 *
 * elf_names.h - names in a shared object: its variables, its functions, what it imports.
 */
#ifndef KEELSON_ELF_NAMES_H
#define KEELSON_ELF_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void elf_name_fn(void *arg, const char *name);

/* Variables that code of the file can write to. A file that was stripped of names: its sections. */
void elf_variables(const char *path, elf_name_fn *fn, void *arg);
/* What the file cannot do without and does not have. */
void elf_imports(const char *path, elf_name_fn *fn, void *arg);
/* The libraries it names. */
void elf_libraries(const char *path, elf_name_fn *fn, void *arg);
/* The function that holds this address of the file; false: its name is not known. */
bool elf_function_at(const char *path, uint64_t address, char *buf, size_t len);

#endif
