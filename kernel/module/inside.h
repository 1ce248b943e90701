/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - modules and the files they come from; only kernel/module/ includes it.
 *
 *   OPEN     the file is mapped, descriptor and configuration are checked
 *   READY    needs written, rows registered, init() done
 *   RUNNING  taps live, replay told, start() done
 */
#ifndef KEELSON_MODULE_INSIDE_H
#define KEELSON_MODULE_INSIDE_H

#include <ltdl.h>
#include <sys/stat.h>

#include "conf/conf.h"
#include "modfile/modfile.h"
#include "module/modules.h"

#define FILE_SIZE_MAX ((size_t)1 << 30) /* of a module's file */
#define COPIES_DIR "modules.copies" /* in PBS_HOME: of files that were mapped while the daemon runs */

/* note.c: what a file says about itself before its code is mapped. */
int note_read(const char *path, struct modfile_note *ret_note, struct keel_err *err);
/* Can this kernel use a module of that ABI? */
int note_accept(const char *path, const struct modfile_note *note, struct keel_err *err);


/* loader.c */
struct image {
	char *path; /* as configured, absolute */
	char *copy; /* the private copy it was opened from, or NULL */
	lt_dlhandle handle;
	const struct keel_module *raw;
	struct stat st; /* of `path` when it was opened */
	struct modfile_note note;
	bool resident; /* stays mapped */
};
/* `copy_dir` not NULL: map a private copy, because a file of this path is mapped already. */
int image_open(const char *path, const char *copy_dir, struct image *ret_image, struct keel_err *err);
/* What can be known of the file without mapping it. */
int image_look(const char *path, struct image *ret_image, struct keel_err *err);
void image_close(struct image *image);
void copies_clear(const char *dir);
/* Is the file another one now? */
bool image_changed(const struct image *image);
/* Is it not there any more? What is mapped stays. */
bool image_gone(const struct image *image);

enum module_state { MODULE_OPEN, MODULE_READY, MODULE_RUNNING };

/* site.c: `order` and `match` of a module, and its taps with them. */
struct site {
	struct keel_tap *taps; /* strings are the module's, or in `orders` */
	uint32_t n_taps;
	struct conf_order *orders;
	struct conf_match *matches;
	uint32_t n_orders, n_matches;
	struct scope *scope; /* NULL: called for everything */
	struct owner_budget budget;
};

struct module {
	struct owner owner; /* first */
	enum module_state state;
	struct keel_module desc; /* this kernel's size, whatever the file's */
	struct keel_conf_rule *rules; /* owned, likewise */
	struct keel_tap *taps;	      /* as the file has them; owned, likewise */
	struct conf_data *conf;
	struct site *site;
	struct image image; /* of an isolated one: nothing is mapped */
	struct conf_isolation how; /* it was opened */
	bool required; /* else left out when it cannot be loaded */
	int64_t since; /* RUNNING: seconds since 1970 */
	bool placed, early; /* while modules are ordered */
	/* while the set is changed */
	bool leaves, comes;
	struct conf_data *fresh;
	struct site *fresh_site;
	struct module *heir; /* opened already, takes its place */
};

/* set.c */
struct set {
	struct module **at;
	uint32_t n, room;
};
#define SET_EACH_AT(s, m, i) for (uint32_t i = 0; i < (s)->n && ((m) = (s)->at[i]) != NULL; i++)
#define SET_EACH_ON(s, m, line) SET_EACH_AT(s, m, at_##line)
#define SET_EACH_LINE(s, m, line) SET_EACH_ON(s, m, line)
#define SET_EACH(s, m) SET_EACH_LINE(s, m, __LINE__)
struct module *set_named(const struct set *s, const char *name); /* NULL: it is not there */
int set_reserve(struct set *s, uint32_t more); /* room for so many more; 0, -ENOMEM */
int set_add(struct set *s, struct module *m); /* 0, -ENOMEM */
void set_drop(struct set *s, const struct module *m);
bool set_has(const struct set *s, const struct module *m);
void set_fini(struct set *s);

struct modules {
	struct parts *parts;
	char *dir;
	struct set there; /* in order of needs */
	struct owner self;   /* "kernel": owner of the verbs */
	struct modules_files files;
	struct change *change, *waiting; /* under way; those that come after it */
	struct warm *warm;   /* processes that are there before their modules */
};

/* isolated.c: a module that runs in a process of its own. */
int isolated_open(struct modules *all, struct module *m, const struct conf_module *said,
		  const struct conf_isolation *how, struct keel_err *err);
/* Before a change: processes for modules of `conf` that will be opened are started, and describe their files;
 * *ret_n of them, each told by change_prepared(). isolated_open() then finds them. `again`: also for those that
 * run as they should. */
struct change;
void isolated_begin(struct modules *all, const struct conf *conf, const char *only, bool again,
		    struct change *c, uint32_t *ret_n);
void isolated_end(struct modules *all); /* those that nobody took */
/* Are check(), init(), start(), reconf() of those that run and those that come answered? 1: not yet; 0;
 * -errno: the first that failed. */
struct plan;
int isolated_settled(const struct plan *p, struct keel_err *err);
void isolated_unsettled(const struct modules *all); /* what failed before is over */
/* Does `conf` say something else of where it runs, and within which limits? */
bool isolated_differs(const struct module *m, const struct conf *conf);

/* lint.c: the normalised descriptor into m->desc, m->rules and m->taps. */
int descriptor_lint(struct module *m, const char *file, const struct keel_module *raw,
		    struct keel_err *err);

int site_read(const struct module *m, const struct conf *conf, struct site **ret_site,
	      struct keel_err *err);
