/* SPDX-License-Identifier: Apache-2.0
 *
 * kinds.h - the kinds of contributions that headers of the SDK define, as tables of their rows' members.
 */
#ifndef KEELSON_MODFILE_KINDS_H
#define KEELSON_MODFILE_KINDS_H

#include <stdint.h>

enum modfile_form {
	MODFILE_TEXT = 1, /* const char * */
	MODFILE_INT,      /* int32_t */
	MODFILE_UINT,     /* uint32_t */
	MODFILE_ROLES,    /* uint32_t, enum keel_role bits */
	MODFILE_POINT,    /* uint32_t, a hook point; 0: none */
	MODFILE_FLAG,     /* uint32_t, one of its bits: `bit` */
	MODFILE_IS_SET,   /* a function: is there one? */
};
struct modfile_field {
	const char *label; /* as printed; of a FLAG and IS_SET the whole sentence */
	uint32_t offset, form, bit;
};
struct modfile_kind {
	const char *name;   /* "ATTR" */
	const char *word;   /* "attribute" */
	const char *plural; /* "attributes" */
	uint32_t size, n_fields;
	uint32_t title, doc; /* offsets of the texts it is called by and explained with */
	const struct modfile_field *fields; /* the others */
};

/* Returns NULL for a kind that a module defines. */
const struct modfile_kind *modfile_kind(const char *name);

#endif
