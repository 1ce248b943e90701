/* SPDX-License-Identifier: Apache-2.0
 *
 * scope.h - which jobs may be deleted: patterns for queue, user and host.
 */
#ifndef SCOPE_H
#define SCOPE_H

#include <stdbool.h>
#include <stddef.h>

struct scope;

/* Patterns are Perl-compatible, found anywhere in the word unless anchored; NULL or "": all. The caller calls
 * scope_destroy(). Fails with NULL: *ret_bad is the pattern with a syntax error at *ret_at, or NULL: out of memory. */
struct scope *scope_create(const char *queue, const char *user, const char *host,
			   const char **ret_bad, size_t *ret_at);
void scope_destroy(struct scope *s); /* s may be NULL */
/* One host of `exec_host`, n1/0*4+n2/0, is enough. */
bool scope_has(const struct scope *s, const char *queue, const char *user, const char *exec_host);

#endif
