/* SPDX-License-Identifier: Apache-2.0
 *
 * verbs.h - what is called by its name on the command line; argv[0] is the verb. Each returns the exit status.
 */
#ifndef KEELSON_VERBS_H
#define KEELSON_VERBS_H

int new(int argc, char **argv);
int describe(int argc, char **argv);
int page(int argc, char **argv);
/* The conformance kit: TAP on stdout; 1: a rule is broken, 2: wrong usage. */
int check(int argc, char **argv);

#endif
