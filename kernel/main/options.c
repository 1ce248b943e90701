/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c - the command line of keelsond.
 */
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/types.h"
#include "main/inside.h"

/* What getopt_long() returns: for most the place of their member in struct options. */
enum { ROLE = 256, SET, TEXT_AT = 1024, FLAG_AT = 2048 };
#define TEXT(member) TEXT_AT + (int)offsetof(struct options, member)
#define FLAG(member) FLAG_AT + (int)offsetof(struct options, member)

static const struct option table[] = {
	{ "conf", required_argument, NULL, TEXT(conf_file) },
	{ "role", required_argument, NULL, ROLE },
	{ "home", required_argument, NULL, TEXT(home) },
	{ "check", no_argument, NULL, FLAG(check) },
	{ "order", required_argument, NULL, TEXT(order) },
	{ "foreground", no_argument, NULL, 'N' },
	{ "set", required_argument, NULL, SET },
	{ "from", required_argument, NULL, TEXT(set_from) }, /* the daemon's own */
	{ "last-good", no_argument, NULL, FLAG(last_good) },
	{ "version", no_argument, NULL, FLAG(version) },
	{ "help", no_argument, NULL, FLAG(help) },
	{ NULL, 0, NULL, 0 },
};

void options_usage(void)
{
	char *conf = place_conf_file();

	printf("usage: keelsond [--conf FILE] [--role server|mom]... [--home DIR] [--foreground|-N]\n"
	       "                [--set key=value]... [--last-good | --check [--order POINT]] [--version]\n"
	       "  --conf FILE      configuration (%s)\n"
	       "  --role ROLE      what to be, instead of what the configuration says\n"
	       "  --home DIR       PBS_HOME, instead of what the configuration says\n"
	       "  --foreground -N  stay in the foreground\n"
	       "  --set KEY=VALUE  replace one value: key=value or group.key=value\n"
	       "  --set DIR        run with a set of modules that the daemon has made; it does so itself\n"
	       "  --last-good      run with the configuration and the modules that served last\n"
	       "  --check          look at configuration and modules, start nothing\n"
	       "  --order POINT    with --check: print the compiled chain of a hook point\n",
	       conf != NULL ? conf : "no memory");
	free(conf);
}

static int option_take(struct options *o, int letter)
{
	char *members = (char *)o;

	if (letter == '?') /* getopt has printed the error */
		return -EINVAL;
	if (letter >= FLAG_AT)
		*(bool *)(members + letter - FLAG_AT) = true;
	else if (letter >= TEXT_AT)
		memcpy(members + letter - TEXT_AT, &optarg, sizeof(optarg));
	else if (letter == 'N')
		o->foreground = true;
	else if (letter == SET && optarg[0] == '/')
		o->set_dir = optarg;
	else if (letter == SET)
		o->set[o->n_set++] = optarg;
	else if (strcmp(optarg, "server") == 0)
		o->roles |= KEEL_SERVER;
	else if (strcmp(optarg, "mom") == 0)
		o->roles |= KEEL_MOM;
	else {
		fprintf(stderr, "keelsond: --role: expected server or mom, got \"%s\"\n", optarg);
		return -EINVAL;
	}
	return 0;
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
	if (err == 0 && o.order != NULL && !o.check) {
		fputs("keelsond: --order needs --check\n", stderr);
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
