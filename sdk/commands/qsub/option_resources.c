/* SPDX-License-Identifier: Apache-2.0
 *
 * option_resources.c - "-l name[=value][,name[=value]...]".
 */
#include <errno.h>
#include <stdio.h>

#include "attr_list.h"
#include "options.h"

static int resource_set(void *arg, const char *name, const char *value)
{
	const struct option_target *to = arg;

	return submission_set(to->s, ATTR_l, name, value, to->source);
}

int option_resources(struct submission *s, const char *value, enum source source)
{
	struct attr_fault fault;
	int ret = attr_items(value, false, resource_set, &(struct option_target){ s, source }, &fault);

	if (!fault.what)
		return ret;
	fprintf(stderr, "qsub: illegal -l value\n <%s>:\n%s\n%*s^\n", fault.what, value, (int)(fault.at - value), "");
	return -EALREADY;
}
