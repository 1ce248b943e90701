/* SPDX-License-Identifier: Apache-2.0
 *
 * verdict.c - what becomes of the result of a script on a host: one row for each event.
 *
 * At its start a job that is refused is queued again, or deleted, by the code of the refusal: a number of keel/pbse.def from
 * execjob_begin, an exit status from the others. What a script changed and wanted goes to the server first, also when it refuses.
 */
#include "host.h"

#include "keel/service/part.h"

KEEL_USE_OPT(part);

enum {
	PLAIN = 0, /* accepted */
	RERUN = -16,
	DELETE = -17,
	EPILOGUE_RERUN = -18,
	EPILOGUE_DELETE = -19,
	RAISED = -22,
	SHRUNK = -3,
};

struct row {
	enum event_id event;
	int32_t reject, rerun, remove; /* codes of a refusal: plain, with rerun(), with delete() */
	int32_t raised;		       /* an exception, an alarm, a process that could not serve; 0: it is as if it had accepted */
	const char *line;	       /* of the job, with the message behind it; NULL: the message alone */
};
static const struct row rows[] = {
	{ EVENT_execjob_begin, PBSE_HOOK_REJECT, PBSE_HOOK_REJECT_RERUNJOB, PBSE_HOOK_REJECT_DELETEJOB, PBSE_HOOKERROR, NULL },
	{ EVENT_execjob_prologue, RERUN, RERUN, DELETE, RAISED, NULL },
	{ EVENT_execjob_launch, DELETE, RERUN, DELETE, DELETE, NULL },
	{ EVENT_execjob_attach, PBSE_HOOK_REJECT, PBSE_HOOK_REJECT, PBSE_HOOK_REJECT, PBSE_HOOKERROR,
	  .line = "execjob_attach hook rejected request" },
	{ EVENT_execjob_resize, SHRUNK, SHRUNK, SHRUNK, SHRUNK, .line = "execjob_resize hook rejected request" },
	{ EVENT_execjob_preterm, PBSE_HOOK_REJECT, PBSE_HOOK_REJECT, PBSE_HOOK_REJECT, PBSE_HOOKERROR, NULL },
	{ EVENT_execjob_epilogue, EPILOGUE_DELETE, EPILOGUE_RERUN, EPILOGUE_DELETE, PLAIN, NULL },
	{ EVENT_execjob_end, PLAIN, PLAIN, PLAIN, PLAIN, NULL },
	{ EVENT_execjob_abort, PLAIN, PLAIN, PLAIN, PLAIN, NULL },
	{ EVENT_execjob_postsuspend, PLAIN, PLAIN, PLAIN, PLAIN, .line = "execjob_postsuspend hook rejected request: %s" },
	{ EVENT_execjob_preresume, PBSE_MOMREJECT, PBSE_MOMREJECT, PBSE_MOMREJECT, PBSE_MOMREJECT, NULL }, /* the executor says it */
};

static const struct row *row_of(const struct run *r)
{
	for (size_t i = 0; i < KEEL_COUNT(rows); i++)
		if (r->event == &events[rows[i].event])
			return &rows[i];
	return &rows[0];
}

/* A job that a sister's prologue refuses is judged by its primary, which knows these numbers. */
static int32_t code_of(const struct run *r, const struct row *row, const struct result *result)
{
	int32_t code = result->how != REJECTED ? row->raised : result->remove ? row->remove : result->rerun ? row->rerun : row->reject;

	if (row->event == EVENT_execjob_prologue && r->numbers[NUMBER_INDEX] > 0)
		return result->how != REJECTED ? PBSE_HOOKERROR : code == DELETE ? PBSE_HOOK_REJECT_DELETEJOB :
		       result->rerun ? PBSE_HOOK_REJECT_RERUNJOB : PBSE_HOOK_REJECT;
	if (row->event == EVENT_execjob_launch && r->numbers[NUMBER_PROGRAM] != PROGRAM)
		return PBSE_HOOK_REJECT; /* of a task beside the program: that alone is not started */
	return code;
}

static void lines_log(const struct run *r, const struct row *row, const char *text)
{
	char line[1200];

	if (row->line && strchr(row->line, '%'))
		snprintf(line, sizeof(line), "%.*s%s", (int)(strchr(row->line, '%') - row->line), row->line, text);
	else
		snprintf(line, sizeof(line), "%s", row->line ? row->line : text);
	keel_log(r->st->mod, KEEL_LOG_JOB, "Job", r->id, "%s", line);
}

static keel_verdict settle(struct run *r, struct keel_call *c, const struct result *result)
{
	const struct row *row = row_of(r);
	struct keel_err err = { .code = 0 };
	char text[1024];
	int32_t code;

	host_changed(r->st, r, result);
	host_update(r, result);
	host_reboot(r, result);
	if (result->how == ACCEPTED && row->event == EVENT_execjob_launch && program_change(r, result, &err))
		return keel_reject(c, row->reject, "%s", err.text);
	if (result->how == ACCEPTED)
		return KEEL_NEXT;
	result_text(r, result, text, sizeof(text));
	if (row->line)
		lines_log(r, row, text);
	code = code_of(r, row, result);
	if (!c)
		return KEEL_REJECT;
	return code == PLAIN ? KEEL_NEXT : keel_reject(c, code, "%s", text);
}

#define SETTLE(name) \
	keel_verdict host_settle_##name(struct run *r, struct keel_call *c, const struct result *result) { return settle(r, c, result); }
SETTLE(execjob_begin)
SETTLE(execjob_prologue)
SETTLE(execjob_launch)
SETTLE(execjob_attach)
SETTLE(execjob_resize)
SETTLE(execjob_preterm)
SETTLE(execjob_epilogue)
SETTLE(execjob_end)
SETTLE(execjob_abort)
SETTLE(execjob_postsuspend)
SETTLE(execjob_preresume)
