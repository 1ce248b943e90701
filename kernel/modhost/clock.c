/* SPDX-License-Identifier: Apache-2.0
 *
 * clock.c - --clock=MS:US: whoever started this process tells it the time, and when to take a turn. So keelson-module
 * plays the same hours of a module here and inside.
 *
 * A program of its own, keelson-modhost-told: everything of this folder, with the loop of sdk/host/virtual.c in the
 * place of the kernel's. Time that is told has no file descriptors: who asks for one gets none, and how many asked is told.
 */
#include <stdio.h>

#include "host/virtual.h"
#include "modhost/host.h"

int clock_run(struct host *h, const struct options *o)
{
	struct loop_virtual conf = { 0 };
	long long now_ms, epoch_us;

	if (sscanf(o->clock, "%lld:%lld", &now_ms, &epoch_us) != 2)
		return 2;
	conf.now_ms = now_ms;
	conf.epoch_us = epoch_us;
	if (loop_create_virtual(&conf, &h->parts.loop) < 0)
		return 1;
	confine(o, &h->refused);
	while (!h->over) {
		host_wait(h);
		host_readable(h);
	}
	return 0;
}

/* -1: nothing is done now, only said. */
void clock_turn(struct host *h, struct talk_in *in, uint64_t corr)
{
	int64_t now = talk_int(in), next;

	if (now >= 0)
		loop_turn(h->parts.loop, now);
	next = loop_next_ms(h->parts.loop);
	talk_begin(&h->out);
	talk_put_int(&h->out, next == INT64_MAX ? -1 : next);
	talk_put_int(&h->out, h->n_watches);
	host_reply(h, corr);
}
