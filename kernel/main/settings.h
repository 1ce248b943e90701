/* SPDX-License-Identifier: Apache-2.0
 *
 * settings.h - the kernel's own configuration, checked and with the defaults of pbs.conf applied.
 */
#ifndef KEELSON_SETTINGS_H
#define KEELSON_SETTINGS_H

#include "conf/conf.h"
#include "hook/hooks.h"
#include "main/options.h"

struct top_conf {
	const char *const *roles;
	const char *home, *exec_dir, *server_name, *host_name, *modules_dir;
};

struct log_conf {
	const char *dir;
	int64_t events;
	bool microseconds;
	int32_t format; /* 0 pbs, 1 json */
};

struct client_conf {
	const char *socket;
	int64_t stall_ms;
};

/* Owned; strings are what is in force, never NULL unless said. */
struct settings {
	struct conf_data *top, *log, *client, *hooks;
	uint32_t roles;    /* enum keel_daemon bits */
	char *home, *exec_dir, *server_name, *host_name, *modules_dir;
	char *daemon_name; /* third field of a log record */
	char *log_dir, *socket;
	uint32_t log_events;
	bool microseconds;
	bool core_files; /* PBS_CORE_LIMIT of pbs.conf asks for them */
};

/* Read the file of `o`, apply its overrides, fill and complete every kernel group. On success both are
 * the caller's. 0 or -errno with *err. */
int settings_read(const struct options *o, struct conf **ret_conf, struct settings **ret_settings,
		  struct keel_err *err);
void settings_destroy(struct settings *s);

const struct log_conf *settings_log(const struct settings *s);
const struct client_conf *settings_client(const struct settings *s);
const struct hooks_conf *settings_hooks(const struct settings *s);

/* May a running daemon go from `old` to `new`? 0 or -EBUSY naming the key that needs a restart. */
int settings_check_change(const struct settings *old, const struct settings *new,
			  struct keel_err *err);

#endif
