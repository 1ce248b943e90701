/* SPDX-License-Identifier: Apache-2.0
 *
 * beta.c - one of three probes: order 20.
 */
#define ME "beta"
#define ORDER 20
#include "probe.h"
