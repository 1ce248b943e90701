/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_reload.c - how long a change of the modules takes, and how long others wait meanwhile.
 *
 *   bench_reload CLIENTS VERB [ARGUMENT]
 *
 * One thread sends `keelson VERB`, the others submit one job after the other. Prints the seconds until the
 * answer, the longest wait of a submission in milliseconds, and how many there were.
 */
#include <pbs_ifl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CLIENTS_MAX 64

static atomic_bool going = true;
static char **words;
static double took_ms;
static atomic_bool refused;

struct client {
	pthread_t thread;
	double worst_ms;
	int n;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void *submit(void *arg)
{
	struct attropl name = { .name = (char *)ATTR_N, .value = (char *)"reload", .op = SET };
	struct client *me = arg;
	int c = pbs_connect(NULL);

	while (going && !refused) {
		double begin = now_ms(), waited;
		char *id = pbs_submit(c, &name, NULL, NULL, NULL);

		if (!id) {
			fprintf(stderr, "bench_reload: a submission was refused: %s\n", pbs_geterrmsg(c));
			refused = true;
		}
		free(id);
		waited = now_ms() - begin;
		me->worst_ms = waited > me->worst_ms ? waited : me->worst_ms;
		me->n++;
	}
	pbs_disconnect(c);
	return NULL;
}

static void change(void)
{
	int c = pbs_connect(NULL);
	double begin = now_ms();
	char token[33], **lines;

	snprintf(token, sizeof(token), "%032llx", (unsigned long long)(begin * 1e6));
	lines = pbs_admin(c, words[0], words + 1, token);
	took_ms = now_ms() - begin;
	if (!lines) {
		fprintf(stderr, "bench_reload: %s\n", pbs_geterrmsg(c));
		refused = true;
	}
	for (char **line = lines; line && *line; line++)
		free(*line);
	free(lines);
	pbs_disconnect(c);
	going = false;
}

int main(int argc, char **argv)
{
	static struct client clients[CLIENTS_MAX];
	int n_clients = argc > 2 ? atoi(argv[1]) : 0, n = 0;
	double worst = 0;

	words = argv + 2;
	if (n_clients < 1 || n_clients > CLIENTS_MAX)
		return 1;
	for (int i = 0; i < n_clients; i++)
		if (pthread_create(&clients[i].thread, NULL, submit, &clients[i]))
			return 1;
	change();
	for (int i = 0; i < n_clients; i++) {
		pthread_join(clients[i].thread, NULL);
		worst = clients[i].worst_ms > worst ? clients[i].worst_ms : worst;
		n += clients[i].n;
	}
	printf("%.3f %.1f %d\n", took_ms / 1e3, worst, n);
	return refused;
}
