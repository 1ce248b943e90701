/* SPDX-License-Identifier: Apache-2.0
 *
 * explain_job.c - the request keelson.explain: everything that decides whether a job starts, in lines.
 *
 *   <what>  <ok or what is in the way>
 *
 * A job's owner, operators and managers may send it, and others while the server's query_other_jobs is True. What features and
 * policies know is in lines of their own at job_explain: each tap appends lines that end with a newline. What stands in the way
 * of a start is shown of jobs that wait for one. The request changes nothing. Hosts: explain_host.c.
 */
#include "scheduler.h"

#include "keel/acl.h"
#include "keel/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

KEEL_ATTRS_OF(job, queue, Resource_List, schedselect);
KEEL_ATTR_OF(queue, started);
KEEL_ATTR_OPT(server, query_other_jobs);
KEEL_ATTR_OPT(server, flatuid);

#define POLICY_SHOWN 65536 /* bytes of all lines of policies */
#define VNODES 50 /* at most so many are listed */
#define HOLDERS 5

/* ---- the job that is meant, and permission ----------------------------------------------------------- */

static struct keel_obj *job_named(struct keel_mod *mod, const char *id)
{
	struct keel_obj *job = keel_find(mod, "job", id);
	char full[300];

	if (job || strchr(id, '.'))
		return job;
	snprintf(full, sizeof(full), "%s.%s", id, keel_server_name(mod));
	return keel_find(mod, "job", full);
}

/* May they see jobs of others, as listings do? */
static bool sees_others(struct keel_mod *mod, const struct keel_session *who)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));

	return (who->roles & KEEL_OPERATORS) || !server || !server_query_other_jobs ||
	       keel_get_int(server, server_query_other_jobs);
}

static bool may_ask(struct keel_mod *mod, const struct keel_session *who, struct keel_obj *job)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	const struct keel_attr *owner = keel_attr_find(mod, "job", "Job_Owner"), *host = keel_attr_find(mod, "job", "exec_host");
	const char *text = owner ? keel_get_str(job, owner) : NULL, *at = host ? keel_get_str(job, host) : NULL;
	bool flat = server && server_flatuid && keel_get_int(server, server_flatuid);

	return sees_others(mod, who) ||
	       (text && keel_acl_is_job_owner(text, at, who->user, who->host, keel_host_name(mod), flat));
}

/* ---- lines ----------------------------------------------------------------------------------------- */

void explain_line(struct keel_text *out, const char *what, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	keel_text_printf(out, "%-12s %s\n", what, text);
}

/* With the number and what is missing, for tools. */
static void line_why(struct keel_text *out, const char *what, const struct reason *r)
{
	char code[100] = "";

	if (r->code)
		snprintf(code, sizeof(code), " [%d%s%s]", (int)r->code, *r->what ? " " : "", r->what);
	explain_line(out, what, "%s: %s%s", r->never ? "never" : "not now", r->text, code);
}

static void explain_rest(struct keel_mod *mod, const struct entry *e, struct keel_text *out)
{
	int64_t more = e && e->not_before > clock_us(mod) ? e->not_before - clock_us(mod) : 0;
	char hosts[400];

	if (!scheduling_on(mod))
		explain_line(out, "scheduling", "off: no job starts");
	if (e && e->where == RESTING)
		explain_line(out, "back-off", "rests: its start failed %u times in a row", e->failures);
	else if (more)
		explain_line(out, "back-off", "not tried for another %lld ms", (long long)(more / 1000));
	else if (e && e->gave_up)
		explain_line(out, "back-off", "others gave way in vain: none does until something changes");
	else if (avoid_tell(mod, e, hosts, sizeof(hosts)))
		explain_line(out, "back-off", "keeps off the host of %s", hosts);
	else
		explain_line(out, "back-off", "none");
}

