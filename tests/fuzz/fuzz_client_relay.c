/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_client_relay.c - any bytes as records of a host: nothing is read beyond them, and what is accepted as a user has a name
 * that is cut nowhere.
 */
#include <stdlib.h>
#include <string.h>

#include "client-relay/client-relay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void name_check(const char *text, size_t most)
{
	if (text == NULL)
		return;
	if (strlen(text) > most || strpbrk(text, "@: \n\t") != NULL)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *bytes = malloc(size + 1);
	const unsigned char *at = bytes;
	struct record r;
	bool bad;

	if (bytes == NULL)
		return 0;
	if (size > 0)
		memcpy(bytes, data, size);
	while (record_next(&at, bytes + size, &r, &bad)) {
		struct opening o;

		if (r.data < bytes || r.data + r.len > bytes + size)
			abort();
		if (opening_read(&r, &o) < 0)
			continue;
		name_check(o.user, NAME_MOST);
		name_check(o.group, NAME_MOST);
		name_check(o.groups, GROUPS_MOST);
		if (o.user == NULL || strchr(o.user, ',') != NULL)
			abort();
	}
	if (!bad && at != bytes + size)
		abort();
	free(bytes);
	return 0;
}
