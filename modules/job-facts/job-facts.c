/* SPDX-License-Identifier: Apache-2.0
 *
 * job-facts.c - attributes of a job on its primary host, for modules that need them there.
 *
 *   server   start_now, behind the others: "facts.job" to the first host; it arrives before the start message of the same link
 *   mom      mom_priv/facts/<id>, read when it is asked for, removed with the part
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utlist.h>

#include "keel/keel.h"
#include "keel/link.h"
#include "keel/service/facts.h"
#include "keel/service/node.h"
#include "keel/service/part.h"
#include "keel/text.h"
#include "store.h"

#define ORDER_LATE 900
#define RUN "" /* no attribute's name: the run that the file is of */
#define OLD_S (2 * 86400) /* a file that no part has, and that may still be waited for, is not so old */

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
static void value_add(void *arg, const char *key, const char *text, uint32_t len)
{
	struct keel_text *t = arg;

	if (t->len > 0)
		keel_text_str(t, ",");
	if (key)
		keel_text_printf(t, "%s=", key);
	keel_text_add(t, text, len);
}

static void fact_put(struct keel_mod *mod, struct keel_obj *job, const char *name, struct keel_out *out)
{
	const struct keel_attr *attr = keel_attr_find(mod, "job", name);
	struct keel_text text;

	if (!attr)
		return;
	keel_text_init(&text);
	keel_emit(job, attr, NULL, &(struct keel_emit){ .fn = value_add, .arg = &text });
	if (text.len > 0 && !text.failed) {
		keel_add_str(out, name);
		keel_add_str(out, text.data);
	}
	keel_text_fini(&text);
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

	if (!out)
		return KEEL_NEXT;
	keel_put_str(out, "id", ev->id);
	keel_put_int(out, "run", job_run_version ? keel_get_int(ev->job, job_run_version) + 1 : 0); /* the one that begins */
	keel_open_array(out, "facts");
	LL_FOREACH(st->rows, row)
		fact_put(c->mod, ev->job, row->def->name, out);
	keel_close(out);
	if (keel_link_send(c->mod, peer, "facts.job", out) < 0)
		keel_log(c->mod, KEEL_LOG_DEBUG, "Job", ev->id, "its attributes cannot be sent to %s now", peer);
	return KEEL_NEXT;
}

/* ---- mom ---------------------------------------------------------------------------------------------------- */
static void on_facts(struct keel_mod *mod, const char *peer, const struct keel_msg *msg)
{
	const struct state *st = mod->state;
	const char *id = keel_msg_str(msg, "id");
	uint32_t n = 0;
	const char *const *texts = keel_msg_strings(msg, "facts", &n);
	const char **halves = store_id_ok(id) && texts ? calloc(n / 2 * 2 + 2ul, sizeof(*halves)) : NULL;
	char run[24];
	int r = halves ? 0 : -EINVAL;

	n = n == UINT32_MAX ? 0 : n / 2;
	for (uint32_t i = 0; halves && i < n; i++) {
		halves[i] = texts[2 * i];
		halves[n + 1 + i] = texts[2 * i + 1];
	}
	snprintf(run, sizeof(run), "%lld", (long long)keel_msg_int(msg, "run", 0));
	if (halves) {
		halves[n] = RUN;
		halves[2 * n + 1] = run;
		r = store_write(st->dir, id, halves, halves + n + 1, n + 1);
	}
	if (r < 0)
		keel_log(mod, KEEL_LOG_ERROR, "Job", store_id_ok(id) ? id : "", "its attributes, sent by %s, cannot be kept: %s", peer,
			 strerror(-r));
	free(halves);
}

static void file_drop(struct keel_mod *mod, const char *id)
{
	const struct state *st = mod->state;
	char path[4096 + 300];

	snprintf(path, sizeof(path), "%s/%s", st->dir, id);
	if (store_id_ok(id))
		unlink(path);
}

/* The attributes of the next run may be here already, and its start message wait for the end of this one. */
static void on_gone(struct keel_mod *mod, const char *id, int64_t run, bool discarded)
{
	const struct state *st = mod->state;
	char *of = store_id_ok(id) ? store_read(st->dir, id, RUN) : NULL;

	(void)discarded;
	if (!keel_part_find(id) && (!of || strtoll(of, NULL, 10) <= run))
		file_drop(mod, id);
	free(of);
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

static char *api_text(struct keel_mod *mod, const char *id, const char *attr)
{
	const struct state *st = mod->state;

	return store_id_ok(id) ? store_read(st->dir, id, attr) : NULL;
}

static bool api_known(struct keel_mod *mod, const char *id)
{
	const struct state *st = mod->state;
	char path[4096 + 300];

	snprintf(path, sizeof(path), "%s/%s", st->dir, id);
	return store_id_ok(id) && access(path, F_OK) == 0;
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
	if (keel_daemon(mod) & KEEL_MOM && keel_has(part))
		keel_part_listen(mod, NULL);
}

KEEL_MODULE(.name = "job-facts", .version = "1.0", .vendor = "Keelson", .summary = "attributes of jobs on their hosts",
	    .roles = KEEL_SERVER | KEEL_MOM, .flags = KEEL_MOD_NO_PROCESS, .state_size = sizeof(struct state),
	    KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .init = init, .start = start, .fini = fini);
