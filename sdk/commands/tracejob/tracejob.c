/* SPDX-License-Identifier: Apache-2.0
 *
 * tracejob.c - prints the records of jobs in this host's log files. Connects to no daemon.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "operand.h"
#include "pbs_ifl.h"
#include "reach.h"
#include "trace.h"

#define DEFAULT_HOME "/var/spool/pbs"
#define DEFAULT_REPEATS 15
#define DAYS_MAX 36500

static const char usage[] =
	"usage: tracejob [-a|s|l|m|v] [-w columns] [-p PBS_HOME] [-n days] [-f type]... [-z]\n"
	"\t[-c count] job_identifier...\n"
	"       tracejob --version\n"
	"   -a -s -l -m  leave out accounting, server, scheduler, mom records\n"
	"   -v           say which files cannot be read\n"
	"   -w columns   break lines at this width\n"
	"   -p PBS_HOME  where the files are\n"
	"   -n days      how many days to look back, today is the first (1)\n"
	"   -f type      leave out: error system admin job job_usage security sched debug\n"
	"                debug2 resv debug3 debug4 force, or event bits in hex\n"
	"   -z           show a message no more than -c times\n"
	"   -c count     how often a message may come with -z (15)\n";

static const struct {
	const char *word;
	unsigned long bits;
} events[] = {
	{ "error", 0x1 },     { "system", 0x2 },   { "admin", 0x4 },    { "job", 0x8 },
	{ "job_usage", 0x10 }, { "security", 0x20 }, { "sched", 0x40 },  { "debug", 0x80 },
	{ "debug2", 0x100 },  { "resv", 0x200 },   { "debug3", 0x400 }, { "debug4", 0x800 },
	{ "force", 0x8000 },
};

struct run {
	struct trace trace;
	const char *home; /* -p, or NULL */
	int days;
};

static int misuse(void)
{
	fputs(usage, stdout);
	return 1;
}

static int take_event(struct trace *t, const char *word)
{
	unsigned long bits;
	char *end;
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strcasecmp(word, events[i].word) == 0) {
			t->dropped_events |= events[i].bits;
			return 0;
		}
	bits = strtoul(word, &end, 16);
	if (end == word || *end)
		return -EINVAL;
	t->dropped_events |= bits;
	return 0;
}

/* A whole number from 1 to `most`. */
static int take_number(const char *text, long most, long *ret)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end || n < 1 || n > most)
		return -EINVAL;
	*ret = n;
	return 0;
}

static int take(struct run *r, int letter, const char *arg)
{
	static const char letters[] = "aslm"; /* in the order of enum trace_source */
	const char *source = strchr(letters, letter);
	long n = 0;
	int rc = 0;

	if (source) {
		r->trace.left_out[source - letters] = true;
		return 0;
	}
	switch (letter) {
	case 'v': r->trace.verbose = true; break;
	case 'z': r->trace.limit_repeats = true; break;
	case 'p': r->home = arg; break;
	case 'f': rc = take_event(&r->trace, arg); break;
	case 'c': rc = take_number(arg, 1000000, &r->trace.repeats_max); break;
	case 'n':
		rc = take_number(arg, DAYS_MAX, &n);
		r->days = (int)n;
		break;
	case 'w':
		rc = take_number(arg, 100000, &n);
		r->trace.columns = (int)n;
		break;
	default:
		rc = -EINVAL;
	}
	return rc;
}

/* Returns the exit status so far: 1 if a word is no id. */
static int take_ids(struct trace *t, char **words, int n)
{
	struct operand op;
	int i, status = 0;
	char *id;

	t->jobs = calloc((size_t)n, sizeof(*t->jobs));
	for (i = 0; t->jobs && i < n; i++) {
		if (!isdigit((unsigned char)words[i][strspn(words[i], " \t")]))
			id = strdup(operand_resv(words[i], &op) == 0 ? op.id : words[i]); /* or of another object */
		else
			id = operand_job(words[i], &op) == 0 ? strdup(op.id) : NULL;
		if (id && trace_job(t, id, strlen(id))) {
			free(id);
			continue;
		}
		if (id) {
			t->jobs[t->n_jobs++].id = id;
			continue;
		}
		fprintf(stderr, "tracejob: illegally formed job identifier: %s\n", words[i]);
		status = 1;
	}
	return status;
}

static int read_days(struct run *r)
{
	char *home = r->home ? NULL : pbs_conf_value("PBS_HOME");
	char *mom_home = r->home ? NULL : pbs_conf_value("PBS_MOM_HOME");
	const char *base = r->home ? r->home : home ? home : DEFAULT_HOME;
	int day, rc = 0;

	for (day = r->days - 1; day >= 0 && rc == 0; day--)
		rc = trace_read_day(&r->trace, base, mom_home ? mom_home : base, day);
	free(home);
	free(mom_home);
	return rc;
}

static int print_jobs(struct run *r)
{
	int status = 0;
	size_t i;

	for (i = 0; i < r->trace.n_jobs; i++) {
		if (r->trace.jobs[i].n > 0) {
			trace_print(&r->trace, &r->trace.jobs[i]);
			continue;
		}
		fflush(stdout);
		fprintf(stderr, "\ntracejob: Couldn't find Job Id %s in logs of past %d day%s\n\n",
			r->trace.jobs[i].id, r->days, r->days == 1 ? "" : "s");
		status = 1;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct run r = { .days = 1, .trace.repeats_max = DEFAULT_REPEATS };
	struct winsize size;
	int letter, status;

	if (reach_asked(argc, argv, usage))
		return 0;
	argv[0] = (char *)"tracejob";
	while ((letter = getopt(argc, argv, "aslmvw:p:n:f:zc:")) != -1)
		if (take(&r, letter, optarg) < 0)
			return misuse();
	if (optind == argc)
		return misuse();
	if (r.trace.columns == 0 && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		r.trace.columns = size.ws_col;
	status = take_ids(&r.trace, argv + optind, argc - optind);
	if (read_days(&r) < 0) {
		fprintf(stderr, "tracejob: out of memory\n");
		status = 1;
	} else if (print_jobs(&r) != 0) {
		status = 1;
	}
	for (size_t i = 0; i < r.trace.n_jobs; i++) {
		for (size_t j = 0; j < r.trace.jobs[i].n; j++)
			free(r.trace.jobs[i].records[j].date);
		free(r.trace.jobs[i].records);
		free(r.trace.jobs[i].id);
	}
	free(r.trace.jobs);
	return status;
}
