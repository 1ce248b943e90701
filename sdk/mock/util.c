/* SPDX-License-Identifier: Apache-2.0
 *
 * util.c - memory, texts, errors. The mock is for tests: without memory it ends the program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

void die(const char *fmt, ...)
{
	va_list ap;

	fputs("keelson-mock: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs("\n", stderr);
	abort();
}

void *make(size_t size)
{
	void *block = calloc(1, size > 0 ? size : 1);

	if (block == NULL)
		die("no memory");
	return block;
}

void *enlarge(void *block, size_t size)
{
	block = realloc(block, size > 0 ? size : 1);
	if (block == NULL)
		die("no memory");
	return block;
}

char *dup_text(const char *text)
{
	return text != NULL ? strcpy(make(strlen(text) + 1), text) : NULL;
}

char *print_text(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		die("no memory");
	va_end(ap);
	return text;
}

void text_add(struct text *t, const char *bytes, size_t len)
{
	if (t->size <= t->len + len) {
		t->size = 2 * (t->len + len) + 64;
		t->data = enlarge(t->data, t->size);
	}
	memcpy(t->data + t->len, bytes, len);
	t->len += len;
	t->data[t->len] = '\0';
}

void text_put(struct text *t, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		die("no memory");
	text_add(t, text, (size_t)len);
	free(text);
}

/* A PBSE number is for users; anything else is not. */
static int32_t code_of(int code)
{
	if (code < 0)
		code = -code;
	return code > 15000 ? code : 0;
}

int err_setv(struct keel_err *err, int code, const char *fmt, va_list ap)
{
	char text[sizeof(err->text)];

	if (err == NULL)
		return code;
	vsnprintf(text, sizeof(text), fmt, ap); /* aside: arguments may point into it */
	memcpy(err->text, text, sizeof(text));
	err->code = code_of(code);
	return code;
}

int err_set(struct keel_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_setv(err, code, fmt, ap);
	va_end(ap);
	return code;
}

const char *pbse_text(int32_t code)
{
	static const struct {
		int32_t number;
		const char *text;
	} rows[] = {
#define PBSE(number, name, text) { number, text },
#include "keel/pbse.def"
#undef PBSE
	};

	for (uint32_t i = 0; i < KEEL_COUNT(rows); i++)
		if (rows[i].number == code)
			return rows[i].text != NULL ? rows[i].text : "";
	return "";
}

bool list_names(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (list != NULL && *list != '\0') {
		size_t n = strcspn(list, ",");
		const char *item = list + strspn(list, " \t");
		size_t own = n - (size_t)(item - list < (ptrdiff_t)n ? item - list : (ptrdiff_t)n);

		while (own > 0 && (item[own - 1] == ' ' || item[own - 1] == '\t'))
			own--;
		if (own == len && memcmp(item, word, len) == 0)
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

const char *keep(struct keel_mock *mock, char *text)
{
	struct record *r = make(sizeof(*r));

	r->text = text;
	r->next = mock->kept;
	mock->kept = r;
	return text;
}

const char *ring(struct keel_mock *mock, char *text)
{
	char **at = &mock->ring[mock->ring_at++ % RING];

	free(*at);
	return *at = text;
}
