/* SPDX-License-Identifier: Apache-2.0
 *
 * server.c - on a server: what hosts of jobs failed and why, on the job and on the vnodes; facts for the primary.
 *
 *   tolerance.ask      -> tolerance.facts: what the job has, what it keeps, which hosts have failed already
 *   tolerance.lost     noted on the job; the vnodes that it has there as `failed_node` says; -> tolerance.noted
 *   tolerance.hold     the job is held when this run ends
 *   tolerance.offline  a vnode of a host that failed
 *
 * Each is believed of the primary of the job's current run alone, and of hosts and vnodes that are the job's.
 */
#include "server.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "chunks.h"
#include "increment.h"
#include "keel/service/job.h"
#include "keel/service/node.h"

KEEL_USE_OPT(job);
KEEL_USE_OPT(node);
KEEL_USE_OPT(resource);
KEEL_ATTR_OPT(job, exec_vnode);
KEEL_ATTR_OPT(job, schedselect);
KEEL_ATTR_OPT(job, run_version);
KEEL_ATTR_OPT(job, Hold_Types);
KEEL_ATTR_OPT(job, kept_select);
KEEL_ATTR_OPT(job, lost_hosts);
KEEL_ATTR_OPT(job, unsatisfied);
KEEL_ATTR_OPT(job, ending);
KEEL_ATTR_OPT(node, comment);

#define LOST_MAX 65536 /* bytes of lost_hosts: later failures are not noted on the job */

/* ---- hosts that failed, on the job ----------------------------------------------------------------------------- */

/* "run\nhost stage code text\n...": of the last run in which a host failed. */
const struct keel_attr_def lost_row =
	KEEL_ATTR_DEF("job", "lost_hosts", "string", .order = 930, .flags = KEEL_ATTR_SAVE | KEEL_ATTR_OWN,
		      .doc = "hosts that failed, for the host's daemon");

/* The lines behind the first, where the first is this run; else NULL. */
static const char *lost_lines(struct keel_obj *job, int64_t run)
{
	const char *text = job_lost_hosts ? keel_get_str(job, job_lost_hosts) : NULL, *end = text ? strchr(text, '\n') : NULL;

	return end && (run < 0 || strtoll(text, NULL, 10) == run) ? end + 1 : NULL;
}

static const char *line_next(const char *line, size_t *ret_len)
{
	*ret_len = strcspn(line, "\n");
	return *ret_len ? line + *ret_len + (line[*ret_len] == '\n') : NULL;
}

/* n2: bad node (prologue, 15169); ... */
static void failed_derive(struct keel_mod *mod, struct keel_obj *job, const struct keel_emit *emit)
{
	const char *line = lost_lines(job, -1), *next;
	char host[256], stage[16];
	struct keel_text text;
	size_t len;
	int code, at;

	(void)mod;
	keel_text_init(&text);
	for (; line && (next = line_next(line, &len)); line = next)
		if (sscanf(line, "%255s %15s %d %n", host, stage, &code, &at) == 3 && (size_t)at <= len)
			keel_text_printf(&text, "%s%s: %.*s (%s, %d)", text.len ? "; " : "", host, (int)len - at, line + at,
					 stage, code);
	if (text.len && !text.failed)
		keel_emit_text(emit, text.data);
	keel_text_fini(&text);
}

const struct keel_attr_def failed_row =
	KEEL_ATTR_DEF("job", "failed_hosts", "string", .order = 618, .flags = KEEL_ATTR_FLAG1, .read_roles = KEEL_EVERYBODY,
		      .derive = failed_derive, .doc = "hosts that failed in the last run that lost some, and why");

static bool is_noted(struct keel_obj *job, int64_t run, const char *host)
{
	const char *line = lost_lines(job, run), *next;
	size_t len, n = strlen(host);

	for (; line && (next = line_next(line, &len)); line = next)
		if (len > n && line[n] == ' ' && memcmp(line, host, n) == 0)
			return true;
	return false;
}

