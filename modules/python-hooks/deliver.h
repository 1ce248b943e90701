/* SPDX-License-Identifier: Apache-2.0
 *
 * deliver.h - what distribute.c (which files hosts should have) and deliver.c (how they get them) share.
 */
#ifndef PYTHON_HOOKS_DELIVER_H
#define PYTHON_HOOKS_DELIVER_H

#include "hookfile.h"

/* A version of a file: one that hosts should have, that a host has, or that is on its way to it. */
struct copy {
	UT_hash_handle hh;
	char *file;
	char version[HOOKFILE_VERSION]; /* on its way, "": it is to be deleted */
	bool refused;			/* had by a host: no, it does not want it */
	/* on its way: */
	uint32_t at, taken, flying; /* bytes sent, bytes that have arrived, bytes of the window it has */
	bool sent;		    /* all of it */
};

struct mom {
	UT_hash_handle hh;
	struct state *st;
	char *name;
	bool linked, current; /* current: it has said on this link what it has */
	bool known;	      /* it has said so since this server runs */
	bool retries;	      /* it could not write a file: the deadline is that of the next attempt */
	bool hasty;	      /* it said so again, too soon: the next question comes a little later */
	int64_t had_ms;	      /* when it said so */
	bool kept_waiting;    /* a job was not started because of it */
	uint32_t flying;      /* bytes */
	struct copy *copies;  /* that it has */
	struct copy *orders;  /* on their way, in their order */
	struct keel_timer *deadline;
	uint64_t round; /* at the last look it had vnodes */
};

struct distribute {
	struct copy *wants; /* what hosts should have */
	struct mom *moms;
	struct keel_timer *later; /* looks for hooks that are gone everywhere */
	int64_t looked_ms;	  /* the last time */
	uint64_t round;
	bool loading;		  /* scripts were not all read at the last look */
};

struct copy *copy_find(struct copy *rows, const char *file);
struct copy *copy_put(struct copy **rows, const char *file, const char *version); /* NULL without memory */
void copy_drop(struct copy **rows, struct copy *row);
void copy_drop_all(struct copy **rows);

/* distribute.c */
struct mom *mom_find(struct state *st, const char *name);
/* The bytes of a file; *ret_own is to be freed. NULL: there is none, or no memory. */
const char *content(struct state *st, const char *file, uint32_t *ret_len, char **ret_own);
bool any_loading(const struct state *st); /* hooks that hosts should have are being read yet */
void gone_later(struct state *st);

/* deliver.c */
void order_for(struct mom *m, const char *file); /* it has of this file what it should have, or an order says what it is to get */
void orders_renew(struct mom *m);
void mom_ask(struct mom *m); /* what it has, again when it does not say so */
void orders_forget(struct mom *m); /* what was under way on the previous link */
#endif
