/* SPDX-License-Identifier: Apache-2.0
 *
 * elf_image.c - a mapped file, read by its section headers: every access by elf_at(), which checks the bounds.
 */
#include "modfile/elf_image.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const void *elf_at(const struct elf_image *i, uint64_t offset, uint64_t len)
{
	struct modfile_bytes piece;

	return modfile_cut(i->file, offset, len, &piece) ? piece.at : NULL;
}

const void *elf_rows(const struct elf_image *i, uint64_t offset, uint64_t len)
{
	return offset % sizeof(uint64_t) == 0 ? elf_at(i, offset, len) : NULL;
}

const char *elf_text(const struct elf_image *i, const Elf64_Shdr *table, uint64_t offset)
{
	const char *all = elf_at(i, table->sh_offset, table->sh_size);

	if (all == NULL || offset >= table->sh_size ||
	    memchr(all + offset, '\0', table->sh_size - offset) == NULL)
		return "";
	return all + offset;
}

const Elf64_Shdr *elf_sections(const struct elf_image *i, unsigned *ret_n)
{
	const Elf64_Shdr *all = elf_rows(i, i->head.e_shoff, (uint64_t)i->head.e_shnum * sizeof(*all));

	*ret_n = all == NULL ? 0 : i->head.e_shnum;
	return *ret_n == 0 ? NULL : all;
}

const char *elf_section_name(const struct elf_image *i, const Elf64_Shdr *section)
{
	unsigned n;
	const Elf64_Shdr *all = elf_sections(i, &n);

	return i->head.e_shstrndx < n ? elf_text(i, &all[i->head.e_shstrndx], section->sh_name) : "";
}

bool elf_symbols(const struct elf_image *i, uint32_t type,
		 void (*fn)(void *arg, const struct elf_image *, const Elf64_Sym *, const char *name),
		 void *arg)
{
	unsigned n;
	const Elf64_Shdr *all = elf_sections(i, &n);
	bool found = false;

	for (unsigned s = 0; s < n; s++) {
		const Elf64_Sym *sym;

		if (all[s].sh_type != type || all[s].sh_link >= n)
			continue;
		sym = elf_rows(i, all[s].sh_offset, all[s].sh_size);
		found = found || sym != NULL;
		for (uint64_t left = sym == NULL ? 0 : all[s].sh_size / sizeof(*sym); left > 0; left--, sym++)
			fn(arg, i, sym, elf_text(i, &all[all[s].sh_link], sym->st_name));
	}
	return found;
}

const char *elf_image_open(struct elf_image *i, const char *path)
{
	struct modfile_bytes segments;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *no = "it cannot be read";
	void *mapped = MAP_FAILED;

	memset(i, 0, sizeof(*i));
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		mapped = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mapped != MAP_FAILED) {
		i->file = (struct modfile_bytes){ mapped, (uint64_t)st.st_size };
		no = modfile_head(i->file, &i->head, &segments);
	}
	if (fd >= 0)
		close(fd);
	return no;
}

void elf_image_close(struct elf_image *i)
{
	if (i->file.at != NULL)
		munmap((void *)(uintptr_t)i->file.at, i->file.len);
	i->file.at = NULL;
}
