/* SPDX-License-Identifier: Apache-2.0
 *
 * python-hooks.c - hooks of a site in Python, as PBS has them: what the module contributes, and its life. Without libpython: scripts
 * run in keelson-pyhost (pool.c). The map of the files is in README.md.
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

/* ---- links and hosts ------------------------------------------------------------------------------------------------------- */
static keel_verdict peer_up(struct keel_call *c, const struct keel_ev_peer_up *ev)
{
	if (ev->daemon & KEEL_MOM && keel_daemon(c->mod) & KEEL_SERVER)
		distribute_peer(keel_state(c), ev->peer, true);
	return KEEL_NEXT;
}

static keel_verdict peer_down(struct keel_call *c, const struct keel_ev_peer_down *ev)
{
	if (ev->daemon & KEEL_MOM && keel_daemon(c->mod) & KEEL_SERVER)
		distribute_peer(keel_state(c), ev->peer, false);
	return KEEL_NEXT;
}

static void node_deleted(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	(void)arg, (void)outcome;
	distribute_forget(mod->state);
}

static keel_verdict node_delete(struct keel_call *c, const struct keel_ev_node_delete *ev)
{
	(void)ev;
	keel_settled(c, node_deleted, NULL); /* no memory: it is looked at when something else happens */
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(peer_up, peer_up),
	KEEL_TAP(peer_down, peer_down),
	KEEL_TAP(node_delete, node_delete),
	KEEL_TAP(host_start, hostwide_began),
	KEEL_TAP(task_begin, files_task_begin, .order = -990),
	KEEL_TAP(start_alarm, hostwide_alarm),
	KEEL_TAP(start_now, distribute_start_now, .order = 900), /* behind the one that waits for hosts */
};

#define STORED(name, type, words) extern const struct keel_attr_def stored_##name;
#include "stored.def"
#undef STORED

#define STORED(...)
#define SETTING(setting, words, sentence)                                                                               \
	static const struct keel_term_def term_##setting = { .size = sizeof(struct keel_term_def), .name = #setting,    \
							     .topic = "hook", .form = words, .doc = sentence };
#include "stored.def"
#undef STORED

static const struct keel_contrib contribs[] = {
	KEEL_ROW(CLASS, hook_class),
#define STORED(...)
#define SETTING(setting, ...) KEEL_ROW(TERM, term_##setting),
#include "stored.def"
#undef STORED
#define STORED(name, type, words) KEEL_ROW(ATTR, stored_##name),
#include "stored.def"
#undef STORED
	KEEL_ROW(MANAGED, hook_managed), KEEL_ROW(MANAGED, pbshook_managed), KEEL_ROW(LISTED, hook_listed),
	KEEL_ROW(ATTR, distribute_timeout_row),
	KEEL_ROW(REQUEST, times_row),
	KEEL_ROW(RELOAD, hostwide_reload),
	KEEL_ROW(MOM_DIRECTIVE, reject_root_scripts_directive),
	KEEL_ROW(MOM_DIRECTIVE, report_hook_checksums_directive),
};

/* ---- life ------------------------------------------------------------------------------------------------------------------ */
static const struct {
	uint32_t daemons;
	int32_t (*start)(struct state *, struct keel_err *);
} parts[] = {
	{ KEEL_SERVER | KEEL_MOM, pools_start }, { KEEL_SERVER | KEEL_MOM, runs_start },
	{ KEEL_SERVER, manage_start }, { KEEL_SERVER, server_start }, { KEEL_SERVER, facts_start }, { KEEL_SERVER, updates_start },
	{ KEEL_SERVER, distribute_start },
	{ KEEL_MOM, hostwide_start }, { KEEL_MOM, files_start }, { KEEL_MOM, host_start },
};

/* What was not begun is passed over. */
static void stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	st->started = false;
	host_stop(st);
	files_stop(st);
	distribute_stop(st);
	updates_stop(st);
	facts_stop(st);
	server_stop(st);
	manage_stop(st);
	runs_stop(st);
	hostwide_stop(st);
	pools_stop(st);
	tables_free(st);
}

static int32_t begin(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;
	struct hook *h, *next;
	int32_t r = 0;

	for (size_t i = 0; r == 0 && i < KEEL_COUNT(parts); i++)
		if (keel_daemon(mod) & parts[i].daemons)
			r = parts[i].start(st, err);
	if (r < 0) {
		stop(mod);
		return r;
	}
	st->started = true;
	HASH_ITER(hh, st->hooks, h, next)
		hook_changed(st, h);
	return 0;
}

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	int32_t r = 0;

	((struct state *)mod->state)->mod = mod;
	if (keel_daemon(mod) & KEEL_SERVER)
		r = deliver_init(mod, err);
	if (r == 0 && keel_daemon(mod) & KEEL_MOM)
		r = files_init(mod, err);
	if (r == 0)
		r = host_vnodes_init(mod, err);
	return r;
}

KEEL_MODULE(.name = "python-hooks", .version = "1.0", .vendor = "Keelson", .summary = "hooks of a site in Python",
	    .roles = KEEL_SERVER | KEEL_MOM, .flags = KEEL_MOD_NO_PROCESS, .state_size = sizeof(struct state),
	    KEEL_CONF(struct conf, rules), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .init = init, .start = begin, .stop = stop);
