/* SPDX-License-Identifier: Apache-2.0
 *
 * holds.c - the kernel's own figures of its holds: each that is taken ends once, and its callback is called once.
 */
#include "hook/inside.h"
#include "model.h"

void holds_compare(struct sim *s)
{
	const struct hooks *h = s->parts->hooks;

	if (h->holds.ended > h->holds.taken || h->holds.called > h->holds.ended ||
	    h->holds.taken - h->holds.ended != h->holds.open)
		sim_wrong(s, "holds: %llu taken, %llu ended, %llu called, %u open",
			  (unsigned long long)h->holds.taken, (unsigned long long)h->holds.ended,
			  (unsigned long long)h->holds.called, h->holds.open);
}

void holds_check(struct sim *s)
{
	const struct hooks *h = s->parts->hooks;

	if (h->holds.open > 0 || h->holds.parked > 0 || h->holds.called != h->holds.taken)
		sim_wrong(s, "all jobs are gone, %u holds of %u operations are open", h->holds.open, h->holds.parked);
}
