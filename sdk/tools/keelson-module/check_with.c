/* SPDX-License-Identifier: Apache-2.0
 *
 * check_with.c - modules beside the one under test.
 */
#include "check_with.h"

#include <stdio.h>
#include <string.h>

#include "check_lifecycle.h"
#include "modfile/descriptor.h"
#include "open.h"

enum { BESIDE_MAX = 16 };

static struct {
	const struct keel_module *m;
	const char *conf; /* keys that must be given; stays */
} beside[BESIDE_MAX];
static unsigned n_beside;

bool with_open(const char *path, const char **ret_why)
{
	static char why[MODFILE_WHY_MAX];
	struct modfile_module *file = modfile_read(path, why);

	*ret_why = why;
	if (file == NULL)
		return false;
	modfile_module_free(file);
	*ret_why = "there are too many";
	if (n_beside == BESIDE_MAX)
		return false;
	beside[n_beside].m = module_open(path, ret_why);
	if (beside[n_beside].m == NULL)
		return false;
	beside[n_beside].conf = config_required(beside[n_beside].m);
	n_beside++;
	return true;
}

static bool offers(const struct keel_module *m, const char *service)
{
	for (uint32_t i = 0; i < m->n_contribs; i++) {
		const struct keel_service_def *s = m->contribs[i].def;

		if (strcmp(m->contribs[i].kind, "SERVICE") == 0 && strcmp(s->name, service) == 0)
			return true;
	}
	return false;
}

bool with_offers(const char *service)
{
	for (unsigned i = 0; i < n_beside; i++)
		if (offers(beside[i].m, service))
			return true;
	return false;
}

bool with_is(const char *name)
{
	for (unsigned i = 0; i < n_beside; i++)
		if (strcmp(beside[i].m->name, name) == 0)
			return true;
	return false;
}

/* Does `m` say that it may be absent? */
static bool is_spare(const struct keel_module *other, const struct keel_module *m)
{
	for (const struct keel_need *n = m->needs; n != m->needs_end; n++)
		if (n->klass == NULL && n->optional && offers(other, n->name))
			return true;
	return false;
}

/* In rounds, until none of them gets further. */
bool with_load(struct keel_mock *mock, const struct keel_module *m, bool optional, struct keel_err *err)
{
	bool up[BESIDE_MAX] = { false };
	unsigned left = n_beside, before;

	for (unsigned i = 0; i < n_beside; i++)
		if (!optional && is_spare(beside[i].m, m)) {
			up[i] = true;
			left--;
		}
	do {
		before = left;
		for (unsigned i = 0; i < n_beside; i++)
			if (!up[i] && keel_mock_load(mock, beside[i].m, beside[i].conf, err) != NULL) {
				up[i] = true;
				left--;
			}
	} while (left > 0 && left < before);
	return left == 0;
}
