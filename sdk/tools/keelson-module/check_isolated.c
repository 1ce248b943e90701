/* SPDX-License-Identifier: Apache-2.0
 *
 * check_isolated.c - may the module run in a process of its own?
 */
#include "check_isolated.h"

#include "isolable.h"

void check_isolated(const char *path)
{
	char why[MODFILE_WHY_MAX], words[WORDS_MAX];
	struct modfile_module *m = modfile_read(path, why);
	const char *inside = m == NULL ? why : why_inside(m, words);

	look(RULE_isolated_possible);
	if (inside != NULL)
		finding(RULE_isolated_possible, "%s", inside);
	modfile_module_free(m);
}
