/* SPDX-License-Identifier: Apache-2.0
 *
 * submit.c - a new job: draft, attributes, resources, the point job_submit, published.
 *
 * Only this file finds the draft until job_submit has accepted it; a refusal at any place leaves no trace.
 */
#include "jobs.h"
#include "keel/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

KEEL_ATTRS_OF(server, max_job_sequence_id, next_sequence, acl_roots, jobscript_max_size,
	      default_qsub_arguments);
KEEL_ATTRS_OF(job, User_List, Job_Owner, euser, egroup, owner_groups, server, Submit_Host, ctime,
	      mtime, qtime, queue_rank, job_state, substate, Variable_List, Job_Name, Output_Path);
KEEL_ATTR_OF(job, Error_Path);
KEEL_ATTR_AS(attr_job_queue, job, queue, 0);

#define SEQUENCE_BLOCK 1000

/* What a submission carries while its chain may wait. */
struct submission {
	struct keel_req *req;
	struct keel_obj *draft;
	struct keel_obj *queue; /* until the chain: it may be deleted while a tap holds */
	const char *script; /* in the request's body */
	uint32_t script_len;
	char *group; /* of group_list; NULL: the user's own */
};

static void submission_free(struct submission *s)
{
	free(s->group);
	free(s);
}

bool sequence_take(struct state *st, int64_t last, int64_t *ret)
{
	if (st->next_sequence > (last ? last : 9999999) || st->next_sequence > INT64_MAX - SEQUENCE_BLOCK)
		st->next_sequence = st->reserved_sequence = 0;
	*ret = st->next_sequence++;
	if (*ret < st->reserved_sequence)
		return false;
	st->reserved_sequence = *ret + SEQUENCE_BLOCK;
	return true;
}

/* Numbers are reserved in blocks, so that the server object is not saved with every job; after a kill
 * the rest of a block is skipped. */
int64_t sequence_next(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	int64_t number;

	if (sequence_take(st, keel_get_int(server, server_max_job_sequence_id), &number))
		keel_set_int(server, server_next_sequence, st->reserved_sequence);
	return number;
}

/* Jobs run as their submitter: of User_List, the entry for the server's host, else the one for any host, must name that user.
 * Fails with 15023. */
static int32_t check_user_list(struct keel_changes *ch, struct keel_obj *draft, const struct keel_session *who,
			       const char *here, struct keel_err *err)
{
	const union keel_slot *slot = keel_change_slot(ch, draft, job_User_List);
	bool fits = false, settled = false;
	const char *at = slot && slot->p ? slot->p : "";

	if (!*at)
		return 0;
	while (*at && !settled) {
		size_t len = strcspn(at, ","), name = strcspn(at, "@,");
		bool his = strlen(who->user) == name && strncmp(at, who->user, name) == 0;

		/* Is its host part, behind the '@', that host? */
		settled = name < len && ((len - name == 2 && at[name + 1] == '*') ||
					 (strlen(here) == len - name - 1 &&
					  strncasecmp(at + name + 1, here, len - name - 1) == 0));
		if (settled || name == len)
			fits = his;
		at += len + (at[len] == ',');
	}
	return fits ? 0 : keel_error(err, PBSE_BADUSER, "%s", keel_pbse_text(PBSE_BADUSER));
}

/* What the server says about every job. */
static void fill(struct keel_mod *mod, const struct submission *s, const struct keel_session *who,
		 int64_t sequence)
{
	struct keel_obj *draft = s->draft, *queue = s->queue;
	int64_t now = keel_time(mod);
	char gid[16];

	snprintf(gid, sizeof(gid), "%u", who->gid);
	keel_set_text(draft, job_Job_Owner, KEEL_SET, NULL, who->who, NULL);
	keel_set_str(draft, job_euser, who->user);
	keel_set_str(draft, job_egroup, s->group ? s->group : who->group ? who->group : gid);
	keel_set_str(draft, attr_job_queue, keel_id(queue));
	if (!keel_queue_runs(queue) && who->groups) /* for the lists of the queues it is routed to */
		keel_set_str(draft, job_owner_groups, who->groups);
	keel_set_str(draft, job_server, keel_server_name(mod));
	keel_set_str(draft, job_Submit_Host, who->host);
	keel_set_int(draft, job_ctime, now);
	keel_set_int(draft, job_mtime, now);
	keel_set_int(draft, job_qtime, now);
	keel_set_int(draft, job_queue_rank, now * 1000000 + sequence % 1000000);
	keel_set_int(draft, job_job_state, 'T');
	keel_set_int(draft, job_substate, 0);
}

