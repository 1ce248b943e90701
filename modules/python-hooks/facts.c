/* SPDX-License-Identifier: Apache-2.0
 *
 * facts.c - what a host knows of a job before it starts there: all set attributes of the job, and of its vnodes.
 *
 *   server   start_now, behind all others: "python.job" to each host of the job, in pieces; it arrives before the start message of
 *            the same link. job_placed: "python.place", which slots it has. Nothing where no hook is for moms.
 *   mom      in memory and in mom_priv/hooks/jobs, until the part is gone; a hook that is made later sees what the part says
 */
#include "host.h"

#include "keel/link.h"
#include "keel/service/node.h"

#define ORDER_LAST 901
#define PIECE (256u * 1024u)
#define HOSTS_FULL 64 /* sisters of a job over more of them get the attributes of their own vnodes alone */

KEEL_USE(link);
KEEL_USE_OPT(node);
KEEL_ATTR_OPT(job, run_version);
KEEL_ATTR_OPT(job, exec_host);
KEEL_ATTR_OPT(job, exec_vnode);

/* ---- a server: which hosts a run had ------------------------------------------------------------------ */
struct job_run {
	UT_hash_handle hh;
	char *id;
	int64_t run;
	char *hosts; /* "\nn1\nn2\n" */
};

static void job_run_free(struct state *st, struct job_run *j)
{
	HASH_DEL(st->job_runs, j);
	free(j->id);
	free(j->hosts);
	free(j);
}

static void job_run_note(struct state *st, const char *id, int64_t run, const char *hosts)
{
	struct job_run *j;

	HASH_FIND_STR(st->job_runs, id, j);
	if (j)
		job_run_free(st, j);
	ROW_ADD(st->job_runs, j, id, id);
	if (!j)
		return;
	j->run = run;
	j->hosts = strdup(hosts);
	if (!j->hosts)
		job_run_free(st, j);
}

static bool has_line(const char *lines, const char *line)
{
	size_t len = strlen(line);

	for (const char *at = lines; (at = strstr(at, line)); at++)
		if (at > lines && at[-1] == '\n' && at[len] == '\n')
			return true;
	return false;
}

/* After a restart of the server the job itself says it. */
static bool job_has_host(struct state *st, const char *id, int64_t run, const char *peer)
{
	struct keel_obj *job = keel_find(st->mod, "job", id);
	const char *at = job && job_exec_vnode ? keel_get_str(job, job_exec_vnode) : NULL;
	struct exec_item item;
	uint32_t chunk = 0;

	if (!at || !keel_has(node) || !job_run_version || keel_get_int(job, job_run_version) != run)
		return false;
	while (exec_next(&at, &chunk, &item)) {
		const char *host = keel_node_host_of(item.vnode);

		if (host && strcmp(host, peer) == 0)
			return true;
	}
	return false;
}

bool run_has_host(struct state *st, const char *id, int64_t run, const char *peer)
{
	struct job_run *j;

	HASH_FIND_STR(st->job_runs, id, j);
	return (j && j->run == run && has_line(j->hosts, peer)) || job_has_host(st, id, run, peer);
}

static keel_verdict on_purged(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_job_purged *ev = event;
	struct state *st = arg;
	struct job_run *j;

	(void)c, (void)point;
	HASH_FIND_STR(st->job_runs, ev->id, j);
	if (j && !ev->requeued) /* history says it by its exec_vnode */
		job_run_free(st, j);
	return KEEL_NEXT;
}

/* ---- a server: what goes to hosts --------------------------------------------------------------------- */
struct vnode {
	UT_hash_handle hh;
	const char *host; /* NULL: not known */
	char name[];
};
struct outgoing {
	struct state *st;
	struct keel_call *c;
	const struct keel_ev_start_now *ev;
	struct vnode *vnodes;	  /* each once, in the order of exec_vnode */
	struct keel_text hosts;	  /* "\nn1\nn2\n" */
	const char *primary;
	uint32_t n_hosts;
	int64_t run;
};

static void vnode_add(struct outgoing *o, const char *name)
{
	size_t len = strlen(name);
	struct vnode *v;

	HASH_FIND(hh, o->vnodes, name, len, v);
	v = v ? NULL : calloc(1, sizeof(*v) + len + 1);
	if (!v)
		return;
	memcpy(v->name, name, len);
	v->host = keel_node_host_of(name);
	HASH_ADD(hh, o->vnodes, name, len, v);
	if (!v->hh.tbl) {
		free(v);
		return;
	}
	if (!v->host || has_line(o->hosts.data, v->host))
		return;
	o->primary = o->primary ? o->primary : v->host;
	o->n_hosts++;
	keel_text_printf(&o->hosts, "%s\n", v->host);
}

static void vnodes_find(struct outgoing *o)
{
	const char *at = o->ev->exec_vnode;
	struct exec_item item;
	uint32_t chunk = 0;

	keel_text_init(&o->hosts);
	keel_text_str(&o->hosts, "\n");
	while (exec_next(&at, &chunk, &item))
		vnode_add(o, item.vnode);
}

