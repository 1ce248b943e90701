/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.h - shares and usage of entities in groups. Pure: a text in, numbers out.
 *
 * Usage is kept in units that shrink with each decay (`raw`), so that a decay touches one number and
 * no entity; only usage of different times must be compared by the same unit, and all raw ones are.
 *
 * Everybody begins with a usage of 1 and never has less, so that of those who have used nothing the larger
 * share goes first.
 */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <stdint.h>

#define TREE_DEPTH 32
#define TREE_STRANGERS 100000 /* entities the file does not name; more of them are one */

struct share {
	struct share *chain;		  /* same bucket */
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
	struct share *root, *unknown, **bucket;
	uint32_t n, n_bucket, n_strangers;
	struct share newcomer; /* what a stranger is who comes before the next tree_settle() */
	double one;	       /* what everybody begins with, in raw units */
	bool dirty;	       /* sums, parts and places are to be computed again */
};

/* Called for each line with an error. */
typedef void tree_complaint_fn(void *arg, int line, const char *why);

/* 0 or -ENOMEM. */
int tree_init(struct tree *t);
void tree_fini(struct tree *t);
/* Groups and shares from `<name> <id> <parent> <shares>` lines; usage of entities stays. */
int tree_read(struct tree *t, const char *text, double unknown_shares, tree_complaint_fn *complain,
	      void *arg);
struct share *tree_find(const struct tree *t, const char *name);
/* A stranger becomes one of the unknown; never NULL: without memory it is the unknown themselves. */
struct share *tree_get(struct tree *t, const char *name);
void tree_charge(struct tree *t, struct share *s, double raw);
void tree_set(struct tree *t, struct share *s, double raw); /* all that it has used */
void tree_begin_with(struct tree *t, double raw);	    /* what everybody begins with is so much now */
/* Take a stranger out. */
void tree_forget(struct tree *t, struct share *s);
/* Everybody, parents first. */
void tree_each(const struct tree *t, void (*fn)(void *arg, struct share *s), void *arg);

/* Sums, parts and places of today: O(n log n), so not for each job. */
void tree_settle(struct tree *t);
/* Who goes first: below 0 a, above 0 b. */
int tree_compare(const struct share *a, const struct share *b);
/* What an entity has used of everything that was used, 0..1. */
double tree_used(const struct tree *t, const struct share *s);
/* The same, in part what its group has used. */
double tree_usage(const struct tree *t, const struct share *s);
/* 1 nothing used, 0.5 as much as its part, near 0 much more. */
double tree_factor(const struct tree *t, const struct share *s);

#endif
