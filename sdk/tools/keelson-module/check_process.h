/* SPDX-License-Identifier: Apache-2.0
 *
 * check_process.h - what belongs to the whole process: is it as it was when the module came?
 */
#ifndef KEELSON_CHECK_PROCESS_H
#define KEELSON_CHECK_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

enum { PROCESS_PARTS = 9, PROCESS_FILES = 64 };
struct process {
	uint64_t part[PROCESS_PARTS], file[PROCESS_FILES]; /* sums; 0: no such file */
	off_t said; /* on standard output and error so far */
};

void process_see(struct process *p);
/* What is not as it was breaks rules; `after` says after what. */
void process_judge(const struct process *p, const char *after);

#endif
