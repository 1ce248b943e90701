/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_select.c - the languages of requests: select, place, nodes, exec_vnode. What is accepted must be
 * readable again from its own parts.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "resources/resources.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct state table;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *select_text, *place_text;
	struct keel_mod mod = { .state = &table };
	struct keel_select *select;
	struct keel_exec *exec;
	struct keel_place place;
	struct keel_err err;

	if (!table.n_table && table_fill(&table, &err))
		abort();
	if (select_parse(&mod, text, &select, &err) == 0) {
		if (!select->n || !select->chunks)
			abort();
		select_free(select);
	}
	if (exec_parse(&mod, text, &exec, &err) == 0) {
		if (!exec->n || !exec->chunks)
			abort();
		exec_free(exec);
	}
	place_parse(text, &place, &err);
	if (nodes_convert(text, NULL, &select_text, &place_text, &err) == 0) {
		if (place_parse(place_text, &place, &err))
			abort();
		free(select_text);
		free(place_text);
	}
	free(text);
	return 0;
}
