/* SPDX-License-Identifier: Apache-2.0
 *
 * settings.h - the kernel's own configuration, checked and with the defaults of pbs.conf applied.
 */
#ifndef KEELSON_SETTINGS_H
#define KEELSON_SETTINGS_H

#include "conf/conf.h"
#include "hook/hooks.h"
#include "main/options.h"

#define HOME_DEFAULT "/var/spool/pbs"

struct top_conf {
	const char *const *roles;
	const char *home, *exec_dir, *server_name, *host_name, *modules_dir;
};

struct log_conf {
	const char *dir;
	int64_t events;
	bool microseconds;
};

struct client_conf {
	const char *socket;
	int64_t stall_ms;
};

/* Strings are owned, have their defaults, and are never NULL unless noted. */
struct settings {
	struct conf_data *top, *log, *client, *hooks;
	uint32_t roles;    /* enum keel_daemon bits */
	char *home, *exec_dir, *server_name, *host_name, *modules_dir;
	char *daemon_name; /* third field of a log record */
	char *log_dir, *socket;
	uint32_t log_events;
	bool microseconds;
	bool core_files; /* by PBS_CORE_LIMIT of pbs.conf */
};

/* Read the file of `o`, or `copy`, a copy of the configuration with overrides (set.h); apply overrides, those of `o`, too;
 * fill and complete every kernel group. Returns 0, and both are owned by the caller, or an error with *err. */
int settings_read(const struct options *o, const char *copy, struct conf **ret_conf, struct settings **ret_settings,
		  struct keel_err *err);
void settings_destroy(struct settings *s);

const struct client_conf *settings_client(const struct settings *s);
const struct hooks_conf *settings_hooks(const struct settings *s);

/* Returns the key of a value that differs and is read at start only; NULL: none. */
const char *settings_differ(const struct settings *old, const struct settings *new);

#endif
