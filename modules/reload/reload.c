/* SPDX-License-Identifier: Apache-2.0
 *
 * reload.c - requests and signals that change what runs; what goes from one image of the daemon to the next: the answer to
 * the change that made it. Children stay with the process: those of images before are reaped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reload.h"

#define CHILDREN_MS 200
#define OWED_MS 2000 /* the library tries again after a second at most */

KEEL_USE_OPT(renew);

/* ---- requests ---------------------------------------------------------------------------------------------------- */
void reply_lines(struct keel_mod *mod, struct keel_req *req, const char *text)
{
	char *copy = strdup(text), *at = copy;
	const char **lines = calloc(strlen(text) + 1, sizeof(*lines));
	struct keel_out *out = copy && lines ? keel_out(mod) : NULL;
	uint32_t n = 0;

	while (out && *at) {
		lines[n++] = at;
		at += strcspn(at, "\n");
		if (*at)
			*at++ = '\0';
	}
	if (out) {
		keel_put_strings(out, "lines", lines, n);
		keel_reply_out(req, out);
	} else {
		keel_reply(req, PBSE_INTERNAL, "no memory for the answer");
	}
	free(lines);
	free(copy);
}

static void owed_end(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	(void)arg;
	st->owed = NULL;
	changes_go_on(mod);
}

/* A request that is sent once more has made this image. */
static bool answered(const struct state *st, struct keel_mod *mod, struct keel_req *req, const char *token)
{
	if (!token || !st->token || strcmp(st->token, token) != 0)
		return false;
	if (st->image.refused)
		keel_reply(req, PBSE_SYSTEM, "%s", st->image.refused);
	else
		reply_lines(mod, req, st->text);
	keel_timer_cancel(st->owed);
	owed_end(mod, NULL);
	return true;
}

static void on_change(struct keel_mod *mod, struct keel_req *req)
{
	uint32_t n = 0;
	const char *const *args = keel_msg_strings(keel_req_body(req), "args", &n);
	const char *token = keel_msg_str(keel_req_body(req), "extend"), *verb = strrchr(keel_req_name(req), '.') + 1;
	struct change like = { .req = req, .who = keel_req_session(req)->who };
	struct keel_err err = { 0 };

	if (token && *token && strspn(token, "0123456789abcdef") == strlen(token))
		like.token = token;
	if (answered(mod->state, mod, req, like.token))
		return;
	if (args && n > 0 && args[0][0])
		like.name = args[0];
	like.kind = *verb == 'l' ? CHANGE_LOAD : *verb == 'u' ? CHANGE_UNLOAD : like.name ? CHANGE_RELOAD : CHANGE_CONFIGURE;
	if (change_request(mod, &like, &err) < 0)
		keel_reply(req, PBSE_SYSTEM, "%s", err.text);
}

#define REQUEST(verb, text)                                                                        \
	static const struct keel_request_def verb##_request = { .size = sizeof(verb##_request),    \
								.roles = KEEL_MANAGERS,            \
								.name = "keelson." #verb,          \
								.doc = (text),                     \
								.flags = KEEL_REQUEST_READ | KEEL_REQUEST_WAITS, \
								.handler = on_change }
REQUEST(reload, "read the configuration again and make the running set that of it; or one module anew");
REQUEST(load, "load a module, with its group of the configuration");
REQUEST(unload, "unload a module, until the next reload of the configuration");

static const struct keel_contrib contribs[] = {
	KEEL_ROW(KIND, files_kind),
	KEEL_ROW(REQUEST, reload_request),
	KEEL_ROW(REQUEST, load_request),
	KEEL_ROW(REQUEST, unload_request),
};

static void on_hup(struct keel_mod *mod, void *arg)
{
	const struct state *st = mod->state;
	const struct change *c = st->first ? st->first->next : NULL;
	struct keel_err err;

	(void)arg;
	while (c && c->req)
		c = c->next;
	if (c) /* one waits already */
		return;
	if (change_request(mod, &(struct change){ .kind = CHANGE_CONFIGURE, .who = "SIGHUP" }, &err) < 0)
		keel_log(mod, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "Module", "keelson", "reload of the configuration refused: %s", err.text);
}

/* ---- from the image before, and for the next one ------------------------------------------------------------------ */
static void answer_read(struct state *st)
{
	const char **at[] = { &st->token, &st->object, &st->kind, &st->who };
	char *rest;

	rest = st->answer = text_read(st->sets, "answer");
	for (size_t i = 0; i < KEEL_COUNT(at) && rest; i++)
		*at[i] = strsep(&rest, "\n");
	st->text = rest;
}

