/* SPDX-License-Identifier: Apache-2.0
 *
 * model.h - random users and administrators of a simulated server, and what must hold whatever they do.
 */
#ifndef MODEL_H
#define MODEL_H

#include "sim.h"

/* options.c: 0, or 2 when the command line is wrong (said so). */
int options_take(int argc, char **argv, struct sim_conf *conf, const char **ret_figure);
void options_replay(const struct sim_conf *conf, FILE *to); /* the command that repeats the run */

/* check.c: what must hold. From check_begin() on it is looked at after every turn of the server. */
void check_begin(struct sim *s);
void check_now(struct sim *s);
void check_acknowledged(struct sim *s, const char *id); /* the job must not be lost from now on */
void check_deletion(struct sim *s, const char *id, int asked); /* 1: a request was sent, -1: its reply came */
void check_ended(struct sim *s, const char *id);        /* it may be */
void check_forget(struct sim *s);                       /* resources were defined anew */
void check_forced(struct sim *s, const char *id); /* a reservation was altered by force: it may be in the way of others */
void plan_keep(struct sim *s);	  /* a restart follows */
void plan_compare(struct sim *s); /* it is over: what is promised is the same */
void check_dump(struct sim *s); /* everything there is, into the record */
uint64_t check_count(struct sim *s);

/* holds.c */
void holds_compare(struct sim *s); /* at any time */
void holds_check(struct sim *s);   /* there are no jobs: no holds either */

/* actions.c: a random act of a user, an operator or a host */
void act(struct sim *s);

/* reserve.c: a random act about reservations; what is left of them in the calm */
void reserve_act(struct sim *s);
bool reserve_loaded(struct sim *s);
void reserve_calm(struct sim *s);
void reserve_left(struct sim *s);

/* inject.c: break something on purpose; false: not now */
bool inject_known(const char *name);
bool inject(struct sim *s, const char *name);

/* figures.c: measure something; NULL: there is no such figure. */
struct figure;
const struct figure *figure_find(const char *name);
void figure_conf(const struct figure *f, struct sim_conf *conf); /* the site it needs */
int figure_run(struct sim *s, const struct figure *f);          /* prints JSON lines */

/* driver.c */
void queue_make(struct sim *s, const char *name, const char *priority);
int drive(struct sim *s); /* conf.steps steps; 0, or s->wrong says what */

#endif
