/* SPDX-License-Identifier: Apache-2.0
 *
 * renew.c - see renew.h.
 *
 *   draft of the configuration -> set -> a child opens it and calls init() -> the answer is written into the set
 *   -> what is in flight ends, what is kept is stored -> exec --set NEW -> ready: the old set is removed
 *
 * The set that served is executed once when the new one does not get ready; its handover then has the reason, which is
 * what the administrator's request is answered with.
 */
#include "main/renew.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "link/links.h"
#include "log/log.h"
#include "loop/loop.h"
#include "main/handover.h"
#include "main/set.h"
#include "object/objects.h"
#include "request/router.h"
#include "util/err.h"
#include "util/file.h"
#include "util/text.h"

#define SELF "/proc/self/exe"
#define LOOK_MS 5
#define CHECK_MS 30000 /* for the child */
#define READY_S 30     /* for the next image */
#define PAUSE_SAID_MS 1000
#define CHILDREN_MS 200
#define DRAIN_MS 5000  /* for what is in flight */
#define TEXT_BYTES (1u << 20)
#define WORDS 16       /* of a command line, besides --set of the administrator's */

extern char **environ;

struct renewal {
	struct parts *parts;
	char *set, *token;
	pid_t child;
	int64_t until_ms;
	struct loop_timer *timer;
};

/* ---- command lines --------------------------------------------------------------------------------------- */
/* How this daemon was called, with the set. The array is malloc'ed, its words are the caller's and d's. */
static const char **words_make(const struct daemon *d, const char *set)
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
	for (uint32_t role = KEEL_SERVER; role <= KEEL_MOM; role <<= 1) {
		if (o->roles & role) {
			words[n++] = "--role";
			words[n++] = role == KEEL_SERVER ? "server" : "mom";
		}
	}
	for (size_t i = 0; i < o->n_set; i++) {
		words[n++] = "--set";
		words[n++] = o->set[i];
	}
	words[n++] = "--foreground"; /* it is where it is to be */
	words[n++] = "--set";
	words[n++] = set;
	return words;
}

/* ---- the check in a child ---------------------------------------------------------------------------------- */
static int child_spawn(const struct daemon *d, const char *set, pid_t *ret_pid)
{
	const char **words = words_make(d, set);
	char *errors = set_path(set, "errors");
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	sigset_t none;
	size_t n = 0;
	int ret;

	if (words == NULL || errors == NULL) {
		free(words);
		free(errors);
		return -ENOMEM;
	}
	while (words[n] != NULL)
		n++;
	words[n++] = "--check";
	if (d->set != NULL) {
		words[n++] = "--from";
		words[n] = d->set;
	}
	sigemptyset(&none);
	posix_spawnattr_init(&at);
	posix_spawnattr_setsigmask(&at, &none);
	posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&fa);
	ret = posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDWR, 0);
	if (ret == 0)
		ret = posix_spawn_file_actions_adddup2(&fa, 0, 1);
	if (ret == 0)
		ret = posix_spawn_file_actions_addopen(&fa, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (ret == 0)
		ret = posix_spawn_file_actions_addclosefrom_np(&fa, 3);
	if (ret == 0)
		ret = posix_spawn(ret_pid, SELF, &fa, &at, (char *const *)(uintptr_t)words, environ);
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&at);
	free(words);
	free(errors);
	return -ret;
}

static void renewal_free(struct daemon *d)
{
	struct renewal *r = d->renewal;

	if (r == NULL)
		return;
	d->renewal = NULL;
	loop_timer_cancel(r->timer);
	if (r->child > 0) {
		kill(r->child, SIGKILL);
		waitpid(r->child, NULL, 0);
	}
	if (r->set != NULL && d->next == NULL)
		set_remove(r->set);
	free(r->set);
	free(r->token);
	free(r);
}

static void fail(struct daemon *d, int ret, const char *why)
{
	renewal_free(d);
	modules_renewal_failed(d->parts.modules, ret, why);
	if (d->hup)
		raise(SIGHUP);
	d->hup = false;
}

