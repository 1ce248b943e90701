/* SPDX-License-Identifier: Apache-2.0
 *
 * job-facts.c - attributes of a job on its primary host, for modules that need them there.
 *
 *   server   start_now, behind the others: "facts.job" to the first host; it arrives before the start message of the same link
 *   mom      in memory, and in mom_priv/facts for the next daemon; dropped with the part
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "keel/keel.h"
#include "keel/link.h"
#include "keel/service/facts.h"
#include "keel/service/node.h"
#include "keel/service/part.h"
#include "keel/text.h"
#include "store.h"

#define ORDER_LATE 900
#define OLD_S 3600 /* facts that no part has, and that may still be waited for, are not so old */

KEEL_USE(link);
KEEL_USE_OPT(node);
KEEL_USE_OPT(part);
KEEL_ATTR_OPT(job, run_version);

struct row {
	struct row *next;
	const struct keel_host_fact_def *def;
};
struct state {
	struct row *rows;
	struct store store; /* a mom's */
};

/* ---- the kind ------------------------------------------------------------------------------------------------ */
static int32_t fact_add(struct keel_mod *self, struct keel_mod *owner, const void *def, struct keel_err *err)
{
	const struct keel_host_fact_def *d = def;
	struct state *st = self->state;
	struct row *row = d->name ? malloc(sizeof(*row)) : NULL;

	if (!row)
		return keel_error(err, -ENOMEM, "a HOST_FACT row of module %s has no name, or there is no memory", owner->name);
	*row = (struct row){ .def = def };
	LL_APPEND(st->rows, row);
	return 0;
}

static void fact_remove(struct keel_mod *self, struct keel_mod *owner, const void *def)
{
	struct state *st = self->state;
	struct row *gone;

	(void)owner;
	LL_SEARCH_SCALAR(st->rows, gone, def, def);
	if (gone)
		LL_DELETE(st->rows, gone);
	free(gone);
}

static const struct keel_kind_def fact_kind = {
	.size = sizeof(fact_kind), .row_size = sizeof(struct keel_host_fact_def), .name = "HOST_FACT",
	.doc = "an attribute of jobs that is read on their hosts", .add = fact_add, .remove = fact_remove,
};

/* ---- server ------------------------------------------------------------------------------------------------- */
struct value {
	struct keel_text *t;
	size_t at; /* where it begins */
};

static void value_add(void *arg, const char *key, const char *text, uint32_t len)
{
	struct value *v = arg;

	if (v->t->len > v->at)
		keel_text_str(v->t, ",");
	if (key)
		keel_text_printf(v->t, "%s=", key);
	keel_text_add(v->t, text, len);
}

/* "name", "value", each with its NUL; nothing when it has none. */
static void fact_put(struct keel_mod *mod, struct keel_obj *job, const char *name, struct keel_text *t)
{
	const struct keel_attr *attr = keel_attr_find(mod, "job", name);
	struct value v = { .t = t };
	size_t before = t->len;

	if (!attr)
		return;
	keel_text_add(t, name, strlen(name) + 1);
	v.at = t->len;
	keel_emit(job, attr, NULL, &(struct keel_emit){ .fn = value_add, .arg = &v });
	if (t->len > v.at)
		keel_text_add(t, "", 1);
	else
		t->len = before;
}

/* The host of the first vnode of "(n1:ncpus=1+n2:...)"; NULL: not known. */
static const char *first_host(const char *exec_vnode)
{
	const char *from = exec_vnode + strspn(exec_vnode, "(");
	char vnode[256];

	snprintf(vnode, sizeof(vnode), "%.*s", (int)strcspn(from, ":+)"), from);
	return keel_has(node) ? keel_node_host_of(vnode) : NULL;
}

static keel_verdict on_start_now(struct keel_call *c, const struct keel_ev_start_now *ev)
{
	const struct state *st = keel_state(c);
	const char *peer = ev->dry || !ev->exec_vnode ? NULL : first_host(ev->exec_vnode);
	struct keel_out *out = peer && st->rows ? keel_out(c->mod) : NULL;
	const struct row *row;
	struct keel_text text;

	if (!out)
		return KEEL_NEXT;
	keel_text_init(&text);
	LL_FOREACH(st->rows, row)
		fact_put(c->mod, ev->job, row->def->name, &text);
	keel_put_str(out, "id", ev->id);
	keel_put_int(out, "run", job_run_version ? keel_get_int(ev->job, job_run_version) + 1 : 0); /* the one that begins */
	keel_put_bytes(out, "facts", text.data, (uint32_t)text.len);
	if (text.failed)
		keel_out_drop(out);
	else if (keel_link_send(c->mod, peer, "facts.job", out) < 0)
		keel_log(c->mod, KEEL_LOG_DEBUG, "Job", ev->id, "its attributes cannot be sent to %s now", peer);
	keel_text_fini(&text);
	return KEEL_NEXT;
}

