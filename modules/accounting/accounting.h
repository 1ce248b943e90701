/* SPDX-License-Identifier: Apache-2.0
 *
 * accounting.h - what the files of this module share.
 */
#ifndef ACCOUNTING_H
#define ACCOUNTING_H

#include "keel/jobid.h"
#include "keel/keel.h"
#include "keel/rows.h"
#include "keel/service/acct.h"
#include "keel/service/resource.h"

/* Attributes of a job that records name: ATTRIBUTE(member, "name"). */

struct batch;
/* Rows of the outbox (outbox.c) whose lines are in their file. */
struct rows {
	uint64_t *at; /* owned */
	size_t n, room;
};
struct journal {
	char *dir;            /* owned */
	struct batch *first;  /* oldest; written next, or being written */
	struct batch **last;
	uint64_t bytes;       /* in all batches */
	uint64_t lost;        /* records dropped since the last good write */
	struct keel_timer *retry;
	bool writing, planned;
	struct rows written, settled; /* in the file; there for good: the next turn forgets them */
	char *unsynced;               /* path of what is in `written`; owned, NULL none */
	int64_t synced_ms;
};

struct state {
	struct journal journal;
	struct keel_row *items; /* of ACCT_ITEM, by place */
	struct {
		const struct keel_attr *day, *lines;
		uint64_t last; /* row */

	} outbox;
};

/* A growing text. When an allocation fails it stays as it was and `broken` is set, which the caller checks once, at the
 * end. */
struct text {
	char *at; /* owned; terminated once anything was added */
	size_t n, room;
	bool broken;
};

/* text.c */
void text_add(struct text *t, const char *bytes, size_t n);
void text_printf(struct text *t, const char *fmt, ...) KEEL_PRINTF(2, 3);
/* `key=value `: the value in quotes when it has blanks or `always`; control characters as blanks. */
void text_value(struct text *t, const char *value, bool always); /* always: in quotes, needed or not */
void text_item(struct text *t, const char *key, const char *value, bool always);
/* Control characters as blanks. */
void text_clean(struct text *t, const char *value);
void text_fini(struct text *t);

/* record.c */
/* The text of a record of this letter; false when there is nothing to record (z). */
bool record_text(struct keel_mod *mod, char letter, struct keel_obj *job, struct text *ret);

/* items.c */
extern const struct keel_kind_def item_kind;
#define ITEMS_TIMES 0  /* places from here on are behind the times, those below behind queue= */
#define ITEMS_LATE 100 /* places from here on are behind resources_used */
void items_add(struct keel_mod *mod, struct text *t, char letter, struct keel_obj *job, int32_t from, int32_t before);
void items_free(struct keel_mod *mod);

/* outbox.c: lines of a turn are a row of its transaction until they are in their file for good. */
extern const struct keel_class_def outbox_class;
extern const struct keel_attr_def outbox_day, outbox_lines;
void outbox_find(struct keel_mod *mod);
/* Returns the row's number; 0 when it fails, for lack of memory: the lines are written without that safety. */
uint64_t outbox_keep(struct keel_mod *mod, const char *day, const struct text *lines);
void outbox_forget(struct keel_mod *mod, struct rows *rows); /* destroys the rows and empties the caller's list */
/* After a start: what a killed daemon has not written. */
void outbox_replay(struct keel_mod *mod);
bool rows_add(struct rows *r, uint64_t row); /* false without memory */
void rows_fini(struct rows *r);

/* journal.c */
/* Opens a day's file to append, and creates it when it is not there. Returns the fd, which the caller closes; fails with
 * -1 and errno. */
int day_open(const char *path);
/* Makes the directory of the day files. Fails with -1 and *err. */
int32_t journal_open(struct keel_mod *mod, struct keel_err *err);
/* Never fails for the caller: a record that cannot be kept is counted, and the log has the error. */
void journal_add(struct keel_mod *mod, char letter, const char *id, const char *text);
void journal_flush(struct keel_mod *mod); /* writes at once, on the caller's thread */
void journal_close(struct keel_mod *mod);

#endif
