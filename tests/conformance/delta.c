/* SPDX-License-Identifier: Apache-2.0
 *
 * delta.c - a fourth probe: its scope has the name of alpha's.
 */
#define ME "delta"
#define ORDER 40
#define SCOPE "alpha"
#include "probe.h"
