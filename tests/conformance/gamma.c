/* SPDX-License-Identifier: Apache-2.0
 *
 * gamma.c - one of three probes: order 30, but between the other two.
 */
#define ME "gamma"
#define ORDER 30
#define BEFORE "beta"
#define AFTER "alpha.on_job_submit"
#include "probe.h"
