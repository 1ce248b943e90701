/* SPDX-License-Identifier: Apache-2.0
 *
 * describe_conf.c - a module's configuration rules as a file for modules.d: every key with its default. A
 * key that may be left out is a comment; one that may not is there.
 */
#include "describe.h"
#include "words.h"

static void key_print(const struct keel_conf_rule *r, FILE *out)
{
	char words[WORDS_MAX], value[WORDS_MAX];
	bool required = (r->flags & KEEL_CONF_REQUIRED) != 0;

	fprintf(out, "\n\t# %s\n\t# %s", or_nothing(r->doc), words_of_type(r, words));
	if (required)
		fputs("; required", out);
	if (r->flags & KEEL_CONF_RESTART)
		fputs("; takes effect at a restart", out);
	fprintf(out, "\n\t%s%s = %s;\n", required ? "" : "# ", r->key, words_of_default(r, value));
}

void describe_conf(const struct modfile_module *m, FILE *out)
{
	fprintf(out, "# %s %s: %s\n%s: {\n\t# whether it runs\n\tenabled = false;\n", m->head.name,
		or_nothing(m->head.version), or_nothing(m->head.summary), m->head.name);
	for (uint32_t i = 0; i < m->head.n_conf; i++)
		key_print(&m->conf[i], out);
	fputs("\n\t# and what every module has: path, required, isolation, match, order; keelson.conf(5)\n};\n", out);
}