/* What the child said, and how it ended when that was not by itself. */
static void child_failed(struct daemon *d, int end)
{
	char *text = set_read(d->renewal->set, "errors"), *line = text != NULL ? strstr(text, "keelsond: ") : NULL;
	struct keel_err why;

	if (line != NULL)
		line += strlen("keelsond: ");
	if (line != NULL)
		line[strcspn(line, "\n")] = '\0';
	if (WIFSIGNALED(end))
		err_set(&why, 0, "nothing was changed: the check of the new set ended by signal %d (%s)%s%s", WTERMSIG(end),
			strsignal(WTERMSIG(end)), line != NULL && *line != '\0' ? ": " : "", line != NULL ? line : "");
	else
		err_set(&why, 0, "%s", line != NULL && *line != '\0' ? line : "the check of the new set gave no reason");
	fail(d, -EINVAL, why.text);
	free(text);
}

/* The answers that the next image, or this set once more, will have for the administrator. */
static int answers_write(const struct daemon *d, const struct renewal *r, const char *text, const char *subject)
{
	const struct {
		const char *set, *name, *text;
	} files[] = {
		{ r->set, "back", d->set },
		{ r->set, "subject", subject },
		{ d->set, "subject", subject },
		{ r->set, "token", r->token },
		{ r->set, "done", text },
		{ d->set, "token", r->token },
		{ d->set, "refused", "nothing was changed: with the new set the daemon crashed while it started; its log has the "
				     "last words" },
		{ d->set, "late", "nothing was changed: with the new set the daemon was not ready in time; its log has where it "
				  "stood" },
	};
	int ret = 0;

	for (size_t i = 0; i < KEEL_COUNT(files) && ret == 0; i++)
		ret = set_write(files[i].set, files[i].name, files[i].text != NULL ? files[i].text : "");
	return ret;
}

void renew_answer_read(struct daemon *d)
{
	d->back = set_read(d->set, "back");
	d->token = set_read(d->set, "token");
	d->answer = set_read(d->set, "refused");
	d->refused = d->answer != NULL;
	if (d->answer == NULL)
		d->answer = set_read(d->set, "done");
	if (d->refused)
		set_unlink(d->set, "back"); /* it is what was gone back to */
}

static void drained(void *arg)
{
	struct daemon *d = arg;

	loop_stop(d->parts.loop);
}

/* How long requests will wait, when that is worth a word: as the last start took, by the objects there are now. */
static void pause_describe(const struct daemon *d, struct buf *out)
{
	int64_t ms = d->start_ms * (int64_t)(1 + objects_total(d->parts.objects)) / (int64_t)(1 + d->start_objects);

	log_add(d->parts.log, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "Svr", d->parts.daemon_name,
		"another set of modules: requests will wait for about %lld ms", (long long)ms);
	buf_str(out, "");
	if (ms >= PAUSE_SAID_MS)
		buf_printf(out, "the daemon restarts: requests wait for about %lld s\n", (long long)(ms + 500) / 1000);
}

static void child_agreed(struct daemon *d)
{
	struct renewal *r = d->renewal;
	char *report = set_read(r->set, "report");
	struct keel_err err = { 0 };
	struct buf text, subject;
	int ret;

	buf_init(&text);
	buf_init(&subject);
	modules_subject(d->parts.modules, &subject);
	pause_describe(d, &text);
	ret = report == NULL ? err_set(&err, -EIO, "the check of the new set left no report") :
			       modules_agree(d->parts.modules, report, &text, &err);
	if (ret == 0 && (ret = answers_write(d, r, text.data, subject.data)) < 0)
		err_set(&err, ret, "cannot write into %s: %s", r->set, strerror(-ret));
	if (ret == 0 && (d->next = strdup(r->set)) == NULL)
		ret = err_set(&err, -ENOMEM, "no memory");
	if (ret == 0) {
		notify_send("RELOADING=1");
		d->drain_until_ms = loop_now_ms(d->parts.loop) + DRAIN_MS;
		router_drain(d->parts.router, d->drain_until_ms, drained, d);
	} else {
		fail(d, ret, err.text);
	}
	buf_fini(&text);
	buf_fini(&subject);
	free(report);
}

