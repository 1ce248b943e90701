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

/* driver.c */
int drive(struct sim *s); /* conf.steps steps; 0, or s->wrong says what */

#endif
