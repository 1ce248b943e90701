/* SPDX-License-Identifier: Apache-2.0
 *
 * hook.c - the group hook, which is the daemon's: a module in a process of its own raises no points, and its taps are those of
 * its descriptor.
 */
#include "host.h"

static keel_verdict raise_point(struct keel_mod *m, const struct keel_raise *r)
{
	const struct keel_outcome o = { .size = sizeof(o), .verdict = KEEL_FAIL, .text = REFUSAL };

	host_log(KEEL_LOG_ERROR, "raise(): " REFUSAL);
	if (r->done)
		r->done(m, r->arg, &o);
	return KEEL_FAIL;
}

REFUSED(note, void, , struct keel_mod *, uint32_t, const void *)
REFUSED(fold, int64_t, 0, struct keel_mod *, uint32_t, const void *, char *, uint32_t)
REFUSED(tapped, bool, false, struct keel_mod *, uint32_t)
REFUSED_ERR(tap_add, int32_t, -ENOTSUP, struct keel_mod *, uint32_t, const char *, int32_t, keel_any_fn *, void *)
REFUSED(tap_remove, void, , struct keel_mod *, uint32_t, const char *)
REFUSED(holds_text, int32_t, -ENOTSUP, struct keel_mod *, const char *, char *, uint32_t)
REFUSED(point, uint32_t, 0, struct keel_mod *, const char *)
REFUSED(about, int32_t, -ENOTSUP, struct keel_mod *, uint32_t, struct keel_about_point *)
REFUSED(end, int32_t, -ENOTSUP, struct keel_mod *, const void *)
REFUSED(replay, int32_t, -ENOTSUP, struct keel_mod *)
REFUSED(bench, void, , struct keel_mod *)

const struct keel_hook_api host_hook = {
	.size = sizeof(host_hook), .raise = raise_point, .note = note, .fold = fold, .tapped = tapped, .tap_add = tap_add,
	.tap_remove = tap_remove, .holds_text = holds_text, .point = point, .about = about, .end = end, .replay = replay,
	.bench = bench,
};
