/* SPDX-License-Identifier: Apache-2.0
 *
 * describe_conf.c - a module's configuration rules as a file for modules.d: every key with its default. A
 * key that may be left out is a comment; one that may not is there.
 */
#include "describe.h"
#include "words.h"

void describe_conf(const struct modfile_module *m, FILE *out)
{
	char words[WORDS_MAX], value[WORDS_MAX];

	fprintf(out, "# %s %s: %s\n%s: {\n\t# whether it runs\n\tenabled = false;\n", m->head.name,
		or_nothing(m->head.version), or_nothing(m->head.summary), m->head.name);
	for (const struct keel_conf_rule *r = m->conf; r < m->conf + m->head.n_conf; r++) {
		const bool required = (r->flags & KEEL_CONF_REQUIRED) != 0;

		fprintf(out, "\n\t# %s\n\t# %s%s%s\n\t%s%s = %s;\n", or_nothing(r->doc), words_of_type(r, words),
			required ? "; required" : "", r->flags & KEEL_CONF_RESTART ? "; takes effect at a restart" : "",
			required ? "" : "# ", r->key, words_of_default(r, value));
	}
	fputs("\n\t# and what every module has: path, required, isolation, match, order; keelson.conf(5)\n};\n", out);
}
