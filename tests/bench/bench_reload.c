/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_reload.c - how long a change of the modules takes, and how long others wait meanwhile.
 *
 *   bench_reload VERB [ARGUMENT]
 *
 * One thread asks for `keelson VERB`, the other submits one job after the other. Prints the seconds until the
 * answer, the longest wait of a submission in milliseconds, and how many there were.
 */
#include <pbs_ifl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static atomic_bool going = true;
static char **words;
static double took_ms;
static bool refused;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void *change(void *arg)
{
	int c = pbs_connect(NULL);
	double begin = now_ms();
	char **lines = pbs_admin(c, words[0], words + 1, NULL);

	took_ms = now_ms() - begin;
	refused = lines == NULL;
	if (refused)
		fprintf(stderr, "bench_reload: %s\n", pbs_geterrmsg(c));
	for (char **line = lines; line && *line; line++)
		free(*line);
	free(lines);
	pbs_disconnect(c);
	going = false;
	return arg;
}

int main(int argc, char **argv)
{
	struct attropl name = { .name = (char *)ATTR_N, .value = (char *)"reload", .op = SET };
	int c = pbs_connect(NULL), n = 0;
	double worst = 0;
	pthread_t thread;

	words = argv + 1;
	if (argc < 2 || c <= 0 || pthread_create(&thread, NULL, change, NULL))
		return 1;
	while (going) {
		double begin = now_ms(), waited;
		char *id = pbs_submit(c, &name, NULL, NULL, NULL);

		if (!id) {
			fprintf(stderr, "bench_reload: a submission was refused: %s\n", pbs_geterrmsg(c));
			return 1;
		}
		free(id);
		waited = now_ms() - begin;
		worst = waited > worst ? waited : worst;
		n++;
	}
	pthread_join(thread, NULL);
	pbs_disconnect(c);
	printf("%.3f %.1f %d\n", took_ms / 1e3, worst, n);
	return refused;
}
