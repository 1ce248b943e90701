/* SPDX-License-Identifier: Apache-2.0
 *
 * life.c - a module's process begins and ends; the functions of its descriptor.
 *
 *   DOWN: open -> described -> READY: conf, init, the replay, start -> SERVING -> ended: DOWN
 *
 * The loader waits for each step, as the daemon is starting then. After that all these messages are sent at
 * once when the next process begins, and no one waits. Until it serves, calls fail by the policy of their taps.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isolation.h"

static void process_send(struct isolated *iso)
{
	struct keel_mod *m = iso->st->mod;

	tell_begin(iso, DOWN_open, (int64_t)TALK_VERSION, iso->path, (int64_t)keel_daemon(m), keel_home(m), keel_exec_dir(m),
		   keel_server_name(m), keel_host_name(m), keel_version_text(m));
}

/* ---- steps: a code and a text --------------------------------------------------------------------- */
static int32_t step_take(struct talk_in *in, const char *why, struct keel_err *err)
{
	int64_t code = in ? take_int(in) : -ECHILD, pbse = in ? take_int(in) : 0;
	const char *text = in ? take_str(in) : why;

	if (in && (in->bad || code > 0 || code < -4095))
		code = -EPROTO;
	if (code != 0 && err) {
		err->code = (int32_t)pbse;
		snprintf(err->text, sizeof(err->text), "%s", text ? text : "");
	}
	return (int32_t)code;
}

struct step {
	struct isolated *iso;
	bool done, opens;
	int32_t ret;
	struct keel_err *err;
};

static void step_done(struct isolated *iso, void *arg, struct talk_in *in, const char *why)
{
	struct step *s = arg;

	s->ret = s->opens && in ? described(iso, in, s->err) : step_take(in, why, s->err);
	s->done = true;
}

static bool is_done(void *arg)
{
	return ((const struct step *)arg)->done;
}

/* The message that was begun is sent; its answer is waited for. */
static int32_t step_wait(struct isolated *iso, struct step *s, int64_t timeout_ms, struct keel_err *err)
{
	int32_t ret;

	s->err = err;
	if (!iso->process || !tell(iso, step_done, s))
		return keel_error(err, -ECHILD, "%s", iso->why[0] ? iso->why : "its process is not there");
	ret = keel_supervise_wait(iso->process, is_done, s, timeout_ms);
	if (s->done)
		return s->ret;
	owed_forget(iso, s);
	return keel_error(err, ret, ret == -ETIMEDOUT ? "its process gave no answer for %lld ms" : "its process ended",
			  (long long)timeout_ms);
}

static int32_t step(struct isolated *iso, enum down what, int64_t timeout_ms, struct keel_err *err)
{
	struct step s = { .iso = iso };

	tell_begin(iso, what);
	return step_wait(iso, &s, timeout_ms, err);
}

/* ---- the next process -------------------------------------------------------------------------------- */
/* False: it could not. Its end is on the way, with its own words. */
static bool step_agreed(struct isolated *iso, int32_t ret, const struct keel_err *err)
{
	char why[256];

	if (ret == 0 || ret == -ECHILD)
		return ret == 0;
	snprintf(why, sizeof(why), "it could not be started: %s", err->text);
	keel_supervise_give_up(iso->process, why);
	return false;
}

static void agreed(struct isolated *iso, void *arg, struct talk_in *in, const char *why)
{
	struct keel_err err = { .code = 0 };

	(void)arg;
	step_agreed(iso, step_take(in, why, &err), &err);
}

static void serves(struct isolated *iso)
{
	iso->phase = SERVING;
	iso->started = true;
	keel_supervise_up(iso->process);
}

static void started(struct isolated *iso, void *arg, struct talk_in *in, const char *why)
{
	struct keel_err err = { .code = 0 };

	(void)arg;
	if (!step_agreed(iso, step_take(in, why, &err), &err))
		return;
	serves(iso);
	iso_log(iso, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "its process runs again; events told before it heard what there is: %u",
		iso->notes_lost);
	iso->notes_lost = 0;
}

static void opened_again(struct isolated *iso, void *arg, struct talk_in *in, const char *why)
{
	struct keel_err err = { .code = 0 };

	(void)arg, (void)why;
	if (!in || !step_agreed(iso, described(iso, in, &err), &err))
		return;
	iso->phase = READY;
	tell_begin(iso, DOWN_conf, iso->conf.data, iso->conf.len);
	tell(iso, agreed, NULL);
	tell_begin(iso, DOWN_init);
	tell(iso, agreed, NULL); /* one that fails does nothing that comes behind */
	if (keel_replay(iso->mod) < 0)
		keel_supervise_give_up(iso->process, "no memory to tell its process what there is");
	tell_begin(iso, DOWN_start);
	tell(iso, started, NULL);
}

/* The first process gets its messages from life_open(). */
static void begins(struct keel_mod *m, void *arg)
{
	struct isolated *iso = arg;

	(void)m;
	if (!iso->started)
		return;
	process_send(iso);
	tell(iso, opened_again, NULL);
}

