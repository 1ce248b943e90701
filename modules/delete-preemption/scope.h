/* SPDX-License-Identifier: Apache-2.0
 *
 * scope.h - which jobs may be deleted: patterns for queue, user and host.
 */
#ifndef SCOPE_H
#define SCOPE_H

#include <stdbool.h>
#include <stddef.h>

struct scope;

/* Patterns are Perl-compatible, found anywhere in the word unless anchored; NULL or "": all. NULL with
 * *ret_bad: this pattern is wrong, *ret_at where; without: no memory. */
struct scope *scope_create(const char *queue, const char *user, const char *host,
			   const char **ret_bad, size_t *ret_at);
void scope_destroy(struct scope *s); /* NULL is fine */
/* `exec_host`: n1/0*4+n2/0: one of its hosts is enough. */
bool scope_has(const struct scope *s, const char *queue, const char *user, const char *exec_host);

#endif
