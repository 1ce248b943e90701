/* SPDX-License-Identifier: Apache-2.0
 *
 * page.c - keelson-module page HEAD FILE...: a page of the manual about what several modules bring together. HEAD is the page
 * itself; in the place of some of its lines there are entries, made of the modules' rows:
 *
 *	.\" attributes CLASS	each ATTR row of that class that some role may read or set
 *	.\" terms TOPIC		each TERM row of that topic; of "item" the ACCT_ITEM rows, too
 *
 * Files are read, not run. The entries are in the order of their names.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "describe.h"
#include "keel/contrib.h"
#include "roff.h"
#include "verbs.h"
#include "words.h"

static const char usage_text[] =
	"usage: keelson-module page HEAD FILE.so...\n"
	"\n"
	"Prints HEAD, a page of the manual, with entries made from rows of these modules in the place of\n"
	".\\\" attributes CLASS    attributes of a class of objects\n"
	".\\\" terms TOPIC         terms: resource, hook, record, item\n";

struct page;
struct entry {
	const char *name;
	const struct modfile_module *module;
	const void *def;
	void (*print)(const struct page *, const struct entry *, FILE *out);
};
struct page {
	struct modfile_module **modules;
	uint32_t n_modules, n;
	struct entry *entries; /* of the line that is being replaced; room for all rows */
};

static const char *const types[][2] = {
	{ "bool", "True or False" },
	{ "long", "number" },
	{ "float", "number" },
	{ "size", "size, such as 10gb" },
	{ "time", "time: seconds, or [[HH:]MM:]SS" },
	{ "string", "text" },
	{ "string_array", "list, separated by commas" },
	{ "resource_list", "NAME.resource, a value for each resource" },
};

/* Others are explained by a row of the module that brings them. */
static const char *words_of_attr_type(const struct page *p, const char *type)
{
	for (uint32_t i = 0; i < KEEL_COUNT(types); i++)
		if (strcmp(types[i][0], type) == 0)
			return types[i][1];
	for (uint32_t m = 0; m < p->n_modules; m++)
		for (uint32_t i = 0; i < p->modules[m]->head.n_contribs; i++) {
			const struct modfile_contrib *c = &p->modules[m]->contribs[i];

			if (strcmp(c->kind, "TYPE") == 0 && strcmp(contrib_title(c), type) == 0)
				return contrib_doc(c);
		}
	return type;
}

static const char *words_of_roles(uint32_t roles)
{
	if (roles & KEEL_USER)
		return "everybody";
	if (roles & KEEL_OPERATOR)
		return "operators and managers";
	return roles & KEEL_MANAGER ? "managers" : "the server alone";
}

/* A sentence begins with a capital, unless its first word is a value or the form of one: "host/slot". */
static char first_letter(const char *doc)
{
	size_t word = strspn(doc, "abcdefghijklmnopqrstuvwxyz");

	return word > 0 && doc[word] == ' ' ? (char)toupper((unsigned char)doc[0]) : doc[0];
}

/* The title with what a value is, and the sentence. */
static void head_print(const struct entry *e, const char *form, const char *doc, FILE *out)
{
	size_t len = strlen(doc);
	char *text = malloc(len + 3);

	fputs(".TP\n\\fB", out);
	roff_line(e->name, out);
	fputs(form[0] == '\0' ? "\\fR" : "\\fR (", out);
	roff_line(form, out);
	fputs(form[0] == '\0' ? "\n" : ")\n", out);
	if (text != NULL && len > 0) {
		snprintf(text, len + 3, "%c%s%s", first_letter(doc), doc + 1, strchr(".!?", doc[len - 1]) != NULL ? "" : ".");
		roff_text(text, out);
	}
	free(text);
}

static void attr_print(const struct page *p, const struct entry *e, FILE *out)
{
	const struct keel_attr_def *a = e->def;
	char words[WORDS_MAX];
	int n;

	head_print(e, words_of_attr_type(p, or_nothing(a->type)), or_nothing(a->doc), out);
	n = snprintf(words, sizeof(words), "Set by %s%s, read by %s%s.", words_of_roles(a->write_roles),
		     a->flags & KEEL_ATTR_CREATE ? " when it is made" : "",
		     words_of_roles(a->read_roles & KEEL_UNHIDDEN ? KEEL_EVERYBODY : a->read_roles),
		     a->read_roles & KEEL_UNHIDDEN ? " while the server's show_hidden_attribs is True" : "");
	if (strcmp(a->klass, "job") == 0 && a->flags & KEEL_ATTR_FLAG1)
		n += snprintf(words + n, sizeof(words) - (size_t)n, " May change while the job runs.");
	if (a->fallback != NULL && a->fallback[0] != '\0')
		n += snprintf(words + n, sizeof(words) - (size_t)n, " Default: %.200s%s.", a->fallback,
			      a->flags & KEEL_ATTR_RESET ? ", also when it is unset" : "");
	snprintf(words + n, sizeof(words) - (size_t)n, " Module %.63s.", e->module->head.name);
	fputs(".br\n", out);
	roff_text(words, out);
}

