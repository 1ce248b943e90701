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

#define NAME_MAX_LEN 63

/* note.c: what a file says about itself before its code is mapped. */
int note_read(const char *path, struct modfile_note *ret_note, struct keel_err *err);
/* Can this kernel use a module of that ABI? */
int note_accept(const char *path, const struct modfile_note *note, struct keel_err *err);

/* trust.c: may this process run what is in that file? */
int file_trust(const char *path, struct keel_err *err);

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
void image_close(struct image *image);
/* Is the file another one now? */
bool image_changed(const struct image *image);

enum module_state { MODULE_OPEN, MODULE_READY, MODULE_RUNNING };

struct module {
	struct owner owner; /* first */
	struct module *prev, *next;
	enum module_state state;
	struct keel_module desc; /* this kernel's size, whatever the file's */
	struct keel_conf_rule *rules; /* owned, likewise */
	struct conf_data *conf;
	struct conf_isolation how;
	struct image image; /* of an isolated one: nothing is mapped */
	bool attached; /* taps and rows are registered */
	/* while modules are ordered */
	bool placed;
	struct module *order_next;
	/* while the set is changed */
	bool leaves, comes;
	struct conf_data *fresh;
	struct module *heir; /* opened already, takes its place */
};

struct modules {
	struct parts *parts;
	char *dir;
	struct module *list; /* in order of loading */
	struct owner self;   /* "kernel": owner of the verbs */
	modules_reload_fn *reload;
};

/* isolated.c: a module that runs in a process of its own. */
int isolated_open(struct modules *all, struct module *m, const struct conf_module *said,
		  const struct conf_isolation *how, struct keel_err *err);
/* Does `conf` say something else of where it runs, and within which limits? */
bool isolated_differs(const struct module *m, const struct conf *conf);

/* lint.c: the normalised descriptor into m->desc and m->rules. */
int descriptor_lint(struct module *m, const char *file, const struct keel_module *raw,
		    struct keel_err *err);

/* open.c: one module, up to OPEN. *ret_module NULL and 0: not for this daemon. */
int module_open(struct modules *all, const struct conf *conf, const struct conf_module *said,
		bool copy, struct module **ret_module, struct keel_err *err);
void module_close(struct module *m);
char *module_path(const struct modules *all, const struct conf_module *said);
/* Its group of `conf` by its rules, checked. */
int module_configure(const struct module *m, const struct conf *conf, struct conf_data **ret_data,
		     struct keel_err *err);
/* Every enabled module of `conf` for this daemon, opened and in order of needs. */
int modules_open(struct modules *all, const struct conf *conf, struct module **ret_list,
		 struct keel_err *err);
void modules_close(struct module *list);

/* order.c: sort a list so that whoever is needed comes first. */
int modules_order(struct modules *all, struct module **list, struct keel_err *err);
/* Must `other` be there before `m`: it offers what `m` needs (or, `optional`, would like), or `m`
 * requires it? */
bool module_follows(const struct module *m, const struct module *other, bool optional);
/* The group of an enabled module, NULL: it is not. */
const struct conf_module *conf_enabled(const struct conf *conf, const char *name);
int modules_relations(const struct module *list, const struct conf *conf, struct keel_err *err);

/* lifecycle.c */
int module_ready(struct module *m, struct keel_err *err);  /* OPEN -> READY */
/* An optional service came after the module that would use it: it is told. */
void module_offer(struct module *m);
int module_attach(struct module *m, struct keel_err *err); /* taps registered, quiet */
int module_run(struct module *m, struct keel_err *err);    /* READY -> RUNNING: start, taps live */
void module_replay(struct module *m);                      /* to this one only */
void module_halt(struct module *m);                        /* RUNNING -> READY: stop */
void module_end(struct module *m);                         /* any state -> OPEN */
void module_leave(struct modules *all, struct module *m);  /* OPEN: closed, if nothing calls it; logs */
void module_unload(struct modules *all, struct module *m); /* module_end and module_leave */
int module_busy(struct module *m, struct keel_err *err);

/* verbs.c */
int verbs_offer(struct modules *all);
void verbs_withdraw(struct modules *all);

static inline struct modules *modules_of(const struct module *m)
{
	return m->owner.parts->modules;
}

#endif
