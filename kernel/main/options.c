/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c - the command line of keelsond.
 */
#include "main/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/types.h"
#include "main/place.h"

enum { OPT_CONF = 256, OPT_ROLE, OPT_HOME, OPT_CHECK, OPT_SET, OPT_BACK, OPT_REFUSED, OPT_LAST_GOOD, OPT_VERSION, OPT_HELP };

static const struct option table[] = {
	{ "conf", required_argument, NULL, OPT_CONF },
	{ "role", required_argument, NULL, OPT_ROLE },
	{ "home", required_argument, NULL, OPT_HOME },
	{ "check", no_argument, NULL, OPT_CHECK },
	{ "foreground", no_argument, NULL, 'N' },
	{ "set", required_argument, NULL, OPT_SET },
	{ "back", required_argument, NULL, OPT_BACK }, /* the daemon's own, as is the next one */
	{ "refused", required_argument, NULL, OPT_REFUSED },
	{ "last-good", no_argument, NULL, OPT_LAST_GOOD },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

void options_usage(void)
{
	char *conf = place_conf_file();

	printf("usage: keelsond [--conf FILE] [--role server|mom]... [--home DIR] [--foreground|-N]\n"
	       "                [--set key=value]... [--last-good | --check] [--version]\n"
	       "  --conf FILE      configuration (%s)\n"
	       "  --role ROLE      what to be, instead of what the configuration says\n"
	       "  --home DIR       PBS_HOME, instead of what the configuration says\n"
	       "  --foreground -N  stay in the foreground\n"
	       "  --set KEY=VALUE  replace one value: key=value or group.key=value\n"
	       "  --set DIR        run with a set of modules that the daemon has made; it does so itself\n"
	       "  --last-good      run with the configuration and the modules that served last\n"
	       "  --check          look at configuration and modules, start nothing\n",
	       conf != NULL ? conf : "no memory");
	free(conf);
}

static int role_add(struct options *o, const char *name)
{
	if (strcmp(name, "server") == 0)
		o->roles |= KEEL_SERVER;
	else if (strcmp(name, "mom") == 0)
		o->roles |= KEEL_MOM;
	else
		return fprintf(stderr, "keelsond: --role: expected server or mom, got \"%s\"\n", name),
		       -EINVAL;
	return 0;
}

static int option_take(struct options *o, int letter)
{
	switch (letter) {
	case OPT_CONF:
		o->conf_file = optarg;
		return 0;
	case OPT_ROLE:
		return role_add(o, optarg);
	case OPT_HOME:
		o->home = optarg;
		return 0;
	case OPT_CHECK:
		o->check = true;
		return 0;
	case 'N':
		o->foreground = true;
		return 0;
	case OPT_SET:
		if (optarg[0] == '/')
			o->set_dir = optarg;
		else
			o->set[o->n_set++] = optarg;
		return 0;
	case OPT_BACK:
		o->back = optarg;
		return 0;
	case OPT_REFUSED:
		o->refused = optarg;
		return 0;
	case OPT_LAST_GOOD:
		o->last_good = true;
		return 0;
	case OPT_VERSION:
		o->version = true;
		return 0;
	case OPT_HELP:
		o->help = true;
		return 0;
	}
	return -EINVAL; /* getopt has printed the error */
}

int options_parse(int argc, char **argv, struct options *ret)
{
	struct options o = { .conf_file = NULL };
	int letter, err = 0;

	o.set = calloc((size_t)argc + 1, sizeof(*o.set));
	if (o.set == NULL)
		return -ENOMEM;
	while (err == 0 && (letter = getopt_long(argc, argv, "N", table, NULL)) != -1)
		err = option_take(&o, letter);
	if (err == 0 && optind < argc) {
		fprintf(stderr, "keelsond: unexpected operand \"%s\"\n", argv[optind]);
		err = -EINVAL;
	}
	if (err < 0)
		options_fini(&o);
	else
		*ret = o;
	return err;
}

void options_fini(struct options *o)
{
	free(o->set);
	o->set = NULL;
	o->n_set = 0;
}
