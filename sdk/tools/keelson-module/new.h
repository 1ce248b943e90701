/* SPDX-License-Identifier: Apache-2.0
 *
 * new.h - the verb `new`.
 */
#ifndef KEELSON_NEW_H
#define KEELSON_NEW_H

/* argv[0] is the verb. Returns the exit status. */
int new(int argc, char **argv);

#endif
