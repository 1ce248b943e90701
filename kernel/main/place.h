/* SPDX-License-Identifier: Apache-2.0
 *
 * place.h - where files of this installation are: beside the program, so that they may be installed elsewhere than
 * they were configured for; else where they were configured to be. Owned by the caller; NULL: no memory.
 */
#ifndef KEELSON_PLACE_H
#define KEELSON_PLACE_H

char *place_exec_dir(void); /* PBS_EXEC */
char *place_modules_dir(void);
char *place_conf_file(void); /* beside the program, for root only when no other user could have written it */

#endif
