/* SPDX-License-Identifier: Apache-2.0
 *
 * sample.c - the rows as a sample file: every key with its default, commented out, under its words.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/inside.h"
#include "util/text.h"

static bool is_quoted(const struct keel_conf_rule *r)
{
	return r->type == KEEL_CONF_STRING || r->type == KEEL_CONF_ENUM ||
	       ((r->type == KEEL_CONF_DURATION || r->type == KEEL_CONF_SIZE) && r->fallback != NULL &&
		r->fallback[strspn(r->fallback, "0123456789")] != '\0');
}

static void add_quoted(const char *text, struct buf *out)
{
	buf_add(out, "\"", 1);
	for (; *text != '\0'; text++)
		buf_printf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	buf_add(out, "\"", 1);
}

static void add_list(const char *text, struct buf *out)
{
	char **list = list_split(text, NULL);

	buf_add(out, "[", 1);
	for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
		buf_str(out, i == 0 ? " " : ", ");
		add_quoted(list[i], out);
	}
	buf_str(out, " ]");
	out->failed |= list == NULL;
	free(list);
}

static void add_value(const struct keel_conf_rule *r, struct buf *out)
{
	const char *text = r->fallback;

	if (r->type == KEEL_CONF_LIST)
		add_list(text == NULL ? "" : text, out);
	else if (is_quoted(r))
		add_quoted(text == NULL ? "" : text, out);
	else if (text != NULL)
		buf_str(out, text);
	else
		buf_str(out, r->type == KEEL_CONF_BOOL ? "false" : "0");
}

static void add_key(const struct keel_conf_rule *r, const char *indent, struct buf *out)
{
	if (r->doc != NULL)
		buf_printf(out, "%s# %s\n", indent, r->doc);
	buf_printf(out, "%s# ", indent);
	value_expected(r, out);
	if (r->flags & KEEL_CONF_REQUIRED)
		buf_str(out, "; required");
	if (r->flags & KEEL_CONF_RESTART)
		buf_str(out, "; takes effect at a restart");
	buf_printf(out, "\n%s#%s = ", indent, r->key);
	add_value(r, out);
	buf_str(out, ";\n");
}

void conf_sample(const char *group, const struct keel_conf_rule *rules, uint32_t n_rules,
		 struct buf *out)
{
	bool top = group == NULL || group[0] == '\0';

	if (!top)
		buf_printf(out, "%s = {\n", group);
	for (uint32_t i = 0; i < n_rules; i++) {
		struct keel_conf_rule r = rule_at(rules, i);

		if (rule_width(&r) != 0)
			add_key(&r, top ? "" : "\t", out);
	}
	if (!top)
		buf_str(out, "};\n");
}
