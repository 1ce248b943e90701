/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/keel.h - all a module needs of the kernel. Services of base modules: keel/service/.
 */
#ifndef KEEL_KEEL_H
#define KEEL_KEEL_H

#include "keel/api.h"
#include "keel/contrib.h"
#include "keel/find.h"
#include "keel/hooks.h"
#include "keel/module.h"
#include "keel/types.h"

#endif
