/* SPDX-License-Identifier: Apache-2.0
 *
 * elf_file.c - headers, notes, the dynamic section and the exported names of a shared object.
 *
 * The file may be anything: every part is asked for by at(), which knows the file's size.
 */
#include "elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keel/keel.h"

struct image {
	const char *bytes;
	uint64_t len;
	const Elf64_Ehdr *head;
};

static const void *at(const struct image *i, uint64_t offset, uint64_t len)
{
	return offset > i->len || len > i->len - offset ? NULL : i->bytes + offset;
}

/* A string of a table of strings; "" when it is not one. */
static const char *text(const struct image *i, const Elf64_Shdr *table, uint64_t offset)
{
	const char *all = at(i, table->sh_offset, table->sh_size);

	if (all == NULL || offset >= table->sh_size ||
	    memchr(all + offset, '\0', table->sh_size - offset) == NULL)
		return "";
	return all + offset;
}

static void notes_read(const struct image *i, const Elf64_Phdr *p, struct elf_file *f)
{
	uint64_t offset = 0;
	const Elf64_Nhdr *n;

	while (offset < p->p_filesz && (n = at(i, p->p_offset + offset, sizeof(*n))) != NULL) {
		uint64_t name = p->p_offset + offset + sizeof(*n);
		uint64_t desc = name + ((n->n_namesz + 3ull) & ~3ull);
		const uint32_t *words = at(i, desc, 3 * sizeof(*words));
		const char *called = at(i, name, n->n_namesz);

		if (called != NULL && words != NULL && n->n_namesz == 5 && n->n_descsz >= 12 &&
		    memcmp(called, "KEEL", 5) == 0 && words[0] == KEEL_MAGIC) {
			f->has_note = true;
			f->abi_major = words[1];
			f->abi_minor = words[2];
		}
		offset = desc + ((n->n_descsz + 3ull) & ~3ull) - p->p_offset;
	}
}

static void dynamic_read(const struct image *i, const Elf64_Phdr *p, struct elf_file *f)
{
	const Elf64_Dyn *d = at(i, p->p_offset, p->p_filesz);

	for (uint64_t n = d == NULL ? 0 : p->p_filesz / sizeof(*d); n > 0; n--, d++) {
		if (d->d_tag == DT_BIND_NOW || (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_BIND_NOW) ||
		    (d->d_tag == DT_FLAGS_1 && d->d_un.d_val & DF_1_NOW))
			f->binds_now = true;
	}
}

static const char *segments_read(const struct image *i, struct elf_file *f)
{
	const Elf64_Phdr *p = at(i, i->head->e_phoff, (uint64_t)i->head->e_phnum * sizeof(*p));

	if (p == NULL)
		return "its program headers are damaged";
	for (unsigned n = 0; n < i->head->e_phnum; n++, p++) {
		if (p->p_type == PT_LOAD && at(i, p->p_offset, p->p_filesz) == NULL)
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

static void symbols_read(const struct image *i, const Elf64_Shdr *table, const Elf64_Shdr *names,
			 struct elf_file *f)
{
	const Elf64_Sym *s = at(i, table->sh_offset, table->sh_size);

	for (uint64_t n = s == NULL ? 0 : table->sh_size / sizeof(*s); n > 0; n--, s++) {
		const char *name = text(i, names, s->st_name);

		if (s->st_shndx != SHN_UNDEF && ELF64_ST_BIND(s->st_info) != STB_LOCAL &&
		    strcmp(name, "_init") != 0 && strcmp(name, "_fini") != 0)
			export_add(f, name);
	}
}

static const char *sections_read(const struct image *i, struct elf_file *f)
{
	const Elf64_Shdr *all = at(i, i->head->e_shoff, (uint64_t)i->head->e_shnum * sizeof(*all));

	if (all == NULL || i->head->e_shnum == 0)
		return "it has no section headers";
	for (unsigned n = 0; n < i->head->e_shnum; n++)
		if (all[n].sh_type == SHT_DYNSYM && all[n].sh_link < i->head->e_shnum)
			symbols_read(i, &all[n], &all[all[n].sh_link], f);
	return NULL;
}

static const char *read_all(struct image *i, struct elf_file *f)
{
	const char *no;

	i->head = at(i, 0, sizeof(*i->head));
	if (i->head == NULL || memcmp(i->head->e_ident, ELFMAG, SELFMAG) != 0)
		return "it is not an ELF file";
	if (i->head->e_ident[EI_CLASS] != ELFCLASS64 || i->head->e_type != ET_DYN)
		return "it is not a 64-bit shared object";
	no = segments_read(i, f);
	return no != NULL ? no : sections_read(i, f);
}

const char *elf_file_read(const char *path, struct elf_file *ret)
{
	struct image i = { 0 };
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *no = "it cannot be read";
	void *mapped = MAP_FAILED;

	memset(ret, 0, sizeof(*ret));
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		mapped = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mapped != MAP_FAILED) {
		i.bytes = mapped;
		i.len = (uint64_t)st.st_size;
		no = read_all(&i, ret);
		munmap(mapped, i.len);
	}
	if (fd >= 0)
		close(fd);
	return no;
}