static void ended(struct keel_mod *m, void *arg, const char *why, int64_t again_ms)
{
	struct isolated *iso = arg;
	const char *tap = calls_tap(iso);
	uint32_t failed = calls_asked(iso);
	char next[160] = "this was one time too many, its taps are not called any more until the module is reloaded";

	(void)m;
	iso->phase = DOWN;
	iso->life++;
	snprintf(iso->why, sizeof(iso->why), "%s", why);
	owed_fail(iso, why);
	calls_lose(iso);
	walk_end(iso);
	if (!iso->started || iso->leaves)
		return;
	if (again_ms >= 0)
		snprintf(next, sizeof(next), "it is started again in %lld ms", (long long)again_ms);
	iso_log(iso, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "%s.%s: %s; calls failed: %u; %s", iso->name, tap, why, failed, next);
	if (again_ms < 0)
		keel_bench(iso->mod);
}

/* ---- the first process ------------------------------------------------------------------------------- */
int32_t life_open(struct isolated *iso, struct keel_err *err)
{
	struct step s = { .iso = iso, .opens = true };
	char *program = NULL, *name = NULL;
	const char *argv[3] = { NULL };
	struct keel_supervise_opts o = { .size = sizeof(o), .profile = KEEL_PROFILE_MODULE, .name = iso->name, .argv = argv,
					 .user = iso->user, .memory = iso->limits.memory,
					 .deadline_ms = iso->limits.deadline, .start_ms = START_MS,
					 .deaths = iso->limits.deaths, .within_ms = iso->limits.within, .begins = begins,
					 .frame = heard, .ended = ended, .arg = iso };
	int32_t ret = -ENOMEM;
	char why[300];

	if (asprintf(&program, "%s/libexec/keelson/keelson-modhost", keel_exec_dir(iso->st->mod)) > 0 &&
	    asprintf(&name, "--name=%s", iso->name) > 0) {
		argv[0] = program;
		argv[1] = name;
		iso->process = keel_supervise_start(iso->st->mod, &o, err);
		ret = -ECHILD;
	}
	if (iso->process) {
		process_send(iso);
		ret = step_wait(iso, &s, START_MS, err);
	}
	free(program);
	free(name);
	if (ret == 0)
		iso->phase = READY;
	if (ret != -ECHILD && ret != -ETIMEDOUT)
		return ret;
	snprintf(why, sizeof(why), "%s", err->text);
	return keel_error(err, ret, "module %s cannot be opened: %s", iso->name, why);
}

int32_t life_check(struct isolated *iso, const void *conf, struct keel_err *err)
{
	struct talk values = { .data = NULL };
	struct step s = { .iso = iso };
	int32_t ret;

	talk_conf(&values, iso->rules, iso->desc.n_conf, conf);
	tell_begin(iso, DOWN_conf, values.data, values.len);
	ret = step_wait(iso, &s, START_MS, err);
	free(values.data);
	return ret;
}

int32_t life_init(struct keel_mod *m, struct keel_err *err)
{
	struct isolated *iso = isolated_of(m);

	iso->conf.len = 0; /* what it runs with, for the next process */
	talk_conf(&iso->conf, iso->rules, iso->desc.n_conf, m->conf);
	return step(iso, DOWN_init, START_MS, err);
}

int32_t life_start(struct keel_mod *m, struct keel_err *err)
{
	struct isolated *iso = isolated_of(m);
	int32_t ret = step(iso, DOWN_start, START_MS, err);

	if (ret == 0)
		serves(iso);
	return ret;
}

/* ---- the end ------------------------------------------------------------------------------------------- */
/* A process that does not say is not busy. */
int32_t life_busy(struct keel_mod *m, struct keel_err *err)
{
	struct isolated *iso = isolated_of(m);
	int32_t ret = iso->phase == SERVING ? step(iso, DOWN_busy, LEAVE_MS, err) : 0;

	return ret == -ETIMEDOUT || ret == -ECHILD ? 0 : ret;
}

/* It will be ended anyway: one that hangs is waited for once. */
static void leave(struct isolated *iso, enum down what)
{
	if (iso->phase != DOWN && step(iso, what, LEAVE_MS, NULL) == -ETIMEDOUT)
		iso->phase = DOWN;
}

void life_stop(struct keel_mod *m)
{
	struct isolated *iso = isolated_of(m);

	iso->leaves = true;
	leave(iso, DOWN_stop);
}

void life_fini(struct keel_mod *m)
{
	struct isolated *iso = isolated_of(m);

	leave(iso, DOWN_fini);
	life_close(iso);
}

void life_close(struct isolated *iso)
{
	iso->leaves = true;
	keel_supervise_stop(iso->process);
	iso->process = NULL;
	if (iso->phase != DOWN || iso->owed)
		ended(iso->st->mod, iso, "its module is being stopped", -1);
}
