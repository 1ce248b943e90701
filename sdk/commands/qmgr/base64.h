/* SPDX-License-Identifier: Apache-2.0
 *
 * base64.h - RFC 4648 section 4.
 */
#ifndef QMGR_BASE64_H
#define QMGR_BASE64_H

#include <stddef.h>

/* Malloc'ed text in lines of 76 characters that each end in a newline; NULL: no memory. */
char *base64_encode(const void *bytes, size_t len);

/* Blanks and line ends are skipped. 0 and bytes that the caller frees; fails with -EINVAL or -ENOMEM. */
int base64_decode(const char *text, char **ret_bytes, size_t *ret_len);

#endif
