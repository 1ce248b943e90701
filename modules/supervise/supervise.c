/* SPDX-License-Identifier: Apache-2.0
 *
 * supervise.c - descriptor of the module and the service it offers.
 */
#include "supervise.h"

static int32_t init(struct keel_mod *m, struct keel_err *err)
{
	struct state *st = m->state;

	(void)err;
	st->mod = m;
	return 0;
}

static void fini(struct keel_mod *m)
{
	struct state *st = m->state;

	while (st->all)
		process_end(st->all); /* a module that never came to its own fini() is closed after this */
	while (st->runs)
		run_cancel(st->runs);
	trees_end(st);
}

static const struct keel_supervise_api api = {
	.size = sizeof(api),
	.start = process_start,
	.send = process_send,
	.owes = process_owes,
	.paid = process_paid,
	.up = process_up,
	.look = process_look,
	.wait = process_wait,
	.give_up = process_give_up,
	.stop = process_stop,
	.text = process_text,
	.run = run_start,
	.run_cancel = run_cancel,
	.drop = process_drop,
};
static const struct keel_service_def service = {
	.size = sizeof(service), .name = "supervise", .doc = "programs beside the daemon, which end with all that they started",
	.table = &api,
};
static const struct keel_contrib contribs[] = { KEEL_ROW(SERVICE, service) };
KEEL_MODULE(.name = "supervise", .version = "1.0", .vendor = "Keelson",
	    .summary = "starts programs beside the daemon, watches and ends them",
	    .roles = KEEL_ANY, .state_size = sizeof(struct state), KEEL_CONTRIBS(contribs),
	    .init = init, .fini = fini);
