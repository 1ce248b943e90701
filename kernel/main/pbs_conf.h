/* SPDX-License-Identifier: Apache-2.0
 *
 * pbs_conf.h - pbs.conf as daemons read it: KEY=value lines; the environment takes precedence.
 */
#ifndef KEELSON_PBS_CONF_H
#define KEELSON_PBS_CONF_H

#include "keel/types.h"

struct pbs_conf;

/* Read the file that PBS_CONF_FILE names, else /etc/pbs.conf, which may be missing. 0, or an error with *err. */
int pbs_conf_read(struct pbs_conf **ret_conf, struct keel_err *err);
void pbs_conf_destroy(struct pbs_conf *p);

/* Returns the value, of the environment first; NULL: not set. Borrowed. */
const char *pbs_conf_get(const struct pbs_conf *p, const char *key);
/* Returns the server's name, as in ids: PBS_SERVER, else PBS_PRIMARY, PBS_SERVER_HOST_NAME. NULL: none is set. */
const char *pbs_conf_server(const struct pbs_conf *p);

#endif
