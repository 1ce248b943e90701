/* SPDX-License-Identifier: Apache-2.0
 *
 * lint.c - is a descriptor what it says? And make it this header's size, whatever the module's.
 */
#include <errno.h>
#include <string.h>

#include "inside.h"

static bool name_is_good(const char *name)
{
	size_t len = name != NULL ? strlen(name) : 0;

	return len > 0 && len < 64 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == len;
}

static const char *objection(const struct keel_module *d)
{
	if (!name_is_good(d->name))
		return "its name is not 1 to 63 of a-z 0-9 - _";
	if (d->version == NULL || d->summary == NULL)
		return "it has no version or no summary";
	if (d->roles == 0 || (d->roles & ~(uint32_t)KEEL_ANY) != 0)
		return "its roles name no daemon";
	if ((d->flags & ~(uint32_t)(KEEL_MOD_RESIDENT | KEEL_MOD_NO_PROCESS)) != 0)
		return "it has flags this host does not know";
	if ((d->n_conf > 0) != (d->conf != NULL) || (d->n_needs > 0) != (d->needs != NULL) ||
	    (d->n_contribs > 0) != (d->contribs != NULL) || (d->n_taps > 0) != (d->taps != NULL))
		return "its tables and their counts (.n_taps ...) do not agree";
	return NULL;
}

static int rows_lint(const struct keel_module *d, struct keel_err *err)
{
	for (uint32_t i = 0; i < d->n_needs; i++)
		if (d->needs[i].group == NULL || d->needs[i].offset % sizeof(void *) != 0 ||
		    d->needs[i].offset + sizeof(void *) > d->state_size)
			return err_set(err, -EINVAL, "module %s: need '%s' does not name a pointer in the state",
				       d->name, d->needs[i].group != NULL ? d->needs[i].group : "");
	if (d->n_conf > 0 && d->conf[0].size < offsetof(struct keel_conf_rule, doc))
		return err_set(err, -EINVAL, "module %s: configuration rules have a wrong size", d->name);
	for (uint32_t i = 0; i < d->n_conf; i++) {
		const struct keel_conf_rule *r = (const struct keel_conf_rule *)(const void *)(
			(const char *)d->conf + (size_t)i * d->conf[0].size);

		if (r->key == NULL || r->type < KEEL_CONF_BOOL || r->type > KEEL_CONF_LIST ||
		    r->offset >= d->conf_size || (r->type == KEEL_CONF_ENUM && r->choices == NULL))
			return err_set(err, -EINVAL, "module %s: configuration rule '%s' cannot be used", d->name,
				       r->key != NULL ? r->key : "");
	}
	return taps_lint(d, err);
}

int descriptor_lint(const struct keel_module *raw, struct keel_module *ret, struct keel_err *err)
{
	const char *no = NULL;

	*ret = (struct keel_module){ 0 };
	if (raw->magic != KEEL_MAGIC)
		no = "its magic number is wrong";
	else if (raw->abi_major != KEEL_ABI_MAJOR || raw->abi_minor > KEEL_ABI_MINOR)
		no = "it is of another interface version";
	else if (raw->size < offsetof(struct keel_module, stop))
		no = "its size is too small";
	if (no == NULL) {
		memcpy(ret, raw, raw->size < sizeof(*ret) ? raw->size : sizeof(*ret));
		ret->size = sizeof(*ret);
		no = objection(ret);
	}
	if (no != NULL)
		return err_set(err, -EINVAL, "the descriptor cannot be used: %s", no);
	return rows_lint(ret, err);
}
