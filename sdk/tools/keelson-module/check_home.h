/* SPDX-License-Identifier: Apache-2.0
 *
 * check_home.h - a PBS_HOME of its own for what runs here, gone at the end.
 */
#ifndef KEELSON_CHECK_HOME_H
#define KEELSON_CHECK_HOME_H

/* With the folders that an installation has; the mock host shows it to modules. -errno. */
int home_make(void);
void home_remove(void);

#endif
