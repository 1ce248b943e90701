/* SPDX-License-Identifier: Apache-2.0
 *
 * conf.h - pbs.conf, and the environment that overrides it.
 *
 * Loaded at first use, once per process; pbs_loadconf(1) reads it again.
 */
#ifndef CLIENT_CONF_H
#define CLIENT_CONF_H

#include <stdbool.h>

enum conf_key {
#define CONF_KEY(name, default_value) CONF_##name,
#include "conf_keys.def"
#undef CONF_KEY
	CONF_KEYS
};

/* Returns the value in force (environment, file, built in); the caller frees it. NULL: not set, or out of memory. */
char *conf_get(enum conf_key key);

/* Returns the file's value; the caller frees it. NULL: not there, or out of memory. */
char *conf_get_from_file(enum conf_key key);

#endif