/* All of it, or with the vnodes of one host alone. */
static void job_pack(const struct outgoing *o, const char *host, struct pack *p)
{
	struct keel_mod *mod = o->st->mod;
	uint32_t map = pack_open_map(p), vnodes, n = 0;

	pack_pair_int(p, "run", o->run);
	pack_pair_int(p, "at", keel_time(mod));
	pack_key(p, "job");
	pack_object(o->st, p, o->ev->job, o->c, NULL);
	pack_key(p, "vnodes");
	vnodes = pack_open_map(p);
	for (const struct vnode *v = o->vnodes; v; v = v->hh.next) {
		struct keel_obj *node = !host || (v->host && strcmp(v->host, host) == 0) ? keel_find(mod, "node", v->name) : NULL;

		if (!node)
			continue;
		pack_key(p, v->name);
		pack_object(o->st, p, node, NULL, NULL);
		n++;
	}
	pack_close(p, vnodes, n);
	pack_close(p, map, 4);
}

static void pieces_send(const struct outgoing *o, const char *peer, const struct pack *p)
{
	struct keel_mod *mod = o->st->mod;
	int32_t r = p->len > KNOWN_MAX ? -E2BIG : 0;

	for (uint32_t at = 0; at < p->len && r == 0; at += PIECE) {
		struct keel_out *out = keel_out(mod);

		keel_put_str(out, "id", o->ev->id);
		keel_put_str(out, "exec_vnode", at ? NULL : o->ev->exec_vnode);
		keel_put_int(out, "run", o->run);
		keel_put_int(out, "total", p->len);
		keel_put_int(out, "at", at);
		keel_put_bytes(out, "bytes", p->data + at, p->len - at < PIECE ? p->len - at : PIECE);
		r = keel_link_send(mod, peer, "python.job", out);
	}
	if (r < 0)
		keel_log(mod, KEEL_LOG_DEBUG, "Job", o->ev->id, "what hooks see of it cannot be sent to %s: %s", peer, strerror(-r));
}

static void job_send(const struct outgoing *o)
{
	struct pack all = { .data = NULL }, own = { .data = NULL };
	char *hosts = strdup(o->hosts.data), *rest = hosts;

	job_pack(o, NULL, &all);
	for (char *host = strtok_r(hosts, "\n", &rest); host; host = strtok_r(NULL, "\n", &rest)) {
		bool full = o->n_hosts <= HOSTS_FULL || strcmp(host, o->primary) == 0;

		if (!full)
			job_pack(o, host, &own);
		if (!(full ? all.failed : own.failed))
			pieces_send(o, host, full ? &all : &own);
		pack_fini(&own);
	}
	free(hosts);
	pack_fini(&all);
}

static bool is_wanted(const struct state *st)
{
	for (const struct hook *h = st->hooks; h; h = h->hh.next)
		if (h->enabled && !h->pending && hook_of_moms(h))
			return true;
	return false;
}

static keel_verdict on_start_now(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	struct outgoing o = { .st = arg, .c = c, .ev = event };
	struct vnode *v, *next;

	(void)point;
	if (o.ev->dry || !o.ev->exec_vnode || !keel_has(node) || !job_run_version || !is_wanted(o.st))
		return KEEL_NEXT;
	o.run = keel_get_int(o.ev->job, job_run_version) + 1; /* the one that begins */
	vnodes_find(&o);
	if (!o.hosts.failed && o.primary) {
		job_run_note(o.st, o.ev->id, o.run, o.hosts.data);
		job_send(&o);
	}
	keel_text_fini(&o.hosts);
	HASH_ITER(hh, o.vnodes, v, next) {
		HASH_DEL(o.vnodes, v);
		free(v);
	}
	return KEEL_NEXT;
}

/* Its slots are known only now; a script at its very begin may see them without their numbers. */
static keel_verdict on_placed(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_job_placed *ev = event;
	const char *exec_host = ev->job && job_exec_host ? keel_get_str(ev->job, job_exec_host) : NULL;
	const struct state *st = arg;
	struct job_run *j;

	(void)point;
	HASH_FIND_STR(st->job_runs, ev->id, j);
	for (const char *at = j && exec_host ? j->hosts + 1 : ""; *at; at += strcspn(at, "\n") + 1) {
		struct keel_out *out = keel_out(c->mod);
		char host[256];

		snprintf(host, sizeof(host), "%.*s", (int)strcspn(at, "\n"), at);
		keel_put_str(out, "id", ev->id);
		keel_put_str(out, "exec_host", exec_host);
		keel_link_send(c->mod, host, "python.place", out);
	}
	return KEEL_NEXT;
}

int32_t facts_start(struct state *st, struct keel_err *err)
{
	int32_t r = keel_tap_add(st->mod, KEEL_POINT_start_now, "facts", ORDER_LAST, on_start_now, st, err);

	if (r == 0)
		r = keel_tap_add(st->mod, KEEL_POINT_job_placed, "facts", ORDER_LAST, on_placed, st, err);
	return r ? r : keel_tap_add(st->mod, KEEL_POINT_job_purged, "facts", ORDER_LAST, on_purged, st, err);
}

void facts_stop(struct state *st)
{
	struct job_run *j, *next;

	HASH_ITER(hh, st->job_runs, j, next)
		job_run_free(st, j);
}
