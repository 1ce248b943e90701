/* SPDX-License-Identifier: Apache-2.0
 *
 * keelsond.c - the daemon and its command line. Its roles are configured.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "main/inside.h"
#include "program/answer.h"
#include "util/version.h"

enum { CONF = 256, ROLE, HOME, CHECK, SET, BACK, REFUSED, LAST_GOOD, RENAME, VERSION, HELP };

static const struct option table[] = {
	{ "conf", required_argument, NULL, CONF },
	{ "role", required_argument, NULL, ROLE },
	{ "home", required_argument, NULL, HOME },
	{ "check", no_argument, NULL, CHECK },
	{ "foreground", no_argument, NULL, 'N' },
	{ "set", required_argument, NULL, SET },
	{ "back", required_argument, NULL, BACK }, /* the daemon's own, as is the next one */
	{ "refused", required_argument, NULL, REFUSED },
	{ "last-good", no_argument, NULL, LAST_GOOD },
	{ "rename-server", required_argument, NULL, RENAME },
	{ "version", no_argument, NULL, VERSION },
	{ "help", no_argument, NULL, HELP },
	{ NULL, 0, NULL, 0 },
};

static void usage_print(void)
{
	char *conf = place_conf_file();

	printf("usage: keelsond [--conf FILE] [--role server|mom|login]... [--home DIR] [--foreground|-N]\n"
	       "                [--set key=value]... [--last-good | --check] [--rename-server OLD] [--version]\n"
	       "  --conf FILE      configuration (%s)\n"
	       "  --role ROLE      what to be, instead of what the configuration says\n"
	       "  --home DIR       PBS_HOME, instead of what the configuration says\n"
	       "  --foreground -N  stay in the foreground\n"
	       "  --set KEY=VALUE  replace one value: key=value or group.key=value\n"
	       "  --set DIR        run with a set of modules that the daemon has made; it does so itself\n"
	       "  --last-good      run with the configuration and the modules that served last\n"
	       "  --rename-server OLD  the store of server OLD is that of this server from now on\n"
	       "  --check          look at configuration and modules, start nothing\n",
	       conf != NULL ? conf : "no memory");
	free(conf);
}

static int role_take(struct options *o)
{
	o->roles |= role_of(optarg);
	if (role_of(optarg) != 0)
		return 0;
	fprintf(stderr, "keelsond: --role: expected server, mom or login, got \"%s\"\n", optarg);
	return -EINVAL;
}

static int option_take(struct options *o, int letter)
{
	switch (letter) {
	case CONF: o->conf_file = optarg; break;
	case HOME: o->home = optarg; break;
	case BACK: o->back = optarg; break;
	case REFUSED: o->refused = optarg; break;
	case CHECK: o->check = true; break;
	case 'N': o->foreground = true; break;
	case LAST_GOOD: o->last_good = true; break;
	case RENAME: o->rename_server = optarg; break;
	case VERSION: o->version = true; break;
	case HELP: o->help = true; break;
	case ROLE: return role_take(o);
	case SET:
		if (optarg[0] == '/')
			o->set_dir = optarg;
		else
			o->set[o->n_set++] = optarg;
		break;
	default: return -EINVAL; /* getopt has printed the error */
	}
	return 0;
}

/* Returns 0, -EINVAL (the error is printed) or -ENOMEM. */
static int options_parse(int argc, char **argv, struct options *o)
{
	int letter, ret = 0;

	o->set = calloc((size_t)argc + 1, sizeof(*o->set));
	if (o->set == NULL)
		return -ENOMEM;
	while (ret == 0 && (letter = getopt_long(argc, argv, "N", table, NULL)) != -1)
		ret = option_take(o, letter);
	if (ret < 0)
		return ret;
	if (optind < argc)
		fprintf(stderr, "keelsond: unexpected operand \"%s\"\n", argv[optind]);
	else
		return 0;
	return -EINVAL;
}

/* Makes the path absolute: background_begin() changes the working directory. With a set it is a name only. */
static int conf_file_fix(struct options *o)
{
	static char path[PATH_MAX]; /* options point into it */

	if (o->set_dir != NULL && o->conf_file != NULL)
		return 0;

	char *file = o->conf_file != NULL ? strdup(o->conf_file) : place_conf_file();
	int ret = file == NULL ? -ENOMEM : realpath(file, path) == NULL ? -errno : 0;

	if (ret < 0)
		fprintf(stderr, "keelsond: cannot read the configuration file %s: %s\n", file == NULL ? "" : file,
			strerror(-ret));
	o->conf_file = path;
	free(file);
	return ret;
}

static int run(struct options *o)
{
	int ret = conf_file_fix(o);

	if (ret < 0)
		return EXIT_FAILURE;
	/* Scripts are mapped: realloc() does not copy them, and free() returns them to the system; what each turn allocates and
	 * frees stays in the heap. By default malloc() changes both thresholds by the longest block freed so far. */
	mallopt(M_MMAP_THRESHOLD, 2 * 1024 * 1024);
	mallopt(M_TRIM_THRESHOLD, 8 * 1024 * 1024);
	prctl(PR_SET_NAME, "keelsond"); /* an image that was executed by a link has the link's */
	if (o->check)
		return daemon_check(o);
	notify_init();
	if (!o->foreground)
		ret = background_begin();
	if (ret < 0) {
		fprintf(stderr, "keelsond: cannot go into the background: %s\n", strerror(-ret));
		return EXIT_FAILURE;
	}
	return daemon_run(o);
}

int main(int argc, char **argv)
{
	struct options o = { .conf_file = NULL };
	int code = EXIT_SUCCESS;

	streams_hold(); /* so that no fd is 0, 1 or 2: libuv aborts when it closes one of those */
	if (options_parse(argc, argv, &o) < 0)
		code = 2;
	else if (o.version || o.help || o.check)
		answer_must_arrive();
	if (code == 0 && o.version)
		puts("pbs_version = " KEELSON_VERSION_TEXT);
	else if (code == 0 && o.help)
		usage_print();
	else if (code == 0)
		code = run(&o);
	free(o.set);
	return code;
}
