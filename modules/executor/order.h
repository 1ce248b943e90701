/* SPDX-License-Identifier: Apache-2.0
 *
 * order.h - what is to be started, by its description (talk.h): a task beside the program, or the program as a module wants
 * it. For the shepherd, which starts it, and for the daemon, which shows it before.
 */
#ifndef EXECUTOR_ORDER_H
#define EXECUTOR_ORDER_H

#include <stddef.h>

#include "spec.h"

#define ORDER_STRING_MAX 131072u /* of an argument or variable, with its NUL: the system's */

struct order {
	char *bytes; /* what the others point into */
	char *dir;
	char **args, **env; /* env: of the job, with the task's own and ours, which go before; or as it was set */
	size_t n_args;
};
/* From `bytes`, which become its own, also when it fails. 0; fails with -EPROTO, -ENOMEM; the caller calls order_fini(). */
int order_decode(const struct spec *s, char *bytes, size_t len, struct order *ret);
/* The same from an open file; fails with -E2BIG, too. */
int order_load(const struct spec *s, int fd, struct order *ret);
void order_fini(struct order *o);

#endif
