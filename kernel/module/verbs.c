/* SPDX-License-Identifier: Apache-2.0
 *
 * verbs.c - what an administrator may ask the kernel: requests "keelson.<verb>", answered with
 * {lines: [...]}. They are rows like those of any module; their owner is the kernel.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "keel/api.h"
#include "module/inside.h"
#include "registry/registry.h"
#include "util/err.h"

/* A request, until its one answer. */
struct asked {
	struct modules *all;
	struct keel_req *req;
	const char *who; /* borrowed until the verb's function returns */
	const char *arg; /* likewise; the first argument, or NULL */
	const char *token; /* likewise; or NULL */
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
/* Answered when it is over. */
static void changed(void *arg, int ret, const char *text)
{
	struct asked *a = arg;
	struct buf lines;

	if (ret < 0) {
		refuse(a, PBSE_SYSTEM, text);
		return;
	}
	buf_init(&lines);
	buf_str(&lines, text);
	answer(a, &lines);
}

static void ask_change(struct asked *a, enum modules_change change)
{
	const struct modules_files *f = &a->all->files;
	struct keel_err err = { 0 };
	int ret = 0;
	const char *made = a->token != NULL && f->made != NULL ? f->made(a->all->parts, a->token, &ret) : NULL;

	if (made != NULL)
		changed(a, ret, made);
	else if (modules_change(a->all,
				&(struct modules_ask){ .change = change, .name = a->arg, .who = a->who,
						       .token = a->token, .done = changed, .arg = a, .drop = free },
				&err) < 0)
		refuse(a, PBSE_SYSTEM, err.text);
}

/* args: a module's name, or nothing: the whole configuration. */
static void verb_reload(struct asked *a)
{
	ask_change(a, a->arg != NULL ? MODULES_RELOAD : MODULES_CONFIGURE);
}

static void verb_load(struct asked *a)
{
	ask_change(a, MODULES_LOAD);
}

static void verb_unload(struct asked *a)
{
	ask_change(a, MODULES_UNLOAD);
}

/* ---- the table ------------------------------------------------------------------------------------------ */
#define VERBS(VERB)                                                                                         \
	VERB(reload, KEEL_MANAGERS,                                                                         \
	     "read the configuration again and make the running set that of it; or one module anew")        \
	VERB(load, KEEL_MANAGERS, "load a module, with its group of the configuration")                     \
	VERB(unload, KEEL_MANAGERS, "unload a module, until the next reload of the configuration")

static void requested(struct keel_mod *m, struct keel_req *req, void (*verb)(struct asked *))
{
	struct modules *all = owner_of(m)->parts->modules;
	const struct keel_request_api *request = request_api(all);
	uint32_t n = 0;
	const char *const *args = msg_api_of(all)->strings(request->body(req), "args", &n);
	const char *token = msg_api_of(all)->str(request->body(req), "extend");
	struct asked *a = malloc(sizeof(*a));

	if (a == NULL) {
		request->reply(req, PBSE_INTERNAL, "no memory for the answer");
		return;
	}
	*a = (struct asked){ .all = all, .req = req, .who = request->session(req)->who,
			     .token = token != NULL && token[0] != '\0' && strspn(token, "0123456789abcdef") == strlen(token) ?
					      token : NULL,
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
