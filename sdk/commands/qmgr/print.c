/* SPDX-License-Identifier: Apache-2.0
 *
 * print.c - prints objects as the commands that create them.
 *
 * Lists become one "=" and then "+=" per item, so that no line grows without bound.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "attr_list.h"
#include "attributes.h"
#include "run.h"

struct printing {
	const struct target *target;
	int object;
	struct attropl *requested;
	bool headed; /* the title of the section is out */
	const char *subject; /* "server", "queue q1": what follows "set" */
};

static const char *const sections[MGR_OBJ_LAST] = {
	[MGR_OBJ_SERVER] = "Set server attributes.",
	[MGR_OBJ_QUEUE] = "Create queues and set their attributes.",
	[MGR_OBJ_NODE] = "Create nodes and set their properties.",
	[MGR_OBJ_RSC] = "Create resources and set their properties.",
	[MGR_OBJ_HOOK] = "Create hooks and set their properties.",
	[MGR_OBJ_PBS_HOOK] = "Create hooks and set their properties.",
};

/* Returns how much of `value` one kind of quotes can hold. */
static size_t quotable_len(const char *value)
{
	size_t n = strcspn(value, "\"'");
	char kind = value[n];

	while (value[n] && (value[n] == kind || !strchr("\"'", value[n])))
		n++;
	return n;
}

static void setting_print(const struct printing *p, const struct attrl *a, const char *op,
			  const char *value, size_t len, enum attribute_kind kind)
{
	const char *special = kind == ATTRIBUTE_LIMIT ? "\"';" : "\"' \t,;"; /* they have a meaning in the syntax */
	bool goes_on = len > 0 && value[len - 1] == '\\';
	const char *quote = len > 0 && !goes_on && strcspn(value, special) >= len ? "" : memchr(value, '"', len) ? "'" : "\"";
	bool parted = a->resource && *a->resource;
	/* behind "server" a word that is not in the table is read as a server's name */
	bool named = p->object == MGR_OBJ_SERVER && !attribute_find(p->object, a->name, strlen(a->name));

	printf("set %s%s %s%s%s %s %s", p->subject, named ? " default" : "", a->name,
	       parted ? "." : "", parted ? a->resource : "", op, quote);
	for (; len > 0; value++, len--)
		putchar(*value == '\n' ? ' ' : *value); /* a command is one line */
	printf("%s\n", quote);
}

/* Text with both kinds of quotes in it is set piece by piece. */
static void line_print(const struct printing *p, const struct attrl *a, const char *op,
		       const char *value, enum attribute_kind kind)
{
	do {
		size_t len = kind == ATTRIBUTE_TEXT ? quotable_len(value) : strlen(value);

		setting_print(p, a, op, value, len, kind);
		value += len;
		op = "+=";
	} while (*value);
}

static void list_print(const struct printing *p, const struct attrl *a, enum attribute_kind kind)
{
	char *copy = strdup(a->value), *rest = copy, *item;
	const char *op = "=";
	size_t len;

	if (!copy)
		return;
	while ((item = strsep(&rest, ","))) {
		item += strspn(item, " \t");
		for (len = strlen(item); len > 0 && isblank((unsigned char)item[len - 1]); len--)
			item[len - 1] = '\0';
		if (*item || (op[0] == '=' && !rest))
			line_print(p, a, op, item, kind);
		op = "+=";
	}
	free(copy);
}

/* The state of a node without what no command sets: "offline" of "offline,resv-exclusive". */
static void state_print(const struct printing *p, const struct attrl *a)
{
	static const char reserved[] = "resv-exclusive";
	char *state = strdup(a->value), *at = state ? strstr(state, reserved) : NULL;

	if (at) {
		char *next = at + sizeof(reserved) - 1;

		if (*next == ',')
			next++;
		else if (at > state)
			at--; /* the comma before it */
		memmove(at, next, strlen(next) + 1);
	}
	if (state && *state && strncmp(state, "state-unknown", 13) != 0 && strcmp(state, "down") != 0)
		line_print(p, a, "=", state, ATTRIBUTE_TEXT);
	free(state);
}

