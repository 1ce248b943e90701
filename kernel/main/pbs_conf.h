/* SPDX-License-Identifier: Apache-2.0
 *
 * pbs_conf.h - pbs.conf as daemons read it: KEY=value lines, the environment wins.
 */
#ifndef KEELSON_PBS_CONF_H
#define KEELSON_PBS_CONF_H

#include "keel/types.h"

struct pbs_conf;

/* Read the file that PBS_CONF_FILE names, else /etc/pbs.conf; a missing default file is an empty one. */
int pbs_conf_read(struct pbs_conf **ret_conf, struct keel_err *err);
void pbs_conf_destroy(struct pbs_conf *p);

/* The value in force, NULL: not set. Borrowed. */
const char *pbs_conf_get(const struct pbs_conf *p, const char *key);
/* What the server is called, in ids too: PBS_SERVER, else PBS_PRIMARY, PBS_SERVER_HOST_NAME. NULL: none said. */
const char *pbs_conf_server(const struct pbs_conf *p);

#endif