static void child_look(void *arg)
{
	struct daemon *d = arg;
	struct renewal *r = d->renewal;
	int end = 0;

	r->timer = NULL;
	if (waitpid(r->child, &end, WNOHANG) == 0) {
		if (loop_now_ms(d->parts.loop) < r->until_ms)
			r->timer = loop_timer(d->parts.loop, LOOK_MS, child_look, d);
		if (r->timer == NULL)
			fail(d, -ETIMEDOUT, "nothing was changed: the check of the new set does not end");
		return;
	}
	r->child = 0;
	if (WIFEXITED(end) && WEXITSTATUS(end) == 0)
		child_agreed(d);
	else
		child_failed(d, end);
}

void renew_stop(struct daemon *d)
{
	if (d->next != NULL) /* no more a check: requests are being answered */
		return;
	renewal_free(d);
	modules_changes_refuse(d->parts.modules, -ECANCELED, "nothing was changed: the daemon stops");
}

int renew_begin(struct parts *parts, const struct modules_ask *ask, const struct conf *conf, struct keel_err *err)
{
	struct daemon *d = daemon_of(parts);
	struct renewal *r;
	int ret;

	(void)conf; /* it is in d->fresh */
	if (d->stopping)
		return err_set(err, -ECANCELED, "nothing was changed: the daemon stops");
	r = calloc(1, sizeof(*r));
	if (r == NULL)
		return err_set(err, -ENOMEM, "no memory");
	d->renewal = r;
	r->parts = parts;
	r->until_ms = loop_now_ms(parts->loop) + CHECK_MS;
	ret = ask->token != NULL && (r->token = strdup(ask->token)) == NULL ? err_set(err, -ENOMEM, "no memory") : 0;
	r->set = d->fresh;
	d->fresh = NULL;
	if (ret == 0 && (ret = child_spawn(d, r->set, &r->child)) < 0)
		err_set(err, ret, "cannot check the new set: %s", strerror(-ret));
	if (ret == 0 && (r->timer = loop_timer(parts->loop, LOOK_MS, child_look, d)) == NULL)
		ret = err_set(err, -ENOMEM, "no memory");
	if (ret < 0)
		renewal_free(d);
	return ret;
}

const char *renew_made(struct parts *parts, const char *token, int *ret)
{
	const struct daemon *d = daemon_of(parts);

	if (d->token == NULL || strcmp(d->token, token) != 0)
		return NULL;
	*ret = d->refused ? -EIO : 0;
	return d->answer;
}

/* ---- peers ---------------------------------------------------------------------------------------------------- */
void renew_links_leave(struct daemon *d)
{
	const char *sets[] = { d->next, d->set };
	struct buf text;

	links_goodbye(d->parts.links);
	buf_init(&text);
	links_handover(d->parts.links, &text);
	buf_str(&text, "");
	for (size_t i = 0; i < KEEL_COUNT(sets); i++)
		if (text.failed || set_write(sets[i], "links", text.data) < 0)
			log_add(d->parts.log, KEEL_LOG_ERROR, "Svr", d->parts.daemon_name,
				"which hosts are up cannot be written into %s: they will be found again", sets[i]);
	buf_fini(&text);
}

