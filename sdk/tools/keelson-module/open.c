/* SPDX-License-Identifier: Apache-2.0
 *
 * open.c - dlopen() of a module as the daemon does it: everything it names is bound at once.
 */
#include "open.h"

#include <dlfcn.h>
#include <stdlib.h>

const struct keel_module *module_open(const char *path, const char **ret_why)
{
	char *real = realpath(path, NULL);
	void *so = dlopen(real == NULL ? path : real, RTLD_NOW | RTLD_LOCAL);
	const struct keel_module *m = so == NULL ? NULL : dlsym(so, "keel_module");

	free(real);
	*ret_why = m == NULL ? dlerror() : NULL;
	return m;
}
