/* SPDX-License-Identifier: Apache-2.0
 *
 * head.c - the head of an ELF file and its segments. Every offset is checked against the file's size in
 * arithmetic that cannot wrap. Only ELF64 of this machine is a module.
 */
#include <string.h>

#include "modfile/inside.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#elif defined(__powerpc64__)
#define MACHINE EM_PPC64
#elif defined(__riscv)
#define MACHINE EM_RISCV
#else
#define MACHINE EM_NONE
#endif

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BYTE_ORDER_HERE ELFDATA2MSB
#else
#define BYTE_ORDER_HERE ELFDATA2LSB
#endif

bool modfile_cut(struct modfile_bytes whole, uint64_t offset, uint64_t len, struct modfile_bytes *ret)
{
	if (offset > whole.len || len > whole.len - offset)
		return false;
	*ret = (struct modfile_bytes){ whole.at + offset, len };
	return true;
}

const char *modfile_head(struct modfile_bytes file, Elf64_Ehdr *e, struct modfile_bytes *ret_segments)
{
	struct modfile_bytes head;

	if (!modfile_cut(file, 0, sizeof(*e), &head))
		return "it is too short to be a shared object";
	memcpy(e, head.at, sizeof(*e));
	if (memcmp(e->e_ident, ELFMAG, SELFMAG) != 0)
		return "it is not an ELF file";
	if (e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_ident[EI_DATA] != BYTE_ORDER_HERE ||
	    e->e_machine != MACHINE)
		return "it was built for another kind of machine";
	if (e->e_type != ET_DYN)
		return "it is not a shared object";
	if (e->e_phentsize != sizeof(Elf64_Phdr) || e->e_phnum > PHDRS_MAX ||
	    !modfile_cut(file, e->e_phoff, (uint64_t)e->e_phnum * sizeof(Elf64_Phdr), ret_segments))
		return "its program headers are damaged";
	return NULL;
}

Elf64_Phdr modfile_segment(struct modfile_bytes segments, unsigned i)
{
	Elf64_Phdr p;

	memcpy(&p, segments.at + (uint64_t)i * sizeof(p), sizeof(p));
	return p;
}
