/* SPDX-License-Identifier: Apache-2.0
 *
 * check_lifecycle.h - the groups that load the module into a mock host. Each runs its cases in children.
 */
#ifndef KEELSON_CHECK_LIFECYCLE_H
#define KEELSON_CHECK_LIFECYCLE_H

#include "check_stage.h"

/* False: it cannot be loaded, and nothing else can be looked at. Not `all`: once is enough. */
bool check_lifecycle(const struct subject *s, bool all);
void check_calls(const struct subject *s);
void check_replay(const struct subject *s);

/* A case of the lifecycle: a configuration made from the module's own rules. */
bool config_case(void *arg, unsigned i);
/* Values for the keys that must be given: owned text, NULL when there are none. */
char *config_required(const struct keel_module *m);

#endif
