/* SPDX-License-Identifier: Apache-2.0
 *
 * end.c - the end of everything below keelson-tree.
 *
 * A program that starts others faster than they are killed is stopped first: what is stopped starts none. A pass stops what
 * runs, until one finds nothing that does. Then all are killed and reaped; what their end leaves behind becomes a child of
 * this process, and is found by the next pass.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tree.h"

#define PASSES 64 /* that stop; one that is not caught by then is killed as it runs */
#define MOST 65536

static pid_t *found; /* grows; this process ends soon */
static size_t n_found, room;

static void found_add(pid_t pid)
{
	pid_t *more;

	if (n_found == room) {
		more = room < MOST ? realloc(found, (room + 256) * 2 * sizeof(*found)) : NULL;
		if (more == NULL)
			return; /* the next pass has it */
		found = more;
		room = (room + 256) * 2;
	}
	found[n_found++] = pid;
}

/* Each thread has its own children. */
static void children_add(pid_t of)
{
	char path[320];
	struct dirent *e;
	DIR *tasks;
	FILE *f;
	int pid;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)of);
	tasks = opendir(path);
	while (tasks != NULL && (e = readdir(tasks)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)of, e->d_name);
		f = fopen(path, "re");
		while (f != NULL && fscanf(f, "%d", &pid) == 1)
			found_add(pid);
		if (f != NULL)
			fclose(f);
	}
	if (tasks != NULL)
		closedir(tasks);
}

static void look(void)
{
	n_found = 0;
	children_add(getpid());
	for (size_t i = 0; i < n_found; i++)
		children_add(found[i]);
}

static bool runs(pid_t pid)
{
	char path[64], text[512];
	const char *state = NULL;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	n = f != NULL ? fread(text, 1, sizeof(text) - 1, f) : 0;
	if (f != NULL)
		fclose(f);
	text[n] = '\0';
	state = strrchr(text, ')'); /* its name may have any character */
	return state != NULL && strlen(state) > 2 && strchr("TtZXx", state[2]) == NULL;
}

static bool pass_stops(void)
{
	bool any = false;

	look();
	for (size_t i = 0; i < n_found; i++)
		if (runs(found[i]) && kill(found[i], SIGSTOP) == 0)
			any = true;
	return any;
}

static void pass_kills(void)
{
	look();
	for (size_t i = 0; i < n_found; i++)
		kill(found[i], SIGKILL);
}

void kill_all(int init)
{
	int pass = 0;

	if (init > 0)
		kill(init, SIGKILL); /* the system kills the others with it */
	while (init <= 0 && pass++ < PASSES && pass_stops())
		;
	do {
		pass_kills();
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	} while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}
