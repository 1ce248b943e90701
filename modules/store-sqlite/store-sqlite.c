/* SPDX-License-Identifier: Apache-2.0
 *
 * store-sqlite.c - keeps objects and blobs in one SQLite file: the default store.
 *
 * Offers the service "store". A commit is a transaction of a write-ahead log with synchronous=FULL: when it returns 0,
 * all its rows survive kill -9 and power loss; when it fails, none is stored.
 */
#include "state.h"

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(STRING, struct conf, file, .flags = KEEL_CONF_RESTART,
		       .doc = "The database file; a relative name is below PBS_HOME. Default: "
			      "server_priv/keelson.db"),
	KEEL_CONF_RULE(INT, struct conf, checkpoint_pages, .fallback = "4000", .min = 100,
		       .max = 1000000, .flags = KEEL_CONF_RESTART,
		       .doc = "Pages of 4 KiB in the write-ahead log before they are copied into "
			      "the database; more: fewer copies, a longer log."),
};

static int32_t store_open(struct keel_mod *m, struct keel_err *err)
{
	struct state *st = m->state;
	const struct conf *cf = m->conf;
	int32_t rc;

	if (st->db)
		return 0;
	rc = file_take(st, keel_home(m), cf->file, err);
	if (rc < 0)
		return rc;
	rc = schema_open(st, cf, err);
	if (rc < 0)
		file_release(st);
	return rc;
}

static void fini(struct keel_mod *m)
{
	struct state *st = m->state;

	schema_close(st);
	file_release(st);
}

static const struct keel_store_api service = {
	.size = sizeof(struct keel_store_api),
	.open = store_open,
	.load = load_rows,
	.commit = commit_rows,
	.read_blob = load_blob,
};
static const struct keel_service_def service_def = {
	.size = sizeof(struct keel_service_def),
	.name = "store",
	.doc = "keeps objects and blobs over restarts",
	.table = &service,
};

static const struct keel_contrib contribs[] = { KEEL_ROW(SERVICE, service_def) };

KEEL_MODULE(.name = "store-sqlite", .version = "1.0", .vendor = "Keelson",
	    .summary = "objects and blobs in one SQLite file", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONF(struct conf, rules),
	    KEEL_CONTRIBS(contribs), .fini = fini);
