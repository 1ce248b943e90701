/* SPDX-License-Identifier: Apache-2.0
 *
 * check_home.h - a PBS_HOME for each stage, below one folder that is gone at the end.
 */
#ifndef KEELSON_CHECK_HOME_H
#define KEELSON_CHECK_HOME_H

/* The folder: NULL when it cannot be made. */
const char *home_open(void);
void home_close(void);
/* A new home in the place of the one before, with the folders that an installation has. */
const char *home_make(void);
void home_remove(void);

#endif
