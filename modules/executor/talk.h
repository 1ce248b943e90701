/* SPDX-License-Identifier: Apache-2.0
 *
 * talk.h - what a daemon and a shepherd say to each other, one message each: a word, and what follows it.
 *
 * A shepherd that loses its daemon listens at a socket in mom_priv/jobs for the next one: root's alone. The first that it
 * says then is how far it is, and what runs; what has ended is in the diary.
 */
#ifndef EXECUTOR_TALK_H
#define EXECUTOR_TALK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

/* To the shepherd:
 *   go, proceed              the diary names it: set up; its forerunner was killed: end what is left
 *   run                      start the program (a primary); a descriptor of a description comes with one that was changed
 *   cancel                   nothing is to be started: remove what was set up, and leave
 *   fail                     likewise, but place the output first
 *   spawn                    start a task; a descriptor of its description comes with it
 *   end                      a sister: end what is left, as after the end of a program
 *   place                    after "over": place the output, remove the directories, and leave
 * From it:
 *   ready                    it is set up
 *   started SESSION          the program runs
 *   refused STATUS WHY, short STATUS WHY   it cannot be; short: this host lacks something
 *   task NUMBER PID START, failed NUMBER CODE WHY, done NUMBER STATUS
 *   over STATUS              no process is left
 *   placed BITS              see courier_run() */
#define TALK_MESSAGE 512 /* bytes, and no NUL is sent */

/* A task's description: "key=value" strings with NULs (whole, dir, arg, env, own, end), as a shepherd's. */
#define TALK_SPAWN_MAX (4u * 1024u * 1024u)
/* Bytes of those that wait until the shepherd has started others. */
#define SPAWNS_BYTES_MAX (16u * 1024u * 1024u)
/* Tasks of a part that run or are being started at the same time. */
#define TALK_TASKS_MAX 16384u

/* The socket of shepherd `pid`, by a descriptor of mom_priv/jobs. */
void talk_address(struct sockaddr_un *ret, int dir_fd, int pid);

#endif
