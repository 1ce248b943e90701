/* SPDX-License-Identifier: Apache-2.0
 *
 * checkpoint.c - save the state of a task with the site's own script, then end it.
 */
#include "executor.h"

static void on_checkpoint(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	const struct state *st = mod->state;
	int64_t number = st->msg->integer(m, "number", 0);
	struct task *t = stop_task_of(mod, m);

	(void)peer;
	stop_answer(mod, number, t ? PBSE_NOSUP : PBSE_BADSTATE, NULL);
}

int32_t checkpoint_init(struct keel_mod *mod)
{
	const struct state *st = mod->state;

	return st->link->on(mod, "task.checkpoint", KEEL_SERVER, on_checkpoint);
}