/* The directory that a Variable_List names, without the signs before its commas and quotes. */
static void submit_dir(const char *variables, char *buf, size_t len)
{
	static const char name[] = "PBS_O_WORKDIR=";
	const char *at = variables ? strstr(variables, name) : NULL;
	size_t n = 0;

	for (at = at ? at + strlen(name) : ""; *at && *at != ',' && n + 1 < len; at++) {
		if (*at == '\\' && at[1])
			at++;
		buf[n++] = *at;
	}
	buf[n] = '\0';
}

/* Output_Path and Error_Path have a default that needs the sequence number. */
static int32_t default_path(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *draft,
			    const char *host, const struct keel_attr *attr, char letter, int64_t sequence,
			    struct keel_err *err)
{
	const union keel_slot *vars = keel_change_slot(ch, draft, job_Variable_List);
	char name[256] = "", cwd[4096], path[8192], given[4096];

	if (keel_change_peek(ch, draft, attr, NULL, given, sizeof(given)) >= 0)
		return 0;
	keel_change_peek(ch, draft, job_Job_Name, NULL, name, sizeof(name));
	submit_dir(vars ? vars->p : NULL, cwd, sizeof(cwd));
	snprintf(path, sizeof(path), "%s:%s/%s.%c%lld%s", host, cwd, name, letter,
		 (long long)sequence, job_role(mod, draft) == ROLE_WHOLE ? ".^array_index^" : "");
	return keel_change_text(ch, draft, attr, KEEL_SET, NULL, path, err);
}

int32_t job_default_paths(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *job,
			  const char *host, int64_t sequence, struct keel_err *err)
{
	int32_t code = default_path(mod, ch, job, host, job_Output_Path, 'o', sequence, err);

	return code ? code : default_path(mod, ch, job, host, job_Error_Path, 'e', sequence, err);
}

static int32_t add_variables(struct keel_changes *ch, struct keel_obj *draft,
			     const struct keel_session *who, struct keel_obj *queue,
			     struct keel_err *err)
{
	const union keel_slot *slot = keel_change_slot(ch, draft, job_Variable_List);
	const char *have = slot ? slot->p : "";
	char *text;
	int32_t code;

	if (asprintf(&text, "%s%sPBS_O_QUEUE=%s,PBS_O_HOST=%s", have, *have ? "," : "",
		     keel_id(queue), who->host) < 0)
		return keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	code = keel_change_text(ch, draft, job_Variable_List, KEEL_SET, NULL, text, err);
	free(text);
	return code;
}

static int32_t submit_apply(struct keel_mod *mod, struct keel_changes *ch, struct keel_obj *draft,
		     struct keel_obj *queue, struct keel_req *req, int64_t sequence,
		     struct keel_err *err)
{
	const struct keel_session *who = keel_req_session(req);
	const struct keel_attrop *attrs;
	uint32_t n = 0, i;
	bool changed = false;
	int32_t code = keel_msg_attrs(keel_req_body(req), "attrs", &attrs, &n);

	if (code && code != -ENODATA)
		return keel_error(err, PBSE_PROTOCOL, "%s", keel_pbse_text(PBSE_PROTOCOL));
	for (i = 0; i < n; i++) {
		struct keel_attrop op = attrs[i];

		op.op = KEEL_SET;
		code = keel_change(ch, who, draft, &op, err);
		if (code)
			return code;
	}
	code = check_user_list(ch, draft, who, keel_host_name(mod), err);
	if (!code) /* the peer's, whatever the request says */
		code = keel_change_text(ch, draft, job_Submit_Host, KEEL_SET, NULL, who->host, err);
	if (!code)
		code = job_default_paths(mod, ch, draft, who->host, sequence, err);
	if (!code)
		code = add_variables(ch, draft, who, queue, err);
	if (!code)
		code = prepare_job(mod, ch, draft, &changed, err);
	if (!code)
		code = keel_resource_prepare(ch, draft, queue, err);
	return code;
}