static void answer_log(struct keel_mod *mod)
{
	const struct state *st = mod->state;

	if (st->text)
		keel_log(mod, st->image.refused ? KEEL_LOG_ERROR | KEEL_LOG_FORCE : KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "Module", st->object,
			 st->image.refused ? "%s, asked for by %s, refused: %s" : "%s, asked for by %s: done", st->kind, st->who, st->image.refused);
}

/* Pids of the children of this thread, as of now; the caller frees it. NULL: none. */
static char *children_read(void)
{
	char path[64], *pids = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	f = fopen(path, "re");
	if (f && getline(&pids, &size, f) <= 0) {
		free(pids);
		pids = NULL;
	}
	if (f)
		fclose(f);
	return pids;
}

/* Children of the images before have ended, or end by the end of their pipes. Those that live on are looked at again. */
static void children_reap(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	char *kept = st->children;

	(void)arg;
	st->reaper = NULL;
	for (char *at = st->children, *end; at; at = end) {
		const long pid = strtol(at, &end, 10);

		if (pid <= 0)
			break;
		if (waitpid((pid_t)pid, NULL, WNOHANG) == 0) {
			memmove(kept, at, (size_t)(end - at));
			kept += end - at;
		}
	}
	if (kept == st->children)
		return;
	*kept = '\0';
	st->reaper = keel_timer(mod, CHILDREN_MS, children_reap, NULL);
}

/* ---- the module --------------------------------------------------------------------------------------------------- */
static void ready(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (st->ready || !keel_has(renew))
		return;
	st->ready = true;
	st->start_us = keel_clock_us(mod) - st->start_us;
	st->start_jobs = keel_count(mod, "job");
	answer_log(mod);
	if (st->token && *st->token)
		st->owed = keel_timer(mod, OWED_MS, owed_end, NULL);
	(void)change_request(mod, &(struct change){ .kind = CHANGE_SERVED, .who = "the start" }, NULL);
}

static keel_verdict on_server_start(struct keel_call *c, const struct keel_ev_server_start *ev)
{
	(void)ev;
	ready(c->mod);
	return KEEL_NEXT;
}

static keel_verdict on_host_start(struct keel_call *c, const struct keel_ev_host_start *ev)
{
	(void)ev;
	ready(c->mod);
	return KEEL_NEXT;
}

/* A daemon without jobs has no point that says so: its modules have started by then. */
static void login_start(struct keel_mod *mod, void *arg)
{
	(void)arg;
	ready(mod);
}

static keel_verdict on_server_stop(struct keel_call *c, const struct keel_ev_server_stop *ev)
{
	const struct state *st = keel_state(c);

	(void)ev;
	if (!st->going)
		changes_refuse(c->mod, "nothing was changed: the daemon stops");
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(server_start, on_server_start),
	KEEL_TAP(host_start, on_host_start),
	KEEL_TAP(server_stop, on_server_stop),
};

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)err;
	st->start_us = keel_clock_us(mod);
	st->children = children_read(); /* no module of this image has started any */
	return 0;
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	if (!keel_has(renew))
		return 0;
	keel_renew_image(mod, &st->image);
	st->sets = set_path(keel_home(mod), keel_daemon(mod) & KEEL_SERVER ? "server_priv/sets" : "mom_priv/sets");
	st->set = st->image.set ? strdup(st->image.set) : NULL;
	if (!st->sets || (st->image.set && !st->set))
		return keel_error(err, -ENOMEM, "no memory");
	if (st->image.renewed) {
		answer_read(st);
		children_reap(mod, NULL);
	}
	if (keel_daemon(mod) == KEEL_LOGIN && keel_defer(mod, login_start, NULL) < 0)
		return keel_error(err, -ENOMEM, "no memory");
	return keel_renew_on_hup(mod, on_hup, NULL) < 0 ? keel_error(err, -EBUSY, "another module obeys SIGHUP") : 0;
}

static void stop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	keel_timer_cancel(st->reaper);
	keel_timer_cancel(st->owed);
	st->reaper = st->owed = NULL;
	st->stopping = true;
	if (!keel_has(renew))
		return;
	(void)keel_renew_on_hup(mod, NULL, NULL);
	changes_drop(mod);
}

static void fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	free(st->sets);
	free(st->set);
	free(st->answer);
	free(st->children);
}

KEEL_MODULE(.name = "reload", .version = "1.0", .vendor = "Keelson",
	    .summary = "changes of what runs: load, unload, reload, SIGHUP", .roles = KEEL_ANY, .flags = KEEL_MOD_NO_PROCESS,
	    .state_size = sizeof(struct state), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps), .init = init, .start = start, .stop = stop, .fini = fini);
