/* SPDX-License-Identifier: Apache-2.0
 *
 * print.c - the records of one job in order of time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

#define INDENT 26 /* date and letter stand before the text */

/* "MM/DD/YYYY hh:mm:ss[.us]": the year goes first. */
static int compare_dates(const char *a, const char *b)
{
	int order;

	if (strlen(a) < 11 || strlen(b) < 11)
		return strcmp(a, b);
	order = strncmp(a + 6, b + 6, 4);
	if (order == 0)
		order = strncmp(a, b, 5);
	return order ? order : strcmp(a + 10, b + 10);
}

static int earlier(const void *x, const void *y)
{
	const struct record *a = x, *b = y;
	int order = compare_dates(a->date, b->date);

	return order ? order : a->number < b->number ? -1 : 1;
}

/* The text in lines that fit, broken at blanks where there are some. */
static void put_broken(const char *text, int room)
{
	int len, cut;

	for (;;) {
		len = (int)strlen(text);
		if (room < 1 || len <= room) {
			puts(text);
			return;
		}
		for (cut = room; cut > room / 2 && text[cut] != ' ';)
			cut--;
		if (text[cut] != ' ')
			cut = room;
		printf("%.*s\n%*s", cut, text, INDENT, "");
		text += cut + (text[cut] == ' ');
	}
}

static int by_text(const void *x, const void *y)
{
	const struct record *const *a = x, *const *b = y;
	int order = strcmp((*a)->text, (*b)->text);

	return order ? order : (*a)->number < (*b)->number ? -1 : 1;
}

/* Marks records repeated more often than wanted: their source becomes 0. */
static void drop_repeats(struct job *job, long most)
{
	struct record **order = malloc(job->n * sizeof(*order));
	const char *text = NULL;
	long count = 0;
	size_t i;

	if (!order)
		return;
	for (i = 0; i < job->n; i++)
		order[i] = &job->records[i];
	qsort(order, job->n, sizeof(*order), by_text);
	for (i = 0; i < job->n; i++) {
		count = text && strcmp(text, order[i]->text) == 0 ? count + 1 : 1;
		text = order[i]->text;
		if (count > most)
			order[i]->source = '\0';
	}
	free(order);
}

void trace_print(const struct trace *t, struct job *job)
{
	const struct record *r;
	size_t i;

	qsort(job->records, job->n, sizeof(*job->records), earlier);
	for (i = 0; i < job->n; i++)
		job->records[i].number = i;
	if (t->limit_repeats)
		drop_repeats(job, t->repeats_max);
	printf("\nJob: %s\n\n", job->id);
	for (i = 0; i < job->n; i++) {
		r = &job->records[i];
		if (!r->source)
			continue;
		printf("%-*s %-5c", strchr(r->date, '.') ? 27 : 20, r->date, r->source);
		put_broken(r->text, t->columns > 0 ? t->columns - INDENT : 0);
	}
}
