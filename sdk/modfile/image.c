/* SPDX-License-Identifier: Apache-2.0
 *
 * image.c - the memory that a loader would make of a file: segments are copied, then every word that holds
 * an address is written (relocated), as pointers into this copy.
 *
 * Bounds: an image is at most IMAGE_MAX; segments come in the order of their addresses and do not overlap,
 * so no byte is copied twice.
 */
#include <string.h>
#include <sys/mman.h>

#include "modfile/inside.h"

#define IMAGE_MAX (256ull << 20)
#define RELR_MAX (1ull << 20)

/* What is relocated on which machine: a place in the file, a symbol plus a number, a symbol. */
#if defined(__aarch64__)
enum { RELATIVE = R_AARCH64_RELATIVE, ABSOLUTE = R_AARCH64_ABS64, SYMBOL = R_AARCH64_GLOB_DAT };
#elif defined(__powerpc64__)
enum { RELATIVE = R_PPC64_RELATIVE, ABSOLUTE = R_PPC64_ADDR64, SYMBOL = R_PPC64_GLOB_DAT };
#elif defined(__riscv)
enum { RELATIVE = R_RISCV_RELATIVE, ABSOLUTE = R_RISCV_64, SYMBOL = R_RISCV_64 };
#else
enum { RELATIVE = R_X86_64_RELATIVE, ABSOLUTE = R_X86_64_64, SYMBOL = R_X86_64_GLOB_DAT };
#endif

/* What the dynamic section says of relocations. */
struct relocations {
	uint64_t rela, rela_len, relr, relr_len;
};

void *modfile_image_at(const struct modfile_image *image, uint64_t address, uint64_t len)
{
	uint64_t offset = address - image->low;

	if (address < image->low || offset > image->len || len > image->len - offset)
		return NULL;
	return image->base + offset;
}

bool modfile_image_has(const struct modfile_image *image, const void *p, uint64_t len)
{
	uintptr_t at = (uintptr_t)p, base = (uintptr_t)image->base;

	return at >= base && at - base <= image->len && len <= image->len - (at - base);
}

/* An address of the file as a pointer into the image; it may be outside: the caller checks before it reads. */
static uint64_t pointer_to(const struct modfile_image *image, uint64_t address)
{
	return (uint64_t)(uintptr_t)image->base + (address - image->low);
}

/* Finds the image's first address and its length. Returns NULL, or the error. */
static const char *measure(struct modfile_bytes file, const Elf64_Ehdr *e, struct modfile_bytes segments,
			   struct modfile_image *image)
{
	uint64_t end = 0;
	bool any = false;

	for (unsigned i = 0; i < e->e_phnum; i++) {
		Elf64_Phdr p = modfile_segment(segments, i);
		struct modfile_bytes seg;

		if (p.p_type != PT_LOAD)
			continue;
		if (!modfile_cut(file, p.p_offset, p.p_filesz, &seg))
			return "it is cut short";
		if (p.p_memsz < p.p_filesz || (any && p.p_vaddr < end) || p.p_memsz > IMAGE_MAX ||
		    p.p_vaddr > UINT64_MAX - IMAGE_MAX)
			return "its program headers are damaged";
		if (!any)
			image->low = p.p_vaddr;
		any = true;
		end = p.p_vaddr + p.p_memsz;
	}
	image->len = end - image->low;
	if (!any || image->len == 0)
		return "it has nothing to be loaded";
	return image->len > IMAGE_MAX ? "it is larger than 256 MiB" : NULL;
}

static void copy_segments(struct modfile_bytes file, const Elf64_Ehdr *e, struct modfile_bytes segments,
			  struct modfile_image *image)
{
	for (unsigned i = 0; i < e->e_phnum; i++) {
		Elf64_Phdr p = modfile_segment(segments, i);

		if (p.p_type == PT_LOAD && p.p_filesz > 0)
			memcpy(image->base + (p.p_vaddr - image->low), file.at + p.p_offset, p.p_filesz);
	}
}

static void take_entry(const Elf64_Dyn *d, struct modfile_image *image, struct relocations *r)
{
	const struct {
		int64_t tag;
		uint64_t *to;
	} wanted[] = {
		{ DT_SYMTAB, &image->symbols }, { DT_STRTAB, &image->texts },
		{ DT_STRSZ, &image->texts_len }, { DT_HASH, &image->hash },
		{ DT_GNU_HASH, &image->gnu_hash }, { DT_RELA, &r->rela },
		{ DT_RELASZ, &r->rela_len },     { DT_RELR, &r->relr },
		{ DT_RELRSZ, &r->relr_len },
	};

	for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (wanted[i].tag == d->d_tag)
			*wanted[i].to = d->d_un.d_val;
}

