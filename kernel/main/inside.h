/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of this folder share.
 */
#ifndef KEELSON_MAIN_INSIDE_H
#define KEELSON_MAIN_INSIDE_H

#include "main/daemon.h"
#include "main/home.h"
#include "main/settings.h"
#include "module/modules.h"

struct daemon {
	struct parts parts; /* first: daemon_of() casts */
	const struct options *options;
	const struct world *world; /* NULL: no simulation */
	struct settings *settings; /* in force */
	struct home_locks locks;
	bool serving;  /* from ready until it begins to stop */
	bool stopping;
};

/* How changes of the modules read the configuration. */
extern const struct modules_files daemon_files;

/* Settings into parts: names and directories. 0 or -ENOMEM. */
int parts_name(struct daemon *d, struct keel_err *err);
/* Create every part, in the order of their needs; the log exists already. After an error parts_destroy()
 * destroys those that exist. */
int parts_create(struct daemon *d, struct keel_err *err);
void parts_destroy(struct parts *p);

#endif
