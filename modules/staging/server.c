/* SPDX-License-Identifier: Apache-2.0
 *
 * server.c - stagein and stageout of jobs, and what a host reports of them.
 */
#include "staging.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "keel/service/job.h"
#include "keel/service/node.h"
#include "keel/text.h"

KEEL_USE_OPT(job);
KEEL_USE_OPT(node);
KEEL_ATTR_OPT(job, run_version);
KEEL_ATTR_OPT(job, exec_vnode);

/* ---- the attributes ------------------------------------------------------------------------------------------------- */
static int32_t list_check(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job, int32_t op, const char *key,
			  const char *text, struct keel_err *err)
{
	struct items items = { .n = 0 };
	int r = who && *text ? items_parse(&items, text) : 0;

	(void)mod, (void)job, (void)op, (void)key;
	items_free(&items);
	if (r == -E2BIG)
		return keel_error(err, PBSE_BADATVAL, "Illegal attribute or resource value: more than %d files", ITEMS_MAX);
	return r < 0 ? keel_error(err, PBSE_BADATVAL, "Illegal attribute or resource value") : 0;
}

#define STAGE_ATTR(attr_name, place, words)                                                                             \
	KEEL_ATTR_DEF("job", attr_name, "string", .order = (place), .flags = KEEL_ATTR_SAVE, .read_roles = KEEL_EVERYBODY, \
		      .write_roles = KEEL_EVERYBODY, .doc = words, .check = list_check)
const struct keel_attr_def stagein_attr = STAGE_ATTR("stagein", 360, "local@host:path,...: copied to local on its first host before it starts");
const struct keel_attr_def stageout_attr = STAGE_ATTR("stageout", 370, "local@host:path,...: copied from local to there when it has ended");

/* ---- what a host reports ------------------------------------------------------------------------------------------------ */
static bool is_host_of(struct keel_obj *job, const char *peer)
{
	char text[512] = "", *vnode = text, *host;

	if (!keel_has(node) || !job_exec_vnode || keel_get_text(job, job_exec_vnode, NULL, text, sizeof(text)) < 0)
		return false;
	vnode += strspn(vnode, "(");
	vnode[strcspn(vnode, ":+)")] = '\0';
	host = (char *)(uintptr_t)keel_node_host_of(vnode);
	return host && strcmp(host, peer) == 0;
}

static void letter_raise(struct keel_mod *mod, struct keel_obj *job, const char *text)
{
	keel_note(mod, KEEL_POINT_job_notice, KEEL_EVENT(job_notice, .id = keel_id(job), .job = job, .letter = "f", .text = text));
}

static void in_failed(struct keel_mod *mod, struct keel_obj *job, const char *why)
{
	struct keel_text text;

	keel_job_stage(job, KEEL_STAGE_IN_FAILED);
	keel_text_init(&text);
	keel_text_printf(&text, "File stage in failed, see below.\nJob will be retried later, please investigate and correct problem.\n%s",
			 why);
	if (!text.failed)
		letter_raise(mod, job, text.data);
	keel_text_fini(&text);
}

static void out_failed(struct keel_mod *mod, struct keel_obj *job, const char *peer, const char *why, const char *first)
{
	struct keel_text text;

	keel_log(mod, KEEL_LOG_ERROR | KEEL_LOG_ADMIN | KEEL_LOG_JOB, "Job", keel_id(job),
		 "Post job file processing error; job %s on host %s", keel_id(job), peer);
	keel_job_stage(job, KEEL_STAGE_OUT_FAILED);
	if (first && *first && keel_can(job, remark))
		keel_job_remark(job, first);
	keel_text_init(&text);
	keel_text_printf(&text, "Post job file processing error; job %s on host %s\n\n%.65536s", keel_id(job), peer, why);
	if (!text.failed)
		letter_raise(mod, job, text.data);
	keel_text_fini(&text);
}

/* From the job's first host, about its current run; else it is late, and ignored. */
void on_note(struct keel_mod *mod, const char *peer, const struct keel_msg *msg)
{
	const char *id = keel_msg_str(msg, "id"), *what = keel_msg_str(msg, "what"), *text = keel_msg_str(msg, "text");
	struct keel_obj *job = id && keel_has(job) ? keel_find(mod, "job", id) : NULL;

	if (!job || !what || !text || !is_host_of(job, peer) ||
	    (job_run_version && keel_get_int(job, job_run_version) != keel_msg_int(msg, "run", 0)))
		return;
	if (strcmp(what, NOTE_IN) == 0)
		keel_job_stage(job, KEEL_STAGE_IN);
	else if (strcmp(what, NOTE_OUT) == 0)
		keel_job_stage(job, KEEL_STAGE_OUT);
	else if (strcmp(what, NOTE_IN_FAILED) == 0)
		in_failed(mod, job, text);
	else if (strcmp(what, NOTE_OUT_FAILED) == 0)
		out_failed(mod, job, peer, text, keel_msg_str(msg, "first"));
}
