/* SPDX-License-Identifier: Apache-2.0
 *
 * letter.h - mail as text: who may be written to, what is said.
 */
#ifndef MAIL_LETTER_H
#define MAIL_LETTER_H

#include <stdbool.h>
#include <stdint.h>

#include "keel/text.h"

/* `name[@host]` and nothing that a mailer could take for an option, a file or a program. */
bool address_ok(const char *text);

/* The addresses of a comma list, each once, at most `max`, NULL-terminated; the caller frees the list with one free().
 * Those with an error are counted and left out. NULL without memory. */
char **addresses(const char *list, uint32_t max, uint32_t *ret_bad);

/* Does Mail_Points include this letter for this job? Subjobs only with j. */
bool points_want(const char *points, char letter, const char *id);

/* Why the system ended a job with this exit status; NULL: it ended by itself. */
const char *reason_of_status(int64_t exit_status);

/* Headers, up to the empty line. Control characters of values become blanks. */
void letter_headers(struct keel_text *, const char *from, char *const *to, const char *subject);
/* Those about a job, and the first lines. Control characters of values become blanks. */
void letter_begin(struct keel_text *, const char *from, char *const *to, const char *id,
		  const char *name, char letter);
/* One more line; line breaks in it stay, other control characters become blanks. */
void letter_line(struct keel_text *, const char *line);

#endif
