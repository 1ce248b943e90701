/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/sched_reason.h - the numbers of keel/sched_reason.def, and their texts.
 *
 * A tap that keeps a job from starting (at start_group, say) refuses with one of these.
 */
#ifndef KEEL_SCHED_REASON_H
#define KEEL_SCHED_REASON_H

#include <stdint.h>

enum keel_why {
#define SCHED_REASON(code, name, text) KEEL_WHY_##name = code,
#include "keel/sched_reason.def"
#undef SCHED_REASON
};

/* A printf format whose arguments are strings; NULL: no such code. */
static inline const char *keel_why_text(int32_t code)
{
	switch (code) {
#define SCHED_REASON(code, name, text) case code: return text;
#include "keel/sched_reason.def"
#undef SCHED_REASON
	default: return (const char *)0;
	}
}

#endif
