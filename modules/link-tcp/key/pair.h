/* SPDX-License-Identifier: Apache-2.0
 *
 * pair.h - a daemon's key pair, made and written; keys.h reads it.
 */
#ifndef KEELSON_KEY_PAIR_H
#define KEELSON_KEY_PAIR_H

#include "keys.h"

/* Fresh keys. The daemon is one, the host is valid. */
void pair_make(struct identity *id, uint32_t daemon, const char *host);
void pair_wipe(struct identity *id);

/* <dir>/<host>.key (0600) and <dir>/<host>.pub (0644). Files that exist are never overwritten.
 * 0; fails with -errno and the error in *err. */
int pair_write(const struct identity *id, const char *dir, struct keel_err *err);

#endif
