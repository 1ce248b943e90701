/* SPDX-License-Identifier: Apache-2.0
 *
 * pair.c - links between moms: this one admits another as long as a job has both. The carrier counts.
 *
 * Of two moms the one with the lesser name dials, whichever is the primary: so two jobs never want two ways between them.
 */
#include "sisters.h"

#include <errno.h>
#include <string.h>

const char *pair_peer(struct host *h)
{
	char key[KEEL_CARRIER_KEY];

	if (!h->placed && h->key && keel_can(carrier, proved) && keel_carrier_proved("server", key) == 0) {
		h->placed = true;
		h->with_server = strcmp(key, h->key) == 0;
	}
	return h->with_server ? "server" : h->name;
}

int pair_host(const struct job *j, const char *peer)
{
	for (uint32_t i = 0; peer && i < j->n; i++)
		if (i != j->self && strcmp(pair_peer(&j->hosts[i]), peer) == 0)
			return (int)i;
	return -1;
}

void pair_expect(struct keel_mod *mod, struct job *j, uint32_t host)
{
	struct host *h = &j->hosts[host];
	bool dials = strcmp(keel_host_name(mod), h->name) < 0;
	int32_t r;

	if (h->expected || host == j->self || !h->key)
		return;
	r = keel_has(carrier) ? keel_carrier_expect(h->name, dials ? h->address : NULL, h->key) : -ENOTSUP;
	h->expected = r == 0;
	if (r < 0)
		keel_log(mod, KEEL_LOG_ERROR, "Job", j->id, "host %s cannot be linked with: %s", h->name, strerror(-r));
}

void pair_release(struct job *j, uint32_t host)
{
	if (j->hosts[host].expected)
		keel_carrier_expect(j->hosts[host].name, NULL, NULL);
	j->hosts[host].expected = false;
}
