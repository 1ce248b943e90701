/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/keel.h - all a module needs of the kernel. Services of base modules: keel/service/.
 *
 * Functions return 0 or a negative errno, unless said otherwise. Everything runs on the loop's thread.
 */
#ifndef KEEL_KEEL_H
#define KEEL_KEEL_H

#include "keel/api.h"
#include "keel/blob.h"
#include "keel/call.h"
#include "keel/contrib.h"
#include "keel/core.h"
#include "keel/hooks.h"
#include "keel/inspect.h"
#include "keel/link.h"
#include "keel/module.h"
#include "keel/msg.h"
#include "keel/object.h"
#include "keel/point.h"
#include "keel/renew.h"
#include "keel/request.h"
#include "keel/types.h"
#include "keel/use.h"

#endif
