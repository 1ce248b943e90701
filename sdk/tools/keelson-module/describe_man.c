/* SPDX-License-Identifier: Apache-2.0
 *
 * describe_man.c - a descriptor as a page of the manual, in the macros of man(7).
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "describe.h"
#include "isolable.h"
#include "roff.h"
#include "words.h"

static void conf_section(const struct modfile_module *m, FILE *out)
{
	char words[WORDS_MAX], value[WORDS_MAX];

	fprintf(out, ".SH CONFIGURATION\n");
	roff_text("Keys of its group in a file of modules.d:", out);
	roff_tag("enabled", out);
	roff_text("Whether it runs.", out);
	for (uint32_t i = 0; i < m->head.n_conf; i++) {
		const struct keel_conf_rule *r = &m->conf[i];

		roff_tag(r->key, out);
		roff_text(words_of_type(r, words), out);
		if (r->flags & KEEL_CONF_REQUIRED) {
			roff_text("(must be set)", out);
		} else {
			fputs("(default ", out);
			roff_line(words_of_default(r, value), out);
			fputs(")\n", out);
		}
		fputs(".br\n", out);
		roff_text(or_nothing(r->doc), out);
		if (r->flags & KEEL_CONF_RESTART)
			roff_text("A change takes effect when the daemon is started again.", out);
	}
}

static void contrib_entry(const struct modfile_contrib *c, FILE *out)
{
	const char *class = contrib_class(c);
	char words[WORDS_MAX], title[WORDS_MAX];
	bool any = false;

	snprintf(title, sizeof(title), "%s%s%s", contrib_title(c), class == NULL ? "" : " of ", or_nothing(class));
	roff_tag(title, out);
	roff_text(contrib_doc(c), out);
	for (uint32_t i = 0; i < c->known->n_fields; i++) {
		if (strcmp(c->known->fields[i].label, "class") == 0 ||
		    !words_of_field(&c->known->fields[i], c->def, words))
			continue;
		fputs(any || contrib_doc(c)[0] == '\0' ? "" : ".br\n", out);
		fputs(any ? ";\n" : "", out);
		roff_line(words, out);
		any = true;
	}
	fputs(any ? ".\n" : "", out);
}

/* A section per kind, in the order in which the module names them. */
static void contrib_sections(const struct modfile_module *m, FILE *out)
{
	for (uint32_t i = 0; i < m->head.n_contribs; i++) {
		const struct modfile_kind *k = m->contribs[i].known;
		bool first = k != NULL;

		for (uint32_t n = 0; first && n < i; n++)
			first = m->contribs[n].known != k;
		if (!first)
			continue;
		fputs(".SH ", out);
		for (const char *p = k->plural; *p != '\0'; p++)
			putc(toupper((unsigned char)*p), out);
		putc('\n', out);
		for (uint32_t n = i; n < m->head.n_contribs; n++)
			if (m->contribs[n].known == k)
				contrib_entry(&m->contribs[n], out);
	}
}

static void tap_section(const struct modfile_module *m, FILE *out)
{
	char words[WORDS_MAX];

	fputs(m->head.n_taps > 0 ? ".SH HOOKS\n" : "", out);
	for (uint32_t i = 0; i < m->head.n_taps; i++) {
		const struct keel_tap *t = &m->taps[i];
		const struct point *p = point_find(t->point);

		roff_tag(p == NULL ? "a point of a newer release" : p->name, out);
		snprintf(words, sizeof(words), "%s, order %" PRId32 "%s%.150s%s%.150s; when it fails: %s.",
			 p == NULL ? "?" : p->kind_name, t->order, t->before == NULL ? "" : ", before ",
			 or_nothing(t->before), t->after == NULL ? "" : ", after ", or_nothing(t->after),
			 words_of_policy(t));
		roff_text(words, out);
	}
}

static void need_section(const struct modfile_module *m, FILE *out)
{
	char words[WORDS_MAX], inside[WORDS_MAX];

	const char *no = why_inside(m, inside);

	fputs(".SH NEEDS\n", out);
	snprintf(words, sizeof(words), "Module interface %u.%u; it runs in: %s.", m->note.major, m->note.minor,
		 words_of_daemons(m->head.roles));
	roff_text(words, out);
	for (uint32_t i = 0; i < m->n_needs; i++) {
		snprintf(words, sizeof(words), "%s%.400s%s", i == 0 ? "Services: " : "", m->needs[i].name,
			 i + 1 < m->n_needs ? "," : ".");
		roff_text(words, out);
	}
	if (no == NULL)
		snprintf(words, sizeof(words), "It may run in a process of its own.");
	else
		snprintf(words, sizeof(words), "It cannot run in a process of its own: %.400s.", no);
	roff_text(words, out);
}

void describe_man(const struct modfile_module *m, time_t when, FILE *out)
{
	const struct keel_module *d = &m->head;
	char date[16] = "1970-01-01", name[80];
	struct tm tm;

	if (gmtime_r(&when, &tm) != NULL)
		strftime(date, sizeof(date), "%Y-%m-%d", &tm);
	snprintf(name, sizeof(name), "keelson-%s", d->name);
	fputs(".\\\" made by keelson\\-module describe \\-\\-man\n.TH ", out);
	for (const char *p = name; *p != '\0'; p++)
		putc(toupper((unsigned char)*p), out);
	fprintf(out, " 7 %s \"", date);
	roff_line(d->name, out);
	fputs("\" \"Modules of Keelson\"\n.SH NAME\n", out);
	roff_line(name, out);
	fputs(" \\- ", out);
	roff_line(d->summary == NULL || d->summary[0] == '\0' ? "a module of Keelson" : d->summary, out);
	fputs("\n.SH DESCRIPTION\n", out);
	roff_text("A module of Keelson.", out);
	fputs("Version ", out);
	roff_line(or_nothing(d->version), out);
	if (d->vendor != NULL && d->vendor[0] != '\0') {
		fputs(", by ", out);
		roff_line(d->vendor, out);
	}
	fputs(".\n", out);
	conf_section(m, out);
	contrib_sections(m, out);
	tap_section(m, out);
	need_section(m, out);
	fputs(".SH SEE ALSO\n.BR keelson (8),\n.BR keelson.conf (5),\n.BR keelson\\-hooks (7)\n", out);
}