static void term_print(const struct page *p, const struct entry *e, FILE *out)
{
	const struct keel_term_def *t = e->def;

	(void)p;
	head_print(e, or_nothing(t->form), or_nothing(t->doc), out);
}

static void item_print(const struct page *p, const struct entry *e, FILE *out)
{
	const struct keel_acct_item_def *item = e->def;
	char form[WORDS_MAX];

	(void)p;
	snprintf(form, sizeof(form), "%.100s; module %.63s", item->letters == NULL ? "all about jobs but z" : item->letters,
		 e->module->head.name);
	head_print(e, form, or_nothing(item->doc), out);
}

/* ---- which rows -------------------------------------------------------------------------------- */

static bool is_attr(const struct modfile_contrib *c, const char *klass)
{
	const struct keel_attr_def *a = c->def;

	return strcmp(c->kind, "ATTR") == 0 && strcmp(or_nothing(a->klass), klass) == 0 &&
	       (a->read_roles | a->write_roles) != KEEL_NOBODY;
}

static bool is_term(const struct modfile_contrib *c, const char *topic)
{
	return strcmp(c->kind, "TERM") == 0 && strcmp(or_nothing(((const struct keel_term_def *)c->def)->topic), topic) == 0;
}

static bool is_item(const struct modfile_contrib *c, const char *topic)
{
	return strcmp(c->kind, "ACCT_ITEM") == 0 && strcmp(topic, "item") == 0;
}

static const struct {
	const char *word;
	bool (*is_one)(const struct modfile_contrib *, const char *of);
	void (*print)(const struct page *, const struct entry *, FILE *out);
} wanted[] = {
	{ ".\\\" attributes ", is_attr, attr_print },
	{ ".\\\" terms ", is_term, term_print },
	{ ".\\\" terms ", is_item, item_print },
};

static void rows_add(struct page *p, uint32_t which, const char *of)
{
	for (uint32_t m = 0; m < p->n_modules; m++)
		for (uint32_t i = 0; i < p->modules[m]->head.n_contribs; i++) {
			const struct modfile_contrib *c = &p->modules[m]->contribs[i];

			if (c->known != NULL && wanted[which].is_one(c, of))
				p->entries[p->n++] = (struct entry){ or_nothing(contrib_title(c)), p->modules[m], c->def,
								     wanted[which].print };
		}
}

static int by_name(const void *a, const void *b)
{
	const char *x = ((const struct entry *)a)->name, *y = ((const struct entry *)b)->name;
	int order = strcasecmp(x, y);

	return order != 0 ? order : -strcmp(x, y); /* small letters first */
}

/* A line of the head: as it is, or the entries in its place. */
static void line_print(struct page *p, char *line, FILE *out)
{
	bool replaced = false;

	p->n = 0;
	for (uint32_t i = 0; i < KEEL_COUNT(wanted); i++) {
		size_t len = strlen(wanted[i].word);

		if (strncmp(line, wanted[i].word, len) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		replaced = true;
		rows_add(p, i, line + len);
	}
	if (!replaced)
		fputs(line, out);
	if (p->n > 0)
		qsort(p->entries, p->n, sizeof(*p->entries), by_name);
	for (uint32_t i = 0; i < p->n; i++)
		p->entries[i].print(p, &p->entries[i], out);
}

/* ---- the verb ---------------------------------------------------------------------------------------- */

static int page_print(struct page *p, const char *path)
{
	FILE *head = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;

	if (head == NULL) {
		perror(path);
		return EXIT_FAILURE;
	}
	while (getline(&line, &room, head) > 0)
		line_print(p, line, stdout);
	free(line);
	fclose(head);
	return EXIT_SUCCESS;
}

/* Returns the room that all rows need; 0 when a file cannot be read. */
static uint32_t modules_read(struct page *p, char **paths)
{
	char why[MODFILE_WHY_MAX];
	uint32_t rows = 1;

	for (; *paths != NULL; paths++) {
		struct modfile_module *m = modfile_read(*paths, why);

		if (m == NULL) {
			fprintf(stderr, "keelson-module: %s: %s\n", *paths, why);
			return 0;
		}
		p->modules[p->n_modules++] = m;
		rows += m->head.n_contribs;
	}
	return rows;
}

int page(int argc, char **argv)
{
	bool help = argc == 2 && strcmp(argv[1], "--help") == 0;
	struct page p = { 0 };
	uint32_t rows;
	int ret = EXIT_FAILURE;

	if (help || argc < 3) {
		fputs(usage_text, help ? stdout : stderr);
		return help ? EXIT_SUCCESS : 2;
	}
	p.modules = calloc((size_t)argc, sizeof(struct modfile_module *));
	rows = p.modules == NULL ? 0 : modules_read(&p, argv + 2);
	p.entries = rows == 0 ? NULL : calloc(rows, sizeof(*p.entries));
	if (p.entries != NULL)
		ret = page_print(&p, argv[1]);
	while (p.n_modules > 0)
		modfile_module_free(p.modules[--p.n_modules]);
	free(p.entries);
	free(p.modules);
	return ret;
}
