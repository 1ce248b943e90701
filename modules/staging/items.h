/* SPDX-License-Identifier: Apache-2.0
 *
 * items.h - "local@host:path,..." of stagein and stageout; calls no API.
 */
#ifndef STAGING_ITEMS_H
#define STAGING_ITEMS_H

#include <stdbool.h>
#include <stdint.h>

#define ITEMS_MAX 1000

struct item {
	char *local, *host, *path; /* owned by the list */
};
struct items {
	struct item *at;
	uint32_t n;
	char *text; /* owns the strings */
};

/* 0; fails with -EINVAL: not of that form, -E2BIG: more than ITEMS_MAX, -ENOMEM. The caller frees them. */
int items_parse(struct items *ret, const char *text);
void items_free(struct items *items);

/* "host:path", which ends the host in place; NULL: there is no host that can be one, and *text is as it was. */
char *host_cut(char *text, char **ret_path);

#endif
