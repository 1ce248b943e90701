/* SPDX-License-Identifier: Apache-2.0
 *
 * letter.c - mail as text: who may be written to, what is said.
 */
#include "letter.h"

#include "keel/jobid.h"

#include <stdlib.h>
#include <string.h>

#define ADDRESS_MAX 254

static const struct {
	char letter;
	const char *words;
} headings[] = {
	{ 'b', "Begun execution" },
	{ 'e', "Execution terminated" },
	{ 'a', "Aborted by PBS Server " },
};

static const struct {
	int64_t status;
	const char *words;
} reasons[] = {
	{ -1, "Job cannot be executed\nSee Administrator for help" },
	{ -2, "Job cannot be executed\nSee job standard error file" },
	/* what follows reaches the end of a job only where it may not be run again */
	{ -4, "Job aborted on PBS Server initialization" },
	{ -6, "Job aborted on PBS Server initialization" },
	{ -7, "Job aborted on PBS Server initialization" },
	{ -10, "Job aborted on PBS Server initialization" },
	{ -11, "Non-rerunable job deleted on requeue" },
	{ -14, "Non-rerunable job deleted on requeue" },
	{ -15, "Non-rerunable job deleted on requeue" },
	{ -16, "Job aborted on PBS Server initialization" },
	{ -18, "Job aborted on PBS Server initialization" },
	{ -22, "Job aborted on PBS Server initialization" },
	{ -24, "Job exceeded resource ncpus\nSee job standard error file" },
	{ -25, "Job exceeded resource ncpus\nSee job standard error file" },
	{ -26, "Job exceeded resource vmem\nSee job standard error file" },
	{ -27, "Job exceeded resource mem\nSee job standard error file" },
	{ -28, "Job exceeded resource cput\nSee job standard error file" },
	{ -29, "Job exceeded resource walltime\nSee job standard error file" },
};

#define ALNUM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

bool address_ok(const char *text)
{
	const size_t len = strlen(text), user = strspn(text, ALNUM "_.+=%-");
	const char *host = text + user + 1;

	if (len == 0 || len > ADDRESS_MAX || !strchr(ALNUM "_", text[0]) || user == 0)
		return false;
	if (user == len)
		return true;
	return user < len && text[user] == '@' && user + 1 < len && host[0] != '-' &&
	       user + 1 + strspn(host, ALNUM ".-_") == len;
}

char **addresses(const char *list, uint32_t max, uint32_t *ret_bad)
{
	size_t room = (max + 1) * sizeof(char *);
	char **to = calloc(1, room + strlen(list) + 1), *rest, *word;
	uint32_t n = 0, i;

	*ret_bad = 0;
	if (!to)
		return NULL;
	rest = strcpy((char *)to + room, list);
	while ((word = strsep(&rest, ",")) != NULL) {
		word += strspn(word, " ");
		word[strcspn(word, " ")] = '\0';
		if (*word && (!address_ok(word) || n == max)) {
			++*ret_bad;
			continue;
		}
		for (i = 0; i < n && strcmp(to[i], word) != 0; i++)
			;
		if (*word && i == n)
			to[n++] = word;
	}
	return to;
}

bool points_want(const char *points, char letter, const char *id)
{
	return strchr(points, letter) && !strchr(points, 'n') && (!keel_id_is_part(id) || strchr(points, 'j'));
}

const char *reason_of_status(int64_t exit_status)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].status == exit_status)
			return reasons[i].words;
	return NULL;
}

static void add_clean(struct keel_text *t, const char *text, const char *keep)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		bool control = c < ' ' || c == 0x7f;

		keel_text_add(t, control && !strchr(keep, c) ? " " : text, 1);
	}
}

void letter_line(struct keel_text *t, const char *line)
{
	add_clean(t, line, "\n");
	keel_text_str(t, "\n");
}

static void add_field(struct keel_text *t, const char *label, const char *value)
{
	keel_text_str(t, label);
	add_clean(t, value, "");
	keel_text_str(t, "\n");
}

void letter_headers(struct keel_text *t, const char *from, char *const *to, const char *subject)
{
	add_field(t, "From: ", from);
	keel_text_str(t, "To: ");
	for (uint32_t i = 0; to[i]; i++) {
		keel_text_str(t, i ? ",\n\t" : "");
		add_clean(t, to[i], "");
	}
	add_field(t, "\nSubject: ", subject);
	keel_text_str(t, "Auto-Submitted: auto-generated\n\n");
}

void letter_begin(struct keel_text *t, const char *from, char *const *to, const char *id,
		  const char *name, char letter)
{
	char subject[300];

	snprintf(subject, sizeof(subject), "PBS JOB %s", id);
	letter_headers(t, from, to, subject);
	add_field(t, "PBS Job Id: ", id);
	add_field(t, "Job Name:   ", name);
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		if (headings[i].letter == letter)
			letter_line(t, headings[i].words);
}
