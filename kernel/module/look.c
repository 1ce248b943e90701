/* SPDX-License-Identifier: Apache-2.0
 *
 * look.c - a module file mapped and checked by itself.
 */
#include "module/look.h"

#include <errno.h>
#include <stdlib.h>

#include "module/inside.h"
#include "util/err.h"

struct module_look {
	struct module m; /* what the lint fills */
};

static void look_free(struct module_look *l)
{
	image_close(&l->m.image);
	free(l->m.rules);
	free(l->m.taps);
	free(l);
}

int module_look(const char *path, struct module_look **ret_look, struct keel_err *err)
{
	struct module_look *l = calloc(1, sizeof(*l));
	int ret;

	if (l == NULL)
		return err_set(err, -ENOMEM, "no memory to load %s", path);
	ret = image_open(path, NULL, &l->m.image, err);
	if (ret == 0)
		ret = descriptor_lint(&l->m, path, l->m.image.raw, err);
	if (ret < 0) {
		look_free(l);
		return ret;
	}
	*ret_look = l;
	return 0;
}

const struct keel_module *module_look_descriptor(const struct module_look *l)
{
	return &l->m.desc;
}

const struct keel_conf_rule *module_look_rules(const struct module_look *l)
{
	return l->m.rules;
}
