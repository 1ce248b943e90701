/* SPDX-License-Identifier: Apache-2.0
 *
 * arguments.h - words as one string from which they can be split again.
 */
#ifndef QSUB_ARGUMENTS_H
#define QSUB_ARGUMENTS_H

/* Returns each of `n` words as <jsdl-hpcpa:TAG>word</jsdl-hpcpa:TAG>; the caller frees it. NULL: out of memory. */
char *arguments_encode(const char *tag, char *const *words, int n);

#endif
