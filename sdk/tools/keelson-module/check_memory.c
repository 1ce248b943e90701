/* SPDX-License-Identifier: Apache-2.0
 *
 * check_memory.c - what a module takes from the C library's heap, and gives back.
 *
 * Each block is kept with the place that took it. What is freed rests before it is used again. A block that a library made for the module and that
 * the module frees is not known here, and just freed.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "check_watch.h"

#define CALLER __builtin_return_address(0)

#ifdef KEELSON_SANITIZED
enum { REST_SIZE_MAX = 0 }; /* the sanitizer sees more */
#else
enum { REST_SIZE_MAX = 4096 };
#endif
enum { RESTING = 64, FREED = 0xdf };

struct block {
	void *at;
	size_t size;
	const void *from;
	UT_hash_handle hh;
};

/* This process watches one module, whatever threads it has. */
static struct {
	pthread_mutex_t lock;
	struct block *live;
	struct block *resting[RESTING]; /* the last ones that were freed, the oldest next */
	unsigned rests, calls, fail_at;
} heap = { .lock = PTHREAD_MUTEX_INITIALIZER };

void watch_fail(unsigned n)
{
	heap.calls = 0;
	heap.fail_at = n;
}

bool watch_failed(void)
{
	return heap.fail_at > 0 && heap.calls >= heap.fail_at;
}

unsigned watch_live(const char **ret_where)
{
	static char text[224];
	const struct block *b = heap.live;

	if (ret_where != NULL && b != NULL) {
		snprintf(text, sizeof(text), "%zu bytes taken in %s", b->size, watch_function(b->from));
		*ret_where = text;
	}
	return HASH_COUNT(heap.live);
}

static _Thread_local bool busy; /* the table itself takes and frees memory */

/* No longer one of its own; NULL: it was none. */
static struct block *taken_back(void *at)
{
	struct block *b;

	busy = true;
	pthread_mutex_lock(&heap.lock);
	HASH_FIND_PTR(heap.live, &at, b);
	if (b != NULL)
		HASH_DEL(heap.live, b);
	pthread_mutex_unlock(&heap.lock);
	busy = false;
	return b;
}

static void forget(void *at)
{
	free(taken_back(at));
}

/* The kernel frees values of KEEL_TYPE_TEXT itself. (The linker leads free() of this program here.) */
void __real_free(void *at);
void __wrap_free(void *at);
void __wrap_free(void *at)
{
	if (at != NULL && heap.live != NULL && !busy)
		__real_free(taken_back(at));
	__real_free(at);
}

/* ---- what was freed rests for a while, so that another use of it is seen ------------------------------- */
static void rest_end(struct block *b)
{
	const unsigned char *at = b->at;
	size_t i = 0;

	while (i < b->size && at[i] == FREED)
		i++;
	if (i < b->size)
		finding(RULE_calls_bounds, "%zu bytes taken in %s are written to after they were freed", b->size,
			watch_function(b->from));
	free(b->at);
	free(b);
}

static const struct block *resting(const void *at)
{
	for (unsigned i = 0; i < RESTING; i++)
		if (heap.resting[i] != NULL && heap.resting[i]->at == at)
			return heap.resting[i];
	return NULL;
}

void watch_forget(void)
{
	while (heap.live != NULL)
		forget(heap.live->at);
	for (unsigned i = 0; i < RESTING; i++)
		if (heap.resting[i] != NULL) {
			rest_end(heap.resting[i]);
			heap.resting[i] = NULL;
		}
}

static bool must_fail(void)
{
	bool now;

	pthread_mutex_lock(&heap.lock);
	now = ++heap.calls == heap.fail_at;
	pthread_mutex_unlock(&heap.lock);
	if (now)
		errno = ENOMEM;
	return now;
}

static void *took(void *at, size_t size, const void *from)
{
	struct block *b = at == NULL ? NULL : malloc(sizeof(*b));

	if (b == NULL)
		return at;
	*b = (struct block){ .at = at, .size = size, .from = from };
	busy = true;
	pthread_mutex_lock(&heap.lock);
	HASH_ADD_PTR(heap.live, at, b);
	pthread_mutex_unlock(&heap.lock);
	busy = false;
	return at;
}

/* ---- in the place of the C library's ------------------------------------------------------------- */
#define TAKES(name, type, parameters, block, size)                           \
	static type my_##name parameters                                     \
	{                                                                    \
		return must_fail() ? NULL : took(block, size, CALLER);       \
	}