static void attribute_print(const struct attrl *a, void *arg)
{
	const struct printing *p = arg;
	enum attribute_kind kind = attribute_kind(p->object, a->name);

	if (!a->value || !attribute_is_printed(p->object, a->name))
		return;
	if (p->object == MGR_OBJ_NODE && strcmp(a->name, ATTR_NODE_state) == 0) {
		state_print(p, a);
		return;
	}
	if (strcmp(a->value, "\"\"") == 0)
		return; /* a hook without events has this value */
	if (kind == ATTRIBUTE_TEXT)
		line_print(p, a, "=", a->value, kind);
	else
		list_print(p, a, kind);
}

/* Mom and Port, which only "create node" sets. */
static void node_address_print(const struct batch_status *node)
{
	const char *mom = status_value(node, ATTR_NODE_Mom, NULL);
	const char *port = status_value(node, ATTR_NODE_Port, NULL);
	const char *gap = " ";

	if (mom && *mom && strcmp(mom, node->name) != 0) {
		const char *quote = strchr(mom, ',') ? "\"" : "";

		printf(" Mom=%s%s%s", quote, mom, quote);
		gap = ",";
	}
	if (port && *port && strcmp(port, "15002") != 0)
		printf("%sPort=%s", gap, port);
}

static void object_print(const struct batch_status *object, void *arg)
{
	static const char *const types[] = { "application/x-python", "application/x-config" };
	struct printing *p = arg;
	char subject[32 + PBS_MAXHOSTNAME + 1];
	bool is_sched = p->object == MGR_OBJ_SCHED, is_hook = p->object == MGR_OBJ_HOOK || p->object == MGR_OBJ_PBS_HOOK;
	bool bare = p->object == MGR_OBJ_SERVER || (is_sched && p->target->default_name);
	const char *word = is_hook ? "hook" : object_word(p->object), *name = object->name;

	/* Queues of reservations come and go with them. */
	if (p->object == MGR_OBJ_QUEUE && !*p->target->name && *name && strchr("RSM", *name) && name[1] &&
	    name[1 + strspn(name + 1, "0123456789")] == '\0')
		return;
	if (!p->headed && sections[p->object] && (p->object != MGR_OBJ_RSC || !*p->target->name))
		printf("#\n# %s\n#\n", sections[p->object]);
	p->headed = true;
	if (p->object != MGR_OBJ_SERVER && !p->requested) {
		printf("#\n# Create and define %s %s\n#\n", is_sched ? "scheduler" : word, name);
		printf("create %s %s", word, name);
		if (p->object == MGR_OBJ_NODE)
			node_address_print(object);
		putchar('\n');
	}
	snprintf(subject, sizeof(subject), "%s%s%s", word, bare ? "" : " ", bare ? "" : name);
	p->subject = subject;
	attributes_each(object, p->requested, attribute_print, p);
	for (size_t i = 0; i < 2 && is_hook && !p->requested; i++) {
		char *body = hook_body_get(p->target, name, types[i]);

		printf("import hook %s %s base64 -\n%s\n", name, types[i], body ? body : "");
		free(body);
	}
}

static int section_print(struct session *s, const struct command *q, const struct target *t,
			 int object)
{
	struct printing p = {
		.target = t,
		.object = object,
		.requested = object == q->object ? q->attributes : NULL,
	};

	return objects_each(s, t, object, p.requested, object_print, &p);
}

int print_run(struct session *s, const struct command *q, const struct target *t)
{
	int resources = 0, queues = 0, own;

	if (q->object == MGR_OBJ_SERVER && !q->attributes) {
		resources = section_print(s, q, t, MGR_OBJ_RSC);
		queues = section_print(s, q, t, MGR_OBJ_QUEUE);
	}
	own = section_print(s, q, t, q->object);
	return own ? own : queues ? queues : resources;
}
