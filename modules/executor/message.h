/* SPDX-License-Identifier: Apache-2.0
 *
 * message.h - what the daemon and the program that writes a line into a task's output say to each other:
 * "keelson-shepherd message FILES", the text as fd 0, the spec as SPEC_FD. Exit 0: written.
 */
#ifndef EXECUTOR_MESSAGE_H
#define EXECUTOR_MESSAGE_H

#define MESSAGE_WORD "message"
#define MESSAGE_OUT 1 /* bits of FILES */
#define MESSAGE_ERR 2
#define MESSAGE_LONGEST (16 * 1024 * 1024)

#endif
