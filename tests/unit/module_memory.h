/* SPDX-License-Identifier: Apache-2.0
 *
 * module_memory.h - one allocation of a module fails, and those of nobody else: neither the mock host nor CUnit
 * have to bear it. The module is that of its file, so that it is known by where it calls malloc() from. Include it
 * in one file of the program.
 *
 * Sanitizers bring their own malloc(); then nothing fails.
 */
#ifndef TESTS_MODULE_MEMORY_H
#define TESTS_MODULE_MEMORY_H

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keel/keel.h"

static long countdown = -1; /* allocations of the module until one fails; negative: never */
static const void *module_base;

/* Its descriptor, without the modules that it requires: the test brings what it needs of them. */
static inline struct keel_module module_alone(const char *name)
{
	const char *build = getenv("KEELSON_BUILD");
	struct keel_module alone = { 0 };
	const struct keel_module *found;
	Dl_info at;
	char path[4096];
	void *file;

	snprintf(path, sizeof(path), "%s/modules/%s.so", build != NULL ? build : ".", name);
	file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	found = file != NULL ? dlsym(file, "keel_module") : NULL;
	if (found == NULL || dladdr(found, &at) == 0) {
		fprintf(stderr, "%s\n", dlerror());
		abort();
	}
	module_base = at.dli_fbase;
	alone = *found;
	alone.requires_modules = NULL;
	return alone;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define INJECTING 1
#define CALLER __builtin_return_address(0)
/* Hidden as the rest of the program, modules would not see them. */
#pragma GCC visibility push(default)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static bool fails(const void *caller)
{
	Dl_info at;

	if (countdown <= 0 || dladdr(caller, &at) == 0 || at.dli_fbase != module_base || --countdown > 0)
		return false;
	countdown = -1;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails(CALLER) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails(CALLER) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return fails(CALLER) ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	return size > 0 && n > SIZE_MAX / size ? NULL : fails(CALLER) ? NULL : __libc_realloc(old, n * size);
}

char *strdup(const char *text)
{
	char *copy = fails(CALLER) ? NULL : __libc_malloc(strlen(text) + 1);

	return copy != NULL ? strcpy(copy, text) : NULL;
}
#pragma GCC visibility pop
#else
#define INJECTING 0
#endif

/* Has it failed? Nothing does any more. So: do { countdown = ++n; ... } while (memory_failed()); */
static inline bool memory_failed(void)
{
	bool failed = countdown < 0;

	countdown = -1;
	return failed;
}

#endif
