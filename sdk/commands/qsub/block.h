/* SPDX-License-Identifier: Apache-2.0
 *
 * block.h - wait for the end of the submitted job.
 */
#ifndef QSUB_BLOCK_H
#define QSUB_BLOCK_H

/* Waits on connection `c`; a signal deletes the job. Returns the exit status of qsub, after a message unless
 * it is the job's own. */
int block_until_end(int c, const char *id);

#endif
