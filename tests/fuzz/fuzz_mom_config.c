/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_mom_config.c - any text as mom_priv/config: names and values are words of its lines, in their order.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "mom-config/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct lines lines;
	uint32_t last = 0;

	if (text == NULL)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	if (lines_split(&lines, text) == 0) {
		for (uint32_t i = 0; i < lines.n; i++) {
			const struct line *l = &lines.at[i];

			if (l->number <= last || *l->name == '\0' || *l->name == '#' || strpbrk(l->name, " \t\n") != NULL ||
			    strchr(l->value, '\n') != NULL || strstr(l->whole, l->value) == NULL)
				abort();
			last = l->number;
		}
		lines_free(&lines);
	}
	free(text);
	return 0;
}
