/* SPDX-License-Identifier: Apache-2.0
 *
 * est.h - the rows of -T, collected, then printed by estimated start.
 */
#ifndef KEELSON_QSTAT_EST_H
#define KEELSON_QSTAT_EST_H

#include "row.h"

struct est;
struct listing;

struct est *est_create(void); /* NULL: no memory */
void est_destroy(struct est *e);

/* Copies the row. Returns 0 or -ENOMEM. */
int est_add(struct est *e, const struct row *r);

/* Print and forget the rows. */
void est_print(struct est *e, struct listing *l);

#endif