void renew_links_expect(struct daemon *d)
{
	char *text = d->options->set_dir != NULL && d->answer != NULL ? set_read(d->set, "links") : NULL;

	if (text != NULL)
		links_expect(d->parts.links, text);
	free(text);
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

static void handed_fill(const struct daemon *d, int client, struct handed *h)
{
	*h = (struct handed){ .n = 0 };
	handed_add(h, HANDED_CLIENT, client);
	handed_add(h, HOME_LOCK_SERVER, d->locks.server);
	handed_add(h, HOME_LOCK_MOM, d->locks.mom);
}

void renew_exec(struct daemon *d)
{
	const char **words = words_make(d, d->next);
	struct handed handed;
	char **env;

	handed_fill(d, router_listen_fd(d->parts.router), &handed);
	env = handed_env(&handed, notify_socket());
	if (words == NULL || env == NULL)
		return;
	if (d->hup)
		raise(SIGHUP); /* for the next image */
	fflush(NULL);
	handed_pass(&handed);
	execve(SELF, (char *const *)(uintptr_t)words, env);
}

/* Children of the image before have ended, or end by the end of their pipes; one of a module of this image is not among
 * them. Those that live on are looked at again. */
static void children_reap(void *arg)
{
	struct daemon *d = arg;
	char *kept = d->children;

	d->children_timer = NULL;
	for (char *at = d->children, *end; at != NULL; at = end) {
		const long pid = strtol(at, &end, 10);

		if (pid <= 0)
			break;
		if (waitpid((pid_t)pid, NULL, WNOHANG) == 0) {
			memmove(kept, at, (size_t)(end - at));
			kept += end - at;
		}
	}
	if (kept == d->children)
		return;
	*kept = '\0';
	d->children_timer = loop_timer(d->parts.loop, CHILDREN_MS, children_reap, d);
}

void renew_children_reap(struct daemon *d)
{
	char path[64];
	size_t len;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	if (d->answer != NULL && file_read(path, TEXT_BYTES, &d->children, &len) == 0)
		children_reap(d);
}

/* ---- the way back ------------------------------------------------------------------------------------------- */
static struct {
	const char **words;
	char **env;
	struct handed handed;
	char *late, *refused; /* names of files in the set that served */
} back;

static void back_take(void)
{
	alarm(0); /* it would outlive the exec, and end the image that comes */
	signals_block();
	handed_pass(&back.handed);
	execve(SELF, (char *const *)(uintptr_t)back.words, back.env);
}

static void late(int signum)
{
	(void)signum;
	crash_say("keelsond: the new set is not ready in time; the last one that served is started again. It stood", NULL);
	crash_say_where();
	(void)!rename(back.late, back.refused);
	back_take();
}

int renew_supervise(struct daemon *d, struct keel_err *err)
{
	struct sigaction act = { .sa_handler = late, .sa_flags = SA_NODEFER };

	if (d->back == NULL || d->refused)
		return 0;
	/* The router closes it when a start fails. */
	handed_fill(d, fcntl(handed_find(&d->handed, HANDED_CLIENT), F_DUPFD_CLOEXEC, 3), &back.handed);
	back.words = words_make(d, d->back);
	back.env = handed_env(&back.handed, notify_socket());
	back.late = set_path(d->back, "late");
	back.refused = set_path(d->back, "refused");
	if (back.words == NULL || back.env == NULL || back.late == NULL || back.refused == NULL)
		return err_set(err, -ENOMEM, "no memory");
	sigaction(SIGALRM, &act, NULL);
	alarm(READY_S);
	crash_then(back_take);
	return 0;
}

void renew_back(struct daemon *d, const struct keel_err *why)
{
	struct keel_err text;

	alarm(0);
	crash_then(NULL);
	if (back.words == NULL)
		return;
	err_set(&text, 0, "nothing was changed: with the new set the daemon did not start: %.400s", why->text);
	(void)set_write(d->back, "refused", text.text);
	back_take();
}

void renew_ready(struct daemon *d)
{
	char *subject = d->answer != NULL ? set_read(d->set, "subject") : NULL, *text = subject != NULL ? strchr(subject, ' ') : NULL;

	if (text != NULL) {
		*text++ = '\0';
		log_add(d->parts.log, d->refused ? KEEL_LOG_ERROR | KEEL_LOG_FORCE : KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "Module",
			subject, d->refused ? "%s, refused: %s" : "%s: done", text, d->answer);
	}
	free(subject);
	alarm(0);
	crash_then(NULL);
	close(handed_find(&back.handed, HANDED_CLIENT));
	if (d->set != NULL && set_served(d->sets, d->set) < 0)
		log_add(d->parts.log, KEEL_LOG_ERROR, "Svr", d->parts.daemon_name, "cannot note %s as the last set that served",
			d->set);
}

void renew_end(struct daemon *d)
{
	renewal_free(d);
	loop_timer_cancel(d->children_timer);
	d->children_timer = NULL;
	free(d->children);
	d->children = NULL;
	free(d->set);
	free(d->sets);
	free(d->next);
	free(d->back);
	free(d->token);
	free(d->answer);
	d->set = d->sets = d->next = d->back = d->token = d->answer = NULL;
}
