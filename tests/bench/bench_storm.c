/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_storm.c - how long submissions wait, also beside requests that a bad script refuses.
 *
 *   bench_storm CLIENTS JOBS [JOB]
 *
 * Each client submits its share, one job after the other, each over a connection of its own, as qsub does. With JOB four others
 * alter it all the while, its priority in turn 0 to 19, and expect to be refused. Prints the 99th of 100 waits in milliseconds, and
 * how many alterations there were. Exit 1 when a submission was refused or an alteration was not.
 */
#include <pbs_error.h>
#include <pbs_ifl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct client {
	pthread_t thread;
	double *waits;
	int jobs;
};

#define OTHERS 4

static atomic_bool over, failed;
static atomic_int altered;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void submit(double *ret_wait)
{
	struct attropl held = { .name = (char *)ATTR_h, .value = (char *)"u", .op = SET };
	double begin = now_ms();
	int c = pbs_connect(NULL);
	char *id = c > 0 ? pbs_submit(c, &held, NULL, NULL, NULL) : NULL;

	if (!id)
		failed = true;
	free(id);
	if (c > 0)
		pbs_disconnect(c);
	*ret_wait = now_ms() - begin;
}

static void *submit_all(void *arg)
{
	struct client *client = arg;

	for (int i = 0; i < client->jobs; i++)
		submit(&client->waits[i]);
	return NULL;
}

static void *alter(void *arg)
{
	char value[16];
	struct attrl priority = { .name = (char *)ATTR_p, .value = value, .op = SET };
	int c = pbs_connect(NULL);

	while (c > 0 && !over) {
		snprintf(value, sizeof(value), "%d", altered++ % 20);
		if (pbs_alterjob(c, arg, &priority, NULL) != PBSE_HOOKERROR)
			failed = true;
	}
	if (c > 0)
		pbs_disconnect(c);
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0, each = n > 0 ? atoi(argv[2]) / n : 0;
	struct client *clients = calloc((size_t)n + 1, sizeof(*clients));
	double *waits = calloc((size_t)(n * each) + 1, sizeof(*waits));
	pthread_t others[OTHERS];

	if (each < 1 || !clients || !waits) {
		fputs("usage: bench_storm CLIENTS JOBS [JOB]\n", stderr);
		return 2;
	}
	for (int i = 0; argc > 3 && i < OTHERS; i++)
		if (pthread_create(&others[i], NULL, alter, argv[3]))
			return 1;
	for (int i = 0; i < n; i++) {
		clients[i] = (struct client){ .waits = waits + i * each, .jobs = each };
		if (pthread_create(&clients[i].thread, NULL, submit_all, &clients[i]))
			return 1;
	}
	for (int i = 0; i < n; i++)
		pthread_join(clients[i].thread, NULL);
	over = true;
	for (int i = 0; argc > 3 && i < OTHERS; i++)
		pthread_join(others[i], NULL);
	qsort(waits, (size_t)(n * each), sizeof(*waits), by_size);
	printf("%.3f %d\n", waits[n * each * 99 / 100], altered);
	free(waits);
	free(clients);
	return failed;
}
