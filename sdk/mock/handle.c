/* SPDX-License-Identifier: Apache-2.0
 *
 * handle.c - what a module holds in its hands: how long it is good, and what is said when it is used
 * after that.
 *
 * A handle that ends is kept, marked, until the mock goes: memory that is used again would hide a use
 * after the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inside.h"

/* ---- violations --------------------------------------------------------------------------------- */
static const char *running(const struct keel_mock *mock)
{
	return mock->frame != NULL ? mock->frame->mod->label : "test";
}

void violation(struct keel_mock *mock, const char *name, const char *fmt, ...)
{
	struct record *r = make(sizeof(*r));
	struct text t = { 0 };
	char words[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	text_put(&t, "%s: %s", name, words);
	pthread_mutex_lock(&mock->lock);
	r->text = t.data;
	r->next = mock->violations;
	mock->violations = r;
	mock->n_violations++;
	pthread_mutex_unlock(&mock->lock);
	if (mock->on_violation != NULL)
		mock->on_violation(mock->violation_arg, name, words);
	else
		fprintf(stderr, "keelson-mock: %s\n", t.data);
}

void keel_mock_on_violation(struct keel_mock *mock, keel_mock_violation_fn *fn, void *arg)
{
	mock->on_violation = fn;
	mock->violation_arg = arg;
}

uint32_t keel_mock_violations(struct keel_mock *mock)
{
	return mock->n_violations;
}

const char *keel_mock_violation(struct keel_mock *mock, uint32_t i)
{
	const struct record *r = mock->violations;

	if (i >= mock->n_violations)
		return NULL;
	for (uint32_t skip = mock->n_violations - 1 - i; skip > 0; skip--)
		r = r->next;
	return r->text;
}

/* ---- handles ------------------------------------------------------------------------------------ */
void head_init(struct head *h, struct keel_mock *mock, void *memory)
{
	*h = (struct head){ .mock = mock, .memory = memory };
}

void head_end(struct head *h)
{
	if (h->ended)
		return;
	h->ended = true;
	h->next = h->mock->ended;
	h->mock->ended = h;
}

bool head_good(const struct head *h, const char *name, const char *what)
{
	if (!on_loop(h->mock, what))
		return false;
	if (h->ended)
		violation(h->mock, name, "%s() by %s", what, running(h->mock));
	return !h->ended;
}

bool on_loop(struct keel_mock *mock, const char *what)
{
	if (pthread_equal(mock->thread, pthread_self()))
		return true;
	violation(mock, "off-thread", "%s() on another thread; only core->post() may be", what);
	return false;
}

static bool declares(const struct mod *m, const char *group)
{
	for (uint32_t i = 0; i < m->desc.n_needs; i++)
		if (strcmp(m->desc.needs[i].group, group) == 0)
			return true;
	return m->may_need_all;
}

struct mod *mod_in(struct keel_mod *pub, const char *group, const char *what)
{
	struct mod *m = (struct mod *)pub;

	if (m == NULL)
		die("%s() was called with no module", what);
	if (!head_good(&m->head, "module-ended", what))
		return NULL;
	if (!declares(m, group))
		violation(mock_of(m), "need-undeclared", "%s->%s() by %s, which does not declare it",
			  group, what, m->label);
	return m;
}

bool fails(struct keel_mock *mock)
{
	if (mock->frame == NULL || mock->frame->mod->may_need_all)
		return false;
	mock->calls++;
	return mock->fail_at != 0 && mock->calls == mock->fail_at;
}

void keel_mock_fail_call(struct keel_mock *mock, uint32_t n)
{
	mock->fail_at = n != 0 ? mock->calls + n : 0;
}

uint32_t keel_mock_calls(struct keel_mock *mock)
{
	return mock->calls;
}

void *poison_page(struct keel_mock *mock)
{
	if (mock->poison == NULL) {
		mock->poison = mmap(NULL, (size_t)getpagesize(), PROT_NONE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (mock->poison == MAP_FAILED)
			die("no memory");
	}
	return mock->poison;
}

/* ---- callbacks ----------------------------------------------------------------------------------- */
void frame_enter(struct mod *m, struct frame *f)
{
	f->mod = m;
	f->outer = mock_of(m)->frame;
	mock_of(m)->frame = f;
}

void frame_leave(struct mod *m, struct frame *f)
{
	struct keel_mock *mock = mock_of(m);

	mock->frame = f->outer;
	if (f->outer == NULL) {
		handles_retire(mock);
		lent_retire(mock);
	}
}

void keel_mock_strict(struct keel_mock *mock, bool strict)
{
	mock->strict = strict;
}
