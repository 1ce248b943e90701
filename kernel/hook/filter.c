/* SPDX-License-Identifier: Apache-2.0
 *
 * filter.c - taps that are called for some events only, as `match` of their module's group says.
 *
 * What a pattern means is decided by the one module that offers a FILTER row. Taps without a filter pay nothing:
 * TAP_FILTERED is one of the bits that lead to the slow path.
 */
#include <errno.h>

#include "hook/inside.h"
#include "registry/registry.h"
#include "util/err.h"

static int row_add(void *arg, struct owner *owner, const void *def, struct keel_err *err)
{
	const struct keel_filter_def *filter = def;
	struct hooks *h = arg;

	if (filter->make == NULL || filter->drop == NULL || filter->passes == NULL)
		return err_set(err, -EINVAL, "the filter of module %s lacks a function", owner->pub.name);
	if (h->filter != NULL)
		return err_set(err, -EEXIST, "module %s offers a filter, as module %s does; enable only one of the two",
			       owner->pub.name, h->filter_owner->pub.name);
	h->filter = filter;
	h->filter_owner = owner;
	return 0;
}

static void row_remove(void *arg, struct owner *owner, const void *def)
{
	struct hooks *h = arg;

	(void)owner, (void)def;
	FOR_EACH_TAP(h, t)
		(void)hooks_filter(h, t->owner, NULL, 0, NULL);
	h->filter = NULL;
}

int filter_init(struct hooks *h)
{
	return registry_kind(h->parts->registry,
			     &(struct registry_kind){ .name = "FILTER", .add = row_add, .remove = row_remove,
						      .arg = h, .row_size = sizeof(struct keel_filter_def) });
}

int hooks_filter(struct hooks *h, struct owner *owner, const struct keel_match *match, uint32_t n, struct keel_err *err)
{
	struct keel_err why = { 0 };
	void *fresh = NULL;

	if (n > 0 && h->filter == NULL)
		return err_set(err, -ENOENT, "%s: %s.match: no module reads this key; enable the one that keelson.conf(5) names, or remove the key",
			       match->where, owner->pub.name);
	if (n > 0) {
		CRUMB_CALL(h->filter_owner, "make() of a filter", NULL,
			   fresh = h->filter->make(&h->filter_owner->pub, &owner->pub, match, n, &why));
		if (fresh == NULL)
			return err_set(err, -EINVAL, "%s", why.text);
	}
	if (owner->filter != NULL && h->filter != NULL)
		CRUMB_CALL(h->filter_owner, "drop() of a filter", NULL, h->filter->drop(&h->filter_owner->pub, owner->filter));
	owner->filter = fresh;
	taps_mark(h, owner, TAP_FILTERED, fresh != NULL);
	return 0;
}

bool filter_passes(const struct op *op, const struct tap *t)
{
	const struct hooks *h = op->hooks;
	bool passes;

	CRUMB_CALL(h->filter_owner, "passes() of a filter", NULL,
		   passes = h->filter->passes(&h->filter_owner->pub, t->owner->filter, op->point->info->id, op->event));
	return passes;
}
