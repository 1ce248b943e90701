/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c - the command line of keelson-sim.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

static const char usage[] =
	"usage: keelson sim [--seed N] [--steps N] [--hosts N] [--vnodes N] [--ncpus N] [--job-time S]\n"
	"                   [--faults NAME=RATE,...] [--features all|none|NAME,...] [--resv RATE] [--set KEY=VALUE]...\n"
	"                   [--trace FILE] [--dir DIR] [--log EVENTS] [--figure NAME] [--inject WHAT] [--quiet]\n"
	"  --seed N      which run (1); the same seed and options give the same run\n"
	"  --steps N     how many actions of users (2000)\n"
	"  --hosts N     simulated hosts (4), --vnodes N vnodes of each (1), --ncpus N cpus of each (4)\n"
	"  --job-time S  how long jobs run on average, in seconds (60)\n"
	"  --faults F    rates from 0 to 1: drop dup delay (of messages), crash (of the server, at a commit),\n"
	"                mom (of a host, at a start), slow (disk); or none\n"
	"  --features F  which modules besides the base ones (all)\n"
	"  --resv RATE   how often, from 0 to 1, a step also has a deed about reservations (0.3)\n"
	"  --set K=V     a key of the configuration, as in keelsond\n"
	"  --trace FILE  write the record of the run\n"
	"  --dir DIR     PBS_HOME of the server; it is kept\n"
	"  --log EVENTS  event classes of the server's log (1)\n"
	"  --figure NAME measure instead: cycle_100k, cycle_100k_resv, node_eligible_none,\n"
	"                node_eligible_tap, delete_preempt_1000, suspend_resume_1000,\n"
	"                job_10k_vnodes_stall, start_100_hosts, victims_10k_stall,\n"
	"                resv_confirm, maintenance_5k\n"
	"  --inject WHAT break something halfway, which must be found: vnode queue server lost placed marked\n"
	"                twice silent part orphan block stale holder alone early ownerless\n"
	"  --quiet       say nothing when all is well\n";

static const struct option table[] = {
	{ "seed", required_argument, NULL, 's' },   { "steps", required_argument, NULL, 'n' },
	{ "hosts", required_argument, NULL, 'h' },  { "vnodes", required_argument, NULL, 'v' },
	{ "ncpus", required_argument, NULL, 'c' },  { "job-time", required_argument, NULL, 'j' },
	{ "faults", required_argument, NULL, 'f' }, { "features", required_argument, NULL, 'm' },
	{ "set", required_argument, NULL, 'S' },    { "trace", required_argument, NULL, 't' },
	{ "dir", required_argument, NULL, 'd' },    { "log", required_argument, NULL, 'l' },
	{ "figure", required_argument, NULL, 'F' }, { "quiet", no_argument, NULL, 'q' },
	{ "inject", required_argument, NULL, 'i' }, { "resv", required_argument, NULL, 'r' },
	{ "help", no_argument, NULL, 'H' },	    { NULL, 0, NULL, 0 },
};

static const struct {
	const char *name;
	size_t at;
} rates[] = {
	{ "drop", offsetof(struct faults, drop) },   { "dup", offsetof(struct faults, dup) },
	{ "delay", offsetof(struct faults, delay) }, { "crash", offsetof(struct faults, crash) },
	{ "mom", offsetof(struct faults, mom) },     { "slow", offsetof(struct faults, slow) },
};

static double *rate_of(struct faults *f, const char *name)
{
	for (size_t i = 0; i < KEEL_COUNT(rates); i++)
		if (strcmp(rates[i].name, name) == 0)
			return (double *)(void *)((char *)f + rates[i].at);
	return NULL;
}

static int faults_take(struct faults *f, const char *text)
{
	char *copy = strdup(text), *at = copy, *item, *end;
	int ret = 0;

	*f = (struct faults){ 0 };
	while (strcmp(text, "none") != 0 && ret == 0 && (item = strsep(&at, ",")) != NULL) {
		char *value = strchr(item, '=');
		double *rate = NULL;

		if (value != NULL)
			*value++ = '\0';
		rate = value != NULL ? rate_of(f, item) : NULL;
		if (rate != NULL)
			*rate = strtod(value, &end);
		if (rate == NULL || *end != '\0' || *rate < 0 || *rate > 1) {
			fprintf(stderr, "keelson sim: --faults: '%s': expected NAME=RATE, NAME one of "
				"drop dup delay crash mom slow, RATE from 0 to 1\n", item);
			ret = 2;
		}
	}
	free(copy);
	return ret;
}

