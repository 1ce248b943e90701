/* SPDX-License-Identifier: Apache-2.0
 *
 * kept.c - a mom's half of facts.c: what came of its jobs is kept until their parts are gone.
 */
#include "host.h"

#include <sys/stat.h>

#include "keel/link.h"
#include "keel/service/part.h"

#define OLD_S 3600 /* what no part has, and what may still be waited for, is not so old */

KEEL_USE(link);
KEEL_USE_OPT(part);

struct known *host_known(const struct state *st, const char *id)
{
	struct known *k = NULL;

	if (st->host)
		HASH_FIND_STR(st->host->jobs, id, k);
	return k;
}

void host_keep(struct state *st, struct known *k)
{
	int r = k->kept ? known_save(st->host->dir, k) : 0;

	if (r < 0)
		keel_log(st->mod, KEEL_LOG_ERROR, "Job", k->id, "what hooks see of it cannot be kept: %s", strerror(-r));
}

static void drop(struct state *st, struct known *k)
{
	HASH_DEL(st->host->jobs, k);
	known_forget(st->host->dir, k->id);
	known_free(k);
}

/* The host owns it from now on. */
static bool add(struct state *st, struct known *k)
{
	struct known *old = host_known(st, k->id);

	if (old) {
		HASH_DEL(st->host->jobs, old);
		known_free(old);
	}
	HASH_ADD_KEYPTR(hh, st->host->jobs, k->id, strlen(k->id), k);
	k->kept = k->hh.tbl != NULL;
	if (!k->kept)
		known_free(k);
	return k->kept;
}

/* ---- from the server ---------------------------------------------------------------------------------- */
bool pieces_join(struct pack *p, int64_t size, int64_t at, const void *bytes, uint32_t len, uint32_t most)
{
	if (at == 0) {
		pack_fini(p);
		p->data = size > 0 && size <= most ? malloc((size_t)size) : NULL;
		p->size = p->data ? (uint32_t)size : 0;
	}
	if (!p->data || !bytes || at != p->len || size != p->size || len > p->size - p->len) {
		pack_fini(p);
		return false;
	}
	memcpy(p->data + p->len, bytes, len);
	p->len += len;
	return true;
}

/* Pieces of one job come one behind the other. False: this is not the last one of it. */
static bool job_join(struct host *h, const char *id, const struct keel_msg *m)
{
	uint32_t len = 0;
	const void *bytes = keel_msg_bytes(m, "bytes", &len);
	int64_t at = keel_msg_int(m, "at", 0);

	if (at == 0)
		snprintf(h->coming_id, sizeof(h->coming_id), "%s", id);
	if (strcmp(h->coming_id, id) != 0) {
		pack_fini(&h->coming);
		return false;
	}
	return pieces_join(&h->coming, keel_msg_int(m, "total", 0), at, bytes, len, KNOWN_MAX) && h->coming.len == h->coming.size;
}

/* What the server had not counted yet when it wrote it. */
static void begin(struct known *k, int64_t run, const char *exec_vnode)
{
	const char *count = known_get(&k->job, "run_count", NULL);
	char text[32];

	k->run = run;
	snprintf(text, sizeof(text), "%lld", (count ? strtoll(count, NULL, 10) : 0) + 1);
	known_set(&k->job, "run_count", NULL, text);
	snprintf(text, sizeof(text), "%lld", (long long)run);
	known_set(&k->job, "run_version", NULL, text);
	if (exec_vnode)
		known_set(&k->job, "exec_vnode", NULL, exec_vnode);
}

static void on_job(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	struct host *h = st->host;
	const char *id = keel_msg_str(m, "id"), *exec_vnode = keel_msg_str(m, "exec_vnode");
	struct known *k;

	(void)peer;
	if (!h || !id)
		return;
	if (exec_vnode) { /* of the first piece */
		free(h->coming_exec);
		h->coming_exec = strdup(exec_vnode);
	}
	if (!job_join(h, id, m))
		return;
	k = known_read(id, h->coming.data, h->coming.len);
	pack_fini(&h->coming);
	if (!k) {
		keel_log(mod, KEEL_LOG_ERROR, "Job", id, "what the server sent of it for hooks cannot be read");
		return;
	}
	begin(k, keel_msg_int(m, "run", 0), h->coming_exec);
	if (add(st, k))
		host_keep(st, k);
}

static void on_place(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	const char *id = keel_msg_str(m, "id"), *exec_host = keel_msg_str(m, "exec_host");
	struct known *k = id ? host_known(mod->state, id) : NULL;

	(void)peer;
	if (!k || !exec_host)
		return;
	known_set(&k->job, "exec_host", NULL, exec_host);
	host_keep(mod->state, k);
}

/* ---- parts -------------------------------------------------------------------------------------------- */
/* The attributes of the next run may be here already, and its start message wait for the end of this one. */
static void on_gone(struct keel_mod *mod, const char *id, int64_t run, bool discarded)
{
	struct known *k = host_known(mod->state, id);

	(void)discarded;
	if (k && !keel_part_find(id) && k->run <= run)
		drop(mod->state, k);
}

static const struct keel_part_events part_events = { .size = sizeof(part_events), .gone = on_gone };

static void take_found(void *arg, struct known *k)
{
	struct state *st = arg;

	if (keel_time(st->mod) - k->at < OLD_S || (keel_has(part) && keel_part_find(k->id))) {
		add(st, k);
		return;
	}
	known_forget(st->host->dir, k->id);
	known_free(k);
}

int32_t kept_start(struct state *st, struct keel_err *err)
{
	struct host *h = st->host;
	int r;

	snprintf(h->dir, sizeof(h->dir), "%s/mom_priv/hooks", keel_home(st->mod));
	mkdir(h->dir, 0755);
	snprintf(h->dir, sizeof(h->dir), "%s/mom_priv/hooks/jobs", keel_home(st->mod));
	r = known_load(h->dir, take_found, st);
	if (r < 0)
		return keel_error(err, r, "cannot read %s: %s", h->dir, strerror(-r));
	if (keel_link_on(st->mod, "python.job", KEEL_SERVER, on_job) < 0 || keel_link_on(st->mod, "python.place", KEEL_SERVER, on_place) < 0)
		return keel_error(err, -EBUSY, "another module receives \"python.job\"");
	return keel_has(part) ? keel_part_listen(st->mod, &part_events) : 0;
}

void kept_stop(struct state *st)
{
	struct host *h = st->host;
	struct known *k, *next;

	if (keel_has(part))
		keel_part_listen(st->mod, NULL);
	HASH_ITER(hh, h->jobs, k, next) {
		HASH_DEL(h->jobs, k);
		known_free(k);
	}
	pack_fini(&h->coming);
	free(h->coming_exec);
}
