/* SPDX-License-Identifier: Apache-2.0
 *
 * no_memory.h - one allocation of the program fails: its own malloc() counts down. Those of libraries count too,
 * strdup() and reallocarray() among them. Include it in one file of the program.
 *
 * Sanitizers bring their own malloc(); then nothing fails, and the work is done once.
 */
#ifndef TESTS_NO_MEMORY_H
#define TESTS_NO_MEMORY_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

static long countdown = -1; /* allocations until one fails; negative: never */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define INJECTING 1
/* Hidden as the rest of the program, libc would not see them. */
#pragma GCC visibility push(default)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void *realloc(void *old, size_t size);
void *aligned_alloc(size_t alignment, size_t size);

static bool fails(void)
{
	if (countdown > 0)
		countdown--;
	if (countdown != 0)
		return false;
	countdown = -1;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __libc_memalign(alignment, size);
}
#pragma GCC visibility pop
#else
#define INJECTING 0
#endif

#endif
