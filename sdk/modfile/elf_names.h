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

/* Variables that code of the file can write to. For a stripped file: its sections. */
void elf_variables(const char *path, elf_name_fn *fn, void *arg);
/* Undefined symbols that are not weak. */
void elf_imports(const char *path, elf_name_fn *fn, void *arg);
/* The libraries it names. */
void elf_libraries(const char *path, elf_name_fn *fn, void *arg);
/* Writes the name of the function at this address of the file; returns false if it is unknown. */
bool elf_function_at(const char *path, uint64_t address, char *buf, size_t len);

#endif
