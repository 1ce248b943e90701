/* SPDX-License-Identifier: Apache-2.0
 *
 * pair.c - links between moms: this one admits another as long as a job has both.
 *
 * Of two moms the one with the lesser name dials, whichever is the primary: so two jobs never want two ways between them.
 */
#include "sisters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct pair *pair_get(struct state *st, const char *name)
{
	struct pair *p;

	HASH_FIND_STR(st->pairs, name, p);
	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (p && (p->name = strdup(name))) {
		HASH_ADD_KEYPTR(hh, st->pairs, p->name, strlen(p->name), p);
		if (p->hh.tbl)
			return p;
		free(p->name);
	}
	free(p);
	return NULL;
}

void pair_expect(struct keel_mod *mod, struct job *j, uint32_t host)
{
	struct host *h = &j->hosts[host];
	bool dials = strcmp(keel_host_name(mod), h->name) < 0;
	struct pair *p;
	int32_t r = -ENOTSUP;

	if (h->expected || host == j->self || !h->key || !keel_has(carrier))
		return;
	p = pair_get(mod->state, h->name);
	if (p && (r = keel_carrier_expect(h->name, dials ? h->address : NULL, h->key)) == 0) {
		p->jobs++;
		h->expected = true;
		return;
	}
	keel_log(mod, KEEL_LOG_ERROR, "Job", j->id, "host %s cannot be linked with: %s", h->name,
		 p ? strerror(-r) : "no memory");
	if (p && !p->jobs) {
		HASH_DEL(((struct state *)mod->state)->pairs, p);
		free(p->name);
		free(p);
	}
}

void pair_release(struct keel_mod *mod, struct job *j, uint32_t host)
{
	struct state *st = mod->state;
	struct pair *p;

	if (!j->hosts[host].expected)
		return;
	j->hosts[host].expected = false;
	HASH_FIND_STR(st->pairs, j->hosts[host].name, p);
	if (!p || --p->jobs)
		return;
	keel_carrier_expect(p->name, NULL, NULL);
	HASH_DEL(st->pairs, p);
	free(p->name);
	free(p);
}
