/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/rows.h - the rows of a kind that a module declares: what its add() and remove() keep. Header only.
 *
 *   static int32_t thing_add(struct keel_mod *self, struct keel_mod *owner, const void *def, struct keel_err *err)
 *   {
 *           struct state *st = self->state;
 *
 *           ... is it complete? ...
 *           return keel_row_put(keel_rows_end(&st->things), owner, def, err);
 *   }
 *
 * A list is owned by the module that declares the kind; definitions are their owners', and stay until remove(). The loop's
 * thread.
 */
#ifndef KEEL_ROWS_H
#define KEEL_ROWS_H

#include <errno.h>
#include <stdlib.h>

#include "keel/core.h"

struct keel_row {
	struct keel_row *next;
	struct keel_mod *owner;
	const void *def; /* the struct of the kind */
};

/* Behind the last one. */
static inline struct keel_row **keel_rows_end(struct keel_row **rows)
{
	while (*rows)
		rows = &(*rows)->next;
	return rows;
}

/* A row before the one that *at is. 0; fails with -ENOMEM and *err. */
static inline int32_t keel_row_put(struct keel_row **at, struct keel_mod *owner, const void *def, struct keel_err *err)
{
	struct keel_row *row = (struct keel_row *)malloc(sizeof(*row));

	if (!row)
		return keel_error(err, -ENOMEM, "no memory for a row of module %s", owner->name);
	row->next = *at;
	row->owner = owner;
	row->def = def;
	*at = row;
	return 0;
}

/* One that is not there is no error. */
static inline void keel_row_remove(struct keel_row **rows, const void *def)
{
	struct keel_row *gone;

	while (*rows && (*rows)->def != def)
		rows = &(*rows)->next;
	gone = *rows;
	if (gone)
		*rows = gone->next;
	free(gone);
}

#endif
