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
	struct parts parts; /* first: parts are known by their daemon */
	const struct options *options;
	const struct world *world; /* NULL: the real one */
	struct settings *settings; /* in force */
	struct home_locks locks;
	bool serving;  /* between ready and the beginning of the end */
	bool stopping;
};

/* Where changes of the modules find the configuration. */
extern const struct modules_files daemon_files;

/* Settings into parts: names and directories. 0 or -ENOMEM. */
int parts_name(struct daemon *d, struct keel_err *err);
/* Create every part, in the order of their needs; the log exists already. On failure parts_destroy()
 * takes what there is. */
int parts_create(struct daemon *d, struct keel_err *err);
void parts_destroy(struct daemon *d);

#endif