static int number(const char *option, const char *text, int64_t least, int64_t *ret)
{
	char *end;
	int64_t n = strtoll(text, &end, 10);

	if (*text == '\0' || *end != '\0' || n < least)
		return fprintf(stderr, "keelson sim: --%s: expected a number, at least %lld, got '%s'\n",
			       option, (long long)least, text), 2;
	*ret = n;
	return 0;
}

static int rate(const char *option, const char *text, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	if (*text != '\0' && *end == '\0' && *ret >= 0 && *ret <= 1)
		return 0;
	return fprintf(stderr, "keelson sim: --%s: expected a rate from 0 to 1, got '%s'\n", option, text), 2;
}

static int take(struct sim_conf *c, int letter, const char *name, const char **ret_figure)
{
	int64_t n = 0;
	int ret = 0;

	switch (letter) {
	case 's': ret = number(name, optarg, 0, &n); c->seed = (uint64_t)n; break;
	case 'n': ret = number(name, optarg, 0, &n); c->steps = (uint64_t)n; break;
	case 'h': ret = number(name, optarg, 1, &c->hosts); break;
	case 'v': ret = number(name, optarg, 1, &c->vnodes); break;
	case 'c': ret = number(name, optarg, 1, &c->ncpus); break;
	case 'j': ret = number(name, optarg, 0, &n); c->job_ms = n * 1000; break;
	case 'l': ret = number(name, optarg, 0, &n); c->log_events = (uint32_t)n; break;
	case 'f': ret = faults_take(&c->faults, optarg); break;
	case 'r': ret = rate(name, optarg, &c->resv); break;
	case 'm': c->features = optarg; break;
	case 't': c->trace = optarg; break;
	case 'd': c->dir = optarg; break;
	case 'i':
		c->inject = optarg;
		if (inject_known(optarg))
			break;
		fprintf(stderr, "keelson sim: --inject: '%s' is nothing to break\n", optarg);
		return 2;
	case 'F': *ret_figure = optarg; break;
	case 'q': c->quiet = true; break;
	case 'S':
		if (c->n_set < KEEL_COUNT(c->set))
			c->set[c->n_set++] = optarg;
		break;
	case 'H':
		fputs(usage, stdout);
		exit(0);
	default:
		return 2;
	}
	return ret;
}

int options_take(int argc, char **argv, struct sim_conf *conf, const char **ret_figure)
{
	static char name[] = "keelson sim";
	int letter, at, ret = 0;

	argv[0] = name;
	*ret_figure = NULL;
	*conf = (struct sim_conf){ .seed = 1, .steps = 2000, .hosts = 4, .vnodes = 1, .ncpus = 4,
				   .job_ms = 60000, .features = "all", .resv = 0.3, .log_events = 1,
				   .faults = { .drop = 0.002, .dup = 0.01, .delay = 0.01,
					       .crash = 0.0005, .mom = 0.005, .slow = 0.005 } };
	while (ret == 0 && (letter = getopt_long(argc, argv, "", table, &at)) != -1)
		ret = take(conf, letter, letter == '?' ? "" : table[at].name, ret_figure);
	if (ret == 0 && optind < argc) {
		fprintf(stderr, "keelson sim: unexpected operand '%s'\n", argv[optind]);
		ret = 2;
	}
	return ret;
}

void options_replay(const struct sim_conf *c, FILE *to)
{
	const struct faults *f = &c->faults;

	fprintf(to, "keelson sim --seed %llu --steps %llu --hosts %lld --vnodes %lld --ncpus %lld "
		"--job-time %lld --features %s --resv %g --faults drop=%g,dup=%g,delay=%g,crash=%g,mom=%g,slow=%g",
		(unsigned long long)c->seed, (unsigned long long)c->steps, (long long)c->hosts,
		(long long)c->vnodes, (long long)c->ncpus, (long long)(c->job_ms / 1000), c->features, c->resv,
		f->drop, f->dup, f->delay, f->crash, f->mom, f->slow);
	for (uint32_t i = 0; i < c->n_set; i++)
		fprintf(to, " --set '%s'", c->set[i]);
	if (c->inject != NULL)
		fprintf(to, " --inject %s", c->inject);
	fputc('\n', to);
}
