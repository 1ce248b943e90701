/* SPDX-License-Identifier: Apache-2.0
 *
 * set.h - sets on disk: what an image of the daemon runs with. In server_priv/sets (mom_priv/sets of a mom), 0700:
 *
 *   NUMBER/conf/       the text of the configuration, and `overrides`, a line each
 *   NUMBER/modules/    a private copy of each module's file
 *   NUMBER/...         what an image leaves for the next one (renew.c)
 *   served             a link to the last one that served
 *
 * Functions that return int return 0 or -errno; those with `err`, with *err.
 */
#ifndef KEELSON_SET_H
#define KEELSON_SET_H

#include "keel/types.h"

/* A file or directory of a set; the caller frees it. NULL without memory. */
char *set_path(const char *set, const char *name);
char *sets_dir(const char *home, uint32_t roles); /* likewise */

/* Make an empty one. */
int set_create(const char *sets, char **ret_set, struct keel_err *err);
void set_remove(const char *set);
/* Copy the configuration into it: that of `conf_file`, or of the set `text_from`; and the overrides of the set
 * `overrides_from`. Both may be NULL. */
int set_configure(const char *set, const char *conf_file, const char *text_from, const char *overrides_from,
		  struct keel_err *err);
/* Add "module.enabled=..." to its overrides, in the place of an older one of that module. */
int set_override(const char *set, const char *module, bool enabled, struct keel_err *err);
/* It gets the configuration of the set `from`, which is removed. */
int set_conf_take(const char *set, const char *from);
/* It serves: the others are removed. */
int set_served(const char *sets, const char *set);
/* No daemon runs: all others than the last one that served are removed. */
void sets_tidy(const char *sets);
/* The last one that served; the caller frees it. NULL: there is none. */
char *set_last(const char *sets);

int set_write(const char *set, const char *name, const char *text);
char *set_read(const char *set, const char *name); /* the caller frees it; NULL: it cannot be read */
void set_unlink(const char *set, const char *name);

#endif
