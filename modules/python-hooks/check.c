/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - is this a script? One process compiles those of all hooks and runs none of them, one after the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"

#define CHECK_MS 10000
#define CHECKS_MAX 100u

struct check {
	struct check *prev, *next;
	struct pack frame;
	check_done *done;
	void *arg;
	int64_t number;
};

struct checker {
	struct state *st;
	struct keel_supervised *program; /* NULL: there is none */
	bool ends;
	struct check *checks; /* the first one is being compiled */
	uint32_t n;
	struct keel_timer *timer; /* of the first one; idle */
};

static void check_free(struct check *c)
{
	pack_fini(&c->frame);
	free(c);
}

/* The first one is over. */
static void answer(struct checker *k, const char *why)
{
	struct check *c = k->checks;
	check_done *done = c->done;
	void *arg = c->arg;

	DL_DELETE(k->checks, c);
	k->n--;
	check_free(c);
	done(k->st, arg, why);
}

static void program_end(struct checker *k, const char *why)
{
	k->ends = true;
	if (k->program)
		keel_supervise_give_up(k->program, why);
}

static void late(struct keel_mod *mod, void *arg)
{
	struct checker *k = arg;

	(void)mod;
	k->timer = NULL;
	program_end(k, "it had nothing to do, or took too long");
	if (k->checks)
		answer(k, "it could not be compiled within 10 s");
}

static void first_send(struct checker *k)
{
	const struct conf *conf = k->st->mod->conf;

	keel_timer_cancel(k->timer);
	k->timer = keel_timer(k->st->mod, k->checks ? CHECK_MS : conf->idle, late, k);
	if (k->checks)
		keel_supervise_send(k->program, k->checks->frame.data, k->checks->frame.len);
}

/* ["checked", number, text | nothing] */
static void heard(struct keel_mod *mod, void *arg, const void *bytes, uint32_t len)
{
	struct checker *k = arg;
	struct value frame, what, number, text;
	char *why;

	(void)mod;
	if (k->ends)
		return;
	if (!k->checks || !value_read(bytes, len, &frame) || !value_nth(&frame, 0, &what) || !value_is(&what, "checked") ||
	    !value_nth(&frame, 1, &number) || number.kind != 'i' || number.i != k->checks->number ||
	    !value_nth(&frame, 2, &text) || (text.kind != 'n' && text.kind != 's')) {
		program_end(k, "it sent what is no message");
		return;
	}
	why = value_text(&text);
	answer(k, text.kind == 'n' ? NULL : why ? why : "no memory");
	free(why);
	first_send(k);
}

static bool program_start(struct checker *k);

static void ended(struct keel_mod *mod, void *arg, const char *why, int64_t again_ms)
{
	struct checker *k = arg;
	char text[300];

	(void)mod, (void)again_ms;
	keel_supervise_stop(k->program);
	k->program = NULL;
	keel_timer_cancel(k->timer);
	k->timer = NULL;
	snprintf(text, sizeof(text), "it could not be compiled: %s", why);
	if (!k->ends && k->checks) /* the one that was being compiled */
		answer(k, text);
	if (k->checks && !k->program)
		program_start(k);
}

/* Another one, for those that wait. Where there is none they fail. */
static bool program_start(struct checker *k)
{
	struct state *st = k->st;
	const struct conf *conf = st->mod->conf;
	const char *argv[] = { st->pools->program, "--check", NULL };
	struct keel_err err = { .code = 0 };
	struct keel_supervise_opts o = { .size = sizeof(o), .profile = KEEL_PROFILE_SCRIPT, .name = "hook checks", .argv = argv,
					 .user = conf->user, .memory = conf->memory, .deadline_ms = CHECK_MS, .start_ms = CHECK_MS,
					 .deaths = 1, .within_ms = 1, .frame = heard, .ended = ended, .arg = k };
	uint32_t n = k->n;

	k->ends = false;
	k->program = keel_supervise_start(st->mod, &o, &err);
	if (k->program) {
		first_send(k);
		return true;
	}
	for (; n > 0 && k->checks; n--)
		answer(k, err.text);
	return false;
}

int32_t pool_check(struct state *st, const char *name, const char *script, uint32_t len, check_done *done, void *arg)
{
	struct checker *k = st->pools->checker ? st->pools->checker : calloc(1, sizeof(*k));
	struct check *c = k && k->n < CHECKS_MAX ? calloc(1, sizeof(*c)) : NULL;
	uint32_t open;

	if (k)
		k->st = st;
	st->pools->checker = k;
	if (!c)
		return -ENOMEM;
	*c = (struct check){ .done = done, .arg = arg, .number = ++st->pools->number };
	open = pack_open_list(&c->frame);
	pack_text(&c->frame, "check");
	pack_int(&c->frame, c->number);
	pack_text(&c->frame, name);
	pack_bytes(&c->frame, script, len);
	pack_close(&c->frame, open, 4);
	if (c->frame.failed) {
		check_free(c);
		return -ENOMEM;
	}
	DL_APPEND(k->checks, c);
	k->n++;
	if (!k->program)
		program_start(k);
	else if (k->checks == c && !k->ends)
		first_send(k);
	return 0;
}

void checks_stop(struct state *st)
{
	struct checker *k = st->pools->checker;
	struct check *c, *next;

	if (!k)
		return;
	if (k->program)
		keel_supervise_drop(k->program);
	keel_timer_cancel(k->timer);
	DL_FOREACH_SAFE(k->checks, c, next) {
		DL_DELETE(k->checks, c);
		check_free(c);
	}
	free(k);
	st->pools->checker = NULL;
}
