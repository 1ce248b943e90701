/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - modules and the files they come from; only kernel/module/ includes it.
 *
 *   OPEN     the file is mapped, descriptor and configuration are checked
 *   READY    needs written, rows registered, init() done
 *   RUNNING  taps live, replay and start() done
 */
#ifndef KEELSON_MODULE_INSIDE_H
#define KEELSON_MODULE_INSIDE_H

#include <sys/stat.h>

#include "conf/conf.h"
#include "modfile/modfile.h"
#include "module/modules.h"

#define FILE_SIZE_MAX ((size_t)1 << 30) /* of a module's file */

/* note.c: what a file says about itself before its code is mapped. `path`: its name in errors. -EPROTO: this kernel cannot
 * use a module of that interface. */
int note_read(const char *file, const char *path, struct stat *ret_stat, struct modfile_note *ret_note, struct keel_err *err);

/* loader.c */
struct image {
	char *path; /* as configured, absolute */
	const struct keel_module *raw;
	struct stat st; /* of what was opened: a copy has the time of its original */
	struct modfile_note note;
};
/* `copy` not NULL: what to look at instead of `path`. `map`: else what can be known of the file without that. */
int image_open(const char *path, const char *copy, bool map, struct image *ret_image, struct keel_err *err);

enum module_state { MODULE_OPEN, MODULE_READY, MODULE_RUNNING };

/* site.c: `order` and `match` of a module, and its taps with them. */
struct site {
	struct keel_tap *taps; /* strings are the module's, or in `orders` */
	uint32_t n_taps;
	struct conf_order *orders;
	struct keel_match *matches;
	uint32_t n_orders, n_matches;
	struct owner_budget budget;
};

/* loader_row.c: how a module is opened. */
struct loader_row {
	struct loader_row *prev, *next;
	struct owner *owner;
	const struct keel_loader_def *def;
};
struct how {
	const struct loader_row *row; /* NULL: its file is mapped */
	int32_t choice;
	struct conf_data *values;
};

struct module {
	struct owner owner; /* first */
	enum module_state state;
	struct keel_module desc; /* this kernel's size, whatever the file's */
	struct keel_conf_rule *rules; /* owned, likewise */
	struct keel_tap *taps;	      /* as the file has them; owned, likewise */
	struct conf_data *conf;
	struct site *site;
	struct image image; /* of one that a LOADER opened: nothing is mapped */
	struct how how;
	bool required; /* else left out when it cannot be loaded */
	int64_t since; /* RUNNING: seconds since 1970 */
	bool placed, early; /* while modules are ordered */
	/* while values are changed */
	struct conf_data *fresh;
	struct site *fresh_site;
};

/* Some modules, in an order. The modules are not the set's. */
struct set {
	struct module **at;
	uint32_t n, room;
};
#define SET_EACH_AT(s, m, i) for (uint32_t i = 0; i < (s)->n && ((m) = (s)->at[i]) != NULL; i++)
#define SET_EACH_ON(s, m, line) SET_EACH_AT(s, m, at_##line)
#define SET_EACH_LINE(s, m, line) SET_EACH_ON(s, m, line)
#define SET_EACH(s, m) SET_EACH_LINE(s, m, __LINE__)
struct module *set_named(const struct set *s, const char *name); /* NULL: it is not there */
int set_add(struct set *s, struct module *m); /* 0, -ENOMEM */
void set_drop(struct set *s, const struct module *m);
void set_fini(struct set *s);

struct modules {
	struct parts *parts;
	const char *dir, *set; /* borrowed */
	struct set there; /* in order of needs */
	char bad[64];     /* modules_bad() */
	bool strict;
	struct buf passed; /* a line for each module that is enabled and runs in other daemons */
	struct loader_row *loaders;
};
bool is_passed(const struct modules *all, const char *name); /* enabled, and it runs in other daemons; draft.c */

/* loader_row.c */
int loaders_offer(struct modules *all);
bool loader_key(const void *modules, const char *key); /* is it a key of one of them? */
/* What the group of a module says. 0, or -errno with *err. */
int how_find(const struct modules *all, const struct conf *conf, const char *name, struct how *ret, struct keel_err *err);
/* Does `conf` say something else than how it was opened? */
bool how_differs(const struct module *m, const struct conf *conf);
int loader_open(struct module *m, const char *name, struct keel_err *err); /* its file was looked at */
void loader_close(struct module *m); /* and the module's state */
/* Which modules load others, or are required by those: first[n]. */
void loaders_find(const struct modules *all, const struct conf_module *said, uint32_t n, bool *first);
int loaders_lint(const struct set *s, struct keel_err *err);

