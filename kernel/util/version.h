/* SPDX-License-Identifier: Apache-2.0
 *
 * version.h - name and release; only here: configure.ac reads it.
 */
#ifndef KEELSON_VERSION_H
#define KEELSON_VERSION_H

#define KEELSON_RELEASE "0.1.0"
/* Tools compare the first word with releases of PBS. */
#define KEELSON_PBS_LEVEL "23.06.06"
#define KEELSON_VERSION_TEXT KEELSON_PBS_LEVEL " (Keelson " KEELSON_RELEASE ")"

#endif
