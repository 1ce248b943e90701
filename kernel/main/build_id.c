/* SPDX-License-Identifier: Apache-2.0
 *
 * build_id.c - the GNU build-id in the notes of the running program.
 */
#include "main/build_id.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define HEAD sizeof(ElfW(Nhdr))

struct wanted {
	char *text;
	size_t size;
};

static size_t align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static void write_hex(const struct wanted *w, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n && 2 * i + 3 <= w->size; i++)
		snprintf(w->text + 2 * i, 3, "%02x", bytes[i]);
}

/* The linker laid these notes out; they are as trustworthy as the code. */
static bool walk_notes(const struct wanted *w, const unsigned char *at, size_t len)
{
	for (size_t step; len >= HEAD; at += step, len -= step) {
		ElfW(Nhdr) n;

		memcpy(&n, at, sizeof(n));
		step = HEAD + align4(n.n_namesz) + align4(n.n_descsz);
		if (step > len)
			return false;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && memcmp(at + HEAD, "GNU", 4) == 0) {
			write_hex(w, at + HEAD + align4(n.n_namesz), n.n_descsz);
			return true;
		}
	}
	return false;
}

/* The first object is the program: one look is enough. */
static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_NOTE &&
		    walk_notes(arg, (const unsigned char *)(info->dlpi_addr + p->p_vaddr), p->p_memsz))
			break;
	}
	return 1;
}

void build_id(char *text, size_t size)
{
	text[0] = '\0';
	dl_iterate_phdr(look, &(struct wanted){ text, size });
}
