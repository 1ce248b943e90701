/* SPDX-License-Identifier: Apache-2.0
 *
 * stubs.c - weak definitions of what is not written yet. It goes when it is empty: who writes a function deletes its line.
 */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "host.h"
#include "server.h"
#define WEAK __attribute__((weak))
