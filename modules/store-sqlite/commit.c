/* SPDX-License-Identifier: Apache-2.0
 *
 * commit.c - one batch, one transaction. Runs on a worker thread: no kernel functions are called here.
 */
#include "state.h"

/* Runs the statement to its end; returns SQLITE_OK or SQLite's error. */
static int step(sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	sqlite3_reset(stmt);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

/* Parameters: 1 class, 2 id, 3 body, 4 name of the blob; only those that the statement has are bound. */
static int run_row(struct state *st, enum statement which, const struct keel_store_row *row)
{
	sqlite3_stmt *stmt = st->run[which];
	int rc = sqlite3_bind_text(stmt, 1, row->klass, -1, SQLITE_STATIC);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(stmt, 2, row->id, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK && (which == PUT_OBJECT || which == PUT_BLOB))
		rc = sqlite3_bind_blob64(stmt, 3, row->len ? row->bytes : "", row->len,
					 SQLITE_STATIC);
	if (rc == SQLITE_OK && (which == PUT_BLOB || which == DROP_BLOB))
		rc = sqlite3_bind_text(stmt, 4, row->blob, -1, SQLITE_STATIC);
	return rc == SQLITE_OK ? step(stmt) : rc;
}

int32_t commit_rows(struct keel_mod *m, const struct keel_store_row *rows, uint32_t n,
		    struct keel_err *err)
{
	struct state *st = m->state;
	int rc = step(st->run[BEGIN]);
	int32_t code;

	for (uint32_t i = 0; rc == SQLITE_OK && i < n; i++) {
		const struct keel_store_row *row = &rows[i];

		if (row->blob)
			rc = run_row(st, row->bytes ? PUT_BLOB : DROP_BLOB, row);
		else
			rc = run_row(st, row->bytes ? PUT_OBJECT : DROP_OBJECT, row);
		if (rc == SQLITE_OK && !row->blob && !row->bytes)
			rc = run_row(st, DROP_BLOBS, row);
	}
	if (rc == SQLITE_OK)
		rc = step(st->run[COMMIT]);
	if (rc == SQLITE_OK)
		return file_is_there(st, err);
	code = trouble(st, st->db, rc, "write", err);
	if (!sqlite3_get_autocommit(st->db))
		(void)step(st->run[ROLLBACK]); /* some errors make SQLite roll back by itself */
	return code;
}
