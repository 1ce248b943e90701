/* SPDX-License-Identifier: Apache-2.0
 *
 * hash.h - uthash, where there may be no memory. As it comes it ends the program then, without a word; so every
 * HASH_ADD is followed by the question whether the element is in the table now.
 */
#ifndef UTIL_HASH_H
#define UTIL_HASH_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define hash_holds(element) ((element)->hh.tbl != NULL)

#endif
