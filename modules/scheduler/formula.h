/* SPDX-License-Identifier: Apache-2.0
 *
 * formula.h - job_sort_formula: a number made of other numbers about a job.
 */
#ifndef FORMULA_H
#define FORMULA_H

#include <stdbool.h>
#include <stdint.h>

#define FORMULA_NAMES 32 /* different ones in a formula */
#define FORMULA_MAX 4095      /* characters */
#define FORMULA_NAME_MAX 255  /* of a name: any resource's */

struct formula;

/* Is this a name a formula may use? 0, or the PBSE number it is refused with. */
typedef int32_t formula_name_fn(void *arg, const char *name);

/* 0 and *ret, or PBSE_BAD_FORMULA, what `known` said of a name, PBSE_SYSTEM. */
int32_t formula_make(const char *text, formula_name_fn *known, void *arg, struct formula **ret);
void formula_free(struct formula *f); /* NULL is fine */

uint32_t formula_count(const struct formula *f);
const char *formula_name(const struct formula *f, uint32_t i);
/* Values in the order of the names; what cannot be computed is 0. */
double formula_value(struct formula *f, const double *values);

#endif
