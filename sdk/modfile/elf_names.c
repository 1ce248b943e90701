/* SPDX-License-Identifier: Apache-2.0
 *
 * elf_names.c - names in a shared object: its variables, its functions, what it imports.
 */
#include "modfile/elf_names.h"

#include <stdio.h>
#include <string.h>

#include "modfile/elf_image.h"

struct wanted {
	elf_name_fn *fn;
	void *arg;
	uint64_t address;
	char name[128]; /* of the function found */
};

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* ---- variables ----------------------------------------------------------------------------------- */
/* Sections that are written to while the file is opened, and never after it. */
static bool is_variable_section(const struct elf_image *i, const Elf64_Shdr *s)
{
	const char *name = elf_section_name(i, s);

	if (!(s->sh_flags & SHF_WRITE) || !(s->sh_flags & SHF_ALLOC))
		return false;
	return strcmp(name, ".data") == 0 || strcmp(name, ".bss") == 0 || begins(name, ".data.") ?
		       !begins(name, ".data.rel.ro") :
		       begins(name, ".bss.") || begins(name, ".tdata") || begins(name, ".tbss");
}

/* What compilers and their start files add. */
static bool is_the_compilers(const char *name)
{
	static const char *const whole[] = { "completed.0", "__dso_handle", "__TMC_END__", "__bss_start",
					     "_edata", "_end" };
	static const char *const heads[] = { "__asan", "__odr_asan", "__gcov", "__llvm", "__ubsan", "__sancov",
					     "DW.ref." /* C++: a pointer to what catches */ };

	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		if (strcmp(whole[i], name) == 0)
			return true;
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		if (begins(name, heads[i]))
			return true;
	return false;
}

static void variable_seen(void *arg, const struct elf_image *i, const Elf64_Sym *s, const char *name)
{
	const struct wanted *w = arg;
	unsigned n, type = ELF64_ST_TYPE(s->st_info);
	const Elf64_Shdr *all = elf_sections(i, &n);

	if ((type == STT_OBJECT || type == STT_TLS) && s->st_shndx < n && s->st_size > 0 &&
	    is_variable_section(i, &all[s->st_shndx]) && !is_the_compilers(name))
		w->fn(w->arg, name);
}

void elf_variables(const char *path, elf_name_fn *fn, void *arg)
{
	struct wanted w = { .fn = fn, .arg = arg };
	const Elf64_Shdr *all = NULL;
	struct elf_image i;
	unsigned n = 0;

	if (elf_image_open(&i, path) == NULL && !elf_symbols(&i, SHT_SYMTAB, variable_seen, &w))
		all = elf_sections(&i, &n);
	for (unsigned s = 0; all != NULL && s < n; s++) /* no names; a start file's own variables take 16 bytes at most */
		if (is_variable_section(&i, &all[s]) && all[s].sh_size > 16)
			fn(arg, elf_section_name(&i, &all[s]));
	elf_image_close(&i);
}

/* ---- imports --------------------------------------------------------------------------------------- */
static void import_seen(void *arg, const struct elf_image *i, const Elf64_Sym *s, const char *name)
{
	const struct wanted *w = arg;

	(void)i;
	if (s->st_shndx == SHN_UNDEF && ELF64_ST_BIND(s->st_info) == STB_GLOBAL && name[0] != '\0')
		w->fn(w->arg, name);
}

void elf_imports(const char *path, elf_name_fn *fn, void *arg)
{
	struct wanted w = { .fn = fn, .arg = arg };
	struct elf_image i;

	if (elf_image_open(&i, path) == NULL)
		elf_symbols(&i, SHT_DYNSYM, import_seen, &w);
	elf_image_close(&i);
}

void elf_libraries(const char *path, elf_name_fn *fn, void *arg)
{
	struct elf_image i;
	const Elf64_Shdr *all;
	const Elf64_Dyn *d;
	unsigned n = 0;

	all = elf_image_open(&i, path) == NULL ? elf_sections(&i, &n) : NULL;
	for (unsigned s = 0; s < n; s++) {
		if (all[s].sh_type != SHT_DYNAMIC || all[s].sh_link >= n)
			continue;
		d = elf_rows(&i, all[s].sh_offset, all[s].sh_size);
		for (uint64_t left = d == NULL ? 0 : all[s].sh_size / sizeof(*d); left > 0; left--, d++)
			if (d->d_tag == DT_NEEDED)
				fn(arg, elf_text(&i, &all[all[s].sh_link], d->d_un.d_val));
	}
	elf_image_close(&i);
}

/* ---- functions -------------------------------------------------------------------------------------- */
static void function_seen(void *arg, const struct elf_image *i, const Elf64_Sym *s, const char *name)
{
	struct wanted *w = arg;

	(void)i;
	if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx != SHN_UNDEF &&
	    w->address >= s->st_value && w->address - s->st_value < s->st_size)
		snprintf(w->name, sizeof(w->name), "%s", name);
}

bool elf_function_at(const char *path, uint64_t address, char *buf, size_t len)
{
	struct wanted w = { .address = address };
	struct elf_image i;

	if (elf_image_open(&i, path) == NULL && !elf_symbols(&i, SHT_SYMTAB, function_seen, &w))
		elf_symbols(&i, SHT_DYNSYM, function_seen, &w);
	elf_image_close(&i);
	if (w.name[0] != '\0')
		snprintf(buf, len, "%s", w.name);
	return w.name[0] != '\0';
}