/* Taps' lines; the blanks that join what they append are taken off. */
static void explain_policies(struct keel_mod *mod, struct keel_obj *job, bool others, struct keel_text *out)
{
	char *buf, *text, *save = NULL;
	size_t len;

	if (!keel_tapped(mod, KEEL_POINT_job_explain) || !(buf = calloc(1, POLICY_SHOWN)))
		return;
	keel_fold(mod, KEEL_POINT_job_explain,
		  KEEL_EVENT(job_explain, .id = keel_id(job), .job = job, .others = others), buf,
		  POLICY_SHOWN);
	len = strlen(buf);
	for (text = strtok_r(buf, "\n", &save); text; text = strtok_r(NULL, "\n", &save))
		keel_text_printf(out, "%s\n", text + strspn(text, " "));
	free(buf);
	if (len == POLICY_SHOWN - 1)
		explain_line(out, "policies", "say more than can be shown");
}

/* ---- totals ------------------------------------------------------------------------------------------ */

void explain_amount_text(const struct keel_resource *res, double n, char *buf, uint32_t len)
{
	struct keel_res_value v = { .res = res, .n = n, .unit = res->type == KEEL_RES_SIZE ? 1 : 0 };

	keel_resource_value_text(&v, false, buf, len);
}

static void explain_amount(const struct pool *p, const struct pool_amount *a,
			   const struct keel_res_value *want, struct keel_text *out)
{
	char text[3][48], what[300];

	if (want->res->type >= KEEL_RES_BOOL)
		return;
	explain_amount_text(a->res, want->n, text[0], sizeof(text[0]));
	explain_amount_text(a->res, a->free, text[1], sizeof(text[1]));
	explain_amount_text(a->res, a->total, text[2], sizeof(text[2]));
	snprintf(what, sizeof(what), "%s: wants %s, %s of %s are free", a->res->name, text[0], text[1],
		 text[2]);
	explain_line(out, p->queue ? "queue total" : "server total", "%s%s",
	     want->n <= a->free ? "ok: " : want->n <= a->total ? "short: " : "never: ", what);
}

static void explain_totals(struct keel_obj *job, const struct snapshot *s,
			   struct keel_text *out)
{
	const char *queue = keel_get_str(job, job_queue);
	uint32_t n, i, k, m;
	const struct keel_res_value **whole = whole_of(job, &n);

	for (i = 0; whole && i < s->n_pool; i++) {
		const struct pool *p = &s->pool[i];

		if (p->queue && (!queue || strcmp(p->queue, queue) != 0))
			continue;
		for (k = 0; k < p->n; k++)
			for (m = 0; m < n; m++)
				if (p->amount[k].res == whole[m]->res)
					explain_amount(p, &p->amount[k], whole[m], out);
	}
	free(whole);
}

/* ---- vnodes --------------------------------------------------------------------------------------------- */

struct holders {
	struct keel_text *out;
	uint32_t n;
	bool others;
};

static void holder(void *arg, const char *job_id, bool suspended)
{
	struct holders *h = arg;

	if (h->n < HOLDERS)
		keel_text_printf(h->out, "%s%s%s", h->n ? ", " : "; held by ", h->others ? job_id : "another job",
				 suspended ? " (suspended)" : "");
	else if (h->n == HOLDERS)
		keel_text_str(h->out, " ...");
	h->n++;
}

static void explain_vnode(struct keel_mod *mod, const struct snapshot *s, const struct vnode_word *w, bool others,
			  struct keel_text *out)
{
	const char *name = s->node[w->node].name;
	struct keel_obj *node = keel_find(mod, "node", name);
	const struct keel_attr *state = keel_attr_find(mod, "node", "state");
	struct holders h = { out, 0, others };
	char text[128] = "";

	if (node && state)
		keel_get_text(node, state, NULL, text, sizeof(text));
	keel_text_printf(out, "  %-10s chunk %u, %s: %s%s", name, w->chunk + 1, text, w->why.text,
			 w->why.code == KEEL_WHY_NODE_STATE ? text : "");
	if (node && w->why.code != KEEL_WHY_NODE_KIND)
		keel_node_tenants(node, holder, &h);
	keel_text_str(out, "\n");
}

static void explain_vnodes(struct keel_mod *mod, struct keel_obj *job, const struct group *g,
			   struct snapshot *s, bool others, struct keel_text *out)
{
	struct vnode_words words = { .word = calloc(VNODES + 1, sizeof(*words.word)), .room = VNODES };
	uint32_t i;

