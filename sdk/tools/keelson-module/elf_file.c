/* SPDX-License-Identifier: Apache-2.0
 *
 * elf_file.c - headers, notes, the dynamic section and the exported names of a shared object.
 */
#include "elf_file.h"

#include <string.h>

#include "elf_image.h"
#include "keel/keel.h"

static void notes_read(const struct elf_image *i, const Elf64_Phdr *p, struct elf_file *f)
{
	uint64_t offset = 0;
	const Elf64_Nhdr *n;

	while (offset < p->p_filesz && (n = elf_at(i, p->p_offset + offset, sizeof(*n))) != NULL) {
		uint64_t name = p->p_offset + offset + sizeof(*n);
		uint64_t desc = name + ((n->n_namesz + 3ull) & ~3ull);
		const uint32_t *words = elf_at(i, desc, 3 * sizeof(*words));
		const char *called = elf_at(i, name, n->n_namesz);

		if (called != NULL && words != NULL && n->n_namesz == 5 && n->n_descsz >= 12 &&
		    memcmp(called, "KEEL", 5) == 0 && words[0] == KEEL_MAGIC) {
			f->has_note = true;
			f->abi_major = words[1];
			f->abi_minor = words[2];
		}
		offset = desc + ((n->n_descsz + 3ull) & ~3ull) - p->p_offset;
	}
}

static void dynamic_read(const struct elf_image *i, const Elf64_Phdr *p, struct elf_file *f)
{
	const Elf64_Dyn *d = elf_at(i, p->p_offset, p->p_filesz);

	for (uint64_t n = d == NULL ? 0 : p->p_filesz / sizeof(*d); n > 0; n--, d++) {
		if (d->d_tag == DT_BIND_NOW || (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_BIND_NOW) ||
		    (d->d_tag == DT_FLAGS_1 && d->d_un.d_val & DF_1_NOW))
			f->binds_now = true;
	}
}

static const char *segments_read(const struct elf_image *i, struct elf_file *f)
{
	const Elf64_Phdr *p = elf_at(i, i->head->e_phoff, (uint64_t)i->head->e_phnum * sizeof(*p));

	if (p == NULL)
		return "its program headers are damaged";
	for (unsigned n = 0; n < i->head->e_phnum; n++, p++) {
		if (p->p_type == PT_LOAD && elf_at(i, p->p_offset, p->p_filesz) == NULL)
			return "it is cut short";
		if (p->p_type == PT_NOTE)
			notes_read(i, p, f);
		if (p->p_type == PT_DYNAMIC)
			dynamic_read(i, p, f);
		if (p->p_type == PT_GNU_STACK && p->p_flags & PF_X)
			f->stack_is_executable = true;
	}
	return NULL;
}

static void export_add(struct elf_file *f, const char *name)
{
	size_t have = strlen(f->exports), len = strlen(name);

	f->n_exports++;
	if (have + len + 2 > sizeof(f->exports))
		return;
	if (have > 0)
		f->exports[have++] = ' ';
	memcpy(f->exports + have, name, len + 1);
}

static void export_seen(void *arg, const struct elf_image *i, const Elf64_Sym *s, const char *name)
{
	(void)i;
	if (s->st_shndx != SHN_UNDEF && ELF64_ST_BIND(s->st_info) != STB_LOCAL &&
	    strcmp(name, "_init") != 0 && strcmp(name, "_fini") != 0 && strncmp(name, "__odr_asan", 10) != 0)
		export_add(arg, name);
}

static const char *sections_read(const struct elf_image *i, struct elf_file *f)
{
	unsigned n;

	if (elf_sections(i, &n) == NULL)
		return "it has no section headers";
	elf_symbols(i, SHT_DYNSYM, export_seen, f);
	return NULL;
}

const char *elf_file_read(const char *path, struct elf_file *ret)
{
	struct elf_image i;
	const char *no = elf_image_open(&i, path);

	memset(ret, 0, sizeof(*ret));
	if (no == NULL)
		no = segments_read(&i, ret);
	if (no == NULL)
		no = sections_read(&i, ret);
	elf_image_close(&i);
	return no;
}
