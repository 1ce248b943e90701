/* SPDX-License-Identifier: Apache-2.0
 *
 * renew.c - another image of this daemon, with a way back; and the API group "renew", for a module that changes what runs.
 *
 *   api_go(): what is in flight ends -> what is kept is stored -> exec --set NEXT --back BACK -> ready
 *
 * When the next image does not get ready, it executes the set BACK, with the error: --set BACK --refused TEXT.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "link/links.h"
#include "log/log.h"
#include "loop/loop.h"
#include "main/inside.h"
#include "request/router.h"
#include "util/err.h"
#include "util/file.h"
#include "util/text.h"

#define SELF "/proc/self/exe"
#define READY_S 30    /* for the next image */
#define DRAIN_MS 5000 /* for what is in flight */
#define TEXT_BYTES (1u << 20)
#define WORDS 24      /* of a command line, besides --set of the administrator's */

/* How this daemon was called, with the set, unless that is NULL, and an option with it. There is room for 8 more words. The
 * array is malloc'ed, its words are the caller's and d's. NULL without memory. */
static const char **words_make(const struct daemon *d, const char *set, const char *option, const char *value)
{
	const struct options *o = d->options;
	const char **words = calloc(WORDS + 2 * o->n_set, sizeof(*words));
	size_t n = 0;

	if (words == NULL)
		return NULL;
	words[n++] = "keelsond";
	words[n++] = "--conf";
	words[n++] = o->conf_file;
	if (o->home != NULL) {
		words[n++] = "--home";
		words[n++] = d->parts.home;
	}
	for (uint32_t i = 0; i < ROLES; i++) {
		if (o->roles & 1u << i) {
			words[n++] = "--role";
			words[n++] = role_words[i];
		}
	}
	for (size_t i = 0; i < o->n_set; i++) {
		words[n++] = "--set";
		words[n++] = o->set[i];
	}
	words[n++] = "--foreground"; /* it is where it is to be */
	if (set != NULL) {
		words[n++] = "--set";
		words[n++] = set;
		words[n++] = option;
		words[n++] = value;
	}
	return words;
}

/* ---- peers ---------------------------------------------------------------------------------------------------- */
static char *links_file(const struct daemon *d)
{
	return text_format("%s/%s/links", d->parts.home, d->parts.daemon & KEEL_SERVER ? "server_priv" : "mom_priv");
}

void renew_links_leave(struct daemon *d)
{
	char *file = links_file(d);
	struct buf text;

	links_goodbye(d->parts.links);
	buf_init(&text);
	links_handover(d->parts.links, &text);
	if (file == NULL || text.failed || file_write_durable(file, text.len > 0 ? text.data : "", text.len, 0600) < 0)
		log_add(d->parts.log, KEEL_LOG_ERROR, "Svr", d->parts.daemon_name,
			"which hosts are up cannot be written into %s: they will be found again", file != NULL ? file : "a file");
	buf_fini(&text);
	free(file);
}

void renew_links_expect(struct daemon *d)
{
	const struct options *o = d->options;
	char *file = o->back != NULL || o->refused != NULL ? links_file(d) : NULL, *text = NULL;
	size_t len;

	if (file != NULL && file_read(file, TEXT_BYTES, &text, &len) == 0)
		links_expect(d->parts.links, text);
	free(text);
	free(file);
}

