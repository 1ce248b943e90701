/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_storm.c - how long each of many submissions takes, while some of them make trouble.
 *
 *   bench_storm CLIENTS JOBS [EVERY NAME...]
 *
 * One thread per client. One in EVERY jobs of the first client is called by the next NAME, which the module
 * of tests/fixtures/trouble.c takes for an order. Prints how many of the others were accepted, were refused and by
 * which words, and their times, as JSON lines.
 */
#include <pbs_error.h>
#include <pbs_ifl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct storm {
	int jobs, every, n_names;
	char **names;
};

struct lane {
	pthread_t thread;
	const struct storm *storm;
	bool first;
	double *took;
	int n, accepted, refused, troubles;
	char words[256];
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct attropl attribute(const char *name, const char *value, struct attropl *next)
{
	return (struct attropl){ .next = next, .name = (char *)(uintptr_t)name,
				 .value = (char *)(uintptr_t)value, .op = SET };
}

static bool submit(int c, const char *name)
{
	struct attropl hold = attribute(ATTR_h, "u", NULL);
	struct attropl job = attribute(ATTR_N, name, &hold);
	char *id = pbs_submit(c, &job, NULL, NULL, NULL);

	free(id);
	return id != NULL;
}

static void ordinary(struct lane *l, int c)
{
	double began = now_ms();
	const char *words;

	if (submit(c, "storm")) {
		l->accepted++;
	} else {
		l->refused++;
		words = pbs_geterrmsg(c);
		snprintf(l->words, sizeof(l->words), "%s", words != NULL ? words : "?");
	}
	l->took[l->n++] = now_ms() - began;
}

static void *run(void *arg)
{
	struct lane *l = arg;
	const struct storm *s = l->storm;
	int c = pbs_connect(NULL);

	for (int i = 0; i < s->jobs && c > 0; i++) {
		if (l->first && s->every > 0 && i % s->every == s->every / 2)
			submit(c, s->names[l->troubles++ % s->n_names]);
		ordinary(l, c);
	}
	pbs_disconnect(c);
	return arg;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int clients = argc > 2 ? atoi(argv[1]) : 0, n = 0, accepted = 0, refused = 0;
	struct storm s = { .jobs = clients > 0 ? atoi(argv[2]) / clients : 0 };
	struct lane *lanes = calloc((size_t)clients + 1, sizeof(*lanes));
	double *all = calloc((size_t)(clients * s.jobs) + 1, sizeof(*all));
	const char *words = "";

	if (s.jobs <= 0 || lanes == NULL || all == NULL)
		return 2;
	if (argc > 4) {
		s.every = atoi(argv[3]);
		s.names = argv + 4;
		s.n_names = argc - 4;
	}
	for (int i = 0; i < clients; i++) {
		lanes[i] = (struct lane){ .storm = &s, .first = i == 0,
					  .took = calloc((size_t)s.jobs, sizeof(double)) };
		pthread_create(&lanes[i].thread, NULL, run, &lanes[i]);
	}
	for (int i = 0; i < clients; i++) {
		pthread_join(lanes[i].thread, NULL);
		memcpy(all + n, lanes[i].took, (size_t)lanes[i].n * sizeof(*all));
		n += lanes[i].n;
		accepted += lanes[i].accepted;
		refused += lanes[i].refused;
		if (lanes[i].refused > 0)
			words = lanes[i].words;
	}
	qsort(all, (size_t)n, sizeof(*all), by_size);
	printf("{\"name\": \"storm\", \"accepted\": %d, \"refused\": %d, \"troubles\": %d, \"words\": \"%s\", "
	       "\"p50_ms\": %.2f, \"p99_ms\": %.2f, \"max_ms\": %.1f}\n",
	       accepted, refused, lanes[0].troubles, words, all[n / 2], all[(long)n * 99 / 100], all[n - 1]);
	return accepted + refused == clients * s.jobs ? 0 : 1;
}
