/* SPDX-License-Identifier: Apache-2.0
 *
 * elf_file.c - how a shared object is linked: its note, how it binds, its stack, what it exports.
 */
#include "modfile/elf_file.h"

#include <string.h>

#include "modfile/elf_image.h"

static void dynamic_read(struct modfile_bytes section, struct elf_file *f)
{
	Elf64_Dyn d;

	for (uint64_t at = 0; at + sizeof(d) <= section.len; at += sizeof(d)) {
		memcpy(&d, section.at + at, sizeof(d));
		if (d.d_tag == DT_BIND_NOW || (d.d_tag == DT_FLAGS && d.d_un.d_val & DF_BIND_NOW) ||
		    (d.d_tag == DT_FLAGS_1 && d.d_un.d_val & DF_1_NOW))
			f->binds_now = true;
	}
}

static const char *segments_read(struct modfile_bytes file, struct elf_file *f)
{
	struct modfile_bytes segments, piece;
	Elf64_Ehdr e;
	const char *no = modfile_head(file, &e, &segments);

	for (unsigned n = 0; no == NULL && n < e.e_phnum; n++) {
		Elf64_Phdr p = modfile_segment(segments, n);
		bool is_whole = modfile_cut(file, p.p_offset, p.p_filesz, &piece);

		if (p.p_type == PT_LOAD && !is_whole)
			return "it is cut short";
		if (p.p_type == PT_DYNAMIC && is_whole)
			dynamic_read(piece, f);
		if (p.p_type == PT_GNU_STACK && p.p_flags & PF_X)
			f->stack_is_executable = true;
	}
	return no;
}

/* Counts an exported name, and adds it to the list while there is room. */
static void export_seen(void *arg, const struct elf_image *i, const Elf64_Sym *s, const char *name)
{
	struct elf_file *f = arg;
	size_t have = strlen(f->exports), len = strlen(name);

	(void)i;
	/* Linkers list the hidden bounds of a section, too. */
	if (s->st_shndx == SHN_UNDEF || ELF64_ST_BIND(s->st_info) == STB_LOCAL ||
	    ELF64_ST_VISIBILITY(s->st_other) == STV_HIDDEN ||
	    strcmp(name, "_init") == 0 || strcmp(name, "_fini") == 0 || strncmp(name, "__odr_asan", 10) == 0)
		return;
	f->n_exports++;
	if (have + len + 2 > sizeof(f->exports))
		return;
	if (have > 0)
		f->exports[have++] = ' ';
	memcpy(f->exports + have, name, len + 1);
}

const char *elf_file_read(const char *path, struct elf_file *ret)
{
	struct modfile_note note;
	struct elf_image i;
	const char *no = elf_image_open(&i, path);
	unsigned n;

	memset(ret, 0, sizeof(*ret));
	if (no == NULL)
		no = segments_read(i.file, ret);
	if (no == NULL && elf_sections(&i, &n) == NULL)
		no = "it has no section headers";
	if (no == NULL)
		elf_symbols(&i, SHT_DYNSYM, export_seen, ret);
	if (no == NULL && modfile_note(i.file, &note) == NULL) {
		ret->has_note = true;
		ret->abi_major = note.major;
		ret->abi_minor = note.minor;
	}
	elf_image_close(&i);
	return no;
}
