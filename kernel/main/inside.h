/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of this folder share.
 */
#ifndef KEELSON_MAIN_INSIDE_H
#define KEELSON_MAIN_INSIDE_H

#include "keel/api.h"
#include "main/daemon.h"
#include "main/handover.h"
#include "main/home.h"
#include "main/settings.h"
#include "module/modules.h"

#define LEFT_OUT_ROOM 64

struct daemon {
	struct parts parts; /* first: daemon_of() casts */
	const struct options *options;
	const struct world *world; /* NULL: no simulation */
	struct settings *settings; /* in force */
	struct home_locks locks;
	bool serving;  /* from ready until it begins to stop */
	bool stopping, for_good; /* for_good: a module stopped it, not a signal */
	char *left_out[LEFT_OUT_ROOM]; /* modules that are not required and could not come */
	uint32_t n_left_out;
	char *set; /* the set that this image runs with; NULL: with the files */
	struct handed handed;
	/* renew.c */
	char *next, *back;	 /* the set to execute when all has ended, and the one to go back to; or NULL */
	int64_t drain_until_ms;	 /* for what is in flight */
	bool hup;		 /* one came for the next image */
	/* renew_api.c */
	struct keel_draft draft; /* another configuration, which is being looked at */
	struct conf *draft_conf;
	struct settings *draft_settings;
	struct owner *hup_owner; /* whom SIGHUP is for; or NULL */
	keel_fn *hup_fn;
	void *hup_arg;
};

static inline struct daemon *daemon_of(struct parts *p)
{
	return (struct daemon *)p;
}

/* What of the settings is in force at once. */
void settings_apply(struct daemon *d);

/* Settings into parts: names and directories. 0 or -ENOMEM. */
int parts_name(struct daemon *d, struct keel_err *err);
/* Create every part, in the order of their needs; the log exists already. After an error parts_destroy()
 * destroys those that exist. */
int parts_create(struct daemon *d, struct keel_err *err);
void parts_destroy(struct parts *p);

#endif
