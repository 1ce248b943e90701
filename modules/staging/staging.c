/* SPDX-License-Identifier: Apache-2.0
 *
 * staging.c - files of jobs: -W stagein, stageout, and output to other hosts.
 *
 *   server.c   the attributes; what a host reports: substates, a job that waits, letters
 *   mom.c      the copies, on the first host of a job
 *   where.c    which copies, and by which program
 *   copy/      keelson-copy: one copy, as the job's user
 */
#include "staging.h"

#include <errno.h>

#include "keel/link.h"

#define COPY_LIMIT_MAX 604800000LL /* ms */

static const struct keel_conf_rule rules[] = {
	KEEL_CONF_RULE(DURATION, struct conf, copy_limit, .fallback = "1h", .min = 1000, .max = COPY_LIMIT_MAX,
		       .doc = "how long one copy may take"),
	KEEL_CONF_RULE(STRING, struct conf, scp, .fallback = "", .flags = KEEL_CONF_RESTART,
		       .doc = "the program for copies between hosts, with its arguments; empty: PBS_SCP of pbs.conf, else scp"),
};

#define FACT(attr) { .size = sizeof(struct keel_host_fact_def), .name = attr, .doc = "which files are copied" }
static const struct keel_host_fact_def facts[] = {
	FACT("stagein"), FACT("stageout"), FACT("sandbox"), FACT("Output_Path"), FACT("Error_Path"), FACT("Join_Path"),
	FACT("Keep_Files"), FACT("Remove_Files"),
};
static const struct keel_contrib contribs[] = {
	KEEL_ROW(ATTR, stagein_attr),  KEEL_ROW(ATTR, stageout_attr), KEEL_ROW(MOM_DIRECTIVE, jobdir_row),
	KEEL_ROW(HOST_FACT, facts[0]), KEEL_ROW(HOST_FACT, facts[1]), KEEL_ROW(HOST_FACT, facts[2]),
	KEEL_ROW(HOST_FACT, facts[3]), KEEL_ROW(HOST_FACT, facts[4]), KEEL_ROW(HOST_FACT, facts[5]),
	KEEL_ROW(HOST_FACT, facts[6]), KEEL_ROW(HOST_FACT, facts[7]),
};
static keel_verdict on_peer_up(struct keel_call *c, const struct keel_ev_peer_up *ev)
{
	struct state *st = keel_state(c);

	if (ev->daemon & KEEL_SERVER)
		st->server_stages = false;
	if (ev->daemon & KEEL_MOM && keel_daemon(c->mod) & KEEL_SERVER)
		keel_link_send(c->mod, ev->peer, "staging.here", keel_out(c->mod));
	return KEEL_NEXT;
}

/* Files come before scripts of the site, and go after them. */
static const struct keel_tap taps[] = {
	KEEL_TAP(peer_up, on_peer_up),
	KEEL_TAP(task_prologue, on_prologue, .order = -500),
	KEEL_TAP(task_epilogue, on_epilogue, .order = 500),
};

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	if (keel_daemon(mod) & KEEL_SERVER && keel_link_on(mod, "staging.note", KEEL_MOM, on_note) < 0)
		return keel_error(err, -EBUSY, "another module receives \"staging.note\"");
	if (keel_daemon(mod) & KEEL_MOM && keel_link_on(mod, "staging.here", KEEL_SERVER, on_here) < 0)
		return keel_error(err, -EBUSY, "another module receives \"staging.here\"");
	return keel_daemon(mod) & KEEL_MOM ? mom_init(mod, err) : 0;
}

KEEL_MODULE(.name = "staging", .version = "1.0", .vendor = "Keelson", .summary = "files of jobs, copied before and after them",
	    .roles = KEEL_SERVER | KEEL_MOM, .flags = KEEL_MOD_NO_PROCESS, .state_size = sizeof(struct state),
	    KEEL_CONF(struct conf, rules), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .init = init, .fini = mom_fini);