/* Why the host failed, as it was noted. */
static void reason_of(struct keel_obj *job, int64_t run, const char *host, char buf[TEXT_MAX])
{
	const char *line = lost_lines(job, run), *next;
	size_t len, n = strlen(host);
	int at = 0;

	snprintf(buf, TEXT_MAX, "failed");
	for (; line && (next = line_next(line, &len)); line = next)
		if (len > n && line[n] == ' ' && memcmp(line, host, n) == 0 && sscanf(line, "%*s %*s %*d %n", &at) == 0 &&
		    at > 0 && (size_t)at <= len)
			snprintf(buf, TEXT_MAX, "failed for job %s: %.*s", keel_id(job), (int)len - at, line + at);
}

static void note_host(struct keel_obj *job, int64_t run, const char *host, const char *stage, int64_t code, const char *why)
{
	const char *old = lost_lines(job, run);
	struct keel_text text;

	keel_text_init(&text);
	keel_text_printf(&text, "%lld\n%s%s %s %lld %s\n", (long long)run, old ? old : "", host, stage, (long long)code, why);
	if (!text.failed && text.len <= LOST_MAX)
		keel_set_str(job, job_lost_hosts, text.data);
	keel_text_fini(&text);
}

keel_verdict on_job_started(struct keel_call *c, const struct keel_ev_job_started *ev)
{
	(void)c;
	if (job_lost_hosts && job_run_version && keel_is_set(ev->job, job_lost_hosts) &&
	    !lost_lines(ev->job, keel_get_int(ev->job, job_run_version)))
		keel_unset(ev->job, job_lost_hosts, NULL);
	return KEEL_NEXT;
}

/* ---- who may speak ------------------------------------------------------------------------------------------------ */

/* A word of a message as a word of a line. */
static bool is_word(const char *text, size_t most)
{
	size_t n = 0;

	for (; text && text[n]; n++)
		if (n >= most || !isgraph((unsigned char)text[n]))
			return false;
	return n > 0;
}

/* Without what would end a line or a comment. */
static void line_of(const char *text, char buf[TEXT_MAX])
{
	snprintf(buf, TEXT_MAX, "%s", text && *text ? text : "no reason given");
	for (; *buf; buf++)
		if (iscntrl((unsigned char)*buf))
			*buf = ' ';
}

static bool is_primary(const char *exec_vnode, const char *peer)
{
	size_t len = strcspn(exec_vnode + (*exec_vnode == '('), ":+)");
	char *vnode = strndup(exec_vnode + (*exec_vnode == '('), len);
	const char *host = vnode ? keel_node_host_of(vnode) : NULL;
	bool ret = host && strcmp(host, peer) == 0;

	free(vnode);
	return ret;
}

/* The job that the message is about, when its sender is the primary of the job's run. */
static struct keel_obj *job_of(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	const char *id = keel_msg_str(m, "id"), *exec;
	const bool able = job_run_version && job_exec_vnode && job_schedselect && job_Hold_Types;
	struct keel_obj *job = id && able && keel_has(job) && keel_has(node) ? keel_find(mod, "job", id) : NULL;

	if (!job || keel_get_int(job, job_run_version) != keel_msg_int(m, "run", -1) ||
	    !strchr("RE", keel_job_state(job)))
		return NULL;
	exec = keel_get_str(job, job_exec_vnode);
	return exec && is_primary(exec, peer) ? job : NULL;
}

static struct keel_out *answer_to(struct keel_mod *mod, struct keel_obj *job)
{
	struct keel_out *out = keel_out(mod);

	keel_put_str(out, "id", keel_id(job));
	keel_put_int(out, "run", keel_get_int(job, job_run_version));
	return out;
}

/* ---- facts -------------------------------------------------------------------------------------------------------- */

