/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c - the command line of qstat.
 *
 * Old rules that stay: -a -i -r -H -q exclude each other, -G excludes -M, -F needs -f, -1 alone is an
 * error. Newer ones: with -f, -1 is accepted; with -f and -F, -a -i -r -H -u only choose jobs,
 * -q is -Q, and -w changes nothing.
 */
#include "options.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char qstat_usage[] =
	"usage: \n"
	"qstat [-f] [-J] [-p] [-t] [-x] [-E] [-F format | -w] [-D delim] "
	"[ job_identifier... | destination... ]\n"
	"qstat [-a|-i|-r|-H|-T] [-J] [-t] [-u user] [-n] [-s] [-G|-M] [-1] [-w]\n"
	"\t[ job_identifier... | destination... ]\n"
	"qstat -Q [-f] [-F format] [-D delim] [ destination... ]\n"
	"qstat -q [-G|-M] [ destination... ]\n"
	"qstat -B [-f] [-F format] [-D delim] [ server_name... ]\n"
	"qstat --version\n";

static const struct {
	char letter;
	const char *states;
} state_choices[] = {
	{ 'a', NULL },
	{ 'i', "EHQTW" },
	{ 'r', "RS" },
	{ 'H', "MFX" },
};

static int misuse(const char *why)
{
	if (why)
		fprintf(stderr, "qstat: %s\n", why);
	fputs(qstat_usage, stderr);
	return -1;
}

/* State of the parser, beside the options themselves. */
struct reading {
	struct options *o;
	char choice; /* of a i r H q; 0 none */
	bool conflict;
};

static void choose(struct reading *r, char letter)
{
	size_t i;

	if (r->choice && r->choice != letter)
		r->conflict = true;
	r->choice = letter;
	for (i = 0; i < sizeof(state_choices) / sizeof(state_choices[0]); i++)
		if (state_choices[i].letter == letter)
			r->o->states = state_choices[i].states;
	r->o->alternate = r->o->alternate || letter != 'q';
	r->o->history = r->o->history || letter == 'H';
	if (letter == 'q') {
		r->o->queue_limits = true;
		r->o->mode = MODE_QUEUES;
	}
}

static int take_letter(struct reading *r, int letter, const char *arg)
{
	struct options *o = r->o;

	switch (letter) {
	case 'a': case 'i': case 'r': case 'H': case 'q':
		choose(r, (char)letter);
		return 0;
	case 'n': o->hosts = o->alternate = true; return 0;
	case 's': o->comments = o->alternate = true; return 0;
	case 'u': o->users = arg; o->alternate = true; return 0;
	case 'G': o->gigabytes = o->alternate = true; return 0;
	case 'M': o->megawords = o->alternate = true; return 0;
	case 'T': o->estimate = o->alternate = true; return 0;
	case '1': o->one_line = true; return 0;
	case 'f': o->full = true; return 0;
	case 'w': o->wide = true; return 0;
	case 'p': o->percent = true; return 0;
	case 'x': o->history = true; return 0;
	case 't': o->subjobs = true; return 0;
	case 'J': o->arrays = true; return 0;
	case 'E': o->express = true; return 0;
	case 'D': o->delimiter = arg; return 0;
	case 'F':
		o->format_given = true;
		return show_format_find(arg, &o->format);
	case 'W': /* the old form of the same */
		for (; *arg; arg++) {
			struct passwd *own = *arg == 'u' ? getpwuid(getuid()) : NULL;

			if (!strchr("airHunsqGM1", *arg) || take_letter(r, *arg, own ? own->pw_name : "") < 0)
				return -1;
		}
		return 0;
	case 'Q':
	case 'B':
		o->mode = letter == 'Q' ? MODE_QUEUES : MODE_SERVERS;
		return 0;
	default:
		return -1;
	}
}

int options_read(int argc, char **argv, struct options *ret, int *ret_first)
{
	struct options o = { .delimiter = "|" };
	struct reading r = { .o = &o };
	int letter;

	while ((letter = getopt(argc, argv, "aBD:EfF:GHiJMnpqQrstTu:wW:x1")) != -1)
		if (take_letter(&r, letter, optarg) < 0)
			return misuse(NULL);
	if (r.conflict || (o.gigabytes && o.megawords) || (o.format_given && !o.full) ||
	    (o.one_line && !o.hosts && !o.comments && !o.full))
		return misuse("conflicting options.");
	if (o.full && o.format_given && o.format != FORMAT_TEXT)
		o.alternate = o.queue_limits = false;
	*ret = o;
	*ret_first = optind;
	return 0;
}
