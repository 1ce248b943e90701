/* SPDX-License-Identifier: Apache-2.0
 *
 * descriptor.h - the descriptor of a module, read from its file: every pointer in it is valid, every text is
 * short, terminated and printable, every row has the size of this SDK.
 */
#ifndef KEELSON_MODFILE_DESCRIPTOR_H
#define KEELSON_MODFILE_DESCRIPTOR_H

#include "keel/module.h"
#include "modfile/kinds.h"
#include "modfile/modfile.h"

enum { MODFILE_WHY_MAX = 256 };

struct modfile_contrib {
	const char *kind;
	const struct modfile_kind *known; /* NULL: a kind the SDK does not define */
	void *def;                        /* owned; of known->size */
};

/* Texts are NULL if the module gives none. Function pointers may be compared with NULL only. */
struct modfile_module {
	struct modfile_note note;
	struct modfile_image image; /* the texts are in it */
	struct keel_module head;    /* its tables are those below */
	struct keel_need *needs; /* services and attributes */
	uint32_t n_needs;
	struct keel_conf_rule *conf;
	struct keel_tap *taps;
	struct modfile_contrib *contribs;
	const char **requires_modules, **conflicts; /* NULL-terminated */
};

/* Return the descriptor, owned by the caller; NULL with the error in why[]: no module of this interface, or damaged. */
struct modfile_module *modfile_read(const char *path, char why[MODFILE_WHY_MAX]);
struct modfile_module *modfile_read_bytes(struct modfile_bytes file, char why[MODFILE_WHY_MAX]);
void modfile_module_free(struct modfile_module *m); /* m may be NULL */

#endif