bool site_same(const struct site *a, const struct site *b);
void site_destroy(struct site *s);
/* Is each scope it names offered by a module of the set? */
int site_lint(const struct module *m, const struct set *set, struct keel_err *err);
/* Could the taps of all of them be ordered? What is fresh counts. */
int sites_rehearse(struct modules *all, const struct set *set, struct keel_err *err);

/* open.c: one module, up to OPEN. *ret_module NULL and 0: not for this daemon. */
int module_open(struct modules *all, const struct conf *conf, const struct conf_module *said,
		bool copy, struct module **ret_module, struct keel_err *err);
void module_close(struct module *m);
/* With its descriptor checked, it gets values, site and state from `conf`. */
int module_furnish(struct module *m, const struct conf *conf, struct keel_err *err);
char *module_path(const struct modules *all, const struct conf_module *said);
/* Does `conf` name another file for it, or another place to run it, or was the file exchanged? */
bool module_differs(const struct module *m, const struct conf *conf, const struct conf_module *said);
/* *err, what check() said, with the place in `conf`. */
int module_objected(const struct conf *conf, const char *name, int ret, struct keel_err *err);
/* Its group of `conf` by its rules, checked. */
int module_configure(const struct module *m, const struct conf *conf, struct conf_data **ret_data,
		     struct keel_err *err);
void modules_close(struct set *s);

/* order.c: do they fit together? Sort the set so that whoever is needed comes first. *ret_bad: who does
 * not fit, or NULL. */
int set_order(struct modules *all, struct set *s, const struct conf *conf, struct module **ret_bad,
	      struct keel_err *err);
/* Are the modules there that `m` requires, or will they be by `conf`, and none that conflicts with it? */
int relations_lint(const struct set *s, const struct module *m, const struct conf *conf, struct keel_err *err);
/* Does one of them offer the service `group`? */
bool set_offers(const struct set *s, const char *group);
/* Must `other` be there before `m`: it offers what `m` needs (or, `optional`, would like), or `m`
 * requires it? */
bool module_follows(const struct module *m, const struct module *other, bool optional);
/* Does it hold something of `other` now: a service, memory on its objects, a tap at one of its points? */
bool module_uses(const struct module *m, const struct module *other);
bool module_conflicts(const struct module *m, const struct module *other);

/* needs.c: what a module uses is written into its file: before check(), before its rows are registered, behind them. An
 * optional service may come after the module that would use it. */
#define NEED_EACH(d, n) for (const struct keel_need *n = (d)->needs; n != (d)->needs_end; n++)
void needs_kernel(struct module *m);
int needs_services(struct module *m, struct keel_err *err);
int needs_attrs(struct module *m, struct keel_err *err);
void module_offer(struct module *m);

/* lifecycle.c */
void module_leave(struct module *m); /* OPEN: closed, if nothing calls it; logs */
bool module_stays(const struct module *m); /* as long as the daemon runs */
int module_busy(struct module *m, struct keel_err *err);
/* Several together, up in two steps: everybody is ready before anybody is told what there is. `lenient`: who is not
 * required is left out when it cannot, taken out of the set and closed. Down: in reverse order. */
int set_ready(struct modules *all, struct set *s, bool lenient, struct keel_err *err);
int set_start(struct modules *all, struct set *s, bool lenient, struct keel_err *err);
void set_down(const struct set *s);

/* modules.c: rows for a class nobody declares are no error, for whoever declares it may come later; but the log
 * says so. */
void modules_tell_waiting(struct modules *all);

/* plan.c: phase 1 of a change, without effect. */
struct plan {
	struct modules *all;
	enum modules_change kind;
	const char *name; /* of the one module it is about, or NULL */
	bool was_enabled; /* that one, by the files */
	bool first;	  /* nothing is there yet: a start, or a look at a configuration */
	const struct conf *conf;
	struct set coming; /* opened: new ones and heirs of those that leave. Owned until they run */
	struct set after;  /* all that will be there, in order */
	struct buf *out;
};
int plan_make(struct plan *p, struct keel_err *err);
/* What changes for a module that stays: `fresh` and `fresh_site`. */
int plan_values(struct plan *p, struct module *m, struct keel_err *err);
void plan_drop(struct plan *p); /* what was opened and does not run; marks are wiped */
/* The plan of a start: every enabled module of `conf` for this daemon, opened and in order of needs. Those that are
 * not required and do not fit are left out, with a record. */
int modules_open(struct modules *all, const struct conf *conf, struct set *ret_set, struct keel_err *err);
void modules_left_out(struct modules *all, const char *name, const struct keel_err *why);
/* Why those that leave cannot: all reasons. */
int leavers_busy(const struct set *leavers, struct keel_err *err);

/* group.c: modules that change together, because they know each other. */
struct group {
	struct set change; /* new values, or another place for their taps; they stay */
	struct set leave;  /* in order of needs */
	struct set come;   /* in order of needs; may be those that leave */
	bool applied;
};
int plan_groups(const struct plan *p, struct group **ret_groups, uint32_t *ret_n);
void groups_free(struct group *groups, uint32_t n);

/* apply.c: phase 2, a group in one turn. A group that fails is as it was before, or *err says who
 * could not be brought back. */
int group_apply(struct modules *all, struct group *g, struct keel_err *err);
int group_revert(struct modules *all, struct group *g, struct keel_err *err);
/* Lines of what was done. */
void group_tell(const struct group *g, struct buf *out);

/* change.c */
struct change;
/* One of the preparations of a change is there, or, `ret` < 0, cannot be: then nothing changes. */
void change_prepared(struct change *c, int ret, const struct keel_err *why);
void changes_end(struct modules *all); /* the daemon ends */

/* verbs.c */
int verbs_offer(struct modules *all);
void verbs_withdraw(struct modules *all);

static inline struct modules *modules_of(const struct module *m)
{
	return m->owner.parts->modules;
}

#endif
