/* SPDX-License-Identifier: Apache-2.0
 *
 * check_isolated.c - may the module run in a process of its own?
 *
 * Whether it then does the same is seen on a daemon: load it with `isolation = "process"` and without,
 * and compare what it logs and answers. The mock host has no second process.
 */
#include "check_isolated.h"

#include "check_report.h"
#include "isolable.h"

void check_isolated(const char *path)
{
	char why[MODFILE_WHY_MAX], words[WORDS_MAX];
	struct modfile_module *m = modfile_read(path, why);

	look(RULE_isolated_possible);
	if (m == NULL)
		finding(RULE_isolated_possible, "%s", why);
	else if (why_inside(m, words) != NULL)
		finding(RULE_isolated_possible, "%s", words);
	modfile_module_free(m);
	skip(RULE_isolated_transcript, "needs a daemon: load it with isolation = \"process\" and without, and compare");
}
