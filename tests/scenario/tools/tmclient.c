/* SPDX-License-Identifier: Apache-2.0
 *
 * tmclient.c - a program of a job, on libpbs: it starts tasks, asks for all there is, and asks for too much.
 *
 *	tmclient spawn N PROGRAM [ARG]...	N tasks, one node after the other; waits for their ends
 *	tmclient calls				every call, a line each
 *	tmclient flood				more events than there may be
 *	tmclient wait FILE			a task that sleeps until FILE is there, and its end
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tm.h"

static struct tm_roots roots;
static int n_failed;

static void check(int ret, const char *what)
{
	if (ret == TM_SUCCESS)
		return;
	printf("%s failed: %d\n", what, ret);
	exit(1);
}

/* Waits for the next event; returns its error. */
static int next(tm_event_t *event)
{
	int error = 0;

	check(tm_poll(TM_NULL_EVENT, event, 1, &error), "tm_poll");
	return error;
}

static double clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1000 + (double)now.tv_nsec / 1e6;
}

static int spawn(int n, int argc, char **argv)
{
	tm_task_id *tasks = calloc((size_t)n, sizeof(*tasks));
	int *ends = calloc((size_t)n, sizeof(*ends)), n_started = 0, bad = 0;
	tm_event_t event, *starts = calloc((size_t)n, sizeof(*starts));
	double began = clock_ms(), started;

	for (int i = 0; i < n; i++)
		check(tm_spawn(argc, argv, NULL, i % roots.tm_nnodes, &tasks[i], &starts[i]), "tm_spawn");
	for (; n_started < n; n_started++)
		if (next(&event) != TM_SUCCESS)
			n_failed++;
	started = clock_ms();
	for (int i = 0; i < n; i++)
		if (tasks[i] != TM_NULL_TASK)
			check(tm_obit(tasks[i], &ends[i], &event), "tm_obit");
	for (int i = 0; i < n - n_failed; i++)
		if (next(&event) != TM_SUCCESS)
			n_failed++;
	for (int i = 0; i < n; i++)
		bad += ends[i] != 0;
	printf("%d tasks, %d failed, %d ended with an error, started in %.0f ms, over in %.0f ms\n", n, n_failed, bad, started - began,
	       clock_ms() - began);
	return n_failed > 0 || bad > 0;
}

