/* SPDX-License-Identifier: Apache-2.0
 *
 * python-hooks.c - hooks of a site in Python, as PBS has them. Without libpython: scripts run in keelson-pyhost (pool.c).
 *
 * on a server   manage.c hooks as objects; server.c events; periodic.c; answer.c; distribute.c: moms get their hooks
 * on a mom      files.c hooks as files; host.c, verdict.c events; job.c what it knows of jobs; update.c what scripts change on the server
 * on both       hook.c what a hook is; run.c events and results; pool.c processes; tables.c names; talk.c frames
 */
#include "hooks.h"
#include "host.h"

#include "keel/service/supervise.h"

KEEL_USE(supervise);
KEEL_USE(link);

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(INT, struct conf, processes, .fallback = "2", .min = 1, .max = 64,
		       .doc = "how many processes may serve one version of a script for one user, while calls wait"),
	KEEL_CONF_RULE(SIZE, struct conf, memory, .fallback = "1gb", .min = 64 << 20, .max = INT64_C(1) << 40,
		       .doc = "addresses that a process of a script may use"),
	KEEL_CONF_RULE(DURATION, struct conf, idle, .fallback = "60s", .min = 100, .max = 86400000,
		       .doc = "a process that had nothing to do for so long ends"),
	KEEL_CONF_RULE(STRING, struct conf, user, .fallback = "keelson-hooks",
		       .doc = "the user that scripts run as on a server which is root; where there is none of that name: nobody"),
};

static int32_t begin(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;
	int32_t r = pools_start(st, err);

	if (r == 0)
		r = runs_start(st, err);
	if (r == 0 && keel_daemon(mod) & KEEL_SERVER)
		r = manage_start(st, err);
	if (r == 0 && keel_daemon(mod) & KEEL_SERVER)
		r = server_start(st, err);
	if (r == 0 && keel_daemon(mod) & KEEL_SERVER)
		r = updates_start(st, err);
	if (r == 0 && keel_daemon(mod) & KEEL_SERVER)
		r = distribute_start(st, err);
	if (r == 0 && keel_daemon(mod) & KEEL_MOM)
		r = files_start(st, err);
	if (r == 0 && keel_daemon(mod) & KEEL_MOM)
		r = host_start(st, err);
	st->started = r == 0;
	return r;
}

static void stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (keel_daemon(mod) & KEEL_MOM) {
		host_stop(st);
		files_stop(st);
	}
	if (keel_daemon(mod) & KEEL_SERVER) {
		distribute_stop(st);
		updates_stop(st);
		server_stop(st);
		manage_stop(st);
	}
	runs_stop(st);
	pools_stop(st);
	tables_free(st);
}

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	((struct state *)mod->state)->mod = mod;
	(void)err;
	return 0;
}

KEEL_MODULE(.name = "python-hooks", .version = "1.0", .vendor = "Keelson", .summary = "hooks of a site in Python",
	    .roles = KEEL_SERVER | KEEL_MOM, .flags = KEEL_MOD_NO_PROCESS, .state_size = sizeof(struct state),
	    KEEL_CONF(struct conf, rules), .init = init, .start = begin, .stop = stop);
