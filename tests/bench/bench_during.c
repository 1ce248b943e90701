/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_during.c - how long a submission waits while somebody lists everything.
 *
 *   bench_during
 *
 * One thread reads the full status of all jobs twice, the other submits one job after the other. Prints
 * the longest wait of a submission in milliseconds.
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

static atomic_bool listing = true;

static int drop(struct batch_status *one, void *arg)
{
	(void)one, (void)arg;
	return 0;
}

static void *list_all(void *arg)
{
	int c = pbs_connect(NULL);

	for (int i = 0; i < 2; i++)
		pbs_stat_each(c, "job", "", NULL, NULL, NULL, drop, NULL);
	pbs_disconnect(c);
	listing = false;
	return arg;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(void)
{
	struct attropl name = { .name = (char *)ATTR_N, .value = (char *)"during", .op = SET };
	int c = pbs_connect(NULL);
	double worst = 0;
	pthread_t thread;

	if (c <= 0 || pthread_create(&thread, NULL, list_all, NULL))
		return 1;
	while (listing) {
		double begin = now_ms(), waited;
		char *id = pbs_submit(c, &name, NULL, NULL, NULL);

		if (!id)
			return 1;
		free(id);
		waited = now_ms() - begin;
		if (waited > worst)
			worst = waited;
	}
	pthread_join(thread, NULL);
	pbs_disconnect(c);
	printf("%.1f\n", worst);
	return 0;
}
