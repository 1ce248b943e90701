/* SPDX-License-Identifier: Apache-2.0
 *
 * pair.h - a daemon's key pair, and the two files that hold it: one line `role host base64` each.
 */
#ifndef KEELSON_KEY_PAIR_H
#define KEELSON_KEY_PAIR_H

#include <stdbool.h>
#include <stdint.h>

enum { PAIR_KEY_SIZE = 32, PAIR_HOST_MAX = 255, PAIR_WHY_MAX = 512 };

struct pair {
	char role[8]; /* "server" or "mom" */
	char host[PAIR_HOST_MAX + 1];
	uint8_t public_key[PAIR_KEY_SIZE], secret_key[PAIR_KEY_SIZE];
};

bool pair_role_valid(const char *role);
/* Letters, digits, '.', '-' and '_': names that may be part of a path. */
bool pair_host_valid(const char *host);

/* Fresh keys. role and host are valid. */
void pair_make(struct pair *p, const char *role, const char *host);
void pair_wipe(struct pair *p);

/* <dir>/<host>.key (0600) and <dir>/<host>.pub (0644). Files that exist are never overwritten.
 * 0 or -errno with a sentence in `why`. */
int pair_write(const struct pair *p, const char *dir, char why[PAIR_WHY_MAX]);

/* Either kind of file; *ret_secret says which. The public key is filled in both cases. */
int pair_read(const char *path, struct pair *ret, bool *ret_secret, char why[PAIR_WHY_MAX]);

#endif
