/* SPDX-License-Identifier: Apache-2.0
 *
 * alpha.c - one of three probes: order 10.
 */
#define ME "alpha"
#define ORDER 10
#include "probe.h"
