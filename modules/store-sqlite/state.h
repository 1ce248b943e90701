/* SPDX-License-Identifier: Apache-2.0
 *
 * state.h - what the files of this module share.
 */
#ifndef STORE_SQLITE_STATE_H
#define STORE_SQLITE_STATE_H

#include <sqlite3.h>
#include <sys/types.h>

#include "keel/keel.h"

enum statement { PUT_OBJECT, DROP_OBJECT, PUT_BLOB, DROP_BLOB, DROP_BLOBS, BEGIN, COMMIT, ROLLBACK,
		 N_STATEMENTS };

enum { FILES_KEPT = 2 }; /* the database and its write-ahead log */
struct kept_file {
	dev_t dev;
	ino_t ino;
};

struct state {
	sqlite3 *db;     /* used by the worker that commits; by the loop's thread until the first commit */
	sqlite3 *reader; /* used by the worker that reads blobs */
	sqlite3_stmt *run[N_STATEMENTS];
	sqlite3_stmt *get_blob;
	int lock_fd; /* open while this process uses the file; valid if path is set */
	char *path; /* owned */
	struct kept_file kept[FILES_KEPT]; /* the files that were opened */
};

struct conf {
	const char *file;
	int64_t checkpoint_pages;
};

/* Fills *err with `doing`, the file, SQLite's error and advice; returns a negative errno. Any thread. */
int32_t trouble(const struct state *st, sqlite3 *db, int rc, const char *doing, struct keel_err *err);
/* Fills *err, which may be NULL, and returns `code`. Any thread. */
int32_t fail(struct keel_err *err, int32_t code, const char *fmt, ...) KEEL_PRINTF(3, 4);

/* file.c: the path, its directory, its mode, the lock. */
int32_t file_take(struct state *st, const char *home, const char *file, struct keel_err *err);
void file_release(struct state *st);
/* Sets mode 0600, also for -wal and -shm of an earlier run. */
int32_t file_close_to_others(const struct state *st, struct keel_err *err);
/* SQLite writes on into files that were deleted, moved or replaced: file_is_there() then returns -ESTALE. Any thread,
 * after file_remember(). */
int32_t file_remember(struct state *st, struct keel_err *err);
int32_t file_is_there(const struct state *st, struct keel_err *err);

/* schema.c */
int32_t schema_open(struct state *st, const struct conf *cf, struct keel_err *err);
void schema_close(struct state *st);

/* commit.c: functions of struct keel_store_api. */
int32_t commit_rows(struct keel_mod *m, const struct keel_store_row *rows, uint32_t n,
		    struct keel_err *err);

/* load.c */
int32_t load_rows(struct keel_mod *m,
		  int32_t (*row)(void *arg, const char *klass, const char *id, const void *bytes,
				 uint32_t len),
		  void *arg, struct keel_err *err);
int32_t load_blob(struct keel_mod *m, const char *klass, const char *id, const char *name,
		  void **ret_bytes, uint32_t *ret_len, struct keel_err *err);

#endif
