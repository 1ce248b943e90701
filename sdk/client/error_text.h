/* SPDX-License-Identifier: Apache-2.0
 *
 * error_text.h - the words for an error number.
 */
#ifndef CLIENT_ERROR_TEXT_H
#define CLIENT_ERROR_TEXT_H

/* The text of PBSE number `code`; NULL when the table has none. */
const char *error_text(int code);

#endif
