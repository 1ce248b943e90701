/* SPDX-License-Identifier: Apache-2.0
 *
 * error_text.h - the text of an error number.
 */
#ifndef CLIENT_ERROR_TEXT_H
#define CLIENT_ERROR_TEXT_H

/* Returns the text of PBSE number `code`; NULL: unknown. */
const char *error_text(int code);

#endif
