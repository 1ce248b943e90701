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

enum pbse { INTERNAL = 15011, IVALREQ = 15004, SYSTEM = 15010 };

static const void *group(struct keel_mod *m, const char *name)
{
	return registry_service(owner_of(m)->parts->registry, name, 0, NULL, NULL);
}

static void refuse(struct keel_mod *m, struct keel_req *req, int32_t code, const char *text)
{
	const struct keel_request_api *request = group(m, "request");

	request->reply(req, code, "%s", text);
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

/* `text` is emptied. Every line of it ends with a newline. */
static void answer(struct keel_mod *m, struct keel_req *req, struct buf *text)
{
	const struct keel_request_api *request = group(m, "request");
	const struct keel_msg_api *msg = group(m, "msg");
	uint32_t n = 0;
	const char **lines = NULL;
	struct keel_out *out = NULL;

	buf_add(text, "", 1); /* there is a text, however empty */
	if (!text->failed) {
		lines = lines_cut(text->data, &n);
		out = lines != NULL ? msg->out(m) : NULL;
	}
	if (out != NULL) {
		msg->put_strings(out, "lines", lines, n);
		request->reply_out(req, out);
	} else {
		refuse(m, req, INTERNAL, "no memory for the answer");
	}
	free(lines);
	buf_fini(text);
}

static const char *first_arg(struct keel_mod *m, struct keel_req *req)
{
	const struct keel_request_api *request = group(m, "request");
	const struct keel_msg_api *msg = group(m, "msg");
	uint32_t n = 0;
	const char *const *args = msg->strings(request->body(req), "args", &n);

	return args != NULL && n > 0 && args[0][0] != '\0' ? args[0] : NULL;
}

static void verb_modules(struct keel_mod *m, struct keel_req *req)
{
	struct buf text;

	buf_init(&text);
	modules_table(owner_of(m)->parts->modules, &text);
	answer(m, req, &text);
}

static void refuse_point(struct keel_mod *m, struct keel_req *req, const char *point)
{
	struct keel_err err;

	err_set(&err, 0, "there is no hook point '%s'; 'keelson hooks' lists them", point);
	refuse(m, req, IVALREQ, err.text);
}

/* args: a point's name, or nothing: all points. */
static void verb_hooks(struct keel_mod *m, struct keel_req *req)
{
	const char *point = first_arg(m, req);
	struct hooks *hooks = owner_of(m)->parts->hooks;
	struct buf text;

	buf_init(&text);
	if (point == NULL) {
		hooks_describe_points(hooks, &text);
	} else if (hooks_describe(hooks, point, &text) < 0) {
		refuse_point(m, req, point);
		return;
	}
	answer(m, req, &text);
}

/* args: likewise. */
static void verb_hook_times(struct keel_mod *m, struct keel_req *req)
{
	const char *point = first_arg(m, req);
	struct buf text;
	int ret;

	buf_init(&text);
	ret = hooks_describe_times(owner_of(m)->parts->hooks, point, &text);
	if (ret == 0)
		answer(m, req, &text);
	else if (ret == -ENOENT)
		refuse_point(m, req, point);
	else
		refuse(m, req, INTERNAL, "no memory for the answer");
}

static void verb_hook_reset(struct keel_mod *m, struct keel_req *req)
{
	struct buf text;

	buf_init(&text);
	hooks_reset_times(owner_of(m)->parts->hooks);
	answer(m, req, &text);
}

/* args: module.tap */
static void verb_hook_unbench(struct keel_mod *m, struct keel_req *req)
{
	const struct keel_request_api *request = group(m, "request");
	const char *tap = first_arg(m, req);
	struct keel_err err, who;
	struct buf text;

	err_set(&who, 0, "at request of %s", request->session(req)->who);
	if (tap == NULL || hooks_unbench(owner_of(m)->parts->hooks, tap, who.text) < 0) {
		err_set(&err, 0, "there is no tap '%s'; 'keelson hooks --time' lists them",
			tap != NULL ? tap : "");
		refuse(m, req, IVALREQ, err.text);
		return;
	}
	buf_init(&text);
	buf_printf(&text, "%s is called\n", tap);
	answer(m, req, &text);
}

static void verb_holds(struct keel_mod *m, struct keel_req *req)
{
	struct buf text;

	buf_init(&text);
	hooks_describe_holds(owner_of(m)->parts->hooks, &text);
	answer(m, req, &text);
}

/* ---- changes: answered when they are over --------------------------------------------------------------- */
struct asked {
	struct keel_mod *me;
	struct keel_req *req;
};

static void changed(void *arg, int ret, const char *text)
{
	struct asked *asked = arg;
	struct buf lines;

	if (ret < 0) {
		refuse(asked->me, asked->req, SYSTEM, text);
	} else {
		buf_init(&lines);
		buf_str(&lines, text);
		answer(asked->me, asked->req, &lines);
	}
	free(asked);
}

static void ask_change(struct keel_mod *m, struct keel_req *req, enum modules_change change,
		       const char *name)
{
	const struct keel_request_api *request = group(m, "request");
	struct asked *asked = calloc(1, sizeof(*asked));
	struct keel_err err = { 0 };

	if (asked == NULL) {
		refuse(m, req, INTERNAL, "no memory for a change of the modules");
		return;
	}
	*asked = (struct asked){ m, req };
	if (modules_change(owner_of(m)->parts->modules,
			   &(struct modules_ask){ .change = change, .name = name,
						  .who = request->session(req)->who,
						  .done = changed, .arg = asked },
			   &err) == 0)
		return;
	free(asked);
	refuse(m, req, SYSTEM, err.text);
}

/* args: a module's name, or nothing: the whole configuration. */
static void verb_reload(struct keel_mod *m, struct keel_req *req)
{
	const char *name = first_arg(m, req);

	ask_change(m, req, name != NULL ? MODULES_RELOAD : MODULES_CONFIGURE, name);
}

static void verb_load(struct keel_mod *m, struct keel_req *req)
{
	ask_change(m, req, MODULES_LOAD, first_arg(m, req));
}

static void verb_unload(struct keel_mod *m, struct keel_req *req)
{
	ask_change(m, req, MODULES_UNLOAD, first_arg(m, req));
}

#define VERB(verb, who, text)                                                                      \
	static const struct keel_request_def def_##verb = { .size = sizeof(def_##verb),            \
							    .roles = (who),                        \
							    .name = "keelson." #verb,              \
							    .doc = (text),                         \
							    .flags = KEEL_REQUEST_READ,            \
							    .handler = verb_##verb }
VERB(modules, KEEL_OPERATORS, "loaded modules, a table: who they are, how they fare");
VERB(hooks, KEEL_OPERATORS, "hook points, or the compiled chain of one");
VERB(hook_times, KEEL_OPERATORS, "what taps have cost, a table: those of all points, or of one");
VERB(hook_reset, KEEL_MANAGERS, "counts and times of taps begin again");
VERB(hook_unbench, KEEL_MANAGERS, "call a benched tap again");
VERB(holds, KEEL_OPERATORS, "operations that wait, and what for");
VERB(reload, KEEL_MANAGERS, "read the configuration again and make the running set that of it; or one "
			    "module anew");
VERB(load, KEEL_MANAGERS, "load a module, with its group of the configuration");
VERB(unload, KEEL_MANAGERS, "unload a module, until the next reload of the configuration");

static const struct keel_contrib rows[] = {
	{ "REQUEST", &def_modules },
	{ "REQUEST", &def_hooks },
	{ "REQUEST", &def_hook_times },
	{ "REQUEST", &def_hook_reset },
	{ "REQUEST", &def_hook_unbench },
	{ "REQUEST", &def_holds },
	{ "REQUEST", &def_reload },
	{ "REQUEST", &def_load },
	{ "REQUEST", &def_unload },
};

int verbs_offer(struct modules *all)
{
	return registry_add(all->parts->registry, &all->self, rows, KEEL_COUNT(rows), sizeof(rows[0]),
			    NULL);
}

void verbs_withdraw(struct modules *all)
{
	registry_remove(all->parts->registry, &all->self);
}
