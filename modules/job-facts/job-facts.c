/* SPDX-License-Identifier: Apache-2.0
 *
 * job-facts.c - attributes of a job on its primary host, for modules that need them there.
 *
 *   server   start_now, behind the others: "facts.job" to the first host; it arrives before the start message of the same link
 *   mom      mom_priv/facts/<id>, and in memory; removed with the part
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uthash.h>
#include <utlist.h>

#include "keel/keel.h"
#include "keel/link.h"
#include "keel/service/facts.h"
#include "keel/service/node.h"
#include "keel/service/part.h"
#include "keel/text.h"
#include "store.h"

#define ORDER_LATE 900
#define KEPT_MAX 1024 /* jobs whose facts are in memory */
#define OLD_S (2 * 86400) /* a file that no part has, and that may still be waited for, is not so old */

KEEL_USE(link);
KEEL_USE_OPT(node);
KEEL_USE_OPT(part);

struct row {
	struct row *next;
	const struct keel_host_fact_def *def;
};
struct state {
	struct row *rows;
	struct kept *kept; /* hash by id, the oldest first */
	char dir[4096];
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
	keel_put_bytes(out, "facts", text.data, (uint32_t)text.len);
	if (text.failed)
		keel_out_drop(out);
	else if (keel_link_send(c->mod, peer, "facts.job", out) < 0)
		keel_log(c->mod, KEEL_LOG_DEBUG, "Job", ev->id, "its attributes cannot be sent to %s now", peer);
	keel_text_fini(&text);
	return KEEL_NEXT;
}

/* ---- mom ---------------------------------------------------------------------------------------------------- */
/* In memory beside its file, which is read for one that the daemon found when it started. */
struct kept {
	UT_hash_handle hh;
	struct facts facts;
	char id[];
};

static void kept_drop(struct state *st, struct kept *k)
{
	if (!k)
		return;
	HASH_DEL(st->kept, k);
	free(k->facts.bytes);
	free(k);
}

static struct kept *kept_find(const struct state *st, const char *id)
{
	struct kept *k;

	HASH_FIND_STR(st->kept, id, k);
	return k;
}

/* Takes the bytes over. Of many, the oldest is dropped: its file has it. NULL: there is no memory for it. */
static struct kept *kept_add(struct state *st, const char *id, struct facts facts)
{
	struct kept *k = calloc(1, sizeof(*k) + strlen(id) + 1);

	kept_drop(st, kept_find(st, id));
	if (!k) {
		free(facts.bytes);
		return NULL;
	}
	if (HASH_COUNT(st->kept) >= KEPT_MAX)
		kept_drop(st, st->kept);
	k->facts = facts;
	strcpy(k->id, id);
	HASH_ADD_STR(st->kept, id, k);
	if (k->hh.tbl)
		return k;
	free(k->facts.bytes);
	free(k);
	return NULL;
}

static void on_facts(struct keel_mod *mod, const char *peer, const struct keel_msg *msg)
{
	struct state *st = mod->state;
	const char *id = keel_msg_str(msg, "id");
	uint32_t len = 0;
	const char *bytes = keel_msg_bytes(msg, "facts", &len);
	struct facts facts = store_id_ok(id) && bytes ? facts_copy(bytes, len) : (struct facts){ 0 };
	int r = facts.bytes ? store_write(st->dir, id, &facts) : -EINVAL;

	if (r == 0) {
		kept_add(st, id, facts);
		return;
	}
	keel_log(mod, KEEL_LOG_ERROR, "Job", store_id_ok(id) ? id : "", "its attributes, sent by %s, cannot be kept: %s", peer,
		 strerror(-r));
	free(facts.bytes);
}

static void file_drop(struct keel_mod *mod, const char *id)
{
	struct state *st = mod->state;
	char path[4096 + 300];

	snprintf(path, sizeof(path), "%s/%s", st->dir, id);
	if (!store_id_ok(id))
		return;
	kept_drop(st, kept_find(st, id));
	unlink(path);
}

static void on_gone(struct keel_mod *mod, const char *id, int64_t run, bool discarded)
{
	(void)run, (void)discarded;
	if (!keel_part_find(id)) /* the next run is not here yet */
		file_drop(mod, id);
}

/* Those that were left when their part went and no daemon was there. */
static void files_sweep(struct keel_mod *mod)
{
	const struct state *st = mod->state;
	DIR *dir = opendir(st->dir);
	const struct dirent *entry;
	struct stat about;

	while (dir && (entry = readdir(dir)))
		if (store_id_ok(entry->d_name) && !keel_part_find(entry->d_name) &&
		    fstatat(dirfd(dir), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
		    keel_time(mod) - about.st_mtime > OLD_S)
			file_drop(mod, entry->d_name);
	if (dir)
		closedir(dir);
}

static struct kept *kept_get(struct keel_mod *mod, const char *id)
{
	struct state *st = mod->state;
	struct kept *k = store_id_ok(id) ? kept_find(st, id) : NULL;
	struct facts facts = { 0 };

	if (!k && store_id_ok(id))
		facts = store_read(st->dir, id);
	return facts.bytes ? kept_add(st, id, facts) : k;
}

static char *api_text(struct keel_mod *mod, const char *id, const char *attr)
{
	const struct kept *k = kept_get(mod, id);
	const char *value = k ? facts_value(&k->facts, attr) : NULL;

	return value ? strdup(value) : NULL;
}

static bool api_known(struct keel_mod *mod, const char *id)
{
	return kept_get(mod, id) != NULL;
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

	snprintf(st->dir, sizeof(st->dir), "%s/mom_priv/facts", keel_home(mod));
	if (keel_daemon(mod) & KEEL_MOM && keel_link_on(mod, "facts.job", KEEL_SERVER, on_facts) < 0)
		return keel_error(err, -EBUSY, "another module receives \"facts.job\"");
	if (keel_daemon(mod) & KEEL_MOM && keel_has(part))
		return keel_part_listen(mod, &events);
	return 0;
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	const struct state *st = mod->state;

	if (!(keel_daemon(mod) & KEEL_MOM))
		return 0;
	if (mkdir(st->dir, 0700) < 0 && errno != EEXIST)
		return keel_error(err, -errno, "cannot make %s: %s", st->dir, strerror(errno));
	if (keel_has(part))
		files_sweep(mod);
	return 0;
}

static void fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	while (st->kept)
		kept_drop(st, st->kept);
	if (keel_daemon(mod) & KEEL_MOM && keel_has(part))
		keel_part_listen(mod, NULL);
}

KEEL_MODULE(.name = "job-facts", .version = "1.0", .vendor = "Keelson", .summary = "attributes of jobs on their hosts",
	    .roles = KEEL_SERVER | KEEL_MOM, .flags = KEEL_MOD_NO_PROCESS, .state_size = sizeof(struct state),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .init = init, .start = start, .fini = fini);
