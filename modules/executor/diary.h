/* SPDX-License-Identifier: Apache-2.0
 *
 * diary.h - lines of mom_priv/jobs/<id>.TK, which the daemon and the shepherd of a task append.
 */
#ifndef EXECUTOR_DIARY_H
#define EXECUTOR_DIARY_H

/* Users choose names with newlines in them: each control character becomes `?`. */
void diary_plain(char *text);
/* `how`: O_RDONLY, or O_WRONLY for appending. Returns the descriptor, which the caller closes; fails with -errno. */
int diary_open(const char *jobs_dir, const char *id, int how);
/* Appends one line to an open one, whatever is in the text. 0; fails with -errno. */
int diary_write(int fd, const char *line);
/* Appends one line, whatever is in the text. 0; fails with -errno. */
int diary_append(const char *jobs_dir, const char *id, const char *line);

#endif