/* ---- exec --------------------------------------------------------------------------------------------------- */
/* They would end the image that comes, until it watches them. */
static void signals_block(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

static bool once(void *arg)
{
	bool *turned = arg, was = *turned;

	*turned = true;
	return was;
}

void renew_signals_hold(struct daemon *d)
{
	bool turned = false;

	signals_block();
	loop_run_until(d->parts.loop, once, &turned, 0);
}

void renew_exec(struct daemon *d)
{
	const char **words = words_make(d, d->next, "--back", d->back);
	struct handed handed = d->locks;
	char **env;

	handed_add(&handed, HANDED_CLIENT, router_listen_fd(d->parts.router));
	env = handed_env(&handed, notify_socket());
	if (words == NULL || env == NULL)
		return;
	if (d->hup)
		raise(SIGHUP); /* for the next image */
	fflush(NULL);
	handed_pass(&handed);
	execve(SELF, (char *const *)(uintptr_t)words, env);
}

/* ---- the way back ------------------------------------------------------------------------------------------- */
static struct {
	const char **words; /* the last one is the error */
	const char **reason;
	char **env;
	struct handed handed;
} back;

static void back_go(const char *reason)
{
	*back.reason = reason;
	alarm(0); /* it would outlive the exec, and end the image that comes */
	signals_block();
	handed_pass(&back.handed);
	execve(SELF, (char *const *)(uintptr_t)back.words, back.env);
}

static void crashed(void)
{
	back_go("nothing was changed: with the new set the daemon crashed while it started; its log has the last words");
}

static void late(int signum)
{
	(void)signum;
	crash_say("keelsond: the new set is not ready in time; the last one that served is started again. It stood", NULL);
	crash_say_where();
	back_go("nothing was changed: with the new set the daemon was not ready in time; its log has where it stood");
}

int renew_supervise(struct daemon *d, struct keel_err *err)
{
	struct sigaction act = { .sa_handler = late, .sa_flags = SA_NODEFER };

	if (d->options->back == NULL)
		return 0;
	back.handed = d->locks;
	/* The router closes it when a start fails. */
	handed_add(&back.handed, HANDED_CLIENT, fcntl(handed_find(&d->handed, HANDED_CLIENT), F_DUPFD_CLOEXEC, 3));
	back.words = words_make(d, d->options->back, "--refused", "");
	back.env = handed_env(&back.handed, notify_socket());
	if (back.words == NULL || back.env == NULL)
		return err_set(err, -ENOMEM, "no memory");
	for (back.reason = back.words; back.reason[1] != NULL; back.reason++)
		;
	sigaction(SIGALRM, &act, NULL);
	alarm(READY_S);
	crash_then = crashed;
	return 0;
}

void renew_back(const struct keel_err *why)
{
	struct keel_err text;

	alarm(0);
	crash_then = NULL;
	if (back.words == NULL)
		return;
	err_set(&text, 0, "nothing was changed: with the new set the daemon did not start: %.400s", why->text);
	back_go(text.text);
}

void renew_ready(void)
{
	alarm(0);
	crash_then = NULL;
	close(handed_find(&back.handed, HANDED_CLIENT));
}

/* ---- the API group ---------------------------------------------------------------------------------------- */
static struct daemon *daemon_with(struct keel_mod *m)
{
	return daemon_of(owner_of(m)->parts);
}

static void api_image(struct keel_mod *m, struct keel_image *ret)
{
	const struct daemon *d = daemon_with(m);
	const struct options *o = d->options;

	*ret = (struct keel_image){ .size = sizeof(*ret), .renewed = o->back != NULL || o->refused != NULL, .conf_file = o->conf_file,
				    .set = d->set, .refused = o->refused };
}

static const char **api_command(struct keel_mod *m)
{
	return words_make(daemon_with(m), NULL, NULL, NULL);
}

static void draft_drop(struct daemon *d)
{
	if (d->draft.modules != NULL)
		modules_draft_drop(d->parts.modules, &d->draft);
	settings_destroy(d->draft_settings);
	conf_destroy(d->draft_conf);
	d->draft_settings = NULL;
	d->draft_conf = NULL;
}

static int32_t api_draft(struct keel_mod *m, const char *set, const struct keel_draft **ret, struct keel_err *err)
{
	struct daemon *d = daemon_with(m);
	int code;

	draft_drop(d);
	code = settings_read(d->options, set, &d->draft_conf, &d->draft_settings, err);
	if (code == 0 && (strcmp(d->draft_settings->top->home, d->parts.home) != 0 || d->draft_settings->roles != d->settings->roles))
		code = err_set(err, -EBUSY, "home and roles of a daemon change at its start only: stop it first, or take the "
			       "change back");
	if (code == 0)
		code = modules_draft(d->parts.modules, d->draft_conf, &d->draft, err);
	if (code < 0) {
		draft_drop(d);
		return code;
	}
	d->draft.restart |= settings_differ(d->settings, d->draft_settings) != NULL;
	*ret = &d->draft;
	return 0;
}

static int32_t api_apply(struct keel_mod *m, struct keel_err *err)
{
	struct daemon *d = daemon_with(m);
	struct conf *old = d->parts.conf;
	int ret = modules_apply(d->parts.modules, err);

	if (ret == 0) {
		settings_take(d->settings, d->draft_settings);
		log_set_mask(d->parts.log, (uint32_t)d->settings->log->events, false);
		log_set_json(d->parts.log, d->settings->log->format != 0);
		d->draft_settings = NULL;
		d->parts.conf = d->draft_conf;
		d->draft_conf = old;
	}
	draft_drop(d);
	return ret;
}

static void api_drop(struct keel_mod *m)
{
	draft_drop(daemon_with(m));
}

static int32_t api_busy(struct keel_mod *m, const char *name, struct keel_err *err)
{
	return modules_busy(owner_of(m)->parts->modules, name, err);
}

static void drained(void *arg)
{
	struct daemon *d = arg;

	loop_stop(d->parts.loop);
}

static int32_t api_go(struct keel_mod *m, const char *next, const char *served, struct keel_err *err)
{
	struct daemon *d = daemon_with(m);

	if (d->stopping || d->next != NULL)
		return err_set(err, -ECANCELED, "the daemon stops");
	d->back = strdup(served);
	d->next = d->back != NULL ? strdup(next) : NULL;
	if (d->next == NULL)
		return err_set(err, -ENOMEM, "no memory");
	notify_send("RELOADING=1");
	d->drain_until_ms = loop_now_ms(d->parts.loop) + DRAIN_MS;
	router_drain(d->parts.router, d->drain_until_ms, drained, d);
	return 0;
}

static int32_t api_on_hup(struct keel_mod *m, keel_fn *fn, void *arg)
{
	struct daemon *d = daemon_with(m);

	if (d->hup_owner != NULL && d->hup_owner != owner_of(m))
		return -EBUSY;
	if (d->hup_owner != NULL)
		d->hup_owner->live--;
	d->hup_owner = fn != NULL ? owner_of(m) : NULL;
	d->hup_fn = fn;
	d->hup_arg = arg;
	if (fn != NULL)
		d->hup_owner->live++;
	return 0;
}

void renew_end(struct daemon *d)
{
	draft_drop(d);
	free(d->set);
	free(d->next);
	free(d->back);
	d->set = d->next = d->back = NULL;
}

const struct keel_renew_api renew_api = {
	.size = sizeof(renew_api),
	.image = api_image,
	.command = api_command,
	.draft = api_draft,
	.apply = api_apply,
	.drop = api_drop,
	.trust = file_trust,
	.guard = file_guard,
	.needs = modules_need,
	.busy = api_busy,
	.go = api_go,
	.on_hup = api_on_hup,
};
