/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.h - what the daemon's half and keelson-tree say to each other.
 *
 * The control socket: the daemon writes nothing, its end of file means "kill all". keelson-tree writes two struct tree_end:
 * the first when the program was started, with its pid, the second when all is over.
 */
#ifndef SUPERVISE_TREE_H
#define SUPERVISE_TREE_H

#include <stdint.h>

/* File descriptors of keelson-tree. */
enum { TREE_DATA = 3, TREE_FILTER = 4, TREE_CONTROL = 5, TREE_INPUT = 6 };

struct tree_end {
	int32_t pid;	/* of the program, while it runs; 0: it is over */
	int32_t status; /* as waitpid() gives it */
	char error[248]; /* the first: why it runs without bounds; the second: why it could not be started. "": it does, it could */
};

/* How to start the program; text, as arguments of keelson-tree. */
struct tree_order {
	int profile;  /* enum keel_profile */
	const char *user;
	long long memory;
	int processes; /* 0: as many as the profile has without a word */
	int captured; /* 1: standard output and error are the socket, standard input is TREE_INPUT */
	const char *dir; /* where it runs; "": where the daemon does */
};
/* Of `order`, or of its profile. */
int processes_of(const struct tree_order *order);

/* confine.c: this process, which is about to execute the program, becomes what `order` says. False: `error` says why it
 * cannot. */
int confine(const struct tree_order *order, char *error, int len);

/* group.c: the cgroup of a program of KEEL_PROFILE_HOST, below this process's own. False: `why` says what has no bound. */
int group_make(const struct tree_order *order, char *why, int len);
int group_enter(void); /* this process goes in, and what it starts; 0, -errno */
void group_kill(void); /* all in it; none of them starts another any more */
void group_remove(void);

/* end.c: ends and reaps every process below this one; with `init`, the first of their pid namespace, that first. */
void kill_all(int init);

#endif
