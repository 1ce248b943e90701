/* SPDX-License-Identifier: Apache-2.0
 *
 * modfile.h - reads a module as a file, without running any of its code.
 *
 * Everything here works on the untrusted bytes of a file. The daemon reads the note before it maps a module;
 * tools make an image, the memory as a loader would lay it out, and read the descriptor there. Nothing of an
 * image is ever executed, its constructors neither.
 *
 * Functions that return a text return NULL, or the error as the rest of a sentence: "... is no module: <text>".
 */
#ifndef KEELSON_MODFILE_H
#define KEELSON_MODFILE_H

#include <stdbool.h>
#include <stdint.h>

#define MODFILE_ID_LEN 40 /* hexadecimal digits kept of a build-id */

struct modfile_bytes {
	const unsigned char *at;
	uint64_t len;
};

struct modfile_note {
	uint32_t major, minor;
	char build_id[MODFILE_ID_LEN + 1]; /* "" when the linker wrote none */
};

/* note.c: the note that KEEL_MODULE() made. */
const char *modfile_note(struct modfile_bytes file, struct modfile_note *ret_note);
/* Adds the notes of one segment to *note: for a program that reads its own. */
void modfile_notes(struct modfile_bytes segment, struct modfile_note *note);

/* descriptor.c: is it a module's name, 1 to 63 of a-z 0-9 - _? NULL is none. */
bool modfile_name_is_good(const char *text);

/* image.c: the segments at their places, pointers between them as they will be. A pointer to what the file
 * does not hold (a function of the C library) is MODFILE_FOREIGN. */
#define MODFILE_FOREIGN ((uintptr_t)1)
struct modfile_image {
	unsigned char *base; /* owned; may be read and written, not executed */
	uint64_t len;
	uint64_t low; /* the address that is at base */
	/* addresses in the dynamic section; 0: not there */
	uint64_t symbols, texts, texts_len, hash, gnu_hash;
};
const char *modfile_image_make(struct modfile_bytes file, struct modfile_image *ret_image);
void modfile_image_free(struct modfile_image *image);
/* Returns whether `len` bytes at `p` are in the image. */
bool modfile_image_has(const struct modfile_image *image, const void *p, uint64_t len);

/* symbol.c: returns what dlsym() would. NULL: not exported, or not defined there. */
const void *modfile_symbol(const struct modfile_image *image, const char *name);

#endif