/* What the job keeps: its schedselect, which has all defaults, with the counts of the select as submitted. */
static void keep_put(struct keel_out *out, struct keel_obj *job, const char *schedselect)
{
	const char *kept = job_kept_select ? keel_get_str(job, job_kept_select) : NULL;
	struct keel_text text;

	if (!kept || !schedselect)
		return;
	keel_text_init(&text);
	if (increment_counts_of(schedselect, kept, &text) == 0)
		keel_put_str(out, "keep", text.data);
	keel_text_fini(&text);
}

static void words_put(struct keel_out *out)
{
	const struct keel_resource *res;

	keel_open_array(out, "words");
	for (uint32_t i = 0; keel_has(resource) && (res = keel_resource_at(i)); i++)
		if (res->type >= KEEL_RES_BOOL)
			keel_add_str(out, res->name);
	keel_close(out);
}

static void lost_put(struct keel_out *out, struct keel_obj *job)
{
	const char *line = lost_lines(job, keel_get_int(job, job_run_version)), *next;
	size_t len;

	keel_open_array(out, "lost");
	for (; line && (next = line_next(line, &len)); line = next) {
		char *copy = strndup(line, len);

		if (copy)
			keel_add_str(out, copy);
		free(copy);
	}
	keel_close(out);
}

static bool is_cray(struct keel_mod *mod, const char *vnode)
{
	struct keel_obj *node = keel_find(mod, "node", vnode);
	const struct keel_reslist *available = node && keel_has(resource) ? keel_node_available(node) : NULL;
	const struct keel_res_value *type = available ? keel_resource_list_get(available, "vntype") : NULL;

	return type && type->text && strncmp(type->text, "cray_", 5) == 0;
}

static void cray_put(struct keel_mod *mod, struct keel_out *out, const char *exec_vnode)
{
	struct chunks exec;
	uint32_t i = 0;

	if (chunks_of_exec(exec_vnode, &exec) == 0) {
		while (i < exec.n_parts && !is_cray(mod, exec.part[i].vnode))
			i++;
		if (i < exec.n_parts)
			keel_put_str(out, "cray", exec.part[i].vnode);
	}
	chunks_fini(&exec);
}

static void on_ask(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct keel_obj *job = job_of(mod, peer, m);
	const char *exec, *schedselect;
	struct keel_out *out;

	if (!job)
		return;
	exec = keel_get_str(job, job_exec_vnode);
	schedselect = keel_get_str(job, job_schedselect);
	out = answer_to(mod, job);
	keel_put_str(out, "exec_vnode", exec);
	keel_put_str(out, "schedselect", schedselect);
	keep_put(out, job, schedselect);
	words_put(out);
	lost_put(out, job);
	cray_put(mod, out, exec);
	keel_link_send(mod, peer, "tolerance.facts", out);
}

/* ---- a host failed ------------------------------------------------------------------------------------------------ */

static void node_close(struct keel_mod *mod, const char *vnode, const char *why)
{
	struct keel_obj *node = keel_find(mod, "node", vnode);

	if (!node)
		return;
	keel_node_set_state(node, KEEL_NODE_OFFLINE, true);
	if (node_comment)
		keel_set_str(node, node_comment, why);
}

/* The vnodes that the job has of a host: with a reason they are set offline. Returns whether there are any. */
static bool host_vnodes(struct keel_mod *mod, struct keel_obj *job, const char *host, const char *why)
{
	struct chunks exec;
	bool any = false;

	if (chunks_of_exec(keel_get_str(job, job_exec_vnode), &exec) == 0) {
		for (uint32_t i = 0; i < exec.n_parts; i++) {
			const char *its = keel_node_host_of(exec.part[i].vnode);

			if (!its || strcmp(its, host) != 0)
				continue;
			any = true;
			if (why)
				node_close(mod, exec.part[i].vnode, why);
		}
	}
	chunks_fini(&exec);
	return any;
}

