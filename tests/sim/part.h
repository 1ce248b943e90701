/* SPDX-License-Identifier: Apache-2.0
 *
 * part.h - what part.c and wire.c share: the parts of jobs over several simulated hosts, and the links between those.
 *
 * A task owns its part. What happens later holds no pointers to parts: it finds its part by job and run, or that is gone.
 */
#ifndef SIM_PART_H
#define SIM_PART_H

#include "sim.h"

#if __has_include("sisters/primary.h") /* else no job has more than one host */
#define HAS_SISTERS 1
#include "sisters/primary.h"
#include "sisters/sister.h"

struct wire {
	uint32_t epoch;
	bool up;
	int64_t retry_ms, last_ms[2];
};

struct part {
	uint32_t index, n;
	struct host **hosts;
	char *share;	     /* of exec_vnode, on this host */
	bool tolerates_start, tolerates_run;
	bool ending, over;   /* the program has ended; the other hosts too */
	bool lost;	     /* it went on without a host */
	enum primary_step waits; /* for this one to pass */
	bool acting;	     /* for the server's question: */
	int64_t act_number;
	char act_name[16];
	struct primary primary;
	struct primary_host *mates;
	bool *released;	     /* hosts that the job does not have any more */
	struct wire *wires;  /* of a primary */
	struct sister sister;
	uint32_t epoch;	     /* of a sister: the wire that it believes to be up */
	struct loop_timer *tick;
};

enum word { JOIN, ORDER, JOINED, NONE, FAILED, ENDED, ANSWER };

/* Something that happens later: a word that arrives, or what an end notices. */
struct later {
	struct sim *sim;
	struct host *primary, *sister;
	char *id;
	int64_t run;
	uint32_t index, epoch; /* of the sister, of the wire */
	enum word word;
	uint64_t number;
	char name[PRIMARY_NAME_MAX + 1];
	int32_t status, code;
	bool stopped, left; /* left: the server has given it up */
	void (*fn)(struct later *);
};

/* wire.c */
/* A task here that is of this run and has a part; NULL: none. */
struct task *part_find(struct host *h, const char *id, int64_t run);
/* About the wire of a sister, whichever end it is seen from; later_in() frees it when it has happened. */
struct later *later_make(const struct task *t, uint32_t index);
void later_in(struct later *l, int64_t ms, void (*fn)(struct later *));
void wire_cut(const struct task *t, uint32_t index); /* both ends notice; `t` is the primary's */
void wire_taken(struct task *t, const struct wire *w); /* a sister has it, a new one */
void wires_try(struct task *t); /* a primary links again */
/* A word from one end to the other, on the wire of the sister with that index: lost with it, late, or twice. */
void wire_send(const struct task *from, uint32_t index, struct later what);

#endif
#endif
