/* SPDX-License-Identifier: Apache-2.0
 *
 * load.c - every object at start, in order of creation; single blobs later, on a worker thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

/* NULL: empty, or with a NUL inside: a damaged file may hold anything. */
static const char *text_of(sqlite3_stmt *stmt, int column)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);

	return text && *text && strlen(text) == (size_t)sqlite3_column_bytes(stmt, column) ? text :
											     NULL;
}

int32_t load_rows(struct keel_mod *m,
		  int32_t (*row)(void *arg, const char *klass, const char *id, const void *bytes,
				 uint32_t len),
		  void *arg, struct keel_err *err)
{
	struct state *st = m->state;
	sqlite3_stmt *stmt;
	int32_t code = 0;
	int rc = sqlite3_prepare_v2(st->db, "SELECT class, id, body FROM objects ORDER BY seq", -1,
				    &stmt, NULL);

	if (rc != SQLITE_OK)
		return trouble(st, st->db, rc, "read", err);
	while (code == 0 && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		const char *klass = text_of(stmt, 0), *id = text_of(stmt, 1);
		const void *bytes = sqlite3_column_blob(stmt, 2);

		if (klass && id)
			code = row(arg, klass, id, bytes,
				   (uint32_t)sqlite3_column_bytes(stmt, 2));
		else
			code = fail(err, -EBADMSG, "%s holds a row without a name; restore it from "
				    "a backup", st->path);
	}
	if (code == 0 && rc != SQLITE_DONE)
		code = trouble(st, st->db, rc, "read", err);
	sqlite3_finalize(stmt);
	return code;
}

/* Returns 0 or -ENOMEM; the caller frees *ret_bytes. */
static int32_t body_copy(sqlite3_stmt *stmt, void **ret_bytes, uint32_t *ret_len)
{
	const void *bytes = sqlite3_column_blob(stmt, 0);
	uint32_t len = (uint32_t)sqlite3_column_bytes(stmt, 0);
	void *own = malloc((size_t)len + 1);

	if (!own)
		return -ENOMEM;
	if (len)
		memcpy(own, bytes, len);
	*ret_bytes = own;
	*ret_len = len;
	return 0;
}

int32_t load_blob(struct keel_mod *m, const char *klass, const char *id, const char *name,
		  void **ret_bytes, uint32_t *ret_len, struct keel_err *err)
{
	struct state *st = m->state;
	sqlite3_stmt *stmt = st->get_blob;
	int32_t code = 0;
	int rc;

	*ret_bytes = NULL;
	*ret_len = 0;
	sqlite3_bind_text(stmt, 1, klass, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 2, id, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 3, name, -1, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		code = body_copy(stmt, ret_bytes, ret_len);
	else if (rc != SQLITE_DONE)
		code = trouble(st, st->reader, rc, "read", err);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return code;
}