static void host_failed(struct keel_mod *mod, struct keel_obj *job, const char *host, const struct keel_msg *m)
{
	const struct conf *conf = mod->conf;
	const char *stage = keel_msg_str(m, "stage");
	int64_t run = keel_get_int(job, job_run_version);
	char why[TEXT_MAX], comment[TEXT_MAX + 400];

	if (!is_word(stage, 15) || is_noted(job, run, host) || (job_ending && keel_is_set(job, job_ending)))
		return; /* of a job that is deleted or rerun the hosts leave, which is no failure */
	line_of(keel_msg_str(m, "text"), why);
	snprintf(comment, sizeof(comment), "failed for job %s (%s): %s", keel_id(job), stage, why);
	if (!host_vnodes(mod, job, host, conf->failed_node == FAILED_NODE_OFFLINE ? comment : NULL))
		return;
	note_host(job, run, host, stage, keel_msg_int(m, "code", 0), why);
	keel_log(mod, KEEL_LOG_JOB, "Job", keel_id(job), "host %s failed (%s): %s", host, stage, why);
}

static void on_lost(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct keel_obj *job = job_of(mod, peer, m);
	const char *host = keel_msg_str(m, "host");
	struct keel_out *out;

	if (!job || !is_word(host, 255))
		return;
	host_failed(mod, job, host, m);
	out = answer_to(mod, job);
	keel_put_str(out, "host", host);
	keel_link_send(mod, peer, "tolerance.noted", out);
}

static void on_offline(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct keel_obj *job = job_of(mod, peer, m);
	const char *vnode = keel_msg_str(m, "vnode"), *host = job && vnode ? keel_node_host_of(vnode) : NULL;
	char why[TEXT_MAX];

	if (!host || !is_noted(job, keel_get_int(job, job_run_version), host))
		return;
	if (keel_msg_str(m, "text"))
		line_of(keel_msg_str(m, "text"), why);
	else
		reason_of(job, keel_get_int(job, job_run_version), host, why);
	node_close(mod, vnode, why);
}

/* ---- held ------------------------------------------------------------------------------------------------------------ */

const struct keel_attr_def unsatisfied_row =
	KEEL_ATTR_DEF("job", "unsatisfied", "string", .order = 931, .flags = KEEL_ATTR_SAVE | KEEL_ATTR_OWN,
		      .doc = "why the job is held when its run ends");

static void on_hold(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct keel_obj *job = job_of(mod, peer, m);
	char why[TEXT_MAX];

	if (!job)
		return;
	line_of(keel_msg_str(m, "text"), why);
	keel_set_str(job, job_unsatisfied, why);
	keel_set_text(job, job_Hold_Types, KEEL_INCR, NULL, "s", NULL);
}

/* It is queued again, and held. */
keel_verdict on_job_step(struct keel_call *c, const struct keel_ev_job_step *ev)
{
	(void)c;
	if (ev->state != 'H' || !job_unsatisfied || !keel_is_set(ev->job, job_unsatisfied))
		return KEEL_NEXT;
	keel_job_set_comment(ev->job, keel_get_str(ev->job, job_unsatisfied));
	keel_unset(ev->job, job_unsatisfied, NULL);
	return KEEL_NEXT;
}

int32_t server_start(struct keel_mod *mod, struct keel_err *err)
{
	static const struct {
		const char *name;
		void (*fn)(struct keel_mod *, const char *peer, const struct keel_msg *);
	} messages[] = {
		{ "tolerance.ask", on_ask }, { "tolerance.lost", on_lost },
		{ "tolerance.offline", on_offline }, { "tolerance.hold", on_hold },
	};
	int32_t r = 0;

	for (size_t i = 0; i < KEEL_COUNT(messages) && r == 0; i++)
		r = keel_link_on(mod, messages[i].name, KEEL_MOM, messages[i].fn);
	return r < 0 ? keel_error(err, r, "messages about hosts that fail cannot be received") : 0;
}
