/* SPDX-License-Identifier: Apache-2.0
 *
 * check_home.h - a PBS_HOME of its own for what runs here, gone at the end.
 */
#ifndef KEELSON_CHECK_HOME_H
#define KEELSON_CHECK_HOME_H

/* With the folders that an installation has. -errno. */
int home_make(void);
const char *home_path(void);
void home_remove(void);

#endif
