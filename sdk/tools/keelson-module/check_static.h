/* SPDX-License-Identifier: Apache-2.0
 *
 * check_static.h - the group `static`.
 */
#ifndef KEELSON_CHECK_STATIC_H
#define KEELSON_CHECK_STATIC_H

#include "keel/keel.h"

/* The file itself. Its descriptor, opened, when that is safe; else NULL, and findings say why. */
const struct keel_module *check_file(const char *path);
/* What the descriptor says. False: it must not be loaded. */
bool check_descriptor(const struct keel_module *m);

/* Two releases: does the new one understand what a site has of the one before? No code of either runs. */
/* Why the release before cannot be looked at; NULL: it can. */
const char *upgrade_objection(const char *before);
/* Two files. What is not understood any more breaks static/upgrade. */
void check_upgrade(const char *before, const char *now);

/* Opens a module as the daemon does, for good. NULL: *ret_why says why not, valid until the next call. */
const struct keel_module *module_open(const char *path, const char **ret_why);
/* A row of its taps as this SDK's struct, missing fields zero; likewise rule_at(). */
struct keel_tap tap_row(const struct keel_module *m, uint32_t i);

#endif
