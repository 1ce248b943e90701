/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.h - shares and usage of entities in groups. Pure: a text in, numbers out.
 *
 * Usage is kept in units that shrink with each decay (`raw`), so that a decay touches one number and
 * no entity; only usage of different times must be compared by the same unit, and all raw ones are.
 *
 * Every entity begins with a usage of 1 and never has less, so that of those that have used nothing the larger
 * share goes first.
 */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <stdint.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define TREE_DEPTH 32
#define TREE_STRANGERS 100000 /* entities the file does not name; more of them are one */

struct share {
	UT_hash_handle hh;
	struct share *parent, *first, *next; /* NULL: the root; children; siblings */
	char *name;			  /* owned */
	int64_t id;
	double shares; /* among its siblings */
	double own;    /* raw usage of itself; 0: never charged */
	/* As of tree_settle(): */
	double sum;	/* own usage, and what was charged below it */
	double part;	/* of the whole tree: 0..1 */
	double of_group; /* of its parent: 0..1 */
	uint32_t depth, place; /* place: 1 goes first; equal ones are equal */
	bool is_named;	       /* the file has it */
};

struct tree {
	struct share *root, *unknown, *shares; /* shares: all, by name */
	uint32_t n_strangers;
	struct share newcomer; /* values of an entity that comes before the next tree_settle() */
	double one;	       /* what each entity begins with, in raw units */
	bool dirty;	       /* sums, parts and places are to be computed again */
};

/* Called for each line with an error. */
typedef void tree_complaint_fn(void *arg, int line, const char *why);

/* 0, and the caller calls tree_fini(); fails with -ENOMEM. */
int tree_init(struct tree *t);
void tree_fini(struct tree *t);
/* Groups and shares from `<name> <id> <parent> <shares>` lines; usage of entities stays. Lines with an error are reported
 * through the callback and left out. */
int tree_read(struct tree *t, const char *text, double unknown_shares, tree_complaint_fn *complain,
	      void *arg);
struct share *tree_find(const struct tree *t, const char *name); /* NULL: there is none */
/* An entity that is not there becomes one of the unknown; never NULL: without memory it is `unknown` itself. */
struct share *tree_get(struct tree *t, const char *name);
void tree_charge(struct tree *t, struct share *s, double raw);
void tree_set(struct tree *t, struct share *s, double raw); /* all that it has used */
void tree_begin_with(struct tree *t, double raw);	    /* each entity begins with so much from now on */
/* Takes out an entity that the file does not name; the caller's pointer is invalid afterwards. */
void tree_forget(struct tree *t, struct share *s);
/* Calls fn for each share, parents first. */
void tree_each(const struct tree *t, void (*fn)(void *arg, struct share *s), void *arg);

/* Computes sums, parts and places: O(n log n), so not for each job. Without memory the places of before stay. */
void tree_settle(struct tree *t);
/* Below 0: a goes first; above 0: b. */
int tree_compare(const struct share *a, const struct share *b);
/* What an entity has used of everything that was used, 0..1. */
double tree_used(const struct tree *t, const struct share *s);
/* The same, in part what its group has used. */
double tree_usage(const struct tree *t, const struct share *s);
/* 1 nothing used, 0.5 as much as its part, near 0 much more. */
double tree_factor(const struct tree *t, const struct share *s);

#endif
