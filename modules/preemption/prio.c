/* SPDX-License-Identifier: Apache-2.0
 *
 * prio.c - the language of preempt_prio: "express_queue+fairshare, normal_jobs, server_softlimits".
 *
 * An entry joins conditions; the first entry all of whose conditions hold is the level of a job. Entries
 * with more conditions are tried first.
 */
#include "prio.h"

#include <string.h>

#define BLANKS " \t"
#define FIRST_LEVEL 99000
#define STEP 1000

static const struct {
	const char *word;
	uint32_t condition;
} words[] = {
	{ "express_queue", PRIO_EXPRESS },
	{ "normal_jobs", PRIO_NORMAL },
	{ "fairshare", PRIO_SHARE },
	{ "queue_softlimits", PRIO_QUEUE_SOFT },
	{ "server_softlimits", PRIO_SERVER_SOFT },
};

/* One entry up to its comma; *at moves behind it. 0: an error. */
static uint32_t entry_parse(const char **at)
{
	const size_t n = sizeof(words) / sizeof(words[0]);
	uint32_t conditions = 0;
	size_t len, i;

	for (;;) {
		*at += strspn(*at, BLANKS);
		len = strcspn(*at, "+," BLANKS);
		for (i = 0; i < n && (strlen(words[i].word) != len || strncmp(words[i].word, *at, len) != 0); i++)
			;
		if (i == n)
			return 0;
		conditions |= words[i].condition;
		*at += len;
		*at += strspn(*at, BLANKS);
		if (**at != '+')
			break;
		(*at)++;
	}
	return conditions;
}

/* Behind those with as many conditions or more. */
static void entry_add(struct prio *p, uint32_t conditions)
{
	uint32_t at = p->n;
	int32_t level = FIRST_LEVEL - STEP * (int32_t)p->n;

	for (; at > 0 && __builtin_popcount(p->entry[at - 1].conditions) < __builtin_popcount(conditions); at--)
		p->entry[at] = p->entry[at - 1];
	p->entry[at].conditions = conditions;
	p->entry[at].level = level;
	p->n++;
	p->asks |= conditions;
	if (conditions == PRIO_NORMAL)
		p->normal = level;
}

bool prio_parse(const char *text, struct prio *ret)
{
	struct prio p = { 0 };
	const char *at = text + strspn(text, BLANKS);
	bool more = *at != '\0';
	uint32_t conditions;

	while (more) {
		conditions = entry_parse(&at);
		if (!conditions || p.n == PRIO_LEVELS || (*at && *at != ','))
			return false;
		entry_add(&p, conditions);
		more = *at == ',';
		at += more;
	}
	*ret = p;
	return true;
}

int32_t prio_level(const struct prio *p, uint32_t conditions)
{
	uint32_t i;

	for (i = 0; i < p->n; i++)
		if ((conditions & p->entry[i].conditions) == p->entry[i].conditions)
			return p->entry[i].level;
	return p->normal;
}
