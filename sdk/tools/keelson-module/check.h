/* SPDX-License-Identifier: Apache-2.0
 *
 * check.h - the conformance kit: may this module be shipped?
 */
#ifndef KEELSON_CHECK_H
#define KEELSON_CHECK_H

/* `check FILE.so`; argv[0] is "check". TAP on stdout; 1: a rule is broken, 2: wrong usage. */
int check(int argc, char **argv);

#endif