static void submit_accepted(struct keel_mod *mod, struct submission *s)
{
	struct keel_obj *job = s->draft;
	const char *id = job_id(mod, job), *queue = job_text(job, attr_job_queue);
	struct keel_out *out;

	if (!keel_find(mod, "queue", queue)) { /* deleted while a tap held the submission */
		keel_reply(s->req, PBSE_UNKQUE, NULL);
		keel_destroy(job);
		return;
	}
	if (keel_publish(job) ||
	    (s->script && keel_blob_put(job, "script", s->script, s->script_len))) {
		keel_reply(s->req, PBSE_SYSTEM, "System error: out of memory");
		keel_destroy(job);
		return;
	}
	step_evaluate(mod, job);
	keel_log(mod, KEEL_LOG_DEBUG2, "Job", id, "enqueuing into %s, state %c hop 1", queue,
		 step_letter(job_slot(mod, job)->step));
	keel_log(mod, KEEL_LOG_JOB, "Job", id,
		 "Job Queued at request of %s, owner = %s, job name = %s, queue = %s",
		 job_text(job, job_Job_Owner), job_text(job, job_Job_Owner),
		 job_text(job, job_Job_Name), queue);
	keel_acct_job('Q', job);
	keel_note(mod, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = id, .job = job));
	out = keel_out(mod);
	keel_put_str(out, "id", id);
	keel_reply_out(s->req, out);
}

static void submit_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct submission *s = arg;

	again_over(mod, job_id(mod, s->draft));
	if (outcome->verdict == KEEL_NEXT || outcome->verdict == KEEL_DONE) {
		submit_accepted(mod, s);
	} else {
		keel_reply(s->req, outcome->code ? outcome->code : PBSE_HOOKERROR,
			   outcome->text ? "%s" : NULL, outcome->text);
		keel_destroy(s->draft);
	}
	submission_free(s);
}

static int32_t take_script(struct keel_mod *mod, struct keel_req *req, struct submission *s,
			   struct keel_err *err)
{
	const struct conf *conf = mod->conf;
	const void *bytes = keel_msg_bytes(keel_req_body(req), "script", &s->script_len);
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	int64_t most = conf->script_max, kb;

	if (keel_is_set(server, server_jobscript_max_size)) {
		kb = keel_get_int(server, server_jobscript_max_size);
		most = kb < INT64_MAX / 1024 ? kb * 1024 : INT64_MAX;
	}
	if (most > WIRE_SCRIPT_MAX) /* what reaches a host */
		most = WIRE_SCRIPT_MAX;
	if (!bytes)
		return 0;
	if (s->script_len > most)
		return keel_error(err, PBSE_JOBSCRIPTMAXSIZE, "%s: %u bytes, %lld are taken",
				  keel_pbse_text(PBSE_JOBSCRIPTMAXSIZE), s->script_len, (long long)most);
	s->script = bytes;
	return 0;
}

/* Does the request submit an array? */
static bool is_whole(struct keel_mod *mod, struct keel_req *req)
{
	const struct state *st = mod->state;
	const struct keel_attrop *attrs;
	uint32_t n = 0, i;

	if (!st->form || keel_msg_attrs(keel_req_body(req), "attrs", &attrs, &n))
		return false;
	for (i = 0; i < n; i++)
		if (strcasecmp(attrs[i].name, st->form->attr) == 0) /* any case is taken */
			return true;
	return false;
}

/* Makes and fills s->draft; *ret_changes gets the change set for the chain. Returns 0, or fails with a PBSE code and
 * *err: the draft is destroyed. */
static int32_t draft_make(struct keel_mod *mod, struct submission *s, struct keel_changes **ret_changes,
		     struct keel_err *err)
{
	const struct keel_session *who = keel_req_session(s->req);
	int64_t sequence = sequence_next(mod);
	struct keel_changes *ch;
	char id[300];
	int32_t code;

