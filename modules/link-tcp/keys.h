/* SPDX-License-Identifier: Apache-2.0
 *
 * keys.h - who a key belongs to, and the files that say so.
 *
 * A public file is one line `role host base64`, a secret file the same with the secret key and mode
 * 0600. The tool keelson-key writes both.
 */
#ifndef LINK_TCP_KEYS_H
#define LINK_TCP_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "keel/types.h"

enum { KEY_SIZE = 32, KEY_HOST_MAX = 255 };

struct identity {
	uint32_t daemon; /* one bit of enum keel_daemon */
	char host[KEY_HOST_MAX + 1];
	uint8_t public_key[KEY_SIZE];
	uint8_t secret_key[KEY_SIZE]; /* zeroes for a public file */
};

/* Letters, digits, '.', '-', '_', not first a '.': a host name that may be part of a path. */
bool key_host_valid(const char *host, size_t len);

/* Returns the role of this name, 0: none; and its name, NULL: none. */
uint32_t key_role(const char *text, size_t len);
const char *key_role_word(uint32_t daemon);

/* Parses one line of either kind of file. 0; fails with -EINVAL. */
int key_parse(const char *line, size_t len, uint32_t *ret_daemon, char ret_host[KEY_HOST_MAX + 1],
	      uint8_t ret_key[KEY_SIZE]);

/* A key from base64, as key files have it; false: it is none. */
bool key_decode(const char *text, size_t len, uint8_t ret_key[KEY_SIZE]);

enum key_file {
	KEY_PUBLIC,
	KEY_SECRET,
	KEY_OWN, /* a secret one that is refused when other users could read it */
};
/* 0; fails with -errno of the file, or -EINVAL for its content or mode, and *err names the file. */
int key_read(const char *path, enum key_file kind, struct identity *ret, struct keel_err *err);
/* <dir>/<name>.pub. Fails with -ENOENT when no peer of that name is enrolled, or another error, and *err. */
int key_read_public(const char *dir, const char *name, struct identity *ret, struct keel_err *err);

#endif
