/* SPDX-License-Identifier: Apache-2.0
 *
 * destinations.c - the text of route_destinations: queue[@host[:port]],...
 */
#include "routing.h"

#include <ctype.h>
#include <string.h>

#define QUEUE_MAX 15

static bool host_fine(const char *host, size_t len)
{
	size_t name = 0;

	while (name < len && (isalnum((unsigned char)host[name]) || strchr(".-_", host[name])))
		name++;
	if (name == 0 || name > 255)
		return false;
	if (name == len)
		return true;
	if (host[name++] != ':' || name == len)
		return false;
	while (name < len && isdigit((unsigned char)host[name]))
		name++;
	return name == len;
}

bool destinations_fine(const char *text)
{
	for (;;) {
		size_t len = strcspn(text, ",");
		const char *at = memchr(text, '@', len);
		size_t name = at ? (size_t)(at - text) : len;

		if (name == 0 || name > QUEUE_MAX || !isalnum((unsigned char)*text) ||
		    (at && !host_fine(at + 1, len - name - 1)))
			return false;
		for (size_t i = 0; i < name; i++)
			if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
				return false;
		if (!text[len])
			return true;
		text += len + 1;
	}
}

bool destinations_at(const char *text, uint32_t i, char *buf, size_t size)
{
	size_t len;

	while (i-- > 0) {
		text += strcspn(text, ",");
		if (!*text)
			return false;
		text++;
	}
	len = strcspn(text, ",");
	if (len == 0 || len >= size)
		return false;
	memcpy(buf, text, len);
	buf[len] = '\0';
	return true;
}
