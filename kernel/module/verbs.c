/* SPDX-License-Identifier: Apache-2.0
 *
 * verbs.c - what an administrator may ask the kernel: requests "keelson.<verb>", answered with
 * {lines: [...]}. They are rows like those of any module; their owner is the kernel.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hook/hooks.h"
#include "module/inside.h"
#include "registry/registry.h"
#include "util/err.h"

/* A request, until its one answer. */
struct asked {
	struct modules *all;
	struct keel_req *req;
	const char *who; /* borrowed until the verb's function returns */
	const char *arg; /* likewise; the first argument, or NULL */
};

static const struct keel_request_api *request_api(const struct modules *all)
{
	return registry_service(all->parts->registry, "request", 0, NULL, NULL);
}

static const struct keel_msg_api *msg_api_of(const struct modules *all)
{
	return registry_service(all->parts->registry, "msg", 0, NULL, NULL);
}

/* Cut the text at its newlines, in place. */
static const char **lines_cut(char *text, uint32_t *ret_n)
{
	const char **lines;
	uint32_t n = 0;

	for (const char *at = text; *at != '\0'; at++)
		n += *at == '\n';
	lines = calloc(n + 1, sizeof(*lines));
	*ret_n = n;
	for (uint32_t i = 0; lines != NULL && i < n; i++) {
		char *end = strchr(text, '\n');

		*end = '\0';
		lines[i] = text;
		text = end + 1;
	}
	return lines;
}

/* ---- the end of a question ---------------------------------------------------------------------------- */
static void refuse(struct asked *a, int32_t code, const char *text)
{
	request_api(a->all)->reply(a->req, code, "%s", text);
	free(a);
}

/* `text` is emptied. Every line of it ends with a newline. */
static void answer(struct asked *a, struct buf *text)
{
	const struct keel_msg_api *msg = msg_api_of(a->all);
	uint32_t n = 0;
	const char **lines = NULL;
	struct keel_out *out = NULL;

	buf_add(text, "", 1); /* there is a text, however empty */
	if (!text->failed) {
		lines = lines_cut(text->data, &n);
		out = lines != NULL ? msg->out(&a->all->self.pub) : NULL;
	}
	if (out != NULL) {
		msg->put_strings(out, "lines", lines, n);
		request_api(a->all)->reply_out(a->req, out);
		free(a);
	} else {
		refuse(a, PBSE_INTERNAL, "no memory for the answer");
	}
	free(lines);
	buf_fini(text);
}

/* ---- what is asked ------------------------------------------------------------------------------------- */
static void verb_modules(struct asked *a)
{
	struct buf text;

	buf_init(&text);
	modules_table(a->all, &text);
	answer(a, &text);
}

static void refuse_point(struct asked *a, const char *point)
{
	struct keel_err err;

	err_set(&err, 0, "there is no hook point '%s'; 'keelson hooks' lists them", point);
	refuse(a, PBSE_IVALREQ, err.text);
}

/* args: a point's name, or nothing: all points. */
static void verb_hooks(struct asked *a)
{
	const char *point = a->arg;
	struct hooks *hooks = a->all->parts->hooks;
	struct buf text;

	buf_init(&text);
	if (point == NULL) {
		hooks_describe_points(hooks, &text);
	} else if (hooks_describe(hooks, point, &text) < 0) {
		refuse_point(a, point);
		return;
	}
	answer(a, &text);
}

/* args: likewise. */
static void verb_hook_times(struct asked *a)
{
	const char *point = a->arg;
	struct buf text;
	int ret;

	buf_init(&text);
	ret = hooks_describe_times(a->all->parts->hooks, point, &text);
	if (ret == 0)
		answer(a, &text);
	else if (ret == -ENOENT)
		refuse_point(a, point);
	else
		refuse(a, PBSE_INTERNAL, "no memory for the answer");
}

static void verb_hook_reset(struct asked *a)
{
	struct buf text;

	buf_init(&text);
	hooks_reset_times(a->all->parts->hooks);
	answer(a, &text);
}

/* args: module.tap */
static void verb_hook_unbench(struct asked *a)
{
	const char *tap = a->arg;
	struct keel_err err, who;
	struct buf text;

	err_set(&who, 0, "at request of %s", a->who);
	if (tap == NULL || hooks_unbench(a->all->parts->hooks, tap, who.text) < 0) {
		err_set(&err, 0, "there is no tap '%s'; 'keelson hooks --time' lists them",
			tap != NULL ? tap : "");
		refuse(a, PBSE_IVALREQ, err.text);
		return;
	}
	buf_init(&text);
	buf_printf(&text, "%s is called\n", tap);
	answer(a, &text);
}

static void verb_holds(struct asked *a)
{
	struct buf text;

	buf_init(&text);
	hooks_describe_holds(a->all->parts->hooks, &text);
	answer(a, &text);
}

/* ---- the table ------------------------------------------------------------------------------------------ */
#define VERBS(VERB)                                                                                         \
	VERB(modules, KEEL_OPERATORS, "loaded modules, a table: who they are, how they fare")               \
	VERB(hooks, KEEL_OPERATORS, "hook points, or the compiled chain of one")                            \
	VERB(hook_times, KEEL_OPERATORS, "what taps have cost, a table: those of all points, or of one")    \
	VERB(hook_reset, KEEL_MANAGERS, "counts and times of taps begin again")                             \
	VERB(hook_unbench, KEEL_MANAGERS, "call a benched tap again")                                       \
	VERB(holds, KEEL_OPERATORS, "operations that wait, and what for")

static void requested(struct keel_mod *m, struct keel_req *req, void (*verb)(struct asked *))
{
	struct modules *all = owner_of(m)->parts->modules;
	const struct keel_request_api *request = request_api(all);
	uint32_t n = 0;
	const char *const *args = msg_api_of(all)->strings(request->body(req), "args", &n);
	struct asked *a = malloc(sizeof(*a));

	if (a == NULL) {
		request->reply(req, PBSE_INTERNAL, "no memory for the answer");
		return;
	}
	*a = (struct asked){ .all = all, .req = req, .who = request->session(req)->who,
			     .arg = args != NULL && n > 0 && args[0][0] != '\0' ? args[0] : NULL };
	verb(a);
}

#define AS_REQUEST(verb, who, text)                                                                         \
	static void request_##verb(struct keel_mod *m, struct keel_req *req)                                \
	{                                                                                                   \
		requested(m, req, verb_##verb);                                                             \
	}                                                                                                   \
	static const struct keel_request_def def_##verb = { .size = sizeof(def_##verb), .roles = (who),     \
							    .name = "keelson." #verb, .doc = (text),        \
							    .flags = KEEL_REQUEST_READ | KEEL_REQUEST_WAITS, \
							    .handler = request_##verb };
VERBS(AS_REQUEST)
#define AS_ROW(verb, who, text) { "REQUEST", &def_##verb },
static const struct keel_contrib rows[] = { VERBS(AS_ROW) };

int verbs_offer(struct modules *all)
{
	return registry_add(all->parts->registry, &all->self, rows, KEEL_COUNT(rows), NULL);
}

void verbs_withdraw(struct modules *all)
{
	registry_remove(all->parts->registry, &all->self);
}
