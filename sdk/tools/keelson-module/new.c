/* SPDX-License-Identifier: Apache-2.0
 *
 * new.c - keelson-module new NAME: a module that works, to be changed into another one.
 */
#include "verbs.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "name.h"
#include "place.h"
#include "template.h"

static const char usage_text[] =
	"usage: keelson-module new [--c++] [--build make|cmake|autotools|none] [--dir DIR] NAME\n"
	"\n"
	"A folder NAME (or DIR) with a module that works: an attribute of jobs, a key of the configuration,\n"
	"a hook that may refuse a job or let it wait, and a test. Change it into yours. --c++: in C++20,\n"
	"built by make or cmake.\n";

/* What its maker does next; and where the build looks for an installation that is in a place of its own. */
static const struct {
	const char *build, *todo, *variable, *place;
} todos[] = {
	{ "make", "make && make check", "PKG_CONFIG_PATH", "lib/pkgconfig" },
	{ "cmake", "cmake -B build && cmake --build build && ctest --test-dir build", "CMAKE_PREFIX_PATH", "lib/.." },
	{ "autotools", "autoreconf -fi && ./configure && make && make check", "ACLOCAL_PATH", "share/aclocal" },
	{ "autotools", NULL, "PKG_CONFIG_PATH", "lib/pkgconfig" },
};
enum { N_TODOS = sizeof(todos) / sizeof(*todos) };

/* Beside this program, in the tree of its build, and where they were to be. */
static const char *const template_places[] = { KEELSON_DATA_BESIDE, "../share/keelson", KEELSON_DATA_DIR,
					       NULL };
static const char *const module_places[] = { KEELSON_MODULE_BESIDE, KEELSON_MODULE_DIR, NULL };

struct wish {
	const char *name, *dir;
	struct template_kind kind;
};

static int usage(void)
{
	fputs(usage_text, stderr);
	return 2;
}

/* Returns -1, or an exit status. */
static int options(int argc, char **argv, struct wish *ret)
{
	static const struct option all[] = { { "build", required_argument, NULL, 'b' },
					     { "c++", no_argument, NULL, 'c' },
					     { "dir", required_argument, NULL, 'd' },
					     { "help", no_argument, NULL, 'h' },
					     { 0 } };
	int c;

	*ret = (struct wish){ .kind.build = "make" };
	while ((c = getopt_long(argc, argv, "", all, NULL)) != -1) {
		if (c == 'b')
			ret->kind.build = optarg;
		else if (c == 'c')
			ret->kind.cxx = true;
		else if (c == 'd')
			ret->dir = optarg;
		else if (c == 'h')
			return fputs(usage_text, stdout), 0;
		else
			return usage();
	}
	if (optind != argc - 1 || !template_has(&ret->kind))
		return usage();
	ret->name = argv[optind];
	if (ret->dir == NULL)
		ret->dir = ret->name;
	return -1;
}

/* `what` is typed by the user: any bytes. */
static int complain(const char *what, const char *why)
{
	fputs("keelson-module: '", stderr);
	for (; *what != '\0'; what++)
		putc((unsigned char)*what < ' ' || *what == 127 ? '?' : *what, stderr);
	fprintf(stderr, "': %s\n", why);
	return EXIT_FAILURE;
}

/* No build finds an installation in /opt by itself: print the variable that names it, too. */
static void say_what_now(const struct wish *w)
{
	static const char *const own_prefix[] = { "..", NULL };
	char prefix[PATH_MAX], place[PATH_MAX];
	const bool apart = place_find(own_prefix, "lib/pkgconfig/keelson-module.pc", place) &&
			   place_find(own_prefix, ".", prefix) && strcmp(prefix, "/usr") != 0 && strcmp(prefix, "/usr/local") != 0;

	printf("%s is there. Now:\n", w->dir);
	for (size_t i = 0; apart && i < N_TODOS; i++)
		if (strcmp(todos[i].build, w->kind.build) == 0 && place_find(own_prefix, todos[i].place, place))
			printf("  export %s=%s\n", todos[i].variable, place);
	for (size_t i = 0; i < N_TODOS; i++)
		if (strcmp(todos[i].build, w->kind.build) == 0 && todos[i].todo != NULL)
			printf("  cd %s && %s\n", w->dir, todos[i].todo);
	printf("  edit %s.%s: man keelson-guide tells how; the points it may hook: man keelson-hooks\n"
	       "  make it yours: the README says how it is installed and enabled\n",
	       w->name, w->kind.cxx ? "cc" : "c");
}

int new(int argc, char **argv)
{
	char path[PATH_MAX], why[TEMPLATE_WHY_MAX], file[MODULE_NAME_MAX + 4];
	struct wish w;
	int done = options(argc, argv, &w);
	const char *no;

	if (done >= 0)
		return done;
	no = module_name_refused(w.name);
	if (no != NULL)
		return complain(w.name, no);
	snprintf(file, sizeof(file), "%s.so", w.name); /* it would be overwritten when this one is installed */
	if (place_find(module_places, file, path))
		return complain(path, "there is a module of that name already; choose another one");
	if (!place_find(template_places, "template", path))
		return complain(KEELSON_DATA_DIR "/template", "it is not there: is the SDK installed?");
	if (template_copy(path, w.dir, w.name, &w.kind, why) < 0)
		return complain(w.name, why);
	say_what_now(&w);
	return EXIT_SUCCESS;
}
