/* SPDX-License-Identifier: Apache-2.0
 *
 * note.c - the notes of a file: the interface it was built for, and its build-id.
 */
#include <stdio.h>
#include <string.h>

#include "keel/module.h"
#include "modfile/inside.h"

#define NOTE_TYPE 1u

static uint64_t align4(uint64_t n)
{
	return (n + 3) & ~(uint64_t)3;
}

static bool is_named(struct modfile_bytes name, const char *wanted)
{
	return name.len == strlen(wanted) + 1 && memcmp(name.at, wanted, name.len) == 0;
}

static void take_note(struct modfile_bytes name, struct modfile_bytes desc, uint32_t type,
		      struct modfile_note *note, bool *found)
{
	uint32_t words[3];

	if (is_named(name, "GNU") && type == NT_GNU_BUILD_ID) {
		for (uint64_t i = 0; i < desc.len && i < MODFILE_ID_LEN / 2; i++)
			snprintf(note->build_id + 2 * i, 3, "%02x", desc.at[i]);
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
static void walk_notes(struct modfile_bytes seg, struct modfile_note *note, bool *found)
{
	uint64_t at = 0;
	struct modfile_bytes head, name, desc;
	Elf64_Nhdr n;

	while (modfile_cut(seg, at, sizeof(n), &head)) {
		memcpy(&n, head.at, sizeof(n));
		at += sizeof(n);
		if (!modfile_cut(seg, at, n.n_namesz, &name))
			return;
		at += align4(n.n_namesz);
		if (!modfile_cut(seg, at, n.n_descsz, &desc))
			return;
		at += align4(n.n_descsz);
		take_note(name, desc, n.n_type, note, found);
	}
}

void modfile_notes(struct modfile_bytes segment, struct modfile_note *note)
{
	bool found;

	walk_notes(segment, note, &found);
}

const char *modfile_note(struct modfile_bytes file, struct modfile_note *ret_note)
{
	struct modfile_note note = { 0 };
	struct modfile_bytes segments, seg;
	Elf64_Ehdr e;
	bool found = false;
	const char *no = modfile_head(file, &e, &segments);

	for (unsigned i = 0; no == NULL && i < e.e_phnum; i++) {
		Elf64_Phdr p = modfile_segment(segments, i);

		if (p.p_type == PT_LOAD && !modfile_cut(file, p.p_offset, p.p_filesz, &seg))
			no = "it is cut short"; /* mapped, it would end the process by SIGBUS */
		if (p.p_type == PT_NOTE && modfile_cut(file, p.p_offset, p.p_filesz, &seg))
			walk_notes(seg, &note, &found);
	}
	if (no == NULL && !found)
		no = "it has no KEEL note, so it was not made with KEEL_MODULE()";
	if (no == NULL)
		*ret_note = note;
	return no;
}
