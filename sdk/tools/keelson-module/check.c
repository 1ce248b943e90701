/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - may this module be shipped? One line of TAP per rule.
 *
 * The file is looked at first, and opened only when it is sound.
 */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "describe.h"
#include "elf_file.h"
#include "open.h"

static struct {
	int n, failed;
} tap;

/* One line of TAP; the words are said when the rule is broken. */
__attribute__((format(printf, 3, 4))) static bool rule(bool holds, const char *name, const char *fmt, ...)
{
	va_list args;

	printf("%sok %d - %s\n", holds ? "" : "not ", ++tap.n, name);
	if (!holds) {
		tap.failed++;
		printf("#   ");
		va_start(args, fmt);
		vprintf(fmt, args);
		va_end(args);
		printf("\n");
	}
	return holds;
}

static bool said(const char *text)
{
	return text != NULL && text[0] != '\0';
}

static void conf_rules(const struct keel_module *m)
{
	const char *row = (const char *)m->conf, *silent = "";

	for (uint32_t i = 0; i < m->n_conf; i++, row += m->conf[0].size) {
		const struct keel_conf_rule *r = (const void *)row;

		if (!said(r->key) || !said(r->doc))
			silent = said(r->key) ? r->key : "a row without key";
		if (r->offset >= m->conf_size)
			silent = "a row that points behind conf_size";
	}
	rule(silent[0] == '\0', "every key of the configuration has its sentence", "look at %s", silent);
}

static void tap_rules(const struct keel_module *m)
{
	const char *row = (const char *)m->taps, *bad = "";

	for (uint32_t i = 0; i < m->n_taps; i++, row += m->taps[0].size) {
		const struct keel_tap *t = (const void *)row;

		if (point_name(t->point) == NULL || t->fn.any == NULL || t->order < -1000 || t->order > 1000)
			bad = said(t->name) ? t->name : "a row without name";
	}
	rule(bad[0] == '\0', "every tap has a point, a handler and an order from -1000 to 1000",
	     "look at %s", bad);
}

static void attr_rules(const struct keel_module *m)
{
	const char *bad = "";

	for (uint32_t i = 0; i < m->n_contribs; i++) {
		const struct keel_attr_def *a = m->contribs[i].def;

		if (strcmp(m->contribs[i].kind, "ATTR") == 0 && (!said(a->name) || !said(a->doc)))
			bad = said(a->name) ? a->name : "a row without name";
	}
	rule(bad[0] == '\0', "every attribute has its sentence", "look at %s", bad);
}

static void descriptor_rules(const struct keel_module *m)
{
	rule(said(m->name) && said(m->version) && said(m->summary), "name, version and summary are said",
	     "name '%s', version '%s', summary '%s'", said(m->name) ? m->name : "",
	     said(m->version) ? m->version : "", said(m->summary) ? m->summary : "");
	rule((m->roles & ~(uint32_t)KEEL_ANY) == 0 && m->roles != 0, "it says where it runs",
	     "roles are %u", (unsigned)m->roles);
	conf_rules(m);
	tap_rules(m);
	attr_rules(m);
}

static int check_file(const char *path)
{
	const struct keel_module *m = NULL;
	struct elf_file f;
	const char *why = elf_file_read(path, &f);

	if (rule(why == NULL, "it is a whole shared object", "%s: %s", path, why == NULL ? "" : why)) {
		rule(f.has_note, "it has a KEEL note", "it was not made with KEEL_MODULE()");
		rule(f.abi_major == KEEL_ABI_MAJOR && f.abi_minor <= KEEL_ABI_MINOR,
		     "its interface is one of this Keelson's", "it has %u.%u, this has %u.%u",
		     (unsigned)f.abi_major, (unsigned)f.abi_minor, KEEL_ABI_MAJOR, KEEL_ABI_MINOR);
		rule(f.n_exports == 1 && strcmp(f.exports, "keel_module") == 0, "it exports keel_module alone",
		     "it exports %s; build it with -fvisibility=hidden", f.exports);
		rule(f.binds_now, "it binds all symbols when it is loaded", "link it with -Wl,-z,now");
		rule(!f.stack_is_executable, "its stack is not executable", "link it with -Wl,-z,noexecstack");
		m = tap.failed > 0 ? NULL : module_open(path, &why);
		if (tap.failed == 0 && rule(m != NULL, "it loads without a daemon: nothing foreign is imported",
					    "%s", why == NULL ? "" : why))
			descriptor_rules(m);
	}
	printf("1..%d\n", tap.n);
	return tap.failed > 0;
}

int check(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: keelson-module check FILE.so\n");
		return 2;
	}
	return check_file(argv[1]);
}
