/* SPDX-License-Identifier: Apache-2.0
 *
 * text.c - memory and texts that a test may look at, and what a module did wrong.
 */
#include <stdio.h>
#include <string.h>

#include "host.h"

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("keel_mock: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	abort();
}

void *host_alloc(size_t size)
{
	void *memory = calloc(1, size > 0 ? size : 1);

	if (memory == NULL)
		die("no memory");
	return memory;
}

char *host_dup(const char *text)
{
	return text != NULL ? strcpy(host_alloc(strlen(text) + 1), text) : NULL;
}

static void *larger(void *memory, size_t size)
{
	memory = realloc(memory, size);
	if (memory == NULL)
		die("no memory");
	return memory;
}

void *host_keep(struct keel_mock *mock, void *memory)
{
	mock->memory = larger(mock->memory, (mock->n_memory + 1) * sizeof(void *));
	return mock->memory[mock->n_memory++] = memory;
}

char *host_print(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		die("no memory");
	va_end(ap);
	return text;
}

void texts_add(struct texts *t, char *text)
{
	t->at = larger(t->at, (t->n + 1) * sizeof(*t->at));
	t->at[t->n++] = text;
}

void texts_clear(struct texts *t, struct texts *to)
{
	for (uint32_t i = 0; i < t->n; i++) {
		if (to != NULL)
			texts_add(to, t->at[i]);
		else
			free(t->at[i]);
	}
	free(t->at);
	*t = (struct texts){ 0 };
}

const char *ring(struct keel_mock *mock, char *text)
{
	texts_add(&mock->ring, text);
	if (mock->ring.n > RING) {
		free(mock->ring.at[0]);
		memmove(mock->ring.at, mock->ring.at + 1, --mock->ring.n * sizeof(*mock->ring.at));
	}
	return text;
}

/* ---- violations ------------------------------------------------------------------------------------- */
void violation(struct keel_mock *mock, const char *name, const char *fmt, ...)
{
	char words[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	mock->n_violations++;
	if (mock->on_violation != NULL)
		mock->on_violation(mock->violation_arg, name, words);
	else
		fprintf(stderr, "keel_mock: %s: %s\n", name, words);
}

void keel_mock_on_violation(struct keel_mock *mock, keel_mock_violation_fn *fn, void *arg)
{
	mock->on_violation = fn;
	mock->violation_arg = arg;
}
