/* SPDX-License-Identifier: Apache-2.0
 *
 * place.h - where files of this installation are: beside the program, so that they may be installed elsewhere than
 * they were configured for; else where they were configured to be. NULL: no memory; the caller's to free.
 */
#ifndef KEELSON_PLACE_H
#define KEELSON_PLACE_H

char *place_exec_dir(void); /* PBS_EXEC */
char *place_modules_dir(void);
char *place_conf_file(void); /* root takes the one beside the program only when nobody else could have written it */

#endif
