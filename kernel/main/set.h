/* SPDX-License-Identifier: Apache-2.0
 *
 * set.h - sets on disk: what an image of the daemon runs with. In server_priv/sets (mom_priv/sets of a mom), 0700:
 *
 *   NUMBER/conf/       the text of the configuration, and `overrides`, a line each
 *   NUMBER/modules/    a private copy of each module's file
 *   NUMBER/handover    what the image before left for this one
 *   draft/             configuration that is being looked at
 *   served             a link to the last one that served
 */
#ifndef KEELSON_SET_H
#define KEELSON_SET_H

#include "keel/types.h"

/* A file or directory of a set, malloc'ed; NULL: no memory. */
char *set_path(const char *set, const char *name);
char *sets_dir(const char *home, uint32_t roles); /* likewise */

/* Copy the configuration to sets/draft: that of `conf_file`, or of the set `text_from`; and the overrides of the set
 * `overrides_from`. Both may be NULL. Returns 0, or an error with *err. */
int set_draft(const char *sets, const char *conf_file, const char *text_from, const char *overrides_from,
	      struct keel_err *err);
/* Add "module.enabled=..." to the overrides of the draft, in the place of an older one of that module. */
int set_draft_override(const char *sets, const char *module, bool enabled, struct keel_err *err);
/* The draft becomes the configuration of `set`. */
int set_draft_take(const char *sets, const char *set, struct keel_err *err);
void set_draft_drop(const char *sets);

/* Make an empty one. */
int set_create(const char *sets, char **ret_set, struct keel_err *err);
void set_remove(const char *set);
/* It serves: the others are removed. */
int set_served(const char *sets, const char *set);
/* The last one that served, malloc'ed; NULL: there is none. */
char *set_last(const char *sets);

/* Files of a set. Returns 0 or -errno. */
int set_write(const char *set, const char *name, const char *text, size_t len);
char *set_read(const char *set, const char *name); /* malloc'ed; NULL: it cannot be read */

#endif
