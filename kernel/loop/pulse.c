/* SPDX-License-Identifier: Apache-2.0
 *
 * pulse.c - signs of life of a loop, for another thread.
 */
#include "loop/inside.h"

void loop_pulse(struct loop *l, struct loop_pulse *ret)
{
	*ret = (struct loop_pulse){ .turns = atomic_load_explicit(&l->turns, memory_order_relaxed),
				    .idle_ns = uv_metrics_idle_time(&l->uv) };
}