TAKES(malloc, void *, (size_t n), malloc(n), n)
TAKES(calloc, void *, (size_t n, size_t size), calloc(n, size), n * size)
TAKES(aligned_alloc, void *, (size_t align, size_t n), aligned_alloc(align, n), n)
TAKES(strdup, char *, (const char *text), strdup(text), strlen(text) + 1)
TAKES(strndup, char *, (const char *text, size_t n), strndup(text, n), n + 1)

static void my_free(void *at)
{
	struct block *b = at == NULL ? NULL : taken_back(at);
	const struct block *freed = at == NULL || b != NULL ? NULL : resting(at);

	if (freed != NULL) {
		finding(RULE_calls_bounds, "%s frees again what was taken in %s", watch_function(CALLER),
			watch_function(freed->from));
	} else if (b != NULL && b->size <= REST_SIZE_MAX) {
		struct block *oldest;

		memset(at, FREED, b->size);
		pthread_mutex_lock(&heap.lock);
		oldest = heap.resting[heap.rests % RESTING];
		heap.resting[heap.rests++ % RESTING] = b;
		pthread_mutex_unlock(&heap.lock);
		if (oldest != NULL)
			rest_end(oldest);
	} else {
		free(b);
		free(at);
	}
}

static void *resize(void *at, size_t n, const void *from)
{
	void *bigger;

	if (must_fail())
		return NULL;
	if (at != NULL)
		forget(at);
	bigger = realloc(at, n);
	if (bigger == NULL && n > 0) /* it is as it was */
		took(at, n, from);
	else
		took(bigger, n, from);
	return bigger;
}

static void *my_realloc(void *at, size_t n)
{
	return resize(at, n, CALLER);
}

static void *my_reallocarray(void *at, size_t n, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(n, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return resize(at, all, CALLER);
}

static int my_posix_memalign(void **ret, size_t align, size_t n)
{
	int no = must_fail() ? ENOMEM : posix_memalign(ret, align, n);

	if (no == 0)
		took(*ret, n, CALLER);
	return no;
}

static int print(char **ret, const char *fmt, va_list args, const void *from)
{
	int n = must_fail() ? -1 : vasprintf(ret, fmt, args);

	if (n >= 0)
		took(*ret, (size_t)n + 1, from);
	return n;
}

static int my_vasprintf(char **ret, const char *fmt, va_list args)
{
	return print(ret, fmt, args, CALLER);
}

static int my_vasprintf_chk(char **ret, int flag, const char *fmt, va_list args)
{
	(void)flag;
	return print(ret, fmt, args, CALLER);
}

#define PRINTS(name, ...)                                             \
	static int my_##name(__VA_ARGS__, const char *fmt, ...)       \
	{                                                             \
		va_list args;                                         \
		int n;                                                \
                                                                      \
		va_start(args, fmt);                                  \
		n = print(ret, fmt, args, CALLER);                    \
		va_end(args);                                         \
		return n;                                             \
	}
PRINTS(asprintf, char **ret)
PRINTS(asprintf_chk, char **ret, __attribute__((unused)) int flag)

static ssize_t my_getdelim(char **line, size_t *size, int delim, FILE *f)
{
	ssize_t n;

	if (*line != NULL)
		forget(*line);
	n = getdelim(line, size, delim, f);
	took(*line, *size, CALLER);
	return n;
}

static ssize_t my_getline(char **line, size_t *size, FILE *f)
{
	return my_getdelim(line, size, '\n', f);
}

const struct watched watch_memory_calls[] = {
	{ "malloc", my_malloc }, { "calloc", my_calloc }, { "realloc", my_realloc },
	{ "reallocarray", my_reallocarray }, { "free", my_free },
	{ "strdup", my_strdup }, { "__strdup", my_strdup }, { "strndup", my_strndup },
	{ "__strndup", my_strndup }, { "posix_memalign", my_posix_memalign },
	{ "aligned_alloc", my_aligned_alloc }, { "memalign", my_aligned_alloc },
	{ "asprintf", my_asprintf }, { "vasprintf", my_vasprintf },
	{ "__asprintf_chk", my_asprintf_chk }, { "__vasprintf_chk", my_vasprintf_chk },
	{ "getline", my_getline }, { "getdelim", my_getdelim }, { "__getdelim", my_getdelim },
	{ NULL, NULL },
};
