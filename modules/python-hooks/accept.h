/* SPDX-License-Identifier: Apache-2.0
 *
 * accept.h - what updates.c and accept.c share: an update of a host, which is made in pieces.
 */
#ifndef PYTHON_HOOKS_ACCEPT_H
#define PYTHON_HOOKS_ACCEPT_H

#include "host.h"

/* A host that has sent an update. It is not trusted: what it may make grow is bounded. */
struct reporter {
	UT_hash_handle hh;
	char *name;
	struct update *updates; /* the first one is being made */
	uint32_t n_updates, bytes;
	uint32_t resources, vnodes; /* that are there because of it, since this daemon was started */
	bool due;
};

struct update {
	struct update *prev, *next; /* of its host's */
	struct state *st;
	struct reporter *reporter;
	const char *peer; /* the host */
	char *id, *event, *name; /* of the job, the event, the hook */
	int64_t number, run, flags;
	struct change *changes;
	uint32_t n, at, len; /* `at`: so many are made; `len`: bytes of the message */
	uint32_t said;	     /* lines of the log */
	bool began;
	bool limits; /* its host has to know what was changed */
	/* As it is in this turn: */
	const struct hook *hook;
	struct keel_obj *job; /* NULL: it is no run of this host's */
	bool owner, trusted;  /* it runs as the owner; who is a manager or operator */
	char who[300];	      /* owner@host, or root@host */
};

/* Some of its changes: those of a vnode that follow each other are one piece. True: it is over, made or dropped. */
bool update_go_on(struct update *u, uint32_t most);

#endif
