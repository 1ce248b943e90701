/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - keelson-module: what a module file is, and whether it may be shipped. It needs no daemon.
 */
#include <stdio.h>
#include <string.h>

#include "keel/keel.h"
#include "program/answer.h"
#include "util/version.h"
#include "verbs.h"

/* argv[0] is the verb. */
static const struct {
	const char *name, *doc;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "new", "new NAME            a folder with a module that works, to be changed into another one", new },
	{ "describe", "describe FILE.so    what it is, needs, adds and taps; a sample of its configuration", describe },
	{ "page", "page HEAD FILE.so... a page of the manual from the rows of these modules", page },
	{ "check", "check FILE.so       TAP: one line per rule of modules; exit 1 when one is broken", check },
};

static void usage(FILE *out)
{
	fprintf(out, "usage: keelson-module VERB ...; keelson-module VERB --help\n");
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		fprintf(out, "\t%s\n", verbs[i].doc);
	fprintf(out, "How a module is written: man keelson-guide\n");
}

int main(int argc, char **argv)
{
	answer_must_arrive();
	for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(*verbs); i++)
		if (strcmp(argv[1], verbs[i].name) == 0)
			return verbs[i].run(argc - 1, argv + 1);
	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return usage(stdout), 0;
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return printf("keelson-module %s, module interface %u.%u\n", KEELSON_RELEASE, KEEL_ABI_MAJOR,
			      KEEL_ABI_MINOR), 0;
	if (argc > 1)
		fprintf(stderr, "keelson-module: there is no verb '%s'\n", argv[1]);
	usage(stderr);
	return 2;
}
