/* SPDX-License-Identifier: Apache-2.0
 *
 * scope.c - which jobs may be deleted: patterns for queue, user and host, compiled once.
 */
#include "scope.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#define MATCH_STEPS_MOST 100000 /* bounds a pattern that backtracks without end */

enum { QUEUE, USER, HOST, PATTERNS };
struct scope {
	pcre2_code *code[PATTERNS]; /* NULL: all */
	pcre2_match_data *found;
	pcre2_match_context *context;
};

void scope_destroy(struct scope *s)
{
	int i;

	if (!s)
		return;
	for (i = 0; i < PATTERNS; i++)
		pcre2_code_free(s->code[i]);
	pcre2_match_data_free(s->found);
	pcre2_match_context_free(s->context);
	free(s);
}

struct scope *scope_create(const char *queue, const char *user, const char *host,
			   const char **ret_bad, size_t *ret_at)
{
	const char *pattern[PATTERNS] = { queue, user, host };
	struct scope *s = calloc(1, sizeof(*s));
	int i, error = 0;

	*ret_bad = NULL;
	if (!s)
		return NULL;
	s->found = pcre2_match_data_create(1, NULL);
	s->context = pcre2_match_context_create(NULL);
	if (s->context)
		pcre2_set_match_limit(s->context, MATCH_STEPS_MOST);
	for (i = 0; i < PATTERNS; i++) {
		if (!pattern[i] || !*pattern[i])
			continue;
		s->code[i] = pcre2_compile((PCRE2_SPTR)pattern[i], PCRE2_ZERO_TERMINATED, 0, &error,
					   ret_at, NULL);
		if (!s->code[i])
			*ret_bad = pattern[i];
	}
	if (!*ret_bad && s->found && s->context)
		return s;
	scope_destroy(s);
	return NULL;
}

static bool matches(const struct scope *s, int which, const char *word, size_t len)
{
	return pcre2_match(s->code[which], (PCRE2_SPTR)word, len, 0, 0, s->found, s->context) >= 0;
}

bool scope_has(const struct scope *s, const char *queue, const char *user, const char *exec_host)
{
	bool fits = !s->code[HOST];

	if ((s->code[QUEUE] && !matches(s, QUEUE, queue, strlen(queue))) ||
	    (s->code[USER] && !matches(s, USER, user, strlen(user))))
		return false;
	while (!fits && *exec_host) {
		size_t len = strcspn(exec_host, "+");

		fits = matches(s, HOST, exec_host, strcspn(exec_host, "/+"));
		exec_host += len + (exec_host[len] == '+');
	}
	return fits;
}