	if (!words.word || !vnode_words(mod, job, g, s, &words)) {
		free(words.word);
		return;
	}
	explain_line(out, "vnodes", "%u could take a chunk now, %u not", words.fits, words.n + words.others);
	for (i = 0; i < words.n; i++)
		explain_vnode(mod, s, &words.word[i], others, out);
	if (words.others)
		keel_text_printf(out, "  and %u more that cannot\n", words.others);
	free(words.word);
}

/* ---- time ----------------------------------------------------------------------------------------------- */

/* `40 minutes`, `3 hours`; what is less than two of a unit is said in the next smaller one. */
static void span_text(int64_t seconds, char *buf, size_t len)
{
	static const struct {
		int64_t of;
		const char *word;
	} units[] = { { 86400, "days" }, { 3600, "hours" }, { 60, "minutes" }, { 1, "seconds" } };
	size_t i = 0;

	while (i + 1 < KEEL_COUNT(units) && seconds < 2 * units[i].of)
		i++;
	snprintf(buf, len, "%lld %s", (long long)(seconds / units[i].of), units[i].word);
}

/* Would it fit if it took less time? Then how much less; the walltime is one that qsub takes. */
static void explain_time(struct keel_mod *mod, struct keel_obj *job, const struct reason *r, struct keel_text *out)
{
	int64_t now = keel_time(mod), room = r->from - now, over = job_longest(job) - room;
	const bool limited = keel_resource_list_get(keel_get_ptr(job, job_Resource_List), "walltime") != NULL;
	time_t from = (time_t)r->from;
	char begins[64] = "", beyond[64], most[64] = "";
	struct tm tm;

	if (r->code != KEEL_WHY_CONFLICT || !r->from || over <= 0)
		return;
	if (localtime_r(&from, &tm))
		strftime(begins, sizeof(begins), room < 6 * 86400 ? "%a %H:%M" : "%a %b %e %Y %H:%M", &tm);
	span_text(over, beyond, sizeof(beyond));
	if (room > 60)
		room -= room % 60;
	if (room > 0)
		snprintf(most, sizeof(most), "; ask for at most %02lld:%02lld:%02lld", (long long)(room / 3600),
			 (long long)(room / 60 % 60), (long long)(room % 60));
	if (limited)
		explain_line(out, "time", "would end %s into %s, which begins %s%s", beyond, r->what, begins, most);
	else
		explain_line(out, "time", "has no walltime and may run into %s, which begins %s%s", r->what, begins, most);
}

static void explain_place(struct keel_mod *mod, struct keel_obj *job, bool others, struct keel_text *out)
{
	struct group *g = group_of(mod, job);
	struct reason r = { 0 };
	struct snapshot *s = g ? ground_of(mod, g->line->name, &r) : NULL;
	const struct keel_res_value *v =
		keel_resource_list_get(keel_get_ptr(job, job_Resource_List), "place");

	if (g && !s) {
		line_why(out, "placement", &r);
		return;
	}
	if (!g || !g->shape) {
		explain_line(out, "placement", "not known: the request cannot be read, or there is no memory");
		return;
	}
	explain_line(out, "request", "select %s  place %s", keel_get_str(job, job_schedselect),
	     v && v->text ? v->text : "free");
	explain_totals(job, s, out);
	if (!could_ever_fit(mod, job, g, &r))
		line_why(out, "placement", &r);
	else if (would_fit(mod, job, g, s, &r))
		explain_line(out, "placement", "ok: it fits now");
	else
		line_why(out, "placement", &r);
	explain_time(mod, job, &r, out);
	explain_vnodes(mod, job, g, s, others, out);
}

/* What stands in the way of its start. */
static void explain_start(struct keel_mod *mod, struct keel_obj *job, const char *name, bool others, struct keel_text *out)
{
	struct keel_obj *queue = name ? keel_find(mod, "queue", name) : NULL;
	struct reason r = { 0 };

	explain_rest(mod, entry_of(mod, job), out);
	if (!queue)
		explain_line(out, "queue", "there is none of this name");
	else if (!keel_get_int(queue, queue_started))
		explain_line(out, "queue", "Queue not started. (%s)", name);
	else
		explain_line(out, "queue", "ok: %s is started", name);
	if (group_is_eligible(mod, job, &r) && job_is_eligible(mod, job, &r))
		explain_line(out, "policies", "ok");
	else
		line_why(out, "policies", &r);
	if (keel_job_waiting(job))
		explain_place(mod, job, others, out);
}

