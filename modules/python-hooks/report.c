/* SPDX-License-Identifier: Apache-2.0
 *
 * report.c - what scripts of this host want of the server: "python.update", again at each new link until "python.noted" has come.
 *
 * Changes of vnodes of other hosts count for those of vnode_list_fail alone: they go by the service tolerance. The server checks
 * everything (accept.c).
 */
#include "host.h"

#include "keel/link.h"
#include "keel/service/tolerance.h"

#define REPORTS_MAX 4096 /* that wait for a server which is away; the oldest ones go */
#define BYTES_MAX (4u * 1024u * 1024u)	   /* of one */
#define BYTES_ALL (16u * 1024u * 1024u)	   /* updates.c takes as much of a host at once */
#define ORDER_FIRST (-900) /* before ends of jobs are reported again */

KEEL_USE(link);
KEEL_USE_OPT(tolerance);

struct report {
	struct report *prev, *next;
	int64_t number, run, flags;
	char id[280], hook[128], event[64];
	struct pack changes; /* [[target, attribute, key, text] ...] */
};

static void report_free(struct host *h, struct report *r)
{
	DL_DELETE(h->reports, r);
	pack_fini(&r->changes);
	free(r);
}

static void report_send(struct keel_mod *mod, const struct report *r)
{
	struct keel_out *out = keel_out(mod);

	keel_put_int(out, "number", r->number);
	keel_put_str(out, "id", r->id);
	keel_put_int(out, "run", r->run);
	keel_put_str(out, "hook", r->hook);
	keel_put_str(out, "event", r->event);
	keel_put_int(out, "flags", r->flags);
	keel_put_bytes(out, "changes", r->changes.data, r->changes.len);
	keel_link_send(mod, "server", "python.update", out); /* again when there is a link */
}

static void report_add(struct state *st, struct report *r)
{
	struct host *h = st->host;
	const struct report *each;
	uint32_t n = 0, bytes = 0;

	r->number = ++h->number;
	DL_APPEND(h->reports, r);
	DL_FOREACH(h->reports, each) {
		n++;
		bytes += each->changes.len;
	}
	while (h->reports != r && (n > REPORTS_MAX || bytes > BYTES_ALL)) {
		n--;
		bytes -= h->reports->changes.len;
		keel_log(st->mod, KEEL_LOG_ERROR, "Hook", h->reports->hook, "what it changed for %s is dropped: the server is away", h->reports->id);
		report_free(h, h->reports);
	}
	report_send(st->mod, r);
}

static struct report *report_new(const char *id, int64_t run, const char *hook, const char *event)
{
	struct report *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->run = run;
	snprintf(r->id, sizeof(r->id), "%s", id);
	snprintf(r->hook, sizeof(r->hook), "%s", hook);
	snprintf(r->event, sizeof(r->event), "%s", event);
	return r;
}

/* ---- vnodes of hosts that failed ---------------------------------------------------------------------- */
struct search {
	const char *vnode;
	bool found;
};

static void search_host(void *arg, const struct keel_tolerance_host *h)
{
	struct search *s = arg;
	struct exec_item item;
	const char *at = h->vnodes;
	uint32_t chunk = 0;

	while (!s->found && exec_next(&at, &chunk, &item))
		s->found = strcmp(item.vnode, s->vnode) == 0;
}

static bool has_failed(const struct run *r, const char *vnode)
{
	struct search s = { vnode, false };

	if (keel_has(tolerance) && r->id[0] && r->numbers[NUMBER_INDEX] == 0)
		keel_tolerance_each_failed(r->id, search_host, &s);
	return s.found;
}

static const char *text_of(const struct result *result, const char *target, const char *attr)
{
	const char *text = NULL;

	for (uint32_t i = 0; i < result->n_changes; i++)
		if (strcmp(result->changes[i].target, target) == 0 && strcmp(result->changes[i].attr, attr) == 0)
			text = result->changes[i].text;
	return text;
}

static bool is_offline(const char *state)
{
	char *end;
	long long bits = strtoll(state, &end, 0);

	return end != state && !*end ? bits & 0x1 : strstr(state, "offline") != NULL;
}

/* True: it is of a host that failed, and done. */
static bool failed_change(const struct run *r, const struct result *result, const struct change *c)
{
	const char *vnode = target_vnode(c->target);

	if (!vnode || !has_failed(r, vnode))
		return false;
	if (strcmp(c->attr, "state") == 0 && c->text && is_offline(c->text))
		keel_tolerance_offline(r->id, vnode, text_of(result, c->target, "comment"));
	return strcmp(c->attr, "state") == 0 || strcmp(c->attr, "comment") == 0;
}

/* ---- results ------------------------------------------------------------------------------------------ */
/* The job of the event is "job", also where its name was used. */
static const char *target_of(const struct run *r, const struct change *c)
{
	return strncmp(c->target, "job:", 4) == 0 && strcmp(c->target + 4, r->id) == 0 ? "job" : c->target;
}

