/* SPDX-License-Identifier: Apache-2.0
 *
 * pbsdsh.c - run a program on the nodes of the job.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "task.h"

static const struct cmd pbsdsh = {
	.name = "pbsdsh",
	.usage = "Usage: pbsdsh [-c copies][-s][-v][-o] -- program [args...]\n"
		 "       pbsdsh [-n node_index][-s][-v][-o] -- program [args...]\n"
		 "       pbsdsh --version\n"
		 "Where -c copies =  run a copy of \"program\" on the first \"copies\" nodes,\n"
		 "      -n node_index = run a copy of \"program\" on the \"node_index\"-th node,\n"
		 "      -s = forces synchronous execution,\n"
		 "      -v = forces verbose output.\n"
		 "      -o = no obits are waited for.\n",
	.usage_exit = 1,
};

struct wish {
	int copies, node; /* -1: not given */
	const char *host;
	bool one_by_one, verbose, no_obits;
};

/* A copy of the program. */
struct copy {
	tm_task_id task;
	tm_event_t event; /* of its start, then of its end; 0: it is over */
	int status;
	bool started;
};

struct run {
	const struct wish *wish;
	struct copy *copies;
	tm_task_id *running; /* tasks, TM_NULL_TASK when over; for a signal */
	int n, n_starts, n_obits;
	int signal; /* that came: passed on when every task that is being started is known */
	int exit;
};

/* ---- the command line --------------------------------------------------------------------------------------------- */
static bool number_parse(const char *text, int *ret)
{
	char *end;
	long n = strtol(text, &end, 10);

	*ret = (int)n;
	return *text != '\0' && *end == '\0' && n >= 0 && n <= 1000000;
}

static bool options_parse(int argc, char **argv, struct wish *w)
{
	bool bad = false;
	int letter;

	while ((letter = getopt(argc, argv, "+c:n:h:svo")) != -1) {
		switch (letter) {
		case 'c':
			bad |= !number_parse(optarg, &w->copies);
			break;
		case 'n':
			bad |= !number_parse(optarg, &w->node);
			break;
		case 'h':
			w->host = optarg;
			break;
		case 's':
			w->one_by_one = true;
			break;
		case 'v':
			w->verbose = true;
			break;
		case 'o':
			w->no_obits = true;
			break;
		default:
			bad = true;
		}
	}
	return !bad && optind < argc && (w->copies >= 0) + (w->node >= 0) + (w->host != NULL) <= 1;
}

/* The first line of the node file that names it; -1: none. */
static int node_of(const char *host)
{
	const char *path = getenv("PBS_NODEFILE");
	FILE *f = path != NULL ? fopen(path, "re") : NULL;
	char *line = NULL;
	size_t size = 0;
	int found = -1;

	for (int i = 0; f != NULL && found < 0 && getline(&line, &size, f) >= 0; i++) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, host) == 0)
			found = i;
	}
	free(line);
	if (f != NULL)
		fclose(f);
	return found;
}

/* ---- events ------------------------------------------------------------------------------------------------------- */
static void copy_over(struct run *r, int i)
{
	struct copy *c = &r->copies[i];

	c->event = TM_NULL_EVENT;
	r->running[i] = TM_NULL_TASK;
	r->n_obits--;
	if (c->status != 0 || r->wish->verbose)
		fprintf(stderr, "pbsdsh: task 0x%08X exit status %d\n", (unsigned)i, c->status);
}

static void copy_started(struct run *r, int i, int error)
{
	struct copy *c = &r->copies[i];

	c->event = TM_NULL_EVENT;
	c->started = true;
	r->n_starts--;
	if (error != TM_SUCCESS) {
		fprintf(stderr, "pbsdsh: error %d on spawn\n", error);
		r->exit = 1;
		return;
	}
	r->running[i] = c->task;
	if (r->wish->no_obits)
		return;
	error = tm_obit(c->task, &c->status, &c->event);
	if (error == TM_SUCCESS)
		r->n_obits++;
	else
		fprintf(stderr, "pbsdsh: obit failed on task 0x%08X err %s\n", (unsigned)i, task_error(error));
}

