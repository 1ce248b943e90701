/* SPDX-License-Identifier: Apache-2.0
 *
 * lent.c - memory that a module is given and must not use as it likes: state and configuration, which end where they
 * end, and texts that are borrowed until a callback returns.
 *
 * A block ends at a page that nobody may touch, so that who goes on writing is stopped there and then; the few bytes
 * around it are looked at when it goes. A text that was lent lies on pages that are closed with the callback.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inside.h"

enum { ALIGN = 16, FILL = 0xa5 };
#define LENT_SIZE (INT64_C(16) << 20)

/* Where there is a leak checker it is to look for pointers there, too. */
extern void __lsan_register_root_region(const void *, size_t) __attribute__((weak));
extern void __lsan_unregister_root_region(const void *, size_t) __attribute__((weak));

static size_t page_size(void)
{
	return (size_t)getpagesize();
}

static size_t up_to(size_t n, size_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static char *pages(size_t size, int may)
{
	char *at = mmap(NULL, size, may, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		die("no memory");
	return at;
}

/* ---- blocks --------------------------------------------------------------------------------------------- */
void *guard_make(size_t size)
{
	size_t room = up_to(size + ALIGN, page_size());
	char *base = pages(room + page_size(), PROT_READ | PROT_WRITE);
	char *at = base + room - up_to(size, ALIGN);

	mprotect(base + room, page_size(), PROT_NONE);
	memset(base, FILL, room);
	memset(at, 0, size);
	if (__lsan_register_root_region != NULL)
		__lsan_register_root_region(base, room);
	return at;
}

void guard_close(void *at, size_t size)
{
	size_t room = up_to(size + ALIGN, page_size());

	mprotect((char *)at + up_to(size, ALIGN) - room, room, PROT_READ);
}

bool guard_free(void *at, size_t size)
{
	size_t room = up_to(size + ALIGN, page_size());
	char *base = (char *)at + up_to(size, ALIGN) - room;
	bool whole = true;

	for (char *c = base; c < base + room; c++)
		if (c < (char *)at || c >= (char *)at + size)
			whole = whole && (unsigned char)*c == FILL;
	if (__lsan_unregister_root_region != NULL)
		__lsan_unregister_root_region(base, room);
	munmap(base, room + page_size());
	return whole;
}

/* ---- texts ---------------------------------------------------------------------------------------------- */
const char *lend(struct keel_mock *mock, const char *text)
{
	struct lent *l = &mock->lent;
	size_t n = text == NULL ? 0 : strlen(text) + 1, need;
	char *at;

	if (text == NULL || !mock->strict || mock->frame == NULL || n > LENT_SIZE / 4)
		return text;
	if (l->base == NULL)
		l->base = pages(LENT_SIZE, PROT_NONE);
	need = l->at + n > l->open ? up_to(l->at + n - l->open, page_size()) : 0;
	if (l->open + need > LENT_SIZE)
		return text; /* there is no room before this callback ends */
	if (need > 0 && mprotect(l->base + l->open, need, PROT_READ | PROT_WRITE) < 0)
		return text;
	l->open += need;
	at = memcpy(l->base + l->at, text, n);
	l->at += n;
	return at;
}

/* The next ones lie elsewhere: what was lent before is found for as long as can be. */
void lent_retire(struct keel_mock *mock)
{
	struct lent *l = &mock->lent;

	if (l->open == l->from)
		return;
	madvise(l->base + l->from, l->open - l->from, MADV_DONTNEED);
	mprotect(l->base + l->from, l->open - l->from, PROT_NONE);
	if (l->open > LENT_SIZE / 2)
		l->open = 0;
	l->from = l->at = l->open;
}

void lent_fini(struct keel_mock *mock)
{
	if (mock->lent.base != NULL)
		munmap(mock->lent.base, LENT_SIZE);
}

bool keel_mock_was_lent(const struct keel_mock *mock, const void *address)
{
	const struct lent *l = &mock->lent;
	const char *at = address;
	bool on_page = mock->poison != NULL && at >= (char *)mock->poison && at < (char *)mock->poison + getpagesize();

	return on_page || (l->base != NULL && at >= l->base && at < l->base + LENT_SIZE);
}
