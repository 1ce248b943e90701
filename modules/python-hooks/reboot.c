/* SPDX-License-Identifier: Apache-2.0
 *
 * reboot.c - pbs.reboot() of a script that runs as root on a host: the command is started once the script has ended. Nothing waits for it.
 */
#include "host.h"

#include <unistd.h>

#include "keel/service/supervise.h"

KEEL_USE(supervise);

#define WITHIN_MS INT64_C(600000)

static const char *usual_command(void)
{
	return access("/sbin/reboot", X_OK) == 0 ? "/sbin/reboot" : "/usr/sbin/reboot";
}

static void issued(struct keel_mod *mod, void *arg, const char *error, int32_t status, const char *output, uint32_t len)
{
	(void)arg;
	if (error || status)
		keel_log(mod, KEEL_LOG_ERROR, "Hook", "reboot", "the command has failed: %s %d %.*s", error ? error : "exit status", (int)status,
			 (int)(len < 200 ? len : 200), output ? output : "");
}

void host_reboot(const struct run *r, const struct result *result)
{
	const char *command = result->reboot && *result->reboot ? result->reboot : usual_command();
	const char *argv[] = { "/bin/sh", "-c", command, NULL };
	struct keel_mod *mod = r->st->mod;
	struct keel_err err = { .code = 0 };

	if (!result->reboot || !r->hook || r->hook->user == HOOK_OWNER)
		return;
	keel_log(mod, KEEL_LOG_ADMIN, "Hook", r->name, "requested for host to be rebooted");
	keel_log(mod, KEEL_LOG_ADMIN, "Hook", r->name, "issuing cmd %s", command);
	if (!keel_supervise_run(mod, &(struct keel_run_opts){ .size = sizeof(struct keel_run_opts), .profile = KEEL_PROFILE_HOST, .argv = argv,
							      .input = "", .output_max = 1024, .timeout_ms = WITHIN_MS },
				issued, NULL, &err))
		keel_log(mod, KEEL_LOG_ERROR, "Hook", r->name, "the command could not be started: %s", err.text);
}
