/* SPDX-License-Identifier: Apache-2.0
 *
 * version_word.h - what every program says to --version alone, as the commands do.
 */
#ifndef KEELSON_PROGRAM_VERSION_WORD_H
#define KEELSON_PROGRAM_VERSION_WORD_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* True: it was the only argument, and the line is written. */
static inline bool version_word(int argc, char **argv)
{
	if (argc != 2 || strcmp(argv[1], "--version") != 0)
		return false;
	puts("pbs_version = " PBS_VERSION);
	return true;
}

#endif
