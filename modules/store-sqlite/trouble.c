/* SPDX-License-Identifier: Apache-2.0
 *
 * trouble.c - SQLite's errors as sentences for an administrator.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "state.h"

/* By primary result code; the last row is for all others. */
static const struct {
	int rc;
	int32_t code;
	const char *advice;
} rows[] = {
	{ SQLITE_FULL, -ENOSPC, "free space on its file system" },
	{ SQLITE_IOERR, -EIO, "check the disk and its file system" },
	{ SQLITE_BUSY, -EBUSY, "another program has it locked: close that program" },
	{ SQLITE_LOCKED, -EBUSY, "another program has it locked: close that program" },
	{ SQLITE_CORRUPT, -EBADMSG, "the file is damaged: restore it from a backup" },
	{ SQLITE_NOTADB, -EBADMSG, "the file is no SQLite database: restore it from a backup" },
	{ SQLITE_READONLY, -EROFS, "make the file and its directory writable for the daemon" },
	{ SQLITE_PERM, -EACCES, "make the file and its directory accessible for the daemon" },
	{ SQLITE_CANTOPEN, -EACCES, "make the file and its directory accessible for the daemon" },
	{ SQLITE_NOMEM, -ENOMEM, "the machine is out of memory" },
	{ SQLITE_TOOBIG, -E2BIG, "one value is larger than a database row may be" },
	{ -1, -EIO, "look the reason up at sqlite.org/rescode.html" },
};

int32_t fail(struct keel_err *err, int32_t code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	err->code = 0;
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return code;
}

int32_t trouble(const struct state *st, sqlite3 *db, int rc, const char *doing, struct keel_err *err)
{
	int os = db ? sqlite3_system_errno(db) : 0;
	size_t i = 0;

	while (rows[i].rc != -1 && rows[i].rc != (rc & 0xff))
		i++;
	return fail(err, rows[i].code, "cannot %s %s: %s%s%s; %s", doing, st->path,
		    db ? sqlite3_errmsg(db) : sqlite3_errstr(rc), os ? ", " : "",
		    os ? strerror(os) : "", rows[i].advice);
}