static void event_take(struct run *r, tm_event_t event, int error)
{
	int i = 0;

	while (i < r->n && r->copies[i].event != event)
		i++;
	if (i == r->n)
		return;
	if (!r->copies[i].started) {
		copy_started(r, i, error);
	} else {
		if (error != TM_SUCCESS) {
			fprintf(stderr, "pbsdsh: error %d on obit for task 0x%08X\n", error, (unsigned)i);
			r->copies[i].status = 0;
			r->exit = 1;
		}
		copy_over(r, i);
	}
}

static void signal_pass(struct run *r)
{
	for (int i = 0; i < r->n; i++)
		if (r->running[i] != TM_NULL_TASK)
			fprintf(stderr, "pbsdsh: killing task 0x%08X signal %d\n", r->running[i], r->signal);
	task_kill_all(r->running, r->n, r->signal);
	exit(1);
}

static void wait_all(struct run *r)
{
	tm_event_t event;
	int error, ret;

	while (r->n_starts > 0 || r->n_obits > 0) {
		if (r->wish->verbose)
			fprintf(stderr, "pbsdsh: waiting on %d spawned and %d obits\n", r->n_starts, r->n_obits);
		ret = task_poll(&event, &error, &r->signal);
		if (ret == TM_SUCCESS)
			event_take(r, event, error);
		if (r->signal != 0 && r->n_starts == 0)
			signal_pass(r);
		if (ret == TM_ENOEVENT)
			continue;
		if (ret != TM_SUCCESS) {
			fprintf(stderr, "pbsdsh: event poll failed, error %s\n", task_error(ret));
			exit(2);
		}
	}
}

static void run_all(struct run *r, int n_nodes, int argc, char **argv)
{
	const struct wish *w = r->wish;

	for (int i = 0; i < r->n; i++) {
		int node = w->node >= 0 ? w->node % n_nodes : i % n_nodes, ret;

		r->copies[i].status = 0;
		ret = tm_spawn(argc, argv, NULL, node, &r->copies[i].task, &r->copies[i].event);
		if (ret != TM_SUCCESS) {
			fprintf(stderr, "pbsdsh: spawn failed on node %d err %s\n", node, task_error(ret));
			r->exit = 1;
			continue;
		}
		r->n_starts++;
		if (w->verbose)
			fprintf(stderr, "pbsdsh: spawned task 0x%08X on logical node %d event %d\n", (unsigned)i, node,
				r->copies[i].event);
		if (w->one_by_one)
			wait_all(r);
	}
	wait_all(r);
}

int main(int argc, char **argv)
{
	struct wish w = { .copies = -1, .node = -1 };
	struct run r = { .wish = &w };
	struct tm_roots roots;
	int ret;

	if (cmd_begin(&pbsdsh, argc, argv))
		return 0;
	if (!options_parse(argc, argv, &w))
		return cmd_usage(&pbsdsh);
	if (getenv("PBS_ENVIRONMENT") == NULL) {
		fputs("pbsdsh: not executing under PBS\n", stderr);
		return 1;
	}
	task_signals_catch();
	ret = tm_init(NULL, &roots);
	if (ret != TM_SUCCESS) {
		fprintf(stderr, "pbsdsh: tm_init failed, rc = %s (%d)\n", task_error(ret), ret);
		return 1;
	}
	if (w.host != NULL && (w.node = node_of(w.host)) < 0) {
		fprintf(stderr, "pbsdsh: host \"%s\" is not a node in job <%s>\n", w.host, getenv("PBS_JOBID"));
		return 1;
	}
	r.n = roots.tm_nnodes == 0 ? 0 : w.node >= 0 ? 1 : w.copies >= 0 ? w.copies : roots.tm_nnodes;
	r.copies = calloc((size_t)r.n + 1, sizeof(*r.copies));
	r.running = calloc((size_t)r.n + 1, sizeof(*r.running));
	if (r.copies == NULL || r.running == NULL) {
		fputs("pbsdsh: out of memory\n", stderr);
		return 1;
	}
	run_all(&r, roots.tm_nnodes, argc - optind, argv + optind);
	tm_finalize();
	free(r.copies);
	free(r.running);
	return r.exit;
}