static uint32_t changes_pack(struct pack *p, const struct run *r, const struct result *result)
{
	uint32_t list = pack_open_list(p), n = 0;

	for (uint32_t i = 0; i < result->n_changes; i++) {
		const struct change *c = &result->changes[i];

		if (strcmp(c->target, "event") == 0 || failed_change(r, result, c))
			continue;
		change_pack(p, target_of(r, c), c);
		n++;
	}
	pack_close(p, list, n);
	return n;
}

static bool is_start(const struct run *r)
{
	return r->event == &events[EVENT_execjob_begin] || r->event == &events[EVENT_execjob_prologue];
}

/* What the verdict of a start or an epilogue says is not said twice. */
static int64_t flags_of(const struct run *r, const struct result *result)
{
	bool starts = is_start(r);
	bool judged = starts || r->event == &events[EVENT_execjob_launch] ||
		      (r->event == &events[EVENT_execjob_epilogue] && r->numbers[NUMBER_INDEX] == 0);
	bool raised = result->how != ACCEPTED && result->how != REJECTED;
	uint32_t action = raised && starts && r->hook ? r->hook->fail_action : 0;
	int64_t flags = result->restart_cycle || action & FAIL_CYCLE ? UPDATE_CYCLE : 0;

	if (result->how == ACCEPTED || !judged)
		flags |= (result->rerun ? UPDATE_RERUN : 0) | (result->remove ? UPDATE_DELETE : 0);
	return flags | (action & FAIL_OFFLINE ? UPDATE_OFFLINE : 0);
}

void host_update(struct run *r, const struct result *result)
{
	struct report *report = r->st->host ? report_new(r->id, r->numbers[NUMBER_RUN], r->name, r->event->name) : NULL;
	uint32_t n;

	if (!report) {
		keel_log(r->st->mod, KEEL_LOG_ERROR, "Hook", r->name, "no memory to notify the server of its changes");
		return;
	}
	n = changes_pack(&report->changes, r, result);
	report->flags = flags_of(r, result);
	if (report->changes.failed || report->changes.len > BYTES_MAX)
		keel_log(r->st->mod, KEEL_LOG_ERROR, "Hook", r->name, "its changes are more than can be sent to the server");
	else if (n || report->flags) {
		report_add(r->st, report);
		return;
	}
	pack_fini(&report->changes);
	free(report);
}

void host_offline(struct state *st, const char *hook, bool on)
{
	struct report *report = st->host ? report_new("", 0, hook, "exechost_startup") : NULL;

	if (!report)
		return;
	pack_close(&report->changes, pack_open_list(&report->changes), 0);
	report->flags = on ? UPDATE_OFFLINE : UPDATE_ONLINE;
	report_add(st, report);
}

static void variables_keep(struct state *st, const struct run *r, struct known *k, const char *after)
{
	const char *before = known_get(&k->job, "Variable_List", NULL);

	if (!variables_made(k, before ? before : "", after))
		keel_log(st->mod, KEEL_LOG_ERROR, "Job", k->id, "its program has not all variables that hook %s sets: more than %d, or no memory",
			 r->name, VARIABLES_MAX);
}

/* What scripts behind this one see. */
void host_changed(struct state *st, const struct run *r, const struct result *result)
{
	struct known *k = host_known(st, r->id);
	uint32_t n = 0;

	for (uint32_t i = 0; k && k->run == r->numbers[NUMBER_RUN] && i < result->n_changes; i++) {
		const struct change *c = &result->changes[i];
		struct known_thing *t = strcmp(c->target, "job") == 0 ? &k->job : NULL;

		if (target_vnode(c->target))
			t = known_vnode(k, target_vnode(c->target), false);
		else if (t && is_start(r) && strcmp(c->attr, "Variable_List") == 0 && c->text)
			variables_keep(st, r, k, c->text);
		n += t && known_set(t, c->attr, c->key, c->text) == 0;
	}
	if (n)
		host_keep(st, k);
}

/* ---- the server --------------------------------------------------------------------------------------- */
static void on_noted(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	int64_t number = keel_msg_int(m, "number", -1);
	struct report *r, *next;

	(void)peer;
	DL_FOREACH_SAFE(st->host ? st->host->reports : NULL, r, next)
		if (r->number == number)
			report_free(st->host, r);
}

static keel_verdict on_peer_up(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_peer_up *ev = event;
	const struct state *st = arg;
	struct report *r;

	(void)point;
	if (ev->daemon & KEEL_SERVER && st->host)
		DL_FOREACH(st->host->reports, r)
			report_send(c->mod, r);
	return KEEL_NEXT;
}

int32_t reports_start(struct state *st, struct keel_err *err)
{
	if (keel_link_on(st->mod, "python.noted", KEEL_SERVER, on_noted) < 0)
		return keel_error(err, -EBUSY, "another module receives \"python.noted\"");
	st->host->number = keel_time(st->mod) << 20; /* above those of the daemon before */
	return keel_tap_add(st->mod, KEEL_POINT_peer_up, "reports", ORDER_FIRST, on_peer_up, st, err);
}

void reports_stop(struct state *st)
{
	while (st->host->reports)
		report_free(st->host, st->host->reports);
}
