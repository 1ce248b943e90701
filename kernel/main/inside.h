/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of this folder share.
 */
#ifndef KEELSON_MAIN_INSIDE_H
#define KEELSON_MAIN_INSIDE_H

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
	/* renew.c */
	char *sets, *set; /* their directory; what runs; NULL in a simulation */
	struct handed handed;
	char *fresh;		 /* a set with configuration that is being looked at; or NULL */
	char *back, *token, *answer; /* what the image before left: the set to go back to; for whom, what its change did */
	bool refused;		 /* `answer`: why nothing changed */
	struct renewal *renewal; /* another image is being made; or NULL */
	char *next;		 /* the set to execute when all has ended; or NULL */
	int64_t drain_until_ms;	 /* for what is in flight */
	char *children;		 /* of the image before, pids */
	struct loop_timer *children_timer;
	bool hup;		 /* reload once more, in the next image */
	int64_t start_ms, start_objects; /* how long the start took, with so many */
};

static inline struct daemon *daemon_of(struct parts *p)
{
	return (struct daemon *)p;
}

/* What of the settings is in force at once. */
void settings_apply(struct daemon *d);
/* files.c: how changes of the modules read the configuration. A world has no other image. */
extern const struct modules_files daemon_files, daemon_files_of_a_world;

/* Settings into parts: names and directories. 0 or -ENOMEM. */
int parts_name(struct daemon *d, struct keel_err *err);
/* Create every part, in the order of their needs; the log exists already. After an error parts_destroy()
 * destroys those that exist. */
int parts_create(struct daemon *d, struct keel_err *err);
void parts_destroy(struct parts *p);

#endif
