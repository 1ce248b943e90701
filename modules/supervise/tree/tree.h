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
	char error[248]; /* it could not be started: why; "": it could */
};

/* How to start the program; text, as arguments of keelson-tree. */
struct tree_order {
	int profile;  /* enum keel_profile */
	const char *user;
	long long memory;
	int captured; /* 1: standard output and error are the socket, standard input is TREE_INPUT */
};

/* confine.c: this process, which is about to execute the program, becomes what `order` says. False: `error` says why it
 * cannot. */
int confine(const struct tree_order *order, char *error, int len);

#endif
