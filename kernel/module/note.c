/* SPDX-License-Identifier: Apache-2.0
 *
 * note.c - the ELF note of a module, read without running or mapping its code.
 *
 * The file may be anything: every offset is checked against its size before use, in arithmetic that
 * cannot wrap. Only ELF64 of this machine is a module.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "module/inside.h"
#include "util/err.h"

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

#define NOTE_TYPE 1u
#define PHDRS_MAX 1024u

struct bytes {
	const unsigned char *at;
	uint64_t len;
};

/* `len` bytes at `offset`, or nothing. */
static bool cut(struct bytes whole, uint64_t offset, uint64_t len, struct bytes *ret)
{
	if (offset > whole.len || len > whole.len - offset)
		return false;
	*ret = (struct bytes){ whole.at + offset, len };
	return true;
}

static uint64_t align4(uint64_t n)
{
	return (n + 3) & ~(uint64_t)3;
}

static void take_build_id(struct bytes desc, struct note *note)
{
	uint64_t n = desc.len < ID_LEN / 2 ? desc.len : ID_LEN / 2;

	for (uint64_t i = 0; i < n; i++)
		snprintf(note->build_id + 2 * i, 3, "%02x", desc.at[i]);
}

static bool is_named(struct bytes name, const char *wanted)
{
	return name.len == strlen(wanted) + 1 && memcmp(name.at, wanted, name.len) == 0;
}

static void take_note(struct bytes name, struct bytes desc, uint32_t type, struct note *note,
		      bool *found)
{
	uint32_t words[3];

	if (is_named(name, "GNU") && type == NT_GNU_BUILD_ID) {
		take_build_id(desc, note);
		return;
	}
	if (!is_named(name, "KEEL") || type != NOTE_TYPE || desc.len < sizeof(words))
		return;
	memcpy(words, desc.at, sizeof(words));
	if (words[0] != KEEL_MAGIC)
		return;
	note->major = words[1];
	note->minor = words[2];
	*found = true;
}

/* A segment of notes: each is a head of three words, a name and a description, padded to 4. */
static void walk_notes(struct bytes seg, struct note *note, bool *found)
{
	uint64_t at = 0;
	struct bytes head, name, desc;
	Elf64_Nhdr n;

	while (cut(seg, at, sizeof(n), &head)) {
		memcpy(&n, head.at, sizeof(n));
		at += sizeof(n);
		if (!cut(seg, at, n.n_namesz, &name))
			return;
		at += align4(n.n_namesz);
		if (!cut(seg, at, n.n_descsz, &desc))
			return;
		at += align4(n.n_descsz);
		take_note(name, desc, n.n_type, note, found);
	}
}

static const char *header_objection(struct bytes file, Elf64_Ehdr *e)
{
	struct bytes head;

	if (!cut(file, 0, sizeof(*e), &head))
		return "it is too short to be a shared object";
	memcpy(e, head.at, sizeof(*e));
	if (memcmp(e->e_ident, ELFMAG, SELFMAG) != 0)
		return "it is not an ELF file";
	if (e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_machine != MACHINE)
		return "it was built for another kind of machine";
	if (e->e_type != ET_DYN)
		return "it is not a shared object";
	if (e->e_phentsize != sizeof(Elf64_Phdr) || e->e_phnum > PHDRS_MAX)
		return "its program headers are damaged";
	return NULL;
}

static const char *parse(struct bytes file, struct note *note)
{
	Elf64_Ehdr e;
	const char *no = header_objection(file, &e);
	struct bytes table, seg;
	bool found = false;

	if (no != NULL)
		return no;
	if (!cut(file, e.e_phoff, (uint64_t)e.e_phnum * sizeof(Elf64_Phdr), &table))
		return "its program headers are damaged";
	for (uint32_t i = 0; i < e.e_phnum; i++) {
		Elf64_Phdr p;

		memcpy(&p, table.at + i * sizeof(p), sizeof(p));
		if (p.p_type == PT_LOAD && !cut(file, p.p_offset, p.p_filesz, &seg))
			return "it is cut short"; /* mapped, it would end the daemon by SIGBUS */
		if (p.p_type == PT_NOTE && cut(file, p.p_offset, p.p_filesz, &seg))
			walk_notes(seg, note, &found);
	}
	return found ? NULL : "it has no KEEL note, so it was not made with KEEL_MODULE()";
}

static int map(const char *path, struct bytes *ret, struct keel_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *at = MAP_FAILED;
	int ret_code = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		ret_code = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		ret_code = -ENOEXEC;
	else if ((at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
		ret_code = -errno;
	else
		*ret = (struct bytes){ at, (uint64_t)st.st_size };
	if (fd >= 0)
		close(fd);
	if (ret_code < 0)
		return err_set(err, ret_code, "cannot read module file %s: %s", path,
			       ret_code == -ENOEXEC ? "it is empty or not a file" :
						      strerror(-ret_code));
	return 0;
}

int note_read(const char *path, struct note *ret_note, struct keel_err *err)
{
	struct note note = { 0 };
	struct bytes file = { NULL, 0 };
	const char *no;
	int ret = map(path, &file, err);

	if (ret < 0)
		return ret;
	no = parse(file, &note);
	munmap((void *)(uintptr_t)file.at, file.len);
	if (no != NULL)
		return err_set(err, -ENOEXEC, "%s is not a module: %s", path, no);
	*ret_note = note;
	return 0;
}

int note_accept(const char *path, const struct note *note, struct keel_err *err)
{
	if (note->major == KEEL_ABI_MAJOR && note->minor <= KEEL_ABI_MINOR)
		return 0;
	return err_set(err, -EPROTO,
		       "%s was built for module interface %u.%u, this daemon has %u.%u; %s", path,
		       note->major, note->minor, KEEL_ABI_MAJOR, KEEL_ABI_MINOR,
		       note->major < KEEL_ABI_MAJOR ?
			       "rebuild the module with the newer headers" :
			       "upgrade keelson, or build the module for the older interface");
}
