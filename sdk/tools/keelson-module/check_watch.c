/* SPDX-License-Identifier: Apache-2.0
 *
 * check_watch.c - the slots through which an opened file calls others, and who is put into them.
 *
 * A shared object calls by way of addresses that the loader wrote when it was opened. Those of functions
 * that this kit wants to see are overwritten, in this one file only.
 */
#include "check_watch.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "modfile/elf_names.h"

#if defined(__x86_64__)
enum { RELOC_CALL = R_X86_64_JUMP_SLOT, RELOC_DATA = R_X86_64_GLOB_DAT, RELOC_WORD = R_X86_64_64 };
#elif defined(__aarch64__)
enum { RELOC_CALL = R_AARCH64_JUMP_SLOT, RELOC_DATA = R_AARCH64_GLOB_DAT, RELOC_WORD = R_AARCH64_ABS64 };
#else
enum { RELOC_CALL = -1, RELOC_DATA = -1, RELOC_WORD = -1 };
#endif

enum { MOMENT_MS = 300 };

/* This process watches one module. */
static struct {
	char path[4096];
	uintptr_t base, from, to; /* mapped at; its code */
} module;

const char *watch_path(void)
{
	return module.path;
}

uint64_t watch_offset(const void *address)
{
	uintptr_t at = (uintptr_t)address;

	return at >= module.from && at < module.to ? at - module.base : 0;
}

const char *watch_function(const void *address)
{
	static char text[160];
	char name[128];
	uint64_t at = watch_offset(address);

	if (at == 0 || !elf_function_at(module.path, at, name, sizeof(name)))
		return "?";
	snprintf(text, sizeof(text), "%s()", name);
	return text;
}

static unsigned entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned n = 0;

	while (dir != NULL && readdir(dir) != NULL)
		n++;
	if (dir != NULL)
		closedir(dir);
	return n;
}

unsigned watch_files(void)
{
	return entries("/proc/self/fd");
}

unsigned watch_threads(unsigned expected)
{
	unsigned n = entries("/proc/self/task");

	for (int ms = 0; n > expected && expected > 0 && ms < MOMENT_MS; ms++) {
		usleep(1000);
		n = entries("/proc/self/task");
	}
	return n;
}

bool watch_child(void)
{
	siginfo_t child = { 0 };

	if (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) < 0)
		return false;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return true;
}

/* ---- the slots ------------------------------------------------------------------------------------- */
struct dynamic {
	const Elf64_Sym *symbols;
	const char *names;
	const Elf64_Rela *table[2];
	uint64_t bytes[2];
};

static void dynamic_read(const struct link_map *map, struct dynamic *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (const Elf64_Dyn *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		const void *at = (const void *)(uintptr_t)d->d_un.d_ptr;

		switch (d->d_tag) {
		case DT_SYMTAB: ret->symbols = at; break;
		case DT_STRTAB: ret->names = at; break;
		case DT_RELA: ret->table[0] = at; break;
		case DT_RELASZ: ret->bytes[0] = d->d_un.d_val; break;
		case DT_JMPREL: ret->table[1] = at; break;
		case DT_PLTRELSZ: ret->bytes[1] = d->d_un.d_val; break;
		default: break;
		}
	}
}

static void relocation_see(const struct dynamic *d, const Elf64_Rela *r)
{
	int type = (int)ELF64_R_TYPE(r->r_info);
	const char *name = d->names + d->symbols[ELF64_R_SYM(r->r_info)].st_name;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), slot = module.base + r->r_offset;
	static const struct watched *const all[] = { watch_memory_calls, watch_blocking_calls, watch_process_calls };
	void *fn = NULL;

	if (type != RELOC_CALL && type != RELOC_DATA && type != RELOC_WORD)
		return;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (const struct watched *w = all[i]; w->name != NULL && fn == NULL; w++)
			if (strcmp(w->name, name) == 0)
				fn = w->fn;
	/* The slot may be in memory that was made read-only; it is left writable, the file as it is. */
	if (fn != NULL && mprotect((void *)(slot & ~(page - 1)), page, PROT_READ | PROT_WRITE) == 0)
		*(void **)slot = fn;
}

static int extent(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size, (void)arg;
	if (info->dlpi_addr != module.base)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];
		uintptr_t from = module.base + p->p_vaddr;

		if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
			module.from = from;
			module.to = from + p->p_memsz;
		}
	}
	return 1;
}

void watch_module(const char *path, const void *symbol)
{
	struct link_map *map = NULL;
	struct dynamic d;
	Dl_info info;

	snprintf(module.path, sizeof(module.path), "%s", path);
	if (dladdr1(symbol, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL)
		return;
	module.base = map->l_addr;
	dl_iterate_phdr(extent, NULL);
	dynamic_read(map, &d);
	if (d.symbols == NULL || d.names == NULL)
		return;
	for (int t = 0; t < 2; t++)
		for (uint64_t i = 0; d.table[t] != NULL && i < d.bytes[t] / sizeof(Elf64_Rela); i++)
			relocation_see(&d, &d.table[t][i]);
}
