/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_submit.c - durable submissions through libpbs.
 *
 *   bench_submit CONNECTIONS JOBS [SCRIPT | --]
 *
 * `--`: the jobs are `qsub -- /bin/sh -c :`, one shell each that is not a login shell; without it they have
 * no script.
 *
 * One thread per connection, each submitting its share as fast as answers come. Prints the seconds from
 * the first request to the last answer. Exit 1 when a submission was refused.
 */
#include <pbs_ifl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct lane {
	pthread_t thread;
	int jobs;
	const char *script;
	const char *refused; /* why, static */
};

static pthread_barrier_t barrier;

static struct attropl attribute(const char *name, const char *resource, const char *value,
				struct attropl *next)
{
	return (struct attropl){ .next = next, .name = (char *)(uintptr_t)name,
				 .resource = (char *)(uintptr_t)resource,
				 .value = (char *)(uintptr_t)value, .op = SET };
}

static int submit(int c, const char *script)
{
	struct attropl args = attribute(ATTR_Arglist, NULL,
					"<jsdl-hpcpa:Argument>-c</jsdl-hpcpa:Argument>"
					"<jsdl-hpcpa:Argument>:</jsdl-hpcpa:Argument>",
					NULL);
	struct attropl shell = attribute(ATTR_executable, NULL,
					 "<jsdl-hpcpa:Executable>/bin/sh</jsdl-hpcpa:Executable>", &args);
	bool direct = script && strcmp(script, "--") == 0;
	struct attropl path = attribute(ATTR_o, NULL, "localhost:/dev/null",
					direct ? &shell : NULL);
	struct attropl error = attribute(ATTR_e, NULL, "localhost:/dev/null", &path);
	struct attropl vars = attribute(ATTR_v, NULL,
					"PBS_O_HOME=/home/bench,PBS_O_LANG=C,PBS_O_LOGNAME=bench,"
					"PBS_O_PATH=/usr/local/bin:/usr/bin:/bin,PBS_O_SHELL=/bin/sh,"
					"PBS_O_WORKDIR=/tmp,PBS_O_SYSTEM=Linux",
					&error);
	struct attropl select = attribute(ATTR_l, "select", "1:ncpus=1", &vars);
	struct attropl name = attribute(ATTR_N, NULL, "bench", &select);
	char *id = pbs_submit(c, &name, direct ? NULL : (char *)(uintptr_t)script, NULL, NULL);

	free(id);
	return id != NULL;
}

static void *lane_run(void *arg)
{
	struct lane *lane = arg;
	int c = pbs_connect(NULL);

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < lane->jobs && !lane->refused; i++)
		if (c <= 0 || !submit(c, lane->script))
			lane->refused = "refused";
	if (lane->refused)
		fprintf(stderr, "bench_submit: error %d: %s\n", pbs_errno,
			c > 0 && pbs_geterrmsg(c) ? pbs_geterrmsg(c) : "no connection");
	if (c > 0)
		pbs_disconnect(c);
	return NULL;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0, jobs = argc > 2 ? atoi(argv[2]) : 0, refused = 0;
	struct lane *lanes = n > 0 ? calloc((size_t)n, sizeof(*lanes)) : NULL;
	double begin;

	if (!lanes || jobs < n) {
		fputs("usage: bench_submit CONNECTIONS JOBS [SCRIPT]\n", stderr);
		return 2;
	}
	pthread_barrier_init(&barrier, NULL, (unsigned)n + 1);
	for (int i = 0; i < n; i++) {
		lanes[i].jobs = jobs / n + (i < jobs % n);
		lanes[i].script = argc > 3 ? argv[3] : NULL;
		if (pthread_create(&lanes[i].thread, NULL, lane_run, &lanes[i]))
			return 1;
	}
	pthread_barrier_wait(&barrier);
	begin = now();
	for (int i = 0; i < n; i++) {
		pthread_join(lanes[i].thread, NULL);
		refused |= lanes[i].refused != NULL;
	}
	printf("%.6f\n", now() - begin);
	free(lanes);
	return refused;
}
