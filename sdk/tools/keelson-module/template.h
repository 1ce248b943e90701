/* SPDX-License-Identifier: Apache-2.0
 *
 * template.h - a copy of the SDK's template under another name.
 */
#ifndef KEELSON_TEMPLATE_H
#define KEELSON_TEMPLATE_H

#include <stdbool.h>

enum { TEMPLATE_WHY_MAX = 512 };

struct template_kind {
	const char *build; /* "make", "cmake", "autotools", "none" */
	bool cxx;
};
/* Is it one of the ways to build a module, of that language? */
bool template_has(const struct template_kind *kind);
/* Make the folder `dir`, which must not exist, and the files of the template `from` in it, with `name` in
 * place of the template's own. 0, or -1 with *why; then nothing is left of it. */
int template_copy(const char *from, const char *dir, const char *name, const struct template_kind *kind,
		  char why[TEMPLATE_WHY_MAX]);

#endif