static void explain_all(struct keel_mod *mod, struct keel_obj *job, bool others, struct keel_text *out)
{
	const char *name = keel_get_str(job, job_queue), *text;
	const struct keel_attr *attr = keel_attr_find(mod, "job", "comment");
	char holds[512], subjobs[256];

	explain_line(out, "job", "%s  state %c  queue %s", keel_id(job), keel_job_state(job), name ? name : "");
	text = attr ? keel_get_str(job, attr) : NULL;
	if (text)
		explain_line(out, "comment", "%s", text);
	attr = keel_attr_find(mod, "job", "array_state_count");
	if (attr && keel_get_text(job, attr, NULL, subjobs, sizeof(subjobs)) > 0)
		explain_line(out, "subjobs", "%s", subjobs);
	/* An operation on the job, its start or another one, waits in a hold. */
	if (keel_holds_text(mod, keel_id(job), holds, sizeof(holds)) > 0)
		explain_line(out, "waits", "%s", holds);
	explain_policies(mod, job, others, out);
	/* One that runs would count itself against its limits. */
	if (keel_job_waiting(job) || strchr("QT", keel_job_state(job)))
		explain_start(mod, job, name, others, out);
}

/* ---- the request --------------------------------------------------------------------------------------- */

static void answer(struct keel_mod *mod, struct keel_req *req, struct keel_text *out)
{
	struct keel_out *reply;
	char *row, *save = NULL;

	if (out->failed || !out->data) {
		keel_reply(req, PBSE_SYSTEM, "System error: out of memory");
		return;
	}
	reply = keel_out(mod);
	keel_open_array(reply, "lines");
	for (row = strtok_r(out->data, "\n", &save); row; row = strtok_r(NULL, "\n", &save))
		keel_add_str(reply, row);
	keel_close(reply);
	keel_reply_out(req, reply);
}

/* No job, host or vnode of this name. */
static void unknown(struct keel_req *req, const char *name)
{
	char *end;
	const long long number = strtoll(name, &end, 10);

	if (end != name && strspn(end, "[]0123456789") == strcspn(end, ".") && number >= 0 && number < keel_job_next_number())
		keel_reply(req, PBSE_UNKJOBID, "Unknown Job Id %.200s: it is over, and not in the history", name);
	else if (end != name)
		keel_reply(req, PBSE_UNKJOBID, NULL);
	else
		keel_reply(req, PBSE_UNKJOBID, "Unknown Job Id %.200s, and no host or vnode of this name", name);
}

static void on_explain(struct keel_mod *mod, struct keel_req *req)
{
	uint32_t n;
	const char *const *args = keel_msg_strings(keel_req_body(req), "args", &n);
	const char *name = args && n == 1 ? args[0] : "";
	const bool others = sees_others(mod, keel_req_session(req));
	struct keel_obj *job = job_named(mod, name);
	struct keel_text out;
	char part = '\0', whole[300];

	/* The array that `7[3]` is, or was, in. */
	if (!job && keel_id_whole(name, whole, sizeof(whole))) {
		part = keel_job_letter(name);
		job = part ? job_named(mod, whole) : NULL;
	}
	if (job && !may_ask(mod, keel_req_session(req), job)) {
		keel_reply(req, PBSE_PERM, NULL);
		return;
	}
	keel_text_init(&out);
	if (part && job) {
		/* Those that wait in an array are equal: what holds for the next of them holds for this one. */
		explain_line(&out, "job", "%s  state %c  %s %s", name, part, part == 'X' ? "is over; its array is" : "waits in",
		     keel_id(job));
	}
	if (job && part != 'X')
		explain_all(mod, job, others, &out);
	if (job || explain_host(mod, name, others, &out))
		answer(mod, req, &out);
	else
		unknown(req, name);
	keel_text_fini(&out);
}

const struct keel_request_def explain_request = {
	.size = sizeof(struct keel_request_def),
	.roles = KEEL_EVERYBODY,
	.flags = KEEL_REQUEST_READ,
	.name = "keelson.explain",
	.doc = "why a job does not start, or is as it is; why nothing starts on a host: job or host",
	.handler = on_explain,
};
