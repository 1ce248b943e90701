/* SPDX-License-Identifier: Apache-2.0
 *
 * random.h - chance that is the same in every run of a seed. Each part of the simulation draws from a
 * stream of its own, so that a change of one does not change the others.
 */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct chance {
	uint64_t state;
};

struct chance chance_of(uint64_t seed, const char *stream);
uint64_t chance_next(struct chance *c);
/* Each number from 0 to n - 1 alike; 0 for n = 0. */
uint64_t chance_below(struct chance *c, uint64_t n);
int64_t chance_between(struct chance *c, int64_t first, int64_t last);
bool chance_is(struct chance *c, double rate); /* true so often; draws nothing when the rate is 0 */
/* Mostly short, sometimes long; the mean is `mean`. */
int64_t chance_wait(struct chance *c, int64_t mean);
uint64_t hash_text(uint64_t hash, const char *text); /* hash 0 begins */
uint64_t hash_bytes(uint64_t hash, const void *bytes, uint64_t len);

#endif
