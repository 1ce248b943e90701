/* SPDX-License-Identifier: Apache-2.0
 *
 * arguments.h - words as a string that keeps their borders.
 */
#ifndef QSUB_ARGUMENTS_H
#define QSUB_ARGUMENTS_H

/* Each word of `n` as <jsdl-hpcpa:TAG>word</jsdl-hpcpa:TAG>. Malloc'ed; NULL: no memory. */
char *arguments_encode(const char *tag, char *const *words, int n);

#endif
