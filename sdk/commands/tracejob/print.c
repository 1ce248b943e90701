/* SPDX-License-Identifier: Apache-2.0
 *
 * print.c - the records of one job in order of time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

#define INDENT 26 /* date and letter stand before the text */

static int earlier(const void *x, const void *y)
{
	const struct record *a = x, *b = y;
	int order = 0;

	/* "MM/DD/YYYY hh:mm:ss[.us]": the year goes first */
	if (strlen(a->date) < 11 || strlen(b->date) < 11) {
		order = strcmp(a->date, b->date);
	} else {
		order = strncmp(a->date + 6, b->date + 6, 4);
		order = order ? order : strncmp(a->date, b->date, 5);
		order = order ? order : strcmp(a->date + 10, b->date + 10);
	}
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