	snprintf(id, sizeof(id), "%lld%s.%s", (long long)sequence, is_whole(mod, s->req) ? "[]" : "",
		 keel_server_name(mod));
	s->draft = keel_draft(mod, "job", id, err);
	if (!s->draft)
		return err->code ? err->code : PBSE_SYSTEM;
	fill(mod, s, who, sequence);
	ch = job_slot(mod, s->draft) ? keel_changes(mod) : NULL; /* memory that is needed once it is published */
	code = ch ? submit_apply(mod, ch, s->draft, s->queue, s->req, sequence, err)
		  : keel_error(err, PBSE_SYSTEM, "System error: out of memory");
	if (!code)
		code = again_expect(mod, id, ch, s->draft, keel_id(s->queue), err);
	if (code) {
		keel_discard(ch);
		keel_destroy(s->draft);
		return code;
	}
	*ret_changes = ch;
	return 0;
}

/* The checks before the job is made: user, queue, admission. Returns 0, or fails with a PBSE code and *err. */
static int32_t submission_check(struct keel_mod *mod, struct submission *s, struct keel_err *err)
{
	const struct keel_session *who = keel_req_session(s->req);
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	const char *dest = keel_msg_str(keel_req_body(s->req), "dest");
	char name[64]; /* of the queue; the server part is this server, to which the client connected */
	int32_t code;

	snprintf(name, sizeof(name), "%.*s", dest ? (int)strcspn(dest, "@") : 0, dest ? dest : "");
	if ((who->uid == 0 || strcmp(who->user, "root") == 0) && !acl_roots(mod, server, server_acl_roots, who))
		code = PBSE_BADUSER;
	else
		code = destination_find(mod, name, &s->queue);
	if (code)
		return keel_error(err, code, "%s", keel_pbse_text(code));
	return admit(mod, s->queue, who, false, err);
}

static void submission_raise(struct keel_mod *mod, struct submission *s)
{
	struct keel_changes *ch;
	struct keel_err err = { 0 };
	int32_t code = submission_check(mod, s, &err);

	if (!code)
		code = take_script(mod, s->req, s, &err);
	if (!code)
		code = draft_make(mod, s, &ch, &err);
	if (code) {
		keel_reply(s->req, code, "%s", err.text);
		submission_free(s);
		return;
	}
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_job_submit,
		.event = KEEL_EVENT(job_submit, .id = job_id(mod, s->draft), .job = s->draft,
			       .queue = s->queue, .who = keel_req_session(s->req)->who),
		.changes = ch,
		.req = s->req,
		.done = submit_decided,
		.arg = s,
	});
}

static void submit_group_known(struct keel_mod *mod, void *arg, int32_t code, const char *group)
{
	struct submission *s = arg;

	if (!code && !(s->group = strdup(group)))
		code = PBSE_SYSTEM;
	if (!code) {
		submission_raise(mod, s);
		return;
	}
	keel_reply(s->req, code, NULL);
	submission_free(s);
}

void on_submit(struct keel_mod *mod, struct keel_req *req)
{
	static const char prefix[] = "defaults:";
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	const char *extend = keel_msg_str(keel_req_body(req), "extend"), *have = NULL;
	struct submission *s;
	struct keel_err err = { 0 };
	char group[256];
	int32_t code;

	/* A client that adds the server's default options says which it added: when those are stale it submits again
	 * with the right ones. Other clients add none. */
	if (server_default_qsub_arguments)
		have = keel_get_str(server, server_default_qsub_arguments);
	if (extend && strncmp(extend, prefix, sizeof(prefix) - 1) == 0 &&
	    strcmp(extend + sizeof(prefix) - 1, have ? have : "") != 0) {
		keel_reply(req, PBSE_FORCE_QSUB_UPDATE, NULL);
		return;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		keel_reply(req, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	s->req = req;
	if (!group_wanted(mod, req, group, sizeof(group)) || !*group) {
		submission_raise(mod, s);
	} else if ((code = submission_check(mod, s, &err))) {
		keel_reply(req, code, "%s", err.text);
		submission_free(s);
	} else {
		group_ask(mod, keel_req_session(req)->user, group, submit_group_known, s);
	}
}
