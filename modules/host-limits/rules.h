/* SPDX-License-Identifier: Apache-2.0
 *
 * rules.h - what is too much; calls no API.
 */
#ifndef HOST_LIMITS_RULES_H
#define HOST_LIMITS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum limit { LIMIT_MEM, LIMIT_COMPLEXMEM, LIMIT_AVERAGE, LIMIT_BURST, LIMITS };
enum number { TRIAL_PERIOD, AVERAGE_PERCENT, AVERAGE_FACTOR, DELTA_PERCENT, DELTA_FACTOR, WEIGHT_UP, WEIGHT_DOWN, NUMBERS };

struct rules {
	bool on[LIMITS];
	double number[NUMBERS];
};

/* Nothing is on; numbers are as they are by default. */
void rules_init(struct rules *r);
/* "[!]NAME [VALUE]". 0; fails with -EINVAL and the reason in `why`, and nothing is changed. */
#define RULES_WHY 400
int rules_set(struct rules *r, const char *text, char why[RULES_WHY]);

/* The sum of mem in "(n1:ncpus=1:mem=100kb+n2:mem=1gb)+(n1:ncpus=1)", in kb; 0: none was wanted. */
int64_t share_mem_kb(const char *vnodes);

/* What a job has used of processors, from reading to reading. */
struct load {
	bool begun;
	int64_t cput_ms, walltime_ms; /* at the last reading */
	double percent;		      /* of one processor, lately */
};

/* The next reading. */
void load_take(struct load *l, const struct rules *r, int64_t cput_ms, int64_t walltime_ms, int64_t window_ms);
/* More than `ncpus` processors may: *ret_used is how many. */
bool over_burst(const struct load *l, const struct rules *r, uint32_t ncpus, double *ret_used);
bool over_average(const struct rules *r, uint32_t ncpus, int64_t cput_ms, int64_t walltime_ms, double *ret_used);

#endif