static const char *read_dynamic(const Elf64_Ehdr *e, struct modfile_bytes segments, struct modfile_image *image,
				struct relocations *r)
{
	for (unsigned i = 0; i < e->e_phnum; i++) {
		Elf64_Phdr p = modfile_segment(segments, i);
		const unsigned char *at;
		Elf64_Dyn d;

		if (p.p_type != PT_DYNAMIC)
			continue;
		at = modfile_image_at(image, p.p_vaddr, p.p_filesz);
		if (at == NULL)
			return "its dynamic section is damaged";
		for (uint64_t n = p.p_filesz / sizeof(d); n > 0; n--, at += sizeof(d)) {
			memcpy(&d, at, sizeof(d));
			if (d.d_tag == DT_NULL)
				return NULL;
			take_entry(&d, image, r);
		}
		return NULL;
	}
	return "it has no dynamic section";
}

static const char *relocate(struct modfile_image *image, uint64_t table, uint64_t len)
{
	const unsigned char *rows = modfile_image_at(image, table, len);
	Elf64_Rela r;
	Elf64_Sym sym;

	if (rows == NULL)
		return "its relocations are damaged";
	for (uint64_t i = 0; i + sizeof(r) <= len; i += sizeof(r)) {
		uint64_t value = MODFILE_FOREIGN;
		void *where;

		memcpy(&r, rows + i, sizeof(r));
		where = modfile_image_at(image, r.r_offset, sizeof(value));
		if (where == NULL)
			return "its relocations are damaged";
		if (ELF64_R_TYPE(r.r_info) == RELATIVE)
			value = pointer_to(image, (uint64_t)r.r_addend);
		else if ((ELF64_R_TYPE(r.r_info) == ABSOLUTE || ELF64_R_TYPE(r.r_info) == SYMBOL) &&
			 modfile_symbol_row(image, ELF64_R_SYM(r.r_info), &sym) && sym.st_shndx != SHN_UNDEF)
			value = pointer_to(image, sym.st_value + (uint64_t)r.r_addend);
		memcpy(where, &value, sizeof(value));
	}
	return NULL;
}

/* The word at an address holds an address of the file. */
static bool relocate_word(struct modfile_image *image, uint64_t address)
{
	void *where = modfile_image_at(image, address, sizeof(uint64_t));
	uint64_t value;

	if (where == NULL)
		return false;
	memcpy(&value, where, sizeof(value));
	value = pointer_to(image, value);
	memcpy(where, &value, sizeof(value));
	return true;
}

/* The short form: an even row is the address of a word, an odd one is bits for the 63 words after it. */
static const char *relocate_short(struct modfile_image *image, uint64_t table, uint64_t len)
{
	const unsigned char *rows = modfile_image_at(image, table, len);
	uint64_t row, next = 0;

	if (rows == NULL || len > RELR_MAX)
		return "its relocations are damaged";
	for (uint64_t i = 0; i + sizeof(row) <= len; i += sizeof(row)) {
		memcpy(&row, rows + i, sizeof(row));
		if ((row & 1) == 0) {
			if (!relocate_word(image, row))
				return "its relocations are damaged";
			next = row + 8;
			continue;
		}
		for (unsigned bit = 1; bit < 64; bit++)
			if ((row >> bit & 1) != 0 && !relocate_word(image, next + 8 * (bit - 1)))
				return "its relocations are damaged";
		next += 63 * 8;
	}
	return NULL;
}

const char *modfile_image_make(struct modfile_bytes file, struct modfile_image *ret_image)
{
	struct modfile_image image = { 0 };
	struct relocations r = { 0 };
	struct modfile_bytes segments;
	Elf64_Ehdr e;
	const char *no = modfile_head(file, &e, &segments);
	void *base;

	if (no == NULL)
		no = measure(file, &e, segments, &image);
	if (no != NULL)
		return no;
	base = mmap(NULL, image.len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return "there is no memory to look at it";
	image.base = base;
	copy_segments(file, &e, segments, &image);
	no = read_dynamic(&e, segments, &image, &r);
	if (no == NULL && r.relr != 0)
		no = relocate_short(&image, r.relr, r.relr_len);
	if (no == NULL && r.rela != 0)
		no = relocate(&image, r.rela, r.rela_len);
	if (no == NULL)
		*ret_image = image;
	else
		modfile_image_free(&image);
	return no;
}

void modfile_image_free(struct modfile_image *image)
{
	if (image->base != NULL)
		munmap(image->base, image->len);
	image->base = NULL;
}
