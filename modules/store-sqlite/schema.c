/* SPDX-License-Identifier: Apache-2.0
 *
 * schema.c - opens the database, or creates it; prepares every statement once.
 *
 * objects: `seq` is the rowid, so a scan by it is the order of creation and needs no sort; an update keeps it. blobs:
 * the keys have an index of their own, so that a search does not read long bodies (older stores have them in one tree;
 * the statements work with both).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "state.h"

#define APPLICATION_ID 0x4b454c53 /* "KELS" */
#define SCHEMA_VERSION 1
#define BUSY_MS 2000

static const char create_tables[] =
	"BEGIN IMMEDIATE;"
	"CREATE TABLE IF NOT EXISTS objects(seq INTEGER PRIMARY KEY, class TEXT NOT NULL,"
	" id TEXT NOT NULL, body BLOB NOT NULL, UNIQUE(class, id));"
	"CREATE TABLE IF NOT EXISTS blobs(class TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL,"
	" body BLOB NOT NULL, UNIQUE(class, id, name));"
	"PRAGMA application_id = 1262832723;"
	"PRAGMA user_version = 1;"
	"COMMIT;";

static const char *const texts[N_STATEMENTS] = {
	[PUT_OBJECT] = ("INSERT INTO objects(class, id, body) VALUES(?1, ?2, ?3)"
			" ON CONFLICT(class, id) DO UPDATE SET body = excluded.body"),
	[DROP_OBJECT] = "DELETE FROM objects WHERE class = ?1 AND id = ?2",
	[PUT_BLOB] = "INSERT OR REPLACE INTO blobs(class, id, name, body) VALUES(?1, ?2, ?4, ?3)",
	[DROP_BLOB] = "DELETE FROM blobs WHERE class = ?1 AND id = ?2 AND name = ?4",
	[DROP_BLOBS] = "DELETE FROM blobs WHERE class = ?1 AND id = ?2",
	[BEGIN] = "BEGIN IMMEDIATE",
	[COMMIT] = "COMMIT",
	[ROLLBACK] = "ROLLBACK",
};
static const char get_blob[] = "SELECT body FROM blobs WHERE class = ?1 AND id = ?2 AND name = ?3";

static int32_t run(struct state *st, const char *sql, struct keel_err *err)
{
	int rc = sqlite3_exec(st->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : trouble(st, st->db, rc, "open", err);
}

static int32_t prepare(struct state *st, sqlite3 *db, const char *sql, sqlite3_stmt **ret_stmt,
		       struct keel_err *err)
{
	int rc = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret_stmt, NULL);

	return rc == SQLITE_OK ? 0 : trouble(st, db, rc, "open", err);
}

/* The integer that the statement returns. */
static int32_t number(struct state *st, const char *sql, int *ret, struct keel_err *err)
{
	sqlite3_stmt *stmt;
	int32_t rc = prepare(st, st->db, sql, &stmt, err);
	int step;

	if (rc < 0)
		return rc;
	step = sqlite3_step(stmt);
	if (step == SQLITE_ROW)
		*ret = sqlite3_column_int(stmt, 0);
	else
		rc = trouble(st, st->db, step, "open", err);
	sqlite3_finalize(stmt);
	return rc;
}

static int32_t wal_enable(struct state *st, struct keel_err *err)
{
	sqlite3_stmt *stmt;
	int32_t rc = prepare(st, st->db, "PRAGMA journal_mode = WAL", &stmt, err);
	const char *mode;
	int step;

	if (rc < 0)
		return rc;
	step = sqlite3_step(stmt);
	mode = step == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
	if (!mode)
		rc = trouble(st, st->db, step == SQLITE_ROW ? SQLITE_NOMEM : step, "open", err);
	else if (strcmp(mode, "wal") != 0)
		rc = fail(err, -EOPNOTSUPP, "%s: its file system has no write-ahead logging (shared "
			  "memory); put the database on a local disk", st->path);
	sqlite3_finalize(stmt);
	return rc;
}

/* Fails if the file belongs to another program or a newer version. Changes nothing in it. */
static int32_t identify(struct state *st, bool *ret_empty, struct keel_err *err)
{
	int application = 0, version = 0, tables = 0;
	int32_t rc = number(st, "PRAGMA application_id", &application, err);

	if (rc == 0)
		rc = number(st, "PRAGMA user_version", &version, err);
	if (rc == 0)
		rc = number(st, "SELECT count(*) FROM sqlite_master", &tables, err);
	if (rc < 0)
		return rc;
	if (tables > 0 && application != APPLICATION_ID)
		return fail(err, -EINVAL, "%s is a database of another program; name a different file "
			    "in the configuration of store-sqlite", st->path);
	if (version > SCHEMA_VERSION)
		return fail(err, -EINVAL, "%s was written by a newer version (schema %d, this one knows "
			    "%d); start that version, or restore a backup made before the upgrade",
			    st->path, version, SCHEMA_VERSION);
	*ret_empty = tables == 0;
	return 0;
}

static int32_t open_one(struct state *st, sqlite3 **ret_db, int flags, struct keel_err *err)
{
	int rc = sqlite3_open_v2(st->path, ret_db, flags | SQLITE_OPEN_FULLMUTEX, NULL);

	if (rc != SQLITE_OK)
		return trouble(st, *ret_db, rc, "open", err);
	sqlite3_busy_timeout(*ret_db, BUSY_MS);
	return 0;
}

int32_t schema_open(struct state *st, const struct conf *cf, struct keel_err *err)
{
	int32_t rc = open_one(st, &st->db, SQLITE_OPEN_READWRITE, err);
	bool is_empty = false;
	char sql[160];

	if (rc == 0)
		rc = identify(st, &is_empty, err);
	if (rc == 0)
		rc = file_close_to_others(st, err);
	if (rc == 0)
		rc = wal_enable(st, err);
	if (rc == 0 && is_empty)
		rc = run(st, create_tables, err);
	if (rc == 0) {
		/* The cache serves writes: pages of the index and those being filled. 8 MiB hold them for some hundred thousand jobs;
		 * a larger cache was not read again. */
		snprintf(sql, sizeof(sql),
			 "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = %lld;"
			 "PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY;",
			 (long long)cf->checkpoint_pages);
		rc = run(st, sql, err);
	}
	for (int i = 0; rc == 0 && i < N_STATEMENTS; i++)
		rc = prepare(st, st->db, texts[i], &st->run[i], err);
	/* Fails if another program is in a write transaction; one that only reads is no obstacle. */
	if (rc == 0)
		rc = run(st, "BEGIN IMMEDIATE; COMMIT;", err);
	if (rc == 0)
		rc = open_one(st, &st->reader, SQLITE_OPEN_READONLY, err);
	if (rc == 0)
		rc = prepare(st, st->reader, get_blob, &st->get_blob, err);
	if (rc == 0)
		rc = file_remember(st, err);
	if (rc < 0)
		schema_close(st);
	return rc;
}

void schema_close(struct state *st)
{
	for (int i = 0; i < N_STATEMENTS; i++) {
		sqlite3_finalize(st->run[i]);
		st->run[i] = NULL;
	}
	sqlite3_finalize(st->get_blob);
	st->get_blob = NULL;
	sqlite3_close(st->reader);
	sqlite3_close(st->db); /* the last connection copies the log into the database */
	st->reader = st->db = NULL;
}