/* ---- mom ---------------------------------------------------------------------------------------------------- */
/* A start may still be on its way behind them. */
static bool is_wanted(void *arg, const char *id, int64_t at)
{
	struct keel_mod *mod = arg;

	return keel_time(mod) - at < OLD_S || (keel_has(part) && keel_part_find(id));
}

static void shorten(struct keel_mod *mod)
{
	struct state *st = mod->state;
	int r = store_shorten(&st->store, is_wanted, mod);

	if (r < 0)
		keel_log(mod, KEEL_LOG_ERROR, "Server", st->store.path, "it cannot be written anew: %s", strerror(-r));
}

static void on_facts(struct keel_mod *mod, const char *peer, const struct keel_msg *msg)
{
	struct state *st = mod->state;
	const char *id = keel_msg_str(msg, "id");
	uint32_t len = 0;
	const char *bytes = keel_msg_bytes(msg, "facts", &len);
	int r = id && bytes ? store_put(&st->store, id, keel_msg_int(msg, "run", 0), bytes, len, keel_time(mod)) : -EINVAL;

	if (r < 0)
		keel_log(mod, KEEL_LOG_ERROR, "Job", id ? id : "", "its attributes, sent by %s, cannot be kept: %s", peer, strerror(-r));
	if (store_is_long(&st->store))
		shorten(mod);
}

/* The attributes of the next run may be here already, and its start message wait for the end of this one. */
static void on_gone(struct keel_mod *mod, const char *id, int64_t run, bool discarded)
{
	struct state *st = mod->state;

	(void)discarded;
	if (!keel_part_find(id) && store_run(&st->store, id) <= run)
		store_drop(&st->store, id);
}

static char *api_text(struct keel_mod *mod, const char *id, const char *attr)
{
	const struct state *st = mod->state;
	const char *value = store_value(&st->store, id, attr);

	return value ? strdup(value) : NULL;
}

static bool api_known(struct keel_mod *mod, const char *id)
{
	const struct state *st = mod->state;

	return store_has(&st->store, id);
}

/* ---- the module ------------------------------------------------------------------------------------------------ */
static const struct keel_facts_api api = { .size = sizeof(api), .text = api_text, .known = api_known };
static const struct keel_service_def service = {
	.size = sizeof(service), .name = "facts", .doc = "attributes of jobs on their hosts", .table = &api,
};
static const struct keel_contrib contribs[] = { KEEL_ROW(KIND, fact_kind), KEEL_ROW(SERVICE, service) };
static const struct keel_tap taps[] = { KEEL_TAP(start_now, on_start_now, .order = ORDER_LATE) };
static const struct keel_part_events events = { .size = sizeof(events), .gone = on_gone };

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	st->store.fd = -1;
	if (keel_daemon(mod) & KEEL_MOM && keel_link_on(mod, "facts.job", KEEL_SERVER, on_facts) < 0)
		return keel_error(err, -EBUSY, "another module receives \"facts.job\"");
	if (keel_daemon(mod) & KEEL_MOM && keel_has(part))
		return keel_part_listen(mod, &events);
	return 0;
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;
	char path[4096];
	int r;

	if (!(keel_daemon(mod) & KEEL_MOM))
		return 0;
	snprintf(path, sizeof(path), "%s/mom_priv/facts", keel_home(mod));
	r = store_open(&st->store, path);
	if (r < 0)
		return keel_error(err, r, "cannot open %s: %s", path, strerror(-r));
	shorten(mod);
	return 0;
}

static void fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (keel_daemon(mod) & KEEL_MOM && keel_has(part))
		keel_part_listen(mod, NULL);
	store_close(&st->store);
}

KEEL_MODULE(.name = "job-facts", .version = "1.0", .vendor = "Keelson", .summary = "attributes of jobs on their hosts",
	    .roles = KEEL_SERVER | KEEL_MOM, .flags = KEEL_MOD_NO_PROCESS, .state_size = sizeof(struct state),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .init = init, .start = start, .fini = fini);