static int calls(void)
{
	char *sleeper[] = { "/bin/sleep", "100", NULL }, *exiter[] = { "/bin/sh", "-c", "exit $CODE", NULL }, *env[] = { "CODE=7", NULL };
	char text[200] = "", value[16] = "";
	tm_task_id task = 0, tasks[8];
	tm_node_id *nodes, node;
	tm_event_t event, got;
	int n, status = -1, amount = 0, error;

	printf("me %X parent %X nodes %d\n", roots.tm_me, roots.tm_parent, roots.tm_nnodes);
	printf("twice: %d\n", tm_init(NULL, &roots));
	check(tm_nodeinfo(&nodes, &n), "tm_nodeinfo");
	printf("nodes %d, first %d, behind the last %d\n", n, nodes[0], nodes[n]);
	printf("nothing outstanding: %d\n", tm_poll(TM_NULL_EVENT, &event, 0, &error));
	printf("poll of an event: %d\n", tm_poll(5, &event, 0, &error));
	printf("empty: %d %d\n", tm_spawn(0, exiter, NULL, 0, &task, &event), tm_spawn(1, (char *[]){ "", NULL }, NULL, 0, &task, &event));
	printf("unknown task: %d %d %d\n", tm_kill(12345, 9, &event), tm_obit(12345, &status, &event), tm_atnode(12345, &node));
	check(tm_spawn(3, exiter, env, n - 1, &task, &event), "tm_spawn");
	printf("spawned: %d\n", next(&got) | (got != event));
	check(tm_obit(task, &status, &event), "tm_obit");
	error = next(&got);
	printf("its end: %d %d\n", error, status);
	check(tm_atnode(task, &node), "tm_atnode");
	printf("on the last node: %d\n", node == n - 1);
	check(tm_spawn(2, sleeper, NULL, n - 1, &task, &event), "tm_spawn");
	printf("sleeps: %d\n", next(&got));
	check(tm_obit(task, &status, &event), "tm_obit");
	printf("not yet: %d", tm_poll(TM_NULL_EVENT, &got, 0, &error));
	printf(" %d\n", got);
	check(tm_kill(task, 15, &event), "tm_kill");
	error = next(&got);
	printf("killed: %d %d", error, next(&got));
	printf(" %d\n", status);
	check(tm_kill(task, 15, &event), "tm_kill");
	printf("again: %d\n", next(&got));
	check(tm_spawn(2, sleeper, NULL, 99, &task, &event), "tm_spawn");
	printf("no such node: %d\n", next(&got));
	check(tm_taskinfo(0, tasks, 1, &amount, &event), "tm_taskinfo");
	error = next(&got);
	printf("tasks of node 0: %d %d %X\n", error, amount, tasks[0]);
	check(tm_rescinfo(0, text, sizeof(text), &event), "tm_rescinfo");
	error = next(&got);
	printf("resources: %d %s\n", error, strrchr(text, ':'));
	check(tm_publish("data", "some data", 10, &event), "tm_publish");
	printf("published: %d\n", next(&got));
	check(tm_subscribe(roots.tm_me, "data", value, 4, &amount, &event), "tm_subscribe");
	error = next(&got);
	printf("subscribed: %d %d %s\n", error, amount, value);
	check(tm_subscribe(roots.tm_me, "none", value, 4, &amount, &event), "tm_subscribe");
	printf("no such value: %d\n", next(&got));
	printf("not implemented: %d %d\n", tm_notify(1), tm_alloc("", &event));
	check(tm_finalize(), "tm_finalize");
	printf("ended: %d\n", tm_finalize());
	check(tm_init(NULL, &roots), "tm_init once more");
	free(nodes);
	return 0;
}

static int flood(void)
{
	enum { MANY = 20000, MOST = 16384 };
	char *sleeper[] = { "/bin/sleep", "1000", NULL };
	int *ends = calloc(MANY, sizeof(*ends)), n_refused = 0;
	tm_event_t event;
	tm_task_id task;

	check(tm_spawn(2, sleeper, NULL, 0, &task, &event), "tm_spawn");
	check(next(&event), "the start");
	for (int i = 0; i < MANY; i++)
		check(tm_obit(task, &ends[i], &event), "tm_obit");
	for (int i = 0; i < MANY - MOST; i++)
		n_refused += next(&event) == TM_ESYSTEM;
	check(tm_poll(TM_NULL_EVENT, &event, 0, &ends[0]), "tm_poll");
	printf("%d refused, then %d\n", n_refused, event);
	return 0;
}

static int wait_for(const char *file)
{
	char script[300], *argv[] = { "/bin/sh", "-c", script, NULL };
	tm_event_t event;
	tm_task_id task;
	int status = -1, error;

	snprintf(script, sizeof(script), "until [ -e '%s' ]; do sleep .05; done; exit 9", file);
	check(tm_spawn(3, argv, NULL, roots.tm_nnodes - 1, &task, &event), "tm_spawn");
	check(next(&event), "the start");
	check(tm_obit(task, &status, &event), "tm_obit");
	printf("waiting\n");
	fflush(stdout);
	error = next(&event);
	printf("over: %d %d\n", error, status);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	check(tm_init(NULL, &roots), "tm_init");
	if (strcmp(argv[1], "spawn") == 0 && argc > 3)
		return spawn(atoi(argv[2]), argc - 3, argv + 3);
	if (strcmp(argv[1], "calls") == 0)
		return calls();
	if (strcmp(argv[1], "flood") == 0)
		return flood();
	return strcmp(argv[1], "wait") == 0 && argc > 2 ? wait_for(argv[2]) : 2;
}
