/* SPDX-License-Identifier: Apache-2.0
 *
 * file.h - whole small files: read, and replace so that a crash leaves the old or the new one.
 */
#ifndef KEELSON_FILE_H
#define KEELSON_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "keel/types.h"

/* Write to a temporary file beside `path`, fsync, rename over `path`, fsync the directory. Returns 0, or -errno and the
 * old file is unchanged. */
int file_write_durable(const char *path, const void *bytes, size_t len, mode_t mode);

/* Reads the bytes, terminated; the caller frees them. Fails with -errno: -EFBIG when larger than `max`, -ENOTSUP for a pipe. */
int file_read(const char *path, size_t max, char **ret_bytes, size_t *ret_len);

/* Write all bytes, also when interrupted. Returns 0 or -errno. */
int fd_write_all(int fd, const void *bytes, size_t len);
/* The same; *ret_written: how many of them there was room for. */
int fd_write(int fd, const void *bytes, size_t len, size_t *ret_written);

/* Make `path` and its missing parents (those 0755); an existing directory is left as it is.
 * The mode does not depend on the umask. 0 or -errno. */
int dir_make(const char *path, mode_t mode);

/* Returns 0 when no user but root and this one could have written that file or directory, or when it does not exist; else -errno
 * with *err, which says how it is mended. Root looks at all directories above it, others at its own. */
int file_guard(const char *path, struct keel_err *err);
/* Returns 0 when this process may run that file of a module, or what it names, or a set of them; else -EPERM with *err. */
int file_trust(const char *path, struct keel_err *err);

#endif
