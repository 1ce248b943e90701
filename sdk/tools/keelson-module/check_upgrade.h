/* SPDX-License-Identifier: Apache-2.0
 *
 * check_upgrade.h - does a new release understand what a site has of the one before? No code of either runs.
 */
#ifndef KEELSON_CHECK_UPGRADE_H
#define KEELSON_CHECK_UPGRADE_H

/* Why the release before cannot be looked at; NULL: it can. */
const char *upgrade_objection(const char *before);
/* Two files. What is not understood any more breaks static/upgrade. */
void check_upgrade(const char *before, const char *now);

#endif
