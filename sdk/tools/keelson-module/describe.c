/* SPDX-License-Identifier: Apache-2.0
 *
 * describe.c - keelson-module describe FILE: a module's descriptor as a page. The file is read, not run.
 */
#include "describe.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "isolable.h"
#include "verbs.h"
#include "words.h"

static const char usage_text[] =
	"usage: keelson-module describe [--conf | --man | --json] FILE.so\n"
	"\n"
	"What a module is, needs, taps and adds, and its configuration. None of its code is run.\n"
	"--conf  a sample of its configuration, a file for modules.d\n"
	"--man   a page of the manual\n"
	"--json  the same for programs\n";

static void head_print(const struct modfile_module *m, FILE *out)
{
	const struct keel_module *d = &m->head;
	char words[WORDS_MAX];

	fprintf(out, "name        %s\nversion     %s\nvendor      %s\nsummary     %s\n", d->name,
		or_nothing(d->version), or_nothing(d->vendor), or_nothing(d->summary));
	fprintf(out, "interface   %u.%u\nruns in     %s\n", m->note.major, m->note.minor,
		words_of_daemons(d->roles));
	if (m->note.build_id[0] != '\0')
		fprintf(out, "build       %s\n", m->note.build_id);
	if (why_inside(m, words) == NULL)
		fprintf(out, "isolation   it may run in a process of its own\n");
	else
		fprintf(out, "isolation   it cannot run in a process of its own: %s\n", words);
	for (const char **name = m->requires_modules; *name != NULL; name++)
		fprintf(out, "requires    %s\n", *name);
	for (const char **name = m->conflicts; *name != NULL; name++)
		fprintf(out, "conflicts   %s\n", *name);
	for (uint32_t i = 0; i < m->n_needs; i++)
		fprintf(out, "uses        %s%s%s%s\n", m->needs[i].klass != NULL ? m->needs[i].klass : "",
			m->needs[i].klass != NULL ? "." : "", m->needs[i].name,
			m->needs[i].optional ? " (may be absent)" : "");
}

static void tap_print(const struct keel_tap *t, FILE *out)
{
	const struct point *p = point_find(t->point);

	if (p == NULL)
		fprintf(out, "taps        a point that this SDK does not know (%" PRIu32 "), order %" PRId32, t->point,
			t->order);
	else
		fprintf(out, "taps        %s (%s, order %" PRId32, p->name, p->kind_name, t->order);
	if (t->before != NULL)
		fprintf(out, ", before %s", t->before);
	if (t->after != NULL)
		fprintf(out, ", after %s", t->after);
	fprintf(out, "%s by %s; when that fails: %s\n", p == NULL ? "" : ")", or_nothing(t->name),
		words_of_policy(t));
	if (p != NULL)
		fprintf(out, "            %s\n", p->doc);
}

static void contrib_print(const struct modfile_contrib *c, FILE *out)
{
	const char *class = contrib_class(c), *between = "            ";
	char words[WORDS_MAX];

	if (c->known == NULL) {
		fprintf(out, "adds        a row of kind %s\n", c->kind);
		return;
	}
	fprintf(out, "adds        %s %s%s%s: %s\n", c->known->word, contrib_title(c), class == NULL ? "" : " of ",
		or_nothing(class), contrib_doc(c));
	for (uint32_t i = 0; i < c->known->n_fields; i++) {
		if (strcmp(c->known->fields[i].label, "class") == 0 ||
		    !words_of_field(&c->known->fields[i], c->def, words))
			continue;
		fprintf(out, "%s%s", between, words);
		between = "; ";
	}
	fputs(between[0] == ';' ? "\n" : "", out);
}

void describe_text(const struct modfile_module *m, FILE *out)
{
	head_print(m, out);
	for (uint32_t i = 0; i < m->head.n_taps; i++)
		tap_print(&m->taps[i], out);
	for (uint32_t i = 0; i < m->head.n_contribs; i++)
		contrib_print(&m->contribs[i], out);
	fputs("\n", out);
	describe_conf(m, out);
}

static int form_of(int argc, char **argv)
{
	static const struct option all[] = { { "conf", no_argument, NULL, 'c' },
					     { "man", no_argument, NULL, 'm' },
					     { "json", no_argument, NULL, 'j' },
					     { "help", no_argument, NULL, 'h' },
					     { 0 } };
	int c, form = 't';

	while ((c = getopt_long(argc, argv, "", all, NULL)) != -1)
		form = c == '?' || form != 't' ? '?' : c;
	return form == 'h' || optind == argc - 1 ? form : '?';
}

int describe(int argc, char **argv)
{
	int form = form_of(argc, argv);
	char why[MODFILE_WHY_MAX];
	struct modfile_module *m;
	struct stat st;

	if (form == 'h' || form == '?') {
		fputs(usage_text, form == 'h' ? stdout : stderr);
		return form == 'h' ? EXIT_SUCCESS : 2;
	}
	m = modfile_read(argv[optind], why);
	if (m == NULL) {
		fprintf(stderr, "keelson-module: %s: %s\n", argv[optind], why);
		return EXIT_FAILURE;
	}
	if (form == 'c')
		describe_conf(m, stdout);
	else if (form == 'm')
		describe_man(m, stat(argv[optind], &st) == 0 ? st.st_mtime : 0, stdout);
	else if (form == 'j')
		describe_json(m, stdout);
	else
		describe_text(m, stdout);
	modfile_module_free(m);
	return EXIT_SUCCESS;
}
