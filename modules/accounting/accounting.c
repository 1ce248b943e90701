/* SPDX-License-Identifier: Apache-2.0
 *
 * accounting.c - one line for every step in the life of a job, in PBS_HOME/server_priv/accounting.
 *
 * The text of a record is made when the step happens (record.c); lines reach the file of the day in
 * order, when the turn is durable (journal.c), and exactly once (outbox.c). Other modules add items at the point acct_record.
 */
#include "accounting.h"

KEEL_USE(resource);

static void api_record(struct keel_mod *mod, char letter, const char *id, const char *text)
{
	journal_add(mod, letter, id, text ? text : "");
}

static void api_job(struct keel_mod *mod, char letter, struct keel_obj *job)
{
	struct text text = { 0 };

	if (record_text(mod, letter, job, &text))
		journal_add(mod, letter, keel_id(job), text.at ? text.at : "");
	if (text.broken)
		keel_log(mod, KEEL_LOG_ERROR, "Job", keel_id(job),
			 "out of memory: accounting record %c is not complete", letter);
	text_fini(&text);
}

static char *api_value(struct keel_mod *mod, const char *value)
{
	struct text t = { 0 };

	(void)mod;
	text_value(&t, value, false);
	if (t.broken) {
		text_fini(&t);
		return NULL;
	}
	return t.at;
}

static const struct keel_acct_api service = {
	.size = sizeof(struct keel_acct_api),
	.record = api_record,
	.job = api_job,
	.value = api_value,
};
static const struct keel_service_def service_def = {
	.size = sizeof(struct keel_service_def),
	.name = "acct",
	.table = &service,
	.doc = "records of the accounting files",
};

#define TERM(handle, ...)                                                                          \
	static const struct keel_term_def handle = { .size = sizeof(struct keel_term_def), __VA_ARGS__ };
#define RECORD(letter, about, words) TERM(record_##letter, .name = #letter, .topic = "record", .form = about, .doc = words)
#define ITEM(handle, item, letters, words)                                                         \
	TERM(item_##handle, .name = item, .topic = "item", .form = letters, .doc = words)
#include "records.def"
#undef RECORD
#undef ITEM

static const struct keel_contrib contribs[] = {
#define RECORD(letter, ...) KEEL_ROW(TERM, record_##letter),
#define ITEM(handle, ...) KEEL_ROW(TERM, item_##handle),
#include "records.def"
#undef RECORD
#undef ITEM
	KEEL_ROW(SERVICE, service_def),
	KEEL_ROW(KIND, item_kind),
	KEEL_ROW(CLASS, outbox_class),
	KEEL_ROW(ATTR, outbox_day),
	KEEL_ROW(ATTR, outbox_lines),
};

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)err;
	st->journal.last = &st->journal.first;
	outbox_find(mod);
	return 0;
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	if (journal_open(mod, err) != 0)
		return -1;
	outbox_replay(mod);
	return 0;
}

static void fini(struct keel_mod *mod)
{
	journal_flush(mod);
	journal_close(mod);
	items_free(mod);
}

KEEL_MODULE(.name = "accounting", .version = "1.0", .vendor = "Keelson",
	    .summary = "accounting records", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONTRIBS(contribs), .init = init,
	    .start = start, .stop = journal_flush, .fini = fini);
