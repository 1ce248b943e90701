/* SPDX-License-Identifier: Apache-2.0
 *
 * json_show.h - the attributes of one object as members of a JSON object.
 *
 * Attributes with resources are objects; repeated entries of a list are one string joined by
 * commas; Variable_List is an object of strings. Each key comes once.
 */
#ifndef KEELSON_COMMANDS_JSON_SHOW_H
#define KEELSON_COMMANDS_JSON_SHOW_H

#include <stdbool.h>

#include "json_out.h"
#include "names.h"
#include "pbs_ifl.h"
#include "show.h"

struct json_show {
	struct json_out *json; /* borrowed */
	struct show *show; /* borrowed: values and kinds */
	struct names keys, odd_keys; /* of one Variable_List; odd: not ASCII, as they are written */
	struct names groups; /* of one object */
	char *joined; /* owned */
	size_t joined_size;
};

void json_show_init(struct json_show *j, struct json_out *json, struct show *show);
void json_show_fini(struct json_show *j);

/* Called for each attribute first; returns true if it wrote the attribute, or wants it left out. */
typedef bool (*json_special_fn)(struct json_show *j, const struct attrl *a);

/* Writes the members of the object that is open. `special` may be NULL. */
void json_show_attributes(struct json_show *j, const struct attrl *list, json_special_fn special);

#endif