/* lint.c: the normalised descriptor into m->desc, m->rules and m->taps. */
int descriptor_lint(struct module *m, const char *file, const struct keel_module *raw, struct keel_err *err);

int site_read(const struct module *m, const struct conf *conf, struct site **ret_site, struct keel_err *err);
bool site_same(const struct site *a, const struct site *b);
void site_destroy(struct site *s);

/* open.c: one module, up to OPEN. *ret_module NULL and 0: not for this daemon. */
int module_open(struct modules *all, const struct conf *conf, const struct conf_module *said,
		struct module **ret_module, struct keel_err *err);
void module_close(struct module *m);
/* Its group of `conf` by its rules. */
int module_values(const struct module *m, const struct conf *conf, struct conf_data **ret_data, struct keel_err *err);
/* With its descriptor checked, it gets values, site and state from `conf`. */
int module_furnish(struct module *m, const struct conf *conf, struct keel_err *err);
char *module_path(const char *dir, const struct conf_module *said);
char *module_copy(const struct modules *all, const char *name); /* a file that exists, or NULL */
/* Its group of `conf` by its rules, checked. */
int module_configure(const struct module *m, const struct conf *conf, struct conf_data **ret_data,
		     struct keel_err *err);

/* order.c: do they fit together? Sorts the set so that what is needed comes first. *ret_bad: the module that does
 * not fit, or NULL. */
int set_order(struct modules *all, struct set *s, const struct conf *conf, struct module **ret_bad,
	      struct keel_err *err);
/* Are the modules there that `m` requires, or will they be by `conf`, and none that conflicts with it? */
int relations_lint(const struct set *s, const struct module *m, const struct conf *conf, struct keel_err *err);
const void *module_row(const struct module *m, const char *kind, const char *name);
/* The first that has a row of this kind (SERVICE, CLASS, TYPE, SCOPE) and name; NULL: none. */
const struct module *set_bringer(const struct set *s, const char *kind, const char *name);
/* Must `other` be there before `m`: it offers what `m` needs, or `m` requires it? `wishes` count, too: optional needs, and
 * classes and types of which `m` has attributes. */
bool module_follows(const struct module *m, const struct module *other, bool wishes);

/* needs.c: what a module uses is written into its file: before check(), before its rows are registered, behind them. An
 * optional service may come after the module that would use it. */
#define NEED_EACH(d, n) for (const struct keel_need *n = (d)->needs; n != (d)->needs_end; n++)
void needs_kernel(struct module *m);
int needs_find(struct module *m, bool attrs, struct keel_err *err); /* services, then attributes */
void module_offer(struct module *m);

/* lifecycle.c */
bool module_work_log(const struct module *m); /* returns whether it has work on a worker thread */
bool module_stays(const struct module *m); /* it keeps the objects */
/* 0; -ENOTEMPTY: something would be lost without it; -EBUSY: it is at something that ends. */
int module_busy(struct module *m, struct keel_err *err);
/* Their taps are in the chains, but quiet. After an error they go with set_down(). */
int set_attach(struct modules *all, const struct set *s, struct keel_err *err);
/* Several together, up in two steps: all are ready before any of them starts. *ret_bad: the one that failed, or
 * NULL. Down: in reverse order. */
int set_ready(struct set *s, struct module **ret_bad, struct keel_err *err);
int set_start(struct modules *all, struct set *s, struct module **ret_bad, struct keel_err *err);
void set_halt(const struct set *s);
void set_down(const struct set *s);
void set_leave(struct set *s); /* and all are closed; those with work under way stay in it, those that something else may still call stay open: logs */

/* values.c: other values for modules that run. */
/* What changes for a module by `conf` into `fresh` and `fresh_site`, NULL: nothing. 1: some of it can be read at start
 * only; 0, -errno with *err. */
int values_read(struct module *m, const struct conf *conf, struct keel_err *err);
void values_drop(struct modules *all);

/* table.c */
extern const struct keel_inspect_api inspect_api;

static inline struct modules *modules_of(const struct module *m)
{
	return m->owner.parts->modules;
}

#endif
